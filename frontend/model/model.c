/* What is the same for all data types: additions are what is put on top, and all else is plain. */
#include "frontend/model/datatype.h"

#include <stddef.h>
#include <string.h>

struct room {
	uint32_t n, cap; /* n: of the longest that lie here */
	kr_item at[];
};

const struct kr_datatype *kr_datatype_of(enum kr_key_kind kind)
{
	for (size_t i = 0; i < kr_datatype_registry_count; i++)
		if (kr_datatype_registry[i]->kind == kind)
			return kr_datatype_registry[i];
	return kr_datatype_of(KR_KIND_REGISTER);
}

bool kr_holds(const struct kr_datatype *type, const struct kr_state *s, const struct kr_want *w)
{
	return w->negated != (w->any || (w->or_absent && !s->present) || type->is(s, w));
}

struct kr_want kr_before(const struct kr_datatype *type, const struct kr_effect *e, struct kr_want w)
{
	if (e->how == KR_KEEP || w.any)
		return w;
	if (e->how == KR_SET)
		return (struct kr_want){.any = true, .negated = !kr_holds(type, &e->state, &w)};
	w.or_absent = false; /* something is there now */
	if (w.is.present && type->take(&w, &e->state))
		return w;
	return (struct kr_want){.any = true, .negated = !w.negated};
}

enum kr_status kr_apply(const struct kr_datatype *type, struct kr_arena *arena, struct kr_state *s,
	const struct kr_effect *e)
{
	if (e->how == KR_ADD)
		return type->add(arena, s, &e->state);
	if (e->how == KR_SET)
		*s = e->state;
	return KR_OK;
}

enum kr_status kr_compose(const struct kr_datatype *type, struct kr_arena *arena, struct kr_effect *e,
	const struct kr_effect *next)
{
	if (next->how == KR_ADD) {
		e->how = e->how == KR_KEEP ? KR_ADD : e->how;
		return type->add(arena, &e->state, &next->state);
	}
	if (next->how == KR_SET)
		*e = *next;
	return KR_OK;
}

bool kr_items_add(struct kr_arena *arena, struct kr_items *items, kr_item item)
{
	struct room *room =
		items->grows ? (struct room *)((char *)items->at - offsetof(struct room, at)) : NULL;

	if (!room || room->n != items->n || room->n == room->cap) { /* or others go on there */
		uint32_t cap = items->n < 2 ? 4 : 2 * items->n;
		room = items->n < UINT32_MAX / 2
			? kr_arena_alloc(arena, 1, sizeof *room + cap * sizeof *room->at)
			: NULL;
		if (!room)
			return false;
		if (items->n > 0)
			memcpy(room->at, items->at, items->n * sizeof *room->at);
		room->cap = cap;
		room->n = items->n;
	}
	room->at[room->n++] = item;
	*items = (struct kr_items){room->at, room->n, true};
	return true;
}

bool kr_items_have(const struct kr_items *items, kr_item item)
{
	for (uint32_t i = 0; i < items->n; i++)
		if (items->at[i].i == item.i)
			return true;
	return false;
}
