/* The batch reference: the definitions of docs/leopard.md over a whole history, plain, object by object. What
 * the streaming engine finds must equal what stands here.
 *
 * The history is first turned into facts: per transaction where its snapshot, commit and end lie; versions
 * with the window in which each could be seen; what each operation saw (looks); locks (holds). Mechanisms
 * (mechanism.h) only look at these. Every instant lies in a span; `a` is certainly before `b` iff a.to <
 * b.from. */
#ifndef KR_MECHANISMS_BATCH_H
#define KR_MECHANISMS_BATCH_H

#include "base/ctx.h"
#include "mechanisms/profile.h"
#include "verify/finding.h"


/* One entry of a transaction's line. */
struct kr_act {
	kr_txn txn;
	const struct kr_operation *op;
	const struct kr_attr *attr;  /* or NULL */
	uint32_t index;              /* among the operations that count; KR_NONE: struck */
	uint32_t place;              /* in the trace's list */
	uint32_t undone_at;          /* place of the rollback that took it back, or KR_NONE */
	bool failed, ends, answered; /* it failed; and the transaction with it; a reply came */
	struct kr_span at;
};

struct kr_party {                /* a transaction */
	uint32_t act_first, act_count, hold_first, hold_count, writer_first, writer_count;
	uint32_t writes_at;          /* its first act that writes; KR_NONE: none does */
	bool committed, optional;    /* optional: of unknown outcome */
	bool automatic;              /* autocommit */
	bool has_snapshot;
	bool took_effect;            /* committed, or its value is the only match of a read */
	/* of unknown outcome: until when it had taken effect, as such reads show */
	int64_t effect_by;
	uint32_t real;               /* of unknown outcome: its versions that are no shadows */
	struct kr_span begin, snapshot, commit, release; /* commit means nothing of aborted ones */
};

/* Who writes: enough to order two of them. The initial version's writer is KR_NONE. */
struct kr_stand {
	kr_txn txn;
	bool committed;
	/* lock: where the exclusive lock on the row was taken; never: to == INT64_MAX */
	struct kr_span commit, lock, release;
};

struct kr_written {              /* a version */
	struct kr_stand by;
	kr_key key;
	kr_value value;
	uint32_t op;                 /* of the last write; KR_NONE: the initial version */
	struct kr_span at;           /* from its first write to its last */
	int64_t first_done;          /* when the first write that counts was answered */
	bool sure;                   /* it is known that something was written */
	bool shadow;                 /* perhaps no version at all: it wrote what was there */
	bool seen;                   /* the only match of a read */
	int64_t gone;                /* latest instant at which it could be seen */
	kr_txn over;                 /* by timestamps: who replaces it first, and when another one does */
	int64_t gone_next;
};

/* What keeps the search among a key's versions short: most of them stand in the order of their commits. */
struct kr_bound {
	int64_t last;                /* the latest C1 up to this one */
	int64_t next;                /* the earliest C1 from this one on */
	int64_t gone;                /* until when this one, or one in front of it, can be seen */
};

/* every write, whatever came of it */
struct kr_tried { kr_txn txn; kr_key key; kr_value value; uint32_t act; bool last; };

enum kr_match {
	KR_MATCH_IS,
	KR_MATCH_NOT,
	KR_MATCH_PRESENT,
	KR_MATCH_WHERE,
	KR_MATCH_NOT_WHERE,
	KR_MATCH_NUMBER
};

struct kr_look {                 /* what an operation saw of a key */
	kr_txn txn;
	uint32_t act, op;
	kr_key key;
	enum kr_match match;
	kr_value value;              /* KR_MATCH_IS, _NOT */
	const struct kr_scan *scan;  /* KR_MATCH_WHERE, _NOT_WHERE */
	int64_t number;              /* KR_MATCH_NUMBER; absent is 0 */
	bool predicate;              /* the key was not returned */
	bool insert;                 /* the outcome of an insert */
	bool searches;               /* a locking read or a data change */
	bool uncommitted;
	bool twice;                  /* there were two rows of its key */
	bool own;                    /* written before by the transaction itself: own_value */
	kr_value own_value;
	uint32_t group;              /* looks of one group share one snapshot; KR_NONE: alone */
	struct kr_span at;           /* its snapshot; of a group that was settled, what all of it allows */
	bool fits;                   /* some version explains it */
	bool torn;                   /* the first one that the group's other looks leave no instant for */
	bool loose;                  /* its group is torn: it tells nothing more */
	uint32_t only;               /* the version that it saw, where there is one candidate; else KR_NONE */
};

struct kr_hold {                 /* a lock that is certain */
	kr_txn txn;
	uint32_t op;
	enum kr_lock_mode mode;
	const struct kr_operation *range; /* NULL: on an object */
	kr_key key;                  /* one of the object */
	uint32_t object;
	struct kr_span at;
};

/* a write that holds its row */
struct kr_edit { kr_txn txn; uint32_t op; kr_key key; kr_value value; struct kr_span at; };
struct kr_double { kr_txn txn; uint32_t op; kr_key key; }; /* a key returned twice, against the profile */
struct kr_writer {               /* of an object */
	struct kr_stand by;
	uint32_t object, op;
	kr_key key;
	bool real;                   /* not only shadows */
	bool inserts, upserts;       /* its first operation there */
	bool deletes;                /* some operation there */
};
struct kr_remade { kr_txn txn; kr_key key; }; /* deleted and made again by one transaction */

struct kr_reach { kr_txn from, to; };
KR_VEC_NAMED(kr_reaches, struct kr_reach);

/* Members of groups, one group after the other, each in the members' order. */
struct kr_grouped {
	KR_VEC(uint32_t) first, at;  /* first: by group, and one more */
};

/* The i-th of `n` members is of group of[i] < groups, or of none. `out` is empty. */
/* batch_group.c */
bool kr_group(struct kr_mem *mem, struct kr_grouped *out, const uint32_t *of, uint32_t n, uint32_t groups);
void kr_grouped_done(struct kr_mem *mem, struct kr_grouped *grouped);

/* By place in `grouped`: of what `at` says of each, the most so far in its group. */
void kr_group_most(const struct kr_grouped *grouped, int64_t *at);

/* The first place in [low, high), where `at` never falls, that holds more than the bound; `high`: none
 * does. */
uint32_t kr_first_above(const int64_t *at, uint32_t low, uint32_t high, int64_t bound);

struct kr_certain;
struct kr_closing {              /* knows whether the certain graph has cycles with something new on them */
	void *data;
	enum kr_status (*ask)(void *data, const struct kr_certain *certain, bool *closes);
};

struct kr_batch_options {
	const struct kr_profile *profile;
	const struct kr_level *certify; /* the level that the profile names; NULL: none */
	bool no_session;                /* timestamps: sessions promise nothing */
	const struct kr_marks *marks;   /* NULL: the history is the whole */
	struct kr_reaches *reach;       /* NULL: nobody asks; which transactions certain dependencies join */
	const struct kr_closing *closing; /* NULL: cycles are looked for in any case */
};

struct kr_batch {
	struct kr_ctx *ctx;
	struct kr_mem *mem;
	const struct kr_history *h;
	const struct kr_profile *profile;
	const struct kr_batch_options *options;
	KR_VEC(struct kr_party) txns;
	KR_VEC(struct kr_act) acts;
	KR_VEC(uint32_t) rows;          /* by key: a key of its row, the first one */
	KR_VEC(uint32_t) objects;       /* by key: a key of what locks are taken on, the first one */
	KR_VEC(struct kr_written) collected; /* versions as they were met */
	KR_VEC(struct kr_written) versions; /* by key */
	KR_VEC(uint32_t) version_first; /* by key, and one more */
	KR_VEC(struct kr_bound) bounds; /* by version */
	/* by timestamps: a key's versions by when they were committed, then those of unknown outcome */
	KR_VEC(uint32_t) by_commit;
	KR_VEC(struct kr_tried) tried;
	KR_VEC(struct kr_look) looks;
	uint32_t looked;                /* how many there were, those that were let go of included */
	KR_VEC(struct kr_hold) holds;
	KR_VEC(struct kr_edit) edits;
	KR_VEC(struct kr_double) doubles;
	KR_VEC(struct kr_writer) writers; /* by transaction */
	struct kr_grouped writers_of;   /* by object */
	struct kr_grouped deleters_of;  /* those that delete */
	struct kr_grouped holds_of;     /* by object; those of ranges in none */
	KR_VEC(struct kr_remade) remade;
	struct kr_findings *out;
};

struct kr_looked { uint32_t txns, reads, versions, locks; }; /* how much there was to look at */

/* What mechanisms find wrong in the history. The caller frees *out with kr_findings_done in every case.
 * KR_BAD: the profile needs times that the history does not have, or contradicts itself in. */
enum kr_status kr_batch_find(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_findings *out, struct kr_looked *looked,
	struct kr_err *err);

/* The same in parts, of a batch whose context, history, profile, options and findings are set: all steps
 * below, then what is wrong. Freed with kr_batch_done in every case. */
enum kr_status kr_batch_facts(struct kr_batch *b, struct kr_err *err);
enum kr_status kr_batch_judge(struct kr_batch *b);
void kr_batch_done(struct kr_batch *b);
void kr_batch_clear(struct kr_batch *b); /* for another history: keeps its memory */

/* Steps, in their order. */
enum kr_status kr_batch_acts(struct kr_batch *b);     /* batch_acts.c */
enum kr_status kr_batch_instants(struct kr_batch *b); /* batch_instants.c */
enum kr_status kr_batch_stamps(struct kr_batch *b, struct kr_err *err); /* batch_stamps.c: instead */
enum kr_status kr_batch_locks(struct kr_batch *b);    /* batch_locks.c */
enum kr_status kr_batch_versions(struct kr_batch *b); /* batch_versions.c */
enum kr_status kr_batch_group(struct kr_batch *b);    /* batch_group.c */
/* batch_commits.c: by timestamps, until when each version could be seen */
enum kr_status kr_batch_commits(struct kr_batch *b);
enum kr_status kr_batch_looks(struct kr_batch *b);    /* batch_looks.c */
/* batch_settle.c: looks from there on, of whole transactions */
enum kr_status kr_batch_settle(struct kr_batch *b, uint32_t first);
/* batch_versions.c: of what took effect although nobody was told */
enum kr_status kr_batch_effects(struct kr_batch *b);

/* ---- small pure functions ---- */

static inline bool kr_span_before(struct kr_span a, struct kr_span b) { return a.to < b.from; }

/* Two clocks may differ by the skew: half of it, rounded up, on both sides of an interval. */
static inline int64_t kr_skew_pad(const struct kr_history *h)
{
	return h->clock_skew / 2 + h->clock_skew % 2;
}

/* Is v's version certainly installed before u's? */
bool kr_stand_precedes(const struct kr_batch *b, const struct kr_stand *v, const struct kr_stand *u);

/* Could the version be seen at some instant of the span? */
bool kr_written_meets(const struct kr_batch *b, kr_txn reader, const struct kr_written *v, struct kr_span at);
/* By timestamps, where neither a certifier nor validation asks for it, what is explained is let go of while
 * looks are made. */
static inline bool kr_batch_passes(const struct kr_batch *b)
{
	return b->profile->clock == KR_CLOCK_STAMPS && !b->profile->certify && !b->profile->validate;
}

/* v was gone when its transaction was put aside. */
bool kr_written_is_gone(const struct kr_batch *b, const struct kr_written *v);
/* The latest instant at which v could be seen, if t wrote nothing. */
int64_t kr_written_gone(const struct kr_batch *b, const struct kr_written *v, kr_txn t);
struct kr_span kr_written_window(const struct kr_written *v);

/* t's exclusive lock on the object; false: it has none. */
bool kr_batch_lock(const struct kr_batch *b, kr_txn t, uint32_t object, struct kr_span *out);

/* All of the key's versions that meet the span are among those from *first to *end - 1. */
void kr_batch_meeting(const struct kr_batch *b, kr_key key, struct kr_span at, uint32_t *first,
	uint32_t *end);

/* All that certainly come after version v, and stand in front of it, are among those from here on. */
uint32_t kr_batch_followers(const struct kr_batch *b, uint32_t v);

/* By timestamps: places in by_commit, from *first on, of the key's versions among which are all that the
 * reader could see in the span. Behind those of known outcome come the others, from *unknown to the end of
 * the key's. */
uint32_t kr_batch_candidates(const struct kr_batch *b, kr_txn reader, kr_key key, struct kr_span at,
	uint32_t *first, uint32_t *unknown);

/* Does a version with that value explain the look? */
bool kr_look_fits(const struct kr_batch *b, const struct kr_look *look, kr_value value);

/* The i-th write of an operation; false: there are fewer. `value` may be KR_UNTOLD. */
bool kr_op_write(const struct kr_history *h, const struct kr_operation *op, uint32_t i, kr_key *key,
	kr_value *value);

/* Is the key in what a range or scan covers, as far as its name tells? */
bool kr_op_covers(const struct kr_history *h, const struct kr_operation *op, kr_key key);

/* The act counts for what its transaction does later, at `place` (KR_NONE: at its end). */
static inline bool kr_act_counts(const struct kr_act *a, uint32_t place)
{
	return a->op && !a->failed && (a->undone_at == KR_NONE || (place != KR_NONE && a->undone_at > place));
}

/* The index of the transaction's last write of the key in front of act i; KR_NONE: there is none. */
uint32_t kr_batch_own(const struct kr_batch *b, uint32_t i, kr_key key, kr_value *value);

/* Of the version's writer: what it did to the object. Not of the initial version. */
struct kr_writer *kr_batch_writer(const struct kr_batch *b, const struct kr_written *v);

/* A row that another may have deleted may begin anew: the rule of the first updater does not ask who deleted
 * it. */
bool kr_writer_makes_new_row(const struct kr_batch *b, const struct kr_writer *later);

static inline bool kr_batch_settled(const struct kr_batch *b, kr_txn t)
{
	return !b->options->marks || b->options->marks->txns[t.i] & KR_MARK_SETTLED;
}

static inline bool kr_batch_carried(const struct kr_batch *b, kr_txn t)
{
	return b->options->marks && b->options->marks->txns[t.i] & KR_MARK_CARRIED;
}

/* Adds a finding; NULL: no memory. */
struct kr_finding *kr_batch_report(struct kr_batch *b, enum kr_mechanism_kind mechanism,
	enum kr_finding_class what);

#endif
