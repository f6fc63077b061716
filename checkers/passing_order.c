/* An order of commits in which what was shown of counters had been passed before (backend/passing.h), for
 * levels that let it be an older version than the last. It is a guess, and the verifier says whether it
 * proves the level. Cost: that of a few passes, the guess and a verification. */
#include "backend/passing.h"
#include "checkers/certify.h"
#include "checkers/check.h"

enum kr_status kr_check_passing(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_asg *asg,
	struct kr_question question, struct kr_certificate *cert, bool *found)
{
	struct kr_pass_stats stats = {0};
	struct kr_answer answer;
	struct kr_ir ir;
	enum kr_change change = KR_UNCHANGED;
	enum kr_status status = kr_ir_init(&ir, ctx, asg, question.level, question.order);
	*found = false;
	if (status)
		return status;
	kr_answer_init(&answer, &ctx->mem);
	status = kr_passes_run(&ir, "so,rt,presence,wr,ww", &(struct kr_pass_options){.count = false}, &stats,
		&change, NULL);
	if (!status && change != KR_CONFLICT)
		status = kr_passing_order(&ir, &answer);
	if (!status && answer.outcome == KR_SATISFIED)
		status = kr_certify_world(&ir, &answer, cert);
	if (!status && answer.outcome == KR_SATISFIED)
		status = kr_check_fits(ctx, h, cert, question, found);
	kr_vec_done(&ctx->mem, &stats);
	kr_answer_done(&answer, &ctx->mem);
	kr_ir_done(&ir);
	return status;
}
