/* Which version of a set or counter an observation saw, where its parts tell only that it was one of several,
 * and that matters (pattern.c): at levels at which a wr counts and ww does not.
 *
 * Every candidate becomes a choice. An element that only one transaction ever added, to a set that is not
 * deleted, was added at or before the version seen if it was shown, and after it if not; so was an increment
 * that was counted, or not. Of other elements nothing is said, which proves less but nothing wrong. Cost:
 * versions of the key times its elements, per observation at hand. */
#include "verify/cases.h"
#include "verify/facts.h"

enum { MOST_PAIRS = 1000000 }; /* of versions and elements, in one observation */

struct window {
	struct kr_cases *c;
	const struct kr_facts *f;
	uint32_t id;
	struct kr_sight sight;
};

static uint32_t versions_of(const struct window *w)
{
	return w->f->first[w->sight.key.i + 1] - w->f->first[w->sight.key.i];
}

static kr_txn writer_at(const struct window *w, uint32_t i)
{
	return w->f->versions[w->f->first[w->sight.key.i] + i].txn;
}

static bool deletes(const struct kr_facts *f, kr_key k)
{
	const struct kr_history *h = f->h;

	for (uint32_t i = f->first[k.i]; i < f->first[k.i + 1]; i++) {
		for (uint32_t at = f->versions[i].first_op; at <= f->versions[i].last_op; at++) {
			const struct kr_operation *op =
				&h->ops.at[kr_history_op(h, f->versions[i].txn, at).i];
			if (op->kind == KR_OP_DELETE && op->key.i == k.i && kr_effect_count(h, op) > 0)
				return true;
		}
	}
	return false;
}

static enum kr_status make_choices(struct window *w)
{
	bool candidate = false;
	uint32_t literal;
	KR_TRY(kr_facts_candidate(w->f, &w->sight, (kr_txn){KR_NONE}, &candidate, w->c->v->err));

	if (candidate)
		KR_TRY(kr_cases_source(w->c, w->id, (kr_txn){KR_NONE}, &literal));
	for (uint32_t i = 0; i < versions_of(w); i++) {
		KR_TRY(kr_facts_candidate(w->f, &w->sight, writer_at(w, i), &candidate, w->c->v->err));
		if (candidate)
			KR_TRY(kr_cases_source(w->c, w->id, writer_at(w, i), &literal));
	}
	return KR_OK;
}

/* Clause: if version v was seen, and both premises hold, then `conclusion`. */
static enum kr_status if_seen(struct window *w, kr_txn v, uint32_t premise, uint32_t other,
	uint32_t conclusion)
{
	uint32_t seen;
	bool candidate;
	KR_TRY(kr_facts_candidate(w->f, &w->sight, v, &candidate, w->c->v->err));

	if (candidate)
		KR_TRY(kr_cases_source(w->c, w->id, v, &seen));
	if (!candidate)
		return KR_OK;
	kr_cases_begin(w->c);
	KR_TRY(kr_cases_add(w->c, kr_cases_negate(seen)));
	KR_TRY(kr_cases_add(w->c, kr_cases_negate(premise)));
	KR_TRY(kr_cases_add(w->c, kr_cases_negate(other)));
	KR_TRY(kr_cases_add(w->c, conclusion));
	return kr_cases_end(w->c);
}

/* x's part of the key was there if `shown`: then x's version is the one seen or comes before it, else it
 * comes after it, if x took effect. */
static enum kr_status place(struct window *w, kr_txn x, uint32_t shown, bool may_be_gone)
{
	uint32_t present, order;
	KR_TRY(kr_cases_presence(w->c, x, &present));
	KR_TRY(if_seen(w, (kr_txn){KR_NONE}, shown, KR_LITERAL_TRUE, KR_LITERAL_FALSE));
	for (uint32_t i = 0; i < versions_of(w); i++) {
		kr_txn v = writer_at(w, i);

		if (v.i == w->sight.txn.i)
			continue;
		if (v.i == x.i) {
			KR_TRY(may_be_gone ? KR_OK : if_seen(w, v, KR_LITERAL_TRUE, KR_LITERAL_TRUE, shown));
			continue;
		}
		KR_TRY(kr_cases_order(w->c, w->sight.key, x, v, &order));
		KR_TRY(if_seen(w, v, shown, KR_LITERAL_TRUE, order));
		if (!may_be_gone)
			KR_TRY(if_seen(w, v, kr_cases_negate(shown), present, kr_cases_negate(order)));
		KR_TRY(kr_ctx_tick(w->c->v->ctx));
	}
	return KR_OK;
}

static enum kr_status place_elements(struct window *w)
{
	const struct kr_grow *g = w->f->grow;
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < g->adds.n && status == KR_OK; i++) {
		const struct kr_grow_add add = g->adds.at[i], *only;
		struct kr_sight part = w->sight;
		const char *wrong = NULL;
		uint32_t adds;
		bool initial, shown;

		if (add.key.i != w->sight.key.i || w->f->h->txns.at[add.txn.i].status == KR_ABORTED ||
			add.txn.i == w->sight.txn.i)
			continue;
		part.part = w->f->h->ops.at[kr_history_op(w->f->h, add.txn, add.op).i].a;
		status = kr_grow_appender(w->f, add.key, add.element, &only, &adds, &initial);
		if (status == KR_OK)
			status = kr_grow_check_part(w->f, &part, &wrong);
		if (status != KR_OK || adds != 1 || initial || wrong)
			continue;
		status = kr_grow_shows(w->f, &part, add.element, &shown, w->c->v->err);
		if (status == KR_OK)
			status = place(w, add.txn, shown ? KR_LITERAL_TRUE : KR_LITERAL_FALSE, false);
	}
	return status;
}

static enum kr_status place_increments(struct window *w, bool gone)
{
	for (uint32_t i = 0; i < versions_of(w); i++) {
		const struct kr_grow_version *version =
			&w->f->grow->versions[w->f->first[w->sight.key.i] + i];
		struct kr_sight part = w->sight;
		uint32_t id, counted;
		bool candidate;

		if (!version->relative || writer_at(w, i).i == w->sight.txn.i)
			continue;
		part.part = w->f->h->txns.at[writer_at(w, i).i].id;
		KR_TRY(kr_facts_candidate(w->f, &part, writer_at(w, i), &candidate, w->c->v->err));
		if (!candidate)
			continue;
		KR_TRY(kr_cases_sight(w->c, &part, &id));
		KR_TRY(kr_cases_source(w->c, id, writer_at(w, i), &counted));
		KR_TRY(place(w, writer_at(w, i), counted, gone));
	}
	return KR_OK;
}

/* A counter that is set anew, or deleted, may have lost increments that were there. */
static bool is_set_anew(const struct window *w)
{
	for (uint32_t i = 0; i < versions_of(w); i++)
		if (!w->f->grow->versions[w->f->first[w->sight.key.i] + i].relative)
			return true;
	return false;
}

enum kr_status kr_cases_add_window(struct kr_cases *c, uint32_t s)
{
	struct window w = {c, &c->facts, s, c->sights.at[s]};
	bool set = kr_facts_mode(&c->facts, w.sight.key) == KR_GROW_SET;
	uint64_t pairs = (uint64_t)versions_of(&w) * (set ? c->facts.grow->adds.n : versions_of(&w));

	if (pairs > MOST_PAIRS || w.sight.saw.test != (set ? KR_SAW_VALUE : w.sight.saw.test) ||
		c->facts.untold)
		return KR_OK;
	KR_TRY(make_choices(&w));
	if (set && !deletes(&c->facts, w.sight.key))
		KR_TRY(place_elements(&w));
	if (!set)
		KR_TRY(place_increments(&w, is_set_anew(&w)));
	return KR_OK;
}
