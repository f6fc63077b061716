/* Fuzz target: any bytes as a result of Elle, of one small history: what is accepted names transactions and keys of that history; allocations that fail end well. */
#define _GNU_SOURCE /* memfd_create */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cross/elle_result.h"
#include "frontend/format.h"

static const char trace[] = "[{\"type\": \"ok\", \"process\": 0, \"value\": [[\"append\", \"x\", 1], [\"r\", \"y\", null]]},"
			    "{\"type\": \"ok\", \"process\": 1, \"value\": [[\"append\", \"y\", 1], [\"r\", \"x\", []]]},"
			    "{\"type\": \"ok\", \"process\": 2, \"value\": [[\"r\", \"x\", [1]]]},"
			    "{\"type\": \"ok\", \"process\": 2, \"value\": [[\"r\", \"x\", [1]]]}]";

static void check(bool good)
{
	if (!good)
		abort();
}

/* A file of these bytes; its name in `path`. */
static int file_of(const void *data, size_t size, char path[32])
{
	int fd = memfd_create("fuzz", 0);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	(void)snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void check_result(const struct kr_history *h, const struct kr_elle_result *result)
{
	for (uint32_t i = 0; i < result->cycles.n; i++) {
		const struct kr_elle_cycle *cycle = &result->cycles.at[i];
		check(cycle->why[0] ? cycle->edges.n == 0 : cycle->edges.n > 0);
		for (uint32_t e = 0; e < cycle->edges.n; e++) {
			const struct kr_claimed_edge *edge = &cycle->edges.at[e];
			check(edge->from.i < h->txns.n && edge->to.i < h->txns.n && (edge->key.i == KR_NONE || edge->key.i < h->keys.n));
		}
	}
}

static void read_result(const struct kr_history *h, const char *path, uint64_t fail_at)
{
	struct kr_elle_result result;
	struct kr_ctx ctx;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 64);
	ctx.mem.fail_at = fail_at;
	kr_err_init(&err);

	enum kr_status status = kr_elle_result_read(&ctx, path, h, &result, &err);

	if (status == KR_OK)
		check_result(h, &result);
	else
		check(status != KR_BAD || (err.file[0] && err.text[0]));
	kr_elle_result_done(&ctx.mem, &result);
	check(ctx.mem.used == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kr_read_options options = {.format = "elle"};
	struct kr_history h;
	struct kr_ctx ctx;
	char path[32];
	int fd = file_of(trace, sizeof trace - 1, path);

	kr_ctx_init(&ctx, 0, 0);
	check(kr_read_trace(&ctx, path, &options, &h, NULL) == KR_OK);
	close(fd);
	fd = file_of(data, size, path);
	read_result(&h, path, 0);
	for (uint64_t n = 1; n <= 24; n++)
		read_result(&h, path, n + size % 7);
	close(fd);
	kr_history_done(&h);
	return 0;
}
