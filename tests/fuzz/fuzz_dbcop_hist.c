/* Fuzz target: any bytes as dbcop's text. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("dbcop-hist", data, size);
	return 0;
}
