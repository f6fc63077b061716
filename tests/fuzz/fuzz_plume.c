/* Fuzz target: any bytes as Plume's text. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("plume", data, size);
	return 0;
}
