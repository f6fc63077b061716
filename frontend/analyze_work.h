/* The steps of the semantic analysis: what each takes, and what it gives. For frontend/analyze*.c only.
 *
 * frontend/analyze.c calls them in the order in which they stand here. What a step has given the later ones
 * only read, but for the few that say so: they take it without `const`. */
#ifndef KR_FRONTEND_ANALYZE_WORK_H
#define KR_FRONTEND_ANALYZE_WORK_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/table.h"
#include "frontend/analyze.h"
#include "frontend/model/operation.h"
#include "frontend/where.h"

/* ---- what all steps are given ---- */

struct kr_work {
	struct kr_ctx *ctx;
	struct kr_mem *mem;
	struct kr_arena *arena;     /* the ASG's */
	struct kr_arena *scratch;   /* freed when the analysis ends */
	const struct kr_history *h;
	struct kr_err *err;
	bool installs;              /* what is shown of a counter after own increments is what is left */
	bool exact;                 /* nothing is left out because it would be too much */
	char *left_out;             /* kr_analysis.left_out: notes of */
	struct kr_numbers *numbers; /* that the trace does not have (analyze_tokens.c) */
};

/* KR_UNSUPPORTED: operation `op` of t: `what` is not supported yet */
enum kr_status kr_analyze_refuse(const struct kr_work *w, kr_txn t, uint32_t op, const char *what);
/* notes that the ASG does not say all that the operation does (kr_analysis.left_out) */
void kr_analyze_leave_out(const struct kr_work *w, kr_txn t, uint32_t op, const char *what);

/* ---- tokens: what tells the versions of a key apart (analyze_tokens.c) ---- */

/* That the version is absent; a value of the trace; of counters, too, another number, numbered behind the
 * values; of lists the kr_item at their end; of sets, marks, parts and sums only that they are there. */
typedef struct { uint32_t i; } kr_token;

#define KR_TEST_ARGUMENTS (UINT32_C(1) << 29)
#define KR_TOKEN_ABSENT ((kr_token){0})
#define KR_TOKEN_UNTOLD ((kr_token){KR_NONE}) /* of an initial version */
#define KR_TOKEN_THERE ((kr_token){KR_TEST_ARGUMENTS - 2})
#define KR_TOKEN_NEVER ((kr_token){KR_TEST_ARGUMENTS - 1}) /* of no version: "not this" takes all */

static inline kr_token kr_token_of(kr_value value) { return (kr_token){value.i}; }
static inline kr_token kr_token_there(bool there) { return there ? KR_TOKEN_THERE : KR_TOKEN_ABSENT; }

struct kr_numbers {
	KR_VEC(int64_t) own;   /* that the trace does not have */
	struct kr_table table; /* of these (ids from h->values.n on) and of the trace's integers */
	bool indexed;
};
void kr_numbers_done(struct kr_mem *mem, struct kr_numbers *numbers);

/* The number as a token, and back (false: it is none); what a value says, 0 where it is no integer. */
enum kr_status kr_analyze_number(const struct kr_work *w, int64_t number, kr_token *out);
bool kr_analyze_integer(const struct kr_work *w, kr_token token, int64_t *out);
static inline int64_t kr_analyze_told(const struct kr_work *w, kr_value value)
{
	const struct kr_value_entry *entry = kr_history_value(w->h, value);

	return entry->type == KR_VALUE_INT ? entry->integer : 0;
}

/* ---- tests: what an observation says of the version that it saw ---- */

enum kr_test_kind {
	KR_TEST_IS,        /* its token is `argument` */
	KR_TEST_NOT,       /* its token is not `argument` */
	KR_TEST_SOURCE,    /* transaction `argument` wrote it */
	KR_TEST_OR_ABSENT, /* its token is `argument`, or it is absent */
	KR_TEST_MATCH,     /* it is present and meets the conditions of where `argument` (kr_looks.wheres) */
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

/* ---- versions (analyze_versions.c) ---- */

/* Keys and their versions, numbered as in the ASG: of all transactions that did not abort. */
struct kr_writes {
	uint32_t nkeys, nversions, nparts;
	struct kr_asg_key *keys; /* nkeys + 1 */
	struct kr_asg_version *versions;
	kr_token *token;         /* per version */
	struct kr_asg_part *parts;
	uint64_t *grows;         /* bits, per key of the trace: list, set, mark, or a counter that is a sum */
	bool shows_own;          /* kr_analysis.shows_own, as far as told results of increments tell */
};
enum kr_status kr_analyze_versions(const struct kr_work *w, struct kr_writes *out);

static inline bool kr_analyze_grows(const struct kr_writes *writes, kr_key k)
{
	return kr_bits_get(writes->grows, k.i);
}
/* The version of k that t wrote, or KR_NONE. */
uint32_t kr_analyze_version(const struct kr_writes *writes, kr_key k, kr_txn t);

/* Gives every write of the history to `take`, those of aborted transactions only if `all`: transaction by
 * transaction, from its last write to its first; `last`: of the key. Of growing keys the value is absent. */
typedef enum kr_status kr_take_write(void *data, kr_txn t, struct kr_row write, bool last);
enum kr_status kr_analyze_each_write(const struct kr_work *w, const struct kr_writes *writes, bool all,
	kr_take_write *take, void *data);
/* The i-th write of the operation, so. */
struct kr_row kr_analyze_write(const struct kr_work *w, const struct kr_writes *writes,
	const struct kr_operation *op, uint32_t i);

/* ---- what ranges, scans and updates look at (analyze_looks.c) ---- */

/* A key that has to be looked at: some write of it, or its initial value, can be what is returned. */
struct kr_looked {
	kr_key key;
	/* only intermediate writes are, or versions that an operation names: nobody but their writers, or
	 * that operation, can tell */
	bool passing;
};

struct kr_where { /* distinct conditions of scans and updates */
	uint32_t scan;
	uint32_t first, count; /* into kr_looks.looked */
	bool unsure;           /* of some growing key nobody can tell */
};

struct kr_looks {
	struct kr_looked *by_name;          /* for ranges: `names` of them, in key order */
	uint32_t names;
	KR_VEC(struct kr_where) wheres;
	KR_VEC(struct kr_looked) looked;    /* for scans */
	uint32_t *where_of;                 /* per scan: into wheres */
};
enum kr_status kr_analyze_looks(const struct kr_work *w, const struct kr_writes *writes,
	struct kr_looks *out);
void kr_looks_done(struct kr_mem *mem, struct kr_looks *looks);

/* Whether the test is true of a version of k that the token stands for; not for KR_TEST_SOURCE. */
bool kr_analyze_fits(const struct kr_work *w, const struct kr_looks *looks, uint32_t test, kr_key k,
	kr_token token);

/* ---- growing keys (analyze_grow.h) ---- */

struct kr_growing;

/* Adds part keys and their versions behind the others (part keys are numbered from h->keys.n on), gives
 * versions of growing keys the tokens that tests will ask for, and closes lists whose initial value reads
 * tell. NULL: no key grows. kr_growing_free in any case. */
enum kr_status kr_analyze_growing(const struct kr_work *w, struct kr_writes *writes, struct kr_growing **out);
void kr_growing_free(struct kr_growing *growing);

/* ---- what transactions saw (analyze_reads.c) ---- */

/* Replays every transaction over its own writes. */
struct kr_observed {
	uint32_t nobs;
	struct kr_observation *obs; /* with a test for its set */
	uint32_t *obs_first;        /* per transaction, and one more */
	KR_VEC(struct kr_anomaly) found; /* of committed transactions; they do not depend on presence */
	/* per transaction, enum kr_presence: unknown ones that cannot have taken effect are absent */
	uint8_t *presence;
	bool any_open, any_lost;    /* some is open; some unknown one is absent */
};
enum kr_status kr_analyze_replay(const struct kr_work *w, const struct kr_writes *writes,
	const struct kr_looks *looks, struct kr_growing *growing, struct kr_observed *out);

/* Drops versions of transactions that are absent. */
enum kr_status kr_analyze_drop_versions(const struct kr_work *w, const struct kr_observed *observed,
	struct kr_writes *writes);

/* ---- candidate sets (analyze_sets.c) ---- */

struct kr_sets {
	const struct kr_work *w;
	const struct kr_writes *writes;
	const struct kr_looks *looks;
	const struct kr_growing *growing;
	uint32_t nobs, nsets, nmembers;
	struct kr_observation *obs; /* now with sets. KR_NONE: it has no candidate, or is left out */
	uint32_t *obs_first;
	struct kr_asg_set *sets;
	/* An untold initial version is a listed member of all its key's sets for which it may be it;
	 * kr_analyze_compact takes it out where it does not belong. */
	kr_version *members;
	/* nkeys + 1: the sets of k are [key_sets[k], key_sets[k + 1]), ascending by `test` */
	uint32_t *key_sets;
	uint32_t *test;             /* per set */
	/* there are sets of KR_TEST_NOT (or stored as complements), of KR_TEST_SOURCE, of later kinds */
	bool any_complement, any_source, any_where;
	bool changed;               /* as kr_settled.changed */
};
/* Takes the observations over. */
enum kr_status kr_analyze_sets(const struct kr_work *w, const struct kr_writes *writes,
	const struct kr_looks *looks, const struct kr_growing *growing, struct kr_observed *observed,
	struct kr_sets *out);

/* whether k's untold initial value may be what the set stands for (analyze_initial.c) */
bool kr_analyze_may_start(const struct kr_sets *sets, uint32_t set, kr_key k);
/* whether the set stands for this version; an untold initial value: as above */
bool kr_analyze_holds(const struct kr_sets *sets, uint32_t set, uint32_t version);
uint32_t kr_analyze_find_set(const struct kr_sets *sets, kr_key k, uint32_t test); /* or KR_NONE */
/* the first set of k whose kind is KR_TEST_OR_ABSENT or later */
uint32_t kr_analyze_other_sets(const struct kr_sets *sets, kr_key k);

/* ---- what is settled in advance (analyze_presence.c) ---- */

struct kr_settled {
	uint8_t *presence;  /* per transaction */
	uint32_t *live;     /* per set: its members that may be real; NULL: all are */
	uint32_t *key_live; /* per key: its versions that may be real */
	bool changed;       /* versions, observations or candidates went away: kr_analyze_compact has work */
};
/* Which unknown transactions certainly took effect, or need not be considered; which untold initial values
 * are known after all (their tokens, and open_initial). */
enum kr_status kr_analyze_presence(const struct kr_work *w, const struct kr_observed *observed,
	const struct kr_sets *sets, struct kr_writes *writes, struct kr_settled *out);
/* how many; exact when at most 1 */
uint32_t kr_analyze_candidates(const struct kr_sets *sets, const struct kr_settled *settled,
	const struct kr_observation *o);

/* ---- anomalies (analyze_anomalies.c) ---- */

/* Bits, per set of KR_TEST_IS: somebody, whoever, wrote what it stands for. */
enum kr_status kr_analyze_written(const struct kr_sets *sets, const uint8_t *presence, struct kr_arena *arena,
	uint64_t **out);
/* Those found before, and those of observations without a candidate, which get set == KR_NONE. */
enum kr_status kr_analyze_anomalies(const struct kr_observed *observed, const struct kr_settled *settled,
	struct kr_sets *sets, struct kr_analysis *out);
/* Names one of a growing key or a part: kind and other; anomaly->key becomes the key of the trace
 * (analyze_grow.c). */
enum kr_status kr_analyze_grow_name(const struct kr_sets *sets, const uint8_t *presence,
	const struct kr_observation *o, struct kr_anomaly *anomaly);

/* ---- untold initial values that something else than a value was seen of (analyze_initial.c) ---- */

/* Gives them one that suits all, or leaves observations out. */
enum kr_status kr_analyze_untold(const struct kr_settled *settled, struct kr_writes *writes,
	struct kr_sets *sets);

/* ---- the graph (analyze_compact.c, analyze_orders.c) ---- */

/* Takes out what is no longer real, and numbers anew; where something is lost. */
enum kr_status kr_analyze_compact(const struct kr_settled *settled, struct kr_writes *writes,
	struct kr_sets *sets);
/* Known orders of the versions that are left, and sums, of an ASG that has all else. */
enum kr_status kr_analyze_orders(const struct kr_work *w, const struct kr_growing *growing, bool any_anomaly,
	struct kr_asg *asg);
/* Those that growing keys tell, and their sums (analyze_grow.c). */
KR_VEC_NAMED(kr_analyze_pairs, struct kr_asg_order);
enum kr_status kr_analyze_grow_orders(const struct kr_growing *growing, bool any_anomaly, struct kr_asg *asg,
	struct kr_analyze_pairs *orders);

#endif
