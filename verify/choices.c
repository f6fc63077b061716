/* What the history says of the choices that cycles rest on, put together anew from the history alone.
 *
 * What was observed has a source among its candidates, if its transaction took effect; a source took effect;
 * two versions are ordered one way, as the trace gives it if it does; an untold initial value is one value.
 * Choices that no edge names are not made variables: as sources they would only occur in "has a source", so a
 * committed writer or a told initial version among them makes that true, and an unknown writer stands there
 * by its taking effect. For the same reason nothing need say that an observation has only one source: guards
 * deny sources, so a solution with two is one with either. An unknown transaction brings in the observations
 * that may have seen it and its own, of which two may need an untold initial value to be different ones; a
 * key whose untold initial value matters, all of its observations. Cost: near linear in the certificate and
 * what it brings in. */
#include "verify/cases.h"
#include "verify/claim.h"

#include "base/hash.h"

/* ---- clauses ---- */

void kr_cases_begin(struct kr_cases *c)
{
	kr_vec_clear(&c->clause);
	c->holds = false;
}

enum kr_status kr_cases_add(struct kr_cases *c, uint32_t literal)
{
	if (literal == KR_LITERAL_TRUE)
		c->holds = true;
	else if (literal != KR_LITERAL_FALSE && !kr_vec_push(c->mem, &c->clause, literal))
		return KR_NOMEM;
	return KR_OK;
}

enum kr_status kr_cases_end(struct kr_cases *c)
{
	return c->holds ? KR_OK : kr_sat_add(&c->sat, c->clause.at, c->clause.n);
}

enum kr_status kr_cases_imply(struct kr_cases *c, uint32_t premise, uint32_t conclusion)
{
	const uint32_t literals[] = {kr_sat_not(premise), conclusion};

	return kr_sat_add(&c->sat, literals, 2);
}

uint32_t kr_cases_negate(uint32_t literal)
{
	if (literal == KR_LITERAL_TRUE)
		return KR_LITERAL_FALSE;
	return literal == KR_LITERAL_FALSE ? KR_LITERAL_TRUE : kr_sat_not(literal);
}

/* ---- choices ---- */

static uint64_t choice_hash(const struct kr_cases_choice *x)
{
	return kr_hash_pair(kr_hash_pair(x->kind, x->a), kr_hash_pair(x->b, x->c));
}

static uint32_t find_choice(const struct kr_cases *c, const struct kr_cases_choice *x)
{
	const struct kr_cases_choice *y = c->choices.at;
	uint32_t id;

	KR_TABLE_FIND(id, &c->choice_table, choice_hash(x),
		y[id].kind == x->kind && y[id].a == x->a && y[id].b == x->b && y[id].c == x->c);
	return id;
}

/* The literal of a choice, which becomes a variable when it is not one yet. */
enum kr_status kr_cases_choose(struct kr_cases *c, struct kr_cases_choice x, uint32_t *literal)
{
	uint32_t id = find_choice(c, &x);

	if (id == KR_NONE) {
		if (!kr_table_reserve(c->mem, &c->choice_table) || !kr_vec_reserve(c->mem, &c->choices, 1) ||
			!kr_vec_reserve(c->mem, &c->txns, 1) || !kr_vec_reserve(c->mem, &c->keys, 1) ||
			kr_sat_new_var(&c->sat, &id) != KR_OK)
			return KR_NOMEM;
		if (x.kind == KR_CHOICE_PRESENCE)
			c->txns.at[c->txns.n++] = (kr_txn){x.a};
		if ((x.kind == KR_CHOICE_INITIAL || x.kind == KR_CHOICE_INITIAL_ABSENT ||
			    x.kind == KR_CHOICE_MEMBER) &&
			!c->is_brought[x.a]) {
			c->is_brought[x.a] = true;
			c->keys.at[c->keys.n++] = (kr_key){x.a};
		}
		c->choices.at[c->choices.n++] = x;
		kr_table_insert(&c->choice_table, choice_hash(&x), id);
	}
	*literal = kr_sat_yes(id);
	return KR_OK;
}

enum kr_status kr_cases_new(struct kr_cases *c, uint32_t *literal)
{
	uint32_t id;

	if (!kr_vec_reserve(c->mem, &c->choices, 1) || kr_sat_new_var(&c->sat, &id) != KR_OK)
		return KR_NOMEM;
	c->choices.at[c->choices.n++] = (struct kr_cases_choice){.kind = KR_CHOICE_PREFIX, .a = id};
	*literal = kr_sat_yes(id);
	return KR_OK;
}

enum kr_status kr_cases_presence(struct kr_cases *c, kr_txn t, uint32_t *literal)
{
	if (c->v->h->txns.at[t.i].status != KR_UNKNOWN || c->facts.impossible[t.i]) {
		*literal = c->v->h->txns.at[t.i].status != KR_UNKNOWN ? KR_LITERAL_TRUE : KR_LITERAL_FALSE;
		return KR_OK;
	}
	return kr_cases_choose(c, (struct kr_cases_choice){KR_CHOICE_PRESENCE, t.i, 0, 0, false}, literal);
}

/* That observation `s` saw the version of `writer`; then that one took effect. */
enum kr_status kr_cases_source(struct kr_cases *c, uint32_t s, kr_txn writer, uint32_t *literal)
{
	const struct kr_sight sight = c->sights.at[s];
	uint32_t writer_present, known = c->choices.n;

	if (kr_facts_excluded(&c->facts, &sight, writer)) {
		*literal = KR_LITERAL_FALSE;
		return KR_OK;
	}
	KR_TRY(kr_cases_choose(c, (struct kr_cases_choice){KR_CHOICE_SOURCE, s, writer.i, 0, false},
		literal));
	if (c->choices.n == known || writer.i == KR_NONE)
		return KR_OK;
	KR_TRY(kr_cases_presence(c, writer, &writer_present));
	return writer_present == KR_LITERAL_TRUE ? KR_OK : kr_cases_imply(c, *literal, writer_present);
}

static uint32_t version_index(const struct kr_cases *c, kr_key k, kr_txn t)
{
	return (uint32_t)(kr_facts_version(&c->facts, k, t) - c->facts.versions);
}

/* The order that lists of a key that is deleted show, as below: each tells of those that it shows. */
static enum kr_status order_in_some(const struct kr_cases *c, kr_key k, kr_txn a, kr_txn b, uint32_t *literal)
{
	const struct kr_facts *f = &c->facts;
	const struct kr_grow *g = f->grow;
	uint32_t x, y = KR_GROW_VAGUE;

	for (uint32_t i = g->sight_first[k.i]; i < g->sight_first[k.i + 1] && *literal == KR_NONE; i++) {
		if (c->v->h->txns.at[g->sights[i].txn.i].status != KR_COMMITTED)
			continue;
		KR_TRY(kr_grow_rank_in(f, &g->sights[i], version_index(c, k, a), &x));
		if (x != KR_GROW_VAGUE)
			KR_TRY(kr_grow_rank_in(f, &g->sights[i], version_index(c, k, b), &y));
		if (x != KR_GROW_VAGUE && y != KR_GROW_VAGUE && x != y)
			*literal = x < y ? KR_LITERAL_TRUE : KR_LITERAL_FALSE;
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	return KR_OK;
}

/* The order that the lists or sets read by committed transactions show, as a constant; KR_NONE: they do not
 * tell. */
static enum kr_status order_shown(struct kr_cases *c, kr_key k, kr_txn a, kr_txn b, uint32_t *literal)
{
	enum kr_grow_mode mode = kr_facts_mode(&c->facts, k);
	uint32_t x = KR_GROW_VAGUE, y = KR_GROW_VAGUE;

	*literal = KR_NONE;
	if (c->blind || (mode != KR_GROW_LIST && mode != KR_GROW_SET))
		return KR_OK;
	c->lists |= mode == KR_GROW_LIST && c->facts.untold;
	if (mode == KR_GROW_LIST && c->facts.grow->deleted[k.i])
		return order_in_some(c, k, a, b, literal);
	KR_TRY(kr_grow_rank(&c->facts, k, version_index(c, k, a), &x));
	KR_TRY(kr_grow_rank(&c->facts, k, version_index(c, k, b), &y));
	if (x != KR_GROW_VAGUE && y != KR_GROW_VAGUE && x != y)
		*literal = x < y ? KR_LITERAL_TRUE : KR_LITERAL_FALSE;
	return KR_OK;
}

static enum kr_status order_given(struct kr_cases *c, kr_key k, kr_txn a, kr_txn b, uint32_t *literal)
{
	bool before = false, after = false;

	KR_TRY(kr_given_precedes(&c->given, k, a, b, &before));
	if (!before)
		KR_TRY(kr_given_precedes(&c->given, k, b, a, &after));
	*literal = before ? KR_LITERAL_TRUE : after ? KR_LITERAL_FALSE : KR_NONE;
	return KR_OK;
}

/* Not both took effect. Beside a clause that is being built. */
static enum kr_status exclude_either(struct kr_cases *c, kr_txn a, kr_txn b)
{
	uint32_t literals[2], n = 0;

	for (int i = 0; i < 2; i++) {
		uint32_t present;

		KR_TRY(kr_cases_presence(c, i ? b : a, &present));
		if (present == KR_LITERAL_FALSE)
			return KR_OK;
		if (present != KR_LITERAL_TRUE)
			literals[n++] = kr_sat_not(present);
	}
	return kr_sat_add(&c->sat, literals, n);
}

/* A constant, or KR_NONE. An order that the trace gives and a list contradicts leaves no world in which both
 * took effect. */
enum kr_status kr_cases_known_order(struct kr_cases *c, kr_key k, kr_txn a, kr_txn b, uint32_t *literal)
{
	uint32_t shown;
	KR_TRY(order_given(c, k, a, b, literal));
	KR_TRY(order_shown(c, k, a, b, &shown));
	if (shown == KR_NONE)
		return KR_OK;
	if (*literal != KR_NONE && *literal != shown)
		KR_TRY(exclude_either(c, a, b));
	*literal = shown;
	return KR_OK;
}

enum kr_status kr_cases_order(struct kr_cases *c, kr_key k, kr_txn a, kr_txn b, uint32_t *literal)
{
	bool lists = kr_facts_mode(&c->facts, k) == KR_GROW_LIST && c->facts.unknowns && !c->blind,
	     swap = a.i > b.i;
	struct kr_cases_choice choice = {KR_CHOICE_ORDER, k.i, swap ? b.i : a.i, swap ? a.i : b.i, false};
	uint32_t known, chosen, count = c->choices.n;

	*literal = KR_LITERAL_TRUE;
	if (a.i == KR_NONE)
		return KR_OK;
	KR_TRY(kr_cases_known_order(c, k, a, b, &known));
	*literal = known;
	if (known != KR_NONE && !lists)
		return KR_OK;
	KR_TRY(kr_cases_choose(c, choice, &chosen));
	if (swap)
		chosen = kr_sat_not(chosen);
	*literal = known == KR_NONE ? chosen : known;
	if (!lists || count == c->choices.n)
		return KR_OK;
	if (known != KR_NONE) { /* lists read by unknown transactions may say otherwise */
		uint32_t unit = known == KR_LITERAL_TRUE ? chosen : kr_sat_not(chosen);
		KR_TRY(kr_sat_add(&c->sat, &unit, 1));
	}
	return kr_cases_add_list_order(c, k, version_index(c, k, a), version_index(c, k, b), chosen);
}

/* ---- observations ---- */

enum kr_status kr_cases_sight(struct kr_cases *c, const struct kr_sight *x, uint32_t *out)
{
	uint64_t hash = kr_hash_pair(kr_hash_pair(x->txn.i, x->op), kr_hash_pair(x->key.i, x->part.i));
	const struct kr_sight *y = c->sights.at;

	KR_TABLE_FIND(*out, &c->sight_table, hash,
		y[*out].txn.i == x->txn.i && y[*out].op == x->op && y[*out].key.i == x->key.i &&
			y[*out].part.i == x->part.i);
	if (*out != KR_NONE)
		return KR_OK;
	*out = c->sights.n;
	return kr_table_push(c->mem, &c->sight_table, hash, &c->sights, *x) ? KR_OK : KR_NOMEM;
}

/* Adds to the clause that `writer` is the source of observation s. */
static enum kr_status add_candidate(struct kr_cases *c, uint32_t s, kr_txn writer)
{
	const struct kr_cases_choice named = {KR_CHOICE_SOURCE, s, writer.i, 0, false};
	uint32_t id = find_choice(c, &named), literal;

	if (id != KR_NONE)
		return kr_cases_add(c, kr_sat_yes(id));
	KR_TRY(writer.i == KR_NONE ? kr_cases_initial(c, s, &literal)
				   : kr_cases_presence(c, writer, &literal));
	return kr_cases_add(c, literal);
}

/* The parts of a counter are tied together by their sum. It names all sources of its parts, so it has to be
 * said before what is left to unnamed ones. */
static enum kr_status add_whole(struct kr_cases *c, const struct kr_sight *part)
{
	struct kr_sight whole = *part;
	uint32_t id;

	whole.part = (kr_value){KR_NONE};
	whole.summed = false;
	KR_TRY(kr_cases_sight(c, &whole, &id));
	if (c->sights.at[id].summed)
		return KR_OK;
	c->sights.at[id].summed = true;
	return kr_cases_add_sum(c, id);
}

/* What the claimed operation saw of its key, or another one that saw the same value: neither has an
 * explanation if the other has none. */
static bool is_claimed(const struct kr_claim *claim, const struct kr_sight *s)
{
	bool same = claim->saw.test == KR_SAW_VALUE && s->saw.test == KR_SAW_VALUE &&
		claim->saw.value.i == s->saw.value.i;
	return claim->key.i == s->key.i && (same || (claim->txn.i == s->txn.i && claim->op == s->op));
}

/* The facts about observation s: if its transaction took effect, it has a source; seeing the initial version
 * says what its value is. */
static enum kr_status add_sight(struct kr_cases *c, uint32_t s)
{
	const struct kr_sight sight = c->sights.at[s];
	const struct kr_cases_choice initial = {KR_CHOICE_SOURCE, s, KR_NONE, 0, false};
	uint32_t literal;
	enum kr_grow_mode mode = kr_facts_mode(&c->facts, sight.key);
	struct kr_facts_iter it = kr_facts_candidates(&c->facts, &sight);
	kr_txn writer;
	bool found = true;

	if (c->without && is_claimed(c->without, &sight))
		return KR_OK;
	if (mode == KR_GROW_SUM)
		KR_TRY(add_whole(c, &sight));
	if (mode == KR_GROW_LIST)
		KR_TRY(kr_cases_add_list(c, s));
	if (c->any_whole && sight.part.i == KR_NONE && (mode == KR_GROW_SET || mode == KR_GROW_SUM))
		KR_TRY(kr_cases_add_window(c, s));
	uint32_t id = find_choice(c, &initial);
	if (id != KR_NONE) {
		KR_TRY(kr_cases_initial(c, s, &literal));
		if (literal != KR_LITERAL_TRUE)
			KR_TRY(kr_cases_imply(c, kr_sat_yes(id), literal));
	}
	kr_cases_begin(c);
	KR_TRY(kr_cases_presence(c, sight.txn, &literal));
	KR_TRY(kr_cases_add(c, kr_cases_negate(literal)));
	while (!c->holds) {
		KR_TRY(kr_facts_next(&c->facts, &it, &found, &writer, c->v->err));
		if (!found)
			break;
		KR_TRY(add_candidate(c, s, writer));
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	if (!c->holds && c->clause.n == 1)
		c->choices.at[c->clause.at[0] >> 1].forced = true;
	return kr_cases_end(c);
}

/* ---- what choices bring in ---- */

static enum kr_status bring_in(struct kr_cases *c, uint32_t low, uint32_t high)
{
	uint32_t id;

	for (uint32_t i = low; i < high; i++) {
		struct kr_sight sight = kr_sight_of(&c->facts.sights[i]);

		KR_TRY(kr_ctx_tick(c->v->ctx));
		KR_TRY(kr_cases_sight(c, &sight, &id));
	}
	return KR_OK;
}

/* The observations that may have seen what operation `index` of an unknown transaction left, and its own. */
static enum kr_status bring_in_op(struct kr_cases *c, kr_txn t, uint32_t index)
{
	const struct kr_history *h = c->v->h;
	const struct kr_facts *f = &c->facts;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
	uint32_t seen = kr_saw_count(h, op), effects = kr_effect_count(h, op), id;

	for (uint32_t i = 0; i < seen; i++) {
		kr_key k = kr_saw_key(h, op, i);
		struct kr_saw saw = kr_saw_at(h, op, i);
		if (kr_facts_grows(f, k))
			KR_TRY(kr_cases_bring_own(c, k, t, index));
		else if (saw.test != KR_SAW_NOTHING && kr_facts_external(f, k, t, index))
			KR_TRY(kr_cases_sight(c,
				&(struct kr_sight){.txn = t,
					.op = index,
					.key = k,
					.saw = saw,
					.part = {KR_NONE}},
				&id));
	}
	if (kr_op_scans(op))
		KR_TRY(kr_cases_bring_missed(c, t, index));
	/* needed only where something is unknown */
	for (uint32_t i = 0; f->sight_first && i < effects; i++) {
		kr_key k = kr_effect_at(h, op, i).key;
		const struct kr_fact_version *version = kr_facts_version(f, k, t);
		if (version->last_op != index)
			continue;
		KR_TRY(kr_cases_bring_scans(c, k, t));
		if (kr_facts_grows(f, k)) {
			KR_TRY(kr_cases_bring_growing(c, k, t));
			continue;
		}
		KR_TRY(bring_in(c, kr_facts_first_sight(f, k, version->value.i),
			kr_facts_first_sight(f, k, version->value.i + 1)));
		KR_TRY(bring_in(c, kr_facts_first_sight(f, k, KR_NONE), f->sight_first[k.i + 1]));
	}
	return KR_OK;
}

/* Facts of all observations that matter, until these bring in no more. */
static enum kr_status add_sights(struct kr_cases *c)
{
	const struct kr_facts *f = &c->facts;

	for (uint32_t next = 0; next < c->sights.n || c->txns.n > 0 || c->keys.n > 0;) {
		if (next < c->sights.n) {
			KR_TRY(add_sight(c, next++));
		} else if (c->keys.n > 0) {
			kr_key k = kr_vec_pop(&c->keys);
			KR_TRY(kr_facts_grows(f, k)
					? kr_cases_bring_key(c, k)
					: bring_in(c, f->sight_first[k.i], f->sight_first[k.i + 1]));
		} else {
			kr_txn t = kr_vec_pop(&c->txns);
			for (uint32_t i = 0; i < c->v->h->txns.at[t.i].op_count; i++)
				KR_TRY(bring_in_op(c, t, i));
		}
	}
	return KR_OK;
}

/* That every two neighbours in an order that the trace gives are in that order: what was seen may contradict
 * it. */
static enum kr_status add_given(struct kr_cases *c)
{
	const struct kr_history *h = c->v->h;
	uint32_t literal;

	for (uint32_t list = 0; list < h->version_orders.n; list++) {
		const struct kr_version_order *order = &h->version_orders.at[list];
		const kr_txn *writers = &h->order_writers.at[order->writer_first];

		for (uint32_t i = 1; i < order->writer_count; i++) {
			KR_TRY(kr_cases_order(c, order->key, writers[i - 1], writers[i], &literal));
			KR_TRY(kr_ctx_tick(c->v->ctx));
		}
	}
	return KR_OK;
}

enum kr_status kr_cases_add_facts(struct kr_cases *c)
{
	if (c->all) {
		KR_TRY(add_given(c));
		KR_TRY(kr_cases_add_rounds(c));
	}
	if (!c->blind)
		KR_TRY(add_sights(c));
	return c->facts.untold ? kr_cases_add_initials(c) : KR_OK;
}

/* ---- life ---- */

enum kr_status kr_cases_init(struct kr_cases *c, struct kr_verifier *v)
{
	struct kr_shown_pairs shown = {0};

	*c = (struct kr_cases){.v = v, .mem = &v->ctx->mem};
	c->facts = (struct kr_facts){.mem = c->mem, .h = v->h};
	c->given = (struct kr_given){.mem = c->mem, .h = v->h};
	kr_sat_init(&c->sat, c->mem);
	enum kr_status status = kr_facts_init(&c->facts, v->ctx, v->h, v->installs, v->err);
	/* such a world has a cycle of wr and ww */
	c->facts.own_after = (v->rule->cycles[0].kinds & KR_BIT(KR_WR)) != 0;
	if (status == KR_OK && kr_verify_is_blind(v->rule))
		status = kr_shown_lists(&c->facts, v->ctx, &shown);
	if (status == KR_OK)
		status = kr_given_init(&c->given, v->ctx, v->h, shown);
	else
		kr_vec_done(c->mem, &shown);
	if (status == KR_OK && c->facts.untold) {
		c->is_brought = kr_mem_alloc(c->mem, v->h->keys.n, sizeof *c->is_brought);
		status = c->is_brought ? KR_OK : KR_NOMEM;
	}
	return status;
}

void kr_cases_done(struct kr_cases *c)
{
	kr_sat_done(&c->sat);
	kr_given_done(&c->given);
	kr_facts_done(&c->facts);
	kr_mem_free(c->mem, c->is_brought, c->v->h->keys.n, sizeof *c->is_brought);
	kr_vec_done(c->mem, &c->choices);
	kr_vec_done(c->mem, &c->sights);
	kr_vec_done(c->mem, &c->of_edges);
	kr_vec_done(c->mem, &c->txns);
	kr_vec_done(c->mem, &c->keys);
	kr_vec_done(c->mem, &c->clause);
	kr_table_done(c->mem, &c->choice_table);
	kr_table_done(c->mem, &c->sight_table);
}
