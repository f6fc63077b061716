/* Fuzz target: any bytes as AWDIT's text. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("awdit", data, size);
	return 0;
}
