/* base/arena: objects are zeroed, aligned, disjoint and stable; all memory comes back; failures leave the arena usable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/vec.h"

enum { OBJECTS = 600 };

/* Sizes from nothing to several blocks of their own. */
static size_t size_of(size_t i)
{
	if (i % 97 == 0)
		return i * 5000;
	return i % 13 == 0 ? i * 17 : i % 50;
}

static void objects_are_zeroed_aligned_disjoint(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;
	static unsigned char *objects[OBJECTS];

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	for (size_t i = 0; i < OBJECTS; i++) {
		objects[i] = kr_arena_alloc(&arena, size_of(i), 1);
		assert_non_null(objects[i]);
		if (size_of(i) > 0)
			assert_int_equal((uintptr_t)objects[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < size_of(i); j++)
			assert_true(objects[i][j] == 0);
		memset(objects[i], (int)(i % 255 + 1), size_of(i));
	}
	for (size_t i = 0; i < OBJECTS; i++)
		for (size_t j = 0; j < size_of(i); j++)
			assert_true(objects[i][j] == i % 255 + 1);
	kr_arena_done(&arena);
	assert_int_equal(mem.used, 0);
	kr_arena_done(&arena);
}

static void alignment_survives_text(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	for (size_t length = 0; length < 40; length++) {
		char *text = kr_arena_text(&arena, "0123456789012345678901234567890123456789", length);
		assert_non_null(text);
		uint64_t *number = KR_NEW(&arena, uint64_t);
		assert_non_null(number);
		assert_int_equal((uintptr_t)number % _Alignof(max_align_t), 0);
		*number = UINT64_MAX;
		assert_int_equal(strlen(text), length);
	}
	kr_arena_done(&arena);
}

static void small_objects_share_blocks(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;

	(void)state;
#ifdef KR_DEBUG_ARENA
	skip();
#endif
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	assert_non_null(KR_NEW(&arena, uint64_t));
	assert_int_equal(mem.used, 4096);
	for (int i = 0; i < 1000000; i++)
		assert_non_null(KR_NEW(&arena, uint64_t));
	/* 16 MB: 4, 8, ... 512 KiB are about 1 MiB together, then blocks of 1 MiB. */
	assert_true(mem.count <= 8 + 16);
	assert_true(mem.used < 16000000 + (2 << 20));
	kr_arena_done(&arena);
	assert_int_equal(mem.used, 0);
}

static void large_objects_do_not_waste_the_newest_block(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;

	(void)state;
#ifdef KR_DEBUG_ARENA
	skip();
#endif
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	char *a = kr_arena_alloc(&arena, 16, 1);
	assert_non_null(kr_arena_alloc(&arena, 5 << 20, 1));
	char *b = kr_arena_alloc(&arena, 16, 1);
	assert_in_range(b - a, 16, 64); /* in between is where the large one lies */
	assert_int_equal(mem.count, 2);
	kr_arena_done(&arena);
}

static void text_is_copied_with_its_zeros(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;
	char source[] = "a\0b";

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	char *copy = kr_arena_text(&arena, source, 3);
	char *empty = kr_arena_text(&arena, NULL, 0);
	assert_non_null(copy);
	assert_non_null(empty);
	source[0] = 'x';
	assert_memory_equal(copy, "a\0b", 4);
	assert_string_equal(empty, "");
	kr_arena_done(&arena);
}

static void formats_any_length(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	assert_string_equal(kr_arena_format(&arena, "T%d %s", 7, "reads"), "T7 reads");
	char *wide = kr_arena_format(&arena, "%100000d", 5);
	assert_non_null(wide);
	assert_int_equal(strlen(wide), 100000);
	assert_int_equal(wide[99999], '5');
	kr_arena_done(&arena);
}

static void empty_objects(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	assert_non_null(kr_arena_alloc(&arena, 0, 8)); /* as the first object */
	assert_non_null(kr_arena_alloc(&arena, 1 << 20, 1));
	assert_non_null(kr_arena_alloc(&arena, 8, 0));
	kr_arena_done(&arena);
	assert_int_equal(mem.used, 0);
}

static void overflow_is_refused(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	assert_null(kr_arena_alloc(&arena, SIZE_MAX / 2 + 1, 2));
	assert_null(kr_arena_alloc(&arena, SIZE_MAX, 1));
	assert_null(kr_arena_alloc(&arena, SIZE_MAX - 8, 1));
	assert_null(kr_arena_text(&arena, "x", SIZE_MAX));
	assert_non_null(kr_arena_alloc(&arena, 8, 1));
	kr_arena_done(&arena);
}

static void limit_holds(void **state)
{
	struct kr_mem mem;
	struct kr_arena arena;
	unsigned n = 0;

	(void)state;
	kr_mem_init(&mem, 1 << 20);
	kr_arena_init(&arena, &mem);
	while (n < 1 << 20 && kr_arena_alloc(&arena, 100, 1))
		n++;
	assert_true(n > 0 && n <= (1 << 20) / 100);
	assert_true(mem.peak <= 1 << 20);
	kr_arena_done(&arena);
	assert_int_equal(mem.used, 0);
}

static void failure_leaves_the_arena_usable(void **state)
{
	static const size_t sizes[] = {8, 5000, 300000, 0, 64, 2000000, 70000};
	uint64_t calls = 0;

	(void)state;
	for (uint64_t fail_at = 1; fail_at <= calls + 1; fail_at++) {
		struct kr_mem mem;
		struct kr_arena arena;
		bool failed = false;

		kr_mem_init(&mem, SIZE_MAX);
		kr_arena_init(&arena, &mem);
		mem.fail_at = fail_at;
		for (size_t i = 0; i < KR_COUNT(sizes); i++) {
			char *p = kr_arena_alloc(&arena, sizes[i], 1);
			if (p)
				memset(p, 'x', sizes[i]);
			else
				failed = true;
			if (!kr_arena_format(&arena, "%d", (int)i))
				failed = true;
		}
		assert_int_equal(failed, fail_at <= mem.count);
		calls = mem.count > calls ? mem.count : calls;
		mem.fail_at = 0;
		assert_non_null(kr_arena_alloc(&arena, 10000, 1));
		kr_arena_done(&arena);
		assert_int_equal(mem.used, 0);
	}
	assert_true(calls >= 4);
}

/* Vectors of any size live on as they are, trimmed; an arena that cannot take one leaves it alone. */
static void takes_vectors(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 4000000; n = 3 * n + 1) {
		struct kr_mem mem;
		struct kr_arena arena;
		KR_VEC(uint32_t) v = {0};

		kr_mem_init(&mem, SIZE_MAX);
		kr_arena_init(&arena, &mem);
		for (uint32_t i = 0; i < n; i++)
			assert_true(kr_vec_push(&mem, &v, i));
		for (uint64_t fail_at = 1; fail_at <= 2; fail_at++) {
			mem.fail_at = mem.count + fail_at;
			assert_null(kr_arena_take(&arena, &v));
			mem.fail_at = 0;
		}

		const uint32_t *taken = kr_arena_take(&arena, &v);

		assert_non_null(taken);
		assert_true(v.at == NULL && v.n == 0 && v.cap == 0);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(taken[i], i);
		assert_true(mem.used >= n * sizeof *taken && mem.used < n * sizeof *taken + 5000);
		kr_arena_done(&arena);
		assert_int_equal(mem.used, 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(objects_are_zeroed_aligned_disjoint),
	cmocka_unit_test(alignment_survives_text),
	cmocka_unit_test(small_objects_share_blocks),
	cmocka_unit_test(large_objects_do_not_waste_the_newest_block),
	cmocka_unit_test(text_is_copied_with_its_zeros),
	cmocka_unit_test(formats_any_length),
	cmocka_unit_test(empty_objects),
	cmocka_unit_test(overflow_is_refused),
	cmocka_unit_test(limit_holds),
	cmocka_unit_test(failure_leaves_the_arena_usable),
	cmocka_unit_test(takes_vectors),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
