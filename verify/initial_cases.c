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

static enum kr_status initial_number(struct kr_cases *c, const struct kr_sight *s, uint32_t *literal)
{
	struct kr_count want = kr_grow_count(c->v->h, s);
	uint32_t absent;

	if (want.test == KR_COUNT_NEVER || want.test == KR_COUNT_NO_MATCH)
		return KR_OK;
	enum kr_status status = kr_cases_choose(c,
		(struct kr_cases_choice){KR_CHOICE_INITIAL_ABSENT, s->key.i, 0, 0, false}, &absent);
	*literal = want.test == KR_COUNT_ABSENT ? absent : kr_cases_negate(absent);
	if (status != KR_OK || want.test != KR_COUNT_IS)
		return status;
	return kr_cases_initial_count(c, s->key, want.number, want.or_absent, literal);
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
	enum kr_status status = kr_cases_choose(c,
		(struct kr_cases_choice){KR_CHOICE_INITIAL_ABSENT, s->key.i, 0, 0, false}, &absent);
	*literal = none ? absent : kr_cases_negate(absent);
	return status;
}

enum kr_status kr_cases_initial_count(struct kr_cases *c, kr_key k, int64_t number, bool or_absent,
	uint32_t *literal)
{
	uint64_t bits = (uint64_t)number;
	uint32_t absent;
	enum kr_status status = kr_cases_choose(c,
		(struct kr_cases_choice){KR_CHOICE_INITIAL, k.i, (uint32_t)bits, (uint32_t)(bits >> 32),
			false},
		literal);

	if (status != KR_OK || !or_absent)
		return status;
	status = kr_cases_choose(c, (struct kr_cases_choice){KR_CHOICE_INITIAL_ABSENT, k.i, 0, 0, false},
		&absent);
	return status == KR_OK ? zero_or_absent(c, *literal, absent, literal) : status;
}

/* That an untold set had the element (KR_NONE: any). */
static enum kr_status member(struct kr_cases *c, kr_key k, uint32_t element, uint32_t *literal)
{
	uint32_t known = c->choices.n, any;
	enum kr_status status = kr_cases_choose(c,
		(struct kr_cases_choice){KR_CHOICE_MEMBER, k.i, element, 0, false}, literal);

	if (status != KR_OK || element == KR_NONE || c->choices.n == known)
		return status;
	status = kr_cases_choose(c, (struct kr_cases_choice){KR_CHOICE_MEMBER, k.i, KR_NONE, 0, false}, &any);
	return status == KR_OK ? kr_cases_imply(c, *literal, any) : status;
}

/* Of a counter its number, of a set whether it had an element, or any. */
static enum kr_status initial_grown(struct kr_cases *c, const struct kr_sight *s, uint32_t *literal)
{
	enum kr_grow_mode mode = kr_facts_mode(&c->facts, s->key);
	uint32_t element = KR_NONE;
	bool shown = false;

	if (mode == KR_GROW_VALUES)
		return initial_number(c, s, literal);
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
enum kr_status kr_cases_initial(struct kr_cases *c, const struct kr_sight *s, uint32_t *literal)
{
	*literal = KR_LITERAL_TRUE;
	if (c->facts.untold && kr_facts_grows(&c->facts, s->key))
		return initial_grown(c, s, literal);
	if (!c->facts.untold || c->facts.pins[2 * (size_t)s->key.i].i != KR_NONE ||
		(s->saw.test != KR_SAW_VALUE && s->saw.test != KR_SAW_OTHER))
		return KR_OK;
	enum kr_status status = kr_cases_choose(c,
		(struct kr_cases_choice){KR_CHOICE_INITIAL, s->key.i, s->saw.value.i, 0, false}, literal);
	if (s->saw.test == KR_SAW_OTHER)
		*literal = kr_cases_negate(*literal);
	return status;
}

/* ---- one value each ---- */

/* Says that an untold initial value is one value: a chain of variables per key, "it is one of the values so
 * far", beside the choices of that key. `last` has, per key, the newest variable of its chain. */
enum kr_status kr_cases_add_initials(struct kr_cases *c)
{
	uint32_t nkeys = c->v->h->keys.n, *last = kr_mem_alloc(c->mem, nkeys, sizeof *last), so_far;
	enum kr_status status = last ? KR_OK : KR_NOMEM;

	for (uint32_t k = 0; status == KR_OK && k < nkeys; k++)
		last[k] = KR_NONE;
	for (uint32_t i = 0; status == KR_OK && i < c->choices.n; i++) {
		const struct kr_cases_choice *x = &c->choices.at[i];

		if (x->kind != KR_CHOICE_INITIAL && x->kind != KR_CHOICE_INITIAL_ABSENT)
			continue;
		status = kr_sat_new_var(&c->sat, &so_far);
		if (status == KR_OK && last[x->a] != KR_NONE)
			status = kr_cases_imply(c, kr_sat_yes(last[x->a]), kr_sat_not(kr_sat_yes(i)));
		if (status == KR_OK && last[x->a] != KR_NONE)
			status = kr_cases_imply(c, kr_sat_yes(last[x->a]), kr_sat_yes(so_far));
		if (status == KR_OK)
			status = kr_cases_imply(c, kr_sat_yes(i), kr_sat_yes(so_far));
		last[x->a] = so_far;
	}
	kr_mem_free(c->mem, last, nkeys, sizeof *last);
	return status;
}
