/* TPC-C on one warehouse, a hundredth of its size. Numbers that change (money, stock, the next order) are the
 * low digits of values that are written once.
 *
 *     w           money taken in          d/D         of a district         D/n       its next order
 *     c/D/C       a customer's balance    k/I         items in stock        h/...     payments
 *     o/D/O       orders: customer, how many lines, whether delivered        q/D/O    those not delivered yet
 *     l/D/O/L     their lines: item and amount
 *
 * An audit asks, at one moment, whether the warehouse has taken in what its districts have, and whether the
 * last order of each district is the one before its next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/workloads/workload.h"

enum { DISTRICTS = 10, CUSTOMERS = 30, ITEMS = 100, LINES = 5, RECENT = 5, STOCK = 100, LAST = 99999999 };
enum program { ORDER, PAYMENT, STATUS, DELIVERY, LEVEL, AUDIT, PROGRAMS };
enum { DISTRICT, CUSTOMER, NEXT, AMOUNT }; /* in plan->at */

static const struct kr_parameter parameters[] = {
	{"scale", "thirties of customers and hundreds of items", 1, 1, 100},
	{"districts", "districts", 4, 1, DISTRICTS},
	{"audit", "percent of the transactions that are audits", 5, 0, 100},
	{0},
};

static int64_t scaled(const struct kr_job *work, int n) { return n * kr_job_parameter(work, "scale"); }
static int64_t districts(const struct kr_job *work) { return kr_job_parameter(work, "districts"); }

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	char key[KL_KEY];
	bool fine = kr_rows_add(mem, out, "w", kr_packed(0, 0));

	for (int d = 0; d < districts(work) && fine; d++) {
		(void)snprintf(key, sizeof key, "d/%02d", d);
		fine = kr_rows_add(mem, out, key, kr_packed(0, 0));
		(void)snprintf(key, sizeof key, "n/%02d", d);
		fine = fine && kr_rows_add(mem, out, key, kr_packed(0, 0));
		for (int c = 0; c < scaled(work, CUSTOMERS) && fine; c++) {
			(void)snprintf(key, sizeof key, "c/%02d/%05d", d, c);
			fine = kr_rows_add(mem, out, key, kr_packed(0, 0));
		}
	}
	for (int i = 0; i < scaled(work, ITEMS) && fine; i++) {
		(void)snprintf(key, sizeof key, "k/%05d", i);
		fine = kr_rows_add(mem, out, key, kr_packed(0, STOCK));
	}
	return fine;
}

static int64_t number(const struct kl_result *r) { return r->found ? kr_unpacked(r->value) : 0; }

static void put(struct kr_plan *p, const char *key, int64_t n)
{
	p->refrains |= n > KR_PACKED_MOST || n < -KR_PACKED_MOST;
	kr_plan_write(p, KL_WRITE, key, kr_plan_packed(p, n));
}

static void add_to(struct kr_plan *p, const struct kl_result *results, uint32_t step, int64_t n)
{
	put(p, p->steps[step].key, number(&results[step]) + n);
}

/* ---- what is read first ---- */

static void audit(struct kr_plan *p)
{
	p->program = AUDIT;
	p->reads_only = p->audits = true;
	(void)kr_plan_add(p, KL_READ, "w");
	kr_plan_prefix(p, 0, "d/");
	kr_plan_prefix(p, 0, "n/");
}

static void plan(struct kr_plan *p)
{
	static const uint8_t shares[] = {45, 43, 4, 4, 4};
	uint64_t at = kr_plan_below(p, 100);
	int d = (int)kr_plan_below(p, (uint64_t)districts(p->work)),
	    c = (int)kr_plan_below(p, (uint64_t)scaled(p->work, CUSTOMERS));

	if (kr_plan_chance(p, kr_job_parameter(p->work, "audit"))) {
		audit(p);
		return;
	}
	while (at >= shares[p->program])
		at -= shares[p->program++];
	p->at[DISTRICT] = d;
	p->at[CUSTOMER] = c;
	p->reads_only = p->program == STATUS || p->program == LEVEL;
	switch ((enum program)p->program) {
	case PAYMENT:
		(void)kr_plan_add(p, KL_READ, "w");
		(void)kr_plan_add(p, KL_READ, "d/%02d", d);
		(void)kr_plan_add(p, KL_READ, "c/%02d/%05d", d, c);
		break;
	case DELIVERY: kr_plan_prefix(p, 1, "q/%02d/", d); break;
	default:
		(void)kr_plan_add(p, KL_READ, "n/%02d", d);
		(void)kr_plan_add(p, KL_READ, "c/%02d/%05d", d, c);
		for (int i = 0; p->program == ORDER && i < LINES; i++)
			(void)kr_plan_add(p, KL_READ, "k/%05d",
				(int)kr_plan_below(p, (uint64_t)scaled(p->work, ITEMS) / LINES) * LINES + i);
	}
}

/* ---- what follows ---- */

static int64_t last_number(const char *key) { return strtoll(strrchr(key, '/') + 1, NULL, 10); }

static void from_order(struct kr_plan *p, char table, int64_t order)
{
	char low[KL_KEY], high[KL_KEY];

	(void)snprintf(low, sizeof low, "%c/%02d/%08lld", table, (int)p->at[DISTRICT],
		(long long)(order > 0 ? order : 0));
	(void)snprintf(high, sizeof high, "%c/%02d/%d0", table, (int)p->at[DISTRICT], LAST);
	kr_plan_range(p, low, high, 0);
}

/* One of a hundred is taken back: the customer has named an item that is not there. */
static void order(struct kr_plan *p, const struct kl_result *results)
{
	long long next = number(&results[0]);
	int d = (int)p->at[DISTRICT];
	char key[KL_KEY];

	p->refrains = kr_plan_chance(p, 1);
	add_to(p, results, 0, 1);
	for (uint32_t i = 2; i < 2 + LINES; i++) {
		int64_t n = 1 + (int64_t)kr_plan_below(p, 10), left = number(&results[i]) - n;

		put(p, p->steps[i].key, left < 10 ? left + STOCK : left);
		(void)snprintf(key, sizeof key, "l/%02d/%08lld/%u", d, next, i);
		put(p, key, last_number(p->steps[i].key) * 100 + n);
	}
	(void)snprintf(key, sizeof key, "o/%02d/%08lld", d, next);
	put(p, key, p->at[CUSTOMER] * 2);
	key[0] = 'q';
	put(p, key, 0);
}

static void payment(struct kr_plan *p, const struct kl_result *results)
{
	int64_t amount = 1 + (int64_t)kr_plan_below(p, 50);
	char key[KL_KEY];

	add_to(p, results, 0, amount);
	add_to(p, results, 1, amount);
	add_to(p, results, 2, -amount);
	(void)snprintf(key, sizeof key, "h/%u/%08llu", p->client, (unsigned long long)p->txns);
	put(p, key, amount);
}

/* The oldest order that waits: its mark goes, it is noted, and its customer owes the sum of its lines. */
static void delivery(struct kr_plan *p, const struct kl_result *results)
{
	if (p->stage == 1 && results[0].row_count > 0) {
		const char *key = results[0].rows[0].key;

		(void)kr_plan_add(p, KL_DELETE, "%s", key);
		(void)kr_plan_add(p, KL_READ, "o%s", key + 1);
		kr_plan_prefix(p, 0, "l%s/", key + 1);
	} else if (p->stage == 2 && results[2].found) {
		int64_t bought = number(&results[2]), sum = 0;

		for (size_t i = 0; i < results[3].row_count; i++)
			sum += kr_unpacked(results[3].rows[i].value) % 100;
		p->at[AMOUNT] = sum;
		put(p, p->steps[2].key, bought | 1);
		(void)kr_plan_add(p, KL_READ, "c/%02d/%05d", (int)p->at[DISTRICT], (int)(bought / 2));
	} else if (p->stage == 3) {
		add_to(p, results, 5, p->at[AMOUNT]);
	}
}

/* The items of the last orders, in stock. */
static void level(struct kr_plan *p, const struct kl_result *results)
{
	if (p->stage == 1)
		from_order(p, 'l', number(&results[0]) - RECENT);
	for (size_t i = 0; p->stage == 2 && i < results[2].row_count; i++)
		(void)kr_plan_add(p, KL_READ, "k/%05d", (int)(kr_unpacked(results[2].rows[i].value) / 100));
}

static void more(struct kr_plan *p, const struct kl_result *results)
{
	p->stage++;
	switch ((enum program)p->program) {
	case ORDER:
		if (p->stage == 1)
			order(p, results);
		break;
	case PAYMENT:
		if (p->stage == 1)
			payment(p, results);
		break;
	case STATUS:
		if (p->stage <= 2)
			from_order(p, p->stage == 1 ? 'o' : 'l', number(&results[0]) - 1);
		break;
	case DELIVERY: delivery(p, results); break;
	case LEVEL: level(p, results); break;
	default:
		for (size_t i = 0; p->stage == 1 && i < results[2].row_count; i++) {
			p->at[DISTRICT] = last_number(results[2].rows[i].key);
			from_order(p, 'o', kr_unpacked(results[2].rows[i].value) - 1);
		}
	}
}

static bool holds(struct kr_plan *p, const struct kl_result *results)
{
	int64_t sum = 0;

	if (!p->audits)
		return true;
	for (size_t i = 0; i < results[1].row_count; i++)
		sum += kr_unpacked(results[1].rows[i].value);
	if (sum != number(&results[0]) || results[2].row_count != (size_t)districts(p->work))
		return false;
	for (size_t i = 0; i < results[2].row_count; i++) {
		int64_t next = kr_unpacked(results[2].rows[i].value);
		const struct kl_result *orders = &results[3 + i];

		if (orders->row_count != (size_t)(next > 0) ||
			(next > 0 && last_number(orders->rows[0].key) != next - 1))
			return false;
	}
	return true;
}

const struct kr_workload kr_workload_tpcc = {
	.name = "tpcc",
	.title = "the five programs of TPC-C on one warehouse, and audits",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE) | KL_BIT(KL_DELETE) | KL_BIT(KL_RANGE),
	.initial = initial,
	.plan = plan,
	.more = more,
	.audit = audit,
	.holds = holds,
};
