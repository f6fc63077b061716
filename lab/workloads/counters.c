/* Counters that are incremented by the database itself, and read. */
#include <stdio.h>

#include "lab/workloads/workload.h"

static const struct kr_parameter parameters[] = {
	{"keys", "counters", 3, 1, 1000},
	{"ops", "most operations of a transaction", 3, 1, 20},
	{"reads", "percent of the operations that are reads", 40, 0, 100},
	{0},
};

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	char key[KL_KEY];

	for (int64_t i = 0; i < kr_job_parameter(work, "keys"); i++) {
		(void)snprintf(key, sizeof key, "n%d", (int)i);
		if (!kr_rows_add(mem, out, key, 0))
			return false;
	}
	return true;
}

static void plan(struct kr_plan *p)
{
	uint64_t n = 1 + kr_plan_below(p, (uint64_t)kr_job_parameter(p->work, "ops"));

	p->reads_only = true;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t k = kr_plan_below(p, (uint64_t)kr_job_parameter(p->work, "keys"));
		bool reads = kr_plan_chance(p, kr_job_parameter(p->work, "reads"));
		struct kr_step *step =
			kr_plan_add(p, reads ? KL_READ : KL_INC, "n%llu", (unsigned long long)k);

		p->reads_only &= reads;
		if (step && !reads)
			step->op.value = 1 + (int64_t)kr_plan_below(p, 9);
	}
}

const struct kr_workload kr_workload_counters = {
	.name = "counters",
	.title = "increments and reads of counters",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_INC),
	.initial = initial,
	.plan = plan,
};
