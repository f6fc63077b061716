/* krait-lab recover: the trace of a recorder that was killed. */
#include <inttypes.h>

#include "cli/output.h"
#include "lab/lab.h"
#include "lab/trace.h"

static const struct kr_option options[] = {
	{"intact", 0, NULL, KR_WORDS_ANY,
		"the machine was shut down in order since, or these are copies: nothing is lost of them"},
	{0},
};

static int run(const struct kr_args *args)
{
	const char *path = args->operands.at[0];
	struct kr_recovered found;
	int status = kr_trace_recover(path, kr_args_has(args, "intact"), &found);

	if (status == KR_EXIT_SATISFIED && found.synced)
		kr_note("%s: the machine has failed since: recovered as it was synced last, %" PRIu64
			" transactions beside those in the file; what came later is left out",
			path, found.buffered);
	else if (status == KR_EXIT_SATISFIED)
		kr_note("%s: recovered: %" PRIu64 " transactions from memory, %" PRIu64 " in flight, %" PRIu64
			" torn lines left out",
			path, found.buffered, found.in_flight, found.torn);
	return status;
}

static const struct kr_command command = {
	.name = "recover",
	.program = "krait-lab",
	.synopsis = "[OPTION]... TRACE",
	.title = "complete the trace of a recorder that was killed",
	.text = "Beside TRACE lies the folder TRACE.live with what had not been written out. What\n"
		"was in flight is told as aborted, or as unknown if commit was sent. What the\n"
		"database would have told of its order is lost. If the machine itself has failed,\n"
		"files may be older than others: then what stood at the last sync is recovered\n"
		"(record --fsync), and what was in flight at that time is told as unknown.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = 1,
	.run = run,
};

const struct kr_lab kr_lab_recover = {
	.command = &command,
};
