/* Fuzz target: any bytes as the lines of a stream. Every event must be sound and in the order that is
 * promised, values that the sink keeps must stay what they were, and all memory come back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEPT = 16 };

struct keeper {
	struct kr_stream *stream;
	KR_VEC(uint32_t) places; /* by session + 1: entries of its open transaction; KR_NONE: none is open */
	struct kr_mem *mem;
	kr_value kept[KEPT];
	struct kr_value_entry was[KEPT];
	uint32_t n;
};

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_op(const struct kr_history *h, const struct kr_event *e)
{
	const struct kr_operation *op = &e->entry.op;

	check(op->kind < KR_OP_KINDS && op->a.i < h->values.n);
	check(kr_op_scans(op) ? op->scan < h->scans.n : op->b.i < h->values.n);
	check(kr_op_scans(op) == (op->key.i == KR_NONE));
	check(op->key.i == KR_NONE || op->key.i < h->keys.n);
	check(!e->timed || e->open || e->invoked <= e->returned);
	for (uint32_t s = 0; s < e->entry.attr.seen_count; s++)
		check(h->seen.at[e->entry.attr.seen_first + s].key.i < h->keys.n && h->seen.at[e->entry.attr.seen_first + s].writer.i < h->values.n);
	for (uint32_t r = 0; kr_op_scans(op) && r < h->scans.at[op->scan].row_count; r++)
		check(h->rows.at[h->scans.at[op->scan].row_first + r].key.i < h->keys.n);
}

static void keep(struct keeper *k, kr_value value)
{
	const struct kr_history *h = kr_stream_history(k->stream);
	uint32_t at = k->n++ % KEPT;

	kr_stream_keep(k->stream, value);
	if (k->n > KEPT) {
		const struct kr_value_entry *now = kr_history_value(h, k->kept[at]);
		check(now->type == k->was[at].type && now->length == k->was[at].length && now->integer == k->was[at].integer);
		kr_stream_release(k->stream, k->kept[at]);
	}
	k->kept[at] = value;
	k->was[at] = *kr_history_value(h, value);
}

static enum kr_status take(void *data, const struct kr_event *e, struct kr_err *err)
{
	struct keeper *k = data;
	const struct kr_history *h = kr_stream_history(k->stream);
	uint32_t session = e->session.i == KR_NONE ? 0 : e->session.i + 1;

	(void)err;
	check(e->session.i == KR_NONE || e->session.i < h->sessions.n);
	while (k->places.n <= session)
		if (!kr_vec_push(k->mem, &k->places, KR_NONE))
			return KR_NOMEM;
	uint32_t *place = &k->places.at[session];
	switch (e->kind) {
	case KR_EVENT_BEGIN: check(*place == KR_NONE && e->txn.i < h->values.n); *place = 0; break;
	case KR_EVENT_ENTRY:
		check(*place == e->place);
		if (e->entry.is_undo)
			check(e->entry.undo <= *place);
		else
			check_op(h, e);
		keep(k, e->entry.op.a);
		keep(k, e->txn);
		++*place;
		break;
	case KR_EVENT_END: check(*place != KR_NONE && e->status <= KR_UNKNOWN); *place = KR_NONE; break;
	case KR_EVENT_ORDER: check(e->key.i < h->keys.n); break;
	default: break;
	}
	return KR_OK;
}

static void stream(const char *text, size_t size, uint64_t fail_at)
{
	struct keeper keeper = {.n = 0};
	const struct kr_sink sink = {&keeper, take};
	struct kr_ctx ctx;
	struct kr_err err;
	uint32_t number = 1;

	kr_ctx_init(&ctx, 0, 256);
	kr_err_init(&err);
	ctx.mem.fail_at = fail_at;
	keeper.mem = &ctx.mem;
	enum kr_status status = kr_stream_new(&ctx, "stream", &sink, &keeper.stream);
	for (size_t at = 0; at < size && status == KR_OK; number++) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;
		status = kr_stream_line(keeper.stream, text + at, length, number, &err);
		at += length + 1;
	}
	check(status == KR_OK || status == KR_NOMEM || (status == KR_BAD && err.line >= 1 && err.line <= number && err.text[0] && !strchr(err.text, '\n')));
	kr_stream_free(keeper.stream);
	kr_vec_done(&ctx.mem, &keeper.places);
	check(ctx.mem.used == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	check(text);
	memcpy(text, data, size);
	text[size] = '\0';
	stream(text, size, 0);
	stream(text, size, size % 97 + 1);
	free(text);
	return 0;
}
