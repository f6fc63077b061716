/* Chosen edges over the known graph (overlay.h). Order: Kahn's algorithm over both edge lists. Cycles: for a
 * chosen edge within a strongly connected component, a 0-1 breadth-first search from its head back to its
 * tail, known edges free and chosen ones costing one; links of a cycle found start no other. Given an order
 * that most edges keep, an edge that breaks it is first searched for a way back within the part of the order
 * that it spans: local, and short cycles. Otherwise O(edges) each. */
#include "backend/overlay.h"

#include <string.h>

#include "base/bits.h"

enum kr_status kr_overlay_init(struct kr_overlay *o, struct kr_ir *ir, const uint8_t *active)
{
	*o = (struct kr_overlay){.arena = {.mem = &ir->ctx->mem}, .ir = ir, .active = active};
	KR_TRY(kr_arena_new(&o->arena, o->head, ir->nnodes));
	KR_TRY(kr_arena_new(&o->arena, o->order, ir->nnodes));
	KR_TRY(kr_arena_new(&o->arena, o->rank, ir->nnodes));
	KR_TRY(kr_arena_new(&o->arena, o->via, ir->nnodes));
	KR_TRY(kr_arena_new(&o->arena, o->cost, ir->nnodes));
	KR_TRY(kr_arena_new(&o->arena, o->ready, KR_BITS_WORDS(ir->nnodes)));
	return kr_arena_new(&o->arena, o->by_preference, ir->nnodes);
}

void kr_overlay_done(struct kr_overlay *o)
{
	struct kr_mem *mem = &o->ir->ctx->mem;
	kr_vec_done(mem, &o->links);
	kr_vec_done(mem, &o->arcs);
	kr_arena_done(&o->arena);
}

void kr_overlay_clear(struct kr_overlay *o)
{
	kr_vec_clear(&o->links);
	kr_vec_clear(&o->arcs);
	memset(o->head, 0xff, (size_t)o->ir->nnodes * sizeof *o->head);
}

enum kr_status kr_overlay_add(struct kr_overlay *o, struct kr_link link)
{
	struct kr_mem *mem = &o->ir->ctx->mem;
	uint32_t from = kr_ir_out(o->ir, link.kind, link.from).i;
	if (!kr_vec_reserve(mem, &o->arcs, 1) || !kr_vec_push(mem, &o->links, link))
		return KR_NOMEM;
	o->arcs.at[o->arcs.n++] = (struct kr_ir_arc){kr_ir_in(o->ir, link.kind, link.to).i, o->head[from]};
	o->head[from] = o->links.n - 1;
	return KR_OK;
}

static uint32_t source(const struct kr_overlay *o, uint32_t link)
{
	return kr_ir_out(o->ir, o->links.at[link].kind, o->links.at[link].from).i;
}

static bool is_active(const struct kr_overlay *o, uint32_t node)
{
	kr_txn t = kr_ir_txn(o->ir, (kr_node){node});
	return t.i == KR_NONE || o->active[t.i];
}

/* In-degrees into `via`, which is free while sorting. */
static void count_degrees(struct kr_overlay *o)
{
	memset(o->via, 0, (size_t)o->ir->nnodes * sizeof *o->via);
	for (uint32_t e = 0; e < o->ir->edges.n; e++) {
		if (is_active(o, o->ir->edges.at[e].from.i))
			o->via[o->ir->edges.at[e].to.i]++;
	}
	for (uint32_t l = 0; l < o->links.n; l++)
		o->via[o->arcs.at[l].to]++;
}

/* Ready nodes wait in `order` behind those emitted (breadth first), or in the set `ready` (by preference). */
struct queue {
	struct kr_overlay *o;
	uint32_t n;   /* in order, breadth first */
	uint32_t low; /* no preference below is in the set */
};

static void enqueue(struct queue *q, uint32_t node)
{
	struct kr_overlay *o = q->o;
	if (!o->prefer) {
		o->order[q->n++].i = node;
		return;
	}
	kr_bits_set(o->ready, o->prefer[node]);
	if (o->prefer[node] < q->low)
		q->low = o->prefer[node];
}

/* Moves the next ready node to its place in order; false when there is none. */
static bool dequeue(struct queue *q, uint32_t *node)
{
	struct kr_overlay *o = q->o;
	uint32_t words = (uint32_t)KR_BITS_WORDS(o->ir->nnodes), w = q->low / 64;
	if (!o->prefer) {
		*node = o->norder < q->n ? o->order[o->norder].i : KR_NONE;
	} else {
		while (w < words && o->ready[w] == 0)
			w++;
		*node = KR_NONE;
		if (w < words) {
			q->low = w * 64 + (uint32_t)__builtin_ctzll(o->ready[w]);
			kr_bits_clear(o->ready, q->low);
			*node = o->by_preference[q->low];
		}
	}
	if (*node == KR_NONE)
		return false;
	o->rank[*node] = o->norder;
	o->order[o->norder++].i = *node;
	return true;
}

static void release(struct queue *q, uint32_t node)
{
	if (--q->o->via[node] == 0)
		enqueue(q, node);
}

enum kr_status kr_overlay_sort(struct kr_overlay *o)
{
	const struct kr_ir *ir = o->ir;
	struct queue q = {o, 0, 0};
	uint32_t v;
	count_degrees(o);
	o->norder = 0;
	memset(o->rank, 0xff, (size_t)ir->nnodes * sizeof *o->rank);
	for (v = 0; v < ir->nnodes; v++) {
		if (o->prefer)
			o->by_preference[o->prefer[v]] = v;
		if (o->via[v] == 0)
			enqueue(&q, v);
	}
	while (dequeue(&q, &v)) {
		if (is_active(o, v)) {
			for (uint32_t e = ir->head.at[v]; e != KR_NONE; e = ir->edges.at[e].next)
				release(&q, ir->edges.at[e].to.i);
		}
		for (uint32_t l = o->head[v]; l != KR_NONE; l = o->arcs.at[l].next)
			release(&q, o->arcs.at[l].to);
		KR_TRY(kr_ctx_tick(ir->ctx));
	}
	return KR_OK;
}

/* ---- cycles ---- */

/* `via` holds, per node, the step by which it was reached: a known edge e as 2e, a link l as 2l + 1. */
struct finder {
	struct kr_overlay *o;
	/* set of links that are in a cycle already: they start no other, but may take part in one */
	uint64_t *used;
	KR_VEC(uint32_t) now;
	KR_VEC(uint32_t) later;
	KR_VEC(uint32_t) steps;   /* of the path found, backwards */
	KR_VEC(uint32_t) touched; /* nodes whose via and cost are set */
	uint32_t *component;      /* per node: a cycle stays within one */
	bool local;               /* look only at places from..to */
	uint32_t from, to;
	uint32_t in; /* look only at this component */
	uint32_t found, most;
};

enum { UNSEEN = 0, CHEAP = 1, DEAR = 2, SETTLED = 3 };

static enum kr_status offer(struct finder *f, uint32_t node, uint32_t step, bool dear)
{
	struct kr_overlay *o = f->o;
	struct kr_mem *mem = &o->ir->ctx->mem;
	if (f->local && (o->place[node] < f->from || o->place[node] > f->to))
		return KR_OK;
	if (f->component[node] != f->in || o->cost[node] == SETTLED || o->cost[node] == CHEAP ||
		(dear && o->cost[node] == DEAR))
		return KR_OK;
	if (o->cost[node] == UNSEEN && !kr_vec_push(mem, &f->touched, node))
		return KR_NOMEM;
	o->via[node] = step;
	o->cost[node] = dear ? DEAR : CHEAP;
	return (dear ? kr_vec_push(mem, &f->later, node) : kr_vec_push(mem, &f->now, node)) ? KR_OK
											    : KR_NOMEM;
}

static enum kr_status expand(struct finder *f, uint32_t v)
{
	struct kr_overlay *o = f->o;
	const struct kr_ir *ir = o->ir;
	o->cost[v] = SETTLED;
	if (is_active(o, v)) {
		for (uint32_t e = ir->head.at[v]; e != KR_NONE; e = ir->edges.at[e].next)
			KR_TRY(offer(f, ir->edges.at[e].to.i, 2 * e, false));
	}
	for (uint32_t l = o->head[v]; l != KR_NONE; l = o->arcs.at[l].next)
		KR_TRY(offer(f, o->arcs.at[l].to, 2 * l + 1, true));
	return kr_ctx_tick(ir->ctx);
}

static uint32_t step_from(const struct finder *f, uint32_t step)
{
	return step & 1 ? source(f->o, step / 2) : f->o->ir->edges.at[step / 2].from.i;
}

static void forget(struct finder *f)
{
	for (uint32_t i = 0; i < f->touched.n; i++)
		f->o->cost[f->touched.at[i]] = UNSEEN;
	kr_vec_clear(&f->touched);
	kr_vec_clear(&f->now);
	kr_vec_clear(&f->later);
	kr_vec_clear(&f->steps);
}

/* Path from a to b into f->steps, last step first; none: no steps. a == b: the empty path counts as found. */
static enum kr_status find_path(struct finder *f, uint32_t a, uint32_t b, bool *found)
{
	struct kr_mem *mem = &f->o->ir->ctx->mem;
	enum kr_status status = offer(f, a, KR_NONE, false);
	for (uint32_t i = 0; !status && f->o->cost[b] != SETTLED && (i < f->now.n || f->later.n > 0);) {
		if (i == f->now.n) {
			struct finder old = *f;
			f->now.at = old.later.at, f->now.n = old.later.n, f->now.cap = old.later.cap;
			f->later.at = old.now.at, f->later.n = 0, f->later.cap = old.now.cap;
			i = 0;
			continue;
		}
		uint32_t v = f->now.at[i++];
		if (f->o->cost[v] != SETTLED)
			status = expand(f, v);
	}
	*found = !status && f->o->cost[b] == SETTLED;
	for (uint32_t v = b; *found && v != a; v = step_from(f, f->o->via[v])) {
		KR_TRY(kr_vec_add(mem, &f->steps, f->o->via[v]));
	}
	return status;
}

/* The cycle of a link and the path found, into the proof. */
static enum kr_status record(struct finder *f, uint32_t link, struct kr_proof *proof)
{
	struct kr_overlay *o = f->o;
	kr_bits_set(f->used, link);
	for (uint32_t i = 0; i < f->steps.n; i++)
		if (f->steps.at[i] & 1)
			kr_bits_set(f->used, f->steps.at[i] / 2);
	kr_proof_begin(proof);
	KR_TRY(kr_proof_add_link(proof, o->links.at[link]));
	KR_TRY(kr_proof_add_steps(proof, o->ir, f->steps.at, f->steps.n, o->links.at));
	return kr_proof_end(proof);
}

/* Looks for a cycle through one link. */
static enum kr_status try_link(struct finder *f, uint32_t link, struct kr_proof *proof)
{
	struct kr_overlay *o = f->o;
	bool found = false;
	enum kr_status status = find_path(f, o->arcs.at[link].to, source(o, link), &found);
	if (!status && found) {
		status = record(f, link, proof);
		f->found++;
	}
	forget(f);
	return status;
}

static enum kr_status find_cycles(struct finder *f, struct kr_proof *proof)
{
	struct kr_overlay *o = f->o;
	for (uint32_t l = 0; l < o->links.n && f->found < f->most; l++) {
		uint32_t from = source(o, l), to = o->arcs.at[l].to;
		if (kr_bits_get(f->used, l) || f->component[from] == KR_NONE ||
			f->component[from] != f->component[to] || (f->local && o->place[to] > o->place[from]))
			continue;
		f->in = f->component[from];
		if (f->local) {
			f->from = o->place[to];
			f->to = o->place[from];
		}
		KR_TRY(try_link(f, l, proof));
	}
	return KR_OK;
}

enum kr_status kr_overlay_cycles(struct kr_overlay *o, struct kr_proof *proof, uint32_t most)
{
	struct kr_mem *mem = &o->ir->ctx->mem;
	struct finder f = {.o = o, .most = most, .local = o->place != NULL};
	size_t words = KR_BITS_WORDS(o->links.n);
	f.used = kr_mem_alloc(mem, words, sizeof *f.used);
	f.component = kr_mem_alloc(mem, o->ir->nnodes, sizeof *f.component);
	enum kr_status status = f.used && f.component ? kr_overlay_components(o, f.component) : KR_NOMEM;
	if (!status)
		status = find_cycles(&f, proof);
	if (!status && f.found == 0 && f.local) {
		f.local = false;
		status = find_cycles(&f, proof);
	}
	kr_vec_done(mem, &f.now);
	kr_vec_done(mem, &f.later);
	kr_vec_done(mem, &f.steps);
	kr_vec_done(mem, &f.touched);
	kr_mem_free(mem, f.used, words, sizeof *f.used);
	kr_mem_free(mem, f.component, o->ir->nnodes, sizeof *f.component);
	if (!status && f.found == 0)
		return KR_INTERNAL; /* the known graph alone would be cyclic */
	return status;
}
