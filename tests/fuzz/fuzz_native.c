/* Fuzz target: the native reader on any bytes (gzip, too). Whatever it accepts must be a sound history, and must stay one when written and read again;
 * skipping bad lines, a small memory limit and a failing allocation must end well. */
#define _GNU_SOURCE /* memfd_create */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frontend/format.h"
#include "frontend/native_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void put(int file, const void *data, size_t size)
{
	check(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
}

static void check_scan(const struct kr_history *h, const struct kr_scan *scan)
{
	check((uint64_t)scan->row_first + scan->row_count <= h->rows.n && (uint64_t)scan->cond_first + scan->cond_count <= h->conds.n);
	for (uint32_t i = 0; i < scan->row_count; i++)
		check(h->rows.at[scan->row_first + i].key.i < h->keys.n && h->rows.at[scan->row_first + i].value.i < h->values.n);
	for (uint32_t i = 0; i < scan->cond_count; i++)
		check(h->conds.at[scan->cond_first + i].value.i < h->values.n);
}

static void check_ops(const struct kr_history *h)
{
	for (uint32_t i = 0; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		const struct kr_attr *attr = kr_history_attr(h, (kr_op){i});
		check(op->kind < KR_OP_KINDS && op->a.i < h->values.n);
		check(kr_op_scans(op) ? op->scan < h->scans.n : op->b.i < h->values.n);
		check(kr_op_scans(op) == (op->key.i == KR_NONE));
		check(op->key.i == KR_NONE || op->key.i < h->keys.n);
		check(!(op->flags & KR_OPF_HAS_ATTR) == !attr);
		for (uint32_t s = 0; attr && s < attr->seen_count; s++)
			check(h->seen.at[attr->seen_first + s].key.i < h->keys.n && h->seen.at[attr->seen_first + s].writer.i < h->values.n);
		if (kr_op_scans(op))
			check_scan(h, &h->scans.at[op->scan]);
	}
}

static void check_struck(const struct kr_history *h)
{
	for (uint32_t i = 0; i < h->struck.n; i++) {
		const struct kr_struck *s = &h->struck.at[i];
		check(s->txn.i < h->txns.n && (i == 0 || s[-1].txn.i <= s->txn.i));
		check(s->before.i >= h->txns.at[s->txn.i].op_first && s->before.i <= h->txns.at[s->txn.i].op_first + h->txns.at[s->txn.i].op_count);
		const struct kr_entry *e = &s->entry;
		check(e->is_undo || (e->op.kind < KR_OP_KINDS && e->op.a.i < h->values.n && (kr_op_scans(&e->op) || e->op.b.i < h->values.n)));
		check(e->is_undo || (e->attr.failed || e->attr.undone));
	}
}

static void check_history(const struct kr_history *h)
{
	uint32_t ops = 0;

	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];
		check(txn->op_first == ops && txn->id.i < h->values.n && kr_history_find(h, txn->id).i == t);
		check(txn->session.i == KR_NONE || txn->session.i < h->sessions.n);
		check(txn->line >= 1 && txn->file < h->files.n && txn->status <= KR_UNKNOWN);
		ops += txn->op_count;
	}
	check(ops == h->ops.n && (h->white_box.n == 0 || h->white_box.n == h->txns.n));
	for (uint32_t i = 0; i < h->version_orders.n; i++)
		check((uint64_t)h->version_orders.at[i].writer_first + h->version_orders.at[i].writer_count <= h->order_writers.n);
	for (uint32_t i = 0; i < h->order_writers.n; i++)
		check(h->order_writers.at[i].i < h->txns.n);
	for (uint32_t k = 0; k < h->keys.n; k++)
		check(kr_history_find_key(h, h->keys.at[k].name).i == k && h->keys.at[k].kind <= KR_KIND_MARK);
	check_ops(h);
	check_struck(h);
}

static void read_with(const char *path, struct kr_ctx *ctx, bool lenient)
{
	struct kr_read_options options = {.format = "native", .lenient = lenient};
	struct kr_history h;
	struct kr_err err;

	kr_err_init(&err);
	if (kr_read_trace(ctx, path, &options, &h, &err) == KR_OK) {
		check_history(&h);
		kr_history_done(&h);
	} else {
		check(err.status != KR_OK && err.file[0] && err.text[0]);
	}
	check(ctx->mem.used == 0);
}

static void round_trip(int file, const char *path, bool stream)
{
	static const struct kr_read_options options = {.format = "native"};
	struct kr_ctx ctx;
	struct kr_history h, again;
	struct kr_str text;

	kr_ctx_init(&ctx, 0, 0);
	if (kr_read_trace(&ctx, path, &options, &h, NULL) != KR_OK)
		return;
	kr_str_init(&text, &ctx.mem);
	if ((stream ? kr_native_write_stream_text : kr_native_write_text)(&ctx, &h, &text, NULL) == KR_OK) {
		put(file, kr_str_text(&text), text.n);
		check(kr_read_trace(&ctx, path, &options, &again, NULL) == KR_OK);
		check(again.struck.n == h.struck.n);
		check(again.txns.n == h.txns.n && again.ops.n == h.ops.n && again.rows.n == h.rows.n && again.conds.n == h.conds.n);
		check(again.attrs.n == h.attrs.n && again.version_orders.n == h.version_orders.n);
		kr_history_done(&again);
	}
	kr_str_done(&text);
	kr_history_done(&h);
	check(ctx.mem.used == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file = memfd_create("trace", 0);
	struct kr_ctx ctx;
	char path[64];

	check(file >= 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	put(file, data, size);
	for (int lenient = 0; lenient < 2; lenient++) {
		kr_ctx_init(&ctx, 0, 256);
		read_with(path, &ctx, lenient);
	}
	kr_ctx_init(&ctx, 0, 0);
	ctx.mem.fail_at = size % 97 + 1;
	read_with(path, &ctx, false);
	round_trip(file, path, true);
	put(file, data, size);
	round_trip(file, path, false);
	close(file);
	return 0;
}
