/* Sets that elements are added to, and that are read as a whole. */
#include "lab/workloads/workload.h"

static const struct kr_parameter parameters[] = {
	{"keys", "sets", 3, 1, 1000},
	{"ops", "most operations of a transaction", 3, 1, 20},
	{"reads", "percent of the operations that are reads", 40, 0, 100},
	{"size", "elements of a set, about, before the next one takes its place", 100, 1, 1000},
	{0},
};

static void plan(struct kr_plan *p) { kr_plan_growing(p, KL_READ_SET, KL_ADD, "s", "size"); }

const struct kr_workload kr_workload_sets = {
	.name = "sets",
	.title = "additions to sets, and reads of whole ones",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ_SET) | KL_BIT(KL_ADD),
	.plan = plan,
};
