/* For tests: whether two histories say the same, whatever numbers their keys, values and sessions have; and reading a trace from a text. */
#ifndef TESTS_UNIT_SAME_HISTORY_H
#define TESTS_UNIT_SAME_HISTORY_H

#include "frontend/history.h"

/* NULL when they do, else what differs. */
const char *same_history(const struct kr_history *a, const struct kr_history *b);

/* kr_read_trace on a temporary file with that text. */
enum kr_status read_trace_text(struct kr_ctx *ctx, const char *text, size_t length, struct kr_history *h, struct kr_err *err);

#endif
