/* Conditions of scans, from the format's definition: what holds of a present value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/where.h"
#include "tests/unit/reading.h"

static const struct row {
	const char *where, *key, *value;
	bool holds;
} rows[] = {
	{"{}", "'k'", "1", true},
	{"{'key_prefix':'u/'}", "'u/1'", "1", true},
	{"{'key_prefix':'u/'}", "'u'", "1", false},
	{"{'key_prefix':''}", "'k'", "1", true},
	{"{'key_prefix':''}", "7", "1", false}, /* a number has no prefix */
	{"{'value':{'eq':1}}", "'k'", "1", true},
	{"{'value':{'eq':1}}", "'k'", "1.0", false},
	{"{'value':{'eq':[1,2]}}", "'k'", "[1,2]", true},
	{"{'value':{'eq':{'a':1,'b':2}}}", "'k'", "{'b':2,'a':1}", true},
	{"{'value':{'ne':1}}", "'k'", "1", false},
	{"{'value':{'ne':1}}", "'k'", "'1'", true},
	{"{'value':{'lt':2}}", "'k'", "1", true},
	{"{'value':{'lt':2}}", "'k'", "2", false},
	{"{'value':{'lt':2}}", "'k'", "1.5", true},
	{"{'value':{'lt':2}}", "'k'", "'1'", false},
	{"{'value':{'le':2}}", "'k'", "2", true},
	{"{'value':{'le':2}}", "'k'", "2.0", true},
	{"{'value':{'le':2}}", "'k'", "3", false},
	{"{'value':{'gt':2}}", "'k'", "3", true},
	{"{'value':{'gt':2}}", "'k'", "2", false},
	{"{'value':{'ge':2}}", "'k'", "2", true},
	{"{'value':{'ge':2}}", "'k'", "true", false},
	{"{'value':{'ge':2}}", "'k'", "[3]", false},
	{"{'value':{'ge':9223372036854775807}}", "'k'", "9223372036854775806", false},
	{"{'value':{'lt':'b'}}", "'k'", "'a'", true},
	{"{'value':{'lt':'b'}}", "'k'", "1", false},
	{"{'value':{'ge':0,'le':10}}", "'k'", "10", true},
	{"{'value':{'ge':0,'le':10}}", "'k'", "11", false},
	{"{'value':{'in':[1,'x']}}", "'k'", "'x'", true},
	{"{'value':{'in':[1,'x']}}", "'k'", "2", false},
	{"{'value':{'in':[]}}", "'k'", "2", false},
	{"{'field':{'c':{'ge':0}}}", "'k'", "{'c':1}", true},
	{"{'field':{'c':{'ge':0}}}", "'k'", "{'c':-1}", false},
	{"{'field':{'c':{'ne':0}}}", "'k'", "{'d':1}", false}, /* no such field: nothing holds of it */
	{"{'field':{'c':{'ne':0}}}", "'k'", "7", false},
	{"{'field':{'c':{'ge':0},'d':{'eq':'x'}}}", "'k'", "{'c':1,'d':'x'}", true},
	{"{'field':{'c':{'ge':0},'d':{'eq':'x'}}}", "'k'", "{'c':1,'d':'y'}", false},
	{"{'key_prefix':'u/','value':{'ge':3}}", "'u/1'", "3", true},
	{"{'key_prefix':'u/','value':{'ge':3}}", "'v/1'", "3", false},
	{"{'key_prefix':'u/','value':{'ge':3}}", "'u/1'", "2", false},
};

static void read_row(struct reading *reading, const struct row *row)
{
	char text[400];

	reading_init(reading);
	(void)snprintf(text, sizeof text, "{'ops':[['scan',%s,[]],['w',%s,%s]]}\n", row->where, row->key, row->value);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	reading_good(reading, text);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct reading reading;

		read_row(&reading, &rows[i]);

		const struct kr_operation *write = &reading.h.ops.at[1];
		struct kr_operand operand = kr_operand_of_value(&reading.h, write->a);
		bool holds = !rows[i].holds;

		assert_int_equal(kr_where_holds(&reading.h, &reading.h.scans.at[0], write->key, write->a, &holds, NULL), KR_OK);
		if (holds != rows[i].holds || kr_where_holds_of(&reading.h, &reading.h.scans.at[0], write->key, &operand) != rows[i].holds)
			fail_msg("%s of %s: %s", rows[i].where, rows[i].key, rows[i].value);
		reading_done(&reading);
	}
}

/* A value that cannot be told is refused only where it matters. */
static void test_untold_value(void **state)
{
	(void)state;
	static const struct {
		struct row row;
		enum kr_status status;
		bool of_values, has_prefix;
	} cases[] = {
		{{"{}", "'k'", "1", true}, KR_OK, false, true},
		{{"{'key_prefix':'u/'}", "'u/1'", "1", true}, KR_OK, false, true},
		{{"{'key_prefix':'u/'}", "'v'", "1", false}, KR_OK, false, false},
		{{"{'key_prefix':'u/','value':{'ge':1}}", "'v'", "1", false}, KR_OK, true, false},
		{{"{'key_prefix':'u/','value':{'ge':1}}", "'u/'", "1", true}, KR_UNSUPPORTED, true, true},
		{{"{'field':{'c':{'ge':1}}}", "'k'", "1", true}, KR_UNSUPPORTED, true, true},
	};

	for (size_t i = 0; i < KR_COUNT(cases); i++) {
		struct reading reading;
		bool holds = !cases[i].row.holds;

		read_row(&reading, &cases[i].row);

		const struct kr_scan *scan = &reading.h.scans.at[0];
		kr_key key = reading.h.ops.at[1].key;

		assert_int_equal(kr_where_holds(&reading.h, scan, key, (kr_value){KR_NONE}, &holds, NULL), cases[i].status);
		assert_int_equal(holds, cases[i].status ? !cases[i].row.holds : cases[i].row.holds);
		assert_int_equal(kr_where_of_values(&reading.h, scan), cases[i].of_values);
		assert_int_equal(kr_where_has_prefix(&reading.h, scan, key), cases[i].has_prefix);
		reading_done(&reading);
	}
}

/* If the conditions are not of elements, every array that a list or set may hold meets them, or none does: from what the tests mean for arrays. */
static void test_elements(void **state)
{
	(void)state;
	static const struct {
		struct row row; /* holds: of every array */
		bool of_elements;
	} cases[] = {
		{{"{'key_prefix':'k'}", "'k'", "[3]", true}, false},
		{{"{'value':{'ge':1}}", "'k'", "[3]", false}, false},
		{{"{'value':{'eq':3}}", "'k'", "[3]", false}, false},
		{{"{'value':{'ne':3}}", "'k'", "[3]", true}, false},
		{{"{'value':{'in':[3,{}]}}", "'k'", "[3]", false}, false},
		{{"{'value':{'eq':[3]}}", "'k'", "[3]", true}, true},
		{{"{'value':{'ne':[]}}", "'k'", "[3]", true}, true},
		{{"{'value':{'in':[3,[3]]}}", "'k'", "[3]", true}, true},
		{{"{'field':{'c':{'eq':[3]}}}", "'k'", "[3]", false}, false},
	};

	for (size_t i = 0; i < KR_COUNT(cases); i++) {
		struct reading reading;
		bool holds = !cases[i].row.holds;

		read_row(&reading, &cases[i].row);

		const struct kr_scan *scan = &reading.h.scans.at[0];
		const struct kr_operation *write = &reading.h.ops.at[1];

		if (kr_where_of_elements(&reading.h, scan) != cases[i].of_elements)
			fail_msg("%s", cases[i].row.where);
		assert_int_equal(kr_where_holds(&reading.h, scan, write->key, write->a, &holds, NULL), KR_OK);
		assert_int_equal(holds, cases[i].row.holds);
		reading_done(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_untold_value), cmocka_unit_test(test_elements)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
