/* A total order of all nodes is a candidate world: each key's versions stand in it, and each observation saw
 * the newest before it. Where the order breaks an edge of that world, the choices that the edge rests on
 * become variables of a SAT solver, in that state of the order, and the solver's decisions go along with the
 * order where they can: most cost nothing. An edge of a choice that the order breaks repairs it (topology.h),
 * or closes a cycle, which is a clause; then the solver takes back what it has to. While conflicts are few
 * that is little, since all is decided from the order's start to its end. Where they are many, what was part
 * of one is decided first, and of what is taken back the rest only if the order breaks it: mostly it still
 * keeps it. When nothing is broken any more the order is a world.
 *
 * Ends: each look at a whole order finds a choice that is not decided, or is the last, and the solver ends.
 * Right: clauses are cycles that no world has, or facts of choices.h; the world is checked edge by edge, for
 * each key whose nodes have moved since the last look.
 *
 * Published idea: acyclicity as a theory (Bayless et al.: SAT modulo monotonic theories, AAAI 2015; Cai et
 * al.: VeriStrong, 2025), here of lazily made variables, with phases from the order. */
#include "backend/repair_state.h"

#include <string.h>

#include "base/bits.h"
#include "base/order.h"
#include "ir/clock.h"

/* When of so many conflicts fewer than one in so many was a new cycle, it is clauses alone that are hard. */
enum { WINDOW = 10000, CYCLES_LEAST = 100 };

/* Literals that follow from few decisions, but stand behind many others, are put into effect again whenever
 * one of these is taken back. When that has been done so often, and as many times to each, all is decided
 * anew: then they stand where they belong. */
enum { AGAIN_MOST = 4000 };

/* Fewer conflicts than one in so many variables are few. */
enum { CONFLICTS_FEW = 2 };

bool kr_repair_fits(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	if (kr_level_asks(ir->level) != KR_ASK_ACYCLIC || asg->nparts > 0 || asg->nsums > 0 || ir->units ||
		(asg->norders > 0 && !(ir->facts & KR_FACT_WW)))
		return false;
	for (uint32_t t = 0; t < asg->ntxns; t++)
		if (ir->presence[t] == KR_OPEN)
			return false;
	for (uint32_t o = 0; o < asg->nobs; o++)
		if (ir->source[o].i == KR_NONE && asg->keys[asg->obs[o].key.i].open_initial &&
			kr_ir_is_present(ir, asg->obs[o].txn))
			return false;
	return true;
}

/* ---- edges ---- */

/* Is it none that the level asks for, or known to hold? */
static bool is_idle(const struct kr_repair *r, struct kr_link link)
{
	return kr_clock_implies(r->ir, link.kind, link.from, link.to) ||
		!kr_level_orders(r->ir->level, link.kind);
}

/* An edge that choices bring about. *broken: it closes a cycle, which is a clause now. */
static enum kr_status add_edge(struct kr_repair *r, struct kr_link link, bool *broken)
{
	enum kr_status status = kr_topology_add(&r->order, link, &r->answer->proof, broken);
	if (!status && *broken)
		status = kr_choices_forbid(r->c, &r->answer->proof, r->answer->proof.cycles.n - 1);
	r->answer->clauses += *broken;
	return status;
}

static enum kr_status add_if_new(struct kr_repair *r, struct kr_link link, bool *broken)
{
	return is_idle(r, link) ? KR_OK : add_edge(r, link, broken);
}

static bool keep_edge(struct kr_repair *r, struct kr_link link)
{
	return is_idle(r, link) || kr_vec_push(&r->ir->ctx->mem, &r->edges, link);
}

/* Of versions that very many have read the edges are made anew each time: all could take gigabytes. */
enum { KEPT_MOST = 64 };

/* The edges of "a before b" that do not depend on other choices. They stay until the next ones are made. */
static enum kr_status order_edges(struct kr_repair *r, kr_lit l, kr_version a, kr_version b,
	struct kr_repair_edges *out)
{
	struct kr_mem *mem = &r->ir->ctx->mem;
	while (r->edges_of.n <= l.i)
		if (!kr_vec_push(mem, &r->edges_of, (struct kr_repair_edges){0}))
			return KR_NOMEM;
	*out = r->edges_of.at[l.i];
	if (out->made)
		return KR_OK;
	r->edges.n = out->first = r->kept;
	bool ok = keep_edge(r, kr_repair_ww(r, a, b));
	for (uint32_t o = r->known_head[a.i]; o != KR_NONE && ok; o = r->reader_next[o])
		if (kr_repair_overwrites(r, o, b))
			ok = keep_edge(r, kr_repair_rw(r, o, b));
	out->end = r->edges.n;
	if (!ok || out->end - out->first > KEPT_MOST)
		return ok ? KR_OK : KR_NOMEM;
	out->made = true;
	r->edges_of.at[l.i] = *out;
	r->kept = out->end;
	return KR_OK;
}

static enum kr_status choose_order(struct kr_repair *r, kr_lit l, kr_version a, kr_version b, bool *broken)
{
	struct kr_repair_edges edges;
	if (!kr_vec_push(&r->ir->ctx->mem, &r->laters, (struct kr_repair_later){a, b, r->later_head[a.i]}))
		return KR_NOMEM;
	r->later_head[a.i] = r->laters.n - 1;
	enum kr_status status = order_edges(r, l, a, b, &edges);
	for (uint32_t i = edges.first; i < edges.end && !status && !*broken; i++)
		status = add_edge(r, r->edges.at[i], broken);
	for (uint32_t o = r->reader_head[a.i]; o != r->known_head[a.i] && !status && !*broken;
		o = r->reader_next[o])
		if (kr_repair_overwrites(r, o, b))
			status = add_if_new(r, kr_repair_rw(r, o, b), broken);
	return status;
}

static void add_reader(struct kr_repair *r, uint32_t o, kr_version v)
{
	r->source[o] = v;
	r->reader_next[o] = r->reader_head[v.i];
	r->reader_head[v.i] = o;
}

/* A second candidate of an observation may be true, too, but one is enough. */
static enum kr_status choose_source(struct kr_repair *r, uint32_t o, kr_version v, bool *broken)
{
	const struct kr_observation *x = &r->asg->obs[o];
	struct kr_link wr = {KR_WR, kr_repair_writer(r, v), x->txn, {o}, v, x->key, KR_NONE};
	enum kr_status status = KR_OK;
	if (r->source[o].i != KR_NONE)
		return KR_OK;
	if (!kr_vec_push(&r->ir->ctx->mem, &r->reads, o))
		return KR_NOMEM;
	add_reader(r, o, v);
	if (!kr_asg_is_initial(r->asg, v))
		status = add_if_new(r, wr, broken);
	else
		for (uint32_t b = v.i + 1; b < r->asg->keys[x->key.i + 1].first && !status && !*broken; b++)
			if (kr_repair_active(r, kr_repair_writer(r, (kr_version){b})) &&
				kr_repair_overwrites(r, o, (kr_version){b}))
				status = add_if_new(r, kr_repair_rw(r, o, (kr_version){b}), broken);
	for (uint32_t i = r->later_head[v.i]; i != KR_NONE && !status && !*broken; i = r->laters.at[i].next)
		if (kr_repair_overwrites(r, o, r->laters.at[i].after))
			status = add_if_new(r, kr_repair_rw(r, o, r->laters.at[i].after), broken);
	return status;
}

/* Puts the literals that the solver has assigned into effect. */
static enum kr_status apply(struct kr_repair *r, bool *broken)
{
	enum kr_status status = KR_OK;
	*broken = false;
	while (r->marks.n < r->sat.trail.n && !*broken && !status) {
		kr_lit l = r->sat.trail.at[r->marks.n];
		const struct kr_choice x = r->c->all.at[l.i / 2];
		bool holds = x.flipped == (l.i & 1); /* saw a; or b before a */
		if (!kr_vec_push(&r->ir->ctx->mem, &r->marks,
			    (struct kr_repair_mark){r->order.arcs.n, r->reads.n, r->laters.n}))
			return KR_NOMEM;
		if (x.obs.i != KR_NONE && holds)
			status = choose_source(r, x.obs.i, x.a, broken);
		else if (x.obs.i == KR_NONE && x.a.i != x.b.i)
			status = holds ? choose_order(r, l, x.b, x.a, broken)
				       : choose_order(r, l, x.a, x.b, broken);
		r->sat.kept = r->marks.n;
		r->c->all.at[l.i / 2].value = !(l.i & 1);
	}
	return status;
}

/* Takes back what rests on literals that the solver has taken back. */
static void unapply(struct kr_repair *r)
{
	if (r->sat.kept >= r->marks.n)
		return;
	struct kr_repair_mark m = r->marks.at[r->sat.kept];
	r->again += r->sat.trail.n - r->sat.kept;
	r->marks.n = r->sat.kept;
	kr_topology_cut(&r->order, m.arcs);
	while (r->reads.n > m.reads) {
		uint32_t o = kr_vec_pop(&r->reads);
		r->reader_head[r->source[o].i] = r->reader_next[o];
		r->source[o].i = KR_NONE;
		kr_bits_set(r->dirty, r->asg->obs[o].key.i);
	}
	while (r->laters.n > m.laters) {
		struct kr_repair_later later = kr_vec_pop(&r->laters);
		r->later_head[later.before.i] = later.next;
	}
}

/* Tells the solver what clauses and facts there are by now. */
static enum kr_status tell_all(struct kr_repair *r, const struct kr_lits *from, uint32_t *told)
{
	enum kr_status status = KR_OK;
	while (*told < from->n && !status) {
		uint32_t end = *told;
		while (from->at[end].i != KR_NONE)
			end++;
		status = kr_learner_add(&r->sat, from->at + *told, end - *told);
		*told = end + 1;
	}
	return status;
}

static enum kr_status tell(struct kr_repair *r)
{
	enum kr_status status = kr_learner_grow(&r->sat, r->c->all.n);
	r->answer->choices = r->c->all.n;
	if (!status)
		status = tell_all(r, &r->c->clauses, &r->clauses);
	return status ? status : tell_all(r, &r->c->facts, &r->facts);
}

static void mark_moved(struct kr_repair *r)
{
	const struct kr_asg *asg = r->asg;
	for (uint32_t i = 0; i < r->order.moved.n; i++) {
		kr_txn t = kr_ir_txn(r->ir, (kr_node){r->order.moved.at[i]});
		if (t.i == KR_NONE)
			continue;
		for (uint32_t j = asg->written_first[t.i]; j < asg->written_first[t.i + 1]; j++)
			kr_bits_set(r->dirty, asg->versions[asg->written[j].i].key.i);
		for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++)
			kr_bits_set(r->dirty, asg->obs[o].key.i);
	}
	kr_vec_clear(&r->order.moved);
}

/* An edge that holds in any case: the solver's decisions are made anew behind it. */
static enum kr_status add_base(struct kr_repair *r, struct kr_link link, bool *broken)
{
	kr_learner_return(&r->sat, 0);
	unapply(r);
	if (r->marks.n == 0)
		return add_if_new(r, link, broken);
	r->sat.kept = 0; /* literals that hold in any case, too, are put into effect again behind it */
	unapply(r);
	return add_if_new(r, link, broken);
}

static int by_wanted_place(const void *a, const void *b)
{
	const struct kr_wanted *x = a, *y = b;
	return kr_then(KR_ORDER(x->place, y->place), KR_ORDER(x->before.i, y->before.i));
}

/* Where the order has the choice. */
static uint32_t place_of(const struct kr_repair *r, const struct kr_choice *x)
{
	if (x->obs.i != KR_NONE)
		return r->order.place[kr_ir_in(r->ir, KR_WR, r->asg->obs[x->obs.i].txn).i];
	if (x->a.i == x->b.i) /* about no versions */
		return 0;
	uint32_t a = kr_repair_write_place(r, x->a), b = kr_repair_write_place(r, x->b);
	return a > b ? a : b;
}

/* While conflicts are few all is decided in the order's own order, and as it was before where it was: what
 * has to do with each other is decided near each other then, and a conflict takes back little. Where they are
 * many what matters is decided first. */
static void line_up(struct kr_repair *r)
{
	bool few = r->sat.conflicts < r->sat.vars.n / CONFLICTS_FEW;
	if (!few && !r->sat.in_line)
		return;
	for (uint32_t v = 0; v < r->sat.vars.n && few; v++)
		r->sat.vars.at[v].place = place_of(r, &r->c->all.at[v]);
	kr_learner_line_up(&r->sat, few);
	r->settled = r->before;
	r->before = r->sat.vars.n;
}

static enum kr_status make(struct kr_repair *r, const struct kr_wanted *x, bool *broken)
{
	kr_lit l;
	if (x->source.i != KR_NONE)
		return kr_choices_source(r->c, x->source, (kr_version){KR_NONE}, &l);
	if (x->before.i != KR_NONE)
		return kr_choices_order(r->c, x->before, x->after, &l);
	return add_base(r, x->base, broken);
}

/* A literal of the observation that is open, or KR_NONE. */
static enum kr_status open_source(struct kr_repair *r, kr_obs o, kr_lit *out)
{
	kr_version v;
	out->i = KR_NONE;
	for (kr_candidates it = kr_asg_candidates(r->asg, o); kr_asg_next(r->asg, &it, &v);) {
		enum kr_status status = kr_choices_source(r->c, o, v, out);
		if (status || (out->i != KR_NONE && kr_learner_open(&r->sat, *out)))
			return status;
	}
	out->i = KR_NONE;
	return KR_OK;
}

/* One variable of what was found broken is to be decided. *any: there is one, or an edge that was added. */
static enum kr_status want(struct kr_repair *r, const struct kr_wanted *x, bool *any)
{
	kr_lit l = {KR_NONE};
	enum kr_status status = KR_OK;
	if (x->source.i != KR_NONE)
		status = open_source(r, x->source, &l);
	else if (x->before.i != KR_NONE)
		status = kr_choices_order(r->c, x->before, x->after, &l);
	else
		*any = true;
	if (status || l.i == KR_NONE || !kr_learner_open(&r->sat, l))
		return status;
	*any = true;
	kr_learner_want(&r->sat, l);
	return KR_OK;
}

/* What was found broken becomes variables, from the order's start on: then what is decided near each other is
 * so in the order, too, and a conflict takes back little. */
static enum kr_status ground(struct kr_repair *r)
{
	bool broken = false, any = false;
	uint32_t variables = r->c->all.n;
	enum kr_status status = KR_OK;
	KR_SORT(r->wanted.at, r->wanted.n, by_wanted_place);
	for (uint32_t i = 0; i < r->wanted.n && !status && !broken; i++) {
		status = make(r, &r->wanted.at[i], &broken);
		if (!status)
			status = kr_ctx_tick(r->ir->ctx);
	}
	if (!status)
		status = tell(r);
	if (!status && !r->sat.refuted)
		line_up(r);
	for (uint32_t i = 0; i < r->wanted.n && !status && !r->sat.refuted; i++)
		status = want(r, &r->wanted.at[i], &any);
	kr_vec_clear(&r->wanted);
	any |= r->sat.refuted || r->c->all.n > variables; /* a new one may follow from what the trace tells */
	return status || any ? status : KR_INTERNAL;
}

/* When all is decided that was to be: *done if the order is a world, else there are more of them now. */
static enum kr_status look(struct kr_repair *r, bool *done)
{
	enum kr_status status = KR_OK;
	mark_moved(r);
	kr_ctx_progress(r->ir->ctx, "solve", ++r->answer->rounds, 0);
	for (uint32_t w = 0; w < KR_BITS_WORDS(r->asg->nkeys) && !status; w++) {
		for (uint64_t bits = r->dirty[w]; bits && !status; bits &= bits - 1) {
			uint32_t before = r->wanted.n, k = w * 64 + (uint32_t)__builtin_ctzll(bits);
			status = kr_repair_look(r, k);
			if (r->wanted.n == before)
				kr_bits_clear(r->dirty, k);
		}
	}
	*done = r->wanted.n == 0;
	return status || *done ? status : ground(r);
}

/* ---- decisions ---- */

/* How many edges the order would break if a came before b; no more than two are counted. */
static enum kr_status count_broken(struct kr_repair *r, kr_lit l, kr_version a, kr_version b, uint32_t *n)
{
	struct kr_repair_edges edges;
	*n = 0;
	KR_TRY(order_edges(r, l, a, b, &edges));
	for (uint32_t i = edges.first; i < edges.end && *n < 2; i++)
		*n += !kr_topology_keeps(&r->order, &r->edges.at[i]);
	for (uint32_t o = r->reader_head[a.i]; o != r->known_head[a.i] && *n < 2; o = r->reader_next[o]) {
		struct kr_link link = kr_repair_rw(r, o, b);
		*n += !kr_topology_keeps(&r->order, &link) && kr_repair_overwrites(r, o, b);
	}
	return KR_OK;
}

/* The candidate that the observer would rather see: the newest in front of it; else the first behind it. */
static enum kr_status best_source(struct kr_repair *r, uint32_t o, kr_lit *out)
{
	kr_node in = kr_ir_in(r->ir, KR_WR, r->asg->obs[o].txn);
	uint32_t own = r->order.place[in.i], best = 0;
	bool any = false, best_in_front = false;
	kr_version v;
	for (kr_candidates it = kr_asg_candidates(r->asg, (kr_obs){o}); kr_asg_next(r->asg, &it, &v);) {
		kr_lit l;
		KR_TRY(kr_choices_source(r->c, (kr_obs){o}, v, &l));
		if (l.i == KR_NONE || !kr_learner_open(&r->sat, l))
			continue;
		uint32_t place = kr_asg_is_initial(r->asg, v) ? 0 : 1 + kr_repair_write_place(r, v);
		bool in_front = place <= own;
		if (!any || (in_front && (!best_in_front || place > best)) ||
			(!in_front && !best_in_front && place < best)) {
			*out = l;
			best = place;
			best_in_front = in_front;
		}
		any = true;
	}
	return KR_OK;
}

static enum kr_status decide(struct kr_repair *r, uint32_t var)
{
	const struct kr_choice *x = &r->c->all.at[var];
	kr_lit l = {2 * var + 1};
	enum kr_status status = KR_OK;
	if (r->sat.in_line && var < r->settled) { /* as it was, the order still keeps to it */
		l.i = 2 * var + !x->value;
		return kr_learner_decide(&r->sat, l);
	}
	if (x->obs.i != KR_NONE) {
		l.i = 2 * var + !x->flipped; /* did not see it */
		if (r->source[x->obs.i].i == KR_NONE)
			status = best_source(r, x->obs.i, &l);
	} else if (x->a.i != x->b.i) {
		uint32_t a_first, b_first;
		KR_TRY(count_broken(r, (kr_lit){2 * var + !x->flipped}, x->a, x->b, &a_first));
		KR_TRY(count_broken(r, (kr_lit){2 * var + x->flipped}, x->b, x->a, &b_first));
		bool first = a_first != b_first
			? a_first < b_first
			: kr_repair_write_place(r, x->a) < kr_repair_write_place(r, x->b);
		l.i = 2 * var + (first != x->flipped);
	}
	return status ? status : kr_learner_decide(&r->sat, l);
}

/* The last literal that was put into effect closes a cycle. */
static enum kr_status take_back(struct kr_repair *r)
{
	uint32_t before = r->marks.n;
	enum kr_status status = tell(r);
	unapply(r);
	return status || r->sat.refuted || r->marks.n < before ? status : KR_INTERNAL;
}

/* Are clauses alone what is hard? Asked once a window. */
static bool stalled(struct kr_repair *r)
{
	if (r->sat.conflicts - r->window_at < WINDOW)
		return false;
	bool few = r->answer->clauses - r->window_cycles < WINDOW / CYCLES_LEAST;
	r->window_at = r->sat.conflicts;
	r->window_cycles = r->answer->clauses;
	return few;
}

static enum kr_status step(struct kr_repair *r, bool *done)
{
	bool broken = false;
	enum kr_status status = kr_learner_propagate(&r->sat);
	unapply(r);
	if (r->again >
		AGAIN_MOST + AGAIN_MOST / 1000 * r->sat.trail.n) { /* literals find their places anew */
		r->again = 0;
		kr_learner_return(&r->sat, 0);
		unapply(r);
	}
	if (!status && !r->sat.refuted)
		status = apply(r, &broken);
	if (status || r->sat.refuted)
		return status;
	if (broken)
		return take_back(r);
	uint32_t var = kr_learner_pick(&r->sat);
	return var == KR_NONE ? look(r, done) : decide(r, var);
}

/* ---- life ---- */

static enum kr_status index_open(struct kr_repair *r)
{
	const struct kr_asg *asg = r->asg;
	KR_TRY(kr_arena_new(&r->arena, r->open_first, (size_t)asg->nkeys + 2));
	KR_TRY(kr_arena_new(&r->arena, r->open_obs, asg->nobs));
	for (uint32_t o = 0; o < asg->nobs; o++)
		r->open_first[asg->obs[o].key.i + 2] +=
			r->source[o].i == KR_NONE && kr_repair_active(r, asg->obs[o].txn);
	kr_index_places(r->open_first, asg->nkeys);
	for (uint32_t o = 0; o < asg->nobs; o++)
		if (r->source[o].i == KR_NONE && kr_repair_active(r, asg->obs[o].txn))
			r->open_obs[r->open_first[asg->obs[o].key.i + 1]++] = o;
	return KR_OK;
}

static enum kr_status begin(struct kr_repair *r)
{
	const struct kr_asg *asg = r->asg;
	size_t words = KR_BITS_WORDS(asg->nkeys);
	KR_TRY(kr_arena_new(&r->arena, r->source, asg->nobs));
	KR_TRY(kr_arena_new(&r->arena, r->reader_head, asg->nversions));
	KR_TRY(kr_arena_new(&r->arena, r->reader_next, asg->nobs));
	KR_TRY(kr_arena_new(&r->arena, r->later_head, asg->nversions));
	KR_TRY(kr_arena_new(&r->arena, r->known_head, asg->nversions));
	KR_TRY(kr_arena_new(&r->arena, r->sorted, asg->nversions));
	KR_TRY(kr_arena_new(&r->arena, r->dirty, words));
	memset(r->reader_head, 0xff, asg->nversions * sizeof *r->reader_head);
	memset(r->later_head, 0xff, asg->nversions * sizeof *r->later_head);
	for (uint32_t k = 0; k < asg->nkeys; k++)
		kr_bits_set(r->dirty, k);
	for (uint32_t o = 0; o < asg->nobs; o++) {
		r->source[o].i = KR_NONE;
		if (kr_repair_active(r, asg->obs[o].txn) && r->ir->source[o].i != KR_NONE)
			add_reader(r, o, r->ir->source[o]);
	}
	memcpy(r->known_head, r->reader_head, asg->nversions * sizeof *r->known_head);
	KR_TRY(index_open(r));
	return kr_topology_init(&r->order, r->ir, r->w->active, r->w->order);
}

static void end(struct kr_repair *r)
{
	struct kr_mem *mem = &r->ir->ctx->mem;
	kr_arena_done(&r->arena);
	kr_vec_done(mem, &r->marks);
	kr_vec_done(mem, &r->reads);
	kr_vec_done(mem, &r->laters);
	kr_vec_done(mem, &r->wanted);
	kr_vec_done(mem, &r->edges_of);
	kr_vec_done(mem, &r->edges);
	kr_learner_done(&r->sat);
	kr_topology_done(&r->order);
}

/* The order's sources, and the order itself. */
static enum kr_status answer(struct kr_repair *r)
{
	for (uint32_t k = 0; k < r->asg->nkeys; k++) {
		uint32_t n = r->open_first[k] < r->open_first[k + 1] ? kr_repair_sort(r, k) : 0;
		for (uint32_t i = r->open_first[k]; i < r->open_first[k + 1]; i++) {
			uint32_t o = r->open_obs[i], at = kr_repair_visible(r, o, n);
			if (r->source[o].i == KR_NONE)
				r->source[o] = at ? (kr_version){r->sorted[at - 1].version}
						  : kr_asg_initial(r->asg, (kr_key){k});
		}
	}
	memcpy(r->w->source, r->source, r->asg->nobs * sizeof *r->source);
	for (uint32_t i = 0; i < r->ir->nnodes; i++)
		r->w->order[i].i = r->order.at[i];
	return kr_candidate_answer(r->w, r->w->order, false, r->answer);
}

enum kr_status kr_repair(struct kr_candidate *w, struct kr_choices *c, uint64_t *conflicts,
	struct kr_answer *out, enum kr_outcome *outcome)
{
	struct kr_repair r = {.arena = {.mem = &w->ir->ctx->mem},
		.w = w,
		.ir = w->ir,
		.asg = w->ir->asg,
		.c = c,
		.answer = out};
	bool done = false;
	*outcome = KR_UNDECIDED;
	kr_learner_init(&r.sat, w->ir->ctx);
	enum kr_status status = begin(&r);
	if (!status)
		status = tell(&r);
	while (!status && !done && !r.sat.refuted && r.sat.conflicts < *conflicts && !stalled(&r)) {
		status = step(&r, &done);
		if (!status)
			status = kr_ctx_tick(w->ir->ctx);
	}
	*conflicts -= r.sat.conflicts < *conflicts ? r.sat.conflicts : *conflicts;
	if (!status && done)
		status = answer(&r);
	if (!status)
		*outcome = done ? KR_SATISFIED : r.sat.refuted ? KR_VIOLATED : KR_UNDECIDED;
	end(&r);
	return status;
}
