/* Chain clocks: the cover and the incremental clocks of clock.h.
 *
 * Cover: links that a chain must follow (session order, time nodes, begin-commit) are taken first, then each
 * node is joined greedily to the nearest successor that has no predecessor in a chain yet. The longest chains
 * are tracked, as many as fit in the budget; the others answer "not known to". Update: a new edge merges one
 * row; pending nodes are taken in order of a topological rank and pass on only the chains that moved, so a
 * node is mostly looked at after everything before it has settled. Rows only grow and are bounded, so this
 * ends. Cost: O(edges * chains that move); when it is made, an edge costs a row only if no nearer one tells
 * of its start. */
#include "ir/clock.h"

#include <string.h>

#include "base/bits.h"
#include "base/order.h"

enum { MAX_CHAINS = 1024, CHAIN_MOST = UINT16_MAX, ROW_PAD = 8 };
static const size_t max_bytes = (size_t)1 << 30;

/* ---- the cover ---- */

struct cover {
	uint32_t *next, *prev; /* per node: neighbours in its chain, or KR_NONE */
	KR_VEC(struct chain) chains;
};

struct chain {
	uint32_t head, length;
};

static void join(struct cover *cover, uint32_t from, uint32_t to)
{
	if (cover->next[from] == KR_NONE && cover->prev[to] == KR_NONE) {
		cover->next[from] = to;
		cover->prev[to] = from;
	}
}

/* Session order, begin-commit and the chain of time nodes: these keep the cover small whatever else there
 * is. */
static void join_orders(const struct kr_ir *ir, struct cover *cover)
{
	for (uint32_t e = 0; e < ir->edges.n; e++) {
		const struct kr_edge *edge = &ir->edges.at[e];
		kr_txn to = kr_ir_txn(ir, edge->to);
		/* nothing follows an unknown outcome */
		if (edge->kind == KR_PROGRAM || (edge->kind == KR_SO && !ir->asg->txns[to.i].outcome_unknown))
			join(cover, edge->from.i, edge->to.i);
	}
}

static enum kr_status join_nearest(const struct kr_ir *ir, struct cover *cover, const uint32_t *rank,
	const uint32_t *by_rank)
{
	for (uint32_t r = 0; r < ir->nnodes; r++) {
		uint32_t v = by_rank[r], best = KR_NONE;
		if (cover->next[v] != KR_NONE || v >= ir->first_time_node)
			continue;
		for (uint32_t e = ir->head.at[v]; e != KR_NONE; e = ir->edges.at[e].next) {
			uint32_t to = ir->edges.at[e].to.i;
			if (cover->prev[to] == KR_NONE && to < ir->first_time_node &&
				(best == KR_NONE || rank[to] < rank[best]))
				best = to;
		}
		if (best != KR_NONE)
			join(cover, v, best);
		KR_TRY(kr_ctx_tick(ir->ctx));
	}
	return KR_OK;
}

static int longer_first(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;
	return kr_then(KR_ORDER(y->length, x->length), KR_ORDER(x->head, y->head));
}

static enum kr_status list_chains(const struct kr_ir *ir, struct cover *cover)
{
	for (uint32_t v = 0; v < ir->nnodes; v++) {
		if (cover->prev[v] != KR_NONE)
			continue;
		for (uint32_t x = v; x != KR_NONE;) { /* one too long goes on as another */
			struct chain chain = {x, 0};
			for (; x != KR_NONE && chain.length < CHAIN_MOST; x = cover->next[x])
				chain.length++;
			KR_TRY(kr_vec_add(&ir->ctx->mem, &cover->chains, chain));
		}
	}
	KR_SORT(cover->chains.at, cover->chains.n, longer_first);
	return KR_OK;
}

/* How many chains to track: all, or as many as a share of the memory that is left allows. */
static uint32_t tracked_chains(const struct kr_ir *ir, uint32_t chains)
{
	size_t left = kr_mem_left(&ir->ctx->mem);
	size_t budget = left == SIZE_MAX || left / 2 > max_bytes ? max_bytes : left / 2;
	size_t fit = ir->nnodes ? budget / ir->nnodes / sizeof(uint16_t) : 0;
	fit = fit > ROW_PAD ? fit - ROW_PAD : 0;
	uint32_t most = fit < MAX_CHAINS ? (uint32_t)fit : MAX_CHAINS;
	return chains < most ? chains : most;
}

static enum kr_status make_cover(const struct kr_ir *ir, struct kr_clock *c, struct cover *cover)
{
	struct kr_mem *mem = &ir->ctx->mem;
	KR_TRY(kr_mem_new(mem, cover->next, ir->nnodes));
	KR_TRY(kr_mem_new(mem, cover->prev, ir->nnodes));
	memset(cover->next, 0xff, (size_t)ir->nnodes * sizeof *cover->next);
	memset(cover->prev, 0xff, (size_t)ir->nnodes * sizeof *cover->prev);
	join_orders(ir, cover);
	KR_TRY(join_nearest(ir, cover, c->rank, c->by_rank));
	KR_TRY(list_chains(ir, cover));
	c->nchains = tracked_chains(ir, cover->chains.n);
	c->whole = c->nchains == cover->chains.n;
	for (uint32_t i = 0; i < c->nchains; i++) {
		const struct chain *chain = &cover->chains.at[i];
		for (uint32_t v = chain->head, place = 1; place <= chain->length; v = cover->next[v]) {
			c->chain[v] = i;
			c->position[v] = place++;
		}
	}
	return KR_OK;
}

static void cover_done(struct kr_mem *mem, struct cover *cover, uint32_t nnodes)
{
	kr_mem_free(mem, cover->next, nnodes, sizeof *cover->next);
	kr_mem_free(mem, cover->prev, nnodes, sizeof *cover->prev);
	kr_vec_done(mem, &cover->chains);
}

/* ---- clocks ---- */

static uint16_t *row(const struct kr_clock *c, uint32_t node) { return c->rows + (size_t)node * c->stride; }
static uint64_t *changed_of(const struct kr_clock *c, uint32_t node)
{
	return c->changed + (size_t)node * c->words;
}

static void mark_pending(struct kr_clock *c, uint32_t node)
{
	kr_bits_set(c->pending, c->rank[node]);
	if (c->rank[node] < c->cursor)
		c->cursor = c->rank[node];
}

/* Raises one entry of a node's clock. */
static void raise(struct kr_clock *c, uint32_t node, uint32_t chain, uint16_t position)
{
	uint16_t *entry = row(c, node) + chain;
	if (*entry >= position)
		return;
	*entry = position;
	kr_bits_set(changed_of(c, node), chain);
	mark_pending(c, node);
	if (c->chain[node] == chain && position >= c->position[node])
		c->cyclic.i = node;
}

void kr_clock_edge(struct kr_clock *c, kr_node from, kr_node to)
{
	const uint16_t *source = row(c, from.i);
	const uint16_t *target = row(c, to.i);
	if (from.i == to.i)
		c->cyclic = to;
	for (uint32_t i = 0; i < c->nchains; i++) {
		if (source[i] > target[i])
			raise(c, to.i, i, source[i]);
	}
	if (c->chain[from.i] != KR_NONE)
		raise(c, to.i, c->chain[from.i], (uint16_t)c->position[from.i]);
}

/* Passes the changed chains of a node on along its edges. */
static void propagate(const struct kr_ir *ir, struct kr_clock *c, uint32_t node, const uint64_t *changed)
{
	const uint16_t *source = row(c, node);
	uint64_t any = 0;
	for (uint32_t w = 0; w < c->words; w++)
		any |= changed[w];
	if (any == 0)
		return;
	for (uint32_t e = ir->head.at[node]; e != KR_NONE; e = ir->edges.at[e].next) {
		uint32_t to = ir->edges.at[e].to.i;
		const uint16_t *target = row(c, to);
		for (uint32_t w = 0; w < c->words; w++) {
			for (uint64_t bits = changed[w]; bits; bits &= bits - 1) {
				uint32_t chain = w * 64 + (uint32_t)__builtin_ctzll(bits);
				if (target[chain] < source[chain])
					raise(c, to, chain, source[chain]);
			}
		}
	}
}

bool kr_clock_pending(struct kr_clock *c)
{
	c->cursor = kr_bits_next(c->pending, c->cursor, c->nnodes);
	return c->cursor < c->nnodes;
}

bool kr_clock_take(struct kr_ir *ir, kr_node *node, uint64_t *changed)
{
	struct kr_clock *c = ir->clock;
	if (!kr_clock_pending(c))
		return false;
	kr_bits_clear(c->pending, c->cursor);
	node->i = c->by_rank[c->cursor];
	memcpy(changed, changed_of(c, node->i), c->words * sizeof *changed);
	memset(changed_of(c, node->i), 0, c->words * sizeof *changed);
	propagate(ir, c, node->i, changed);
	return true;
}

void kr_clock_wake(struct kr_clock *c, kr_node node) { mark_pending(c, node.i); }

void kr_clock_touch(struct kr_clock *c, kr_node node)
{
	for (uint32_t w = 0; w < c->words; w++) {
		uint32_t left = c->nchains - w * 64; /* 0 when no chain is tracked */
		changed_of(c, node.i)[w] = left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
	}
	mark_pending(c, node.i);
}

/* What reaches `from`, and that itself, reaches `to`; mostly that is known of nearer ones. In blocks, which
 * compilers know how to do at once. */
static void absorb(struct kr_clock *c, uint32_t from, uint32_t to)
{
	const uint16_t *source = row(c, from);
	uint16_t *target = row(c, to);
	uint32_t chain = c->chain[from];
	if (chain != KR_NONE && target[chain] >= c->position[from])
		return;
	for (uint32_t i = 0; i < c->stride; i += ROW_PAD)
		for (uint32_t j = i; j < i + ROW_PAD; j++)
			target[j] = source[j] > target[j] ? source[j] : target[j];
	if (chain != KR_NONE)
		target[chain] = (uint16_t)c->position[from];
}

/* Rows along the ranks, each from those that lead there, the nearest first. */
static enum kr_status fill_rows(struct kr_ir *ir, struct kr_clock *c, uint32_t *first, uint32_t *preds)
{
	for (uint32_t r = 0; r < c->nnodes; r++)
		for (uint32_t e = ir->head.at[c->by_rank[r]]; e != KR_NONE; e = ir->edges.at[e].next)
			first[c->rank[ir->edges.at[e].to.i] + 2]++;
	kr_index_places(first, c->nnodes);
	for (uint32_t r = 0; r < c->nnodes; r++)
		for (uint32_t e = ir->head.at[c->by_rank[r]]; e != KR_NONE; e = ir->edges.at[e].next)
			preds[first[c->rank[ir->edges.at[e].to.i] + 1]++] = c->by_rank[r];
	for (uint32_t r = 0; r < c->nnodes; r++) {
		for (uint32_t p = first[r + 1]; p-- > first[r];)
			absorb(c, preds[p], c->by_rank[r]);
		KR_TRY(kr_ctx_spend(ir->ctx, 1 + (first[r + 1] - first[r]) * (1 + c->nchains / 64)));
	}
	return KR_OK;
}

static enum kr_status fill(struct kr_ir *ir, struct kr_clock *c)
{
	struct kr_mem *mem = &ir->ctx->mem;
	uint32_t *first = kr_mem_alloc(mem, (size_t)c->nnodes + 2, sizeof *first);
	uint32_t *preds = kr_mem_alloc(mem, ir->edges.n, sizeof *preds);
	enum kr_status status = first && preds ? fill_rows(ir, c, first, preds) : KR_NOMEM;
	kr_mem_free(mem, first, (size_t)c->nnodes + 2, sizeof *first);
	kr_mem_free(mem, preds, ir->edges.n, sizeof *preds);
	return status;
}

static enum kr_status allocate_rows(struct kr_clock *c)
{
	c->stride = (c->nchains + ROW_PAD - 1) / ROW_PAD * ROW_PAD;
	c->words = (uint32_t)KR_BITS_WORDS(c->nchains ? c->nchains : 1);
	size_t cells, words;
	if (!kr_mul(c->nnodes, c->stride, &cells) || !kr_mul(c->nnodes, c->words, &words))
		return KR_NOMEM;
	KR_TRY(kr_arena_new(&c->arena, c->rows, cells));
	KR_TRY(kr_arena_new(&c->arena, c->changed, words));
	return kr_arena_new(&c->arena, c->pending, KR_BITS_WORDS(c->nnodes));
}

static enum kr_status rank_nodes(const struct kr_ir *ir, struct kr_clock *c, bool *cyclic)
{
	struct kr_mem *mem = &ir->ctx->mem;
	kr_node *order = kr_mem_alloc(mem, ir->nnodes, sizeof *order);
	c->rank = KR_NEW_ARRAY(&c->arena, uint32_t, ir->nnodes);
	c->by_rank = KR_NEW_ARRAY(&c->arena, uint32_t, ir->nnodes);
	c->chain = KR_NEW_ARRAY(&c->arena, uint32_t, ir->nnodes);
	c->position = KR_NEW_ARRAY(&c->arena, uint32_t, ir->nnodes);
	enum kr_status status = KR_NOMEM;
	if (order && c->rank && c->by_rank && c->chain && c->position)
		status = kr_ir_topological(ir, order, cyclic);
	for (uint32_t r = 0; !status && !*cyclic && r < ir->nnodes; r++) {
		c->by_rank[r] = order[r].i;
		c->rank[order[r].i] = r;
		c->chain[r] = KR_NONE;
	}
	kr_mem_free(mem, order, ir->nnodes, sizeof *order);
	return status;
}

enum kr_status kr_clock_build(struct kr_ir *ir, bool *cyclic)
{
	struct kr_mem *mem = &ir->ctx->mem;
	struct cover cover = {0};
	struct kr_clock *c = kr_mem_alloc(mem, 1, sizeof *c);
	if (!c)
		return KR_NOMEM;
	*c = (struct kr_clock){.arena = {.mem = mem},
		.nnodes = ir->nnodes,
		.cursor = ir->nnodes,
		.cyclic = {KR_NONE}};
	enum kr_status status = rank_nodes(ir, c, cyclic);
	if (!status && !*cyclic) {
		status = make_cover(ir, c, &cover);
		cover_done(mem, &cover, ir->nnodes);
		if (!status)
			status = allocate_rows(c);
		if (!status)
			status = fill(ir, c);
	}
	if (status || *cyclic) {
		kr_clock_free(mem, c);
		return status;
	}
	ir->clock = c;
	return KR_OK;
}

void kr_clock_free(struct kr_mem *mem, struct kr_clock *c)
{
	if (c)
		kr_arena_done(&c->arena);
	kr_mem_free(mem, c, 1, sizeof *c);
}
