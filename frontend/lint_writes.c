/* Lint: the index of what was written, and values that were written more than once.
 *
 * An element of a list or set is known by its JSON text, since arrays that were read hold texts; other values
 * by their id. A delete writes "absent", and so does an initial state without the key; nothing is a duplicate
 * of that. Counters have no entries: their values are sums. Writes count whatever became of the transaction.
 * Linear in the operations and the text of initial lists. */
#include "frontend/lint_work.h"

#include "base/hash.h"
#include "frontend/model/datatype.h"

#include <string.h>

kr_value kr_lint_value(const struct kr_history *h, kr_key key, kr_value value)
{
	const struct kr_value_entry *e = kr_history_value(h, value);

	return kr_has_elements(h, key) && e->type == KR_VALUE_ARRAY && e->length == 2 ? KR_ABSENT : value;
}

struct kr_lint_entry *kr_lint_entry(struct kr_lint_work *w, kr_key key, kr_value value,
	struct kr_piece element)
{
	uint64_t hash =
		kr_hash_pair(key.i, element.text ? kr_hash_bytes(element.text, element.length) : value.i);
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&w->table, hash);
		(id = kr_table_next(&w->table, &it)) != KR_NONE && w->entries.at;) {
		struct kr_lint_entry *e = &w->entries.at[id];
		if (e->key.i != key.i || !e->element.text != !element.text)
			continue;
		if (element.text ? e->element.length == element.length &&
					memcmp(e->element.text, element.text, element.length) == 0
				 : e->value.i == value.i)
			return e;
	}
	if (element.text && !(element.text = kr_arena_text(&w->out->texts, element.text, element.length)))
		return NULL;
	return kr_table_push(&w->ctx->mem, &w->table, hash, &w->entries,
		       (struct kr_lint_entry){.key = key,
			       .value = element.text ? (kr_value){KR_NONE} : value,
			       .element = element,
			       .first = {KR_NONE},
			       .last = {KR_NONE}})
		? &w->entries.at[w->entries.n - 1]
		: NULL;
}

/* Transaction t's operation `op` writes what the entry stands for. */
static enum kr_status write_entry(struct kr_lint_work *w, struct kr_lint_entry *e, kr_txn t, uint32_t op)
{
	struct kr_lint_finding finding = kr_lint_at(t, op);
	bool absent = !e->element.text && e->value.i == KR_ABSENT.i;
	bool again = !absent && (e->initial || e->first.i != KR_NONE);

	finding.key = e->key;
	finding.value = e->value;
	finding.element = e->element;
	finding.other = e->first;
	if (e->first.i == KR_NONE) {
		e->first = t;
		e->first_op = op;
	}
	e->writers += e->last.i != t.i;
	e->last = t;
	e->statuses |= (uint8_t)(1u << w->h->txns.at[t.i].status);
	return again ? kr_lint_put(w, KR_LINT_DUPLICATE_VALUE, finding) : KR_OK;
}

static enum kr_status write_value(struct kr_lint_work *w, kr_key key, kr_value value, kr_txn t, uint32_t op)
{
	struct kr_lint_entry *e = kr_lint_entry(w, key, value, (struct kr_piece){0});

	if (!e)
		return KR_NOMEM;
	return write_entry(w, e, t, op);
}

static enum kr_status write_element(struct kr_lint_work *w, kr_key key, kr_value element, kr_txn t,
	uint32_t op)
{
	struct kr_lint_entry *e;

	w->text.n = 0;
	kr_history_json_value(w->h, element, &w->text);
	if (w->text.failed ||
		!(e = kr_lint_entry(w, key, (kr_value){KR_NONE}, (struct kr_piece){w->text.at, w->text.n})))
		return KR_NOMEM;
	return write_entry(w, e, t, op);
}

static enum kr_status write_op(struct kr_lint_work *w, const struct kr_operation *op, kr_txn t,
	uint32_t index)
{
	struct kr_write write;

	for (uint32_t i = 0; kr_write_at(w->h, op, i, &write); i++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		w->keys[write.key.i].written = true;
		bool parts = kr_datatype_of(w->h->keys.at[write.key.i].kind)->parts;
		if (write.how == KR_SET || (parts && !kr_has_elements(w->h, write.key)))
			KR_TRY(write_value(w, write.key, write.value, t, index));
		else if (parts)
			KR_TRY(write_element(w, write.key, write.value, t, index));
	}
	return KR_OK;
}

/* Initial values, where they are told. */
static enum kr_status start_key(struct kr_lint_work *w, kr_key key)
{
	const struct kr_key_entry *entry = &w->h->keys.at[key.i];
	const struct kr_value_entry *array = kr_history_value(w->h, entry->initial);
	kr_value value = kr_lint_value(w->h, key, entry->initial);
	struct kr_piece piece;
	struct kr_lint_entry *e;

	if (!kr_has_elements(w->h, key) || value.i == KR_ABSENT.i) {
		if (!(e = kr_lint_entry(w, key, value, (struct kr_piece){0})))
			return KR_NOMEM;
		e->initial = true;
	}
	for (size_t at = 1; kr_has_elements(w->h, key) && array->type == KR_VALUE_ARRAY &&
		kr_piece_next(array->text, array->length, &at, &piece);) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (!(e = kr_lint_entry(w, key, (kr_value){KR_NONE}, piece)))
			return KR_NOMEM;
		e->initial = true;
	}
	return KR_OK;
}

enum kr_status kr_lint_writes(struct kr_lint_work *w)
{
	const struct kr_history *h = w->h;

	for (kr_key k = {0}; k.i < h->keys.n && !kr_history_untold(h); k.i++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		KR_TRY(start_key(w, k));
	}
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
			KR_TRY(kr_ctx_tick(w->ctx));
			KR_TRY(write_op(w, &h->ops.at[h->txns.at[t.i].op_first + i], t, i));
		}
	}
	return KR_OK;
}
