/* What the parts of the check of findings share. Private to verify/finding*.c and verify/recheck*.c. Nothing
 * here comes from mechanisms/: instants, versions and what was seen are derived anew, for the keys and
 * transactions that a finding names, each when it is asked for. */
#ifndef KR_VERIFY_RECHECK_H
#define KR_VERIFY_RECHECK_H

#include "verify/grounds.h"
#include "verify/saw.h"

struct kr_instants {
	bool derived; /* else the rest means nothing yet */
	struct kr_span begin, snapshot, commit;
	int64_t lives_until; /* it held its locks until then at least */
	int64_t rolled_back; /* latest; of aborted ones */
	bool has_snapshot, is_auto;
};

struct kr_newly { /* a transaction's last value of the key */
	kr_txn txn;   /* KR_NONE: the initial one */
	kr_value value;
	unsigned marks;
	struct kr_span lock;
	int64_t first_done, first_sent;
	bool sure;
};

struct kr_recheck {
	struct kr_arena arena;
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_claims claims;
	const struct kr_findings *findings;
	const struct kr_finding *f;
	struct kr_err *err;
	struct kr_grounds *grounds;      /* what was derived is noted there; NULL: nobody asks */
	/* by operation that counts: of transactions whose instants were derived */
	struct kr_span *ops;
	struct kr_instants *txns;        /* by transaction: kr_recheck_instants */
	uint32_t *writer_first;          /* by key, and one more: into writers; NULL: not asked for so far */
	/* who tried to write it, perhaps several times in a row, in the order of transactions */
	kr_txn *writers;
	kr_key key;                      /* whose versions are in `versions` */
	KR_VEC(struct kr_newly) versions;
};

/* finding.c */
enum kr_status kr_recheck_begin(struct kr_recheck *r);
enum kr_status kr_recheck_one(struct kr_recheck *r); /* r->f: does it hold? */
void kr_recheck_end(struct kr_recheck *r);

/* recheck_instants.c */
/* derived when they are first asked for */
const struct kr_instants *kr_recheck_instants(const struct kr_recheck *r, kr_txn t);
/* when the operation ran */
struct kr_span kr_recheck_op(const struct kr_recheck *r, kr_txn t, uint32_t index);
/* when that entry ran */
struct kr_span kr_recheck_entry(const struct kr_recheck *r, kr_txn t, const struct kr_walk *walk);

static inline const struct kr_operation *kr_recheck_op_of(const struct kr_recheck *r, kr_txn t, uint32_t op)
{
	return &r->h->ops.at[kr_history_op(r->h, t, op).i];
}
static inline bool kr_recheck_is_read(const struct kr_operation *op)
{
	return op->kind == KR_OP_READ || op->kind == KR_OP_RANGE || op->kind == KR_OP_SCAN;
}
/* the earliest that the version was there */
static inline int64_t kr_recheck_from(const struct kr_recheck *r, const struct kr_newly *v)
{
	return v->txn.i == KR_NONE ? INT64_MIN : kr_recheck_instants(r, v->txn)->commit.from;
}

/* recheck_versions.c */
enum kr_status kr_recheck_versions(struct kr_recheck *r, kr_key key);
enum kr_status kr_recheck_writers(struct kr_recheck *r); /* fills writers */
bool kr_recheck_same_row(const struct kr_recheck *r, kr_key a, kr_key b);
bool kr_recheck_same_object(const struct kr_recheck *r, kr_key a, kr_key b);
/* The first certain lock of the mode on the object of the key; to == INT64_MAX: there is none. */
struct kr_span kr_recheck_lock(const struct kr_recheck *r, kr_txn t, enum kr_lock_mode mode, kr_key key);
bool kr_recheck_precedes(const struct kr_recheck *r, const struct kr_newly *v, const struct kr_newly *u);
int64_t kr_recheck_gone(const struct kr_recheck *r, const struct kr_newly *v);
bool kr_recheck_is_shadow(const struct kr_recheck *r, const struct kr_newly *u);
/* it was there by then */
bool kr_recheck_is_shadow_by(const struct kr_recheck *r, const struct kr_newly *u, int64_t by);
/* what the reader wrote replaces nothing for it */
bool kr_recheck_could_be_seen(const struct kr_recheck *r, kr_txn reader, const struct kr_newly *v,
	struct kr_span at);

/* recheck_sight.c */
struct kr_sighted {
	bool says, own;       /* says: there is something to be explained */
	bool uncommitted, insert, searches;
	struct kr_saw saw;
	bool sum;             /* of an increment: the number before it, or absent for 0 */
	int64_t number;
	kr_value own_value;
	struct kr_span at;
	/* the key was returned twice, and one of the rows is the reader's own, as the profile allows */
	bool allowed;
	/* its snapshot is the transaction's, or, alone in a statement, that of other rows */
	bool shared;
};
void kr_recheck_sight(const struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key, const struct kr_saw *saw,
	struct kr_sighted *out);
bool kr_recheck_allows(const struct kr_recheck *r, const struct kr_sighted *s, kr_key key, kr_value value);
/* Where all that shares the snapshot of the sight can have been seen: *out holds `n` spans; none: nowhere. */
KR_VEC_NAMED(kr_places, struct kr_span);
enum kr_status kr_recheck_shared(struct kr_recheck *r, kr_txn t, uint32_t op, struct kr_places *out);
/* How often the operation returned the key. */
uint32_t kr_recheck_times(const struct kr_recheck *r, const struct kr_operation *op, kr_key key);
/* Some version, or moment, explains the sight at `at`; r->versions are the key's. *only: the one version, or
 * NULL. */
bool kr_recheck_explained(const struct kr_recheck *r, kr_txn t, const struct kr_sighted *s, kr_key key,
	const struct kr_newly **only);

/* Every sight of the operation that a snapshot can be shared for. */
typedef enum kr_status kr_sight_visit(struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key,
	const struct kr_saw *saw, void *data);
enum kr_status kr_recheck_each_sight(struct kr_recheck *r, kr_txn t, uint32_t op, kr_sight_visit *visit,
	void *data);
/* `data`: struct kr_places, which is narrowed to where the sight can have been seen */
kr_sight_visit kr_recheck_share;

/* grounds.c: do nothing where nobody asks. */
struct kr_gap kr_recheck_gap(struct kr_point before, struct kr_point after);
void kr_recheck_note(const struct kr_recheck *r, struct kr_gap gap);
/* why v precedes u */
void kr_recheck_note_order(const struct kr_recheck *r, const struct kr_newly *v, const struct kr_newly *u,
	uint32_t edge);
/* t took its lock before u gave up its own */
void kr_recheck_note_locks(const struct kr_recheck *r, kr_txn t, struct kr_span taken, kr_txn u);
/* no version explains the sight of r->f */
void kr_recheck_note_value(const struct kr_recheck *r, const struct kr_sighted *s);
enum kr_status kr_recheck_note_clash(struct kr_recheck *r); /* the snapshot of r->f has no instant */
struct kr_point kr_recheck_snapshot(const struct kr_recheck *r, kr_txn t, int64_t at);

/* recheck_reads.c, recheck_pairs.c, recheck_cycle.c: does the finding hold? */
enum kr_status kr_recheck_read(struct kr_recheck *r);
enum kr_status kr_recheck_pair(struct kr_recheck *r);
enum kr_status kr_recheck_cycle(struct kr_recheck *r);
enum kr_status kr_recheck_declared(struct kr_recheck *r); /* recheck_declared.c */
bool kr_recheck_new_row(const struct kr_recheck *r, kr_txn later, kr_key key); /* recheck_pairs.c */

/* Marks of an operation of a transaction that is carried; of others 0. */
static inline bool kr_recheck_carried(const struct kr_recheck *r, kr_txn t)
{
	return r->claims.marks && r->claims.marks->txns[t.i] & KR_MARK_CARRIED;
}
static inline unsigned kr_recheck_marks(const struct kr_recheck *r, kr_txn t, kr_op op)
{
	return kr_recheck_carried(r, t) ? r->claims.marks->ops[op.i] : 0;
}

static inline enum kr_status kr_recheck_fail(const struct kr_recheck *r, const char *what)
{
	return kr_err_set(r->err, KR_BAD, "%s", what);
}

#endif
