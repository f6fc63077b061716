/* Hashing of integers and byte strings for in-process tables; not stable across versions, never written to
 * files. */
#ifndef KR_BASE_HASH_H
#define KR_BASE_HASH_H

#include "base/base.h"

uint64_t kr_hash_bytes(const void *data, size_t length);

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
