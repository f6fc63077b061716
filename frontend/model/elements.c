/* Each text is looked up by its bytes, and each array is walked once. Linear in the text of the arrays and
 * of what is named. */
#include "frontend/model/elements.h"

#include "base/hash.h"
#include "frontend/where.h"

#include <string.h>

void kr_elements_init(struct kr_elements *e, struct kr_mem *mem, const struct kr_history *h)
{
	*e = (struct kr_elements){.mem = mem, .h = h};
	kr_arena_init(&e->arena, mem);
	kr_str_init(&e->text, mem);
}

void kr_elements_done(struct kr_elements *e)
{
	if (!e->mem)
		return;
	kr_table_done(e->mem, &e->table);
	kr_vec_done(e->mem, &e->texts);
	kr_vec_done(e->mem, &e->ids);
	kr_vec_done(e->mem, &e->walked);
	kr_str_done(&e->text);
	kr_arena_done(&e->arena);
}

static uint64_t text_hash(struct kr_piece text) { return kr_hash_bytes(text.text, text.length); }

kr_item kr_elements_find(const struct kr_elements *e, struct kr_piece text)
{
	uint32_t i;

	KR_TABLE_FIND(i, &e->table, text_hash(text),
		e->texts.at[i].length == text.length &&
			memcmp(e->texts.at[i].text, text.text, text.length) == 0);
	return i == KR_NONE ? (kr_item){KR_NONE} : e->ids.at[i];
}

static bool add(struct kr_elements *e, struct kr_piece text, kr_item id)
{
	if (!kr_table_reserve(e->mem, &e->table) || !kr_vec_push(e->mem, &e->texts, text) ||
		!kr_vec_push(e->mem, &e->ids, id))
		return false;
	kr_table_insert(&e->table, text_hash(text), e->texts.n - 1);
	return true;
}

enum kr_status kr_elements_name(struct kr_elements *e, kr_value value)
{
	e->text.n = 0;
	kr_history_json_value(e->h, value, &e->text);
	struct kr_piece text = (struct kr_piece){kr_str_text(&e->text), e->text.n};
	if (e->text.failed)
		return KR_NOMEM;
	if (kr_elements_find(e, text).i != KR_NONE)
		return KR_OK;
	text.text = kr_arena_text(&e->arena, text.text, text.length);
	return text.text && add(e, text, (kr_item){value.i}) ? KR_OK : KR_NOMEM;
}

static kr_item get_element(struct kr_elements *e, struct kr_piece text)
{
	kr_item id = kr_elements_find(e, text);

	if (id.i != KR_NONE)
		return id;
	id.i = e->h->values.n + e->strange++;
	return add(e, text, id) ? id : (kr_item){KR_NONE};
}

enum kr_status kr_elements_split(struct kr_elements *e, kr_value array, struct kr_items *out)
{
	const struct kr_value_entry *entry = kr_history_value(e->h, array);
	struct kr_piece piece;

	*out = (struct kr_items){.n = 0};
	if (entry->type != KR_VALUE_ARRAY || entry->length == 2)
		return KR_OK;
	if (!e->arrays && !(e->arrays = KR_NEW_ARRAY(&e->arena, struct kr_items, e->h->values.n)))
		return KR_NOMEM;
	*out = e->arrays[array.i];
	if (out->at)
		return KR_OK;
	kr_vec_clear(&e->walked);
	for (size_t i = 1; kr_piece_next(entry->text, entry->length, &i, &piece);) {
		kr_item id = get_element(e, piece);
		if (id.i == KR_NONE || !kr_vec_push(e->mem, &e->walked, id))
			return KR_NOMEM;
	}
	kr_item *at = KR_NEW_ARRAY(&e->arena, kr_item, e->walked.n);
	if (!at)
		return KR_NOMEM;
	memcpy(at, e->walked.at, e->walked.n * sizeof *at);
	*out = e->arrays[array.i] = (struct kr_items){at, e->walked.n, false};
	return KR_OK;
}

enum kr_status kr_elements_name_added(struct kr_elements *e, struct kr_ctx *ctx)
{
	struct kr_write write;

	for (uint32_t i = 0; i < e->h->ops.n; i++) {
		KR_TRY(kr_ctx_tick(ctx));
		if (kr_write_at(e->h, &e->h->ops.at[i], 0, &write) && write.how == KR_ADD &&
			kr_datatype_of(e->h->keys.at[write.key.i].kind)->parts)
			KR_TRY(kr_elements_name(e, write.value));
	}
	return KR_OK;
}

static void print_element(const struct kr_elements *e, kr_item item, struct kr_str *out)
{
	if (item.i < e->h->values.n) {
		kr_history_json_value(e->h, (kr_value){item.i}, out);
		return;
	}
	for (uint32_t i = 0; i < e->texts.n; i++)
		if (e->ids.at[i].i == item.i)
			kr_str_add_bytes(out, e->texts.at[i].text, e->texts.at[i].length);
}

/* ---- states ---- */

enum kr_status kr_told_state(struct kr_elements *e, const struct kr_datatype *type, kr_value value,
	struct kr_state *out, bool *fits)
{
	*out = (struct kr_state){.present = value.i != KR_ABSENT.i, .value = value};
	*fits = true;
	if (type->shown == KR_VALUE_ABSENT)
		return KR_OK;

	const struct kr_value_entry *entry = kr_history_value(e->h, value);

	*fits = entry->type == KR_VALUE_ABSENT || entry->type == type->shown;
	if (type->shown == KR_VALUE_INT && *fits && out->present)
		out->number = entry->integer;
	if (type->shown == KR_VALUE_ARRAY && *fits) {
		KR_TRY(kr_elements_split(e, value, &out->items));
		out->present = out->items.n > 0;
	}
	return KR_OK;
}

struct kr_effect kr_told_addition(const struct kr_history *h, const struct kr_datatype *type,
	const struct kr_write *write)
{
	struct kr_effect effect = {KR_ADD, {.present = true}};

	if (type->shown == KR_VALUE_INT)
		effect.state.number = kr_history_value(h, write->value)->integer;
	else
		effect.state.items = (struct kr_items){&write->item, 1, false};
	return effect;
}

enum kr_status kr_told_want(struct kr_elements *e, const struct kr_datatype *type, kr_value value, bool read,
	struct kr_want *out)
{
	bool fits;

	*out = (struct kr_want){.any = false};
	enum kr_status status = kr_told_state(e, type, value, &out->is, &fits);
	out->or_absent = read && type->zero_is_absent && out->is.present && out->is.number == 0;
	if (!fits)
		*out = (struct kr_want){.any = true, .negated = true};
	return status;
}

void kr_items_print(const struct kr_elements *e, const struct kr_items *items, size_t most,
	struct kr_str *out)
{
	kr_str_add(out, "[");
	for (uint32_t i = 0; i < items->n && out->n < most; i++) {
		kr_str_add(out, i ? "," : "");
		print_element(e, items->at[i], out);
	}
	kr_str_add(out, "]");
}

enum kr_status kr_state_meets(const struct kr_elements *e, const struct kr_datatype *type,
	const struct kr_scan *scan, kr_key k, const struct kr_state *s, bool *out, struct kr_err *err)
{
	struct kr_operand operand = {.type = KR_VALUE_INT, .integer = s->number};
	struct kr_str text;

	if (type->shown == KR_VALUE_INT) {
		*out = kr_where_holds_of(e->h, scan, k, &operand);
		return KR_OK;
	}
	if (type->kind != KR_KIND_LIST)
		return kr_where_holds(e->h, scan, k, type->kind == KR_KIND_SET ? KR_UNTOLD : s->value, out,
			err);
	kr_str_init(&text, e->mem);
	kr_items_print(e, &s->items, SIZE_MAX, &text);
	enum kr_status status = text.failed ? KR_NOMEM : KR_OK;
	operand = (struct kr_operand){.type = KR_VALUE_ARRAY, .text = {kr_str_text(&text), text.n}};
	*out = !status && kr_where_holds_of(e->h, scan, k, &operand);
	kr_str_done(&text);
	return status;
}
