/* Every operation that the database has, each as often as any other, with all kinds of keys in one
 * transaction; some of the values, if asked, are written again and again. */
#include <stdio.h>

#include "lab/workloads/workload.h"

#define CATEGORIES 4

static const struct kr_parameter parameters[] = {
	{"keys", "of each kind", 6, 1, 1000},
	{"ops", "most operations of a transaction", 5, 1, 20},
	{"dup", "percent of the values, those of sets apart, that are not written only once", 0, 0, 100},
	{"length", "elements of a list or set, about, before the next one takes its place", 40, 1, 1000},
	{0},
};

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	char key[KL_KEY];

	for (int64_t i = 0; i < kr_job_parameter(work, "keys"); i++) {
		(void)snprintf(key, sizeof key, "n%02d", (int)i);
		if (!kr_rows_add(mem, out, key, 0))
			return false;
	}
	return true;
}

/* Nothing is in a set twice. */
static int64_t new_value(struct kr_plan *p, enum kl_kind kind)
{
	uint32_t category = (uint32_t)kr_plan_below(p, CATEGORIES);

	return kind != KL_ADD && kr_plan_chance(p, kr_job_parameter(p->work, "dup"))
		? kr_plan_category(p, category) + 1 + (int64_t)kr_plan_below(p, 3)
		: kr_plan_value(p, category);
}

static void add(struct kr_plan *p, enum kl_kind kind)
{
	static const char kinds[KL_KINDS] = {[KL_READ_LIST] = 'l',
		[KL_APPEND] = 'l',
		[KL_READ_SET] = 's',
		[KL_ADD] = 's',
		[KL_INC] = 'n'};
	uint64_t keys = (uint64_t)kr_job_parameter(p->work, "keys");
	unsigned long long k = kr_plan_below(p, keys),
			   grown = p->writes * p->work->clients /
		(keys * (uint64_t)kr_job_parameter(p->work, "length"));
	char low[KL_KEY];
	struct kr_step *step;

	switch (kind) {
	case KL_RANGE:
		(void)snprintf(low, sizeof low, "r%02llu", k);
		kr_plan_range(p, low, "s", kr_plan_below(p, 2) ? 2 : 0);
		return;
	case KL_SCAN:
	case KL_UPDATE:
		step = kr_plan_add(p, kind, "r");
		step->op.ge = kr_plan_category(p, (uint32_t)kr_plan_below(p, CATEGORIES));
		step->op.lt = step->op.ge + p->work->value_unit;
		break;
	case KL_READ_LIST:
	case KL_READ_SET:
	case KL_APPEND:
	case KL_ADD: step = kr_plan_add(p, kind, "%c%02llu.%llu", kinds[kind], k, grown); break;
	case KL_READ:
		step = kr_plan_add(p, kind, "%c%02llu", kr_plan_below(p, 4) ? 'r' : 'n', k);
		if (kr_plan_has(p, KL_LOCKING))
			step->op.lock = (enum kl_lock)kr_plan_below(p, 3);
		return;
	default: step = kr_plan_add(p, kind, "%c%02llu", kinds[kind] ? kinds[kind] : 'r', k);
	}
	step->op.value = kind == KL_INC ? 1 + (int64_t)kr_plan_below(p, 9) : new_value(p, kind);
}

static void plan(struct kr_plan *p)
{
	uint64_t n = 1 + kr_plan_below(p, (uint64_t)kr_job_parameter(p->work, "ops"));

	while (p->n < n) {
		enum kl_kind kind = (enum kl_kind)kr_plan_below(p, KL_KINDS);

		if (kr_plan_has(p, KL_BIT(kind)))
			add(p, kind);
	}
}

const struct kr_workload kr_workload_random = {
	.name = "random",
	.title = "every operation that the store has, all alike, on all kinds of keys",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE),
	.initial = initial,
	.plan = plan,
};
