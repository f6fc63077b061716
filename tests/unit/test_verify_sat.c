/* verify/sat: agrees with trying all assignments on small random formulas, and decides larger ones whose answer is known by construction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "verify/sat.h"

enum { MOST_VARS = 12, MOST_CLAUSES = 60, MOST_LENGTH = 4 };

struct formula {
	uint32_t vars, clauses;
	uint32_t length[MOST_CLAUSES], literals[MOST_CLAUSES][MOST_LENGTH];
};

static bool holds(const struct formula *f, uint32_t assignment)
{
	for (uint32_t c = 0; c < f->clauses; c++) {
		bool clause = false;
		for (uint32_t i = 0; i < f->length[c]; i++) {
			uint32_t literal = f->literals[c][i];
			clause |= (assignment >> (literal >> 1) & 1) != (literal & 1);
		}
		if (!clause)
			return false;
	}
	return true;
}

static void make(struct formula *f, struct kr_rng *rng)
{
	bool mixed = kr_rng_below(rng, 2); /* else clauses of three, about as many as are hardest: only these take a search */

	f->vars = 1 + (uint32_t)kr_rng_below(rng, MOST_VARS);
	f->clauses = mixed ? (uint32_t)kr_rng_below(rng, f->vars * 6 < MOST_CLAUSES ? f->vars * 6 : MOST_CLAUSES) : f->vars * 9 / 2;
	for (uint32_t c = 0; c < f->clauses; c++) {
		f->length[c] = mixed ? 1 + (uint32_t)kr_rng_below(rng, MOST_LENGTH) : 3; /* may hold a literal twice, or both of a pair */
		for (uint32_t i = 0; i < f->length[c]; i++)
			f->literals[c][i] = (uint32_t)kr_rng_below(rng, 2 * f->vars);
	}
}

static bool solve(struct kr_ctx *ctx, const struct formula *f, uint32_t *assignment)
{
	struct kr_sat s;
	uint32_t var;
	bool satisfiable;

	kr_sat_init(&s, &ctx->mem);
	for (uint32_t v = 0; v < f->vars; v++) {
		assert_int_equal(kr_sat_new_var(&s, &var), KR_OK);
		assert_int_equal(var, v);
	}
	for (uint32_t c = 0; c < f->clauses; c++)
		assert_int_equal(kr_sat_add(&s, f->literals[c], f->length[c]), KR_OK);
	assert_int_equal(kr_sat_solve(&s, ctx, &satisfiable), KR_OK);
	*assignment = 0;
	for (uint32_t v = 0; satisfiable && v < f->vars; v++)
		*assignment |= (uint32_t)kr_sat_value(&s, v) << v;
	kr_sat_done(&s);
	assert_int_equal(ctx->mem.used, 0);
	return satisfiable;
}

static void agrees_with_all_assignments(void **state)
{
	struct kr_rng rng;
	struct kr_ctx ctx;
	uint32_t answers[2] = {0};

	(void)state;
	kr_rng_init(&rng, 1);
	kr_ctx_init(&ctx, 0, 0);
	for (int round = 0; round < 20000; round++) {
		struct formula f;
		uint32_t assignment;
		bool expected = false;

		make(&f, &rng);
		for (uint32_t a = 0; !expected && a < 1u << f.vars; a++)
			expected = holds(&f, a);

		bool found = solve(&ctx, &f, &assignment);

		assert_int_equal(found, expected);
		assert_true(!found || holds(&f, assignment));
		answers[found]++;
	}
	assert_true(answers[0] > 2000 && answers[1] > 2000); /* else the formulas are too easy */
}

/* `pigeons` in `holes`, one each: no clause but all together tell. `forgets`: so much is learned on the way that half of it is forgotten again. */
static bool pigeons_fit(uint32_t pigeons, uint32_t holes, bool forgets)
{
	struct kr_ctx ctx;
	struct kr_sat s;
	uint32_t literals[16], var;
	bool satisfiable;

	kr_ctx_init(&ctx, 0, 0);
	kr_sat_init(&s, &ctx.mem);
	for (uint32_t i = 0; i < pigeons * holes; i++)
		assert_int_equal(kr_sat_new_var(&s, &var), KR_OK);
	for (uint32_t p = 0; p < pigeons; p++) {
		for (uint32_t hole = 0; hole < holes; hole++)
			literals[hole] = kr_sat_yes(p * holes + hole);
		assert_int_equal(kr_sat_add(&s, literals, holes), KR_OK);
		for (uint32_t q = 0; q < p; q++) {
			for (uint32_t hole = 0; hole < holes; hole++) {
				literals[0] = kr_sat_not(kr_sat_yes(p * holes + hole));
				literals[1] = kr_sat_not(kr_sat_yes(q * holes + hole));
				assert_int_equal(kr_sat_add(&s, literals, 2), KR_OK);
			}
		}
	}
	uint32_t first = s.kept_most;
	assert_int_equal(kr_sat_solve(&s, &ctx, &satisfiable), KR_OK);
	if (forgets)
		assert_true(s.kept_most > first);
	kr_sat_done(&s);
	assert_int_equal(ctx.mem.used, 0);
	return satisfiable;
}

static void pigeons(void **state)
{
	(void)state;
	assert_true(pigeons_fit(6, 6, false));
	assert_false(pigeons_fit(7, 6, false));
	assert_false(pigeons_fit(9, 8, true));
}

/* A chain of n implications from true to false: unit propagation alone, at a size that recursion or quadratic work would not survive. */
static void long_chain(void **state)
{
	enum { N = 300000 };
	struct kr_ctx ctx;
	struct kr_sat s;
	uint32_t var;
	bool satisfiable;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_sat_init(&s, &ctx.mem);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(kr_sat_new_var(&s, &var), KR_OK);
	for (uint32_t i = 0; i + 1 < N; i++)
		assert_int_equal(kr_sat_add(&s, (uint32_t[]){kr_sat_not(kr_sat_yes(i)), kr_sat_yes(i + 1)}, 2), KR_OK);
	assert_int_equal(kr_sat_add(&s, (uint32_t[]){kr_sat_yes(0)}, 1), KR_OK);
	assert_int_equal(kr_sat_add(&s, (uint32_t[]){kr_sat_not(kr_sat_yes(N - 1))}, 1), KR_OK);
	assert_int_equal(kr_sat_solve(&s, &ctx, &satisfiable), KR_OK);
	assert_false(satisfiable);
	kr_sat_done(&s);
	assert_int_equal(ctx.mem.used, 0);
}

static void trivial(void **state)
{
	struct kr_ctx ctx;
	struct kr_sat s;
	bool satisfiable;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_sat_init(&s, &ctx.mem);
	assert_int_equal(kr_sat_solve(&s, &ctx, &satisfiable), KR_OK);
	assert_true(satisfiable);
	kr_sat_done(&s);
	kr_sat_init(&s, &ctx.mem);
	assert_int_equal(kr_sat_add(&s, NULL, 0), KR_OK);
	assert_int_equal(kr_sat_solve(&s, &ctx, &satisfiable), KR_OK);
	assert_false(satisfiable);
	kr_sat_done(&s);
	assert_int_equal(ctx.mem.used, 0);
}

/* The limits hold inside of the search. */
static void stops(void **state)
{
	struct kr_ctx ctx;
	struct kr_sat s;
	atomic_bool cancel = true;
	uint32_t literals[11], var;
	bool satisfiable;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_sat_init(&s, &ctx.mem);
	for (uint32_t i = 0; i < 110; i++)
		assert_int_equal(kr_sat_new_var(&s, &var), KR_OK);
	for (uint32_t p = 0; p < 11; p++) { /* 11 pigeons in 10 holes: hopeless */
		for (uint32_t hole = 0; hole < 10; hole++)
			literals[hole] = kr_sat_yes(p * 10 + hole);
		assert_int_equal(kr_sat_add(&s, literals, 10), KR_OK);
		for (uint32_t q = 0; q < p; q++)
			for (uint32_t hole = 0; hole < 10; hole++)
				assert_int_equal(kr_sat_add(&s, (uint32_t[]){kr_sat_not(kr_sat_yes(p * 10 + hole)), kr_sat_not(kr_sat_yes(q * 10 + hole))}, 2), KR_OK);
	}
	ctx.cancel = &cancel;
	assert_int_equal(kr_sat_solve(&s, &ctx, &satisfiable), KR_CANCELED);
	kr_sat_done(&s);
	assert_int_equal(ctx.mem.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_all_assignments),
		cmocka_unit_test(pigeons),
		cmocka_unit_test(long_chain),
		cmocka_unit_test(trivial),
		cmocka_unit_test(stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
