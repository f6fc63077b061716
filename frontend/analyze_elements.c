/* Growing keys: their writes by key, and the elements of lists and sets as numbers.
 *
 * Linear in the text of the trace. */
#include "frontend/analyze_grow.h"

/* ---- writes by key ---- */

static enum kr_status each_write(struct kr_growing *g, bool fill)
{
	const struct kr_history *h = g->w->h;
	struct kr_write write;

	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];

		for (uint32_t i = 0; i < txn->op_count; i++) {
			const struct kr_operation *op = &h->ops.at[txn->op_first + i];

			KR_TRY(kr_ctx_tick(g->w->ctx));
			if (kr_op_scans(op) || !kr_analyze_grows(g->versions, op->key) ||
				!kr_write_at(h, op, 0, &write))
				continue;

			bool element =
				write.how == KR_ADD && kr_datatype_of(kr_grow_kind(g, write.key))->parts;

			g->deleted[write.key.i] |= write.how == KR_SET && txn->status != KR_ABORTED;
			if (fill)
				g->writes[g->write_first[write.key.i + 1]++] = (struct kr_grow_write){{t}, i,
					element ? write.item : (kr_item){KR_NONE}, write.how == KR_SET};
			else
				g->write_first[write.key.i + 2]++;
		}
	}
	return KR_OK;
}

static enum kr_status index_writes(struct kr_growing *g)
{
	uint32_t nkeys = g->w->h->keys.n;

	KR_TRY(kr_arena_new(g->w->scratch, g->write_first, (size_t)nkeys + 2));
	KR_TRY(kr_arena_new(g->w->scratch, g->deleted, nkeys));
	KR_TRY(each_write(g, false));
	kr_index_places(g->write_first, nkeys);
	g->writes = KR_NEW_ARRAY(g->w->scratch, struct kr_grow_write, g->write_first[nkeys + 1]);
	return g->writes ? each_write(g, true) : KR_NOMEM;
}

struct kr_grow_run kr_grow_run(const struct kr_growing *g, kr_key k, uint32_t first)
{
	struct kr_grow_run run = {.first = first, .end = first, .since = first, .txn = g->writes[first].txn};

	for (; run.end < g->write_first[k.i + 1] && g->writes[run.end].txn.i == run.txn.i; run.end++)
		if (g->writes[run.end].deletes) {
			run.deletes = true;
			run.since = run.end + 1;
		}
	return run;
}

bool kr_grow_next(const struct kr_growing *g, kr_key k, struct kr_grow_run *run)
{
	uint32_t first = run->end > 0 ? run->end : g->write_first[k.i], end = g->write_first[k.i + 1];

	while (first < end && kr_grow_aborted(g, g->writes[first].txn))
		first++;
	if (first < end)
		*run = kr_grow_run(g, k, first);
	return first < end;
}

/* Initial arrays name elements that nobody need have written: then all values are named. */
static enum kr_status name_initial(struct kr_growing *g)
{
	const struct kr_history *h = g->w->h;
	bool any = false;

	for (kr_key k = {0}; k.i < h->keys.n && !any; k.i++)
		any = kr_analyze_grows(g->versions, k) &&
			kr_history_value(h, g->initial[k.i])->type == KR_VALUE_ARRAY;
	for (uint32_t v = 0; v < h->values.n && any; v++) {
		KR_TRY(kr_ctx_tick(g->w->ctx));
		KR_TRY(kr_elements_name(&g->numbered, (kr_value){v}));
	}
	return KR_OK;
}

/* ---- elements ---- */

struct kr_grow_element *kr_grow_find(const struct kr_growing *g, kr_key k, kr_item item)
{
	uint32_t id;

	if (item.i == KR_NONE)
		return NULL;
	KR_TABLE_FIND(id, &g->element_table, kr_hash_pair(k.i, item.i),
		g->elements.at[id].key.i == k.i && g->elements.at[id].item.i == item.i);
	return id == KR_NONE ? NULL : &g->elements.at[id];
}

static struct kr_grow_element *get_element(struct kr_growing *g, kr_key k, kr_item item)
{
	struct kr_grow_element *found = kr_grow_find(g, k, item);
	struct kr_grow_element fresh = {.key = k,
		.item = item,
		.write = KR_NONE,
		.aborted = {KR_NONE},
		.part = {KR_NONE},
		.place = KR_NONE};

	if (found)
		return found;
	return kr_table_push(g->w->mem, &g->element_table, kr_hash_pair(k.i, item.i), &g->elements, fresh)
		? &g->elements.at[g->elements.n - 1]
		: NULL;
}

static enum kr_status add_initial(struct kr_growing *g, kr_key k)
{
	kr_item mark = {g->initial[k.i].i};
	struct kr_items items;

	KR_TRY(kr_elements_split(&g->numbered, g->initial[k.i], &items));
	if (kr_grow_kind(g, k) == KR_KIND_MARK && g->initial[k.i].i != KR_ABSENT.i)
		items = (struct kr_items){&mark, 1, false};
	for (uint32_t i = 0; i < items.n; i++) {
		struct kr_grow_element *e = get_element(g, k, items.at[i]);

		if (!e)
			return KR_NOMEM;
		e->twice |= e->initial;
		g->initials[k.i] += !e->initial;
		e->initial = true;
	}
	return KR_OK;
}

static enum kr_status add_written(struct kr_growing *g, kr_key k)
{
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1]; i++) {
		const struct kr_grow_write *x = &g->writes[i];

		if (x->item.i == KR_NONE)
			continue;
		struct kr_grow_element *e = get_element(g, k, x->item);
		if (!e)
			return KR_NOMEM;
		if (kr_grow_aborted(g, x->txn)) {
			e->aborted = x->txn;
			continue;
		}
		e->twice |= e->initial || e->write != KR_NONE;
		if (e->write == KR_NONE)
			e->write = i;
	}
	return KR_OK;
}

enum kr_status kr_grow_elements(struct kr_growing *g, struct kr_writes *writes)
{
	uint32_t nkeys = g->w->h->keys.n;

	KR_TRY(index_writes(g));
	kr_elements_init(&g->numbered, g->w->mem, g->w->h);
	KR_TRY(kr_elements_name_added(&g->numbered, g->w->ctx));
	KR_TRY(kr_grow_initial(g, writes));
	KR_TRY(name_initial(g));
	KR_TRY(kr_arena_new(g->w->scratch, g->element_first, (size_t)nkeys + 1));
	KR_TRY(kr_arena_new(g->w->scratch, g->initials, nkeys));
	for (kr_key k = {0}; k.i < nkeys; k.i++) {
		g->element_first[k.i] = g->elements.n;
		if (!kr_datatype_of(kr_grow_kind(g, k))->parts)
			continue;
		KR_TRY(add_initial(g, k));
		KR_TRY(add_written(g, k));
		KR_TRY(kr_ctx_tick(g->w->ctx));
	}
	g->element_first[nkeys] = g->elements.n;
	return KR_OK;
}
