/* Levels at which neither wr nor rw count: of what was seen, garbage reads and the order that lists show are
 * all that does. */
#ifndef KR_CHECKERS_BARE_H
#define KR_CHECKERS_BARE_H

#include "checkers/check.h"

bool kr_bare_level(const struct kr_level *level);

/* The first garbage read; *found false: there is none, or it cannot be told. */
enum kr_status kr_bare_garbage(struct kr_ctx *ctx, const struct kr_history *h, struct kr_anomaly *out,
	bool *found);

/* The ASG without observations, and so without transactions that took effect because they were seen; it
 * borrows all the rest. Its known orders are those that the trace gives and those that lists show, which may
 * contradict each other. Freed by kr_bare_done, also after a failure. */
enum kr_status kr_bare_init(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_asg *asg,
	struct kr_asg *out);
void kr_bare_done(struct kr_ctx *ctx, const struct kr_asg *asg, struct kr_asg *bare);

/* Known orders of versions of one key that go round in a circle, as a certificate; *found false: there are
 * none. */
enum kr_status kr_bare_circle(struct kr_ctx *ctx, const struct kr_asg *bare, struct kr_certificate *cert,
	bool *found);

#endif
