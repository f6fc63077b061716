/* A set holds elements, each once, in an order that says nothing. An empty set is an absent one. What is
 * shown of it after additions tells nothing of those: they may have been there. */
#include "frontend/model/datatype.h"

static bool all_in(const struct kr_items *a, const struct kr_items *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (!kr_items_have(b, a->at[i]))
			return false;
	return true;
}

/* The set and what may be missing of it come to what was shown, each element once. */
static bool is(const struct kr_state *s, const struct kr_want *w)
{
	uint32_t n = s->items.n;

	for (uint32_t i = 0; i < w->less.n; i++)
		n += !kr_items_have(&s->items, w->less.at[i]);
	return n == w->is.items.n && all_in(&s->items, &w->is.items) && all_in(&w->less, &w->is.items);
}

static enum kr_status add(struct kr_arena *arena, struct kr_state *s, const struct kr_state *more)
{
	for (uint32_t i = 0; i < more->items.n; i++)
		if (!kr_items_have(&s->items, more->items.at[i]) &&
			!kr_items_add(arena, &s->items, more->items.at[i]))
			return KR_NOMEM;
	s->present = s->items.n > 0;
	return KR_OK;
}

static bool take(struct kr_want *w, const struct kr_state *more)
{
	w->less = more->items;
	return all_in(&w->less, &w->is.items);
}

const struct kr_datatype kr_datatype_set = {
	.name = "set",
	.kind = KR_KIND_SET,
	.shown = KR_VALUE_ARRAY,
	.parts = true,
	.is = is,
	.add = add,
	.take = take,
};
