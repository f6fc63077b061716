/* Elle's list-append: transactions append to lists and read whole ones, so that a read tells the order of all
 * appends before it. A list is left for a new one when it has grown to its length. */
#include "lab/workloads/workload.h"

static const struct kr_parameter parameters[] = {
	{"keys", "lists at a time", 10, 1, 1000},
	{"ops", "most operations of a transaction", 4, 1, 20},
	{"reads", "percent of the operations that are reads", 50, 0, 100},
	{"length", "appends to a list, about, before the next one takes its place", 100, 1, 1000},
	{0},
};

static void plan(struct kr_plan *p) { kr_plan_growing(p, KL_READ_LIST, KL_APPEND, "l", "length"); }

const struct kr_workload kr_workload_append = {
	.name = "append",
	.title = "appends to lists, and reads of whole ones",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ_LIST) | KL_BIT(KL_APPEND),
	.plan = plan,
};
