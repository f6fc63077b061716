/* Conflict-driven search. Unit propagation over two watched literals per clause; at a conflict the clause of
 * the first unique implication point is learned, which follows from the clauses by resolution, and the search
 * jumps back to where it is unit. Variables of recent conflicts are decided first, with the value they last
 * had (false at first). A conflict without decisions refutes the clauses; an assignment of all variables
 * satisfies them. Learned clauses are kept, so the search ends, and memory is bounded by the context's limit.
 * Sources: Marques-Silva and Sakallah (IEEE ToC 1999); Moskewicz et al. (DAC 2001); Biere and Fröhlich (SAT
 * 2015) for the queue of variables. */
#include "verify/sat.h"

#define FIRST_RESTART 256u

static uint32_t *clause_length(const struct kr_sat *s, uint32_t clause) { return &s->pool.at[clause + 2]; }
static uint32_t *clause_literals(const struct kr_sat *s, uint32_t clause) { return &s->pool.at[clause + 3]; }
static struct kr_sat_var *var_of(const struct kr_sat *s, uint32_t literal) { return &s->vars[literal >> 1]; }
static uint32_t level_now(const struct kr_sat *s) { return s->levels.n; }

void kr_sat_init(struct kr_sat *s, struct kr_mem *mem)
{
	*s = (struct kr_sat){.mem = mem, .front = KR_NONE, .search = KR_NONE};
}

void kr_sat_done(struct kr_sat *s)
{
	kr_vec_done(s->mem, &s->pool);
	kr_vec_done(s->mem, &s->units);
	kr_vec_done(s->mem, &s->mark);
	kr_vec_done(s->mem, &s->trail);
	kr_vec_done(s->mem, &s->levels);
	kr_vec_done(s->mem, &s->learned);
	kr_mem_free(s->mem, s->vars, s->count, sizeof *s->vars);
	kr_mem_free(s->mem, s->watches, 2 * (size_t)s->count, sizeof *s->watches);
	kr_mem_free(s->mem, s->values, 2 * (size_t)s->count, sizeof *s->values);
	kr_sat_init(s, s->mem);
}

enum kr_status kr_sat_new_var(struct kr_sat *s, uint32_t *var)
{
	if (s->count >= UINT32_MAX / 4 || !kr_vec_reserve(s->mem, &s->mark, 2))
		return KR_NOMEM;
	s->mark.at[s->mark.n++] = 0;
	s->mark.at[s->mark.n++] = 0;
	*var = s->count++;
	return KR_OK;
}

/* Appends a clause of two literals or more, unwatched. */
static enum kr_status store(struct kr_sat *s, const uint32_t *literals, uint32_t n, uint32_t *clause)
{
	if (n > UINT32_MAX - 3 || !kr_vec_reserve(s->mem, &s->pool, n + 3))
		return KR_NOMEM;
	*clause = s->pool.n;
	s->pool.at[s->pool.n++] = KR_NONE;
	s->pool.at[s->pool.n++] = KR_NONE;
	s->pool.at[s->pool.n++] = n;
	for (uint32_t i = 0; i < n; i++)
		s->pool.at[s->pool.n++] = literals[i];
	return KR_OK;
}

enum kr_status kr_sat_add(struct kr_sat *s, const uint32_t *literals, uint32_t n)
{
	uint32_t clause;

	/* Without repeated literals; one with both of a pair always holds. */
	s->added++;
	kr_vec_clear(&s->learned);
	for (uint32_t i = 0; i < n; i++) {
		if (s->mark.at[kr_sat_not(literals[i])] == s->added)
			return KR_OK;
		if (s->mark.at[literals[i]] == s->added)
			continue;
		s->mark.at[literals[i]] = s->added;
		if (!kr_vec_push(s->mem, &s->learned, literals[i]))
			return KR_NOMEM;
	}
	if (s->learned.n == 0)
		s->refuted = true;
	if (s->learned.n == 1)
		return kr_vec_push(s->mem, &s->units, s->learned.at[0]) ? KR_OK : KR_NOMEM;
	return s->learned.n == 0 ? KR_OK : store(s, s->learned.at, s->learned.n, &clause);
}

/* ---- the queue of variables, most recently bumped in front ---- */

static void push_front(struct kr_sat *s, uint32_t var)
{
	struct kr_sat_var *v = &s->vars[var];

	v->older = s->front;
	v->newer = KR_NONE;
	v->bumped = ++s->stamp;
	if (s->front != KR_NONE)
		s->vars[s->front].newer = var;
	s->front = var;
}

static void bump(struct kr_sat *s, uint32_t var)
{
	struct kr_sat_var *v = &s->vars[var];

	if (s->front == var)
		return;
	s->vars[v->newer].older = v->older;
	if (v->older != KR_NONE)
		s->vars[v->older].newer = v->newer;
	if (s->search == var)
		s->search = v->older != KR_NONE ? v->older : v->newer;
	push_front(s, var);
}

/* ---- assigning ---- */

static void assign(struct kr_sat *s, uint32_t literal, uint32_t reason)
{
	struct kr_sat_var *v = var_of(s, literal);

	v->level = level_now(s);
	v->reason = reason;
	v->last = !(literal & 1);
	s->values[literal] = 1;
	s->values[kr_sat_not(literal)] = -1;
	s->trail.at[s->trail.n++] = literal; /* room for all variables was reserved */
}

static void jump_back(struct kr_sat *s, uint32_t level)
{
	if (level >= level_now(s))
		return;
	while (s->trail.n > s->levels.at[level]) {
		uint32_t literal = kr_vec_pop(&s->trail), var = literal >> 1;
		s->values[literal] = s->values[kr_sat_not(literal)] = 0;
		if (s->search == KR_NONE || s->vars[var].bumped > s->vars[s->search].bumped)
			s->search = var;
	}
	s->levels.n = level;
	s->done = s->trail.n;
}

static void watch(struct kr_sat *s, uint32_t clause, uint32_t slot)
{
	uint32_t literal = clause_literals(s, clause)[slot];

	s->pool.at[clause + slot] = s->watches[literal];
	s->watches[literal] = clause;
}

/* `literal` has become false: each clause that watches it gets another watch, makes its other watch true, or
 * is the conflict returned (else KR_NONE). */
static uint32_t visit(struct kr_sat *s, uint32_t literal)
{
	uint32_t *link = &s->watches[literal];

	while (*link != KR_NONE) {
		uint32_t clause = *link, *literals = clause_literals(s, clause),
			 n = *clause_length(s, clause), k = 2;
		uint32_t slot = literals[1] == literal, other = literals[!slot];

		if (s->values[other] <= 0) {
			while (k < n && s->values[literals[k]] < 0)
				k++;
			if (k < n) {
				*link = s->pool.at[clause + slot];
				literals[slot] = literals[k];
				literals[k] = literal;
				watch(s, clause, slot);
				continue;
			}
			if (s->values[other] < 0)
				return clause;
			assign(s, other, clause);
		}
		link = &s->pool.at[clause + slot];
	}
	return KR_NONE;
}

static enum kr_status propagate(struct kr_sat *s, struct kr_ctx *ctx, uint32_t *conflict)
{
	enum kr_status status = KR_OK;

	*conflict = KR_NONE;
	while (status == KR_OK && *conflict == KR_NONE && s->done < s->trail.n) {
		*conflict = visit(s, kr_sat_not(s->trail.at[s->done++]));
		status = kr_ctx_tick(ctx);
	}
	return status;
}

/* ---- learning ---- */

/* Resolves the conflict backwards along the trail until one literal of the present level is left; learned[0]
 * is its negation. */
static enum kr_status analyze(struct kr_sat *s, uint32_t conflict)
{
	uint32_t open = 0, at = s->trail.n, clause = conflict, literal = KR_NONE;

	kr_vec_clear(&s->learned);
	if (!kr_vec_push(s->mem, &s->learned, KR_NONE))
		return KR_NOMEM;
	do {
		uint32_t *literals = clause_literals(s, clause), n = *clause_length(s, clause);

		for (uint32_t i = 0; i < n; i++) {
			struct kr_sat_var *v = var_of(s, literals[i]);
			if (literals[i] == literal || v->seen || v->level == 0)
				continue;
			v->seen = true;
			if (v->level == level_now(s))
				open++;
			else if (!kr_vec_push(s->mem, &s->learned, literals[i]))
				return KR_NOMEM;
		}
		do
			literal = s->trail.at[--at];
		while (!var_of(s, literal)->seen);
		var_of(s, literal)->seen = false;
		bump(s, literal >> 1);
		clause = var_of(s, literal)->reason;
	} while (--open > 0);
	s->learned.at[0] = kr_sat_not(literal);
	return KR_OK;
}

/* Learns from a conflict and jumps back to where what was learned is unit. */
static enum kr_status learn(struct kr_sat *s, uint32_t conflict)
{
	uint32_t deepest = 1, level = 0, clause;
	KR_TRY(analyze(s, conflict));
	for (uint32_t i = 1; i < s->learned.n; i++) {
		struct kr_sat_var *v = var_of(s, s->learned.at[i]);
		v->seen = false;
		bump(s, s->learned.at[i] >> 1);
		if (v->level > level) {
			level = v->level;
			deepest = i;
		}
	}
	jump_back(s, level);
	if (s->learned.n == 1) {
		assign(s, s->learned.at[0], KR_NONE);
		return KR_OK;
	}

	uint32_t second = s->learned.at[deepest];

	s->learned.at[deepest] = s->learned.at[1];
	s->learned.at[1] = second;
	KR_TRY(store(s, s->learned.at, s->learned.n, &clause));
	watch(s, clause, 0);
	watch(s, clause, 1);
	assign(s, s->learned.at[0], clause);
	return KR_OK;
}

/* ---- searching ---- */

static enum kr_status prepare(struct kr_sat *s)
{
	s->vars = kr_mem_alloc(s->mem, s->count, sizeof *s->vars);
	s->watches = kr_mem_alloc(s->mem, 2 * (size_t)s->count, sizeof *s->watches);
	s->values = kr_mem_alloc(s->mem, 2 * (size_t)s->count, sizeof *s->values);
	if (!s->vars || !s->watches || !s->values || !kr_vec_reserve(s->mem, &s->trail, s->count) ||
		!kr_vec_reserve(s->mem, &s->levels, s->count))
		return KR_NOMEM;
	for (uint32_t var = s->count; var-- > 0;)
		push_front(s, var);
	for (uint32_t literal = 0; literal < 2 * s->count; literal++)
		s->watches[literal] = KR_NONE;
	for (uint32_t clause = 0; clause < s->pool.n; clause += 3 + *clause_length(s, clause)) {
		watch(s, clause, 0);
		watch(s, clause, 1);
	}
	for (uint32_t i = 0; i < s->units.n; i++) {
		if (s->values[s->units.at[i]] < 0)
			s->refuted = true;
		else if (s->values[s->units.at[i]] == 0)
			assign(s, s->units.at[i], KR_NONE);
	}
	s->search = s->front;
	return KR_OK;
}

/* Assigns the most recently bumped open variable; false when there is none. */
static bool decide(struct kr_sat *s)
{
	while (s->search != KR_NONE && s->values[kr_sat_yes(s->search)] != 0)
		s->search = s->vars[s->search].older;
	if (s->search == KR_NONE)
		return false;
	s->levels.at[s->levels.n++] = s->trail.n; /* room for all variables was reserved */
	assign(s, kr_sat_yes(s->search) | !s->vars[s->search].last, KR_NONE);
	return true;
}

enum kr_status kr_sat_solve(struct kr_sat *s, struct kr_ctx *ctx, bool *satisfiable)
{
	uint32_t conflict, conflicts = 0, next_restart = FIRST_RESTART;
	enum kr_status status = prepare(s);

	while (status == KR_OK && !s->refuted) {
		status = propagate(s, ctx, &conflict);
		if (status != KR_OK)
			break;
		if (conflict != KR_NONE && level_now(s) == 0) {
			s->refuted = true;
		} else if (conflict != KR_NONE) {
			status = learn(s, conflict);
			conflicts++;
		} else if (conflicts >= next_restart) {
			conflicts = 0;
			next_restart += next_restart / 8;
			jump_back(s, 0);
		} else if (!decide(s)) {
			break;
		}
	}
	if (status == KR_OK)
		*satisfiable = !s->refuted;
	return status;
}
