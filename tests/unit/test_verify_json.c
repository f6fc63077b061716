/* verify/json: cutting canonical JSON, and comparing what was cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/json.h"

struct cut_row { const char *text; const char *pieces[8]; };

static void cuts(void **state)
{
	static const struct cut_row rows[] = {
		{"[]", {NULL}},
		{"{}", {NULL}},
		{"[1]", {"1"}},
		{"[1,2.5,null]", {"1", "2.5", "null"}},
		{"[[],{}]", {"[]", "{}"}},
		{"[[1,[2,3]],{\"a\":[4,5]},6]", {"[1,[2,3]]", "{\"a\":[4,5]}", "6"}},
		{"[\",]\",\"\\\"],\",\"\\\\\"]", {"\",]\"", "\"\\\"],\"", "\"\\\\\""}},
		{"{\"a\":1,\"b:c\":{\"d\":2},\"e\":\"x,y\"}", {"\"a\"", "1", "\"b:c\"", "{\"d\":2}", "\"e\"", "\"x,y\""}},
	};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		size_t at = 1, n = 0;
		struct kr_piece piece;

		while (kr_piece_next(rows[i].text, strlen(rows[i].text), &at, &piece)) {
			assert_non_null(rows[i].pieces[n]);
			assert_int_equal(piece.length, strlen(rows[i].pieces[n]));
			assert_memory_equal(piece.text, rows[i].pieces[n], piece.length);
			n++;
		}
		assert_null(rows[i].pieces[n]);
	}
}

enum { NO_ORDER = 2 };

struct compare_row { const char *a, *b; bool equal; int order; };

static struct kr_operand operand(const char *text) { return kr_operand_of_piece((struct kr_piece){text, strlen(text)}); }

static void compares(void **state)
{
	static const struct compare_row rows[] = {
		{"1", "1", true, 0},
		{"1", "2", false, -1},
		{"-1", "-2", false, 1},
		{"1", "1.0", false, 0},
		{"1.5", "1.5", true, 0},
		{"1", "1.5", false, -1},
		{"-1", "-1.5", false, 1},
		{"2", "1.5", false, 1},
		{"9223372036854775807", "9223372036854775808.0", false, -1},
		{"9223372036854775807", "9223372036854774784.0", false, 1},
		{"-9223372036854775808", "-9223372036854775808.0", false, 0},
		{"-9223372036854775808", "-1e19", false, 1},
		{"9007199254740993", "9007199254740992.0", false, 1},
		{"\"a\"", "\"b\"", false, -1},
		{"\"a\"", "\"ab\"", false, -1},
		{"\"\"", "\"\"", true, 0},
		{"\"\\u00e9\"", "\"\xc3\xa9\"", true, 0},
		{"\"\\u20ac\"", "\"\xe2\x82\xac\"", true, 0},
		{"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", true, 0},
		{"\"\\n\\t\\\\\\\"\\/\\b\\f\\r\"", "\"\\u000a\\u0009\\u005c\\u0022\\u002f\\u0008\\u000C\\u000D\"", true, 0},
		{"\"a\\u0000\"", "\"a\"", false, 1},
		{"\"1\"", "1", false, NO_ORDER},
		{"null", "null", true, NO_ORDER},
		{"true", "true", true, NO_ORDER},
		{"true", "false", false, NO_ORDER},
		{"[1]", "[1]", true, NO_ORDER},
		{"[1]", "[2]", false, NO_ORDER},
		{"{\"a\":1}", "[1]", false, NO_ORDER},
	};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct kr_operand a = operand(rows[i].a), b = operand(rows[i].b);
		int order = NO_ORDER, back = NO_ORDER;

		assert_int_equal(kr_operand_equal(&a, &b), rows[i].equal);
		assert_int_equal(kr_operand_equal(&b, &a), rows[i].equal);
		assert_int_equal(kr_operand_compare(&a, &b, &order), rows[i].order != NO_ORDER);
		assert_int_equal(kr_operand_compare(&b, &a, &back), rows[i].order != NO_ORDER);
		assert_int_equal(order, rows[i].order);
		assert_int_equal(back, rows[i].order == NO_ORDER ? NO_ORDER : -rows[i].order);
	}
}

static void starts(void **state)
{
	struct kr_operand word = operand("\"\\u00e9t\xc3\xa9\""), prefix = operand("\"\xc3\xa9t\""), other = operand("\"\xc3\xa9s\""), empty = operand("\"\"");

	(void)state;
	assert_true(kr_operand_starts(&word, &prefix));
	assert_true(kr_operand_starts(&word, &word));
	assert_true(kr_operand_starts(&word, &empty));
	assert_false(kr_operand_starts(&word, &other));
	assert_false(kr_operand_starts(&prefix, &word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(cuts), cmocka_unit_test(compares), cmocka_unit_test(starts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
