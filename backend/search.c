/* The search that back ends with Z3 share (search.h). Keeps a candidate world; looks for forbidden cycles in
 * it; the choices on those cycles become Boolean variables, if they are not yet, and each cycle a clause; Z3
 * answers; the world follows the answer, and what the answer leaves open is settled by a schedule, or is
 * settled by the order of what it does not leave open.
 *
 * Ends: every round adds a clause that the last answer violates. A world is an acyclic graph of known edges
 * and of one alternative per choice, so it proves the level; unsatisfiable clauses are cycles that no way of
 * choosing avoids, so they refute it. */
#include <stdio.h>

#include "backend/anneal.h"
#include "backend/refute.h"
#include "backend/repair.h"
#include "backend/search.h"
#include "backend/single.h"
#include "backend/solver_z3.h"
#include "backend/sorted.h"
#include "backend/walk.h"
#include "backend/world.h"
#include "ir/clock.h"
#include "ir/units.h"

/* Cycles that a round learns from: with few of them, many rounds are spent on the far ends of a large
 * history. */
static uint32_t most_cycles(const struct kr_ir *ir)
{
	enum { FEWEST = 512, NODES_PER_CYCLE = 8 };
	return ir->nnodes / NODES_PER_CYCLE > FEWEST ? ir->nnodes / NODES_PER_CYCLE : FEWEST;
}

struct search {
	struct kr_ir *ir;
	const struct kr_search_plan *plan;
	struct kr_answer *answer;
	struct kr_candidate world;
	struct kr_choices choices;
	struct kr_solver *sat;
	/* how many variables and literals of clauses there were when the solver was last asked */
	uint32_t told;
	int64_t began;
};

/* The presence of open transactions on the cycle becomes a choice, too. */
static enum kr_status ground_cycle(struct search *s, struct kr_cycle cycle)
{
	for (uint32_t i = 0; i < cycle.count; i++)
		KR_TRY(kr_candidate_ground(&s->world, &s->choices,
			s->answer->proof.links.at[cycle.first + i].from));
	return KR_OK;
}

/* Every cycle appended since `first` becomes a clause. */
static enum kr_status forbid_cycles(struct search *s, uint32_t first)
{
	const struct kr_proof *proof = &s->answer->proof;
	for (uint32_t i = first; i < proof->cycles.n; i++) {
		KR_TRY(kr_ctx_tick(s->ir->ctx));
		KR_TRY(kr_choices_forbid(&s->choices, proof, i));
		KR_TRY(ground_cycle(s, proof->cycles.at[i]));
		KR_TRY(kr_candidate_guards(&s->world, &s->choices,
			proof->links.at + proof->cycles.at[i].first, proof->cycles.at[i].count));
		s->answer->clauses++;
	}
	return KR_OK;
}

static enum kr_status learn(struct search *s, struct kr_overlay *graph)
{
	uint32_t first = s->answer->proof.cycles.n;
	KR_TRY(kr_overlay_cycles(graph, &s->answer->proof, most_cycles(s->ir)));
	return forbid_cycles(s, first);
}

/* Completes the candidate; *done when it is a world, else the reasons why it is not have become clauses. */
static enum kr_status complete(struct search *s, bool *done)
{
	struct kr_candidate *w = &s->world;
	bool disagree = false, wrong = false;
	KR_TRY(s->plan->schedule ? kr_candidate_complete(w) : kr_candidate_follow(w));
	if (s->plan->schedule && w->forced == 0 && kr_candidate_is_proved(w)) {
		*done = true;
		return kr_candidate_answer(w, w->order, true, s->answer);
	}
	KR_TRY(kr_candidate_disagreements(w, &s->choices, &disagree));
	if (!kr_overlay_acyclic(&w->whole))
		return learn(s, &w->whole);
	enum kr_status status = kr_candidate_sums(w, &s->choices, &wrong);
	if (status || disagree || wrong)
		return status;
	uint32_t first = s->answer->proof.cycles.n;
	if (kr_level_asks(s->ir->level) != KR_ASK_ACYCLIC)
		status = kr_single_cycles(w, &s->answer->proof, most_cycles(s->ir));
	if (!status && s->answer->proof.cycles.n == first)
		status = kr_candidate_tears(w, &s->answer->proof, most_cycles(s->ir));
	if (status || s->answer->proof.cycles.n > first)
		return status ? status : forbid_cycles(s, first);
	*done = true;
	return kr_candidate_answer(w, w->whole.order, false, s->answer);
}

/* A refutation is made smaller for so long, and this part of the time that it took to find it: where clauses
 * are hard, so are those of a core, and the verifier needs time, too. */
enum { SHRINK_NS = 1000000000, SHRINK_SHARE = 4 };

static enum kr_status ask(struct search *s, bool *done, struct kr_err *err)
{
	enum kr_solver_result result;
	struct kr_answer *answer = s->answer;
	uint32_t told = s->choices.all.n + s->choices.clauses.n + s->choices.facts.n + s->choices.sums.n;
	if (answer->rounds > 0 && told == s->told)
		return kr_err_set(err, KR_INTERNAL,
			"internal error: a round of the search has taught nothing");
	s->told = told;
	KR_TRY(s->sat ? KR_OK : kr_solver_new(s->ir->ctx, &s->sat));
	KR_TRY(kr_solver_solve(s->sat, &s->choices, &result, answer->reason, sizeof answer->reason));
	answer->rounds++;
	answer->choices = s->choices.all.n;
	*done = result != KR_SOLVER_YES;
	kr_ctx_progress(s->ir->ctx, "trying possible orders, round", answer->rounds, 0);
	if (result != KR_SOLVER_NO)
		return KR_OK;
	answer->outcome = KR_VIOLATED;
	int64_t most_ns = SHRINK_NS + (kr_now_ns() - s->began) / SHRINK_SHARE;
	KR_TRY(kr_refute(s->sat, &s->choices, most_ns, &answer->proof));
	return kr_units_justify(s->ir, &answer->proof, s->choices.told_units.at, s->choices.told_units.n);
}

/* ---- every choice at once ---- */

enum { MOST_CHOICES = 10000000 }; /* more of them would take gigabytes of the solver */

static bool is_open_order(const struct kr_ir *ir, kr_version a, kr_version b)
{
	const struct kr_asg *asg = ir->asg;
	return !kr_ir_writes_before(ir, asg->versions[kr_unit_last(ir, a).i].writer,
		       asg->versions[b.i].writer) &&
		!kr_ir_writes_before(ir, asg->versions[kr_unit_last(ir, b).i].writer,
			asg->versions[a.i].writer);
}

static bool starts_unit(const struct kr_ir *ir, kr_version v)
{
	return ir->presence[ir->asg->versions[v.i].writer.i] != KR_ABSENT_TXN &&
		kr_unit_first(ir, v).i == v.i;
}

/* The order of each two units of the key that no known path orders. */
static enum kr_status ground_orders(struct search *s, uint32_t k)
{
	const struct kr_ir *ir = s->ir;
	uint32_t first = ir->asg->keys[k].first + 1, end = ir->asg->keys[k + 1].first;
	enum kr_status status = KR_OK;
	for (uint32_t a = first; a < end && !status; a++) {
		for (uint32_t b = a + 1; b < end && starts_unit(ir, (kr_version){a}) && !status &&
			s->choices.all.n <= MOST_CHOICES;
			b++) {
			kr_version x = {a}, y = {b};
			kr_lit l;
			status = kr_ctx_tick(ir->ctx);
			if (status || !starts_unit(ir, y) || !is_open_order(ir, x, y))
				continue;
			bool x_first = kr_candidate_place(&s->world, x) < kr_candidate_place(&s->world, y);
			status = x_first ? kr_choices_order(&s->choices, x, y, &l)
					 : kr_choices_order(&s->choices, y, x, &l);
		}
	}
	return status;
}

/* Sources of transactions that took effect; those of others follow where they were seen. */
static enum kr_status ground_sources(struct search *s)
{
	const struct kr_ir *ir = s->ir;
	for (uint32_t o = 0; o < ir->asg->nobs && s->choices.all.n <= MOST_CHOICES; o++) {
		kr_lit l;
		if (ir->source[o].i == KR_NONE && kr_ir_is_present(ir, ir->asg->obs[o].txn))
			KR_TRY(kr_choices_source(&s->choices, (kr_obs){o}, (kr_version){KR_NONE}, &l));
	}
	return KR_OK;
}

static enum kr_status ground(struct search *s)
{
	KR_TRY(ground_sources(s));
	for (uint32_t k = 0; k < s->ir->asg->nkeys; k++)
		KR_TRY(ground_orders(s, k));
	return KR_OK;
}

/* All choices, and the first answer to them, unless nothing is open: then the solver is not called. *done
 * when there are too many, or when they are refuted already. */
static enum kr_status begin_eagerly(struct search *s, bool *done, struct kr_err *err)
{
	enum kr_status status = ground(s);
	s->answer->choices = s->choices.all.n;
	*done = s->choices.all.n > MOST_CHOICES;
	if (*done)
		snprintf(s->answer->reason, sizeof s->answer->reason,
			"more than %d open choices are too many to give to the solver at once", MOST_CHOICES);
	bool open = s->choices.all.n + s->choices.clauses.n + s->choices.facts.n + s->choices.sums.n > 0;
	return status || *done || s->plan->guess || !open ? status : ask(s, done, err);
}

/* Repair, and where that takes many conflicts annealing in turn with it: each goes on from the other's order,
 * each time with more effort. Repair alone refutes; annealing finds its way where most is open. *done:
 * annealing did, and w->order is a world. */
static enum kr_status mend(struct search *s, enum kr_outcome *outcome, bool *done)
{
	enum { CONFLICTS = 32768, SWEEPS = 1000, STEPS = 2000000 };
	uint32_t nodes = s->ir->nnodes, sweeps = nodes < STEPS / SWEEPS ? STEPS / (nodes + 1) : SWEEPS;
	bool fits = kr_anneal_fits(s->ir), stalled = false;
	enum kr_status status = KR_OK;
	for (uint64_t effort = 1; *outcome == KR_UNDECIDED && !*done && !stalled && !status; effort *= 4) {
		uint64_t conflicts = fits ? CONFLICTS * effort : UINT64_MAX;
		status = kr_repair(&s->world, &s->choices, &conflicts, s->answer, outcome);
		stalled = conflicts > 0;
		if (!status && *outcome == KR_UNDECIDED && !stalled)
			status = kr_anneal(&s->world, sweeps * effort, done);
	}
	return status;
}

/* By a walk, where nothing tells an order, or by repairing what a schedule suggests, sooner if that is near;
 * what cannot be repaired becomes a refutation by the solver. */
static enum kr_status repair(struct search *s, bool *done, struct kr_err *err)
{
	struct kr_candidate *w = &s->world;
	enum kr_outcome outcome = KR_UNDECIDED;
	KR_TRY(w->scheduled ? KR_OK : kr_candidate_choose(w, &s->choices));
	if (!kr_overlay_acyclic(&w->chosen))
		return KR_OK;
	if (!w->scheduled)
		KR_TRY(w->along ? kr_candidate_along(w, &s->choices) : kr_candidate_schedule(w));
	if (w->forced > s->ir->nnodes / KR_NODES_PER_BREAK && kr_walk_fits(s->ir))
		KR_TRY(kr_walk(w, done));
	if (!*done)
		KR_TRY(mend(s, &outcome, done));
	if (*done)
		return kr_candidate_answer(w, w->order, false, s->answer);
	*done = outcome == KR_SATISFIED;
	return *done ? KR_OK : ask(s, done, err);
}

static enum kr_status search(struct search *s, struct kr_err *err)
{
	bool done = false, repairs = s->plan->schedule && kr_repair_fits(s->ir);
	s->world.keeps = repairs && !s->plan->ground;
	KR_TRY(kr_candidate_begin(&s->world, &s->choices));
	if (s->plan->schedule && s->world.served)
		return kr_candidate_answer(&s->world, s->world.order, true, s->answer);
	KR_TRY(kr_sorted_decide(s->ir, s->answer));
	if (s->answer->outcome == KR_SATISFIED)
		return KR_OK;
	if (s->plan->ground)
		KR_TRY(begin_eagerly(s, &done, err));
	if (repairs)
		KR_TRY(repair(s, &done, err));
	while (!done) {
		KR_TRY(kr_candidate_choose(&s->world, &s->choices));
		if (kr_overlay_acyclic(&s->world.chosen))
			KR_TRY(complete(s, &done));
		else
			KR_TRY(learn(s, &s->world.chosen));
		if (!done)
			KR_TRY(ask(s, &done, err));
	}
	return KR_OK;
}

/* Transactions that write nothing on the first cycle. */
static uint32_t count_readers(const struct kr_asg *asg, const struct kr_proof *proof)
{
	uint32_t readers = 0;
	for (uint32_t i = 0; i < proof->cycles.at[0].count; i++) {
		kr_txn t = proof->links.at[proof->cycles.at[0].first + i].from;
		readers += asg->written_first[t.i] == asg->written_first[t.i + 1];
	}
	return readers;
}

/* The known graph alone may be cyclic when few passes ran. */
static enum kr_status known_conflict(struct kr_ir *ir, struct kr_answer *out, bool *found)
{
	if (ir->clock && ir->clock->whole)
		return KR_OK;
	kr_node *order = kr_mem_alloc(&ir->ctx->mem, ir->nnodes, sizeof *order);
	if (!order)
		return KR_NOMEM;
	enum kr_status status = kr_ir_topological(ir, order, found);
	kr_mem_free(&ir->ctx->mem, order, ir->nnodes, sizeof *order);
	if (status || !*found)
		return status;
	KR_TRY(kr_ir_conflict(ir));
	if (kr_level_asks(ir->level) == KR_ASK_READERS && count_readers(ir->asg, ir->conflict) > 1) {
		*found = false; /* allowed; those that are not turn up later */
		return KR_OK;
	}
	kr_answer_conflict(out, ir);
	return KR_OK;
}

enum kr_status kr_search(struct kr_ir *ir, const struct kr_search_plan *plan, struct kr_answer *out,
	struct kr_err *err)
{
	bool found = false;
	if (plan->ground && kr_level_asks(ir->level) != KR_ASK_ACYCLIC) {
		snprintf(out->reason, sizeof out->reason,
			"this back end is only for levels that forbid every cycle of their graph");
		return KR_OK;
	}
	enum kr_status status = known_conflict(ir, out, &found);
	if (status || found)
		return status;
	struct search s = {.ir = ir, .plan = plan, .answer = out, .began = kr_now_ns()};
	status = kr_candidate_init(&s.world, ir);
	if (!status)
		status = kr_choices_init(&s.choices, ir);
	if (!status)
		status = search(&s, err);
	kr_solver_free(s.sat);
	if (s.choices.ir)
		kr_choices_done(&s.choices);
	kr_candidate_done(&s.world);
	return status;
}
