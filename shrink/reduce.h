/* Delta debugging of histories: the smallest part for which something holds, in the sense that it holds for
 * no part that has one transaction, one operation, one key or one element of a list or set less. */
#ifndef KR_SHRINK_REDUCE_H
#define KR_SHRINK_REDUCE_H

#include "shrink/part.h"

/* Does it hold for this part?. Anything but KR_OK ends the reduction. */
typedef enum kr_status kr_reduce_test(void *data, const struct kr_part *part, bool *holds,
	struct kr_err *err);

struct kr_reduction {
	struct kr_ctx *ctx;
	kr_reduce_test *test;
	void *data;
	uint32_t tests; /* made so far */
};

/* Takes away from *part, for which it holds, until nothing more can go. Deterministic. In every case, a limit
 * or an error included, *part is the smallest for which it was found to hold. */
enum kr_status kr_reduce(struct kr_reduction *r, struct kr_part *part, struct kr_err *err);

#endif
