/* krait watch: holds a database to a profile while it runs. */
#include "cli/stream_run.h"
#include "cli/trace.h"

static const struct kr_option options[] = {
	{"format", 'f', "FORMAT", KR_WORDS_FORMAT,
		"of a trace that is read whole first; default: native, as it comes"},
	KR_OPTION_PROFILE,
	KR_OPTION_NO_SESSION,
	{"json", 0, NULL, KR_WORDS_ANY, "one JSON object for each event, one a line"},
	{"explain", 'e', NULL, KR_WORDS_ANY, "findings in words: who did what when, and what follows"},
	KR_OPTION_LATENESS,
	KR_OPTION_STALE,
	KR_OPTION_TOLD,
	KR_OPTION_TRACE_DISPATCH,
	KR_OPTION_HTML("write what was found, when the stream has ended, as a page for a browser"),
	KR_OPTION_MEMORY,
	KR_OPTION_HTTP,
	KR_OPTION_HTTP_ANY,
	{0},
};

static int run(const struct kr_args *args)
{
	struct kr_profile_option asked;
	struct kr_stream_options stream;
	struct kr_findings_page page = {0};
	struct kr_file told = {0};
	const char *path = args->operands.n > 0 ? args->operands.at[0] : "-";
	int status = kr_profile_asked(args, &asked);

	if (status == KR_EXIT_SATISFIED)
		status = kr_page_asked(args);
	if (status == KR_EXIT_SATISFIED && !kr_stream_options(args, &asked, &told, &page, &stream))
		status = KR_EXIT_USAGE;
	if (status == KR_EXIT_SATISFIED)
		status = kr_live_start(args, path, &stream.live);
	if (status == KR_EXIT_SATISFIED) {
		/* closing it tells what failed */
		(void)kr_file_open(&told, args, kr_args_value(args, "told"));
		kr_findings_page_open(&page, args);
		stream.waits = true;
		status = kr_stream_run(&stream, path);
	}
	if (!kr_findings_page_close(&page))
		status = kr_exit_worst(status, KR_EXIT_FAILED);
	if (!kr_file_close(&told))
		status = kr_exit_worst(status, KR_EXIT_FAILED);
	kr_profile_option_done(&asked);
	return status;
}

const struct kr_command kr_command_watch = {
	.name = "watch",
	.synopsis = "[OPTION]... [TRACE|-]",
	.title = "hold a database's mechanisms to a profile while it runs",
	.text = "Reads a stream of events, a file, a pipe or standard input, and tells what\n"
		"the mechanisms of the profile cannot have done, as it comes. Memory follows\n"
		"what is open, not how much was read. Exit status: 1 findings, 2 something\n"
		"came too late and nothing was found before, 0 nothing found, which is no\n"
		"proof.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 0,
	.most = 1,
	.run = run,
};
