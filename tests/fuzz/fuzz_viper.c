/* Fuzz target: any bytes as one client's log of Viper. */
#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read_folder("viper", "J1.log", data, size);
	return 0;
}
