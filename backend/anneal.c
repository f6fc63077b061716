/* Simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 1983) of an order of nodes: transactions, or
 * begins and commits. Its cost is the number of observations that see what they may not: the newest version
 * before them is none of their candidates; and of versions whose predecessor came after their writer began,
 * where ww leads to a begin. A step moves one node, or a begin and its commit, to some other place between
 * what known edges put before and behind it, near or far; it is taken back unless the cost falls, or by
 * chance, the less probably the more it rises and the colder it is. A cost of 0 is a world. Nothing is
 * concluded from a search that ends otherwise.
 *
 * A solver of clauses learns from the few decisions that a conflict names. Where each value has many writers
 * and many readers it names half of the history, and chance, which needs no reasons, is the shorter way.
 *
 * A step costs, for each key of the node, what its move passes there. */
#include "backend/anneal.h"

#include <math.h>
#include <string.h>

#include "backend/accesses.h"
#include "backend/topology.h"
#include "base/order.h"
#include "base/rng.h"

enum { NEAR = 3, COSTS = 16 };
static const double HOT = 0.8, COLD = 0.15;

struct placed {
	uint64_t place;
	uint32_t access;
};

struct annealing {
	struct kr_arena arena;
	struct kr_candidate *w;
	struct kr_ir *ir;
	const struct kr_asg *asg;
	struct kr_topology known;
	struct kr_rng rng;
	uint64_t *place; /* per node; no two are the same */
	bool locks;      /* ww leads to begins */
	struct kr_accesses x;
	uint32_t *placed_first; /* per key, and one more: its accesses by place */
	struct placed *placed;
	uint32_t *was, *second_was; /* per access of the nodes that move: where it was in `placed` */
	uint32_t cost;
	uint64_t chance[COSTS]; /* of a step that costs so much more, of 2^64 */
};

bool kr_anneal_fits(const struct kr_ir *ir)
{
	uint32_t open = 0;
	for (uint32_t o = 0; o < ir->asg->nobs; o++)
		open += ir->source[o].i == KR_NONE && kr_ir_is_present(ir, ir->asg->obs[o].txn);
	return kr_level_orders_reads(ir->level) && open > ir->asg->nobs / 4;
}

/* ---- cost ---- */

/* The last access in front of that one which writes, or KR_NONE. */
static uint32_t last_write(const struct annealing *a, uint32_t k, uint32_t at)
{
	while (at > a->placed_first[k])
		if (a->x.all.at[a->placed[--at].access].wrote.i != KR_NONE)
			return at;
	return KR_NONE;
}

/* Did the version that this one follows, at `since`, come after its writer began? */
static bool overtaken(const struct annealing *a, kr_version v, uint64_t since)
{
	return a->locks && since > a->place[kr_ir_in(a->ir, KR_WW, a->asg->versions[v.i].writer).i];
}

/* Of the accesses of key k in [from, to), and of those behind up to the next that writes. */
static uint32_t cost_of(const struct annealing *a, uint32_t k, uint32_t from, uint32_t to)
{
	uint32_t cost = 0, last = last_write(a, k, from);
	uint64_t since = last == KR_NONE ? 0 : a->placed[last].place;
	kr_version now = last == KR_NONE ? kr_asg_initial(a->asg, (kr_key){k})
					 : a->x.all.at[a->placed[last].access].wrote;
	for (uint32_t i = from; i < a->placed_first[k + 1]; i++) {
		const struct kr_access *x = &a->x.all.at[a->placed[i].access];
		for (uint32_t j = x->first; j < x->end; j++)
			cost += !kr_accesses_sees(a->ir, a->x.seen[j], now);
		if (x->wrote.i == KR_NONE)
			continue;
		cost += overtaken(a, x->wrote, since);
		if (i >= to)
			break;
		now = x->wrote;
		since = a->placed[i].place;
	}
	return cost;
}

/* ---- steps ---- */

static uint32_t find(const struct annealing *a, uint32_t k, uint64_t place)
{
	uint32_t at;
	KR_BISECT(at, a->placed_first[k], a->placed_first[k + 1], a->placed[at].place < place);
	return at;
}

/* Moves an access from a place to another; returns by how much the cost rises. */
static int move_access(struct annealing *a, uint32_t access, uint64_t from, uint64_t to, uint32_t *was)
{
	uint32_t k = a->x.all.at[access].key;
	uint32_t i = find(a, k, from), j = find(a, k, to);
	j -= j > i;
	*was = i;
	uint32_t low = i < j ? i : j, high = i < j ? j : i;
	bool same = i == j && !a->locks;
	int before = same ? 0 : (int)cost_of(a, k, low, high + 1);
	KR_SHIFT(a->placed, i, j);
	a->placed[j].place = to;
	return same ? 0 : (int)cost_of(a, k, low, high + 1) - before;
}

static void move_back(struct annealing *a, uint32_t access, uint64_t from, uint64_t to, uint32_t was)
{
	uint32_t j = find(a, a->x.all.at[access].key, to);
	KR_SHIFT(a->placed, j, was);
	a->placed[was].place = from;
}

static bool accepts(struct annealing *a, int more)
{
	return more <= 0 || (more < COSTS && kr_rng_u64(&a->rng) < a->chance[more]);
}

/* Between what known edges put before and behind the node, but for `free`, and at most so far from where it
 * is. Where it is if there is no other place. */
static uint64_t pick_place(struct annealing *a, uint32_t node, uint32_t free)
{
	const struct kr_known_edges *before = &a->known.before, *after = &a->known.after;
	uint64_t low = 0, high = UINT64_MAX, now = a->place[node];
	for (uint32_t e = before->first[node]; e < before->first[node + 1]; e++)
		if (a->place[before->other[e]] > low)
			low = a->place[before->other[e]];
	for (uint32_t e = after->first[node]; e < after->first[node + 1]; e++)
		if (after->other[e] != free && a->place[after->other[e]] < high)
			high = a->place[after->other[e]];
	if (low < now && now < high) { /* else its begin has moved */
		uint32_t nearness = (uint32_t)kr_rng_below(&a->rng, NEAR);
		low = now - ((now - low) >> nearness);
		high = now + ((high - now) >> nearness);
	}
	return high < low || high - low < 2 ? now : low + 1 + kr_rng_below(&a->rng, high - low - 1);
}

/* How many versions of the transaction are overtaken, where commits write and do nothing else. */
static int count_overtaken(const struct annealing *a, kr_txn t)
{
	kr_node commit = kr_ir_out(a->ir, KR_WW, t);
	int n = 0;
	for (uint32_t i = a->x.first[commit.i]; i < a->x.first[commit.i + 1]; i++) {
		const struct kr_access *x = &a->x.all.at[i];
		uint32_t last = last_write(a, x->key, find(a, x->key, a->place[commit.i]));
		n += last != KR_NONE && overtaken(a, x->wrote, a->placed[last].place);
	}
	return n;
}

/* Moves a node; returns by how much the cost rises. */
static int move_node(struct annealing *a, uint32_t node, uint64_t to, uint32_t *was)
{
	kr_txn t = kr_ir_txn(a->ir, (kr_node){node});
	bool begins = a->locks && t.i != KR_NONE && kr_ir_in(a->ir, KR_WW, t).i == node;
	int more = 0;
	for (uint32_t i = a->x.first[node]; i < a->x.first[node + 1]; i++)
		more += move_access(a, i, a->place[node], to, was++);
	more -= begins ? count_overtaken(a, t) : 0;
	a->place[node] = to;
	return more + (begins ? count_overtaken(a, t) : 0);
}

static void move_node_back(struct annealing *a, uint32_t node, uint64_t from, const uint32_t *was)
{
	for (uint32_t i = a->x.first[node]; i < a->x.first[node + 1]; i++)
		move_back(a, i, from, a->place[node], *was++);
	a->place[node] = from;
}

/* A node moves, or a begin and its commit. */
static void step(struct annealing *a)
{
	uint32_t node = (uint32_t)kr_rng_below(&a->rng, a->ir->nnodes), second = KR_NONE;
	kr_txn t = kr_ir_txn(a->ir, (kr_node){node});
	if (a->ir->level->model != KR_NODES_TXN && t.i != KR_NONE && kr_rng_below(&a->rng, 2)) {
		node = kr_ir_in(a->ir, KR_WR, t).i;
		second = kr_ir_out(a->ir, KR_WW, t).i;
	}
	uint64_t from = a->place[node], to = pick_place(a, node, second), second_from = 0;
	int more = to == from ? 0 : move_node(a, node, to, a->was);
	if (second != KR_NONE) {
		second_from = a->place[second];
		uint64_t second_to = pick_place(a, second, KR_NONE);
		bool stays = second_to == second_from;
		if (stays && second_from < to)
			more = COSTS; /* there is no place behind its begin */
		else if (!stays)
			more += move_node(a, second, second_to, a->second_was);
	}
	if (accepts(a, more)) {
		a->cost = (uint32_t)((int)a->cost + more);
		return;
	}
	if (second != KR_NONE && a->place[second] != second_from)
		move_node_back(a, second, second_from, a->second_was);
	if (a->place[node] != from)
		move_node_back(a, node, from, a->was);
}

static void set_temperature(struct annealing *a, double temperature)
{
	for (int more = 1; more < COSTS; more++)
		a->chance[more] = (uint64_t)(exp(-more / temperature) * 0x1p64);
}

/* ---- life ---- */

static uint64_t place_of(const struct annealing *a, uint32_t rank)
{
	return (rank + 1) * (UINT64_MAX / ((uint64_t)a->ir->nnodes + 1));
}

/* All accesses as w->order has them, and their cost. */
static void place_all(struct annealing *a)
{
	memset(a->placed_first, 0, ((size_t)a->asg->nkeys + 2) * sizeof *a->placed_first);
	for (uint32_t x = 0; x < a->x.all.n; x++)
		a->placed_first[a->x.all.at[x].key + 2]++;
	kr_index_places(a->placed_first, a->asg->nkeys);
	for (uint32_t i = 0; i < a->ir->nnodes; i++) {
		uint32_t node = a->w->order[i].i;
		a->place[node] = place_of(a, i);
		for (uint32_t x = a->x.first[node]; x < a->x.first[node + 1]; x++)
			a->placed[a->placed_first[a->x.all.at[x].key + 1]++] =
				(struct placed){a->place[node], x};
	}
	a->cost = 0;
	for (uint32_t k = 0; k < a->asg->nkeys; k++)
		a->cost += cost_of(a, k, a->placed_first[k], a->placed_first[k + 1]);
}

static enum kr_status begin(struct annealing *a)
{
	const struct kr_asg *asg = a->asg;
	KR_TRY(kr_arena_new(&a->arena, a->place, a->ir->nnodes));
	KR_TRY(kr_arena_new(&a->arena, a->placed_first, (size_t)asg->nkeys + 2));
	KR_TRY(kr_arena_new(&a->arena, a->was, asg->nkeys));
	KR_TRY(kr_arena_new(&a->arena, a->second_was, asg->nkeys));
	KR_TRY(kr_accesses_init(&a->x, a->w));
	KR_TRY(kr_arena_new(&a->arena, a->placed, a->x.all.n));
	place_all(a);
	return kr_topology_init(&a->known, a->ir, a->w->active, a->w->order);
}

static void end(struct annealing *a)
{
	kr_arena_done(&a->arena);
	kr_accesses_done(&a->x);
	kr_topology_done(&a->known);
}

static int by_place(const void *data, uint32_t x, uint32_t y)
{
	const struct annealing *a = data;
	return KR_ORDER(a->place[x], a->place[y]);
}

/* The nodes as they stand, into w->order. */
static enum kr_status line_up(struct annealing *a)
{
	struct kr_mem *mem = &a->ir->ctx->mem;
	uint32_t n = a->ir->nnodes;
	uint32_t *ids = kr_mem_alloc(mem, n, sizeof *ids), *scratch = kr_mem_alloc(mem, n, sizeof *scratch);
	bool ok = ids && scratch;
	for (uint32_t i = 0; i < n && ok; i++)
		ids[i] = i;
	if (ok)
		kr_sort_ids(ids, scratch, n, by_place, a);
	for (uint32_t i = 0; i < n && ok; i++)
		a->w->order[i].i = ids[i];
	kr_mem_free(mem, ids, n, sizeof *ids);
	kr_mem_free(mem, scratch, n, sizeof *scratch);
	return ok ? KR_OK : KR_NOMEM;
}

enum kr_status kr_anneal(struct kr_candidate *w, uint64_t sweeps, bool *found)
{
	struct annealing a = {.arena = {.mem = &w->ir->ctx->mem},
		.w = w,
		.ir = w->ir,
		.asg = w->ir->asg,
		.locks = w->ir->level->model == KR_NODES_BEGIN_COMMIT};
	kr_rng_init(&a.rng, 1);
	enum kr_status status = begin(&a);
	for (uint64_t s = 0; s < sweeps && a.cost > 0 && !status; s++) {
		set_temperature(&a, HOT * pow(COLD / HOT, (double)s / (double)sweeps));
		for (uint32_t i = 0; i < w->ir->nnodes && a.cost > 0 && !status; i++) {
			step(&a);
			status = kr_ctx_tick(w->ir->ctx);
		}
	}
	if (!status)
		status = line_up(&a);
	if (!status)
		place_all(&a);
	*found = !status && a.cost == 0;
	end(&a);
	return status;
}
