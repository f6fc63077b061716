/* Cobra with more to go by, as King Cobra: sessions if the order asked for has them, and what the trace tells of version orders (`version_order` lines), which may leave gaps and keys out. Neighbours of such a
 * list are ww edges before anything is pruned, and rw edges follow by the same rules; the more is told, the fewer constraints are left, and with a whole order the graph alone decides.
 *
 * A version order may be wrong. A violation is therefore decided again without: satisfied then, it is one under the given order only, and labelled so. */
#include "checkers/check.h"

static const char *const decides[] = {"ser", "pl-ss", NULL};

static enum kr_status decide_without(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_check_options *options, struct kr_verdict *out,
	struct kr_err *err)
{
	struct kr_check_options own = *options;
	struct kr_analysis analysis;
	struct kr_history bare = *h; /* borrows all the rest */
	bare.version_orders.n = bare.order_writers.n = 0;
	own.pass_options = (struct kr_pass_options){.count = false};
	enum kr_status status = kr_analyze(ctx, &bare, &analysis, err);
	if (status)
		return status;
	status = kr_check(ctx, &bare, &analysis, &own, out, err);
	kr_analysis_done(&analysis);
	return status;
}

/* Would it be a violation without the version orders of the trace? */
static enum kr_status qualify(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_check_options *options, struct kr_verdict *out,
	struct kr_err *err)
{
	struct kr_verdict without = {.outcome = KR_UNDECIDED};
	if (h->version_orders.n == 0)
		return KR_OK;
	kr_certificate_init(&without.certificate, &ctx->mem);
	enum kr_status status = decide_without(ctx, h, options, &without, err);
	if (kr_is_limit(status))
		status = KR_OK; /* not known: the violation stands, under the given order */
	if (!status)
		out->given = without.outcome == KR_SATISFIED ? KR_GIVEN_ONLY : without.outcome == KR_VIOLATED ? KR_GIVEN_NOT : KR_GIVEN_PERHAPS;
	kr_verdict_done(&without, &ctx->mem);
	return status;
}

const struct kr_checker kr_checker_king_cobra = {
	.name = "king-cobra",
	.title = "serializability as cobra, with version orders of the trace; tells whether a violation is one without them",
	.source = "Clark et al., King Cobra, TOCS; Tan et al., Cobra, OSDI 2020",
	.decides = decides,
	.passes = "so,rt,presence,wr,ww,rw,clock,combine,coalesce,prune",
	.backend = "eager",
	.qualify = qualify,
};
