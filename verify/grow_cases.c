/* What observations of growing keys say of the choices, beside their sources: a list needs all of its
 * elements' transactions, and orders them; and which observations an unknown transaction brings in, where its
 * effects may have been seen. Those that can do without it anyway are left out where that is cheap to tell.
 * Cost: linear in the observations of the keys at hand, and in the arrays that they show. */
#include "verify/cases.h"

#include "verify/facts.h"

/* ---- lists ---- */

/* If the observer took effect, so did `add`'s transaction; no append at all: the observer did not. */
static enum kr_status need(struct kr_cases *c, const struct kr_sight *s, const struct kr_grow_add *add,
	bool possible)
{
	uint32_t literal;

	if (possible &&
		(!add || add->txn.i == s->txn.i || c->v->h->txns.at[add->txn.i].status == KR_COMMITTED))
		return KR_OK;
	kr_cases_begin(c);
	KR_TRY(kr_cases_presence(c, s->txn, &literal));
	KR_TRY(kr_cases_add(c, kr_cases_negate(literal)));
	if (possible) {
		KR_TRY(kr_cases_presence(c, add->txn, &literal));
		KR_TRY(kr_cases_add(c, literal));
	}
	return kr_cases_end(c);
}

enum kr_status kr_cases_add_list(struct kr_cases *c, uint32_t s)
{
	const struct kr_sight sight = c->sights.at[s];
	const struct kr_facts *f = &c->facts;
	const struct kr_grow_add *add;
	uint32_t count, adds, first;
	bool initial;

	if (!f->unknowns || sight.saw.test != KR_SAW_VALUE || sight.part.i != KR_NONE)
		return KR_OK;
	KR_TRY(kr_grow_shown(f, sight.key, sight.txn, sight.op, sight.own_count, &first, &count));
	if (count == KR_NONE)
		return KR_OK;
	for (uint32_t i = 0; i < count; i++) {
		KR_TRY(kr_grow_appender(f, sight.key, f->grow->members.at[first + i], &add, &adds, &initial));
		if (adds < 2)
			KR_TRY(need(c, &sight, add, adds == 1 || initial));
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	return KR_OK;
}

enum kr_status kr_cases_add_list_order(struct kr_cases *c, kr_key k, uint32_t a, uint32_t b, uint32_t literal)
{
	const struct kr_facts *f = &c->facts;
	uint32_t x = 0, y = 0, present;

	for (uint32_t i = f->grow->sight_first[k.i]; i < f->grow->sight_first[k.i + 1]; i++) {
		const struct kr_grow_sight *s = &f->grow->sights[i];

		if (c->v->h->txns.at[s->txn.i].status != KR_UNKNOWN || f->impossible[s->txn.i])
			continue;
		KR_TRY(kr_grow_rank_in(f, s, a, &x));
		KR_TRY(kr_grow_rank_in(f, s, b, &y));
		if (x == y || x == KR_GROW_VAGUE || y == KR_GROW_VAGUE)
			continue;
		KR_TRY(kr_cases_presence(c, s->txn, &present));
		/* not by way of c->clause, which is being built */
		KR_TRY(kr_cases_imply(c, present, x < y ? literal : kr_cases_negate(literal)));
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	return KR_OK;
}

/* ---- what unknown transactions bring in ---- */

static struct kr_sight sight_of(const struct kr_facts *f, const struct kr_grow_sight *s, kr_value part)
{
	struct kr_sight sight = {.txn = s->txn,
		.op = s->op,
		.key = s->key,
		.part = part,
		.own = s->own,
		.own_count = s->own_count};

	sight.saw = kr_saw_of(f->h, &f->h->ops.at[kr_history_op(f->h, s->txn, s->op).i], s->key);
	return sight;
}

static enum kr_status bring(struct kr_cases *c, const struct kr_grow_sight *s, kr_value part)
{
	struct kr_sight sight = sight_of(&c->facts, s, part);
	const char *wrong;
	uint32_t id;
	bool set = kr_facts_mode(&c->facts, s->key) == KR_GROW_SET;

	KR_TRY(kr_grow_check_part(&c->facts, &sight, &wrong));
	if (!wrong && (!set || part.i == KR_NONE || sight.saw.test == KR_SAW_VALUE))
		KR_TRY(kr_cases_sight(c, &sight, &id));
	return kr_ctx_tick(c->v->ctx);
}

/* Every observation of part `part` of k. */
static enum kr_status bring_part(struct kr_cases *c, kr_key k, kr_value part)
{
	const struct kr_grow *g = c->facts.grow;

	for (uint32_t i = g->sight_first[k.i]; i < g->sight_first[k.i + 1]; i++)
		KR_TRY(bring(c, &g->sights[i], part));
	return KR_OK;
}

/* Sums are seen as a whole. */
static enum kr_status bring_whole(struct kr_cases *c, const struct kr_grow_sight *s)
{
	struct kr_sight sight = sight_of(&c->facts, s, (kr_value){KR_NONE});
	uint32_t id;

	KR_TRY(kr_cases_sight(c, &sight, &id));
	return kr_ctx_tick(c->v->ctx);
}

/* A list that a committed transaction read has it: that is all there is to say. */
static enum kr_status bring_list(struct kr_cases *c, kr_key k, kr_txn t)
{
	const struct kr_facts *f = &c->facts;
	uint32_t rank, present;
	KR_TRY(kr_grow_rank(f, k, (uint32_t)(kr_facts_version(f, k, t) - f->versions), &rank));

	if (rank >= KR_GROW_VAGUE)
		KR_TRY(bring_part(c, k, (kr_value){KR_NONE}));
	if (f->grow->deleted[k.i])
		KR_TRY(bring_part(c, k, f->h->txns.at[t.i].id));
	if (kr_grow_deletes(f, k, t))
		KR_TRY(bring_part(c, k, KR_ABSENT));
	if (rank >= KR_GROW_VAGUE)
		return KR_OK;
	kr_cases_begin(c);
	KR_TRY(kr_cases_presence(c, t, &present));
	KR_TRY(kr_cases_add(c, present));
	return kr_cases_end(c);
}

static enum kr_status bring_set(struct kr_cases *c, kr_key k, kr_txn t)
{
	const struct kr_history *h = c->v->h;

	KR_TRY(bring_part(c, k, (kr_value){KR_NONE}));
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
		if ((op->kind == KR_OP_ADD || op->kind == KR_OP_MAX) && op->key.i == k.i)
			KR_TRY(bring_part(c, k, op->a));
	}
	return KR_OK;
}

enum kr_status kr_cases_bring_growing(struct kr_cases *c, kr_key k, kr_txn t)
{
	const struct kr_grow *g = c->facts.grow;

	switch (kr_facts_mode(&c->facts, k)) {
	case KR_GROW_LIST: return bring_list(c, k, t);
	case KR_GROW_SET: return bring_set(c, k, t);
	case KR_GROW_VALUES: return bring_part(c, k, (kr_value){KR_NONE});
	case KR_GROW_SUM:
		for (uint32_t i = g->sight_first[k.i]; i < g->sight_first[k.i + 1]; i++)
			KR_TRY(bring_whole(c, &g->sights[i]));
		return KR_OK;
	default: return KR_OK;
	}
}

enum kr_status kr_cases_bring_own(struct kr_cases *c, kr_key k, kr_txn t, uint32_t op)
{
	const struct kr_facts *f = &c->facts;
	const struct kr_grow_sight *s = kr_grow_sight(f, k, t, op);

	if (!s)
		return KR_OK;
	switch (kr_facts_mode(f, k)) {
	case KR_GROW_LIST:
		KR_TRY(bring(c, s, (kr_value){KR_NONE}));
		return f->grow->deleted[k.i] ? bring(c, s, KR_ABSENT) : KR_OK;
	case KR_GROW_VALUES: return bring(c, s, (kr_value){KR_NONE});
	case KR_GROW_SUM: return bring_whole(c, s);
	case KR_GROW_SET:
		KR_TRY(bring(c, s, (kr_value){KR_NONE}));
		KR_TRY(kr_grow_initial_parts(f->grow, k));
		for (uint32_t i = 0; i < f->grow->initial_parts.n; i++)
			KR_TRY(bring(c, s, f->grow->initial_parts.at[i]));
		for (uint32_t i = 0; i < f->grow->adds.n; i++) {
			const struct kr_grow_add *add = &f->grow->adds.at[i];
			if (add->key.i == k.i)
				KR_TRY(bring(c, s, f->h->ops.at[kr_history_op(f->h, add->txn, add->op).i].a));
		}
		return KR_OK;
	default: return KR_OK;
	}
}

enum kr_status kr_cases_bring_key(struct kr_cases *c, kr_key k)
{
	const struct kr_grow *g = c->facts.grow;

	for (uint32_t i = g->sight_first[k.i]; i < g->sight_first[k.i + 1]; i++)
		KR_TRY(kr_cases_bring_own(c, k, g->sights[i].txn, g->sights[i].op));
	return KR_OK;
}

/* ---- predicate reads ---- */

/* An observation that the initial version explains needs no one. */
static enum kr_status bring_if_needed(struct kr_cases *c, const struct kr_sight *s)
{
	enum kr_grow_mode mode = kr_facts_mode(&c->facts, s->key);
	bool initial = false;
	uint32_t id;

	if (mode == KR_GROW_UNKNOWN)
		return KR_OK;
	KR_TRY(kr_facts_candidate(&c->facts, s, (kr_txn){KR_NONE}, &initial, c->v->err));
	if (c->all && c->facts.untold)
		initial = false; /* it explains much, but cannot be everything at once */
	return initial ? KR_OK : kr_cases_sight(c, s, &id);
}

enum kr_status kr_cases_bring_missed(struct kr_cases *c, kr_txn t, uint32_t op)
{
	struct kr_sight sight;

	for (kr_key k = {0}; k.i < c->v->h->keys.n; k.i++) {
		if (kr_facts_sight(&c->facts, t, op, k, (kr_value){KR_NONE}, &sight) && sight.saw.predicate)
			KR_TRY(bring_if_needed(c, &sight));
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	return KR_OK;
}

enum kr_status kr_cases_bring_scans(struct kr_cases *c, kr_key k, kr_txn t)
{
	const struct kr_history *h = c->v->h;
	struct kr_sight sight;
	bool seen = false;

	for (kr_txn r = {0}; r.i < h->txns.n && h->scans.n > 0; r.i++) {
		for (uint32_t i = 0; i < h->txns.at[r.i].op_count && h->txns.at[r.i].status != KR_ABORTED;
			i++) {
			if (!kr_op_scans(&h->ops.at[kr_history_op(h, r, i).i]) ||
				!kr_facts_sight(&c->facts, r, i, k, (kr_value){KR_NONE}, &sight))
				continue;
			if (!sight.saw.predicate && sight.saw.test != KR_SAW_MATCH)
				continue;
			enum kr_status status = kr_facts_candidate(&c->facts, &sight, t, &seen, c->v->err);
			if (status != KR_UNSUPPORTED) /* else it is not known what that says */
				KR_TRY(status);
			if (status == KR_OK && seen)
				KR_TRY(bring_if_needed(c, &sight));
			KR_TRY(kr_ctx_tick(c->v->ctx));
		}
	}
	return KR_OK;
}
