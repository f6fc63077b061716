/* A stack of edges over the known graph. Each new edge costs a breadth-first search from its target: plain, and for small inputs only. */
#include "backend/graph.h"

#include <string.h>

bool kr_graph_decides(const struct kr_level *level)
{
	const struct kr_pattern *p = &level->forbidden[0];
	bool lonely = p->lonely == 0 || (p->lonely == KR_BIT(KR_RW) && level->model == KR_NODES_BEGIN_COMMIT);

	return lonely && p->lead == 0 && p->once == 0 && p->needed == 0 && !p->one_reader && level->forbidden[1].allowed == 0;
}

static enum kr_status take_conflict(struct kr_ir *ir, struct kr_proof *proof)
{
	enum kr_status status = kr_ir_conflict(ir);

	if (status)
		return status;

	struct kr_proof empty = *proof;

	*proof = *ir->conflict;
	*ir->conflict = empty;
	return KR_OK;
}

enum kr_status kr_graph_init(struct kr_graph *g, struct kr_ir *ir, struct kr_proof *proof, bool *cyclic)
{
	struct kr_mem *mem = &ir->ctx->mem;

	*g = (struct kr_graph){.ir = ir};
	g->head = kr_mem_alloc(mem, ir->nnodes, sizeof *g->head);
	g->via = kr_mem_alloc(mem, ir->nnodes, sizeof *g->via);
	g->reached = kr_mem_alloc(mem, ir->nnodes, sizeof *g->reached);

	kr_node *order = kr_mem_alloc(mem, ir->nnodes, sizeof *order);
	enum kr_status status = g->head && g->via && g->reached && order ? kr_ir_topological(ir, order, cyclic) : KR_NOMEM;

	if (g->head)
		memset(g->head, 0xff, ir->nnodes * sizeof *g->head);
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

	kr_mem_free(mem, g->head, g->ir->nnodes, sizeof *g->head);
	kr_mem_free(mem, g->via, g->ir->nnodes, sizeof *g->via);
	kr_mem_free(mem, g->reached, g->ir->nnodes, sizeof *g->reached);
	kr_vec_done(mem, &g->edges);
	kr_vec_done(mem, &g->queue);
	*g = (struct kr_graph){0};
}

/* ---- cycles ---- */

static enum kr_status reach(struct kr_graph *g, kr_node to, uint32_t edge)
{
	g->steps++;
	if (g->reached[to.i] == g->searches)
		return KR_OK;
	g->reached[to.i] = g->searches;
	g->via[to.i] = edge;
	return kr_vec_push(&g->ir->ctx->mem, &g->queue, to) ? KR_OK : KR_NOMEM;
}

/* Breadth first from `a` until `b` is reached. */
static enum kr_status search(struct kr_graph *g, kr_node a, kr_node b)
{
	const struct kr_ir *ir = g->ir;
	enum kr_status status;

	g->searches++;
	kr_vec_clear(&g->queue);
	status = reach(g, a, KR_NONE);
	for (uint32_t i = 0; i < g->queue.n && !status && g->reached[b.i] != g->searches; i++) {
		kr_node v = g->queue.at[i];
		for (uint32_t e = ir->head.at[v.i]; e != KR_NONE && !status; e = ir->next.at[e])
			status = reach(g, ir->edges.at[e].to, e);
		for (uint32_t e = g->head[v.i]; e != KR_NONE && !status; e = g->edges.at[e].next)
			status = reach(g, g->edges.at[e].to, ir->edges.n + e);
		if (!status)
			status = kr_ctx_tick(ir->ctx);
	}
	return status;
}

/* Appends the cycle of `link` and the path from `a` to `b` that the last search found. */
static enum kr_status record(struct kr_graph *g, struct kr_link link, kr_node a, kr_node b, struct kr_proof *proof)
{
	const struct kr_ir *ir = g->ir;
	struct kr_mem *mem = &ir->ctx->mem;
	KR_VEC(uint32_t) path = {0};
	enum kr_status status;

	kr_proof_begin(proof);
	status = kr_proof_add_link(proof, link);
	for (kr_node v = b; v.i != a.i && !status;) {
		uint32_t e = g->via[v.i];
		if (!kr_vec_push(mem, &path, e))
			status = KR_NOMEM;
		v = e < ir->edges.n ? ir->edges.at[e].from : g->edges.at[e - ir->edges.n].from;
	}
	for (uint32_t i = 0; i < path.n / 2; i++) {
		uint32_t swap = path.at[i];
		path.at[i] = path.at[path.n - 1 - i];
		path.at[path.n - 1 - i] = swap;
	}
	for (uint32_t i = 0, end; i < path.n && !status; i = end) { /* runs of known edges, which may pass time nodes, and added ones */
		for (end = i; end < path.n && path.at[end] < ir->edges.n;)
			end++;
		if (end > i)
			status = kr_proof_add_path(proof, ir, &path.at[i], end - i);
		else
			status = kr_proof_add_link(proof, g->edges.at[path.at[end++] - ir->edges.n].link);
	}
	kr_vec_done(mem, &path);
	return status ? status : kr_proof_end(proof);
}

enum kr_status kr_graph_add(struct kr_graph *g, struct kr_link link, struct kr_proof *proof, bool *cycle)
{
	enum kr_edge_kind kind = (enum kr_edge_kind)link.kind;
	kr_node from = kr_ir_out(g->ir, kind, link.from), to = kr_ir_in(g->ir, kind, link.to);

	if (!(kr_level_kinds(g->ir->level) & KR_BIT(kind)))
		return KR_OK;

	enum kr_status status = search(g, to, from);

	if (!status && g->reached[from.i] == g->searches) {
		*cycle = true;
		return record(g, link, to, from, proof);
	}
	if (!status && !kr_vec_push(&g->ir->ctx->mem, &g->edges, (struct kr_graph_edge){from, to, g->head[from.i], link}))
		status = KR_NOMEM;
	if (!status)
		g->head[from.i] = g->edges.n - 1;
	return status;
}

void kr_graph_undo(struct kr_graph *g, uint32_t mark)
{
	while (g->edges.n > mark) {
		struct kr_graph_edge *e = &g->edges.at[--g->edges.n];
		g->head[e->from.i] = e->next;
	}
}

/* ---- orders ---- */

/* Kahn's algorithm over both kinds of edges, in the queue. */
static enum kr_status sort(struct kr_graph *g, uint32_t *degree)
{
	const struct kr_ir *ir = g->ir;

	for (uint32_t e = 0; e < ir->edges.n; e++)
		degree[ir->edges.at[e].to.i]++;
	for (uint32_t e = 0; e < g->edges.n; e++)
		degree[g->edges.at[e].to.i]++;
	kr_vec_clear(&g->queue);
	if (!kr_vec_reserve(&ir->ctx->mem, &g->queue, ir->nnodes))
		return KR_NOMEM;
	for (uint32_t v = 0; v < ir->nnodes; v++)
		if (degree[v] == 0)
			g->queue.at[g->queue.n++].i = v;
	for (uint32_t i = 0; i < g->queue.n; i++) {
		for (uint32_t e = ir->head.at[g->queue.at[i].i]; e != KR_NONE; e = ir->next.at[e])
			if (--degree[ir->edges.at[e].to.i] == 0)
				g->queue.at[g->queue.n++] = ir->edges.at[e].to;
		for (uint32_t e = g->head[g->queue.at[i].i]; e != KR_NONE; e = g->edges.at[e].next)
			if (--degree[g->edges.at[e].to.i] == 0)
				g->queue.at[g->queue.n++] = g->edges.at[e].to;
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
		kr_txn t = kr_ir_txn(g->ir, g->queue.at[i]);
		if (t.i != KR_NONE && present[t.i] && !kr_vec_push(mem, &answer->order, g->queue.at[i]))
			status = KR_NOMEM;
	}
	if (!status)
		answer->outcome = KR_SATISFIED;
	return status;
}
