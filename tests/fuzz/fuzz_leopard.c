/* Fuzz target: any bytes as Leopard's JSON. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("leopard", data, size);
	return 0;
}
