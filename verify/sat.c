/* Conflict-driven search. Unit propagation over two watched literals per clause; at a conflict the clause of
 * the first unique implication point is learned, which follows from the clauses by resolution, and the search
 * jumps back to where it is unit. Variables of recent conflicts are decided first, with the value they last
 * had (false at first). A conflict without decisions refutes the clauses; an assignment of all variables
 * satisfies them. When many clauses have been learned, the half that speaks of the most levels is forgotten;
 * each time more are kept, so the search ends, and memory is bounded by the context's limit.
 * Sources: Marques-Silva and Sakallah (IEEE ToC 1999); Moskewicz et al. (DAC 2001); Eén and Sörensson (SAT
 * 2003) for shorter clauses; Audemard and Simon (IJCAI 2009) for what is forgotten; Biere and Fröhlich (SAT
 * 2015) for the queue of variables. */
#include "verify/sat.h"

#include <string.h>

#define ACTIVITY_MOST 1e100
#define DECAY (1 / 0.99)
enum { HEAD = 4 }; /* words before a clause's literals: two links, length, levels (0: it was not learned) */
enum { RESTART = 256, KEPT_FIRST = 4000, KEPT_MORE = 500, LEVELS_FEW = 2 };

static uint32_t *clause_length(const struct kr_sat *s, uint32_t clause) { return &s->pool.at[clause + 2]; }
static uint32_t *clause_levels(const struct kr_sat *s, uint32_t clause) { return &s->pool.at[clause + 3]; }
static uint32_t *clause_literals(const struct kr_sat *s, uint32_t clause)
{
	return &s->pool.at[clause + HEAD];
}
static struct kr_sat_var *var_of(const struct kr_sat *s, uint32_t literal) { return &s->vars[literal >> 1]; }
static uint32_t level_now(const struct kr_sat *s) { return s->levels.n; }

void kr_sat_init(struct kr_sat *s, struct kr_mem *mem)
{
	*s = (struct kr_sat){.mem = mem, .step = 1, .kept_most = KEPT_FIRST};
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
	kr_mem_free(s->mem, s->heap, s->count, sizeof *s->heap);
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
static enum kr_status store(struct kr_sat *s, const uint32_t *literals, uint32_t n, uint32_t levels,
	uint32_t *clause)
{
	if (n > UINT32_MAX - HEAD || !kr_vec_reserve(s->mem, &s->pool, n + HEAD))
		return KR_NOMEM;
	*clause = s->pool.n;
	s->pool.at[s->pool.n++] = KR_NONE;
	s->pool.at[s->pool.n++] = KR_NONE;
	s->pool.at[s->pool.n++] = n;
	s->pool.at[s->pool.n++] = levels;
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
		KR_TRY(kr_vec_add(s->mem, &s->learned, literals[i]));
	}
	if (s->learned.n == 0)
		s->refuted = true;
	if (s->learned.n == 1)
		return kr_vec_add(s->mem, &s->units, s->learned.at[0]);
	return s->learned.n == 0 ? KR_OK : store(s, s->learned.at, s->learned.n, 0, &clause);
}

/* ---- the heap of variables, the most active on top ---- */

static bool before(const struct kr_sat *s, uint32_t a, uint32_t b)
{
	double x = s->vars[a].activity, y = s->vars[b].activity;
	return x > y || (x >= y && a < b);
}

static void put_at(struct kr_sat *s, uint32_t place, uint32_t var)
{
	s->heap[place] = var;
	s->vars[var].place = place;
}

static void rise(struct kr_sat *s, uint32_t place)
{
	uint32_t var = s->heap[place];
	for (; place > 0 && before(s, var, s->heap[(place - 1) / 2]); place = (place - 1) / 2)
		put_at(s, place, s->heap[(place - 1) / 2]);
	put_at(s, place, var);
}

static void sink(struct kr_sat *s, uint32_t place)
{
	uint32_t var = s->heap[place];
	for (uint32_t child; (child = 2 * place + 1) < s->waiting; place = child) {
		child += child + 1 < s->waiting && before(s, s->heap[child + 1], s->heap[child]);
		if (!before(s, s->heap[child], var))
			break;
		put_at(s, place, s->heap[child]);
	}
	put_at(s, place, var);
}

static void insert(struct kr_sat *s, uint32_t var)
{
	if (s->vars[var].place != KR_NONE)
		return;
	put_at(s, s->waiting, var);
	rise(s, s->waiting++);
}

static uint32_t take_top(struct kr_sat *s)
{
	uint32_t top = s->heap[0], last = s->heap[--s->waiting];
	s->vars[top].place = KR_NONE;
	if (s->waiting > 0) {
		put_at(s, 0, last);
		sink(s, 0);
	}
	return top;
}

static void bump(struct kr_sat *s, uint32_t var)
{
	s->vars[var].activity += s->step;
	if (s->vars[var].activity > ACTIVITY_MOST) {
		for (uint32_t i = 0; i < s->count; i++)
			s->vars[i].activity /= ACTIVITY_MOST;
		s->step /= ACTIVITY_MOST;
	}
	if (s->vars[var].place != KR_NONE)
		rise(s, s->vars[var].place);
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
		insert(s, var);
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
	*conflict = KR_NONE;
	while (*conflict == KR_NONE && s->done < s->trail.n) {
		*conflict = visit(s, kr_sat_not(s->trail.at[s->done++]));
		KR_TRY(kr_ctx_tick(ctx));
	}
	return KR_OK;
}

/* ---- learning ---- */

/* Resolves the conflict backwards along the trail until one literal of the present level is left; learned[0]
 * is its negation. */
static enum kr_status analyze(struct kr_sat *s, uint32_t conflict)
{
	uint32_t open = 0, at = s->trail.n, clause = conflict, literal = KR_NONE;

	kr_vec_clear(&s->learned);
	KR_TRY(kr_vec_add(s->mem, &s->learned, KR_NONE));
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

/* Does a literal of the learned clause follow from others of it, through one clause? */
static bool is_implied(const struct kr_sat *s, uint32_t literal)
{
	uint32_t reason = var_of(s, literal)->reason;

	if (reason == KR_NONE)
		return false;
	for (uint32_t i = 0; i < *clause_length(s, reason); i++) {
		const struct kr_sat_var *other = var_of(s, clause_literals(s, reason)[i]);
		if (!other->seen && other->level > 0)
			return false;
	}
	return true;
}

/* Of the learned clause those in front that others of it do not imply; how many. */
static uint32_t shorten(struct kr_sat *s)
{
	uint32_t n = 1;

	for (uint32_t i = 1; i < s->learned.n; i++) {
		uint32_t literal = s->learned.at[i];
		if (is_implied(s, literal))
			continue;
		s->learned.at[i] = s->learned.at[n];
		s->learned.at[n++] = literal;
	}
	for (uint32_t i = 1; i < s->learned.n; i++) {
		var_of(s, s->learned.at[i])->seen = false;
		bump(s, s->learned.at[i] >> 1);
	}
	return n;
}

/* Of how many levels the learned clause speaks; the second of its literals becomes the one of the deepest of
 * those below the present one. */
static uint32_t count_levels(struct kr_sat *s)
{
	uint32_t levels = 1, *l = s->learned.at;

	s->added++;
	for (uint32_t i = 1; i < s->learned.n; i++) {
		uint32_t level = var_of(s, l[i])->level, literal = l[i];
		levels += s->mark.at[level] != s->added;
		s->mark.at[level] = s->added;
		if (level > var_of(s, l[1])->level) {
			l[i] = l[1];
			l[1] = literal;
		}
	}
	return levels;
}

/* Learns from a conflict and jumps back to where what was learned is unit. */
static enum kr_status learn(struct kr_sat *s, uint32_t conflict)
{
	uint32_t clause = KR_NONE;
	KR_TRY(analyze(s, conflict));
	s->learned.n = shorten(s);
	s->step *= DECAY;
	uint32_t n = s->learned.n, levels = count_levels(s);
	jump_back(s, n > 1 ? var_of(s, s->learned.at[1])->level : 0);
	if (n > 1) {
		KR_TRY(store(s, s->learned.at, n, levels, &clause));
		watch(s, clause, 0);
		watch(s, clause, 1);
		s->kept++;
	}
	assign(s, s->learned.at[0], clause);
	return KR_OK;
}

/* ---- forgetting ---- */

static uint32_t clause_size(const struct kr_sat *s, uint32_t clause)
{
	return HEAD + *clause_length(s, clause);
}

/* The least number of levels of which half of the learned clauses speak, or more. */
static enum kr_status find_median(struct kr_sat *s, uint32_t *median)
{
	uint32_t *having = kr_mem_alloc(s->mem, (size_t)s->count + 2, sizeof *having), below = 0;

	if (!having)
		return KR_NOMEM;
	for (uint32_t c = 0; c < s->pool.n; c += clause_size(s, c))
		having[*clause_levels(s, c)]++;
	for (*median = 1; *median <= s->count && below + having[*median] < s->kept / 2; ++*median)
		below += having[*median];
	kr_mem_free(s->mem, having, (size_t)s->count + 2, sizeof *having);
	return KR_OK;
}

static void watch_all(struct kr_sat *s)
{
	memset(s->watches, 0xff, 2 * (size_t)s->count * sizeof *s->watches); /* KR_NONE */
	for (uint32_t clause = 0; clause < s->pool.n; clause += clause_size(s, clause)) {
		watch(s, clause, 0);
		watch(s, clause, 1);
	}
}

/* To be called when nothing is decided: then nobody asks for the reason of what is assigned. */
static enum kr_status forget(struct kr_sat *s)
{
	uint32_t median, to = 0;
	KR_TRY(find_median(s, &median));
	for (uint32_t clause = 0, size; clause < s->pool.n; clause += size) {
		uint32_t levels = *clause_levels(s, clause);
		size = clause_size(s, clause);
		if (levels > LEVELS_FEW && levels >= median) {
			s->kept--;
			continue;
		}
		memmove(&s->pool.at[to], &s->pool.at[clause], size * sizeof *s->pool.at);
		to += size;
	}
	s->pool.n = to;
	s->kept_most += KEPT_MORE;
	watch_all(s);
	return KR_OK;
}

/* ---- searching ---- */

static enum kr_status prepare(struct kr_sat *s)
{
	KR_TRY(kr_mem_new(s->mem, s->vars, s->count));
	KR_TRY(kr_mem_new(s->mem, s->heap, s->count));
	KR_TRY(kr_mem_new(s->mem, s->watches, 2 * (size_t)s->count));
	KR_TRY(kr_mem_new(s->mem, s->values, 2 * (size_t)s->count));
	if (!kr_vec_reserve(s->mem, &s->trail, s->count) || !kr_vec_reserve(s->mem, &s->levels, s->count))
		return KR_NOMEM;
	for (uint32_t var = 0; var < s->count; var++) {
		s->vars[var].place = KR_NONE;
		insert(s, var);
	}
	watch_all(s);
	for (uint32_t i = 0; i < s->units.n; i++) {
		if (s->values[s->units.at[i]] < 0)
			s->refuted = true;
		else if (s->values[s->units.at[i]] == 0)
			assign(s, s->units.at[i], KR_NONE);
	}
	return KR_OK;
}

/* Assigns the most active open variable; false when there is none. */
static bool decide(struct kr_sat *s)
{
	uint32_t var = KR_NONE;
	while (s->waiting > 0 && (var == KR_NONE || s->values[kr_sat_yes(var)] != 0))
		var = take_top(s);
	if (var == KR_NONE || s->values[kr_sat_yes(var)] != 0)
		return false;
	s->levels.at[s->levels.n++] = s->trail.n; /* room for all variables was reserved */
	assign(s, kr_sat_yes(var) | !s->vars[var].last, KR_NONE);
	return true;
}

enum kr_status kr_sat_solve(struct kr_sat *s, struct kr_ctx *ctx, bool *satisfiable)
{
	uint32_t conflict, conflicts = 0, next_restart = RESTART;
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
		} else if (conflicts >= next_restart || s->kept > s->kept_most) {
			conflicts = 0;
			next_restart += next_restart / 8;
			jump_back(s, 0);
			if (s->kept > s->kept_most)
				status = forget(s);
		} else if (!decide(s)) {
			break;
		}
	}
	if (status == KR_OK)
		*satisfiable = !s->refuted;
	return status;
}
