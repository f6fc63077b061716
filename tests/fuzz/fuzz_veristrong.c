/* Fuzz target: any bytes as VeriStrong's list history. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("veristrong", data, size);
	return 0;
}
