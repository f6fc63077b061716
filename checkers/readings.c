/* Growing writes: which of their two analyses a level is decided on (frontend/analyze.h), and what an anomaly
 * of a counter is called. */
#include "checkers/bare.h"
#include "checkers/certify.h"
#include "checkers/check.h"

static bool is_loose(const struct kr_history *h)
{
	for (uint32_t i = 0; i < h->attrs.n; i++)
		if (!h->attrs.at[i].cursor)
			return true;
	return false;
}

bool kr_check_needs_sums(const struct kr_history *h, const struct kr_analysis *analysis,
	const struct kr_level *level)
{
	return analysis->shows_own && !kr_bare_level(level) &&
		!kr_level_forbids_lost_updates(level, is_loose(h));
}

enum kr_status kr_check_exactly(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_level *level,
	struct kr_analysis *analysis, struct kr_err *err)
{
	struct kr_analysis exact;
	bool sums = level &&
		(kr_check_needs_sums(h, analysis, level) ||
			(analysis->shows_own && analysis->anomaly_count > 0 && !kr_bare_level(level)));
	if (!sums && !analysis->coarse)
		return KR_OK;
	enum kr_status status = kr_analyze_exactly(ctx, h, sums, &exact, err);
	if (!status) {
		kr_analysis_done(analysis);
		*analysis = exact;
	}
	return status;
}

enum kr_status kr_check_names(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_anomaly *found,
	struct kr_question question, bool last, struct kr_certificate *cert, bool *fits)
{
	static const enum kr_anomaly_kind names[] = {KR_GARBAGE_READ, KR_ABORTED_READ, KR_INTERMEDIATE_READ,
		KR_FUTURE_READ};
	bool count = found->kind == KR_GARBAGE_READ && h->keys.at[found->key.i].kind == KR_KIND_COUNTER;
	struct kr_anomaly anomaly = *found;

	*fits = false;
	for (size_t i = 0; i < (count ? KR_COUNT(names) : 1) && !*fits; i++) {
		anomaly.kind = count ? names[i] : found->kind;
		KR_TRY(kr_certify_anomaly(&anomaly, cert));
		KR_TRY(kr_check_fits(ctx, h, cert, question, fits));
	}
	if (*fits || !count || !last)
		return KR_OK;
	cert->kind = KR_CERT_CYCLES; /* of which there are none */
	return kr_check_fits(ctx, h, cert, question, fits);
}
