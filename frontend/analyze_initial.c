/* Untold initial lists that reads tell.
 *
 * All versions of a list that nobody deletes begin with the initial one, so a list that a committed
 * transaction read has it for its beginning. If nobody who may have taken effect appended the last element of
 * the shortest such list, that element was there at first, and so the whole list was: it is the initial one.
 * An empty one, or none, tells as much. Reads over a transaction's own elements are not looked at. Linear in
 * the operations, the text of the lists read, and the writes of each list told so. */
#include "frontend/analyze_grow.h"

struct shortest {
	kr_value value; /* KR_NONE: no read */
	uint32_t count;
	struct kr_piece last;
};

struct telling {
	struct kr_grow *g;
	struct shortest *of; /* per key of the trace */
	uint32_t *wrote;     /* per key of the trace: 1 + who wrote it last */
};

static void show(struct telling *t, kr_key k, kr_value value, kr_txn reader)
{
	const struct kr_value_entry *array = kr_history_value(t->g->w->h, value);
	struct shortest *s = &t->of[k.i], read = {.value = value};

	if (kr_grow_kind(t->g, k) != KR_KIND_LIST || t->wrote[k.i] == reader.i + 1 ||
		(array->type != KR_VALUE_ARRAY && array->type != KR_VALUE_ABSENT))
		return;
	for (size_t at = 1;
		array->type == KR_VALUE_ARRAY && kr_piece_next(array->text, array->length, &at, &read.last);)
		read.count++;
	if (s->value.i == KR_NONE || read.count < s->count)
		*s = read;
}

static void look_at(struct telling *t, const struct kr_operation *op, kr_txn reader)
{
	const struct kr_history *h = t->g->w->h;
	const struct kr_scan *scan = op->scan == KR_NONE ? NULL : &h->scans.at[op->scan];
	struct kr_view view = kr_op_view(op);

	for (uint32_t i = 0; scan && kr_op_is_read(op) && i < scan->row_count; i++)
		show(t, h->rows.at[scan->row_first + i].key, h->rows.at[scan->row_first + i].value, reader);
	if (view.when == KR_SEEN_BEFORE && !view.other)
		show(t, op->key, view.value, reader);
	if (!scan && kr_write_count(h, op) > 0)
		t->wrote[op->key.i] = reader.i + 1;
}

static enum kr_status find_shortest(struct telling *t)
{
	const struct kr_history *h = t->g->w->h;

	for (uint32_t i = 0; i < h->txns.n; i++) {
		const struct kr_transaction *txn = &h->txns.at[i];

		for (uint32_t o = txn->op_first;
			txn->status == KR_COMMITTED && o < txn->op_first + txn->op_count; o++) {
			KR_TRY(kr_ctx_tick(t->g->w->ctx));
			look_at(t, &h->ops.at[o], (kr_txn){i});
		}
	}
	return KR_OK;
}

/* Whether somebody who may have taken effect appends the element to k, or deletes k. */
static enum kr_status may_be_later(struct kr_grow *g, kr_key k, struct kr_piece element, bool *out)
{
	uint32_t last = element.length > 0 ? kr_elements_find(&g->numbered, element).i : KR_NONE;

	*out = false;
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1] && !*out; i++) {
		if (kr_grow_aborted(g, g->writes[i].txn))
			continue;
		*out = g->writes[i].deletes || g->writes[i].element == last;
		KR_TRY(kr_ctx_tick(g->w->ctx));
	}
	return KR_OK;
}

enum kr_status kr_grow_initial(struct kr_grow *g)
{
	struct kr_work *w = g->w;
	uint32_t nkeys = w->h->keys.n;
	struct telling t = {.g = g};

	g->initial = KR_NEW_ARRAY(&w->scratch, kr_value, nkeys);
	if (!g->initial)
		return KR_NOMEM;
	for (uint32_t k = 0; k < nkeys; k++)
		g->initial[k] = w->h->keys.at[k].initial;
	if (w->h->initial != KR_INITIAL_UNKNOWN)
		return KR_OK;
	t.of = KR_NEW_ARRAY(&w->scratch, struct shortest, nkeys);
	t.wrote = KR_NEW_ARRAY(&w->scratch, uint32_t, nkeys);
	if (!t.of || !t.wrote)
		return KR_NOMEM;
	for (uint32_t k = 0; k < nkeys; k++)
		t.of[k].value.i = KR_NONE;
	KR_TRY(find_shortest(&t));
	for (kr_key k = {0}; k.i < nkeys; k.i++) {
		bool later = true;

		if (kr_grow_kind(g, k) == KR_KIND_LIST && t.of[k.i].value.i != KR_NONE)
			KR_TRY(may_be_later(g, k, t.of[k.i].last, &later));
		if (later)
			continue;
		g->initial[k.i] = t.of[k.i].count > 0 ? t.of[k.i].value : KR_ABSENT;
		w->asg->keys[k.i].open_initial = false;
		w->out->told_lists = true;
	}
	return KR_OK;
}
