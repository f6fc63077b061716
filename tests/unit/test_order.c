/* base/order: comparing, sorting, searching and grouping, against the plain definitions on small random numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/order.h"
#include "base/rng.h"

enum { MOST = 40, ROUNDS = 2000 };

static void compares(void **state)
{
	(void)state;
	assert_int_equal(KR_ORDER(1, 2), -1);
	assert_int_equal(KR_ORDER(2, 2), 0);
	assert_int_equal(KR_ORDER(INT64_MAX, INT64_MIN), 1);
	assert_int_equal(kr_then(0, -1), -1);
	assert_int_equal(kr_then(1, -1), 1);
}

static uint32_t draw(struct kr_rng *rng, uint32_t *at)
{
	uint32_t n = (uint32_t)kr_rng_below(rng, MOST);

	for (uint32_t i = 0; i < n; i++)
		at[i] = (uint32_t)kr_rng_below(rng, 10);
	return n;
}

static void sorts_and_bisects(void **state)
{
	uint32_t at[MOST], place;
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 1);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t n = draw(&rng, at), wanted = (uint32_t)kr_rng_below(&rng, 11), below = 0;
		for (uint32_t i = 0; i < n; i++)
			below += at[i] < wanted;
		KR_SORT(at, n, kr_by_id);
		for (uint32_t i = 0; i + 1 < n; i++)
			assert_true(at[i] <= at[i + 1]);
		KR_BISECT(place, 0, n, at[place] < wanted);
		assert_int_equal(place, below);
	}
}

/* By their last digit: what has the same one keeps its order. */
static int by_digit(const void *data, uint32_t a, uint32_t b)
{
	const uint32_t *base = data;

	return KR_ORDER(a % *base, b % *base);
}

static void sorts_stably(void **state)
{
	static const uint32_t base = 10;
	uint32_t at[MOST], other[MOST];
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 2);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t n = draw(&rng, at);
		for (uint32_t i = 0; i < n; i++)
			at[i] += base * i;
		kr_sort_ids(at, other, n, by_digit, &base);
		for (uint32_t i = 0; i + 1 < n; i++)
			assert_true(at[i] % base < at[i + 1] % base || (at[i] % base == at[i + 1] % base && at[i] < at[i + 1]));
	}
}

static void indexes(void **state)
{
	uint32_t group[MOST], list[MOST], first[12];
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 3);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t n = draw(&rng, group), seen = 0;
		memset(first, 0, sizeof first);
		for (uint32_t i = 0; i < n; i++)
			first[group[i] + 2]++;
		kr_index_places(first, 10);
		for (uint32_t i = 0; i < n; i++)
			list[first[group[i] + 1]++] = i;
		assert_int_equal(first[0], 0);
		for (uint32_t g = 0; g < 10; g++)
			for (uint32_t i = first[g]; i < first[g + 1]; i++, seen++) {
				assert_int_equal(group[list[i]], g);
				assert_true(i == first[g] || list[i - 1] < list[i]);
			}
		assert_int_equal(seen, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares),
		cmocka_unit_test(sorts_and_bisects),
		cmocka_unit_test(sorts_stably),
		cmocka_unit_test(indexes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
