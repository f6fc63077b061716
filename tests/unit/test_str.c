/* base/str: text grows, failures leave a prefix, JSON strings are valid for any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "base/str.h"

static void builds_text(void **state)
{
	struct kr_mem mem;
	struct kr_str str;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&str, &mem);
	assert_string_equal(kr_str_text(&str), "");
	kr_str_add(&str, "T1 ");
	kr_str_format(&str, "%s=%d", "x", 42);
	kr_str_add_bytes(&str, ", more", 2);
	kr_str_add_bytes(&str, NULL, 0);
	assert_string_equal(kr_str_text(&str), "T1 x=42, ");
	assert_int_equal(str.n, 9);
	assert_false(str.failed);
	kr_str_done(&str);
	assert_int_equal(mem.used, 0);
	assert_string_equal(kr_str_text(&str), "");
	kr_str_add(&str, "again"); /* a done buffer is an empty one */
	assert_string_equal(kr_str_text(&str), "again");
	kr_str_done(&str);
}

static void shows_what_hides(void **state)
{
	static const struct { const char *text, *shown; } rows[] = {
		{"bank.jsonl", "bank.jsonl"},
		{"a b\"c\\d", "a b\"c\\d"},
		{"x\tser\tsatisfied\n", "x\\tser\\tsatisfied\\n"},
		{"\x01\b\v\f\r\x1b\x7f", "\\u0001\\b\\u000b\\f\\r\\u001b\\u007f"},
		{"\xc2\x80\xc2\x9f\xc2\xa0", "\\u0080\\u009f\xc2\xa0"},
		{"\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90", "\xe2\x80\x8d\\u200e\\u200f\xe2\x80\x90"},
		{"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", "\xe2\x80\xa7\\u2028\\u202e\xe2\x80\xaf"},
		{"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa"},
		{"\xf0\x9f\x90\x8d\xf0\x9f", "\xf0\x9f\x90\x8d\\xf0\\x9f"},
		{"\xc3\x28\xa9", "\\xc3(\\xa9"},
	};
	struct kr_mem mem;
	struct kr_str str;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&str, &mem);
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		kr_str_shown(&str, rows[i].text);
		assert_string_equal(kr_str_text(&str), rows[i].shown);
		kr_str_done(&str);
	}
}

static void grows_past_any_size(void **state)
{
	struct kr_mem mem;
	struct kr_str str;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&str, &mem);
	for (int i = 0; i < 10000; i++)
		kr_str_format(&str, "%04d", i);
	assert_int_equal(str.n, 40000);
	assert_memory_equal(kr_str_text(&str) + 4936, "12341235", 8);
	assert_int_equal(strlen(kr_str_text(&str)), 40000);
	assert_true(mem.count < 20);
	kr_str_format(&str, "%100000s", "x");
	assert_int_equal(str.n, 140000);
	assert_string_equal(kr_str_text(&str) + 139998, " x");
	kr_str_done(&str);
}

static void impossible_length_fails(void **state)
{
	struct kr_mem mem;
	struct kr_str str;
	volatile size_t impossible = SIZE_MAX; /* compilers warn when they see it */

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&str, &mem);
	kr_str_add(&str, "a");
	kr_str_add_bytes(&str, "b", impossible);
	assert_true(str.failed);
	assert_string_equal(kr_str_text(&str), "a");
	kr_str_done(&str);
}

static void write_all(struct kr_str *str)
{
	for (int i = 0; i < 30; i++) {
		kr_str_add(str, "some text; ");
		kr_str_format(str, "number %d; ", i);
		kr_str_json(str, "\"\n\xff\xc3\xa9", 5);
	}
}

static void failure_leaves_a_prefix(void **state)
{
	struct kr_mem mem;
	struct kr_str whole;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&whole, &mem);
	write_all(&whole);
	assert_false(whole.failed);
	uint64_t calls = mem.count;
	assert_true(calls >= 3);
	for (uint64_t fail_at = 1; fail_at <= calls + 1; fail_at++) {
		struct kr_mem small;
		struct kr_str str;

		kr_mem_init(&small, SIZE_MAX);
		kr_str_init(&str, &small);
		small.fail_at = fail_at;
		write_all(&str);
		assert_int_equal(str.failed, fail_at <= calls);
		assert_int_equal(strlen(kr_str_text(&str)), str.n);
		assert_memory_equal(kr_str_text(&str), kr_str_text(&whole), str.n);
		small.fail_at = 0;
		size_t n = str.n;
		kr_str_add(&str, "!"); /* dropped after a failure, so that no hole appears */
		assert_int_equal(str.n, str.failed ? n : n + 1);
		kr_str_done(&str);
		assert_int_equal(small.used, 0);
	}
	kr_str_done(&whole);
}

struct json_case {
	const char *text;
	size_t length;
	const char *expected;
};

static void json_form(void **state)
{
	const struct json_case *row = *state;
	struct kr_mem mem;
	struct kr_str str;

	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&str, &mem);
	kr_str_json(&str, row->text, row->length);
	assert_false(str.failed);
	assert_string_equal(kr_str_text(&str), row->expected);
	kr_str_done(&str);
}

/* Every string of up to 2 bytes, and each with a valid frame of 4 bytes cut short: a strict JSON reader must take the result, and give the input back
 * when the input was valid by itself. */
static void json_of_any_bytes_is_valid(void **state)
{
	struct kr_mem mem;
	struct kr_str str;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (uint32_t i = 0; i < 65536; i++) {
		char text[4] = {(char)(i >> 8), (char)(i & 255), '\xf0', '\x9f'};

		for (size_t length = 1; length <= 4; length++) {
			kr_str_init(&str, &mem);
			kr_str_json(&str, text, length);
			json_t *read = json_loadb(kr_str_text(&str), str.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
			assert_non_null(read);
			json_t *valid = json_stringn(text, length); /* NULL unless valid UTF-8 */
			if (valid)
				assert_true(json_equal(read, valid));
			else
				assert_non_null(strstr(kr_str_text(&str), "\\ufffd"));
			json_decref(valid);
			json_decref(read);
			kr_str_done(&str);
		}
	}
}

#define JSON(name, text, expected) \
	{"json: " name, json_form, NULL, NULL, (void *)&(const struct json_case){(text), sizeof(text) - 1, (expected)}}
#define FFFD "\\ufffd"

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(builds_text),
	cmocka_unit_test(shows_what_hides),
	cmocka_unit_test(grows_past_any_size),
	cmocka_unit_test(impossible_length_fails),
	cmocka_unit_test(failure_leaves_a_prefix),
	cmocka_unit_test(json_of_any_bytes_is_valid),
	{"json: nothing", json_form, NULL, NULL, (void *)&(const struct json_case){NULL, 0, "\"\""}},
	JSON("empty", "", "\"\""),
	JSON("plain", "key 1/2", "\"key 1/2\""),
	JSON("quote and backslash", "a\"b\\c", "\"a\\\"b\\\\c\""),
	JSON("short escapes", "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""),
	JSON("other controls", "\x01\x1f", "\"\\u0001\\u001f\""),
	JSON("NUL inside", "a\0b", "\"a\\u0000b\""),
	JSON("delete is no control of JSON", "\x7f", "\"\x7f\""),
	JSON("two bytes", "\xc3\xa9", "\"\xc3\xa9\""),
	JSON("three bytes", "\xe2\x82\xac", "\"\xe2\x82\xac\""),
	JSON("four bytes", "\xf0\x9f\x90\x9f", "\"\xf0\x9f\x90\x9f\""),
	JSON("first and last of each length", "\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
	     "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""),
	JSON("around the surrogates", "\xed\x9f\xbf\xee\x80\x80", "\"\xed\x9f\xbf\xee\x80\x80\""),
	JSON("line separator", "\xe2\x80\xa8", "\"\xe2\x80\xa8\""),
	JSON("lone continuation", "a\x80z", "\"a" FFFD "z\""),
	JSON("lead without continuation", "\xc3z", "\"" FFFD "z\""),
	JSON("cut at the end", "\xe2\x82", "\"" FFFD FFFD "\""),
	JSON("cut before an escape", "\xe2\x82\n", "\"" FFFD FFFD "\\n\""),
	JSON("overlong slash", "\xc0\xaf", "\"" FFFD FFFD "\""),
	JSON("overlong of three", "\xe0\x9f\xbf", "\"" FFFD FFFD FFFD "\""),
	JSON("overlong of four", "\xf0\x8f\xbf\xbf", "\"" FFFD FFFD FFFD FFFD "\""),
	JSON("surrogate", "\xed\xa0\x80", "\"" FFFD FFFD FFFD "\""),
	JSON("beyond U+10FFFF", "\xf4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\""),
	JSON("lead beyond the last", "\xf5\x80\x80\x80", "\"" FFFD FFFD FFFD FFFD "\""),
	JSON("never in UTF-8", "\xf5\xfe\xff", "\"" FFFD FFFD FFFD "\""),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
