/* What of a recording stands at some moment: every value that it shows has its writer in it, so that what it
 * violates is violated. */
#ifndef KR_LAB_PREFIX_H
#define KR_LAB_PREFIX_H

#include <jansson.h>
#include <stdio.h>

#include "lab/run.h"

/* The transactions that are not in the first `from` bytes of the trace, which are whole lines (0: all of
 * them). How many are finished. False: no memory, or it cannot be written. */
bool kr_prefix_write(const struct kr_run *run, uint64_t from, FILE *out, uint64_t *lines);

/* A transaction's line loses what only the database could have explained. */
void kr_line_strike(json_t *json);

#endif
