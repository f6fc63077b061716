/* Back end `z3`: witness first, then repair of the witness where that can be done (repair.h), else lazy
 * grounding: the search of search.h, which schedules candidates, and gives to Z3 only the choices on the
 * cycles that they have, and not even these where they are few (small.h).
 *
 * Published idea: lazy SMT for polygraphs (DESIGN 4d; Zhang et al., Viper, EuroSys 2023). */
#include "backend/backtrack.h"
#include "backend/search.h"
#include "backend/world.h"

static enum kr_status solve(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	return kr_search(ir, &(struct kr_search_plan){.schedule = true, .guess = true}, out, err);
}

/* The schedules of the guesses, and nothing else. */
static enum kr_status attempt(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	struct kr_candidate world;
	struct kr_choices none = {0};
	(void)err;
	enum kr_status status = kr_candidate_init(&world, ir);
	world.strict =
		!kr_backtrack_applies(ir); /* else what goes wrong tells along which guess to go back */
	if (!status)
		status = kr_choices_init(&none, ir);
	if (!status)
		status = kr_candidate_begin(&world, &none);
	if (!status && world.served)
		status = kr_candidate_answer(&world, world.order, true, out);
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
