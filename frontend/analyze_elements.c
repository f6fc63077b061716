/* Growing keys: their writes by key, and the elements of lists and sets as numbers.
 *
 * An element is known by its JSON text: values written are printed once each, arrays that were read are walked piece by piece, and equal texts have one number. Each distinct array is walked once.
 * Linear in the text of the trace. */
#include "frontend/analyze_grow.h"

#include <string.h>

/* ---- writes by key ---- */

static enum kr_status each_write(struct kr_grow *g, bool fill)
{
	const struct kr_history *h = g->w->h;
	struct kr_write write;

	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];

		for (uint32_t i = 0; i < txn->op_count; i++) {
			const struct kr_operation *op = &h->ops.at[txn->op_first + i];

			KR_TRY(kr_ctx_tick(g->w->ctx));
			if (op->scan != KR_NONE || !kr_analyze_grows(g->w, op->key) || !kr_write_at(h, op, 0, &write))
				continue;

			bool element = write.how == KR_ADD && kr_grow_kind(g, write.key) != KR_KIND_COUNTER;

			if (fill)
				g->writes[g->write_first[write.key.i + 1]++] =
					(struct kr_grow_write){{t}, i, element ? write.value.i : KR_NONE, write.how == KR_SET};
			else
				g->write_first[write.key.i + 2]++;
		}
	}
	return KR_OK;
}

enum kr_status kr_grow_index_writes(struct kr_grow *g)
{
	uint32_t nkeys = g->w->h->keys.n;

	g->write_first = KR_NEW_ARRAY(&g->w->scratch, uint32_t, (size_t)nkeys + 2);
	if (!g->write_first)
		return KR_NOMEM;
	KR_TRY(each_write(g, false));
	for (uint32_t k = 0; k < nkeys; k++)
		g->write_first[k + 2] += g->write_first[k + 1];
	g->writes = KR_NEW_ARRAY(&g->w->scratch, struct kr_grow_write, g->write_first[nkeys + 1]);
	return g->writes ? each_write(g, true) : KR_NOMEM;
}

uint32_t kr_grow_run(const struct kr_grow *g, kr_key k, uint32_t i)
{
	uint32_t end = i;

	while (end < g->write_first[k.i + 1] && g->writes[end].txn.i == g->writes[i].txn.i)
		end++;
	return end;
}

bool kr_grow_since(const struct kr_grow *g, uint32_t i, uint32_t end, uint32_t *since)
{
	bool deleted = false;

	*since = i;
	for (; i < end; i++) {
		if (!g->writes[i].deletes)
			continue;
		deleted = true;
		*since = i + 1;
	}
	return deleted;
}

uint32_t kr_grow_version(const struct kr_grow *g, kr_key k, kr_txn t)
{
	const struct kr_asg *asg = g->w->asg;
	uint32_t low = asg->keys[k.i].first + 1, high = asg->keys[k.i + 1].first;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (asg->versions[middle].writer.i < t.i)
			low = middle + 1;
		else
			high = middle;
	}
	return low < asg->keys[k.i + 1].first && asg->versions[low].writer.i == t.i ? low : KR_NONE;
}

/* ---- texts ---- */

/* The element of this text, or KR_NONE. */
static uint32_t find_text(const struct kr_grow *g, struct kr_piece text)
{
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&g->text_table, kr_hash_bytes(text.text, text.length)); (id = kr_table_next(&g->text_table, &it)) != KR_NONE;)
		if (g->texts.at[id].length == text.length && memcmp(g->texts.at[id].text, text.text, text.length) == 0)
			return g->text_ids.at[id];
	return KR_NONE;
}

/* `text` must stay. */
static enum kr_status add_text(struct kr_grow *g, struct kr_piece text, uint32_t element)
{
	struct kr_mem *mem = g->w->asg->mem;

	if (!kr_table_reserve(mem, &g->text_table) || !kr_vec_push(mem, &g->texts, text) || !kr_vec_push(mem, &g->text_ids, element))
		return KR_NOMEM;
	kr_table_insert(&g->text_table, kr_hash_bytes(text.text, text.length), g->texts.n - 1);
	return KR_OK;
}

static enum kr_status name_written(struct kr_grow *g, uint32_t element)
{
	struct kr_piece text;

	g->scratch.n = 0;
	kr_history_json_value(g->w->h, (kr_value){element}, &g->scratch);
	if (g->scratch.failed)
		return KR_NOMEM;
	text = (struct kr_piece){kr_arena_text(&g->w->scratch, kr_str_text(&g->scratch), g->scratch.n), g->scratch.n};
	return text.text ? add_text(g, text, element) : KR_NOMEM;
}

/* An element that is no value of the history: a read showed it, of a list that began with it. */
static enum kr_status name_unwritten(struct kr_grow *g, struct kr_piece text, uint32_t *element)
{
	*element = g->w->h->values.n + g->unwritten++;
	if (*element >= KR_GROW_PRESENT)
		return kr_err_set(g->w->err, KR_UNSUPPORTED, "found too many elements of lists, expected fewer than %u", KR_GROW_PRESENT);
	return add_text(g, text, *element);
}

/* Initial arrays name elements that nobody need have written: then all values are named. */
static bool any_initial(const struct kr_grow *g)
{
	const struct kr_history *h = g->w->h;

	for (kr_key k = {0}; k.i < h->keys.n; k.i++)
		if (kr_analyze_grows(g->w, k) && kr_history_value(h, g->initial[k.i])->type == KR_VALUE_ARRAY)
			return true;
	return false;
}

static enum kr_status name_all_written(struct kr_grow *g)
{
	uint64_t *named = KR_NEW_ARRAY(&g->w->scratch, uint64_t, KR_BITS_WORDS(g->w->h->values.n));
	bool any = any_initial(g);

	if (!named)
		return KR_NOMEM;
	for (uint32_t i = 0; i < g->write_first[g->w->h->keys.n]; i++) {
		uint32_t element = g->writes[i].element;

		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (element == KR_NONE || kr_bits_get(named, element))
			continue;
		kr_bits_set(named, element);
		KR_TRY(name_written(g, element));
	}
	for (uint32_t v = 0; v < g->w->h->values.n && any; v++) {
		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (!kr_bits_get(named, v))
			KR_TRY(name_written(g, v));
	}
	return KR_OK;
}

/* ---- elements ---- */

struct kr_grow_element *kr_grow_find(const struct kr_grow *g, kr_key k, uint32_t element)
{
	uint32_t id;

	if (element == KR_NONE)
		return NULL;
	for (kr_table_iter it = kr_table_find(&g->element_table, kr_hash_pair(k.i, element)); (id = kr_table_next(&g->element_table, &it)) != KR_NONE;)
		if (g->elements.at[id].key.i == k.i && g->elements.at[id].element == element)
			return &g->elements.at[id];
	return NULL;
}

static struct kr_grow_element *get_element(struct kr_grow *g, kr_key k, uint32_t element)
{
	struct kr_mem *mem = g->w->asg->mem;
	struct kr_grow_element *found = kr_grow_find(g, k, element);
	struct kr_grow_element fresh = {.key = k, .element = element, .write = KR_NONE, .aborted = {KR_NONE}, .part = {KR_NONE}};

	if (found)
		return found;
	if (!kr_table_reserve(mem, &g->element_table) || !kr_vec_push(mem, &g->elements, fresh))
		return NULL;
	kr_table_insert(&g->element_table, kr_hash_pair(k.i, element), g->elements.n - 1);
	return &g->elements.at[g->elements.n - 1];
}

static enum kr_status add_initial(struct kr_grow *g, kr_key k)
{
	const struct kr_value_entry *array = kr_history_value(g->w->h, g->initial[k.i]);
	struct kr_piece piece;

	if (array->type != KR_VALUE_ARRAY)
		return KR_OK;
	for (size_t at = 1; kr_piece_next(array->text, array->length, &at, &piece);) {
		uint32_t id = find_text(g, piece);

		if (id == KR_NONE)
			KR_TRY(name_unwritten(g, piece, &id));

		struct kr_grow_element *e = get_element(g, k, id);

		if (!e)
			return KR_NOMEM;
		e->twice |= e->initial;
		e->initial = true;
	}
	return KR_OK;
}

static enum kr_status add_written(struct kr_grow *g, kr_key k)
{
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1]; i++) {
		const struct kr_grow_write *x = &g->writes[i];
		struct kr_grow_element *e;

		if (x->element == KR_NONE)
			continue;
		e = get_element(g, k, x->element);
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

enum kr_status kr_grow_elements(struct kr_grow *g)
{
	uint32_t nkeys = g->w->h->keys.n;

	KR_TRY(kr_grow_index_writes(g));
	KR_TRY(kr_grow_initial(g));
	KR_TRY(name_all_written(g));
	g->element_first = KR_NEW_ARRAY(&g->w->scratch, uint32_t, (size_t)nkeys + 1);
	g->list_of = KR_NEW_ARRAY(&g->w->scratch, uint32_t, g->w->h->values.n);
	if (!g->element_first || !g->list_of)
		return KR_NOMEM;
	memset(g->list_of, 0xff, g->w->h->values.n * sizeof *g->list_of);
	for (kr_key k = {0}; k.i < nkeys; k.i++) {
		g->element_first[k.i] = g->elements.n;
		if (!kr_analyze_grows(g->w, k) || kr_grow_kind(g, k) == KR_KIND_COUNTER)
			continue;
		KR_TRY(add_initial(g, k));
		KR_TRY(add_written(g, k));
		KR_TRY(kr_ctx_tick(g->w->ctx));
	}
	g->element_first[nkeys] = g->elements.n;
	return KR_OK;
}

enum kr_status kr_grow_parse(struct kr_grow *g, kr_value value, struct kr_grow_list *out, bool *is_array)
{
	const struct kr_value_entry *array = kr_history_value(g->w->h, value);
	struct kr_mem *mem = g->w->asg->mem;
	struct kr_grow_list list = {g->numbers.n, 0};
	struct kr_piece piece;

	*is_array = array->type == KR_VALUE_ARRAY || array->type == KR_VALUE_ABSENT;
	*out = (struct kr_grow_list){0, 0};
	if (array->type != KR_VALUE_ARRAY)
		return KR_OK;
	if (g->list_of[value.i] != KR_NONE) {
		*out = g->lists.at[g->list_of[value.i]];
		return KR_OK;
	}
	for (size_t at = 1; kr_piece_next(array->text, array->length, &at, &piece); list.count++) {
		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (!kr_vec_push(mem, &g->numbers, find_text(g, piece)))
			return KR_NOMEM;
	}
	g->list_of[value.i] = g->lists.n;
	*out = list;
	return kr_vec_push(mem, &g->lists, list) ? KR_OK : KR_NOMEM;
}
