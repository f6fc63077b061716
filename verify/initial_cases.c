/* Initial values that the trace does not tell, as choices: which value a register or counter had, or that it
 * was absent; which elements a set had. What an observation that saw the initial version says of them; that a
 * key had one value at most, and that a set with an element was there. Cost: linear in the choices. */
#include "verify/cases.h"

/* 0, or absent: a literal that implies one of them, beside a clause that is being built. */
static enum kr_status zero_or_absent(struct kr_cases *c, uint32_t zero, uint32_t absent, uint32_t *literal)
{
	uint32_t either;
	KR_TRY(kr_cases_new(c, &either));

	*literal = either;
	return kr_sat_add(&c->sat, (uint32_t[]){kr_sat_not(either), zero, absent}, 3);
}

/* Of a counter each of whose versions is a known number: that its initial one is what the observation allows.
 * Which numbers that leaves out, kr_cases_add_initials says. */
static enum kr_status initial_number(struct kr_cases *c, uint32_t id, uint32_t *literal)
{
	const struct kr_sight *s = &c->sights.at[id];
	struct kr_count want = kr_grow_count(c->v->h, s);
	uint32_t absent;

	if (want.test == KR_COUNT_NEVER)
		return KR_OK;
	if (want.test == KR_COUNT_IS)
		return kr_cases_initial_count(c, s->key, want.number, want.or_absent, literal);
	KR_TRY(kr_cases_initially_absent(c, s->key, &absent));
	*literal = want.test == KR_COUNT_ABSENT ? absent : kr_cases_negate(absent);
	if (want.test == KR_COUNT_ABSENT || (want.test == KR_COUNT_PRESENT && !want.over))
		return KR_OK;
	return kr_cases_choose(c, (struct kr_cases_choice){KR_CHOICE_INITIAL_FITS, s->key.i, id, 0, false},
		literal);
}

/* Of a counter that is a sum: whether it was there. What number it was, the sum tells (sums.c). */
static enum kr_status initial_presence(struct kr_cases *c, const struct kr_sight *s, uint32_t *literal)
{
	struct kr_count want = kr_grow_count(c->v->h, s);
	bool none = want.test == KR_COUNT_ABSENT || want.test == KR_COUNT_NO_MATCH;
	uint32_t absent;

	if (want.test == KR_COUNT_NEVER || (s->part.i != KR_NONE && (s->part.i != KR_ABSENT.i || !none)) ||
		(!none && (want.or_absent || s->own_count > 0)))
		return KR_OK;
	KR_TRY(kr_cases_initially_absent(c, s->key, &absent));
	*literal = none ? absent : kr_cases_negate(absent);
	return KR_OK;
}

enum kr_status kr_cases_initial_count(struct kr_cases *c, kr_key k, int64_t number, bool or_absent,
	uint32_t *literal)
{
	uint64_t bits = (uint64_t)number;
	uint32_t absent;

	KR_TRY(kr_cases_choose(c,
		(struct kr_cases_choice){KR_CHOICE_INITIAL, k.i, (uint32_t)bits, (uint32_t)(bits >> 32),
			false},
		literal));
	if (!or_absent)
		return KR_OK;
	KR_TRY(kr_cases_initially_absent(c, k, &absent));
	return zero_or_absent(c, *literal, absent, literal);
}

/* That an untold set had the element (KR_NONE: any). */
static enum kr_status member(struct kr_cases *c, kr_key k, uint32_t element, uint32_t *literal)
{
	uint32_t known = c->choices.n, any;

	KR_TRY(kr_cases_choose(c, (struct kr_cases_choice){KR_CHOICE_MEMBER, k.i, element, 0, false},
		literal));
	if (element == KR_NONE || c->choices.n == known)
		return KR_OK;
	KR_TRY(member(c, k, KR_NONE, &any));
	return kr_cases_imply(c, *literal, any);
}

/* Of a counter its number, of a set whether it had an element, or any. */
static enum kr_status initial_grown(struct kr_cases *c, uint32_t id, uint32_t *literal)
{
	const struct kr_sight *s = &c->sights.at[id];
	enum kr_grow_mode mode = kr_facts_mode(&c->facts, s->key);
	uint32_t element = KR_NONE;
	bool shown = false;

	if (mode == KR_GROW_VALUES)
		return initial_number(c, id, literal);
	if (mode == KR_GROW_SUM)
		return initial_presence(c, s, literal);
	if (mode != KR_GROW_SET || !kr_grow_tells(&c->facts, s) || (s->part.i == KR_NONE && s->own_count > 0))
		return KR_OK;
	if (s->part.i != KR_NONE)
		KR_TRY(kr_grow_element(c->facts.grow, s->part, &element));
	KR_TRY(kr_grow_shows(&c->facts, s, element, &shown, c->v->err));
	if (element != KR_NONE && !kr_grow_may_start_with(&c->facts, s->key, element))
		return KR_OK; /* it does not hold that; who shows it has not seen the initial version */
	KR_TRY(member(c, s->key, element, literal));
	if (!shown)
		*literal = kr_cases_negate(*literal);
	return KR_OK;
}

/* What "observation s saw the initial version" says of an untold initial value; KR_LITERAL_TRUE: nothing. */
enum kr_status kr_cases_initial(struct kr_cases *c, uint32_t id, uint32_t *literal)
{
	const struct kr_sight *s = &c->sights.at[id];

	*literal = KR_LITERAL_TRUE;
	if (c->facts.untold && kr_facts_grows(&c->facts, s->key))
		return initial_grown(c, id, literal);
	if (!c->facts.untold || c->facts.pins[2 * (size_t)s->key.i].i != KR_NONE ||
		(s->saw.test != KR_SAW_VALUE && s->saw.test != KR_SAW_OTHER))
		return KR_OK;
	KR_TRY(kr_cases_choose(c,
		(struct kr_cases_choice){KR_CHOICE_INITIAL, s->key.i, s->saw.value.i, 0, false}, literal));
	if (s->saw.test == KR_SAW_OTHER)
		*literal = kr_cases_negate(*literal);
	return KR_OK;
}

/* ---- one value each ---- */

/* That what observation x.b allows of the counter is not the value that choice y names. */
static enum kr_status leave_out(struct kr_cases *c, uint32_t fits, uint32_t other)
{
	const struct kr_cases_choice *x = &c->choices.at[fits], *y = &c->choices.at[other];
	struct kr_count want = kr_grow_count(c->v->h, &c->sights.at[x->b]);
	bool absent = y->kind == KR_CHOICE_INITIAL_ABSENT;
	int64_t number = (int64_t)((uint64_t)y->c << 32 | y->b);

	return kr_grow_count_allows(c->v->h, &want, (kr_key){x->a}, absent, absent ? 0 : number)
		? KR_OK
		: kr_cases_imply(c, kr_sat_yes(fits), kr_sat_not(kr_sat_yes(other)));
}

static bool names_initial(const struct kr_cases_choice *x)
{
	return x->kind == KR_CHOICE_INITIAL || x->kind == KR_CHOICE_INITIAL_ABSENT;
}

/* Each key's choices of an initial value are a list: `last` of the key, then `before` of the choice. */
static enum kr_status leave_out_all(struct kr_cases *c, const uint32_t *last, const uint32_t *before)
{
	for (uint32_t i = 0; i < c->choices.n; i++) {
		if (c->choices.at[i].kind != KR_CHOICE_INITIAL_FITS)
			continue;
		for (uint32_t y = last[c->choices.at[i].a]; y != KR_NONE; y = before[y])
			KR_TRY(leave_out(c, i, y));
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	return KR_OK;
}

/* Says that an untold initial value is one value: a chain of variables per key, "it is one of the values so
 * far", beside the choices of that key. */
static enum kr_status one_each(struct kr_cases *c, struct kr_arena *scratch)
{
	uint32_t n = c->choices.n, *last, *before, *so_far;

	KR_TRY(kr_arena_new(scratch, last, c->v->h->keys.n));
	KR_TRY(kr_arena_new(scratch, before, n));
	KR_TRY(kr_arena_new(scratch, so_far, n));
	for (uint32_t k = 0; k < c->v->h->keys.n; k++)
		last[k] = KR_NONE;
	for (uint32_t i = 0; i < n; i++) {
		const struct kr_cases_choice *x = &c->choices.at[i];

		if (!names_initial(x))
			continue;
		uint32_t other = last[x->a];
		KR_TRY(kr_sat_new_var(&c->sat, &so_far[i]));
		if (other != KR_NONE) {
			KR_TRY(kr_cases_imply(c, kr_sat_yes(so_far[other]), kr_sat_not(kr_sat_yes(i))));
			KR_TRY(kr_cases_imply(c, kr_sat_yes(so_far[other]), kr_sat_yes(so_far[i])));
		}
		KR_TRY(kr_cases_imply(c, kr_sat_yes(i), kr_sat_yes(so_far[i])));
		before[i] = other;
		last[x->a] = i;
	}
	return leave_out_all(c, last, before);
}

enum kr_status kr_cases_add_initials(struct kr_cases *c)
{
	struct kr_arena scratch = {.mem = c->mem};
	enum kr_status status = one_each(c, &scratch);

	kr_arena_done(&scratch);
	return status;
}
