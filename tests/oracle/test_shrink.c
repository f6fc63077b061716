/* Shrinking of random tiny histories: what is left is violated for brute force, too, and without any one of its transactions it is satisfied, or violated in another way than the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "frontend/native_write.h"
#include "oracle.h"
#include "shrink/shrink.h"
#include "tiny.h"

#define COUNT 3000
#define WORK 2000000

struct counts { uint64_t violated, brute, without, artefacts, refused; };

/* Decides a part of the part; does it violate in the same way, by a proof that holds for the whole? */
static bool is_same(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_violated_part *p, const struct kr_cut *less, const struct kr_check_options *options, struct counts *counts)
{
	const struct kr_certificate *cert = &p->verdict.certificate;
	struct kr_certificate once, twice;
	struct kr_analysis analysis;
	struct kr_verdict verdict;
	bool same = false;

	if (kr_analyze(ctx, &less->history, &analysis, NULL) != KR_OK)
		return false;
	assert_int_equal(kr_check(ctx, &less->history, &analysis, options, &verdict, NULL), KR_OK);
	if (verdict.outcome == KR_VIOLATED && verdict.certificate.kind == cert->kind &&
		(cert->kind != KR_CERT_ANOMALY || verdict.certificate.anomaly.kind == cert->anomaly.kind)) {
		kr_certificate_init(&once, &ctx->mem);
		kr_certificate_init(&twice, &ctx->mem);
		same = kr_cut_restore(less, &verdict.certificate, &once) == KR_OK && kr_cut_restore(&p->cut, &once, &twice) == KR_OK &&
			kr_verify(ctx, h, &twice, NULL) == KR_OK;
		counts->artefacts += !same;
		kr_certificate_done(&once);
		kr_certificate_done(&twice);
	}
	kr_verdict_done(&verdict, &ctx->mem);
	kr_analysis_done(&analysis);
	return same;
}

static void check_minimal(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_violated_part *p, const struct kr_check_options *options, struct counts *counts)
{
	for (uint32_t t = 0; t < p->cut.history.txns.n; t++) {
		struct kr_part part;
		struct kr_cut less;
		assert_int_equal(kr_part_init(&part, &ctx->mem, &p->cut.history, true), KR_OK);
		kr_bits_clear(part.txns, t);
		if (kr_cut_make(ctx, &part, &less, NULL) == KR_OK) {
			counts->without++;
			assert_false(is_same(ctx, h, p, &less, options, counts));
			kr_cut_done(&less);
		}
		kr_part_done(&part);
	}
}

static void fail_with(struct kr_ctx *ctx, const struct kr_history *h, enum kr_order order, const struct kr_err *err)
{
	struct kr_str text;

	kr_str_init(&text, &ctx->mem);
	(void)kr_native_write_text(ctx, h, &text, NULL);
	fail_msg("%s, with order %s: %s", err->text, kr_order_name(order), kr_str_text(&text));
}

static void check_one(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_check_options *options, struct counts *counts)
{
	struct kr_analysis analysis;
	struct kr_verdict verdict;
	struct kr_shrunk shrunk;
	struct kr_err err;

	kr_err_init(&err);
	if (kr_analyze(ctx, h, &analysis, NULL) != KR_OK)
		return; /* an operation without a meaning yet */
	if (kr_check(ctx, h, &analysis, options, &verdict, &err) != KR_OK)
		counts->refused++; /* test_oracle's business: there is nothing to shrink */
	if (!err.status && verdict.outcome == KR_VIOLATED) {
		if (kr_shrink(ctx, h, &analysis, options, &verdict, &shrunk, &err) != KR_OK)
			fail_with(ctx, h, options->order, &err);
		if (!shrunk.best)
			fail_with(ctx, h, options->order, &err);
		counts->violated++;
		enum oracle_answer truth = oracle_replay(&shrunk.best->cut.history, options->order, WORK);
		assert_int_not_equal(truth, ORACLE_SATISFIED);
		counts->brute += truth == ORACLE_VIOLATED;
		if (shrunk.minimal)
			check_minimal(ctx, h, shrunk.best, options, counts);
		kr_shrunk_done(ctx, &shrunk);
	}
	kr_verdict_done(&verdict, &ctx->mem);
	kr_analysis_done(&analysis);
}

static void test_random(void **state)
{
	static const enum kr_order orders[] = {KR_ORDER_NONE, KR_ORDER_SESSION, KR_ORDER_REALTIME};
	struct counts counts = {0};
	struct kr_rng rng;
	enum kr_order ignored;
	struct kr_check_options options = {.level = kr_level_find(NULL, "ser", &ignored)};

	(void)state;
	kr_rng_init(&rng, 7);
	for (uint64_t n = 0; n < COUNT; n++) {
		struct tiny tiny;
		struct kr_ctx ctx;
		struct kr_history h;
		kr_ctx_init(&ctx, 0, 0);
		tiny_random(&tiny, &rng, (enum tiny_mix)(n % TINY_MIXES));
		options.order = orders[n % 3];
		if (tiny_history(&tiny, &ctx, &h) == KR_OK) {
			check_one(&ctx, &h, &options, &counts);
			kr_history_done(&h);
		}
		assert_int_equal(ctx.mem.used, 0);
	}
	print_message("%llu violated, %llu of what is left judged by brute force; %llu parts without a transaction, %llu of them violated by their own doing; %llu histories refused by the verifier\n",
		(unsigned long long)counts.violated, (unsigned long long)counts.brute, (unsigned long long)counts.without, (unsigned long long)counts.artefacts,
		(unsigned long long)counts.refused);
	assert_true(counts.violated > COUNT / 5 && counts.brute > counts.violated / 2 && counts.without > counts.violated && counts.refused < COUNT / 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
