/* Long lines of reports: where they are cut, and what stands under what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "report/fold.h"

#define TEN "nine nine " /* ten characters */
#define NINETY TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct {
	const char *name, *text, *folded;
} rows[] = {
	{"what fits stays", NINETY "1234567890\n", NINETY "1234567890\n"},
	{"what does not goes on in the next line", NINETY "12345678901\n", "nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine\n12345678901\n"},
	{"under the text of an item", "  - " NINETY "1234567\n", "  - nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine\n    1234567\n"},
	{"under the text of a fact", "  [12] " NINETY "1234\n", "  [12] nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine\n       1234\n"},
	{"an equation stays in one line", NINETY "aa = 12345\n", NINETY "aa = 12345\n"},
	{"an equation goes to the next line as a whole", NINETY "aa = 123456\n", "nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine\naa = 123456\n"},
	{"nor is a key cut off its word", NINETY "key 12345678\n", "nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine\nkey 12345678\n"},
	{"no cut within quotes", NINETY "\"123456 7890\"\n", "nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine nine\n\"123456 7890\"\n"},
	{"characters are counted, not bytes", NINETY "\303\274234567890\n", NINETY "\303\274234567890\n"},
	{"no end of line is needed", "nine", "nine"},
	{"empty lines", "\n\nnine\n", "\n\nnine\n"},
};

static void is_folded(void **state)
{
	struct kr_mem mem;
	struct kr_str text, out;
	size_t i = (size_t)*state;

	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&text, &mem);
	kr_str_init(&out, &mem);
	kr_str_add(&text, rows[i].text);
	kr_fold(&text, &out);
	assert_string_equal(kr_str_text(&out), rows[i].folded);
	kr_str_done(&text);
	kr_str_done(&out);
	assert_int_equal(mem.used, 0);
}

/* A word that is wider than a screen stays whole. */
static void long_words(void **state)
{
	struct kr_mem mem;
	struct kr_str text, out;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&text, &mem);
	kr_str_init(&out, &mem);
	for (int i = 0; i < 150; i++)
		kr_str_add(&text, "x");
	kr_str_add(&text, " end");
	kr_fold(&text, &out);
	assert_int_equal(strlen(kr_str_text(&out)), 154);
	assert_string_equal(kr_str_text(&out) + 150, "\nend");
	kr_str_done(&text);
	kr_str_done(&out);
}

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(rows) + 1] = {[KR_COUNT(rows)] = cmocka_unit_test(long_words)};

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){rows[i].name, is_folded, NULL, NULL, (void *)i};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
