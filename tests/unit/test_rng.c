/* base/rng: the published sequence, bounds, and distributions within five standard deviations of their definition (seeds are fixed: a pass stays
 * a pass). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/rng.h"

/* Values published for SplitMix64 with this seed. */
static void sequence_is_splitmix64(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431), UINT64_C(16408922859458223821),
	};
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 1234567);
	for (size_t i = 0; i < KR_COUNT(expected); i++)
		assert_true(kr_rng_u64(&rng) == expected[i]);
}

static void below_stays_below(void **state)
{
	static const uint64_t bounds[] = {1, 2, 3, 10, 255, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, UINT64_MAX};
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 1);
	for (size_t b = 0; b < KR_COUNT(bounds); b++)
		for (int i = 0; i < 1000; i++)
			assert_true(kr_rng_below(&rng, bounds[b]) < bounds[b]);
}

static void assert_near(uint64_t found, double n, double p)
{
	assert_true(fabs((double)found - n * p) <= 5 * sqrt(n * p * (1 - p)) + 1e-9);
}

static void below_is_uniform(void **state)
{
	enum { N = 70000 };
	uint32_t counts[7] = {0};
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 2);
	for (int i = 0; i < N; i++)
		counts[kr_rng_below(&rng, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_near(counts[i], N, 1.0 / 7);
}

/* A plain remainder would give the lowest third of [0, 3 * 2^62) half of all draws. */
static void below_is_unbiased_for_large_bounds(void **state)
{
	enum { N = 30000 };
	uint32_t counts[3] = {0};
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 3);
	for (int i = 0; i < N; i++)
		counts[kr_rng_below(&rng, UINT64_C(3) << 62) >> 62]++;
	for (int i = 0; i < 3; i++)
		assert_near(counts[i], N, 1.0 / 3);
}

static void doubles_fill_the_unit_interval(void **state)
{
	enum { N = 100000 };
	uint32_t counts[10] = {0};
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 4);
	for (int i = 0; i < N; i++) {
		double x = kr_rng_double(&rng);
		assert_true(x >= 0 && x < 1);
		counts[(int)(x * 10)]++;
	}
	for (int i = 0; i < 10; i++)
		assert_near(counts[i], N, 0.1);
}

struct zipf_row {
	uint32_t n;
	double theta;
};

static void zipf_follows_its_definition(void **state)
{
	enum { N = 100000, MOST = 50 };
	const struct zipf_row *row = *state;
	uint32_t counts[MOST] = {0};
	double sum = 0;
	struct kr_mem mem;
	struct kr_rng rng;
	struct kr_zipf zipf;

	kr_mem_init(&mem, SIZE_MAX);
	kr_rng_init(&rng, 5);
	assert_true(kr_zipf_init(&zipf, &mem, row->n, row->theta));
	for (int i = 0; i < N; i++) {
		uint32_t rank = kr_zipf_next(&zipf, &rng);
		assert_true(rank < row->n);
		counts[rank]++;
	}
	for (uint32_t i = 0; i < row->n; i++)
		sum += 1 / pow(i + 1, row->theta);
	for (uint32_t i = 0; i < row->n; i++)
		assert_near(counts[i], N, 1 / pow(i + 1, row->theta) / sum);
	kr_zipf_done(&zipf, &mem);
	kr_zipf_done(&zipf, &mem);
	assert_int_equal(mem.used, 0);
}

static void zipf_without_memory(void **state)
{
	struct kr_mem mem;
	struct kr_zipf zipf = {0};

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	mem.fail_at = 1;
	assert_false(kr_zipf_init(&zipf, &mem, 10, 1));
	assert_null(zipf.below);
	kr_zipf_done(&zipf, &mem);
}

static void zipf_of_many_ranks(void **state)
{
	struct kr_mem mem;
	struct kr_rng rng;
	struct kr_zipf zipf;
	uint32_t largest = 0;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_rng_init(&rng, 6);
	assert_true(kr_zipf_init(&zipf, &mem, 1000000, 0.5));
	for (int i = 0; i < 10000; i++) {
		uint32_t rank = kr_zipf_next(&zipf, &rng);
		largest = rank > largest ? rank : largest;
	}
	assert_true(largest < 1000000);
	assert_true(largest > 990000); /* half a percent of the weight is above */
	kr_zipf_done(&zipf, &mem);
}

#define ZIPF(name, ...) {"zipf: " name, zipf_follows_its_definition, NULL, NULL, (void *)&(const struct zipf_row){__VA_ARGS__}}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(sequence_is_splitmix64),
	cmocka_unit_test(below_stays_below),
	cmocka_unit_test(below_is_uniform),
	cmocka_unit_test(below_is_unbiased_for_large_bounds),
	cmocka_unit_test(doubles_fill_the_unit_interval),
	ZIPF("one rank", 1, 1),
	ZIPF("uniform", 20, 0),
	ZIPF("usual", 50, 0.99),
	ZIPF("theta 1", 10, 1),
	ZIPF("steep", 8, 2.5),
	cmocka_unit_test(zipf_without_memory),
	cmocka_unit_test(zipf_of_many_ranks),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
