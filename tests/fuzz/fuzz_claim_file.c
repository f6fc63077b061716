/* Fuzz target: any bytes as what another checker said: what is accepted has a verdict; errors name the file; allocations that fail end well. */
#define _GNU_SOURCE /* memfd_create */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cross/claim_file.h"

static void check(bool good)
{
	if (!good)
		abort();
}

static void read_file(const char *path, uint64_t fail_at)
{
	struct kr_claim_file file;
	struct kr_ctx ctx;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 64);
	ctx.mem.fail_at = fail_at;
	kr_err_init(&err);

	enum kr_status status = kr_claim_file_read(&ctx, path, &file, &err);

	if (status == KR_OK)
		check(file.is_elle || file.stated.n > 0);
	else
		check(status != KR_BAD || (err.file[0] && err.text[0]));
	kr_claim_file_done(&ctx.mem, &file);
	check(ctx.mem.used == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32];
	int fd = memfd_create("fuzz", 0);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	read_file(path, 0);
	for (uint64_t n = 1; n <= 24; n++)
		read_file(path, n + size % 7);
	close(fd);
	return 0;
}
