/* The direct way to decide levels by axioms. */
#ifndef KR_CHECKERS_AXIOMS_H
#define KR_CHECKERS_AXIOMS_H

#include "checkers/check.h"

/* Decides by the orders of versions that the axioms force, where nothing else is open: outcome and
 * certificate of *out, which is not verified yet. Else the outcome stays. */
enum kr_status kr_axioms_decide(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_asg *asg,
	const struct kr_check_options *options, enum kr_order order, struct kr_verdict *out,
	struct kr_err *err);

#endif
