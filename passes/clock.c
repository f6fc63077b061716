/* Pass `clock`: makes reachability over the known graph available to later passes and back ends (ir/clock.h),
 * or finds that the graph has a cycle already. */
#include "ir/clock.h"

#include "passes/pass.h"

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	bool cyclic = false;
	/* so and rt lead through transactions that write nothing */
	if (kr_level_asks(ir->level) == KR_ASK_READERS && ir->order != KR_ORDER_NONE)
		return kr_err_set(err, KR_UNSUPPORTED,
			"pass clock knows paths through any number of readers, expected order 'none' for "
			"level '%s'",
			ir->level->id);
	kr_clock_free(&ir->ctx->mem, ir->clock);
	ir->clock = NULL;
	KR_TRY(kr_clock_build(ir, &cyclic));
	if (!cyclic)
		return KR_OK;
	*change = KR_CONFLICT;
	return kr_ir_conflict(ir);
}

const struct kr_pass kr_pass_clock = {
	.name = "clock",
	.title = "chain clocks: reachability over the known edges; finds cycles that are there already",
	.source = "chain decomposition (Jagadish 1990), vector clocks",
	.requires = KR_FACT_SO | KR_FACT_RT | KR_FACT_WR,
	.provides = KR_FACT_CLOCK,
	.breaks = 0,
	.run = run,
};
