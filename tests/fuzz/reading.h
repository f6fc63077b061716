/* For fuzz targets of readers: any bytes as a file (or as the file of a folder) of one format. What is accepted must be a sound history that can be analysed or refused;
 * a failing allocation must end well, an error must say where and what. */
#ifndef KR_TESTS_FUZZ_READING_H
#define KR_TESTS_FUZZ_READING_H

#define _GNU_SOURCE /* memfd_create */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_check(bool good)
{
	if (!good)
		abort();
}

static inline void fuzz_check_op(const struct kr_history *h, const struct kr_operation *op)
{
	fuzz_check(op->kind < KR_OP_KINDS && op->a.i < h->values.n);
	if (!kr_op_scans(op)) {
		fuzz_check(op->b.i < h->values.n);
		fuzz_check(op->key.i < h->keys.n);
		fuzz_check((op->kind != KR_OP_WRITE && op->kind != KR_OP_APPEND) || op->a.i != KR_ABSENT.i);
		fuzz_check(op->kind != KR_OP_READ || op->flags & KR_OPF_KNOWN || op->a.i == KR_ABSENT.i);
		return;
	}
	fuzz_check(op->scan < h->scans.n);

	const struct kr_scan *scan = &h->scans.at[op->scan];

	fuzz_check(scan->row_first <= h->rows.n && scan->row_count <= h->rows.n - scan->row_first);
	for (uint32_t i = 0; i < scan->row_count; i++)
		fuzz_check(h->rows.at[scan->row_first + i].key.i < h->keys.n && h->rows.at[scan->row_first + i].value.i < h->values.n);
}

static inline void fuzz_check_history(const struct kr_history *h)
{
	uint32_t ops = 0;

	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];
		fuzz_check(txn->op_first == ops && kr_history_find(h, txn->id).i == t);
		fuzz_check(txn->session.i == KR_NONE || txn->session.i < h->sessions.n);
		fuzz_check(txn->file < h->files.n && txn->status <= KR_UNKNOWN);
		fuzz_check(!(txn->flags & KR_TXN_HAS_BEGIN) || txn->begin_invoked <= txn->begin_returned);
		ops += txn->op_count;
	}
	fuzz_check(ops == h->ops.n && (h->white_box.n == 0 || h->white_box.n == h->txns.n));
	for (uint32_t i = 0; i < ops; i++)
		fuzz_check_op(h, &h->ops.at[i]);
}

static inline void fuzz_read_with(const char *path, const char *format, struct kr_ctx *ctx, bool lenient)
{
	struct kr_read_options options = {.format = format, .lenient = lenient};
	struct kr_history h;
	struct kr_err err;

	kr_err_init(&err);
	if (kr_read_trace(ctx, path, &options, &h, &err) == KR_OK) {
		fuzz_check_history(&h);
		fuzz_check(lenient || h.skipped == 0);
		kr_history_done(&h);
	} else {
		fuzz_check(err.status != KR_OK && err.file[0] && err.text[0]);
		fuzz_check(!strchr(err.text, '\n'));
	}
	fuzz_check(ctx->mem.used == 0);
}

static inline void fuzz_read_all(const char *path, const char *format, size_t size)
{
	struct kr_ctx ctx;

	for (int lenient = 0; lenient < 2; lenient++) {
		kr_ctx_init(&ctx, 0, 256);
		fuzz_read_with(path, format, &ctx, lenient);
	}
	kr_ctx_init(&ctx, 0, 0);
	ctx.mem.fail_at = size % 61 + 1;
	fuzz_read_with(path, format, &ctx, false);
}

static inline void fuzz_read(const char *format, const uint8_t *data, size_t size)
{
	int file = memfd_create("trace", 0);
	char path[64];

	fuzz_check(file >= 0 && write(file, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	fuzz_read_all(path, format, size);
	close(file);
}

/* The bytes as the file `name` inside the folder that is the trace. */
static inline void fuzz_read_folder(const char *format, const char *name, const uint8_t *data, size_t size)
{
	char folder[64], path[96];

	snprintf(folder, sizeof folder, "/tmp/krait-fuzz-%s-%ld", format, (long)getpid());
	snprintf(path, sizeof path, "%s/%s", folder, name);
	(void)mkdir(folder, 0700);
	FILE *file = fopen(path, "wb");

	fuzz_check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
	fuzz_read_all(folder, format, size);
	unlink(path);
	rmdir(folder);
}

#endif
