/* Where a trace stands among the levels, each with its usual order: what verdicts at hand imply, what their
 * proofs show, and for small traces the rest decided, too, within a small budget: nobody asked for it.
 * Verdicts that rest on an order which the trace gives say nothing of other levels. */
#include "checkers/standing.h"

enum { LEVELS_MOST = 64, OPERATIONS_MOST = 20000 };
static const int64_t EACH_NS = INT64_C(1000000000), ALL_NS = INT64_C(4000000000);

static struct kr_question usual(const struct kr_level *level)
{
	return (struct kr_question){level, level->default_order};
}

static void settle(const struct kr_modules *more, const struct kr_decision *d, struct kr_standing *out)
{
	struct kr_question asked = {d->options.level, d->options.order};
	const struct kr_level *level;

	if (d->status != KR_OK || d->verdict.given != KR_GIVEN_NOT)
		return;
	for (size_t i = 0; i < LEVELS_MOST && (level = kr_level_at(more, i)) != NULL; i++) {
		if (d->verdict.outcome == KR_VIOLATED && kr_implies(more, usual(level), asked))
			out->broken |= (uint64_t)1 << i;
		else if (d->verdict.outcome == KR_SATISFIED && kr_implies(more, asked, usual(level)))
			out->kept |= (uint64_t)1 << i;
	}
}

/* Decides the levels that are open. */
static enum kr_status decide_rest(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, struct kr_check_plan plan, struct kr_standing *out)
{
	struct kr_decision *rest = kr_mem_alloc(&ctx->mem, LEVELS_MOST, sizeof *rest);
	const struct kr_level *level;
	uint32_t n = 0;

	if (!rest)
		return KR_NOMEM;
	for (size_t i = 0; i < LEVELS_MOST && (level = kr_level_at(ctx->modules, i)) != NULL; i++)
		if (!((out->broken | out->kept) >> i & 1))
			rest[n++].options =
				(struct kr_check_options){.level = level, .order = level->default_order};
	plan.each_ns = EACH_NS;
	plan.all_ns = ALL_NS;
	(void)kr_check_planned(ctx, h, analysis, rest, n, &plan); /* which it need not make */
	for (uint32_t i = 0; i < n; i++) {
		settle(ctx->modules, &rest[i], out);
		kr_verdict_done(&rest[i].verdict, &ctx->mem);
	}
	kr_mem_free(&ctx->mem, rest, LEVELS_MOST, sizeof *rest);
	return KR_OK;
}

enum kr_status kr_find_standing(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, const struct kr_decision *decided, uint32_t n,
	struct kr_standing *out)
{
	enum kr_status status = KR_OK;

	*out = (struct kr_standing){0};
	for (uint32_t i = 0; i < n; i++)
		settle(ctx->modules, &decided[i], out);
	if (h->ops.n <= OPERATIONS_MOST)
		status = decide_rest(ctx, h, analysis,
			(struct kr_check_plan){.known = decided, .known_count = n}, out);
	out->known = status == KR_OK;
	return status;
}
