/* Seeded random numbers for generated histories and randomised tests: equal seeds give equal sequences,
 * everywhere. Not for secrets. */
#ifndef KR_BASE_RNG_H
#define KR_BASE_RNG_H

#include "base/mem.h"

struct kr_rng {
	uint64_t state;
};

void kr_rng_init(struct kr_rng *rng, uint64_t seed);
uint64_t kr_rng_u64(struct kr_rng *rng);
uint64_t kr_rng_below(struct kr_rng *rng, uint64_t n); /* uniform in [0, n), without bias; n > 0 */
double kr_rng_double(struct kr_rng *rng);              /* uniform in [0, 1), a multiple of 2^-53 */

/* Zipfian distribution: of the n ranks from 0, rank i has probability proportional to 1 / (i + 1)^theta. */
struct kr_zipf {
	double *below; /* below[i]: probability of a rank <= i; below[n - 1] is 1 */
	uint32_t n;
};

/* n > 0, theta >= 0 (0: uniform; 0.99 is common in benchmarks). False when memory runs out. Takes n
 * doubles. */
bool kr_zipf_init(struct kr_zipf *zipf, struct kr_mem *mem, uint32_t n, double theta);
void kr_zipf_done(struct kr_zipf *zipf, struct kr_mem *mem); /* safe on a zeroed or done one */
uint32_t kr_zipf_next(const struct kr_zipf *zipf, struct kr_rng *rng); /* a rank in [0, n), in O(log n) */

#endif
