/* Back end `greedy`: the scheduler alone. Finds a world quickly where there is one to be found without search, and never refutes: what it cannot schedule is undecided. For
 * attempts whose failure costs little; back end `z3` begins in the same way and goes on. O(edges) a few times over. */
#include <stdio.h>

#include "backend/world.h"

static enum kr_status attempt(struct kr_candidate *w, struct kr_choices *none, struct kr_answer *out)
{
	bool disagree = false;
	enum kr_status status = kr_candidate_begin(w, none);
	if (!status)
		status = kr_candidate_choose(w, none);
	if (status || !kr_overlay_acyclic(&w->chosen))
		return status;
	status = kr_candidate_complete(w);
	if (status || w->forced == 0)
		return status ? status : kr_candidate_answer(w, w->order, out);
	status = kr_candidate_disagreements(w, none, &disagree);
	if (status || disagree || !kr_overlay_acyclic(&w->whole))
		return status;
	return kr_candidate_answer(w, w->whole.order, out);
}

static enum kr_status solve(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	struct kr_candidate world;
	struct kr_choices none = {0};
	(void)err;
	snprintf(out->reason, sizeof out->reason, "the scheduler finds no world");
	enum kr_status status = kr_candidate_init(&world, ir);
	if (!status)
		status = kr_choices_init(&none, ir);
	if (!status)
		status = attempt(&world, &none, out);
	if (none.ir)
		kr_choices_done(&none);
	kr_candidate_done(&world);
	return status;
}

const struct kr_backend kr_backend_greedy = {
	.name = "greedy",
	.title = "scheduling alone: finds a world or nothing",
	.source = "list scheduling by replay",
	.solve = solve,
	.write = NULL,
};
