/* A counter holds a number of 64 bits, to which numbers are added. One that is absent counts as 0. */
#include "frontend/model/datatype.h"

static bool is(const struct kr_state *s, const struct kr_want *w)
{
	return s->present == w->is.present && s->number == w->is.number;
}

static enum kr_status add(struct kr_arena *arena, struct kr_state *s, const struct kr_state *more)
{
	(void)arena;
	if (__builtin_add_overflow(s->number, more->number, &s->number))
		return KR_UNSUPPORTED;
	s->present = true;
	return KR_OK;
}

static bool take(struct kr_want *w, const struct kr_state *more)
{
	if (__builtin_sub_overflow(w->is.number, more->number, &w->is.number))
		return false;
	w->or_absent = w->is.number == 0;
	return true;
}

const struct kr_datatype kr_datatype_counter = {
	.name = "counter",
	.kind = KR_KIND_COUNTER,
	.zero_is_absent = true,
	.shown = KR_VALUE_INT,
	.is = is,
	.add = add,
	.take = take,
};
