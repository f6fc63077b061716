/* The cycle that refutes a level when the known graph has one. Strong components (Tarjan 1972, iterative)
 * tell which edges lie on cycles; for some of those, in order of age, the shortest way back is searched; of
 * the cycles found the one with the fewest derived edges wins, then the shortest, then the one with the
 * fewest rw. */
#include <string.h>

#include "ir/proof.h"

enum { CYCLE_TRIES = 64 };

struct components {
	struct kr_arena arena;
	const struct kr_ir *ir;
	uint32_t *number; /* per node: order of discovery, from 1; 0: not yet */
	/* per node: least number reachable within its component so far; once closed: the component's
	 * number */
	uint32_t *low;
	uint32_t *edge; /* per node: next edge to walk */
	uint8_t *open;  /* per node: on the stack of its component */
	KR_VEC(uint32_t) path;
	KR_VEC(uint32_t) stack;
	uint32_t count;
};

static enum kr_status enter(struct components *c, uint32_t v)
{
	struct kr_mem *mem = &c->ir->ctx->mem;
	c->number[v] = c->low[v] = ++c->count;
	c->edge[v] = c->ir->head.at[v];
	c->open[v] = 1;
	return kr_vec_push(mem, &c->path, v) && kr_vec_push(mem, &c->stack, v) ? KR_OK : KR_NOMEM;
}

/* All edges of v are walked: closes its component if v is its root, and tells its predecessor on the path. */
static void leave(struct components *c, uint32_t v)
{
	c->path.n--;
	if (c->low[v] == c->number[v]) {
		uint32_t x;
		do {
			x = kr_vec_pop(&c->stack);
			c->open[x] = 0;
			c->low[x] = c->number[v];
		} while (x != v);
	}
	if (c->path.n > 0) {
		uint32_t up = c->path.at[c->path.n - 1];
		if (c->open[v] && c->low[v] < c->low[up])
			c->low[up] = c->low[v];
	}
}

static enum kr_status explore(struct components *c, uint32_t root)
{
	KR_TRY(enter(c, root));
	while (c->path.n > 0) {
		uint32_t v = c->path.at[c->path.n - 1], e = c->edge[v];
		if (e == KR_NONE) {
			leave(c, v);
			continue;
		}
		uint32_t to = c->ir->edges.at[e].to.i;
		c->edge[v] = c->ir->next.at[e];
		if (c->number[to] == 0)
			KR_TRY(enter(c, to));
		else if (c->open[to] && c->number[to] < c->low[v])
			c->low[v] = c->number[to];
		KR_TRY(kr_ctx_tick(c->ir->ctx));
	}
	return KR_OK;
}

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
static enum kr_status cycle_through(const struct kr_ir *ir, uint32_t edge, struct kr_path *cycle)
{
	const struct kr_edge *e = &ir->edges.at[edge];
	bool found = true;
	kr_vec_clear(cycle);
	KR_TRY(kr_vec_add(&ir->ctx->mem, cycle, edge));
	KR_TRY(e->from.i == e->to.i ? KR_OK : kr_ir_path(ir, e->to, e->from, ir->edges.n, cycle, &found));
	return found ? KR_OK : KR_INTERNAL;
}

static enum kr_status best_cycle(const struct components *c, struct kr_path *best)
{
	const struct kr_ir *ir = c->ir;
	struct kr_path cycle = {0};
	enum kr_status status = KR_OK;
	unsigned tries = 0;
	for (uint32_t e = 0; e < ir->edges.n && tries < CYCLE_TRIES && !status; e++) {
		const struct kr_edge *edge = &ir->edges.at[e];
		/* orders alone are acyclic */
		if (edge->kind > KR_RW || c->low[edge->from.i] != c->low[edge->to.i])
			continue;
		tries++;
		status = cycle_through(ir, e, &cycle);
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
	struct components c = {.arena = {.mem = mem}, .ir = ir};
	c.number = kr_arena_alloc(&c.arena, ir->nnodes, sizeof *c.number);
	c.low = kr_arena_alloc(&c.arena, ir->nnodes, sizeof *c.low);
	c.edge = kr_arena_alloc(&c.arena, ir->nnodes, sizeof *c.edge);
	c.open = kr_arena_alloc(&c.arena, ir->nnodes, 1);
	enum kr_status status = c.number && c.low && c.edge && c.open ? KR_OK : KR_NOMEM;
	for (uint32_t v = 0; v < ir->nnodes && !status; v++) {
		if (c.number[v] == 0)
			status = explore(&c, v);
	}
	if (!status)
		status = best_cycle(&c, best);
	kr_arena_done(&c.arena);
	kr_vec_done(mem, &c.path);
	kr_vec_done(mem, &c.stack);
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
