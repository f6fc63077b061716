/* Which of the two analyses of growing writes a level is decided on (frontend/analyze.h). */
#include "checkers/bare.h"
#include "checkers/check.h"

static bool is_loose(const struct kr_history *h)
{
	for (uint32_t i = 0; i < h->attrs.n; i++)
		if (!h->attrs.at[i].cursor)
			return true;
	return false;
}

bool kr_check_needs_sums(const struct kr_history *h, const struct kr_analysis *analysis, const struct kr_level *level)
{
	return analysis->shows_own && !kr_bare_level(level) && !kr_level_forbids_lost_updates(level, is_loose(h));
}

enum kr_status kr_check_exactly(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_level *level, struct kr_analysis *analysis, struct kr_err *err)
{
	struct kr_analysis sums;
	if (!kr_check_needs_sums(h, analysis, level) && !(analysis->shows_own && analysis->anomaly_count > 0 && !kr_bare_level(level)))
		return KR_OK;
	enum kr_status status = kr_analyze_sums(ctx, h, &sums, err);
	if (!status) {
		kr_analysis_done(analysis);
		*analysis = sums;
	}
	return status;
}
