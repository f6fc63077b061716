/* Sets: a read shows of each element whether it was there.
 *
 * Each element that anybody may have added is a part of the key, a register of its own: there or not, written
 * by those who add it (there) and by those who delete the set (not there, unless they add it again). A read
 * observes every part; what the reader has added itself tells nothing. Absent is the same as empty, and
 * whether it was is observed of the whole key, whose versions are present or absent. Parts and whole keys
 * have the versions of the same transactions, so a world's order of the one can be that of the other (asg.h).
 * Linear in the writes and, per read, in the elements of its key. */
#include "frontend/analyze_grow.h"

/* ---- parts ---- */

static bool adds(const struct kr_growing *g, uint32_t from, uint32_t end, kr_item item)
{
	for (; from < end; from++)
		if (g->writes[from].item.i == item.i)
			return true;
	return false;
}

/* Versions of one part. With deletes every run of the key is looked at; else the list of the element's adders
 * would do, which is not kept: sets whose elements are added once have short ways here. */
static enum kr_status make_versions(struct kr_parts *p, const struct kr_grow_element *e)
{
	const struct kr_growing *g = p->g;
	bool deletes = g->deleted[e->key.i], alone = !deletes && !e->twice;
	struct kr_grow_run run = {.end = deletes ? 0 : e->write};

	if (!deletes && e->write == KR_NONE)
		return KR_OK;
	while (kr_grow_next(g, e->key, &run)) {
		bool there = adds(g, run.since, run.end, e->item);

		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (run.deletes || there)
			KR_TRY(kr_grow_part_version(p, run.txn, kr_token_there(there)));
		if (alone && there)
			break;
	}
	return KR_OK;
}

void kr_bags_prepare_whole(struct kr_parts *p, kr_key k)
{
	const struct kr_growing *g = p->g;
	kr_token *token = p->writes->token;

	if (!p->writes->keys[k.i].open_initial)
		token[p->writes->keys[k.i].first] = kr_token_there(g->initials[k.i] > 0);
	for (struct kr_grow_run run = {.end = 0}; kr_grow_next(g, k, &run);)
		token[kr_analyze_version(p->writes, k, run.txn)] = kr_token_there(run.since < run.end);
}

enum kr_status kr_bags_prepare(struct kr_parts *p, kr_key k)
{
	struct kr_growing *g = p->g;
	bool open = kr_grow_open(g, k);

	kr_bags_prepare_whole(p, k);
	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++) {
		struct kr_grow_element *e = &g->elements.at[i];
		kr_token initial = open ? KR_TOKEN_UNTOLD : kr_token_there(e->initial);

		if (e->write == KR_NONE && !e->initial && !open)
			continue; /* only aborted transactions added it */
		KR_TRY(kr_grow_part(p, k, e->item.i, initial, &e->part));
		KR_TRY(make_versions(p, e));
	}
	return KR_OK;
}

/* ---- reads ---- */

/* Marks the elements shown. What is wrong with one of them at once, or KR_ANOMALY_KINDS. */
static enum kr_anomaly_kind mark_shown(struct kr_growing *g, kr_key k, struct kr_items list, kr_txn *other)
{
	bool open = g->versions->keys[k.i].open_initial, strange = false;

	g->seen.marks++;
	other->i = KR_NONE;
	for (uint32_t i = 0; i < list.n; i++) {
		struct kr_grow_element *e = kr_grow_find(g, k, list.at[i]);

		strange |= !e;
		if (!e && open)
			continue; /* it may have been there at first, but the others tell of themselves */
		if (!e)
			return KR_GARBAGE_READ;
		if (e->mark == g->seen.marks)
			return KR_DUPLICATE_ELEMENT;
		if (e->part.i == KR_NONE) {
			*other = e->aborted;
			return KR_ABORTED_READ;
		}
		e->mark = g->seen.marks;
	}
	return strange ? KR_GARBAGE_READ : KR_ANOMALY_KINDS;
}

/* A transaction's additions are seen all or not at all: one that shows only some of them, which nobody else
 * can have added or taken away. */
static kr_txn half_seen(const struct kr_growing *g, kr_key k, struct kr_items list, kr_txn reader)
{
	for (uint32_t i = 0; i < list.n; i++) {
		const struct kr_grow_element *e = kr_grow_find(g, k, list.at[i]);

		if (e->mark != g->seen.marks || e->twice || e->initial || e->write == KR_NONE ||
			g->writes[e->write].txn.i == reader.i)
			continue;
		for (uint32_t x = e->write, end = kr_grow_run(g, k, x).end; x < end; x++)
			if (kr_grow_find(g, k, g->writes[x].item)->mark != g->seen.marks)
				return g->writes[x].txn;
	}
	return KR_NOBODY;
}

/* Every part but those that the transaction has added itself. */
static enum kr_status see_parts(struct kr_replay *r, kr_key k, const struct kr_items *own, bool predicate)
{
	struct kr_growing *g = r->growing;

	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++) {
		const struct kr_grow_element *e = &g->elements.at[i];
		uint32_t test = kr_test_is(kr_token_there(e->mark == g->seen.marks));

		if (e->part.i != KR_NONE && !kr_items_have(own, e->item))
			KR_TRY(kr_analyze_see(r, e->part, test, predicate));
	}
	return KR_OK;
}

enum kr_status kr_bags_see(struct kr_replay *r, kr_key k, struct kr_want *want)
{
	struct kr_growing *g = r->growing;
	const struct kr_effect *own = &kr_grow_own(r, k)->effect;
	struct kr_items list = want->is.items;
	kr_txn other;
	enum kr_anomaly_kind kind = mark_shown(g, k, list, &other);
	bool first = own->how == KR_KEEP, open = r->writes->keys[k.i].open_initial, done;

	if (kind == KR_GARBAGE_READ && open) { /* it may have been there at first */
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"an element that nobody added, in a set of unknown initial value,");
		return first ? see_parts(r, k, &want->less, false) : KR_OK;
	}
	if (kind == KR_DUPLICATE_ELEMENT && own->how == KR_SET)
		kind = KR_INTERNAL_INCONSISTENCY; /* it is known what was left */
	if (kind == KR_ANOMALY_KINDS && first && !g->deleted[k.i] && !kr_history_untold(r->w->h)) {
		other = half_seen(g, k, list, r->txn);
		kind = other.i != KR_NONE ? KR_INTERMEDIATE_READ : KR_ANOMALY_KINDS;
	}
	if (kind != KR_ANOMALY_KINDS)
		return kr_analyze_contradict(r, k, kind, other);
	KR_TRY(kr_grow_pull(r, k, want, &done));
	if (done)
		return KR_OK;
	if (first && !r->fills && r->w->h->txns.at[r->txn.i].status == KR_COMMITTED &&
		!kr_vec_push(r->w->mem, &g->seen.shown,
			(struct kr_grow_read){r->txn, r->op, k, list, true, false}))
		return KR_NOMEM;
	if (first && open)
		KR_TRY(kr_grow_see_presence(r, k, KR_SHOWN_FOUND));
	if (!r->fills)
		return KR_OK;
	return g->ranks.ranked[k.i] ? kr_ranks_see(r, k, list, &want->less)
				    : see_parts(r, k, &want->less, false);
}

/* Whether it was there at all. An untold initial value that is absent has no elements, either. */
enum kr_status kr_bags_see_absent(struct kr_replay *r, kr_key k, enum kr_shown shown, struct kr_want *want)
{
	bool open = r->writes->keys[k.i].open_initial, done;

	KR_TRY(kr_grow_pull(r, k, want, &done));
	if (done)
		return KR_OK;
	if (shown == KR_SHOWN_FOUND && open) {
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"a set or mark of unknown initial value that was found, whatever is in it,");
		return KR_OK;
	}
	KR_TRY(kr_grow_see_presence(r, k, shown));
	if (!open)
		return KR_OK;
	r->growing->seen.marks++;
	return see_parts(r, k, &(struct kr_items){.n = 0}, shown == KR_SHOWN_NO_ROW);
}
