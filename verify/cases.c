/* Whether the cycles of a certificate exhaust the cases.
 *
 * Every edge holds under choices: which version an observation saw, which of two versions came first, whether an unknown transaction took effect.
 * A cycle says "not all of these"; the history says that what was observed has a source among its candidates, that a source took effect, that
 * two versions are ordered one way, as the trace gives it if it does, and that an untold initial value is one value. If no choice satisfies
 * all of this, every world has a forbidden cycle. Choices that no edge names are not made variables: as sources they only occur in "has a
 * source", so a committed writer or a told initial version among them makes that true, and an unknown writer stands there by its taking
 * effect. For the same reason nothing need say that an observation has only one source. Unknown transactions bring in what needs them to
 * have taken effect and what they need. Cost: near linear in the certificate, plus the search (sat.c). */
#include "base/hash.h"
#include "verify/edges.h"
#include "verify/given.h"
#include "verify/sat.h"

enum choice_kind {
	SOURCE,   /* observation a saw the version by transaction b (KR_NONE: the initial one) */
	ORDER,    /* of key a, the version by transaction b comes before the one by c; b < c */
	PRESENCE, /* transaction a took effect */
	INITIAL   /* the untold initial value of key a is value b */
};

struct choice {
	uint32_t kind, a, b, c;
	bool forced; /* the only source that there is: not worth telling */
};

struct sight {
	kr_txn txn;
	uint32_t op;
	kr_key key;
	struct kr_saw saw;
};

#define TRUE_LITERAL (KR_NONE - 1) /* literals that need no variable */
#define FALSE_LITERAL (KR_NONE - 2)

struct cases {
	struct kr_verifier *v;
	struct kr_facts facts;
	struct kr_given given;
	struct kr_sat sat;
	struct kr_mem *mem;
	KR_VEC(struct choice) choices; /* a choice's index is its variable */
	KR_VEC(struct sight) sights;   /* observations whose candidates matter */
	KR_VEC(kr_txn) todo;           /* unknown transactions that became variables, not yet looked at */
	KR_VEC(uint32_t) clause;
	bool holds; /* the clause being built has a true literal */
	struct kr_table choice_table, sight_table;
};

/* ---- clauses ---- */

static void clause_begin(struct cases *c)
{
	kr_vec_clear(&c->clause);
	c->holds = false;
}

static enum kr_status clause_add(struct cases *c, uint32_t literal)
{
	if (literal == TRUE_LITERAL)
		c->holds = true;
	else if (literal != FALSE_LITERAL && !kr_vec_push(c->mem, &c->clause, literal))
		return KR_NOMEM;
	return KR_OK;
}

static enum kr_status clause_end(struct cases *c) { return c->holds ? KR_OK : kr_sat_add(&c->sat, c->clause.at, c->clause.n); }

static enum kr_status imply(struct cases *c, uint32_t premise, uint32_t conclusion)
{
	const uint32_t literals[] = {kr_sat_not(premise), conclusion};

	return kr_sat_add(&c->sat, literals, 2);
}

static uint32_t negate(uint32_t literal)
{
	if (literal == TRUE_LITERAL)
		return FALSE_LITERAL;
	return literal == FALSE_LITERAL ? TRUE_LITERAL : kr_sat_not(literal);
}

/* ---- choices ---- */

static uint64_t choice_hash(const struct choice *x) { return kr_hash_pair(kr_hash_pair(x->kind, x->a), kr_hash_pair(x->b, x->c)); }

static uint32_t find_choice(const struct cases *c, const struct choice *x)
{
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&c->choice_table, choice_hash(x)); (id = kr_table_next(&c->choice_table, &it)) != KR_NONE;) {
		const struct choice *y = &c->choices.at[id];
		if (y->kind == x->kind && y->a == x->a && y->b == x->b && y->c == x->c)
			return id;
	}
	return KR_NONE;
}

/* The literal of a choice, which becomes a variable when it is not one yet. */
static enum kr_status choose(struct cases *c, struct choice x, uint32_t *literal)
{
	uint32_t id = find_choice(c, &x);

	if (id == KR_NONE) {
		if (!kr_table_reserve(c->mem, &c->choice_table) || !kr_vec_reserve(c->mem, &c->choices, 1) || !kr_vec_reserve(c->mem, &c->todo, 1) ||
			kr_sat_new_var(&c->sat, &id) != KR_OK)
			return KR_NOMEM;
		if (x.kind == PRESENCE)
			c->todo.at[c->todo.n++] = (kr_txn){x.a};
		c->choices.at[c->choices.n++] = x;
		kr_table_insert(&c->choice_table, choice_hash(&x), id);
	}
	*literal = kr_sat_yes(id);
	return KR_OK;
}

static enum kr_status presence(struct cases *c, kr_txn t, uint32_t *literal)
{
	if (c->v->h->txns.at[t.i].status != KR_UNKNOWN) {
		*literal = TRUE_LITERAL;
		return KR_OK;
	}
	if (c->facts.impossible[t.i]) {
		*literal = FALSE_LITERAL;
		return KR_OK;
	}
	return choose(c, (struct choice){PRESENCE, t.i, 0, 0, false}, literal);
}

/* That observation `s` saw the version of `writer`; then that one took effect. */
static enum kr_status source(struct cases *c, uint32_t s, kr_txn writer, uint32_t *literal)
{
	const struct sight sight = c->sights.at[s];
	uint32_t writer_present, known = c->choices.n;
	enum kr_status status;

	if (kr_facts_excluded(&c->facts, sight.key, &sight.saw, writer)) {
		*literal = FALSE_LITERAL;
		return KR_OK;
	}
	status = choose(c, (struct choice){SOURCE, s, writer.i, 0, false}, literal);
	if (status != KR_OK || c->choices.n == known || writer.i == KR_NONE)
		return status;
	status = presence(c, writer, &writer_present);
	return status == KR_OK && writer_present != TRUE_LITERAL ? imply(c, *literal, writer_present) : status;
}

static enum kr_status order(struct cases *c, kr_key k, kr_txn a, kr_txn b, uint32_t *literal)
{
	bool before = false, after = false, swap = a.i > b.i;
	enum kr_status status;

	*literal = TRUE_LITERAL;
	if (a.i == KR_NONE)
		return KR_OK;
	status = kr_given_precedes(&c->given, k, a, b, &before);
	if (status == KR_OK && !before)
		status = kr_given_precedes(&c->given, k, b, a, &after);
	if (status != KR_OK || before)
		return status;
	if (after) {
		*literal = FALSE_LITERAL;
		return KR_OK;
	}
	status = choose(c, (struct choice){ORDER, k.i, swap ? b.i : a.i, swap ? a.i : b.i, false}, literal);
	if (swap)
		*literal = negate(*literal);
	return status;
}

/* ---- observations ---- */

static enum kr_status find_sight(struct cases *c, const struct sight *x, uint32_t *out)
{
	uint64_t hash = kr_hash_pair(kr_hash_pair(x->txn.i, x->op), x->key.i);

	for (kr_table_iter it = kr_table_find(&c->sight_table, hash); (*out = kr_table_next(&c->sight_table, &it)) != KR_NONE;) {
		const struct sight *y = &c->sights.at[*out];
		if (y->txn.i == x->txn.i && y->op == x->op && y->key.i == x->key.i)
			return KR_OK;
	}
	*out = c->sights.n;
	if (!kr_table_reserve(c->mem, &c->sight_table) || !kr_vec_push(c->mem, &c->sights, *x))
		return KR_NOMEM;
	kr_table_insert(&c->sight_table, hash, *out);
	return KR_OK;
}

/* What "observation s saw the initial version" says of an untold initial value; TRUE_LITERAL: nothing. */
static enum kr_status initial_value(struct cases *c, const struct sight *s, uint32_t *literal)
{
	enum kr_status status;

	*literal = TRUE_LITERAL;
	if (!c->facts.untold || c->facts.pins[2 * (size_t)s->key.i].i != KR_NONE || (s->saw.test != KR_SAW_VALUE && s->saw.test != KR_SAW_OTHER))
		return KR_OK;
	status = choose(c, (struct choice){INITIAL, s->key.i, s->saw.value.i, 0, false}, literal);
	if (s->saw.test == KR_SAW_OTHER)
		*literal = negate(*literal);
	return status;
}

/* Adds to the clause that `writer` is the source of observation s. */
static enum kr_status add_candidate(struct cases *c, uint32_t s, kr_txn writer)
{
	const struct sight sight = c->sights.at[s];
	const struct choice named = {SOURCE, s, writer.i, 0, false};
	uint32_t id = find_choice(c, &named), literal;
	enum kr_status status;

	if (id != KR_NONE)
		return clause_add(c, kr_sat_yes(id));
	status = writer.i == KR_NONE ? initial_value(c, &sight, &literal) : presence(c, writer, &literal);
	return status == KR_OK ? clause_add(c, literal) : status;
}

/* The facts about observation s: if its transaction took effect, it has a source; seeing the initial version says what its value is. */
static enum kr_status add_sight(struct cases *c, uint32_t s)
{
	const struct sight sight = c->sights.at[s];
	const struct choice initial = {SOURCE, s, KR_NONE, 0, false};
	uint32_t id = find_choice(c, &initial), literal;
	kr_txn writer;
	bool found;
	enum kr_status status = KR_OK;

	if (id != KR_NONE) {
		status = initial_value(c, &sight, &literal);
		if (status == KR_OK && literal != TRUE_LITERAL)
			status = imply(c, kr_sat_yes(id), literal);
		if (status != KR_OK)
			return status;
	}
	clause_begin(c);
	status = presence(c, sight.txn, &literal);
	if (status == KR_OK)
		status = clause_add(c, negate(literal));
	for (struct kr_facts_iter it = kr_facts_candidates(&c->facts, sight.key, &sight.saw, sight.txn); status == KR_OK && !c->holds;) {
		status = kr_facts_next(&c->facts, &it, &found, &writer, c->v->err);
		if (status == KR_OK && !found)
			break;
		if (status == KR_OK)
			status = add_candidate(c, s, writer);
		if (status == KR_OK)
			status = kr_ctx_tick(c->v->ctx);
	}
	if (status == KR_OK && !c->holds && c->clause.n == 1)
		c->choices.at[c->clause.at[0] >> 1].forced = true;
	return status == KR_OK ? clause_end(c) : status;
}

/* ---- what unknown transactions bring in ---- */

static enum kr_status bring_observers(struct cases *c, uint32_t low, uint32_t high)
{
	enum kr_status status;
	uint32_t id;

	for (uint32_t i = low; i < high; i++) {
		const struct kr_fact_sight *s = &c->facts.sights[i];
		struct kr_saw saw = {.test = s->other ? KR_SAW_OTHER : KR_SAW_VALUE, .value = s->value};

		if ((status = kr_ctx_tick(c->v->ctx)) != KR_OK || (status = find_sight(c, &(struct sight){s->txn, s->op, s->key, saw}, &id)) != KR_OK)
			return status;
	}
	return KR_OK;
}

/* The observations that may have seen operation `op` of an unknown transaction, and its own. */
static enum kr_status bring_in_op(struct cases *c, kr_txn t, uint32_t index)
{
	const struct kr_history *h = c->v->h;
	const struct kr_facts *f = &c->facts;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
	uint32_t seen = kr_saw_count(h, op), effects = kr_effect_count(h, op), id;
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; status == KR_OK && i < seen; i++) {
		kr_key k = kr_saw_key(h, op, i);
		struct kr_saw saw = kr_saw_of(h, op, k);
		if ((saw.test == KR_SAW_VALUE || saw.test == KR_SAW_OTHER) && !kr_facts_grows(f, k) && kr_facts_external(f, k, t, index))
			status = find_sight(c, &(struct sight){t, index, k, saw}, &id);
	}
	for (uint32_t i = 0; status == KR_OK && i < effects; i++) {
		kr_key k = kr_effect_at(h, op, i).key;
		const struct kr_fact_version *version = kr_facts_version(f, k, t);
		if (version->last_op != index || kr_facts_grows(f, k))
			continue;
		status = bring_observers(c, kr_facts_first_sight(f, k, version->value.i), kr_facts_first_sight(f, k, version->value.i + 1));
		if (status == KR_OK)
			status = bring_observers(c, kr_facts_first_sight(f, k, KR_NONE), f->sight_first[k.i + 1]);
	}
	return status;
}

/* Facts of all observations that matter, until neither these nor unknown transactions bring in more. */
static enum kr_status add_sights(struct cases *c)
{
	enum kr_status status = KR_OK;

	for (uint32_t next = 0; status == KR_OK && (next < c->sights.n || c->todo.n > 0);) {
		if (next < c->sights.n) {
			status = add_sight(c, next++);
			continue;
		}

		kr_txn t = kr_vec_pop(&c->todo);

		for (uint32_t i = 0; status == KR_OK && i < c->v->h->txns.at[t.i].op_count; i++)
			status = bring_in_op(c, t, i);
	}
	return status;
}

/* ---- untold initial values ---- */

/* Says that an untold initial value is one value: a chain of variables per key, "it is one of the values so far", beside the choices of that key. `last` has, per
 * key, the newest variable of its chain. */
static enum kr_status add_initials(struct cases *c)
{
	uint32_t nkeys = c->v->h->keys.n, *last = kr_mem_alloc(c->mem, nkeys, sizeof *last), so_far;
	enum kr_status status = last ? KR_OK : KR_NOMEM;

	for (uint32_t k = 0; status == KR_OK && k < nkeys; k++)
		last[k] = KR_NONE;
	for (uint32_t i = 0; status == KR_OK && i < c->choices.n; i++) {
		const struct choice *x = &c->choices.at[i];

		if (x->kind != INITIAL)
			continue;
		status = kr_sat_new_var(&c->sat, &so_far);
		if (status == KR_OK && last[x->a] != KR_NONE)
			status = imply(c, kr_sat_yes(last[x->a]), kr_sat_not(kr_sat_yes(i)));
		if (status == KR_OK && last[x->a] != KR_NONE)
			status = imply(c, kr_sat_yes(last[x->a]), kr_sat_yes(so_far));
		if (status == KR_OK)
			status = imply(c, kr_sat_yes(i), kr_sat_yes(so_far));
		last[x->a] = so_far;
	}
	kr_mem_free(c->mem, last, nkeys, sizeof *last);
	return status;
}

/* ---- cycles ---- */

/* Adds to the clause that the guard of an edge fails. */
static enum kr_status add_guard(struct cases *c, const struct kr_cert_edge *e, const struct kr_saw *saw)
{
	uint32_t literal, s;
	enum kr_status status = presence(c, e->from, &literal);

	if (status == KR_OK)
		status = clause_add(c, negate(literal));
	if (status == KR_OK)
		status = presence(c, e->to, &literal);
	if (status == KR_OK)
		status = clause_add(c, negate(literal));
	if (status == KR_OK && (e->kind == KR_WR || e->kind == KR_RW)) {
		kr_txn writer = e->kind == KR_WR ? e->from : e->source;
		status = find_sight(c, &(struct sight){kr_edge_observer(e), e->op, e->key, *saw}, &s);
		if (status == KR_OK)
			status = source(c, s, writer, &literal);
		if (status == KR_OK)
			status = clause_add(c, negate(literal));
	}
	if (status == KR_OK && (e->kind == KR_WW || e->kind == KR_RW)) {
		status = order(c, e->key, e->kind == KR_WW ? e->from : e->source, e->to, &literal);
		if (status == KR_OK)
			status = clause_add(c, negate(literal));
	}
	return status;
}

static enum kr_status add_cycle(struct cases *c, uint32_t cycle)
{
	const struct kr_certificate *cert = c->v->cert;
	const struct kr_cert_cycle *range = &cert->cycles.at[cycle];
	enum kr_status status = KR_OK;
	struct kr_saw saw = {0};

	if (range->count < 2 || range->first > cert->edges.n || range->count > cert->edges.n - range->first)
		return kr_err_set(c->v->err, KR_BAD, "cycle %u: has %u edges, expected at least 2", (unsigned)cycle + 1, (unsigned)range->count);
	clause_begin(c);
	for (uint32_t i = 0; status == KR_OK && i < range->count; i++) {
		const struct kr_cert_edge *e = &cert->edges.at[range->first + i];
		const struct kr_cert_edge *next = &cert->edges.at[range->first + (i + 1) % range->count];

		status = kr_edge_check(c->v, &c->facts, e, cycle, i, &saw);
		if (status == KR_OK && e->to.i != next->from.i)
			return kr_err_set(c->v->err, KR_BAD, "cycle %u: edge %u does not end where the next one begins", (unsigned)cycle + 1, (unsigned)i + 1);
		if (status == KR_OK)
			status = add_guard(c, e, &saw);
		if (status == KR_OK)
			status = kr_ctx_tick(c->v->ctx);
	}
	return status == KR_OK ? clause_end(c) : status;
}

/* ---- the answer ---- */

/* How much a choice tells of an assignment: a source that was seen first, one that was not seen last. */
static unsigned worth_telling(const struct cases *c, uint32_t choice)
{
	switch ((enum choice_kind)c->choices.at[choice].kind) {
	case SOURCE: return c->choices.at[choice].forced ? 0 : kr_sat_value(&c->sat, choice) ? 4 : 1;
	case ORDER: return 3;
	case PRESENCE: return 2;
	case INITIAL: break;
	}
	return 0;
}

/* Says in which case no cycle is closed, naming one choice. */
static enum kr_status tell_escape(const struct cases *c)
{
	static const char left[] = "the cases are not exhausted: left is one where";
	const struct kr_history *h = c->v->h;
	const struct choice *best = NULL;
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
		return kr_err_set(c->v->err, KR_BAD, "the cases are not exhausted: no cycle follows from the history");
	if (best->kind == SOURCE) {
		const struct sight *s = &c->sights.at[best->a];
		return kr_err_set(c->v->err, KR_BAD, "%s operation %u of %s %s %s by %s", left, (unsigned)s->op, kr_verify_txn_name(h, s->txn).text,
			yes ? "saw" : "did not see", kr_verify_key_name(h, s->key).text, kr_verify_txn_name(h, (kr_txn){best->b}).text);
	}
	if (best->kind == ORDER)
		return kr_err_set(c->v->err, KR_BAD, "%s %s comes before %s as writer of %s", left,
			kr_verify_txn_name(h, (kr_txn){yes ? best->b : best->c}).text, kr_verify_txn_name(h, (kr_txn){yes ? best->c : best->b}).text,
			kr_verify_key_name(h, (kr_key){best->a}).text);
	return kr_err_set(c->v->err, KR_BAD, "%s %s took %s", left, kr_verify_txn_name(h, (kr_txn){best->a}).text, yes ? "effect" : "no effect");
}

static enum kr_status decide(struct cases *c)
{
	enum kr_status status = KR_OK;
	bool satisfiable = false;

	for (uint32_t i = 0; status == KR_OK && i < c->v->cert->cycles.n; i++)
		status = add_cycle(c, i);
	if (status == KR_OK)
		status = add_sights(c);
	if (status == KR_OK && c->facts.untold)
		status = add_initials(c);
	if (status == KR_OK)
		status = kr_sat_solve(&c->sat, c->v->ctx, &satisfiable);
	return status == KR_OK && satisfiable ? tell_escape(c) : status;
}

enum kr_status kr_verify_cycles(struct kr_verifier *v)
{
	struct kr_mem *mem = &v->ctx->mem;
	struct cases c = {.v = v, .mem = mem};
	enum kr_status status;

	if (v->cert->cycles.n == 0)
		return kr_err_set(v->err, KR_BAD, "the certificate has no cycle");
	status = kr_facts_init(&c.facts, v->ctx, v->h, v->err);
	if (status != KR_OK)
		return status;
	kr_sat_init(&c.sat, mem);
	status = kr_given_init(&c.given, v->ctx, v->h);
	if (status == KR_OK) {
		status = decide(&c);
		kr_given_done(&c.given);
	}
	kr_sat_done(&c.sat);
	kr_facts_done(&c.facts);
	kr_vec_done(mem, &c.choices);
	kr_vec_done(mem, &c.sights);
	kr_vec_done(mem, &c.todo);
	kr_vec_done(mem, &c.clause);
	kr_table_done(mem, &c.choice_table);
	kr_table_done(mem, &c.sight_table);
	return status;
}
