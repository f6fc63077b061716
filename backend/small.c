/* The clauses of small questions, given to a learner whose only user is this: all variables are to be
 * decided, and false, the alternative of the world in which they were met, first. Each question is asked from
 * the beginning, as it is small; a hard one is left to Z3. */
#include "backend/small.h"

#include "backend/learner.h"

enum { CLAUSES = 256, LITERALS = 4096, CONFLICTS = 1000 };

bool kr_small_fits(const struct kr_choices *c)
{
	return c->sums.n == 0 && c->origin.n <= CLAUSES && c->clauses.n + c->facts.n <= LITERALS;
}

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
