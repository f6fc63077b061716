/* What is asked of krait about a recording, in its own words. */
#ifndef KR_LAB_CHECK_H
#define KR_LAB_CHECK_H

#include "lab/run.h"

struct kr_args;

/* --check: a list of levels, or what the level that was recorded claims or keeps; NULL without the option, or
 * after a message (*status). */
const char *kr_lab_asked(const struct kr_args *args, const struct kr_run *run, int *status);

/* `krait check` of the trace at these levels, and of the level's profile if asked for. */
int kr_lab_check(const struct kr_args *args, const struct kr_run *run, const char *levels);

/* On the way: the first of the levels that the prefix of the recording violates, by its id, with a line on
 * standard error; NULL: none. The prefix is then beside the trace, shrunk, as TRACE.min.jsonl. */
bool kr_lab_check_prefix(const struct kr_args *args, struct kr_run *run, const char *levels);

#endif
