/* Write-read dependencies that the trace alone tells, as sources and edges (settle.h). Needs nothing; gives
 * every source that needs no inference. */
#include "passes/settle.h"

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	return kr_settle(ir, true, change, err);
}

const struct kr_pass kr_pass_wr = {
	.name = "wr",
	.title = "write-read dependencies of observations with one candidate",
	.source = "Adya, Weak Consistency (1999), read dependencies",
	.provides = KR_FACT_WR,
	.breaks = KR_FACT_WW | KR_FACT_RW | KR_FACT_CLOCK | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
