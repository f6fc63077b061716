/* Lists: a read shows the writer of its last element, and the order of all the writers before it.
 *
 * Each list has one observation: of the version whose writer appended the last element, or of the initial one. That the elements shown come from whole transactions, each in one piece and in its own order, from
 * writers that did not abort, is checked at once. All lists read of a key by committed transactions must be beginnings of the longest one. Known orders: along the longest one that a
 * committed transaction read, and from its last version to all that it does not show; the same for longer ones that unknown transactions read, if these took effect. Since a version holds exactly what was appended
 * before it, a total order of the versions gives every read its value iff it keeps these orders.
 * An unknown transaction one of whose elements was shown took effect if the reader did: that is an observation of a part that only it writes.
 * Deleted lists, equal elements that a read shows, and untold initial values are refused. */
#include "frontend/analyze_grow.h"

static uint32_t number(const struct kr_grow *g, struct kr_grow_list list, uint32_t i) { return g->numbers.at[list.first + i]; }

/* Whether the first n elements of both are the same. */
static bool same_beginning(const struct kr_grow *g, struct kr_grow_list a, struct kr_grow_list b, uint32_t n)
{
	for (uint32_t i = 0; i < n && a.first != b.first; i++)
		if (number(g, a, i) != number(g, b, i))
			return false;
	return true;
}

/* ---- versions and parts ---- */

static uint32_t last_initial(const struct kr_grow *g, kr_key k)
{
	uint32_t last = KR_ABSENT.i;

	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++)
		if (g->elements.at[i].initial)
			last = g->elements.at[i].element;
	return last;
}

enum kr_status kr_lists_prepare(struct kr_grow *g, kr_key k)
{
	struct kr_asg *asg = g->w->asg;

	if (!asg->keys[k.i].open_initial)
		g->w->value[asg->keys[k.i].first].i = last_initial(g, k);
	for (uint32_t i = g->write_first[k.i], end; i < g->write_first[k.i + 1]; i = end) {
		kr_txn t = g->writes[i].txn;

		end = kr_grow_run(g, k, i);
		if (kr_grow_aborted(g, t))
			continue;
		for (uint32_t j = i; j < end; j++)
			if (kr_grow_is_delete(g, &g->writes[j]))
				return kr_analyze_refuse(g->w, t, g->writes[j].op, "deleting a list");
		g->w->value[kr_grow_version(g, k, t)].i = g->writes[end - 1].element;
		if (g->w->h->txns.at[t.i].status != KR_UNKNOWN)
			continue;
		KR_TRY(kr_grow_part(g, k, g->w->h->txns.at[t.i].id.i, KR_ABSENT, &g->unknown_part[i]));
		KR_TRY(kr_grow_part_version(g, t, (kr_value){KR_GROW_PRESENT}));
	}
	return KR_OK;
}

/* ---- one read ---- */

/* What one may say at once of an element that is shown at place i: KR_ANOMALY_KINDS: nothing. */
static enum kr_status check_element(struct kr_replay *r, kr_key k, struct kr_grow_list list, uint32_t i, enum kr_anomaly_kind *kind, kr_txn *other)
{
	struct kr_grow *g = r->w->grow;
	struct kr_grow_element *e = kr_grow_find(g, k, number(g, list, i));
	const struct kr_grow_own *own = kr_grow_own(r, k);

	*kind = KR_ANOMALY_KINDS;
	other->i = KR_NONE;
	if (!e) {
		*kind = KR_GARBAGE_READ;
	} else if (e->mark == g->marks) {
		*kind = KR_DUPLICATE_ELEMENT;
		return e->twice ? kr_analyze_refuse(r->w, r->txn, r->op, "a list with equal elements") : KR_OK;
	} else if (e->write == KR_NONE && !e->initial) {
		*kind = KR_ABORTED_READ;
		*other = e->aborted;
	} else if (e->twice) {
		return kr_analyze_refuse(r->w, r->txn, r->op, "a list with equal elements");
	} else if (e->write != KR_NONE && g->writes[e->write].txn.i == r->txn.i) {
		*kind = e->write < own->writes + own->count ? KR_DUPLICATE_ELEMENT : KR_FUTURE_READ; /* it stands at the end, too */
	}
	if (e)
		e->mark = g->marks;
	return KR_OK;
}

/* The elements from i on are those of one transaction, whole and in its order; *next is behind them. */
static enum kr_anomaly_kind check_run(struct kr_grow *g, kr_key k, struct kr_grow_list list, uint32_t i, uint32_t *next)
{
	uint32_t write = kr_grow_find(g, k, number(g, list, i))->write, end = kr_grow_run(g, k, write);

	*next = i;
	if (write > g->write_first[k.i] && g->writes[write - 1].txn.i == g->writes[write].txn.i)
		return KR_INCOMPATIBLE_ORDER; /* not the first one of its transaction */
	for (; write < end; write++, (*next)++) {
		if (*next >= list.count)
			return KR_INTERMEDIATE_READ;
		if (number(g, list, *next) != g->writes[write].element)
			return KR_INTERMEDIATE_READ;
	}
	return KR_ANOMALY_KINDS;
}

/* The initial elements come first, all of them; *next is behind them. False: they do not. */
static bool check_initial(struct kr_grow *g, kr_key k, struct kr_grow_list list, uint32_t *next)
{
	*next = 0;
	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++) {
		if (!g->elements.at[i].initial)
			continue;
		if (*next >= list.count || number(g, list, *next) != g->elements.at[i].element)
			return false;
		(*next)++;
	}
	return true;
}

static enum kr_status see_unknown_writers(struct kr_replay *r, kr_key k, struct kr_grow_list list, uint32_t from)
{
	struct kr_grow *g = r->w->grow;

	for (uint32_t i = from; i < list.count; i++) {
		kr_key part = g->unknown_part[kr_grow_find(g, k, number(g, list, i))->write];

		if (part.i != KR_NONE)
			KR_TRY(kr_analyze_see(r, part, kr_test(KR_TEST_IS, KR_GROW_PRESENT), false));
	}
	return KR_OK;
}

/* What was there before the transaction's own elements. */
static enum kr_status see_list(struct kr_replay *r, kr_key k, struct kr_grow_list list)
{
	struct kr_grow *g = r->w->grow;
	enum kr_anomaly_kind kind;
	kr_txn other;
	uint32_t next, appended;

	if (r->w->asg->keys[k.i].open_initial)
		return kr_analyze_refuse(r->w, r->txn, r->op, "a list of unknown initial value");
	g->marks++;
	for (uint32_t i = 0; i < list.count; i++) {
		KR_TRY(check_element(r, k, list, i, &kind, &other));
		if (kind != KR_ANOMALY_KINDS)
			return kr_grow_contradict(r, k, kind, other);
	}
	if (!check_initial(g, k, list, &appended))
		return kr_grow_contradict(r, k, KR_GARBAGE_READ, (kr_txn){KR_NONE});
	for (uint32_t i = appended; i < list.count; i = next) {
		struct kr_grow_element *e = kr_grow_find(g, k, number(g, list, i));

		kind = e->write == KR_NONE ? KR_INCOMPATIBLE_ORDER : check_run(g, k, list, i, &next);
		if (kind != KR_ANOMALY_KINDS)
			return kr_grow_contradict(r, k, kind, e->write == KR_NONE ? (kr_txn){KR_NONE} : g->writes[e->write].txn);
	}
	if (!r->obs &&
		!kr_vec_push(r->w->asg->mem, &g->reads, (struct kr_grow_read){r->txn, r->op, k, list, r->w->h->txns.at[r->txn.i].status == KR_COMMITTED}))
		return KR_NOMEM;
	KR_TRY(kr_analyze_see(r, k, kr_test(KR_TEST_IS, list.count ? number(g, list, list.count - 1) : KR_ABSENT.i), false));
	return see_unknown_writers(r, k, list, appended);
}

static enum kr_status see_over_own(struct kr_replay *r, kr_key k, struct kr_grow_list list)
{
	struct kr_grow *g = r->w->grow;
	struct kr_grow_own *own = kr_grow_own(r, k);
	struct kr_grow_list base = {list.first, list.count - own->count};
	bool shown = list.count >= own->count;

	for (uint32_t i = 0; i < own->count && shown; i++)
		shown = number(g, list, base.count + i) == g->writes[own->writes + i].element;
	if (shown && own->based)
		shown = base.count == own->base.count && same_beginning(g, base, own->base, base.count);
	if (!shown)
		return kr_grow_contradict(r, k, KR_INTERNAL_INCONSISTENCY, (kr_txn){KR_NONE});
	if (own->based)
		return KR_OK;
	own->based = true;
	own->base = base;
	return see_list(r, k, base);
}

enum kr_status kr_lists_see(struct kr_replay *r, kr_key k, enum kr_shown shown, kr_value value)
{
	bool wrote = kr_grow_own(r, k)->count > 0, is_array;
	struct kr_grow_list list;

	KR_TRY(kr_grow_parse(r->w->grow, value, &list, &is_array));
	if (!is_array)
		return kr_grow_contradict(r, k, KR_GARBAGE_READ, (kr_txn){KR_NONE});
	if (shown == KR_SHOWN_ROW && list.count == 0) /* empty is absent, and no row of anything */
		return kr_grow_contradict(r, k, KR_RESULT_SET_MISMATCH, (kr_txn){KR_NONE});
	if (shown == KR_SHOWN_FOUND || shown == KR_SHOWN_NOT_FOUND || shown == KR_SHOWN_NO_ROW) {
		if (!wrote)
			return kr_grow_see_presence(r, k, shown);
		return shown == KR_SHOWN_FOUND ? KR_OK : kr_grow_contradict(r, k, KR_INTERNAL_INCONSISTENCY, (kr_txn){KR_NONE});
	}
	return wrote ? see_over_own(r, k, list) : see_list(r, k, list);
}

/* ---- reads of one key ---- */

/* Per key the longest list that a committed transaction read, as a place in g->reads, or KR_NONE. */
static uint32_t *find_longest(struct kr_grow *g)
{
	uint32_t nkeys = g->w->h->keys.n;
	uint32_t *longest = KR_NEW_ARRAY(&g->w->scratch, uint32_t, nkeys);

	for (uint32_t k = 0; longest && k < nkeys; k++)
		longest[k] = KR_NONE;
	for (uint32_t i = 0; longest && i < g->reads.n; i++) {
		uint32_t *best = &longest[g->reads.at[i].key.i];

		if (g->reads.at[i].committed && (*best == KR_NONE || g->reads.at[i].list.count > g->reads.at[*best].list.count))
			*best = i;
	}
	return longest;
}

enum kr_status kr_lists_check(struct kr_grow *g)
{
	struct kr_work *w = g->w;
	uint32_t *longest = find_longest(g);

	if (!longest)
		return KR_NOMEM;
	for (uint32_t i = 0; i < g->reads.n; i++) {
		struct kr_grow_read *read = &g->reads.at[i];
		struct kr_grow_list list = read->list, best;
		uint32_t place = longest[read->key.i];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (place == KR_NONE)
			continue;
		best = g->reads.at[place].list;
		if (same_beginning(g, list, best, list.count < best.count ? list.count : best.count))
			continue;
		if (read->committed) {
			if (!kr_vec_push(w->asg->mem, &w->found,
				    (struct kr_found){read->txn, read->op, read->key, KR_INCOMPATIBLE_ORDER, g->reads.at[place].txn}))
				return KR_NOMEM;
		} else {
			w->asg->txns[read->txn.i].presence = KR_ABSENT_TXN;
			w->changed = true;
		}
	}
	return KR_OK;
}

/* ---- orders ---- */

struct ordering {
	struct kr_grow *g;
	struct kr_analyze_pairs *out;
	kr_key key;
	uint64_t *shown; /* versions that the list at hand shows, by place in their key */
};

static enum kr_status push(struct ordering *o, kr_version before, kr_version after, kr_txn guard)
{
	return kr_vec_push(o->g->w->asg->mem, o->out, (struct kr_asg_order){before, after, guard}) ? KR_OK : KR_NOMEM;
}

/* The version of the transaction that appended the element at place i, or KR_NONE (initial, or gone). */
static kr_version version_at(const struct ordering *o, struct kr_grow_list list, uint32_t i)
{
	const struct kr_grow_element *e = kr_grow_find(o->g, o->key, number(o->g, list, i));

	return e->write == KR_NONE ? (kr_version){KR_NONE} : kr_asg_version_of(o->g->w->asg, o->g->writes[e->write].txn, o->key);
}

/* Pairs along the list from its element `from` on, then from its last version to all that it does not show. */
static enum kr_status order_list(struct ordering *o, struct kr_grow_list list, uint32_t from, kr_txn guard)
{
	const struct kr_asg *asg = o->g->w->asg;
	uint32_t first = asg->keys[o->key.i].first, end = asg->keys[o->key.i + 1].first;
	kr_version last = {KR_NONE};
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < list.count && !status; i++) {
		kr_version v = version_at(o, list, i);

		if (v.i == KR_NONE || v.i == last.i)
			continue;
		kr_bits_set(o->shown, v.i - first);
		if (last.i != KR_NONE && i >= from)
			status = push(o, last, v, guard);
		last = v;
	}
	for (uint32_t v = first + 1; v < end && last.i != KR_NONE && !status; v++)
		if (!kr_bits_get(o->shown, v - first))
			status = push(o, last, (kr_version){v}, guard);
	for (uint32_t v = first; v < end; v++)
		kr_bits_clear(o->shown, v - first);
	return status ? status : kr_ctx_tick(o->g->w->ctx);
}

static uint32_t most_versions(const struct kr_asg *asg)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < asg->nkeys; k++)
		if (asg->keys[k + 1].first - asg->keys[k].first > most)
			most = asg->keys[k + 1].first - asg->keys[k].first;
	return most;
}

enum kr_status kr_lists_orders(struct kr_grow *g, struct kr_analyze_pairs *orders)
{
	const struct kr_asg *asg = g->w->asg;
	struct ordering o = {.g = g, .out = orders, .shown = KR_NEW_ARRAY(&g->w->scratch, uint64_t, KR_BITS_WORDS(most_versions(asg)))};
	uint32_t *longest = find_longest(g);

	if (!longest || !o.shown)
		return KR_NOMEM;
	for (uint32_t i = 0; i < g->reads.n; i++) {
		const struct kr_grow_read *read = &g->reads.at[i];
		uint32_t best = longest[read->key.i], known = best == KR_NONE ? 0 : g->reads.at[best].list.count;

		KR_TRY(kr_ctx_tick(g->w->ctx));
		o.key = read->key;
		if (i == best)
			KR_TRY(order_list(&o, read->list, 0, (kr_txn){KR_NONE}));
		else if (!read->committed && asg->txns[read->txn.i].presence != KR_ABSENT_TXN && read->list.count > known)
			KR_TRY(order_list(&o, read->list, known, read->txn));
	}
	return KR_OK;
}
