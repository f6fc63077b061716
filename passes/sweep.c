/* Pass `sweep`: orders of versions whose contrary would close a cycle, where chains are short and clocks of
 * them would be long: histories without sessions, or with very many. Of the nodes, in a topological order, a
 * block at a time is followed forward: each node behind gets the set of those of the block that reach it, as
 * bits. For each key there is a matrix of which version is known to come before which. A writer of the block
 * asks of each version that it is not known to come before whether it reaches its writer, or one who saw it.
 * Where it does, that is known from now on, with all that comes behind; edges are added only to versions that
 * nothing known stands before. Blocks are taken from the last to the first, so that what a block finds helps
 * those in front of it; rounds go on until one finds little.
 *
 * Right: the edges are those of the IR's rules `reader`, `writers` and `later`, on paths that were there when
 * the block was followed. Where one of them goes against the order of the round, it is followed in the next
 * one only. Cost: nodes * edges / 128 steps, and pairs of versions of a key with the readers of one, for each
 * round; memory: BLOCK / 8 bytes a node, and a bit for each pair. Where that is much nothing is done.
 *
 * Longer than usual: the sets of a block are there only while it is looked at, so that all that is asked of
 * them stands here. */
#include "passes/sweep.h"

#include <string.h>

#include "base/bits.h"
#include "base/order.h"
#include "ir/readers.h"
#include "passes/prune.h"

enum {
	WORDS = 32,
	BLOCK = 64 * WORDS,
	CHAIN = 32,           /* nodes of a chain, on average, from which on a clock takes less than bits */
	VERSIONS_MOST = 4096, /* of a key; others are left to other passes */
	ROUNDS_MOST = 8,
	STEPS = 256,       /* of distances */
	FAR = 32,          /* that part of what is open may be farther apart than what is followed */
	NODES_LEAST = 512, /* clocks of fewer are short whatever the chains, and tell plainer reasons */
	NODES_MOST = 1 << 18,
	WORDS_MOST = 1 << 26, /* of all sets */
	LITTLE = 64 /* a round that adds fewer edges than that part of the versions has found little */
};

struct arc {
	uint32_t from, next;
};

struct found {
	uint32_t rank, version, obs;
	enum kr_rule rule; /* KR_RULE_GIVEN: there is a path already */
};

struct sweep {
	struct kr_arena arena;
	struct kr_ir *ir;
	struct kr_readers readers;
	kr_node *order;
	uint32_t *rank;                /* per node */
	uint32_t *pred_first, *preds;  /* per rank: the ranks of those that lead there */
	uint32_t npreds;               /* room in preds */
	uint32_t *fresh_head;          /* the same of edges added in this round, */
	KR_VEC(struct arc) fresh;      /* as far as they go along the ranks */
	uint64_t *rows;                /* per rank: which of the block reach it */
	uint32_t first, end;           /* ranks at which the block begins and what is followed of it ends */
	uint32_t window;               /* how far behind the block that is */
	size_t *matrix_first, nmatrix; /* per key, in words; per version one row */
	uint64_t *matrix;
	struct found *found; /* scratch */
	uint32_t added;
};

/* ---- the graph ---- */

static enum kr_status sort(struct sweep *s, bool *cyclic)
{
	const struct kr_ir *ir = s->ir;
	struct kr_mem *mem = &ir->ctx->mem;
	uint32_t n = ir->nnodes;
	KR_TRY(kr_ir_along(ir, s->rank, cyclic));
	if (*cyclic)
		return KR_OK;
	for (uint32_t v = 0; v < n; v++)
		s->order[s->rank[v]].i = v;
	kr_mem_free(mem, s->preds, s->npreds, sizeof *s->preds);
	s->npreds = ir->edges.n;
	KR_TRY(kr_mem_new(mem, s->preds, s->npreds));
	memset(s->pred_first, 0, ((size_t)n + 2) * sizeof *s->pred_first);
	for (uint32_t e = 0; e < ir->edges.n; e++)
		s->pred_first[s->rank[ir->edges.at[e].to.i] + 2]++;
	kr_index_places(s->pred_first, n);
	for (uint32_t e = 0; e < ir->edges.n; e++)
		s->preds[s->pred_first[s->rank[ir->edges.at[e].to.i] + 1]++] =
			s->rank[ir->edges.at[e].from.i];
	memset(s->fresh_head, 0xff, (size_t)n * sizeof *s->fresh_head);
	kr_vec_clear(&s->fresh);
	return KR_OK;
}

static uint64_t *row(const struct sweep *s, uint32_t rank) { return s->rows + (size_t)rank * WORDS; }

/* Whoever reaches the pred, and the pred itself, reaches what it leads to. */
static void merge(const struct sweep *s, uint64_t *set, uint32_t pred)
{
	if (pred < s->first)
		return;
	const uint64_t *other = row(s, pred);
	for (uint32_t w = 0; w < WORDS; w++)
		set[w] |= other[w];
	if (pred - s->first < BLOCK)
		kr_bits_set(set, pred - s->first);
}

static enum kr_status follow(struct sweep *s)
{
	for (uint32_t r = s->first; r < s->end; r++) {
		uint64_t *set = row(s, r);
		KR_TRY(kr_ctx_spend(s->ir->ctx, 1 + s->pred_first[r + 1] - s->pred_first[r]));
		memset(set, 0, WORDS * sizeof *set);
		for (uint32_t p = s->pred_first[r]; p < s->pred_first[r + 1]; p++)
			merge(s, set, s->preds[p]);
		for (uint32_t a = s->fresh_head[r]; a != KR_NONE; a = s->fresh.at[a].next)
			merge(s, set, s->fresh.at[a].from);
	}
	return KR_OK;
}

/* Does the block's node at `from` reach v? */
static bool reaches(const struct sweep *s, uint32_t from, kr_node v)
{
	uint32_t to = s->rank[v.i];
	return to > from && to < s->end && kr_bits_get(row(s, to), from - s->first);
}

static enum kr_status add(struct sweep *s, enum kr_edge_kind kind, enum kr_rule rule, kr_txn from, kr_txn to,
	uint32_t why)
{
	struct kr_ir *ir = s->ir;
	uint32_t a = s->rank[kr_ir_out(ir, kind, from).i], b = s->rank[kr_ir_in(ir, kind, to).i];
	KR_TRY(kr_ir_relate(ir, kind, from, to, rule, why));
	s->added++;
	if (a >= b)
		return KR_OK;
	KR_TRY(kr_vec_add(&ir->ctx->mem, &s->fresh, (struct arc){a, s->fresh_head[b]}));
	s->fresh_head[b] = s->fresh.n - 1;
	return KR_OK;
}

/* ---- orders of versions ---- */

static kr_txn writer(const struct sweep *s, uint32_t v) { return s->ir->asg->versions[v].writer; }

/* The versions of a key but the initial one are numbered from 0 in its matrix. */
struct keyed {
	kr_key key;
	uint32_t base, n;
	size_t words;
	uint64_t *rows;
};

static struct keyed keyed(const struct sweep *s, kr_key k)
{
	const struct kr_asg *asg = s->ir->asg;
	uint32_t base = asg->keys[k.i].first + 1, n = asg->keys[k.i + 1].first - base;
	return (struct keyed){k, base, n, KR_BITS_WORDS(n), s->matrix + s->matrix_first[k.i]};
}

static uint64_t *later(const struct keyed *k, uint32_t number) { return k->rows + number * k->words; }

/* What comes behind `other` comes behind what `set` is of. */
static void come_behind(const struct keyed *k, uint64_t *set, uint32_t other)
{
	const uint64_t *behind = later(k, other);
	kr_bits_set(set, other);
	for (size_t w = 0; w < k->words; w++)
		set[w] |= behind[w];
}

static void come_behind_all(const struct keyed *k, uint64_t *set)
{
	for (size_t w = 0; w < k->words; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1)
			come_behind(k, set, (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(bits));
}

/* Why v, whose writer the block's node at `from` is part of, comes before another version of its key, if that
 * is so. */
static bool comes_before(const struct sweep *s, uint32_t from, uint32_t v, uint32_t other, struct found *why)
{
	const struct kr_ir *ir = s->ir;
	kr_txn a = writer(s, v), b = writer(s, other);
	bool out = s->rank[kr_ir_out(ir, KR_WW, a).i] == from, in = s->rank[kr_ir_in(ir, KR_WW, a).i] == from;
	*why = (struct found){s->rank[kr_ir_out(ir, KR_WW, b).i], other, KR_NONE, KR_RULE_GIVEN};
	if (out && reaches(s, from, kr_ir_in(ir, KR_WW, b)))
		return true;
	why->rule = KR_RULE_READER;
	for (uint32_t o = s->readers.head[other]; out && o != KR_NONE; o = s->readers.next[o])
		if (reaches(s, from, kr_ir_in(ir, KR_WR, ir->asg->obs[o].txn)) &&
			kr_readers_mind(ir, o, (kr_version){v})) {
			why->obs = o;
			return true;
		}
	why->rule = KR_RULE_WRITERS;
	return in && !out && reaches(s, from, kr_ir_out(ir, KR_WW, b));
}

/* rw from those who saw v; where one's own version comes before the other one, that says it. */
static enum kr_status add_rw_from_readers(struct sweep *s, const struct keyed *k, uint32_t v, uint32_t other)
{
	const struct kr_ir *ir = s->ir;
	for (uint32_t o = s->readers.head[v]; o != KR_NONE; o = s->readers.next[o]) {
		kr_txn t = ir->asg->obs[o].txn;
		kr_version own = kr_asg_version_of(ir->asg, t, k->key);
		bool said = own.i != KR_NONE && kr_bits_get(later(k, own.i - k->base), other - k->base);
		if (!said && kr_readers_mind(ir, o, (kr_version){other}))
			KR_TRY(add(s, KR_RW, KR_RULE_LATER, t, writer(s, other), o));
	}
	return KR_OK;
}

static enum kr_status force(struct sweep *s, const struct keyed *k, uint32_t v, const struct found *f)
{
	if (f->rule != KR_RULE_GIVEN)
		KR_TRY(add(s, KR_WW, f->rule, writer(s, v), writer(s, f->version),
			f->rule == KR_RULE_READER ? f->obs : k->key.i));
	return add_rw_from_readers(s, k, v, f->version);
}

KR_BY(by_rank, struct found, rank);

static enum kr_status look_at_version(struct sweep *s, uint32_t from, uint32_t v)
{
	struct keyed k = keyed(s, s->ir->asg->versions[v].key);
	if (k.n > VERSIONS_MOST)
		return KR_OK;
	uint32_t own = v - k.base, n = 0;
	uint64_t *mine = later(&k, own);
	KR_TRY(kr_ctx_spend(s->ir->ctx, 1 + k.n / 4));
	come_behind_all(&k, mine);
	for (uint32_t i = 0; i < k.n; i++)
		if (i != own && !kr_bits_get(mine, i) && !kr_bits_get(later(&k, i), own) &&
			kr_ir_is_present(s->ir, writer(s, k.base + i)))
			n += comes_before(s, from, v, k.base + i, &s->found[n]);
	KR_SORT(s->found, n, by_rank);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t other = s->found[i].version - k.base;
		if (kr_bits_get(mine, other))
			continue;
		KR_TRY(force(s, &k, v, &s->found[i]));
		come_behind(&k, mine, other);
	}
	return KR_OK;
}

static enum kr_status look_from(struct sweep *s, uint32_t from)
{
	const struct kr_ir *ir = s->ir;
	const struct kr_asg *asg = ir->asg;
	kr_node v = s->order[from];
	kr_txn t = kr_ir_txn(ir, v);
	if (t.i == KR_NONE || !kr_ir_is_present(ir, t))
		return KR_OK;
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++)
		KR_TRY(look_at_version(s, from, asg->written[i].i));
	return KR_OK;
}

/* ---- rounds ---- */

static enum kr_status run_round(struct sweep *s)
{
	uint32_t n = s->ir->nnodes;
	s->added = 0;
	for (uint32_t blocks = n / BLOCK + 1; blocks > 0; blocks--) {
		s->first = (blocks - 1) * BLOCK;
		s->end = n - s->first > BLOCK + s->window ? s->first + BLOCK + s->window : n;
		KR_TRY(follow(s));
		for (uint32_t r = n < blocks * BLOCK ? n : blocks * BLOCK; r > s->first; r--)
			KR_TRY(look_from(s, r - 1));
		kr_ctx_progress(s->ir->ctx, "following what must come before, blocks left:", blocks - 1, 0);
	}
	return KR_OK;
}

/* How many pairs of a key's versions are open, by how far apart their writers are. */
static void count_open(const struct sweep *s, kr_key key, uint32_t step, uint64_t counts[STEPS])
{
	struct keyed k = keyed(s, key);
	for (uint32_t i = 0; i < k.n && k.n <= VERSIONS_MOST; i++) {
		uint32_t a = s->rank[kr_ir_out(s->ir, KR_WW, writer(s, k.base + i)).i];
		for (uint32_t j = i + 1; j < k.n; j++) {
			uint32_t b = s->rank[kr_ir_out(s->ir, KR_WW, writer(s, k.base + j)).i];
			if (!kr_bits_get(later(&k, i), j) && !kr_bits_get(later(&k, j), i))
				counts[(a < b ? b - a : a - b) / step]++;
		}
	}
}

/* Twice as far as nearly all that is open is apart: who saw a version stands behind its writer. */
static enum kr_status set_window(struct sweep *s)
{
	uint32_t n = s->ir->nnodes, step = n / STEPS + 1, at = 0;
	uint64_t counts[STEPS] = {0}, all = 0, near = 0;
	for (kr_key k = {0}; k.i < s->ir->asg->nkeys; k.i++) {
		KR_TRY(kr_ctx_tick(s->ir->ctx));
		count_open(s, k, step, counts);
	}
	for (uint32_t i = 0; i < STEPS; i++)
		all += counts[i];
	while (at < STEPS && near < all - all / FAR)
		near += counts[at++];
	s->window = 2 * at < STEPS ? 2 * at * step : n;
	return KR_OK;
}

static enum kr_status run_rounds(struct sweep *s, enum kr_change *change)
{
	bool cyclic = false;
	uint32_t rounds = 0;
	s->window = s->ir->nnodes;
	do {
		KR_TRY(sort(s, &cyclic));
		if (cyclic) {
			*change = KR_CONFLICT;
			return kr_ir_conflict(s->ir);
		}
		KR_TRY(run_round(s));
		KR_TRY(set_window(s));
		rounds++;
	} while (rounds < ROUNDS_MOST && s->added > s->ir->asg->nversions / LITTLE);
	return KR_OK;
}

/* ---- life ---- */

static size_t matrix_words(const struct kr_asg *asg, uint32_t k)
{
	size_t versions = asg->keys[k + 1].first - asg->keys[k].first - 1;
	return versions <= VERSIONS_MOST ? versions * KR_BITS_WORDS(versions) : 0;
}

static enum kr_status begin(struct sweep *s)
{
	const struct kr_asg *asg = s->ir->asg;
	size_t n = s->ir->nnodes;
	KR_TRY(kr_arena_new(&s->arena, s->order, n));
	KR_TRY(kr_arena_new(&s->arena, s->rank, n));
	KR_TRY(kr_arena_new(&s->arena, s->pred_first, n + 2));
	KR_TRY(kr_arena_new(&s->arena, s->fresh_head, n));
	KR_TRY(kr_arena_new(&s->arena, s->rows, n * WORDS));
	KR_TRY(kr_arena_new(&s->arena, s->matrix_first, asg->nkeys));
	KR_TRY(kr_arena_new(&s->arena, s->found, VERSIONS_MOST));
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		s->matrix_first[k] = s->nmatrix;
		s->nmatrix += matrix_words(asg, k);
	}
	KR_TRY(kr_arena_new(&s->arena, s->matrix, s->nmatrix));
	return kr_readers_init(&s->readers, s->ir);
}

static void end(struct sweep *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	kr_arena_done(&s->arena);
	kr_mem_free(mem, s->preds, s->npreds, sizeof *s->preds);
	kr_vec_done(mem, &s->fresh);
	kr_readers_done(&s->readers, s->ir);
}

/* Are the chains that the order gives short, and is there room for the sets? */
static bool applies(const struct kr_ir *ir)
{
	size_t words = (size_t)ir->nnodes * WORDS;
	uint32_t joined = 0;
	if (!kr_prune_applies(ir) || ir->nnodes > NODES_MOST)
		return false;
	for (uint32_t k = 0; k < ir->asg->nkeys; k++)
		words += matrix_words(ir->asg, k);
	for (uint32_t e = 0; e < ir->edges.n; e++) {
		const struct kr_edge *edge = &ir->edges.at[e];
		joined += edge->kind == KR_SO || edge->kind == KR_PROGRAM ||
			(kr_ir_is_time(ir, edge->from) && kr_ir_is_time(ir, edge->to));
	}
	return joined < ir->nnodes - ir->nnodes / CHAIN &&
		words < kr_mem_left(&ir->ctx->mem) / 4 / sizeof(uint64_t) && words < WORDS_MOST;
}

enum kr_status kr_sweep(struct kr_ir *ir, enum kr_change *change)
{
	struct sweep s = {.arena = {.mem = &ir->ctx->mem}, .ir = ir};
	if (!applies(ir))
		return KR_OK;
	enum kr_status status = begin(&s);
	if (!status)
		status = run_rounds(&s, change);
	end(&s);
	return status;
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	(void)err;
	return ir->nnodes < NODES_LEAST ? KR_OK : kr_sweep(ir, change);
}

const struct kr_pass kr_pass_sweep = {
	.name = "sweep",
	.title = "orders of versions whose contrary would close a cycle, by sets of bits, where chains are "
		 "short",
	.source = "Cobra's pruning (Tan et al., OSDI 2020) over reachability in blocks",
	.requires = KR_FACT_SO | KR_FACT_RT | KR_FACT_WR | KR_FACT_WW | KR_FACT_RW,
	.provides = 0,
	.breaks = KR_FACT_CLOCK | KR_FACT_SATURATED,
	.run = run,
};
