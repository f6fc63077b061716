/* krait-lab recover: the trace of a recorder that was killed. */
#include <inttypes.h>

#include "cli/output.h"
#include "lab/lab.h"
#include "lab/trace.h"

static const struct kr_option options[] = {{0}};

static int run(const struct kr_args *args)
{
	const char *path = args->operands.at[0];
	struct kr_recovered found;
	int status = kr_trace_recover(path, &found);

	if (status == KR_EXIT_SATISFIED)
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
		"database would have told of its order is lost.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = 1,
	.run = run,
};

const struct kr_lab kr_lab_recover = {
	.command = &command,
};
