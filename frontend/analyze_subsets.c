/* Reads of one set that no order of its versions explains together.
 *
 * Without deletes a set only grows, so of two versions one holds all of the other. If one read shows a but
 * not b, and another one b but not a, and each was added once, then a's version comes before b's and after
 * it: an incompatible order. Reads by committed transactions that had not added to the set themselves are
 * sorted by size and compared with their neighbours: if all elements were added once and each read holds the
 * one before it, all do. An element that was there at the beginning or was added twice says nothing. Where
 * all is in order, they have ranks. Linear in the text of the reads, but for sorting them. */
#include "frontend/analyze_grow.h"

static int by_size(const void *a, const void *b)
{
	const struct kr_grow_read *x = a, *y = b;

	return kr_then(kr_then(KR_ORDER(x->key.i, y->key.i), KR_ORDER(x->list.n, y->list.n)),
		kr_then(KR_ORDER(x->txn.i, y->txn.i), KR_ORDER(x->op, y->op)));
}

/* Whether `a` shows an element, added once, that `b` does not. */
static bool shows_more(struct kr_growing *g, kr_key k, struct kr_items a, struct kr_items b)
{
	g->seen.marks++;
	for (uint32_t i = 0; i < b.n; i++)
		kr_grow_find(g, k, b.at[i])->mark = g->seen.marks;
	for (uint32_t i = 0; i < a.n; i++) {
		const struct kr_grow_element *e = kr_grow_find(g, k, a.at[i]);

		if (e->mark != g->seen.marks && !e->twice && !e->initial)
			return true;
	}
	return false;
}

/* Neighbours by size of which each shows something more. */
static enum kr_status compare(struct kr_growing *g, struct kr_observed *out,
	const struct kr_grow_read *before, const struct kr_grow_read *read)
{
	KR_TRY(kr_ctx_spend(g->w->ctx, before->list.n + read->list.n));
	if (!shows_more(g, read->key, before->list, read->list) ||
		!shows_more(g, read->key, read->list, before->list))
		return KR_OK;
	if (before->txn.i > read->txn.i) { /* the later one is to blame */
		const struct kr_grow_read *swap = read;

		read = before;
		before = swap;
	}
	return kr_vec_push(g->w->mem, &out->found,
		       (struct kr_found){read->txn, read->op, read->key, KR_INCOMPATIBLE_ORDER, before->txn})
		? KR_OK
		: KR_NOMEM;
}

enum kr_status kr_bags_check(struct kr_growing *g, struct kr_observed *out)
{
	struct kr_grow_read *at = g->seen.shown.at;

	KR_SORT(at, g->seen.shown.n, by_size);
	for (uint32_t i = 0, end; i < g->seen.shown.n; i = end) {
		kr_key k = at[i].key;

		for (end = i; end < g->seen.shown.n && at[end].key.i == k.i;)
			end++;
		if (g->deleted[k.i])
			continue;
		KR_TRY(kr_ranks_find(g, k, i, end));
		for (uint32_t r = i + 1; r < end && !g->ranks.chained[k.i]; r++)
			KR_TRY(compare(g, out, &at[r - 1], &at[r]));
	}
	return KR_OK;
}
