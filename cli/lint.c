/* krait lint: what will surprise in a trace. Findings are no errors: the exit status tells only whether the
 * traces could be read. */
#include "report/lint.h"
#include "cli/output.h"
#include "cli/trace.h"

#define SHOWN 5 /* of a kind, as text */

static const struct kr_option lint_options[] = {
	KR_OPTION_FORMAT,
	{"json", 0, NULL, KR_WORDS_ANY, "one JSON object for each finding, one a line"},
	KR_OPTION_LENIENT,
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	KR_OPTION_JOBS,
	KR_OPTION_QUIET,
	{0},
};

static enum kr_status find(struct kr_trace *t, const struct kr_args *args, struct kr_str *out,
	struct kr_err *err)
{
	bool json = kr_args_has(args, "json");
	struct kr_lint lint;

	(void)err;
	KR_TRY(kr_lint(&t->ctx, &t->history, json ? UINT32_MAX : SHOWN, &lint));
	if (json)
		kr_report_lint_json(t->path, &t->history, &lint, out);
	else
		kr_report_lint(t->path, &t->history, &lint, out);
	kr_lint_done(&lint);
	return out->failed ? KR_NOMEM : KR_OK;
}

static int run(const struct kr_args *args) { return kr_print_traces(args, true, find); }

const struct kr_command kr_command_lint = {
	.name = "lint",
	.synopsis = "[OPTION]... TRACE...",
	.title = "tell what will surprise in traces",
	.purpose = KR_TO_PREPARE,
	.text = "Values that do not tell who wrote them, reads that nobody wrote, failures that\n"
		"look like timeouts, clocks that jump, times and ids that are missing. A line\n"
		"for each, at most five of a kind; findings do not change the exit status.",
	.options = lint_options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = UINT32_MAX,
	.run = run,
};
