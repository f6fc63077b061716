/* krait crosscheck --profile: findings about mechanisms against levels. What a finding implies is claimed and
 * decided; a line for each claim, as for those of other checkers. */
#include "cli/crosscheck_profile.h"

#include <string.h>

#include "cli/crosscheck_run.h"
#include "cross/implied.h"
#include "report/finding.h"

struct implying {
	const struct kr_args *args;
	struct kr_profile_option asked;
	struct kr_trace_options trace_options;
	struct kr_trace trace;
	struct kr_mechanisms_verdict found;
	struct kr_implied_list claims;
	bool json;
};

static void add_finding(const struct implying *m, const struct kr_implied *claim, struct kr_str *out)
{
	struct kr_finding_report r = {NULL, &m->trace.history, m->asked.options.profile,
		m->asked.options.certify, &m->found.findings};
	const struct kr_finding *f = &m->found.findings.list.at[claim->finding];
	char name[KR_ANOMALY_NAME_SIZE];
	struct kr_str text;

	if (m->json) {
		kr_str_add(out, ", \"finding\": ");
		kr_report_finding_json(&r, f, out);
		return;
	}
	kr_report_finding_class(&r, f, name);
	kr_str_init(&text, out->mem);
	kr_finding_says(&r, f, &text);
	kr_str_format(out, "\t%s %s: %s", kr_mechanism_name(f->mechanism), name, kr_str_text(&text));
	kr_str_done(&text);
}

static int say(struct implying *m, const struct kr_implied *claim, int exit, const char *reason)
{
	struct kr_str out;

	kr_trace_clear(&m->trace);
	kr_str_init(&out, m->args->mem);
	if (m->json) {
		kr_str_add(&out, "{");
		kr_str_member(&out, "trace", m->trace.path);
		kr_str_member(&out, "level", claim->level->id);
		kr_str_member(&out, "order", kr_order_name(claim->order));
		kr_str_member(&out, "claim", "violated");
		kr_str_member(&out, "result", kr_crosscheck_results[exit]);
		kr_str_format(&out, ", \"told\": %s", claim->told ? "true" : "false");
		if (reason)
			kr_str_member(&out, "reason", reason);
	} else {
		kr_str_shown(&out, m->trace.path);
		kr_str_format(&out, "\t%s\tclaim: violated%s\t%s%s%s", claim->level->id,
			claim->told ? " with the certain order" : "", kr_crosscheck_results[exit],
			reason ? "\t" : "", reason ? reason : "");
	}
	add_finding(m, claim, &out);
	kr_str_add(&out, m->json ? "}\n" : "\n");
	return kr_print_done(&out) ? exit : KR_EXIT_FAILED;
}

static int decide(struct implying *m, struct kr_ctx *ctx, const struct kr_implied *claim,
	const struct kr_history *h)
{
	struct kr_check_options options = {.level = claim->level, .order = claim->order};
	struct kr_analysis analysis;
	struct kr_verdict verdict;
	struct kr_err err;

	kr_err_init(&err);
	enum kr_status status = kr_analyze(ctx, h, &analysis, &err);
	if (status)
		return say(m, claim, KR_EXIT_UNDECIDED, err.text[0] ? err.text : kr_ctx_reason(ctx, status));
	status = kr_check(ctx, h, &analysis, &options, &verdict, &err);
	enum kr_outcome outcome = status ? KR_UNDECIDED : verdict.outcome;
	const char *reason = status       ? (err.text[0] ? err.text : kr_ctx_reason(ctx, status))
		: outcome == KR_UNDECIDED ? verdict.reason
					  : NULL;
	int exit = outcome == KR_VIOLATED ? KR_EXIT_SATISFIED
		: outcome == KR_SATISFIED ? KR_EXIT_VIOLATED
					  : KR_EXIT_UNDECIDED;
	exit = say(m, claim, exit, reason);
	kr_verdict_done(&verdict, &ctx->mem);
	kr_analysis_done(&analysis);
	return exit;
}

/* With limits of its own: a claim that takes all of its time takes none of the next one's. */
static int judge(struct implying *m, const struct kr_implied *claim)
{
	struct kr_cut told;
	struct kr_ctx ctx;
	struct kr_err err;

	kr_err_init(&err);
	kr_ctx_init_beside(&ctx, &m->trace.ctx, m->trace_options.seconds, (size_t)m->trace_options.mebibytes);
	if (!claim->told)
		return decide(m, &ctx, claim, &m->trace.history);
	enum kr_status status = kr_history_told(&ctx, &m->trace.history, &m->asked.options, &told, &err);
	if (status)
		return say(m, claim, KR_EXIT_UNDECIDED, err.text[0] ? err.text : kr_ctx_reason(&ctx, status));
	int exit = decide(m, &ctx, claim, &told.history);
	kr_cut_done(&told);
	return exit;
}

/* Nothing was found, or nothing follows from what was. */
static int say_nothing(struct implying *m)
{
	uint32_t n = m->found.findings.list.n;
	struct kr_str out;

	kr_trace_clear(&m->trace);
	kr_str_init(&out, m->args->mem);
	if (m->json) {
		kr_str_add(&out, "{");
		kr_str_member(&out, "trace", m->trace.path);
		kr_str_member(&out, "profile", m->asked.options.profile->name);
		kr_str_member(&out, "result", "nothing claimed");
		kr_str_format(&out, ", \"findings\": %u}\n", n);
	} else {
		kr_str_shown(&out, m->trace.path);
		kr_str_format(&out, "\t%s\tnothing claimed\t%u finding%s\n", m->asked.options.profile->name,
			n, n == 1 ? "" : "s");
	}
	return kr_print_done(&out) ? KR_EXIT_UNDECIDED : KR_EXIT_FAILED;
}

static int crosscheck(struct implying *m, const char *path)
{
	struct kr_err err;
	int exit = KR_EXIT_SATISFIED;

	kr_err_init(&err);
	m->trace = (struct kr_trace){0};
	m->found = (struct kr_mechanisms_verdict){0};
	enum kr_status status = kr_trace_read(&m->trace, path, &m->trace_options, &err);
	if (!status)
		status = kr_check_mechanisms(&m->trace.ctx, &m->trace.history, &m->asked.options, &m->found,
			&err);
	if (!status)
		status = kr_findings_imply(&m->trace.ctx, &m->trace.history, &m->asked.options,
			&m->found.findings, &m->claims);
	if (status)
		exit = kr_trace_fail(&m->trace, status, &err);
	else if (m->claims.n == 0)
		exit = say_nothing(m);
	for (uint32_t i = 0; i < m->claims.n && !status && !kr_print_failed(); i++)
		exit = kr_exit_worst(exit, judge(m, &m->claims.at[i]));
	kr_vec_done(&m->trace.ctx.mem, &m->claims);
	kr_findings_done(&m->found.findings);
	kr_trace_done(&m->trace);
	return exit;
}

int kr_crosscheck_profile(const struct kr_args *args)
{
	static const char *const not_here[] = {"level", "order", "checker", "claim", "cycle", "output",
		"witness"};
	struct implying m = {.args = args, .json = kr_args_has(args, "json")};
	int status = kr_profile_asked(args, &m.asked);

	for (size_t i = 0; i < KR_COUNT(not_here) && status == KR_EXIT_SATISFIED; i++)
		if (kr_args_has(args, not_here[i]))
			status = kr_usage("options '--profile' and '--%s' exclude each other", not_here[i]);
	if (status == KR_EXIT_SATISFIED && !kr_trace_options(args, &m.trace_options))
		status = KR_EXIT_USAGE;
	uint32_t traces = status == KR_EXIT_SATISFIED ? args->operands.n : 0;
	for (uint32_t i = 0; i < traces && !kr_print_failed(); i++)
		status = kr_exit_worst(status, crosscheck(&m, args->operands.at[i]));
	kr_profile_option_done(&m.asked);
	return status;
}
