/* What is written to each key: for histories whose initial values are told to be none of that, and for whoever asks what a key ever held.
 *
 * A pair of key and value for each write by a transaction, whatever became of it; of lists and sets, of key and element, which is known by its JSON text. Linear in the operations. */
#include "frontend/history_written.h"

#include "base/hash.h"
#include "frontend/history_work.h"
#include "frontend/model/operation.h"

#include <string.h>

struct pair {
	kr_key key;
	kr_value value; /* of a register; else KR_NONE */
	struct kr_piece element;
};

struct kr_written {
	struct kr_mem *mem;
	struct kr_arena texts;
	struct kr_table table;
	KR_VEC(struct pair) pairs;
};

static bool has_elements(const struct kr_history *h, kr_key k) { return h->keys.at[k.i].kind == KR_KIND_LIST || h->keys.at[k.i].kind == KR_KIND_SET; }

static uint64_t pair_hash(const struct pair *p)
{
	return kr_hash_pair(p->key.i, p->element.text ? kr_hash_bytes(p->element.text, p->element.length) : p->value.i);
}

static bool is_same(const struct pair *a, const struct pair *b)
{
	if (a->key.i != b->key.i || a->value.i != b->value.i || !a->element.text != !b->element.text)
		return false;
	return !a->element.text || (a->element.length == b->element.length && memcmp(a->element.text, b->element.text, a->element.length) == 0);
}

static bool is_written(const struct kr_written *w, const struct pair *p)
{
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&w->table, pair_hash(p)); (id = kr_table_next(&w->table, &it)) != KR_NONE;)
		if (is_same(&w->pairs.at[id], p))
			return true;
	return false;
}

static enum kr_status add(struct kr_written *w, const struct pair *p)
{
	if (is_written(w, p))
		return KR_OK;
	if (!kr_table_reserve(w->mem, &w->table) || !kr_vec_push(w->mem, &w->pairs, *p))
		return KR_NOMEM;
	kr_table_insert(&w->table, pair_hash(p), w->pairs.n - 1);
	return KR_OK;
}

static enum kr_status add_value(struct kr_written *w, kr_key k, kr_value value) { return add(w, &(struct pair){k, value, {NULL, 0}}); }

static enum kr_status add_element(struct kr_written *w, const struct kr_history *h, kr_key k, kr_value element)
{
	struct pair p = {k, {KR_NONE}, {NULL, 0}};
	struct kr_str text;
	enum kr_status status = KR_NOMEM;

	kr_str_init(&text, w->mem);
	kr_history_json_value(h, element, &text);
	p.element = (struct kr_piece){text.failed ? NULL : kr_arena_text(&w->texts, kr_str_text(&text), text.n), text.n};
	if (p.element.text)
		status = add(w, &p);
	kr_str_done(&text);
	return status;
}

/* Of counters nothing. */
static enum kr_status add_writes(struct kr_written *w, const struct kr_history *h, const struct kr_operation *op)
{
	struct kr_write write;
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; !status && kr_write_at(h, op, i, &write); i++) {
		if (write.how == KR_SET && write.value.i != KR_ABSENT.i)
			status = add_value(w, write.key, write.value);
		else if (write.how == KR_ADD && has_elements(h, write.key))
			status = add_element(w, h, write.key, write.value);
	}
	return status;
}

enum kr_status kr_written_new(struct kr_mem *mem, struct kr_ctx *ctx, const struct kr_history *h, struct kr_written **out)
{
	struct kr_written *w = kr_mem_alloc(mem, 1, sizeof *w);
	enum kr_status status = w ? KR_OK : KR_NOMEM;

	if (!w)
		return status;
	w->mem = mem;
	kr_arena_init(&w->texts, mem);
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
	kr_arena_done(&w->texts);
	kr_mem_free(mem, w, 1, sizeof *w);
}

bool kr_written_value(const struct kr_written *w, kr_key key, kr_value value) { return is_written(w, &(struct pair){key, value, {NULL, 0}}); }
bool kr_written_element(const struct kr_written *w, kr_key key, struct kr_piece element) { return is_written(w, &(struct pair){key, {KR_NONE}, element}); }

/* ---- unwritten initial values ---- */

enum kr_status kr_history_index_written(struct kr_history *h, struct kr_ctx *ctx)
{
	return h->initial == KR_INITIAL_UNWRITTEN && !h->written ? kr_written_new(h->mem, ctx, h, &h->written) : KR_OK;
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
	if (!has_elements(h, key))
		return !kr_written_value(h->written, key, value);

	const struct kr_value_entry *e = kr_history_value(h, value);

	for (size_t at = 1; e->type == KR_VALUE_ARRAY && kr_piece_next(e->text, e->length, &at, &piece);)
		if (!kr_history_may_start_with(h, key, piece))
			return false;
	return true;
}
