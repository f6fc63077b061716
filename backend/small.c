/* The clauses of small questions, given to a learner whose only user is this: all variables are to be
 * decided, and false, the alternative of the world in which they were met, first. Each question is asked from
 * the beginning, as it is small; a hard one is left to Z3. A sum of few terms becomes clauses, at most one
 * for each choice of their values. */
#include "backend/small.h"

#include "backend/learner.h"

enum { CLAUSES = 256, LITERALS = 4096, CONFLICTS = 1000, TERMS = 8, SUM_CLAUSES = 1024 };

bool kr_small_fits(const struct kr_choices *c)
{
	bool few = c->origin.n <= CLAUSES && c->clauses.n + c->facts.n <= LITERALS;
	uint32_t clauses = 0; /* that sums may take */
	for (uint32_t i = 0; i < c->sums.n && few; i++) {
		few = c->sums.at[i].count <= TERMS;
		clauses += few ? 1u << c->sums.at[i].count : 0;
	}
	return few && clauses <= SUM_CLAUSES;
}

/* ---- sums ---- */

/* What is being said of a sum: not the guard, or not the values that the first `next` terms have. */
struct adding {
	struct kr_learner *s;
	const kr_lit *literals;
	const int64_t *weights;
	uint32_t count, n;
	kr_lit clause[TERMS + 1];
};

/* Can the terms from `next` on add up to `rest`? */
static bool may_reach(const struct adding *a, uint32_t next, int64_t rest)
{
	int64_t least = 0, most = 0;
	for (uint32_t i = next; i < a->count; i++) {
		least += a->weights[i] < 0 ? a->weights[i] : 0;
		most += a->weights[i] > 0 ? a->weights[i] : 0;
	}
	return least <= rest && rest <= most;
}

/* A clause against each choice of values for the first terms with which the rest is out of reach. */
static enum kr_status rule_out(struct adding *a, uint32_t next, int64_t rest)
{
	if (!may_reach(a, next, rest))
		return kr_learner_add(a->s, a->clause, a->n);
	if (next == a->count)
		return KR_OK;
	a->clause[a->n++] = kr_lit_not(a->literals[next]);
	KR_TRY(rule_out(a, next + 1, rest - a->weights[next]));
	a->clause[a->n - 1] = a->literals[next];
	KR_TRY(rule_out(a, next + 1, rest));
	a->n--;
	return KR_OK;
}

static enum kr_status tell_sums(struct kr_learner *s, const struct kr_choices *c)
{
	for (uint32_t i = 0; i < c->sums.n; i++) {
		const struct kr_choice_sum *sum = &c->sums.at[i];
		struct adding a = {.s = s,
			.literals = c->sum_literals.at + sum->first,
			.weights = c->sum_weights.at + sum->first,
			.count = sum->count};
		if (sum->guard.i != KR_NONE)
			a.clause[a.n++] = kr_lit_not(sum->guard);
		KR_TRY(rule_out(&a, 0, sum->total));
	}
	return KR_OK;
}

/* ---- the question ---- */

/* Clauses that KR_NONE ends. `origin`: the cycle of each, or NULL: they are facts. */
static enum kr_status tell(struct kr_learner *s, const struct kr_lits *list, const uint32_t *origin,
	const uint8_t *keep)
{
	uint32_t clause = 0;
	for (uint32_t first = 0, end = 0; end < list->n; end++) {
		if (list->at[end].i != KR_NONE)
			continue;
		uint32_t cycle = origin ? origin[clause++] : KR_NONE;
		if (!keep || cycle == KR_NONE || keep[cycle])
			KR_TRY(kr_learner_add(s, list->at + first, end - first));
		first = end + 1;
	}
	return KR_OK;
}

/* The next open variable. What has been taken back need not be wanted any more. */
static uint32_t pick(struct kr_learner *s)
{
	uint32_t var = kr_learner_pick(s);
	for (uint32_t v = 0; v < s->vars.n && var == KR_NONE; v++)
		if (kr_learner_open(s, (kr_lit){2 * v}))
			var = v;
	return var;
}

static enum kr_status search(struct kr_learner *s, enum kr_solver_result *result)
{
	for (uint32_t v = 0; v < s->vars.n; v++)
		kr_learner_want(s, (kr_lit){2 * v});
	while (s->conflicts < CONFLICTS) {
		KR_TRY(kr_ctx_tick(s->ctx));
		KR_TRY(kr_learner_propagate(s));
		uint32_t var = s->refuted ? KR_NONE : pick(s);
		if (var == KR_NONE) {
			*result = s->refuted ? KR_SOLVER_NO : KR_SOLVER_YES;
			return KR_OK;
		}
		KR_TRY(kr_learner_decide(s, (kr_lit){2 * var + 1}));
	}
	return KR_OK;
}

static enum kr_status solve(struct kr_learner *s, struct kr_choices *c, const uint8_t *keep,
	enum kr_solver_result *result)
{
	KR_TRY(kr_learner_grow(s, c->all.n));
	KR_TRY(tell(s, &c->facts, NULL, NULL));
	KR_TRY(tell(s, &c->clauses, c->origin.at, keep));
	KR_TRY(tell_sums(s, c));
	KR_TRY(search(s, result));
	for (uint32_t v = 0; v < c->all.n && *result == KR_SOLVER_YES && !keep; v++)
		c->all.at[v].value = kr_learner_true(s, (kr_lit){2 * v});
	return KR_OK;
}

enum kr_status kr_small_solve(struct kr_choices *c, const uint8_t *keep, enum kr_solver_result *result)
{
	struct kr_learner s;
	*result = KR_SOLVER_UNKNOWN;
	kr_learner_init(&s, c->ir->ctx);
	enum kr_status status = solve(&s, c, keep, result);
	kr_learner_done(&s);
	return status;
}
