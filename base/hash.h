/* Hashing of integers and byte strings for in-process tables; not stable across versions, never written to
 * files. */
#ifndef KR_BASE_HASH_H
#define KR_BASE_HASH_H

#include <string.h>

#include "base/base.h"

uint64_t kr_hash_bytes(const void *data, size_t length);

/* Up to eight bytes as a number: that of another text of the same length differs. */
static inline uint64_t kr_hash_word(const void *data, size_t length)
{
	const unsigned char *at = data;
	uint32_t first, last;

	if (length < 4)
		return length == 0 ? 0
				   : at[0] | (uint32_t)at[length / 2] << 8 | (uint32_t)at[length - 1] << 16;
	memcpy(&first, at, 4);
	memcpy(&last, at + length - 4, 4);
	return (uint64_t)last << 32 | first;
}

static inline uint64_t kr_hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static inline uint64_t kr_hash_pair(uint64_t a, uint64_t b) { return kr_hash_u64(kr_hash_u64(a) + b); }

#endif
