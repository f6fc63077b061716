/* Depth-first search of a serial order (backtrack.h). The store is replayed as in schedule.c: a transaction
 * may come next when all before it in the known graph have come, it sees what it saw, its counters show what
 * they showed, and nobody still has to see what it replaces. Which one comes matters for counters only: an
 * increment that shows nothing may come at any time, and a total that was passed too early never comes again.
 *
 * Of those that may come, that one is tried first that changes no counter which somebody still has to see as
 * it is, and brings those that it changes to where somebody waits for them. When nobody may come, the keys
 * that stand in the way are the conflict: choices that wrote none of them are taken back without trying
 * another (conflict-directed backjumping, Prosser 1993). A choice that was refuted sleeps until something is
 * done to a key that it touches: behind a choice that has nothing to do with it it would fail alike (sleep
 * sets, Godefroid 1996). Who writes nothing comes at once. Nothing is concluded from a search that ends
 * without an order. Cost: the steps, times those that may come next, of which so many are looked at. */
#include "backend/backtrack.h"

#include <string.h>

#include "backend/counters.h"
#include "base/bits.h"

enum {
	LOOKED_AT = 64,      /* of those that may come */
	FRONT_MOST = 1024,   /* with more that could come next it is not tried */
	STEPS_EACH = 20,     /* per node, */
	STEPS_LEAST = 200000 /* and these */
};

KR_VEC_NAMED(conflict, kr_key); /* whole keys */

/* A node that came, and others that might have. */
struct choice {
	uint32_t node;
	uint32_t first, end; /* the others, in search.others; the last is next */
	uint32_t slept;      /* length of search.slept before the first was tried, */
	uint32_t slept_now;  /* and before this one was */
	struct conflict why; /* of those that were tried before */
};

/* Whether it slept, and why, before that was changed. */
struct slept {
	uint32_t node;
	bool asleep;
	struct conflict why;
};

struct search {
	struct kr_arena arena;
	struct kr_schedule *s;
	struct kr_ir *ir;
	const struct kr_asg *asg;
	const struct kr_overlay *o;
	struct kr_counters counters;
	uint32_t *degree;       /* per node: predecessors to come */
	uint32_t *place;        /* per node: where it is in `front`; valid for those that are */
	KR_VEC(uint32_t) front; /* nodes without predecessors to come */
	kr_version *current;    /* per key */
	kr_version *before;     /* per version: whose place it took */
	uint64_t *value;        /* per version: what its counter was before it */
	uint32_t *pending;      /* per version: transactions to come that saw it */
	uint64_t *counted;      /* set of observations: those that count there */
	uint64_t *open;         /* set of observations whose source is open */
	uint32_t *bound;        /* per key with an untold initial value: the set that saw it, or KR_NONE, */
	uint32_t *binds;        /* and the first observation that is open and did */
	bool *asleep;           /* per node */
	struct conflict *why;   /* per node: while it sleeps */
	uint32_t sleepers;
	KR_VEC(struct slept) slept;
	KR_VEC(struct choice) choices;
	KR_VEC(uint32_t) others;
	struct conflict conflict;
	uint32_t *mark; /* per key: the last conflict that it was put into */
	uint32_t marks;
	uint32_t *touched; /* per key: twice the last transaction that touches it, one more if it writes */
	bool failed;       /* no memory */
};

/* ---- sleep ---- */

static void set_asleep(struct search *s, uint32_t node, bool asleep, struct conflict why)
{
	s->failed |= !kr_vec_push(&s->ir->ctx->mem, &s->slept,
		(struct slept){node, s->asleep[node], s->why[node]});
	s->sleepers += (uint32_t)asleep - (uint32_t)s->asleep[node];
	s->asleep[node] = asleep;
	s->why[node] = why;
}

static void restore_sleep(struct search *s, uint32_t length)
{
	while (s->slept.n > length) {
		struct slept was = kr_vec_pop(&s->slept);
		s->sleepers += (uint32_t)was.asleep - (uint32_t)s->asleep[was.node];
		s->asleep[was.node] = was.asleep;
		kr_vec_done(&s->ir->ctx->mem, &s->why[was.node]);
		s->why[was.node] = was.why;
	}
}

/* ---- life ---- */

static enum kr_status allocate(struct search *s)
{
	const struct kr_asg *asg = s->asg;
	uint32_t nodes = s->ir->nnodes;
	KR_TRY(kr_arena_new(&s->arena, s->degree, nodes));
	KR_TRY(kr_arena_new(&s->arena, s->place, nodes));
	KR_TRY(kr_arena_new(&s->arena, s->current, asg->nkeys));
	KR_TRY(kr_arena_new(&s->arena, s->before, asg->nversions));
	KR_TRY(kr_arena_new(&s->arena, s->value, asg->nversions));
	KR_TRY(kr_arena_new(&s->arena, s->pending, asg->nversions));
	KR_TRY(kr_arena_new(&s->arena, s->counted, KR_BITS_WORDS(asg->nobs)));
	KR_TRY(kr_arena_new(&s->arena, s->open, KR_BITS_WORDS(asg->nobs)));
	KR_TRY(kr_arena_new(&s->arena, s->bound, asg->nkeys));
	KR_TRY(kr_arena_new(&s->arena, s->binds, asg->nkeys));
	KR_TRY(kr_arena_new(&s->arena, s->asleep, nodes));
	KR_TRY(kr_arena_new(&s->arena, s->why, nodes));
	KR_TRY(kr_arena_new(&s->arena, s->mark, asg->nkeys));
	return kr_arena_new(&s->arena, s->touched, asg->nkeys);
}

static void release(struct search *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	for (uint32_t i = 0; i < s->choices.n; i++)
		kr_vec_done(mem, &s->choices.at[i].why);
	if (s->why && s->asleep)
		restore_sleep(s, 0);
	kr_arena_done(&s->arena);
	kr_counters_done(&s->counters);
	kr_vec_done(mem, &s->front);
	kr_vec_done(mem, &s->slept);
	kr_vec_done(mem, &s->choices);
	kr_vec_done(mem, &s->others);
	kr_vec_done(mem, &s->conflict);
}

/* ---- the front ---- */

static void enter(struct search *s, uint32_t node)
{
	s->place[node] = s->front.n;
	s->failed |= !kr_vec_push(&s->ir->ctx->mem, &s->front, node);
}

static void leave(struct search *s, uint32_t node)
{
	uint32_t last = kr_vec_pop(&s->front);
	if (last != node) {
		s->front.at[s->place[node]] = last;
		s->place[last] = s->place[node];
	}
}

static bool active(const struct search *s, kr_txn t) { return t.i != KR_NONE && s->o->active[t.i]; }

/* Of what a node leads to, one predecessor more or less is to come. */
static void lead(struct search *s, uint32_t to, bool comes)
{
	if (comes && --s->degree[to] == 0)
		enter(s, to);
	else if (!comes && s->degree[to]++ == 0)
		leave(s, to);
}

static void lead_on(struct search *s, uint32_t node, bool comes)
{
	kr_txn t = kr_ir_txn(s->ir, (kr_node){node});
	if (t.i != KR_NONE && !s->o->active[t.i])
		return;
	for (uint32_t e = s->ir->head.at[node]; e != KR_NONE; e = s->ir->edges.at[e].next)
		lead(s, s->ir->edges.at[e].to.i, comes);
	for (uint32_t l = s->o->head[node]; l != KR_NONE; l = s->o->arcs.at[l].next)
		lead(s, s->o->arcs.at[l].to, comes);
}

static void begin(struct search *s)
{
	const struct kr_asg *asg = s->asg;
	for (kr_key k = {0}; k.i < asg->nkeys; k.i++) {
		s->current[k.i] = kr_asg_initial(asg, k);
		s->bound[k.i] = s->binds[k.i] = KR_NONE;
	}
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_version seen = s->s->source[o];
		const struct kr_observation *obs = &asg->obs[o];
		if (!active(s, obs->txn))
			continue;
		if (seen.i == KR_NONE) {
			kr_bits_set(s->open, o);
			continue;
		}
		if (asg->keys[obs->key.i].open_initial && kr_asg_is_initial(asg, seen))
			s->bound[obs->key.i] = obs->set;
		if (s->before[seen.i].i == obs->txn.i + 1) /* until a version comes there: who saw it last */
			continue;
		s->before[seen.i].i = obs->txn.i + 1;
		kr_bits_set(s->counted, o);
		s->pending[seen.i]++;
	}
	for (uint32_t e = 0; e < s->ir->edges.n; e++) {
		kr_txn from = kr_ir_txn(s->ir, s->ir->edges.at[e].from);
		if (from.i == KR_NONE || active(s, from))
			s->degree[s->ir->edges.at[e].to.i]++;
	}
	for (uint32_t l = 0; l < s->o->links.n; l++)
		s->degree[s->o->arcs.at[l].to]++;
	for (uint32_t r = 0; r < s->ir->nnodes; r++)
		if (s->degree[s->o->order[r].i] == 0)
			enter(s, s->o->order[r].i);
}

/* ---- who may come ---- */

static bool may_see(const struct search *s, uint32_t o)
{
	const struct kr_observation *obs = &s->asg->obs[o];
	kr_version now = s->current[obs->key.i];
	kr_txn w = s->asg->versions[now.i].writer;
	if (!kr_bits_get(s->open, o))
		return s->s->source[o].i == now.i;
	return kr_asg_in_set(s->asg, obs->set, now) &&
		(w.i != KR_NONE || s->bound[obs->key.i] == KR_NONE || s->bound[obs->key.i] == obs->set);
}

static bool has_seen(const struct search *s, kr_txn t, kr_version v)
{
	for (uint32_t o = s->asg->obs_first[t.i]; o < s->asg->obs_first[t.i + 1]; o++)
		if (kr_bits_get(s->counted, o) && s->s->source[o].i == v.i)
			return true;
	return false;
}

/* The whole key that keeps t from coming, or KR_NONE. */
static kr_key blocked_by(const struct search *s, kr_txn t)
{
	const struct kr_asg *asg = s->asg;
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++)
		if (!may_see(s, o))
			return kr_asg_whole(asg, asg->obs[o].key);
	kr_key counter = kr_counters_unserved(&s->counters, t);
	if (counter.i != KR_NONE)
		return counter;
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_key k = asg->versions[asg->written[i].i].key;
		kr_version now = s->current[k.i];
		if (s->pending[now.i] > has_seen(s, t, now))
			return kr_asg_whole(asg, k);
	}
	return (kr_key){KR_NONE};
}

/* ---- what touches what ---- */

/* Notes which whole keys t touches, and which of them it writes. */
static void touch(struct search *s, kr_txn t)
{
	const struct kr_asg *asg = s->asg;
	const struct kr_counters *c = &s->counters;
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++)
		s->touched[kr_asg_whole(asg, asg->obs[o].key).i] = 2 * (t.i + 1);
	for (uint32_t i = c->sum_first[t.i]; i < c->sum_first[t.i + 1]; i++)
		s->touched[c->sums[i].key.i] = 2 * (t.i + 1);
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++)
		s->touched[kr_asg_whole(asg, asg->versions[asg->written[i].i].key).i] = 2 * (t.i + 1) + 1;
}

/* Does the order of t and u matter? t has been touched. */
static bool depends(const struct search *s, kr_txn t, kr_txn u)
{
	const struct kr_asg *asg = s->asg;
	const struct kr_counters *c = &s->counters;
	uint32_t writes = 2 * (t.i + 1) + 1;
	for (uint32_t o = asg->obs_first[u.i]; o < asg->obs_first[u.i + 1]; o++)
		if (s->touched[kr_asg_whole(asg, asg->obs[o].key).i] == writes)
			return true;
	for (uint32_t i = c->sum_first[u.i]; i < c->sum_first[u.i + 1]; i++)
		if (s->touched[c->sums[i].key.i] == writes)
			return true;
	for (uint32_t i = asg->written_first[u.i]; i < asg->written_first[u.i + 1]; i++)
		if (s->touched[kr_asg_whole(asg, asg->versions[asg->written[i].i].key).i] >= writes - 1)
			return true;
	return false;
}

static void wake(struct search *s, kr_txn t)
{
	if (s->sleepers == 0)
		return;
	touch(s, t);
	for (uint32_t i = 0; i < s->front.n; i++) {
		uint32_t v = s->front.at[i];
		if (s->asleep[v] && depends(s, t, kr_ir_txn(s->ir, (kr_node){v})))
			set_asleep(s, v, false, (struct conflict){NULL, 0, 0});
	}
}

/* ---- coming and going back ---- */

static void come(struct search *s, kr_txn t)
{
	const struct kr_asg *asg = s->asg;
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		kr_key k = asg->obs[o].key;
		if (kr_bits_get(s->counted, o))
			s->pending[s->s->source[o].i]--;
		if (!kr_bits_get(s->open, o))
			continue;
		s->s->source[o] = s->current[k.i];
		if (asg->keys[k.i].open_initial && s->bound[k.i] == KR_NONE &&
			kr_asg_is_initial(asg, s->current[k.i])) {
			s->bound[k.i] = asg->obs[o].set;
			s->binds[k.i] = o;
		}
	}
	kr_counters_serve(&s->counters, t);
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_version v = asg->written[i];
		kr_key k = asg->versions[v.i].key;
		s->before[v.i] = s->current[k.i];
		s->value[v.i] = s->counters.value[kr_asg_whole(asg, k).i];
		kr_counters_install(&s->counters, s->current[k.i], v);
		s->current[k.i] = v;
	}
}

static void go_back(struct search *s, kr_txn t)
{
	const struct kr_asg *asg = s->asg;
	for (uint32_t i = asg->written_first[t.i + 1]; i-- > asg->written_first[t.i];) {
		kr_version v = asg->written[i];
		kr_key k = asg->versions[v.i].key;
		s->current[k.i] = s->before[v.i];
		s->counters.value[kr_asg_whole(asg, k).i] = s->value[v.i];
	}
	kr_counters_unserve(&s->counters, t);
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		kr_key k = asg->obs[o].key;
		if (kr_bits_get(s->counted, o))
			s->pending[s->s->source[o].i]++;
		if (!kr_bits_get(s->open, o))
			continue;
		s->s->source[o] = (kr_version){KR_NONE};
		if (s->binds[k.i] == o)
			s->bound[k.i] = s->binds[k.i] = KR_NONE;
	}
}

static void emit(struct search *s, struct choice *c)
{
	kr_txn t = kr_ir_txn(s->ir, (kr_node){c->node});
	c->slept_now = s->slept.n;
	leave(s, c->node);
	if (active(s, t)) {
		wake(s, t);
		come(s, t);
	}
	lead_on(s, c->node, true);
}

static void take_back(struct search *s, struct choice *c)
{
	kr_txn t = kr_ir_txn(s->ir, (kr_node){c->node});
	lead_on(s, c->node, false);
	if (active(s, t))
		go_back(s, t);
	enter(s, c->node);
	restore_sleep(s, c->slept_now);
}

/* ---- conflicts ---- */

static void blame(struct search *s, kr_key k)
{
	if (k.i == KR_NONE || s->mark[k.i] == s->marks)
		return;
	s->mark[k.i] = s->marks;
	s->failed |= !kr_vec_push(&s->ir->ctx->mem, &s->conflict, k);
}

static void blame_all(struct search *s, const struct conflict *keys)
{
	for (uint32_t i = 0; i < keys->n; i++)
		blame(s, keys->at[i]);
}

/* What keeps those of the front from coming. */
static void blame_front(struct search *s)
{
	for (uint32_t i = 0; i < s->front.n; i++) {
		uint32_t v = s->front.at[i];
		kr_txn t = kr_ir_txn(s->ir, (kr_node){v});
		if (s->asleep[v])
			blame_all(s, &s->why[v]);
		else if (active(s, t))
			blame(s, blocked_by(s, t));
	}
}

static void copy(struct search *s, const struct conflict *from, struct conflict *to)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	kr_vec_clear(to);
	for (uint32_t i = 0; i < from->n && !s->failed; i++)
		s->failed |= !kr_vec_push(mem, to, from->at[i]);
}

static bool wrote_blamed(const struct search *s, uint32_t node)
{
	kr_txn t = kr_ir_txn(s->ir, (kr_node){node});
	for (uint32_t i = active(s, t) ? s->asg->written_first[t.i] : 0;
		active(s, t) && i < s->asg->written_first[t.i + 1]; i++)
		if (s->mark[kr_asg_whole(s->asg, s->asg->versions[s->asg->written[i].i].key).i] == s->marks)
			return true;
	return false;
}

/* Nobody may come: back to the last choice that had to do with it, and on with another. False: there is
 * none. */
static bool backjump(struct search *s)
{
	s->marks++;
	kr_vec_clear(&s->conflict);
	blame_front(s);
	while (s->choices.n > 0 && !s->failed) {
		struct choice *c = &s->choices.at[s->choices.n - 1];
		take_back(s, c);
		if (wrote_blamed(s, c->node)) {
			blame_all(s, &c->why);
			if (c->end > c->first) {
				copy(s, &s->conflict, &c->why);
				struct conflict why = {NULL, 0, 0};
				copy(s, &s->conflict, &why);
				set_asleep(s, c->node, true, why);
				c->node = s->others.at[--c->end];
				s->others.n = c->end;
				emit(s, c);
				return true;
			}
			restore_sleep(s, c->slept);
			blame_front(s);
		} else {
			restore_sleep(s, c->slept);
		}
		s->others.n = c->first;
		kr_vec_done(&s->ir->ctx->mem, &c->why);
		s->choices.n--;
	}
	return false;
}

/* ---- choice ---- */

/* The less, the sooner: whether somebody still has to see a counter as it is, how many counters are brought
 * to where nobody will, and the order of preference. */
static uint64_t cost_of(const struct search *s, uint32_t node, kr_txn t)
{
	const struct kr_asg *asg = s->asg;
	uint64_t soft = kr_counters_wanted(&s->counters, t), missed = 0;
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_version now = s->current[asg->versions[asg->written[i].i].key.i];
		missed += !kr_counters_arrives(&s->counters, now, asg->written[i]);
	}
	return soft << 48 | (missed < 0xffff ? missed : 0xffff) << 32 | s->o->rank[node];
}

/* Puts those that may come into `others`, the best one last. Who writes nothing comes alone. */
static void look(struct search *s)
{
	uint64_t costs[LOOKED_AT];
	uint32_t first = s->others.n;
	for (uint32_t i = 0; i < s->front.n && s->others.n - first < LOOKED_AT && !s->failed; i++) {
		uint32_t v = s->front.at[i];
		kr_txn t = kr_ir_txn(s->ir, (kr_node){v});
		bool counts = active(s, t), alone = !counts || !kr_asg_writes(s->asg, t);
		if (s->asleep[v] || (counts && blocked_by(s, t).i != KR_NONE))
			continue;
		if (alone)
			s->others.n = first;
		if (!kr_vec_push(&s->ir->ctx->mem, &s->others, v))
			s->failed = true;
		if (alone || s->failed)
			return;
		uint64_t cost = cost_of(s, v, t);
		uint32_t at = s->others.n - 1 - first;
		for (; at > 0 && costs[at - 1] < cost; at--) {
			costs[at] = costs[at - 1];
			s->others.at[first + at] = s->others.at[first + at - 1];
		}
		costs[at] = cost;
		s->others.at[first + at] = v;
	}
}

static bool step(struct search *s)
{
	struct choice c = {.first = s->others.n, .slept = s->slept.n};
	if (s->front.n > FRONT_MOST)
		return false;
	look(s);
	if (s->others.n == c.first)
		return backjump(s);
	c.node = kr_vec_pop(&s->others);
	c.end = s->others.n;
	s->failed |= !kr_vec_push(&s->ir->ctx->mem, &s->choices, c);
	if (!s->failed)
		emit(s, &s->choices.at[s->choices.n - 1]);
	return true;
}

enum kr_status kr_backtrack(struct kr_schedule *run)
{
	struct kr_ir *ir = run->overlay->ir;
	struct search s = {.arena = {.mem = &ir->ctx->mem},
		.s = run,
		.o = run->overlay,
		.ir = ir,
		.asg = ir->asg};
	uint64_t steps = (uint64_t)STEPS_EACH * ir->nnodes + STEPS_LEAST;
	run->forced = 1;
	enum kr_status status = kr_counters_init(&s.counters, ir, s.o->active);
	if (!status)
		status = allocate(&s);
	if (!status)
		begin(&s);
	while (!status && !s.failed && s.choices.n < ir->nnodes && steps-- > 0 && step(&s))
		status = kr_ctx_tick(ir->ctx);
	if (!status && s.failed)
		status = KR_NOMEM;
	if (!status && s.choices.n == ir->nnodes) {
		run->forced = 0;
		for (uint32_t i = 0; i < s.choices.n; i++)
			run->order[i].i = s.choices.at[i].node;
	}
	while (!status && run->forced && s.choices.n > 0) { /* sources are open again */
		struct choice c = kr_vec_pop(&s.choices);
		take_back(&s, &c);
		kr_vec_done(&ir->ctx->mem, &c.why);
	}
	release(&s);
	return status;
}
