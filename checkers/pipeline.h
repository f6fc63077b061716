/* One dependency graph, decided by the passes and the back end of a verdict's checker, or by those that the
 * options name. */
#ifndef KR_CHECKERS_PIPELINE_H
#define KR_CHECKERS_PIPELINE_H

#include "checkers/check.h"

/* Runs the passes. The statistics of the verdict are those of the last passes that ran: a run that had no
 * time for one says nothing. */
enum kr_status kr_pipeline_passes(struct kr_ir *ir, const char *passes, const struct kr_pass_options *options,
	struct kr_verdict *out, enum kr_change *change, struct kr_err *err);

/* The level is refuted: outcome and certificate of *out, which is not verified yet. KR_INTERNAL: the
 * refutation rests on an edge that its rule does not bear out; err names pass, edge and rule. */
enum kr_status kr_pipeline_refute(const struct kr_history *h, struct kr_ir *ir, struct kr_proof *proof,
	struct kr_verdict *out, struct kr_err *err);

/* Decides: outcome and certificate of *out, which is not verified yet. KR_INTERNAL as above. */
enum kr_status kr_pipeline_decide(const struct kr_history *h, struct kr_ir *ir,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err);

#endif
