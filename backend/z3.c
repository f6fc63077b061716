/* Back end `z3`: witness first, lazy grounding. Keeps a candidate world; looks for forbidden cycles in it; only the choices on those cycles become Boolean variables, each cycle a
 * clause; Z3 answers; the world follows the answer and the scheduler settles the rest.
 *
 * Ends: every round adds a clause that the last answer violates. A world is an acyclic graph of known edges and of one alternative per choice, so it proves the level;
 * unsatisfiable clauses are cycles that no way of choosing avoids, so they refute it. Published idea: lazy SMT for polygraphs (DESIGN 4d; Zhang et al., Viper, EuroSys 2023).
 * With a large residue of free choices the rounds are many: a propagator is better there and is not in this file. */
#include <stdio.h>

#include "backend/backend.h"
#include "backend/refute.h"
#include "backend/single.h"
#include "backend/solver_z3.h"
#include "backend/world.h"

enum { CYCLES_PER_ROUND = 512 };

struct search {
	struct kr_ir *ir;
	struct kr_answer *answer;
	struct kr_candidate world;
	struct kr_choices choices;
	struct kr_solver *sat;
	uint32_t told; /* how many variables and literals of clauses there were when the solver was last asked */
};

/* The presence of open transactions on the cycle becomes a choice, too. */
static enum kr_status ground_cycle(struct search *s, struct kr_cycle cycle)
{
	enum kr_status status = KR_OK;
	for (uint32_t i = 0; i < cycle.count && !status; i++)
		status = kr_candidate_ground(&s->world, &s->choices, s->answer->proof.links.at[cycle.first + i].from);
	return status;
}

/* Every cycle appended since `first` becomes a clause. */
static enum kr_status forbid_cycles(struct search *s, uint32_t first)
{
	const struct kr_proof *proof = &s->answer->proof;
	for (uint32_t i = first; i < proof->cycles.n; i++) {
		enum kr_status status = kr_choices_forbid(&s->choices, proof, i);
		if (!status)
			status = ground_cycle(s, proof->cycles.at[i]);
		if (!status)
			status = kr_candidate_guards(&s->world, &s->choices, proof->links.at + proof->cycles.at[i].first, proof->cycles.at[i].count);
		if (status)
			return status;
		s->answer->clauses++;
	}
	return KR_OK;
}

static enum kr_status learn(struct search *s, struct kr_overlay *graph)
{
	uint32_t first = s->answer->proof.cycles.n;
	enum kr_status status = kr_overlay_cycles(graph, &s->answer->proof, CYCLES_PER_ROUND);
	return status ? status : forbid_cycles(s, first);
}

/* Completes the candidate; *done when it is a world, else the reasons why it is not have become clauses. */
static enum kr_status complete(struct search *s, bool *done)
{
	struct kr_candidate *w = &s->world;
	bool disagree = false, wrong = false, whole = false;
	enum kr_status status = kr_candidate_complete(w);
	if (status)
		return status;
	if (w->forced == 0 && kr_level_asks(s->ir->level) != KR_ASK_READERS) {
		*done = true;
		return kr_candidate_answer(w, w->order, true, s->answer);
	}
	status = kr_candidate_disagreements(w, &s->choices, &disagree);
	if (status)
		return status;
	if (!kr_overlay_acyclic(&w->whole))
		return learn(s, &w->whole);
	status = kr_candidate_sums(w, &s->choices, &wrong);
	if (status || disagree || wrong)
		return status;
	uint32_t first = s->answer->proof.cycles.n;
	if (kr_level_asks(s->ir->level) != KR_ASK_ACYCLIC)
		status = kr_single_cycles(w, &s->answer->proof, CYCLES_PER_ROUND);
	if (status || s->answer->proof.cycles.n > first)
		return status ? status : forbid_cycles(s, first);
	status = kr_candidate_cuts(w, &whole);
	if (status)
		return status;
	*done = true;
	if (whole)
		return kr_candidate_answer(w, w->whole.order, false, s->answer);
	snprintf(s->answer->reason, sizeof s->answer->reason, "what reads of sets and counters saw is not sought in every way at this level");
	return KR_OK;
}

static enum kr_status ask(struct search *s, bool *done, struct kr_err *err)
{
	enum kr_solver_result result;
	struct kr_answer *answer = s->answer;
	uint32_t told = s->choices.all.n + s->choices.clauses.n + s->choices.facts.n + s->choices.sums.n;
	if (answer->rounds > 0 && told == s->told)
		return kr_err_set(err, KR_INTERNAL, "internal error: a round of the search has taught nothing");
	s->told = told;
	enum kr_status status = s->sat ? KR_OK : kr_solver_new(s->ir->ctx, &s->sat);
	if (!status)
		status = kr_solver_solve(s->sat, &s->choices, &result, answer->reason, sizeof answer->reason);
	if (status)
		return status;
	answer->rounds++;
	answer->choices = s->choices.all.n;
	*done = result != KR_SOLVER_YES;
	kr_ctx_progress(s->ir->ctx, "solve", answer->rounds, 0);
	if (result != KR_SOLVER_NO)
		return KR_OK;
	answer->outcome = KR_VIOLATED;
	return kr_refute(&s->choices, &answer->proof);
}

static enum kr_status search(struct search *s, struct kr_err *err)
{
	bool done = false;
	enum kr_status status = kr_candidate_begin(&s->world, &s->choices);
	while (!status && !done) {
		status = kr_candidate_choose(&s->world, &s->choices);
		if (!status && kr_overlay_acyclic(&s->world.chosen))
			status = complete(s, &done);
		else if (!status)
			status = learn(s, &s->world.chosen);
		if (!status && !done)
			status = ask(s, &done, err);
	}
	return status;
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
	kr_node *order = kr_mem_alloc(&ir->ctx->mem, ir->nnodes, sizeof *order);
	if (!order)
		return KR_NOMEM;
	enum kr_status status = kr_ir_topological(ir, order, found);
	kr_mem_free(&ir->ctx->mem, order, ir->nnodes, sizeof *order);
	if (status || !*found)
		return status;
	status = kr_ir_conflict(ir);
	if (status)
		return status;
	if (kr_level_asks(ir->level) == KR_ASK_READERS && count_readers(ir->asg, ir->conflict) > 1) {
		*found = false; /* allowed; those that are not turn up later */
		return KR_OK;
	}
	struct kr_proof empty = out->proof;
	out->proof = *ir->conflict;
	*ir->conflict = empty;
	out->outcome = KR_VIOLATED;
	return KR_OK;
}

static enum kr_status solve(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	bool found = false;
	enum kr_status status = known_conflict(ir, out, &found);
	if (status || found)
		return status;
	struct search s = {.ir = ir, .answer = out};
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

/* The schedules of the guesses, and nothing else. */
static enum kr_status attempt(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	struct kr_candidate world;
	struct kr_choices none = {0};
	(void)err;
	enum kr_status status = kr_candidate_init(&world, ir);
	if (!status)
		status = kr_choices_init(&none, ir);
	if (!status)
		status = kr_candidate_begin(&world, &none);
	if (!status)
		status = kr_candidate_choose(&world, &none);
	if (!status && kr_overlay_acyclic(&world.chosen)) {
		status = kr_candidate_schedule(&world);
		if (!status && world.forced == 0)
			status = kr_candidate_answer(&world, world.order, true, out);
	}
	if (none.ir)
		kr_choices_done(&none);
	kr_candidate_done(&world);
	return status;
}

const struct kr_backend kr_backend_z3 = {
	.name = "z3",
	.title = "scheduling first, then Z3 for the choices on the cycles met",
	.source = "Z3 (de Moura, Bjørner, TACAS 2008), lazily grounded",
	.solve = solve,
	.attempt = attempt,
	.write = NULL,
};
