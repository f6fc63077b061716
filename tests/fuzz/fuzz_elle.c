/* Fuzz target: any bytes as a history of Jepsen, as EDN or JSON. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("elle", data, size);
	return 0;
}
