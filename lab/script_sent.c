/* A statement as it is sent: parameters get their values, and what is meant is known.
 *
 *     :key(N)  :int(A,B)  :zipf(N,THETA)     drawn;  :key the last one of these again
 *     :value                                 written once
 *     :row.COLUMN                            of the last answer that has such a column */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lab/script.h"

struct expanding {
	struct kr_plan *plan;
	const struct kl_result *results;
	int64_t value;
	bool has_value, lacks; /* lacks: no earlier answer has a row with what is asked */
	char *why;
};

static bool wrong(struct expanding *e, const char *at)
{
	(void)snprintf(e->why, 256,
		"script: found '%.32s', expected :key(N), :key, :value, :int(A,B), :zipf(N,THETA) or "
		":row.COLUMN",
		at);
	return false;
}

/* A rank below n, as often as its place to the power of -theta: by throwing others away, without a table. */
static int64_t zipf(struct kr_plan *plan, int64_t n, double theta)
{
	for (;;) {
		int64_t rank = (int64_t)kr_plan_below(plan, (uint64_t)n);

		if (kr_rng_double(&plan->rng) < pow((double)rank + 1, -theta))
			return rank;
	}
}

static const char *cell_of(const struct kl_result *result, const char *column, size_t length)
{
	for (uint32_t i = 0; i < result->columns && result->lines > 0; i++)
		if (strlen(kl_result_cell(result, -1, i)) == length &&
			strncasecmp(kl_result_cell(result, -1, i), column, length) == 0)
			return kl_result_cell(result, 0, i);
	return NULL;
}

/* An earlier answer's column, a number. Without answers, some number. */
static const char *column(struct expanding *e, const char **at)
{
	const char *name = *at, *found = NULL;

	while (isalnum((unsigned char)**at) || **at == '_')
		(*at)++;
	if (!e->results)
		return "1";
	for (uint32_t i = 0; i < e->plan->n; i++) {
		const char *cell = cell_of(&e->results[i], name, (size_t)(*at - name));

		found = cell ? cell : found;
	}
	e->lacks |= !found || strspn(found, "-0123456789") != strlen(found);
	return found ? found : "NULL";
}

/* One parameter, behind its colon. */
static bool expand_one(struct expanding *e, const char **at, char *out, size_t size)
{
	long long a, b;
	double theta;
	int length = 0;
	int64_t n;

	if (strncmp(*at, "row.", 4) == 0) {
		*at += 4;
		return snprintf(out, size, "%s", column(e, at)) < (int)size;
	}
	if (sscanf(*at, "key(%lld)%n", &a, &length) == 1 && length > 0 && a > 0)
		n = (int64_t)kr_plan_below(e->plan, (uint64_t)a);
	else if (sscanf(*at, "int(%lld,%lld)%n", &a, &b, &length) == 2 && length > 0 && a <= b)
		n = a + (int64_t)kr_plan_below(e->plan, (uint64_t)(b - a) + 1);
	else if (sscanf(*at, "zipf(%lld,%lf)%n", &a, &theta, &length) == 2 && length > 0 && a > 0 &&
		theta >= 0 && theta <= 5)
		n = zipf(e->plan, a, theta);
	else if (strncmp(*at, "key", 3) == 0 && e->plan->stage > 0 && (*at)[3] != '(')
		n = e->plan->at[0], length = 3;
	else if (strncmp(*at, "value", 5) == 0)
		n = e->has_value ? e->value : kr_plan_value(e->plan, 0), length = 5;
	else
		return false;
	if ((*at)[0] == 'k' || (*at)[0] == 'z') {
		e->plan->at[0] = n;
		e->plan->stage = 1;
	}
	if ((*at)[0] == 'v') {
		e->value = n;
		e->has_value = true;
	}
	*at += length;
	return snprintf(out, size, "%" PRId64, n) < (int)size;
}

static bool expand(struct expanding *e, const char *text, char *out, size_t size)
{
	size_t n = 0;
	bool quoted = false;

	while (*text && n + 1 < size) {
		/* "::" is a cast */
		bool parameter = !quoted && text[0] == ':' && islower((unsigned char)text[1]) &&
			(n == 0 || out[n - 1] != ':');

		quoted ^= *text == '\'';
		if (!parameter) {
			out[n++] = *text++;
			out[n] = '\0';
			continue;
		}

		const char *colon = text++;

		if (!expand_one(e, &text, out + n, size - n))
			return wrong(e, colon);
		n += strlen(out + n);
	}
	out[n] = '\0';
	return !*text || wrong(e, text);
}

/* What stands behind "-->", parameters put in. */
static bool mean(const char *text, struct kr_meaning *out)
{
	static const struct {
		const char *name;
		enum kl_kind kind;
		int words;
	} verbs[] = {{"none", KL_SQL, 0}, {"r", KL_READ, 1}, {"w", KL_WRITE, 2}, {"d", KL_DELETE, 1},
		{"insert", KL_INSERT, 2}, {"inc", KL_INC, 2}, {"range", KL_RANGE, 2}, {"scan", KL_SCAN, 1}};
	char verb[16], first[KL_KEY] = "", second[KL_KEY] = "", *end = second;
	int words = sscanf(text, "%15s %39s %39s", verb, first, second) - 1;

	*out = (struct kr_meaning){
		.op = {.key = out->key, .high = out->high, .ge = INT64_MIN, .lt = INT64_MAX}};
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
		if (strcmp(verb, verbs[i].name) != 0 ||
			(words != verbs[i].words && !(verbs[i].kind == KL_SCAN && words == 0)))
			continue;
		out->none = verbs[i].kind == KL_SQL;
		out->op.kind = verbs[i].kind;
		(void)snprintf(out->key, sizeof out->key, "%s", first);
		(void)snprintf(out->high, sizeof out->high, "%s", second);
		if (verbs[i].words == 2 && verbs[i].kind != KL_RANGE)
			out->op.value = strtoll(second, &end, 10);
		out->by_column = verbs[i].kind == KL_READ; /* if the answer has such a column */
		return *end == '\0' || verbs[i].kind == KL_RANGE;
	}
	return false;
}

bool kr_script_expand(const struct kr_script *script, struct kr_plan *plan, uint32_t statement,
	const struct kl_result *results, struct kr_script_sent *out, char why[256])
{
	const struct kr_script_statement *s = &script->statements[statement];
	struct expanding e = {.plan = plan, .results = results, .why = why};
	char meaning[256];

	if (!expand(&e, s->sql, out->sql, sizeof out->sql))
		return false;
	out->skipped = e.lacks;
	if (!s->meaning) {
		out->meaning.none = !kr_sql_meaning(&script->tables, out->sql, &out->meaning);
		return true;
	}
	if (!expand(&e, s->meaning, meaning, sizeof meaning))
		return false;
	if (mean(meaning, &out->meaning))
		return true;
	(void)snprintf(why, 256,
		"script: found '--> %.64s', expected none, r KEY, w KEY VALUE, d KEY, insert KEY VALUE, inc "
		"KEY N, "
		"range LOW HIGH or scan PREFIX",
		s->meaning);
	return false;
}
