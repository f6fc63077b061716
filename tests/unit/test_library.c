/* base/library: the C library, which every process has, stands for one that is loaded; what is missing is told by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/library.h"

struct calls {
	size_t (*length)(const char *text);
	int (*magnitude)(int number);
};

static const char *const names[] = {"strlen", "abs"}, *const strange[] = {"strlen", "kr_no_such_function"};

static void finds_functions(void **state)
{
	struct calls calls;

	(void)state;
	assert_int_equal(kr_library_load(&(struct kr_library){"libc.so.6", "/nowhere/libc.so.6"}, names, 2, &calls, NULL), KR_OK);
	assert_int_equal(calls.length("three"), 5);
	assert_int_equal(calls.magnitude(-7), 7);
}

static void goes_to_the_path(void **state)
{
	struct calls calls;
	struct kr_err err;

	(void)state;
	kr_err_init(&err);
	assert_int_equal(kr_library_load(&(struct kr_library){"libkr-none.so.1", "libc.so.6"}, names, 2, &calls, &err), KR_OK);
	assert_int_equal(err.status, KR_OK);
	assert_int_equal(calls.length(""), 0);
}

static void names_what_is_missing(void **state)
{
	struct calls calls;
	struct kr_err err;

	(void)state;
	kr_err_init(&err);
	assert_int_equal(
		kr_library_load(&(struct kr_library){"libkr-none.so.1", "/nowhere/libkr-none.so.1"}, names, 2, &calls, &err), KR_BAD);
	assert_memory_equal(err.text, "cannot load libkr-none.so.1: ", 29);
	assert_non_null(strstr(err.text, "/nowhere/libkr-none.so.1"));
	kr_err_init(&err);
	assert_int_equal(kr_library_load(&(struct kr_library){"libc.so.6", ""}, strange, 2, &calls, &err), KR_BAD);
	assert_string_equal(err.text, "libc.so.6 has no function 'kr_no_such_function'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_functions),
		cmocka_unit_test(goes_to_the_path),
		cmocka_unit_test(names_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
