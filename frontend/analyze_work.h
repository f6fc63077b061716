/* What the steps of the semantic analysis share; for frontend/analyze*.c only. The steps, in order, are the
 * functions below. */
#ifndef KR_FRONTEND_ANALYZE_WORK_H
#define KR_FRONTEND_ANALYZE_WORK_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/table.h"
#include "frontend/analyze.h"
#include "frontend/model/operation.h"
#include "frontend/where.h"

/* ---- tokens: what tells the versions of a key apart ---- */

/* That the version is absent; a value of the trace; of counters, too, a number that the trace does not have,
 * numbered behind the values (kr_analyze_number); of lists the kr_item at their end; of sets, marks, parts and
 * counters that are sums only that they are there. */
typedef struct { uint32_t i; } kr_token;

#define KR_TEST_ARGUMENTS (UINT32_C(1) << 29)
#define KR_TOKEN_ABSENT ((kr_token){0})
#define KR_TOKEN_UNTOLD ((kr_token){KR_NONE}) /* of an initial version */
#define KR_TOKEN_THERE ((kr_token){KR_TEST_ARGUMENTS - 2})
#define KR_TOKEN_NEVER ((kr_token){KR_TEST_ARGUMENTS - 1}) /* of no version: "not this" takes all */

static inline kr_token kr_token_of(kr_value value) { return (kr_token){value.i}; }
static inline kr_token kr_token_there(bool there) { return there ? KR_TOKEN_THERE : KR_TOKEN_ABSENT; }

/* ---- tests: what an observation says of the version that it saw ---- */

enum kr_test_kind {
	KR_TEST_IS,        /* its token is `argument` */
	KR_TEST_NOT,       /* its token is not `argument` */
	KR_TEST_SOURCE,    /* transaction `argument` wrote it */
	KR_TEST_OR_ABSENT, /* its token is `argument`, or it is absent */
	KR_TEST_MATCH,     /* it is present and meets the conditions of where `argument` (kr_work.wheres) */
	KR_TEST_MISS       /* it does not match them */
};

/* A test is kept in 32 bits, kind first: observations of one key that saw the same have the same test, and
 * share a set. */
static inline uint32_t kr_test(enum kr_test_kind kind, uint32_t argument)
{
	return (uint32_t)kind * KR_TEST_ARGUMENTS | argument;
}
static inline enum kr_test_kind kr_test_kind(uint32_t test)
{
	return (enum kr_test_kind)(test / KR_TEST_ARGUMENTS);
}
static inline uint32_t kr_test_argument(uint32_t test) { return test % KR_TEST_ARGUMENTS; }
static inline kr_token kr_test_token(uint32_t test) { return (kr_token){kr_test_argument(test)}; }
static inline uint32_t kr_test_is(kr_token token) { return kr_test(KR_TEST_IS, token.i); }
static inline uint32_t kr_test_not(kr_token token) { return kr_test(KR_TEST_NOT, token.i); }
/* KR_NONE: it is the initial version */
static inline uint32_t kr_test_source(kr_txn writer)
{
	return kr_test(KR_TEST_SOURCE, writer.i == KR_NONE ? KR_TEST_ARGUMENTS - 1 : writer.i);
}

/* ---- what the steps find ---- */

struct kr_found { /* an anomaly that does not depend on presence */
	kr_txn txn;
	uint32_t op;
	kr_key key;
	enum kr_anomaly_kind kind;
	kr_txn other;
};

/* Who else wrote what a candidate set stands for (not used for KR_TEST_NOT). */
struct kr_sources {
	/* two different transactions that wrote it, but not last, and did not abort */
	kr_txn intermediate[2];
	kr_txn aborted;         /* one that took no effect */
};

/* Two writes of different values to one key, by whomever: if something other than `value` was ever written,
 * one of them is it. */
struct kr_traces {
	struct {
		kr_txn txn;
		kr_value value;
		bool intermediate;
	} at[2];
};

/* Keys that a range or scan has to look at: some write of them, or their initial value, can be what it
 * returns. */
struct kr_looked {
	kr_key key;
	/* only intermediate writes are, or versions that an operation names: nobody but their writers, or
	 * that operation, can tell */
	bool passing;
};

struct kr_where { /* distinct conditions of scans and updates; the keys are found at the first use */
	uint32_t scan;
	bool known;
	uint32_t first, count; /* into kr_work.looked */
};

struct kr_grow;

struct kr_work {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_analysis *out;
	struct kr_asg *asg; /* &out->asg */
	struct kr_err *err;
	struct kr_arena scratch; /* freed when the analysis ends */
	/* what a transaction is shown of a counter after its own increments is what it leaves (kr_analyze) */
	bool installs;
	bool exact;              /* nothing is left out because it would be too much */
	bool any_open;           /* some transaction is KR_OPEN */
	/* versions, observations or candidates went away: kr_analyze_compact has work */
	bool changed;

	struct kr_grow *grow; /* of growing keys (analyze_grow.h); NULL: there are none */
	/* bits, per key of the trace: list, set, or a counter that is a sum (kr_analyze_grows) */
	uint64_t *grows;
	uint32_t *stamp; /* per key of the trace: who wrote it, as the step at hand needs it */
	kr_token *own;   /* per key, valid where stamp says so: what that transaction wrote last */
	KR_VEC(struct kr_observation) seen; /* while transactions are replayed */
	/* of committed transactions; kr_analyze_anomalies puts them in file order */
	KR_VEC(struct kr_found) found;

	kr_token *token; /* per version, in the ASG's arena */
	/* Until kr_analyze_sets the observations' field `set` holds the test. */
	/* nkeys + 1: the sets of k are [key_sets[k], key_sets[k + 1]), ascending by `test` */
	uint32_t *key_sets;
	uint32_t *test;     /* per set */
	/* there are sets of KR_TEST_NOT (or stored as complements), of KR_TEST_SOURCE, of later kinds */
	bool any_complement, any_source, any_where;
	/* An untold initial value is a listed member of all its key's sets for which it may be it;
	 * kr_analyze_compact takes it out where it does not belong. */

	uint32_t *live;     /* per set: its members that may be real; NULL: all are */
	uint32_t *key_live; /* per key: its versions that may be real */

	struct kr_sources *sources; /* per set; NULL: not asked for yet */
	struct kr_traces *traces;   /* per key, only if any_complement */

	KR_VEC(int64_t) numbers; /* those that the trace does not have */
	struct kr_table number_table; /* of these (ids from h->values.n on) and of the trace's integers */
	bool numbers_ready;

	/* Ranges and scans (analyze_scans.c); NULL without any. */
	uint32_t *row_of;                    /* per key: the row of the operation at hand, or KR_NONE */
	/* per key: its place in h->seen, if the operation at hand names its version, or KR_NONE; NULL: no
	 * operation does */
	uint32_t *seen_of;
	/* bits, per key: some operation names a version of it; NULL: none does */
	uint64_t *named;
	KR_VEC(struct kr_looked) by_name;    /* for ranges: in key order */
	KR_VEC(struct kr_looked) looked;     /* for scans */
	KR_VEC(struct kr_row) passing;       /* intermediate writes */
	KR_VEC(struct kr_where) wheres;
	struct kr_table where_table;
	uint32_t *where_of;                  /* per scan: into wheres */
};

/* ---- steps ---- */

/* Transactions, as their status tells (analyze_versions.c). */
enum kr_status kr_analyze_txns(struct kr_work *w);
/* Keys and versions of all transactions that are not known to be absent. A version of a growing key has value
 * 0 until the next step. */
enum kr_status kr_analyze_versions(struct kr_work *w);
/* Which keys ranges and scans look at. */
enum kr_status kr_analyze_scans(struct kr_work *w);
/* Replays every transaction over its own writes: external observations, found contradictions, unknown
 * transactions that cannot have taken effect. */
enum kr_status kr_analyze_replay(struct kr_work *w);
/* Candidate sets. */
enum kr_status kr_analyze_sets(struct kr_work *w);
/* Which unknown transactions certainly took effect, or need not be considered; which initial values are known
 * after all. Needs kr_asg_index. */
enum kr_status kr_analyze_presence(struct kr_work *w);
/* Anomalies; an observation without candidates gets set == KR_NONE. */
enum kr_status kr_analyze_anomalies(struct kr_work *w);
/* Untold initial values that something else than a value was seen of. */
enum kr_status kr_analyze_untold(struct kr_work *w);
/* Takes out what is no longer real, and numbers anew. */
enum kr_status kr_analyze_compact(struct kr_work *w);
/* Known orders of the versions that are left. */
enum kr_status kr_analyze_orders(struct kr_work *w);

/* ---- replay, for analyze_scans.c and analyze_grow.c ---- */

/* Each transaction is replayed twice: for what contradicts it, and, if it may have taken effect, for its
 * observations. */
struct kr_replay {
	struct kr_work *w;
	kr_txn txn;
	uint32_t op;                /* index of the operation at hand */
	/* differs from replay to replay: w->stamp[k] == turn: this transaction has written k (analyze_grow.c
	 * may use stamps of its own so) */
	uint32_t turn;
	bool loose;                 /* the operation at hand does not read through a cursor */
	bool fills;                 /* this is the second time */
	bool inconsistent, wrote;
};

/* An external observation of key or part k at the operation at hand. */
enum kr_status kr_analyze_see(struct kr_replay *r, kr_key k, uint32_t test, bool predicate);
/* What the transaction says cannot be, whatever others did: `kind` if it committed; an unknown one took no
 * effect. */
enum kr_status kr_analyze_contradict(struct kr_replay *r, kr_key k, enum kr_anomaly_kind kind);
/* What the operation saw of a key that does not grow: an observation, or compared with the transaction's own
 * write. */
enum kr_status kr_analyze_look(struct kr_replay *r, kr_key k, uint32_t test, bool predicate);
void kr_analyze_put(struct kr_replay *r, kr_key k, kr_token token); /* its own write */
enum kr_status kr_analyze_range(struct kr_replay *r, const struct kr_operation *op);
enum kr_status kr_analyze_scan(struct kr_replay *r, const struct kr_operation *op); /* update, too */

/* ---- growing keys (analyze_grow.c) ---- */

/* How an operation showed a growing key. */
enum kr_shown {
	KR_SHOWN_READ,      /* value: the result of a read; KR_ABSENT: absent */
	KR_SHOWN_ROW,       /* value: returned by a range or scan, so it was present */
	KR_SHOWN_NO_ROW,    /* a range or scan looked at the key and did not return it: it was absent */
	KR_SHOWN_FOUND,     /* a delete found it */
	KR_SHOWN_NOT_FOUND, /* a delete did not find it; nothing was written */
	/* value: the result of an increment (op->b), with its delta in it; kr_analyze_grow_write follows */
	KR_SHOWN_INC
};

static inline bool kr_analyze_grows(const struct kr_work *w, kr_key k) { return kr_bits_get(w->grows, k.i); }

/* After kr_analyze_versions: adds part keys and their versions behind the others (asg->keys, nkeys, versions,
 * nversions, parts, nparts, w->token, all in the ASG's arena, may be replaced by larger arrays; part keys are
 * numbered from h->keys.n on), and gives versions of growing keys the ids that tests will ask for.
 * Transactions that replay finds to be absent still have versions here; those are dropped afterwards, before
 * there are sets. May look at the whole history and add to w->found (transactions that committed). */
enum kr_status kr_analyze_grow_keys(struct kr_work *w);
/* In replay: an operation showed growing key k; one wrote it (a delete that found it or does not tell, inc,
 * append, add). They call kr_analyze_see for k itself or for its parts, and kr_analyze_contradict. w->stamp
 * and w->own are not used for growing keys. */
enum kr_status kr_analyze_grow_see(struct kr_replay *r, kr_key k, enum kr_shown shown, kr_value value);
void kr_analyze_grow_write(struct kr_replay *r, kr_key k);
/* After the first replay: what reads of one key by different transactions contradict. */
enum kr_status kr_analyze_grow_check(struct kr_work *w);
void kr_analyze_grow_free(struct kr_work *w);
/* Names the anomaly of an observation of a growing key or a part that has no candidate (kind and other;
 * anomaly->key becomes the key of the trace). */
enum kr_status kr_analyze_grow_name(struct kr_work *w, const struct kr_observation *o,
	struct kr_anomaly *anomaly);
/* After kr_analyze_compact, when versions and observations have their last numbers: sums; and known orders,
 * pushed to `orders`, before the ones that the trace gives. */
KR_VEC_NAMED(kr_analyze_pairs, struct kr_asg_order);
enum kr_status kr_analyze_grow_done(struct kr_work *w, struct kr_analyze_pairs *orders);

/* ---- shared by the steps ---- */

/* The i-th write of the operation. For growing keys the value is 0. */
struct kr_row kr_analyze_write(const struct kr_work *w, const struct kr_operation *op, uint32_t i);

/* The version of k that t wrote, or KR_NONE; before there is an index, too. */
uint32_t kr_analyze_version(const struct kr_work *w, kr_key k, kr_txn t);

/* The number as a token, and back (false: it is none); what a value says, 0 where it is no integer. */
enum kr_status kr_analyze_number(struct kr_work *w, int64_t number, kr_token *out);
bool kr_analyze_integer(const struct kr_work *w, kr_token token, int64_t *out);
static inline int64_t kr_analyze_told(const struct kr_work *w, kr_value value)
{
	const struct kr_value_entry *entry = kr_history_value(w->h, value);

	return entry->type == KR_VALUE_INT ? entry->integer : 0;
}

/* not for KR_TEST_SOURCE */
bool kr_analyze_fits(const struct kr_work *w, uint32_t test, kr_key k, kr_token token);
/* whether k's untold initial value may be what the set stands for */
bool kr_analyze_may_start(const struct kr_work *w, uint32_t set, kr_key k);
/* whether the set stands for this version; an untold initial value: as above */
bool kr_analyze_holds(const struct kr_work *w, uint32_t set, uint32_t version);
uint32_t kr_analyze_find_set(const struct kr_work *w, kr_key k, uint32_t test);           /* or KR_NONE */
/* the first set of k whose kind is KR_TEST_OR_ABSENT or later */
uint32_t kr_analyze_other_sets(const struct kr_work *w, kr_key k);
/* how many; exact when at most 1 */
uint32_t kr_analyze_candidates(const struct kr_work *w, const struct kr_observation *o);
/* fills w->sources and w->traces, unless done */
enum kr_status kr_analyze_sources(struct kr_work *w);
/* somebody, whoever, wrote what the set of KR_TEST_IS stands for */
bool kr_analyze_written(const struct kr_work *w, uint32_t set);
/* of absent transactions; before there are sets */
enum kr_status kr_analyze_drop_versions(struct kr_work *w);
/* KR_UNSUPPORTED: operation `op` of t: `what` is not supported yet */
enum kr_status kr_analyze_refuse(const struct kr_work *w, kr_txn t, uint32_t op, const char *what);
/* notes that the ASG does not say all that the operation does (kr_analysis.left_out) */
void kr_analyze_leave_out(struct kr_work *w, kr_txn t, uint32_t op, const char *what);

#endif
