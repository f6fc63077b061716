/* base/ctx: limits hold, the first one stays, progress is told rarely. Deadlines are set in the past or far away: nothing here waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "base/ctx.h"

static void no_limits(void **state)
{
	struct kr_ctx ctx;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	assert_int_equal(ctx.mem.limit, SIZE_MAX);
	assert_int_equal(ctx.deadline_ns, INT64_MAX);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(kr_ctx_tick(&ctx), KR_OK);
	assert_int_equal(kr_ctx_left_ms(&ctx, 500), 500);
}

struct limit_row {
	double seconds;
	size_t mebibytes;
	bool has_deadline;
	size_t limit;
};

static void limits(void **state)
{
	const struct limit_row *row = *state;
	struct kr_ctx ctx;
	int64_t before = kr_now_ns();

	kr_ctx_init(&ctx, row->seconds, row->mebibytes);
	assert_true(ctx.mem.limit == row->limit);
	if (row->has_deadline) {
		int64_t after = kr_now_ns(), length = (int64_t)(row->seconds * 1e9);
		assert_true(ctx.deadline_ns >= before + length && ctx.deadline_ns <= after + length);
	} else {
		assert_true(ctx.deadline_ns == INT64_MAX);
	}
	assert_int_equal(kr_ctx_check(&ctx), KR_OK);
}

static void deadline_passes_and_sticks(void **state)
{
	struct kr_ctx ctx;
	atomic_bool cancel;

	(void)state;
	atomic_init(&cancel, true);
	kr_ctx_init(&ctx, 1000, 0);
	assert_int_equal(kr_ctx_check(&ctx), KR_OK);
	ctx.deadline_ns = kr_now_ns();
	assert_int_equal(kr_ctx_check(&ctx), KR_TIMEOUT);
	ctx.deadline_ns = INT64_MAX;
	ctx.cancel = &cancel;
	assert_int_equal(kr_ctx_check(&ctx), KR_TIMEOUT);
	assert_int_equal(kr_ctx_tick(&ctx), KR_TIMEOUT);
	assert_int_equal(kr_ctx_left_ms(&ctx, 500), 1);
}

static void cancel_is_seen_and_sticks(void **state)
{
	struct kr_ctx ctx;
	atomic_bool cancel;

	(void)state;
	atomic_init(&cancel, false);
	kr_ctx_init(&ctx, 0, 0);
	ctx.cancel = &cancel;
	assert_int_equal(kr_ctx_check(&ctx), KR_OK);
	atomic_store(&cancel, true);
	assert_int_equal(kr_ctx_check(&ctx), KR_CANCELED);
	atomic_store(&cancel, false);
	ctx.deadline_ns = 0;
	assert_int_equal(kr_ctx_check(&ctx), KR_CANCELED);
}

static void tick_notices_within_256_calls(void **state)
{
	struct kr_ctx ctx;
	int calls = 1;

	(void)state;
	kr_ctx_init(&ctx, 1000, 0);
	assert_int_equal(kr_ctx_tick(&ctx), KR_OK);
	ctx.deadline_ns = 0;
	while (calls < 1000 && kr_ctx_tick(&ctx) == KR_OK)
		calls++;
	assert_int_equal(calls, 255); /* the 256th call failed */
	for (int i = 0; i < 300; i++)
		assert_int_equal(kr_ctx_tick(&ctx), KR_TIMEOUT);
}

/* However much a step costs, the clock is read once in 256 of what it costs. */
static void costly_steps_read_the_clock(void **state)
{
	const uint32_t costs[] = {1, 3, 100, 255, 256, 1000, 1u << 31};
	struct kr_ctx ctx;

	(void)state;
	for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
		uint32_t steps = 0, most = costs[i] < 256 ? 256 / costs[i] + 1 : 1;
		kr_ctx_init(&ctx, 1000, 0);
		ctx.deadline_ns = kr_now_ns();
		while (kr_ctx_spend(&ctx, costs[i]) == KR_OK)
			assert_true(++steps < most);
		assert_int_equal(kr_ctx_spend(&ctx, 1), KR_TIMEOUT);
	}
}

static void reasons_name_the_limit(void **state)
{
	struct kr_ctx ctx;

	(void)state;
	kr_ctx_init(&ctx, 2.5, 60);
	assert_string_equal(kr_ctx_reason(&ctx, KR_TIMEOUT), "time limit of 2.5 s");
	assert_string_equal(kr_ctx_reason(&ctx, KR_NOMEM), "memory limit of 60 MiB");
	assert_string_equal(kr_ctx_reason(&ctx, KR_CANCELED), "canceled");
	kr_ctx_init(&ctx, 0, 0); /* the machine's */
	assert_string_equal(kr_ctx_reason(&ctx, KR_NOMEM), "out of memory");
}

/* Another context of the process has limits of its own, and counts the process if the first one does. */
static void context_beside_another(void **state)
{
	struct kr_ctx first, beside;

	(void)state;
	kr_ctx_init(&first, 0, 1000);
	kr_ctx_init_beside(&beside, &first, 5, 64);
	assert_true(!beside.mem.whole && beside.mem.limit == (size_t)64 << 20 && beside.deadline_ns != INT64_MAX);
	kr_mem_count_process(&first.mem, (size_t)6 << 20);
	kr_ctx_init_beside(&beside, &first, 0, 64);
	assert_true(beside.mem.whole && beside.mem.floor == (size_t)6 << 20 && beside.mem.limit == (size_t)64 << 20);
}

static void time_left(void **state)
{
	struct kr_ctx ctx;

	(void)state;
	kr_ctx_init(&ctx, 1000, 0);
	assert_int_equal(kr_ctx_left_ms(&ctx, 100), 100);
	uint32_t left = kr_ctx_left_ms(&ctx, UINT32_MAX);
	assert_true(left <= 1000000 && left > 900000);
	ctx.deadline_ns = kr_now_ns() - 5;
	assert_int_equal(kr_ctx_left_ms(&ctx, 100), 1);
	ctx.deadline_ns = kr_now_ns() + 100;
	assert_int_equal(kr_ctx_left_ms(&ctx, 100), 1);
}

static void clock_does_not_go_back(void **state)
{
	int64_t last = kr_now_ns();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t now = kr_now_ns();
		assert_true(now >= last);
		last = now;
	}
}

struct told {
	int times;
	const char *phase;
	uint64_t done, total;
};

static void listen(void *data, const char *phase, uint64_t done, uint64_t total)
{
	struct told *told = data;

	*told = (struct told){told->times + 1, phase, done, total};
}

static void progress_is_told_rarely(void **state)
{
	struct kr_ctx ctx;
	struct told told = {0};

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_ctx_progress(&ctx, "nobody listens", 1, 2);
	ctx.progress = listen;
	ctx.progress_data = &told;
	ctx.progress_ns = kr_now_ns() - 100000000;
	kr_ctx_progress(&ctx, "read", 5, 9);
	assert_int_equal(told.times, 1);
	assert_string_equal(told.phase, "read");
	assert_int_equal(told.done, 5);
	assert_int_equal(told.total, 9);
	ctx.progress_ns = kr_now_ns() + 1000000000; /* as if told just now, however slow this machine is */
	kr_ctx_progress(&ctx, "read", 6, 9);
	assert_int_equal(told.times, 1);
}

static void deadline_of_all_is_not_forgiven(struct kr_ctx *ctx)
{
	enum kr_status status = KR_TIMEOUT;
	struct kr_err err;

	kr_err_init(&err);
	kr_err_set(&err, status, "told by whoever stopped");
	kr_ctx_resume(ctx, kr_now_ns(), &status, &err);
	assert_int_equal(status, KR_TIMEOUT);
	assert_int_equal(err.status, KR_TIMEOUT);
}

static void a_part_that_ran_out_is_forgotten(void **state)
{
	struct kr_ctx ctx;
	struct kr_err err;

	(void)state;
	kr_ctx_init(&ctx, 1000, 0);
	for (int bad = 0; bad < 2; bad++) {
		enum kr_status status = bad ? KR_BAD : KR_TIMEOUT;
		int64_t deadline = kr_ctx_limit(&ctx, 2, 0);
		assert_true(ctx.deadline_ns < deadline);
		kr_err_init(&err);
		kr_err_set(&err, status, "told by whoever stopped");
		kr_ctx_resume(&ctx, deadline, &status, &err);
		assert_true(ctx.deadline_ns == deadline);
		assert_int_equal(status, bad ? KR_BAD : KR_OK);
		assert_int_equal(err.status, status);
	}
	deadline_of_all_is_not_forgiven(&ctx);
}

#define LIMIT(name, ...) {"limits: " name, limits, NULL, NULL, (void *)&(const struct limit_row){__VA_ARGS__}}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(no_limits),
	cmocka_unit_test(deadline_passes_and_sticks),
	cmocka_unit_test(cancel_is_seen_and_sticks),
	cmocka_unit_test(tick_notices_within_256_calls),
	cmocka_unit_test(costly_steps_read_the_clock),
	cmocka_unit_test(reasons_name_the_limit),
	cmocka_unit_test(context_beside_another),
	cmocka_unit_test(a_part_that_ran_out_is_forgotten),
	cmocka_unit_test(time_left),
	cmocka_unit_test(clock_does_not_go_back),
	cmocka_unit_test(progress_is_told_rarely),
	LIMIT("both", 1000, 300, true, (size_t)300 << 20),
	LIMIT("fractions of seconds", 100.5, 1, true, (size_t)1 << 20),
	LIMIT("negative time", -1, 0, false, SIZE_MAX),
	LIMIT("endless time", INFINITY, 0, false, SIZE_MAX),
	LIMIT("time is not a number", NAN, 0, false, SIZE_MAX),
	LIMIT("time beyond the clock", 1e300, 0, false, SIZE_MAX),
	LIMIT("memory beyond size_t", 0, SIZE_MAX / 1000, false, SIZE_MAX),
	LIMIT("memory just beyond size_t", 0, (SIZE_MAX >> 20) + 1, false, SIZE_MAX),
	LIMIT("largest memory", 0, SIZE_MAX >> 20, false, SIZE_MAX >> 20 << 20),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
