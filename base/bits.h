/* Bit sets of a fixed size over words that the caller allocates (zeroed). */
#ifndef KR_BASE_BITS_H
#define KR_BASE_BITS_H

#include "base/base.h"

#define KR_BITS_WORDS(n) (((size_t)(n) + 63) / 64)

static inline bool kr_bits_get(const uint64_t *words, uint32_t i) { return words[i >> 6] >> (i & 63) & 1; }
static inline void kr_bits_set(uint64_t *words, uint32_t i) { words[i >> 6] |= UINT64_C(1) << (i & 63); }
static inline void kr_bits_clear(uint64_t *words, uint32_t i) { words[i >> 6] &= ~(UINT64_C(1) << (i & 63)); }
/* How many of i's word are set below i. */
static inline uint32_t kr_bits_below(const uint64_t *words, uint32_t i)
{
	return (uint32_t)__builtin_popcountll(words[i >> 6] & ((UINT64_C(1) << (i & 63)) - 1));
}

/* The first that is set in [i, end), or end. */
static inline uint32_t kr_bits_next(const uint64_t *words, uint32_t i, uint32_t end)
{
	while (i < end) {
		uint64_t left = words[i >> 6] >> (i & 63);
		if (left) {
			i += (uint32_t)__builtin_ctzll(left);
			return i < end ? i : end;
		}
		i = (i | 63) + 1;
	}
	return end;
}

#endif
