/* Histories that are valid by construction, of simulated stores that each keep one level: none may be violated at a level that its store keeps, or at a weaker one, and none may fail.
 *
 * KRAIT_ORACLE_COUNT: how many histories; KRAIT_ORACLE_SEED: another sequence; KRAIT_ORACLE_STORE: that store alone; KRAIT_ORACLE_INITIAL
 * (absent, given, unknown): those initial values alone; KRAIT_ORACLE_FAILURES: go on to the n-th that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "asked.h"
#include "checkers/check.h"
#include "frontend/native.h"
#include "stores.h"

enum { MOST_LEVELS = 24, MOST_REASONS = 40 };

struct reason { char text[160]; uint64_t times; };

struct counts {
	uint64_t histories, questions, satisfied, undecided, failures;
	clock_t spent;
	struct reason reasons[MOST_REASONS]; /* why undecided; of the first kinds that were met */
};

static enum kr_status read_text(struct kr_ctx *ctx, const struct kr_str *text, struct kr_history *h, struct kr_err *err)
{
	struct kr_native reader;
	enum kr_status status = kr_history_init(h, &ctx->mem);

	if (status)
		return status;
	kr_native_begin(&reader, ctx, h, err);
	for (const char *line = kr_str_text((struct kr_str *)text), *end; !status && (end = strchr(line, '\n')) != NULL; line = end + 1)
		status = kr_native_copy_line(&reader, line, (size_t)(end - line));
	if (!status)
		status = kr_native_finish(&reader);
	if (!status)
		status = kr_history_finish(h, ctx, err);
	kr_native_done(&reader);
	if (status)
		kr_history_done(h);
	return status;
}

/* Reasons of one kind differ in numbers and names. */
static void count_reason(struct counts *c, const char *reason)
{
	size_t length = strcspn(reason, "(0123456789");

	for (int i = 0; i < MOST_REASONS; i++) {
		struct reason *r = &c->reasons[i];
		if (r->times > 0 && (strlen(r->text) != length || strncmp(r->text, reason, length) != 0))
			continue;
		if (r->times++ == 0)
			snprintf(r->text, sizeof r->text, "%.*s", (int)length, reason);
		return;
	}
}

static const char *judge(struct counts *c, const struct kr_decision *d)
{
	c->questions++;
	if (d->status == KR_UNSUPPORTED || (d->status == KR_OK && d->verdict.outcome == KR_UNDECIDED)) {
		c->undecided++;
		count_reason(c, d->status ? d->err.text : d->verdict.reason);
		return NULL;
	}
	if (d->status)
		return d->err.text[0] ? d->err.text : kr_status_text(d->status);
	c->satisfied += d->verdict.outcome == KR_SATISFIED;
	return d->verdict.outcome == KR_VIOLATED ? "violated" : NULL;
}

static bool check_levels(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis, enum store store, struct counts *c)
{
	struct kr_decision decisions[MOST_LEVELS] = {0};
	const char *const *ids = store_keeps(store);
	uint32_t n = 0;
	bool good = true;

	for (; ids[n]; n++) {
		enum kr_order by_default;
		const struct kr_level *level = kr_level_find(NULL, ids[n], &by_default);
		decisions[n].options = (struct kr_check_options){.level = level, .order = KR_ORDER_SESSION};
	}
	kr_check_all(ctx, h, analysis, decisions, n);
	for (uint32_t i = 0; i < n; i++) {
		const char *why = judge(c, &decisions[i]);
		if (why)
			print_message("store %s, level %s: %s\n", store_name(store), ids[i], why);
		good = good && !why;
		kr_verdict_done(&decisions[i].verdict, &ctx->mem);
	}
	return good;
}

static bool is_right(const struct kr_str *text, enum store store, struct counts *c)
{
	struct kr_analysis analysis;
	struct kr_history h;
	struct kr_ctx ctx;
	struct kr_err err;
	bool good;

	kr_err_init(&err);
	kr_ctx_init(&ctx, 20, 0);
	if (read_text(&ctx, text, &h, &err) != KR_OK) {
		print_message("not read: %s\n", err.text);
		return false;
	}
	c->histories++;
	enum kr_status status = kr_analyze(&ctx, &h, &analysis, &err);
	if (status)
		print_message("not analyzed: %s\n", err.text);
	good = !status && check_levels(&ctx, &h, &analysis, store, c);
	if (!status)
		kr_analysis_done(&analysis);
	kr_history_done(&h);
	return good;
}

static void try_store(enum store store, enum store_initial initial, struct kr_rng *rng, struct counts *c)
{
	struct kr_str text;
	struct kr_mem mem;

	clock_t start = clock();

	kr_mem_init(&mem, UINT64_MAX);
	kr_str_init(&text, &mem);
	store_trace(store, initial, 3 + (uint32_t)kr_rng_below(rng, 10), rng, &text);
	if (!is_right(&text, store, c)) {
		c->failures++;
		fputs(kr_str_text(&text), stdout);
	}
	kr_str_done(&text);
	c->spent += clock() - start;
}

static void print_counts(const char *what, const struct counts *c)
{
	print_message("%s: %llu histories, %llu questions, %llu satisfied, %llu undecided, %.1f s\n", what, (unsigned long long)c->histories,
		(unsigned long long)c->questions, (unsigned long long)c->satisfied, (unsigned long long)c->undecided,
		(double)c->spent / CLOCKS_PER_SEC);
	for (int i = 0; i < MOST_REASONS && c->reasons[i].times > 0; i++)
		print_message("    %8llu %s\n", (unsigned long long)c->reasons[i].times, c->reasons[i].text);
}

/* What is not told takes long, and is asked less. */
static enum store_initial asked_initial(uint64_t turn)
{
	static const char *const names[] = {"absent", "given", "unknown"};
	const char *only = getenv("KRAIT_ORACLE_INITIAL");

	for (size_t i = 0; only && i < KR_COUNT(names); i++)
		if (strcmp(only, names[i]) == 0)
			return (enum store_initial)i;
	return turn % 16 == 15 ? STORE_UNKNOWN : turn % 2 ? STORE_GIVEN : STORE_ABSENT;
}

static void stores_keep_their_levels(void **state)
{
	static struct counts told, untold;
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 2000), most = asked_number("KRAIT_ORACLE_FAILURES", 1);
	const char *only = getenv("KRAIT_ORACLE_STORE");
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 3));
	for (uint64_t n = 0; n < count; n++) {
		enum store store = (enum store)(n % STORES);
		enum store_initial initial = asked_initial(n / STORES);
		if (only && strcmp(only, store_name(store)) != 0)
			continue;
		try_store(store, initial, &rng, initial == STORE_UNKNOWN ? &untold : &told);
		if (told.failures + untold.failures >= most)
			fail_msg("history %llu", (unsigned long long)n);
	}
	assert_true(told.failures + untold.failures == 0);
	print_counts("initial values told", &told);
	print_counts("not told", &untold);
	assert_true(told.undecided * 100 <= told.questions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stores_keep_their_levels)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
