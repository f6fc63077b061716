/* Reads of one set that no order of its versions explains together, and the order that they tell.
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
	if (x->list.n != y->list.n)
		return x->list.n < y->list.n ? -1 : 1;
	if (x->txn.i != y->txn.i)
		return x->txn.i < y->txn.i ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

bool kr_bags_deleted(const struct kr_grow *g, kr_key k)
{
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1]; i++)
		if (g->writes[i].deletes && !kr_grow_aborted(g, g->writes[i].txn))
			return true;
	return false;
}

/* Whether `a` shows an element, added once, that `b` does not. */
static bool shows_more(struct kr_grow *g, kr_key k, struct kr_items a, struct kr_items b)
{
	g->marks++;
	for (uint32_t i = 0; i < b.n; i++)
		kr_grow_find(g, k, b.at[i].i)->mark = g->marks;
	for (uint32_t i = 0; i < a.n; i++) {
		const struct kr_grow_element *e = kr_grow_find(g, k, a.at[i].i);

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
			grows_only = !kr_bags_deleted(g, read->key);
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

/* ---- orders ---- */

#define PAIRS_MOST (UINT32_C(1) << 22) /* per key; beyond it levels without rw must do without */

struct ordering {
	struct kr_grow *g;
	struct kr_analyze_pairs *out;
	kr_key key;
	KR_VEC(kr_version) before, now; /* versions first shown by the read before the one at hand, and by that one */
	uint64_t *shown;                /* set of versions that some read has shown, at least in part: half of one is in no order, but torn */
	uint64_t pairs;
};

static enum kr_status push_new(struct ordering *o, const struct kr_grow_element *e)
{
	kr_version v = e->write == KR_NONE ? (kr_version){KR_NONE} : kr_asg_version_of(o->g->w->asg, o->g->writes[e->write].txn, o->key);

	if (v.i == KR_NONE || kr_bits_get(o->shown, v.i))
		return KR_OK;
	kr_bits_set(o->shown, v.i);
	return kr_vec_push(o->g->w->asg->mem, &o->now, v) ? KR_OK : KR_NOMEM;
}

/* All versions of `before` come before all of `now`, which take their place. */
static enum kr_status link(struct ordering *o)
{
	uint32_t swap_cap = o->before.cap;
	kr_version *swap = o->before.at;

	o->pairs += (uint64_t)o->before.n * o->now.n;
	for (uint32_t i = 0; i < o->before.n && o->pairs <= PAIRS_MOST; i++)
		for (uint32_t j = 0; j < o->now.n; j++) {
			KR_TRY(kr_ctx_tick(o->g->w->ctx));
			if (o->before.at[i].i != o->now.at[j].i &&
				!kr_vec_push(o->g->w->asg->mem, o->out, (struct kr_asg_order){o->before.at[i], o->now.at[j], {KR_NONE}}))
				return KR_NOMEM;
		}
	if (o->now.n == 0)
		return KR_OK;
	o->before.at = o->now.at;
	o->before.n = o->now.n;
	o->before.cap = o->now.cap;
	o->now.at = swap;
	o->now.n = 0;
	o->now.cap = swap_cap;
	return KR_OK;
}

/* Elements of the key get a mark from `first` on when a read shows them. */
static enum kr_status order_key(struct ordering *o, uint32_t from, uint32_t end)
{
	struct kr_grow *g = o->g;
	uint32_t first = ++g->marks;

	kr_vec_clear(&o->before);
	kr_vec_clear(&o->now);
	o->pairs = 0;
	for (uint32_t i = from; i < end; i++) {
		struct kr_items list = g->shown.at[i].list;

		for (uint32_t n = 0; n < list.n; n++) {
			struct kr_grow_element *e = kr_grow_find(g, o->key, list.at[n].i);

			if (e->mark >= first)
				continue;
			e->mark = first;
			KR_TRY(push_new(o, e));
		}
		KR_TRY(link(o));
	}
	for (uint32_t i = g->element_first[o->key.i]; i < g->element_first[o->key.i + 1]; i++)
		if (g->elements.at[i].mark < first)
			KR_TRY(push_new(o, &g->elements.at[i]));
	return link(o);
}

/* Each element was added once, or was there at the beginning, as the trace tells, and none was taken away. */
static bool is_simple(const struct kr_grow *g, kr_key k)
{
	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++)
		if (g->elements.at[i].twice)
			return false;
	return !kr_bags_deleted(g, k) && !kr_history_untold(g->w->h);
}

/* What a read shows was added before what it does not show. */
enum kr_status kr_bags_orders(struct kr_grow *g, struct kr_analyze_pairs *orders)
{
	uint32_t versions = g->w->asg->nversions;
	struct ordering o = {.g = g, .out = orders, .shown = kr_mem_alloc(g->w->asg->mem, KR_BITS_WORDS(versions), sizeof *o.shown)};
	enum kr_status status = o.shown ? KR_OK : KR_NOMEM;

	for (uint32_t i = 0, end; i < g->shown.n && !status; i = end) {
		for (end = i; end < g->shown.n && g->shown.at[end].key.i == g->shown.at[i].key.i;)
			end++;
		o.key = g->shown.at[i].key;
		if (g->w->out->anomaly_count == 0 && is_simple(g, o.key))
			status = order_key(&o, i, end);
	}
	kr_mem_free(g->w->asg->mem, o.shown, KR_BITS_WORDS(versions), sizeof *o.shown);
	kr_vec_done(g->w->asg->mem, &o.before);
	kr_vec_done(g->w->asg->mem, &o.now);
	return status;
}
