/* Untold initial lists that reads pin down: a list that nobody deletes only grows, so what a committed
 * transaction read begins with the initial one, and an element that nobody who may have taken effect appended
 * is an initial one. Where the shortest list read ends with such an element, or is empty, it is the initial
 * one. Cost: linear in the operations, and in the texts of the lists read and of the elements appended. */
#include "verify/saw.h"
#include "verify/store.h"

#include <string.h>

struct pin {
	kr_value value;        /* the shortest list read, KR_NONE: none, or it tells nothing */
	uint32_t count, wrote; /* its elements; 1 + the transaction that last wrote the key */
	struct kr_piece last;
	bool deleted;
};

static void look_at(const struct kr_store *s, struct pin *pin, kr_value value)
{
	const struct kr_value_entry *e = kr_history_value(s->h, value);
	struct kr_piece last = {NULL, 0};
	uint32_t count = 0;

	if (e->type != KR_VALUE_ARRAY && e->type != KR_VALUE_ABSENT)
		return;
	for (size_t at = 1; e->type == KR_VALUE_ARRAY && kr_piece_next(e->text, e->length, &at, &last);)
		count++;
	if (pin->value.i != KR_NONE && count >= pin->count)
		return;
	pin->value = count > 0 ? value : KR_ABSENT;
	pin->count = count;
	pin->last = last;
}

static void look_at_op(const struct kr_store *s, struct pin *pins, kr_txn t, const struct kr_operation *op)
{
	bool committed = s->h->txns.at[t.i].status == KR_COMMITTED;

	for (uint32_t i = 0; committed && i < kr_saw_count(s->h, op); i++) {
		kr_key k = kr_saw_key(s->h, op, i);
		struct kr_saw saw = kr_saw_at(s->h, op, i);

		if (k.i != KR_NONE && saw.test == KR_SAW_VALUE && pins[k.i].wrote != t.i + 1)
			look_at(s, &pins[k.i], saw.value);
	}
	for (uint32_t i = 0; i < kr_effect_count(s->h, op); i++) {
		struct kr_written_row effect = kr_effect_at(s->h, op, i);

		pins[effect.key.i].wrote = t.i + 1;
		pins[effect.key.i].deleted |= op->kind == KR_OP_DELETE;
	}
}

/* An element that may have been appended later tells nothing. */
static enum kr_status unpin(struct kr_store *s, struct pin *pins, const struct kr_operation *op)
{
	struct pin *pin = op->kind == KR_OP_APPEND ? &pins[op->key.i] : NULL;
	struct kr_piece text;

	if (!pin || pin->value.i == KR_NONE || pin->count == 0)
		return KR_OK;
	enum kr_status status = kr_store_text_of(s, op->a, &text);
	if (status == KR_OK && text.length == pin->last.length &&
		memcmp(text.text, pin->last.text, text.length) == 0)
		pin->value.i = KR_NONE;
	return status;
}

static enum kr_status each_op(struct kr_store *s, struct pin *pins, bool first)
{
	const struct kr_history *h = s->h;
	enum kr_status status = KR_OK;

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		for (uint32_t i = 0; i < h->txns.at[t.i].op_count && h->txns.at[t.i].status != KR_ABORTED &&
			status == KR_OK;
			i++) {
			const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];

			if (first)
				look_at_op(s, pins, t, op);
			else
				status = unpin(s, pins, op);
		}
	}
	return status;
}

enum kr_status kr_store_pin_lists(struct kr_store *s)
{
	uint32_t n = s->h->keys.n;
	struct pin *pins = kr_mem_alloc(s->mem, n, sizeof *pins);
	enum kr_status status = KR_NOMEM;

	for (uint32_t k = 0; pins && k < n; k++)
		pins[k].value.i = KR_NONE;
	if (pins)
		status = each_op(s, pins, true);
	if (status == KR_OK)
		status = each_op(s, pins, false);
	for (kr_key k = {0}; status == KR_OK && k.i < n; k.i++)
		if (s->h->keys.at[k.i].kind == KR_KIND_LIST && pins[k.i].value.i != KR_NONE &&
			!pins[k.i].deleted)
			kr_store_write(s, k, pins[k.i].value);
	kr_mem_free(s->mem, pins, n, sizeof *pins);
	return status;
}
