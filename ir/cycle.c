/* The cycle that refutes a level when the known graph has one. Strong components (Tarjan 1972, iterative)
 * tell which edges lie on cycles; for some of those, in order of age, the shortest way back is searched; of
 * the cycles found the one with the fewest derived edges wins, then the shortest, then the one with the
 * fewest rw. */
#include <string.h>

#include "ir/proof.h"

enum { CYCLE_TRIES = 64 };

/* ---- strong components ---- */

struct walk {
	struct kr_arena arena;
	const struct kr_ir *ir;
	const struct kr_ir_chosen *chosen;
	uint32_t *component; /* KR_NONE: none yet */
	uint32_t *number;    /* in the order of first visits; 0: not visited */
	uint32_t *low;       /* the least number of an open node that the node is known to reach */
	/* where the node's walk stands: a known edge by its index, chosen ones behind them, KR_NONE at the
	 * end */
	uint32_t *step;
	uint32_t *path; /* nodes whose walk is not over, the deepest last */
	uint32_t *open; /* visited nodes without a component */
	uint32_t npath, nopen, visited, components;
};

static bool takes_part(const struct walk *w, uint32_t node)
{
	return !w->chosen || w->chosen->rank[node] == KR_NONE;
}

/* Chosen edges come after known ones. */
static uint32_t known_or_chosen(const struct walk *w, uint32_t node, uint32_t known)
{
	if (known != KR_NONE || !w->chosen || w->chosen->head[node] == KR_NONE)
		return known;
	return w->ir->edges.n + w->chosen->head[node];
}

static void enter(struct walk *w, uint32_t node)
{
	kr_txn t = kr_ir_txn(w->ir, (kr_node){node});
	bool active = t.i == KR_NONE || !w->chosen || w->chosen->active[t.i];
	w->number[node] = w->low[node] = ++w->visited;
	w->step[node] = known_or_chosen(w, node, active ? w->ir->head.at[node] : KR_NONE);
	w->path[w->npath++] = node;
	w->open[w->nopen++] = node;
}

/* Where the node's next edge leads. */
static uint32_t take_step(struct walk *w, uint32_t node)
{
	uint32_t i = w->step[node], known = w->ir->edges.n;
	if (i < known) {
		w->step[node] = known_or_chosen(w, node, w->ir->edges.at[i].next);
		return w->ir->edges.at[i].to.i;
	}
	const struct kr_ir_arc *arc = &w->chosen->arcs[i - known];
	w->step[node] = arc->next == KR_NONE ? KR_NONE : known + arc->next;
	return arc->to;
}

static void lower(struct walk *w, uint32_t node, uint32_t low)
{
	if (low < w->low[node])
		w->low[node] = low;
}

/* The deepest node's walk is over. */
static void leave(struct walk *w)
{
	uint32_t node = w->path[--w->npath], member;
	if (w->npath > 0)
		lower(w, w->path[w->npath - 1], w->low[node]);
	if (w->low[node] < w->number[node])
		return;
	do {
		member = w->open[--w->nopen];
		w->component[member] = w->components;
	} while (member != node);
	w->components++;
}

static enum kr_status walk_from(struct walk *w, uint32_t node)
{
	enter(w, node);
	while (w->npath > 0) {
		node = w->path[w->npath - 1];
		if (w->step[node] == KR_NONE) {
			leave(w);
			continue;
		}
		uint32_t to = take_step(w, node);
		if (takes_part(w, to) && w->number[to] == 0)
			enter(w, to);
		else if (takes_part(w, to) && w->component[to] == KR_NONE)
			lower(w, node, w->number[to]);
		KR_TRY(kr_ctx_tick(w->ir->ctx));
	}
	return KR_OK;
}

enum kr_status kr_ir_components(const struct kr_ir *ir, const struct kr_ir_chosen *chosen,
	uint32_t *component)
{
	uint32_t n = ir->nnodes;
	struct walk w = {.arena = {.mem = &ir->ctx->mem}, .ir = ir, .chosen = chosen, .component = component};
	w.number = KR_NEW_ARRAY(&w.arena, uint32_t, n);
	w.low = KR_NEW_ARRAY(&w.arena, uint32_t, n);
	w.step = KR_NEW_ARRAY(&w.arena, uint32_t, n);
	w.path = KR_NEW_ARRAY(&w.arena, uint32_t, n);
	w.open = KR_NEW_ARRAY(&w.arena, uint32_t, n);
	enum kr_status status = w.number && w.low && w.step && w.path && w.open ? KR_OK : KR_NOMEM;
	memset(component, 0xff, (size_t)n * sizeof *component);
	for (uint32_t v = 0; v < n && !status; v++) {
		if (takes_part(&w, v) && w.number[v] == 0)
			status = walk_from(&w, v);
	}
	kr_arena_done(&w.arena);
	return status;
}

/* ---- the cycle ---- */

static bool better(const struct kr_ir *ir, const struct kr_path *a, const struct kr_path *b)
{
	unsigned derived[2] = {0, 0}, rw[2] = {0, 0};
	const struct kr_path *paths[2] = {a, b};
	for (int p = 0; p < 2; p++) {
		for (uint32_t i = 0; i < paths[p]->n; i++) {
			derived[p] += ir->edges.at[paths[p]->at[i]].rule != KR_RULE_GIVEN;
			rw[p] += ir->edges.at[paths[p]->at[i]].kind == KR_RW;
		}
	}
	if (b->n == 0 || derived[0] != derived[1])
		return b->n == 0 || derived[0] < derived[1];
	return a->n != b->n ? a->n < b->n : rw[0] < rw[1];
}

/* The cycle that starts with `edge`, whose ends are in one component. */
static enum kr_status cycle_through(const struct kr_ir *ir, const uint32_t *component, uint32_t edge,
	struct kr_path *cycle)
{
	const struct kr_edge *e = &ir->edges.at[edge];
	bool found = true;
	kr_vec_clear(cycle);
	KR_TRY(kr_vec_add(&ir->ctx->mem, cycle, edge));
	KR_TRY(e->from.i == e->to.i ? KR_OK
				    : kr_ir_path_within(ir, component, e->to, e->from, cycle, &found));
	return found ? KR_OK : KR_INTERNAL;
}

static enum kr_status best_cycle(const struct kr_ir *ir, const uint32_t *component, struct kr_path *best)
{
	struct kr_path cycle = {0};
	enum kr_status status = KR_OK;
	unsigned tries = 0;
	for (uint32_t e = 0; e < ir->edges.n && tries < CYCLE_TRIES && !status; e++) {
		const struct kr_edge *edge = &ir->edges.at[e];
		/* orders alone are acyclic */
		if (edge->kind > KR_RW || component[edge->from.i] != component[edge->to.i])
			continue;
		tries++;
		status = cycle_through(ir, component, e, &cycle);
		if (!status && better(ir, &cycle, best)) {
			struct kr_path swap = *best;
			*best = cycle;
			cycle = swap;
		}
	}
	kr_vec_done(&ir->ctx->mem, &cycle);
	return status;
}

static enum kr_status find_cycle(const struct kr_ir *ir, struct kr_path *best)
{
	struct kr_mem *mem = &ir->ctx->mem;
	uint32_t *component = kr_mem_alloc(mem, ir->nnodes, sizeof *component);
	enum kr_status status = component ? kr_ir_components(ir, NULL, component) : KR_NOMEM;
	if (!status)
		status = best_cycle(ir, component, best);
	kr_mem_free(mem, component, ir->nnodes, sizeof *component);
	return status;
}

enum kr_status kr_ir_conflict(struct kr_ir *ir)
{
	struct kr_mem *mem = &ir->ctx->mem;
	struct kr_path cycle = {0};
	struct kr_proof *proof = kr_mem_alloc(mem, 1, sizeof *proof);
	if (!proof)
		return KR_NOMEM;
	kr_proof_init(proof, mem);
	enum kr_status status = find_cycle(ir, &cycle);
	if (!status && cycle.n == 0)
		status = KR_INTERNAL;
	if (!status) {
		kr_proof_begin(proof);
		status = kr_proof_add_path(proof, ir, cycle.at, cycle.n);
	}
	if (!status)
		status = kr_proof_end(proof);
	kr_vec_done(mem, &cycle);
	if (status) {
		kr_proof_done(proof);
		kr_mem_free(mem, proof, 1, sizeof *proof);
	} else {
		ir->conflict = proof;
	}
	return status;
}
