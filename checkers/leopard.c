/* Leopard: whether the mechanisms that a database documents can have worked, given when each statement was
 * sent and answered. Every finding is verified before it is told. */
#include "checkers/leopard.h"

#include <stdio.h>

enum kr_status kr_profile_level(const struct kr_modules *more, const struct kr_profile *profile,
	const struct kr_level **out, struct kr_err *err)
{
	enum kr_order order;

	*out = profile->certify ? kr_level_find(more, profile->certify, &order) : NULL;
	if (profile->certify && !*out)
		return kr_err_set(err, KR_BAD, "profile %s certifies level \"%s\", which there is not",
			profile->name, profile->certify);
	if (*out && kr_level_asks(*out) != KR_ASK_ACYCLIC)
		return kr_err_set(err, KR_BAD,
			"profile %s certifies level %s, which is more than that a graph has no cycle",
			profile->name, (*out)->id);
	return KR_OK;
}

static enum kr_status verify(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_mechanisms_verdict *out, struct kr_err *err)
{
	struct kr_claims claims = {options->profile, options->certify, NULL};
	struct kr_err why;
	uint32_t which;

	kr_err_init(&why);
	enum kr_status status = kr_verify_findings(ctx, h, claims, &out->findings, &which, &why);
	if (status != KR_BAD)
		return status;
	const struct kr_finding *f = &out->findings.list.at[which];
	return kr_err_set(err, KR_INTERNAL,
		"internal error: the verifier rejects a finding (%s, %s): %s; no verdict",
		kr_mechanism_name(f->mechanism), kr_finding_class_name(f), why.text);
}

enum kr_status kr_check_mechanisms(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_mechanisms_verdict *out, struct kr_err *err)
{
	int64_t start = kr_now_ns(), found;

	*out = (struct kr_mechanisms_verdict){.outcome = KR_UNDECIDED};
	enum kr_status status = kr_batch_find(ctx, h, options, &out->findings, &out->looked, err);
	found = kr_now_ns();
	if (!status)
		status = verify(ctx, h, options, out, err);
	out->verify_seconds = (double)(kr_now_ns() - found) * 1e-9;
	out->seconds = (double)(kr_now_ns() - start) * 1e-9;
	if (kr_is_limit(status)) {
		snprintf(out->reason, sizeof out->reason, "%s", kr_ctx_reason(ctx, status));
		kr_findings_done(&out->findings);
		kr_findings_init(&out->findings, &ctx->mem);
		return KR_OK;
	}
	if (!status && out->findings.list.n > 0)
		out->outcome = KR_VIOLATED;
	else if (!status)
		snprintf(out->reason, sizeof out->reason,
			"nothing found in %u transactions, %u observations, %u versions and %u locks",
			out->looked.txns, out->looked.reads, out->looked.versions, out->looked.locks);
	return status;
}

/* Levels are not what it decides: a profile says what it looks for. */
static enum kr_status decide(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err)
{
	(void)ctx, (void)h, (void)options, (void)out;
	return kr_err_set(err, KR_BAD,
		"checker 'leopard' holds a trace to a profile: give one with --profile");
}

const struct kr_checker kr_checker_leopard = {
	.name = "leopard",
	.title = "the mechanisms of a database, held to a profile (--profile): never satisfied",
	.source = "Li et al., Leopard, ICDE 2023; Chronos and Aion, ICDE 2025",
	.passes = "",
	.backend = "",
	.decide = decide,
};
