/* The dependency graph of known edges: nodes, append-only edge list with adjacency, topological order, short
 * paths of a given age.
 *
 * Edges out of a node form a linked list through
 * their `next`, newest first, so appending is O(1) and "edges older
 * than a" needs no copy of the graph. */
#include "ir/ir.h"

#include <string.h>

#include "base/order.h"

#include "ir/clock.h"
#include "ir/proof.h"
#include "ir/units.h"

static enum kr_status add_program_edges(struct kr_ir *ir)
{
	if (ir->level->model == KR_NODES_TXN)
		return KR_OK;
	for (uint32_t t = 0; t < ir->asg->ntxns; t++) {
		struct kr_edge edge = {.from = {2 * t},
			.to = {2 * t + 1},
			.why = KR_NONE,
			.kind = KR_PROGRAM,
			.rule = KR_RULE_GIVEN};
		KR_TRY(kr_ir_add_edge(ir, edge));
	}
	return KR_OK;
}

/* Marks observations that share their key with another one of their transaction. `last`: per key, zeroed. */
static void mark_siblings(const struct kr_asg *asg, uint64_t *has, uint32_t *last)
{
	for (uint32_t o = 0; o < asg->nobs; o++) {
		uint32_t *before = &last[asg->obs[o].key.i]; /* 1 + the last one of the key */
		if (*before > 0 && asg->obs[*before - 1].txn.i == asg->obs[o].txn.i) {
			kr_bits_set(has, *before - 1);
			kr_bits_set(has, o);
		}
		*before = o + 1;
	}
}

/* Makes rings of those that are marked. `last`: the same. */
static void join_siblings(const struct kr_asg *asg, const struct kr_siblings *s, uint32_t *last)
{
	uint32_t place = 0;
	for (uint32_t w = 0; place < s->n; w++) {
		for (uint64_t bits = s->has[w]; bits; bits &= bits - 1, place++) {
			kr_obs o = {w * 64 + (uint32_t)__builtin_ctzll(bits)};
			uint32_t *before = &last[asg->obs[o.i].key.i];
			s->next[place] = o;
			if (*before > 0 && asg->obs[*before - 1].txn.i == asg->obs[o.i].txn.i) {
				kr_obs *closing = &s->next[kr_sibling_place(s, (kr_obs){*before - 1})];
				s->next[place] = *closing;
				*closing = o;
			}
			*before = o.i + 1;
		}
	}
}

static enum kr_status link_siblings(struct kr_ir *ir)
{
	struct kr_mem *mem = &ir->ctx->mem;
	const struct kr_asg *asg = ir->asg;
	struct kr_siblings *s = &ir->siblings;
	size_t words = KR_BITS_WORDS(asg->nobs);
	s->has = KR_NEW_ARRAY(&ir->arena, uint64_t, words);
	s->before = KR_NEW_ARRAY(&ir->arena, uint32_t, words);
	uint32_t *last = kr_mem_alloc(mem, asg->nkeys, sizeof *last);
	bool ok = s->has && s->before && last;
	if (ok)
		mark_siblings(asg, s->has, last);
	for (size_t w = 0; ok && w < words; w++) {
		s->before[w] = s->n;
		s->n += (uint32_t)__builtin_popcountll(s->has[w]);
	}
	ok = ok && kr_arena_new(&ir->arena, s->next, s->n) == KR_OK;
	if (ok && s->n > 0) {
		memset(last, 0, asg->nkeys * sizeof *last);
		join_siblings(asg, s, last);
	}
	kr_mem_free(mem, last, asg->nkeys, sizeof *last);
	return ok ? KR_OK : KR_NOMEM;
}

static enum kr_status allocate(struct kr_ir *ir)
{
	struct kr_mem *mem = &ir->ctx->mem;
	const struct kr_asg *asg = ir->asg;
	kr_arena_init(&ir->arena, mem);
	KR_TRY(kr_arena_new(&ir->arena, ir->source, asg->nobs));
	KR_TRY(kr_arena_new(&ir->arena, ir->source_age, asg->nobs));
	KR_TRY(kr_arena_new(&ir->arena, ir->presence, asg->ntxns));
	KR_TRY(kr_arena_new(&ir->arena, ir->presence_why, asg->ntxns));
	if (!kr_vec_reserve(mem, &ir->head, ir->nnodes))
		return KR_NOMEM;
	for (uint32_t o = 0; o < asg->nobs; o++)
		ir->source[o].i = KR_NONE;
	for (uint32_t t = 0; t < asg->ntxns; t++)
		ir->presence[t] = asg->txns[t].presence;
	for (uint32_t v = 0; v < ir->nnodes; v++)
		ir->head.at[ir->head.n++] = KR_NONE;
	KR_TRY(link_siblings(ir));
	return add_program_edges(ir);
}

enum kr_status kr_ir_init(struct kr_ir *ir, struct kr_ctx *ctx, const struct kr_asg *asg,
	const struct kr_level *level, enum kr_order order)
{
	*ir = (struct kr_ir){.ctx = ctx, .asg = asg, .level = level, .order = order, .visible = KR_NONE};
	if (level->model != KR_NODES_TXN && asg->ntxns > KR_NONE / 4)
		return KR_NOMEM;
	ir->nnodes = level->model == KR_NODES_TXN ? asg->ntxns : 2 * asg->ntxns;
	ir->first_time_node = ir->nnodes;
	enum kr_status status = allocate(ir);
	if (status)
		kr_ir_done(ir);
	return status;
}

void kr_ir_done(struct kr_ir *ir)
{
	if (!ir->ctx)
		return;
	struct kr_mem *mem = &ir->ctx->mem;
	kr_vec_done(mem, &ir->edges);
	kr_vec_done(mem, &ir->head);
	kr_arena_done(&ir->arena);
	kr_clock_free(mem, ir->clock);
	kr_units_free(mem, ir->units);
	kr_vec_done(mem, &ir->undecided);
	if (ir->conflict) {
		kr_proof_done(ir->conflict);
		kr_mem_free(mem, ir->conflict, 1, sizeof *ir->conflict);
	}
	*ir = (struct kr_ir){0};
}

enum kr_status kr_ir_add_time_node(struct kr_ir *ir, kr_node *out)
{
	if (ir->nnodes == KR_NONE - 1 || !kr_vec_push(&ir->ctx->mem, &ir->head, KR_NONE))
		return KR_NOMEM;
	*out = (kr_node){ir->nnodes++};
	return KR_OK;
}

enum kr_status kr_ir_add_edge(struct kr_ir *ir, struct kr_edge edge)
{
	uint32_t *head = &ir->head.at[edge.from.i];
	edge.next = *head;
	KR_TRY(kr_vec_add(&ir->ctx->mem, &ir->edges, edge));
	*head = ir->edges.n - 1;
	return KR_OK;
}

enum kr_status kr_ir_relate(struct kr_ir *ir, enum kr_edge_kind kind, kr_txn from, kr_txn to,
	enum kr_rule rule, uint32_t why)
{
	return kr_ir_add_edge(ir,
		(struct kr_edge){.from = kr_ir_out(ir, kind, from),
			.to = kr_ir_in(ir, kind, to),
			.why = why,
			.kind = (uint8_t)kind,
			.rule = (uint8_t)rule});
}

uint32_t kr_ir_known_sources(const struct kr_ir *ir)
{
	uint32_t known = 0;
	for (uint32_t o = 0; o < ir->asg->nobs; o++)
		known += ir->source[o].i != KR_NONE;
	return known;
}

/* Kahn's algorithm; returns how many nodes were emitted into `out`. `degree` holds in-degrees. */
static uint32_t emit_ready(const struct kr_ir *ir, uint32_t *degree, kr_node *out)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < ir->nnodes; v++) {
		if (degree[v] == 0)
			out[n++].i = v;
	}
	for (uint32_t done = 0; done < n; done++) {
		for (uint32_t e = ir->head.at[out[done].i]; e != KR_NONE; e = ir->edges.at[e].next) {
			if (--degree[ir->edges.at[e].to.i] == 0)
				out[n++] = ir->edges.at[e].to;
		}
	}
	return n;
}

enum kr_status kr_ir_topological(const struct kr_ir *ir, kr_node *out, bool *cyclic)
{
	uint32_t *degree = kr_mem_alloc(&ir->ctx->mem, ir->nnodes, sizeof *degree);
	if (!degree)
		return KR_NOMEM;
	for (uint32_t e = 0; e < ir->edges.n; e++)
		degree[ir->edges.at[e].to.i]++;
	*cyclic = emit_ready(ir, degree, out) < ir->nnodes;
	kr_mem_free(&ir->ctx->mem, degree, ir->nnodes, sizeof *degree);
	return KR_OK;
}

struct along {
	double at;
	uint32_t node;
};

KR_BY_BOTH(by_way, struct along, at, node);

/* Along an edge what is before grows and what is behind shrinks, so their share grows. */
static void measure(const struct kr_ir *ir, const kr_node *order, uint32_t *before, uint32_t *behind)
{
	uint32_t n = ir->nnodes;
	for (uint32_t i = 0; i < 2 * n; i++) {
		bool back = i >= n;
		uint32_t v = order[back ? 2 * n - 1 - i : i].i;
		for (uint32_t e = ir->head.at[v]; e != KR_NONE; e = ir->edges.at[e].next) {
			uint32_t to = ir->edges.at[e].to.i;
			if (!back && before[to] <= before[v])
				before[to] = before[v] + 1;
			if (back && behind[v] <= behind[to])
				behind[v] = behind[to] + 1;
		}
	}
}

enum kr_status kr_ir_along(const struct kr_ir *ir, uint32_t *place, bool *cyclic)
{
	struct kr_arena arena = {.mem = &ir->ctx->mem};
	uint32_t n = ir->nnodes;
	kr_node *order = KR_NEW_ARRAY(&arena, kr_node, n);
	uint32_t *before = KR_NEW_ARRAY(&arena, uint32_t, n), *behind = KR_NEW_ARRAY(&arena, uint32_t, n);
	struct along *nodes = KR_NEW_ARRAY(&arena, struct along, n);
	bool ok = order && before && behind && nodes;
	enum kr_status status = ok ? kr_ir_topological(ir, order, cyclic) : KR_NOMEM;
	if (!status && !*cyclic)
		measure(ir, order, before, behind);
	for (uint32_t v = 0; v < n && !status; v++)
		nodes[v] = (struct along){(before[v] + 0.5) / (before[v] + behind[v] + 1), v};
	if (!status)
		KR_SORT(nodes, n, by_way);
	for (uint32_t i = 0; i < n && !status; i++)
		place[nodes[i].node] = i;
	kr_arena_done(&arena);
	return status;
}

/* ---- paths ---- */

/* 0-1 breadth-first search: a level is a number of derived edges; nodes reached by given edges join the level
 * at hand, by derived ones the next. */
struct search {
	uint32_t kinds;            /* of edges that count */
	const uint32_t *component; /* per node, of which that of the start counts; NULL: all do */
	uint32_t *via;             /* per node: 1 + the edge by which it was reached, 0: not yet */
	uint8_t *settled;          /* per node: its edges have been walked */
	KR_VEC(kr_node) now;
	KR_VEC(kr_node) later;
};

static bool counts(const struct kr_ir *ir, const struct search *s, const struct kr_edge *e)
{
	if (!((s->kinds | KR_BIT(KR_PROGRAM)) & KR_BIT(e->kind)))
		return false;
	return e->kind != KR_WR || s->kinds & KR_BIT(KR_WW) ||
		!kr_asg_is_part(ir->asg, ir->asg->obs[e->why].key);
}

static enum kr_status expand(const struct kr_ir *ir, struct search *s, kr_node v, kr_node start, uint32_t age)
{
	struct kr_mem *mem = &ir->ctx->mem;
	for (uint32_t e = ir->head.at[v.i]; e != KR_NONE; e = ir->edges.at[e].next) {
		const struct kr_edge *edge = &ir->edges.at[e];
		bool derived = edge->rule != KR_RULE_GIVEN;
		uint32_t to = edge->to.i;
		if (e >= age || to == start.i || s->settled[to] || !counts(ir, s, edge) ||
			(s->component && s->component[to] != s->component[start.i]))
			continue;
		bool fresh = s->via[to] == 0;
		if (!fresh && (derived || ir->edges.at[s->via[to] - 1].rule == KR_RULE_GIVEN))
			continue;
		s->via[to] = e + 1;
		if (!(derived ? kr_vec_push(mem, &s->later, edge->to) : kr_vec_push(mem, &s->now, edge->to)))
			return KR_NOMEM;
	}
	return KR_OK;
}

static enum kr_status search_run(const struct kr_ir *ir, struct search *s, kr_node a, kr_node b, uint32_t age)
{
	struct kr_mem *mem = &ir->ctx->mem;
	KR_TRY(kr_vec_add(mem, &s->now, a));
	for (uint32_t i = 0; i < s->now.n || s->later.n > 0; i++) {
		if (i == s->now.n) { /* next level */
			struct search old = *s;
			s->now.at = old.later.at, s->now.n = old.later.n, s->now.cap = old.later.cap;
			s->later.at = old.now.at, s->later.n = 0, s->later.cap = old.now.cap;
			i = 0;
		}
		kr_node v = s->now.at[i];
		if (s->settled[v.i])
			continue;
		s->settled[v.i] = 1;
		if (v.i == b.i)
			return KR_OK;
		KR_TRY(expand(ir, s, v, a, age));
		KR_TRY(kr_ctx_tick(ir->ctx));
	}
	return KR_OK;
}

static enum kr_status walk_back(const struct kr_ir *ir, const struct search *s, kr_node a, kr_node b,
	struct kr_path *path)
{
	uint32_t first = path->n;
	for (kr_node v = b; v.i != a.i; v = ir->edges.at[s->via[v.i] - 1].from) {
		KR_TRY(kr_vec_add(&ir->ctx->mem, path, s->via[v.i] - 1));
	}
	for (uint32_t i = first, j = path->n; i + 1 < j; i++) {
		uint32_t swap = path->at[i];
		path->at[i] = path->at[--j];
		path->at[j] = swap;
	}
	return KR_OK;
}

static enum kr_status find_path(const struct kr_ir *ir, struct search s, kr_node a, kr_node b, uint32_t age,
	struct kr_path *path, bool *found)
{
	struct kr_mem *mem = &ir->ctx->mem;
	s.via = kr_mem_alloc(mem, ir->nnodes, sizeof *s.via);
	s.settled = kr_mem_alloc(mem, ir->nnodes, 1);
	enum kr_status status = s.via && s.settled ? search_run(ir, &s, a, b, age) : KR_NOMEM;
	if (!status) {
		*found = s.settled[b.i];
		if (*found)
			status = walk_back(ir, &s, a, b, path);
	}
	kr_vec_done(mem, &s.now);
	kr_vec_done(mem, &s.later);
	kr_mem_free(mem, s.via, ir->nnodes, sizeof *s.via);
	kr_mem_free(mem, s.settled, ir->nnodes, 1);
	return status;
}

enum kr_status kr_ir_path(const struct kr_ir *ir, kr_node a, kr_node b, uint32_t age, struct kr_path *path,
	bool *found)
{
	return find_path(ir, (struct search){.kinds = UINT32_MAX}, a, b, age, path, found);
}

enum kr_status kr_ir_path_within(const struct kr_ir *ir, const uint32_t *component, kr_node a, kr_node b,
	struct kr_path *path, bool *found)
{
	return find_path(ir, (struct search){.kinds = UINT32_MAX, .component = component}, a, b, ir->edges.n,
		path, found);
}

enum kr_status kr_ir_path_by(const struct kr_ir *ir, uint32_t kinds, kr_node a, kr_node b, uint32_t age,
	struct kr_path *path, bool *found)
{
	return find_path(ir, (struct search){.kinds = kinds}, a, b, age, path, found);
}
