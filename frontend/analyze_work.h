/* What the steps of the semantic analysis share; for frontend/analyze*.c only. The steps, in order, are the functions below. */
#ifndef KR_FRONTEND_ANALYZE_WORK_H
#define KR_FRONTEND_ANALYZE_WORK_H

#include "frontend/analyze.h"

/* What one operation says of its key, and does to it. */
struct kr_effect {
	bool sees, writes;
	bool complement; /* it saw some other value than `seen` */
	kr_value seen, written;
};

struct kr_internal {
	kr_txn txn;
	uint32_t op;
	kr_key key;
}; /* an internal inconsistency */

/* Who else wrote what a positive candidate set stands for. */
struct kr_sources {
	kr_txn intermediate[2]; /* two different transactions that wrote it, but not last, and did not abort */
	kr_txn aborted;         /* one that took no effect */
};

/* Two writes of different values to one key, by whomever: if something other than `value` was ever written, one of them is it. */
struct kr_traces {
	struct {
		kr_txn txn;
		kr_value value;
		bool intermediate;
	} at[2];
};

struct kr_work {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_analysis *out;
	struct kr_asg *asg; /* &out->asg */
	struct kr_err *err;
	struct kr_arena scratch; /* freed when the analysis ends */
	bool any_open;           /* some transaction is KR_OPEN */
	bool changed;            /* versions, observations or candidates went away: kr_analyze_compact has work */

	uint32_t *stamp;                     /* per key: a transaction that wrote it, as the step at hand needs it */
	kr_value *own;                       /* per key, valid where stamp says so: what that transaction wrote last */
	KR_VEC(struct kr_internal) internal; /* of committed transactions, in file order */

	kr_value *value; /* per version, in the ASG's arena; i == KR_NONE: an initial value that is not known */
	/* Until kr_analyze_sets the observations' fields `set` and `predicate` hold the value seen and kr_effect.complement. */
	uint32_t *key_sets; /* nkeys + 1: the sets of k are [key_sets[k], key_sets[k + 1]), ascending by set_id */
	uint32_t *set_id;   /* per set: kr_analyze_set_id */
	bool any_complement;
	/* An unknown initial value is a member of all its key's sets; kr_analyze_compact takes it out where it does not belong. */

	uint32_t *live;     /* per set: its members that may be real; NULL: all are */
	uint32_t *key_live; /* per key: its versions that may be real */

	struct kr_sources *sources; /* per set; NULL: not asked for yet */
	struct kr_traces *traces;   /* per key, only if any_complement */
};

/* Transactions, as their status tells (analyze_versions.c). */
enum kr_status kr_analyze_txns(struct kr_work *w);
/* Replays every transaction over its own writes: internal inconsistencies, unknown transactions that cannot have taken effect, the number of external observations. */
enum kr_status kr_analyze_replay(struct kr_work *w);
/* Keys and versions of all transactions that are not known to be absent. */
enum kr_status kr_analyze_versions(struct kr_work *w);
/* The external observations, counted by kr_analyze_replay. */
enum kr_status kr_analyze_reads(struct kr_work *w);
/* Candidate sets. */
enum kr_status kr_analyze_sets(struct kr_work *w);
/* Which unknown transactions certainly took effect, or need not be considered; which initial values are known after all. Needs kr_asg_index. */
enum kr_status kr_analyze_presence(struct kr_work *w);
/* Anomalies; an observation without candidates gets set == KR_NONE. */
enum kr_status kr_analyze_anomalies(struct kr_work *w);
/* Takes out what is no longer real, and numbers anew. */
enum kr_status kr_analyze_compact(struct kr_work *w);
/* Known orders of the versions that are left. */
enum kr_status kr_analyze_orders(struct kr_work *w);

/* Shared by the steps. */
struct kr_effect kr_analyze_effect(const struct kr_operation *op);
uint32_t kr_analyze_find_set(const struct kr_work *w, kr_key k, kr_value value, bool complement); /* or KR_NONE */
#define KR_VALUES_MOST (UINT32_C(1) << 31)                                                        /* so that a value and a bit fit in 32 bits */
static inline uint32_t kr_analyze_set_id(kr_value value, bool complement) { return value.i << 1 | complement; }
static inline kr_value kr_analyze_set_value(const struct kr_work *w, uint32_t set) { return (kr_value){w->set_id[set] >> 1}; }
uint32_t kr_analyze_candidates(const struct kr_work *w, const struct kr_observation *o); /* how many; exact when at most 1 */
enum kr_status kr_analyze_sources(struct kr_work *w);                                    /* fills w->sources and w->traces, unless done */
bool kr_analyze_written(const struct kr_work *w, uint32_t set);                          /* somebody, whoever, wrote what the positive set stands for */

#define KR_TRY(expression) \
	do { \
		enum kr_status try_status = (expression); \
		if (try_status) \
			return try_status; \
	} while (0)

#endif
