/* Back end `eager`: every open choice is a Boolean variable of Z3 from the start, as in Cobra. Z3 settles all
 * of them; a cycle of what it chose becomes a clause; and so on until there is none, or no answer. Nothing is
 * scheduled: of an answer without cycles any order is a world.
 *
 * Cost: variables for all pairs of writers of a key (of units, where those were found) that are not ordered
 * yet, so it needs passes that leave few; rounds of linear work. */
#include "backend/search.h"

static enum kr_status solve(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	return kr_search(ir, &(struct kr_search_plan){.ground = true}, out, err);
}

const struct kr_backend kr_backend_eager = {
	.name = "eager",
	.title = "all open choices in Z3 at once, and a clause for each cycle that its answers have",
	.source = "Tan et al., Cobra, OSDI 2020; Z3 in the place of MonoSAT",
	.solve = solve,
};
