/* SmallBank: customers with a savings and a checking account, and six programs. Each balance is the low
 * digits of a value that is written once. What comes into the bank or leaves it stands, for each client, in a
 * row that only this client writes, so that an audit knows at any moment what the sum must be. */
#include <stdio.h>

#include "lab/workloads/workload.h"

#define BALANCE 1000
#define CUSTOMERS 10

enum program { BALANCES, DEPOSIT, SAVE, AMALGAMATE, CHECK, PAY, PROGRAMS };

static const struct kr_parameter parameters[] = {
	{"scale", "tens of customers", 1, 1, 1000},
	{"audit", "percent of the transactions that are audits", 10, 0, 100},
	{0},
};

static int customers(const struct kr_job *work) { return CUSTOMERS * (int)kr_job_parameter(work, "scale"); }

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	char key[KL_KEY];

	for (int i = 0; i < customers(work); i++) {
		(void)snprintf(key, sizeof key, "c%05d", i);
		if (!kr_rows_add(mem, out, key, kr_packed(0, BALANCE)))
			return false;
		key[0] = 's';
		if (!kr_rows_add(mem, out, key, kr_packed(0, BALANCE)))
			return false;
	}
	for (uint32_t i = 0; i < work->clients; i++) {
		(void)snprintf(key, sizeof key, "f%04u", i);
		if (!kr_rows_add(mem, out, key, kr_packed(0, 0)))
			return false;
	}
	return true;
}

/* By one range, or row by row where there are none. */
static void audit(struct kr_plan *p)
{
	p->reads_only = p->audits = true;
	if (kr_plan_has(p, KL_BIT(KL_RANGE))) {
		kr_plan_range(p, "c", "t", 0);
		return;
	}
	for (int i = 0; i < customers(p->work); i++) {
		(void)kr_plan_add(p, KL_READ, "c%05d", i);
		(void)kr_plan_add(p, KL_READ, "s%05d", i);
	}
	for (uint32_t i = 0; i < p->work->clients; i++)
		p->audits = kr_plan_add(p, KL_READ, "f%04u", i) != NULL;
}

/* What each program reads, in the order in which `wrote` has it: of customers A and B. */
static const char *const reads[PROGRAMS] = {[BALANCES] = "sc",
	[DEPOSIT] = "cf",
	[SAVE] = "sf",
	[AMALGAMATE] = "scC",
	[CHECK] = "scf",
	[PAY] = "cC"};

static void plan(struct kr_plan *p)
{
	uint64_t n = (uint64_t)customers(p->work);

	if (kr_plan_chance(p, kr_job_parameter(p->work, "audit"))) {
		audit(p);
		return;
	}
	p->program = (uint32_t)kr_plan_below(p, PROGRAMS);
	p->reads_only = p->program == BALANCES;
	p->at[0] = (int64_t)kr_plan_below(p, n);
	p->at[1] = (p->at[0] + 1 + (int64_t)kr_plan_below(p, n - 1)) % (int64_t)n;
	p->at[2] = 1 + (int64_t)kr_plan_below(p, 100);
	if (p->program == SAVE && kr_plan_chance(p, 50))
		p->at[2] = -p->at[2];
	for (const char *r = reads[p->program]; *r; r++) {
		if (*r == 'f')
			(void)kr_plan_add(p, KL_READ, "f%04u", p->client);
		else
			(void)kr_plan_add(p, KL_READ, "%c%05d", *r == 's' ? 's' : 'c', (int)p->at[*r == 'C']);
	}
}

/* What becomes of what was read. False: the program refuses. */
static bool apply(const struct kr_plan *p, int64_t of[4])
{
	int64_t amount = p->at[2];

	switch ((enum program)p->program) {
	case DEPOSIT:
	case SAVE:
		of[0] += amount;
		of[1] += amount;
		return of[0] >= 0;
	case AMALGAMATE:
		of[2] += of[0] + of[1];
		of[0] = of[1] = 0;
		return true;
	case CHECK:
		amount += of[0] + of[1] < amount; /* a penalty */
		of[1] -= amount;
		of[2] -= amount;
		return true;
	case PAY:
		of[0] -= amount;
		of[1] += amount;
		return of[0] >= 0;
	default: return true;
	}
}

static void more(struct kr_plan *p, const struct kl_result *results)
{
	int64_t of[4] = {0}, before[4] = {0};
	uint32_t n = p->n;

	if (p->reads_only || p->stage++ > 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		p->refrains |= !results[i].found;
		before[i] = of[i] = kr_unpacked(results[i].value);
	}
	p->refrains |= !apply(p, of);
	for (uint32_t i = 0; i < n && !p->refrains; i++) {
		p->refrains = of[i] > KR_PACKED_MOST || of[i] < -KR_PACKED_MOST;
		if (of[i] != before[i])
			kr_plan_write(p, KL_WRITE, p->steps[i].key, kr_plan_packed(p, of[i]));
	}
}

static int64_t sign(const char *key) { return key[0] == 'f' ? -1 : 1; }

static bool holds(struct kr_plan *p, const struct kl_result *results)
{
	int64_t sum = 0;

	if (!p->audits)
		return true;
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->steps[i].op.kind == KL_READ && results[i].found)
			sum += kr_unpacked(results[i].value) * sign(p->steps[i].key);
		for (size_t r = 0; r < results[i].row_count; r++)
			sum += kr_unpacked(results[i].rows[r].value) * sign(results[i].rows[r].key);
	}
	return sum == 2 * BALANCE * (int64_t)customers(p->work);
}

const struct kr_workload kr_workload_smallbank = {
	.name = "smallbank",
	.title = "the six programs of SmallBank, and audits of all accounts",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE),
	.initial = initial,
	.plan = plan,
	.more = more,
	.audit = audit,
	.holds = holds,
};
