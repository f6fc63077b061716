/* Given orders (those whose guard is present) as an offset array per version, bridged by a depth-first walk
 * from every version that exists through those that may not. */
#include "passes/orders.h"

#include "base/order.h"

struct given {
	struct kr_arena arena;
	uint32_t *first;   /* nversions + 2 */
	uint32_t *pairs;   /* norders: places in asg->orders */
	uint32_t *visited; /* per version: 1 + the last version from which it was reached */
	KR_VEC(kr_version) stack;
};

static bool exists(const struct kr_ir *ir, kr_version v)
{
	kr_txn writer = ir->asg->versions[v.i].writer;

	return writer.i == KR_NONE || ir->presence[writer.i] == KR_PRESENT;
}

/* Does the order hold for all that is known? */
static bool holds(const struct kr_ir *ir, const struct kr_asg_order *order)
{
	return order->guard.i == KR_NONE || ir->presence[order->guard.i] == KR_PRESENT;
}

static enum kr_status collect(struct given *g, const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;

	KR_TRY(kr_arena_new(&g->arena, g->first, (size_t)asg->nversions + 2));
	KR_TRY(kr_arena_new(&g->arena, g->pairs, asg->norders));
	KR_TRY(kr_arena_new(&g->arena, g->visited, asg->nversions));
	for (uint32_t i = 0; i < asg->norders; i++)
		g->first[asg->orders[i].before.i + 2] += holds(ir, &asg->orders[i]);
	kr_index_places(g->first, asg->nversions);
	for (uint32_t i = 0; i < asg->norders; i++)
		if (holds(ir, &asg->orders[i]))
			g->pairs[g->first[asg->orders[i].before.i + 1]++] = i;
	return KR_OK;
}

/* Appends the nearest versions after `start` that exist. */
static enum kr_status bridge(struct given *g, const struct kr_ir *ir, kr_version start, struct kr_orders *out)
{
	struct kr_mem *mem = &ir->ctx->mem;

	kr_vec_clear(&g->stack);
	/* orders under guards may lead back through versions that do not exist */
	g->visited[start.i] = start.i + 1;
	KR_TRY(kr_vec_add(mem, &g->stack, start));
	while (g->stack.n > 0) {
		kr_version v = kr_vec_pop(&g->stack);
		KR_TRY(kr_ctx_tick(ir->ctx));

		for (uint32_t i = g->first[v.i]; i < g->first[v.i + 1]; i++) {
			kr_version next = ir->asg->orders[g->pairs[i]].after;
			/* says nothing of a version that is not there */
			bool seen = g->pairs[i] < ir->asg->norders_seen;

			if (g->visited[next.i] == start.i + 1 || (seen && !exists(ir, next)))
				continue;
			g->visited[next.i] = start.i + 1;
			if (!(exists(ir, next) ? kr_vec_push(mem, &out->after, next)
					       : kr_vec_push(mem, &g->stack, next)))
				return KR_NOMEM;
		}
	}
	return KR_OK;
}

static enum kr_status fill(struct kr_orders *orders, struct given *g, const struct kr_ir *ir)
{
	enum kr_status status = collect(g, ir);

	for (uint32_t v = 0; v < ir->asg->nversions && !status; v++) {
		orders->first[v] = orders->after.n;
		if (g->first[v] < g->first[v + 1] && exists(ir, (kr_version){v}))
			status = bridge(g, ir, (kr_version){v}, orders);
	}
	orders->first[ir->asg->nversions] = orders->after.n;
	return status;
}

enum kr_status kr_orders_init(struct kr_orders *orders, const struct kr_ir *ir)
{
	struct kr_mem *mem = &ir->ctx->mem;
	struct given g = {.arena = {.mem = mem}};

	*orders = (struct kr_orders){.mem = mem};
	if (ir->asg->norders == 0)
		return KR_OK;
	orders->nfirst = ir->asg->nversions + 1;
	orders->first = kr_mem_alloc(mem, orders->nfirst, sizeof *orders->first);

	enum kr_status status = orders->first ? fill(orders, &g, ir) : KR_NOMEM;

	kr_arena_done(&g.arena);
	kr_vec_done(mem, &g.stack);
	if (status)
		kr_orders_done(orders);
	return status;
}

void kr_orders_done(struct kr_orders *orders)
{
	if (!orders->mem)
		return;
	kr_mem_free(orders->mem, orders->first, orders->nfirst, sizeof *orders->first);
	kr_vec_done(orders->mem, &orders->after);
	*orders = (struct kr_orders){0};
}
