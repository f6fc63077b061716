/* Encodes an IR (encode.h). Works after any passes: what they know saves variables.
 *
 * Per observation, the clause that it saw one of its candidates if its transaction took effect. That it saw
 * no second one need not be said: a further source brings further edges only. Seeing an unknown transaction's
 * version means that it took effect. Per pair of versions that neither the trace nor a known path orders, one
 * variable; orders need no transitivity, since ww edges of a cyclic order close a cycle. Edges are those of
 * docs/levels.md, left out where a known path says the same. Growing keys: encode_grow.c. Per key of untold
 * initial value, observations of it lie in one candidate set: a ladder of auxiliary variables says "at most
 * one". Cost: for each key, pairs of versions plus, for each candidate of an observation, the later
 * versions. */
#include "backend/encode_work.h"

#include <string.h>

#include "base/hash.h"
#include "ir/clock.h"

#define ALWAYS KR_LITERAL_ALWAYS
#define NEVER KR_LITERAL_NEVER

static enum kr_status new_variable(struct kr_encode *w, struct kr_variable variable, kr_literal *out)
{
	if (w->out->variables.n >= INT32_MAX - 1 ||
		!kr_vec_push(&w->ir->ctx->mem, &w->out->variables, variable))
		return KR_NOMEM;
	*out = (kr_literal)w->out->variables.n;
	return KR_OK;
}

/* ---- clauses ---- */

static void clause_begin(struct kr_encode *w)
{
	kr_vec_clear(&w->clause);
	w->holds = false;
}

static enum kr_status clause_add(struct kr_encode *w, kr_literal literal)
{
	if (literal == ALWAYS)
		w->holds = true;
	else if (literal != NEVER && !kr_vec_push(&w->ir->ctx->mem, &w->clause, literal))
		return KR_NOMEM;
	return KR_OK;
}

static enum kr_status clause_end(struct kr_encode *w)
{
	struct kr_mem *mem = &w->ir->ctx->mem;

	if (w->holds)
		return KR_OK;
	for (uint32_t i = 0; i < w->clause.n; i++)
		KR_TRY(kr_vec_add(mem, &w->out->clauses, w->clause.at[i]));
	return kr_vec_add(mem, &w->out->clauses, 0);
}

static enum kr_status add_clause2(struct kr_encode *w, kr_literal a, kr_literal b)
{
	clause_begin(w);
	KR_TRY(clause_add(w, a));
	KR_TRY(clause_add(w, b));
	return clause_end(w);
}

/* ---- what is known ---- */

static bool may_exist(const struct kr_encode *w, kr_version v)
{
	kr_txn writer = w->ir->asg->versions[v.i].writer;

	return writer.i == KR_NONE || w->ir->presence[writer.i] != KR_ABSENT_TXN;
}

static kr_literal presence(const struct kr_encode *w, kr_version v)
{
	kr_txn writer = w->ir->asg->versions[v.i].writer;

	return writer.i == KR_NONE ? ALWAYS : w->present[writer.i];
}

/* ---- edges ---- */

enum kr_status kr_encode_edge(struct kr_encode *w, struct kr_guarded_edge edge)
{
	kr_literal guards[KR_COUNT(edge.guards)];
	uint32_t n = 0;

	memcpy(guards, edge.guards, sizeof guards);
	memset(edge.guards, 0, sizeof edge.guards);
	for (uint32_t i = 0; i < KR_COUNT(guards); i++) {
		if (guards[i] == NEVER)
			return KR_OK;
		if (guards[i] != ALWAYS)
			edge.guards[n++] = guards[i];
	}
	return kr_vec_add(&w->ir->ctx->mem, &w->out->edges, edge);
}

static enum kr_status add_edge(struct kr_encode *w, enum kr_edge_kind kind, kr_txn from, kr_txn to,
	const kr_literal guards[3])
{
	const struct kr_ir *ir = w->ir;
	bool known = guards[0] == ALWAYS && guards[1] == ALWAYS && guards[2] == ALWAYS &&
		kr_clock_implies(ir, kind, from, to);

	if (!(kr_level_kinds(ir->level) & KR_BIT(kind)) || known)
		return KR_OK;
	return kr_encode_edge(w,
		(struct kr_guarded_edge){kr_ir_out(ir, kind, from), kr_ir_in(ir, kind, to),
			{guards[0], guards[1], guards[2]}, (uint8_t)kind});
}

/* ---- orders ---- */

static uint32_t find_pair(const struct kr_encode *w, kr_version a, kr_version b)
{
	uint32_t id;

	KR_TABLE_FIND(id, &w->pairs, kr_hash_pair(a.i, b.i),
		w->out->variables.at[id].a.i == a.i && w->out->variables.at[id].b.i == b.i);
	return id;
}

enum kr_status kr_encode_before(struct kr_encode *w, kr_version a, kr_version b, kr_literal *out)
{
	const struct kr_asg *asg = w->ir->asg;
	bool told, contrary;
	uint32_t id = a.i < b.i ? find_pair(w, a, b) : find_pair(w, b, a);

	if (id != KR_NONE) {
		*out = a.i < b.i ? (kr_literal)id + 1 : -((kr_literal)id + 1);
		return KR_OK;
	}
	KR_TRY(kr_told_before(&w->told, a, b, &told));
	KR_TRY(kr_told_before(&w->told, b, a, &contrary));
	if (!told && !contrary && !kr_asg_is_initial(asg, b))
		told = kr_clock_implies(w->ir, KR_WW, asg->versions[a.i].writer, asg->versions[b.i].writer);
	*out = told ? ALWAYS : NEVER;
	return KR_OK;
}

/* Whether the order of a and b is neither told nor known by a path. */
static enum kr_status is_open(struct kr_encode *w, kr_version a, kr_version b, bool *open)
{
	const struct kr_asg *asg = w->ir->asg;
	kr_txn from = asg->versions[a.i].writer, to = asg->versions[b.i].writer;
	bool told, contrary;

	*open = false;
	if (kr_clock_implies(w->ir, KR_WW, from, to) || kr_clock_implies(w->ir, KR_WW, to, from))
		return KR_OK;
	KR_TRY(kr_told_before(&w->told, a, b, &told));
	KR_TRY(kr_told_before(&w->told, b, a, &contrary));
	*open = !told && !contrary;
	return KR_OK;
}

static enum kr_status encode_pair(struct kr_encode *w, kr_version a, kr_version b)
{
	const struct kr_asg *asg = w->ir->asg;
	kr_txn from = asg->versions[a.i].writer, to = asg->versions[b.i].writer;
	kr_literal literal;
	bool open;
	KR_TRY(is_open(w, a, b, &open));
	enum kr_status status = KR_OK;
	if (open) {
		if (!kr_table_reserve(&w->ir->ctx->mem, &w->pairs))
			return KR_NOMEM;
		KR_TRY(new_variable(w, (struct kr_variable){KR_VARIABLE_ORDER, {KR_NONE}, a, b, {KR_NONE}},
			&literal));
		kr_table_insert(&w->pairs, kr_hash_pair(a.i, b.i), (uint32_t)literal - 1);
	} else if ((status = kr_encode_before(w, a, b, &literal))) {
		return status;
	}
	KR_TRY(kr_encode_version_pair(w, a, b, literal));
	KR_TRY(add_edge(w, KR_WW, from, to, (kr_literal[]){literal, w->present[from.i], w->present[to.i]}));
	return add_edge(w, KR_WW, to, from, (kr_literal[]){-literal, w->present[from.i], w->present[to.i]});
}

static enum kr_status encode_orders(struct kr_encode *w, kr_key k)
{
	const struct kr_asg *asg = w->ir->asg;
	uint32_t end = asg->keys[k.i + 1].first;

	for (uint32_t a = asg->keys[k.i].first + 1; a < end; a++) {
		for (uint32_t b = a + 1; b < end && may_exist(w, (kr_version){a}); b++) {
			KR_TRY(may_exist(w, (kr_version){b})
					? encode_pair(w, (kr_version){a}, (kr_version){b})
					: KR_OK);
			KR_TRY(kr_ctx_tick(w->ir->ctx));
		}
	}
	return KR_OK;
}

/* ---- observations ---- */

/* What follows when observation o saw v, which `literal` says. */
static enum kr_status encode_source(struct kr_encode *w, kr_obs o, kr_version v, kr_literal literal)
{
	const struct kr_asg *asg = w->ir->asg;
	const struct kr_observation *obs = &asg->obs[o.i];
	enum kr_status status = KR_OK;

	if (!kr_asg_is_initial(asg, v)) {
		KR_TRY(add_clause2(w, -literal, presence(w, v)));
		status = add_edge(w, KR_WR, asg->versions[v.i].writer, obs->txn,
			(kr_literal[]){literal, ALWAYS, ALWAYS});
	}
	for (uint32_t i = asg->keys[obs->key.i].first + 1; i < asg->keys[obs->key.i + 1].first && !status;
		i++) {
		kr_version u = {i};
		kr_txn writer = asg->versions[i].writer;
		kr_literal order;
		if (i == v.i || !may_exist(w, u) || !kr_ir_overwrites(w->ir, o, u))
			continue;
		if (!(status = kr_encode_before(w, v, u, &order)))
			status = add_edge(w, KR_RW, obs->txn, writer,
				(kr_literal[]){literal, order, presence(w, u)});
		if (!status)
			status = kr_ctx_tick(w->ir->ctx);
	}
	return status;
}

static enum kr_status encode_open(struct kr_encode *w, kr_obs o)
{
	const struct kr_observation *obs = &w->ir->asg->obs[o.i];
	kr_literal literal;
	uint32_t first = w->out->variables.n;
	kr_version v;

	for (kr_candidates it = kr_asg_candidates(w->ir->asg, o); kr_asg_next(w->ir->asg, &it, &v);) {
		if (!may_exist(w, v) || kr_ir_impossible(w->ir, o, v))
			continue;
		KR_TRY(new_variable(w, (struct kr_variable){KR_VARIABLE_SOURCE, o, v, {KR_NONE}, {KR_NONE}},
			&literal));
		if (w->first_source[o.i] == 0)
			w->first_source[o.i] = (uint32_t)literal;
	}
	clause_begin(w);
	KR_TRY(clause_add(w, -w->present[obs->txn.i]));
	for (uint32_t i = first; i < w->out->variables.n; i++)
		KR_TRY(clause_add(w, (kr_literal)i + 1));
	KR_TRY(clause_end(w));
	for (uint32_t i = first, end = w->out->variables.n; i < end; i++)
		KR_TRY(encode_source(w, o, w->out->variables.at[i].a, (kr_literal)i + 1));
	return KR_OK;
}

static enum kr_status encode_observations(struct kr_encode *w)
{
	const struct kr_asg *asg = w->ir->asg;

	for (uint32_t t = 0; t < asg->ntxns; t++) {
		for (uint32_t o = asg->obs_first[t];
			o < asg->obs_first[t + 1] && w->ir->presence[t] != KR_ABSENT_TXN; o++) {
			kr_version known = w->ir->source[o];
			KR_TRY(known.i == KR_NONE ? encode_open(w, (kr_obs){o})
						  : encode_source(w, (kr_obs){o}, known, ALWAYS));
		}
	}
	return KR_OK;
}

/* ---- untold initial values ---- */

/* Adds the start variable of o's candidate set to the key's ladder, of which `last` is the top (0: none
 * yet). */
static enum kr_status extend_ladder(struct kr_encode *w, kr_obs o, kr_version initial, kr_literal *start,
	kr_literal *last)
{
	kr_literal top = 0;
	KR_TRY(new_variable(w, (struct kr_variable){KR_VARIABLE_START, o, initial, {KR_NONE}, {KR_NONE}},
		start));
	KR_TRY(new_variable(w, (struct kr_variable){KR_VARIABLE_EARLIER, o, initial, {KR_NONE}, {KR_NONE}},
		&top));
	KR_TRY(add_clause2(w, -*start, top));
	if (*last != 0) {
		KR_TRY(add_clause2(w, -*last, top));
		KR_TRY(add_clause2(w, -*last, -*start));
	}
	*last = top;
	return KR_OK;
}

/* `starts`: per set its start variable, or 0. `last`: per key the top of its ladder, or 0. */
static enum kr_status agree(struct kr_encode *w, kr_obs o, kr_version v, kr_literal literal,
	kr_literal *starts, kr_literal *last)
{
	const struct kr_observation *obs = &w->ir->asg->obs[o.i];

	if (!kr_asg_is_initial(w->ir->asg, v) || !w->ir->asg->keys[obs->key.i].open_initial)
		return KR_OK;
	if (starts[obs->set] == 0)
		KR_TRY(extend_ladder(w, o, v, &starts[obs->set], &last[obs->key.i]));
	return add_clause2(w, -literal, starts[obs->set]);
}

static enum kr_status encode_agreement(struct kr_encode *w)
{
	const struct kr_asg *asg = w->ir->asg;
	struct kr_mem *mem = &w->ir->ctx->mem;
	kr_literal *starts = kr_mem_alloc(mem, asg->nsets, sizeof *starts);
	kr_literal *last = kr_mem_alloc(mem, asg->nkeys, sizeof *last);
	uint32_t nvariables = w->out->variables.n;
	enum kr_status status = starts && last ? KR_OK : KR_NOMEM;

	for (uint32_t o = 0; o < asg->nobs && !status; o++)
		if (w->ir->source[o].i != KR_NONE)
			status = agree(w, (kr_obs){o}, w->ir->source[o], ALWAYS, starts, last);
	for (uint32_t i = 0; i < nvariables && !status; i++) {
		struct kr_variable variable = w->out->variables.at[i];
		if (variable.kind == KR_VARIABLE_SOURCE)
			status = agree(w, variable.obs, variable.a, (kr_literal)i + 1, starts, last);
	}
	kr_mem_free(mem, starts, asg->nsets, sizeof *starts);
	kr_mem_free(mem, last, asg->nkeys, sizeof *last);
	return status;
}

/* ---- the whole ---- */

static enum kr_status encode_presence(struct kr_encode *w)
{
	for (uint32_t t = 0; t < w->ir->asg->ntxns; t++) {
		w->present[t] = w->ir->presence[t] == KR_PRESENT ? ALWAYS : NEVER;
		if (w->ir->presence[t] == KR_OPEN)
			KR_TRY(new_variable(w,
				(struct kr_variable){KR_VARIABLE_PRESENT, {KR_NONE}, {KR_NONE}, {KR_NONE},
					{t}},
				&w->present[t]));
	}
	return KR_OK;
}

static enum kr_status encode_known(struct kr_encode *w)
{
	for (uint32_t e = 0; e < w->ir->edges.n; e++) {
		const struct kr_edge *edge = &w->ir->edges.at[e];
		KR_TRY(kr_vec_add(&w->ir->ctx->mem, &w->out->edges,
			(struct kr_guarded_edge){edge->from, edge->to, {0, 0, 0}, edge->kind}));
	}
	return KR_OK;
}

static enum kr_status encode(struct kr_encode *w)
{
	/* else nothing that was seen counts */
	bool sees = kr_level_kinds(w->ir->level) & (KR_BIT(KR_WR) | KR_BIT(KR_RW));
	KR_TRY(encode_presence(w));
	KR_TRY(encode_known(w));
	KR_TRY(kr_encode_versions(w));
	for (uint32_t k = 0; k < w->ir->asg->nkeys; k++)
		KR_TRY(encode_orders(w, (kr_key){k}));
	if (!sees)
		return KR_OK;
	KR_TRY(encode_observations(w));
	KR_TRY(encode_agreement(w));
	KR_TRY(kr_encode_together(w));
	return kr_encode_sums(w);
}

static enum kr_status start(struct kr_encode *w)
{
	const struct kr_asg *asg = w->ir->asg;

	KR_TRY(kr_arena_new(&w->arena, w->present, asg->ntxns));
	KR_TRY(kr_arena_new(&w->arena, w->version_node, asg->nversions));
	KR_TRY(kr_arena_new(&w->arena, w->first_source, asg->nobs));
	return kr_told_init(&w->told, &w->ir->ctx->mem, asg);
}

enum kr_status kr_encode(struct kr_ir *ir, struct kr_encoding *out, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;
	struct kr_encode w = {.arena = {.mem = mem}, .ir = ir, .out = out};

	*out = (struct kr_encoding){.ir = ir, .nnodes = ir->nnodes};
	if (kr_level_asks(ir->level) != KR_ASK_ACYCLIC)
		return kr_err_set(err, KR_UNSUPPORTED,
			"level '%s' does not forbid every cycle of its graph: this back end has no formula "
			"for it",
			ir->level->id);
	enum kr_status status = start(&w);
	if (!status)
		status = encode(&w);
	kr_told_done(&w.told);
	kr_table_done(mem, &w.pairs);
	kr_vec_done(mem, &w.clause);
	kr_arena_done(&w.arena);
	return status;
}

void kr_encoding_done(struct kr_encoding *encoding)
{
	if (!encoding->ir)
		return;

	struct kr_mem *mem = &encoding->ir->ctx->mem;

	kr_vec_done(mem, &encoding->variables);
	kr_vec_done(mem, &encoding->clauses);
	kr_vec_done(mem, &encoding->edges);
	kr_vec_done(mem, &encoding->nodes);
	kr_vec_done(mem, &encoding->sums);
	kr_vec_done(mem, &encoding->terms);
	*encoding = (struct kr_encoding){0};
}
