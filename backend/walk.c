/* A focused random walk (as WalkSAT: Selman, Kautz, Cohen, AAAI 1994), of orders instead of assignments. What
 * is wrong in a serial order of transactions are observations for which the newest version before them is
 * none of their candidates, and pairs that stand against the order that was asked for. One of these is picked
 * at random, and of those who have part in it one moves to where it would be right: a writer in between to
 * before what was seen or behind the observer, the observer to right behind what it saw, or that to right
 * before the observer. That may make others wrong; more of them than before are accepted by chance only, as
 * in annealing. Known edges bind nobody on the way: all of them are kept when nothing is wrong any more. Of
 * an order that is about right everywhere (seriate.h) few steps set right what is wrong; of one that is not,
 * a transaction would have to wander through all of it.
 *
 * A step costs, for each key of the transaction, what its move passes there. */
#include "backend/walk.h"

#include <math.h>
#include <string.h>

#include "backend/accesses.h"
#include "backend/prefer.h"
#include "backend/seriate.h"
#include "base/order.h"
#include "base/rng.h"

/* A step that makes so much more wrong is never accepted. A transaction comes to stand near where it has to
 * be, seldom further away than one in so many transactions. */
enum { WORSE = 8, FAR = 40 };

/* The temperature, in things that are wrong, falls again and again, within so many steps for each transaction
 * and in so many parts: what is hard takes the hot ones, and what is not is lost in these. */
static const double HOT = 0.9, COLD = 0.5;
enum { PERIOD_EACH = 16, PARTS = 16 };

/* With more observations, or where sessions are longer on average, which tell an order, repair is the
 * shorter way. Where fewer than one in so many observations are wrong, no better order to begin with is
 * looked for. */
enum { MANY = 200000, LONG = 128, FEW = 4 };

/* The walk ends when the last steps, so many for each transaction, have not made it better; or when it has
 * passed so many accesses: hot keys have many. */
enum { STALL_EACH = 64, PASSED_MOST = 200000000 };

/* An access where it stands, with what most looks at it need. */
struct placed {
	uint32_t place, access;
	uint32_t wrote; /* a version; KR_NONE: none */
	uint32_t want; /* the version that its observation saw; NOTHING: it has none; SEVERAL: look at them */
};

enum { NOTHING = KR_NONE, SEVERAL = KR_NONE - 1 };

/* `before` is to come before `after`. */
struct pair {
	uint32_t before, after;
};

struct walk {
	struct kr_arena arena;
	struct kr_candidate *w;
	struct kr_ir *ir;
	const struct kr_asg *asg;
	struct kr_rng rng;
	uint32_t *place;            /* per transaction, in the order */
	double *guess;              /* per transaction: a place in an order to be lined up */
	uint32_t *sorted, *scratch; /* transactions, as they were last lined up */
	struct kr_accesses x;
	uint32_t *placed_first; /* per key, and two more: its accesses by place */
	struct placed *placed;
	uint32_t *at; /* per access: where it is in `placed` */
	KR_VEC(struct pair) pairs;
	uint32_t *pair_first, *pairs_of; /* per transaction */
	/* what is wrong, and some that was: observations, and behind them pairs; per such thing 1 + where */
	KR_VEC(uint32_t) wrong;
	uint32_t *wrong_at;
	uint32_t *target; /* per access of the transaction that would move: where it would be */
	uint32_t cost, best;
	uint64_t steps, best_at, part, passed;
	uint64_t chance[WORSE]; /* of a step that makes so much more wrong, of 2^64 */
};

bool kr_walk_fits(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	return ir->level->model == KR_NODES_TXN && kr_level_orders_reads(ir->level) &&
		ir->nnodes == asg->ntxns && asg->norders == 0 && asg->nobs <= MANY &&
		(asg->nsessions == 0 || asg->ntxns / asg->nsessions <= LONG);
}

/* ---- what is wrong ---- */

/* The last access of the key in front of that one which writes, or KR_NONE. */
static uint32_t last_write(const struct walk *a, uint32_t k, uint32_t at)
{
	while (at > a->placed_first[k])
		if (a->placed[--at].wrote != KR_NONE)
			return at;
	return KR_NONE;
}

static uint32_t newest(const struct walk *a, uint32_t k, uint32_t at)
{
	uint32_t last = last_write(a, k, at);
	return last == KR_NONE ? kr_asg_initial(a->asg, (kr_key){k}).i : a->placed[last].wrote;
}

static uint32_t count_wrong(const struct walk *a, const struct placed *p, uint32_t now)
{
	if (p->want != SEVERAL)
		return p->want != NOTHING && p->want != now;
	const struct kr_access *x = &a->x.all.at[p->access];
	uint32_t n = 0;
	for (uint32_t j = x->first; j < x->end; j++)
		n += !kr_accesses_sees(a->ir, a->x.seen[j], (kr_version){now});
	return n;
}

/* How much is wrong with an access, behind which *now is the newest version. */
static int pass(const struct walk *a, const struct placed *p, uint32_t *now)
{
	uint32_t seen = *now;
	if (p->wrote != KR_NONE)
		*now = p->wrote;
	return (int)count_wrong(a, p, seen);
}

static enum kr_status note(struct walk *a, uint32_t thing)
{
	if (a->wrong_at[thing])
		return KR_OK;
	KR_TRY(kr_vec_add(&a->ir->ctx->mem, &a->wrong, thing));
	a->wrong_at[thing] = a->wrong.n;
	return KR_OK;
}

/* Notes what is wrong with accesses of key k in [from, to), and with those behind up to the next that
 * writes. */
static enum kr_status note_all(struct walk *a, uint32_t k, uint32_t from, uint32_t to)
{
	uint32_t now = newest(a, k, from);
	for (uint32_t i = from; i < a->placed_first[k + 1]; i++) {
		const struct placed *p = &a->placed[i];
		const struct kr_access *x = &a->x.all.at[p->access];
		uint32_t end = count_wrong(a, p, now) > 0 ? x->end : x->first;
		for (uint32_t j = x->first; j < end; j++)
			if (!kr_accesses_sees(a->ir, a->x.seen[j], (kr_version){now}))
				KR_TRY(note(a, a->x.seen[j]));
		if (p->wrote == KR_NONE)
			continue;
		if (i >= to)
			break;
		now = p->wrote;
	}
	return KR_OK;
}

static bool is_against(const struct walk *a, uint32_t pair)
{
	return a->place[a->pairs.at[pair].before] >= a->place[a->pairs.at[pair].after];
}

static uint32_t count_against(const struct walk *a, uint32_t t)
{
	uint32_t n = 0;
	for (uint32_t i = a->pair_first[t]; i < a->pair_first[t + 1]; i++)
		n += is_against(a, a->pairs_of[i]);
	return n;
}

/* ---- steps ---- */

/* Where the access at i comes to be when its transaction goes to a place of the order. */
static uint32_t target_of(const struct walk *a, uint32_t k, uint32_t i, uint32_t place)
{
	uint32_t j = i;
	if (place > a->placed[i].place)
		while (j + 1 < a->placed_first[k + 1] && a->placed[j + 1].place < place)
			j++;
	else
		while (j > a->placed_first[k] && a->placed[j - 1].place >= place)
			j--;
	return j;
}

/* By how much more is wrong when the access at i goes to j. */
static int change_of(struct walk *a, uint32_t k, uint32_t i, uint32_t j)
{
	const struct placed *x = &a->placed[i];
	bool later = i < j;
	uint32_t low = later ? i : j, high = later ? j : i, end = a->placed_first[k + 1];
	uint32_t was = newest(a, k, low), is = was;
	int more = later ? -pass(a, x, &was) : pass(a, x, &is);
	for (uint32_t at = low + later; at < high + later; at++)
		more += pass(a, &a->placed[at], &is) - pass(a, &a->placed[at], &was);
	more += later ? pass(a, x, &is) : -pass(a, x, &was);
	for (uint32_t at = high + 1; is != was && at < end; at++) {
		const struct placed *p = &a->placed[at];
		more += (int)count_wrong(a, p, is) - (int)count_wrong(a, p, was);
		if (p->wrote != KR_NONE)
			break;
	}
	a->passed += high - low;
	return more;
}

static bool accepts(struct walk *a, int more)
{
	return more <= 0 || (more < WORSE && kr_rng_u64(&a->rng) < a->chance[more]);
}

/* Moves what is at i of key k to j, and notes what may be wrong now. */
static enum kr_status move_access(struct walk *a, uint32_t k, uint32_t i, uint32_t j, uint32_t place)
{
	uint32_t low = i < j ? i : j, high = i < j ? j : i;
	KR_SHIFT(a->placed, i, j);
	a->placed[j].place = place;
	for (uint32_t at = low; at <= high; at++)
		a->at[a->placed[at].access] = at;
	return i != j ? note_all(a, k, low, high + 1) : KR_OK;
}

/* Moves a transaction, or leaves it. */
static enum kr_status move(struct walk *a, uint32_t t, uint32_t to)
{
	uint32_t from = a->place[t], first = a->x.first[t], end = a->x.first[t + 1];
	int more = -(int)count_against(a, t);
	for (uint32_t x = first; x < end; x++) {
		uint32_t k = a->x.all.at[x].key, j = target_of(a, k, a->at[x], to);
		a->target[x - first] = j;
		more += j != a->at[x] ? change_of(a, k, a->at[x], j) : 0;
	}
	a->place[t] = to;
	more += (int)count_against(a, t);
	if (!accepts(a, more)) {
		a->place[t] = from;
		return KR_OK;
	}
	a->cost = (uint32_t)((int)a->cost + more);
	for (uint32_t x = first; x < end; x++)
		KR_TRY(move_access(a, a->x.all.at[x].key, a->at[x], a->target[x - first], to));
	for (uint32_t i = a->pair_first[t]; i < a->pair_first[t + 1]; i++)
		if (is_against(a, a->pairs_of[i]))
			KR_TRY(note(a, a->asg->nobs + a->pairs_of[i]));
	return KR_OK;
}

/* A little away from there; near much more often than far. */
static uint32_t beside(struct walk *a, uint32_t place, bool behind)
{
	double way = pow(2 + 4.0 * a->asg->ntxns / FAR, kr_rng_double(&a->rng)) / 4 *
			(UINT32_MAX / (a->asg->ntxns + 1.0)) +
		1;
	double x = behind ? place + way : place - way;
	return x < 1 ? 1 : x > UINT32_MAX - 1.0 ? UINT32_MAX - 1 : (uint32_t)x;
}

/* Somewhere between two places, that are not in order or not apart: at the first. */
static uint32_t between(struct walk *a, uint32_t low, uint32_t high)
{
	return high <= low + 1 ? low : low + 1 + (uint32_t)kr_rng_below(&a->rng, high - low - 1);
}

static uint32_t access_of(const struct walk *a, uint32_t t, uint32_t k)
{
	uint32_t x = a->x.first[t];
	while (a->x.all.at[x].key != k)
		x++;
	return x;
}

/* One of the versions that the observation may have seen. */
static kr_version pick_source(struct walk *a, uint32_t o)
{
	kr_version v = a->ir->source[o], x;
	uint64_t n = 0;
	if (v.i != KR_NONE)
		return v;
	for (kr_candidates it = kr_asg_candidates(a->asg, (kr_obs){o}); kr_asg_next(a->asg, &it, &x);) {
		kr_txn t = a->asg->versions[x.i].writer;
		if ((t.i == KR_NONE || a->w->active[t.i]) && kr_rng_below(&a->rng, ++n) == 0)
			v = x;
	}
	return v;
}

/* A writer of the key between the two places of `placed`, neither of them; KR_NONE: there is none. */
static uint32_t pick_between(struct walk *a, uint32_t low, uint32_t high)
{
	if (high <= low + 1)
		return KR_NONE;
	uint32_t start = low + 1 + (uint32_t)kr_rng_below(&a->rng, high - low - 1);
	for (uint32_t i = start; i < high; i++)
		if (a->placed[i].wrote != KR_NONE)
			return i;
	for (uint32_t i = start; i-- > low + 1;)
		if (a->placed[i].wrote != KR_NONE)
			return i;
	return KR_NONE;
}

/* The observation o, whose transaction stands at `own` of its key, did not see what it may. */
static enum kr_status mend_sight(struct walk *a, uint32_t o, uint32_t own)
{
	uint32_t k = a->asg->obs[o].key.i, t = a->asg->obs[o].txn.i, first = a->placed_first[k];
	kr_version v = pick_source(a, o);
	if (v.i == KR_NONE)
		return KR_OK;
	uint32_t writer = a->asg->versions[v.i].writer.i, place = 0, at = first - 1; /* in front of all */
	if (writer != KR_NONE) {
		place = a->place[writer];
		at = a->at[access_of(a, writer, k)];
	}
	uint64_t what = kr_rng_below(&a->rng, 4);
	bool turned = writer != KR_NONE && at > own;
	uint32_t mine = a->place[t], low = turned ? own : at, high = turned ? at : own;
	uint32_t i = what < 2 ? pick_between(a, low, high) : KR_NONE;
	if (i != KR_NONE) {
		bool behind = writer == KR_NONE || kr_rng_below(&a->rng, 2);
		uint32_t end = behind ? (turned ? place : mine) : turned ? mine : place;
		return move(a, a->asg->versions[a->placed[i].wrote].writer.i, beside(a, end, behind));
	}
	if ((what & 1) || writer == KR_NONE) {
		uint32_t next = at + 1;
		while (next < a->placed_first[k + 1] && (next == own || a->placed[next].wrote == KR_NONE))
			next++;
		return move(a, t,
			next < a->placed_first[k + 1] ? between(a, place, a->placed[next].place)
						      : beside(a, place, true));
	}
	uint32_t last = own;
	while (last > first && (last == own || last == at || a->placed[last].wrote == KR_NONE))
		last--;
	bool any = last != own && last != at && a->placed[last].wrote != KR_NONE;
	return move(a, writer, any ? between(a, a->placed[last].place, mine) : beside(a, mine, false));
}

static void forget(struct walk *a, uint32_t i)
{
	uint32_t last = kr_vec_pop(&a->wrong), thing = i < a->wrong.n ? a->wrong.at[i] : last;
	a->wrong_at[thing] = 0;
	if (i < a->wrong.n) {
		a->wrong.at[i] = last;
		a->wrong_at[last] = i + 1;
	}
}

static enum kr_status step(struct walk *a)
{
	uint32_t i = (uint32_t)kr_rng_below(&a->rng, a->wrong.n), thing = a->wrong.at[i];
	if (thing >= a->asg->nobs) {
		uint32_t pair = thing - a->asg->nobs;
		struct pair p = a->pairs.at[pair];
		if (!is_against(a, pair))
			forget(a, i);
		else if (kr_rng_below(&a->rng, 2))
			return move(a, p.before, beside(a, a->place[p.after], false));
		else
			return move(a, p.after, beside(a, a->place[p.before], true));
		return KR_OK;
	}
	uint32_t k = a->asg->obs[thing].key.i, own = a->at[access_of(a, a->asg->obs[thing].txn.i, k)];
	uint32_t now = newest(a, k, own);
	if (!kr_accesses_sees(a->ir, thing, (kr_version){now}))
		return mend_sight(a, thing, own);
	forget(a, i);
	return KR_OK;
}

/* ---- life ---- */

/* What was asked for: edges that no dependency brings about. */
static enum kr_status index_pairs(struct walk *a)
{
	for (uint32_t i = 0; i < a->ir->edges.n; i++) {
		const struct kr_edge *e = &a->ir->edges.at[i];
		kr_node from = e->from, to = e->to;
		if (!(KR_BIT(e->kind) & KR_EDGES_ORDER) || from.i == to.i || !a->w->active[from.i] ||
			!a->w->active[to.i])
			continue;
		KR_TRY(kr_vec_add(&a->ir->ctx->mem, &a->pairs, (struct pair){from.i, to.i}));
		a->pair_first[from.i + 2]++;
		a->pair_first[to.i + 2]++;
	}
	kr_index_places(a->pair_first, a->asg->ntxns);
	KR_TRY(kr_arena_new(&a->arena, a->pairs_of, 2 * (size_t)a->pairs.n));
	for (uint32_t i = 0; i < a->pairs.n; i++) {
		a->pairs_of[a->pair_first[a->pairs.at[i].before + 1]++] = i;
		a->pairs_of[a->pair_first[a->pairs.at[i].after + 1]++] = i;
	}
	return KR_OK;
}

static uint32_t want_of(const struct walk *a, uint32_t access)
{
	const struct kr_access *x = &a->x.all.at[access];
	uint32_t want = x->first < x->end ? a->ir->source[a->x.seen[x->first]].i : NOTHING;
	return x->end - x->first > 1 || (x->first < x->end && want == KR_NONE) ? SEVERAL : want;
}

/* All accesses as the transactions are sorted, and how much is wrong with them. */
static void place_all(struct walk *a)
{
	const struct kr_asg *asg = a->asg;
	uint32_t gap = UINT32_MAX / (asg->ntxns + 1);
	memset(a->placed_first, 0, ((size_t)asg->nkeys + 2) * sizeof *a->placed_first);
	for (uint32_t x = 0; x < a->x.all.n; x++)
		a->placed_first[a->x.all.at[x].key + 2]++;
	kr_index_places(a->placed_first, asg->nkeys);
	for (uint32_t i = 0; i < asg->ntxns; i++) {
		uint32_t t = a->sorted[i];
		a->place[t] = (i + 1) * gap;
		for (uint32_t x = a->x.first[t]; x < a->x.first[t + 1]; x++) {
			a->at[x] = a->placed_first[a->x.all.at[x].key + 1]++;
			a->placed[a->at[x]] =
				(struct placed){a->place[t], x, a->x.all.at[x].wrote.i, want_of(a, x)};
		}
	}
	a->cost = 0;
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		uint32_t now = kr_asg_initial(asg, (kr_key){k}).i;
		for (uint32_t i = a->placed_first[k]; i < a->placed_first[k + 1]; i++)
			a->cost += (uint32_t)pass(a, &a->placed[i], &now);
	}
	for (uint32_t i = 0; i < a->pairs.n; i++)
		a->cost += is_against(a, i);
}

static enum kr_status note_everything(struct walk *a)
{
	for (uint32_t k = 0; k < a->asg->nkeys; k++)
		KR_TRY(note_all(a, k, a->placed_first[k], a->placed_first[k + 1]));
	for (uint32_t i = 0; i < a->pairs.n; i++)
		if (is_against(a, i))
			KR_TRY(note(a, a->asg->nobs + i));
	return KR_OK;
}

static enum kr_status begin(struct walk *a)
{
	const struct kr_asg *asg = a->asg;
	KR_TRY(kr_arena_new(&a->arena, a->place, asg->ntxns));
	KR_TRY(kr_arena_new(&a->arena, a->guess, asg->ntxns));
	KR_TRY(kr_arena_new(&a->arena, a->sorted, asg->ntxns));
	KR_TRY(kr_arena_new(&a->arena, a->scratch, asg->ntxns));
	KR_TRY(kr_arena_new(&a->arena, a->placed_first, (size_t)asg->nkeys + 2));
	KR_TRY(kr_arena_new(&a->arena, a->target, asg->nkeys));
	KR_TRY(kr_arena_new(&a->arena, a->pair_first, (size_t)asg->ntxns + 2));
	KR_TRY(kr_accesses_init(&a->x, a->w));
	KR_TRY(index_pairs(a));
	KR_TRY(kr_arena_new(&a->arena, a->wrong_at, (size_t)asg->nobs + a->pairs.n));
	KR_TRY(kr_arena_new(&a->arena, a->placed, a->x.all.n));
	KR_TRY(kr_arena_new(&a->arena, a->at, a->x.all.n));
	kr_rng_init(&a->rng, 1);
	return KR_OK;
}

static void end(struct walk *a)
{
	struct kr_mem *mem = &a->ir->ctx->mem;
	kr_arena_done(&a->arena);
	kr_accesses_done(&a->x);
	kr_vec_done(mem, &a->pairs);
	kr_vec_done(mem, &a->wrong);
}

static int by_place(const void *data, uint32_t x, uint32_t y)
{
	const double *place = data;
	return KR_ORDER(place[x], place[y]);
}

/* The transactions by place. */
static void line_up(struct walk *a, const double *place)
{
	for (uint32_t i = 0; i < a->asg->ntxns; i++)
		a->sorted[i] = i;
	kr_sort_ids(a->sorted, a->scratch, a->asg->ntxns, by_place, place);
	place_all(a);
}

/* The places of a guess; KR_GUESSES: by springs. */
static enum kr_status guess(struct walk *a, enum kr_guess by)
{
	uint32_t n = a->asg->ntxns, *rank;
	bool possible = true;
	if (by == KR_GUESSES)
		return kr_seriate(a->ir, a->guess);
	KR_TRY(kr_arena_new(&a->arena, rank, a->ir->nnodes));
	KR_TRY(kr_prefer(a->ir, by, rank, &possible));
	for (uint32_t t = 0; t < n; t++)
		a->guess[t] = rank[t];
	return KR_OK;
}

/* Lines up by the guess with which the least is wrong. *found: nothing is. */
static enum kr_status start(struct walk *a, bool *found)
{
	static const enum kr_guess GUESSES[] = {KR_GUESS_PROGRESS, KR_GUESS_TRACE, KR_GUESSES};
	double *best;
	KR_TRY(kr_arena_new(&a->arena, best, a->asg->ntxns));
	a->best = UINT32_MAX;
	for (size_t i = 0; i < KR_COUNT(GUESSES) && a->best > a->asg->nobs / FEW; i++) {
		KR_TRY(guess(a, GUESSES[i]));
		line_up(a, a->guess);
		if (a->cost >= a->best)
			continue;
		a->best = a->cost;
		memcpy(best, a->guess, a->asg->ntxns * sizeof *best);
	}
	*found = a->best == 0;
	line_up(a, best);
	return note_everything(a);
}

/* Hot at the beginning of a period, cold at its end. */
static void set_temperature(struct walk *a)
{
	const struct kr_asg *asg = a->asg;
	uint64_t part = a->steps * PARTS / ((uint64_t)PERIOD_EACH * asg->ntxns + 1);
	if (part == a->part)
		return;
	a->part = part;
	for (int more = 1; more < WORSE; more++)
		a->chance[more] =
			(uint64_t)(exp(-more / (HOT + (COLD - HOT) * (double)(part % PARTS) / PARTS)) *
				0x1p64);
}

/* Nothing is wrong, unless two stand at one place. */
static enum kr_status settle(struct walk *a, bool *found)
{
	for (uint32_t t = 0; t < a->asg->ntxns; t++)
		a->guess[t] = a->place[t];
	line_up(a, a->guess);
	*found = a->cost == 0;
	return *found ? KR_OK : note_everything(a);
}

enum kr_status kr_walk(struct kr_candidate *w, bool *found)
{
	struct walk a = {.arena = {.mem = &w->ir->ctx->mem},
		.w = w,
		.ir = w->ir,
		.asg = w->ir->asg,
		.part = UINT64_MAX};
	uint64_t most = (uint64_t)STALL_EACH * w->ir->asg->ntxns;
	*found = false;
	enum kr_status status = begin(&a);
	if (!status)
		status = start(&a, found);
	while (!*found && a.wrong.n > 0 && a.steps - a.best_at < most && a.passed < PASSED_MOST && !status) {
		set_temperature(&a);
		a.steps++;
		status = step(&a);
		if (a.cost < a.best) {
			a.best = a.cost;
			a.best_at = a.steps;
		}
		if (!status)
			status = a.cost > 0 ? kr_ctx_tick(w->ir->ctx) : settle(&a, found);
	}
	for (uint32_t i = 0; i < a.asg->ntxns && *found; i++)
		w->order[i].i = a.sorted[i];
	end(&a);
	return status;
}
