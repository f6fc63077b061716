/* ir/ir: observations of one key by one transaction are a ring, on random histories, by comparing each two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "ir/ir.h"

enum { TXNS = 40, KEYS = 12, OBSERVATIONS = 300, ROUNDS = 500 };

static const struct kr_level level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR)}}};

static void make(struct kr_asg *asg, struct kr_rng *rng, uint32_t keys, uint32_t step)
{
	asg->ntxns = TXNS;
	asg->nkeys = keys;
	asg->txns = KR_NEW_ARRAY(&asg->arena, struct kr_asg_txn, TXNS);
	asg->keys = KR_NEW_ARRAY(&asg->arena, struct kr_asg_key, keys + 1);
	asg->obs_first = KR_NEW_ARRAY(&asg->arena, uint32_t, TXNS + 1);
	asg->obs = KR_NEW_ARRAY(&asg->arena, struct kr_observation, OBSERVATIONS);
	assert_true(asg->txns && asg->keys && asg->obs_first && asg->obs);
	for (uint32_t t = 0; t < TXNS; t++) {
		asg->obs_first[t] = asg->nobs;
		for (uint32_t n = (uint32_t)kr_rng_below(rng, step + 1); n > 0 && asg->nobs < OBSERVATIONS; n--)
			asg->obs[asg->nobs++] = (struct kr_observation){.txn = {t}, .key = {(uint32_t)kr_rng_below(rng, keys)}};
	}
	asg->obs_first[TXNS] = asg->nobs;
	assert_int_equal(kr_asg_index(asg), KR_OK);
}

static void check(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;

	for (uint32_t o = 0; o < asg->nobs; o++) {
		uint32_t expected = 0, found = 0;
		kr_obs p = {o};

		for (uint32_t q = 0; q < asg->nobs; q++)
			expected += asg->obs[q].txn.i == asg->obs[o].txn.i && asg->obs[q].key.i == asg->obs[o].key.i;
		do {
			assert_true(asg->obs[p.i].txn.i == asg->obs[o].txn.i && asg->obs[p.i].key.i == asg->obs[o].key.i);
			p = kr_ir_sibling(ir, p);
		} while (++found <= expected && p.i != o);
		assert_int_equal(found, expected);
	}
}

static void rings(void **state)
{
	struct kr_rng rng = {0};

	(void)state;
	kr_rng_init(&rng, 1);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct kr_ctx ctx;
		struct kr_asg asg;
		struct kr_ir ir;

		kr_ctx_init(&ctx, 0, 0);
		kr_asg_init(&asg, &ctx.mem);
		make(&asg, &rng, 1 + (uint32_t)kr_rng_below(&rng, KEYS), 1 + round % 20);
		assert_int_equal(kr_ir_init(&ir, &ctx, &asg, &level, KR_ORDER_NONE), KR_OK);
		check(&ir);
		kr_ir_done(&ir);
		kr_asg_done(&asg);
		assert_int_equal(ctx.mem.used, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rings)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
