/* Reads and writes of single keys, as black-box checkers have them. Some writes come right behind a read of
 * the same key: what a program does that changes a row. */
#include <stdio.h>

#include "lab/workloads/workload.h"

enum { KEYS, OPS, LEAST, READS, RMW, READERS, LOCKS, THERE, ZIPF, HOT, HOTTEST, END };

static const struct kr_parameter parameters[] = {
	[KEYS] = {"keys", "registers", 20, 1, 10000},
	[OPS] = {"ops", "most operations of a transaction", 4, 1, 20},
	[LEAST] = {"least", "fewest operations of a transaction", 1, 1, 20},
	[READS] = {"reads", "percent of the operations that are reads", 50, 0, 100},
	[RMW] = {"rmw", "percent of the writes that read their key first", 25, 0, 100},
	[READERS] = {"readers", "percent of the transactions that only read", 25, 0, 100},
	[LOCKS] = {"locks", "percent of the reads before a write that lock", 0, 0, 100},
	[THERE] = {"there",
		"1: all keys are there from the start, and writes are updates; 0: half of them, and upserts",
		0, 0, 1},
	[ZIPF] = {"zipf", "exponent of a zipfian choice of keys, in hundredths; 0: all alike", 0, 0, 300},
	[HOT] = {"hot", "percent of the operations that are on the hottest keys", 0, 0, 100},
	[HOTTEST] = {"hottest", "how many keys these are", 1, 1, 10000},
	[END] = {0},
};

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	const int64_t *of = work->of;
	char key[KL_KEY];

	for (int64_t i = 0; i < of[KEYS]; i += 2 - of[THERE]) {
		(void)snprintf(key, sizeof key, "r%02d", (int)i);
		if (!kr_rows_add(mem, out, key, i))
			return false;
	}
	return true;
}

static int choose_key(struct kr_plan *p)
{
	const int64_t *of = p->work->of;

	if (p->work->zipf.n)
		return (int)kr_zipf_next(&p->work->zipf, &p->rng);
	if (of[HOT] > 0 && kr_plan_chance(p, of[HOT]))
		return (int)kr_plan_below(p, (uint64_t)(of[HOTTEST] < of[KEYS] ? of[HOTTEST] : of[KEYS]));
	return (int)kr_plan_below(p, (uint64_t)of[KEYS]);
}

static void plan(struct kr_plan *p)
{
	const int64_t *of = p->work->of;
	uint64_t most = (uint64_t)of[OPS], least = (uint64_t)of[LEAST],
		 n = least < most ? least + kr_plan_below(p, most - least + 1) : most;
	bool reader = kr_plan_chance(p, of[READERS]);

	p->reads_only = reader;
	for (uint64_t i = 0; i < n; i++) {
		int k = choose_key(p);
		bool reads = reader || kr_plan_chance(p, of[READS]);
		bool first = reads || kr_plan_chance(p, of[RMW]);
		struct kr_step *step = first ? kr_plan_add(p, KL_READ, "r%02d", k) : NULL;

		if (step && !reads && kr_plan_chance(p, of[LOCKS]) && kr_plan_has(p, KL_LOCKING))
			step->op.lock = KL_EXCLUSIVE;
		if (!reads && (step = kr_plan_add(p, KL_WRITE, "r%02d", k)) != NULL) {
			step->op.value = kr_plan_value(p, 0);
			step->op.exists = of[THERE] == 1;
		}
	}
}

const struct kr_workload kr_workload_registers = {
	.name = "registers",
	.title = "reads and writes of single keys",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE),
	.initial = initial,
	.plan = plan,
};
