/* See given.h. Without: the same history but for its version orders and the versions that operations name. */
#include "checkers/given.h"

#include <string.h>

enum kr_status kr_check_given(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_check_options *options, bool anomalies, struct kr_verdict *out, struct kr_err *err)
{
	struct kr_check_options own = {.level = options->level,
		.order = options->order,
		.pass_options = {.count = options->pass_options.count}};
	const struct kr_checker *checker = out->checker;
	struct kr_analysis analysis;
	KR_TRY(kr_analyze(ctx, h, &analysis, err));
	enum kr_status status = KR_OK;
	if (!anomalies || analysis.anomaly_count > 0) {
		kr_verdict_done(out, &ctx->mem);
		status = kr_check(ctx, h, &analysis, &own, out, err);
		out->checker = checker;
	}
	kr_analysis_done(&analysis);
	return status;
}

/* Operations that name versions, without them. */
static enum kr_status check_without(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err)
{
	struct kr_check_options own = *options;
	struct kr_history bare = *h; /* borrows all the rest */
	struct kr_attr *attrs = kr_mem_alloc(&ctx->mem, h->attrs.n, sizeof *attrs);
	struct kr_analysis analysis;

	if (!attrs)
		return KR_NOMEM;
	own.pass_options = (struct kr_pass_options){.count = false};
	if (out->checker->decide)
		own.checker = NULL;
	if (h->attrs.n > 0)
		memcpy(attrs, h->attrs.at, h->attrs.n * sizeof *attrs);
	for (uint32_t i = 0; i < h->attrs.n; i++)
		attrs[i].seen_count = 0;
	bare.attrs.at = attrs;
	bare.version_orders.n = bare.order_writers.n = bare.seen.n = 0;
	enum kr_status status = kr_analyze(ctx, &bare, &analysis, err);
	if (!status) {
		status = kr_check(ctx, &bare, &analysis, &own, out, err);
		kr_analysis_done(&analysis);
	}
	kr_mem_free(&ctx->mem, attrs, h->attrs.n, sizeof *attrs);
	return status;
}

enum kr_status kr_qualify_given(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err)
{
	struct kr_verdict without = {.checker = out->checker, .outcome = KR_UNDECIDED};

	if (h->version_orders.n == 0 && h->seen.n == 0)
		return KR_OK;
	kr_certificate_init(&without.certificate, &ctx->mem);
	enum kr_status status = check_without(ctx, h, options, &without, err);
	if (kr_is_limit(status))
		status = KR_OK; /* not known: the violation stands, under what is given */
	if (!status)
		out->given = without.outcome == KR_SATISFIED ? KR_GIVEN_ONLY
			: without.outcome == KR_VIOLATED     ? KR_GIVEN_NOT
							     : KR_GIVEN_PERHAPS;
	kr_verdict_done(&without, &ctx->mem);
	return status;
}
