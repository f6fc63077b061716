/* Transactions in SQL, out of a file: `-w FILE.sql`. Each is a step for each of its statements. */
#include "lab/script.h"

static const struct kr_parameter parameters[] = {{0}};

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	return kr_script_initial(work->script, mem, out);
}

static uint32_t choose(struct kr_plan *p)
{
	const struct kr_script *s = p->work->script;
	uint64_t sum = 0, at;

	if (s->turns_n > 0)
		return p->client;
	for (uint32_t i = 0; i < s->txns_n; i++)
		sum += s->txns[i].weight;
	at = kr_plan_below(p, sum);
	for (uint32_t i = 0; i < s->txns_n; i++) {
		if (at < s->txns[i].weight)
			return i;
		at -= s->txns[i].weight;
	}
	return 0;
}

static void plan(struct kr_plan *p)
{
	p->program = choose(p);
	const struct kr_script_txn *txn = &p->work->script->txns[p->program];

	for (uint32_t i = 0; i < txn->n; i++) {
		struct kr_step *step = kr_plan_add(p, KL_SQL, "%s", txn->name);

		step->op.value = txn->first + i;
	}
}

const struct kr_workload kr_workload_script = {
	.name = "script",
	.title = "statements of SQL, out of a file: '-w FILE.sql'",
	.parameters = parameters,
	.needs = KL_BIT(KL_SQL),
	.initial = initial,
	.plan = plan,
};
