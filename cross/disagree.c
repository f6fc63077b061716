/* Shrinking a disagreement. It holds on a part if the way that was refused is refused there again, with the
 * same verdict to be proved, or proves what it proved; and the other one, if there is one, proves what it
 * proved. Starts from what a proof of a violation speaks of, or else from the whole. */
#include "cross/cross.h"
#include "shrink/reduce.h"

struct disagreeing {
	struct kr_ctx *ctx;
	const struct kr_check_options *options;
	struct kr_limits limits;
	const struct kr_cross_run *wrong, *other; /* on the whole; other may be NULL */
};

/* Does the way say on the part what it said on the whole? */
static bool repeats(const struct disagreeing *d, const struct kr_cut *cut, const struct kr_analysis *analysis,
	const struct kr_cross_run *run)
{
	struct kr_cross_run again;

	kr_cross_run_way(d->ctx, &cut->history, analysis, d->options, run->way, d->limits, &again);
	bool same = again.status == run->status && again.verdict.outcome == run->verdict.outcome;
	kr_cross_run_done(&again);
	return same;
}

static enum kr_status test(void *data, const struct kr_part *part, bool *holds, struct kr_err *err)
{
	struct disagreeing *d = data;
	struct kr_analysis analysis;
	struct kr_cut cut;
	enum kr_status status = kr_cut_make(d->ctx, part, &cut, NULL);
	bool made = !status;

	*holds = false;
	if (made)
		status = kr_analyze(d->ctx, &cut.history, &analysis, NULL);
	if (!status) {
		*holds = repeats(d, &cut, &analysis, d->wrong) &&
			(!d->other || repeats(d, &cut, &analysis, d->other));
		kr_analysis_done(&analysis);
	}
	if (made)
		kr_cut_done(&cut);
	return kr_is_limit(status) ? kr_err_set(err, status, "%s", kr_ctx_reason(d->ctx, status)) : KR_OK;
}

/* A certificate that somebody found for a violation; NULL: nobody did. */
static const struct kr_certificate *violation(const struct disagreeing *d)
{
	if (d->wrong->status == KR_OK && d->wrong->verdict.outcome == KR_VIOLATED)
		return &d->wrong->verdict.certificate;
	return d->other && d->other->verdict.outcome == KR_VIOLATED ? &d->other->verdict.certificate : NULL;
}

/* Leaves in *part one on which they disagree. */
static enum kr_status start(struct disagreeing *d, struct kr_part *part, const struct kr_asg *asg,
	struct kr_err *err)
{
	const struct kr_certificate *cert = violation(d);
	struct kr_part support;
	bool holds = false;

	if (!cert)
		return KR_OK;
	KR_TRY(kr_part_init(&support, part->mem, part->whole, false));
	enum kr_status status = kr_part_support(&support, d->ctx, asg, cert);
	if (!status)
		status = test(d, &support, &holds, err);
	if (!status && holds)
		status = kr_part_copy(&support, part);
	kr_part_done(&support);
	return status;
}

enum kr_status kr_shrink_disagreement(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, const struct kr_check_options *options, struct kr_limits limits,
	const struct kr_cross_run *wrong, const struct kr_cross_run *other, struct kr_cut *out, bool *minimal,
	struct kr_err *err)
{
	struct disagreeing d = {ctx, options, limits, wrong, other};
	struct kr_reduction r = {.ctx = ctx, .test = test, .data = &d};
	struct kr_part part;
	KR_TRY(kr_part_init(&part, &ctx->mem, h, true));
	enum kr_status status = start(&d, &part, &analysis->asg, err);
	if (!status)
		status = kr_reduce(&r, &part, err);
	*minimal = !status;
	int64_t deadline = ctx->deadline_ns;
	if (kr_is_limit(status)) { /* what was found is cut out even though the time is over */
		ctx->deadline_ns = INT64_MAX;
		status = ctx->stopped = KR_OK;
	}
	if (!status)
		status = kr_cut_make(ctx, &part, out, err);
	ctx->deadline_ns = deadline;
	kr_part_done(&part);
	return status;
}
