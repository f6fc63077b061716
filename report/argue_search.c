/* Unit propagation over the cycles of a certificate ("not all of these literals"), with case splits where it
 * does not suffice (DPLL). What the sights say (some candidate was seen, only one) is propagated before any
 * cycle, and the last cycle, which closes the argument, after all others: so it is the one that ends the text
 * where it can be. The next case split is looked for by trying both sides of the most frequent open choices:
 * one that closes both sides at once is best, else one that closes a side. A split that its first side did
 * not need is dropped. Every choice is made in a fixed order, so that equal certificates give equal
 * arguments. The work is bounded: past the bounds the argument stays incomplete. */
#include "report/argue.h"

#include "base/order.h"

#define WORK_MOST 20000000u /* literals assigned and cycles looked at */
#define CASES_MOST 128u
#define TRIED_MOST 48u /* open choices tried for a split */
#define DEPTH_MOST 16u

struct frame {
	uint32_t at;      /* its case */
	uint32_t mark;    /* trail before it, without the assumption */
	uint32_t end;     /* trail before its children */
	uint32_t literal; /* of its split */
	bool second;      /* its second side is looked at */
};

struct conflict {
	uint32_t cycle;
	struct kr_argument_step step;
	bool found;
};

struct search {
	struct kr_arena arena;
	struct kr_argument *arg;
	struct kr_mem *mem;
	int8_t *value;               /* per literal: 1 true, -1 false, 0 open */
	uint32_t *step_of;           /* per choice: where it stands on the trail */
	uint32_t *yes, *no;          /* per cycle: literals true, literals false */
	uint32_t *uses_first, *uses; /* per literal: the cycles that hold it */
	KR_VEC(struct kr_argument_step) trail;
	uint32_t done;          /* of the trail: propagated */
	KR_VEC(uint32_t) queue; /* cycles to look at */
	uint32_t front;
	KR_VEC(uint32_t) premises;
	struct frame stack[DEPTH_MOST + 1];
	uint32_t depth;
	uint64_t work;
	struct conflict conflict;
	bool failed; /* out of memory */
};

static uint32_t size_of(const struct search *s, uint32_t cycle)
{
	return s->arg->first.at[cycle + 1] - s->arg->first.at[cycle];
}

static void assign(struct search *s, uint32_t literal, enum kr_because because, uint32_t from)
{
	struct kr_argument_step step = {literal, from, (uint8_t)because, false};

	if (s->value[literal] > 0 || s->conflict.found)
		return;
	if (s->value[literal] < 0) {
		s->conflict = (struct conflict){KR_NONE, step, true};
		return;
	}
	if (!kr_vec_push(s->mem, &s->trail, step)) {
		s->failed = true;
		return;
	}
	s->work++;
	s->value[literal] = 1;
	s->value[literal ^ 1] = -1;
	s->step_of[literal >> 1] = s->trail.n - 1;
}

/* ---- what is known of sights and effects ---- */

/* One candidate left of a sight whose transaction took effect, or none. */
static void look_at_sight(struct search *s, uint32_t sight)
{
	const struct kr_argument_sight *o = &s->arg->sights.at[sight];
	uint32_t open = 0, last = KR_NONE;

	if (!o->all)
		return;
	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t choice = s->arg->candidates.at[o->first + i];
		if (s->value[kr_literal(choice, false)] > 0)
			return;
		if (s->value[kr_literal(choice, false)] == 0) {
			open++;
			last = choice;
		}
	}
	s->work += o->count;
	if (open == 0 && o->effect != KR_NONE)
		assign(s, 2 * o->effect + 1, KR_BECAUSE_ONLY, sight);
	else if (open == 1 && (o->effect == KR_NONE || s->value[kr_literal(o->effect, false)] > 0))
		assign(s, 2 * last, KR_BECAUSE_ONLY, sight);
}

static bool is_sight_of_initial(const struct kr_argument *arg, const struct kr_doubt *c)
{
	return c->kind == KR_DOUBT_SAW && c->a.i == KR_NONE && arg->asg->keys[c->key.i].open_initial;
}

/* What is read from the untold initial version of a key is one value. */
static void agree_on_initial(struct search *s, uint32_t choice)
{
	const struct kr_argument *arg = s->arg;
	const struct kr_history *h = arg->h;
	const struct kr_doubt *c = &arg->choices.at[choice];
	kr_value value = h->ops.at[kr_history_op(h, c->txn, c->op).i].a;

	for (uint32_t other = 0; other < arg->choices.n; other++) {
		const struct kr_doubt *o = &arg->choices.at[other];
		if (is_sight_of_initial(arg, o) && o->key.i == c->key.i &&
			h->ops.at[kr_history_op(h, o->txn, o->op).i].a.i != value.i)
			assign(s, 2 * other + 1, KR_BECAUSE_OTHER, choice);
	}
}

static void propagate_sight(struct search *s, uint32_t literal)
{
	const struct kr_argument *arg = s->arg;
	uint32_t choice = literal >> 1;
	const struct kr_doubt *c = &arg->choices.at[choice];

	if (literal & 1) {
		look_at_sight(s, c->sight);
		return;
	}

	const struct kr_argument_sight *o = &arg->sights.at[c->sight];

	for (uint32_t i = 0; i < o->count; i++)
		if (arg->candidates.at[o->first + i] != choice)
			assign(s, 2 * arg->candidates.at[o->first + i] + 1, KR_BECAUSE_OTHER, choice);
	if (c->effect != KR_NONE)
		assign(s, 2 * c->effect, KR_BECAUSE_SEEN, choice);
	if (o->effect != KR_NONE)
		assign(s, 2 * o->effect, KR_BECAUSE_SEEN, choice);
	if (is_sight_of_initial(arg, c))
		agree_on_initial(s, choice);
}

static void propagate_effect(struct search *s, uint32_t literal)
{
	const struct kr_argument *arg = s->arg;

	if (literal & 1) {
		for (uint32_t c = 0; c < arg->choices.n; c++)
			if (arg->choices.at[c].kind == KR_DOUBT_SAW &&
				(arg->choices.at[c].effect == literal >> 1 ||
					arg->sights.at[arg->choices.at[c].sight].effect == literal >> 1))
				assign(s, 2 * c + 1, KR_BECAUSE_NO_EFFECT, literal >> 1);
		return;
	}
	for (uint32_t o = 0; o < arg->sights.n; o++)
		if (arg->sights.at[o].effect == literal >> 1)
			look_at_sight(s, o);
}

/* ---- propagation ---- */

static void count_literal(struct search *s, uint32_t literal)
{
	for (uint32_t i = s->uses_first[literal]; i < s->uses_first[literal + 1]; i++) {
		uint32_t cycle = s->uses[i];
		s->yes[cycle]++;
		if (s->yes[cycle] + 1 >= size_of(s, cycle) && !kr_vec_push(s->mem, &s->queue, cycle))
			s->failed = true;
	}
	for (uint32_t i = s->uses_first[literal ^ 1]; i < s->uses_first[(literal ^ 1) + 1]; i++)
		s->no[s->uses[i]]++;
}

static void look_at_cycle(struct search *s, uint32_t cycle)
{
	s->work++;
	if (s->no[cycle] > 0 || s->conflict.found)
		return;
	if (s->yes[cycle] == size_of(s, cycle)) {
		s->conflict = (struct conflict){.cycle = cycle, .found = true};
		return;
	}
	if (s->yes[cycle] + 1 != size_of(s, cycle))
		return;
	for (uint32_t i = s->arg->first.at[cycle]; i < s->arg->first.at[cycle + 1]; i++)
		if (s->value[s->arg->literals.at[i]] == 0)
			assign(s, s->arg->literals.at[i] ^ 1, KR_BECAUSE_CYCLE, cycle);
}

/* Until nothing follows any more, or a conflict is found. */
static void propagate(struct search *s)
{
	uint32_t last = s->arg->cert->cycles.n - 1;

	while (!s->failed && !s->conflict.found && s->work < WORK_MOST) {
		if (s->done < s->trail.n) {
			uint32_t literal = s->trail.at[s->done++].literal;
			count_literal(s, literal);
			if (s->arg->choices.at[literal >> 1].kind == KR_DOUBT_SAW)
				propagate_sight(s, literal);
			else if (s->arg->choices.at[literal >> 1].kind == KR_DOUBT_EFFECT)
				propagate_effect(s, literal);
			continue;
		}
		if (s->yes[last] == size_of(s, last)) {
			s->conflict = (struct conflict){.cycle = last, .found = true};
		} else if (s->front < s->queue.n) {
			uint32_t cycle = s->queue.at[s->front++];
			if (cycle != last)
				look_at_cycle(s, cycle);
		} else {
			uint32_t before = s->trail.n;
			look_at_cycle(s, last);
			if (s->trail.n == before)
				break;
		}
	}
}

static void undo(struct search *s, uint32_t mark)
{
	while (s->trail.n > mark) {
		uint32_t literal = kr_vec_pop(&s->trail).literal;
		s->value[literal] = s->value[literal ^ 1] = 0;
		if (s->trail.n >= s->done)
			continue;
		for (uint32_t i = s->uses_first[literal]; i < s->uses_first[literal + 1]; i++)
			s->yes[s->uses[i]]--;
		for (uint32_t i = s->uses_first[literal ^ 1]; i < s->uses_first[(literal ^ 1) + 1]; i++)
			s->no[s->uses[i]]--;
		s->done = s->trail.n;
	}
	kr_vec_clear(&s->queue);
	s->front = 0;
	s->conflict.found = false;
}

/* ---- what a step rests on ---- */

static void add_premise(struct search *s, uint32_t literal)
{
	if (!kr_vec_push(s->mem, &s->premises, literal))
		s->failed = true;
}

static void add_cycle_premises(struct search *s, uint32_t cycle, uint32_t without)
{
	for (uint32_t i = s->arg->first.at[cycle]; i < s->arg->first.at[cycle + 1]; i++)
		if (s->arg->literals.at[i] != without)
			add_premise(s, s->arg->literals.at[i]);
}

static void add_premises(struct search *s, const struct kr_argument_step *step)
{
	const struct kr_argument *arg = s->arg;

	switch ((enum kr_because)step->because) {
	case KR_BECAUSE_FACT:
	case KR_BECAUSE_ASSUMED: break;
	case KR_BECAUSE_CYCLE: add_cycle_premises(s, step->from, step->literal ^ 1); break;
	case KR_BECAUSE_OTHER:
	case KR_BECAUSE_SEEN: add_premise(s, 2 * step->from); break;
	case KR_BECAUSE_NO_EFFECT: add_premise(s, 2 * step->from + 1); break;
	case KR_BECAUSE_ONLY: {
		const struct kr_argument_sight *o = &arg->sights.at[step->from];
		for (uint32_t i = 0; i < o->count; i++)
			if (arg->candidates.at[o->first + i] != step->literal >> 1)
				add_premise(s, 2 * arg->candidates.at[o->first + i] + 1);
		if (o->effect != KR_NONE && o->effect != step->literal >> 1)
			add_premise(s, 2 * o->effect);
		break;
	}
	}
}

/* Marks on the trail what the conflict rests on. */
static void mark_needed(struct search *s)
{
	kr_vec_clear(&s->premises);
	if (s->conflict.cycle != KR_NONE) {
		add_cycle_premises(s, s->conflict.cycle, KR_NONE);
	} else {
		add_premises(s, &s->conflict.step);
		add_premise(s, s->conflict.step.literal ^ 1);
	}
	for (uint32_t at = s->trail.n; at-- > 0 && !s->failed;) {
		for (uint32_t i = 0; i < s->premises.n; i++)
			s->trail.at[s->step_of[s->premises.at[i] >> 1]].needed = true;
		kr_vec_clear(&s->premises);
		if (s->trail.at[at].needed)
			add_premises(s, &s->trail.at[at]);
	}
}

/* ---- case splits ---- */

/* How good a split on the choice is: closed sides first, then what follows from both. */
static uint64_t try_split(struct search *s, uint32_t choice, bool *negative_first)
{
	uint32_t mark = s->trail.n, closed = 0, follows[2];

	for (uint32_t side = 0; side < 2; side++) {
		assign(s, 2 * choice + side, KR_BECAUSE_ASSUMED, KR_NONE);
		propagate(s);
		follows[side] = s->trail.n - mark;
		closed += s->conflict.found;
		if (s->conflict.found && closed == 1)
			*negative_first = side == 1;
		undo(s, mark);
	}
	return (uint64_t)closed << 48 | (uint64_t)follows[0] * follows[1];
}

static uint32_t open_uses(const struct search *s, uint32_t literal)
{
	uint32_t n = 0;

	for (uint32_t i = s->uses_first[literal]; i < s->uses_first[literal + 1]; i++)
		n += s->no[s->uses[i]] == 0;
	return n;
}

/* The open choices with the most uses in cycles that are not avoided yet, most used first. */
static uint32_t frequent_choices(const struct search *s, uint32_t out[TRIED_MOST])
{
	uint32_t uses[TRIED_MOST], n = 0;

	for (uint32_t c = 0; c < s->arg->choices.n; c++) {
		uint32_t count = s->value[kr_literal(c, false)] == 0
			? open_uses(s, 2 * c) + open_uses(s, 2 * c + 1)
			: 0,
			 at;
		if (count == 0 || (n == TRIED_MOST && count <= uses[n - 1]))
			continue;
		at = n < TRIED_MOST ? n++ : n - 1;
		while (at > 0 && uses[at - 1] < count) {
			uses[at] = uses[at - 1];
			out[at] = out[at - 1];
			at--;
		}
		uses[at] = count;
		out[at] = c;
	}
	return n;
}

/* When this case assumes that a sight did not see some version: its other open candidates, so that the
 * sources of one read are told one after the other. */
static uint32_t same_sight(const struct search *s, uint32_t out[TRIED_MOST])
{
	const struct kr_argument *arg = s->arg;
	uint32_t assumed = arg->cases.at[s->stack[s->depth - 1].at].assumed, n = 0;

	if (assumed == KR_NONE || !(assumed & 1) || arg->choices.at[assumed >> 1].kind != KR_DOUBT_SAW)
		return 0;

	const struct kr_argument_sight *o = &arg->sights.at[arg->choices.at[assumed >> 1].sight];

	for (uint32_t i = 0; i < o->count && n < TRIED_MOST; i++)
		if (s->value[kr_literal(arg->candidates.at[o->first + i], false)] == 0)
			out[n++] = arg->candidates.at[o->first + i];
	return n;
}

/* The literal to assume first, or KR_NONE. */
static uint32_t choose(struct search *s)
{
	uint32_t tried[TRIED_MOST], n = same_sight(s, tried), best = KR_NONE;
	uint64_t best_score = 0;

	if (n == 0)
		n = frequent_choices(s, tried);

	for (uint32_t i = 0; i < n && !s->failed && s->work < WORK_MOST; i++) {
		bool negative = false;
		uint64_t score = try_split(s, tried[i], &negative);
		if (best == KR_NONE || score > best_score) {
			best_score = score;
			best = 2 * tried[i] + (negative && s->arg->choices.at[tried[i]].kind != KR_DOUBT_SAW);
		}
	}
	return best;
}

/* ---- the tree of cases ---- */

static void open_case(struct search *s, uint32_t parent, uint32_t assumed)
{
	struct kr_argument *arg = s->arg;
	struct kr_case c = {.parent = parent,
		.depth = s->depth,
		.assumed = assumed,
		.child = {KR_NONE, KR_NONE},
		.closed_by = KR_NONE};

	if (!kr_vec_push(s->mem, &arg->cases, c)) {
		s->failed = true;
		return;
	}
	s->stack[s->depth++] = (struct frame){.at = arg->cases.n - 1, .mark = s->trail.n, .end = KR_NONE};
	if (assumed != KR_NONE)
		assign(s, assumed, KR_BECAUSE_ASSUMED, KR_NONE);
}

/* Saves the steps of a case that is finished. */
static void close_case(struct search *s, const struct frame *f)
{
	struct kr_argument *arg = s->arg;
	struct kr_case *c = &arg->cases.at[f->at];
	uint32_t end = f->end == KR_NONE ? s->trail.n : f->end;

	c->first = arg->steps.n;
	for (uint32_t i = f->mark; i < end; i++)
		if (s->trail.at[i].needed && s->trail.at[i].because != KR_BECAUSE_ASSUMED &&
			!kr_vec_push(s->mem, &arg->steps, s->trail.at[i]))
			s->failed = true;
	if (s->conflict.found && s->conflict.cycle == KR_NONE && f->end == KR_NONE &&
		!kr_vec_push(s->mem, &arg->steps, s->conflict.step))
		s->failed = true;
	c->count = arg->steps.n - c->first;
}

static bool assumption_needed(const struct search *s, const struct frame *f)
{
	return s->trail.at[f->mark].needed;
}

/* After a conflict: closes cases upwards until one has a second side to look at. True when all are closed. */
static bool climb(struct search *s)
{
	struct kr_argument *arg = s->arg;

	arg->cases.at[s->stack[s->depth - 1].at].closed_by = s->conflict.cycle;
	mark_needed(s);
	while (!s->failed) {
		struct frame f = s->stack[--s->depth];
		close_case(s, &f);
		if (s->depth == 0)
			return true;

		struct frame *parent = &s->stack[s->depth - 1];
		struct kr_case *up = &arg->cases.at[parent->at];
		bool needed = assumption_needed(s, &f);

		undo(s, f.mark);
		if (!needed) {
			arg->cases.at[f.at].assumed = KR_NONE;
			up->child[0] = f.at;
			up->child[1] = KR_NONE;
			continue;
		}
		up->child[parent->second] = f.at;
		if (parent->second)
			continue;
		parent->second = true;
		open_case(s, parent->at, parent->literal ^ 1);
		return false;
	}
	return false;
}

static void run(struct search *s)
{
	open_case(s, KR_NONE, KR_NONE);
	for (uint32_t c = 0; c < s->arg->cert->cycles.n; c++)
		if (size_of(s, c) <= 1 && !kr_vec_push(s->mem, &s->queue, c))
			s->failed = true;
	for (uint32_t o = 0; o < s->arg->sights.n; o++)
		look_at_sight(s, o);
	while (!s->failed) {
		propagate(s);
		if (s->conflict.found) {
			if (climb(s)) {
				s->arg->complete = !s->failed;
				return;
			}
			continue;
		}
		if (s->work >= WORK_MOST || s->arg->cases.n >= CASES_MOST || s->depth > DEPTH_MOST)
			return;

		uint32_t literal = choose(s);

		if (literal == KR_NONE || s->failed)
			return;
		s->stack[s->depth - 1].literal = literal;
		s->stack[s->depth - 1].end = s->trail.n;
		open_case(s, s->stack[s->depth - 1].at, literal);
	}
}

/* ---- set-up ---- */

static enum kr_status set_up(struct search *s)
{
	const struct kr_argument *arg = s->arg;
	uint32_t nliterals = 2 * arg->choices.n, ncycles = arg->cert->cycles.n;

	KR_TRY(kr_arena_new(&s->arena, s->value, nliterals));
	KR_TRY(kr_arena_new(&s->arena, s->step_of, arg->choices.n));
	KR_TRY(kr_arena_new(&s->arena, s->yes, ncycles));
	KR_TRY(kr_arena_new(&s->arena, s->no, ncycles));
	KR_TRY(kr_arena_new(&s->arena, s->uses_first, (size_t)nliterals + 2));
	KR_TRY(kr_arena_new(&s->arena, s->uses, arg->literals.n));
	for (uint32_t i = 0; i < arg->literals.n; i++)
		s->uses_first[arg->literals.at[i] + 2]++;
	kr_index_places(s->uses_first, nliterals);
	for (uint32_t c = 0; c < ncycles; c++)
		for (uint32_t i = arg->first.at[c]; i < arg->first.at[c + 1]; i++)
			s->uses[s->uses_first[arg->literals.at[i] + 1]++] = c;
	return KR_OK;
}

enum kr_status kr_argument_search(struct kr_argument *arg)
{
	struct search s = {.arena = {.mem = arg->mem}, .arg = arg, .mem = arg->mem};

	s.failed = set_up(&s) != KR_OK;
	if (!s.failed && arg->cert->cycles.n > 0)
		run(&s);
	kr_arena_done(&s.arena);
	kr_vec_done(s.mem, &s.trail);
	kr_vec_done(s.mem, &s.queue);
	kr_vec_done(s.mem, &s.premises);
	return s.failed ? KR_NOMEM : KR_OK;
}
