/* Holding a stream to a profile while it is read: krait watch, and check --stream. */
#ifndef KR_CLI_STREAM_RUN_H
#define KR_CLI_STREAM_RUN_H

#include "cli/file.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/page_file.h"
#include "cli/profile_option.h"

#define KR_OPTION_LATENESS {"lateness", 0, "TIME", KR_WORDS_ANY, "wait so long for what may come late"}
#define KR_OPTION_STALE {"stale", 0, "TIME", KR_WORDS_ANY, "give up a session that is silent for longer"}
#define KR_OPTION_TOLD \
	{ \
		"told", 0, "FILE", KR_WORDS_WRITTEN, \
			"write the order of versions that is certain, as lines of a trace" \
	}
#define KR_OPTION_TRACE_DISPATCH \
	{ \
		"trace-dispatch", 0, NULL, KR_WORDS_ANY, "print each event when it is dispatched" \
	}

struct kr_stream_options {
	const struct kr_args *args;
	const struct kr_profile_option *asked;
	const char *format;  /* NULL: lines as they come */
	uint64_t lateness, stale, mebibytes;
	double seconds;
	struct kr_file *told; /* path NULL: not asked for */
	struct kr_findings_page *page;
	bool json, explain, dispatch;
	bool names_trace;    /* findings and ends name the trace */
	bool waits;          /* what is certain is told while nothing comes */
	struct kr_live *live; /* or NULL; freed at the end of the run */
};

/* From the command line; false after a message. */
bool kr_stream_options(const struct kr_args *args, const struct kr_profile_option *asked,
	struct kr_file *told, struct kr_findings_page *page, struct kr_stream_options *out);

/* Prints what is found; the status to exit with: KR_EXIT_SATISFIED where nothing was found. */
int kr_stream_run(const struct kr_stream_options *options, const char *path);

#endif
