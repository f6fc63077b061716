/* Bundled traces through every format that krait writes, and back: all verdicts stay what the trace's `expect` says. Where names and ids do not fit, which no verdict depends on, the trace is written
 * without them; one that has more than the format can hold is left out, as `krait convert` refuses it: how many is said aloud, and a format that is hardly tried fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "expect.h"
#include "frontend/format.h"
#include "frontend/write.h"

enum { ORDERS = KR_ORDER_REALTIME + 1, LEAST_TRIED = 15 };

#define BIT(loss) (UINT32_C(1) << (loss))
#define NAMES (BIT(KR_LOSS_IDS) | BIT(KR_LOSS_SESSIONS) | BIT(KR_LOSS_KEYS) | BIT(KR_LOSS_VALUES) | BIT(KR_LOSS_NAME))

static struct {
	const char *name, *file; /* of the target; what a file in it is called */
	unsigned tried, left_out;
} targets[] = {{"native", "t.jsonl", 0, 0}, {"elle", "t.edn", 0, 0}, {"elle-json", "t.json", 0, 0}, {"plume", "t.txt", 0, 0}, {"dbcop-json", "t.json", 0, 0}};

static char names[EXPECT_MOST_TRACES][EXPECT_NAME_SIZE];
static struct CMUnitTest tests[EXPECT_MOST_TRACES + 1];
static char work[] = "/tmp/krait-round-trip-XXXXXX";

static enum kr_outcome outcome_of(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis, const struct kr_check_options *options)
{
	struct kr_verdict verdict;
	struct kr_err err;

	kr_err_init(&err);
	if (kr_check(ctx, h, analysis, options, &verdict, &err) != KR_OK)
		fail_msg("%s, order %s: %s", options->level->id, kr_order_name(options->order), err.text);

	enum kr_outcome outcome = verdict.outcome;

	kr_verdict_done(&verdict, &ctx->mem);
	return outcome;
}

/* Whether the trace itself gets that outcome: then it is not the round trip's, and test_traces.c speaks of it. */
static bool is_original(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_check_options *options, enum kr_outcome outcome)
{
	struct kr_analysis analysis;

	assert_int_equal(kr_analyze(ctx, h, &analysis, NULL), KR_OK);
	bool same = outcome_of(ctx, h, &analysis, options) == outcome;

	kr_analysis_done(&analysis);
	return same;
}

static void check_levels(struct kr_ctx *ctx, const struct kr_history *original, const struct kr_history *h, const char *target, const char *text)
{
	struct kr_analysis analysis;
	const char *bad;

	assert_int_equal(kr_analyze(ctx, h, &analysis, NULL), KR_OK);
	for (size_t l = 0; kr_level_at(NULL, l); l++) {
		for (int order = 0; order < ORDERS; order++) {
			struct kr_check_options options = {.level = kr_level_at(NULL, l), .order = (enum kr_order)order};
			struct expected expected = expect_find(text, options.level->id, options.order, &bad);
			enum kr_outcome outcome = outcome_of(ctx, h, &analysis, &options);
			assert_true(expected.found);
			if (outcome != (expected.satisfied ? KR_SATISFIED : KR_VIOLATED) && !is_original(ctx, original, &options, outcome))
				fail_msg("through %s: %s, order %s: expected %s", target, options.level->id, kr_order_name(options.order),
					expected.satisfied ? "satisfied" : "violated");
		}
	}
	kr_analysis_done(&analysis);
}

/* Writes the history and reads it again, the format told from the content. */
static void pass_through(struct kr_ctx *ctx, const struct kr_history *h, size_t target, uint32_t losses, struct kr_history *out)
{
	char path[100];
	struct kr_str text;
	struct kr_err err;
	FILE *file;

	kr_err_init(&err);
	kr_str_init(&text, &ctx->mem);
	if (kr_target_write(ctx, h, kr_target_find(targets[target].name), losses, &text, &err) != KR_OK)
		fail_msg("%s: %s", targets[target].name, err.text);
	snprintf(path, sizeof path, "%s/%s", work, targets[target].file);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(kr_str_text(&text), 1, text.n, file), text.n);
	assert_int_equal(fclose(file), 0);
	kr_str_done(&text);
	if (kr_read_trace(ctx, path, NULL, out, &err) != KR_OK)
		fail_msg("%s: %s", targets[target].name, err.text);
	unlink(path);
}

static void check_trace(void **state)
{
	char folder[400], path[500];
	struct kr_ctx ctx;
	struct kr_history h, again;
	struct kr_err err;
	char *text;

	snprintf(folder, sizeof folder, "%s/traces/%s", KR_SOURCE_DIR, (const char *)*state);
	snprintf(path, sizeof path, "%s/trace.jsonl", folder);
	text = expect_read(folder, "expect");
	assert_non_null(text);
	kr_err_init(&err);
	kr_ctx_init(&ctx, 60, 0);
	if (kr_read_trace(&ctx, path, NULL, &h, &err) != KR_OK)
		fail_msg("%s: %s", path, err.text);
	for (size_t i = 0; i < KR_COUNT(targets); i++) {
		uint32_t losses = 0;
		assert_int_equal(kr_target_losses(&ctx, &h, kr_target_find(targets[i].name), &losses), KR_OK);
		bool elle_values = losses & BIT(KR_LOSS_VALUES) && strncmp(targets[i].name, "elle", 4) == 0; /* which cannot be numbered there */
		if (losses & ~NAMES || elle_values || h.txns.n == 0) {
			targets[i].left_out++;
			continue;
		}
		targets[i].tried++;
		pass_through(&ctx, &h, i, losses, &again);
		check_levels(&ctx, &h, &again, targets[i].name, text);
		kr_history_done(&again);
	}
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
	free(text);
}

static void every_target_was_tried(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(targets); i++) {
		print_message("%s: %u traces, %u left out\n", targets[i].name, targets[i].tried, targets[i].left_out);
		assert_true(targets[i].tried >= LEAST_TRIED);
	}
}

int main(void)
{
	size_t n = expect_traces(names);

	if (!mkdtemp(work))
		return 1;
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = names[i], .test_func = check_trace, .initial_state = names[i]};
	tests[n] = (struct CMUnitTest){.name = "every target was tried", .test_func = every_target_was_tried};
	int failed = n == 0 || _cmocka_run_group_tests("round trips", tests, n + 1, NULL, NULL);

	rmdir(work);
	return failed;
}
