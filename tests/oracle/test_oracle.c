/* Random tiny histories against brute force: the two oracles against each other, the product against them, at every order, with every back end that decides and every
 * optimising pass switched off in turn; every certificate read back, and mutated. And the anomalies that the generator plants.
 *
 * KRAIT_ORACLE_COUNT: how many histories (default: as many as a minute takes); KRAIT_ORACLE_SEED: another sequence; KRAIT_ORACLE_BACKEND: that back end alone;
 * KRAIT_ORACLE_CHECKER: that module alone; KRAIT_ORACLE_MIX: that mix of operations alone. A difference is shrunk and printed as a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/generate.h"
#include "asked.h"
#include "oracle.h"
#include "product.h"
#include "tiny.h"

static const uint64_t work = UINT64_C(1000000);

static void print(const struct tiny *tiny)
{
	struct kr_ctx ctx;
	struct kr_history h;

	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return;
	asked_print(&ctx, &h);
	for (int order = 0; order < 3; order++)
		print_message("# %s: replay %s, graph %s\n", kr_order_name((enum kr_order)order),
			oracle_replay(&h, (enum kr_order)order, work) ? "violated" : "satisfied",
			oracle_graph(&h, (enum kr_order)order, work) ? "violated" : "satisfied");
	kr_history_done(&h);
}

/* ---- the oracles ---- */

struct counts {
	uint64_t valid, satisfied[3], violated[3], too_large;
};

static const char *oracles_differ(const struct tiny *tiny, void *data)
{
	struct counts *counts = data;
	struct kr_ctx ctx;
	struct kr_history h;
	const char *why = NULL;

	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return NULL;
	counts->valid++;
	for (int order = 0; order < 3; order++) {
		enum oracle_answer replay = oracle_replay(&h, (enum kr_order)order, work), graph = oracle_graph(&h, (enum kr_order)order, work);
		if (replay > ORACLE_VIOLATED || graph > ORACLE_VIOLATED)
			counts->too_large++;
		else if (replay != graph)
			why = "the oracles differ";
		counts->satisfied[order] += replay == ORACLE_SATISFIED;
		counts->violated[order] += replay == ORACLE_VIOLATED;
	}
	kr_history_done(&h);
	return why;
}

/* Worth trying only when both are frequent. */
static void assert_both(uint64_t satisfied, uint64_t violated)
{
	if (satisfied + violated < 100)
		return;
	assert_true(satisfied * 6 > satisfied + violated);
	assert_true(violated * 6 > satisfied + violated);
}

static void oracles_agree(void **state)
{
	struct counts counts[TINY_MIXES] = {{0}};
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 22000);
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 1));
	for (uint64_t n = 0; n < count; n++) {
		struct tiny tiny;
		tiny_random(&tiny, &rng, asked_mix(n));
		if (oracles_differ(&tiny, &counts[asked_mix(n)])) {
			const char *why = tiny_shrink(&tiny, oracles_differ, &counts[asked_mix(n)]);
			print(&tiny);
			fail_msg("history %llu (%s): %s", (unsigned long long)n, tiny_mix_name(asked_mix(n)), why);
		}
	}
	for (int mix = 0; mix < TINY_MIXES; mix++) {
		const struct counts *c = &counts[mix];
		if (c->valid == 0)
			continue;
		print_message("oracles, %s: %llu histories", tiny_mix_name((enum tiny_mix)mix), (unsigned long long)c->valid);
		for (int order = 0; order < 3; order++)
			print_message(", %s %llu satisfied %llu violated", kr_order_name((enum kr_order)order), (unsigned long long)c->satisfied[order],
				(unsigned long long)c->violated[order]);
		print_message(", %llu too large\n", (unsigned long long)c->too_large);
		for (int order = 0; order < 3; order++)
			assert_both(c->satisfied[order], c->violated[order]);
		assert_true(c->too_large * 100 <= c->valid);
	}
}

/* ---- the product ---- */

static const char *product_is_wrong(const struct tiny *tiny, void *data)
{
	struct product *product = data;
	struct kr_ctx ctx;
	struct kr_history h;
	const char *why = NULL;

	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return NULL;
	product->seed++;
	for (int order = 0; order < 3 && !why; order++) {
		enum oracle_answer truth = oracle_replay(&h, (enum kr_order)order, work);
		if (truth <= ORACLE_VIOLATED)
			why = product_differs(product, &h, (enum kr_order)order, truth);
	}
	kr_history_done(&h);
	return why;
}

/* While shrinking, the same mutations and all pipelines are tried on each smaller history. */
static const char *product_is_wrong_again(const struct tiny *tiny, void *data)
{
	struct product *product = data;
	const char *why = NULL;

	product->thorough = true;
	for (int seed = 0; seed < 20 && !why; seed++)
		why = product_is_wrong(tiny, data);
	return why && product->what == product->wanted ? why : NULL;
}

static void product_agrees_with_the_oracles(void **state)
{
	static struct product products[TINY_MIXES];
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 8800), left = asked_number("KRAIT_ORACLE_FAILURES", 1);
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 1));
	for (int mix = 0; mix < TINY_MIXES; mix++)
		products[mix] = (struct product){.seed = 1, .only = getenv("KRAIT_ORACLE_BACKEND"), .module = getenv("KRAIT_ORACLE_CHECKER")};
	for (uint64_t n = 0; n < count; n++) {
		struct product *product = &products[asked_mix(n)];
		struct tiny tiny;
		tiny_random(&tiny, &rng, asked_mix(n));
		product->thorough = n / TINY_MIXES % 16 == 0;
		const char *why = product_is_wrong(&tiny, product);
		if (why) {
			print_message("history %llu (%s): %s\n", (unsigned long long)n, tiny_mix_name(asked_mix(n)), why);
			product->wanted = product->what;
			why = tiny_shrink(&tiny, product_is_wrong_again, product);
			print(&tiny);
			print_message("shrunk: %s\n", why ? why : "(no longer)");
			if (--left == 0)
				fail();
		}
	}
	assert_true(left == asked_number("KRAIT_ORACLE_FAILURES", 1));
	for (int mix = 0; mix < TINY_MIXES; mix++) {
		const struct product *p = &products[mix];
		if (p->checks + p->unsupported == 0)
			continue;
		print_message("product, %s: %llu checks, %llu satisfied, %llu violated; %llu undecided%s%s; %llu unsupported%s%s; %llu mutated certificates, %llu of them still "
			      "right\n",
			tiny_mix_name((enum tiny_mix)mix), (unsigned long long)p->checks, (unsigned long long)p->satisfied, (unsigned long long)p->violated,
			(unsigned long long)p->undecided, p->undecided ? ", such as: " : "", p->undecided_why, (unsigned long long)p->unsupported, p->unsupported ? ", such as: " : "", p->unsupported_why, (unsigned long long)p->mutated,
			(unsigned long long)p->mutated_valid);
		assert_both(p->satisfied, p->violated);
	}
}

/* ---- planted anomalies ---- */

static const struct {
	const char *anomaly;
	bool violated[3]; /* by order: straight from what each anomaly is */
	bool told;        /* only where initial values are told */
} plants[] = {
	{"garbage", {true, true, true}, false},
	{"g1a", {true, true, true}, false},
	{"g1b", {true, true, true}, false},
	{"g1c", {true, true, true}, false},
	{"g0", {true, true, true}, false},
	{"lost-update", {true, true, true}, false},
	{"read-skew", {true, true, true}, false},
	{"write-skew", {true, true, true}, false},
	{"long-fork", {true, true, true}, false},
	{"stale-read-session", {false, true, true}, false},
	{"stale-read-realtime", {false, false, true}, false},
	{"double-cas", {true, true, true}, false},
	{"double-insert", {true, true, true}, false},
	{"phantom", {true, true, true}, false},
	{"fractured-range", {true, true, true}, false},
	{"own-write-missed", {true, true, true}, false},
	{"lost-increment", {true, true, true}, true},
	{"lost-append", {true, true, true}, true},
	{"duplicate-element", {true, true, true}, true},
	{"incompatible-order", {true, true, true}, true},
	{"forked-set", {true, true, true}, true},
};

/* The plant alone, by the oracles; with every kind of initial values. */
static void plants_are_what_they_say(void **state)
{
	(void)state;
	for (size_t i = 0; kr_generate_anomaly(i, NULL); i++) {
		assert_true(i < KR_COUNT(plants));
		assert_string_equal(kr_generate_anomaly(i, NULL), plants[i].anomaly);
		for (int initial = 0; initial < (plants[i].told ? KR_INITIAL_UNKNOWN : KR_INITIAL_UNWRITTEN + 1); initial++) {
			struct kr_generate_options options;
			struct kr_ctx ctx;
			struct kr_history h;
			kr_generate_defaults(&options);
			options.txns = 0;
			options.keys = options.sessions = 1;
			options.initial = (enum kr_initial)initial;
			options.anomaly = plants[i].anomaly;
			kr_ctx_init(&ctx, 0, 0);
			assert_int_equal(kr_generate(&ctx, &options, &h, NULL), KR_OK);
			for (int order = 0; order < 3; order++) {
				enum oracle_answer expected = plants[i].violated[order] ? ORACLE_VIOLATED : ORACLE_SATISFIED;
				if (oracle_replay(&h, (enum kr_order)order, work) != expected || oracle_graph(&h, (enum kr_order)order, work) != expected)
					fail_msg("%s, order %s", plants[i].anomaly, kr_order_name((enum kr_order)order));
			}
			kr_history_done(&h);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oracles_agree),
		cmocka_unit_test(product_agrees_with_the_oracles),
		cmocka_unit_test(plants_are_what_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
