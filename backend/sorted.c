/* Where every source is known, pass `visible` has made edges of all that the axioms say of the order of
 * versions. An acyclic graph then has worlds, and each of its topological orders is one: ww goes along it
 * by definition, and an rw from an observation to somebody who is visible to it would be against an edge
 * (docs/backends.md).
 *
 * Of these orders one is taken that clients suggest, and in which few observations saw another version than
 * the newest, since the fewer there are the sooner it is checked; without any it is a serial order. */
#include "backend/sorted.h"

#include <string.h>

#include "backend/overlay.h"
#include "backend/prefer.h"

enum { FEW = 16 }; /* one in so many observations: another order costs more than it could save */

struct sorting {
	struct kr_arena arena;
	struct kr_ir *ir;
	struct kr_overlay graph;
	uint8_t *active;    /* per transaction: it took effect */
	uint32_t *place;    /* per node: what is preferred */
	kr_version *newest; /* per key */
	kr_node *best;      /* the order with the fewest misses so far */
	uint32_t misses;    /* its */
	bool cyclic;
};

/* ---- is anything open? ---- */

static bool sources_are_known(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;

	if (ir->visible == KR_NONE || ir->visible != kr_ir_known_sources(ir))
		return false;
	for (uint32_t o = 0; o < asg->nobs; o++)
		if (ir->source[o].i == KR_NONE && kr_ir_is_present(ir, asg->obs[o].txn))
			return false;
	return true;
}

/* What two observations saw of an untold initial value is the same. */
static bool initial_values_agree(const struct kr_ir *ir, uint32_t *bound)
{
	const struct kr_asg *asg = ir->asg;

	for (uint32_t o = 0; o < asg->nobs; o++) {
		uint32_t k = asg->obs[o].key.i;
		if (!asg->keys[k].open_initial || ir->source[o].i != asg->keys[k].first)
			continue;
		if (bound[k] != 0 && bound[k] != asg->obs[o].set + 1)
			return false;
		bound[k] = asg->obs[o].set + 1;
	}
	return true;
}

static enum kr_status is_settled(const struct kr_ir *ir, bool *settled)
{
	const struct kr_asg *asg = ir->asg;
	struct kr_mem *mem = &ir->ctx->mem;

	*settled = kr_level_is_axiomatic(ir->level) && asg->nparts == 0 && asg->nsums == 0 &&
		asg->nshown == 0 && sources_are_known(ir);
	if (!*settled)
		return KR_OK;

	uint32_t *bound = kr_mem_alloc(mem, asg->nkeys, sizeof *bound);

	*settled = bound && initial_values_agree(ir, bound);
	kr_mem_free(mem, bound, asg->nkeys, sizeof *bound);
	return bound ? KR_OK : KR_NOMEM;
}

/* ---- orders ---- */

static uint32_t count_misses(struct sorting *s)
{
	const struct kr_asg *asg = s->ir->asg;
	uint32_t misses = 0;

	for (uint32_t k = 0; k < asg->nkeys; k++)
		s->newest[k] = kr_asg_initial(asg, (kr_key){k});
	for (uint32_t i = 0; i < s->ir->nnodes; i++) {
		kr_txn t = kr_ir_txn(s->ir, s->graph.order[i]);
		if (t.i == KR_NONE || !s->active[t.i])
			continue;
		for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++)
			misses += s->newest[asg->obs[o].key.i].i != s->ir->source[o].i;
		for (uint32_t v = asg->written_first[t.i]; v < asg->written_first[t.i + 1]; v++)
			s->newest[asg->versions[asg->written[v].i].key.i] = asg->written[v];
	}
	return misses;
}

static enum kr_status try_guess(struct sorting *s, enum kr_guess guess)
{
	bool possible;
	enum kr_status status = kr_prefer(s->ir, guess, s->place, &possible);

	if (!status && possible)
		status = kr_overlay_sort(&s->graph);
	s->cyclic = !status && possible && !kr_overlay_acyclic(&s->graph);
	if (status || !possible || s->cyclic)
		return status;

	uint32_t misses = count_misses(s);

	if (misses >= s->misses)
		return KR_OK;
	s->misses = misses;
	memcpy(s->best, s->graph.order, (size_t)s->ir->nnodes * sizeof *s->best);
	return KR_OK;
}

static enum kr_status answer_with(const struct sorting *s, struct kr_answer *answer)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	bool serial = s->misses == 0 && s->ir->level->anomalies == KR_ANOMALIES_ALL;

	answer->outcome = KR_SATISFIED;
	answer->form = serial ? KR_WORLD_SERIAL : KR_WORLD_GRAPH;
	for (uint32_t i = 0; i < s->ir->nnodes; i++) {
		kr_txn t = kr_ir_txn(s->ir, s->best[i]);
		if (t.i != KR_NONE && s->active[t.i] && !kr_vec_push(mem, &answer->order, s->best[i]))
			return KR_NOMEM;
	}
	if (!serial && !kr_vec_reserve(mem, &answer->sources, s->ir->asg->nobs))
		return KR_NOMEM;
	for (uint32_t o = 0; o < s->ir->asg->nobs && !serial; o++)
		KR_TRY(kr_vec_add(mem, &answer->sources, s->ir->source[o]));
	return KR_OK;
}

static enum kr_status sort(struct sorting *s, struct kr_answer *answer)
{
	const struct kr_asg *asg = s->ir->asg;
	enum kr_status status = KR_OK;

	KR_TRY(kr_arena_new(&s->arena, s->active, asg->ntxns));
	KR_TRY(kr_arena_new(&s->arena, s->place, s->ir->nnodes));
	KR_TRY(kr_arena_new(&s->arena, s->newest, asg->nkeys));
	KR_TRY(kr_arena_new(&s->arena, s->best, s->ir->nnodes));
	for (uint32_t t = 0; t < asg->ntxns; t++)
		s->active[t] = kr_ir_is_present(s->ir, (kr_txn){t});
	KR_TRY(kr_overlay_init(&s->graph, s->ir, s->active));
	kr_overlay_clear(&s->graph);
	s->graph.prefer = s->place;
	for (enum kr_guess guess = 0;
		guess < KR_GUESSES && s->misses > asg->nobs / FEW && !s->cyclic && !status; guess++)
		status = try_guess(s, guess);
	if (!status && s->cyclic)
		status = kr_ir_conflict(s->ir);
	if (!status && s->cyclic)
		kr_answer_conflict(answer, s->ir);
	return status || s->cyclic ? status : answer_with(s, answer);
}

enum kr_status kr_sorted_decide(struct kr_ir *ir, struct kr_answer *answer)
{
	struct sorting s = {.arena = {.mem = &ir->ctx->mem},
		.ir = ir,
		.misses = UINT32_MAX}; /* more than any */
	bool settled;
	enum kr_status status = is_settled(ir, &settled);

	if (status || !settled)
		return status;
	status = sort(&s, answer);
	if (s.graph.ir)
		kr_overlay_done(&s.graph);
	kr_arena_done(&s.arena);
	return status;
}
