/* Reruns operations on a map from keys to what they hold (rerun.h), by the model of operations
 * (frontend/model/). An untold initial value is the first one that is read; what depends on it before that
 * cannot be told. */
#include "checkers/rerun.h"

#include <stdio.h>
#include <string.h>

#include "frontend/history_written.h"
#include "frontend/model/elements.h"
#include "frontend/where.h"

struct cell {
	const struct kr_datatype *type; /* NULL: what it holds is not told yet */
	struct kr_state state;
};

struct rerun {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_rerun_end *out;
	struct kr_err *err;
	struct cell *cells;
	kr_key *sorted; /* keys in key order; only for ranges */
	uint32_t *row;  /* per key: 1 + the row that returned it last, into h->rows */
	struct kr_elements elements;
	bool done; /* differs, or cannot be told */
};

static const char *brief(const struct rerun *r, kr_value name, char out[48])
{
	return kr_history_brief(r->h, name, out, 48);
}

static enum kr_status cannot_tell(struct rerun *r, const char *format, kr_key k)
{
	char name[48];
	snprintf(r->out->reason, sizeof r->out->reason, format, brief(r, r->h->keys.at[k.i].name, name));
	r->out->kind = KR_RERUN_UNTOLD;
	r->done = true;
	return KR_OK;
}

/* ---- what keys hold ---- */

/* Whatever a trace may say: what is no counter's number, say, is a register's value. */
static enum kr_status put(struct rerun *r, kr_key k, kr_value value)
{
	struct cell *c = &r->cells[k.i];
	bool fits;
	c->type = kr_datatype_of(r->h->keys.at[k.i].kind);
	enum kr_status status = kr_told_state(&r->elements, c->type, value, &c->state, &fits);
	if (!fits)
		c->type = kr_datatype_of(KR_KIND_REGISTER);
	return status;
}

/* Is that what the key holds? `read`: as an operation that reads shows it. */
static enum kr_status holds(struct rerun *r, kr_key k, kr_value value, bool read, bool *out)
{
	struct cell *c = &r->cells[k.i];
	struct kr_want want;
	*out = c->type || kr_history_may_start(r->h, k, value);
	if (!c->type)
		return *out ? put(r, k, value) : KR_OK;
	enum kr_status status = kr_told_want(&r->elements, c->type, value, read, &want);
	*out = !status && kr_holds(c->type, &c->state, &want);
	return status;
}

static void describe(const struct rerun *r, kr_key k, char *out, size_t size)
{
	const struct cell *c = &r->cells[k.i];
	struct kr_str text;
	if (!c->type) {
		snprintf(out, size, "a value that nobody writes");
	} else if (c->type->shown == KR_VALUE_INT && c->state.present) {
		snprintf(out, size, "%lld", (long long)c->state.number);
	} else if (c->type->shown != KR_VALUE_ARRAY) {
		kr_history_brief(r->h, c->state.value, out, size);
	} else {
		kr_str_init(&text, &r->ctx->mem);
		kr_items_print(&r->elements, &c->state.items, size - 8, &text);
		snprintf(out, size, "%s", text.failed ? "[...]" : kr_str_text(&text));
		kr_str_done(&text);
	}
}

/* ---- differences ---- */

/* `expected` NULL: what the key holds. */
static enum kr_status differ(struct rerun *r, kr_txn t, uint32_t op, kr_key k, const char *expected,
	const char *seen)
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

static enum kr_status untold(struct rerun *r, kr_key k)
{
	return cannot_tell(r, "the initial value of %s is not told", k);
}

/* Of a row. */
static enum kr_status expect(struct rerun *r, kr_txn t, uint32_t op, kr_key k, kr_value value)
{
	bool same;
	char seen[48];
	enum kr_status status = holds(r, k, value, false, &same);
	return status || same ? status : differ(r, t, op, k, NULL, brief(r, value, seen));
}

/* ---- ranges, scans and updates ---- */

static bool is_row(const struct rerun *r, const struct kr_scan *scan, kr_key k)
{
	return r->row[k.i] > scan->row_first && r->row[k.i] <= scan->row_first + scan->row_count;
}

static enum kr_status rerun_scan(struct rerun *r, kr_txn t, uint32_t op, const struct kr_operation *o)
{
	const struct kr_scan *scan = &r->h->scans.at[o->scan];
	enum kr_status status = KR_OK;
	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++)
		r->row[r->h->rows.at[i].key.i] = i + 1;
	for (kr_key k = {0}; k.i < r->h->keys.n && !status && !r->done; k.i++) {
		bool match = false, returned = is_row(r, scan, k);
		if (!r->cells[k.i].type && o->kind == KR_OP_SCAN && returned &&
			kr_history_may_start(r->h, k, r->h->rows.at[r->row[k.i] - 1].value))
			status = put(r, k, r->h->rows.at[r->row[k.i] - 1].value);
		if (!r->cells[k.i].type && kr_where_has_prefix(r->h, scan, k))
			status = untold(r, k);
		else if (!status && r->cells[k.i].type && r->cells[k.i].state.present)
			status = kr_state_meets(&r->elements, r->cells[k.i].type, scan, k,
				&r->cells[k.i].state, &match, r->err);
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
		const struct kr_row *row =
			met < scan->row_count ? &r->h->rows.at[scan->row_first + met] : NULL;
		bool below = scan->low.i != KR_ABSENT.i && kr_history_compare_keys(r->h, name, scan->low) < 0;
		bool returned = row && row->key.i == k.i;
		if (below ||
			(scan->high.i != KR_ABSENT.i && kr_history_compare_keys(r->h, name, scan->high) >= 0))
			continue;
		if (!r->cells[k.i].type && !returned) {
			status = untold(r, k);
		} else if (returned) {
			met++;
			status = r->cells[k.i].state.present || !r->cells[k.i].type
				? expect(r, t, op, k, row->value)
				: differ(r, t, op, k, "no row", brief(r, row->value, seen));
		} else if (r->cells[k.i].state.present) {
			status = differ(r, t, op, k, NULL, "no row");
		}
	}
	if (!status && !r->done && met < scan->row_count)
		status = differ(r, t, op, r->h->rows.at[scan->row_first + met].key, "no row",
			brief(r, r->h->rows.at[scan->row_first + met].value, seen));
	return status;
}

/* ---- operations on one key ---- */

static enum kr_status change(struct rerun *r, const struct kr_write *write)
{
	struct cell *c = &r->cells[write->key.i];
	if (write->how == KR_SET)
		return put(r, write->key, write->value);
	struct kr_effect effect =
		kr_told_addition(r->h, kr_datatype_of(r->h->keys.at[write->key.i].kind), write);
	enum kr_status status = kr_apply(c->type, &r->elements.arena, &c->state, &effect);
	if (status != KR_UNSUPPORTED)
		return status;
	return cannot_tell(r,
		c->type->kind == KR_KIND_COUNTER ? "%s goes beyond 64 bits"
						 : "%s holds nothing that can be added to",
		write->key);
}

/* Compares what the operation tells with what is there. */
static enum kr_status look(struct rerun *r, kr_txn t, uint32_t op, const struct kr_operation *o,
	const struct kr_view *view)
{
	bool same, is_done = o->flags & KR_OPF_DONE;
	char seen[48];
	enum kr_status status = holds(r, o->key, view->value, kr_op_is_read(o), &same);
	if (status || same != view->other)
		return status;
	brief(r, view->value, seen);
	if (view->when == KR_SEEN_BEFORE && !kr_op_is_read(o))
		snprintf(seen, sizeof seen, "%s%s", is_done ? "" : "not ",
			o->kind == KR_OP_DELETE ? "found" : "done");
	return differ(r, t, op, o->key, NULL, seen);
}

static enum kr_status rerun_key(struct rerun *r, kr_txn t, uint32_t op, const struct kr_operation *o)
{
	struct kr_view view = kr_op_view(o);
	struct kr_write write = {.how = KR_KEEP};
	bool writes = kr_write_at(r->h, o, 0, &write);
	bool rests_on_it = !kr_op_is_read(o) && (view.when != KR_UNSEEN || write.how == KR_ADD);
	if (!r->cells[o->key.i].type && rests_on_it)
		return untold(r, o->key);
	if (view.when == KR_SEEN_BEFORE)
		KR_TRY(look(r, t, op, o, &view));
	if (writes && !r->done)
		KR_TRY(change(r, &write));
	if (view.when == KR_SEEN_AFTER && !r->done)
		KR_TRY(look(r, t, op, o, &view));
	return KR_OK;
}

static enum kr_status rerun_op(struct rerun *r, kr_txn t, uint32_t op)
{
	const struct kr_operation *o = &r->h->ops.at[kr_history_op(r->h, t, op).i];
	if (!kr_op_scans(o))
		return rerun_key(r, t, op, o);
	return o->kind == KR_OP_RANGE ? rerun_range(r, t, op, &r->h->scans.at[o->scan])
				      : rerun_scan(r, t, op, o);
}

/* ---- life ---- */

static enum kr_status start(struct rerun *r)
{
	const struct kr_history *h = r->h;
	struct kr_mem *mem = &r->ctx->mem;
	enum kr_status status = KR_OK;
	r->cells = kr_mem_alloc(mem, h->keys.n, sizeof *r->cells);
	r->row = kr_mem_alloc(mem, h->keys.n, sizeof *r->row);
	if (!r->cells || !r->row)
		status = KR_NOMEM;
	kr_elements_init(&r->elements, mem, h);
	if (!status)
		status = kr_elements_name_added(&r->elements, r->ctx);
	for (kr_key k = {0}; k.i < h->keys.n && !status && !kr_history_untold(h); k.i++)
		status = put(r, k, h->keys.at[k.i].initial);
	if (!status && h->scans.n > 0)
		status = kr_keys_by_name(h, &r->elements.arena, &r->sorted);
	return status;
}

static void finish(struct rerun *r)
{
	struct kr_mem *mem = &r->ctx->mem;
	kr_mem_free(mem, r->cells, r->h->keys.n, sizeof *r->cells);
	kr_mem_free(mem, r->row, r->h->keys.n, sizeof *r->row);
	kr_elements_done(&r->elements);
}

enum kr_status kr_rerun(struct kr_ctx *ctx, const struct kr_history *h, const kr_txn *order, uint32_t n,
	struct kr_rerun_end *out)
{
	struct kr_err why;
	struct rerun r = {.ctx = ctx, .h = h, .out = out, .err = &why};
	*out = (struct kr_rerun_end){.kind = KR_RERUN_SAME};
	kr_err_init(&why);
	enum kr_status status = start(&r);
	for (uint32_t i = 0; i < n && !status && !r.done; i++) {
		for (uint32_t op = 0; op < h->txns.at[order[i].i].op_count && !status && !r.done; op++) {
			status = kr_ctx_tick(ctx);
			if (!status)
				status = rerun_op(&r, order[i], op);
		}
		kr_ctx_progress(ctx, "replaying an order", i, n);
	}
	if (status == KR_UNSUPPORTED) {
		snprintf(out->reason, sizeof out->reason, "%.150s", why.text);
		out->kind = KR_RERUN_UNTOLD;
		status = KR_OK;
	}
	finish(&r);
	return status;
}
