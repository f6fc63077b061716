/* Fuzz target: any bytes as an archive of a Jepsen test. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("tar", data, size);
	return 0;
}
