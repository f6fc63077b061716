/* Cycles of the certain graph: for each strongly connected component a shortest one that holds no pair of
 * transactions already found to break a lock or to have written at the same time; where there is none, one is
 * attached to that pair's finding. Components by Tarjan's algorithm with a stack of its own; cycles by
 * breadth-first search from each member.
 *
 * Whether a cycle holds a pair depends on its transactions only: so what is told of a component does not
 * depend on how much of it had been there before, as long as a cycle without a pair is found wherever there
 * is one. If the shortest holds a pair, one of the two is left out, then the other. That is exact, and hard
 * in general: it ends after TRIES. */
#include "base/arena.h"
#include "base/order.h"
#include "mechanisms/certain.h"

enum { DEEP = 32, TRIES = 4096 }; /* how many are left out at once; how often in a component */

struct cycling {
	struct kr_arena arena;
	struct kr_certain *c;
	uint32_t nodes;
	/* by node, or as deep as there are nodes */
	uint32_t *index, *low, *component, *stack, *path, *arc, *via, *queue;
	bool *left_out; /* by transaction */
	uint32_t n, depth, components, tries;
	struct kr_finding *pair; /* of some cycle of the component; or NULL */
	KR_VEC(struct kr_certain_edge) cycle;
};

enum { ARRAYS = 8 };

static enum kr_status allocate(struct cycling *y)
{
	uint32_t **arrays[ARRAYS] = {&y->index, &y->low, &y->component, &y->stack, &y->path, &y->arc, &y->via,
		&y->queue};

	for (int i = 0; i < ARRAYS; i++)
		KR_TRY(kr_arena_new(&y->arena, *arrays[i], y->nodes));
	KR_TRY(kr_arena_new(&y->arena, y->left_out, y->nodes / 2));
	for (uint32_t i = 0; i < y->nodes; i++)
		y->index[i] = y->component[i] = y->via[i] = KR_NONE;
	return KR_OK;
}

/* ---- components ---- */

static void enter(struct cycling *y, uint32_t node, uint32_t *top)
{
	y->index[node] = y->low[node] = y->n++;
	y->arc[node] = y->c->first.at[node];
	y->stack[y->depth++] = node;
	y->path[(*top)++] = node;
}

static void leave(struct cycling *y, uint32_t node)
{
	if (y->low[node] != y->index[node])
		return;
	for (;;) {
		uint32_t member = y->stack[--y->depth];
		y->component[member] = y->components;
		if (member == node)
			break;
	}
	y->components++;
}

static void visit(struct cycling *y, uint32_t root)
{
	uint32_t top = 0;

	enter(y, root, &top);
	while (top > 0) {
		uint32_t node = y->path[top - 1];
		if (y->arc[node] < y->c->first.at[node + 1]) {
			uint32_t to = y->c->arcs.at[y->arc[node]++].to;
			if (y->index[to] == KR_NONE)
				enter(y, to, &top);
			else if (y->component[to] == KR_NONE && y->index[to] < y->low[node])
				y->low[node] = y->index[to];
			continue;
		}
		top--;
		if (top > 0 && y->low[node] < y->low[y->path[top - 1]])
			y->low[y->path[top - 1]] = y->low[node];
		leave(y, node);
	}
}

/* ---- cycles ---- */

/* A shortest cycle through the node, within its component, into y->cycle; empty: there is none. */
static enum kr_status find_cycle(struct cycling *y, uint32_t start)
{
	const struct kr_certain *c = y->c;
	uint32_t head = 0, tail = 0, closing = KR_NONE;

	y->queue[tail++] = start;
	while (head < tail && closing == KR_NONE) {
		uint32_t node = y->queue[head++];
		for (uint32_t a = c->first.at[node]; a < c->first.at[node + 1] && closing == KR_NONE; a++) {
			uint32_t to = c->arcs.at[a].to;
			if (to == start)
				closing = a;
			else if (y->component[to] == y->component[start] && y->via[to] == KR_NONE &&
				!y->left_out[to / 2]) {
				y->via[to] = a;
				y->queue[tail++] = to;
			}
		}
	}
	kr_vec_clear(&y->cycle);
	for (uint32_t a = closing; a != KR_NONE;
		a = c->arcs.at[a].from == start ? KR_NONE : y->via[c->arcs.at[a].from])
		if (c->arcs.at[a].edge.from.i != KR_NONE &&
			!kr_vec_push(c->b->mem, &y->cycle, c->arcs.at[a].edge))
			return KR_NOMEM;
	while (tail > 0)
		y->via[y->queue[--tail]] = KR_NONE;
	return kr_ctx_tick(c->b->ctx);
}

static bool is_on(const struct cycling *y, kr_txn t)
{
	for (uint32_t i = 0; i < y->cycle.n; i++)
		if (y->cycle.at[i].from.i == t.i)
			return true;
	return false;
}

/* The finding of a pair that the cycle holds, or NULL. */
static struct kr_finding *pair_on(const struct cycling *y)
{
	struct kr_findings *out = y->c->b->out;

	for (uint32_t i = 0; i < out->list.n; i++) {
		struct kr_finding *f = &out->list.at[i];
		if ((f->mechanism == KR_MECH_ME || f->mechanism == KR_MECH_FUW) && is_on(y, f->txns[0]) &&
			is_on(y, f->txns[1]))
			return f;
	}
	return NULL;
}

/* A cycle through the node that holds no pair, into y->cycle. */
static enum kr_status find_free(struct cycling *y, uint32_t start, uint32_t depth, bool *found)
{
	enum kr_status status = find_cycle(y, start);
	struct kr_finding *pair = status ? NULL : pair_on(y);

	*found = !status && !pair && y->cycle.n > 0;
	y->pair = y->pair ? y->pair : pair;
	for (int i = 0; i < 2 && pair && !status && !*found && depth < DEEP && y->tries > 0; i++) {
		uint32_t t = pair->txns[i].i;
		if (t == start / 2)
			continue;
		y->tries--;
		y->left_out[t] = true;
		status = find_free(y, start, depth + 1, found);
		y->left_out[t] = false;
	}
	return status;
}

/* y->cycle is told backwards. */
static enum kr_status report(struct cycling *y)
{
	struct kr_batch *b = y->c->b;
	struct kr_finding *f = kr_batch_report(b, KR_MECH_SC, KR_FOUND_CYCLE);

	if (!f)
		return KR_NOMEM;
	for (uint32_t i = y->cycle.n; i-- > 0; f->edge_count++)
		KR_TRY(kr_vec_add(b->mem, &b->out->edges, y->cycle.at[i]));
	return KR_OK;
}

/* In a window, those that were not looked for before. */
static bool is_new(const struct cycling *y, uint32_t node)
{
	const struct kr_marks *marks = y->c->b->options->marks;

	return !marks || marks->txns[node / 2] & KR_MARK_FRESH;
}

/* `members`: of the component, in the order of nodes. First without leaving anything out. */
static enum kr_status tell_component(struct cycling *y, const uint32_t *members, uint32_t n)
{
	enum kr_status status = KR_OK;
	bool found = false;

	y->pair = NULL;
	y->tries = 0;
	for (uint32_t i = 0; i < n && n > 1 && !status && !found; i++)
		if (is_new(y, members[i]))
			status = find_free(y, members[i], 0, &found);
	y->tries = TRIES;
	for (uint32_t i = 0; i < n && n > 1 && !status && !found && y->tries > 0; i++)
		if (is_new(y, members[i]))
			status = find_free(y, members[i], 0, &found);
	if (found)
		return report(y);
	if (y->pair)
		y->pair->attached++;
	return status;
}

/* Nodes by component, counted, then each component. */
static enum kr_status tell_components(struct cycling *y)
{
	uint32_t *first, *members;

	KR_TRY(kr_arena_new(&y->arena, first, (size_t)y->components + 2));
	KR_TRY(kr_arena_new(&y->arena, members, y->nodes));
	for (uint32_t node = 0; node < y->nodes; node++)
		first[y->component[node] + 2]++;
	kr_index_places(first, y->components);
	for (uint32_t node = 0; node < y->nodes; node++)
		members[first[y->component[node] + 1]++] = node;
	for (uint32_t i = 0; i < y->components; i++)
		KR_TRY(tell_component(y, members + first[i], first[i + 1] - first[i]));
	return KR_OK;
}

enum kr_status kr_certain_tell(struct kr_certain *c)
{
	struct cycling y = {.arena = {.mem = c->b->mem}, .c = c, .nodes = 2 * c->b->txns.n};
	enum kr_status status = allocate(&y);

	if (!status)
		status = kr_certain_sort(c);
	for (uint32_t node = 0; node < y.nodes && !status; node++)
		if (y.index[node] == KR_NONE)
			visit(&y, node);
	if (!status && y.components < y.nodes)
		status = kr_certain_widen(c, y.component);
	if (!status && y.components < y.nodes)
		status = tell_components(&y);
	c->component = NULL;
	kr_arena_done(&y.arena);
	kr_vec_done(c->b->mem, &y.cycle);
	return status;
}
