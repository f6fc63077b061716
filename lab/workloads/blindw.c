/* BlindW, with which Cobra and others are measured: many keys, eight operations, writes that read nothing. */
#include "lab/workloads/workload.h"

enum mix { RW, RM, WR };
enum { OPS = 8 };

static const struct kr_parameter parameters[] = {
	{"keys", "registers", 10000, 1, 1000000},
	{"mix",
		"0: half of the transactions read, half write; 1: nine in ten read; 2: reads and writes "
		"mixed",
		0, 0, 2},
	{0},
};

static void plan(struct kr_plan *p)
{
	enum mix mix = (enum mix)kr_job_parameter(p->work, "mix");
	bool reader = mix != WR && kr_plan_chance(p, mix == RM ? 90 : 50);

	p->reads_only = reader;
	for (int i = 0; i < OPS; i++) {
		bool reads = mix == WR ? kr_plan_chance(p, 50) : reader;
		unsigned long long k = kr_plan_below(p, (uint64_t)kr_job_parameter(p->work, "keys"));
		struct kr_step *step = kr_plan_add(p, reads ? KL_READ : KL_WRITE, "r%06llu", k);

		if (!reads)
			step->op.value = kr_plan_value(p, 0);
	}
}

const struct kr_workload kr_workload_blindw = {
	.name = "blindw",
	.title = "eight reads or eight writes of many keys, nothing read before it is written",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE),
	.plan = plan,
};
