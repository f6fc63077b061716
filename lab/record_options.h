/* The options of `krait-lab record`. */
#ifndef KR_LAB_RECORD_OPTIONS_H
#define KR_LAB_RECORD_OPTIONS_H

#include "cli/command.h"
#include "lab/run.h"

struct kr_record_options {
	int64_t stall, check_every; /* ns; check_every 0: not on the way */
	const char *levels;         /* to check; NULL: none */
};

extern const struct kr_option kr_record_option_table[];

/* Fills what the run needs from the command line. KR_EXIT_SATISFIED, or another status after a message. */
int kr_record_options(const struct kr_args *args, struct kr_run *run, struct kr_record_options *out);

#endif
