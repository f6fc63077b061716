/* The sources that the wr pass settles, without its edges (settle.h): enough for schedules, which replay. */
#include "passes/settle.h"

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	return kr_settle(ir, false, change, err);
}

const struct kr_pass kr_pass_source = {
	.name = "source",
	.title = "sources of observations with one candidate, without edges",
	.source = "Adya, Weak Consistency (1999), read dependencies",
	.breaks = KR_FACT_WW | KR_FACT_RW | KR_FACT_CLOCK | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
