/* Sets that elements are added to, and that are read as a whole. */
#include "lab/workloads/workload.h"

static const struct kr_parameter parameters[] = {
	{"keys", "sets", 3, 1, 1000},
	{"ops", "most operations of a transaction", 3, 1, 20},
	{"reads", "percent of the operations that are reads", 40, 0, 100},
	{"size", "elements of a set, about, before the next one takes its place", 100, 1, 1000},
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
		uint64_t grown = p->writes * p->work->clients / (keys * (uint64_t)kr_work_parameter(p->work, "size"));
		bool reads = kr_plan_chance(p, kr_work_parameter(p->work, "reads"));
		struct kr_step *step = kr_plan_add(p, reads ? KL_READ_SET : KL_ADD, "s%llu.%llu", (unsigned long long)k, (unsigned long long)grown);

		p->reads_only &= reads;
		if (step && !reads)
			step->op.value = kr_plan_value(p, 0);
	}
}

const struct kr_workload kr_workload_sets = {
	.name = "sets",
	.title = "additions to sets, and reads of whole ones",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ_SET) | KL_BIT(KL_ADD),
	.initial = initial,
	.plan = plan,
};
