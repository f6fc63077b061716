/* Checkers that take an order from the trace, against brute force. Enne: a random place for each transaction, or one of a serial order that there is: satisfied iff the oracle's replay agrees with
 * that order, and a violation is labelled. King Cobra: a violation is labelled as one under the given version orders iff the history without them is serializable. Emme: with the version orders of one order of all transactions, right or with two versions swapped,
 * verdicts on ser, si, pl-2 and pl-2.99 are those of brute force.
 *
 * KRAIT_ORACLE_COUNT, KRAIT_ORACLE_SEED: as for oracle_oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "frontend/model/operation.h"
#include "asked.h"
#include "levels.h"
#include "oracle.h"
#include "tiny.h"

static const uint64_t work = UINT64_C(1000000);

static enum kr_status ask(struct kr_ctx *ctx, const struct kr_history *h, const char *checker, const char *level, enum kr_order order, struct kr_verdict *out,
	struct kr_err *err)
{
	struct kr_check_options options = {.order = order, .checker = kr_checker_find(NULL, checker)};
	struct kr_analysis analysis;
	enum kr_order by_default;

	options.level = kr_level_find(NULL, level, &by_default);
	kr_err_init(err);
	enum kr_status status = kr_analyze(ctx, h, &analysis, err);
	if (status) {
		*out = (struct kr_verdict){.outcome = KR_UNDECIDED};
		kr_certificate_init(&out->certificate, &ctx->mem);
		return status;
	}
	status = kr_check(ctx, h, &analysis, &options, out, err);
	kr_analysis_done(&analysis);
	return status;
}

/* ---- a serialization order ---- */

struct placing {
	kr_txn at[TINY_TXNS];
	uint32_t n;
	bool all;
}; /* all: nobody that may have taken effect is without a place */

static void shuffle(struct placing *p, struct kr_rng *rng)
{
	for (uint32_t i = p->n; i > 1; i--) {
		uint32_t j = (uint32_t)kr_rng_below(rng, i);
		kr_txn swap = p->at[i - 1];
		p->at[i - 1] = p->at[j];
		p->at[j] = swap;
	}
}

/* Everybody who committed, in some order; who is unknown perhaps. Often one that replays, if a few tries find any. */
static void place(struct kr_history *h, struct kr_rng *rng, enum kr_order order, struct placing *out)
{
	*out = (struct placing){.all = true};
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		bool unknown = h->txns.at[t.i].status == KR_UNKNOWN, left_out = unknown && kr_rng_below(rng, 2) == 0;
		if (h->txns.at[t.i].status == KR_ABORTED)
			continue;
		out->all &= !left_out;
		if (!left_out)
			out->at[out->n++] = t;
	}
	for (int tries = kr_rng_below(rng, 3) > 0 ? 300 : 0; tries >= 0; tries--) {
		shuffle(out, rng);
		if (oracle_replays(h, order, out->at, out->n))
			break;
	}
	assert_true(h->white_box.n == 0 || h->white_box.n == h->txns.n);
	while (h->white_box.n < h->txns.n)
		assert_true(kr_vec_push(h->mem, &h->white_box, (struct kr_white_box){0}));
	for (uint32_t i = 0; i < out->n; i++) {
		h->txns.at[out->at[i].i].flags |= KR_TXN_HAS_SERIAL;
		h->white_box.at[out->at[i].i].serial = 3 * (int64_t)i - 7;
	}
}

/* The n-th history, placed; false: it is none. */
static bool make(uint64_t n, enum kr_order order, struct kr_rng *rng, struct kr_ctx *ctx, struct kr_history *h, struct placing *placing)
{
	struct tiny tiny;

	tiny_random(&tiny, rng, (enum tiny_mix)(n % TINY_MIXES));
	kr_ctx_init(ctx, 0, 0);
	if (tiny_history(&tiny, ctx, h) != KR_OK)
		return false;
	place(h, rng, order, placing);
	return true;
}

static const char *judge_enne(const struct kr_history *h, const struct placing *p, enum kr_order order, const struct kr_verdict *v)
{
	bool replays = oracle_replays(h, order, p->at, p->n);
	bool free = order == KR_ORDER_NONE && h->version_orders.n == 0 && !kr_history_untold(h) && p->all;

	if (v->outcome == KR_SATISFIED)
		return replays ? NULL : "satisfied, expected violated";
	if (v->outcome == KR_UNDECIDED)
		return free && !strstr(v->reason, "cannot be verified") && !strstr(v->reason, "condition") ? v->reason : NULL;
	if (replays)
		return "violated, expected satisfied";
	if (!p->all)
		return "violated, though somebody has no place";
	return v->given == KR_GIVEN_ONLY && v->certificate.kind == KR_CERT_REPLAY ? NULL : "not labelled";
}

static void enne_agrees_with_replay(void **state)
{
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 11000), outcomes[3] = {0}, unsupported = 0;
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 3));
	for (uint64_t n = 0; n < count; n++) {
		enum kr_order order = (enum kr_order)(n / TINY_MIXES % 6 < 4 ? 0 : n / TINY_MIXES % 6 - 3);
		struct placing placing;
		struct kr_verdict v;
		struct kr_ctx ctx;
		struct kr_history h;
		struct kr_err err;
		if (!make(n, order, &rng, &ctx, &h, &placing))
			continue;
		enum kr_status status = ask(&ctx, &h, "enne", "ser", order, &v, &err);
		const char *why = status && status != KR_UNSUPPORTED ? err.text : status ? NULL : judge_enne(&h, &placing, order, &v);
		if (why) {
			asked_print(&ctx, &h);
			fail_msg("history %llu, order %s: %s", (unsigned long long)n, kr_order_name(order), why);
		}
		unsupported += status == KR_UNSUPPORTED;
		outcomes[v.outcome] += status == KR_OK;
		kr_verdict_done(&v, &ctx.mem);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
	print_message("enne: %llu satisfied, %llu violated, %llu undecided, %llu unsupported\n", (unsigned long long)outcomes[KR_SATISFIED],
		(unsigned long long)outcomes[KR_VIOLATED], (unsigned long long)outcomes[KR_UNDECIDED], (unsigned long long)unsupported);
	assert_true(outcomes[KR_SATISFIED] * 6 > count);
	assert_true(outcomes[KR_VIOLATED] * 6 > count);
}

/* ---- version orders ---- */

/* Without the orders something may be left out that then decides. */
static bool is_undecided(struct kr_ctx *ctx, const struct kr_history *h, enum kr_order order)
{
	struct kr_verdict v;
	struct kr_err err;
	bool undecided = ask(ctx, h, "king-cobra", "ser", order, &v, &err) == KR_OK && v.outcome == KR_UNDECIDED;

	kr_verdict_done(&v, &ctx->mem);
	return undecided;
}

static void king_cobra_labels(void **state)
{
	static const enum tiny_mix mixes[] = {TINY_READ_WRITE, TINY_DELETES, TINY_CONDITIONAL};
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 6000), labels[3] = {0};
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 4));
	for (uint64_t n = 0; n < count; n++) {
		enum kr_order order = (enum kr_order)(n % 3);
		struct kr_history h, bare;
		struct kr_verdict v;
		struct tiny tiny;
		struct kr_ctx ctx;
		struct kr_err err;
		tiny_random(&tiny, &rng, mixes[n / 3 % KR_COUNT(mixes)]);
		kr_ctx_init(&ctx, 0, 0);
		if (tiny_history(&tiny, &ctx, &h) != KR_OK)
			continue;
		bare = h;
		bare.version_orders.n = 0;
		enum kr_status status = ask(&ctx, &h, "king-cobra", "ser", order, &v, &err);
		bool violated = status == KR_OK && v.outcome == KR_VIOLATED;
		bool perhaps = h.version_orders.n > 0 && violated && v.given == KR_GIVEN_PERHAPS && is_undecided(&ctx, &bare, order);
		bool only = h.version_orders.n > 0 && violated && oracle_replay(&bare, order, work) == ORACLE_SATISFIED;
		if ((status && status != KR_UNSUPPORTED) || (violated && !perhaps && v.given != (only ? KR_GIVEN_ONLY : KR_GIVEN_NOT))) {
			asked_print(&ctx, &h);
			fail_msg("history %llu, order %s: %s", (unsigned long long)n, kr_order_name(order),
				status         ? err.text
					: only ? "not labelled"
					       : "labelled");
		}
		if (violated)
			labels[v.given]++;
		kr_verdict_done(&v, &ctx.mem);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
	print_message("king-cobra: violations under given version orders only: %llu, others: %llu\n", (unsigned long long)labels[KR_GIVEN_ONLY],
		(unsigned long long)labels[KR_GIVEN_NOT]);
	assert_true(labels[KR_GIVEN_ONLY] * 400 >= count);
	assert_true(labels[KR_GIVEN_NOT] * 20 > count);
}

/* ---- a certificate of versions ---- */

static bool writes(const struct kr_history *h, kr_txn t, kr_key k)
{
	struct kr_write write;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		if (kr_write_of(h, &h->ops.at[kr_history_op(h, t, i).i], k, &write))
			return true;
	return false;
}

/* The versions of each key in the order of their places, sometimes with two of them swapped. */
static void order_versions(struct kr_history *h, const struct placing *p, struct kr_rng *rng)
{
	kr_vec_clear(&h->version_orders);
	kr_vec_clear(&h->order_writers);
	for (kr_key k = {0}; k.i < h->keys.n; k.i++) {
		struct kr_version_order order = {.key = k, .writer_first = h->order_writers.n};
		for (uint32_t i = 0; i < p->n; i++)
			if (writes(h, p->at[i], k))
				assert_true(kr_vec_push(h->mem, &h->order_writers, p->at[i]));
		order.writer_count = h->order_writers.n - order.writer_first;
		if (order.writer_count > 1 && kr_rng_below(rng, 8) == 0) {
			kr_txn *at = h->order_writers.at + order.writer_first, swap = at[0];
			at[0] = at[1];
			at[1] = swap;
		}
		assert_true(kr_vec_push(h->mem, &h->version_orders, order));
	}
}

static const char *judge_emme(enum oracle_answer right, const struct kr_verdict *v)
{
	if (v->outcome == KR_UNDECIDED || right > ORACLE_VIOLATED)
		return NULL;
	if ((v->outcome == KR_SATISFIED) != (right == ORACLE_SATISFIED))
		return right == ORACLE_SATISFIED ? "violated, expected satisfied" : "satisfied, expected violated";
	return NULL;
}

static enum oracle_answer brute_force(const struct kr_history *h, const char *level, enum kr_order order)
{
	struct oracle_answers all;

	if (strcmp(level, "ser") == 0)
		return oracle_replay(h, order, work);
	if (strcmp(level, "si") == 0)
		return oracle_si(h, order, work);
	oracle_levels(h, work, &all);
	return all.at[oracle_level_of(level)][order];
}

static void emme_agrees_with_brute_force(void **state)
{
	static const char *const levels[] = {"ser", "pl-2", "ser", "si", "pl-2.99"};
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 11000), outcomes[3] = {0}, only = 0;
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 5));
	for (uint64_t n = 0; n < count; n++) {
		enum kr_order order = (enum kr_order)(n / TINY_MIXES % 3);
		const char *level = levels[n / TINY_MIXES / 3 % 5];
		struct placing placing;
		struct kr_verdict v;
		struct kr_ctx ctx;
		struct kr_history h;
		struct kr_err err;
		if (!make(n, order, &rng, &ctx, &h, &placing))
			continue;
		order_versions(&h, &placing, &rng);
		enum kr_status status = ask(&ctx, &h, "emme", level, order, &v, &err);
		const char *why = status && status != KR_UNSUPPORTED ? err.text : NULL;
		if (!status)
			why = judge_emme(brute_force(&h, level, order), &v);
		if (why) {
			asked_print(&ctx, &h);
			fail_msg("history %llu, level %s, order %s: %s", (unsigned long long)n, level, kr_order_name(order), why);
		}
		outcomes[v.outcome] += status == KR_OK;
		only += v.outcome == KR_VIOLATED && v.given == KR_GIVEN_ONLY;
		kr_verdict_done(&v, &ctx.mem);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
	print_message("emme: %llu satisfied, %llu violated, %llu of them under the given orders only, %llu undecided\n", (unsigned long long)outcomes[KR_SATISFIED],
		(unsigned long long)outcomes[KR_VIOLATED], (unsigned long long)only, (unsigned long long)outcomes[KR_UNDECIDED]);
	assert_true(outcomes[KR_SATISFIED] * 6 > count);
	assert_true(outcomes[KR_VIOLATED] * 6 > count);
	assert_true(only > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enne_agrees_with_replay),
		cmocka_unit_test(king_cobra_labels),
		cmocka_unit_test(emme_agrees_with_brute_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
