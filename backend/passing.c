/* An order of commits by which counters pass the totals that were shown (passing.h).
 *
 * Versions of a counter add to the one before, so that the order of commits gives each its total; a
 * transaction may come as soon as every total that it was shown has been passed, and some candidate of each
 * other observation is there. Nothing that is possible ever becomes impossible, but a total may be passed
 * over: then nobody will see it. So of the transactions that may come, that one comes which passes over the
 * fewest totals that are still to be shown, arrives at the most of them, and saw the latest ones itself:
 * where updates were lost, those that came to nothing come last. Transactions that write nothing come at
 * once. A greedy guess: each step looks at so many of those that may come. Cost: steps times these. */
#include "backend/passing.h"

#include <string.h>

#include "backend/counters.h"

enum { LOOKED_AT = 256 }; /* of those that may come, per step */

struct passing {
	struct kr_arena arena;
	struct kr_ir *ir;
	const struct kr_asg *asg;
	struct kr_answer *answer;
	struct kr_counters counters;
	uint8_t *active;        /* per transaction */
	uint8_t *emitted;       /* per node */
	uint32_t *degree;       /* per node: predecessors to come */
	uint8_t *passed;        /* per group of `counters` */
	uint32_t *waits;        /* per node: the next one that waits for the same */
	uint32_t *for_total;    /* per group: the first node that waits for it, or KR_NONE */
	uint32_t *for_key;      /* per key, likewise */
	KR_VEC(uint32_t) free;  /* nodes without predecessors to come, not looked at yet */
	KR_VEC(uint32_t) ready; /* transactions that may come */
};

/* How good it is that a transaction comes next; what comes first counts most. */
struct merit {
	uint32_t over, missed, late;
};

static bool is_better(struct merit a, struct merit b)
{
	if (a.over != b.over)
		return a.over < b.over;
	return a.missed != b.missed ? a.missed < b.missed : a.late < b.late;
}

/* ---- what may come ---- */

static bool is_there(const struct passing *p, kr_version v)
{
	kr_txn w = p->asg->versions[v.i].writer;
	return w.i == KR_NONE || p->emitted[w.i];
}

static bool is_seen(const struct passing *p, uint32_t o)
{
	bool there = false;
	kr_version v;
	if (p->ir->source[o].i != KR_NONE)
		return is_there(p, p->ir->source[o]);
	for (kr_candidates it = kr_asg_candidates(p->asg, (kr_obs){o});
		!there && kr_asg_next(p->asg, &it, &v);)
		there = is_there(p, v);
	return there;
}

/* Lets the node wait for what it lacks; false: for nothing. */
static bool waits(struct passing *p, uint32_t node)
{
	kr_txn t = {node};
	uint32_t *list = NULL;
	for (uint32_t i = p->counters.sum_first[t.i]; i < p->counters.sum_first[t.i + 1] && !list; i++)
		if (!p->passed[p->counters.group_of[i]])
			list = &p->for_total[p->counters.group_of[i]];
	for (uint32_t o = p->asg->obs_first[t.i]; o < p->asg->obs_first[t.i + 1] && !list; o++)
		if (!is_seen(p, o))
			list = &p->for_key[p->asg->obs[o].key.i];
	if (!list)
		return false;
	p->waits[node] = *list;
	*list = node;
	return true;
}

/* ---- emission ---- */

static enum kr_status wake(struct passing *p, uint32_t *list)
{
	for (uint32_t v = *list; v != KR_NONE; v = p->waits[v])
		KR_TRY(kr_vec_add(&p->ir->ctx->mem, &p->free, v));
	*list = KR_NONE;
	return KR_OK;
}

static enum kr_status pass(struct passing *p, kr_key k)
{
	uint32_t group = kr_counters_group(&p->counters, k);
	if (group == KR_NONE)
		return KR_OK;
	p->passed[group] = 1;
	return wake(p, &p->for_total[group]);
}

static enum kr_status emit(struct passing *p, uint32_t node)
{
	struct kr_mem *mem = &p->ir->ctx->mem;
	kr_txn t = kr_ir_txn(p->ir, (kr_node){node});

	p->emitted[node] = 1;
	if (t.i != KR_NONE && p->active[t.i] && !kr_vec_push(mem, &p->answer->order, (kr_node){node}))
		return KR_NOMEM;
	for (uint32_t i = t.i == KR_NONE ? 0 : p->asg->written_first[t.i];
		t.i != KR_NONE && p->active[t.i] && i < p->asg->written_first[t.i + 1]; i++) {
		kr_version v = p->asg->written[i];
		kr_counters_install(&p->counters, v, v);
		KR_TRY(pass(p, p->asg->versions[v.i].key));
		KR_TRY(wake(p, &p->for_key[p->asg->versions[v.i].key.i]));
	}
	for (uint32_t e = p->ir->head.at[node]; e != KR_NONE; e = p->ir->edges.at[e].next) {
		uint32_t to = p->ir->edges.at[e].to.i;
		if (--p->degree[to] == 0 && !kr_vec_push(mem, &p->free, to))
			return KR_NOMEM;
	}
	return KR_OK;
}

/* ---- choice ---- */

/* Totals that are still to be shown, beyond the present one and before the next one. */
static uint32_t passed_over(const struct passing *p, kr_key k, int64_t from, int64_t to)
{
	const struct kr_counters *c = &p->counters;
	int64_t low = from < to ? from : to, high = from < to ? to : from;
	uint32_t over = 0;
	for (uint32_t i = kr_counters_beyond(c, k, low);
		i < c->ngroups && c->groups[i].key.i == k.i && c->groups[i].total < high; i++)
		over += !p->passed[i];
	return over;
}

static struct merit look_at(const struct passing *p, kr_txn t)
{
	const struct kr_counters *c = &p->counters;
	struct merit m = {0, 0, 0};
	for (uint32_t i = p->asg->written_first[t.i]; i < p->asg->written_first[t.i + 1]; i++) {
		kr_version v = p->asg->written[i];
		kr_key k = p->asg->versions[v.i].key;
		const struct kr_asg_amount *a = &p->asg->amounts[v.i];
		int64_t now = (int64_t)c->value[k.i],
			then = a->absolute ? a->amount : (int64_t)(c->value[k.i] + (uint64_t)a->amount);
		uint32_t first = kr_counters_beyond(c, k, then - (then > INT64_MIN));
		bool arrives = first < c->ngroups && c->groups[first].key.i == k.i &&
			c->groups[first].total == then && !p->passed[first];
		m.over += passed_over(p, k, now, then);
		m.missed += !arrives;
		for (uint32_t s = c->sum_first[t.i]; s < c->sum_first[t.i + 1]; s++)
			m.late += c->sums[s].key.i == k.i && c->sums[s].total != now;
	}
	return m;
}

/* The best of those that may come is moved to the end of `ready`. */
static void choose(struct passing *p)
{
	uint32_t best = 0, n = p->ready.n;
	struct merit most = {0, 0, 0};
	for (uint32_t i = 0; i < n && i < LOOKED_AT; i++) {
		struct merit m = look_at(p, (kr_txn){p->ready.at[i]});
		if (i == 0 || is_better(m, most) ||
			(!is_better(most, m) && p->ready.at[i] < p->ready.at[best])) {
			best = i;
			most = m;
		}
	}
	uint32_t swap = p->ready.at[best];
	p->ready.at[best] = p->ready.at[n - 1];
	p->ready.at[n - 1] = swap;
}

static enum kr_status step(struct passing *p, bool *stuck)
{
	while (p->free.n > 0) {
		uint32_t node = kr_vec_pop(&p->free);
		kr_txn t = kr_ir_txn(p->ir, (kr_node){node});
		bool counts = t.i != KR_NONE && p->active[t.i];
		if (counts && waits(p, node))
			continue;
		if (!counts || !kr_asg_writes(p->asg, t))
			return emit(p, node);
		KR_TRY(kr_vec_add(&p->ir->ctx->mem, &p->ready, node));
	}
	*stuck = p->ready.n == 0;
	if (*stuck)
		return KR_OK;
	choose(p);
	return emit(p, kr_vec_pop(&p->ready));
}

/* ---- all of it ---- */

static enum kr_status allocate(struct passing *p)
{
	uint32_t nodes = p->ir->nnodes;
	KR_TRY(kr_arena_new(&p->arena, p->active, p->asg->ntxns));
	KR_TRY(kr_arena_new(&p->arena, p->emitted, nodes));
	KR_TRY(kr_arena_new(&p->arena, p->degree, nodes));
	KR_TRY(kr_arena_new(&p->arena, p->waits, nodes));
	KR_TRY(kr_arena_new(&p->arena, p->for_key, p->asg->nkeys));
	for (uint32_t t = 0; t < p->asg->ntxns; t++)
		p->active[t] = p->ir->presence[t] == KR_PRESENT;
	KR_TRY(kr_counters_init(&p->counters, p->ir, p->active));
	KR_TRY(kr_arena_new(&p->arena, p->passed, p->counters.nsums));
	return kr_arena_new(&p->arena, p->for_total, p->counters.nsums);
}

static void release(struct passing *p)
{
	struct kr_mem *mem = &p->ir->ctx->mem;
	kr_arena_done(&p->arena);
	kr_counters_done(&p->counters);
	kr_vec_done(mem, &p->free);
	kr_vec_done(mem, &p->ready);
}

static enum kr_status begin(struct passing *p)
{
	uint32_t nodes = p->ir->nnodes;
	memset(p->for_key, 0xff, p->asg->nkeys * sizeof *p->for_key);
	memset(p->for_total, 0xff, p->counters.nsums * sizeof *p->for_total);
	for (uint32_t e = 0; e < p->ir->edges.n; e++)
		p->degree[p->ir->edges.at[e].to.i]++;
	for (uint32_t v = nodes; v-- > 0;)
		if (p->degree[v] == 0 && !kr_vec_push(&p->ir->ctx->mem, &p->free, v))
			return KR_NOMEM;
	for (kr_key k = {0}; k.i < p->asg->nkeys - p->asg->nparts; k.i++)
		KR_TRY(pass(p, k));
	return KR_OK;
}

enum kr_status kr_passing_order(struct kr_ir *ir, struct kr_answer *answer)
{
	struct passing p = {.arena = {.mem = &ir->ctx->mem}, .ir = ir, .asg = ir->asg, .answer = answer};
	bool stuck = false;
	uint32_t n = 0;
	if (!ir->asg->amounts || ir->level->model != KR_NODES_TXN)
		return KR_OK;
	enum kr_status status = allocate(&p);
	if (!status)
		status = begin(&p);
	for (; n < ir->nnodes && !stuck && !status; n++) {
		status = step(&p, &stuck);
		if (!status)
			status = kr_ctx_tick(ir->ctx);
	}
	if (!status && !stuck) {
		answer->outcome = KR_SATISFIED;
		answer->form = KR_WORLD_GRAPH;
	}
	release(&p);
	return status;
}
