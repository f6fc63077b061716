/* Growing keys with so many reads and parts that the analysis does not make them all at once: it says so, makes few observations, and verdicts are those of what was simulated, or planted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "frontend/format.h"
#include "frontend/generate.h"

static enum kr_outcome ask(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis, const char *level)
{
	struct kr_check_options options = {.order = KR_ORDER_NONE};
	struct kr_verdict verdict;
	struct kr_err err;
	enum kr_order by_default;

	kr_err_init(&err);
	options.level = kr_level_find(NULL, level, &by_default);
	assert_non_null(options.level);

	enum kr_status status = kr_check(ctx, h, analysis, &options, &verdict, &err);
	enum kr_outcome outcome = verdict.outcome;

	if (status)
		fail_msg("%s: %s", level, err.text);
	kr_verdict_done(&verdict, &ctx->mem);
	return outcome;
}

static struct kr_generate_options sized(uint32_t txns)
{
	struct kr_generate_options options;

	kr_generate_defaults(&options);
	options.txns = txns;
	options.keys = 4;
	options.keep_lists = true;
	return options;
}

/* The history's analysis is coarse, and smaller than the exact one; the levels have the outcome told. */
static void expect(const struct kr_generate_options *options, const char *const *levels, enum kr_outcome outcome)
{
	struct kr_analysis coarse, exact;
	struct kr_history h;
	struct kr_ctx ctx;

	kr_ctx_init(&ctx, 0, 0);
	assert_int_equal(kr_generate(&ctx, options, &h, NULL), KR_OK);
	assert_int_equal(kr_analyze(&ctx, &h, &coarse, NULL), KR_OK);
	assert_int_equal(kr_analyze_exactly(&ctx, &h, false, &exact, NULL), KR_OK);
	assert_true(coarse.coarse);
	assert_false(exact.coarse);
	assert_true(coarse.asg.nobs < exact.asg.nobs / 4);
	kr_analysis_done(&exact);
	for (; *levels; levels++)
		if (ask(&ctx, &h, &coarse, *levels) != outcome)
			fail_msg("%s: unexpected", *levels);
	kr_analysis_done(&coarse);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

static const char *const all[] = {"ser", "si", "psi", "cc", "ra", "pl-2", NULL};

static void sets_have_ranks(void **state)
{
	struct kr_generate_options options = sized(400);

	(void)state;
	options.adds = 50;
	for (options.seed = 1; options.seed <= 3; options.seed++)
		expect(&options, all, KR_SATISFIED);
}

static void counters_add_up(void **state)
{
	struct kr_generate_options options = sized(400);

	(void)state;
	options.incs = 50;
	options.untold = 50;
	for (options.seed = 1; options.seed <= 3; options.seed++)
		expect(&options, all, KR_SATISFIED);
}

static void kinds_mix(void **state)
{
	struct kr_generate_options options = sized(800);

	(void)state;
	options.incs = 17;
	options.appends = 17;
	options.adds = 16;
	options.untold = 50;
	for (options.seed = 1; options.seed <= 3; options.seed++)
		expect(&options, all, KR_SATISFIED);
}

/* Always two are told the same result: both saw the version before, and one missed the other. Every number told is that of a version all the same. */
static void lost_updates_may_be(void **state)
{
	struct kr_read_options options = {0};
	struct kr_analysis analysis;
	struct kr_history h;
	struct kr_ctx ctx;
	struct kr_str text;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	for (int i = 0; i < 300; i++)
		kr_str_format(&text, "{\"ops\": [[\"inc\", \"x\", 1, %d]]}\n", 1 + i / 2);
	assert_int_equal(kr_read_memory(&ctx, "x", kr_str_text(&text), text.n, &options, &h, NULL), KR_OK);
	kr_str_done(&text);
	assert_int_equal(kr_analyze_sums(&ctx, &h, &analysis, NULL), KR_OK);
	assert_true(analysis.coarse);
	kr_analysis_done(&analysis);
	assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
	assert_int_equal(ask(&ctx, &h, &analysis, "pl-2"), KR_SATISFIED);
	kr_analysis_done(&analysis);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

/* From what the anomalies are: two reads of a set that each miss what the other one shows, whatever the level; write skew of serializability alone. */
static void anomalies_are_found(void **state)
{
	static const char *const forked[] = {"ser", "cc", "pl-2", NULL}, *const skewed[] = {"ser", NULL}, *const allowed[] = {"si", "cc", NULL};
	struct kr_generate_options options = sized(400);

	(void)state;
	options.adds = 50;
	options.anomaly = "forked-set";
	expect(&options, forked, KR_VIOLATED);
	options.anomaly = "write-skew";
	expect(&options, skewed, KR_VIOLATED);
	expect(&options, allowed, KR_SATISFIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_have_ranks),
		cmocka_unit_test(counters_add_up),
		cmocka_unit_test(kinds_mix),
		cmocka_unit_test(lost_updates_may_be),
		cmocka_unit_test(anomalies_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
