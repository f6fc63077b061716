/* Fuzz target: any bytes as history.bincode. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("dbcop", data, size);
	return 0;
}
