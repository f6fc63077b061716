/* Runs of all ways that can decide a level. A run has a context of its own, so that the limits hold for each,
 * and what one uses up is not missing for the next. The analysis of the history is made once: what it says is
 * shared by all ways, and whatever proof they come up with is checked against the history alone. */
#include "cross/cross.h"

#include <string.h>

static bool add_ways(struct kr_mem *mem, const struct kr_modules *more, const struct kr_checker *checker,
	struct kr_ways *out)
{
	const struct kr_backend *backend;

	if (!kr_vec_push(mem, out, (struct kr_way){checker, NULL}))
		return false;
	if (checker->decide) /* no back end */
		return true;
	for (size_t i = 0; (backend = kr_backend_at(more, i)) != NULL; i++)
		if (backend->solve && !kr_vec_push(mem, out, (struct kr_way){checker, backend->name}))
			return false;
	return true;
}

enum kr_status kr_ways_find(struct kr_mem *mem, const struct kr_modules *more, const struct kr_level *level,
	const struct kr_checker *only, struct kr_ways *out)
{
	const struct kr_checker *own = only ? only : kr_checker_for(more, level), *checker;

	if (!add_ways(mem, more, own, out))
		return KR_NOMEM;
	for (size_t i = 0; !only && (checker = kr_checker_at(more, i)) != NULL; i++)
		if (checker != own && kr_checker_decides(checker, level) &&
			!add_ways(mem, more, checker, out))
			return KR_NOMEM;
	return KR_OK;
}

void kr_cross_run_way(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	const struct kr_check_options *options, struct kr_way way, struct kr_limits limits,
	struct kr_cross_run *out)
{
	struct kr_check_options own = *options;
	int64_t start = kr_now_ns();

	*out = (struct kr_cross_run){.way = way};
	kr_ctx_init_beside(&out->ctx, ctx, limits.seconds, (size_t)limits.mebibytes);
	kr_err_init(&out->err);
	own.checker = way.checker;
	own.backend = way.backend;
	out->status = kr_check(&out->ctx, h, analysis, &own, &out->verdict, &out->err);
	out->seconds = (double)(kr_now_ns() - start) * 1e-9;
}

void kr_cross_run_done(struct kr_cross_run *run) { kr_verdict_done(&run->verdict, &run->ctx.mem); }

static uint32_t find_outcome(const struct kr_cross_run *runs, uint32_t n, enum kr_outcome outcome)
{
	for (uint32_t i = 0; i < n; i++)
		if (kr_cross_run_outcome(&runs[i]) == outcome)
			return i;
	return KR_NONE;
}

bool kr_runs_disagree(const struct kr_cross_run *runs, uint32_t n, struct kr_disagreement *out)
{
	uint32_t satisfied = find_outcome(runs, n, KR_SATISFIED),
		 violated = find_outcome(runs, n, KR_VIOLATED);

	for (uint32_t i = 0; i < n; i++) {
		if (runs[i].status != KR_INTERNAL)
			continue;
		enum kr_outcome said = runs[i].verdict.outcome;
		*out = (struct kr_disagreement){i,
			said == KR_SATISFIED          ? violated
				: said == KR_VIOLATED ? satisfied
						      : KR_NONE};
		return true;
	}
	*out = (struct kr_disagreement){violated, satisfied};
	return satisfied != KR_NONE && violated != KR_NONE;
}
