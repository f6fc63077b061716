/* Pearce and Kelly, A dynamic topological sort algorithm for directed acyclic graphs (JEA 2006). For an edge
 * from a to b with b in front: what b leads to up to the place of a, and what leads to a from the place of b
 * on, share their places out anew, the latter first. If b leads to a there is a cycle, and it lies between
 * the two. The search forward takes known edges before arcs, so that its cycles have few of these. */
#include "backend/topology.h"

#include <string.h>

#include "base/order.h"

enum { UNSEEN = 0, DEAR = 1, CHEAP = 2, SETTLED = 3 };

static bool is_active(const struct kr_topology *t, uint32_t node)
{
	kr_txn x = kr_ir_txn(t->ir, (kr_node){node});
	return x.i == KR_NONE || t->active[x.i];
}

static enum kr_status reach_init(struct kr_topology_side *r, struct kr_arena *arena, uint32_t nodes)
{
	KR_TRY(kr_arena_new(arena, r->state, nodes));
	return kr_arena_new(arena, r->via, nodes);
}

static void reach_done(struct kr_topology_side *r, struct kr_mem *mem)
{
	kr_vec_done(mem, &r->now);
	kr_vec_done(mem, &r->later);
	kr_vec_done(mem, &r->met);
}

static uint32_t end_of(const struct kr_edge *e, bool start) { return start ? e->from.i : e->to.i; }

static enum kr_status index_known(struct kr_topology *t, struct kr_known_edges *k, bool by_start)
{
	const struct kr_ir *ir = t->ir;

	KR_TRY(kr_arena_new(&t->arena, k->first, (size_t)ir->nnodes + 2));
	KR_TRY(kr_arena_new(&t->arena, k->other, ir->edges.n));
	for (uint32_t e = 0; e < ir->edges.n; e++)
		k->first[end_of(&ir->edges.at[e], by_start) + 2] += is_active(t, ir->edges.at[e].from.i);
	kr_index_places(k->first, ir->nnodes);
	for (uint32_t e = ir->edges.n; e-- > 0;) {
		if (is_active(t, ir->edges.at[e].from.i))
			k->other[k->first[end_of(&ir->edges.at[e], by_start) + 1]++] =
				end_of(&ir->edges.at[e], !by_start);
	}
	return KR_OK;
}

/* The edge at a place of t->after: the IR has those out of a node in the same order. */
static uint32_t edge_at(const struct kr_topology *t, uint32_t place)
{
	uint32_t from;
	KR_BISECT(from, 0, t->ir->nnodes, t->after.first[from + 1] <= place);
	uint32_t e = t->ir->head.at[from];
	for (uint32_t i = t->after.first[from]; i < place; i++)
		e = t->ir->edges.at[e].next;
	return e;
}

enum kr_status kr_topology_init(struct kr_topology *t, struct kr_ir *ir, const uint8_t *active,
	const kr_node *order)
{
	uint32_t n = ir->nnodes;
	*t = (struct kr_topology){.arena = {.mem = &ir->ctx->mem}, .ir = ir, .active = active};
	KR_TRY(kr_arena_new(&t->arena, t->place, n));
	KR_TRY(kr_arena_new(&t->arena, t->at, n));
	KR_TRY(kr_arena_new(&t->arena, t->out, n));
	KR_TRY(kr_arena_new(&t->arena, t->in, n));
	KR_TRY(reach_init(&t->forward, &t->arena, n));
	KR_TRY(reach_init(&t->backward, &t->arena, n));
	KR_TRY(index_known(t, &t->after, true));
	KR_TRY(index_known(t, &t->before, false));
	for (uint32_t i = 0; i < n; i++) {
		t->at[i] = order[i].i;
		t->place[order[i].i] = i;
		t->out[i] = t->in[i] = KR_NONE;
	}
	return KR_OK;
}

void kr_topology_done(struct kr_topology *t)
{
	if (!t->ir)
		return;
	struct kr_mem *mem = &t->ir->ctx->mem;
	kr_arena_done(&t->arena);
	kr_vec_done(mem, &t->arcs);
	kr_vec_done(mem, &t->links);
	kr_vec_done(mem, &t->places);
	kr_vec_done(mem, &t->moved);
	reach_done(&t->forward, mem);
	reach_done(&t->backward, mem);
}

/* ---- searches ---- */

/* What has not been met yet, or so far behind a further arc. */
static enum kr_status offer(struct kr_topology *t, struct kr_topology_side *r, uint32_t node, uint32_t step,
	bool dear)
{
	struct kr_mem *mem = &t->ir->ctx->mem;
	if (r->state[node] >= (dear ? DEAR : CHEAP))
		return KR_OK;
	if (r->state[node] == UNSEEN && !kr_vec_push(mem, &r->met, node))
		return KR_NOMEM;
	r->state[node] = dear ? DEAR : CHEAP;
	r->via[node] = step;
	return (dear ? kr_vec_push(mem, &r->later, node) : kr_vec_push(mem, &r->now, node)) ? KR_OK
											    : KR_NOMEM;
}

static enum kr_status expand_forward(struct kr_topology *t, uint32_t v, uint32_t last)
{
	const struct kr_known_edges *known = &t->after;
	enum kr_status status = kr_ctx_tick(t->ir->ctx);
	for (uint32_t i = known->first[v]; i < known->first[v + 1] && !status; i++)
		if (t->place[known->other[i]] <= last)
			status = offer(t, &t->forward, known->other[i], 2 * i, false);
	for (uint32_t a = t->out[v]; a != KR_NONE && !status; a = t->arcs.at[a].next_out)
		if (t->place[t->arcs.at[a].to] <= last)
			status = offer(t, &t->forward, t->arcs.at[a].to, 2 * a + 1, true);
	return status;
}

static enum kr_status expand_backward(struct kr_topology *t, uint32_t v, uint32_t first)
{
	const struct kr_known_edges *known = &t->before;
	enum kr_status status = kr_ctx_tick(t->ir->ctx);
	for (uint32_t i = known->first[v]; i < known->first[v + 1] && !status; i++)
		if (t->place[known->other[i]] >= first)
			status = offer(t, &t->backward, known->other[i], 2 * i, false);
	for (uint32_t a = t->in[v]; a != KR_NONE && !status; a = t->arcs.at[a].next_in)
		if (t->place[t->arcs.at[a].from] >= first)
			status = offer(t, &t->backward, t->arcs.at[a].from, 2 * a + 1, false);
	return status;
}

/* What b leads to, up to the place of a; until a is met. */
static enum kr_status search_forward(struct kr_topology *t, uint32_t b, uint32_t a)
{
	struct kr_topology_side *r = &t->forward;
	enum kr_status status = offer(t, r, b, KR_NONE, false);
	for (uint32_t i = 0; !status && r->state[a] != SETTLED;) {
		if (i == r->now.n) {
			struct kr_numbers done = r->now;
			if (r->later.n == 0)
				break;
			r->now = r->later;
			r->later = done;
			r->later.n = i = 0;
		}
		uint32_t v = r->now.at[i++];
		if (r->state[v] == SETTLED)
			continue;
		r->state[v] = SETTLED;
		status = expand_forward(t, v, t->place[a]);
	}
	return status;
}

static enum kr_status search_backward(struct kr_topology *t, uint32_t a, uint32_t b)
{
	struct kr_topology_side *r = &t->backward;
	KR_TRY(offer(t, r, a, KR_NONE, false));
	while (r->now.n > 0)
		KR_TRY(expand_backward(t, kr_vec_pop(&r->now), t->place[b]));
	return KR_OK;
}

static void forget(struct kr_topology_side *r)
{
	for (uint32_t i = 0; i < r->met.n; i++)
		r->state[r->met.at[i]] = UNSEEN;
	kr_vec_clear(&r->met);
	kr_vec_clear(&r->now);
	kr_vec_clear(&r->later);
}

/* ---- the order ---- */

/* Appends the nodes that a search has met to those that move, in the order that they have, and their places.
 * */
static void take_places(struct kr_topology *t, const struct kr_numbers *met)
{
	uint32_t first = t->places.n;
	for (uint32_t i = 0; i < met->n; i++)
		t->places.at[t->places.n++] = t->place[met->at[i]];
	KR_SORT(t->places.at + first, met->n, kr_by_id);
	for (uint32_t i = first; i < t->places.n; i++)
		t->moved.at[t->moved.n++] = t->at[t->places.at[i]];
}

/* All that leads to the edge's start goes in front of all that its end leads to. */
static enum kr_status rearrange(struct kr_topology *t)
{
	struct kr_mem *mem = &t->ir->ctx->mem;
	uint32_t n = t->backward.met.n + t->forward.met.n, first = t->moved.n;
	kr_vec_clear(&t->places);
	if (!kr_vec_reserve(mem, &t->places, n) || !kr_vec_reserve(mem, &t->moved, n))
		return KR_NOMEM;
	take_places(t, &t->backward.met);
	take_places(t, &t->forward.met);
	const uint32_t *places = t->places.at;
	for (uint32_t i = 0, back = 0, front = t->backward.met.n; i < n; i++) { /* merged */
		bool next = front == n || (back < t->backward.met.n && places[back] < places[front]);
		uint32_t place = places[next ? back++ : front++], node = t->moved.at[first + i];
		t->at[place] = node;
		t->place[node] = place;
	}
	return KR_OK;
}

static enum kr_status link_arc(struct kr_topology *t, struct kr_link link, uint32_t from, uint32_t to)
{
	struct kr_arc arc = {from, to, t->out[from], t->in[to]};
	if (!kr_vec_push(&t->ir->ctx->mem, &t->arcs, arc) || !kr_vec_push(&t->ir->ctx->mem, &t->links, link))
		return KR_NOMEM;
	t->out[from] = t->in[to] = t->arcs.n - 1;
	return KR_OK;
}

/* The link and the way back from its end `b` to its start `a`, which the search forward has found. */
static enum kr_status record(struct kr_topology *t, struct kr_link link, uint32_t a, uint32_t b,
	struct kr_proof *proof)
{
	const struct kr_ir *ir = t->ir;
	struct kr_mem *mem = &ir->ctx->mem;
	struct kr_numbers steps = {0};
	enum kr_status status = KR_OK;
	for (uint32_t v = a, step; v != b && !status;
		v = step & 1 ? t->arcs.at[step / 2].from : ir->edges.at[step / 2].from.i) {
		step = t->forward.via[v] & 1 ? t->forward.via[v] : 2 * edge_at(t, t->forward.via[v] / 2);
		status = kr_vec_add(mem, &steps, step);
	}
	kr_proof_begin(proof);
	if (!status)
		status = kr_proof_add_link(proof, link);
	if (!status)
		status = kr_proof_add_steps(proof, ir, steps.at, steps.n, t->links.at);
	kr_vec_done(mem, &steps);
	return status ? status : kr_proof_end(proof);
}

enum kr_status kr_topology_add(struct kr_topology *t, struct kr_link link, struct kr_proof *proof,
	bool *cycle)
{
	uint32_t a = kr_ir_out(t->ir, link.kind, link.from).i, b = kr_ir_in(t->ir, link.kind, link.to).i;
	*cycle = false;
	if (t->place[a] < t->place[b])
		return link_arc(t, link, a, b);
	enum kr_status status = search_forward(t, b, a);
	*cycle = !status && t->forward.state[a] == SETTLED;
	if (*cycle)
		status = record(t, link, a, b, proof);
	else if (!status)
		status = search_backward(t, a, b);
	if (!*cycle && !status)
		status = rearrange(t);
	forget(&t->forward);
	forget(&t->backward);
	return status || *cycle ? status : link_arc(t, link, a, b);
}

void kr_topology_cut(struct kr_topology *t, uint32_t n)
{
	while (t->arcs.n > n) {
		struct kr_arc arc = kr_vec_pop(&t->arcs);
		t->links.n--;
		t->out[arc.from] = arc.next_out;
		t->in[arc.to] = arc.next_in;
	}
}
