/* Fuzz target: any bytes as dbcop's JSON. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("dbcop-json", data, size);
	return 0;
}
