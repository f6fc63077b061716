/* Lists: a read shows the writer of its last element, and the order of all the writers before it.
 *
 * Each list has one observation: of the version whose writer appended the last element, or of the initial
 * one. That the elements shown come from whole transactions, each in one piece and in its own order, from
 * writers that did not abort, is checked at once. What lists say of each other, and the orders that they
 * give: analyze_list_orders.c. An unknown transaction one of whose elements was shown took effect if the
 * reader did: that is an observation of a part that only it writes. Where a list is deleted, every
 * transaction that leaves elements is such a part, there or not, which those who delete the list take away,
 * and the initial elements are one: a read observes them all, as that of a set does (analyze_bags.c). Which
 * parts were there together, and their order, is all that a list can show; an empty one was left by who
 * deleted it, whatever the parts. Lists with equal elements and those of untold initial value are left out.
 * What a list has in common with the longest one that was in order is in order, too, so that of lists which
 * go on from one another each element is looked at once. */
#include "frontend/analyze_grow.h"

#include <string.h>

bool kr_lists_same_beginning(struct kr_items a, struct kr_items b, uint32_t n)
{
	return n == 0 || a.at == b.at || memcmp(a.at, b.at, n * sizeof *a.at) == 0;
}

/* ---- versions and parts ---- */

static kr_token last_initial(const struct kr_growing *g, kr_key k)
{
	kr_token last = KR_TOKEN_ABSENT;

	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++)
		if (g->elements.at[i].initial)
			last.i = g->elements.at[i].item.i;
	return last;
}

/* Versions of the part at hand: t's (KR_NONE: nobody's), who leaves it there, and those of all others who
 * delete the list. */
static enum kr_status fill_part(struct kr_parts *p, kr_key k, kr_txn t)
{
	const struct kr_growing *g = p->g;

	if (!g->deleted[k.i])
		return kr_grow_part_version(p, t, KR_TOKEN_THERE);
	for (struct kr_grow_run run = {.end = 0}; kr_grow_next(g, k, &run);) {
		bool own = run.txn.i == t.i;

		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (run.deletes || own)
			KR_TRY(kr_grow_part_version(p, run.txn, kr_token_there(own)));
	}
	return KR_OK;
}

/* What was there at first, of a list that is deleted. */
static enum kr_status prepare_initial(struct kr_parts *p, kr_key k)
{
	const struct kr_asg_key *key = &p->writes->keys[k.i];
	kr_token initial = last_initial(p->g, k);
	kr_key part;

	if (key->open_initial)
		return KR_OK;
	p->writes->token[key->first] = initial;
	if (!p->g->deleted[k.i] || initial.i == KR_TOKEN_ABSENT.i)
		return KR_OK;
	KR_TRY(kr_grow_part(p, k, KR_NONE, KR_TOKEN_THERE, &part));
	return fill_part(p, k, KR_NOBODY);
}

enum kr_status kr_lists_prepare(struct kr_parts *p, kr_key k)
{
	struct kr_growing *g = p->g;

	KR_TRY(prepare_initial(p, k));
	for (struct kr_grow_run run = {.end = 0}; kr_grow_next(g, k, &run);) {
		const struct kr_transaction *txn = &g->w->h->txns.at[run.txn.i];
		bool leaves = run.since < run.end;

		KR_TRY(kr_ctx_tick(g->w->ctx));
		p->writes->token[kr_analyze_version(p->writes, k, run.txn)] =
			leaves ? (kr_token){g->writes[run.end - 1].item.i} : KR_TOKEN_ABSENT;
		if (!leaves || (!g->deleted[k.i] && txn->status != KR_UNKNOWN))
			continue;
		KR_TRY(kr_grow_part(p, k, txn->id.i, KR_TOKEN_ABSENT, &g->run_part[run.first]));
		KR_TRY(fill_part(p, k, run.txn));
	}
	return KR_OK;
}

/* ---- one read ---- */

static kr_token last_of(struct kr_items list)
{
	return list.n ? (kr_token){list.at[list.n - 1].i} : KR_TOKEN_ABSENT;
}

/* Is it shown among the first n? */
static bool is_among(const struct kr_grow_element *e, struct kr_items list, uint32_t n)
{
	return e && e->place < n && list.at[e->place].i == e->item.i;
}

/* The reader's own elements are not in order, wherever they are shown. */
static bool shows_own(struct kr_replay *r, kr_key k, struct kr_items list, uint32_t n)
{
	const struct kr_growing *g = r->growing;
	uint32_t i = kr_grow_own(r, k)->writes;

	while (i < g->write_first[k.i + 1] && g->writes[i].txn.i == r->txn.i &&
		!is_among(kr_grow_find(g, k, g->writes[i].item), list, n))
		i++;
	return i < g->write_first[k.i + 1] && g->writes[i].txn.i == r->txn.i;
}

/* Does what one transaction left, or what was there at first, end behind the first n? */
static bool ends_there(const struct kr_growing *g, kr_key k, struct kr_items list, uint32_t n)
{
	const struct kr_grow_element *last = kr_grow_find(g, k, list.at[n - 1]);

	return last->write == KR_NONE ? n == g->initials[k.i]
				      : kr_grow_run(g, k, last->write).end == last->write + 1;
}

/* So many elements, from the first on, are in order, as another list has shown; 0: none are known to be. */
static uint32_t count_checked(struct kr_replay *r, kr_key k, struct kr_items list)
{
	struct kr_items best = r->growing->seen.checked[k.i];
	uint32_t n = best.n < list.n ? best.n : list.n;

	if (n == 0 || !kr_lists_same_beginning(best, list, n) || shows_own(r, k, list, n))
		return 0;
	return n == best.n || ends_there(r->growing, k, list, n) ? n : 0;
}

static void note_checked(struct kr_growing *g, kr_key k, struct kr_items list, uint32_t from)
{
	if (g->deleted[k.i] || list.n <= g->seen.checked[k.i].n)
		return;
	for (uint32_t i = from; i < list.n; i++)
		kr_grow_find(g, k, list.at[i])->place = i;
	g->seen.checked[k.i] = list;
}

/* What one may say at once of an element that is shown at place i, where the first `known` are in order:
 * KR_ANOMALY_KINDS: nothing. */
static void check_element(struct kr_replay *r, kr_key k, struct kr_items list, uint32_t i, uint32_t known,
	enum kr_anomaly_kind *kind, kr_txn *other)
{
	struct kr_growing *g = r->growing;
	struct kr_grow_element *e = kr_grow_find(g, k, list.at[i]);
	const struct kr_grow_own *own = kr_grow_own(r, k);

	*kind = KR_ANOMALY_KINDS;
	other->i = KR_NONE;
	if (!e) {
		*kind = KR_GARBAGE_READ;
	} else if (e->mark == g->seen.marks || is_among(e, list, known)) {
		*kind = KR_DUPLICATE_ELEMENT;
	} else if (e->write == KR_NONE && !e->initial) {
		*kind = KR_ABORTED_READ;
		*other = e->aborted;
	} else if (e->write != KR_NONE && g->writes[e->write].txn.i == r->txn.i) {
		/* it stands at the end, too */
		*kind = e->write < own->writes + own->count ? KR_DUPLICATE_ELEMENT : KR_FUTURE_READ;
	}
	if (e)
		e->mark = g->seen.marks;
}

static bool has_equal(const struct kr_growing *g, kr_key k, struct kr_items list, uint32_t from)
{
	for (uint32_t i = from; i < list.n; i++) {
		const struct kr_grow_element *e = kr_grow_find(g, k, list.at[i]);

		if (e && e->twice)
			return true;
	}
	return false;
}

static uint32_t run_start(const struct kr_growing *g, kr_key k, uint32_t write)
{
	while (write > g->write_first[k.i] && g->writes[write - 1].txn.i == g->writes[write].txn.i)
		write--;
	return write;
}

/* The elements from i on are those that one transaction left, whole and in its order; *next is behind them.
 * Who deleted the list first left nothing before its own. */
static enum kr_anomaly_kind check_run(struct kr_growing *g, kr_key k, struct kr_items list, uint32_t i,
	uint32_t *next)
{
	uint32_t write = kr_grow_find(g, k, list.at[i])->write;
	struct kr_grow_run run = kr_grow_run(g, k, run_start(g, k, write));

	*next = i;
	if (write < run.since)
		return KR_INTERMEDIATE_READ;
	if (write > run.since || (run.deletes && i > 0))
		return KR_INCOMPATIBLE_ORDER;
	for (; write < run.end; write++, (*next)++) {
		if (*next >= list.n || list.at[*next].i != g->writes[write].item.i)
			return KR_INTERMEDIATE_READ;
	}
	return KR_ANOMALY_KINDS;
}

/* The initial elements come first, all of them, or, where the list is deleted, none; *next is behind them.
 * False: they do not. */
static bool check_initial(struct kr_growing *g, kr_key k, struct kr_items list, uint32_t *next)
{
	*next = 0;
	if (g->deleted[k.i] && (list.n == 0 || !kr_grow_find(g, k, list.at[0])->initial))
		return true;
	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++) {
		if (!g->elements.at[i].initial)
			continue;
		if (*next >= list.n || list.at[*next].i != g->elements.at[i].item.i)
			return false;
		(*next)++;
	}
	return true;
}

/* Whether the list whose elements are marked shows what the run that begins at `i` left. */
static bool is_shown(const struct kr_growing *g, kr_key k, uint32_t i)
{
	return kr_grow_find(g, k, g->writes[kr_grow_run(g, k, i).since].item)->mark == g->seen.marks;
}

/* Of a list that is deleted, every part but the transaction's own was there or not. */
static enum kr_status see_parts(struct kr_replay *r, kr_key k, bool initial)
{
	struct kr_growing *g = r->growing;
	uint32_t first = g->parts_of[k.i];

	if (first < g->parts_of[k.i + 1] && r->writes->parts[first].label == KR_NONE)
		KR_TRY(kr_analyze_see(r, (kr_key){r->w->h->keys.n + first},
			kr_test_is(kr_token_there(initial)), false));
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1]; i = kr_grow_run(g, k, i).end)
		if (g->run_part[i].i != KR_NONE && g->writes[i].txn.i != r->txn.i)
			KR_TRY(kr_analyze_see(r, g->run_part[i],
				kr_test_is(kr_token_there(is_shown(g, k, i))), false));
	return KR_OK;
}

static enum kr_status see_unknown_writers(struct kr_replay *r, kr_key k, struct kr_items list, uint32_t from)
{
	struct kr_growing *g = r->growing;

	for (uint32_t i = g->parts_of[k.i] < g->parts_of[k.i + 1] ? from : list.n; i < list.n; i++) {
		/* of the first element of each run */
		kr_key part = g->run_part[kr_grow_find(g, k, list.at[i])->write];

		if (part.i != KR_NONE)
			KR_TRY(kr_analyze_see(r, part, kr_test_is(KR_TOKEN_THERE), false));
	}
	return KR_OK;
}

/* Of a list about which no more can be told, which versions end as it does. */
static enum kr_status see_last(struct kr_replay *r, kr_key k, struct kr_items list)
{
	kr_token last = last_of(list);

	kr_analyze_leave_out(r->w, r->txn, r->op,
		r->writes->keys[k.i].open_initial ? "a list of unknown initial value"
						  : "a list that shows an element which was appended twice");
	if (last.i < r->w->h->values.n || kr_grow_find(r->growing, k, (kr_item){last.i}))
		return kr_analyze_see(r, k, kr_test_is(last), false);
	/* nobody appended it: it was there at first, and nothing has been appended since */
	return kr_analyze_see(r, k, kr_test_source(KR_NOBODY), false);
}

/* What was there before the transaction's own elements. */
static enum kr_status see_list(struct kr_replay *r, kr_key k, struct kr_items list)
{
	struct kr_growing *g = r->growing;
	enum kr_anomaly_kind kind;
	kr_txn other;
	uint32_t next, appended = g->initials[k.i], known = count_checked(r, k, list);

	if (r->writes->keys[k.i].open_initial || has_equal(g, k, list, known))
		return see_last(r, k, list);
	g->seen.marks++;
	for (uint32_t i = known; i < list.n; i++) {
		check_element(r, k, list, i, known, &kind, &other);
		if (kind != KR_ANOMALY_KINDS)
			return kr_analyze_contradict(r, k, kind, other);
	}
	if (known == 0 && !check_initial(g, k, list, &appended))
		return kr_analyze_contradict(r, k, KR_GARBAGE_READ, KR_NOBODY);
	for (uint32_t i = known > 0 ? known : appended; i < list.n; i = next) {
		struct kr_grow_element *e = kr_grow_find(g, k, list.at[i]);

		kind = e->write == KR_NONE ? KR_INCOMPATIBLE_ORDER : check_run(g, k, list, i, &next);
		if (kind != KR_ANOMALY_KINDS)
			return kr_analyze_contradict(r, k, kind,
				e->write == KR_NONE ? KR_NOBODY : g->writes[e->write].txn);
	}
	note_checked(g, k, list, known);
	if (!r->fills &&
		!kr_vec_push(r->w->mem, &g->seen.reads,
			(struct kr_grow_read){r->txn, r->op, k, list,
				r->w->h->txns.at[r->txn.i].status == KR_COMMITTED, false}))
		return KR_NOMEM;
	KR_TRY(kr_analyze_see(r, k, kr_test_is(last_of(list)), false));
	if (g->deleted[k.i] && list.n > 0)
		return see_parts(r, k, appended > 0);
	return see_unknown_writers(r, k, list, appended);
}

enum kr_status kr_lists_see(struct kr_replay *r, kr_key k, enum kr_shown shown, struct kr_want *want)
{
	bool done;

	KR_TRY(kr_grow_pull(r, k, want, &done));
	if (done)
		return KR_OK;
	if (shown == KR_SHOWN_READ || shown == KR_SHOWN_ROW)
		return see_list(r, k, want->is.items);
	if (r->writes->keys[k.i].open_initial)
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"whether a list of unknown initial value was there");
	return kr_grow_see_presence(r, k, shown);
}
