/* Hash of a byte string, 8 bytes a step: xor in the word, multiply by an odd constant, fold the high half
 * down. Each step is a bijection of the state for a given word and of the word for a given state, so strings
 * that differ in one word only never collide. Not meant to withstand chosen input. */
#include "base/hash.h"

#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */

static uint64_t mix(uint64_t state, uint64_t word)
{
	state = (state ^ word) * MULTIPLIER;
	return state ^ state >> 32;
}

uint64_t kr_hash_bytes(const void *data, size_t length)
{
	const unsigned char *at = data;
	uint64_t state = mix(0, length);
	uint64_t word;

	for (size_t left = length; left >= 8; left -= 8, at += 8) {
		memcpy(&word, at, 8);
		state = mix(state, word);
	}
	if (length & 7)
		state = mix(state, kr_hash_word(at, length & 7));
	return kr_hash_u64(state);
}
