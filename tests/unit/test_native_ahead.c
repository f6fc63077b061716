/* Reading with threads gives what reading without them gives: histories, errors, skipped lines, limits; with and without the allocation hooks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/native_arena.h"
#include "tests/unit/reading.h"
#include "tests/unit/same_history.h"

enum { LINES = 6000 };

/* A trace of LINES transactions, large enough for threads; with `bad` >= 0 that line is cut short. Blank lines are between. The caller frees it. */
static char *make_text(int bad, size_t *length)
{
	size_t cap = (size_t)LINES * 120, n = 0;
	char *text = malloc(cap);

	assert_non_null(text);
	n += (size_t)snprintf(text + n, cap - n, "{\"krait\": 1, \"initial\": {\"k0\": 7}}\n");
	for (int i = 0; i < LINES; i++) {
		if (i == bad)
			n += (size_t)snprintf(text + n, cap - n, "{\"id\": %d, \"ops\": [[\"w\", \"k%d\"\n", i, i % 50);
		else
			n += (size_t)snprintf(text + n, cap - n, "{\"id\": %d, \"s\": %d, \"ops\": [[\"w\", \"k%d\", %d], [\"r\", \"k%d\", \"v%d\"]]}\n%s", i, i % 7,
				i % 50, i, i % 31, i, i % 100 == 0 ? "  \n" : "");
	}
	*length = n;
	return text;
}

static void read_with(struct reading *r, uint32_t jobs, int bad, bool lenient)
{
	size_t length;
	char *text = make_text(bad, &length);

	reading_write(r, "t.jsonl", text, length);
	free(text);
	r->options.jobs = jobs;
	r->options.lenient = lenient;
	(void)reading_read(r, "t.jsonl");
}

static void histories_are_the_same(void **state)
{
	struct reading one, many;

	(void)state;
	reading_init(&one);
	reading_init(&many);
	read_with(&one, 1, -1, false);
	assert_int_equal(one.status, KR_OK);
	assert_int_equal(one.h.txns.n, LINES);
	for (uint32_t jobs = 2; jobs <= 12; jobs += 5) {
		read_with(&many, jobs, -1, false);
		assert_int_equal(many.status, KR_OK);
		assert_null(same_history(&one.h, &many.h));
		for (uint32_t t = 0; t < LINES; t++)
			assert_int_equal(one.h.txns.at[t].line, many.h.txns.at[t].line);
	}
	reading_done(&many);
	reading_done(&one);
}

static void errors_are_the_same(void **state)
{
	struct reading one, many;

	(void)state;
	reading_init(&one);
	reading_init(&many);
	for (int bad = 0; bad < LINES; bad += LINES / 3) {
		read_with(&one, 1, bad, false);
		read_with(&many, 3, bad, false);
		assert_int_equal(one.status, KR_BAD);
		assert_int_equal(many.status, KR_BAD);
		assert_string_equal(one.message, many.message);
		assert_non_null(strstr(one.message, "malformed JSON"));
		read_with(&many, 3, bad, true);
		assert_int_equal(many.status, KR_OK);
		assert_int_equal(many.h.skipped, 1);
		assert_int_equal(many.h.txns.n, LINES - 1);
	}
	reading_done(&many);
	reading_done(&one);
}

/* Under every limit of memory the answer is a good history or KR_NOMEM, and nothing is left behind. */
static void limits_hold(void **state)
{
	struct reading r;
	bool failed = false, passed = false;

	(void)state;
	reading_init(&r);
	for (size_t limit = (size_t)1 << 16; limit <= (size_t)1 << 24; limit += limit / 2) {
		r.ctx.mem.limit = limit;
		read_with(&r, 3, -1, false);
		if (r.status != KR_OK && r.status != KR_NOMEM)
			fail_msg("%zu bytes: %s", limit, r.message);
		failed |= r.status == KR_NOMEM;
		passed |= r.status == KR_OK;
	}
	assert_true(failed && passed);
	reading_done(&r);
}

/* Whichever of jansson's allocations fails, the arena tells; jansson calls some of them malformed text. */
static void arena_tells_failures(void **state)
{
	enum { STRINGS = 20000 };
	char *text = malloc(STRINGS * 16 + 8192), *end;

	(void)state;
	assert_non_null(text);
	for (int shift = 1; shift < 4096; shift += 61) { /* moves what does not fit */
		struct kr_json_arena arena = {.most = (size_t)3 << 17}; /* less than two chunks */
		json_error_t error;

		end = text + sprintf(text, "[\"%0*d\"", shift, 0);
		for (int i = 0; i < STRINGS; i++)
			end += sprintf(end, ",\"k%d\"", i);
		*end++ = ']';
		assert_true(kr_json_arena_enter(&arena));
		assert_false(arena.failed);
		assert_null(json_loadb(text, (size_t)(end - text), 0, &error));
		assert_true(arena.failed);
		assert_true(kr_json_arena_enter(&arena));
		assert_false(arena.failed);
		kr_json_arena_leave();
		kr_json_arena_done(&arena);
	}
	free(text);
}

static int with_hooks(void **state)
{
	(void)state;
	kr_json_arena_install();
	return 0;
}

int main(void)
{
	const struct CMUnitTest without[] = {
		cmocka_unit_test(histories_are_the_same),
		cmocka_unit_test(errors_are_the_same),
		cmocka_unit_test(limits_hold),
	};
	const struct CMUnitTest only_with[] = {cmocka_unit_test(arena_tells_failures)};
	int failed = cmocka_run_group_tests_name("without hooks", without, NULL, NULL);

	failed += cmocka_run_group_tests_name("with hooks", without, with_hooks, NULL);
	return failed + cmocka_run_group_tests_name("the hooks", only_with, NULL, NULL);
}
