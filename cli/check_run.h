/* One run of `krait check`: what was asked, and the checking of one trace. */
#ifndef KR_CLI_CHECK_RUN_H
#define KR_CLI_CHECK_RUN_H

#include "checkers/check.h"
#include "cli/file.h"
#include "cli/levels_option.h"
#include "cli/output.h"
#include "cli/trace.h"
#include "report/document.h"

struct kr_check_run {
	const struct kr_args *args;
	struct kr_trace_options trace_options;
	struct kr_asked_list asked;
	const char *backend, *passes, *dump_after; /* NULL: not given */
	const struct kr_document_format *output;   /* NULL: a line, or JSON, for each verdict */
	struct kr_document document;
	bool json, explain, stats, colour;
	bool all;                                  /* levels, not named ones */
	struct kr_file dot, html, witness;
	bool stop;                                 /* nothing more can be written */
};

/* Reads one trace and decides every level asked; returns the exit status for this trace. */
int kr_check_trace(struct kr_check_run *run, const char *path);

#endif
