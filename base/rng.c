/* Random numbers: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
 * 2014), a counter that steps by an odd constant and is then mixed by a bijection: period 2^64, any seed is
 * good. The zipfian sampler inverts the tabulated cumulative distribution by binary search: exact up to
 * rounding for every theta, n doubles of memory. */
#include "base/rng.h"

#include <math.h>

#include "base/order.h"

void kr_rng_init(struct kr_rng *rng, uint64_t seed) { rng->state = seed; }

uint64_t kr_rng_u64(struct kr_rng *rng)
{
	uint64_t x = rng->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t kr_rng_below(struct kr_rng *rng, uint64_t n)
{
	uint64_t skip = (0 - n) % n; /* 2^64 mod n: what remains above it is a whole number of n */
	uint64_t x;

	do
		x = kr_rng_u64(rng);
	while (x < skip);
	return x % n;
}

double kr_rng_double(struct kr_rng *rng) { return (double)(kr_rng_u64(rng) >> 11) * 0x1p-53; }

bool kr_zipf_init(struct kr_zipf *zipf, struct kr_mem *mem, uint32_t n, double theta)
{
	double *below = kr_mem_alloc(mem, n, sizeof *below);
	double sum = 0;

	if (!below)
		return false;
	for (uint32_t i = 0; i < n; i++)
		below[i] = sum += pow((double)i + 1, -theta);
	for (uint32_t i = 0; i < n; i++)
		below[i] /= sum;
	*zipf = (struct kr_zipf){.below = below, .n = n};
	return true;
}

void kr_zipf_done(struct kr_zipf *zipf, struct kr_mem *mem)
{
	kr_mem_free(mem, zipf->below, zipf->n, sizeof *zipf->below);
	*zipf = (struct kr_zipf){0};
}

uint32_t kr_zipf_next(const struct kr_zipf *zipf, struct kr_rng *rng)
{
	double x = kr_rng_double(rng);
	uint32_t at;

	KR_BISECT(at, 0, zipf->n - 1, x >= zipf->below[at]);
	return at;
}
