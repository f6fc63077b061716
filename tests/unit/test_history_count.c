/* frontend/history_count: values that nobody keeps are forgotten, however many come at once; their ids are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frontend/history_count.h"

enum { MANY = 20000 };

static void test_many_at_once(void **state)
{
	struct kr_mem mem;
	struct kr_history h;
	uint32_t most = 0;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	assert_int_equal(kr_history_init(&h, &mem), KR_OK);
	assert_int_equal(kr_history_count(&h), KR_OK);
	for (int round = 0; round < 5; round++) {
		kr_value kept[MANY / 100];
		for (int i = 0; i < MANY; i++) {
			kr_value v = kr_history_int(&h, round * MANY + i);
			kr_history_keep(&h, v);
			if (i % 100 == 0)
				kept[i / 100] = v;
		}
		most = most ? most : h.values.n;
		assert_int_equal(h.values.n, most);
		kr_history_forget(&h); /* all are kept */
		for (int i = 0; i < MANY; i++)
			assert_int_equal(kr_history_value(&h, kr_history_int(&h, round * MANY + i))->integer, round * MANY + i);
		assert_int_equal(h.values.n, most);
		for (int i = 0; i < MANY; i++)
			if (i % 100 != 0)
				kr_history_release(&h, kr_history_int(&h, round * MANY + i));
		kr_history_forget(&h);
		assert_int_equal(h.value_table.n, MANY / 100 + (uint32_t)(h.value_table.n > MANY / 100)); /* KR_ABSENT may stand there, too */
		for (int i = 0; i < MANY / 100; i++) {
			assert_int_equal(kr_history_int(&h, round * MANY + i * 100).i, kept[i].i);
			kr_history_release(&h, kept[i]);
		}
		kr_history_forget(&h);
	}
	kr_history_done(&h);
	assert_int_equal(mem.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_at_once)};

	return cmocka_run_group_tests_name("history_count", tests, NULL, NULL);
}
