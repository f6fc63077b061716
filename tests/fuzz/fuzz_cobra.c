/* Fuzz target: the Cobra reader on any bytes as one client's log. What it accepts must be a sound history; a failing allocation must end well. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_history(const struct kr_history *h)
{
	uint32_t ops = 0;

	check(h->sessions.n == 1 && h->files.n == 2 && h->scans.n == 0);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];
		check(txn->op_first == ops && kr_history_find(h, txn->id).i == t);
		check(txn->session.i == 0 && txn->file == 1 && txn->status == KR_COMMITTED);
		ops += txn->op_count;
	}
	check(ops == h->ops.n);
	for (uint32_t i = 0; i < ops; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		check(op->kind <= KR_OP_DELETE && op->key.i < h->keys.n && op->a.i < h->values.n);
		check(op->kind != KR_OP_WRITE || op->a.i != KR_ABSENT.i);
	}
}

static void read_with(const char *folder, struct kr_ctx *ctx, bool lenient)
{
	struct kr_read_options options = {.format = "cobra", .lenient = lenient};
	struct kr_history h;
	struct kr_err err;

	kr_err_init(&err);
	if (kr_read_trace(ctx, folder, &options, &h, &err) == KR_OK) {
		check_history(&h);
		kr_history_done(&h);
	} else {
		check(err.status != KR_OK && err.file[0] && err.text[0]);
	}
	check(ctx->mem.used == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[64], path[96];
	struct kr_ctx ctx;
	FILE *file;

	snprintf(folder, sizeof folder, "/tmp/krait-fuzz-cobra-%ld", (long)getpid());
	snprintf(path, sizeof path, "%s/T1.log", folder);
	(void)mkdir(folder, 0700);
	file = fopen(path, "wb");
	check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
	for (int lenient = 0; lenient < 2; lenient++) {
		kr_ctx_init(&ctx, 0, 256);
		read_with(folder, &ctx, lenient);
	}
	kr_ctx_init(&ctx, 0, 0);
	ctx.mem.fail_at = size % 61 + 1;
	read_with(folder, &ctx, false);
	unlink(path);
	rmdir(folder);
	return 0;
}
