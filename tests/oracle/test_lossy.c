/* The law of lossy writing: what a format cannot hold may make a trace satisfy more, never less. Random histories of every mix, written with their losses to every format and read again: a level that is violated
 * then was violated before, at every order.
 *
 * KRAIT_ORACLE_COUNT, KRAIT_ORACLE_SEED, KRAIT_ORACLE_MIX: as for oracle_oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "asked.h"
#include "checkers/check.h"
#include "frontend/format.h"
#include "frontend/write.h"

enum { ORDERS = KR_ORDER_REALTIME + 1, LEVELS_MOST = 32 };

static const struct {
	const char *name, *file;
} targets[] = {{"elle", "t.edn"}, {"elle-json", "t.json"}, {"plume", "t.txt"}, {"dbcop-json", "t.json"}};

static char work[] = "/tmp/krait-lossy-XXXXXX";

struct verdicts {
	enum kr_outcome at[LEVELS_MOST * ORDERS];
};

struct counts {
	uint64_t kept, lost, more; /* verdicts: violated after; satisfied before and after; satisfied only after */
};

/* What every level says at every order; false: the analysis refuses the history. */
static bool decide(struct kr_ctx *ctx, const struct kr_history *h, struct verdicts *out)
{
	static struct kr_decision all[LEVELS_MOST * ORDERS];
	struct kr_analysis analysis;
	uint32_t n = 0;

	if (kr_analyze(ctx, h, &analysis, NULL) != KR_OK)
		return false;
	for (size_t l = 0; kr_level_at(NULL, l); l++)
		for (int order = 0; order < ORDERS; order++)
			all[n++] = (struct kr_decision){.options = {.level = kr_level_at(NULL, l), .order = (enum kr_order)order}};
	assert_true(n <= KR_COUNT(all));
	kr_check_all(ctx, h, &analysis, all, n);
	for (uint32_t i = 0; i < n; i++) {
		out->at[i] = all[i].status == KR_OK ? all[i].verdict.outcome : KR_UNDECIDED; /* other tests speak of errors */
		kr_verdict_done(&all[i].verdict, &ctx->mem);
	}
	kr_analysis_done(&analysis);
	return true;
}

/* Writes the history with its losses, and reads the text; false: it has no transaction left. */
static bool convert(struct kr_ctx *ctx, const struct kr_history *h, size_t target, struct kr_history *out)
{
	const struct kr_target *to = kr_target_find(targets[target].name);
	struct kr_read_options options = {.format = strncmp(to->name, "elle", 4) == 0 ? "elle" : to->name};
	uint32_t losses = 0;
	struct kr_str text;
	struct kr_err err;
	char path[100];

	kr_err_init(&err);
	kr_str_init(&text, &ctx->mem);
	assert_int_equal(kr_target_losses(ctx, h, to, &losses), KR_OK);
	if (kr_target_write(ctx, h, to, losses, &text, &err) != KR_OK)
		fail_msg("%s: %s", to->name, err.text);
	snprintf(path, sizeof path, "%s/%s", work, targets[target].file);

	FILE *file = fopen(path, "wb");
	bool any = text.n > 0;

	assert_non_null(file);
	assert_int_equal(fwrite(kr_str_text(&text), 1, text.n, file), text.n);
	assert_int_equal(fclose(file), 0);
	if (any && kr_read_trace(ctx, path, &options, out, &err) != KR_OK)
		fail_msg("%s: %s\n%s", to->name, err.text, kr_str_text(&text));
	kr_str_done(&text);
	unlink(path);
	return any;
}

static void compare(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_history *again, size_t target, const struct verdicts *before,
	const struct verdicts *after, struct counts *counts)
{
	uint32_t n = 0;

	for (size_t l = 0; kr_level_at(NULL, l); l++) {
		for (int order = 0; order < ORDERS; order++, n++) {
			if (before->at[n] == KR_SATISFIED && after->at[n] == KR_VIOLATED) {
				asked_print(ctx, h);
				asked_print(ctx, again);
				fail_msg("through %s: %s, order %s: satisfied before, violated after", targets[target].name, kr_level_at(NULL, l)->id,
					kr_order_name((enum kr_order)order));
			}
			counts->kept += after->at[n] == KR_VIOLATED;
			counts->lost += before->at[n] == KR_SATISFIED;
			counts->more += before->at[n] == KR_VIOLATED && after->at[n] == KR_SATISFIED;
		}
	}
}

static void pass_through(struct kr_ctx *ctx, const struct kr_history *h, const struct verdicts *before, struct counts counts[KR_COUNT(targets)])
{
	for (size_t i = 0; i < KR_COUNT(targets); i++) {
		struct kr_history again;
		struct verdicts after;

		if (!convert(ctx, h, i, &again))
			continue;
		if (decide(ctx, &again, &after))
			compare(ctx, h, &again, i, before, &after, &counts[i]);
		kr_history_done(&again);
	}
}

static void losses_only_satisfy_more(void **state)
{
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 440);
	struct counts counts[KR_COUNT(targets)] = {{0}};
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 5));
	for (uint64_t n = 0; n < count; n++) {
		struct verdicts before;
		struct tiny tiny;
		struct kr_ctx ctx;
		struct kr_history h;

		(n / TINY_MIXES % 2 ? tiny_random_weak : tiny_random)(&tiny, &rng, asked_mix(n));
		kr_ctx_init(&ctx, 0, 0);
		if (tiny_history(&tiny, &ctx, &h) != KR_OK)
			continue;
		if (decide(&ctx, &h, &before))
			pass_through(&ctx, &h, &before, counts);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
	for (size_t i = 0; i < KR_COUNT(targets); i++) {
		print_message("%s: violated after %llu, satisfied before %llu, satisfied only after %llu\n", targets[i].name, (unsigned long long)counts[i].kept,
			(unsigned long long)counts[i].lost, (unsigned long long)counts[i].more);
		assert_true(counts[i].kept > count / 4 && counts[i].lost > count); /* else hardly anything is tried */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(losses_only_satisfy_more)};

	if (!mkdtemp(work))
		return 1;

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	rmdir(work);
	return failed;
}
