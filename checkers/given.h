/* What the trace gives of versions, their orders and which of them were seen, may be wrong: verdicts with it,
 * and without. */
#ifndef KR_CHECKERS_GIVEN_H
#define KR_CHECKERS_GIVEN_H

#include "checkers/check.h"

/* Decides by the level's own checker, with all that is given; `anomalies`: only if some operation has no
 * explanation in any world, else *out stays what it is. *out keeps its checker. */
enum kr_status kr_check_given(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_check_options *options, bool anomalies, struct kr_verdict *out, struct kr_err *err);

/* Whether the violation *out is one without what is given, too: fills in out->given. For checkers'
 * `qualify`. */
enum kr_status kr_qualify_given(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err);

#endif
