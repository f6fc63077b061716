/* One run of `krait crosscheck`: what was asked, and the crosschecking of one level. */
#ifndef KR_CLI_CROSSCHECK_RUN_H
#define KR_CLI_CROSSCHECK_RUN_H

#include "cli/levels_option.h"
#include "cli/output.h"
#include "cli/trace.h"
#include "cross/cross.h"
#include "report/report.h"

struct kr_crosscheck {
	const struct kr_args *args;
	struct kr_trace_options trace_options;
	struct kr_limits limits;
	struct kr_asked_list asked;
	enum kr_outcome claim;    /* KR_UNDECIDED: none */
	bool json;
	struct kr_file witness;
	struct kr_trace trace;
};

/* All ways to decide the level, and what follows; returns the exit status. */
int kr_crosscheck_level(struct kr_crosscheck *c, const struct kr_asked *asked);

#endif
