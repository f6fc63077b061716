/* Which observations have a single candidate left. Candidates of transactions that are absent in the IR count
 * no more. Answers are remembered per candidate set, so that thousands of observers of one value cost one
 * walk over its writers. */
#ifndef KR_PASSES_ONLY_H
#define KR_PASSES_ONLY_H

#include "ir/ir.h"

struct kr_only_set {
	uint32_t tag;       /* key + 1 of the observation that the answer was made for; 0: no answer */
	uint32_t n;         /* how many of `first` are there: 3 stands for three or more */
	/* the first candidates, whoever observes; an observer's own version may be among them */
	kr_version first[3];
};

struct kr_only {
	const struct kr_ir *ir;
	struct kr_only_set *sets;
};

/* Valid while no presence changes to absent. */
enum kr_status kr_only_init(struct kr_only *only, const struct kr_ir *ir);
void kr_only_done(struct kr_only *only);

/* How many candidates observation o has: 0, 1 (then *v is it) or 2 (two or more). Amortised O(1). */
uint32_t kr_only_find(struct kr_only *only, kr_obs o, kr_version *v);

/* Sets, their members and the versions lie all over memory: who looks at one observation after the other asks
 * for those of the ones to come. */
static inline void kr_only_fetch(const struct kr_asg *asg, uint32_t o)
{
	enum { SET = 24, MEMBER = 16, VERSION = 8 }; /* observations ahead */

	if (o + SET >= asg->nobs)
		return;
	__builtin_prefetch(&asg->sets[asg->obs[o + SET].set]);
	__builtin_prefetch(&asg->members[asg->sets[asg->obs[o + MEMBER].set].first]);
	if (asg->sets[asg->obs[o + VERSION].set].count > 0)
		__builtin_prefetch(
			&asg->versions[asg->members[asg->sets[asg->obs[o + VERSION].set].first].i]);
}

#endif
