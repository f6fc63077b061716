/* Transfers between accounts, and audits that read all of them. The sum never changes: an audit that sees
 * another one has seen half of a transfer. Balances repeat, which leaves the checker more open than other
 * workloads do; the audit needs no checker. */
#include <stdio.h>

#include "lab/workloads/workload.h"

#define BALANCE 100

static const struct kr_parameter parameters[] = {
	{"accounts", "accounts", 8, 2, 40},
	{"audit", "percent of the transactions that are audits", 20, 0, 100},
	{"predicate",
		"1: an audit is one read of a range, where the store has them; 0: it reads account by "
		"account",
		1, 0, 1},
	{0},
};

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	char key[KL_KEY];

	for (int64_t i = 0; i < kr_job_parameter(work, "accounts"); i++) {
		(void)snprintf(key, sizeof key, "a%02d", (int)i);
		if (!kr_rows_add(mem, out, key, BALANCE))
			return false;
	}
	return true;
}

static void audit(struct kr_plan *p)
{
	p->reads_only = p->audits = true;
	if (kr_job_parameter(p->work, "predicate") && kr_plan_has(p, KL_BIT(KL_RANGE))) {
		kr_plan_prefix(p, 0, "a");
		return;
	}
	for (int i = 0; i < kr_job_parameter(p->work, "accounts"); i++)
		(void)kr_plan_add(p, KL_READ, "a%02d", i);
}

static void plan(struct kr_plan *p)
{
	int accounts = (int)kr_job_parameter(p->work, "accounts");

	if (kr_plan_chance(p, kr_job_parameter(p->work, "audit"))) {
		audit(p);
		return;
	}

	int from = (int)kr_plan_below(p, (uint64_t)accounts),
	    to = (from + 1 + (int)kr_plan_below(p, (uint64_t)accounts - 1)) % accounts;
	int64_t amount = 1 + (int64_t)kr_plan_below(p, 5);

	(void)kr_plan_add(p, KL_READ, "a%02d", from);
	(void)kr_plan_add(p, KL_READ, "a%02d", to);
	struct kr_step *step = kr_plan_add(p, KL_WRITE, "a%02d", from);
	step->from = 0;
	step->op.value = -amount;
	step = kr_plan_add(p, KL_WRITE, "a%02d", to);
	step->from = 1;
	step->op.value = amount;
}

static bool holds(struct kr_plan *p, const struct kl_result *results)
{
	int64_t sum = 0;

	if (!p->audits)
		return true;
	for (uint32_t i = 0; i < p->n; i++) {
		sum += results[i].found ? results[i].value : 0;
		for (size_t r = 0; r < results[i].row_count; r++)
			sum += results[i].rows[r].value;
	}
	return sum == BALANCE * kr_job_parameter(p->work, "accounts");
}

const struct kr_workload kr_workload_bank = {
	.name = "bank",
	.title = "transfers between accounts, and audits of their sum",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE),
	.initial = initial,
	.plan = plan,
	.audit = audit,
	.holds = holds,
};
