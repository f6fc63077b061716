/* A transaction must see what it has written itself: its operations are executed on a map of its own, one
 * after the other, and compared.
 *
 * A key that does not grow has the value written last. Of a key that grows, what was there before the
 * transaction is not known until it deletes the key or is shown it; till then a list must end with its own
 * elements, a set must have them, a mark must not be below them, and the key must be there. From then on it
 * is known altogether, and must be what is shown. Cost: linear in the operations and what they show;
 * predicate reads times the keys written. */
#include "verify/own.h"

#include <string.h>

static struct kr_own_key *find(struct kr_own *o, kr_key k)
{
	return o->place[k.i] ? &o->keys.at[o->place[k.i] - 1] : NULL;
}

static void forget(struct kr_own *o)
{
	while (o->keys.n > 0) {
		struct kr_own_key *own = &o->keys.at[--o->keys.n];
		o->place[own->key.i] = 0;
		kr_vec_done(o->store.mem, &own->elements);
	}
}

/* ---- executing ---- */

static enum kr_status start(struct kr_own *o, kr_key k)
{
	if (o->place[k.i])
		return KR_OK;
	KR_TRY(kr_vec_add(o->store.mem, &o->keys, (struct kr_own_key){.key = k}));
	o->place[k.i] = o->keys.n;
	if (kr_saw_grows(o->h, k))
		kr_store_write(&o->store, k, KR_ABSENT);
	return KR_OK;
}

static enum kr_status add_known(struct kr_own *o, const struct kr_operation *op, struct kr_err *err)
{
	int64_t before, after;
	char name[64];

	if (op->kind == KR_OP_APPEND)
		return kr_store_append(&o->store, op->key, op->a, err);
	if (op->kind == KR_OP_ADD)
		return kr_store_add(&o->store, op->key, op->a, err);
	if (op->kind == KR_OP_MAX)
		return kr_store_raise(&o->store, op->key, op->a, err);
	KR_TRY(kr_store_count(&o->store, op->key, &before, err));
	if (__builtin_add_overflow(before, kr_history_value(o->h, op->a)->integer, &after))
		return kr_err_set(err, KR_UNSUPPORTED, "%s goes beyond 64 bits",
			kr_history_brief(o->h, o->h->keys.at[op->key.i].name, name, sizeof name));
	kr_store_put(&o->store, op->key, (struct kr_cell){KR_CELL_INT, .integer = after});
	return KR_OK;
}

static enum kr_status apply(struct kr_own *o, const struct kr_operation *op, uint32_t i, struct kr_err *err)
{
	struct kr_written_row effect = kr_effect_at(o->h, op, i);
	KR_TRY(start(o, effect.key));
	struct kr_own_key *own = find(o, effect.key);
	own->value = effect.value;
	if (!kr_saw_grows(o->h, effect.key)) {
		own->known = true;
		return KR_OK;
	}
	if (effect.value.i != KR_NONE) {
		own->known = true;
		kr_store_write(&o->store, effect.key, effect.value);
		return KR_OK;
	}
	if (own->known)
		return add_known(o, op, err);
	return kr_vec_add(o->store.mem, &own->elements, op->a);
}

/* A key that grows was shown after additions of its own: from now on it is known. */
static void learn(struct kr_own *o, struct kr_own_key *own, const struct kr_saw *saw)
{
	if (own->known || saw->test != KR_SAW_VALUE || saw->value.i == KR_ABSENT.i)
		return;
	own->known = true;
	kr_store_write(&o->store, own->key, saw->value);
}

/* ---- comparing ---- */

static enum kr_status shows_known(struct kr_own *o, const struct kr_operation *op, kr_key k,
	const struct kr_saw *saw, bool *out, struct kr_err *err)
{
	const struct kr_history *h = o->h;
	const struct kr_value_entry *value;
	int64_t before, after;
	bool absent, holds = false;
	KR_TRY(kr_store_is(&o->store, k, KR_ABSENT, &absent));
	enum kr_status status = KR_OK;
	switch (saw->test) {
	case KR_SAW_UNTOLD:
		value = kr_history_value(h, op->b);
		status = kr_store_count(&o->store, k, &before, err);
		*out = status == KR_OK && value->type == KR_VALUE_INT &&
			!__builtin_add_overflow(before, kr_history_value(h, op->a)->integer, &after) &&
			after == value->integer;
		return status;
	case KR_SAW_VALUE:
		value = kr_history_value(h, saw->value);
		if (absent && op->kind == KR_OP_READ && h->keys.at[k.i].kind == KR_KIND_COUNTER &&
			value->type == KR_VALUE_INT && value->integer == 0) {
			*out = true;
			return KR_OK;
		}
		return kr_store_is(&o->store, k, saw->value, out);
	case KR_SAW_OTHER: *out = !absent; return KR_OK;
	default: break;
	}
	if (!absent)
		status = kr_store_matches(&o->store, &h->scans.at[saw->scan], k, &holds, err);
	*out = holds == (saw->test == KR_SAW_MATCH);
	return status;
}

/* Whether the array has the own elements: at its end, in order, or, of a set, anywhere. */
static enum kr_status has_own(const struct kr_own *o, const struct kr_own_key *own,
	const struct kr_value_entry *array, bool *out)
{
	bool list = o->h->keys.at[own->key.i].kind == KR_KIND_LIST;
	uint32_t n = own->elements.n, count = 0, position = 0;
	struct kr_piece piece;
	struct kr_str text;

	for (size_t at = 1; kr_piece_next(array->text, array->length, &at, &piece);)
		count++;
	*out = count >= n || !list;
	kr_str_init(&text, o->store.mem);
	for (uint32_t i = 0; i < n && *out; i++) {
		bool found = false;

		text.n = 0;
		kr_history_json_value(o->h, own->elements.at[i], &text);
		position = 0;
		for (size_t at = 1; kr_piece_next(array->text, array->length, &at, &piece) && !text.failed;
			position++)
			found |= (!list || position == count - n + i) && piece.length == text.n &&
				memcmp(piece.text, kr_str_text(&text), text.n) == 0;
		*out = found;
	}

	bool failed = text.failed;

	kr_str_done(&text);
	return failed ? KR_NOMEM : KR_OK;
}

/* Of a key that grows and is there, though what it has besides own elements is not known. */
static enum kr_status shows_own(struct kr_own *o, const struct kr_own_key *own, const struct kr_saw *saw,
	bool *out)
{
	const struct kr_history *h = o->h;
	const struct kr_scan *scan =
		saw->test == KR_SAW_MATCH || saw->test == KR_SAW_NO_MATCH ? &h->scans.at[saw->scan] : NULL;
	const struct kr_value_entry *value =
		kr_history_value(h, saw->test == KR_SAW_VALUE ? saw->value : KR_ABSENT);
	struct kr_operand any = {.type = KR_VALUE_ARRAY, .text = {"[]", 2}};
	uint8_t kind = h->keys.at[own->key.i].kind;
	bool number = kind == KR_KIND_COUNTER || kind == KR_KIND_MARK;

	*out = true;
	if (saw->test == KR_SAW_UNTOLD || saw->test == KR_SAW_OTHER)
		return KR_OK;
	if (scan) {
		o->vague |= number ? kr_where_of_values(h, scan) : kr_where_of_elements(h, scan);
		*out = number || kr_where_of_elements(h, scan) ||
			kr_where_holds_of(h, scan, own->key, &any) == (saw->test == KR_SAW_MATCH);
		return KR_OK;
	}
	if (number) {
		*out = value->type == KR_VALUE_INT;
		for (uint32_t i = 0; i < own->elements.n && kind == KR_KIND_MARK; i++)
			*out &= value->integer >= kr_history_value(h, own->elements.at[i])->integer;
		return KR_OK;
	}
	*out = value->type == KR_VALUE_ARRAY;
	return *out ? has_own(o, own, value, out) : KR_OK;
}

static enum kr_status shows(struct kr_own *o, const struct kr_own_key *own, const struct kr_operation *op,
	const struct kr_saw *saw, bool *out, struct kr_err *err)
{
	if (!kr_saw_grows(o->h, own->key))
		return kr_saw_allows(o->h, saw, own->key, own->value, out, err);
	return own->known ? shows_known(o, op, own->key, saw, out, err) : shows_own(o, own, saw, out);
}

/* ---- asking ---- */

enum kr_status kr_own_agrees_at(struct kr_own *o, kr_txn t, uint32_t op, kr_key k, bool *wrote, bool *out,
	struct kr_err *err)
{
	const struct kr_operation *at = NULL;
	struct kr_own_key *own = NULL;
	struct kr_saw saw = {0};
	enum kr_status status = KR_OK;

	for (uint32_t index = 0; index <= op && status == KR_OK; index++) {
		at = &o->h->ops.at[kr_history_op(o->h, t, index).i];
		saw = kr_saw_of(o->h, at, k);
		own = find(o, k);
		if (index == op)
			break;
		if (own)
			learn(o, own, &saw);
		for (uint32_t i = 0; i < kr_effect_count(o->h, at) && status == KR_OK; i++)
			if (kr_effect_at(o->h, at, i).key.i == k.i)
				status = apply(o, at, i, err);
		if (status == KR_OK)
			status = kr_ctx_tick(o->ctx);
	}
	*wrote = own != NULL;
	*out = true;
	if (status == KR_OK && own && saw.test != KR_SAW_NOTHING)
		status = shows(o, own, at, &saw, out, err);
	forget(o);
	return status;
}

/* What an operation shows of a key that was written before. */
static enum kr_status look_at(struct kr_own *o, struct kr_own_key *own, const struct kr_operation *op,
	bool *out, struct kr_err *err)
{
	struct kr_saw saw = kr_saw_of(o->h, op, own->key);

	if (saw.test == KR_SAW_NOTHING)
		return KR_OK;
	KR_TRY(shows(o, own, op, &saw, out, err));
	learn(o, own, &saw);
	return kr_ctx_tick(o->ctx);
}

enum kr_status kr_own_agrees(struct kr_own *o, kr_txn t, bool *out, uint32_t *op, kr_key *key,
	struct kr_err *err)
{
	enum kr_status status = KR_OK;

	*out = true;
	for (uint32_t index = 0; index < o->h->txns.at[t.i].op_count && status == KR_OK && *out; index++) {
		const struct kr_operation *at = &o->h->ops.at[kr_history_op(o->h, t, index).i];
		uint32_t effects = kr_effect_count(o->h, at), first = 0, end = o->keys.n;

		if (!kr_op_scans(at)) {
			end = o->place[at->key.i];
			first = end ? end - 1 : 0;
		}
		*op = index;
		for (uint32_t i = first; i < end && status == KR_OK && *out; i++) {
			*key = o->keys.at[i].key;
			status = look_at(o, &o->keys.at[i], at, out, err);
		}
		for (uint32_t i = 0; i < effects && status == KR_OK; i++)
			status = apply(o, at, i, err);
		if (status == KR_OK)
			status = kr_ctx_tick(o->ctx);
	}
	forget(o);
	return status;
}

/* ---- life ---- */

enum kr_status kr_own_init(struct kr_own *o, struct kr_ctx *ctx, const struct kr_history *h)
{
	*o = (struct kr_own){.ctx = ctx, .h = h};
	KR_TRY(kr_store_init(&o->store, ctx, h, false));
	o->place = kr_mem_alloc(&ctx->mem, h->keys.n, sizeof *o->place);
	if (o->place)
		return KR_OK;
	kr_store_done(&o->store);
	return KR_NOMEM;
}

void kr_own_done(struct kr_own *o)
{
	struct kr_mem *mem = o->store.mem;

	forget(o);
	kr_vec_done(mem, &o->keys);
	kr_mem_free(mem, o->place, o->h->keys.n, sizeof *o->place);
	kr_store_done(&o->store);
}
