/* What is left of a check when memory or time runs out on its way: "undecided" or the verdict that it gives without limits, and no memory. Bundled traces with their first,
 * second, ... allocation failing; and a larger history with deadlines from "passed already" to "never". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "checkers/check.h"
#include "frontend/format.h"

struct question {
	const char *path; /* in the table: a folder of traces/ */
	enum kr_order order;
	const char *passes, *backend; /* NULL: the checker's */
};

/* Reads, analyzes and checks within ctx. `status` is that of the step that failed, or KR_OK: then *outcome is set. */
static enum kr_status ask(struct kr_ctx *ctx, const struct question *q, enum kr_outcome *outcome, struct kr_err *err)
{
	struct kr_read_options read_options = {0};
	struct kr_check_options options = {.order = q->order, .passes = q->passes, .backend = q->backend};
	struct kr_analysis analysis;
	struct kr_verdict verdict;
	struct kr_history h;
	enum kr_order default_order;

	options.level = kr_level_find(NULL, "ser", &default_order);
	kr_err_init(err);

	enum kr_status status = kr_read_trace(ctx, q->path, &read_options, &h, err);

	if (status)
		return status;
	status = kr_analyze(ctx, &h, &analysis, err);
	if (!status) {
		status = kr_check(ctx, &h, &analysis, &options, &verdict, err);
		*outcome = verdict.outcome;
		kr_verdict_done(&verdict, &ctx->mem);
		kr_analysis_done(&analysis);
	}
	kr_history_done(&h);
	return status;
}

static enum kr_outcome ask_without_limits(const struct question *q)
{
	enum kr_outcome outcome = KR_UNDECIDED;
	struct kr_ctx ctx;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	if (ask(&ctx, q, &outcome, &err) != KR_OK || outcome == KR_UNDECIDED)
		fail_msg("%s: no verdict without limits: %s", q->path, err.text);
	assert_int_equal(ctx.mem.used, 0);
	return outcome;
}

/* One try within a limit: true when it was decided. */
static bool try_within(struct kr_ctx *ctx, const struct question *q, enum kr_status limit, enum kr_outcome truth, uint64_t number)
{
	enum kr_outcome outcome = KR_UNDECIDED;
	struct kr_err err;
	enum kr_status status = ask(ctx, q, &outcome, &err);

	if ((status != KR_OK && status != limit) || (status == KR_OK && outcome != KR_UNDECIDED && outcome != truth))
		fail_msg("%s, order %s, limit %u: status %d (%s), outcome %d", q->path, kr_order_name(q->order), (unsigned)number, (int)status, err.text,
			(int)outcome);
	if (status == KR_OK && err.status != KR_OK) /* a limit that became a verdict is no error: whoever asks next with the same record would be blamed for it */
		fail_msg("%s, order %s, limit %u: no error, but told: %s", q->path, kr_order_name(q->order), (unsigned)number, err.text);
	if (ctx->mem.used != 0)
		fail_msg("%s, order %s, limit %u: %zu bytes leaked", q->path, kr_order_name(q->order), (unsigned)number, ctx->mem.used);
	return status == KR_OK && outcome == truth;
}

/* Returns the number of the allocation that never came. */
static uint64_t fail_each_allocation(const struct question *q)
{
	enum kr_outcome truth = ask_without_limits(q);
	struct kr_ctx ctx;
	uint64_t n = 0;

	do {
		kr_ctx_init(&ctx, 0, 0);
		ctx.mem.fail_at = ++n;
	} while (!try_within(&ctx, q, KR_NOMEM, truth, n) || ctx.mem.count >= n);
	return n;
}

static const char saying[] = "so,rt,wr,ww"; /* what the trace says, so that much is left to the back end */

/* Each trace takes other ways: anomalies, passes alone, scheduling alone, Z3's yes and no; unknown outcomes, equal values, given orders, untold initial values. */
static const struct question questions[] = {
	{"aborted-read", KR_ORDER_NONE, NULL, NULL},
	{"serial", KR_ORDER_NONE, NULL, NULL},
	{"write-cycle", KR_ORDER_NONE, NULL, NULL},
	{"write-skew", KR_ORDER_NONE, saying, "z3"},
	{"stale-read", KR_ORDER_REALTIME, NULL, NULL},
	{"blind-writes", KR_ORDER_NONE, saying, "z3"},
	{"blind-writes-fork", KR_ORDER_NONE, NULL, NULL},
	{"blind-writes-fork", KR_ORDER_SESSION, saying, "z3"},
	{"either-order-fails", KR_ORDER_SESSION, NULL, NULL},
	{"duplicate-values-satisfied", KR_ORDER_NONE, saying, "z3"},
	{"duplicate-values-violated", KR_ORDER_SESSION, NULL, NULL},
	{"duplicate-values-violated", KR_ORDER_REALTIME, saying, "z3"},
	{"duplicate-values-no-source", KR_ORDER_REALTIME, NULL, NULL},
	{"unknown-alternatives", KR_ORDER_NONE, saying, "z3"},
	{"unknown-observed", KR_ORDER_REALTIME, NULL, NULL},
	{"unknown-impossible", KR_ORDER_REALTIME, NULL, NULL},
	{"unknown-needs-two-initial-values", KR_ORDER_NONE, saying, "z3"},
	{"unknown-too-late", KR_ORDER_REALTIME, NULL, NULL},
	{"version-orders-meet", KR_ORDER_NONE, NULL, NULL},
	{"version-order-of-unknown", KR_ORDER_SESSION, saying, "z3"},
	{"version-order-broken", KR_ORDER_NONE, NULL, NULL},
	{"initial-unknown-violated", KR_ORDER_NONE, saying, "z3"},
	{"initial-unknown-twice", KR_ORDER_NONE, saying, "z3"},
	{"two-states-of-one-key", KR_ORDER_NONE, saying, "z3"},
	{"initial-unknown-and-no-cycle", KR_ORDER_NONE, NULL, NULL},
	{"delete-between-inserts", KR_ORDER_SESSION, saying, "z3"},
	{"insert-failed-by-unknown", KR_ORDER_SESSION, saying, "z3"},
	{"insert-failed-by-unknown", KR_ORDER_SESSION, saying, "exhaustive"},
	{"duplicate-values-violated", KR_ORDER_SESSION, saying, "exhaustive"},
};

static void every_failed_allocation_is_survived(void **state)
{
	struct question q = *(const struct question *)*state;
	char path[300];

	snprintf(path, sizeof path, "%s/traces/%s/trace.jsonl", KR_SOURCE_DIR, q.path);
	q.path = path;
	assert_true(fail_each_allocation(&q) > 10);
}

/* Blind writes of few values to few keys, and reads of the last one: many candidates, many orders, and a serial history. With `twisted` its last reader sees what no order allows. */
static void write_history(const char *path, uint32_t txns, bool twisted)
{
	enum { KEYS = 4, SESSIONS = 6, VALUES = 40 };
	uint32_t last[KEYS] = {0};
	struct kr_rng rng;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	kr_rng_init(&rng, 7);
	fputs("{\"krait\": 1}\n", file);
	for (uint32_t t = 0; t < txns; t++) {
		uint32_t k = (uint32_t)kr_rng_below(&rng, KEYS), other = (uint32_t)kr_rng_below(&rng, KEYS);
		uint32_t value = 1 + (uint32_t)kr_rng_below(&rng, VALUES);
		fprintf(file, "{\"id\": %u, \"s\": \"s%u\", \"ops\": [", t, t % SESSIONS);
		if (last[other])
			fprintf(file, "[\"r\", \"k%u\", %u], ", other, last[other]);
		fprintf(file, "[\"w\", \"k%u\", %u]]}\n", k, value);
		last[k] = value;
	}
	if (twisted) { /* a lost update */
		fputs("{\"id\": \"p\", \"s\": \"p\", \"ops\": [[\"w\", \"z\", 1]]}\n{\"id\": \"q\", \"s\": \"q\", \"ops\": [[\"r\", \"z\", 1], [\"w\", \"z\", 2]]}\n", file);
		fputs("{\"id\": \"r\", \"s\": \"r\", \"ops\": [[\"r\", \"z\", 1], [\"w\", \"z\", 3]]}\n", file);
	}
	assert_int_equal(fclose(file), 0);
}

static void every_deadline_is_survived(void **state)
{
	char path[] = "/tmp/krait-limits-XXXXXX";
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	close(file);
	for (int twisted = 0; twisted < 2; twisted++) {
		write_history(path, 400, twisted);
		for (enum kr_order order = KR_ORDER_NONE; order <= KR_ORDER_REALTIME; order++) {
			struct question q = {path, order, NULL, NULL};
			enum kr_outcome truth = twisted ? KR_VIOLATED : KR_SATISFIED;
			bool decided = false;
			assert_int_equal(ask_without_limits(&q), truth);
			for (uint32_t us = 0; !decided; us = us + us / 4 + 1) {
				struct kr_ctx ctx;
				kr_ctx_init(&ctx, 0, 0);
				ctx.deadline_ns = kr_now_ns() + (int64_t)us * 1000;
				decided = try_within(&ctx, &q, KR_TIMEOUT, truth, us);
			}
		}
	}
	unlink(path);
}

/* What ends undecided is not searched for again when there is no more time for it than there was: as many allocations are made as without a limit, after which nothing is. */
static void nothing_is_searched_for_twice_in_vain(void **state)
{
	const struct question q = {"write-skew", KR_ORDER_NONE, NULL, NULL};
	uint64_t counts[2] = {0};
	enum kr_order by_default;

	(void)state;
	for (int limited = 0; limited < 2; limited++) {
		struct kr_decision d = {.options = {.level = kr_level_find(NULL, "ser", &by_default)}};
		struct kr_analysis analysis;
		struct kr_history h;
		struct kr_ctx ctx;
		char path[500];
		snprintf(path, sizeof path, "%s/traces/%s/trace.jsonl", KR_SOURCE_DIR, q.path);
		kr_ctx_init(&ctx, limited ? 1000 : 0, 0);
		assert_int_equal(kr_read_trace(&ctx, path, NULL, &h, NULL), KR_OK);
		assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
		ctx.mem.count = 0;
		ctx.mem.fail_at = 10; /* the search ends, with time left */
		kr_check_all(&ctx, &h, &analysis, &d, 1);
		assert_int_equal(d.verdict.outcome, KR_UNDECIDED);
		counts[limited] = ctx.mem.count;
		ctx.mem.fail_at = 0;
		kr_verdict_done(&d.verdict, &ctx.mem);
		kr_analysis_done(&analysis);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
	assert_int_equal(counts[0], counts[1]);
}

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(questions) + 2];
	size_t n = 0;

	for (; n < KR_COUNT(questions); n++)
		tests[n] = (struct CMUnitTest){questions[n].path, every_failed_allocation_is_survived, NULL, NULL, (void *)&questions[n]};
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(nothing_is_searched_for_twice_in_vain);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(every_deadline_is_survived);
	return _cmocka_run_group_tests("check_limits", tests, n, NULL, NULL);
}
