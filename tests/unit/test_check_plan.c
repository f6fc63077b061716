/* checkers/check_all: who is told of decisions and when, what limits and known proofs do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "frontend/format.h"

enum { LEVELS_MOST = 64 };

struct fixture {
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_decision all[LEVELS_MOST];
	uint32_t n, told;
	const struct kr_decision *first;
	uint32_t times[LEVELS_MOST];
	uint32_t analyses;   /* how often one was asked for */
	enum kr_status made; /* what that returns */
};

static void set_up(struct fixture *f, const char *trace)
{
	const struct kr_level *level;
	char path[500];

	memset(f, 0, sizeof *f);
	snprintf(path, sizeof path, "%s/traces/%s/trace.jsonl", KR_SOURCE_DIR, trace);
	kr_ctx_init(&f->ctx, 0, 0);
	assert_int_equal(kr_read_trace(&f->ctx, path, NULL, &f->h, NULL), KR_OK);
	assert_int_equal(kr_analyze(&f->ctx, &f->h, &f->analysis, NULL), KR_OK);
	for (size_t i = 0; (level = kr_level_at(NULL, i)) != NULL; i++)
		f->all[f->n++].options =
			(struct kr_check_options){.level = level, .order = level->default_order};
}

static void tear_down(struct fixture *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		kr_verdict_done(&f->all[i].verdict, &f->ctx.mem);
	kr_analysis_done(&f->analysis);
	kr_history_done(&f->h);
	assert_int_equal(f->ctx.mem.used, 0);
}

static void count(void *data, struct kr_decision *d)
{
	struct fixture *f = data;

	if (f->told++ == 0)
		f->first = d;
	f->times[d - f->all]++;
}

static struct kr_decision *of(struct fixture *f, const char *id)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (strcmp(f->all[i].options.level->id, id) == 0)
			return &f->all[i];
	fail();
	return NULL;
}

static enum kr_status analyze(void *data, const struct kr_analysis **out)
{
	struct fixture *f = data;

	f->analyses++;
	*out = &f->analysis;
	return f->made;
}

static enum kr_status plan(struct fixture *f)
{
	return kr_check_planned(&f->ctx, &f->h, NULL, f->all, f->n,
		&(struct kr_check_plan){.decided = count, .analyze = analyze, .data = f});
}

/* By the order of the lines, which ends do not contradict; with a transaction of unknown outcome, which was
 * seen; without one, which cannot have taken effect; by ends, where the lines are grouped. */
static void no_analysis_where_an_order_is_told(void **state)
{
	static const char *const traces[] = {"serial", "unknown-append", "unknown-unobserved",
		"recorded-mariadb-serializable"};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(traces); i++) {
		struct fixture f;
		set_up(&f, traces[i]);
		assert_int_equal(plan(&f), KR_OK);
		assert_int_equal(f.analyses, 0);
		assert_int_equal(f.told, f.n);
		for (uint32_t k = 0; k < f.n; k++) {
			assert_int_equal(f.all[k].verdict.outcome, KR_SATISFIED);
			assert_true(f.all[k].verdict.told);
		}
		tear_down(&f);
	}
}

static void one_analysis_where_none_is(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "write-skew");
	assert_int_equal(plan(&f), KR_OK);
	assert_int_equal(f.analyses, 1);
	assert_int_equal(of(&f, "ser")->verdict.outcome, KR_VIOLATED);
	assert_int_equal(of(&f, "si")->verdict.outcome, KR_SATISFIED);
	assert_false(of(&f, "si")->verdict.told);
	tear_down(&f);
}

/* Nobody is told of what then stays open. */
static void an_analysis_may_fail(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "write-skew");
	f.made = KR_UNSUPPORTED;
	assert_int_equal(plan(&f), KR_UNSUPPORTED);
	assert_int_equal(f.told, 0);
	tear_down(&f);
}

/* The strongest level first, and each once. */
static void each_is_told_once(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "write-skew");
	kr_check_planned(&f.ctx, &f.h, &f.analysis, f.all, f.n,
		&(struct kr_check_plan){.decided = count, .data = &f});
	assert_int_equal(f.told, f.n);
	for (uint32_t i = 0; i < f.n; i++)
		assert_int_equal(f.times[i], 1);
	assert_ptr_equal(f.first, of(&f, "pl-ss"));
	assert_int_equal(of(&f, "ser")->verdict.outcome, KR_VIOLATED);
	assert_int_equal(of(&f, "si")->verdict.outcome, KR_SATISFIED);
	tear_down(&f);
}

/* No time at all: everything is undecided, and says what to turn. */
static void limits_are_named(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "write-skew");
	kr_check_planned(&f.ctx, &f.h, &f.analysis, f.all, f.n,
		&(struct kr_check_plan){.each_ns = 1, .all_ns = 1, .decided = count, .data = &f});
	assert_int_equal(f.told, f.n);
	for (uint32_t i = 0; i < f.n; i++) {
		assert_int_equal(f.all[i].status, KR_OK);
		assert_int_equal(f.all[i].verdict.outcome, KR_UNDECIDED);
		assert_non_null(strstr(f.all[i].verdict.reason, "--timeout SECONDS"));
	}
	assert_int_equal(f.ctx.stopped, KR_OK); /* the context's own limits are others */
	tear_down(&f);
}

/* A cycle that is known breaks every level that forbids it, however little time there is to search; one that
 * holds under an order only which the trace gives says nothing. */
static void known_proofs_count(void **state)
{
	struct kr_decision known = {0};
	enum kr_order order;
	struct fixture f;

	(void)state;
	for (int given = 0; given < 2; given++) {
		set_up(&f, "write-skew");
		known.options.level = kr_level_find(NULL, "ser", &order);
		known.options.order = KR_ORDER_NONE;
		assert_int_equal(kr_check(&f.ctx, &f.h, &f.analysis, &known.options, &known.verdict, NULL),
			KR_OK);
		assert_int_equal(known.verdict.outcome, KR_VIOLATED);
		known.verdict.given = given ? KR_GIVEN_ONLY : KR_GIVEN_NOT;
		kr_check_planned(&f.ctx, &f.h, &f.analysis, f.all, f.n,
			&(struct kr_check_plan){.each_ns = 1, .known = &known, .known_count = 1});
		assert_int_equal(of(&f, "pl-2.99")->verdict.outcome, given ? KR_UNDECIDED : KR_VIOLATED);
		assert_int_equal(of(&f, "si")->verdict.outcome, KR_UNDECIDED);
		kr_verdict_done(&known.verdict, &f.ctx.mem);
		tear_down(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_analysis_where_an_order_is_told),
		cmocka_unit_test(one_analysis_where_none_is),
		cmocka_unit_test(an_analysis_may_fail),
		cmocka_unit_test(each_is_told_once),
		cmocka_unit_test(limits_are_named), cmocka_unit_test(known_proofs_count)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
