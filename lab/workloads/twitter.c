/* A network of people who follow each other, write posts and read those of whom they follow. A post is a row
 * t/WHO/NUMBER, the newest first in the order of keys; who follows whom a row f/WHO/WHOM; how many follow
 * somebody a counter n/WHOM, which every audit counts again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/workloads/workload.h"

#define PEOPLE 20
#define NEWEST INT64_C(9999999999)

enum { POSTS = 3, FOLLOWED = 5 };
enum program { POST, FOLLOW, UNFOLLOW, TIMELINE, AUDIT, PROGRAMS };

static const struct kr_parameter parameters[] = {
	{"scale", "twenties of people", 1, 1, 100},
	{"audit", "percent of the transactions that are audits", 10, 0, 100},
	{0},
};

static int people(const struct kr_job *work) { return PEOPLE * (int)kr_job_parameter(work, "scale"); }

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	char key[KL_KEY];

	for (int i = 0; i < people(work); i++) {
		(void)snprintf(key, sizeof key, "n/%04d", i);
		if (!kr_rows_add(mem, out, key, 0))
			return false;
	}
	return true;
}

static void audit(struct kr_plan *p)
{
	p->program = AUDIT;
	p->reads_only = p->audits = true;
	kr_plan_prefix(p, 0, "n/");
	kr_plan_prefix(p, 0, "f/");
}

static void plan(struct kr_plan *p)
{
	static const uint8_t shares[] = {30, 25, 10, 35};
	uint64_t at = kr_plan_below(p, 100), n = (uint64_t)people(p->work);
	int who = (int)kr_plan_below(p, n), whom = (who + 1 + (int)kr_plan_below(p, n - 1)) % (int)n;
	struct kr_step *step;
	int64_t value;

	if (kr_plan_chance(p, kr_job_parameter(p->work, "audit"))) {
		audit(p);
		return;
	}
	while (at >= shares[p->program])
		at -= shares[p->program++];
	p->at[0] = whom;
	switch ((enum program)p->program) {
	case POST:
		value = kr_plan_value(p, 0);
		step = kr_plan_add(p, KL_WRITE, "t/%04d/%010lld", who, (long long)(NEWEST - value % NEWEST));
		step->op.value = value;
		break;
	case FOLLOW:
		step = kr_plan_add(p, KL_INSERT, "f/%04d/%04d", who, whom);
		step->op.value = kr_plan_value(p, 0);
		break;
	case UNFOLLOW: (void)kr_plan_add(p, KL_DELETE, "f/%04d/%04d", who, whom); break;
	default: p->reads_only = true; kr_plan_prefix(p, FOLLOWED, "f/%04d/", who);
	}
}

static void more(struct kr_plan *p, const struct kl_result *results)
{
	struct kr_step *step;

	if (p->stage++ > 0 || p->program == AUDIT || p->program == POST)
		return;
	if (p->program != TIMELINE && results[0].done) {
		step = kr_plan_add(p, KL_INC, "n/%04d", (int)p->at[0]);
		step->op.value = p->program == FOLLOW ? 1 : -1;
	}
	for (size_t r = 0; p->program == TIMELINE && r < results[0].row_count; r++)
		kr_plan_prefix(p, POSTS, "t/%s/", strrchr(results[0].rows[r].key, '/') + 1);
}

static bool holds(struct kr_plan *p, const struct kl_result *results)
{
	const struct kl_result *counters = &results[0], *follows = &results[1];

	if (!p->audits)
		return true;
	for (size_t i = 0; i < counters->row_count; i++) {
		int64_t n = 0;

		for (size_t r = 0; r < follows->row_count; r++)
			n += strcmp(strrchr(follows->rows[r].key, '/'), strchr(counters->rows[i].key, '/')) ==
				0;
		if (n != counters->rows[i].value)
			return false;
	}
	return counters->row_count == (size_t)people(p->work);
}

const struct kr_workload kr_workload_twitter = {
	.name = "twitter",
	.title = "posts, timelines, and who follows whom; audits count followers",
	.parameters = parameters,
	.needs = KL_BIT(KL_WRITE) | KL_BIT(KL_INSERT) | KL_BIT(KL_DELETE) | KL_BIT(KL_INC) | KL_BIT(KL_RANGE),
	.initial = initial,
	.plan = plan,
	.more = more,
	.audit = audit,
	.holds = holds,
};
