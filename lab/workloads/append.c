/* Elle's list-append: transactions append to lists and read whole ones, so that a read tells the order of all appends before it. A list is left for a new one when it has grown to its length. */
#include "lab/workloads/workload.h"

static const struct kr_parameter parameters[] = {
	{"keys", "lists at a time", 10, 1, 1000},
	{"ops", "most operations of a transaction", 4, 1, 20},
	{"reads", "percent of the operations that are reads", 50, 0, 100},
	{"length", "appends to a list, about, before the next one takes its place", 100, 1, 1000},
	{0},
};

static bool initial(const struct kr_work *work, struct kr_mem *mem, struct kr_rows *out)
{
	(void)work;
	(void)mem;
	(void)out;
	return true;
}

static void plan(struct kr_plan *p)
{
	uint64_t n = 1 + kr_plan_below(p, (uint64_t)kr_work_parameter(p->work, "ops")), keys = (uint64_t)kr_work_parameter(p->work, "keys");

	p->reads_only = true;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t k = kr_plan_below(p, keys);
		uint64_t grown = p->writes * p->work->clients / (keys * (uint64_t)kr_work_parameter(p->work, "length")); /* as if all clients were as far */
		bool reads = kr_plan_chance(p, kr_work_parameter(p->work, "reads"));
		struct kr_step *step = kr_plan_add(p, reads ? KL_READ_LIST : KL_APPEND, "l%llu.%llu", (unsigned long long)k, (unsigned long long)grown);

		p->reads_only &= reads;
		if (step && !reads)
			step->op.value = kr_plan_value(p, 0);
	}
}

const struct kr_workload kr_workload_append = {
	.name = "append",
	.title = "appends to lists, and reads of whole ones",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ_LIST) | KL_BIT(KL_APPEND),
	.initial = initial,
	.plan = plan,
};
