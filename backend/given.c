/* Given orders as adjacency lists, walked depth first (given.h). Traces without version orders pay nothing. */
#include "backend/given.h"

enum kr_status kr_given_init(struct kr_given *g, const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	struct kr_mem *mem = &ir->ctx->mem;
	*g = (struct kr_given){.ir = ir};
	if (asg->norders == 0)
		return KR_OK;
	g->first = kr_mem_alloc(mem, (size_t)asg->nversions + 2, sizeof *g->first);
	g->after = kr_mem_alloc(mem, asg->norders, sizeof *g->after);
	g->visited = kr_mem_alloc(mem, asg->nversions, sizeof *g->visited);
	if (!g->first || !g->after || !g->visited)
		return KR_NOMEM;
	for (uint32_t i = 0; i < asg->norders; i++)
		g->first[asg->orders[i].before.i + 2]++;
	for (uint32_t v = 1; v <= asg->nversions; v++)
		g->first[v + 1] += g->first[v];
	for (uint32_t i = 0; i < asg->norders; i++) /* first[v + 1] is v's next place, and in the end where v + 1 begins */
		g->after[g->first[asg->orders[i].before.i + 1]++] = asg->orders[i].after;
	return KR_OK;
}

void kr_given_done(struct kr_given *g)
{
	if (!g->ir)
		return;
	struct kr_mem *mem = &g->ir->ctx->mem;
	kr_mem_free(mem, g->first, (size_t)g->ir->asg->nversions + 2, sizeof *g->first);
	kr_mem_free(mem, g->after, g->ir->asg->norders, sizeof *g->after);
	kr_mem_free(mem, g->visited, g->ir->asg->nversions, sizeof *g->visited);
	kr_vec_done(mem, &g->stack);
}

static enum kr_status start(struct kr_given *g, kr_version v)
{
	kr_vec_clear(&g->stack);
	g->mark++;
	return kr_vec_push(&g->ir->ctx->mem, &g->stack, v) ? KR_OK : KR_NOMEM;
}

/* Has the walk at hand reached v for the first time? */
static bool reach(struct kr_given *g, kr_version v)
{
	bool fresh = g->visited[v.i] != g->mark;
	g->visited[v.i] = g->mark;
	return fresh;
}

enum kr_status kr_given_after(struct kr_given *g, kr_version v, const uint8_t *active, struct kr_versions *out)
{
	struct kr_mem *mem = &g->ir->ctx->mem;
	if (!g->first)
		return KR_OK;
	enum kr_status status = start(g, v);
	while (!status && g->stack.n > 0) {
		kr_version x = kr_vec_pop(&g->stack);
		for (uint32_t i = g->first[x.i]; i < g->first[x.i + 1] && !status; i++) {
			kr_version next = g->after[i];
			if (!reach(g, next))
				continue;
			bool stop = active[g->ir->asg->versions[next.i].writer.i];
			if (!(stop ? kr_vec_push(mem, out, next) : kr_vec_push(mem, &g->stack, next)))
				status = KR_NOMEM;
		}
		if (!status)
			status = kr_ctx_tick(g->ir->ctx);
	}
	return status;
}

enum kr_status kr_given_before(struct kr_given *g, kr_version a, kr_version b, bool *out)
{
	*out = false;
	if (!g->first)
		return KR_OK;
	enum kr_status status = start(g, a);
	while (!status && !*out && g->stack.n > 0) {
		kr_version x = kr_vec_pop(&g->stack);
		for (uint32_t i = g->first[x.i]; i < g->first[x.i + 1] && !status; i++) {
			kr_version next = g->after[i];
			*out |= next.i == b.i;
			if (reach(g, next) && !kr_vec_push(&g->ir->ctx->mem, &g->stack, next))
				status = KR_NOMEM;
		}
		if (!status)
			status = kr_ctx_tick(g->ir->ctx);
	}
	return status;
}
