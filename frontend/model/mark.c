/* A high-water mark holds the largest of the numbers that it was raised to; an absent one is below them all.
 * What is shown of it after it was raised to just that tells no more than that it was not above it. */
#include "frontend/model/datatype.h"

static bool is(const struct kr_state *s, const struct kr_want *w)
{
	return s->present == w->is.present &&
		(w->or_less ? s->number <= w->is.number : s->number == w->is.number);
}

static enum kr_status add(struct kr_arena *arena, struct kr_state *s, const struct kr_state *more)
{
	(void)arena;
	s->number = s->present && s->number > more->number ? s->number : more->number;
	s->present = true;
	return KR_OK;
}

static bool take(struct kr_want *w, const struct kr_state *more)
{
	w->or_less = w->or_absent = w->or_less || w->is.number == more->number;
	return w->is.number >= more->number;
}

const struct kr_datatype kr_datatype_mark = {
	.name = "mark",
	.kind = KR_KIND_MARK,
	.shown = KR_VALUE_INT,
	.parts = true,
	.is = is,
	.add = add,
	.take = take,
};
