/* backend/small and backend/solver_z3: random clauses of few variables, some of which cycles stand behind, facts and sums, by the learner, by Z3, to which facts of one more variable
 * are told until the question is large, and by all assignments. What is satisfied is so by the values stored, and what is not, without some of the cycles, is refuted exactly if there is no assignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/solver_z3.h"
#include "base/rng.h"

enum { VARS = 9, CLAUSES = 40, FACTS = 6, LONGEST = 3, SUMS = 2, TERMS = 6, MANY_TERMS = 9, ROUNDS = 400, CORES = 4 };

struct question {
	struct kr_ctx ctx;
	struct kr_ir ir;
	struct kr_choices c;
	uint32_t ncycles;
};

static void push_clause(struct question *q, struct kr_lits *list, struct kr_rng *rng)
{
	struct kr_mem *mem = &q->ctx.mem;

	for (uint32_t n = 1 + (uint32_t)kr_rng_below(rng, LONGEST) + (kr_rng_below(rng, 3) > 0); n > 0; n--)
		assert_true(kr_vec_push(mem, list, (kr_lit){(uint32_t)kr_rng_below(rng, 2 * VARS)}));
	assert_true(kr_vec_push(mem, list, (kr_lit){KR_NONE}));
}

static void push_sum(struct question *q, struct kr_rng *rng, uint32_t count)
{
	struct kr_mem *mem = &q->ctx.mem;
	struct kr_choice_sum sum = {.first = q->c.sum_literals.n,
		.count = count,
		.total = (int64_t)kr_rng_below(rng, 5) - 1,
		.guard = {kr_rng_below(rng, 3) > 0 ? 2 * (uint32_t)kr_rng_below(rng, VARS) : KR_NONE}};

	for (uint32_t i = 0; i < count; i++) {
		assert_true(kr_vec_push(mem, &q->c.sum_literals, (kr_lit){(uint32_t)kr_rng_below(rng, 2 * VARS)}));
		assert_true(kr_vec_push(mem, &q->c.sum_weights, (int64_t)kr_rng_below(rng, 7) - 3));
	}
	assert_true(kr_vec_push(mem, &q->c.sums, sum));
}

static void make(struct question *q, struct kr_rng *rng)
{
	memset(q, 0, sizeof *q);
	kr_ctx_init(&q->ctx, 0, 0);
	q->ir.ctx = &q->ctx;
	q->c.ir = &q->ir;
	for (uint32_t v = 0; v <= VARS; v++)
		assert_true(kr_vec_push(&q->ctx.mem, &q->c.all, (struct kr_choice){0}));
	for (uint32_t n = (uint32_t)kr_rng_below(rng, CLAUSES + 1); n > 0; n--) {
		bool cycle = kr_rng_below(rng, 4) > 0;
		push_clause(q, &q->c.clauses, rng);
		assert_true(kr_vec_push(&q->ctx.mem, &q->c.origin, cycle ? q->ncycles++ : KR_NONE));
	}
	for (uint32_t n = (uint32_t)kr_rng_below(rng, FACTS + 1); n > 0; n--)
		push_clause(q, &q->c.facts, rng);
	for (uint32_t n = (uint32_t)kr_rng_below(rng, SUMS + 1); n > 0; n--)
		push_sum(q, rng, (uint32_t)kr_rng_below(rng, TERMS + 1));
}

/* The last variable, again and again. */
static void make_large(struct question *q)
{
	while (kr_small_fits(&q->c)) {
		assert_true(kr_vec_push(&q->ctx.mem, &q->c.facts, (kr_lit){2 * VARS}));
		assert_true(kr_vec_push(&q->ctx.mem, &q->c.facts, (kr_lit){KR_NONE}));
	}
}

static void done(struct question *q)
{
	kr_vec_done(&q->ctx.mem, &q->c.all);
	kr_vec_done(&q->ctx.mem, &q->c.clauses);
	kr_vec_done(&q->ctx.mem, &q->c.origin);
	kr_vec_done(&q->ctx.mem, &q->c.facts);
	kr_vec_done(&q->ctx.mem, &q->c.sums);
	kr_vec_done(&q->ctx.mem, &q->c.sum_literals);
	kr_vec_done(&q->ctx.mem, &q->c.sum_weights);
	assert_int_equal(q->ctx.mem.used, 0);
}

static bool is_true(kr_lit l, uint32_t assignment) { return (assignment >> (l.i / 2) & 1) != (l.i & 1); }

static bool satisfies(const struct kr_lits *list, const uint32_t *origin, const uint8_t *keep, uint32_t assignment)
{
	bool any = false;
	uint32_t clause = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		kr_lit l = list->at[i];
		if (l.i != KR_NONE) {
			any |= is_true(l, assignment);
			continue;
		}
		uint32_t cycle = origin ? origin[clause++] : KR_NONE;
		if (!any && (!keep || cycle == KR_NONE || keep[cycle]))
			return false;
		any = false;
	}
	return true;
}

static bool adds_up(const struct question *q, const struct kr_choice_sum *sum, uint32_t assignment)
{
	int64_t total = 0;

	for (uint32_t i = sum->first; i < sum->first + sum->count; i++)
		total += is_true(q->c.sum_literals.at[i], assignment) ? q->c.sum_weights.at[i] : 0;
	return total == sum->total || (sum->guard.i != KR_NONE && !is_true(sum->guard, assignment));
}

/* Facts, and clauses but for those of cycles that are not kept. */
static bool is_answer(const struct question *q, const uint8_t *keep, uint32_t assignment)
{
	bool answer = satisfies(&q->c.clauses, q->c.origin.at, keep, assignment) && satisfies(&q->c.facts, NULL, NULL, assignment);

	for (uint32_t i = 0; i < q->c.sums.n && answer; i++)
		answer = adds_up(q, &q->c.sums.at[i], assignment);
	return answer;
}

static bool has_answer(const struct question *q, const uint8_t *keep)
{
	for (uint32_t a = 1u << VARS; a < 2u << VARS; a++)
		if (is_answer(q, keep, a))
			return true;
	return false;
}

static void check_values(const struct question *q)
{
	uint32_t a = 0;

	for (uint32_t v = 0; v <= VARS; v++)
		a |= (uint32_t)q->c.all.at[v].value << v;
	assert_true(is_answer(q, NULL, a));
}

/* Of some of the cycles, all at first. */
static void check_cores(struct question *q, struct kr_solver *sat, struct kr_rng *rng)
{
	uint8_t keep[CLAUSES], was[CLAUSES];

	for (int n = 0; n < CORES; n++) {
		bool refuted, answer;
		for (uint32_t i = 0; i < q->ncycles; i++)
			was[i] = keep[i] = n == 0 || kr_rng_below(rng, 8) > 0;
		answer = has_answer(q, keep);
		assert_int_equal(kr_solver_core(sat, &q->c, keep, q->ncycles, &refuted), KR_OK);
		assert_int_equal(refuted, !answer);
		for (uint32_t i = 0; i < q->ncycles; i++)
			assert_true(was[i] || !keep[i]);
		assert_true(!refuted || !has_answer(q, keep));
	}
}

static void check(struct question *q, struct kr_rng *rng, uint32_t answers[2])
{
	enum kr_solver_result result;
	struct kr_solver *sat;
	char reason[64];
	bool answer = has_answer(q, NULL);

	assert_int_equal(kr_solver_new(&q->ctx, &sat), KR_OK);
	assert_int_equal(kr_solver_solve(sat, &q->c, &result, reason, sizeof reason), KR_OK);
	assert_int_equal(result, answer ? KR_SOLVER_YES : KR_SOLVER_NO);
	answers[answer]++;
	if (answer)
		check_values(q);
	else
		check_cores(q, sat, rng);
	kr_solver_free(sat);
}

static void all_agree(void **state)
{
	struct kr_rng rng;
	uint32_t answers[2] = {0, 0};

	(void)state;
	kr_rng_init(&rng, 1);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct question q;
		make(&q, &rng);
		assert_true(kr_small_fits(&q.c));
		check(&q, &rng, answers);
		if (round % 2 == 0) {
			make_large(&q);
			check(&q, &rng, answers);
		}
		done(&q);
	}
	assert_true(answers[0] > ROUNDS / 4 && answers[1] > ROUNDS / 4);
}

static void what_is_large_is_not_small(void **state)
{
	struct kr_rng rng;
	struct question q;

	(void)state;
	kr_rng_init(&rng, 2);
	make(&q, &rng);
	assert_true(kr_small_fits(&q.c));
	push_sum(&q, &rng, MANY_TERMS);
	assert_false(kr_small_fits(&q.c));
	q.c.sums.n--;
	assert_true(kr_small_fits(&q.c));
	while (kr_small_fits(&q.c) && q.c.sums.n < 1000)
		push_sum(&q, &rng, TERMS);
	assert_true(q.c.sums.n > 10 && q.c.sums.n < 1000);
	q.c.sums.n = 0;
	make_large(&q);
	assert_true(q.c.facts.n > 1000 && !kr_small_fits(&q.c));
	done(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_agree), cmocka_unit_test(what_is_large_is_not_small)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
