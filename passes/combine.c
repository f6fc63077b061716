/* Combines the versions of read-modify-write chains to units (ir/units.h): of two units one comes before the
 * other as a whole. Adds no edges; later passes and back ends make one choice of all pairs of versions of two
 * units.
 *
 * Right: ir/units.h. Does nothing where the level does not forbid what would come between two versions of a
 * chain. Cost: O(observations + versions). */
#include "passes/pass.h"

#include "ir/units.h"

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	(void)change, (void)err;
	return kr_units_find(ir, true);
}

const struct kr_pass kr_pass_combine = {
	.name = "combine",
	.title = "versions of read-modify-write chains as one unit each",
	.source = "Tan et al., Cobra, OSDI 2020: combining writes",
	.requires = KR_FACT_WR,
	.provides = 0,
	.breaks = 0,
	.run = run,
};
