/* Whether the cycles of a certificate exhaust the cases.
 *
 * Every edge holds under choices: which version an observation saw, which of two versions came first, whether
 * an unknown transaction took effect. A cycle says "not all of these", and the history says what it says of
 * them (choices.c). If no choice satisfies all of this, every world has a forbidden cycle: a world without
 * one would be such a choice. That a key's versions are ordered without a circle is nothing to assume: a
 * circle is a cycle of ww, which the certificate states where it needs it. A certificate without cycles says
 * that no choice fits what was seen. Cost: near linear in the certificate, plus the search (sat.c). */
#include "verify/cases.h"
#include "verify/claim.h"

enum { GUARD_MOST = 4 };

/* The literals that together are the guard of an edge. */
static enum kr_status find_guard(struct kr_cases *c, const struct kr_cert_edge *e,
	const struct kr_sight *sight, uint32_t out[GUARD_MOST], uint32_t *n)
{
	uint32_t s;
	KR_TRY(kr_cases_presence(c, e->from, &out[0]));
	KR_TRY(kr_cases_presence(c, e->to, &out[1]));
	*n = 2;
	if (e->kind == KR_WR || e->kind == KR_RW) {
		kr_txn writer = e->kind == KR_WR ? e->from : e->source;
		struct kr_sight seen = *sight;
		/* an rw of a part says enough by itself, but what was seen of the key matters to others */
		if (c->whole && e->part.i != KR_NONE)
			seen.part.i = KR_NONE;
		KR_TRY(kr_cases_sight(c, &seen, &s));
		if (e->kind == KR_RW)
			KR_TRY(kr_cases_sight(c, sight, &s));
		KR_TRY(kr_cases_source(c, s, writer, &out[(*n)++]));
	}
	if (e->kind == KR_WW || e->kind == KR_RW)
		KR_TRY(kr_cases_order(c, e->key, e->kind == KR_WW ? e->from : e->source, e->to,
			&out[(*n)++]));
	return KR_OK;
}

/* Adds to the clause that the guard of an edge fails. */
static enum kr_status add_guard(struct kr_cases *c, const struct kr_cert_edge *e,
	const struct kr_sight *sight)
{
	uint32_t literals[GUARD_MOST], n;

	KR_TRY(find_guard(c, e, sight, literals, &n));
	for (uint32_t i = 0; i < n; i++)
		KR_TRY(kr_cases_add(c, kr_cases_negate(literals[i])));
	return KR_OK;
}

/* t -rw-> b -wr-> t on one key. Whichever versions t saw, the first one comes before b's, and the second one
 * is b's or comes after it: so the same cycle leads through the writer of that one, and which it is does not
 * matter. */
static bool shows_two_states(const struct kr_cert_edge *edges, uint32_t n)
{
	bool first = edges[0].kind == KR_RW;
	const struct kr_cert_edge *rw = first ? &edges[0] : &edges[1], *wr = first ? &edges[1] : &edges[0];

	return n == 2 && rw->kind == KR_RW && wr->kind == KR_WR && rw->key.i == wr->key.i && !rw->predicate &&
		!wr->predicate;
}

static enum kr_status add_cycle(struct kr_cases *c, uint32_t cycle)
{
	const struct kr_certificate *cert = c->v->cert;
	const struct kr_cert_cycle *range = &cert->cycles.at[cycle];
	struct kr_sight sight = {0};

	if (range->count < 2 || range->first > cert->edges.n || range->count > cert->edges.n - range->first)
		return kr_err_set(c->v->err, KR_BAD, "cycle %u: has %u edges, expected at least 2",
			(unsigned)cycle + 1, (unsigned)range->count);
	kr_vec_clear(&c->of_edges);
	for (uint32_t i = 0; i < range->count; i++) {
		const struct kr_cert_edge *e = &cert->edges.at[range->first + i];
		const struct kr_cert_edge *next = &cert->edges.at[range->first + (i + 1) % range->count];

		KR_TRY(kr_edge_check(c->v, &c->facts, e, cycle, i, &sight));
		if (e->to.i != next->from.i)
			return kr_err_set(c->v->err, KR_BAD,
				"cycle %u: edge %u does not end where the next one begins",
				(unsigned)cycle + 1, (unsigned)i + 1);
		KR_TRY(kr_vec_add(c->mem, &c->of_edges, sight));
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	KR_TRY(kr_verify_pattern(c->v, cycle, &c->whole));
	c->whole = c->whole && !shows_two_states(&cert->edges.at[range->first], range->count);
	c->any_whole |= c->whole;
	kr_cases_begin(c);
	for (uint32_t i = 0; i < range->count; i++)
		KR_TRY(add_guard(c, &cert->edges.at[range->first + i], &c->of_edges.at[i]));
	c->whole = false;
	return kr_cases_end(c);
}

/* ---- the answer ---- */

/* How much a choice tells of an assignment: a source that was seen first, one that was not seen last. */
static unsigned worth_telling(const struct kr_cases *c, uint32_t choice)
{
	switch ((enum kr_cases_choice_kind)c->choices.at[choice].kind) {
	case KR_CHOICE_SOURCE:
		return c->choices.at[choice].forced ? 0 : kr_sat_value(&c->sat, choice) ? 4 : 1;
	case KR_CHOICE_ORDER: return 3;
	case KR_CHOICE_PRESENCE: return 2;
	case KR_CHOICE_INITIAL:
	case KR_CHOICE_INITIAL_ABSENT:
	case KR_CHOICE_INITIAL_FITS:
	case KR_CHOICE_MEMBER:
	case KR_CHOICE_PREFIX: break;
	}
	return 0;
}

/* Says in which case no cycle is closed, naming one choice. */
static enum kr_status tell_escape(const struct kr_cases *c)
{
	static const char left[] = "the cases are not exhausted: left is one where";
	const struct kr_history *h = c->v->h;
	const struct kr_cases_choice *best = NULL;
	unsigned worth = 0;
	bool yes = false;

	for (uint32_t i = 0; i < c->choices.n; i++) {
		if (worth_telling(c, i) <= worth)
			continue;
		worth = worth_telling(c, i);
		best = &c->choices.at[i];
		yes = kr_sat_value(&c->sat, i);
	}
	if (!best)
		return kr_err_set(c->v->err, KR_BAD,
			"the cases are not exhausted: no cycle follows from the history");
	if (best->kind == KR_CHOICE_SOURCE) {
		const struct kr_sight *s = &c->sights.at[best->a];
		return kr_err_set(c->v->err, KR_BAD, "%s operation %u of %s %s %s by %s", left,
			(unsigned)s->op, kr_verify_txn_name(h, s->txn).text, yes ? "saw" : "did not see",
			kr_verify_key_name(h, s->key).text, kr_verify_txn_name(h, (kr_txn){best->b}).text);
	}
	if (best->kind == KR_CHOICE_ORDER)
		return kr_err_set(c->v->err, KR_BAD, "%s %s comes before %s as writer of %s", left,
			kr_verify_txn_name(h, (kr_txn){yes ? best->b : best->c}).text,
			kr_verify_txn_name(h, (kr_txn){yes ? best->c : best->b}).text,
			kr_verify_key_name(h, (kr_key){best->a}).text);
	return kr_err_set(c->v->err, KR_BAD, "%s %s took %s", left,
		kr_verify_txn_name(h, (kr_txn){best->a}).text, yes ? "effect" : "no effect");
}

static enum kr_status bring_in_all(struct kr_cases *c)
{
	c->all = true;
	for (uint32_t t = 0; t < c->v->h->txns.n; t++)
		if (c->v->h->txns.at[t].status != KR_ABORTED)
			KR_TRY(kr_vec_add(c->mem, &c->txns, (kr_txn){t}));
	return KR_OK;
}

/* Whether a case is left, by what the history says of the choices that the cycles rest on, or by all that it
 * says; without a cycle it is what was seen alone that cannot be. */
static enum kr_status decide(struct kr_cases *c, bool all, bool *left)
{
	c->blind = kr_verify_is_blind(c->v->rule);
	for (uint32_t i = 0; i < c->v->cert->cycles.n; i++)
		KR_TRY(add_cycle(c, i));
	if (all)
		KR_TRY(bring_in_all(c));
	KR_TRY(kr_cases_add_facts(c));
	return kr_sat_solve(&c->sat, c->v->ctx, left);
}

static enum kr_status tell(const struct kr_cases *c)
{
	if (c->any_whole)
		return kr_err_set(c->v->err, KR_UNSUPPORTED,
			"which version of a key was seen, of which parts were, where ww does not count");
	if (c->skipped)
		return kr_err_set(c->v->err, KR_UNSUPPORTED,
			"what was seen of a counter has too many explanations to be checked");
	if (c->lists)
		return kr_err_set(c->v->err, KR_UNSUPPORTED,
			"the order of what a list of untold initial value shows");
	return tell_escape(c);
}

enum kr_status kr_verify_cycles(struct kr_verifier *v)
{
	struct kr_cases c;
	bool left = true;
	enum kr_status status = KR_OK;

	for (int all = v->cert->cycles.n == 0; all < 2 && left && status == KR_OK; all++) {
		status = kr_cases_init(&c, v);
		if (status == KR_OK)
			status = decide(&c, all, &left);
		if (status == KR_OK && left && all)
			status = tell(&c);
		kr_cases_done(&c);
	}
	return status;
}

/* ---- one edge ---- */

/* Says that the guard of the edge holds, one clause for each literal, or that it fails. */
static enum kr_status suppose(struct kr_cases *c, const struct kr_cert_edge *e, const struct kr_sight *sight,
	bool holds)
{
	uint32_t literals[GUARD_MOST], n;

	KR_TRY(find_guard(c, e, sight, literals, &n));
	kr_cases_begin(c);
	for (uint32_t i = 0; i < n; i++) {
		KR_TRY(kr_cases_add(c, holds ? literals[i] : kr_cases_negate(literals[i])));
		if (holds && i + 1 < n) {
			KR_TRY(kr_cases_end(c));
			kr_cases_begin(c);
		}
	}
	return kr_cases_end(c);
}

/* Does some world have the edge (or not have it, if not `holds`)? What cannot be excluded counts as
 * possible. */
static enum kr_status is_possible(struct kr_verifier *v, uint32_t edge, bool holds, bool *possible)
{
	struct kr_cases c;
	struct kr_sight sight = {0};
	enum kr_status status = kr_cases_init(&c, v);

	if (status == KR_OK)
		status = kr_edge_check(v, &c.facts, &v->cert->edges.at[edge], 0, edge, &sight);
	if (status == KR_OK)
		status = suppose(&c, &v->cert->edges.at[edge], &sight, holds);
	if (status == KR_OK)
		status = kr_cases_add_facts(&c);
	if (status == KR_OK)
		status = kr_sat_solve(&c.sat, v->ctx, possible);
	kr_cases_done(&c);
	return status;
}

enum kr_status kr_verify_edge(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_certificate *cert, uint32_t edge, enum kr_edge_truth *out, struct kr_err *why)
{
	struct kr_verifier v = {.ctx = ctx, .h = h, .cert = cert, .err = why};
	struct kr_rule stated;
	bool can_fail = true, can_hold = true;
	enum kr_status status = kr_verify_find_rule(&v, &stated);

	if (status == KR_OK)
		status = is_possible(&v, edge, false, &can_fail);
	if (status == KR_OK && can_fail)
		status = is_possible(&v, edge, true, &can_hold);
	if (status == KR_OK && !can_hold)
		kr_err_set(why, KR_BAD,
			"no choice of what was seen and of which version came first allows it");
	*out = status == KR_BAD || !can_hold ? KR_EDGE_NEVER : can_fail ? KR_EDGE_SOMETIMES : KR_EDGE_ALWAYS;
	return status == KR_BAD ? KR_OK : status;
}

enum kr_status kr_verify_forbidden(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_certificate *cert, uint32_t cycle, struct kr_err *why)
{
	struct kr_verifier v = {.ctx = ctx, .h = h, .cert = cert, .err = why};
	struct kr_rule stated;
	bool whole;

	KR_TRY(kr_verify_find_rule(&v, &stated));
	return kr_verify_pattern(&v, cycle, &whole);
}

/* ---- what one operation saw ---- */

/* What is brought in to find that nothing explains what was claimed: more only if that does not do. What all
 * operations saw may have no explanation for another reason, so that all but the one claimed has to have
 * one. */
enum { BRING_CLAIMED, BRING_KEY, BRING_ALL_OTHERS, BRING_ALL };

static enum kr_status bring_claimed(struct kr_cases *c, const struct kr_claim *claim, int much)
{
	struct kr_sight sight;
	uint32_t id;
	KR_TRY(much >= BRING_ALL_OTHERS ? bring_in_all(c) : KR_OK);

	if (much == BRING_ALL_OTHERS)
		c->without = claim;
	if (!kr_facts_grows(&c->facts, claim->key) || claim->saw.predicate)
		return kr_facts_sight(&c->facts, claim->txn, claim->op, claim->key, (kr_value){KR_NONE},
			       &sight)
			? kr_cases_sight(c, &sight, &id)
			: KR_OK;
	return much ? kr_cases_bring_key(c, claim->key)
		    : kr_cases_bring_own(c, claim->key, claim->txn, claim->op);
}

static enum kr_status is_explained(const struct kr_claim *claim, int much, bool *explained, bool *skipped)
{
	struct kr_cases c;
	enum kr_status status = kr_cases_init(&c, claim->v);

	if (status == KR_OK)
		status = bring_claimed(&c, claim, much);
	if (status == KR_OK)
		status = kr_cases_add_facts(&c);
	if (status == KR_OK)
		status = kr_sat_solve(&c.sat, claim->v->ctx, explained);
	*skipped = c.skipped;
	kr_cases_done(&c);
	return status;
}

enum kr_status kr_claim_unexplained(const struct kr_claim *claim, bool all)
{
	bool explained = true, others = true, skipped = false;

	KR_TRY(is_explained(claim, all ? BRING_KEY : BRING_CLAIMED, &explained, &skipped));
	if (explained)
		KR_TRY(is_explained(claim, BRING_ALL_OTHERS, &others, &skipped));
	if (explained && others)
		KR_TRY(is_explained(claim, BRING_ALL, &explained, &skipped));
	if (!explained)
		return KR_OK;
	if (skipped)
		return kr_err_set(claim->v->err, KR_UNSUPPORTED,
			"what was seen of %s has too many explanations to be checked", claim->key_name.text);
	return kr_err_set(claim->v->err, KR_BAD, "operation %u of %s can have seen what it saw of %s",
		(unsigned)claim->op, claim->txn_name.text, claim->key_name.text);
}
