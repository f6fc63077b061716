/* A list holds elements in an order; further ones are put at its end. An empty list is an absent one. */
#include "frontend/model/datatype.h"

#include <string.h>

static bool same(const kr_item *a, const kr_item *b, uint32_t n)
{
	return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static bool is(const struct kr_state *s, const struct kr_want *w)
{
	return s->items.n == w->is.items.n && same(s->items.at, w->is.items.at, s->items.n);
}

static enum kr_status add(struct kr_arena *arena, struct kr_state *s, const struct kr_state *more)
{
	for (uint32_t i = 0; i < more->items.n; i++)
		if (!kr_items_add(arena, &s->items, more->items.at[i]))
			return KR_NOMEM;
	s->present = s->items.n > 0;
	return KR_OK;
}

static bool take(struct kr_want *w, const struct kr_state *more)
{
	struct kr_items *items = &w->is.items;

	if (items->n < more->items.n ||
		!same(items->at + (items->n - more->items.n), more->items.at, more->items.n))
		return false;
	*items = (struct kr_items){items->at, items->n - more->items.n, false};
	w->is.present = items->n > 0;
	return true;
}

const struct kr_datatype kr_datatype_list = {
	.name = "list",
	.kind = KR_KIND_LIST,
	.shown = KR_VALUE_ARRAY,
	.parts = true,
	.is = is,
	.add = add,
	.take = take,
};
