/* Makes one choice of the orders of two units on all keys on which the same transactions wrote them: if they
 * were ordered one way on one key and the other way on another, that would be a cycle of ww. Adds no edges.
 * Units are those that `combine` found, which comes before this pass if at all; else single versions.
 *
 * Right where the level's graph has ww edges and no cycle of them is allowed, which is so at every level.
 * Cost: nothing here; a walk over the keys that two transactions write for each order that is asked for. */
#include "passes/pass.h"

#include "ir/units.h"

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	(void)change, (void)err;

	KR_TRY(ir->units ? KR_OK : kr_units_find(ir, false));

	ir->units->merged = true;
	return KR_OK;
}

const struct kr_pass kr_pass_coalesce = {
	.name = "coalesce",
	.title = "one choice for the orders of the same two units on several keys",
	.source = "Tan et al., Cobra, OSDI 2020: coalescing constraints",
	.requires = KR_FACT_WR,
	.provides = 0,
	.breaks = 0,
	.run = run,
};
