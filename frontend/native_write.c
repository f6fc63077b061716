/* The native trace format's writer: header, one line per transaction, version orders.
 *
 * Needs a finished history. A field is left out where the reader's default says the same; whatever the reader
 * cannot be told by defaults is written, so that reading gives an equal history (values, keys and sessions
 * may get other numbers). Keys that nothing else names are written as the header's universe. Operations:
 * native_write_op.c; event lines instead of transactions: native_write_events.c. Cost: linear in the text;
 * memory: one buffer of SINK_AT bytes plus the longest line. */
#include "frontend/native_write_work.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"

#define SINK_AT (1u << 16)

void kr_native_write_bit(struct kr_native_writer *w, const char *text) { kr_str_add(w->out, text); }
void kr_native_write_value(struct kr_native_writer *w, kr_value v) { kr_history_json_value(w->h, v, w->out); }
void kr_native_write_key(struct kr_native_writer *w, kr_key k)
{
	kr_native_write_value(w, w->h->keys.at[k.i].name);
}

/* [from, to], or one number for both. */
static void put_span(struct kr_native_writer *w, int64_t invoked, int64_t returned, bool open)
{
	if (open)
		kr_str_format(w->out, "[%lld, null]", (long long)invoked);
	else if (invoked == returned)
		kr_str_format(w->out, "%lld", (long long)invoked);
	else
		kr_str_format(w->out, "[%lld, %lld]", (long long)invoked, (long long)returned);
}

/* A key as the name of a JSON member: strings as they are, integers as their text, unless that is another
 * key. */
void kr_native_write_member(struct kr_native_writer *w, kr_value name)
{
	const struct kr_value_entry *e = kr_history_value(w->h, name);
	bool text = e->type == KR_VALUE_STRING;
	char digits[24];

	(void)snprintf(digits, sizeof digits, "%lld", e->type == KR_VALUE_INT ? (long long)e->integer : 0);
	if (e->type == KR_VALUE_REAL ||
		(e->type == KR_VALUE_INT &&
			kr_history_find_key_text(w->h, digits, strlen(digits)).i != KR_NONE))
		kr_native_write_unsupported(w,
			"a key that is a real number, or whose text is another key, with an initial value, a "
			"kind or a version");
	kr_native_write_bit(w, text ? "" : "\"");
	kr_native_write_value(w, name);
	kr_native_write_bit(w, text ? ": " : "\": ");
}

/* ---- lines ---- */

static void put_number(struct kr_native_writer *w, const char *name, bool told, int64_t number)
{
	if (told)
		kr_str_format(w->out, "\"%s\": %lld, ", name, (long long)number);
}

static void put_moment(struct kr_native_writer *w, const char *name, bool told, const int64_t times[2],
	bool open)
{
	if (!told)
		return;
	kr_str_format(w->out, "\"%s\": ", name);
	put_span(w, times[0], times[1], open);
	kr_native_write_bit(w, ", ");
}

/* Whether the reader gives an autocommit transaction these times itself. */
static bool is_statement(const struct kr_history *h, kr_txn t, const int64_t times[2])
{
	int64_t own[2];
	bool open;

	return h->txns.at[t.i].flags & KR_TXN_AUTO &&
		kr_history_statement(h, kr_walk_txn(h, t), own, &open) && own[0] == times[0] &&
		own[1] == times[1];
}

void kr_native_write_fields(struct kr_native_writer *w, kr_txn t, bool begin, bool end)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];
	static const struct kr_white_box none;
	const struct kr_white_box *box = t.i < w->h->white_box.n ? &w->h->white_box.at[t.i] : &none;
	const int64_t began[2] = {txn->begin_invoked, txn->begin_returned},
		      ended[2] = {txn->end_invoked, txn->end_returned};

	if (begin && !is_statement(w->h, t, began))
		put_moment(w, "begin", txn->flags & KR_TXN_HAS_BEGIN, began, txn->flags & KR_TXN_BEGIN_OPEN);
	put_moment(w, "snapshot_t", begin && txn->flags & KR_TXN_HAS_SNAPSHOT_T, box->snapshot_t, false);
	if (end && !is_statement(w->h, t, ended))
		put_moment(w, "end", txn->flags & KR_TXN_HAS_END, ended, txn->flags & KR_TXN_END_OPEN);
	if (end && txn->flags & KR_TXN_END_FAILED)
		kr_native_write_bit(w, "\"failed\": true, ");
	if (end && txn->status != KR_COMMITTED)
		kr_native_write_bit(w,
			txn->status == KR_ABORTED ? "\"status\": \"aborted\", "
						  : "\"status\": \"unknown\", ");
	put_number(w, "serial", end && txn->flags & KR_TXN_HAS_SERIAL, box->serial);
	put_number(w, "snapshot", end && txn->flags & KR_TXN_HAS_SNAPSHOT, box->snapshot);
	put_number(w, "commit_ts", end && txn->flags & KR_TXN_HAS_COMMIT_TS, box->commit_ts);
}

void kr_native_write_txn(struct kr_native_writer *w, kr_txn t)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];
	struct kr_walk walk = kr_walk_txn(w->h, t);

	kr_native_write_bit(w, "{");
	if (w->stream || kr_history_default_number(w->h, t) != t.i + 1) {
		kr_native_write_bit(w, "\"id\": ");
		kr_native_write_value(w, txn->id);
		kr_native_write_bit(w, ", ");
	}
	if (txn->session.i != KR_NONE) {
		kr_native_write_bit(w, "\"s\": ");
		kr_native_write_value(w, w->h->sessions.at[txn->session.i]);
		kr_native_write_bit(w, ", ");
	}
	if (txn->flags & KR_TXN_AUTO)
		kr_native_write_bit(w, "\"auto\": true, ");
	kr_native_write_fields(w, t, true, true);
	kr_native_write_bit(w, "\"ops\": [");
	while (kr_walk_next(w->h, &walk)) {
		kr_native_write_bit(w, walk.place == 0 ? "" : ", ");
		kr_native_write_entry(w, &walk);
	}
	kr_native_write_bit(w, "]}\n");
}

static void put_version_order(struct kr_native_writer *w, const struct kr_version_order *order)
{
	kr_native_write_bit(w, "{\"version_order\": ");
	kr_native_write_key(w, order->key);
	kr_native_write_bit(w, ", \"writers\": [");
	for (uint32_t i = 0; i < order->writer_count; i++) {
		kr_native_write_bit(w, i == 0 ? "" : ", ");
		kr_native_write_value(w, w->h->txns.at[w->h->order_writers.at[order->writer_first + i].i].id);
	}
	kr_native_write_bit(w, "]}\n");
}

/* ---- header ---- */

/* Members name keys, too, but for those that look like numbers: where nothing else says whether they are, the
 * universe does. */
static void mark_member(struct kr_native_writer *w, kr_key k)
{
	const struct kr_value_entry *name = kr_history_value(w->h, w->h->keys.at[k.i].name);

	if (name->type == KR_VALUE_STRING && name->length > 0 && strchr("-0123456789", name->text[0]) == NULL)
		kr_bits_set(w->named, k.i);
}

static void mark_named(struct kr_native_writer *w)
{
	const struct kr_history *h = w->h;

	for (uint32_t i = 0; i < h->ops.n; i++)
		if (h->ops.at[i].key.i != KR_NONE)
			kr_bits_set(w->named, h->ops.at[i].key.i);
	for (uint32_t i = 0; i < h->struck.n; i++)
		if (h->struck.at[i].entry.op.key.i != KR_NONE)
			kr_bits_set(w->named, h->struck.at[i].entry.op.key.i);
	for (uint32_t i = 0; i < h->rows.n; i++)
		kr_bits_set(w->named, h->rows.at[i].key.i);
	for (uint32_t i = 0; i < h->seen.n; i++)
		mark_member(w, h->seen.at[i].key);
	for (uint32_t i = 0; i < h->version_orders.n; i++)
		kr_bits_set(w->named, h->version_orders.at[i].key.i);
	for (uint32_t k = 0; k < h->keys.n; k++)
		if (h->keys.at[k].initial.i != KR_ABSENT.i || h->keys.at[k].declared)
			mark_member(w, (kr_key){k});
}

static void put_initial(struct kr_native_writer *w)
{
	const struct kr_history *h = w->h;
	const char *separator = "";

	if (kr_history_untold(h))
		kr_native_write_bit(w,
			h->initial == KR_INITIAL_UNKNOWN ? ", \"initial\": \"unknown\""
							 : ", \"initial\": \"unwritten\"");
	if (h->initial != KR_INITIAL_GIVEN)
		return;
	kr_native_write_bit(w, ", \"initial\": {");
	for (uint32_t k = 0; k < h->keys.n; k++) {
		if (h->keys.at[k].initial.i == KR_ABSENT.i)
			continue;
		kr_native_write_bit(w, separator);
		kr_native_write_member(w, h->keys.at[k].name);
		kr_native_write_value(w, h->keys.at[k].initial);
		separator = ", ";
	}
	kr_native_write_bit(w, "}");
}

static void put_kinds(struct kr_native_writer *w)
{
	const struct kr_history *h = w->h;
	const char *separator = ", \"kinds\": {";

	for (uint32_t k = 0; k < h->keys.n; k++) {
		if (!h->keys.at[k].declared)
			continue;
		kr_native_write_bit(w, separator);
		kr_native_write_member(w, h->keys.at[k].name);
		kr_str_format(w->out, "\"%s\"", kr_history_kind_name((enum kr_key_kind)h->keys.at[k].kind));
		separator = ", ";
	}
	kr_native_write_bit(w, separator[2] == '"' ? "" : "}");
}

static void put_text_field(struct kr_native_writer *w, const char *name, const char *text)
{
	if (!text)
		return;
	kr_str_format(w->out, ", \"%s\": ", name);
	kr_str_json(w->out, text, __builtin_strlen(text));
}

static void put_stream(struct kr_native_writer *w)
{
	kr_native_write_bit(w, ", \"stream\": true, \"sessions\": [");
	for (uint32_t i = 0; i < w->h->sessions.n; i++) {
		kr_native_write_bit(w, i == 0 ? "" : ", ");
		kr_native_write_value(w, w->h->sessions.at[i]);
	}
	kr_native_write_bit(w, "]");
}

static void put_header(struct kr_native_writer *w)
{
	const struct kr_history *h = w->h;
	const char *separator = ", \"universe\": [";

	kr_native_write_bit(w, "{\"krait\": 1");
	if (w->stream)
		put_stream(w);
	put_text_field(w, "name", h->name);
	if (w->note)
		kr_str_format(w->out, ", %s", w->note);
	put_initial(w);
	put_kinds(w);
	if (h->clock_skew != 0)
		kr_str_format(w->out, ", \"clock_skew\": %lld", (long long)h->clock_skew);
	put_text_field(w, "time_unit", h->time_unit);
	put_text_field(w, "row_separator", h->row_separator);
	put_text_field(w, "profile", h->profile);
	if (h->key_order != KR_KEYS_MIXED)
		put_text_field(w, "ordered_keys", h->key_order == KR_KEYS_BYTES ? "bytes" : "numbers");
	for (uint32_t k = 0; k < h->keys.n; k++) {
		if (kr_bits_get(w->named, k))
			continue;
		kr_native_write_bit(w, separator);
		kr_native_write_key(w, (kr_key){k});
		separator = ", ";
	}
	kr_native_write_bit(w, separator[2] == '"' ? "}\n" : "]}\n");
}

/* ---- the whole ---- */

enum kr_status kr_native_write_flush(struct kr_native_writer *w, bool all)
{
	if (w->status)
		return w->status;
	if (w->out->failed)
		return KR_NOMEM;
	if (!w->sink || w->out->n == 0 || (!all && w->out->n < SINK_AT))
		return KR_OK;
	enum kr_status status = w->sink(w->data, w->out->at, w->out->n, w->err);
	w->out->n = 0;
	return status;
}

static enum kr_status write_transactions(struct kr_native_writer *w, struct kr_ctx *ctx)
{
	for (uint32_t t = 0; t < w->h->txns.n; t++) {
		kr_native_write_txn(w, w->order ? w->order[t] : (kr_txn){t});
		KR_TRY(kr_native_write_flush(w, false));
		KR_TRY(kr_ctx_tick(ctx));
	}
	return KR_OK;
}

static enum kr_status write_lines(struct kr_native_writer *w, struct kr_ctx *ctx)
{
	put_header(w);
	KR_TRY(w->stream ? kr_native_write_events(w, ctx) : write_transactions(w, ctx));
	for (uint32_t i = 0; i < w->h->version_orders.n; i++) {
		put_version_order(w, &w->h->version_orders.at[i]);
		KR_TRY(kr_native_write_flush(w, false));
		KR_TRY(kr_ctx_tick(ctx));
	}
	return kr_native_write_flush(w, true);
}

static enum kr_status write_all(struct kr_native_writer *w, struct kr_ctx *ctx)
{
	size_t words = KR_BITS_WORDS(w->h->keys.n);
	enum kr_status status = KR_NOMEM;

	w->named = kr_mem_alloc(&ctx->mem, words, sizeof *w->named);
	if (w->named) {
		mark_named(w);
		status = write_lines(w, ctx);
	}
	kr_mem_free(&ctx->mem, w->named, words, sizeof *w->named);
	return status;
}

static enum kr_status write_to(struct kr_ctx *ctx, struct kr_native_writer w, struct kr_err *err)
{
	struct kr_str buffer;

	kr_str_init(&buffer, &ctx->mem);
	w.out = &buffer;
	w.err = err;
	enum kr_status status = write_all(&w, ctx);
	kr_str_done(&buffer);
	return status;
}

enum kr_status kr_native_write(struct kr_ctx *ctx, const struct kr_history *h, kr_native_sink *sink,
	void *data, struct kr_err *err)
{
	return write_to(ctx, (struct kr_native_writer){.h = h, .sink = sink, .data = data}, err);
}

enum kr_status kr_native_write_in_order(struct kr_ctx *ctx, const struct kr_history *h, const kr_txn *order,
	kr_native_sink *sink, void *data, struct kr_err *err)
{
	return write_to(ctx, (struct kr_native_writer){.h = h, .sink = sink, .data = data, .order = order},
		err);
}

enum kr_status kr_native_write_stream(struct kr_ctx *ctx, const struct kr_history *h, kr_native_sink *sink,
	void *data, struct kr_err *err)
{
	return write_to(ctx, (struct kr_native_writer){.h = h, .sink = sink, .data = data, .stream = true},
		err);
}

enum kr_status kr_native_write_noted(struct kr_ctx *ctx, const struct kr_history *h, const char *note,
	struct kr_str *out, struct kr_err *err)
{
	struct kr_native_writer w = {.h = h, .out = out, .note = note, .err = err};

	return write_all(&w, ctx);
}

enum kr_status kr_native_write_stream_text(struct kr_ctx *ctx, const struct kr_history *h, struct kr_str *out,
	struct kr_err *err)
{
	struct kr_native_writer w = {.h = h, .out = out, .stream = true, .err = err};

	return write_all(&w, ctx);
}

enum kr_status kr_native_write_text(struct kr_ctx *ctx, const struct kr_history *h, struct kr_str *out,
	struct kr_err *err)
{
	return kr_native_write_noted(ctx, h, NULL, out, err);
}
