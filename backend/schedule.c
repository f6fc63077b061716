/* List scheduling (schedule.h). With begin and commit nodes a begin observes and takes the locks of what its
 * transaction writes (unless versions are ordered by commits alone), and a commit installs; otherwise a node
 * does both. The store is replayed: per key the current version. A ready node (all predecessors emitted) is
 * emitted when its observations can be served by the current versions, and no key that it writes has a
 * current version with readers still to come, its own read aside; else it waits on the key that stops it.
 * Among ready nodes the first of the overlay's order goes first, pure readers before writers. When all wait,
 * the first in that order is emitted all the same and counted: then the order is only a candidate, from which
 * the search learns. Reason for the rule: an order without forced steps replays, so it is a world. O(edges +
 * wake-ups). */
#include "backend/schedule.h"
#include "backend/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

enum { FETCH = 16 }; /* observations ahead; the versions seen lie all over memory */

/* Nodes by rank. */
struct queue {
	uint64_t *in;   /* set of ranks */
	uint64_t *some; /* set of its words that are not empty */
	uint32_t low;   /* words of `some` below are empty */
};

struct state {
	struct kr_arena arena;
	struct kr_schedule *s;
	const struct kr_overlay *o;
	struct kr_ir *ir;
	const struct kr_asg *asg;
	uint32_t *degree;      /* per node: predecessors to come */
	struct queue ready[2]; /* nodes that may be emitted; [0] pure readers, [1] writers */
	uint8_t *emitted;      /* per node */
	uint32_t *waits;       /* per node: next one waiting on the same key */
	uint32_t *waiting;     /* per key: first waiting node, or KR_NONE */
	kr_version *current;   /* per key */
	uint32_t *seen_by;     /* per key: 1 + the transaction last found to have seen its current version */
	uint32_t *pending;     /* per version: transactions to come that saw it */
	/* set of observations that count as pending: of several by one transaction that saw one version, the
	 * first */
	uint64_t *counted;
	/* per key with an untold initial value: 1 + an observation of the transaction that last asked for
	 * it */
	uint32_t *claim;
	uint8_t *locked; /* per key: some writer of it has begun and not committed */
	uint32_t *bound; /* per key with an untold initial value: the set that saw it, or KR_NONE */
	struct kr_counters counters;
	/* by rank: nodes that may be emitted, but had better wait for a reader of a counter */
	uint64_t *soft;
	uint32_t n;          /* emitted */
	uint32_t stuck_from; /* ranks below it are all emitted */
};

/* ---- queues ---- */

static void queue_put(struct queue *q, uint32_t rank)
{
	kr_bits_set(q->in, rank);
	kr_bits_set(q->some, rank / 64);
	if (rank / 64 / 64 < q->low)
		q->low = rank / 64 / 64;
}

/* Takes the lowest rank, if there is any. */
static bool queue_take(struct queue *q, uint32_t nodes, uint32_t *rank)
{
	uint32_t end = (uint32_t)KR_BITS_WORDS(KR_BITS_WORDS(nodes));
	while (q->low < end && !q->some[q->low])
		q->low++;
	if (q->low == end)
		return false;
	uint32_t word = q->low * 64 + (uint32_t)__builtin_ctzll(q->some[q->low]);
	*rank = word * 64 + (uint32_t)__builtin_ctzll(q->in[word]);
	kr_bits_clear(q->in, *rank);
	if (!q->in[word])
		kr_bits_clear(q->some, word);
	return true;
}

/* ---- life ---- */

static enum kr_status allocate(struct state *st)
{
	size_t nodes = st->ir->nnodes;
	for (int i = 0; i < 2; i++) {
		KR_TRY(kr_arena_new(&st->arena, st->ready[i].in, KR_BITS_WORDS(nodes)));
		KR_TRY(kr_arena_new(&st->arena, st->ready[i].some, KR_BITS_WORDS(KR_BITS_WORDS(nodes))));
	}
	KR_TRY(kr_arena_new(&st->arena, st->degree, nodes));
	KR_TRY(kr_arena_new(&st->arena, st->emitted, nodes));
	KR_TRY(kr_arena_new(&st->arena, st->waits, nodes));
	KR_TRY(kr_arena_new(&st->arena, st->waiting, st->asg->nkeys));
	KR_TRY(kr_arena_new(&st->arena, st->current, st->asg->nkeys));
	KR_TRY(kr_arena_new(&st->arena, st->seen_by, st->asg->nkeys));
	KR_TRY(kr_arena_new(&st->arena, st->pending, st->asg->nversions));
	KR_TRY(kr_arena_new(&st->arena, st->counted, KR_BITS_WORDS(st->asg->nobs)));
	KR_TRY(kr_arena_new(&st->arena, st->claim, st->asg->nkeys));
	KR_TRY(kr_arena_new(&st->arena, st->bound, st->asg->nkeys));
	KR_TRY(kr_arena_new(&st->arena, st->locked, st->asg->nkeys));
	return kr_arena_new(&st->arena, st->soft, KR_BITS_WORDS(nodes));
}

static bool observes(const struct state *st, uint32_t node)
{
	return st->ir->level->model == KR_NODES_TXN || node % 2 == 0;
}
static bool installs(const struct state *st, uint32_t node)
{
	return st->ir->level->model == KR_NODES_TXN || node % 2 == 1;
}
static bool locks(const struct state *st, uint32_t node)
{
	return st->ir->level->model == KR_NODES_BEGIN_COMMIT && node % 2 == 0;
}

/* A key that t writes and that others, who have not come yet, saw as it is now; or KR_NONE. */
static kr_key still_read(const struct state *st, kr_txn t, bool own_too)
{
	const struct kr_asg *asg = st->asg;
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_key k = asg->versions[asg->written[i].i].key;
		kr_version now = st->current[k.i];
		uint32_t own = own_too && st->seen_by[k.i] == t.i + 1;
		if (st->pending[now.i] > own)
			return k;
	}
	return (kr_key){KR_NONE};
}

/* Others would like to see a counter as it is before t changes it, or what the commit of t's begin will have
 * to wait for. */
static bool had_better_wait(const struct state *st, uint32_t node, kr_txn t)
{
	return (!installs(st, node) && still_read(st, t, true).i != KR_NONE) ||
		kr_counters_wanted(&st->counters, t);
}

static bool active(const struct state *st, kr_txn t) { return t.i != KR_NONE && st->o->active[t.i]; }

static void bind(struct state *st, uint32_t o, kr_version seen)
{
	kr_key k = st->asg->obs[o].key;
	if (st->asg->keys[k.i].open_initial && kr_asg_is_initial(st->asg, seen))
		st->bound[k.i] = st->asg->obs[o].set;
}

/* Has an earlier observation by the same transaction seen the same version? The last one of its key by any is
 * at hand. */
static bool seen_before(const struct state *st, uint32_t o)
{
	kr_key k = st->asg->obs[o].key;
	if (st->seen_by[k.i] != st->asg->obs[o].txn.i + 1)
		return false;
	if (st->current[k.i].i == st->s->source[o].i)
		return true;
	for (kr_obs p = kr_ir_sibling(st->ir, (kr_obs){o}); p.i != o; p = kr_ir_sibling(st->ir, p))
		if (p.i < o && st->s->source[p.i].i == st->s->source[o].i)
			return true;
	return false;
}

/* Until all are counted, `current` is the version that the key's last observation so far saw. */
static void count_readers(struct state *st)
{
	for (uint32_t k = 0; k < st->asg->nkeys; k++)
		st->waiting[k] = st->bound[k] = KR_NONE;
	for (uint32_t o = 0; o < st->asg->nobs; o++) {
		kr_version seen = st->s->source[o];
		kr_key k = st->asg->obs[o].key;
		if (o + FETCH < st->asg->nobs && st->s->source[o + FETCH].i != KR_NONE)
			__builtin_prefetch(&st->pending[st->s->source[o + FETCH].i], 1);
		if (seen.i == KR_NONE || !active(st, st->asg->obs[o].txn))
			continue;
		bind(st, o, seen);
		if (seen_before(st, o))
			continue;
		st->seen_by[k.i] = st->asg->obs[o].txn.i + 1;
		st->current[k.i] = seen;
		kr_bits_set(st->counted, o);
		st->pending[seen.i]++;
	}
	for (uint32_t k = 0; k < st->asg->nkeys; k++)
		st->current[k] = kr_asg_initial(st->asg, (kr_key){k});
}

static void make_ready(struct state *st, uint32_t node)
{
	kr_txn t = kr_ir_txn(st->ir, (kr_node){node});
	int queue = active(st, t) && kr_asg_writes(st->asg, t) && observes(st, node); /* commits go first */
	queue_put(&st->ready[queue], st->o->rank[node]);
}

static void count_predecessors(struct state *st)
{
	for (uint32_t e = 0; e < st->ir->edges.n; e++) {
		const struct kr_edge *edge = &st->ir->edges.at[e];
		kr_txn from = kr_ir_txn(st->ir, edge->from);
		if (from.i == KR_NONE || active(st, from))
			st->degree[edge->to.i]++;
	}
	for (uint32_t l = 0; l < st->o->links.n; l++)
		st->degree[st->o->arcs.at[l].to]++;
	for (uint32_t v = 0; v < st->ir->nnodes; v++) {
		if (st->degree[v] == 0)
			make_ready(st, v);
	}
}

/* ---- can a transaction go now? ---- */

/* May the free observation o see version v: a candidate of an active writer, and in accord with what else saw
 * an untold initial value? */
static bool may_see(const struct state *st, uint32_t o, kr_version v)
{
	const struct kr_observation *obs = &st->asg->obs[o];
	kr_txn w = st->asg->versions[v.i].writer;
	if (!kr_asg_in_set(st->asg, obs->set, v) || w.i == obs->txn.i ||
		(w.i != KR_NONE && !st->o->active[w.i]))
		return false;
	return w.i != KR_NONE || st->bound[obs->key.i] == KR_NONE || st->bound[obs->key.i] == obs->set;
}

/* An untold initial value is one value: does an earlier observation of the same transaction see something
 * else in it? All earlier ones of the key agree with each other. */
static bool disagrees(struct state *st, uint32_t o)
{
	const struct kr_observation *obs = &st->asg->obs[o], *claim = NULL;
	uint32_t *first = &st->claim[obs->key.i];
	if (!st->asg->keys[obs->key.i].open_initial || !kr_asg_is_initial(st->asg, st->current[obs->key.i]))
		return false;
	if (*first > 0 && st->asg->obs[*first - 1].txn.i == obs->txn.i)
		claim = &st->asg->obs[*first - 1];
	else
		*first = o + 1;
	return claim && claim->set != obs->set;
}

static bool is_served(struct state *st, uint32_t o)
{
	kr_key k = st->asg->obs[o].key;
	kr_version now = st->current[k.i], seen = st->s->source[o];
	if (disagrees(st, o))
		return false;
	if (seen.i == KR_NONE)
		return may_see(st, o, now);
	if (seen.i == now.i)
		st->seen_by[k.i] = st->asg->obs[o].txn.i + 1;
	return seen.i == now.i;
}

/* What keeps t from seeing what it saw, or KR_NONE. */
static kr_key unserved(struct state *st, kr_txn t)
{
	const struct kr_asg *asg = st->asg;
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		if (!is_served(st, o))
			return asg->obs[o].key;
	}
	return kr_counters_unserved(&st->counters, t);
}

static kr_key locked_key(const struct state *st, kr_txn t)
{
	const struct kr_asg *asg = st->asg;
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_key k = asg->versions[asg->written[i].i].key;
		if (st->locked[k.i])
			return k;
	}
	return (kr_key){KR_NONE};
}

/* The key that keeps the node of an active transaction from being emitted, or KR_NONE. */
static kr_key blocked_by(struct state *st, uint32_t node, kr_txn t)
{
	kr_key k = {KR_NONE};
	if (observes(st, node))
		k = unserved(st, t);
	if (k.i == KR_NONE && locks(st, node))
		k = locked_key(st, t);
	if (k.i == KR_NONE && installs(st, node))
		k = still_read(st, t, observes(st, node));
	return k;
}

/* ---- emission ---- */

static void wake(struct state *st, kr_key k)
{
	for (uint32_t v = st->waiting[k.i]; v != KR_NONE; v = st->waits[v]) {
		if (!st->emitted[v])
			make_ready(st, v);
	}
	st->waiting[k.i] = KR_NONE;
}

/* The version for a free observation: the current one if it may be (without force it may), else a candidate
 * that known edges do not rule out, else any. */
static kr_version any_candidate(const struct state *st, uint32_t o)
{
	kr_version v, fallback = {KR_NONE};
	bool sound = false;
	if (may_see(st, o, st->current[st->asg->obs[o].key.i]))
		return st->current[st->asg->obs[o].key.i];
	for (kr_candidates it = kr_asg_candidates(st->asg, (kr_obs){o});
		!sound && kr_asg_next(st->asg, &it, &v);) {
		kr_txn w = st->asg->versions[v.i].writer;
		if (w.i != KR_NONE && !st->o->active[w.i])
			continue;
		sound = may_see(st, o, v) && !kr_ir_impossible(st->ir, (kr_obs){o}, v);
		if (sound || fallback.i == KR_NONE)
			fallback = v;
	}
	return fallback;
}

static enum kr_status observe(struct state *st, kr_txn t)
{
	const struct kr_asg *asg = st->asg;
	uint32_t first = asg->obs_first[t.i], end = asg->obs_first[t.i + 1];
	/* those that were counted as pending; before free ones are settled, which are not */
	for (uint32_t o = first; o < end; o++) {
		kr_version seen = st->s->source[o];
		if (kr_bits_get(st->counted, o) && --st->pending[seen.i] <= 1 &&
			seen.i == st->current[asg->obs[o].key.i].i)
			wake(st, asg->obs[o].key);
	}
	for (uint32_t o = first; o < end; o++) {
		if (st->s->source[o].i != KR_NONE)
			continue;
		st->s->source[o] = any_candidate(st, o);
		if (st->s->source[o].i == KR_NONE)
			return KR_INTERNAL;
		bind(st, o, st->s->source[o]);
	}
	return KR_OK;
}

static void lock(struct state *st, kr_txn t, bool on)
{
	for (uint32_t i = st->asg->written_first[t.i]; i < st->asg->written_first[t.i + 1]; i++)
		st->locked[st->asg->versions[st->asg->written[i].i].key.i] = on;
}

static void install(struct state *st, kr_txn t)
{
	for (uint32_t i = st->asg->written_first[t.i]; i < st->asg->written_first[t.i + 1]; i++) {
		kr_key k = st->asg->versions[st->asg->written[i].i].key;
		kr_counters_install(&st->counters, st->current[k.i], st->asg->written[i]);
		st->current[k.i] = st->asg->written[i];
	}
	for (uint32_t i = st->asg->written_first[t.i]; i < st->asg->written_first[t.i + 1]; i++) {
		kr_key k = st->asg->versions[st->asg->written[i].i].key;
		wake(st, k);
	}
}

static void release(struct state *st, uint32_t node)
{
	if (--st->degree[node] == 0)
		make_ready(st, node);
}

static enum kr_status emit(struct state *st, uint32_t node)
{
	kr_txn t = kr_ir_txn(st->ir, (kr_node){node});
	enum kr_status status = KR_OK;
	st->emitted[node] = 1;
	st->s->order[st->n++].i = node;
	if (active(st, t) && observes(st, node)) {
		status = observe(st, t);
		kr_counters_serve(&st->counters, t);
	}
	if (active(st, t) && locks(st, node))
		lock(st, t, true);
	if (active(st, t) && installs(st, node)) {
		lock(st, t, false);
		install(st, t);
	}
	if (t.i == KR_NONE || active(st, t)) {
		for (uint32_t e = st->ir->head.at[node]; e != KR_NONE; e = st->ir->edges.at[e].next)
			release(st, st->ir->edges.at[e].to.i);
		for (uint32_t l = st->o->head[node]; l != KR_NONE; l = st->o->arcs.at[l].next)
			release(st, st->o->arcs.at[l].to);
	}
	return status;
}

/* Takes the first ready node of a queue. */
static bool take(struct state *st, int queue, uint32_t *node)
{
	uint32_t rank;
	if (!queue_take(&st->ready[queue], st->ir->nnodes, &rank))
		return false;
	*node = st->o->order[rank].i;
	return true;
}

/* All ready nodes wait: the first of them by rank. */
static uint32_t first_waiting(struct state *st)
{
	while (st->emitted[st->o->order[st->stuck_from].i])
		st->stuck_from++;
	uint32_t rank = st->stuck_from;
	while (st->emitted[st->o->order[rank].i] || st->degree[st->o->order[rank].i] > 0)
		rank++;
	return st->o->order[rank].i;
}

/* Among the nodes that had better wait one that need not any more, or else the first that may go; those that
 * may not wait for their key. KR_NONE: there is none. */
static uint32_t take_soft(struct state *st)
{
	uint32_t first = KR_NONE, words = (uint32_t)KR_BITS_WORDS(st->ir->nnodes);
	for (uint32_t w = 0; w < words; w++) {
		for (uint64_t bits = st->soft[w]; bits; bits &= bits - 1) {
			uint32_t rank = w * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t node = st->o->order[rank].i;
			kr_txn t = kr_ir_txn(st->ir, (kr_node){node});
			kr_key k = st->emitted[node] ? (kr_key){KR_NONE} : blocked_by(st, node, t);
			bool waits = !st->emitted[node] && k.i == KR_NONE && had_better_wait(st, node, t);
			if (waits && first == KR_NONE)
				first = rank;
			if (waits)
				continue;
			kr_bits_clear(st->soft, rank);
			if (st->emitted[node])
				continue;
			if (k.i == KR_NONE)
				return node;
			st->waits[node] = st->waiting[k.i];
			st->waiting[k.i] = node;
		}
	}
	if (first == KR_NONE)
		return KR_NONE;
	kr_bits_clear(st->soft, first);
	return st->o->order[first].i;
}

static enum kr_status step(struct state *st)
{
	uint32_t node;
	while (take(st, 0, &node) || take(st, 1, &node)) {
		kr_txn t = kr_ir_txn(st->ir, (kr_node){node});
		kr_key k = active(st, t) && !st->emitted[node] ? blocked_by(st, node, t) : (kr_key){KR_NONE};
		if (st->emitted[node])
			continue;
		if (k.i == KR_NONE && active(st, t) && had_better_wait(st, node, t)) {
			kr_bits_set(st->soft, st->o->rank[node]);
			continue;
		}
		if (k.i == KR_NONE)
			return emit(st, node);
		st->waits[node] = st->waiting[k.i];
		st->waiting[k.i] = node;
		KR_TRY(kr_ctx_tick(st->ir->ctx));
	}
	node = take_soft(st);
	if (node != KR_NONE)
		return emit(st, node);
	st->s->forced++;
	return st->s->strict ? KR_OK : emit(st, first_waiting(st));
}

enum kr_status kr_schedule_run(struct kr_schedule *s)
{
	struct kr_ir *ir = s->overlay->ir;
	struct state st = {.arena = {.mem = &ir->ctx->mem},
		.s = s,
		.o = s->overlay,
		.ir = ir,
		.asg = ir->asg};
	s->forced = 0;
	enum kr_status status = allocate(&st);
	if (!status)
		status = kr_counters_init(&st.counters, ir, st.o->active);
	if (!status) {
		count_readers(&st);
		count_predecessors(&st);
	}
	while (!status && st.n < ir->nnodes && !(s->strict && s->forced > 0)) {
		status = step(&st);
		if (!status)
			status = kr_ctx_tick(ir->ctx);
	}
	kr_counters_done(&st.counters);
	kr_arena_done(&st.arena);
	return status;
}
