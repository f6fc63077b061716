/* A given list orders every two of its members; lists of one key that share members order more, by
 * transitivity. The reader has made sure that they do not contradict each other, so that two members of one
 * list need no search; lists that were read, which join them where nothing else that was seen counts, may
 * contradict them and each other. Otherwise the search goes from a through the rest of each list that names
 * it, and from what it meets there on; per list it remembers from where on everything was met, so that each
 * place is met once. */
#include "verify/given.h"

#include "base/order.h"

static int compare_places(const void *pa, const void *pb)
{
	const struct kr_given_place *a = pa, *b = pb;

	return kr_then(KR_ORDER(a->key, b->key),
		kr_then(KR_ORDER(a->txn, b->txn), KR_ORDER(a->list, b->list)));
}

/* List number `list`, as its key, its length and the place of its writers. */
struct list {
	uint32_t key, count;
	const kr_txn *writers;
};

static struct list list_at(const struct kr_given *g, uint32_t list)
{
	uint32_t told = g->h->version_orders.n;

	if (list >= told)
		return (struct list){g->shown.at[list - told].key.i, 2, &g->shown.at[list - told].before};

	const struct kr_version_order *order = &g->h->version_orders.at[list];

	return (struct list){order->key.i, order->writer_count,
		order->writer_count ? &g->h->order_writers.at[order->writer_first] : NULL};
}

static uint32_t group_of(const struct kr_given_place *p, bool by_key) { return by_key ? p->key : p->txn; }

/* The places by key or by transaction, of which there are so many; those of one as they were. */
static bool group(const struct kr_given *g, const struct kr_given_place *from, struct kr_given_place *to,
	bool by_key, uint32_t groups)
{
	uint32_t *first = kr_mem_alloc(g->mem, (size_t)groups + 2, sizeof *first);

	for (uint32_t i = 0; i < g->count && first; i++)
		first[group_of(&from[i], by_key) + 2]++;
	if (first)
		kr_index_places(first, groups);
	for (uint32_t i = 0; i < g->count && first; i++)
		to[first[group_of(&from[i], by_key) + 1]++] = from[i];
	kr_mem_free(g->mem, first, (size_t)groups + 2, sizeof *first);
	return first != NULL;
}

/* By key, transaction, list: they come in the order of lists. */
static bool sort_places(const struct kr_given *g)
{
	struct kr_given_place *other = kr_mem_alloc(g->mem, g->room, sizeof *other);
	bool sorted = other && group(g, g->places, other, false, g->h->txns.n) &&
		group(g, other, g->places, true, g->h->keys.n);

	kr_mem_free(g->mem, other, g->room, sizeof *other);
	return sorted;
}

static uint32_t list_count(const struct kr_given *g) { return g->h->version_orders.n + g->shown.n; }

enum kr_status kr_given_init(struct kr_given *g, struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_shown_pairs shown)
{
	*g = (struct kr_given){.mem = &ctx->mem,
		.h = h,
		.shown = shown,
		.room = h->order_writers.n + 2 * shown.n};
	g->places = kr_mem_alloc(g->mem, g->room, sizeof *g->places);
	g->reached = kr_mem_alloc(g->mem, list_count(g), sizeof *g->reached);
	if (!g->places || !g->reached) {
		kr_given_done(g);
		return KR_NOMEM;
	}
	for (uint32_t l = 0; l < list_count(g); l++) {
		struct list list = list_at(g, l);

		g->reached[l] = KR_NONE;
		for (uint32_t at = 0; at < list.count && g->count < g->room; at++)
			g->places[g->count++] = (struct kr_given_place){list.key, list.writers[at].i, l, at};
	}
	if (!sort_places(g)) {
		kr_given_done(g);
		return KR_NOMEM;
	}
	return KR_OK;
}

void kr_given_done(struct kr_given *g)
{
	kr_mem_free(g->mem, g->places, g->room, sizeof *g->places);
	kr_mem_free(g->mem, g->reached, list_count(g), sizeof *g->reached);
	kr_vec_done(g->mem, &g->todo);
	kr_vec_done(g->mem, &g->touched);
	kr_vec_done(g->mem, &g->shown);
	*g = (struct kr_given){.mem = g->mem, .h = g->h};
}

/* First of the places of (k, t); they end where another pair begins. */
static uint32_t first_place(const struct kr_given *g, uint32_t key, uint32_t txn)
{
	struct kr_given_place wanted = {key, txn, 0, 0};
	uint32_t at;

	KR_BISECT(at, 0, g->count, compare_places(&g->places[at], &wanted) < 0);
	return at;
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
		if (g->places[i].list == g->places[j].list &&
			(g->shown.n == 0 || g->places[i].at < g->places[j].at)) {
			*before = g->places[i].at < g->places[j].at;
			return true;
		}
		if (g->places[i].list <= g->places[j].list)
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
		struct list list = list_at(g, g->places[i].list);
		uint32_t *reached = &g->reached[g->places[i].list];

		if (*reached == KR_NONE) {
			*reached = list.count;
			KR_TRY(kr_vec_add(g->mem, &g->touched, g->places[i].list));
		}
		for (uint32_t at = g->places[i].at + 1; at < *reached; at++) {
			uint32_t next = list.writers[at].i;
			*met |= next == wanted;
			KR_TRY(kr_vec_add(g->mem, &g->todo, next));
		}
		if (g->places[i].at < *reached)
			*reached = g->places[i].at;
	}
	return KR_OK;
}

enum kr_status kr_given_precedes(struct kr_given *g, kr_key k, kr_txn a, kr_txn b, bool *out)
{
	bool met = false;

	if (share_list(g, k, a, b, &met)) {
		*out = met;
		return KR_OK;
	}
	kr_vec_clear(&g->todo);
	kr_vec_clear(&g->touched);
	enum kr_status status = follow(g, k, a.i, b.i, &met);
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
