/* From choices to graphs (world.h). Edges of choices: ww for each ordered pair, wr for each source, rw from
 * every observer of the earlier version of a pair. Edges of a whole order: per key its active writers in that
 * order, ww between neighbours, rw to the next version; what known edges imply already is left out. A round
 * costs O(edges + versions log versions). */
#include "backend/world.h"
#include "backend/backtrack.h"
#include "backend/cuts.h"
#include "backend/prefer.h"

#include <string.h>

#include "base/order.h"
#include "ir/clock.h"
#include "ir/units.h"

enum {
	NODES_PER_BREAK = 1024
}; /* a first guess that the scheduler has to break no more often is good enough */

enum kr_status kr_candidate_init(struct kr_candidate *w, struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	*w = (struct kr_candidate){.arena = {.mem = &ir->ctx->mem}, .ir = ir};
	KR_TRY(kr_arena_new(&w->arena, w->active, asg->ntxns));
	KR_TRY(kr_arena_new(&w->arena, w->activated_by, asg->ntxns));
	KR_TRY(kr_arena_new(&w->arena, w->source, asg->nobs));
	KR_TRY(kr_arena_new(&w->arena, w->order, ir->nnodes));
	KR_TRY(kr_arena_new(&w->arena, w->place, ir->nnodes));
	KR_TRY(kr_arena_new(&w->arena, w->reader_head, asg->nversions));
	KR_TRY(kr_arena_new(&w->arena, w->reader_next, asg->nobs));
	KR_TRY(kr_arena_new(&w->arena, w->sorted, asg->nversions));
	KR_TRY(kr_arena_new(&w->arena, w->ordered, asg->ntxns));
	KR_TRY(kr_overlay_init(&w->chosen, ir, w->ordered));
	KR_TRY(kr_overlay_init(&w->whole, ir, w->ordered));
	w->chosen.prefer = w->place;
	return kr_told_init(&w->given, &ir->ctx->mem, asg);
}

void kr_candidate_done(struct kr_candidate *w)
{
	struct kr_mem *mem = &w->ir->ctx->mem;
	kr_arena_done(&w->arena);
	kr_vec_done(mem, &w->others);
	kr_told_done(&w->given);
	kr_vec_done(mem, &w->later);
	kr_vec_done(mem, &w->guards);
	kr_vec_done(mem, &w->guarded);
	if (w->chosen.ir)
		kr_overlay_done(&w->chosen);
	if (w->whole.ir)
		kr_overlay_done(&w->whole);
}

static kr_txn writer(const struct kr_candidate *w, kr_version v) { return kr_candidate_writer(w, v); }

static bool known_before(const struct kr_candidate *w, kr_node a, kr_node b)
{
	return w->ir->clock && kr_clock_reaches(w->ir->clock, a, b);
}

/* Is a path of known edges as good as an edge? Not where a further pattern counts some kinds only, or
 * edges. */
static bool paths_count(const struct kr_level *level)
{
	for (int i = 1; i < KR_PATTERNS_MOST && level->forbidden[i].allowed; i++)
		if (level->forbidden[i].longest != 0 ||
			(level->forbidden[0].allowed & ~level->forbidden[i].allowed) != 0)
			return false;
	return true;
}

/* Links that are no edges of the graph that is to be acyclic are kept aside, those of kinds that no pattern
 * has are none. */
static enum kr_status add_link(struct kr_candidate *w, struct kr_overlay *o, struct kr_link link)
{
	const struct kr_level *level = w->ir->level;
	if (!(kr_level_kinds(level) & KR_BIT(link.kind)))
		return KR_OK;
	if (!kr_level_orders(level, link.kind) || !w->ordered[link.from.i] || !w->ordered[link.to.i]) {
		if (o != &w->whole)
			return KR_OK;
		return kr_vec_add(&w->ir->ctx->mem, &w->others, link);
	}
	if (paths_count(level) &&
		known_before(w, kr_ir_out(w->ir, link.kind, link.from), kr_ir_in(w->ir, link.kind, link.to)))
		return KR_OK;
	return kr_overlay_add(o, link);
}

static enum kr_status add_ww(struct kr_candidate *w, struct kr_overlay *o, kr_version a, kr_version b)
{
	struct kr_link link = {KR_WW, writer(w, a), writer(w, b), {KR_NONE}, {KR_NONE},
		w->ir->asg->versions[a.i].key, KR_NONE};
	return add_link(w, o, link);
}

static enum kr_status add_wr(struct kr_candidate *w, struct kr_overlay *o, uint32_t obs)
{
	kr_version seen = w->source[obs];
	const struct kr_observation *x = &w->ir->asg->obs[obs];
	if (kr_asg_is_initial(w->ir->asg, seen))
		return KR_OK;
	struct kr_link link = {KR_WR, writer(w, seen), x->txn, {obs}, seen, x->key, KR_NONE};
	return add_link(w, o, link);
}

static enum kr_status add_rw(struct kr_candidate *w, struct kr_overlay *o, uint32_t obs, kr_version later)
{
	const struct kr_observation *x = &w->ir->asg->obs[obs];
	struct kr_link link = {KR_RW, x->txn, writer(w, later), {obs}, w->source[obs], x->key, KR_NONE};
	return add_link(w, o, link);
}

/* Does the observation care about being overwritten by this version? */
static bool is_overwritten_by(const struct kr_candidate *w, uint32_t obs, kr_version v)
{
	return kr_ir_overwrites(w->ir, (kr_obs){obs}, v);
}

/* ---- activity and sources ---- */

static void index_readers(struct kr_candidate *w)
{
	const struct kr_asg *asg = w->ir->asg;
	memset(w->reader_head, 0xff, (size_t)asg->nversions * sizeof *w->reader_head);
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_version seen = w->source[o];
		w->reader_next[o] = KR_NONE;
		if (seen.i == KR_NONE || !w->active[asg->obs[o].txn.i])
			continue;
		w->reader_next[o] = w->reader_head[seen.i];
		w->reader_head[seen.i] = o;
	}
}

static bool has_active_candidate(const struct kr_candidate *w, uint32_t o)
{
	kr_version v;
	for (kr_candidates it = kr_asg_candidates(w->ir->asg, (kr_obs){o});
		kr_asg_next(w->ir->asg, &it, &v);) {
		kr_txn t = writer(w, v);
		if (t.i == KR_NONE || w->active[t.i])
			return true;
	}
	return false;
}

/* An active observation that only open transactions can have served: takes the first of them. */
static bool activate_one(struct kr_candidate *w, uint32_t o)
{
	kr_version v;
	for (kr_candidates it = kr_asg_candidates(w->ir->asg, (kr_obs){o});
		kr_asg_next(w->ir->asg, &it, &v);) {
		kr_txn t = writer(w, v);
		if (w->ir->presence[t.i] != KR_OPEN)
			continue;
		w->active[t.i] = 1;
		w->activated_by[t.i].i = o;
		w->source[o] = v;
		return true;
	}
	return false;
}

/* Makes every active observation servable; ends because activity only grows. */
static enum kr_status activate_needed(struct kr_candidate *w)
{
	const struct kr_asg *asg = w->ir->asg;
	for (bool again = true; again;) {
		again = false;
		for (uint32_t o = 0; o < asg->nobs; o++) {
			kr_version seen = w->source[o];
			KR_TRY(kr_ctx_tick(w->ir->ctx));
			if (!w->active[asg->obs[o].txn.i])
				continue;
			if (seen.i != KR_NONE && writer(w, seen).i != KR_NONE &&
				!w->active[writer(w, seen).i]) {
				w->active[writer(w, seen).i] = 1;
				w->activated_by[writer(w, seen).i].i = o;
				again = true;
			} else if (seen.i == KR_NONE && !has_active_candidate(w, o)) {
				again |= activate_one(w, o);
			}
		}
	}
	return KR_OK;
}

/* *open: some transaction may take effect or not. */
static void take_sources(struct kr_candidate *w, const struct kr_choices *c, bool *open)
{
	const struct kr_ir *ir = w->ir;
	*open = false;
	for (uint32_t t = 0; t < ir->asg->ntxns; t++) {
		w->active[t] = ir->presence[t] == KR_PRESENT;
		*open |= ir->presence[t] == KR_OPEN;
	}
	memcpy(w->source, ir->source, (size_t)ir->asg->nobs * sizeof *w->source);
	for (uint32_t i = 0; i < c->all.n; i++) {
		const struct kr_choice *x = &c->all.at[i];
		if (x->obs.i != KR_NONE && x->value != x->flipped)
			w->source[x->obs.i] = x->a;
	}
}

/* ---- edges of choices ---- */

/* Notes on whom the order of two versions rests, right after kr_told_after for the earlier one. */
static enum kr_status note_guards(struct kr_candidate *w, kr_version before, kr_version after)
{
	uint32_t first = w->guards.n;
	enum kr_status status = kr_told_guards_of(&w->given, before, after, &w->guards);
	if (status || w->guards.n == first)
		return status;
	return kr_vec_add(&w->ir->ctx->mem, &w->guarded,
		(struct kr_guarded){before, after, first, w->guards.n - first});
}

/* Given orders of active transactions: passes link only those that are certainly present. */
static enum kr_status add_given(struct kr_candidate *w, struct kr_overlay *o)
{
	const struct kr_asg *asg = w->ir->asg;
	kr_vec_clear(&w->guards);
	kr_vec_clear(&w->guarded);
	for (uint32_t v = 0; v < asg->nversions && w->given.first; v++) {
		kr_txn t = asg->versions[v].writer;
		if (t.i == KR_NONE || !w->active[t.i])
			continue;
		kr_vec_clear(&w->later);
		KR_TRY(kr_ctx_tick(w->ir->ctx));
		KR_TRY(kr_told_after(&w->given, (kr_version){v}, w->active, &w->later));
		for (uint32_t i = 0; i < w->later.n; i++) {
			KR_TRY(note_guards(w, (kr_version){v}, w->later.at[i]));
			KR_TRY(add_ww(w, o, (kr_version){v}, w->later.at[i]));
		}
	}
	return KR_OK;
}

static enum kr_status add_rw_from_readers(struct kr_candidate *w, kr_version a, kr_version b)
{
	for (uint32_t o = w->reader_head[a.i]; o != KR_NONE; o = w->reader_next[o]) {
		if (is_overwritten_by(w, o, b))
			KR_TRY(add_rw(w, &w->chosen, o, b));
	}
	return KR_OK;
}

/* The unit that begins with a comes before the one that begins with b, on every key on which that is one
 * choice. */
static enum kr_status add_order_choice(struct kr_candidate *w, kr_version a, kr_version b)
{
	const struct kr_ir *ir = w->ir;
	bool alone = kr_unit_first(ir, a).i == kr_unit_first(ir, b).i; /* versions of one unit */
	kr_version last = alone ? a : kr_unit_last(ir, a);
	if (!w->active[writer(w, last).i] || !w->active[writer(w, b).i])
		return KR_OK;
	KR_TRY(add_ww(w, &w->chosen, last, b));
	do {
		last = alone ? a : kr_unit_last(ir, a);
		KR_TRY(add_rw_from_readers(w, last, b));
	} while (kr_units_next(ir, &a, &b));
	return KR_OK;
}

enum kr_status kr_candidate_choose(struct kr_candidate *w, const struct kr_choices *c)
{
	const struct kr_asg *asg = w->ir->asg;
	bool open;
	take_sources(w, c, &open);
	KR_TRY(open ? activate_needed(w) : KR_OK);
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		bool takes_part = kr_level_asks(w->ir->level) != KR_ASK_READERS ||
			asg->written_first[t] < asg->written_first[t + 1];
		w->ordered[t] = w->active[t] && takes_part;
	}
	if (c->all.n > 0)
		index_readers(w); /* for the edges of choices */
	kr_overlay_clear(&w->chosen);
	KR_TRY(add_given(w, &w->chosen));
	for (uint32_t o = 0; o < asg->nobs; o++) {
		if (w->source[o].i == KR_NONE || w->ir->source[o].i != KR_NONE ||
			!w->active[asg->obs[o].txn.i])
			continue;
		KR_TRY(add_wr(w, &w->chosen, o));
	}
	for (uint32_t i = 0; i < c->all.n; i++) {
		const struct kr_choice *x = &c->all.at[i];
		bool low_first = x->value == x->flipped;
		if (x->obs.i == KR_NONE && x->txn.i == KR_NONE && !x->outdone &&
			/* a version before itself: that told orders go in a circle, behind one that does not
			 * exist */
			x->a.i != x->b.i)
			KR_TRY(low_first ? add_order_choice(w, x->a, x->b) : add_order_choice(w, x->b, x->a));
		KR_TRY(kr_ctx_tick(w->ir->ctx));
	}
	return kr_overlay_sort(&w->chosen);
}

/* ---- edges of a whole order ---- */

struct placed {
	uint32_t place, version;
};

KR_BY(by_place, struct placed, place);

/* The active versions of key k after the initial one, in the order of the schedule, into w->sorted. */
static uint32_t sort_versions(struct kr_candidate *w, uint32_t k, struct placed *scratch)
{
	const struct kr_asg *asg = w->ir->asg;
	uint32_t n = 0;
	for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first; v++) {
		if (w->active[asg->versions[v].writer.i])
			scratch[n++] = (struct placed){kr_candidate_place(w, (kr_version){v}), v};
	}
	KR_SORT(scratch, n, by_place);
	for (uint32_t i = 0; i < n; i++)
		w->sorted[i].i = scratch[i].version;
	return n;
}

/* rw from every observer of `seen` to the first version from `next` on that overwrites what it saw. */
static enum kr_status add_rw_to_next(struct kr_candidate *w, kr_version seen, uint32_t next, uint32_t n)
{
	for (uint32_t o = w->reader_head[seen.i]; o != KR_NONE; o = w->reader_next[o]) {
		uint32_t i = next;
		if (!kr_pattern_counts(&w->ir->level->forbidden[0], w->ir->asg->obs[o].predicate, false))
			continue;
		while (i < n && w->ir->asg->obs[o].predicate &&
			kr_asg_in_set(w->ir->asg, w->ir->asg->obs[o].set, w->sorted[i]))
			i++;
		if (i < n && writer(w, w->sorted[i]).i == w->ir->asg->obs[o].txn.i)
			continue; /* its own version: ww goes on from there */
		if (i < n)
			KR_TRY(add_rw(w, &w->whole, o, w->sorted[i]));
	}
	return KR_OK;
}

static enum kr_status add_key(struct kr_candidate *w, uint32_t k, struct placed *scratch)
{
	uint32_t n = sort_versions(w, k, scratch);
	KR_TRY(add_rw_to_next(w, kr_asg_initial(w->ir->asg, (kr_key){k}), 0, n));
	for (uint32_t i = 0; i < n; i++) {
		if (i + 1 < n)
			KR_TRY(add_ww(w, &w->whole, w->sorted[i], w->sorted[i + 1]));
		KR_TRY(add_rw_to_next(w, w->sorted[i], i + 1, n));
		KR_TRY(kr_ctx_tick(w->ir->ctx));
	}
	return KR_OK;
}

static enum kr_status add_order(struct kr_candidate *w)
{
	const struct kr_asg *asg = w->ir->asg;
	struct placed *scratch = kr_mem_alloc(&w->ir->ctx->mem, asg->nversions, sizeof *scratch);
	enum kr_status status = scratch ? KR_OK : KR_NOMEM;
	kr_overlay_clear(&w->whole);
	kr_vec_clear(&w->others);
	index_readers(w);
	if (!status)
		status = add_given(w, &w->whole);
	for (uint32_t o = 0; o < asg->nobs && !status; o++) {
		if (w->active[asg->obs[o].txn.i] && w->ir->source[o].i == KR_NONE)
			status = add_wr(w, &w->whole, o);
	}
	for (uint32_t k = 0; k < asg->nkeys && !status; k++)
		status = add_key(w, k, scratch);
	kr_mem_free(&w->ir->ctx->mem, scratch, asg->nversions, sizeof *scratch);
	return status;
}

enum kr_status kr_candidate_schedule(struct kr_candidate *w)
{
	struct kr_schedule run = {.overlay = &w->chosen,
		.source = w->source,
		.order = w->order,
		.strict = w->strict};
	enum kr_status status = kr_schedule_run(&run);
	w->forced = run.forced;
	for (uint32_t i = 0; i < w->ir->nnodes && !status && !(w->strict && w->forced > 0); i++)
		w->place[w->order[i].i] = i;
	return status;
}

enum kr_status kr_candidate_along(struct kr_candidate *w, const struct kr_choices *c)
{
	bool possible;
	KR_TRY(kr_prefer(w->ir, KR_GUESS_DEPTH, w->place, &possible));
	KR_TRY(kr_candidate_choose(w, c));
	memcpy(w->order, w->chosen.order, w->ir->nnodes * sizeof *w->order);
	return KR_OK;
}

/* Along the guess, going back where it leads nowhere. */
static enum kr_status go_back(struct kr_candidate *w, enum kr_guess guess, const struct kr_choices *none,
	uint32_t *forced)
{
	bool possible;
	KR_TRY(kr_prefer(w->ir, guess, w->place, &possible));
	KR_TRY(kr_candidate_choose(w, none));
	struct kr_schedule run = {.overlay = &w->chosen, .source = w->source, .order = w->order};
	KR_TRY(kr_backtrack(&run));
	if (run.forced > 0)
		return KR_OK;
	w->forced = *forced = 0;
	for (uint32_t i = 0; i < w->ir->nnodes; i++)
		w->place[w->order[i].i] = i;
	return KR_OK;
}

enum kr_status kr_candidate_begin(struct kr_candidate *w, const struct kr_choices *none)
{
	uint32_t best = UINT32_MAX, few = w->strict ? 0 : w->ir->nnodes / NODES_PER_BREAK;
	enum kr_guess best_guess = KR_GUESS_TRACE;
	bool possible, last = false; /* the best one was made last */
	enum kr_status status = KR_OK;
	/* what is broken seldom is mended sooner than another guess is tried */
	for (enum kr_guess guess = 0; guess < KR_GUESSES && best > few && !status; guess++) {
		if (guess == KR_GUESS_DEPTH && best <= w->ir->nnodes / KR_NODES_PER_BREAK)
			break;
		status = kr_prefer(w->ir, guess, w->place, &possible);
		if (status || !possible)
			continue;
		status = kr_candidate_choose(w, none);
		if (status || w->chosen.norder < w->ir->nnodes)
			break; /* known edges alone are cyclic, or told orders: any guess will do */
		status = kr_candidate_schedule(w);
		w->along = guess == KR_GUESS_DEPTH && w->forced <= best + best / 8;
		last = !status && w->forced < best;
		if (last) {
			best = w->forced;
			best_guess = guess;
		}
	}
	if (!status && best > 0 && best < UINT32_MAX && kr_backtrack_applies(w->ir))
		status = go_back(w, best_guess, none, &best);
	w->served = !status && best == 0 && kr_candidate_is_proved(w);
	w->scheduled = !status && w->keeps && last && !w->along && !kr_backtrack_applies(w->ir);
	return status || w->served || w->strict || w->scheduled
		? status
		: kr_prefer(w->ir, best_guess, w->place, &possible);
}

/* What t would rather see: the newest version; of those in front of it, if it is part of the order. */
static bool is_better(const struct kr_candidate *w, kr_txn t, kr_version v, kr_version than)
{
	uint32_t own = w->ordered[t.i] ? w->place[kr_ir_in(w->ir, KR_WR, t).i] : UINT32_MAX;
	if (than.i == KR_NONE)
		return true;
	if (kr_candidate_place_of(w, v) > own || kr_candidate_place_of(w, than) > own)
		return kr_candidate_place_of(w, v) < kr_candidate_place_of(w, than);
	return kr_candidate_place_of(w, v) > kr_candidate_place_of(w, than);
}

static bool exists(const struct kr_candidate *w, kr_version v)
{
	return kr_asg_is_initial(w->ir->asg, v) || w->active[writer(w, v).i];
}

/* Observations without a source see what they may and would rather see: those of transactions that are no
 * part of the order, or of all. */
static void settle_free(struct kr_candidate *w, bool all)
{
	const struct kr_asg *asg = w->ir->asg;
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_txn t = asg->obs[o].txn;
		kr_version v, best = {KR_NONE};
		if (!w->active[t.i] || (w->ordered[t.i] && !all) || w->source[o].i != KR_NONE)
			continue;
		for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v);) {
			if (exists(w, v) && is_better(w, t, v, best) &&
				!kr_ir_impossible(w->ir, (kr_obs){o}, v))
				best = v;
		}
		for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o});
			best.i == KR_NONE && kr_asg_next(asg, &it, &v);) {
			if (exists(w, v))
				best = v;
		}
		w->source[o] = best;
	}
}

enum kr_status kr_candidate_follow(struct kr_candidate *w)
{
	for (uint32_t i = 0; i < w->ir->nnodes; i++)
		w->place[w->chosen.order[i].i] = i;
	enum kr_status status = kr_cuts_apply(w->ir) ? kr_cuts_settle(w) : KR_OK;
	settle_free(w, true);
	if (!status)
		status = add_order(w);
	w->whole.place = w->place;
	return status ? status : kr_overlay_sort(&w->whole);
}

enum kr_status kr_candidate_complete(struct kr_candidate *w)
{
	bool all = kr_level_asks(w->ir->level) != KR_ASK_READERS;
	if (kr_cuts_apply(w->ir)) {
		w->forced = 1; /* nobody was asked */
		return kr_candidate_follow(w);
	}
	enum kr_status status = kr_candidate_schedule(w);
	if (status || (w->forced == 0 && all))
		return status;
	if (!all)
		settle_free(w, false);
	status = add_order(w);
	w->whole.place = w->place;
	return status ? status : kr_overlay_sort(&w->whole);
}

enum kr_status kr_candidate_ground(struct kr_candidate *w, struct kr_choices *c, kr_txn t)
{
	/* observers became active earlier: this ends */
	while (w->ir->presence[t.i] == KR_OPEN && w->active[t.i]) {
		kr_obs o = w->activated_by[t.i];
		kr_lit l;
		KR_TRY(kr_choices_source(c, o, w->source[o.i], &l));
		t = w->ir->asg->obs[o.i].txn;
	}
	return KR_OK;
}

enum kr_status kr_candidate_answer(const struct kr_candidate *w, const kr_node *order, bool served,
	struct kr_answer *answer)
{
	const struct kr_level *level = w->ir->level;
	struct kr_mem *mem = &w->ir->ctx->mem;
	bool serial = kr_level_asks(level) == KR_ASK_ACYCLIC && kr_level_orders_reads(level);
	answer->outcome = KR_SATISFIED;
	/* else there may be more in the trace than what was served */
	served = served && level->anomalies == KR_ANOMALIES_ALL;
	answer->form = level->model != KR_NODES_TXN ? KR_WORLD_SNAPSHOTS
		: served || serial                  ? KR_WORLD_SERIAL
						    : KR_WORLD_GRAPH;
	for (uint32_t i = 0; i < w->ir->nnodes; i++) {
		kr_txn t = kr_ir_txn(w->ir, order[i]);
		if (t.i != KR_NONE && w->active[t.i] && !kr_vec_push(mem, &answer->order, order[i]))
			return KR_NOMEM;
	}
	for (uint32_t o = 0; o < w->ir->asg->nobs && answer->form == KR_WORLD_GRAPH; o++) {
		bool active = w->active[w->ir->asg->obs[o].txn.i];
		KR_TRY(kr_vec_add(mem, &answer->sources, active ? w->source[o] : (kr_version){KR_NONE}));
	}
	return KR_OK;
}
