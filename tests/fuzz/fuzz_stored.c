/* Fuzz target: any bytes as a test in Jepsen's block format; what is none, as the operations of a good one: checksums would stand in the way. */
#include "tests/fuzz/reading.h"

#include <zlib.h>

enum { VALUE = 2, STREAM = 4, MOST = 1 << 16 };

static void number(uint8_t *out, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		out[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

/* Returns its end. */
static uint8_t *block(uint8_t *at, unsigned type, const void *data, size_t size)
{
	memset(at, 0, 28);
	number(at, 28 + size, 8);
	number(at + 12, type, 2);
	memcpy(at + 28, data, size);
	number(at + 8, crc32(crc32(0, at + 28, (uInt)size), at, 28), 4);
	return at + 28 + size;
}

/* Of a list, its first byte aside, or of values one behind the other. */
static void read_operations(const uint8_t *data, size_t size)
{
	static const char test[] = "\xc0\xe6\xca\xf7\xcd\xe1history\xef\xe3\x09" "block-ref\x01\x01";
	static uint8_t file[MOST + 512];
	uint8_t *at = file + 18, index[28];

	if (size > MOST)
		return;
	memset(file, 0, 18);
	memcpy(file, "JEPSEN", 6);
	file[9] = 1;
	number(index, 2, 4);
	number(index + 4, 1, 4);
	number(index + 8, (uint64_t)(at - file), 8);
	at = block(at, size > 0 && data[0] >= 0xe4 && data[0] <= 0xed ? VALUE : STREAM, data, size);
	number(index + 16, 2, 4);
	number(index + 20, (uint64_t)(at - file), 8);
	at = block(at, VALUE, test, sizeof test - 1);
	number(file + 10, (uint64_t)(at - file), 8);
	at = block(at, 1, index, sizeof index);
	fuzz_read("elle", file, (size_t)(at - file));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= 6 && memcmp(data, "JEPSEN", 6) == 0)
		fuzz_read("elle", data, size);
	else
		read_operations(data, size);
	return 0;
}
