/* The levels on random tiny histories: the definitions by graphs and axioms against what databases do (serial orders; snapshots where the first committer wins), the implications
 * between levels, and the product against the definitions at every level that it has.
 *
 * KRAIT_ORACLE_COUNT, KRAIT_ORACLE_SEED, KRAIT_ORACLE_MIX, KRAIT_ORACLE_CHECKER: as for oracle_oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/checker.h"
#include "frontend/generate.h"
#include "asked.h"
#include "levels.h"
#include "product.h"
#include "tiny.h"

static const uint64_t work = 20000;

static void random_tiny(struct tiny *tiny, struct kr_rng *rng, uint64_t n)
{
	if (n / TINY_MIXES % 4 == 0)
		tiny_random(tiny, rng, asked_mix(n));
	else
		tiny_random_weak(tiny, rng, asked_mix(n));
}

static void print(const struct tiny *tiny)
{
	static const char *const says[] = {"yes", "no", "?", "-"};
	struct oracle_answers a;
	struct kr_ctx ctx;
	struct kr_history h;

	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return;
	asked_print(&ctx, &h);
	oracle_levels(&h, work, &a);
	for (int order = 0; order < 3; order++) {
		print_message("# %s: interleavings %s;", kr_order_name((enum kr_order)order), says[oracle_si(&h, (enum kr_order)order, work)]);
		for (int level = 0; level < ORACLE_LEVELS; level++)
			print_message(" %s %s", oracle_level_ids[level], says[a.at[level][order]]);
		print_message("\n");
	}
	kr_history_done(&h);
}

/* ---- implications ---- */

/* Weaker orders follow from stronger ones at any level. */
static const struct {
	enum oracle_level strong, weak;
	bool items;         /* where no observation is a predicate's */
	enum kr_order most; /* with this order or a weaker one */
} implied[] = {
	{ORACLE_SER, ORACLE_SI, false, KR_ORDER_REALTIME},
	{ORACLE_SI, ORACLE_PL_2PLUS, false, KR_ORDER_REALTIME},
	{ORACLE_PL_2PLUS, ORACLE_PL_2L, false, KR_ORDER_REALTIME},
	{ORACLE_PL_2L, ORACLE_PL_2, false, KR_ORDER_REALTIME},
	{ORACLE_PL_2PLUS, ORACLE_PL_CS, false, KR_ORDER_REALTIME},
	{ORACLE_PL_CS, ORACLE_PL_2, false, KR_ORDER_REALTIME},
	{ORACLE_SI, ORACLE_PSI, false, KR_ORDER_REALTIME},
	{ORACLE_PSI, ORACLE_CC, false, KR_ORDER_REALTIME},
	{ORACLE_CC, ORACLE_RA, false, KR_ORDER_REALTIME},
	{ORACLE_RA, ORACLE_RC_AX, false, KR_ORDER_REALTIME},
	{ORACLE_RC_AX, ORACLE_PL_2, false, KR_ORDER_REALTIME},
	{ORACLE_SI, ORACLE_PC, false, KR_ORDER_REALTIME},
	{ORACLE_PC, ORACLE_CC, false, KR_ORDER_REALTIME},
	{ORACLE_PSI, ORACLE_PL_2PLUS, false, KR_ORDER_REALTIME},
	{ORACLE_SI, ORACLE_PL_FCV, false, KR_ORDER_REALTIME},
	{ORACLE_PL_FCV, ORACLE_PSI, false, KR_ORDER_REALTIME},
	{ORACLE_PL_2L, ORACLE_RC_AX, false, KR_ORDER_REALTIME},
	{ORACLE_SER, ORACLE_PL_2_99, false, KR_ORDER_REALTIME},
	{ORACLE_SER, ORACLE_PL_3U, false, KR_ORDER_REALTIME},
	{ORACLE_PL_2_99, ORACLE_PL_2PLUS, true, KR_ORDER_REALTIME},
	{ORACLE_PL_2, ORACLE_PL_1, false, KR_ORDER_REALTIME},
	{ORACLE_PC, ORACLE_PL_2L, false, KR_ORDER_REALTIME},
	{ORACLE_PL_3U, ORACLE_PL_1, false, KR_ORDER_SESSION},
	{ORACLE_PL_3U, ORACLE_PL_2PLUS, false, KR_ORDER_NONE},
	{ORACLE_PSI, ORACLE_UA, false, KR_ORDER_REALTIME},
	{ORACLE_PSI, ORACLE_RA_CS, false, KR_ORDER_REALTIME},
	{ORACLE_RA_CS, ORACLE_RA, false, KR_ORDER_REALTIME},
	{ORACLE_RA_CS, ORACLE_PL_CS, false, KR_ORDER_REALTIME},
	{ORACLE_PSI, ORACLE_MV_RA, false, KR_ORDER_REALTIME},
	{ORACLE_PC, ORACLE_MV_RA, false, KR_ORDER_REALTIME},
	{ORACLE_MV_RA, ORACLE_RA, false, KR_ORDER_REALTIME},
	{ORACLE_MV_RA, ORACLE_PL_2L, false, KR_ORDER_REALTIME},
	{ORACLE_PL_2PLUS, ORACLE_CURSOR_VIEW, false, KR_ORDER_REALTIME},
	{ORACLE_CURSOR_VIEW, ORACLE_PL_CS, false, KR_ORDER_REALTIME},
	{ORACLE_UA, ORACLE_RA, false, KR_ORDER_REALTIME},
	{ORACLE_UA, ORACLE_PL_CS, false, KR_ORDER_REALTIME},
};

static char why_text[200];

static const char *breaks(const struct kr_history *h, const struct oracle_answers *a, uint64_t *strict)
{
	for (size_t i = 0; i < KR_COUNT(implied); i++) {
		for (int order = 0; order <= (int)implied[i].most; order++) {
			enum oracle_answer strong = a->at[implied[i].strong][order], weak = a->at[implied[i].weak][order];
			if (implied[i].items && h->scans.n > 0)
				continue;
			strict[i] += strong == ORACLE_VIOLATED && weak == ORACLE_SATISFIED;
			if (strong != ORACLE_SATISFIED || weak != ORACLE_VIOLATED)
				continue;
			snprintf(why_text, sizeof why_text, "%s holds and %s does not, order %s", oracle_level_ids[implied[i].strong],
				oracle_level_ids[implied[i].weak], kr_order_name((enum kr_order)order));
			return why_text;
		}
	}
	for (int level = 0; level < ORACLE_LEVELS; level++) {
		for (int order = 1; order < 3; order++) {
			if (a->at[level][order] != ORACLE_SATISFIED || a->at[level][order - 1] != ORACLE_VIOLATED)
				continue;
			snprintf(why_text, sizeof why_text, "%s holds at order %s and not at a weaker one", oracle_level_ids[level],
				kr_order_name((enum kr_order)order));
			return why_text;
		}
	}
	return NULL;
}

struct counts {
	uint64_t valid, satisfied[ORACLE_LEVELS], violated[ORACLE_LEVELS], too_large, interleaved;
	uint64_t strict[KR_COUNT(implied)];
};

static const char *definitions_differ(const struct tiny *tiny, void *data)
{
	struct counts *counts = data;
	struct oracle_answers a;
	struct kr_ctx ctx;
	struct kr_history h;
	const char *why;

	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return NULL;
	counts->valid++;
	oracle_levels(&h, work, &a);
	why = breaks(&h, &a, counts->strict);
	for (int order = 0; order < 3; order++) {
		enum oracle_answer ser = oracle_replay(&h, (enum kr_order)order, work), si = oracle_si(&h, (enum kr_order)order, work);
		if (ser <= ORACLE_VIOLATED && a.at[ORACLE_SER][order] <= ORACLE_VIOLATED && ser != a.at[ORACLE_SER][order])
			why = "serializability differs";
		if (si <= ORACLE_VIOLATED && a.at[ORACLE_SI][order] <= ORACLE_VIOLATED && si != a.at[ORACLE_SI][order])
			why = "snapshot isolation differs";
		counts->interleaved += si <= ORACLE_VIOLATED;
		counts->too_large += a.at[ORACLE_SER][order] == ORACLE_TOO_LARGE || ser == ORACLE_TOO_LARGE;
		for (int level = 0; level < ORACLE_LEVELS; level++) {
			counts->satisfied[level] += a.at[level][order] == ORACLE_SATISFIED;
			counts->violated[level] += a.at[level][order] == ORACLE_VIOLATED;
		}
	}
	kr_history_done(&h);
	return why;
}

static void definitions_agree(void **state)
{
	static struct counts counts;
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 5500);
	struct kr_rng rng;

	(void)state;
	if (getenv("KRAIT_ORACLE_LEVEL"))
		skip(); /* they are compared with each other */
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 1));
	for (uint64_t n = 0; n < count; n++) {
		struct tiny tiny;
		random_tiny(&tiny, &rng, n);
		if (definitions_differ(&tiny, &counts)) {
			const char *why = tiny_shrink(&tiny, definitions_differ, &counts);
			print(&tiny);
			fail_msg("history %llu (%s): %s", (unsigned long long)n, tiny_mix_name(asked_mix(n)), why);
		}
	}
	print_message("definitions: %llu histories at three orders each, %llu too large, %llu with interleavings\n", (unsigned long long)counts.valid,
		(unsigned long long)counts.too_large, (unsigned long long)counts.interleaved);
	for (int level = 0; level < ORACLE_LEVELS; level++)
		print_message("%s %llu satisfied %llu violated\n", oracle_level_ids[level], (unsigned long long)counts.satisfied[level],
			(unsigned long long)counts.violated[level]);
	for (size_t i = 0; i < KR_COUNT(implied); i++)
		print_message("%s without %s: %llu\n", oracle_level_ids[implied[i].weak], oracle_level_ids[implied[i].strong],
			(unsigned long long)counts.strict[i]);
	assert_true(counts.too_large * 10 <= counts.valid);
	assert_true(counts.interleaved > counts.valid);
}

/* ---- the product ---- */

struct judged {
	struct product products[TINY_MIXES];
	enum tiny_mix mix;
};

static const char *product_is_wrong(const struct tiny *tiny, void *data)
{
	struct judged *judged = data;
	struct product *product = &judged->products[judged->mix];
	struct oracle_answers a;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_modules example = product_example();
	const struct kr_level *level;
	const char *why = NULL;

	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return NULL;
	oracle_levels(&h, work, &a);
	product->seed++;
	product->modules = &example;
	for (size_t i = 0; (level = kr_level_at(product->modules, i)) != NULL && !why; i++) {
		const char *only = getenv("KRAIT_ORACLE_LEVEL");
		enum oracle_level ours = only && strcmp(only, level->id) != 0 ? ORACLE_LEVELS : oracle_level_of(level->id);
		for (int order = 0; order < 3 && !why && ours != ORACLE_LEVELS; order++)
			if (a.at[ours][order] <= ORACLE_VIOLATED)
				why = product_differs_at(product, &h, level, (enum kr_order)order, a.at[ours][order]);
	}
	kr_history_done(&h);
	return why && (!product->wanted || product->wanted == product->what) ? why : NULL;
}

static void product_agrees_with_the_definitions(void **state)
{
	static struct judged judged;
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 2200), left = asked_number("KRAIT_ORACLE_FAILURES", 1);
	struct kr_rng rng;

	(void)state;
	for (size_t i = 0; kr_level_at(NULL, i); i++)
		if (oracle_level_of(kr_level_at(NULL, i)->id) == ORACLE_LEVELS)
			fail_msg("level %s has no definition here", kr_level_at(NULL, i)->id);
	for (int mix = 0; mix < TINY_MIXES; mix++)
		judged.products[mix].module = getenv("KRAIT_ORACLE_CHECKER");
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 2));
	for (uint64_t n = 0; n < count; n++) {
		struct tiny tiny;
		random_tiny(&tiny, &rng, n);
		judged.mix = asked_mix(n);
		const char *why = product_is_wrong(&tiny, &judged);
		if (why) {
			print_message("history %llu (%s): %s\n", (unsigned long long)n, tiny_mix_name(judged.mix), why);
			judged.products[judged.mix].wanted = judged.products[judged.mix].what;
			why = tiny_shrink(&tiny, product_is_wrong, &judged);
			judged.products[judged.mix].wanted = NULL;
			print(&tiny);
			print_message("shrunk: %s\n", why ? why : "(no longer)");
			if (--left == 0)
				fail();
		}
	}
	assert_true(left == asked_number("KRAIT_ORACLE_FAILURES", 1));
	for (int mix = 0; mix < TINY_MIXES; mix++) {
		const struct product *p = &judged.products[mix];
		if (p->checks + p->unsupported > 0)
			print_message("product, %s: %llu checks, %llu satisfied, %llu violated; %llu undecided%s%s; %llu unsupported%s%s\n", tiny_mix_name((enum tiny_mix)mix),
				(unsigned long long)p->checks, (unsigned long long)p->satisfied, (unsigned long long)p->violated,
				(unsigned long long)p->undecided, p->undecided ? ", such as: " : "", p->undecided_why, (unsigned long long)p->unsupported, p->unsupported ? ", such as: " : "", p->unsupported_why);
	}
}

/* ---- planted anomalies ---- */

/* The strongest level that allows each, and one that forbids it: from what they are. */
static const struct {
	const char *anomaly;
	enum oracle_level allows, forbids;
} plants[] = {
	{"g0", ORACLE_LEVELS, ORACLE_PL_2},
	{"g1a", ORACLE_LEVELS, ORACLE_PL_2},
	{"g1b", ORACLE_LEVELS, ORACLE_PL_2},
	{"g1c", ORACLE_LEVELS, ORACLE_PL_2},
	{"lost-update", ORACLE_PC, ORACLE_PL_CS},
	{"read-skew", ORACLE_PL_CS, ORACLE_PL_2PLUS},
	{"long-fork", ORACLE_PSI, ORACLE_SI},
	{"write-skew", ORACLE_SI, ORACLE_PL_3U},
	{"write-skew", ORACLE_SI, ORACLE_PL_2_99},
	{"phantom", ORACLE_SI, ORACLE_PL_3U},
	{"phantom", ORACLE_PL_2_99, ORACLE_SER}, /* both rw are of predicate reads */
	{"fractured-range", ORACLE_PL_2_99, ORACLE_PL_2PLUS},
	{"lost-increment", ORACLE_PC, ORACLE_PL_CS},
	{"lost-append", ORACLE_PC, ORACLE_PL_CS},
	{"double-cas", ORACLE_PC, ORACLE_PL_CS},
	{"double-insert", ORACLE_PC, ORACLE_PL_CS},
};

static void plants_lie_between_levels(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(plants); i++) {
		struct kr_generate_options options;
		struct oracle_answers a;
		struct kr_ctx ctx;
		struct kr_history h;
		kr_generate_defaults(&options);
		options.txns = 0;
		options.keys = options.sessions = 1;
		options.anomaly = plants[i].anomaly;
		kr_ctx_init(&ctx, 0, 0);
		assert_int_equal(kr_generate(&ctx, &options, &h, NULL), KR_OK);
		oracle_levels(&h, UINT64_C(10000000), &a);
		if (plants[i].allows != ORACLE_LEVELS && a.at[plants[i].allows][0] != ORACLE_SATISFIED)
			fail_msg("%s is not allowed at %s", plants[i].anomaly, oracle_level_ids[plants[i].allows]);
		if (a.at[plants[i].forbids][0] != ORACLE_VIOLATED)
			fail_msg("%s is allowed at %s", plants[i].anomaly, oracle_level_ids[plants[i].forbids]);
		kr_history_done(&h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions_agree),
		cmocka_unit_test(product_agrees_with_the_definitions),
		cmocka_unit_test(plants_lie_between_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
