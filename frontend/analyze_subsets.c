/* Reads of one set that no order of its versions explains together.
 *
 * Without deletes a set only grows, so of two versions one holds all of the other. If one read shows a but not b, and another one b but not a, and each was added once, then a's version comes before b's and after
 * it: an incompatible order. Reads by committed transactions that had not added to the set themselves are sorted by size and compared with their neighbours: if all elements were added once and
 * each read holds the one before it, all do. An element that was there at the beginning or was added twice says nothing. Linear in the text of the reads, but for sorting them. */
#include "frontend/analyze_grow.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	const struct kr_grow_read *x = a, *y = b;

	if (x->key.i != y->key.i)
		return x->key.i < y->key.i ? -1 : 1;
	if (x->list.count != y->list.count)
		return x->list.count < y->list.count ? -1 : 1;
	if (x->txn.i != y->txn.i)
		return x->txn.i < y->txn.i ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static bool has_deletes(const struct kr_grow *g, kr_key k)
{
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1]; i++)
		if (kr_grow_is_delete(g, &g->writes[i]) && !kr_grow_aborted(g, g->writes[i].txn))
			return true;
	return false;
}

/* Whether `a` shows an element, added once, that `b` does not. */
static bool shows_more(struct kr_grow *g, kr_key k, struct kr_grow_list a, struct kr_grow_list b)
{
	g->marks++;
	for (uint32_t i = 0; i < b.count; i++)
		kr_grow_find(g, k, g->numbers.at[b.first + i])->mark = g->marks;
	for (uint32_t i = 0; i < a.count; i++) {
		const struct kr_grow_element *e = kr_grow_find(g, k, g->numbers.at[a.first + i]);

		if (e->mark != g->marks && !e->twice && !e->initial)
			return true;
	}
	return false;
}

enum kr_status kr_bags_check(struct kr_grow *g)
{
	struct kr_work *w = g->w;
	bool grows_only = false;

	if (g->shown.n > 1)
		qsort(g->shown.at, g->shown.n, sizeof *g->shown.at, by_size);
	for (uint32_t i = 0; i < g->shown.n; i++) {
		const struct kr_grow_read *read = &g->shown.at[i], *before = read - 1;

		KR_TRY(kr_ctx_tick(w->ctx));
		if (i == 0 || before->key.i != read->key.i) {
			grows_only = !has_deletes(g, read->key);
			continue;
		}
		if (!grows_only || !shows_more(g, read->key, before->list, read->list) || !shows_more(g, read->key, read->list, before->list))
			continue;
		if (before->txn.i > read->txn.i) { /* the later one is to blame */
			const struct kr_grow_read *swap = read;

			read = before;
			before = swap;
		}
		if (!kr_vec_push(w->asg->mem, &w->found, (struct kr_found){read->txn, read->op, read->key, KR_INCOMPATIBLE_ORDER, before->txn}))
			return KR_NOMEM;
	}
	return KR_OK;
}
