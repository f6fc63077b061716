/* Which observations have a single candidate left. Candidates of transactions that are absent in the IR count no more. Answers are remembered per candidate set,
 * so that thousands of observers of one value cost one walk over its writers. */
#ifndef KR_PASSES_ONLY_H
#define KR_PASSES_ONLY_H

#include "ir/ir.h"

struct kr_only_set {
	uint32_t tag;       /* key + 1 of the observation that the answer was made for; 0: no answer */
	uint32_t n;         /* how many of `first` are there: 3 stands for three or more */
	kr_version first[3]; /* the first candidates, whoever observes; an observer's own version may be among them */
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

#endif
