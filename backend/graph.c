/* A stack of edges over the known graph. Each new edge costs a breadth-first search from its target: plain,
 * and for small inputs only. Where a cycle may pass one transaction that writes nothing and no more, a search
 * is over pairs of a node and whether it has passed one. Patterns with one rw: once.c. */
#include "backend/graph.h"

#include <string.h>

static enum kr_status take_conflict(struct kr_ir *ir, struct kr_proof *proof)
{
	KR_TRY(kr_ir_conflict(ir));

	struct kr_proof empty = *proof;

	*proof = *ir->conflict;
	*ir->conflict = empty;
	return KR_OK;
}

static bool may_pass_one_reader(const struct kr_graph *g)
{
	return kr_level_asks(g->ir->level) == KR_ASK_READERS;
}

static uint32_t states(const struct kr_graph *g) { return (may_pass_one_reader(g) ? 2 : 1) * g->ir->nnodes; }

static enum kr_status find_known_cycle(struct kr_graph *g, struct kr_proof *proof, bool *cyclic);

enum kr_status kr_graph_init(struct kr_graph *g, struct kr_ir *ir, struct kr_proof *proof, bool *cyclic)
{
	struct kr_mem *mem = &ir->ctx->mem;

	*g = (struct kr_graph){.arena = {.mem = &ir->ctx->mem}, .ir = ir};
	if (ir->nnodes > KR_NONE / 2)
		return KR_NOMEM;
	KR_TRY(kr_arena_new(&g->arena, g->head, ir->nnodes));
	KR_TRY(kr_arena_new(&g->arena, g->via, states(g)));
	KR_TRY(kr_arena_new(&g->arena, g->before, states(g)));
	KR_TRY(kr_arena_new(&g->arena, g->reached, states(g)));
	memset(g->head, 0xff, ir->nnodes * sizeof *g->head);
	if (may_pass_one_reader(g))
		return find_known_cycle(g, proof, cyclic);

	kr_node *order = kr_mem_alloc(mem, ir->nnodes, sizeof *order);
	enum kr_status status = order ? kr_ir_topological(ir, order, cyclic) : KR_NOMEM;

	kr_mem_free(mem, order, ir->nnodes, sizeof *order);
	if (!status && *cyclic)
		status = take_conflict(ir, proof);
	return status;
}

void kr_graph_done(struct kr_graph *g)
{
	if (!g->ir)
		return;

	struct kr_mem *mem = &g->ir->ctx->mem;

	kr_arena_done(&g->arena);
	kr_vec_done(mem, &g->edges);
	kr_vec_done(mem, &g->queue);
	*g = (struct kr_graph){0};
}

/* ---- searches ---- */

static bool is_reader(const struct kr_graph *g, kr_node v)
{
	kr_txn t = kr_ir_txn(g->ir, v);

	return t.i != KR_NONE && g->ir->asg->written_first[t.i] == g->ir->asg->written_first[t.i + 1];
}

static kr_node node_of(const struct kr_graph *g, kr_graph_state x)
{
	return (kr_node){x.i < g->ir->nnodes ? x.i : x.i - g->ir->nnodes};
}

/* `from`: the state that the edge leaves, KR_NONE at the start. */
static enum kr_status reach(struct kr_graph *g, kr_graph_state from, kr_node to, uint32_t edge)
{
	bool passed = from.i != KR_NONE && from.i >= g->ir->nnodes,
	     reader = may_pass_one_reader(g) && is_reader(g, to);
	kr_graph_state x = {to.i + (passed || reader ? g->ir->nnodes : 0)};

	g->steps++;
	if ((passed && reader) || g->reached[x.i] == g->searches)
		return KR_OK;
	g->reached[x.i] = g->searches;
	g->via[x.i] = edge;
	g->before[x.i] = from;
	return kr_vec_add(&g->ir->ctx->mem, &g->queue, x);
}

bool kr_graph_reached(const struct kr_graph *g, kr_node v)
{
	return g->reached[v.i] == g->searches ||
		(may_pass_one_reader(g) && g->reached[v.i + g->ir->nnodes] == g->searches);
}

enum kr_status kr_graph_search(struct kr_graph *g, kr_node a, kr_node b, uint32_t kinds)
{
	const struct kr_ir *ir = g->ir;

	kinds |= KR_BIT(KR_PROGRAM);
	g->searches++;
	kr_vec_clear(&g->queue);
	KR_TRY(reach(g, (kr_graph_state){KR_NONE}, a, KR_NONE));
	for (uint32_t i = 0; i < g->queue.n && (b.i == KR_NONE || !kr_graph_reached(g, b)); i++) {
		kr_graph_state x = g->queue.at[i];
		uint32_t v = node_of(g, x).i;
		for (uint32_t e = ir->head.at[v]; e != KR_NONE; e = ir->edges.at[e].next)
			if (kinds & KR_BIT(ir->edges.at[e].kind))
				KR_TRY(reach(g, x, ir->edges.at[e].to, e));
		for (uint32_t e = g->head[v]; e != KR_NONE; e = g->edges.at[e].next)
			if (kinds & KR_BIT(g->edges.at[e].link.kind))
				KR_TRY(reach(g, x, g->edges.at[e].to, ir->edges.n + e));
		KR_TRY(kr_ctx_tick(ir->ctx));
	}
	return KR_OK;
}

/* ---- cycles ---- */

KR_VEC_NAMED(kr_graph_way, uint32_t);

/* Appends to `way`, in order, the edges by which the last search came to v. */
static enum kr_status trace_back(const struct kr_graph *g, kr_node v, struct kr_graph_way *way)
{
	kr_graph_state x = {v.i + (g->reached[v.i] == g->searches ? 0 : g->ir->nnodes)};
	uint32_t first = way->n;

	for (; g->before[x.i].i != KR_NONE; x = g->before[x.i])
		KR_TRY(kr_vec_add(&g->ir->ctx->mem, way, g->via[x.i]));
	for (uint32_t i = first, j = way->n; i + 1 < j; i++) {
		uint32_t swap = way->at[i];
		way->at[i] = way->at[--j];
		way->at[j] = swap;
	}
	return KR_OK;
}

/* Runs of known edges, which may pass time nodes, and added ones. */
static enum kr_status add_edges(const struct kr_graph *g, const struct kr_graph_way *way,
	struct kr_proof *proof)
{
	uint32_t known = g->ir->edges.n;

	for (uint32_t i = 0, end; i < way->n; i = end) {
		for (end = i; end < way->n && way->at[end] < known;)
			end++;
		if (end > i)
			KR_TRY(kr_proof_add_path(proof, g->ir, &way->at[i], end - i));
		else
			KR_TRY(kr_proof_add_link(proof, g->edges.at[way->at[end++] - known].link));
	}
	return KR_OK;
}

enum kr_status kr_graph_add_way(struct kr_graph *g, kr_node a, kr_node b, struct kr_proof *proof)
{
	struct kr_graph_way way = {0};
	enum kr_status status = a.i == b.i ? KR_OK : trace_back(g, b, &way);

	if (!status)
		status = add_edges(g, &way, proof);
	kr_vec_done(&g->ir->ctx->mem, &way);
	return status;
}

/* Among known edges, a cycle with one transaction at most that writes nothing: by a search from each edge
 * that leaves a transaction. */
static enum kr_status find_known_cycle(struct kr_graph *g, struct kr_proof *proof, bool *cyclic)
{
	const struct kr_ir *ir = g->ir;
	struct kr_graph_way way = {0};
	enum kr_status status = KR_OK;

	for (uint32_t e = 0; e < ir->edges.n && !status && !*cyclic && g->steps <= KR_GRAPH_MOST_STEPS; e++) {
		struct kr_edge edge = ir->edges.at[e];
		if (kr_ir_is_time(ir, edge.from) || !kr_level_orders(ir->level, edge.kind))
			continue;
		status = kr_graph_search(g, edge.to, edge.from, ir->level->forbidden[0].allowed);
		if (status || !kr_graph_reached(g, edge.from))
			continue;
		*cyclic = true;
		kr_proof_begin(proof);
		status = kr_vec_push(&ir->ctx->mem, &way, e) ? trace_back(g, edge.from, &way) : KR_NOMEM;
		if (!status)
			status = add_edges(g, &way, proof);
		if (!status)
			status = kr_proof_end(proof);
	}
	kr_vec_done(&ir->ctx->mem, &way);
	return status;
}

/* The link and a way from where it leads back to where it came from. */
static enum kr_status close_cycle(struct kr_graph *g, struct kr_link link, struct kr_proof *proof,
	bool *cycle)
{
	kr_node from = kr_ir_out(g->ir, (enum kr_edge_kind)link.kind, link.from),
		to = kr_ir_in(g->ir, (enum kr_edge_kind)link.kind, link.to);
	KR_TRY(kr_graph_search(g, to, from, g->ir->level->forbidden[0].allowed));

	if (!kr_graph_reached(g, from))
		return KR_OK;
	*cycle = true;
	kr_proof_begin(proof);
	KR_TRY(kr_proof_add_link(proof, link));
	KR_TRY(kr_graph_add_way(g, to, from, proof));
	return kr_proof_end(proof);
}

enum kr_status kr_graph_add(struct kr_graph *g, struct kr_link link, struct kr_proof *proof, bool *cycle)
{
	const struct kr_level *level = g->ir->level;
	enum kr_edge_kind kind = (enum kr_edge_kind)link.kind;
	kr_node from = kr_ir_out(g->ir, kind, link.from), to = kr_ir_in(g->ir, kind, link.to);

	if (!(kr_level_kinds(level) & KR_BIT(kind)))
		return KR_OK;
	if (kr_level_orders(level, kind))
		KR_TRY(close_cycle(g, link, proof, cycle));
	if (*cycle)
		return KR_OK;
	KR_TRY(kr_vec_add(&g->ir->ctx->mem, &g->edges,
		(struct kr_graph_edge){from, to, g->head[from.i], link}));
	g->head[from.i] = g->edges.n - 1;
	return level->forbidden[1].allowed ? kr_graph_find_once(g, proof, cycle) : KR_OK;
}

void kr_graph_undo(struct kr_graph *g, uint32_t mark)
{
	while (g->edges.n > mark) {
		struct kr_graph_edge *e = &g->edges.at[--g->edges.n];
		g->head[e->from.i] = e->next;
	}
}

/* ---- orders ---- */

/* Whether an edge counts in the order: of a kind of the first pattern, and not from a transaction that writes
 * nothing where only the others are ordered. */
static bool orders(const struct kr_graph *g, kr_node from, uint8_t kind)
{
	return (kind == KR_PROGRAM || kr_level_orders(g->ir->level, kind)) &&
		!(may_pass_one_reader(g) && is_reader(g, from));
}

static void release(struct kr_graph *g, kr_node v, uint32_t *degree)
{
	if (--degree[v.i] == 0)
		g->queue.at[g->queue.n++].i = v.i;
}

/* Kahn's algorithm over both kinds of edges, in the queue. */
static enum kr_status sort(struct kr_graph *g, uint32_t *degree)
{
	const struct kr_ir *ir = g->ir;

	for (uint32_t e = 0; e < ir->edges.n; e++)
		degree[ir->edges.at[e].to.i] += orders(g, ir->edges.at[e].from, ir->edges.at[e].kind);
	for (uint32_t e = 0; e < g->edges.n; e++)
		degree[g->edges.at[e].to.i] += orders(g, g->edges.at[e].from, g->edges.at[e].link.kind);
	kr_vec_clear(&g->queue);
	if (!kr_vec_reserve(&ir->ctx->mem, &g->queue, ir->nnodes))
		return KR_NOMEM;
	for (uint32_t v = 0; v < ir->nnodes; v++)
		if (degree[v] == 0)
			g->queue.at[g->queue.n++].i = v;
	for (uint32_t i = 0; i < g->queue.n; i++) {
		kr_node v = {g->queue.at[i].i};
		for (uint32_t e = ir->head.at[v.i]; e != KR_NONE; e = ir->edges.at[e].next)
			if (orders(g, v, ir->edges.at[e].kind))
				release(g, ir->edges.at[e].to, degree);
		for (uint32_t e = g->head[v.i]; e != KR_NONE; e = g->edges.at[e].next)
			if (orders(g, v, g->edges.at[e].link.kind))
				release(g, g->edges.at[e].to, degree);
	}
	return KR_OK;
}

enum kr_status kr_graph_order(struct kr_graph *g, const uint8_t *present, struct kr_answer *answer)
{
	struct kr_mem *mem = &g->ir->ctx->mem;
	uint32_t *degree = kr_mem_alloc(mem, g->ir->nnodes, sizeof *degree);
	enum kr_status status = degree ? sort(g, degree) : KR_NOMEM;

	kr_mem_free(mem, degree, g->ir->nnodes, sizeof *degree);
	for (uint32_t i = 0; i < g->queue.n && !status; i++) {
		kr_node v = {g->queue.at[i].i};
		kr_txn t = kr_ir_txn(g->ir, v);
		if (t.i != KR_NONE && present[t.i] && !kr_vec_push(mem, &answer->order, v))
			status = KR_NOMEM;
	}
	if (!status)
		answer->outcome = KR_SATISFIED;
	return status;
}
