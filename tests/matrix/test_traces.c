/* Every bundled trace, at every level and order that exist, against its file `expect`. A level without a line in every file fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expect.h"
#include "frontend/format.h"
#include "report/report.h"

enum { ORDERS = KR_ORDER_REALTIME + 1 };

static char names[EXPECT_MOST_TRACES][EXPECT_NAME_SIZE];
static struct CMUnitTest tests[EXPECT_MOST_TRACES + 1];

/* How often each level was expected to be satisfied and violated; a level needs both. */
static struct { unsigned satisfied, violated; } seen[100];

static bool is_level(const char *id)
{
	for (size_t i = 0; kr_level_at(NULL, i); i++)
		if (strcmp(kr_level_at(NULL, i)->id, id) == 0)
			return true;
	return false;
}

static void check_level(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis, const struct kr_check_options *options,
	const struct expected *expected)
{
	struct kr_verdict verdict;
	struct kr_err err;
	char anomaly[KR_ANOMALY_NAME_SIZE] = "";
	const char *level = options->level->id, *order = kr_order_name(options->order);

	kr_err_init(&err);
	if (kr_check(ctx, h, analysis, options, &verdict, &err) != KR_OK)
		fail_msg("%s, order %s: %s", level, order, err.text);
	if (verdict.outcome == KR_VIOLATED)
		kr_report_anomaly(h, &verdict.certificate, anomaly);
	if (verdict.outcome != (expected->satisfied ? KR_SATISFIED : KR_VIOLATED))
		fail_msg("%s, order %s: %s %s, expected %s", level, order, kr_report_verdict(verdict.outcome), anomaly, expected->satisfied ? "satisfied" : "violated");
	if (expected->anomaly[0] && strcmp(expected->anomaly, anomaly) != 0)
		fail_msg("%s, order %s: violated %s, expected %s", level, order, anomaly, expected->anomaly);
	kr_verdict_done(&verdict, &ctx->mem);
}

static void check_trace(void **state)
{
	char folder[400], path[500];
	struct kr_read_options read_options = {0};
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_err err;
	const char *bad;

	snprintf(folder, sizeof folder, "%s/traces/%s", KR_SOURCE_DIR, (const char *)*state);
	snprintf(path, sizeof path, "%s/trace.jsonl", folder);
	char *text = expect_read(folder, "expect");
	assert_non_null(text);
	if ((bad = expect_problem(text, is_level)) != NULL)
		fail_msg("%s/expect: %s", folder, bad);
	kr_err_init(&err);
	kr_ctx_init(&ctx, 60, 0);
	if (kr_read_trace(&ctx, path, &read_options, &h, &err) != KR_OK || kr_analyze(&ctx, &h, &analysis, &err) != KR_OK)
		fail_msg("%s: %s", path, err.text);
	for (size_t l = 0; kr_level_at(NULL, l); l++) {
		for (int order = 0; order < ORDERS; order++) {
			struct kr_check_options options = {.level = kr_level_at(NULL, l), .order = (enum kr_order)order};
			struct expected expected = expect_find(text, options.level->id, options.order, &bad);
			if (bad || !expected.found)
				fail_msg("%s/expect: %s, order %s: %s", folder, options.level->id, kr_order_name(options.order), bad ? bad : "no line");
			check_level(&ctx, &h, &analysis, &options, &expected);
			seen[l].satisfied += expected.satisfied;
			seen[l].violated += !expected.satisfied;
		}
	}
	kr_analysis_done(&analysis);
	kr_history_done(&h);
	assert_true(ctx.mem.used == 0);
	free(text);
}

static void every_level_has_both(void **state)
{
	(void)state;
	for (size_t l = 0; kr_level_at(NULL, l); l++)
		if (seen[l].satisfied == 0 || seen[l].violated == 0)
			fail_msg("%s: no bundled trace %s it", kr_level_at(NULL, l)->id, seen[l].satisfied == 0 ? "satisfies" : "violates");
}

int main(void)
{
	size_t n = expect_traces(names);

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = names[i], .test_func = check_trace, .initial_state = names[i]};
	tests[n] = (struct CMUnitTest){.name = "every level has a satisfied and a violated trace", .test_func = every_level_has_both};
	return n == 0 ? 1 : _cmocka_run_group_tests("traces", tests, n + 1, NULL, NULL);
}
