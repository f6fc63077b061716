/* cli/trace: what the line of progress says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/trace.h"

#define SECOND INT64_C(1000000000)

struct row { const char *phase; uint64_t done, total; int64_t at; const char *text; };

static void says_percent_rate_and_time_left(void **state)
{
	/* started at 10 s; reading: 1,000,000 bytes a second from 10 s on, of 4,000,000 */
	static const struct row rows[] = {
		{"reading", 0, 4000000, 10 * SECOND, "t.jsonl: reading 0%, 0 s"},
		{"reading", 1000000, 4000000, 11 * SECOND, "t.jsonl: reading 25%, 1.0M/s, 3 s left, 1 s"},
		{"reading", 4000000, 4000000, 14 * SECOND, "t.jsonl: reading 100%, 1.0M/s, 0 s left, 4 s"},
		{"round", 5, 0, 15 * SECOND, "t.jsonl: round 5, 5 s"},
		{"round", 45, 0, 17 * SECOND, "t.jsonl: round 45, 20/s, 7 s"},
		{"replaying", 100, 1000, 18 * SECOND, "t.jsonl: replaying 10%, 8 s"},
		{"replaying", 300, 1000, 19 * SECOND, "t.jsonl: replaying 30%, 200/s, 4 s left, 9 s"},
		{"replaying", 10, 1000, 20 * SECOND, "t.jsonl: replaying 1%, 10 s"}, /* begun anew */
		{"deciding", 0, 0, 21 * SECOND, "t.jsonl: deciding, 11 s"}, /* nothing to count */
	};
	struct kr_progress p = {.trace = "t.jsonl", .start = 10 * SECOND};
	char text[KR_PROGRESS_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		kr_progress_text(&p, rows[i].phase, rows[i].done, rows[i].total, rows[i].at, text);
		assert_string_equal(text, rows[i].text);
	}
}

static void says_which_level_of_how_many(void **state)
{
	struct kr_ctx_part part = {"level", 3, 16};
	struct kr_progress p = {.trace = "t.jsonl", .part = &part};
	char text[KR_PROGRESS_TEXT];

	(void)state;
	kr_progress_text(&p, "deciding", 0, 0, 2 * SECOND, text);
	assert_string_equal(text, "t.jsonl: level 3 of 16: deciding, 2 s");
	part = (struct kr_ctx_part){0};
	kr_progress_text(&p, "deciding", 0, 0, 2 * SECOND, text);
	assert_string_equal(text, "t.jsonl: deciding, 2 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(says_percent_rate_and_time_left),
		cmocka_unit_test(says_which_level_of_how_many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
