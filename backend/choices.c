/* Boolean variables for choices (choices.h). Longer than usual: the variables, the facts about them and the
 * clauses that make new ones all work on one table.
 *
 * Facts that the clauses state: an observation of a transaction that took effect saw some possible candidate
 * (where several are true any of them will do, since whatever clauses forbid, they forbid of each); seeing an
 * open transaction's version means that it took effect, so that its own observations saw something too;
 * observations of an untold initial value agree. Order choices carry no transitivity clauses: a cyclic order
 * is a cycle of ww edges and becomes a clause when it is met. An absent transaction's choices are free and
 * harmless: put last in every key's order it has no edge out. */
#include "backend/choices.h"

#include "base/hash.h"

/* candidates * versions beyond which candidates are not tested before they get variables */
enum { MOST_PAIRS_CHECKED = 100000 };

static const kr_lit no_literal = {KR_NONE};

enum kr_status kr_choices_init(struct kr_choices *c, struct kr_ir *ir)
{
	*c = (struct kr_choices){.arena = {.mem = &ir->ctx->mem}, .ir = ir};
	KR_TRY(kr_arena_new(&c->arena, c->sources_made, ir->asg->nobs));
	KR_TRY(kr_arena_new(&c->arena, c->pinned, ir->asg->nobs));
	KR_TRY(kr_arena_new(&c->arena, c->sums_made, ir->asg->nsums));
	return kr_told_init(&c->given, &ir->ctx->mem, ir->asg);
}

void kr_choices_done(struct kr_choices *c)
{
	struct kr_mem *mem = &c->ir->ctx->mem;
	kr_vec_done(mem, &c->all);
	kr_vec_done(mem, &c->clauses);
	kr_vec_done(mem, &c->origin);
	kr_vec_done(mem, &c->facts);
	kr_vec_done(mem, &c->ruled_out);
	kr_told_done(&c->given);
	kr_table_done(mem, &c->table);
	kr_arena_done(&c->arena);
	kr_vec_done(mem, &c->sums);
	kr_vec_done(mem, &c->sum_literals);
	kr_vec_done(mem, &c->sum_weights);
	kr_vec_done(mem, &c->guarded);
	kr_vec_done(mem, &c->told_units);
}

static uint64_t hash_choice(const struct kr_choice *x)
{
	return kr_hash_pair(kr_hash_pair(x->obs.i, x->a.i),
		kr_hash_pair(x->b.i, kr_hash_pair(x->txn.i, x->outdone)));
}

/* The variable of a choice in normal form, or KR_NONE. */
static uint32_t find(const struct kr_choices *c, const struct kr_choice *x)
{
	uint32_t id;
	for (kr_table_iter it = kr_table_find(&c->table, hash_choice(x));
		(id = kr_table_next(&c->table, &it)) != KR_NONE;) {
		const struct kr_choice *y = &c->all.at[id];
		if (x->obs.i == y->obs.i && x->a.i == y->a.i && x->b.i == y->b.i && x->txn.i == y->txn.i &&
			x->outdone == y->outdone)
			return id;
	}
	return KR_NONE;
}

static enum kr_status make(struct kr_choices *c, struct kr_choice x, uint32_t *var)
{
	struct kr_mem *mem = &c->ir->ctx->mem;
	if (!kr_table_reserve(mem, &c->table))
		return KR_NOMEM;
	*var = c->all.n;
	KR_TRY(kr_vec_add(mem, &c->all, x));
	kr_table_insert(&c->table, hash_choice(&x), *var);
	return KR_OK;
}

static enum kr_status push(struct kr_choices *c, kr_lit l)
{
	return kr_vec_add(&c->ir->ctx->mem, &c->clauses, l);
}

/* Ends a clause that comes from a cycle, or KR_NONE. */
static enum kr_status end_clause(struct kr_choices *c, uint32_t cycle)
{
	return kr_vec_push(&c->ir->ctx->mem, &c->origin, cycle) ? push(c, no_literal) : KR_NOMEM;
}

static enum kr_status push_fact(struct kr_choices *c, const kr_lit *literals, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		KR_TRY(kr_vec_add(&c->ir->ctx->mem, &c->facts, literals[i]));
	}
	return kr_vec_add(&c->ir->ctx->mem, &c->facts, no_literal);
}

/* The literal "t, which is open, took effect": whoever saw its version implies it. */
static enum kr_status presence_literal(struct kr_choices *c, kr_txn t, kr_lit *out)
{
	const struct kr_choice x = {.obs = {KR_NONE}, .a = {KR_NONE}, .b = {KR_NONE}, .txn = t};
	uint32_t var = find(c, &x);
	KR_TRY(var == KR_NONE ? make(c, x, &var) : KR_OK);
	out->i = 2 * var;
	return KR_OK;
}

/* Where the trace gives the order of a pair whose choice this is, a fact says so, if both took effect. */
static enum kr_status push_given_pair(struct kr_choices *c, kr_version a, kr_version b, uint32_t var)
{
	bool low_first = false, high_first = false;
	KR_TRY(kr_told_before(&c->given, a, b, &low_first));
	KR_TRY(kr_told_before(&c->given, b, a, &high_first));
	if (!(low_first || high_first))
		return KR_OK;
	if (c->ir->units && !kr_vec_push(&c->ir->ctx->mem, &c->told_units, (struct kr_version_pair){a, b}))
		return KR_NOMEM;
	kr_lit clause[3] = {{2 * var + (c->all.at[var].flipped != low_first)}};
	uint32_t n = 1;
	for (int i = 0; i < 2; i++) {
		kr_txn t = c->ir->asg->versions[i == 0 ? a.i : b.i].writer;
		if (kr_ir_is_present(c->ir, t))
			continue;
		KR_TRY(presence_literal(c, t, &clause[n]));
		clause[n] = kr_lit_not(clause[n]);
		n++;
	}
	return push_fact(c, clause, n);
}

/* For every pair of versions of the units that the choice is about, on every key. */
static enum kr_status push_given(struct kr_choices *c, kr_version a, kr_version b, uint32_t var)
{
	const struct kr_ir *ir = c->ir;
	enum kr_status status = KR_OK;
	if (!c->given.first)
		return KR_OK;
	if (!ir->units || kr_unit_first(ir, a).i == kr_unit_first(ir, b).i)
		return push_given_pair(c, a, b, var);
	do {
		for (kr_version x = a; x.i != KR_NONE && !status; x = ir->units->next[x.i])
			for (kr_version y = b; y.i != KR_NONE && !status; y = ir->units->next[y.i])
				status = push_given_pair(c, x, y, var);
	} while (!status && kr_units_next(ir, &a, &b));
	return status;
}

enum kr_status kr_choices_order(struct kr_choices *c, kr_version a, kr_version b, kr_lit *out)
{
	kr_units_choice(c->ir, &a, &b);
	struct kr_choice x = {.obs = {KR_NONE},
		.a = a.i < b.i ? a : b,
		.b = a.i < b.i ? b : a,
		.txn = {KR_NONE}};
	uint32_t var = find(c, &x);
	if (var == KR_NONE) {
		x.flipped = a.i > b.i; /* false must mean: a before b */
		KR_TRY(make(c, x, &var));
		KR_TRY(push_given(c, x.a, x.b, var));
	}
	/* unflipped: the variable is "b before a" of the normal form; flipped: "a before b" */
	bool says_low_first = c->all.at[var].flipped;
	out->i = 2 * var + (says_low_first != (a.i < b.i));
	return KR_OK;
}

static kr_lit source_literal(const struct kr_choices *c, kr_obs o, kr_version v)
{
	struct kr_choice x = {.obs = o, .a = v, .b = {KR_NONE}, .txn = {KR_NONE}};
	uint32_t var = find(c, &x);
	return var == KR_NONE ? no_literal : (kr_lit){2 * var + c->all.at[var].flipped};
}

/* At least one literal of o's variables, as the rest of a clause that has been begun. */
static enum kr_status push_some(struct kr_choices *c, kr_obs o)
{
	kr_version v;
	for (kr_candidates it = kr_asg_candidates(c->ir->asg, o); kr_asg_next(c->ir->asg, &it, &v);) {
		kr_lit l = source_literal(c, o, v);
		if (l.i != KR_NONE)
			KR_TRY(push(c, l));
		KR_TRY(kr_ctx_tick(c->ir->ctx));
	}
	return end_clause(c, KR_NONE);
}

static enum kr_status push_pair(struct kr_choices *c, kr_lit a, kr_lit b)
{
	KR_TRY(push(c, a));
	KR_TRY(push(c, b));
	return end_clause(c, KR_NONE);
}

static enum kr_status make_variables(struct kr_choices *c, kr_obs o, kr_version preferred)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_key k = asg->obs[o.i].key;
	uint64_t versions = asg->keys[k.i + 1].first - asg->keys[k.i].first;
	bool test = versions * versions <= MOST_PAIRS_CHECKED;
	kr_version v;
	for (kr_candidates it = kr_asg_candidates(asg, o); kr_asg_next(asg, &it, &v);) {
		kr_txn w = asg->versions[v.i].writer;
		uint32_t var;
		KR_TRY(kr_ctx_spend(c->ir->ctx, test ? (uint32_t)versions : 1));
		if (w.i != KR_NONE && c->ir->presence[w.i] == KR_ABSENT_TXN)
			continue;
		if (test && kr_ir_impossible(c->ir, o, v))
			KR_TRY(kr_vec_add(&c->ir->ctx->mem, &c->ruled_out, (struct kr_ruled_out){o, v}));
		else
			KR_TRY(make(c,
				(struct kr_choice){.obs = o,
					.a = v,
					.b = {KR_NONE},
					.txn = {KR_NONE},
					.flipped = v.i == preferred.i},
				&var));
	}
	return KR_OK;
}

/* Observations of one untold initial value that saw different things cannot both have seen it. */
static enum kr_status push_agreement(struct kr_choices *c, kr_obs o)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_key k = asg->obs[o.i].key;
	kr_version initial = kr_asg_initial(asg, k);
	kr_lit mine = source_literal(c, o, initial);
	if (!asg->keys[k.i].open_initial || mine.i == KR_NONE)
		return KR_OK;
	for (uint32_t p = 0; p < asg->nobs; p++) {
		KR_TRY(kr_ctx_tick(c->ir->ctx));
		if (asg->obs[p].key.i != k.i || asg->obs[p].set == asg->obs[o.i].set)
			continue;
		kr_lit other = source_literal(c, (kr_obs){p}, initial);
		if (other.i != KR_NONE)
			KR_TRY(push_pair(c, kr_lit_not(mine), kr_lit_not(other)));
		else if (c->ir->source[p].i == initial.i)
			KR_TRY(kr_vec_push(&c->ir->ctx->mem, &c->ruled_out, (struct kr_ruled_out){o, initial})
					? push_pair(c, kr_lit_not(mine), kr_lit_not(mine))
					: KR_NOMEM);
	}
	return KR_OK;
}

/* Variables and clauses of one observation. Open transactions whose versions it may have seen are added to
 * `open`, to be treated too. */
static enum kr_status make_source(struct kr_choices *c, kr_obs o, kr_version preferred,
	struct kr_lits *seen_open)
{
	uint32_t first = c->all.n;
	c->sources_made[o.i] = 1;
	KR_TRY(make_variables(c, o, preferred));
	if (kr_ir_is_present(c->ir, c->ir->asg->obs[o.i].txn))
		KR_TRY(push_some(c, o));
	KR_TRY(push_agreement(c, o));
	for (uint32_t i = first, end = c->all.n; i < end; i++) {
		kr_txn w = c->ir->asg->versions[c->all.at[i].a.i].writer;
		kr_lit l = {2 * i + c->all.at[i].flipped}, present;
		if (w.i == KR_NONE || kr_ir_is_present(c->ir, w))
			continue;
		KR_TRY(presence_literal(c, w, &present));
		KR_TRY(push_pair(c, kr_lit_not(l), present));
		KR_TRY(kr_vec_add(&c->ir->ctx->mem, seen_open, l));
	}
	return KR_OK;
}

/* If this source literal holds, the open transaction that wrote the version took effect: each of its
 * observations saw something. */
static enum kr_status treat_open(struct kr_choices *c, kr_lit saw, struct kr_lits *seen_open)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_txn w = asg->versions[c->all.at[saw.i / 2].a.i].writer;
	for (uint32_t o = asg->obs_first[w.i]; o < asg->obs_first[w.i + 1]; o++) {
		if (!c->sources_made[o])
			KR_TRY(make_source(c, (kr_obs){o}, (kr_version){KR_NONE}, seen_open));
		KR_TRY(push(c, kr_lit_not(saw)));
		KR_TRY(push_some(c, (kr_obs){o}));
	}
	return KR_OK;
}

enum kr_status kr_choices_source(struct kr_choices *c, kr_obs o, kr_version v, kr_lit *out)
{
	enum kr_status status = KR_OK;
	if (!c->sources_made[o.i]) {
		struct kr_lits seen_open = {0};
		status = make_source(c, o, v, &seen_open);
		while (!status && seen_open.n > 0)
			status = treat_open(c, kr_vec_pop(&seen_open), &seen_open);
		kr_vec_done(&c->ir->ctx->mem, &seen_open);
	}
	if (!status)
		*out = source_literal(c, o, v);
	return status;
}

/* ---- orders that rest on unknown transactions, and sums ---- */

enum kr_status kr_choices_guard(struct kr_choices *c, kr_version a, kr_version b, const kr_txn *guards,
	uint32_t n)
{
	struct kr_mem *mem = &c->ir->ctx->mem;
	struct kr_lits clause = {0};
	kr_lit l;
	for (uint32_t i = 0; i < c->guarded.n; i++) {
		if (c->guarded.at[i].before.i == a.i && c->guarded.at[i].after.i == b.i &&
			c->guarded.at[i].guard.i == guards[0].i)
			return KR_OK;
	}
	KR_TRY(kr_vec_add(mem, &c->guarded, (struct kr_asg_order){a, b, guards[0]}));
	if (c->ir->units && !kr_vec_push(mem, &c->told_units, (struct kr_version_pair){a, b}))
		return KR_NOMEM;
	enum kr_status status = kr_choices_order(c, a, b, &l);
	if (!status && !kr_vec_push(mem, &clause, l))
		status = KR_NOMEM;
	for (uint32_t i = 0; i < n + 2 && !status; i++) {
		kr_txn t = i < n ? guards[i] : c->ir->asg->versions[i == n ? a.i : b.i].writer;
		if (t.i == KR_NONE || kr_ir_is_present(c->ir, t))
			continue;
		status = presence_literal(c, t, &l);
		if (!status && !kr_vec_push(mem, &clause, kr_lit_not(l)))
			status = KR_NOMEM;
	}
	if (!status)
		status = push_fact(c, clause.at, clause.n);
	kr_vec_done(mem, &clause);
	return status;
}

/* At most one of o's candidates was seen. */
static enum kr_status push_at_most_one(struct kr_choices *c, kr_obs o)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_version a, b;
	for (kr_candidates i = kr_asg_candidates(asg, o); kr_asg_next(asg, &i, &a);) {
		kr_lit first = source_literal(c, o, a);
		kr_candidates j = i;
		while (first.i != KR_NONE && kr_asg_next(asg, &j, &b)) {
			kr_lit pair[2] = {kr_lit_not(first), source_literal(c, o, b)};
			if (pair[1].i == KR_NONE)
				continue;
			pair[1] = kr_lit_not(pair[1]);
			KR_TRY(push_fact(c, pair, 2));
			KR_TRY(kr_ctx_tick(c->ir->ctx));
		}
	}
	return KR_OK;
}

/* What o saw is one version, of which there may be several only where that does not matter. */
static enum kr_status pin(struct kr_choices *c, kr_obs o)
{
	kr_lit l;
	if (c->pinned[o.i])
		return KR_OK;
	c->pinned[o.i] = 1;
	if (c->ir->source[o.i].i != KR_NONE)
		return KR_OK;
	KR_TRY(kr_choices_source(c, o, (kr_version){KR_NONE}, &l));
	return push_at_most_one(c, o);
}

/* A term whose observation's source is known is a number, and one whose candidate is ruled out is none. */
static enum kr_status push_term(struct kr_choices *c, const struct kr_asg_term *term,
	struct kr_choice_sum *sum)
{
	struct kr_mem *mem = &c->ir->ctx->mem;
	kr_version known = c->ir->source[term->obs.i];
	kr_lit l = known.i == KR_NONE ? source_literal(c, term->obs, term->seen) : no_literal;
	if (known.i == term->seen.i)
		sum->large |= __builtin_sub_overflow(sum->total, term->weight, &sum->total);
	if (l.i == KR_NONE)
		return KR_OK;
	sum->count++;
	return kr_vec_push(mem, &c->sum_literals, l) && kr_vec_push(mem, &c->sum_weights, term->weight)
		? KR_OK
		: KR_NOMEM;
}

enum kr_status kr_choices_sum(struct kr_choices *c, uint32_t index)
{
	const struct kr_asg *asg = c->ir->asg;
	const struct kr_asg_sum *from = &asg->sums[index];
	struct kr_choice_sum sum = {.total = from->total, .guard = no_literal};
	enum kr_status status = KR_OK;
	if (c->sums_made[index])
		return KR_OK;
	c->sums_made[index] = 1;
	for (uint32_t i = from->first; i < from->first + from->count && !status; i++)
		status = pin(c, asg->terms[i].obs);
	sum.first = c->sum_literals.n;
	for (uint32_t i = from->first; i < from->first + from->count && !status; i++)
		status = push_term(c, &asg->terms[i], &sum);
	if (!status && !kr_ir_is_present(c->ir, from->txn))
		status = presence_literal(c, from->txn, &sum.guard);
	if (!status && !kr_vec_push(&c->ir->ctx->mem, &c->sums, sum))
		status = KR_NOMEM;
	return status;
}

/* ---- cycles as clauses ---- */

static enum kr_status forbid_order(struct kr_choices *c, kr_version a, kr_version b)
{
	kr_lit l;
	KR_TRY(kr_choices_order(c, a, b, &l));
	return push(c, kr_lit_not(l));
}

static enum kr_status forbid_link(struct kr_choices *c, const struct kr_link *link)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_lit l = no_literal;
	if (link->edge != KR_NONE || link->kind == KR_SO || link->kind == KR_RT)
		return KR_OK;
	if (link->kind == KR_WW)
		return forbid_order(c, kr_asg_version_of(asg, link->from, link->key),
			kr_asg_version_of(asg, link->to, link->key));
	if (c->ir->source[link->obs.i].i == KR_NONE) {
		KR_TRY(kr_choices_source(c, link->obs, link->seen, &l));
		KR_TRY(push(c, kr_lit_not(l)));
	}
	if (link->kind == KR_RW && !kr_asg_is_initial(asg, link->seen))
		KR_TRY(forbid_order(c, link->seen, kr_asg_version_of(asg, link->to, link->key)));
	return KR_OK;
}

/* ---- the newest part ---- */

/* Says that `outdone` takes candidate u of another observation p of the operation, and that u's version of
 * the key is later than v's; *may is its literal, or no literal where that cannot be. */
static enum kr_status push_newer(struct kr_choices *c, kr_obs o, kr_version v, kr_obs p, kr_version u,
	kr_lit *may)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_key k = kr_asg_whole(asg, asg->obs[o.i].key);
	kr_txn mine = asg->versions[v.i].writer, theirs = asg->versions[u.i].writer;
	kr_version known = c->ir->source[p.i];
	kr_lit saw = known.i == KR_NONE ? source_literal(c, p, u) : no_literal, later;
	uint32_t var;
	*may = no_literal;
	if (theirs.i == KR_NONE || theirs.i == mine.i ||
		(known.i == KR_NONE ? saw.i == KR_NONE : known.i != u.i) ||
		kr_ir_writes_before(c->ir, theirs, mine))
		return KR_OK;
	KR_TRY(kr_choices_order(c, kr_asg_version_of(asg, mine, k), kr_asg_version_of(asg, theirs, k),
		&later));
	KR_TRY(make(c,
		(struct kr_choice){.obs = {KR_NONE}, .a = v, .b = u, .txn = {KR_NONE}, .outdone = o.i + 1},
		&var));
	may->i = 2 * var;
	if (known.i == KR_NONE)
		KR_TRY(push_fact(c, (kr_lit[]){kr_lit_not(*may), saw}, 2));
	return push_fact(c, (kr_lit[]){kr_lit_not(*may), later}, 2);
}

static bool is_sibling(const struct kr_asg *asg, kr_obs o, uint32_t p)
{
	return p != o.i && asg->obs[p].op == asg->obs[o.i].op &&
		kr_asg_whole(asg, asg->obs[p].key).i == kr_asg_whole(asg, asg->obs[o.i].key).i;
}

/* The literal "o, which saw v, belongs to an operation that saw another part of the key as of a later
 * version". */
static enum kr_status outdone_literal(struct kr_choices *c, kr_obs o, kr_version v, kr_lit *out)
{
	const struct kr_asg *asg = c->ir->asg;
	const struct kr_choice x = {.obs = {KR_NONE},
		.a = v,
		.b = {KR_NONE},
		.txn = {KR_NONE},
		.outdone = o.i + 1};
	kr_txn t = asg->obs[o.i].txn;
	struct kr_lits clause = {0};
	uint32_t var = find(c, &x);
	bool fresh = var == KR_NONE;
	enum kr_status status = fresh ? make(c, x, &var) : KR_OK;
	if (!status)
		out->i = 2 * var;
	if (!status && fresh && !kr_vec_push(&c->ir->ctx->mem, &clause, kr_lit_not(*out)))
		status = KR_NOMEM;
	for (uint32_t p = asg->obs_first[t.i]; p < asg->obs_first[t.i + 1] && fresh && !status; p++) {
		kr_version u;
		kr_lit may;
		status = kr_ctx_tick(c->ir->ctx);
		if (status || !is_sibling(asg, o, p))
			continue;
		status = pin(c, (kr_obs){p});
		for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){p});
			!status && kr_asg_next(asg, &it, &u);) {
			status = push_newer(c, o, v, (kr_obs){p}, u, &may);
			if (!status && may.i != KR_NONE && !kr_vec_push(&c->ir->ctx->mem, &clause, may))
				status = KR_NOMEM;
		}
	}
	if (!status && fresh)
		status = push_fact(c, clause.at, clause.n);
	kr_vec_done(&c->ir->ctx->mem, &clause);
	return status;
}

/* Is the link a wr by what was seen of a part? */
static bool leads_by_part(const struct kr_choices *c, const struct kr_link *link)
{
	const struct kr_asg *asg = c->ir->asg;
	return link->kind == KR_WR && link->edge == KR_NONE &&
		kr_asg_whole(asg, asg->obs[link->obs.i].key).i != asg->obs[link->obs.i].key.i;
}

/* Source variables are made first: making them pushes clauses of their own. A source that is ruled out
 * already makes the cycle's clause hold: *holds is set. */
static enum kr_status make_links(struct kr_choices *c, const struct kr_proof *proof, struct kr_cycle cycle,
	bool *holds)
{
	*holds = false;
	for (uint32_t i = 0; i < cycle.count; i++) {
		struct kr_link link = proof->links.at[cycle.first + i];
		kr_lit l = {0};
		if (link.edge == KR_NONE && link.obs.i != KR_NONE && c->ir->source[link.obs.i].i == KR_NONE)
			KR_TRY(kr_choices_source(c, link.obs, link.seen, &l));
		*holds |= l.i == KR_NONE;
		if (cycle.whole && leads_by_part(c, &link))
			KR_TRY(outdone_literal(c, link.obs, link.seen, &l));
	}
	return KR_OK;
}

enum kr_status kr_choices_forbid(struct kr_choices *c, const struct kr_proof *proof, uint32_t index)
{
	const struct kr_cycle cycle = proof->cycles.at[index];
	bool holds;
	enum kr_status status = make_links(c, proof, cycle, &holds);
	if (status || holds)
		return status;
	for (uint32_t i = 0; i < cycle.count && !status; i++) {
		const struct kr_link *link = &proof->links.at[cycle.first + i];
		kr_lit l;
		status = forbid_link(c, link);
		if (!status && cycle.whole && leads_by_part(c, link)) {
			status = outdone_literal(c, link->obs, link->seen, &l);
			status = status ? status : push(c, l);
		}
	}
	return status ? status : end_clause(c, index);
}

/* Per observation: does the proof speak of it, or does it tell that an open transaction took effect? */
static void mark_observations(const struct kr_choices *c, const struct kr_proof *proof, uint8_t *spoken_of)
{
	for (uint32_t i = 0; i < c->all.n; i++) {
		const struct kr_choice *x = &c->all.at[i];
		kr_txn w = x->obs.i == KR_NONE ? (kr_txn){KR_NONE} : c->ir->asg->versions[x->a.i].writer;
		if (w.i != KR_NONE && !kr_ir_is_present(c->ir, w))
			spoken_of[x->obs.i] = 1;
	}
	for (uint32_t o = 0; o < c->ir->asg->nobs; o++)
		spoken_of[o] |= c->pinned[o];
	for (uint32_t i = 0; i < proof->links.n; i++) {
		if (proof->links.at[i].obs.i != KR_NONE)
			spoken_of[proof->links.at[i].obs.i] = 1;
	}
}

/* No candidate of o has a variable: the facts alone refute. */
static bool has_variable(const struct kr_choices *c, kr_obs o)
{
	kr_version v;
	for (kr_candidates it = kr_asg_candidates(c->ir->asg, o); kr_asg_next(c->ir->asg, &it, &v);) {
		if (source_literal(c, o, v).i != KR_NONE)
			return true;
	}
	return false;
}

enum kr_status kr_choices_justify(const struct kr_choices *c, struct kr_proof *proof)
{
	const struct kr_asg *asg = c->ir->asg;
	struct kr_mem *mem = &c->ir->ctx->mem;
	enum kr_status status = KR_OK;
	uint8_t *spoken_of = kr_mem_alloc(mem, asg->nobs, 1);
	if (!spoken_of)
		return KR_NOMEM;
	mark_observations(c, proof, spoken_of);
	for (uint32_t i = 0; i < c->ruled_out.n && !status; i++) {
		kr_obs o = c->ruled_out.at[i].obs;
		bool unsaid = !kr_ir_is_present(c->ir, asg->obs[o.i].txn) ||
			asg->keys[asg->obs[o.i].key.i].open_initial;
		if ((status = kr_ctx_tick(c->ir->ctx)))
			break;
		if (spoken_of[o.i] || unsaid || !has_variable(c, o))
			status = kr_proof_rule_out(proof, c->ir, o, c->ruled_out.at[i].version);
	}
	for (uint32_t o = 0; o < asg->nobs && !status; o++) {
		kr_version v;
		if (!c->pinned[o] || c->ir->source[o].i == KR_NONE)
			continue;
		for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o});
			!status && kr_asg_next(asg, &it, &v);) {
			if (v.i != c->ir->source[o].i)
				status = kr_proof_rule_out(proof, c->ir, (kr_obs){o}, v);
		}
	}
	kr_mem_free(mem, spoken_of, asg->nobs, 1);
	return status;
}
