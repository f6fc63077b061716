/* base/mem: exact accounting, the limit, overflow, and the n-th allocation failing for every n. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/resident.h"

static void assert_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != 0)
			fail_msg("byte %zu of %zu is not zero", i, n);
}

static void accounts_exactly(void **state)
{
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	char *a = kr_mem_alloc(&mem, 10, 3);
	char *b = kr_mem_alloc(&mem, 1, 100);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(mem.used, 130);
	kr_mem_free(&mem, b, 1, 100);
	assert_int_equal(mem.used, 30);
	assert_int_equal(mem.peak, 130);
	a = kr_mem_resize(&mem, a, 10, 20, 3);
	assert_non_null(a);
	assert_int_equal(mem.used, 60);
	a = kr_mem_resize(&mem, a, 20, 5, 3);
	assert_non_null(a);
	assert_int_equal(mem.used, 15);
	kr_mem_free(&mem, a, 5, 3);
	assert_int_equal(mem.used, 0);
	assert_int_equal(mem.peak, 130);
	assert_int_equal(mem.count, 4);
}

static void memory_is_zeroed(void **state)
{
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (int round = 0; round < 4; round++) { /* dirty memory comes back from malloc */
		char *p = kr_mem_alloc(&mem, 100, 1);
		assert_non_null(p);
		assert_zero(p, 100);
		memset(p, 'x', 100);
		p = kr_mem_resize(&mem, p, 100, 50, 1);
		assert_non_null(p);
		p = kr_mem_resize(&mem, p, 50, 1000, 1);
		assert_non_null(p);
		for (int i = 0; i < 50; i++)
			assert_int_equal(p[i], 'x');
		assert_zero(p + 50, 950);
		memset(p, 'y', 1000);
		kr_mem_free(&mem, p, 1000, 1);
	}
}

/* Blocks of megabytes come from elsewhere than small ones (base/pages.c): every way from one size to another keeps what both have and zeroes the rest. */
static void sizes_change_between_small_and_large(void **state)
{
	static const size_t sizes[] = {100, ((size_t)4 << 20) - 1, (size_t)4 << 20, ((size_t)4 << 20) + 1, ((size_t)4 << 20) + 4000, ((size_t)9 << 20) + 77};
	enum { SIZES = sizeof sizes / sizeof *sizes };
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (int i = 0; i < SIZES * SIZES; i++) {
		size_t from = sizes[i / SIZES], to = sizes[i % SIZES], both = from < to ? from : to;
		char *p = kr_mem_alloc(&mem, from, 1);
		assert_non_null(p);
		assert_zero(p, from);
		memset(p, 'x', from);
		p = kr_mem_resize(&mem, p, from, to, 1);
		assert_non_null(p);
		for (size_t k = 0; k < both; k++)
			if (p[k] != 'x')
				fail_msg("byte %zu of %zu has changed", k, both);
		assert_zero(p + both, to - both);
		p = kr_mem_resize(&mem, p, to, from, 1); /* grown again where it had been cut, it shows nothing of what was there */
		assert_non_null(p);
		assert_zero(p + both, from - both);
		assert_int_equal(mem.used, from);
		kr_mem_free(&mem, p, from, 1);
	}
	assert_int_equal(mem.used, 0);
}

static void empty_blocks_are_blocks(void **state)
{
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, 0);
	char *p = kr_mem_alloc(&mem, 0, 8);
	assert_non_null(p);
	p = kr_mem_resize(&mem, p, 0, 0, 8);
	assert_non_null(p);
	assert_int_equal(mem.used, 0);
	kr_mem_free(&mem, p, 0, 8);
	kr_mem_free(&mem, NULL, 5, 8);
	assert_int_equal(mem.used, 0);
}

static void resize_to_nothing_and_back(void **state)
{
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	char *p = kr_mem_resize(&mem, NULL, 0, 4, 4);
	assert_non_null(p);
	p = kr_mem_resize(&mem, p, 4, 0, 4);
	assert_non_null(p);
	assert_int_equal(mem.used, 0);
	p = kr_mem_resize(&mem, p, 0, 4, 4);
	assert_non_null(p);
	assert_zero(p, 16);
	kr_mem_free(&mem, p, 4, 4);
}

static void limit_is_exact(void **state)
{
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, 100);
	assert_null(kr_mem_alloc(&mem, 101, 1));
	char *a = kr_mem_alloc(&mem, 60, 1);
	assert_non_null(a);
	assert_null(kr_mem_alloc(&mem, 41, 1));
	char *b = kr_mem_alloc(&mem, 40, 1);
	assert_non_null(b);
	memset(b, 'b', 40);
	assert_null(kr_mem_resize(&mem, b, 40, 41, 1));
	assert_int_equal(b[39], 'b'); /* the old block stays valid */
	assert_int_equal(mem.used, 100);
	assert_int_equal(mem.peak, 100);
	kr_mem_free(&mem, a, 60, 1);
	b = kr_mem_resize(&mem, b, 40, 100, 1);
	assert_non_null(b);
	kr_mem_free(&mem, b, 100, 1);
}

static void shrinks_beyond_a_lowered_limit(void **state)
{
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, 100);
	char *p = kr_mem_alloc(&mem, 100, 1);
	assert_non_null(p);
	mem.limit = 10;
	assert_null(kr_mem_alloc(&mem, 1, 1));
	p = kr_mem_resize(&mem, p, 100, 100, 1);
	assert_non_null(p);
	p = kr_mem_resize(&mem, p, 100, 50, 1);
	assert_non_null(p);
	kr_mem_free(&mem, p, 50, 1);
}

struct overflow_row {
	size_t n, size;
};

static void overflow_is_refused(void **state)
{
	const struct overflow_row *row = *state;
	struct kr_mem mem;

	kr_mem_init(&mem, SIZE_MAX);
	assert_null(kr_mem_alloc(&mem, row->n, row->size));
	assert_null(kr_mem_resize(&mem, NULL, 0, row->n, row->size));
	char *p = kr_mem_alloc(&mem, 1, row->size > 8 ? 0 : row->size);
	assert_non_null(p);
	if (row->size <= 8) {
		size_t used = mem.used;
		assert_null(kr_mem_resize(&mem, p, 1, row->n, row->size));
		assert_int_equal(mem.used, used);
	}
	kr_mem_free(&mem, p, 1, row->size > 8 ? 0 : row->size);
	assert_int_equal(mem.used, 0);
}

static void nth_allocation_fails(void **state)
{
	enum { CALLS = 6 };

	(void)state;
	for (uint64_t fail_at = 0; fail_at <= CALLS + 1; fail_at++) {
		struct kr_mem mem;
		char *p = NULL;
		size_t n = 0;

		kr_mem_init(&mem, SIZE_MAX);
		mem.fail_at = fail_at;
		for (uint64_t call = 1; call <= CALLS; call++) {
			char *q = kr_mem_resize(&mem, p, n, n + 10, 1);
			if (fail_at != 0 && call >= fail_at) {
				assert_null(q);
			} else {
				assert_non_null(q);
				p = q;
				n += 10;
			}
			assert_int_equal(mem.used, n);
			assert_int_equal(mem.count, call);
		}
		kr_mem_free(&mem, p, n, 1);
		assert_int_equal(mem.used, 0);
	}
}

#define OVERFLOW(name, ...) {"overflow: " name, overflow_is_refused, NULL, NULL, (void *)&(const struct overflow_row){__VA_ARGS__}}

/* Where the process counts, what it has beside the account leaves less of the limit; sanitizers have more than the program. */
static void process_counts(void **state)
{
	const size_t mib = (size_t)1 << 20, room = 40 * mib;
	size_t had = kr_resident();
	struct kr_mem mem;

	(void)state;
	if (had == 0)
		skip();
	kr_mem_init(&mem, 5 * had + room);
	kr_mem_count_process(&mem, had);
	assert_true(mem.whole && mem.limit == 5 * had + room);

	char *beside = malloc(room);
	assert_non_null(beside);
	memset(beside, 1, room);
	assert_true(kr_mem_left(&mem) < 5 * had);
	assert_null(kr_mem_alloc(&mem, 4 * had + room / 2, 1)); /* fits the account, but not the process */
	assert_false(kr_mem_is_over(&mem, 0));
	assert_true(kr_mem_is_over(&mem, 4 * had + room / 2));
	free(beside);

	char *block = kr_mem_alloc(&mem, 1, mib);
	assert_non_null(block);
	kr_mem_free(&mem, block, 1, mib);
	assert_int_equal(mem.used, 0);
}

/* A limit that the process has nearly used up before any work is beside what it has. */
static void small_limits_do_not_count_the_program(void **state)
{
	size_t had = kr_resident();
	struct kr_mem mem;

	(void)state;
	if (had == 0)
		skip();
	kr_mem_init(&mem, (size_t)1 << 20);
	kr_mem_count_process(&mem, had);
	assert_true(mem.limit > (size_t)1 << 20);

	void *block = kr_mem_alloc(&mem, 1000, 1);
	assert_non_null(block);
	kr_mem_free(&mem, block, 1000, 1);
	kr_mem_init(&mem, 1000);
	kr_mem_count_process(&mem, 0); /* the system does not say */
	assert_true(!mem.whole && mem.limit == 1000);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(accounts_exactly),
	cmocka_unit_test(memory_is_zeroed),
	cmocka_unit_test(sizes_change_between_small_and_large),
	cmocka_unit_test(empty_blocks_are_blocks),
	cmocka_unit_test(resize_to_nothing_and_back),
	cmocka_unit_test(limit_is_exact),
	cmocka_unit_test(shrinks_beyond_a_lowered_limit),
	cmocka_unit_test(nth_allocation_fails),
	cmocka_unit_test(process_counts),
	cmocka_unit_test(small_limits_do_not_count_the_program),
	OVERFLOW("largest size", SIZE_MAX, 1),
	OVERFLOW("more than a pointer difference", (size_t)PTRDIFF_MAX + 1, 1),
	OVERFLOW("product is 0", SIZE_MAX / 2 + 1, 2),
	OVERFLOW("product is small", SIZE_MAX / 8 + 2, 8),
	OVERFLOW("both large", SIZE_MAX, SIZE_MAX),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
