/* What lists that were read say of each other, and of the order of versions.
 *
 * Without deletes all lists read of a key by committed transactions must be beginnings of the longest one.
 * Known orders: along the longest one that a committed transaction read, and from its last version to all
 * that it does not show and that are there; the same for longer ones that unknown transactions read, if these
 * took effect. Since a version holds exactly what was appended before it, a total order of the versions gives
 * every read its value iff it keeps these orders. Where the list is deleted, neighbours in a list are in that
 * order, and no more is known at once: what else a read says is observed of the parts (analyze_lists.c). Such
 * orders of committed reads that go round in a circle are an incompatible order. Linear in the lists, but for
 * those where there is a circle. */
#include "frontend/analyze_grow.h"

/* ---- reads of one key ---- */

/* Per key the longest list that a committed transaction read, as a place in g->reads, or KR_NONE. */
static uint32_t *find_longest(const struct kr_growing *g)
{
	uint32_t nkeys = g->w->h->keys.n;
	uint32_t *longest = KR_NEW_ARRAY(g->w->scratch, uint32_t, nkeys);

	for (uint32_t k = 0; longest && k < nkeys; k++)
		longest[k] = KR_NONE;
	for (uint32_t i = 0; longest && i < g->seen.reads.n; i++) {
		uint32_t *best = &longest[g->seen.reads.at[i].key.i];

		if (g->seen.reads.at[i].committed &&
			(*best == KR_NONE || g->seen.reads.at[i].list.n > g->seen.reads.at[*best].list.n))
			*best = i;
	}
	return longest;
}

/* Of two lists of a key that nobody deletes, one is the beginning of the other. */
static enum kr_status check_beginnings(const struct kr_growing *g, struct kr_observed *out)
{
	const struct kr_work *w = g->w;
	uint32_t *longest = find_longest(g);

	if (!longest)
		return KR_NOMEM;
	for (uint32_t i = 0; i < g->seen.reads.n; i++) {
		const struct kr_grow_read *read = &g->seen.reads.at[i];
		struct kr_items list = read->list, best;
		uint32_t place = longest[read->key.i];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (place == KR_NONE || g->deleted[read->key.i])
			continue;
		best = g->seen.reads.at[place].list;
		if (kr_lists_same_beginning(list, best, list.n < best.n ? list.n : best.n))
			continue;
		if (read->committed) {
			KR_TRY(kr_vec_add(w->mem, &out->found,
				(struct kr_anomaly){KR_INCOMPATIBLE_ORDER, read->txn, read->op, read->key,
					g->seen.reads.at[place].txn}));
		} else {
			out->presence[read->txn.i] = KR_ABSENT_TXN;
			out->any_lost = true;
		}
	}
	return KR_OK;
}

/* ---- circles ---- */

struct pair {
	uint32_t from, to;
};

/* Neighbours in the lists of the first `end` reads, by the writes of their first elements; for committed
 * reads of keys that are deleted. */
struct circles {
	struct kr_growing *g;
	KR_VEC(struct pair) pairs;
	uint32_t *read_of; /* per read, and one more: its first pair */
	/* per write: pairs to it that are left; pairs from it; per pair: the next of these */
	uint32_t *before, *head, *next;
	KR_VEC(uint32_t) free;
};

static bool is_ordered(const struct kr_growing *g, const struct kr_grow_read *read)
{
	return read->committed && !read->refuted && g->deleted[read->key.i];
}

/* The write that begins the run shown at place i, or KR_NONE: the place is within one, or initial. */
static uint32_t run_at(const struct kr_growing *g, const struct kr_grow_read *read, uint32_t i)
{
	uint32_t write = kr_grow_find(g, read->key, read->list.at[i])->write, before;

	if (write == KR_NONE || i == 0)
		return write;
	before = kr_grow_find(g, read->key, read->list.at[i - 1])->write;
	return before != KR_NONE && g->writes[before].txn.i == g->writes[write].txn.i ? KR_NONE : write;
}

static enum kr_status collect_pairs(struct circles *c)
{
	struct kr_growing *g = c->g;

	for (uint32_t r = 0; r < g->seen.reads.n; r++) {
		uint32_t last = KR_NONE;

		c->read_of[r] = c->pairs.n;
		for (uint32_t i = 0; is_ordered(g, &g->seen.reads.at[r]) && i < g->seen.reads.at[r].list.n;
			i++) {
			uint32_t write = run_at(g, &g->seen.reads.at[r], i);

			KR_TRY(kr_ctx_tick(g->w->ctx));
			if (write != KR_NONE && last != KR_NONE &&
				!kr_vec_push(g->w->mem, &c->pairs, (struct pair){last, write}))
				return KR_NOMEM;
			last = write != KR_NONE ? write : last;
		}
	}
	c->read_of[g->seen.reads.n] = c->pairs.n;
	return KR_OK;
}

/* Takes away whatever nothing comes before; what is left goes round. */
static enum kr_status has_circle(struct circles *c, uint32_t end, bool *out)
{
	uint32_t n = c->read_of[end], left = n;

	for (uint32_t i = 0; i < n; i++) {
		c->before[c->pairs.at[i].from] = c->before[c->pairs.at[i].to] = 0;
		c->head[c->pairs.at[i].from] = c->head[c->pairs.at[i].to] = KR_NONE;
	}
	for (uint32_t i = 0; i < n; i++) {
		c->before[c->pairs.at[i].to]++;
		c->next[i] = c->head[c->pairs.at[i].from];
		c->head[c->pairs.at[i].from] = i;
	}
	kr_vec_clear(&c->free);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = c->pairs.at[i].from;

		/* once each */
		if (c->before[from] == 0 && c->head[from] == i && !kr_vec_push(c->g->w->mem, &c->free, from))
			return KR_NOMEM;
	}
	while (c->free.n > 0) {
		for (uint32_t i = c->head[kr_vec_pop(&c->free)]; i != KR_NONE; i = c->next[i], left--)
			if (--c->before[c->pairs.at[i].to] == 0 &&
				!kr_vec_push(c->g->w->mem, &c->free, c->pairs.at[i].to))
				return KR_NOMEM;
		KR_TRY(kr_ctx_tick(c->g->w->ctx));
	}
	*out = left > 0;
	return KR_OK;
}

/* The first read that closes a circle with those before it is the one to blame; it is found by halving, and
 * left out from then on. */
static enum kr_status blame(struct circles *c, struct kr_observed *out, bool *circle)
{
	struct kr_growing *g = c->g;
	uint32_t low = 0, high = g->seen.reads.n;

	c->pairs.n = 0;
	KR_TRY(collect_pairs(c));
	KR_TRY(kr_arena_new(g->w->scratch, c->next, c->pairs.n));
	KR_TRY(has_circle(c, high, circle));
	while (*circle && high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		bool closed;

		KR_TRY(has_circle(c, middle, &closed));
		*(closed ? &high : &low) = middle;
	}
	if (!*circle)
		return KR_OK;

	struct kr_grow_read *read = &g->seen.reads.at[high - 1];
	uint32_t other = c->pairs.at[c->read_of[high - 1]].from;

	read->refuted = true;
	return kr_vec_add(g->w->mem, &out->found,
		(struct kr_anomaly){KR_INCOMPATIBLE_ORDER, read->txn, read->op, read->key,
			g->writes[other].txn});
}

static enum kr_status check_circles(struct kr_growing *g, struct kr_observed *out)
{
	uint32_t nwrites = g->write_first[g->w->h->keys.n];
	struct circles c = {.g = g};
	enum kr_status status = KR_OK;
	bool circle = true, any = false;

	for (uint32_t i = 0; i < g->seen.reads.n && !any; i++)
		any = is_ordered(g, &g->seen.reads.at[i]);
	if (!any)
		return KR_OK;
	KR_TRY(kr_arena_new(g->w->scratch, c.read_of, (size_t)g->seen.reads.n + 1));
	KR_TRY(kr_arena_new(g->w->scratch, c.before, nwrites));
	KR_TRY(kr_arena_new(g->w->scratch, c.head, nwrites));
	while (circle && !status)
		status = blame(&c, out, &circle);
	kr_vec_done(g->w->mem, &c.pairs);
	kr_vec_done(g->w->mem, &c.free);
	return status;
}

enum kr_status kr_lists_check(struct kr_growing *g, struct kr_observed *out)
{
	KR_TRY(check_beginnings(g, out));
	return check_circles(g, out);
}

/* ---- orders ---- */

struct ordering {
	const struct kr_growing *g;
	const struct kr_asg *asg;
	struct kr_analyze_pairs *out;
	kr_key key;
	uint64_t *shown; /* versions that the list at hand shows, by place in their key */
};

static enum kr_status push(struct ordering *o, kr_version before, kr_version after, kr_txn guard)
{
	return kr_vec_add(o->g->w->mem, o->out, (struct kr_asg_order){before, after, guard});
}

/* The version of the transaction that appended the element at place i, or KR_NONE (initial, or gone). */
static kr_version version_at(const struct ordering *o, struct kr_items list, uint32_t i)
{
	const struct kr_grow_element *e = kr_grow_find(o->g, o->key, list.at[i]);

	return e->write == KR_NONE ? (kr_version){KR_NONE}
				   : kr_asg_version_of(o->asg, o->g->writes[e->write].txn, o->key);
}

/* Neighbours in a list that is deleted; `known` (NULL: none are), per version of the key: what was the one
 * before it last time. */
static enum kr_status order_neighbours(struct ordering *o, struct kr_items list, uint32_t *known,
	kr_txn guard)
{
	kr_version last = {KR_NONE};

	for (uint32_t i = 0; i < list.n; i++) {
		kr_version v = version_at(o, list, i);

		KR_TRY(kr_ctx_tick(o->g->w->ctx));
		if (v.i == KR_NONE || v.i == last.i)
			continue;
		if (last.i != KR_NONE && (!known || known[v.i] != last.i)) {
			KR_TRY(push(o, last, v, guard));
			if (known)
				known[v.i] = last.i;
		}
		last = v;
	}
	return KR_OK;
}

/* Whether a version that the list does not show is there: if not, nothing that the trace tells of it leads on
 * through it. Under another guard that is left to who walks along orders. */
static kr_txn guard_of_unshown(const struct ordering *o, kr_version v, kr_txn guard)
{
	kr_txn writer = o->asg->versions[v.i].writer;

	return guard.i == KR_NONE && o->asg->txns[writer.i].presence != KR_PRESENT ? writer : guard;
}

/* Pairs along the list from its element `from` on, then from its last version to all that it does not
 * show. */
static enum kr_status order_list(struct ordering *o, struct kr_items list, uint32_t from, kr_txn guard)
{
	const struct kr_asg *asg = o->asg;
	uint32_t first = asg->keys[o->key.i].first, end = asg->keys[o->key.i + 1].first;
	kr_version last = {KR_NONE};

	for (uint32_t i = 0; i < list.n; i++) {
		kr_version v = version_at(o, list, i);

		if (v.i == KR_NONE || v.i == last.i)
			continue;
		kr_bits_set(o->shown, v.i - first);
		if (last.i != KR_NONE && i >= from)
			KR_TRY(push(o, last, v, guard));
		last = v;
	}
	for (uint32_t v = first + 1; v < end && last.i != KR_NONE; v++)
		if (!kr_bits_get(o->shown, v - first))
			KR_TRY(push(o, last, (kr_version){v}, guard_of_unshown(o, (kr_version){v}, guard)));
	for (uint32_t v = first; v < end; v++)
		kr_bits_clear(o->shown, v - first);
	return kr_ctx_spend(o->g->w->ctx, list.n + end - first);
}

static uint32_t most_versions(const struct kr_asg *asg)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < asg->nkeys; k++)
		if (asg->keys[k + 1].first - asg->keys[k].first > most)
			most = asg->keys[k + 1].first - asg->keys[k].first;
	return most;
}

static enum kr_status order_read(struct ordering *o, uint32_t i, uint32_t best, uint32_t *known)
{
	const struct kr_growing *g = o->g;
	const struct kr_grow_read *read = &g->seen.reads.at[i];
	uint32_t shown = best == KR_NONE ? 0 : g->seen.reads.at[best].list.n;
	bool guarded = !read->committed && o->asg->txns[read->txn.i].presence != KR_ABSENT_TXN;

	o->key = read->key;
	if (g->deleted[read->key.i] && read->committed && !read->refuted)
		return order_neighbours(o, read->list, known, KR_NOBODY);
	if (g->deleted[read->key.i])
		return guarded ? order_neighbours(o, read->list, NULL, read->txn) : KR_OK;
	if (i == best)
		return order_list(o, read->list, 0, KR_NOBODY);
	return guarded && read->list.n > shown ? order_list(o, read->list, shown, read->txn) : KR_OK;
}

enum kr_status kr_lists_orders(const struct kr_growing *g, const struct kr_asg *asg,
	struct kr_analyze_pairs *orders)
{
	struct ordering o = {.g = g,
		.asg = asg,
		.out = orders,
		.shown = KR_NEW_ARRAY(g->w->scratch, uint64_t, KR_BITS_WORDS(most_versions(asg)))};
	uint32_t *longest = find_longest(g), *known = KR_NEW_ARRAY(g->w->scratch, uint32_t, asg->nversions);

	if (!longest || !o.shown || !known)
		return KR_NOMEM;
	for (uint32_t v = 0; v < asg->nversions; v++)
		known[v] = KR_NONE;
	for (uint32_t i = 0; i < g->seen.reads.n; i++) {
		KR_TRY(kr_ctx_tick(g->w->ctx));
		KR_TRY(order_read(&o, i, longest[g->seen.reads.at[i].key.i], known));
	}
	return KR_OK;
}
