/* base/guess: distances of words, and what is near enough to be suggested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guess.h"

static void distances(void **state)
{
	static const struct { const char *a, *b; uint32_t distance; } rows[] = {
		{"", "", 0}, {"", "abc", 3}, {"session", "session", 0}, {"Session", "sESSION", 0}, {"clock_skew", "clock-skew", 0},
		{"sesion", "session", 1}, {"sessoin", "session", 1}, {"clockSkew", "clock_skew", 1}, {"session", "process", 7},
		{"kitten", "sitting", 3}, {"ca", "abc", 3}, /* optimal string alignment: no edit inside a swap */
	};
	char longer[66];

	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		assert_int_equal(kr_guess_distance(rows[i].a, rows[i].b), rows[i].distance);
		assert_int_equal(kr_guess_distance(rows[i].b, rows[i].a), rows[i].distance);
	}
	memset(longer, 'x', 65);
	longer[65] = '\0';
	assert_int_equal(kr_guess_distance(longer, longer), UINT32_MAX);
	assert_int_equal(kr_guess_distance(longer + 1, longer + 1), 0);
}

static void suggestions(void **state)
{
	static const struct { const char *typed, *text; } rows[] = {
		{"chekc", "; did you mean 'check'?"}, {"clas", "; did you mean 'classify'?"}, {"frobnicate", "; see 'help'"}, {"", "; see 'help'"},
		{"snaphot", "; did you mean 'snapshot-isolation'?"}, {"snapshto_islation", "; did you mean 'snapshot-isolation'?"},
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct kr_guess guess = {.typed = rows[i].typed};
		kr_guess_try(&guess, "classify");
		kr_guess_try(&guess, "check");
		kr_guess_try(&guess, "checkers");
		kr_guess_try(&guess, "snapshot-isolation");
		assert_string_equal(kr_guess_text(&guess, "help", text), rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(suggestions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
