/* Sets that grow (store.h): a table of pairs (set, element), the elements by their texts; a read counts the
 * elements that it meets. Cost: linear in what is read and added. */
#include <string.h>

#include "base/hash.h"
#include "verify/store.h"

/* The number of an element's text, which is added when `add`; else KR_NONE where it is new. */
static enum kr_status element_number(struct kr_store *s, struct kr_piece text, bool add, uint32_t *out)
{
	uint64_t hash = kr_hash_bytes(text.text, text.length);

	KR_TABLE_FIND(*out, &s->element_table, hash,
		s->elements.at[*out].length == text.length &&
			memcmp(s->elements.at[*out].text, text.text, text.length) == 0);
	if (*out != KR_NONE || !add)
		return KR_OK;
	text.text = kr_arena_text(&s->texts, text.text, text.length);
	*out = s->elements.n;
	return text.text && kr_table_push(s->mem, &s->element_table, hash, &s->elements, text) ? KR_OK
											       : KR_NOMEM;
}

static struct kr_member *find_member(const struct kr_store *s, uint32_t set, uint32_t element)
{
	uint32_t id;

	KR_TABLE_FIND(id, &s->member_table, kr_hash_pair(set, element),
		s->members.at[id].set == set && s->members.at[id].element == element);
	return id == KR_NONE ? NULL : &s->members.at[id];
}

static enum kr_status add_member(struct kr_store *s, uint32_t set, struct kr_piece text)
{
	uint32_t element;

	KR_TRY(element_number(s, text, true, &element));
	if (find_member(s, set, element))
		return KR_OK;
	if (!kr_table_push(s->mem, &s->member_table, kr_hash_pair(set, element), &s->members,
		    (struct kr_member){set, element, 0}))
		return KR_NOMEM;
	s->set_sizes.at[set]++;
	return KR_OK;
}

bool kr_store_has(struct kr_store *s, kr_key k, struct kr_piece element)
{
	uint32_t number;

	(void)element_number(s, element, false, &number); /* without adding it cannot fail */
	return number != KR_NONE && find_member(s, s->cells[k.i].index, number);
}

/* A new set without elements. */
static enum kr_status new_set(struct kr_store *s, kr_key k, bool open)
{
	if (!kr_vec_push(s->mem, &s->set_sizes, 0) || !kr_vec_push(s->mem, &s->set_open, open))
		return KR_NOMEM;
	kr_store_put(s, k, (struct kr_cell){KR_CELL_SET, .index = s->set_sizes.n - 1});
	return KR_OK;
}

enum kr_status kr_store_put_element(struct kr_store *s, kr_key k, struct kr_piece element)
{
	KR_TRY(s->cells[k.i].kind == KR_CELL_SET ? KR_OK : new_set(s, k, false));
	KR_TRY(add_member(s, s->cells[k.i].index, element));
	kr_store_put(s, k, s->cells[k.i]); /* it may have been empty */
	return KR_OK;
}

bool kr_store_learns(const struct kr_store *s, kr_key k)
{
	const struct kr_cell *cell = &s->cells[k.i];

	if (!s->learned || !s->learned->learning || !kr_learned_grows(s->h, k))
		return false;
	return cell->kind == KR_CELL_UNTOLD || (cell->kind == KR_CELL_SET && s->set_open.at[cell->index]);
}

/* Whether the elements of the array are those of the set, each once. */
bool kr_store_set_equals(struct kr_store *s, uint32_t set, struct kr_piece array)
{
	uint32_t met = 0, element;
	struct kr_piece piece;

	s->reads++;
	for (size_t at = 1; kr_piece_next(array.text, array.length, &at, &piece); met++) {
		(void)element_number(s, piece, false, &element); /* without adding it cannot fail */

		struct kr_member *member = element == KR_NONE ? NULL : find_member(s, set, element);

		if (!member || member->reader == s->reads)
			return false;
		member->reader = s->reads;
	}
	return met == s->set_sizes.at[set];
}

/* A set key holds an array as given until it grows: other arrays with the same elements are equal. */
enum kr_status kr_store_open_set(struct kr_store *s, kr_key k)
{
	struct kr_cell *cell = &s->cells[k.i];
	const struct kr_value_entry *e =
		cell->kind == KR_CELL_VALUE ? kr_history_value(s->h, cell->value) : NULL;
	struct kr_piece piece;

	if (s->h->keys.at[k.i].kind != KR_KIND_SET)
		return KR_OK;
	if (cell->kind == KR_CELL_UNTOLD && kr_store_learns(s, k))
		return new_set(s, k, true);
	if (!e || (e->type != KR_VALUE_ABSENT && e->type != KR_VALUE_ARRAY))
		return KR_OK;
	enum kr_status status = new_set(s, k, false);
	for (size_t at = 1; status == KR_OK && e->type == KR_VALUE_ARRAY &&
		kr_piece_next(e->text, e->length, &at, &piece);)
		status = kr_store_put_element(s, k, piece);
	return status;
}

enum kr_status kr_store_add(struct kr_store *s, kr_key k, kr_value element, struct kr_err *err)
{
	KR_TRY(kr_store_open_set(s, k));
	struct kr_piece text;

	if (s->cells[k.i].kind != KR_CELL_SET)
		return kr_store_cannot_grow(s, k, "set", err);
	KR_TRY(kr_store_text_of(s, element, &text));
	KR_TRY(add_member(s, s->cells[k.i].index, text));
	kr_store_put(s, k, s->cells[k.i]); /* it may have been empty */
	return KR_OK;
}
