/* Levels by axioms, as data tells them (kr_level_is_axiomatic): what is visible to whom is known where
 * every source is, and the axioms then say all that there is to say of the order of versions
 * (passes/visible.c). A cycle refutes the level; without one the order that the graph has is a world
 * (backend/sorted.c). Nothing is scheduled, searched or asked of a solver. Cost: linear, times the
 * sessions that write a key. */
#include "checkers/axioms.h"

#include "backend/sorted.h"
#include "checkers/certify.h"
#include "checkers/pipeline.h"

static const char passes[] = "so,rt,presence,wr,visible,ww";

/* A smaller graph is refuted as at other levels, which takes no time and tells plainer reasons: that a read
 * missed a write, not that no order of two writes fits. */
enum { REFUTED_LEAST = 2048 };

static enum kr_status answer(const struct kr_history *h, struct kr_ir *ir, struct kr_verdict *out,
	struct kr_err *err)
{
	struct kr_answer answer;
	int64_t start = kr_now_ns();

	kr_answer_init(&answer, &ir->ctx->mem);

	enum kr_status status = kr_sorted_decide(ir, &answer);

	if (!status && answer.outcome == KR_VIOLATED && ir->nnodes >= REFUTED_LEAST)
		status = kr_pipeline_refute(h, ir, &answer.proof, out, err);
	if (!status && answer.outcome == KR_SATISFIED)
		status = kr_certify_world(ir, &answer, &out->certificate);
	if (!status && answer.outcome == KR_SATISFIED)
		out->outcome = KR_SATISFIED;
	out->solve_seconds = (double)(kr_now_ns() - start) * 1e-9;
	kr_answer_done(&answer, &ir->ctx->mem);
	return status;
}

enum kr_status kr_axioms_decide(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_asg *asg,
	const struct kr_check_options *options, enum kr_order order, struct kr_verdict *out,
	struct kr_err *err)
{
	struct kr_pass_options counting = {.count = options->pass_options.count};
	enum kr_change change = KR_UNCHANGED;
	struct kr_ir ir;
	KR_TRY(kr_ir_init(&ir, ctx, asg, options->level, order));
	enum kr_status status = kr_pipeline_passes(&ir, passes, &counting, out, &change, err);
	if (!status && change != KR_CONFLICT)
		status = answer(h, &ir, out, err);
	else if (!status && ir.nnodes >= REFUTED_LEAST)
		status = kr_pipeline_refute(h, &ir, ir.conflict, out, err);
	kr_ir_done(&ir);
	return status;
}
