/* For tests of verify/: one row is a trace, a witness and what the verifier must say. Texts are JSON with ' for ", a trace's lines are parted by newlines. */
#ifndef KR_TESTS_UNIT_VERIFY_ROWS_H
#define KR_TESTS_UNIT_VERIFY_ROWS_H

#include "base/err.h"

struct verify_row {
	const char *name;
	const char *trace;
	const char *order;       /* "none", "session", "realtime" */
	const char *claim;       /* the witness from "verdict" on, without the closing brace */
	enum kr_status expected; /* KR_OK: the witness proves its verdict */
	const char *level;       /* NULL: ser */
	const char *message;     /* the error's text, or its beginning when it ends in "..."; NULL for KR_OK */
};

/* A cmocka test whose state is a row: reads trace and witness, verifies, compares; then again with the first, the second, ... allocation failing, each of which must say
 * so and leave nothing behind. */
void check_verify_row(void **state);

#define VERIFY_TESTS(rows, tests) \
	for (size_t i = 0; i < KR_COUNT(rows); i++) \
		(tests)[i] = (struct CMUnitTest){.name = (rows)[i].name, .test_func = check_verify_row, .initial_state = (void *)(uintptr_t)&(rows)[i]}

#endif
