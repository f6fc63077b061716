/* What Emme is measured with. Rows r000, r001, ... have a value and, for increments, a counter n000, ...: a
 * column each. With `predicate`, the other of its mixes: no increments, and so many of the reads and updates
 * go by a condition on values. Where a database does not say which rows an update wrote, its rows are read
 * first and written one by one. */
#include <stdio.h>
#include <string.h>

#include "lab/workloads/workload.h"

#define CATEGORIES 4

enum { BY_ROWS = 1 };

static const struct kr_parameter parameters[] = {
	{"keys", "rows at most; half of them are there from the start", 100, 2, 1000},
	{"ops", "operations of a transaction", 5, 1, 20},
	{"predicate", "percent of the reads and updates that go by a condition; 0: the mix with increments",
		50, 0, 100},
	{0},
};

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	char key[KL_KEY];

	for (int64_t i = 0; i < kr_job_parameter(work, "keys"); i++) {
		(void)snprintf(key, sizeof key, "n%03d", (int)i);
		if (!kr_rows_add(mem, out, key, 0))
			return false;
		key[0] = 'r';
		if (i % 2 == 0 &&
			!kr_rows_add(mem, out, key, work->value_base + i % CATEGORIES * work->value_unit + i))
			return false;
	}
	return true;
}

static int64_t new_value(struct kr_plan *p)
{
	return kr_plan_value(p, (uint32_t)kr_plan_below(p, CATEGORIES));
}

static void add_condition(struct kr_plan *p, bool reads)
{
	uint32_t category = (uint32_t)kr_plan_below(p, CATEGORIES);
	bool whole = !reads && kr_plan_has(p, KL_BIT(KL_UPDATE));
	struct kr_step *step = kr_plan_add(p, whole ? KL_UPDATE : KL_SCAN, "r");

	step->op.ge = kr_plan_category(p, category);
	step->op.lt = kr_plan_category(p, category + 1);
	if (whole)
		step->op.value = new_value(p);
	else if (!reads)
		p->at[0] |= INT64_C(1) << (p->n - 1); /* its rows are written in the end */
}

static void add_operation(struct kr_plan *p, int64_t predicate)
{
	uint64_t at = kr_plan_below(p, 100),
		 k = kr_plan_below(p, (uint64_t)kr_job_parameter(p->work, "keys"));
	bool inserts = at < 10, increments = !inserts && predicate == 0 && at < 30,
	     reads = !inserts && !increments && at < (predicate == 0 ? 70 : 55);
	struct kr_step *step;
	char key[KL_KEY];

	(void)snprintf(key, sizeof key, "r%03d", (int)k);
	if (increments) {
		step = kr_plan_add(p, KL_INC, "n%03d", (int)k);
		step->op.value = 1 + (int64_t)kr_plan_below(p, 9);
	} else if (!inserts && kr_plan_chance(p, predicate) && kr_plan_has(p, KL_BIT(KL_SCAN))) {
		add_condition(p, reads);
	} else if (reads) {
		(void)kr_plan_add(p, KL_READ, "%s", key);
	} else {
		kr_plan_write(p, inserts ? KL_INSERT : KL_WRITE, key, new_value(p));
	}
}

static void plan(struct kr_plan *p)
{
	for (int64_t i = 0; i < kr_job_parameter(p->work, "ops"); i++)
		add_operation(p, kr_job_parameter(p->work, "predicate"));
}

static void more(struct kr_plan *p, const struct kl_result *results)
{
	uint32_t n = p->n;

	if (p->stage == BY_ROWS)
		return;
	p->stage = BY_ROWS;
	for (uint32_t i = 0; i < n; i++)
		for (size_t r = 0; p->at[0] >> i & 1 && r < results[i].row_count; r++)
			kr_plan_write(p, KL_WRITE, results[i].rows[r].key, new_value(p));
}

const struct kr_workload kr_workload_emme = {
	.name = "emme",
	.title = "reads, updates, increments and inserts, of rows or by a condition on them",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE) | KL_BIT(KL_INSERT) | KL_BIT(KL_INC),
	.initial = initial,
	.plan = plan,
	.more = more,
};
