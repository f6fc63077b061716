/* The native trace format's writer: header, one line per transaction, version orders.
 *
 * Needs a finished history. Each operation kind has a function that writes its arguments, found in a table, so that a new kind is a row. A field
 * is left out where the reader's default says the same; whatever the reader cannot be told by defaults is written, so that reading gives an
 * equal history (values, keys and sessions may get other numbers). Keys that nothing else names are written as the header's universe.
 * Cost: linear in the text; memory: one buffer of SINK_AT bytes plus the longest line. */
#include "frontend/native_write.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"

#define SINK_AT (1u << 16)

struct writer {
	const struct kr_history *h;
	struct kr_str *out;
	uint64_t *named;  /* set of keys that a line names */
	const char *note; /* NULL: none */
	struct kr_err *err;
	enum kr_status status;
};

static void put(struct writer *w, const char *text) { kr_str_add(w->out, text); }
static void put_value(struct writer *w, kr_value v) { kr_history_json_value(w->h, v, w->out); }
static void put_int(struct writer *w, int64_t i) { kr_str_format(w->out, "%lld", (long long)i); }
static void put_key(struct writer *w, kr_key k) { put_value(w, w->h->keys.at[k.i].name); }

static void put_span(struct writer *w, int64_t invoked, int64_t returned)
{
	if (invoked == returned)
		put_int(w, invoked);
	else
		kr_str_format(w->out, "[%lld, %lld]", (long long)invoked, (long long)returned);
}

static void unsupported(struct writer *w, const char *what)
{
	if (!w->status)
		w->status = kr_err_set(w->err, KR_UNSUPPORTED, "%s cannot be written in the native format", what);
}

/* A key as the name of a JSON member: strings as they are, integers as their text, unless that is another key. */
static void put_member(struct writer *w, kr_value name)
{
	const struct kr_value_entry *e = kr_history_value(w->h, name);
	bool text = e->type == KR_VALUE_STRING;
	char digits[24];

	(void)snprintf(digits, sizeof digits, "%lld", e->type == KR_VALUE_INT ? (long long)e->integer : 0);
	if (e->type == KR_VALUE_REAL || (e->type == KR_VALUE_INT && kr_history_find_key_text(w->h, digits, strlen(digits)).i != KR_NONE))
		unsupported(w, "a key that is a real number, or whose text is another key, with an initial value, a kind or a version");
	put(w, text ? "" : "\"");
	put_value(w, name);
	put(w, text ? ": " : "\": ");
}

/* ---- operations ---- */

static void put_bool_flag(struct writer *w, const struct kr_operation *op) { put(w, op->flags & KR_OPF_DONE ? ", true" : ", false"); }

static void put_rows(struct writer *w, const struct kr_scan *scan)
{
	put(w, ", [");
	for (uint32_t r = 0; r < scan->row_count; r++) {
		const struct kr_row *row = &w->h->rows.at[scan->row_first + r];
		put(w, r == 0 ? "[" : ", [");
		put_key(w, row->key);
		put(w, ", ");
		put_value(w, row->value);
		put(w, "]");
	}
	put(w, "]");
}

static void put_test(struct writer *w, const struct kr_cond *cond)
{
	static const char *const tests[] = {"eq", "ne", "lt", "le", "gt", "ge", "in"}; /* by enum kr_cond_test */

	if (cond->test >= KR_COUNT(tests)) {
		unsupported(w, "a condition on the prefix of a value");
		return;
	}
	kr_str_format(w->out, "\"%s\": ", tests[cond->test]);
	put_value(w, cond->value);
}

static bool same_group(const struct kr_cond *a, const struct kr_cond *b)
{
	return a->target == b->target && (a->target != KR_COND_FIELD || a->field.i == b->field.i);
}

/* Writes the tests of the group that conds[0] opens; the same test twice has no place in a JSON object. */
static void put_group(struct writer *w, const struct kr_cond *conds, uint32_t count)
{
	unsigned seen = 0;

	for (uint32_t c = 0; c < count; c++) {
		if (!same_group(&conds[0], &conds[c]))
			continue;
		if (seen & 1u << conds[c].test)
			unsupported(w, "a condition that tests the same thing twice");
		put(w, seen ? ", " : "{");
		put_test(w, &conds[c]);
		seen |= 1u << conds[c].test;
	}
	put(w, "}");
}

/* Whether an earlier condition has opened (and written) the group of conds[c]. */
static bool is_written(const struct kr_cond *conds, uint32_t c)
{
	for (uint32_t b = 0; b < c; b++)
		if (same_group(&conds[b], &conds[c]))
			return true;
	return false;
}

static void put_fields(struct writer *w, const struct kr_cond *conds, uint32_t count)
{
	const char *separator = "\"field\": {";

	for (uint32_t c = 0; c < count; c++) {
		if (conds[c].target != KR_COND_FIELD || is_written(conds, c))
			continue;
		put(w, separator);
		put_member(w, conds[c].field);
		put_group(w, &conds[c], count - c);
		separator = ", ";
	}
	put(w, "}");
}

static void put_where(struct writer *w, const struct kr_scan *scan)
{
	const struct kr_cond *conds = scan->cond_count ? &w->h->conds.at[scan->cond_first] : NULL;
	bool fields = false;
	const char *separator = "";

	put(w, "{");
	for (uint32_t c = 0; c < scan->cond_count; c++) {
		bool written = conds[c].target == KR_COND_FIELD ? fields : is_written(conds, c);
		if (written && conds[c].target != KR_COND_KEY_PREFIX)
			continue;
		if (written)
			unsupported(w, "a condition with two key prefixes");
		put(w, separator);
		separator = ", ";
		if (conds[c].target == KR_COND_FIELD) {
			put_fields(w, conds, scan->cond_count);
			fields = true;
		} else if (conds[c].target == KR_COND_VALUE) {
			put(w, "\"value\": ");
			put_group(w, &conds[c], scan->cond_count - c);
		} else {
			put(w, "\"key_prefix\": ");
			put_value(w, conds[c].value);
		}
	}
	put(w, "}");
}

static void put_key_value(struct writer *w, const struct kr_operation *op)
{
	put_key(w, op->key);
	put(w, ", ");
	put_value(w, op->a);
}

static void put_read(struct writer *w, const struct kr_operation *op)
{
	if (!(op->flags & KR_OPF_KNOWN)) {
		put_key(w, op->key);
		return;
	}
	put_key_value(w, op);
	if (kr_history_value(w->h, op->a)->type == KR_VALUE_OBJECT && !(op->flags & KR_OPF_HAS_ATTR))
		put(w, ", {}"); /* so that the value is not taken for attributes */
}

static void put_delete(struct writer *w, const struct kr_operation *op)
{
	put_key(w, op->key);
	if (op->flags & KR_OPF_KNOWN)
		put_bool_flag(w, op);
}

static void put_insert(struct writer *w, const struct kr_operation *op)
{
	put_key_value(w, op);
	put_bool_flag(w, op);
}

static void put_cas(struct writer *w, const struct kr_operation *op)
{
	put_key_value(w, op);
	put(w, ", ");
	put_value(w, op->b);
	put_bool_flag(w, op);
}

static void put_inc(struct writer *w, const struct kr_operation *op)
{
	put_key_value(w, op);
	if (op->flags & KR_OPF_KNOWN) {
		put(w, ", ");
		put_value(w, op->b);
	}
}

static void put_range(struct writer *w, const struct kr_operation *op)
{
	const struct kr_scan *scan = &w->h->scans.at[op->scan];

	put_value(w, scan->low);
	put(w, ", ");
	put_value(w, scan->high);
	put_rows(w, scan);
	if (scan->limit >= 0)
		kr_str_format(w->out, ", {\"limit\": %lld%s}", (long long)scan->limit, scan->reverse ? ", \"reverse\": true" : "");
	else if (scan->reverse)
		put(w, ", {\"reverse\": true}");
	else if (op->flags & KR_OPF_HAS_ATTR)
		put(w, ", {}"); /* so that the attributes come second */
}

static void put_scan(struct writer *w, const struct kr_operation *op)
{
	const struct kr_scan *scan = &w->h->scans.at[op->scan];

	put_where(w, scan);
	if (op->kind == KR_OP_UPDATE) {
		put(w, ", {\"set\": ");
		put_value(w, scan->set);
		put(w, "}");
	}
	put_rows(w, scan);
}

static void put_attributes(struct writer *w, const struct kr_attr *attr)
{
	const char *separator = "{";

	if (attr->has_time) {
		kr_str_format(w->out, "{\"t\": [%lld, %lld]", (long long)attr->invoked, (long long)attr->returned);
		separator = ", ";
	}
	if (!attr->cursor) {
		kr_str_format(w->out, "%s\"cursor\": false", separator);
		separator = ", ";
	}
	if (attr->lock != KR_LOCK_NONE) {
		kr_str_format(w->out, "%s\"lock\": \"%s\"", separator, attr->lock == KR_LOCK_SHARED ? "shared" : "exclusive");
		separator = ", ";
	}
	if (attr->seen_count != 0) {
		kr_str_format(w->out, "%s\"versions\": {", separator);
		for (uint32_t s = 0; s < attr->seen_count; s++) {
			const struct kr_seen *seen = &w->h->seen.at[attr->seen_first + s];
			put(w, s == 0 ? "" : ", ");
			put_member(w, w->h->keys.at[seen->key.i].name);
			put_value(w, seen->writer);
		}
		put(w, "}");
		separator = ", ";
	}
	put(w, separator[0] == '{' ? "{\"cursor\": true}" : "}"); /* never empty: after a read's key that would be a value */
}

static void put_operation(struct writer *w, kr_op o)
{
	static void (*const arguments[KR_OP_KINDS])(struct writer * w, const struct kr_operation *op) = {
		[KR_OP_READ] = put_read,
		[KR_OP_WRITE] = put_key_value,
		[KR_OP_DELETE] = put_delete,
		[KR_OP_INSERT] = put_insert,
		[KR_OP_CAS] = put_cas,
		[KR_OP_INC] = put_inc,
		[KR_OP_APPEND] = put_key_value,
		[KR_OP_ADD] = put_key_value,
		[KR_OP_RANGE] = put_range,
		[KR_OP_SCAN] = put_scan,
		[KR_OP_UPDATE] = put_scan,
	};
	const struct kr_operation *op = &w->h->ops.at[o.i];
	const struct kr_attr *attr = kr_history_attr(w->h, o);

	kr_str_format(w->out, "[\"%s\", ", kr_op_name(op->kind));
	arguments[op->kind](w, op);
	if (attr) {
		put(w, ", ");
		put_attributes(w, attr);
	}
	put(w, "]");
}

/* ---- lines ---- */

/* Whether the reader gives transaction t this id when it has none. */
static bool is_default_id(const struct kr_history *h, kr_txn t)
{
	const struct kr_value_entry *id = kr_history_value(h, h->txns.at[t.i].id);
	uint64_t number = 0;

	if (id->type != KR_VALUE_STRING || id->length < 2 || id->length > 11 || id->text[0] != '#' || id->text[1] == '0')
		return false;
	for (uint32_t i = 1; i < id->length; i++) {
		if (id->text[i] < '0' || id->text[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(id->text[i] - '0');
	}
	return number == (uint64_t)t.i + 1;
}

static void put_white_box(struct writer *w, kr_txn t)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];
	const struct kr_white_box *box = t.i < w->h->white_box.n ? &w->h->white_box.at[t.i] : NULL;

	if (box && txn->flags & KR_TXN_HAS_SERIAL)
		kr_str_format(w->out, "\"serial\": %lld, ", (long long)box->serial);
	if (box && txn->flags & KR_TXN_HAS_SNAPSHOT)
		kr_str_format(w->out, "\"snapshot\": %lld, ", (long long)box->snapshot);
	if (box && txn->flags & KR_TXN_HAS_COMMIT_TS)
		kr_str_format(w->out, "\"commit_ts\": %lld, ", (long long)box->commit_ts);
}

static void put_transaction(struct writer *w, kr_txn t)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];

	put(w, "{");
	if (!is_default_id(w->h, t)) {
		put(w, "\"id\": ");
		put_value(w, txn->id);
		put(w, ", ");
	}
	if (txn->session.i != KR_NONE) {
		put(w, "\"s\": ");
		put_value(w, w->h->sessions.at[txn->session.i]);
		put(w, ", ");
	}
	if (txn->flags & KR_TXN_HAS_BEGIN) {
		put(w, "\"begin\": ");
		put_span(w, txn->begin_invoked, txn->begin_returned);
		put(w, ", ");
	}
	if (txn->flags & KR_TXN_HAS_END) {
		put(w, "\"end\": ");
		put_span(w, txn->end_invoked, txn->end_returned);
		put(w, ", ");
	}
	if (txn->status != KR_COMMITTED)
		put(w, txn->status == KR_ABORTED ? "\"status\": \"aborted\", " : "\"status\": \"unknown\", ");
	put_white_box(w, t);
	put(w, "\"ops\": [");
	for (uint32_t i = 0; i < txn->op_count; i++) {
		put(w, i == 0 ? "" : ", ");
		put_operation(w, kr_history_op(w->h, t, i));
	}
	put(w, "]}\n");
}

static void put_version_order(struct writer *w, const struct kr_version_order *order)
{
	put(w, "{\"version_order\": ");
	put_key(w, order->key);
	put(w, ", \"writers\": [");
	for (uint32_t i = 0; i < order->writer_count; i++) {
		put(w, i == 0 ? "" : ", ");
		put_value(w, w->h->txns.at[w->h->order_writers.at[order->writer_first + i].i].id);
	}
	put(w, "]}\n");
}

/* ---- header ---- */

/* Members name keys, too, but for those that look like numbers: where nothing else says whether they are, the universe does. */
static void mark_member(struct writer *w, kr_key k)
{
	const struct kr_value_entry *name = kr_history_value(w->h, w->h->keys.at[k.i].name);

	if (name->type == KR_VALUE_STRING && name->length > 0 && strchr("-0123456789", name->text[0]) == NULL)
		kr_bits_set(w->named, k.i);
}

static void mark_named(struct writer *w)
{
	const struct kr_history *h = w->h;

	for (uint32_t i = 0; i < h->ops.n; i++)
		if (h->ops.at[i].key.i != KR_NONE)
			kr_bits_set(w->named, h->ops.at[i].key.i);
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

static void put_initial(struct writer *w)
{
	const struct kr_history *h = w->h;
	const char *separator = "";

	if (kr_history_untold(h))
		put(w, h->initial == KR_INITIAL_UNKNOWN ? ", \"initial\": \"unknown\"" : ", \"initial\": \"unwritten\"");
	if (h->initial != KR_INITIAL_GIVEN)
		return;
	put(w, ", \"initial\": {");
	for (uint32_t k = 0; k < h->keys.n; k++) {
		if (h->keys.at[k].initial.i == KR_ABSENT.i)
			continue;
		put(w, separator);
		put_member(w, h->keys.at[k].name);
		put_value(w, h->keys.at[k].initial);
		separator = ", ";
	}
	put(w, "}");
}

static void put_kinds(struct writer *w)
{
	const struct kr_history *h = w->h;
	const char *separator = ", \"kinds\": {";

	for (uint32_t k = 0; k < h->keys.n; k++) {
		if (!h->keys.at[k].declared)
			continue;
		put(w, separator);
		put_member(w, h->keys.at[k].name);
		kr_str_format(w->out, "\"%s\"", kr_history_kind_name((enum kr_key_kind)h->keys.at[k].kind));
		separator = ", ";
	}
	put(w, separator[2] == '"' ? "" : "}");
}

static void put_text_field(struct writer *w, const char *name, const char *text)
{
	if (!text)
		return;
	kr_str_format(w->out, ", \"%s\": ", name);
	kr_str_json(w->out, text, __builtin_strlen(text));
}

static void put_header(struct writer *w)
{
	const struct kr_history *h = w->h;
	const char *separator = ", \"universe\": [";

	put(w, "{\"krait\": 1");
	put_text_field(w, "name", h->name);
	if (w->note)
		kr_str_format(w->out, ", %s", w->note);
	put_initial(w);
	put_kinds(w);
	if (h->clock_skew != 0)
		kr_str_format(w->out, ", \"clock_skew\": %lld", (long long)h->clock_skew);
	put_text_field(w, "time_unit", h->time_unit);
	if (h->key_order != KR_KEYS_MIXED)
		put_text_field(w, "ordered_keys", h->key_order == KR_KEYS_BYTES ? "bytes" : "numbers");
	for (uint32_t k = 0; k < h->keys.n; k++) {
		if (kr_bits_get(w->named, k))
			continue;
		put(w, separator);
		put_key(w, (kr_key){k});
		separator = ", ";
	}
	put(w, separator[2] == '"' ? "}\n" : "]}\n");
}

/* ---- the whole ---- */

/* Hands over what has gathered, if it is enough or `all` is asked for. */
static enum kr_status flush(struct writer *w, kr_native_sink *sink, void *data, bool all)
{
	enum kr_status status;

	if (w->status)
		return w->status;
	if (w->out->failed)
		return KR_NOMEM;
	if (!sink || w->out->n == 0 || (!all && w->out->n < SINK_AT))
		return KR_OK;
	status = sink(data, w->out->at, w->out->n, w->err);
	w->out->n = 0;
	return status;
}

static enum kr_status write_lines(struct writer *w, struct kr_ctx *ctx, kr_native_sink *sink, void *data)
{
	enum kr_status status;

	put_header(w);
	for (uint32_t t = 0; t < w->h->txns.n; t++) {
		put_transaction(w, (kr_txn){t});
		if ((status = flush(w, sink, data, false)) || (status = kr_ctx_tick(ctx)))
			return status;
	}
	for (uint32_t i = 0; i < w->h->version_orders.n; i++) {
		put_version_order(w, &w->h->version_orders.at[i]);
		if ((status = flush(w, sink, data, false)) || (status = kr_ctx_tick(ctx)))
			return status;
	}
	return flush(w, sink, data, true);
}

static enum kr_status write_all(struct writer *w, struct kr_ctx *ctx, kr_native_sink *sink, void *data)
{
	size_t words = KR_BITS_WORDS(w->h->keys.n);
	enum kr_status status = KR_NOMEM;

	w->named = kr_mem_alloc(&ctx->mem, words, sizeof *w->named);
	if (w->named) {
		mark_named(w);
		status = write_lines(w, ctx, sink, data);
	}
	kr_mem_free(&ctx->mem, w->named, words, sizeof *w->named);
	return status;
}

enum kr_status kr_native_write(struct kr_ctx *ctx, const struct kr_history *h, kr_native_sink *sink, void *data, struct kr_err *err)
{
	struct kr_str buffer;
	struct writer w = {.h = h, .out = &buffer, .err = err};
	enum kr_status status;

	kr_str_init(&buffer, &ctx->mem);
	status = write_all(&w, ctx, sink, data);
	kr_str_done(&buffer);
	return status;
}

enum kr_status kr_native_write_noted(struct kr_ctx *ctx, const struct kr_history *h, const char *note, struct kr_str *out, struct kr_err *err)
{
	struct writer w = {.h = h, .out = out, .note = note, .err = err};

	return write_all(&w, ctx, NULL, NULL);
}

enum kr_status kr_native_write_text(struct kr_ctx *ctx, const struct kr_history *h, struct kr_str *out, struct kr_err *err)
{
	return kr_native_write_noted(ctx, h, NULL, out, err);
}
