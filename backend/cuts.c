/* A cut is a place in the order: at it each part has its newest version before it (cuts.h). Of an
 * operation's observations of one key the versions of their parts are swept in that order, with the number
 * of observations that would not fit, and what they add up to. A guess: the search learns from what is
 * wrong with it. */
#include "backend/cuts.h"

#include "base/order.h"

/* From this place on, observation o would see the version. */
struct step {
	uint32_t place, obs;
	kr_version version;
};

struct cutting {
	struct kr_arena arena;
	struct kr_candidate *w;
	const struct kr_asg *asg;
	uint32_t *sum_of;     /* per observation: 1 + its sum, 0: none */
	uint32_t *term_first; /* per observation with a sum: its terms, */
	uint32_t *term_end;
	kr_version *now; /* per observation: what it would see at the cut */
	KR_VEC(struct step) steps;
	/* see as little as can be: whoever is seen in one operation must not be missed later, and nobody
	 * else */
	bool oldest;
	KR_VEC(kr_txn) met; /* whom the transaction at hand has seen something of, in its operations so far */
	/* of the sweep */
	uint32_t wrong; /* observations that would not fit */
	uint64_t total; /* may wrap: it is a guess */
};

bool kr_cuts_apply(const struct kr_ir *ir)
{
	return ir->asg->nparts > 0 && ir->level->model == KR_NODES_TXN &&
		!kr_level_orders(ir->level, KR_RW) && kr_level_orders(ir->level, KR_WR) &&
		!kr_level_forbids_lost_updates(ir->level, false);
}

KR_BY_BOTH(by_place, struct step, place, obs);

static bool fits(const struct cutting *c, uint32_t o, kr_version v)
{
	kr_version known = c->w->source[o];
	return known.i != KR_NONE ? known.i == v.i : kr_asg_in_set(c->asg, c->asg->obs[o].set, v);
}

static uint64_t weight(const struct cutting *c, uint32_t o, kr_version v)
{
	for (uint32_t i = c->sum_of[o] ? c->term_first[o] : 0; c->sum_of[o] && i < c->term_end[o]; i++)
		if (c->asg->terms[i].seen.i == v.i)
			return (uint64_t)c->asg->terms[i].weight;
	return 0;
}

static void see(struct cutting *c, uint32_t o, kr_version v)
{
	c->wrong -= !fits(c, o, c->now[o]);
	c->total -= weight(c, o, c->now[o]);
	c->now[o] = v;
	c->wrong += !fits(c, o, v);
	c->total += weight(c, o, v);
}

static bool is_of(const struct cutting *c, uint32_t o, kr_key whole)
{
	kr_key k = c->asg->obs[o].key;
	return kr_asg_is_part(c->asg, k) && kr_asg_whole(c->asg, k).i == whole.i;
}

/* At the beginning everybody sees the initial version; the steps from there to the observer's place. */
static enum kr_status begin(struct cutting *c, uint32_t first, uint32_t end, kr_key whole)
{
	const struct kr_asg *asg = c->asg;
	kr_txn t = asg->obs[first].txn;
	uint32_t own = c->w->place[kr_ir_in(c->w->ir, KR_WR, t).i];

	kr_vec_clear(&c->steps);
	c->wrong = 0;
	c->total = 0;
	for (uint32_t o = first; o < end; o++) {
		if (!is_of(c, o, whole))
			continue;
		uint32_t k = asg->obs[o].key.i;
		c->now[o] = kr_asg_initial(asg, asg->obs[o].key);
		c->wrong += !fits(c, o, c->now[o]);
		c->total += weight(c, o, c->now[o]);
		for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first; v++) {
			kr_txn b = asg->versions[v].writer;
			uint32_t place = c->w->place[kr_ir_out(c->w->ir, KR_WW, b).i];
			if (b.i != t.i && c->w->active[b.i] && place < own &&
				!kr_vec_push(&c->w->ir->ctx->mem, &c->steps, (struct step){place, o, {v}}))
				return KR_NOMEM;
		}
	}
	KR_SORT(c->steps.at, c->steps.n, by_place);
	return KR_OK;
}

/* The place of the last version of the key by anybody met: who saw him must not miss that. */
static uint32_t least_place(const struct cutting *c, kr_key whole)
{
	uint32_t least = 0;

	for (uint32_t i = 0; i < c->met.n; i++) {
		uint32_t place = c->w->place[kr_ir_out(c->w->ir, KR_WW, c->met.at[i]).i];
		if (place > least && kr_asg_version_of(c->asg, c->met.at[i], whole).i != KR_NONE)
			least = place;
	}
	return least;
}

/* Of an operation's observations [first, end), those of parts of one key. */
static enum kr_status settle(struct cutting *c, uint32_t first, uint32_t end, kr_key whole)
{
	uint32_t best = KR_NONE, sum = 0, least = least_place(c, whole);
	bool enough = false;
	KR_TRY(begin(c, first, end, whole));

	for (uint32_t o = first; o < end; o++)
		sum = is_of(c, o, whole) && c->sum_of[o] ? c->sum_of[o] : sum;
	for (uint32_t i = 0; i <= c->steps.n && !enough; i++) {
		const struct step *at = c->steps.at;
		bool all = i == 0 || i == c->steps.n || at[i].place != at[i - 1].place;
		if (all && c->wrong == 0 && (sum == 0 || c->total == (uint64_t)c->asg->sums[sum - 1].total)) {
			best = i;
			enough = c->oldest && (i == c->steps.n || at[i].place > least);
		}
		if (i < c->steps.n)
			see(c, at[i].obs, at[i].version);
	}
	if (best == KR_NONE)
		return KR_OK;
	for (uint32_t o = first; o < end; o++)
		if (is_of(c, o, whole))
			c->now[o] = kr_asg_initial(c->asg, c->asg->obs[o].key);
	for (uint32_t i = 0; i < best; i++)
		c->now[c->steps.at[i].obs] = c->steps.at[i].version;
	for (uint32_t o = first; o < end; o++)
		if (is_of(c, o, whole) && c->w->source[o].i == KR_NONE)
			c->w->source[o] = c->now[o];
	return kr_ctx_spend(c->w->ir->ctx, c->steps.n);
}

static uint32_t place_of(const struct cutting *c, kr_version v)
{
	kr_txn b = c->asg->versions[v.i].writer;
	return b.i == KR_NONE ? 0 : 1 + c->w->place[kr_ir_out(c->w->ir, KR_WW, b).i];
}

/* Of a whole key, the oldest candidate that comes before the observer and not before anybody met. */
static void settle_whole(struct cutting *c, uint32_t o)
{
	kr_txn t = c->asg->obs[o].txn;
	kr_key k = c->asg->obs[o].key;
	uint32_t least = least_place(c, k), own = c->w->place[kr_ir_in(c->w->ir, KR_WR, t).i];
	kr_version v, best = {KR_NONE};

	least += least > 0; /* as place_of has it */
	for (kr_candidates it = kr_asg_candidates(c->asg, (kr_obs){o}); kr_asg_next(c->asg, &it, &v);) {
		kr_txn b = c->asg->versions[v.i].writer;
		uint32_t place = place_of(c, v);
		if ((b.i == KR_NONE || c->w->active[b.i]) && place >= least && place <= own &&
			(best.i == KR_NONE || place < place_of(c, best)))
			best = v;
	}
	c->w->source[o] = best;
}

/* Whom the operation has seen something of: of the parts of a key, the writer of the newest one. */
static enum kr_status meet(struct cutting *c, uint32_t first, uint32_t end)
{
	for (uint32_t o = first; o < end; o++) {
		const struct kr_ir *ir = c->w->ir;
		kr_version v = c->w->source[o];
		kr_txn b = v.i == KR_NONE ? (kr_txn){KR_NONE} : c->asg->versions[v.i].writer;
		kr_key whole = kr_asg_whole(c->asg, c->asg->obs[o].key);
		if (b.i == KR_NONE)
			continue;
		if (o > first && c->met.n > 0 && is_of(c, o, whole) && is_of(c, o - 1, whole)) {
			kr_txn *last = &c->met.at[c->met.n - 1];
			if (c->w->place[kr_ir_out(ir, KR_WW, b).i] >
				c->w->place[kr_ir_out(ir, KR_WW, *last).i])
				*last = b;
			continue;
		}
		KR_TRY(kr_vec_add(&ir->ctx->mem, &c->met, b));
	}
	return KR_OK;
}

/* An operation's observations [first, end). */
static enum kr_status settle_operation(struct cutting *c, uint32_t first, uint32_t end)
{
	const struct kr_asg *asg = c->asg;

	for (uint32_t o = first; o < end; o++) {
		kr_key k = asg->obs[o].key, whole = kr_asg_whole(asg, k);
		/* the parts of a key are neighbours: again at each one that is still open, at most once */
		bool part = kr_asg_is_part(asg, k), again = o > first && is_of(c, o - 1, whole);
		if (part && !again)
			KR_TRY(settle(c, first, end, whole));
		else if (!part && c->oldest && c->w->source[o].i == KR_NONE)
			settle_whole(c, o);
		KR_TRY(kr_ctx_tick(c->w->ir->ctx));
	}
	return meet(c, first, end);
}

/* Do two edges make a forbidden cycle, and no more? */
static bool sees_by_pairs(const struct kr_level *level)
{
	bool pairs = true;

	for (int i = 1; i < KR_PATTERNS_MOST && level->forbidden[i].allowed; i++)
		pairs &= level->forbidden[i].longest == 2;
	return pairs;
}

static void index_sums(struct cutting *c)
{
	for (uint32_t s = 0; s < c->asg->nsums; s++) {
		const struct kr_asg_sum *sum = &c->asg->sums[s];
		for (uint32_t i = sum->first; i < sum->first + sum->count; i++) {
			uint32_t o = c->asg->terms[i].obs.i;
			if (c->sum_of[o] == 0)
				c->term_first[o] = i;
			c->sum_of[o] = s + 1;
			c->term_end[o] = i + 1;
		}
	}
}

enum kr_status kr_cuts_settle(struct kr_candidate *w)
{
	const struct kr_asg *asg = w->ir->asg;
	struct kr_mem *mem = &w->ir->ctx->mem;
	struct cutting c = {.arena = {.mem = mem}, .w = w, .asg = asg, .oldest = sees_by_pairs(w->ir->level)};
	enum kr_status status = KR_NOMEM;

	c.sum_of = kr_arena_alloc(&c.arena, asg->nobs, sizeof *c.sum_of);
	c.term_first = kr_arena_alloc(&c.arena, asg->nobs, sizeof *c.term_first);
	c.term_end = kr_arena_alloc(&c.arena, asg->nobs, sizeof *c.term_end);
	c.now = kr_arena_alloc(&c.arena, asg->nobs, sizeof *c.now);
	if (c.sum_of && c.term_first && c.term_end && c.now) {
		index_sums(&c);
		status = KR_OK;
	}
	for (uint32_t o = 0, end; o < asg->nobs && !status; o = end) {
		end = kr_asg_operation_end(asg, o);
		if (o == 0 || asg->obs[o].txn.i != asg->obs[o - 1].txn.i)
			kr_vec_clear(&c.met);
		if (w->active[asg->obs[o].txn.i])
			status = settle_operation(&c, o, end);
	}
	kr_arena_done(&c.arena);
	kr_vec_done(mem, &c.steps);
	kr_vec_done(mem, &c.met);
	return status;
}
