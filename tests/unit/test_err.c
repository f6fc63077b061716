/* base/err: the first error is kept, text and file names are cut at character boundaries, positions come from the innermost caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void first_error_is_kept(void **state)
{
	struct kr_err err;

	(void)state;
	kr_err_init(&err);
	assert_int_equal(err.status, KR_OK);
	assert_int_equal(kr_err_set(&err, KR_BAD, "found %d, expected %s", 7, "a name"), KR_BAD);
	assert_int_equal(kr_err_set(&err, KR_INTERNAL, "later"), KR_INTERNAL); /* still returns what it was given */
	assert_int_equal(err.status, KR_BAD);
	assert_string_equal(err.text, "found 7, expected a name");
}

static void null_record_is_allowed(void **state)
{
	char out[8] = "old";

	(void)state;
	kr_err_init(NULL);
	assert_int_equal(kr_err_set(NULL, KR_NOMEM, "x"), KR_NOMEM);
	kr_err_at(NULL, "file", 1, 1);
	kr_err_format(NULL, out, sizeof out);
	assert_string_equal(out, "");
}

static void ok_sets_nothing(void **state)
{
	struct kr_err err;

	(void)state;
	kr_err_init(&err);
	assert_int_equal(kr_err_set(&err, KR_OK, "nothing"), KR_OK);
	kr_err_at(&err, "file", 3, 4);
	assert_string_equal(err.text, "");
	assert_string_equal(err.file, "");
	assert_int_equal(err.line, 0);
}

static void text_is_one_line(void **state)
{
	struct kr_err err;

	(void)state;
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "%s", "a\nb\tc\r\x1b[1m\x7f\xc2\x9b\xe2\x80\xae\xff\xc3\xa9");
	assert_string_equal(err.text, "a\\nb\\tc\\r\\u001b[1m\\u007f\\u009b\\u202e\\xff\xc3\xa9");
	kr_err_at(&err, "x\nok\tser", 1, 0);
	assert_string_equal(err.file, "x\\nok\\tser");
}

static void escapes_that_do_not_fit_are_cut(void **state)
{
	struct kr_err err;
	char text[512];

	(void)state;
	memset(text, '\n', 300);
	text[300] = '\0';
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "%s", text);
	assert_int_equal(strlen(err.text), 511);
	assert_string_equal(err.text + 504, "\\n\\n...");
	kr_err_at(&err, text, 1, 0);
	assert_string_equal(err.file + strlen(err.file) - 4, "\\n\\n");
	assert_memory_equal(err.file, "...\\n", 5);
	assert_int_equal(strlen(err.file), 255);
}

static void longest_text_fits(void **state)
{
	struct kr_err err;
	char text[512];

	(void)state;
	memset(text, 'x', 511);
	text[511] = '\0';
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "%s", text);
	assert_string_equal(err.text, text);
}

static void long_text_ends_in_dots(void **state)
{
	struct kr_err err;
	char text[600];

	(void)state;
	memset(text, 'x', sizeof text);
	text[512] = '\0'; /* one too many */
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "%s", text);
	assert_int_equal(strlen(err.text), 511);
	assert_memory_equal(err.text, text, 508);
	assert_string_equal(err.text + 508, "...");
}

static void cut_keeps_characters_whole(void **state)
{
	struct kr_err err;
	char text[700];
	size_t n = 0;

	(void)state;
	while (n + 3 < sizeof text) { /* 3-byte characters from offset 0: 508 = 3 * 169 + 1 is inside one */
		memcpy(text + n, "\xe2\x82\xac", 3);
		n += 3;
	}
	text[n] = '\0';
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "%s", text);
	assert_int_equal(strlen(err.text), 507 + 3);
	assert_memory_equal(err.text, text, 507);
	assert_string_equal(err.text + 507, "...");
}

static void position_is_added_once(void **state)
{
	struct kr_err err;

	(void)state;
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "x");
	kr_err_at(&err, NULL, 5, 9); /* the reader of a line knows no file */
	kr_err_at(&err, "inner", 6, 1);
	kr_err_at(&err, "outer", 7, 2);
	assert_string_equal(err.file, "inner");
	assert_int_equal(err.line, 5);
	assert_int_equal(err.column, 9);
}

static void file_without_line_gets_no_line_later(void **state)
{
	struct kr_err err;

	(void)state;
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "x");
	kr_err_at(&err, "included", 0, 0);
	kr_err_at(&err, "including", 3, 1);
	assert_string_equal(err.file, "included");
	assert_int_equal(err.line, 0);
	assert_int_equal(err.column, 0);
}

static void long_file_keeps_its_end(void **state)
{
	struct kr_err err;
	char name[300];

	(void)state;
	memset(name, 'd', sizeof name);
	strcpy(name + 290, "/t.jsonl");
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "x");
	kr_err_at(&err, name, 1, 1);
	assert_int_equal(strlen(err.file), 255);
	assert_memory_equal(err.file, "...d", 4);
	assert_string_equal(err.file + 3, name + strlen(name) - 252);
}

static void long_file_keeps_characters_whole(void **state)
{
	struct kr_err err;
	char name[602];

	(void)state;
	for (size_t i = 0; i < 600; i += 2) /* 2-byte characters, and one byte at the end: 252 bytes back is inside one */
		memcpy(name + i, "\xc3\xa9", 2);
	strcpy(name + 600, "z");
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "x");
	kr_err_at(&err, name, 1, 1);
	assert_int_equal(strlen(err.file), 3 + 251);
	assert_memory_equal(err.file, "...\xc3\xa9", 5);
	assert_string_equal(err.file + 3, name + 601 - 251);
}

struct format_row {
	const char *file;
	uint32_t line;
	const char *text;
	size_t size;
	const char *expected;
};

static void formatted(void **state)
{
	const struct format_row *row = *state;
	struct kr_err err;
	char out[64];

	memset(out, '#', sizeof out);
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "%s", row->text);
	kr_err_at(&err, row->file, row->line, 2);
	kr_err_format(&err, out, row->size);
	assert_string_equal(out, row->expected);
	assert_int_equal(out[row->size], '#');
}

static void format_into_nothing(void **state)
{
	struct kr_err err;
	char out = '#';

	(void)state;
	kr_err_init(&err);
	kr_err_set(&err, KR_BAD, "x");
	kr_err_format(&err, &out, 0);
	assert_int_equal(out, '#');
}

static void statuses_have_distinct_words(void **state)
{
	(void)state;
	for (int a = KR_OK; a <= KR_INTERNAL; a++) {
		assert_true(kr_status_text((enum kr_status)a)[0] != '\0');
		for (int b = KR_OK; b < a; b++)
			assert_string_not_equal(kr_status_text((enum kr_status)a), kr_status_text((enum kr_status)b));
	}
	assert_string_equal(kr_status_text(KR_NOMEM), "out of memory");
	assert_string_equal(kr_status_text(KR_TIMEOUT), "time limit");
}

#define FORMAT(name, ...) {"format: " name, formatted, NULL, NULL, (void *)&(const struct format_row){__VA_ARGS__}}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(first_error_is_kept),
	cmocka_unit_test(null_record_is_allowed),
	cmocka_unit_test(ok_sets_nothing),
	cmocka_unit_test(text_is_one_line),
	cmocka_unit_test(escapes_that_do_not_fit_are_cut),
	cmocka_unit_test(longest_text_fits),
	cmocka_unit_test(long_text_ends_in_dots),
	cmocka_unit_test(cut_keeps_characters_whole),
	cmocka_unit_test(position_is_added_once),
	cmocka_unit_test(file_without_line_gets_no_line_later),
	cmocka_unit_test(long_file_keeps_its_end),
	cmocka_unit_test(long_file_keeps_characters_whole),
	cmocka_unit_test(format_into_nothing),
	cmocka_unit_test(statuses_have_distinct_words),
	FORMAT("all parts", "t.jsonl", 12, "no txn", 63, "t.jsonl:12: no txn"),
	FORMAT("no line", "t.jsonl", 0, "no txn", 63, "t.jsonl: no txn"),
	FORMAT("no file", NULL, 12, "no txn", 63, "12: no txn"),
	FORMAT("text alone", NULL, 0, "no txn", 63, "no txn"),
	FORMAT("empty text", "f", 1, "", 63, "f:1: bad input"),
	FORMAT("cut", "t.jsonl", 12, "no txn", 10, "t.jsonl:1"),
	FORMAT("exact fit", "f", 1, "abc", 9, "f:1: abc"),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
