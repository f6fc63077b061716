/* What reads of a set that only grows tell of each other: the order in which its elements came.
 *
 * Without deletes, of two versions one holds all of the other. If one read shows a but not b, and another one
 * b but not a, and each was added once, then a's version comes before b's and after it: an incompatible
 * order. Reads by committed transactions that had not added to the set themselves are sorted by size and
 * compared with their neighbours: if all elements were added once and each read holds the one before it, all
 * do. An element that was there at the beginning or was added twice says nothing.
 *
 * Where all is in order, and each element was added once, or was there at the beginning, as the trace tells,
 * the elements that a read is the first to show have one rank; those that none shows have the last. All
 * versions of one rank come before all of the next: a read shows what was added before what it does not show.
 * So a read need observe no more than the elements shown that have the highest rank, and those not shown that
 * have the lowest: for the others the order of ranks says the same, at all levels where ww counts. Linear in
 * the reads' text, but for sorting them, and per read in the elements of these two ranks; orders between
 * neighbouring ranks are products. */
#include "frontend/analyze_grow.h"

/* ---- ranks ---- */

/* Each element was added once, or was there at the beginning, as the trace tells. */
static bool is_simple(const struct kr_growing *g, kr_key k)
{
	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++)
		if (g->elements.at[i].twice)
			return false;
	return !kr_history_untold(g->w->h);
}

/* Gives the elements that the read is the first to show the next rank; *chained is false if it does not show
 * all that have one. */
static enum kr_status rank_read(struct kr_growing *g, const struct kr_grow_read *read, uint32_t *ranks,
	uint32_t *have, bool *chained)
{
	uint32_t again = 0, fresh = 0;

	for (uint32_t i = 0; i < read->list.n; i++) {
		struct kr_grow_element *e = kr_grow_find(g, read->key, read->list.at[i]);

		again += e->rank != KR_NONE && e->rank != *ranks;
		fresh += e->rank == KR_NONE;
		e->rank = e->rank == KR_NONE ? *ranks : e->rank;
	}
	*chained = again == *have;
	*have += fresh;
	*ranks += fresh > 0;
	return kr_ctx_spend(g->w->ctx, read->list.n);
}

/* By rank, then by number. */
static enum kr_status sort_elements(struct kr_growing *g, kr_key k, uint32_t ranks)
{
	uint32_t first = g->element_first[k.i], end = g->element_first[k.i + 1];
	uint32_t *at = kr_mem_alloc(g->w->mem, (size_t)ranks + 1, sizeof *at);

	if (!at)
		return KR_NOMEM;
	for (uint32_t i = first; i < end; i++)
		at[g->elements.at[i].rank + 1]++;
	at[0] = first;
	for (uint32_t r = 0; r < ranks; r++)
		at[r + 1] += at[r];
	for (uint32_t i = first; i < end; i++)
		g->ranks.by_rank[at[g->elements.at[i].rank]++] = i;
	kr_mem_free(g->w->mem, at, (size_t)ranks + 1, sizeof *at);
	return KR_OK;
}

static uint32_t rank_at(const struct kr_growing *g, uint32_t i)
{
	return g->elements.at[g->ranks.by_rank[i]].rank;
}

static uint32_t end_of_rank(const struct kr_growing *g, kr_key k, uint32_t i)
{
	uint32_t rank = rank_at(g, i);

	while (i < g->element_first[k.i + 1] && rank_at(g, i) == rank)
		i++;
	return i;
}

/* How many pairs there are of elements of neighbouring ranks that somebody added. */
static uint64_t count_pairs(const struct kr_growing *g, kr_key k)
{
	uint64_t pairs = 0, before = 0;

	for (uint32_t i = g->element_first[k.i], end; i < g->element_first[k.i + 1]; i = end) {
		end = end_of_rank(g, k, i);
		if (rank_at(g, i) == 0)
			continue;
		pairs += before * (end - i);
		before = end - i;
	}
	return pairs;
}

static enum kr_status find_ranks(struct kr_growing *g, kr_key k, uint32_t from, uint32_t end)
{
	uint32_t ranks = 1, have = g->initials[k.i];

	if (!is_simple(g, k))
		return KR_OK;
	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++)
		g->elements.at[i].rank = g->elements.at[i].initial ? 0 : KR_NONE;
	g->ranks.chained[k.i] = true;
	for (uint32_t i = from; i < end && g->ranks.chained[k.i]; i++)
		KR_TRY(rank_read(g, &g->seen.shown.at[i], &ranks, &have, &g->ranks.chained[k.i]));
	if (!g->ranks.chained[k.i])
		return KR_OK;
	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++)
		if (g->elements.at[i].rank == KR_NONE)
			g->elements.at[i].rank = ranks;
	KR_TRY(sort_elements(g, k, ranks + 1));
	g->ranks.ranked[k.i] = g->coarse && count_pairs(g, k) <= KR_GROW_PAIRS_MOST;
	return KR_OK;
}

/* ---- reads of one set ---- */

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
	return kr_vec_add(g->w->mem, &out->found,
		(struct kr_anomaly){KR_INCOMPATIBLE_ORDER, read->txn, read->op, read->key, before->txn});
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
		KR_TRY(find_ranks(g, k, i, end));
		for (uint32_t r = i + 1; r < end && !g->ranks.chained[k.i]; r++)
			KR_TRY(compare(g, out, &at[r - 1], &at[r]));
	}
	return KR_OK;
}

/* ---- a read ---- */

/* Whether the read tells of the element. */
static bool tells(const struct kr_grow_element *e, const struct kr_items *own)
{
	return e->part.i != KR_NONE && !kr_items_have(own, e->item);
}

static enum kr_status see_rank(struct kr_replay *r, kr_key k, uint32_t rank, bool there,
	const struct kr_items *own)
{
	struct kr_growing *g = r->growing;
	uint32_t at;

	KR_BISECT(at, g->element_first[k.i], g->element_first[k.i + 1], rank_at(g, at) < rank);
	for (; at < g->element_first[k.i + 1] && rank_at(g, at) == rank; at++) {
		const struct kr_grow_element *e = &g->elements.at[g->ranks.by_rank[at]];

		if ((e->mark == g->seen.marks) == there && tells(e, own))
			KR_TRY(kr_analyze_see(r, e->part, kr_test_is(kr_token_there(there)), false));
	}
	return KR_OK;
}

enum kr_status kr_ranks_see(struct kr_replay *r, kr_key k, struct kr_items list, const struct kr_items *own)
{
	struct kr_growing *g = r->growing;
	uint32_t shown = 0, i = g->element_first[k.i], end = g->element_first[k.i + 1];

	for (uint32_t n = 0; n < list.n; n++) {
		const struct kr_grow_element *e = kr_grow_find(g, k, list.at[n]);

		if (e->rank > shown && tells(e, own))
			shown = e->rank;
	}
	while (i < end &&
		(g->elements.at[g->ranks.by_rank[i]].mark == g->seen.marks ||
			!tells(&g->elements.at[g->ranks.by_rank[i]], own)))
		i++;
	KR_TRY(kr_ctx_spend(r->w->ctx, list.n));
	if (shown > 0) /* initial elements have always been there */
		KR_TRY(see_rank(r, k, shown, true, own));
	return i == end ? KR_OK : see_rank(r, k, rank_at(g, i), false, own);
}

/* ---- orders ---- */

KR_VEC_NAMED(versions, kr_version);

struct ordering {
	const struct kr_growing *g;
	const struct kr_asg *asg;
	struct kr_analyze_pairs *out;
	struct versions before, now; /* of the rank before, and of the one at hand */
	/* set of versions that have been in some rank: half of one is in no order, but torn */
	uint64_t *known;
};

static enum kr_status push_new(struct ordering *o, const struct kr_grow_element *e)
{
	kr_version v = e->write == KR_NONE ? (kr_version){KR_NONE}
					   : kr_asg_version_of(o->asg, o->g->writes[e->write].txn, e->key);

	if (v.i == KR_NONE || kr_bits_get(o->known, v.i))
		return KR_OK;
	kr_bits_set(o->known, v.i);
	return kr_vec_add(o->g->w->mem, &o->now, v);
}

/* All versions of `before` come before all of `now`, which take their place. */
static enum kr_status link(struct ordering *o, uint64_t *pairs)
{
	struct versions swap = o->before;

	*pairs += (uint64_t)o->before.n * o->now.n;
	for (uint32_t i = 0; i < o->before.n && *pairs <= KR_GROW_PAIRS_MOST; i++)
		for (uint32_t j = 0; j < o->now.n; j++) {
			KR_TRY(kr_ctx_tick(o->g->w->ctx));
			KR_TRY(kr_vec_add(o->g->w->mem, o->out,
				(struct kr_asg_order){o->before.at[i], o->now.at[j], {KR_NONE}}));
		}
	if (o->now.n == 0)
		return KR_OK;
	o->before = o->now;
	o->now = swap;
	kr_vec_clear(&o->now);
	return KR_OK;
}

static enum kr_status order_key(struct ordering *o, kr_key k)
{
	const struct kr_growing *g = o->g;
	uint64_t pairs = 0;

	kr_vec_clear(&o->before);
	kr_vec_clear(&o->now);
	for (uint32_t i = g->element_first[k.i], end; i < g->element_first[k.i + 1]; i = end) {
		end = end_of_rank(g, k, i);
		for (uint32_t e = i; e < end; e++)
			KR_TRY(push_new(o, &g->elements.at[g->ranks.by_rank[e]]));
		KR_TRY(link(o, &pairs));
	}
	return KR_OK;
}

enum kr_status kr_ranks_orders(const struct kr_growing *g, bool any_anomaly, const struct kr_asg *asg,
	struct kr_analyze_pairs *orders)
{
	struct kr_mem *mem = g->w->mem;
	size_t words = KR_BITS_WORDS(asg->nversions);
	struct ordering o = {.g = g,
		.asg = asg,
		.out = orders,
		.known = kr_mem_alloc(mem, words, sizeof *o.known)};
	enum kr_status status = o.known ? KR_OK : KR_NOMEM;

	for (kr_key k = {0}; k.i < g->w->h->keys.n && !status; k.i++)
		if (g->ranks.chained[k.i] && (g->ranks.ranked[k.i] || !any_anomaly))
			status = order_key(&o, k);
	kr_mem_free(mem, o.known, words, sizeof *o.known);
	kr_vec_done(mem, &o.before);
	kr_vec_done(mem, &o.now);
	return status;
}
