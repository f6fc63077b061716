/* Counting of values. A value that is new, or that nobody keeps any more, is noted once in `loose`;
 * forgetting goes through that list and takes away what is still kept by none. So whoever is told of a
 * value has until the next forgetting to keep it, and a value that is released and kept again in between
 * stays. The cost is that of what comes and goes; a count's top bit says whether the value is in the list.
 * The list has room for a small part of all values; if more come at once, forgetting goes through all. */
#include "frontend/history_count.h"

#include <string.h>

#define IN_LOOSE (UINT32_C(1) << 31)

enum { LOOSE_LEAST = 64, LOOSE_PART = 16 };

enum kr_status kr_history_count(struct kr_history *h)
{
	for (uint32_t i = 0; i < h->values.n; i++) /* KR_ABSENT, which stays */
		KR_TRY(kr_vec_add(h->mem, &h->counts, 1));
	h->counted = true;
	h->spare = (kr_value){KR_NONE};
	return KR_OK;
}

void kr_history_count_done(struct kr_history *h)
{
	for (uint32_t i = 0; h->counted && i < h->values.n; i++)
		kr_history_count_forget_text(h, &h->values.at[i]);
	kr_vec_done(h->mem, &h->counts);
	kr_vec_done(h->mem, &h->loose);
}

const char *kr_history_count_text(struct kr_history *h, const char *text, size_t length)
{
	char *copy = kr_mem_alloc(h->mem, length + 1, 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

void kr_history_count_forget_text(struct kr_history *h, const struct kr_value_entry *entry)
{
	if (entry->type >= KR_VALUE_STRING)
		kr_mem_free(h->mem, (void *)(uintptr_t)entry->text, (size_t)entry->length + 1, 1);
}

static void put_loose(struct kr_history *h, kr_value value)
{
	if (h->loose.n == h->loose.cap) {
		h->overflowed = true;
		return;
	}
	h->counts.at[value.i] |= IN_LOOSE;
	h->loose.at[h->loose.n++] = value;
}

static bool make_room(struct kr_history *h)
{
	uint32_t room = LOOSE_LEAST + h->values.n / LOOSE_PART;

	return room <= h->loose.n || kr_vec_reserve(h->mem, &h->loose, room - h->loose.n);
}

bool kr_history_count_new(struct kr_history *h, kr_value *id)
{
	if (h->spare.i != KR_NONE) {
		*id = h->spare;
		h->spare.i = (uint32_t)h->values.at[id->i].integer;
	} else if (!make_room(h) || !kr_vec_reserve(h->mem, &h->values, 1) ||
		!kr_vec_push(h->mem, &h->counts, 0)) {
		return false;
	}
	put_loose(h, *id);
	return true;
}

void kr_history_keep(struct kr_history *h, kr_value value)
{
	if (h->counted)
		h->counts.at[value.i]++;
}

void kr_history_release(struct kr_history *h, kr_value value)
{
	if (h->counted && --h->counts.at[value.i] == 0)
		put_loose(h, value);
}

static void forget(struct kr_history *h, kr_value value)
{
	struct kr_value_entry *entry = &h->values.at[value.i];

	kr_table_remove(&h->value_table, kr_history_value_hash(entry), value.i);
	kr_history_count_forget_text(h, entry);
	*entry = (struct kr_value_entry){.type = KR_VALUE_ABSENT, .integer = h->spare.i};
	h->spare = value;
}

void kr_history_forget(struct kr_history *h)
{
	for (uint32_t i = 0; i < h->loose.n; i++) {
		h->counts.at[h->loose.at[i].i] &= ~IN_LOOSE;
		if (h->counts.at[h->loose.at[i].i] == 0)
			forget(h, h->loose.at[i]);
	}
	h->loose.n = 0;
	for (kr_value v = {0}; h->overflowed && v.i < h->values.n; v.i++)
		if (h->counts.at[v.i] == 0 && h->values.at[v.i].type != KR_VALUE_ABSENT)
			forget(h, v);
	h->overflowed = false;
}
