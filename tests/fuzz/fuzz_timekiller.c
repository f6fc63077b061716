/* Fuzz target: any bytes as TimeKiller's JSON. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read("timekiller", data, size);
	return 0;
}
