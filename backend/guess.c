/* Back end `guess`: like `eager`, but the first candidate is not Z3's. It orders all that is open as a
 * topological sort of the known graph and the clients do (Viper's heuristic); only when that has a cycle is
 * Z3 asked, which then may choose everything anew, and starts from the guess.
 *
 * Right and cost: as for `eager`. Where databases did what clients think, Z3 is not asked at all. */
#include "backend/search.h"

static enum kr_status solve(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	return kr_search(ir, &(struct kr_search_plan){.ground = true, .guess = true}, out, err);
}

const struct kr_backend kr_backend_guess = {
	.name = "guess",
	.title = "open choices along a topological sort first, then all of them in Z3",
	.source = "Zhang et al., Viper, EuroSys 2023",
	.solve = solve,
};
