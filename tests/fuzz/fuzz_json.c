/* Fuzz target: any bytes as JSON. The scanner and jansson refuse the same, and understand the rest as the same. */
#include <stdint.h>

#include "tests/unit/same_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kr_mem mem;

	kr_mem_init(&mem, SIZE_MAX);
	if (json_differs(&mem, (const char *)data, size) || mem.used > 0)
		abort();
	return 0;
}
