/* The abstract semantic graph: a trace's meaning, the same for every level (docs/ir.md). Per key its versions
 * and what is known of their order; per external observation its candidate set; per transaction whether it
 * took effect.
 *
 * Transactions keep the history's numbers; aborted ones stay as inert entries so that the numbers agree.
 * Versions are numbered by key: those of key k are [keys[k].first, keys[k + 1].first), the first of them the
 * initial version, the others one per transaction that may have taken effect and writes k, in transaction
 * order. Candidate sets are shared by all observations that saw the same thing of the same key, so that
 * thousands of readers of one value cost one set. */
#ifndef KR_IR_ASG_H
#define KR_IR_ASG_H

#include "base/arena.h"
#include "base/ctx.h"
#include "base/str.h"
#include "base/vec.h"
#include "krait/graph.h"

struct kr_asg_txn {
	uint8_t presence;    /* enum kr_presence: as far as the trace alone tells */
	bool outcome_unknown;/* its client never learned: no so or rt edge leaves it */
	bool has_begin, has_end;
	uint32_t session;    /* KR_NONE: none */
};

/* When begins were invoked and ends returned, of transactions that have these: of t at [t * step]. Borrowed
 * from the history, which may be large, or in the ASG's arena. */
struct kr_asg_times { const int64_t *begin, *end; size_t step; };

struct kr_asg_key {
	uint32_t first;      /* its initial version */
	/* the initial value is not told: observations of the initial version need only agree with each other
	 * (same set) */
	bool open_initial;
};

/* Values of sets and counters grow by what each write adds. Such a key has, behind all keys of the trace,
 * part keys: one per element of a set, one per increment of a counter whose result is not told (docs/asg.md).
 * A version of a part exists for each transaction that brings the part about or takes it away; its order
 * agrees with that of the whole key's, because a cycle of ww is forbidden at every level. */
struct kr_asg_part {
	kr_key of;           /* the whole key */
	/* for people: the history's value that names it (an element, the id of the incrementing transaction),
	 * KR_NONE: a counter's base */
	uint32_t label;
};

struct kr_asg_version {
	kr_txn writer;       /* KR_NONE: the initial version */
	kr_key key;
};

/* What fits into the bits of the structures below. */
#define KR_ASG_MEMBERS_MOST (UINT32_MAX >> 1)
#define KR_ASG_OP_LAST (UINT32_MAX >> 2)

struct kr_asg_set {      /* candidate set: members are versions of one key, ascending */
	uint32_t first;      /* into members */
	uint32_t count : 31;
	bool complement : 1; /* the members are the versions *not* in the set */
};

struct kr_observation {
	kr_txn txn;
	kr_key key;
	uint32_t set;        /* into sets */
	uint32_t op : 30;    /* index within the transaction's program */
	bool predicate : 1;  /* a key not returned by a predicate read: rw only to versions outside the set */
	bool loose : 1;      /* the operation says that it did not read through a cursor */
};

/* Known from the trace (version_order, list prefixes), if `guard` took effect (KR_NONE: in any case). */
struct kr_asg_order { kr_version before, after; kr_txn guard; };

/* What a read of a counter says: in every world in which txn took effect, the weights of those terms whose
 * observation saw the term's version add up to total. */
struct kr_asg_term { kr_obs obs; kr_version seen; int64_t weight; };
struct kr_asg_sum {
	kr_txn txn;
	uint32_t op;
	kr_key key;            /* the counter */
	int64_t total;
	/* into terms; terms of one observation are neighbours, their versions ascending, and each observation
	 * of a term belongs to one sum */
	uint32_t first, count;
};

/* What a version makes of its counter: this, or so much more than before. */
struct kr_asg_amount { int64_t amount; bool absolute; };

/* Names for people and for the text form, made only when asked for. An ASG from a history borrows the
 * history's; one read from text keeps its own. */
struct kr_asg_names {
	const void *data;
	void (*txn)(const void *data, kr_txn t, struct kr_str *out);
	void (*key)(const void *data, kr_key k, struct kr_str *out);
	void (*value)(const void *data, kr_version v, struct kr_str *out); /* as JSON; NULL: no values */
	/* a part's label as JSON; NULL: the numbers */
	void (*part)(const void *data, uint32_t label, struct kr_str *out);
};

struct kr_asg {
	struct kr_mem *mem;
	struct kr_arena arena;
	struct kr_asg_names names;
	int64_t clock_skew;
	uint32_t ntxns, nkeys, nversions, nobs, nsets, norders, nsessions;
	uint32_t nparts, nsums, nterms;
	struct kr_asg_txn *txns;
	struct kr_asg_times times;
	struct kr_asg_key *keys;         /* nkeys + 1, the last one for its `first` */
	struct kr_asg_version *versions;
	struct kr_observation *obs;      /* by transaction, then op */
	uint32_t *obs_first;             /* ntxns + 1: obs of t are [obs_first[t], obs_first[t + 1]) */
	struct kr_asg_set *sets;
	kr_version *members;
	uint32_t nmembers;
	/* adjacent pairs suffice; transitively closed by whoever needs that */
	struct kr_asg_order *orders;
	uint32_t norders_seen;           /* the first of them, which reads tell; the others the trace gives */
	struct kr_asg_part *parts;       /* of the last nparts keys */
	struct kr_asg_sum *sums;         /* by transaction, then op */
	struct kr_asg_term *terms;
	/* Hints for a schedule, which are not in the text form; of counters that have no parts
	 * (kr_analysis.coarse) there is no more. */
	uint32_t nshown;
	struct kr_asg_sum *shown;        /* what reads showed, without terms; NULL: nothing */
	struct kr_asg_amount *amounts;   /* per version; NULL: nothing is shown */
	/* derived by kr_asg_index: versions written by t are written[written_first[t] .. written_first[t +
	 * 1]), by key */
	uint32_t *written_first;
	kr_version *written;
};

extern const char *const kr_presence_names[]; /* by enum kr_presence, as in the text form */

void kr_asg_init(struct kr_asg *asg, struct kr_mem *mem);
void kr_asg_done(struct kr_asg *asg);

/* Fills written_first and written. */
enum kr_status kr_asg_index(struct kr_asg *asg);

/* The key of the trace that k is or is part of. */
static inline kr_key kr_asg_whole(const struct kr_asg *asg, kr_key k)
{
	return k.i < asg->nkeys - asg->nparts ? k : asg->parts[k.i - (asg->nkeys - asg->nparts)].of;
}

static inline bool kr_asg_is_part(const struct kr_asg *asg, kr_key k)
{
	return k.i >= asg->nkeys - asg->nparts;
}

static inline kr_version kr_asg_initial(const struct kr_asg *asg, kr_key k)
{
	return (kr_version){asg->keys[k.i].first};
}
static inline bool kr_asg_is_initial(const struct kr_asg *asg, kr_version v)
{
	return asg->versions[v.i].writer.i == KR_NONE;
}

static inline int64_t kr_asg_begin(const struct kr_asg *asg, kr_txn t)
{
	return asg->times.begin[t.i * asg->times.step];
}
static inline int64_t kr_asg_end(const struct kr_asg *asg, kr_txn t)
{
	return asg->times.end[t.i * asg->times.step];
}

static inline bool kr_asg_writes(const struct kr_asg *asg, kr_txn t)
{
	return asg->written_first[t.i] < asg->written_first[t.i + 1];
}

/* Does the trace tell when each transaction ended that its client knows to have taken effect? O(ntxns). */
bool kr_asg_is_timed(const struct kr_asg *asg);

/* Where the observations end that are, from o on, of o's operation. */
static inline uint32_t kr_asg_operation_end(const struct kr_asg *asg, uint32_t o)
{
	uint32_t end = o + 1;

	while (end < asg->nobs && asg->obs[end].txn.i == asg->obs[o].txn.i &&
		asg->obs[end].op == asg->obs[o].op)
		end++;
	return end;
}

/* Does version v (of the set's key) lie in the set? O(log members). Says nothing of the observer's own
 * version. */
bool kr_asg_in_set(const struct kr_asg *asg, uint32_t set, kr_version v);

/* Would a version of the part that o saw, later than the one it saw, have shown o something else? For a
 * predicate observation not where it lies in the set, but for the parts of a counter, whose sum tells. */
bool kr_asg_tears(const struct kr_asg *asg, kr_obs o, kr_version over);

/* Walks the candidates of an observation: the members of its set that are not written by the observer itself
 * nor by a transaction that is certainly absent.
 *     for (kr_candidates it = kr_asg_candidates(asg, o); kr_asg_next(asg, &it, &v);) ... */
typedef struct { uint32_t at, end, skip, skip_end; kr_txn self; bool complement; } kr_candidates;
kr_candidates kr_asg_candidates(const struct kr_asg *asg, kr_obs o);
bool kr_asg_next(const struct kr_asg *asg, kr_candidates *it, kr_version *v);

/* Version of key k written by t, or KR_NONE. O(log). Needs kr_asg_index. */
kr_version kr_asg_version_of(const struct kr_asg *asg, kr_txn t, kr_key k);

/* Text form; reading what was printed gives an equal ASG. Grammar: docs/asg.md. */
void kr_asg_print(const struct kr_asg *asg, struct kr_str *out);
enum kr_status kr_asg_read(struct kr_asg *asg, struct kr_ctx *ctx, const char *text, const char **rest,
	struct kr_err *err);

/* Checks every structural promise of this header; KR_INTERNAL names the first that is broken. */
enum kr_status kr_asg_verify(const struct kr_asg *asg, struct kr_err *err);

#endif
