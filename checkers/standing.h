/* Which levels a trace satisfies and violates, each with its usual order. */
#ifndef KR_CHECKERS_STANDING_H
#define KR_CHECKERS_STANDING_H

#include "checkers/check.h"

/* Sets of levels: bit i stands for kr_level_at(modules, i). What is in neither has not been decided. */
struct kr_standing { bool known; uint64_t broken, kept; };

/* From n decisions, and for a trace of few operations by deciding the other levels, within the limits of
 * `ctx`. KR_NOMEM only; then nothing is known. */
enum kr_status kr_find_standing(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, const struct kr_decision *decided, uint32_t n,
	struct kr_standing *out);

#endif
