/* What is written to each key: for histories whose initial values are told to be none of that, and for
 * whoever asks what a key ever held.
 *
 * A pair of key and value for each write by a transaction, whatever became of it; of lists, sets
 * and marks, of key and what was added. Linear in the operations. */
#include "frontend/history_written.h"

#include "base/hash.h"
#include "frontend/model/elements.h"

struct kr_written {
	struct kr_mem *mem;
	struct kr_table table;
	KR_VEC(struct kr_row) pairs;
	struct kr_elements elements;
};

bool kr_written_value(const struct kr_written *w, kr_key key, kr_value value)
{
	uint32_t id;

	KR_TABLE_FIND(id, &w->table, kr_hash_pair(key.i, value.i),
		w->pairs.at[id].key.i == key.i && w->pairs.at[id].value.i == value.i);
	return id != KR_NONE;
}

bool kr_written_element(const struct kr_written *w, kr_key key, struct kr_piece element)
{
	return kr_written_value(w, key, (kr_value){kr_elements_find(&w->elements, element).i});
}

static enum kr_status add(struct kr_written *w, kr_key key, kr_value value)
{
	if (kr_written_value(w, key, value))
		return KR_OK;
	return kr_table_push(w->mem, &w->table, kr_hash_pair(key.i, value.i), &w->pairs,
		       (struct kr_row){key, value})
		? KR_OK
		: KR_NOMEM;
}

/* Of counters nothing. */
static enum kr_status add_writes(struct kr_written *w, const struct kr_history *h,
	const struct kr_operation *op)
{
	struct kr_write write;

	for (uint32_t i = 0; kr_write_at(h, op, i, &write); i++) {
		bool element = write.how == KR_ADD && kr_datatype_of(h->keys.at[write.key.i].kind)->parts;
		if (element)
			KR_TRY(kr_elements_name(&w->elements, write.value));
		if (element || (write.how == KR_SET && write.value.i != KR_ABSENT.i))
			KR_TRY(add(w, write.key, write.value));
	}
	return KR_OK;
}

enum kr_status kr_written_new(struct kr_mem *mem, struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_written **out)
{
	struct kr_written *w = kr_mem_alloc(mem, 1, sizeof *w);
	enum kr_status status = w ? KR_OK : KR_NOMEM;

	if (!w)
		return status;
	w->mem = mem;
	kr_elements_init(&w->elements, mem, h);
	for (uint32_t i = 0; i < h->ops.n && !status; i++)
		if (!(status = kr_ctx_tick(ctx)))
			status = add_writes(w, h, &h->ops.at[i]);
	if (status)
		kr_written_free(w);
	else
		*out = w;
	return status;
}

void kr_written_free(struct kr_written *w)
{
	struct kr_mem *mem = w ? w->mem : NULL;

	if (!w)
		return;
	kr_table_done(mem, &w->table);
	kr_vec_done(mem, &w->pairs);
	kr_elements_done(&w->elements);
	kr_mem_free(mem, w, 1, sizeof *w);
}

/* ---- unwritten initial values ---- */

enum kr_status kr_history_index_written(struct kr_history *h, struct kr_ctx *ctx)
{
	return h->initial == KR_INITIAL_UNWRITTEN && !h->written ? kr_written_new(h->mem, ctx, h, &h->written)
								 : KR_OK;
}

bool kr_history_may_start_with(const struct kr_history *h, kr_key key, struct kr_piece element)
{
	return !h->written || !kr_written_element(h->written, key, element);
}

bool kr_history_may_start(const struct kr_history *h, kr_key key, kr_value value)
{
	struct kr_piece piece;

	if (!h->written || value.i >= h->values.n)
		return true;
	if (!kr_has_elements(h, key))
		return !kr_written_value(h->written, key, value);

	const struct kr_value_entry *e = kr_history_value(h, value);

	for (size_t at = 1; e->type == KR_VALUE_ARRAY && kr_piece_next(e->text, e->length, &at, &piece);)
		if (!kr_history_may_start_with(h, key, piece))
			return false;
	return true;
}
