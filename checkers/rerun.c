/* Reruns operations on a map from keys to what they hold (rerun.h). Registers are values; counters numbers; lists and sets their elements' texts. An untold initial value is the first one that is read;
 * what depends on it before that cannot be told. */
#include "checkers/rerun.h"

#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "frontend/history_written.h"
#include "frontend/where.h"

KR_VEC_NAMED(pieces, struct kr_piece);

/* What a key holds. */
struct cell {
	enum { UNTOLD, VALUE, NUMBER, ELEMENTS } kind;
	kr_value value;         /* KR_ABSENT: nothing */
	int64_t number;         /* of a counter */
	struct pieces elements; /* of a list or set; none: absent */
};

struct rerun {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_rerun_end *out;
	struct kr_err *err;
	struct cell *cells;
	kr_key *sorted; /* keys in key order; only for ranges */
	uint32_t *row;  /* per key: 1 + the row that returned it last, into h->rows */
	struct kr_arena texts;
	bool reads; /* the operation is a plain read */
	bool done;  /* differs, or cannot be told */
};

static const char *brief(const struct rerun *r, kr_value name, char out[48]) { return kr_history_brief(r->h, name, out, 48); }

static enum kr_status cannot_tell(struct rerun *r, const char *format, kr_key k)
{
	char name[48];
	snprintf(r->out->reason, sizeof r->out->reason, format, brief(r, r->h->keys.at[k.i].name, name));
	r->out->kind = KR_RERUN_UNTOLD;
	r->done = true;
	return KR_OK;
}

/* ---- what keys hold ---- */

static bool is_present(const struct cell *c) { return c->kind == ELEMENTS ? c->elements.n > 0 : c->kind == NUMBER || c->value.i != KR_ABSENT.i; }

/* The elements of an array. */
static enum kr_status split(struct rerun *r, kr_value value, struct pieces *out)
{
	const struct kr_value_entry *e = kr_history_value(r->h, value);
	struct kr_piece piece;
	kr_vec_clear(out);
	for (size_t at = 1; e->type == KR_VALUE_ARRAY && kr_piece_next(e->text, e->length, &at, &piece);)
		if (!kr_vec_push(&r->ctx->mem, out, piece))
			return KR_NOMEM;
	return KR_OK;
}

static enum kr_status put(struct rerun *r, kr_key k, kr_value value)
{
	struct cell *c = &r->cells[k.i];
	uint8_t kind = r->h->keys.at[k.i].kind;
	const struct kr_value_entry *e = kr_history_value(r->h, value);
	bool number = kind == KR_KIND_COUNTER && e->type == KR_VALUE_INT;
	c->kind = kind == KR_KIND_LIST || kind == KR_KIND_SET ? ELEMENTS : number ? NUMBER : VALUE;
	c->value = value;
	c->number = number ? e->integer : 0;
	return c->kind == ELEMENTS ? split(r, value, &c->elements) : KR_OK;
}

static bool has(const struct pieces *list, struct kr_piece x)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->at[i].length == x.length && memcmp(list->at[i].text, x.text, x.length) == 0)
			return true;
	return false;
}

static bool same_elements(const struct pieces *a, const struct pieces *b, bool ordered)
{
	bool same = a->n == b->n;
	for (uint32_t i = 0; i < a->n && same; i++) {
		struct pieces one = {&b->at[i], 1, 1};
		same = has(ordered ? &one : b, a->at[i]) && (ordered || has(a, b->at[i]));
	}
	return same;
}

/* Is that what the key holds? `read`: as an operation that reads shows it. Reads of lists and sets do not tell empty from absent, those of counters not 0. An untold initial value is what is first read. */
static enum kr_status holds(struct rerun *r, kr_key k, kr_value value, bool read, bool *out)
{
	struct cell *c = &r->cells[k.i];
	const struct kr_value_entry *e = kr_history_value(r->h, value);
	bool empty = e->type == KR_VALUE_ABSENT || (e->type == KR_VALUE_ARRAY && e->length == 2);
	bool zero = read && e->type == KR_VALUE_INT && e->integer == 0 && r->h->keys.at[k.i].kind == KR_KIND_COUNTER;
	struct pieces shown = {0};
	enum kr_status status = KR_OK;
	*out = c->kind != UNTOLD || kr_history_may_start(r->h, k, value);
	if (c->kind == UNTOLD)
		return *out ? put(r, k, value) : KR_OK;
	if (c->kind == NUMBER) {
		*out = e->type == KR_VALUE_INT && e->integer == c->number;
	} else if (c->kind == VALUE) {
		*out = c->value.i == value.i || (c->value.i == KR_ABSENT.i && zero);
	} else {
		status = split(r, value, &shown);
		*out = (empty || e->type == KR_VALUE_ARRAY) && same_elements(&c->elements, &shown, r->h->keys.at[k.i].kind == KR_KIND_LIST);
		kr_vec_done(&r->ctx->mem, &shown);
	}
	return status;
}

static void describe(const struct rerun *r, kr_key k, char *out, size_t size)
{
	const struct cell *c = &r->cells[k.i];
	size_t n = 0;
	if (c->kind == NUMBER) {
		snprintf(out, size, "%lld", (long long)c->number);
	} else if (c->kind == VALUE) {
		kr_history_brief(r->h, c->value, out, size);
	} else {
		snprintf(out, size, "[");
		for (uint32_t i = 0; i < c->elements.n && n + 8 < size; i++, n = strlen(out))
			snprintf(out + strlen(out), size - strlen(out), "%s%.*s", i ? "," : "", (int)c->elements.at[i].length, c->elements.at[i].text);
		snprintf(out + strlen(out), size - strlen(out), "]");
	}
}

/* ---- differences ---- */

/* `expected` NULL: what the key holds. */
static enum kr_status differ(struct rerun *r, kr_txn t, uint32_t op, kr_key k, const char *expected, const char *seen)
{
	struct kr_difference *d = &r->out->difference;
	*d = (struct kr_difference){.txn = t, .op = op, .key = k};
	if (expected)
		snprintf(d->expected, sizeof d->expected, "%s", expected);
	else
		describe(r, k, d->expected, sizeof d->expected);
	snprintf(d->seen, sizeof d->seen, "%s", seen);
	r->out->kind = KR_RERUN_DIFFERS;
	r->done = true;
	return KR_OK;
}

static enum kr_status untold(struct rerun *r, kr_key k) { return cannot_tell(r, "the initial value of %s is not told", k); }

static enum kr_status expect(struct rerun *r, kr_txn t, uint32_t op, kr_key k, kr_value value)
{
	bool same;
	char seen[48];
	enum kr_status status = holds(r, k, value, r->reads, &same);
	return status || same ? status : differ(r, t, op, k, NULL, brief(r, value, seen));
}

/* ---- ranges, scans and updates ---- */

static bool is_row(const struct rerun *r, const struct kr_scan *scan, kr_key k)
{
	return r->row[k.i] > scan->row_first && r->row[k.i] <= scan->row_first + scan->row_count;
}

static enum kr_status matches(struct rerun *r, const struct kr_scan *scan, kr_key k, bool *out)
{
	const struct cell *c = &r->cells[k.i];
	struct kr_operand operand = {.type = KR_VALUE_INT, .integer = c->number};
	struct kr_str text;
	if (c->kind == NUMBER)
		return *out = kr_where_holds_of(r->h, scan, k, &operand), KR_OK;
	if (c->kind == VALUE || r->h->keys.at[k.i].kind == KR_KIND_SET)
		return kr_where_holds(r->h, scan, k, c->kind == VALUE ? c->value : (kr_value){KR_NONE}, out, r->err);
	kr_str_init(&text, &r->ctx->mem);
	for (uint32_t i = 0; i < c->elements.n; i++) {
		kr_str_add(&text, i ? "," : "[");
		kr_str_add_bytes(&text, c->elements.at[i].text, c->elements.at[i].length);
	}
	kr_str_add(&text, "]");
	enum kr_status status = text.failed ? KR_NOMEM : KR_OK;
	operand = (struct kr_operand){.type = KR_VALUE_ARRAY, .text = {kr_str_text(&text), text.n}};
	*out = !status && kr_where_holds_of(r->h, scan, k, &operand);
	kr_str_done(&text);
	return status;
}

static enum kr_status rerun_scan(struct rerun *r, kr_txn t, uint32_t op, const struct kr_operation *o)
{
	const struct kr_scan *scan = &r->h->scans.at[o->scan];
	enum kr_status status = KR_OK;
	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++)
		r->row[r->h->rows.at[i].key.i] = i + 1;
	for (kr_key k = {0}; k.i < r->h->keys.n && !status && !r->done; k.i++) {
		bool match = false, returned = is_row(r, scan, k);
		if (r->cells[k.i].kind == UNTOLD && o->kind == KR_OP_SCAN && returned && kr_history_may_start(r->h, k, r->h->rows.at[r->row[k.i] - 1].value))
			status = put(r, k, r->h->rows.at[r->row[k.i] - 1].value);
		if (r->cells[k.i].kind == UNTOLD && kr_where_has_prefix(r->h, scan, k))
			status = untold(r, k);
		else if (!status && r->cells[k.i].kind != UNTOLD && is_present(&r->cells[k.i]))
			status = matches(r, scan, k, &match);
		if (status || r->done || (!match && !returned))
			continue;
		kr_value value = returned ? r->h->rows.at[r->row[k.i] - 1].value : (kr_value){KR_NONE};
		char shown[48] = "no row";
		if (returned)
			brief(r, value, shown);
		if (match != returned)
			status = differ(r, t, op, k, match ? NULL : "no row", shown);
		else if (o->kind == KR_OP_SCAN)
			status = expect(r, t, op, k, value);
		else if (scan->set.i != value.i && kr_history_value(r->h, scan->set)->type != KR_VALUE_OBJECT)
			status = differ(r, t, op, k, brief(r, scan->set, (char[48]){0}), shown);
		else
			status = put(r, k, value);
	}
	return status;
}

static enum kr_status rerun_range(struct rerun *r, kr_txn t, uint32_t op, const struct kr_scan *scan)
{
	uint32_t n = r->h->keys.n, met = 0;
	enum kr_status status = KR_OK;
	char seen[48];
	for (uint32_t i = 0; i < n && !status && !r->done && (scan->limit < 0 || met < scan->limit); i++) {
		kr_key k = r->sorted[scan->reverse ? n - 1 - i : i];
		kr_value name = r->h->keys.at[k.i].name;
		const struct kr_row *row = met < scan->row_count ? &r->h->rows.at[scan->row_first + met] : NULL;
		bool below = scan->low.i != KR_ABSENT.i && kr_history_compare_keys(r->h, name, scan->low) < 0;
		bool returned = row && row->key.i == k.i;
		if (below || (scan->high.i != KR_ABSENT.i && kr_history_compare_keys(r->h, name, scan->high) >= 0))
			continue;
		if (r->cells[k.i].kind == UNTOLD && !returned) {
			status = untold(r, k);
		} else if (returned) {
			met++;
			status = is_present(&r->cells[k.i]) || r->cells[k.i].kind == UNTOLD ? expect(r, t, op, k, row->value)
											    : differ(r, t, op, k, "no row", brief(r, row->value, seen));
		} else if (is_present(&r->cells[k.i])) {
			status = differ(r, t, op, k, NULL, "no row");
		}
	}
	if (!status && !r->done && met < scan->row_count)
		status = differ(r, t, op, r->h->rows.at[scan->row_first + met].key, "no row", brief(r, r->h->rows.at[scan->row_first + met].value, seen));
	return status;
}

/* ---- operations on one key ---- */

static enum kr_status rerun_inc(struct rerun *r, kr_txn t, uint32_t op, const struct kr_operation *o)
{
	struct cell *c = &r->cells[o->key.i];
	const struct kr_value_entry *delta = kr_history_value(r->h, o->a), *told = kr_history_value(r->h, o->b);
	char seen[48];
	if (c->kind == VALUE && c->value.i != KR_ABSENT.i)
		return cannot_tell(r, "%s is no number", o->key);
	if (__builtin_add_overflow(c->kind == NUMBER ? c->number : 0, delta->integer, &c->number))
		return cannot_tell(r, "%s goes beyond 64 bits", o->key);
	c->kind = NUMBER;
	if (!(o->flags & KR_OPF_KNOWN) || (told->type == KR_VALUE_INT && told->integer == c->number))
		return KR_OK;
	return differ(r, t, op, o->key, NULL, brief(r, o->b, seen));
}

static enum kr_status grow(struct rerun *r, const struct kr_operation *o)
{
	struct cell *c = &r->cells[o->key.i];
	struct kr_str text;
	kr_str_init(&text, &r->ctx->mem);
	kr_history_json_value(r->h, o->a, &text);
	char *kept = text.failed ? NULL : kr_arena_alloc(&r->texts, text.n + 1, 1);
	enum kr_status status = kept ? KR_OK : KR_NOMEM;
	struct kr_piece piece = {kept, text.n};
	if (kept)
		memcpy(kept, kr_str_text(&text), text.n);
	if (kept && (o->kind == KR_OP_APPEND || !has(&c->elements, piece)) && !kr_vec_push(&r->ctx->mem, &c->elements, piece))
		status = KR_NOMEM;
	kr_str_done(&text);
	return status;
}

/* Whether the key was there, or held what was expected. */
static enum kr_status rerun_test(struct rerun *r, kr_txn t, uint32_t op, const struct kr_operation *o)
{
	bool is_done = o->flags & KR_OPF_DONE, holds_it = is_present(&r->cells[o->key.i]);
	enum kr_status status = o->kind == KR_OP_CAS ? holds(r, o->key, o->a, false, &holds_it) : KR_OK;
	bool as_told = o->kind == KR_OP_INSERT ? holds_it != is_done : holds_it == is_done;
	bool asks = o->kind != KR_OP_DELETE || o->flags & KR_OPF_KNOWN;
	if (status || (asks && !as_told))
		return status ? status
			      : differ(r, t, op, o->key, NULL,
					o->kind == KR_OP_DELETE ? (is_done ? "found" : "not found")
						: is_done       ? "done"
								: "not done");
	if (o->kind == KR_OP_DELETE)
		return put(r, o->key, KR_ABSENT);
	return is_done ? put(r, o->key, o->kind == KR_OP_CAS ? o->b : o->a) : KR_OK;
}

static enum kr_status rerun_op(struct rerun *r, kr_txn t, uint32_t op)
{
	const struct kr_operation *o = &r->h->ops.at[kr_history_op(r->h, t, op).i];
	bool blind = o->kind == KR_OP_READ || o->kind == KR_OP_WRITE || (o->kind == KR_OP_DELETE && !(o->flags & KR_OPF_KNOWN));
	if (o->key.i != KR_NONE && r->cells[o->key.i].kind == UNTOLD && !blind)
		return untold(r, o->key);
	r->reads = o->kind == KR_OP_READ;
	switch ((enum kr_op_kind)o->kind) {
	case KR_OP_READ: return o->flags & KR_OPF_KNOWN ? expect(r, t, op, o->key, o->a) : KR_OK;
	case KR_OP_WRITE: return put(r, o->key, o->a);
	case KR_OP_INC: return rerun_inc(r, t, op, o);
	case KR_OP_APPEND:
	case KR_OP_ADD: return grow(r, o);
	case KR_OP_RANGE: return rerun_range(r, t, op, &r->h->scans.at[o->scan]);
	case KR_OP_SCAN:
	case KR_OP_UPDATE: return rerun_scan(r, t, op, o);
	default: return rerun_test(r, t, op, o);
	}
}

/* ---- life ---- */

static int by_name(const void *data, uint32_t a, uint32_t b)
{
	const struct kr_history *h = data;

	return kr_history_compare_keys(h, h->keys.at[a].name, h->keys.at[b].name);
}

static enum kr_status start(struct rerun *r)
{
	const struct kr_history *h = r->h;
	struct kr_mem *mem = &r->ctx->mem;
	enum kr_status status = KR_OK;
	r->cells = kr_mem_alloc(mem, h->keys.n, sizeof *r->cells);
	r->row = kr_mem_alloc(mem, h->keys.n, sizeof *r->row);
	r->sorted = kr_mem_alloc(mem, h->keys.n, sizeof *r->sorted);
	kr_key *other = kr_mem_alloc(mem, h->keys.n, sizeof *other);
	if (!r->cells || !r->row || !r->sorted || !other)
		status = KR_NOMEM;
	for (kr_key k = {0}; k.i < h->keys.n && !status; k.i++) {
		r->sorted[k.i] = k;
		if (!kr_history_untold(h)) /* else untold */
			status = put(r, k, h->keys.at[k.i].initial);
	}
	if (!status && h->scans.n > 0)
		kr_sort_ids(&r->sorted->i, &other->i, h->keys.n, by_name, h);
	kr_mem_free(mem, other, h->keys.n, sizeof *other);
	return status;
}

static void finish(struct rerun *r)
{
	struct kr_mem *mem = &r->ctx->mem;
	for (uint32_t k = 0; r->cells && k < r->h->keys.n; k++)
		kr_vec_done(mem, &r->cells[k].elements);
	kr_mem_free(mem, r->cells, r->h->keys.n, sizeof *r->cells);
	kr_mem_free(mem, r->row, r->h->keys.n, sizeof *r->row);
	kr_mem_free(mem, r->sorted, r->h->keys.n, sizeof *r->sorted);
	kr_arena_done(&r->texts);
}

enum kr_status kr_rerun(struct kr_ctx *ctx, const struct kr_history *h, const kr_txn *order, uint32_t n, struct kr_rerun_end *out)
{
	struct kr_err why;
	struct rerun r = {.ctx = ctx, .h = h, .out = out, .err = &why};
	*out = (struct kr_rerun_end){.kind = KR_RERUN_SAME};
	kr_err_init(&why);
	kr_arena_init(&r.texts, &ctx->mem);
	enum kr_status status = start(&r);
	for (uint32_t i = 0; i < n && !status && !r.done; i++) {
		for (uint32_t op = 0; op < h->txns.at[order[i].i].op_count && !status && !r.done; op++) {
			status = kr_ctx_tick(ctx);
			if (!status)
				status = rerun_op(&r, order[i], op);
		}
		kr_ctx_progress(ctx, "replay", i, n);
	}
	if (status == KR_UNSUPPORTED) {
		snprintf(out->reason, sizeof out->reason, "%.150s", why.text);
		out->kind = KR_RERUN_UNTOLD;
		status = KR_OK;
	}
	finish(&r);
	return status;
}
