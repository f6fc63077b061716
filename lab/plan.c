/* Plans: workloads by name and parameters, the values that are written, and the steps of a transaction. Each
 * value is written once in a database: what it is made of (run, category, client, how many that client has
 * written) stands in decimal digits, so that people can read it, too. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guess.h"
#include "lab/script.h"

#define CATEGORIES 4

static bool parse_parameter(struct kr_job *work, const char *name, const char *value, char why[256])
{
	const struct kr_workload *w = work->workload;
	struct kr_guess guess = {.typed = name};
	char near[128], *end;

	for (size_t i = 0; w->parameters[i].name; i++) {
		const struct kr_parameter *p = &w->parameters[i];

		kr_guess_try(&guess, p->name);
		if (strcmp(p->name, name) != 0)
			continue;
		work->of[i] = strtoll(value, &end, 10);
		if (end != value && !*end && work->of[i] >= p->least && work->of[i] <= p->most)
			return true;
		(void)snprintf(why, 256,
			"workload %s: %s: found '%.64s', expected an integer from %lld to %lld", w->name,
			name, value, (long long)p->least, (long long)p->most);
		return false;
	}
	(void)snprintf(why, 256, "workload %s has no parameter '%.64s'%.128s", w->name, name,
		kr_guess_text(&guess, "krait-lab workloads", near));
	return false;
}

static const struct kr_workload *find(const char *name, char why[256])
{
	struct kr_guess guess = {.typed = name};
	char near[128];

	for (size_t i = 0; i < kr_workload_registry_count; i++) {
		if (strcmp(kr_workload_registry[i]->name, name) == 0)
			return kr_workload_registry[i];
		kr_guess_try(&guess, kr_workload_registry[i]->name);
	}
	(void)snprintf(why, 256, "unknown workload '%.64s'%.128s", name,
		kr_guess_text(&guess, "krait-lab workloads", near));
	return NULL;
}

static bool is_script(const char *text)
{
	size_t length = strlen(text);

	return length > 4 && strcmp(text + length - 4, ".sql") == 0;
}

bool kr_job_parse(const char *text, struct kr_job *out, char why[256])
{
	char copy[512], *rest, *state = NULL;

	*out = (struct kr_job){0};
	if (is_script(text)) {
		out->workload = find("script", why);
		out->script = kr_script_read(text, why);
		return out->script;
	}
	if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy) {
		(void)snprintf(why, 256, "workload: found %zu bytes, expected at most %zu", strlen(text),
			sizeof copy - 1);
		return false;
	}
	rest = strchr(copy, ':');
	if (rest)
		*rest++ = '\0';
	out->workload = find(copy, why);
	if (!out->workload)
		return false;
	if (strcmp(copy, "script") == 0) {
		(void)snprintf(why, 256, "workload script: found no file, expected '-w FILE.sql'");
		return false;
	}
	for (size_t i = 0; out->workload->parameters[i].name; i++)
		out->of[i] = out->workload->parameters[i].usual;
	for (char *word = rest ? strtok_r(rest, ",", &state) : NULL; word;
		word = strtok_r(NULL, ",", &state)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		if (!parse_parameter(out, word, value ? value : "", why))
			return false;
	}
	return true;
}

int64_t kr_job_parameter(const struct kr_job *work, const char *name)
{
	for (size_t i = 0; work->workload->parameters[i].name; i++)
		if (strcmp(work->workload->parameters[i].name, name) == 0)
			return work->of[i];
	return 0;
}

static int64_t power_of_ten_above(uint64_t n)
{
	int64_t power = 10;

	while ((uint64_t)power <= n)
		power *= 10;
	return power;
}

bool kr_job_prepare(struct kr_job *work, struct kr_mem *mem, uint64_t run, uint32_t clients, uint64_t txns)
{
	int64_t keys = kr_job_parameter(work, "keys"), theta = kr_job_parameter(work, "zipf");

	work->clients = clients;
	work->value_client = power_of_ten_above(txns * KR_STEPS_MOST > 10000 ? txns * KR_STEPS_MOST : 10000);
	work->value_unit = work->value_client * power_of_ten_above(clients);
	work->value_base = (int64_t)run * CATEGORIES * work->value_unit;
	return theta <= 0 || kr_zipf_init(&work->zipf, mem, (uint32_t)keys, (double)theta / 100);
}

bool kr_rows_add(struct kr_mem *mem, struct kr_rows *rows, const char *key, int64_t value)
{
	struct kl_row row = {.value = value};

	(void)snprintf(row.key, sizeof row.key, "%s", key);
	return kr_vec_push(mem, rows, row);
}

/* ---- steps ---- */

uint64_t kr_plan_below(struct kr_plan *plan, uint64_t n) { return kr_rng_below(&plan->rng, n); }

bool kr_plan_chance(struct kr_plan *plan, int64_t percent)
{
	return kr_plan_below(plan, 100) < (uint64_t)percent;
}

int64_t kr_plan_category(const struct kr_plan *plan, uint32_t category)
{
	return plan->work->value_base + category * plan->work->value_unit;
}

int64_t kr_plan_value(struct kr_plan *plan, uint32_t category)
{
	return kr_plan_category(plan, category) + (plan->client + 1) * plan->work->value_client +
		(int64_t)++plan->writes;
}

#define PACKED (2 * (KR_PACKED_MOST + 1))

int64_t kr_packed(uint64_t unique, int64_t number)
{
	return (int64_t)unique * PACKED + number + KR_PACKED_MOST + 1;
}

int64_t kr_plan_packed(struct kr_plan *plan, int64_t number)
{
	return kr_packed((uint64_t)kr_plan_value(plan, 0), number);
}

int64_t kr_unpacked(int64_t value) { return value % PACKED - KR_PACKED_MOST - 1; }

bool kr_plan_has(const struct kr_plan *plan, uint64_t operations)
{
	return (plan->work->operations & operations) == operations;
}

struct kr_step *kr_plan_add(struct kr_plan *plan, enum kl_kind kind, const char *key, ...)
{
	struct kr_step *step = &plan->steps[plan->n];
	va_list args;

	if (plan->n == KR_STEPS_MOST)
		return NULL;
	plan->n++;
	*step = (struct kr_step){.op = {.kind = kind, .key = step->key}, .from = -1};
	va_start(args, key);
	(void)vsnprintf(step->key, sizeof step->key, key, args);
	va_end(args);
	return step;
}

void kr_plan_range(struct kr_plan *plan, const char *low, const char *high, uint32_t limit)
{
	struct kr_step *step = kr_plan_add(plan, KL_RANGE, "%s", low);

	if (!step)
		return;
	(void)snprintf(step->high, sizeof step->high, "%s", high);
	step->op.high = step->high;
	step->op.limit = limit;
}

void kr_plan_prefix(struct kr_plan *plan, uint32_t limit, const char *prefix, ...)
{
	char low[KL_KEY], high[KL_KEY];
	va_list args;

	va_start(args, prefix);
	(void)vsnprintf(low, sizeof low, prefix, args);
	va_end(args);
	(void)snprintf(high, sizeof high, "%s", low);
	high[strlen(high) - 1]++;
	kr_plan_range(plan, low, high, limit);
}

void kr_plan_write(struct kr_plan *plan, enum kl_kind kind, const char *key, int64_t value)
{
	struct kr_step *step = kr_plan_add(plan, kind, "%s", key);

	if (step)
		step->op.value = value;
}

void kr_plan_growing(struct kr_plan *p, enum kl_kind read, enum kl_kind add, const char *prefix,
	const char *size)
{
	const struct kr_job *work = p->work;
	uint64_t n = 1 + kr_plan_below(p, (uint64_t)kr_job_parameter(work, "ops")),
		 keys = (uint64_t)kr_job_parameter(work, "keys");

	p->reads_only = true;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t k = kr_plan_below(p, keys);
		/* as if all clients were as far */
		uint64_t grown = p->writes * work->clients / (keys * (uint64_t)kr_job_parameter(work, size));
		bool reads = kr_plan_chance(p, kr_job_parameter(work, "reads"));
		struct kr_step *step = kr_plan_add(p, reads ? read : add, "%s%llu.%llu", prefix,
			(unsigned long long)k, (unsigned long long)grown);

		p->reads_only &= reads;
		if (step && !reads)
			step->op.value = kr_plan_value(p, 0);
	}
}
