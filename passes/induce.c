/* Pass `induce`: PolySI's pruning. Works on transactions, with no begins and commits: the induced graph has
 * an edge for each so, rt, wr or ww edge, and for each of those that an rw edge follows. Snapshot isolation
 * holds iff it has no cycle. Its transitive closure is made anew in every round, as sets of bits. A ww edge a
 * -> b is impossible if b reaches a in the induced graph; an rw edge t -> b is if b reaches some a with an
 * so, rt, wr or ww edge a -> t. What is impossible decides the order of two units, in the rounds of prune.c.
 *
 * Right: a path of the induced graph is one of the graph of begins and commits from a commit to a commit
 * (docs/ir.md, "Nodes"), so what is found here the rules there say, too. They know more: a path may leave b
 * by an rw edge. Time nodes take part as transactions do. Cost: (transactions and time nodes)^2 / 8 bytes,
 * and edges of the induced graph * nodes / 64 steps for each round. With more than MOST_NODES nothing is
 * done, and all is left to the back end. */
#include "passes/prune.h"

#include <string.h>

#include "base/bits.h"

enum { MOST_NODES = 90000 }; /* a gigabyte of closure */

struct arc {
	uint32_t to, next;
};
KR_VEC_NAMED(arcs, struct arc);

struct induced {
	struct kr_arena arena;
	struct kr_ir *ir;
	uint32_t n; /* transactions, then time nodes */
	struct arcs arcs;
	uint32_t *plain;   /* per node, into arcs: its edges that are not rw; KR_NONE ends */
	uint32_t *rw;      /* its rw edges */
	uint32_t *sources; /* where edges into it leave that are not rw */
	uint32_t *degree, *order;
	uint64_t *reach; /* n rows: what a node reaches, itself among it */
};

static uint32_t number(const struct kr_ir *ir, kr_node v)
{
	return kr_ir_is_time(ir, v) ? ir->asg->ntxns + (v.i - ir->first_time_node) : kr_ir_txn(ir, v).i;
}

static uint64_t *row(const struct induced *g, uint32_t v)
{
	return g->reach + (size_t)v * KR_BITS_WORDS(g->n);
}

static bool push(struct induced *g, uint32_t *heads, uint32_t at, uint32_t to)
{
	if (!kr_vec_push(&g->ir->ctx->mem, &g->arcs, (struct arc){to, heads[at]}))
		return false;
	heads[at] = g->arcs.n - 1;
	return true;
}

static enum kr_status take_edges(struct induced *g)
{
	const struct kr_ir *ir = g->ir;
	kr_vec_clear(&g->arcs);
	memset(g->plain, 0xff, g->n * sizeof *g->plain);
	memset(g->rw, 0xff, g->n * sizeof *g->rw);
	memset(g->sources, 0xff, g->n * sizeof *g->sources);
	for (uint32_t e = 0; e < ir->edges.n; e++) {
		uint32_t from = number(ir, ir->edges.at[e].from), to = number(ir, ir->edges.at[e].to);
		bool rw = ir->edges.at[e].kind == KR_RW;
		if (from == to) /* a begin and its commit */
			continue;
		if (!push(g, rw ? g->rw : g->plain, from, to) || (!rw && !push(g, g->sources, to, from)))
			return KR_NOMEM;
	}
	return KR_OK;
}

/* Walks the targets of v in the induced graph: by an edge, and by a further rw edge. */
struct walk {
	uint32_t plain, rw;
};

static struct walk targets(const struct induced *g, uint32_t v)
{
	return (struct walk){g->plain[v], KR_NONE};
}

static bool next_target(const struct induced *g, struct walk *w, uint32_t *to)
{
	if (w->rw != KR_NONE) {
		*to = g->arcs.at[w->rw].to;
		w->rw = g->arcs.at[w->rw].next;
		return true;
	}
	if (w->plain == KR_NONE)
		return false;
	*to = g->arcs.at[w->plain].to;
	w->plain = g->arcs.at[w->plain].next;
	w->rw = g->rw[*to];
	return true;
}

/* A topological order of the induced graph, if there is one. */
static enum kr_status sort(struct induced *g, bool *cyclic)
{
	uint32_t n = 0, to;
	memset(g->degree, 0, g->n * sizeof *g->degree);
	for (uint32_t v = 0; v < g->n; v++)
		for (struct walk w = targets(g, v); next_target(g, &w, &to);)
			g->degree[to]++;
	for (uint32_t v = 0; v < g->n; v++)
		if (g->degree[v] == 0)
			g->order[n++] = v;
	for (uint32_t i = 0; i < n; i++) {
		KR_TRY(kr_ctx_tick(g->ir->ctx));
		for (struct walk w = targets(g, g->order[i]); next_target(g, &w, &to);)
			if (--g->degree[to] == 0)
				g->order[n++] = to;
	}
	*cyclic = n < g->n;
	return KR_OK;
}

static enum kr_status close_over(struct induced *g)
{
	size_t words = KR_BITS_WORDS(g->n);
	uint32_t to;
	memset(g->reach, 0, g->n * words * sizeof *g->reach);
	for (uint32_t i = g->n; i-- > 0;) {
		uint64_t *own = row(g, g->order[i]);
		KR_TRY(kr_ctx_check(g->ir->ctx));
		for (struct walk w = targets(g, g->order[i]); next_target(g, &w, &to);)
			for (size_t word = 0; word < words; word++)
				own[word] |= row(g, to)[word];
		kr_bits_set(own, g->order[i]);
	}
	return KR_OK;
}

/* ---- questions ---- */

static enum kr_status refresh(void *data, struct kr_ir *ir, bool *cyclic)
{
	struct induced *g = data;
	(void)ir;
	KR_TRY(take_edges(g));
	KR_TRY(sort(g, cyclic));
	return *cyclic ? KR_OK : close_over(g);
}

static bool writes_before(const void *data, kr_txn a, kr_txn b)
{
	const struct induced *g = data;
	return kr_bits_get(row(g, a.i), b.i);
}

static bool reaches_read(const void *data, kr_txn a, kr_txn t)
{
	const struct induced *g = data;
	for (uint32_t i = g->sources[t.i]; i != KR_NONE; i = g->arcs.at[i].next)
		if (kr_bits_get(row(g, a.i), g->arcs.at[i].to))
			return true;
	return false;
}

static bool implied(const void *data, enum kr_edge_kind kind, kr_txn a, kr_txn b)
{
	const struct induced *g = data;
	if (kind != KR_RW)
		return reaches_read(data, a, b);
	for (uint32_t i = g->rw[a.i]; i != KR_NONE; i = g->arcs.at[i].next)
		if (g->arcs.at[i].to == b.i)
			return true;
	return writes_before(data, a, b);
}

/* ---- life ---- */

static bool applies(const struct kr_ir *ir)
{
	return kr_prune_applies(ir) && ir->level->model == KR_NODES_BEGIN_COMMIT &&
		ir->level->forbidden[0].lonely == KR_BIT(KR_RW);
}

static enum kr_status begin(struct induced *g)
{
	size_t n = g->n;
	KR_TRY(kr_arena_new(&g->arena, g->plain, n));
	KR_TRY(kr_arena_new(&g->arena, g->rw, n));
	KR_TRY(kr_arena_new(&g->arena, g->sources, n));
	KR_TRY(kr_arena_new(&g->arena, g->degree, n));
	KR_TRY(kr_arena_new(&g->arena, g->order, n));
	return kr_arena_new(&g->arena, g->reach, n * KR_BITS_WORDS(n));
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;
	struct induced g = {.arena = {.mem = mem},
		.ir = ir,
		.n = ir->asg->ntxns + (ir->nnodes - ir->first_time_node)};
	(void)err;
	if (!applies(ir) || g.n > MOST_NODES)
		return KR_OK;
	enum kr_status status = begin(&g);
	if (!status)
		status = kr_prune(ir, &(struct kr_pruner){&g, refresh, writes_before, reaches_read, implied},
			change);
	kr_vec_done(mem, &g.arcs);
	kr_arena_done(&g.arena);
	return status;
}

const struct kr_pass kr_pass_induce = {
	.name = "induce",
	.title = "orders of versions whose contrary would close a cycle of the induced graph, in rounds",
	.source = "Huang et al., PolySI, VLDB 2023",
	.requires = KR_FACT_SO | KR_FACT_RT | KR_FACT_WR | KR_FACT_WW | KR_FACT_RW,
	.provides = KR_FACT_PRUNED,
	.breaks = KR_FACT_CLOCK | KR_FACT_SATURATED,
	.run = run,
};
