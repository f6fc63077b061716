/* A list that shows the last elements of two committed transactions shows which of their versions came first,
 * whatever else becomes of what was seen (docs/levels.md, pl-1). One walk over the operations; linear in the
 * lists shown, but for what a reader had appended itself. */
#include "verify/shown.h"

struct walk {
	const struct kr_facts *f;
	kr_txn txn;
	uint32_t op;
	kr_key key;
	struct kr_shown_pairs *out;
};

/* Whether t's operation `at` is the last that changes the key. */
static bool is_last(const struct kr_history *h, kr_txn t, uint32_t at, kr_key k)
{
	for (uint32_t i = at + 1; i < h->txns.at[t.i].op_count; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
		if (!kr_op_scans(op) && op->key.i == k.i && kr_effect_count(h, op) > 0)
			return false;
	}
	return true;
}

/* The committed transaction whose last element it is and nobody else's, or KR_NONE. */
static enum kr_status whose_last(const struct walk *w, uint32_t element, kr_txn *out)
{
	const struct kr_grow_add *add, *only = NULL;
	const uint32_t *initial;
	uint32_t adds = 0, count;
	KR_TRY(kr_grow_array(w->f->grow, w->key, w->f->h->keys.at[w->key.i].initial, &initial, &count));

	out->i = KR_NONE;
	for (uint32_t i = 0; count != KR_NONE && i < count; i++)
		adds += initial[i] == element;
	for (kr_table_iter it = kr_grow_adds(w->f->grow, w->key, element);
		(add = kr_grow_next_add(w->f->grow, &it, w->key, element)); adds++)
		only = add;
	if (only && adds == 1 && w->f->h->txns.at[only->txn.i].status == KR_COMMITTED &&
		is_last(w->f->h, only->txn, only->op, w->key))
		*out = only->txn;
	return KR_OK;
}

static bool had_appended(const struct walk *w, uint32_t element)
{
	const struct kr_grow_add *add;

	for (kr_table_iter it = kr_grow_adds(w->f->grow, w->key, element);
		(add = kr_grow_next_add(w->f->grow, &it, w->key, element));)
		if (add->txn.i == w->txn.i && add->op < w->op)
			return true;
	return false;
}

static enum kr_status walk_list(const struct walk *w, kr_value list)
{
	const uint32_t *members;
	uint32_t count;
	kr_txn last = {KR_NONE}, writer;
	enum kr_status status = kr_grow_array(w->f->grow, w->key, list, &members, &count);

	if (status != KR_OK || count == KR_NONE)
		return status;

	uint32_t *copy = kr_mem_alloc(w->f->mem, count, sizeof *copy), all = count; /* the members move */

	if (!copy)
		return KR_NOMEM;
	for (uint32_t i = 0; i < count; i++)
		copy[i] = members[i];
	while (count > 0 && had_appended(w, copy[count - 1]))
		count--;
	for (uint32_t i = 0; i < count && status == KR_OK; i++) {
		bool twice = false;

		status = whose_last(w, copy[i], &writer);
		for (uint32_t j = 0; status == KR_OK && writer.i != KR_NONE && j < count && !twice; j++)
			twice = j != i && copy[j] == copy[i];
		if (status != KR_OK || writer.i == KR_NONE || twice)
			continue;
		if (last.i != KR_NONE &&
			!kr_vec_push(w->f->mem, w->out, (struct kr_shown_pair){w->key, last, writer}))
			status = KR_NOMEM;
		last = writer;
	}
	kr_mem_free(w->f->mem, copy, all, sizeof *copy);
	return status;
}

static enum kr_status walk_operation(struct walk *w)
{
	const struct kr_history *h = w->f->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, w->txn, w->op).i];

	for (uint32_t i = 0; i < kr_saw_count(h, op); i++) {
		struct kr_saw saw = kr_saw_at(h, op, i);

		w->key = kr_saw_key(h, op, i);
		if (h->keys.at[w->key.i].kind == KR_KIND_LIST && saw.test == KR_SAW_VALUE)
			KR_TRY(walk_list(w, saw.value));
	}
	return KR_OK;
}

enum kr_status kr_shown_lists(const struct kr_facts *f, struct kr_ctx *ctx, struct kr_shown_pairs *out)
{
	struct walk w = {.f = f, .out = out};

	/* what is shown may have been there at first, too */
	if (!f->grow || f->h->initial == KR_INITIAL_UNKNOWN)
		return KR_OK;
	for (; w.txn.i < f->h->txns.n; w.txn.i++) {
		for (w.op = 0; w.op < f->h->txns.at[w.txn.i].op_count &&
			f->h->txns.at[w.txn.i].status == KR_COMMITTED;
			w.op++) {
			KR_TRY(walk_operation(&w));
			KR_TRY(kr_ctx_tick(ctx));
		}
	}
	return KR_OK;
}
