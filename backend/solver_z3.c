/* Z3's QF_FD solver (its incremental SAT core) behind a small interface. Each choice is a Boolean constant
 * named by its number; clauses are asserted as they come; the deadline is handed on at every call. Z3's own
 * limit of memory is no use: beyond it, it throws where nothing catches (in destructors), and the process
 * ends; so a thread watches what it takes, and interrupts it. Each call of Z3 clears the error of the one
 * before, so what builds the question looks at once: a question with a clause missing is never asked. */
#include "backend/solver_z3.h"

#include <stdio.h>
#include <string.h>

#include "backend/watch.h"
#include "backend/z3_library.h"

struct kr_solver {
	struct kr_ctx *ctx;
	struct kr_z3_calls call;
	bool asked;  /* Z3, once; from then on it is */
	bool loaded; /* `call` is there */
	Z3_context z3;
	Z3_solver solver;
	KR_VEC(Z3_ast) vars;
	KR_VEC(Z3_ast) clause;             /* scratch */
	uint32_t clauses_sent, facts_sent; /* literals of the lists that the solver has */
	uint32_t sums_sent;
	KR_VEC(int) weights; /* scratch, parallel to clause */
	bool switched;       /* the solver is there for cores */
	uint32_t steps;      /* taken since memory was last looked at */
	unsigned nodes;      /* expressions that Z3 was asked to make */
	uint64_t others;     /* bytes that Z3 had before: of other solvers of the process */
};

/* Errors are looked up after each call; the default handler would end the process. */
static void ignore_error(Z3_context z3, Z3_error_code code) { (void)z3, (void)code; }

static Z3_context new_context(const struct kr_solver *sat)
{
	Z3_config config = sat->call.mk_config();
	Z3_context z3 = sat->call.mk_context(config);
	sat->call.del_config(config);
	return z3;
}

enum kr_status kr_solver_new(struct kr_ctx *ctx, struct kr_solver **out)
{
	struct kr_solver *sat = kr_mem_alloc(&ctx->mem, 1, sizeof *sat);
	if (!sat)
		return KR_NOMEM;
	sat->ctx = ctx;
	*out = sat;
	return KR_OK;
}

/* ---- limits ---- */

#define LEAST_MEMORY ((size_t)16 << 20) /* of a new context */
#define STEPS 256                       /* from one look at limits to the next */

static void interrupt(void *data)
{
	struct kr_solver *sat = data;
	sat->call.interrupt(sat->z3);
}

static size_t z3_memory(void *data)
{
	struct kr_solver *sat = data;
	uint64_t all = sat->call.get_estimated_alloc_size();

	return all > sat->others + LEAST_MEMORY ? (size_t)(all - sat->others) : LEAST_MEMORY;
}

/* The table in which Z3 finds its expressions and declarations again, the largest that it has, so far as what
 * it has in all tells: it starts with half of that, and doubles. */
static size_t largest_table(size_t all)
{
	size_t table = LEAST_MEMORY / 2;
	while (2 * table <= all - LEAST_MEMORY / 2)
		table *= 2;
	return table;
}

/* That table doubles, and while it moves the old one is there, too, when as many nodes have met another in
 * their slot as it has KiB: it has 64 slots for each of those. A variable meets its declaration, always;
 * others meet by chance, for which twice as many are taken as there will be. */
static bool doubles_soon(const struct kr_solver *sat, size_t table)
{
	uint64_t nodes = (uint64_t)sat->nodes + sat->vars.n, room = table >> 10;
	return sat->vars.n + STEPS + nodes * nodes / (64 * room) >= room;
}

/* Tables of clauses grow by less than there is. */
static size_t z3_next(void *data)
{
	size_t all = z3_memory(data), table = largest_table(all);
	return doubles_soon(data, table) && 2 * table > all ? 2 * table : all;
}

static struct kr_watched watched(struct kr_solver *sat)
{
	return (struct kr_watched){.stop = interrupt, .memory = z3_memory, .next = z3_next, .data = sat};
}

static enum kr_status check_limits(struct kr_solver *sat)
{
	struct kr_watched library = watched(sat);
	enum kr_status status = kr_ctx_check(sat->ctx);
	return !status && kr_watch_is_over(&sat->ctx->mem, &library) ? KR_NOMEM : status;
}

/* For loops that tell Z3 something. */
static enum kr_status tick(struct kr_solver *sat)
{
	return ++sat->steps % STEPS != 0 ? sat->ctx->stopped : check_limits(sat);
}

/* The library, once there is something to ask it. False: it is not there. */
static bool load(struct kr_solver *sat, char *reason, size_t size)
{
	struct kr_err err;
	kr_err_init(&err);
	if (sat->loaded)
		return true;
	if (kr_z3_load(&sat->call, &err)) {
		kr_err_line(reason, size, "Z3: %s", err.text);
		return false;
	}
	sat->others = sat->call.get_estimated_alloc_size();
	return sat->loaded = true;
}

/* And a solver: its context takes milliseconds. */
static enum kr_status start(struct kr_solver *sat)
{
	if (sat->solver)
		return KR_OK;
	KR_TRY(check_limits(sat));
	if (!sat->z3)
		sat->z3 = new_context(sat);
	if (!sat->z3)
		return KR_NOMEM;
	sat->call.set_error_handler(sat->z3, ignore_error);
	sat->solver = sat->call.mk_solver_for_logic(sat->z3, sat->call.mk_string_symbol(sat->z3, "QF_FD"));
	if (!sat->solver)
		return KR_NOMEM;
	sat->call.solver_inc_ref(sat->z3, sat->solver);
	return KR_OK;
}

void kr_solver_free(struct kr_solver *sat)
{
	if (!sat)
		return;
	struct kr_mem *mem = &sat->ctx->mem;
	if (sat->solver)
		sat->call.solver_dec_ref(sat->z3, sat->solver);
	if (sat->z3)
		sat->call.del_context(sat->z3);
	kr_vec_done(mem, &sat->vars);
	kr_vec_done(mem, &sat->clause);
	kr_vec_done(mem, &sat->weights);
	kr_mem_free(mem, sat, 1, sizeof *sat);
}

/* Did the last calls fail? */
static bool failed(const struct kr_solver *sat, char *reason, size_t size)
{
	Z3_error_code code = sat->call.get_error_code(sat->z3);
	if (code == Z3_OK)
		return false;
	snprintf(reason, size, "Z3: %s", sat->call.get_error_msg(sat->z3, code));
	return true;
}

/* Z3 fails to build something only when its memory runs out. */
static enum kr_status built(const struct kr_solver *sat)
{
	return sat->call.get_error_code(sat->z3) == Z3_OK ? KR_OK : KR_NOMEM;
}

static enum kr_status make_variables(struct kr_solver *sat, const struct kr_choices *c)
{
	Z3_sort boolean = sat->call.mk_bool_sort(sat->z3);
	while (sat->vars.n < c->all.n) {
		Z3_ast var = sat->call.mk_const(sat->z3, sat->call.mk_int_symbol(sat->z3, (int)sat->vars.n),
			boolean);
		if (!var || !kr_vec_push(&sat->ctx->mem, &sat->vars, var))
			return KR_NOMEM;
		KR_TRY(tick(sat));
	}
	return KR_OK;
}

static enum kr_status push_literal(struct kr_solver *sat, kr_lit l)
{
	Z3_ast var = sat->vars.at[l.i / 2];
	Z3_ast literal = l.i & 1 ? sat->call.mk_not(sat->z3, var) : var;
	return literal && kr_vec_push(&sat->ctx->mem, &sat->clause, literal) ? KR_OK : KR_NOMEM;
}

static enum kr_status assert_clause(struct kr_solver *sat)
{
	Z3_ast clause = sat->call.mk_or(sat->z3, sat->clause.n, sat->clause.at);
	kr_vec_clear(&sat->clause);
	if (!clause)
		return KR_NOMEM;
	sat->nodes = sat->call.get_ast_id(sat->z3, clause);
	sat->call.solver_assert(sat->z3, sat->solver, clause);
	return built(sat);
}

static enum kr_status assert_list(struct kr_solver *sat, const struct kr_lits *list, uint32_t *sent)
{
	for (; *sent < list->n; ++*sent) {
		kr_lit l = list->at[*sent];
		KR_TRY(l.i == KR_NONE ? assert_clause(sat) : push_literal(sat, l));
		KR_TRY(tick(sat));
	}
	return KR_OK;
}

/* A sum as a pseudo-Boolean equality with weights that are not negative: w * l is w + -w * not(l). */
static enum kr_status assert_sum(struct kr_solver *sat, const struct kr_choices *c,
	const struct kr_choice_sum *sum)
{
	int64_t total = sum->total;
	enum kr_status status = KR_OK;
	kr_vec_clear(&sat->weights);
	for (uint32_t i = sum->first; i < sum->first + sum->count && !status; i++) {
		int64_t weight = c->sum_weights.at[i];
		status = push_literal(sat,
			weight < 0 ? kr_lit_not(c->sum_literals.at[i]) : c->sum_literals.at[i]);
		total -= weight < 0 ? weight : 0;
		if (!status &&
			!kr_vec_push(&sat->ctx->mem, &sat->weights, (int)(weight < 0 ? -weight : weight)))
			status = KR_NOMEM;
	}
	if (status)
		return status;
	Z3_ast holds = total < 0 || (sum->count == 0 && total != 0) ? sat->call.mk_false(sat->z3)
		: sum->count == 0
		? sat->call.mk_true(sat->z3)
		: sat->call.mk_pbeq(sat->z3, sum->count, sat->clause.at, sat->weights.at, (int)total);
	kr_vec_clear(&sat->clause);
	if (holds && sum->guard.i != KR_NONE)
		holds = sat->call.mk_implies(sat->z3, sat->vars.at[sum->guard.i / 2], holds);
	if (!holds)
		return KR_NOMEM;
	sat->call.solver_assert(sat->z3, sat->solver, holds);
	return built(sat);
}

static enum kr_status assert_facts(struct kr_solver *sat, const struct kr_choices *c)
{
	KR_TRY(assert_list(sat, &c->facts, &sat->facts_sent));
	for (; sat->sums_sent < c->sums.n; sat->sums_sent++)
		KR_TRY(assert_sum(sat, c, &c->sums.at[sat->sums_sent]));
	return KR_OK;
}

static enum kr_status assert_clauses(struct kr_solver *sat, const struct kr_choices *c)
{
	KR_TRY(assert_list(sat, &c->clauses, &sat->clauses_sent));
	return assert_facts(sat, c);
}

/* Z3 takes weights and totals of 31 bits; with room to spare no sum of them overflows. */
static bool fits(const struct kr_choices *c)
{
	const int64_t most = INT32_MAX / 2;
	for (uint32_t s = 0; s < c->sums.n; s++) {
		const struct kr_choice_sum *sum = &c->sums.at[s];
		int64_t all = 0;
		if (sum->large || sum->total > most || sum->total < -most)
			return false;
		for (uint32_t i = sum->first; i < sum->first + sum->count; i++) {
			int64_t weight = c->sum_weights.at[i];
			if (weight > most || weight < -most || (all += weight < 0 ? -weight : weight) > most)
				return false;
		}
	}
	return true;
}

static void set_timeout(struct kr_solver *sat)
{
	if (sat->ctx->deadline_ns == INT64_MAX)
		return;
	Z3_params params = sat->call.mk_params(sat->z3);
	sat->call.params_inc_ref(sat->z3, params);
	sat->call.params_set_uint(sat->z3, params, sat->call.mk_string_symbol(sat->z3, "timeout"),
		kr_ctx_left_ms(sat->ctx, 1u << 30));
	sat->call.solver_set_params(sat->z3, sat->solver, params);
	sat->call.params_dec_ref(sat->z3, params);
}

/* Does each clause of the list have a true literal? */
static bool holds(const struct kr_lits *list, const struct kr_choices *c)
{
	bool any = false;
	for (uint32_t i = 0; i < list->n; i++) {
		kr_lit l = list->at[i];
		if (l.i == KR_NONE && !any)
			return false;
		any = l.i != KR_NONE && (any || c->all.at[l.i / 2].value != (l.i & 1));
	}
	return true;
}

/* The assignment as the search left it: Z3 makes a model of it far more slowly than it finds it. False: it
 * does not satisfy the clauses, or may not satisfy sums. */
static bool read_trail(struct kr_solver *sat, struct kr_choices *c)
{
	Z3_ast_vector trail = c->sums.n > 0 ? NULL : sat->call.solver_get_trail(sat->z3, sat->solver);
	if (!trail)
		return false;
	sat->call.ast_vector_inc_ref(sat->z3, trail);
	for (uint32_t i = 0; i < c->all.n; i++)
		c->all.at[i].value = false;
	for (unsigned i = sat->call.ast_vector_size(sat->z3, trail); i-- > 0;) {
		Z3_ast literal = sat->call.ast_vector_get(sat->z3, trail, i);
		/* NULL: of Z3's own */
		Z3_symbol name = literal
			? sat->call.get_decl_name(sat->z3,
				  sat->call.get_app_decl(sat->z3, sat->call.to_app(sat->z3, literal)))
			: NULL;
		/* else the name of a negation, or another of Z3's own */
		if (name && sat->call.get_symbol_kind(sat->z3, name) == Z3_INT_SYMBOL)
			c->all.at[sat->call.get_symbol_int(sat->z3, name)].value = true;
	}
	sat->call.ast_vector_dec_ref(sat->z3, trail);
	return holds(&c->clauses, c) && holds(&c->facts, c);
}

/* A variable that the answer leaves out is free: false, its preferred alternative. */
static bool read_answer(struct kr_solver *sat, struct kr_choices *c)
{
	if (read_trail(sat, c))
		return true;
	bool ok = true;
	Z3_model model = sat->call.solver_get_model(sat->z3, sat->solver);
	if (!model)
		return false;
	sat->call.model_inc_ref(sat->z3, model);
	for (uint32_t i = 0; i < c->all.n && ok && !kr_ctx_tick(sat->ctx); i++) {
		Z3_ast value = NULL;
		ok = sat->call.model_eval(sat->z3, model, sat->vars.at[i], false, &value);
		c->all.at[i].value = ok && sat->call.get_bool_value(sat->z3, value) == Z3_L_TRUE;
	}
	sat->call.model_dec_ref(sat->z3, model);
	return ok;
}

enum kr_status kr_solver_solve(struct kr_solver *sat, struct kr_choices *c, enum kr_solver_result *result,
	char *reason, size_t size)
{
	*result = KR_SOLVER_UNKNOWN;
	if (!fits(c)) {
		snprintf(reason, size, "what reads of counters add up to is too large for the solver");
		return KR_OK;
	}
	if (c->clauses.n + c->facts.n + c->sums.n == 0) { /* every choice is free */
		for (uint32_t i = 0; i < c->all.n; i++)
			c->all.at[i].value = false;
		*result = KR_SOLVER_YES;
		return KR_OK;
	}
	if (!sat->asked && kr_small_fits(c)) {
		KR_TRY(kr_small_solve(c, NULL, result));
		if (*result != KR_SOLVER_UNKNOWN)
			return KR_OK;
	}
	sat->asked = true;
	if (!load(sat, reason, size))
		return KR_OK;
	KR_TRY(start(sat));
	KR_TRY(make_variables(sat, c));
	KR_TRY(assert_clauses(sat, c));
	KR_TRY(check_limits(sat));
	set_timeout(sat);
	if (failed(sat, reason, size))
		return KR_OK;
	struct kr_watch watch;
	kr_watch_begin(&watch, sat->ctx, watched(sat));
	Z3_lbool answer = sat->call.solver_check(sat->z3, sat->solver);
	KR_TRY(kr_watch_end(&watch));
	if (failed(sat, reason, size))
		return KR_OK;
	if (answer == Z3_L_UNDEF) {
		snprintf(reason, size, "Z3: %s", sat->call.solver_get_reason_unknown(sat->z3, sat->solver));
		return kr_ctx_check(sat->ctx);
	}
	if (answer == Z3_L_TRUE && !read_answer(sat, c))
		snprintf(reason, size, "Z3: no model");
	else
		*result = answer == Z3_L_TRUE ? KR_SOLVER_YES : KR_SOLVER_NO;
	return sat->ctx->stopped;
}

/* ---- cores ---- */

static Z3_ast cycle_switch(struct kr_solver *sat, uint32_t cycle)
{
	return sat->call.mk_const(sat->z3, sat->call.mk_int_symbol(sat->z3, (int)(sat->vars.n + cycle)),
		sat->call.mk_bool_sort(sat->z3));
}

/* All clauses, those of cycles with a switch each that an assumption turns on. */
static enum kr_status assert_switched(struct kr_solver *sat, const struct kr_choices *c)
{
	for (uint32_t i = 0, clause = 0; i < c->clauses.n; i++) {
		kr_lit l = c->clauses.at[i];
		if (l.i != KR_NONE) {
			KR_TRY(push_literal(sat, l));
			continue;
		}
		uint32_t cycle = c->origin.at[clause++];
		if (cycle != KR_NONE) {
			Z3_ast on = cycle_switch(sat, cycle), off = on ? sat->call.mk_not(sat->z3, on) : NULL;
			KR_TRY(off && kr_vec_push(&sat->ctx->mem, &sat->clause, off) ? KR_OK : KR_NOMEM);
		}
		KR_TRY(assert_clause(sat));
		KR_TRY(tick(sat));
	}
	sat->facts_sent = sat->sums_sent = 0;
	return assert_facts(sat, c);
}

/* In place of the solver that has refused the clauses, one of the same context for all cores. */
static enum kr_status begin_cores(struct kr_solver *sat, const struct kr_choices *c)
{
	sat->call.solver_dec_ref(sat->z3, sat->solver);
	sat->solver = NULL;
	sat->switched = true;
	kr_vec_clear(&sat->clause);
	KR_TRY(start(sat));
	KR_TRY(make_variables(sat, c));
	return assert_switched(sat, c);
}

static bool take_core(struct kr_solver *sat, uint8_t *keep, uint32_t ncycles)
{
	Z3_ast_vector found = sat->call.solver_get_unsat_core(sat->z3, sat->solver);
	if (!found)
		return false;
	sat->call.ast_vector_inc_ref(sat->z3, found);
	unsigned n = sat->call.ast_vector_size(sat->z3, found);
	memset(keep, 0, ncycles);
	for (unsigned i = 0; i < n; i++) {
		Z3_app on = sat->call.to_app(sat->z3, sat->call.ast_vector_get(sat->z3, found, i));
		int name = sat->call.get_symbol_int(sat->z3,
			sat->call.get_decl_name(sat->z3, sat->call.get_app_decl(sat->z3, on)));
		keep[(uint32_t)name - sat->vars.n] = 1;
	}
	sat->call.ast_vector_dec_ref(sat->z3, found);
	return true;
}

/* The same by the learner, which leaves all of them marked. */
static enum kr_status small_core(struct kr_choices *c, const uint8_t *keep, bool *refuted)
{
	enum kr_solver_result result;
	KR_TRY(kr_small_solve(c, keep, &result));
	*refuted = result == KR_SOLVER_NO;
	return KR_OK;
}

enum kr_status kr_solver_core(struct kr_solver *sat, struct kr_choices *c, uint8_t *keep, uint32_t ncycles,
	bool *refuted)
{
	if (!sat->asked)
		return small_core(c, keep, refuted);
	KR_VEC(Z3_ast) assumptions = {0};
	struct kr_mem *mem = &sat->ctx->mem;
	*refuted = false;
	enum kr_status status = sat->switched ? KR_OK : begin_cores(sat, c);
	for (uint32_t i = 0; i < ncycles && !status; i++) {
		Z3_ast on = keep[i] ? cycle_switch(sat, i) : NULL;
		if (keep[i] && (!on || !kr_vec_push(mem, &assumptions, on)))
			status = KR_NOMEM;
	}
	if (!status) {
		char reason[8];
		set_timeout(sat);
		struct kr_watch watch;
		kr_watch_begin(&watch, sat->ctx, watched(sat));
		Z3_lbool answer = sat->call.solver_check_assumptions(sat->z3, sat->solver, assumptions.n,
			assumptions.at);
		status = kr_watch_end(&watch);
		*refuted = !status && !failed(sat, reason, sizeof reason) && answer == Z3_L_FALSE &&
			take_core(sat, keep, ncycles);
	}
	kr_vec_done(mem, &assumptions);
	return status;
}
