/* backend/learner: random formulas of few variables, whose clauses come before, between and after decisions, against
 * all assignments. A solution satisfies every clause, a refuted formula has none; and neither depends on who decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/learner.h"
#include "base/rng.h"

enum { VARS = 12, CLAUSES = 64, LONGEST = 4, ROUNDS = 4000 };

struct formula {
	uint32_t nclauses, length[CLAUSES];
	kr_lit literals[CLAUSES][LONGEST];
};

static void make_formula(struct formula *f, struct kr_rng *rng)
{
	f->nclauses = (uint32_t)kr_rng_below(rng, CLAUSES + 1);
	for (uint32_t c = 0; c < f->nclauses; c++) {
		f->length[c] = 1 + (uint32_t)kr_rng_below(rng, LONGEST);
		if (f->length[c] < 3 && kr_rng_below(rng, 4) > 0)
			f->length[c] = 3;
		for (uint32_t i = 0; i < f->length[c]; i++)
			f->literals[c][i].i = (uint32_t)kr_rng_below(rng, 2 * VARS);
	}
}

static bool satisfies(const struct formula *f, uint32_t assignment)
{
	for (uint32_t c = 0; c < f->nclauses; c++) {
		bool any = false;
		for (uint32_t i = 0; i < f->length[c]; i++) {
			kr_lit l = f->literals[c][i];
			any |= (assignment >> (l.i / 2) & 1) != (l.i & 1);
		}
		if (!any)
			return false;
	}
	return true;
}

static bool is_satisfiable(const struct formula *f)
{
	for (uint32_t a = 0; a < 1u << VARS; a++)
		if (satisfies(f, a))
			return true;
	return false;
}

/* The next variable to decide, when all are wanted. */
static uint32_t pick(struct kr_learner *s)
{
	for (uint32_t v = 0; v < VARS; v++)
		kr_learner_want(s, (kr_lit){2 * v});
	return kr_learner_pick(s);
}

/* A decision by whim, among the open variables. */
static void decide(struct kr_learner *s, struct kr_rng *rng)
{
	uint32_t var = pick(s);
	for (int i = 0; i < 4; i++) {
		uint32_t other = (uint32_t)kr_rng_below(rng, VARS);
		if (kr_learner_open(s, (kr_lit){2 * other}))
			var = other;
	}
	assert_int_equal(kr_learner_decide(s, (kr_lit){2 * var + (uint32_t)kr_rng_below(rng, 2)}), KR_OK);
}

static bool solve(struct kr_learner *s, const struct formula *f, struct kr_rng *rng, uint32_t *assignment)
{
	uint32_t told = 0;
	assert_int_equal(kr_learner_grow(s, VARS), KR_OK);
	while (!s->refuted) {
		assert_int_equal(kr_learner_propagate(s), KR_OK);
		bool all = pick(s) == KR_NONE;
		if (!s->refuted && told < f->nclauses && (all || kr_rng_below(rng, 2) == 0)) {
			assert_int_equal(kr_learner_add(s, f->literals[told], f->length[told]), KR_OK);
			told++;
		} else if (!s->refuted && all) {
			break;
		} else if (!s->refuted) {
			decide(s, rng);
		}
	}
	*assignment = 0;
	for (uint32_t v = 0; v < VARS; v++)
		*assignment |= (uint32_t)kr_learner_true(s, (kr_lit){2 * v}) << v;
	return !s->refuted;
}

static void formulas_are_decided(void **state)
{
	(void)state;
	uint32_t counts[2] = {0};
	struct kr_rng rng;
	kr_rng_init(&rng, 19);
	for (int round = 0; round < ROUNDS; round++) {
		struct kr_ctx ctx;
		struct kr_learner s;
		struct formula f;
		uint32_t assignment;
		kr_ctx_init(&ctx, 0, 0);
		kr_learner_init(&s, &ctx);
		make_formula(&f, &rng);
		bool solved = solve(&s, &f, &rng, &assignment);
		assert_int_equal(solved, is_satisfiable(&f));
		assert_true(!solved || satisfies(&f, assignment));
		counts[solved]++;
		kr_learner_done(&s);
		assert_int_equal(ctx.mem.used, 0);
	}
	assert_true(counts[0] > ROUNDS / 10 && counts[1] > ROUNDS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(formulas_are_decided)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
