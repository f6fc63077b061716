/* krait stats: what a trace holds. */
#include "cli/output.h"
#include "cli/trace.h"
#include "report/report.h"

static const struct kr_option options[] = {
	KR_OPTION_FORMAT,
	{"json", 0, NULL, KR_WORDS_ANY, "one JSON object for each trace, one a line"},
	KR_OPTION_LENIENT,
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	KR_OPTION_JOBS,
	KR_OPTION_QUIET,
	{0},
};

static enum kr_status count(struct kr_trace *t, const struct kr_args *args, struct kr_str *out,
	struct kr_err *err)
{
	struct kr_trace_stats stats;
	enum kr_status status = kr_report_trace_stats(&t->ctx, &t->history, &stats);

	if (status != KR_OK)
		return kr_err_set(err, status, "%s", kr_ctx_reason(&t->ctx, status));
	if (kr_args_has(args, "json")) {
		kr_report_json_stats(t->path, &t->history, &stats, out);
		kr_str_add(out, "\n");
	} else {
		kr_report_print_stats(t->path, &t->history, &stats, out);
	}
	return KR_OK;
}

static int run(const struct kr_args *args) { return kr_print_traces(args, false, count); }

const struct kr_command kr_command_stats = {
	.name = "stats",
	.synopsis = "[OPTION]... TRACE...",
	.title = "count what traces hold",
	.purpose = KR_TO_PREPARE,
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = UINT32_MAX,
	.run = run,
};
