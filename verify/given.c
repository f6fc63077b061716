/* A given list orders every two of its members; lists of one key that share members order more, by transitivity. The reader has made sure that they do not
 * contradict each other, so that two members of one list need no search. Otherwise the search goes from a through the rest of each list that
 * names it, and from what it meets there on; per list it remembers from where on everything was met, so that each place is met once. */
#include "verify/given.h"

#include <stdlib.h>

static int compare_places(const void *pa, const void *pb)
{
	const struct kr_given_place *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->txn != b->txn)
		return a->txn < b->txn ? -1 : 1;
	return a->list < b->list ? -1 : a->list > b->list;
}

enum kr_status kr_given_init(struct kr_given *g, struct kr_ctx *ctx, const struct kr_history *h)
{
	*g = (struct kr_given){.mem = &ctx->mem, .h = h, .count = h->order_writers.n};
	g->places = kr_mem_alloc(g->mem, g->count, sizeof *g->places);
	g->reached = kr_mem_alloc(g->mem, h->version_orders.n, sizeof *g->reached);
	if (!g->places || !g->reached) {
		kr_given_done(g);
		return KR_NOMEM;
	}

	uint32_t n = 0;

	for (uint32_t list = 0; list < h->version_orders.n; list++) {
		const struct kr_version_order *order = &h->version_orders.at[list];
		g->reached[list] = KR_NONE;
		for (uint32_t at = 0; at < order->writer_count && n < g->count; at++)
			g->places[n++] = (struct kr_given_place){order->key.i, h->order_writers.at[order->writer_first + at].i, list, at};
	}
	if (n > 1)
		qsort(g->places, n, sizeof *g->places, compare_places);
	g->count = n;
	return KR_OK;
}

void kr_given_done(struct kr_given *g)
{
	kr_mem_free(g->mem, g->places, g->h->order_writers.n, sizeof *g->places);
	kr_mem_free(g->mem, g->reached, g->h->version_orders.n, sizeof *g->reached);
	kr_vec_done(g->mem, &g->todo);
	kr_vec_done(g->mem, &g->touched);
	*g = (struct kr_given){.mem = g->mem, .h = g->h};
}

/* First of the places of (k, t); they end where another pair begins. */
static uint32_t first_place(const struct kr_given *g, uint32_t key, uint32_t txn)
{
	struct kr_given_place wanted = {key, txn, 0, 0};
	uint32_t low = 0, high = g->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_places(&g->places[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t kr_given_number(const struct kr_given *g, kr_key k, kr_txn t) { return first_place(g, k.i, t.i); }

static bool is_place_of(const struct kr_given *g, uint32_t i, uint32_t key, uint32_t txn)
{
	return i < g->count && g->places[i].key == key && g->places[i].txn == txn;
}

/* Whether a list names both; *before tells their order there. */
static bool share_list(const struct kr_given *g, kr_key k, kr_txn a, kr_txn b, bool *before)
{
	uint32_t i = first_place(g, k.i, a.i), j = first_place(g, k.i, b.i);

	while (is_place_of(g, i, k.i, a.i) && is_place_of(g, j, k.i, b.i)) {
		if (g->places[i].list == g->places[j].list) {
			*before = g->places[i].at < g->places[j].at;
			return true;
		}
		if (g->places[i].list < g->places[j].list)
			i++;
		else
			j++;
	}
	return false;
}

/* Follows every list that names `txn` from there on, up to what was met before. */
static enum kr_status follow(struct kr_given *g, kr_key k, uint32_t txn, uint32_t wanted, bool *met)
{
	for (uint32_t i = first_place(g, k.i, txn); is_place_of(g, i, k.i, txn); i++) {
		const struct kr_version_order *order = &g->h->version_orders.at[g->places[i].list];
		uint32_t *reached = &g->reached[g->places[i].list];

		if (*reached == KR_NONE) {
			*reached = order->writer_count;
			if (!kr_vec_push(g->mem, &g->touched, g->places[i].list))
				return KR_NOMEM;
		}
		for (uint32_t at = g->places[i].at + 1; at < *reached; at++) {
			uint32_t next = g->h->order_writers.at[order->writer_first + at].i;
			*met |= next == wanted;
			if (!kr_vec_push(g->mem, &g->todo, next))
				return KR_NOMEM;
		}
		if (g->places[i].at < *reached)
			*reached = g->places[i].at;
	}
	return KR_OK;
}

enum kr_status kr_given_precedes(struct kr_given *g, kr_key k, kr_txn a, kr_txn b, bool *out)
{
	bool met = false;
	enum kr_status status;

	if (share_list(g, k, a, b, &met)) {
		*out = met;
		return KR_OK;
	}
	kr_vec_clear(&g->todo);
	kr_vec_clear(&g->touched);
	status = follow(g, k, a.i, b.i, &met);
	while (status == KR_OK && !met && g->todo.n > 0) {
		uint32_t txn = kr_vec_pop(&g->todo);
		status = follow(g, k, txn, b.i, &met);
	}
	for (uint32_t i = 0; i < g->touched.n; i++)
		g->reached[g->touched.at[i]] = KR_NONE;
	if (status == KR_OK)
		*out = met;
	return status;
}
