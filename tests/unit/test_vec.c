/* base/vec: growing arrays keep their elements, refuse what does not fit, and are unharmed by failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"

struct pair {
	uint64_t a;
	uint32_t b;
};

static void pushes_and_pops(void **state)
{
	struct kr_mem mem;
	KR_VEC(struct pair) v = {0};

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(kr_vec_push(&mem, &v, (struct pair){.a = i * UINT64_C(3), .b = i}));
	assert_int_equal(v.n, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(v.at[i].a, i * UINT64_C(3));
		assert_int_equal(v.at[i].b, i);
	}
	assert_int_equal(mem.used, v.cap * sizeof(struct pair));
	assert_int_equal(kr_vec_pop(&v).b, 999);
	assert_int_equal(v.n, 999);
	kr_vec_clear(&v);
	assert_int_equal(v.n, 0);
	kr_vec_done(&mem, &v);
	assert_null(v.at);
	assert_int_equal(mem.used, 0);
	kr_vec_done(&mem, &v); /* again is harmless */
}

static void pushing_is_linear(void **state)
{
	struct kr_mem mem;
	KR_VEC(uint32_t) v = {0};

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (uint32_t i = 0; i < 100000; i++)
		assert_true(kr_vec_push(&mem, &v, i));
	assert_true(mem.count <= 17); /* doubling from 1 on */
	assert_true(v.cap < 2 * 100000 + 8);
	kr_vec_done(&mem, &v);
}

static void arguments_are_evaluated_once(void **state)
{
	struct kr_mem mem;
	KR_VEC(int) v = {0};
	int next = 0;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (int i = 0; i < 20; i++)
		assert_true(kr_vec_push(&mem, &v, next++));
	for (int i = 0; i < 20; i++)
		assert_int_equal(v.at[i], i);
	kr_vec_done(&mem, &v);
}

static void reserve_makes_room_at_once(void **state)
{
	struct kr_mem mem;
	KR_VEC(uint32_t) v = {0};
	uint32_t none = 0;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	assert_true(kr_vec_reserve(&mem, &v, none));
	assert_int_equal(mem.count, 0);
	assert_true(kr_vec_reserve(&mem, &v, 1000));
	assert_int_equal(v.n, 0);
	assert_true(v.cap >= 1000);
	uint64_t count = mem.count;
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(kr_vec_push(&mem, &v, i));
	assert_int_equal(mem.count, count);
	kr_vec_done(&mem, &v);
}

static void more_than_32_bits_is_refused(void **state)
{
	struct kr_mem mem;
	void *at = NULL;
	uint32_t cap = 0;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	assert_false(kr_vec_grow(&mem, &at, &cap, 5, UINT32_MAX - 4, 1));
	assert_false(kr_vec_grow(&mem, &at, &cap, UINT32_MAX, 1, 1));
	assert_int_equal(mem.count, 0);
	assert_int_equal(cap, 0);
	assert_null(at);
}

static void growth_beyond_half_of_32_bits_saturates(void **state)
{
	struct kr_mem mem;
	void *at = NULL;
	uint32_t cap = 0;

	(void)state;
	kr_mem_init(&mem, 64);
	assert_true(kr_vec_grow(&mem, &at, &cap, 0, 3000000000u, 0)); /* elements of no size: the capacity alone */
	assert_int_equal(cap, 3000000000u);
	assert_true(kr_vec_grow(&mem, &at, &cap, 3000000000u, 1, 0));
	assert_int_equal(cap, UINT32_MAX);
	kr_mem_free(&mem, at, cap, 0);
}

static void failure_changes_nothing(void **state)
{
	enum { PUSHES = 40 };
	uint64_t calls = 0;

	(void)state;
	for (uint64_t fail_at = 1; fail_at <= calls + 1; fail_at++) {
		struct kr_mem mem;
		KR_VEC(uint32_t) v = {0};
		uint32_t pushed = 0;

		kr_mem_init(&mem, SIZE_MAX);
		mem.fail_at = fail_at;
		while (pushed < PUSHES && kr_vec_push(&mem, &v, pushed))
			pushed++;
		if (fail_at <= mem.count)
			assert_true(pushed < PUSHES);
		else
			assert_int_equal(pushed, PUSHES);
		assert_int_equal(v.n, pushed);
		for (uint32_t i = 0; i < pushed; i++)
			assert_int_equal(v.at[i], i);
		calls = mem.count > calls ? mem.count : calls;
		kr_vec_done(&mem, &v);
		assert_int_equal(mem.used, 0);
	}
	assert_true(calls >= 2);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pushes_and_pops),
	cmocka_unit_test(pushing_is_linear),
	cmocka_unit_test(arguments_are_evaluated_once),
	cmocka_unit_test(reserve_makes_room_at_once),
	cmocka_unit_test(more_than_32_bits_is_refused),
	cmocka_unit_test(growth_beyond_half_of_32_bits_saturates),
	cmocka_unit_test(failure_changes_nothing),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
