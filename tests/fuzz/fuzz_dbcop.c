/* Fuzz target: any bytes as history.bincode. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("dbcop", NULL, data, size);
	return 0;
}
