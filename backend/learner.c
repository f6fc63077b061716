/* Conflict-driven clause learning: two watched literals, the first unique implication point, activities that
 * decay (Marques-Silva, Sakallah: GRASP, 1996; Moskewicz et al.: Chaff, 2001; Eén, Sörensson: MiniSat, 2003).
 * Literals that follow may stand behind later decisions than those that they follow from. Clauses lie one
 * behind the other; of those learned, the half that speaks of the most levels is forgotten when they have
 * become many, but for those that something rests on.
 *
 * A learned clause follows from clauses, so that a contradiction without decisions refutes them. Each
 * conflict teaches a clause that was not there, so this ends. */
#include "backend/learner.h"

#include <string.h>

#include "base/order.h"

enum { HEAD = 2 }; /* words before a clause's literals: length, levels that it spoke of when it was learned */
enum { LEARNED_FIRST = 4000, LEARNED_MORE = 500, GLUE = 2 };
enum { LEAP_MOST = 100, RESTART = 100 };
static const double activity_most = 1e100, decay = 1 / 0.95;

void kr_learner_init(struct kr_learner *s, struct kr_ctx *ctx)
{
	*s = (struct kr_learner){.ctx = ctx, .step = 1, .most_learned = LEARNED_FIRST};
}

void kr_learner_done(struct kr_learner *s)
{
	struct kr_mem *mem = &s->ctx->mem;
	for (uint32_t i = 0; i < s->watches.n; i++)
		kr_vec_done(mem, &s->watches.at[i]);
	kr_vec_done(mem, &s->watches);
	kr_vec_done(mem, &s->vars);
	kr_vec_done(mem, &s->values);
	kr_vec_done(mem, &s->clauses);
	kr_vec_done(mem, &s->trail);
	kr_vec_done(mem, &s->starts);
	kr_vec_done(mem, &s->heap);
	kr_vec_done(mem, &s->found);
	kr_vec_done(mem, &s->touched);
}

/* ---- the heap of open variables ---- */

static bool before(const struct kr_learner *s, uint32_t a, uint32_t b)
{
	const struct kr_learner_var *x = &s->vars.at[a], *y = &s->vars.at[b];
	if (s->in_line)
		return x->place < y->place || (x->place == y->place && a < b);
	return x->activity > y->activity || (x->activity >= y->activity && a < b);
}

static void put_at(struct kr_learner *s, uint32_t place, uint32_t var)
{
	s->heap.at[place] = var;
	s->vars.at[var].in_heap = place + 1;
}

static void sift_up(struct kr_learner *s, uint32_t place)
{
	uint32_t var = s->heap.at[place];
	for (; place > 0 && before(s, var, s->heap.at[(place - 1) / 2]); place = (place - 1) / 2)
		put_at(s, place, s->heap.at[(place - 1) / 2]);
	put_at(s, place, var);
}

static void sift_down(struct kr_learner *s, uint32_t place)
{
	uint32_t var = s->heap.at[place];
	for (uint32_t child; (child = 2 * place + 1) < s->heap.n; place = child) {
		if (child + 1 < s->heap.n && before(s, s->heap.at[child + 1], s->heap.at[child]))
			child++;
		if (!before(s, s->heap.at[child], var))
			break;
		put_at(s, place, s->heap.at[child]);
	}
	put_at(s, place, var);
}

/* There is room for each variable. */
static void insert(struct kr_learner *s, uint32_t var)
{
	if (s->vars.at[var].in_heap)
		return;
	s->heap.at[s->heap.n++] = var;
	sift_up(s, s->heap.n - 1);
}

uint32_t kr_learner_pick(struct kr_learner *s)
{
	while (s->heap.n > 0) {
		uint32_t var = s->heap.at[0];
		if (s->values.at[2 * (size_t)var] == 0)
			return var;
		uint32_t last = kr_vec_pop(&s->heap);
		s->vars.at[var].in_heap = 0;
		if (s->heap.n > 0) {
			put_at(s, 0, last);
			sift_down(s, 0);
		}
	}
	return KR_NONE;
}

static void make_active(struct kr_learner *s, uint32_t var)
{
	s->vars.at[var].activity += s->step;
	if (s->vars.at[var].activity > activity_most) {
		for (uint32_t i = 0; i < s->vars.n; i++)
			s->vars.at[i].activity /= activity_most;
		s->step /= activity_most;
	}
	if (s->vars.at[var].in_heap && !s->in_line)
		sift_up(s, s->vars.at[var].in_heap - 1);
}

/* ---- assignment ---- */

static uint32_t level(const struct kr_learner *s) { return s->starts.n; }

static uint32_t level_of(const struct kr_learner *s, kr_lit l) { return s->vars.at[l.i / 2].level; }

enum kr_status kr_learner_grow(struct kr_learner *s, uint32_t n)
{
	struct kr_mem *mem = &s->ctx->mem;
	while (s->vars.n < n) {
		if (!kr_vec_reserve(mem, &s->values, 2) || !kr_vec_reserve(mem, &s->watches, 2) ||
			!kr_vec_reserve(mem, &s->trail, n - s->trail.n) ||
			!kr_vec_reserve(mem, &s->starts, n - s->starts.n) ||
			!kr_vec_reserve(mem, &s->heap, n - s->heap.n) ||
			!kr_vec_push(mem, &s->vars, (struct kr_learner_var){.reason = KR_NONE}))
			return KR_NOMEM;
		for (int i = 0; i < 2; i++) {
			s->values.at[s->values.n++] = 0;
			s->watches.at[s->watches.n++] = (struct kr_learner_watches){0};
		}
	}
	return KR_OK;
}

void kr_learner_line_up(struct kr_learner *s, bool in_line)
{
	kr_learner_return(s, 0);
	for (uint32_t i = 0; i < s->heap.n; i++)
		s->vars.at[s->heap.at[i]].in_heap = 0;
	s->heap.n = 0;
	s->in_line = in_line;
	for (uint32_t v = 0; v < s->vars.n; v++)
		if (s->values.at[2 * (size_t)v] == 0 && (in_line || s->vars.at[v].activity > 0))
			insert(s, v);
}

void kr_learner_want(struct kr_learner *s, kr_lit l)
{
	if (kr_learner_open(s, l))
		insert(s, l.i / 2);
}

static kr_lit *literals_of(struct kr_learner *s, uint32_t clause)
{
	return (kr_lit *)&s->clauses.at[clause + HEAD];
}

/* The highest level of a clause's literals but l. */
static uint32_t level_behind(struct kr_learner *s, uint32_t clause, kr_lit l)
{
	uint32_t highest = 0;
	for (uint32_t i = 0; i < s->clauses.at[clause]; i++) {
		kr_lit other = literals_of(s, clause)[i];
		if (other.i != l.i && level_of(s, other) > highest)
			highest = level_of(s, other);
	}
	return highest;
}

static void assign(struct kr_learner *s, kr_lit l, uint32_t reason)
{
	s->values.at[l.i] = 1;
	s->values.at[l.i ^ 1] = -1;
	s->vars.at[l.i / 2].level = reason == KR_NONE ? level(s) : level_behind(s, reason, l);
	s->vars.at[l.i / 2].reason = reason;
	s->trail.at[s->trail.n++] = l;
}

enum kr_status kr_learner_decide(struct kr_learner *s, kr_lit l)
{
	s->starts.at[s->starts.n++] = s->trail.n;
	assign(s, l, KR_NONE);
	return KR_OK;
}

void kr_learner_return(struct kr_learner *s, uint32_t to)
{
	if (level(s) <= to)
		return;
	uint32_t n = s->starts.at[to];
	s->propagated = n;
	s->kept = n < s->kept ? n : s->kept;
	for (uint32_t i = n; i < s->trail.n; i++) {
		kr_lit l = s->trail.at[i];
		if (level_of(s, l) <= to) {
			s->trail.at[n++] = l;
			continue;
		}
		s->values.at[l.i] = s->values.at[l.i ^ 1] = 0;
		if (s->in_line || s->vars.at[l.i / 2].activity > 0)
			insert(s, l.i / 2);
	}
	s->trail.n = n;
	s->starts.n = to;
}

/* Goes back to where something has begun to follow; or not so far, where that would take back very much that
 * would only be decided anew. What follows has the level from which on it does, and stays for so long (Nadel,
 * Ryvchin, Chronological backtracking, SAT 2018). */
static void leap_back(struct kr_learner *s, uint32_t from, uint32_t to)
{
	kr_learner_return(s, from > to + LEAP_MOST ? from - 1 : to);
}

/* ---- clauses ---- */

static enum kr_status watch(struct kr_learner *s, uint32_t clause, kr_lit l, kr_lit other)
{
	return kr_vec_add(&s->ctx->mem, &s->watches.at[l.i], (struct kr_learner_watch){clause, other});
}

/* What had better be watched: what is not false, or else what became false last. */
static uint64_t worth(const struct kr_learner *s, kr_lit l)
{
	return kr_learner_false(s, l) ? level_of(s, l) : UINT64_C(1) << 32;
}

/* Watches the best two literals of a clause of which the first `watched` are. */
static enum kr_status watch_best(struct kr_learner *s, uint32_t clause, uint32_t watched)
{
	kr_lit *l = literals_of(s, clause);
	uint32_t n = s->clauses.at[clause];
	bool fresh[2] = {true, true};
	for (uint32_t to = 0; to < 2 && to < n; to++) {
		uint32_t best = to;
		for (uint32_t i = to + 1; i < n; i++)
			if (worth(s, l[i]) > worth(s, l[best]))
				best = i;
		kr_lit kept = l[to];
		l[to] = l[best];
		l[best] = kept;
		fresh[to] = best >= watched;
	}
	for (uint32_t i = 0; i < 2 && n > 1; i++)
		KR_TRY(fresh[i] ? watch(s, clause, l[i], l[!i]) : KR_OK);
	return KR_OK;
}

static enum kr_status put_clause(struct kr_learner *s, const kr_lit *from, uint32_t n, uint32_t levels,
	uint32_t *clause)
{
	*clause = s->clauses.n;
	if (!kr_vec_reserve(&s->ctx->mem, &s->clauses, HEAD + n))
		return KR_NOMEM;
	s->clauses.at[s->clauses.n] = n;
	s->clauses.at[s->clauses.n + 1] = levels;
	memcpy(s->clauses.at + s->clauses.n + HEAD, from, n * sizeof *from);
	s->clauses.n += HEAD + n;
	s->learned += levels > 0;
	return watch_best(s, *clause, 0);
}

/* ---- conflicts ---- */

static void meet(struct kr_learner *s, kr_lit l, uint32_t *open)
{
	struct kr_learner_var *var = &s->vars.at[l.i / 2];
	if (var->seen || var->level == 0)
		return;
	var->seen = true;
	s->touched.at[s->touched.n++] = l.i / 2;
	make_active(s, l.i / 2);
	if (var->level == level(s))
		++*open;
	else
		s->found.at[s->found.n++] = l;
}

/* Is a literal of the learned clause implied by the others of it? */
static bool implied(struct kr_learner *s, kr_lit l)
{
	uint32_t reason = s->vars.at[l.i / 2].reason;
	if (reason == KR_NONE)
		return false;
	for (uint32_t i = 0; i < s->clauses.at[reason]; i++) {
		const struct kr_learner_var *other = &s->vars.at[literals_of(s, reason)[i].i / 2];
		if (!other->seen && other->level > 0)
			return false;
	}
	return true;
}

/* From a clause that is false at this level to the clause learned, in s->found: its first literal is the only
 * one of this level. */
static enum kr_status explain(struct kr_learner *s, uint32_t clause)
{
	struct kr_mem *mem = &s->ctx->mem;
	uint32_t open = 0, at = s->trail.n;
	kr_lit l = {KR_NONE};
	kr_vec_clear(&s->found);
	kr_vec_clear(&s->touched);
	if (!kr_vec_reserve(mem, &s->found, s->vars.n + 1) || !kr_vec_reserve(mem, &s->touched, s->vars.n))
		return KR_NOMEM;
	s->found.n = 1;
	do {
		for (uint32_t i = 0; i < s->clauses.at[clause]; i++)
			if (literals_of(s, clause)[i].i != l.i)
				meet(s, literals_of(s, clause)[i], &open);
		do {
			l = s->trail.at[--at];
		} while (!s->vars.at[l.i / 2].seen || level_of(s, l) < level(s));
		clause = s->vars.at[l.i / 2].reason;
		KR_TRY(kr_ctx_tick(s->ctx));
	} while (--open > 0);
	s->found.at[0] = kr_lit_not(l);
	uint32_t n = 1;
	for (uint32_t i = 1; i < s->found.n; i++)
		if (!implied(s, s->found.at[i]))
			s->found.at[n++] = s->found.at[i];
	s->found.n = n;
	for (uint32_t i = 0; i < s->touched.n; i++)
		s->vars.at[s->touched.at[i]].seen = false;
	s->step *= decay;
	return KR_OK;
}

static int by_number(const void *a, const void *b)
{
	return KR_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* How many levels the clause learned speaks of. */
static uint32_t count_levels(struct kr_learner *s)
{
	uint32_t *levels = s->touched.at, n = s->found.n,
		 different = 1; /* as many have been touched, at least */
	for (uint32_t i = 0; i < n; i++)
		levels[i] = level_of(s, s->found.at[i]);
	KR_SORT(levels, n, by_number);
	for (uint32_t i = 1; i < n; i++)
		different += levels[i] != levels[i - 1];
	return different;
}

static enum kr_status learn(struct kr_learner *s, uint32_t clause)
{
	KR_TRY(explain(s, clause));
	uint32_t to = 0, levels = count_levels(s);
	for (uint32_t i = 1; i < s->found.n; i++)
		if (level_of(s, s->found.at[i]) > to)
			to = level_of(s, s->found.at[i]);
	leap_back(s, level(s), to);
	s->since_restart++;
	s->conflicts++;
	KR_TRY(put_clause(s, s->found.at, s->found.n, levels, &clause));
	assign(s, s->found.at[0], clause);
	return KR_OK;
}

/* Takes back so much that the clause is not false, or learns why that cannot be. */
static enum kr_status mend(struct kr_learner *s, uint32_t clause)
{
	kr_lit *l = literals_of(s, clause);
	uint32_t n = s->clauses.at[clause], top = 0, second = 0, at_top = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t its = level_of(s, l[i]);
		if (its > top) {
			second = top;
			top = its;
			at_top = 0;
		} else if (its < top && its > second) {
			second = its;
		}
		at_top += its == top;
	}
	s->refuted |= top == 0;
	if (s->refuted)
		return KR_OK;
	kr_learner_return(s, top);
	if (n > 1 && level_of(s, l[0]) < top) { /* one that is open again is to be watched, and stand first */
		kr_lit other = l[0];
		l[0] = l[1];
		l[1] = other;
	}
	enum kr_status status = level_of(s, l[0]) < top ? watch_best(s, clause, 2) : KR_OK;
	if (status || at_top > 1)
		return status ? status : learn(s, clause);
	leap_back(s, top, second);
	assign(s, l[0], clause);
	return KR_OK;
}

enum kr_status kr_learner_add(struct kr_learner *s, const kr_lit *literals, uint32_t n)
{
	uint32_t clause;
	KR_TRY(put_clause(s, literals, n, 0, &clause));
	const kr_lit *l = literals_of(s, clause);
	s->refuted |= n == 0;
	if (n == 0)
		return KR_OK;
	if (n == 1) /* nobody watches it */
		kr_learner_return(s, 0);
	if (kr_learner_false(s, l[0]))
		return mend(s, clause);
	if (!kr_learner_open(s, l[0]) || (n > 1 && !kr_learner_false(s, l[1])))
		return KR_OK;
	assign(s, l[0], clause);
	return KR_OK;
}

/* ---- propagation ---- */

/* The watched literal `was` has become false: another one takes its place, or the clause has one left. */
static enum kr_status visit(struct kr_learner *s, uint32_t clause, kr_lit was, bool *moved, bool *broken)
{
	kr_lit *l = literals_of(s, clause);
	uint32_t n = s->clauses.at[clause];
	*moved = l[0].i != was.i && l[1].i != was.i;
	*broken = false;
	if (*moved) /* others have been better to watch */
		return KR_OK;
	if (l[0].i == was.i) {
		l[0] = l[1];
		l[1] = was;
	}
	for (uint32_t i = 2; i < n && !kr_learner_true(s, l[0]); i++) {
		if (kr_learner_false(s, l[i]))
			continue;
		*moved = true;
		l[1] = l[i];
		l[i] = was;
		return watch(s, clause, l[1], l[0]);
	}
	*broken = kr_learner_false(s, l[0]);
	if (kr_learner_open(s, l[0]))
		assign(s, l[0], clause);
	return KR_OK;
}

/* *broken: a clause that is false, or KR_NONE. */
static enum kr_status propagate_one(struct kr_learner *s, kr_lit was, uint32_t *broken)
{
	struct kr_learner_watches *list = &s->watches.at[was.i];
	uint32_t kept = 0, i = 0;
	bool moved, bad = false;
	enum kr_status status = kr_ctx_spend(s->ctx, 1 + list->n / 16);
	for (; i < list->n && !bad && !status; i++) {
		struct kr_learner_watch w = list->at[i];
		moved = false;
		if (!kr_learner_true(s, w.other))
			status = visit(s, w.clause, was, &moved, &bad);
		if (!moved)
			list->at[kept++] = w;
		if (bad)
			*broken = w.clause;
	}
	for (; i < list->n; i++)
		list->at[kept++] = list->at[i];
	list->n = kept;
	return status;
}

/* ---- forgetting ---- */

static bool is_reason(struct kr_learner *s, uint32_t clause)
{
	kr_lit l = literals_of(s, clause)[0];
	return kr_learner_true(s, l) && s->vars.at[l.i / 2].reason == clause;
}

/* The least number of levels of which half of the learned clauses speak, or more. */
static enum kr_status find_median(struct kr_learner *s, uint32_t *median)
{
	struct kr_words levels = {0};
	struct kr_mem *mem = &s->ctx->mem;
	bool ok = true;
	for (uint32_t c = 0; c < s->clauses.n && ok; c += HEAD + s->clauses.at[c])
		if (s->clauses.at[c + 1] > 0)
			ok = kr_vec_push(mem, &levels, s->clauses.at[c + 1]);
	KR_SORT(levels.at, levels.n, by_number);
	*median = levels.n ? levels.at[levels.n / 2] : 0;
	kr_vec_done(mem, &levels);
	return ok ? KR_OK : KR_NOMEM;
}

/* Moves clauses together; reasons are first in their clauses, so they are found again. */
static enum kr_status forget(struct kr_learner *s)
{
	uint32_t median, to = 0, size;
	KR_TRY(find_median(s, &median));
	enum kr_status status = KR_OK;
	for (uint32_t i = 0; i < s->watches.n; i++)
		kr_vec_clear(&s->watches.at[i]);
	for (uint32_t c = 0; c < s->clauses.n && !status; c += size) {
		size = HEAD + s->clauses.at[c];
		bool reason = is_reason(s, c);
		if (s->clauses.at[c + 1] > GLUE && s->clauses.at[c + 1] >= median && !reason) {
			s->learned--;
			continue;
		}
		memmove(s->clauses.at + to, s->clauses.at + c, size * sizeof *s->clauses.at);
		kr_lit *l = literals_of(s, to);
		if (reason)
			s->vars.at[l[0].i / 2].reason = to;
		if (size > HEAD + 1)
			status = watch(s, to, l[0], l[1]);
		if (size > HEAD + 1 && !status)
			status = watch(s, to, l[1], l[0]);
		to += size;
	}
	s->clauses.n = to;
	s->most_learned += LEARNED_MORE;
	return status;
}

/* 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, ... (Luby, Sinclair, Zuckerman 1993), from i = 1 on */
static uint32_t luby(uint32_t i)
{
	uint32_t k = 1;
	while ((1u << k) - 1 < i)
		k++;
	while ((1u << k) - 1 != i) {
		i -= (1u << (k - 1)) - 1;
		for (k = 1; (1u << k) - 1 < i;)
			k++;
	}
	return 1u << (k - 1);
}

/* Decides anew now and then, by what has become active since; in line nothing would be decided otherwise. */
static void restart(struct kr_learner *s)
{
	s->since_restart = 0;
	s->restarts++;
	kr_learner_return(s, 0);
}

enum kr_status kr_learner_propagate(struct kr_learner *s)
{
	enum kr_status status = KR_OK;
	while (s->propagated < s->trail.n && !s->refuted && !status) {
		uint32_t broken = KR_NONE;
		status = propagate_one(s, kr_lit_not(s->trail.at[s->propagated++]), &broken);
		if (!status && broken != KR_NONE)
			status = mend(s, broken);
		if (!status && s->learned > s->most_learned)
			status = forget(s);
		if (!s->in_line && s->since_restart > RESTART * luby(s->restarts + 1))
			restart(s);
	}
	return status;
}
