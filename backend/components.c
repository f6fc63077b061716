/* Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972) over both edge lists, with a
 * stack of its own instead of recursion. A node's step is where its walk stands: a known edge e as 2e, a
 * chosen one l as 2l + 1, KR_NONE at the end. O(nodes + edges). */
#include "backend/components.h"

#include <string.h>

struct walk {
	struct kr_arena arena;
	const struct kr_overlay *o;
	uint32_t *component; /* KR_NONE: none yet */
	uint32_t *number;    /* in the order of first visits; 0: not visited */
	uint32_t *low;       /* the least number of an open node that the node is known to reach */
	uint32_t *step;
	uint32_t *path; /* nodes whose walk is not over, the deepest last */
	uint32_t *open; /* visited nodes without a component */
	uint32_t npath, nopen, visited, components;
};

/* Chosen edges come after known ones. */
static uint32_t known_or_chosen(const struct kr_overlay *o, uint32_t node, uint32_t known)
{
	if (known != KR_NONE)
		return 2 * known;
	return o->head[node] == KR_NONE ? KR_NONE : 2 * o->head[node] + 1;
}

static void enter(struct walk *w, uint32_t node)
{
	kr_txn t = kr_ir_txn(w->o->ir, (kr_node){node});
	bool active = t.i == KR_NONE || w->o->active[t.i];
	w->number[node] = w->low[node] = ++w->visited;
	w->step[node] = known_or_chosen(w->o, node, active ? w->o->ir->head.at[node] : KR_NONE);
	w->path[w->npath++] = node;
	w->open[w->nopen++] = node;
}

/* Where the node's next edge leads. */
static uint32_t take_step(struct walk *w, uint32_t node)
{
	const struct kr_overlay *o = w->o;
	uint32_t i = w->step[node] / 2;
	if (w->step[node] & 1) {
		w->step[node] = o->arcs.at[i].next == KR_NONE ? KR_NONE : 2 * o->arcs.at[i].next + 1;
		return o->arcs.at[i].to;
	}
	w->step[node] = known_or_chosen(o, node, o->ir->next.at[i]);
	return o->ir->edges.at[i].to.i;
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
		if (w->o->rank[to] == KR_NONE && w->number[to] == 0)
			enter(w, to);
		else if (w->o->rank[to] == KR_NONE && w->component[to] == KR_NONE)
			lower(w, node, w->number[to]);
		KR_TRY(kr_ctx_tick(w->o->ir->ctx));
	}
	return KR_OK;
}

enum kr_status kr_components(const struct kr_overlay *o, uint32_t *component)
{
	uint32_t n = o->ir->nnodes;
	struct walk w = {.arena = {.mem = &o->ir->ctx->mem}, .o = o, .component = component};
	w.number = kr_arena_alloc(&w.arena, n, sizeof *w.number);
	w.low = kr_arena_alloc(&w.arena, n, sizeof *w.low);
	w.step = kr_arena_alloc(&w.arena, n, sizeof *w.step);
	w.path = kr_arena_alloc(&w.arena, n, sizeof *w.path);
	w.open = kr_arena_alloc(&w.arena, n, sizeof *w.open);
	enum kr_status status = w.number && w.low && w.step && w.path && w.open ? KR_OK : KR_NOMEM;
	memset(component, 0xff, (size_t)n * sizeof *component);
	for (uint32_t v = 0; v < n && !status; v++) {
		if (o->rank[v] == KR_NONE && w.number[v] == 0)
			status = walk_from(&w, v);
	}
	kr_arena_done(&w.arena);
	return status;
}
