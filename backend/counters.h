/* Counters while transactions are replayed: what their parts add up to now, and who still has to see which
 * total. */
#ifndef KR_BACKEND_COUNTERS_H
#define KR_BACKEND_COUNTERS_H

#include "ir/ir.h"

/* the sums of one key and total; how many are still to be served */
struct kr_counter_group { kr_key key; int64_t total; uint32_t pending; };

struct kr_counters {
	struct kr_arena arena;
	const struct kr_ir *ir;
	const struct kr_asg_sum *sums; /* of the ASG, or what is shown of counters without parts */
	uint32_t nsums;
	/* per transaction, and one more: its sums; NULL: there are none at all, and the rest is not there */
	uint32_t *sum_first;
	uint64_t *weight;    /* per version of a part: what it adds */
	/* per whole key: what its parts add up to now; may wrap, since it guides a guess */
	uint64_t *value;
	struct kr_counter_group *groups; /* by key and total */
	uint32_t ngroups;
	uint32_t *group_of;  /* per sum */
};

/* Everything as at the beginning; sums of active transactions are to be served. On failure kr_counters_done
 * frees what there is. */
enum kr_status kr_counters_init(struct kr_counters *c, const struct kr_ir *ir, const uint8_t *active);
void kr_counters_done(struct kr_counters *c);

/* the first group of k, or of a later key, with a larger total */
uint32_t kr_counters_beyond(const struct kr_counters *c, kr_key k, int64_t total);
/* what somebody has to see of k is what it is now; or KR_NONE */
uint32_t kr_counters_group(const struct kr_counters *c, kr_key k);
/* a counter that does not show what t saw of it, or KR_NONE */
kr_key kr_counters_unserved(const struct kr_counters *c, kr_txn t);
/* do others have to see a counter that t writes as it is now? */
bool kr_counters_wanted(const struct kr_counters *c, kr_txn t);
/* does somebody still have to see what a counter is with `now` in the place of `before`? true for one of
 * which nothing is shown */
bool kr_counters_arrives(const struct kr_counters *c, kr_version before, kr_version now);
void kr_counters_serve(struct kr_counters *c, kr_txn t);            /* t has seen its sums */
void kr_counters_unserve(struct kr_counters *c, kr_txn t);          /* or has not after all */
/* `now` takes the place of `before`, of one part or key */
void kr_counters_install(struct kr_counters *c, kr_version before, kr_version now);

#endif
