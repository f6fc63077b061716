/* Every kind of operation on few keys: registers r00, r01, ..., half of them there from the start; rows
 * r00/1.17 that come and go between them; counters n0, n1, n2. Scans and updates ask for values of a
 * category. What a store does not have is left out. A key that was deleted does not come back unless `mix` is
 * 2: two anomalies of PostgreSQL start there. */
#include <stdio.h>

#include "lab/workloads/workload.h"

#define COUNTERS 3
#define CATEGORIES 4
#define ROWS 256 /* that are there at the same time, about */

/* What a client keeps in mind: rows that it may have made, and has taken away; and of both those of its last
 * transaction. */
enum { MADE, GONE, MAKING, GOING };

static const struct kr_parameter parameters[] = {
	{"keys", "registers", 20, 4, 10000},
	{"ops", "most steps of a transaction", 4, 1, 20},
	{"mix",
		"0: everything; 1: rows are locked when they are read, and new ones come (phantoms); 2: keys "
		"are deleted and inserted again",
		0, 0, 2},
	{"readers", "percent of the transactions that only read", 25, 0, 100},
	{0},
};

enum step { R, W, RMW, LOCK_W, NEW, D, D_AGAIN, INSERT, INC, RANGE, SCAN, UPDATE, STEPS };

static const struct {
	uint64_t needs;
	bool reads;
	uint8_t shares[3]; /* by mix */
} steps[STEPS] = {
	[R] = {KL_BIT(KL_READ), true, {30, 0, 20}},
	[W] = {KL_BIT(KL_WRITE), false, {14, 0, 25}},
	[RMW] = {KL_BIT(KL_READ) | KL_BIT(KL_WRITE), false, {14, 0, 0}},
	[LOCK_W] = {KL_LOCKING | KL_BIT(KL_WRITE), false, {0, 45, 0}},
	[NEW] = {KL_BIT(KL_WRITE), false, {6, 15, 0}},
	[D] = {KL_BIT(KL_DELETE), false, {6, 0, 0}},
	[D_AGAIN] = {KL_BIT(KL_DELETE), false, {0, 0, 20}},
	[INSERT] = {KL_BIT(KL_INSERT), false, {4, 0, 15}},
	[INC] = {KL_BIT(KL_INC), false, {8, 0, 0}},
	[RANGE] = {KL_BIT(KL_RANGE), true, {12, 30, 20}},
	[SCAN] = {KL_BIT(KL_SCAN), true, {4, 10, 0}},
	[UPDATE] = {KL_BIT(KL_UPDATE), false, {2, 0, 0}},
};

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	char key[KL_KEY];

	for (int64_t i = 0; i < kr_job_parameter(work, "keys"); i += 2) {
		(void)snprintf(key, sizeof key, "r%02d", (int)i);
		if (!kr_rows_add(mem, out, key, work->value_base + i % CATEGORIES * work->value_unit + i))
			return false;
	}
	for (int i = 0; i < COUNTERS; i++) {
		(void)snprintf(key, sizeof key, "n%d", i);
		if (!kr_rows_add(mem, out, key, 0))
			return false;
	}
	return true;
}

static bool allowed(const struct kr_plan *p, enum step s)
{
	return kr_plan_has(p, steps[s].needs) && (!p->reads_only || steps[s].reads);
}

static enum step choose(struct kr_plan *p)
{
	size_t mix = (size_t)kr_job_parameter(p->work, "mix");
	uint64_t sum = 0, at;

	for (enum step s = 0; s < STEPS; s++)
		sum += allowed(p, s) ? steps[s].shares[mix] : 0;
	if (sum == 0)
		return R;
	at = kr_plan_below(p, sum);
	for (enum step s = 0; s < STEPS; s++) {
		uint64_t share = allowed(p, s) ? steps[s].shares[mix] : 0;

		if (at < share)
			return s;
		at -= share;
	}
	return R;
}

/* Of a client's rows the one of this number, so that all clients can tell its key. */
static struct kr_step *add_row(struct kr_plan *p, enum kl_kind kind, uint64_t client, int64_t number)
{
	return kr_plan_add(p, kind, "r%02d/%u.%lld",
		(int)(number % 4 * kr_job_parameter(p->work, "keys") / 4), (unsigned)client,
		(long long)number);
}

/* A row that some client may have made by now, and not taken away. */
static void add_delete(struct kr_plan *p)
{
	uint64_t there = (uint64_t)(p->kept[MADE] - p->kept[GONE]);
	int64_t number = p->kept[GONE] + (int64_t)kr_plan_below(p, there > 0 ? there : 1);

	(void)add_row(p, KL_DELETE, kr_plan_below(p, p->work->clients), number);
}

/* So that a recording may go on for as long as one likes, a client that has made many rows takes its oldest
 * one away with each new one. */
static void add_new(struct kr_plan *p)
{
	int64_t most = ROWS / (int64_t)p->work->clients + 1, *kept = p->kept;

	for (int i = 0; i < 2; i++) /* some may never have been made */
		if (kept[MADE] + kept[MAKING] - kept[GONE] - kept[GOING] >= most &&
			kr_plan_has(p, KL_BIT(KL_DELETE)) &&
			add_row(p, KL_DELETE, p->client, kept[GONE] + kept[GOING]))
			kept[GOING]++;
	struct kr_step *step = add_row(p, KL_WRITE, p->client, kept[MADE] + kept[MAKING]);
	if (!step)
		return;
	step->op.value = kr_plan_value(p, (uint32_t)kr_plan_below(p, CATEGORIES));
	kept[MAKING]++;
}

static void add_predicate(struct kr_plan *p, enum kl_kind kind)
{
	uint32_t category = (uint32_t)kr_plan_below(p, CATEGORIES);
	struct kr_step *step = kr_plan_add(p, kind, "r");

	if (!step)
		return;
	step->op.ge = kr_plan_category(p, category);
	step->op.lt = kr_plan_category(p, category + 1);
	if (kind == KL_UPDATE)
		step->op.value = kr_plan_value(p, (uint32_t)kr_plan_below(p, CATEGORIES));
}

static void add_range(struct kr_plan *p, int k)
{
	char low[KL_KEY], high[KL_KEY] = "s";

	(void)snprintf(low, sizeof low, "r%02d", k);
	if (k + 4 < kr_job_parameter(p->work, "keys"))
		(void)snprintf(high, sizeof high, "r%02d", k + 4);
	kr_plan_range(p, low, high, kr_plan_below(p, 3) == 0 ? 2 : 0);
}

static void add_step(struct kr_plan *p, enum step s, int k)
{
	struct kr_step *step = NULL;
	char key[KL_KEY];

	(void)snprintf(key, sizeof key, "r%02d", s == LOCK_W ? k / 2 * 2 : k); /* those from the start */
	switch (s) {
	case NEW: add_new(p); return;
	case D: add_delete(p); return;
	case SCAN: add_predicate(p, KL_SCAN); return;
	case UPDATE: add_predicate(p, KL_UPDATE); return;
	case RANGE: add_range(p, k); return;
	case D_AGAIN: (void)kr_plan_add(p, KL_DELETE, "%s", key); return;
	case INC:
		step = kr_plan_add(p, KL_INC, "n%d", (int)kr_plan_below(p, COUNTERS));
		if (step)
			step->op.value = 1 + (int64_t)kr_plan_below(p, 9);
		return;
	case R:
	case RMW:
	case LOCK_W: step = kr_plan_add(p, KL_READ, "%s", key); break;
	default: break;
	}
	if (step && s == LOCK_W)
		step->op.lock = KL_EXCLUSIVE;
	if (s != R)
		kr_plan_write(p, s == INSERT ? KL_INSERT : KL_WRITE, key,
			kr_plan_value(p, (uint32_t)kr_plan_below(p, CATEGORIES)));
}

static void plan(struct kr_plan *p)
{
	uint64_t n = 1 + kr_plan_below(p, (uint64_t)kr_job_parameter(p->work, "ops"));

	p->kept[MADE] += p->aborted ? 0 : p->kept[MAKING];
	p->kept[GONE] += p->committed ? p->kept[GOING] : 0;
	p->kept[MAKING] = p->kept[GOING] = 0;
	p->reads_only = kr_plan_chance(p, kr_job_parameter(p->work, "readers"));
	for (uint64_t i = 0; i < n; i++)
		add_step(p, choose(p), (int)kr_plan_below(p, (uint64_t)kr_job_parameter(p->work, "keys")));
}

const struct kr_workload kr_workload_ranges = {
	.name = "ranges",
	.title = "every operation that the store has, ranges and conditions among them",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE) | KL_BIT(KL_RANGE),
	.initial = initial,
	.plan = plan,
};
