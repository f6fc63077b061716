/* Internal inconsistency of a key that grows: the transaction's own operations are executed up to the one at hand. Until it deletes the key or is shown it, what it had left
 * is known but for what was there before it: then a list must end with its own elements, a set must have them, and the key must be there. From then on it is known
 * altogether, and must be what is shown. Cost: linear in the transaction and what it shows. */
#include <string.h>

#include "verify/claim.h"
#include "verify/store.h"

struct own {
	const struct kr_claim *c;
	struct kr_store store;
	bool wrote, known;
	KR_VEC(kr_value) elements; /* own ones, while not known */
};

static enum kr_status apply(struct own *o, const struct kr_operation *op)
{
	const struct kr_claim *c = o->c;
	struct kr_effect effect = kr_effect_at(c->v->h, op, 0);
	int64_t before, after, delta = op->kind == KR_OP_INC ? kr_history_value(c->v->h, op->a)->integer : 0;
	enum kr_status status;

	o->wrote = true;
	if (op->kind == KR_OP_DELETE || (op->kind == KR_OP_INC && op->flags & KR_OPF_KNOWN)) {
		o->known = true;
		kr_store_write(&o->store, c->key, effect.value);
		return KR_OK;
	}
	if (!o->known)
		return kr_vec_push(o->store.mem, &o->elements, op->a) ? KR_OK : KR_NOMEM;
	if (op->kind == KR_OP_APPEND)
		return kr_store_append(&o->store, c->key, op->a, c->v->err);
	if (op->kind == KR_OP_ADD)
		return kr_store_add(&o->store, c->key, op->a, c->v->err);
	status = kr_store_count(&o->store, c->key, &before, c->v->err);
	if (status != KR_OK)
		return status;
	if (__builtin_add_overflow(before, delta, &after))
		return kr_err_set(c->v->err, KR_UNSUPPORTED, "%s goes beyond 64 bits", c->key_name.text);
	kr_store_put(&o->store, c->key, (struct kr_cell){KR_CELL_INT, .integer = after});
	return KR_OK;
}

static enum kr_status replay(struct own *o)
{
	const struct kr_claim *c = o->c;
	const struct kr_history *h = c->v->h;
	enum kr_status status = KR_OK;

	for (uint32_t index = 0; index < c->op && status == KR_OK; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, c->txn, index).i];
		struct kr_saw saw = kr_saw_of(h, op, c->key);

		if (o->wrote && !o->known && saw.test == KR_SAW_VALUE && saw.value.i != KR_ABSENT.i) {
			o->known = true;
			kr_store_write(&o->store, c->key, saw.value);
		}
		if (op->key.i == c->key.i && kr_effect_count(h, op) > 0)
			status = apply(o, op);
	}
	return status;
}

static enum kr_status shows_known(struct own *o, bool *out)
{
	const struct kr_claim *c = o->c;
	const struct kr_history *h = c->v->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, c->txn, c->op).i];
	const struct kr_value_entry *value;
	int64_t before, after;
	bool absent, holds = false;
	enum kr_status status = kr_store_is(&o->store, c->key, KR_ABSENT, &absent);

	if (status != KR_OK)
		return status;
	switch (c->saw.test) {
	case KR_SAW_UNTOLD:
		value = kr_history_value(h, op->b);
		status = kr_store_count(&o->store, c->key, &before, c->v->err);
		*out = status == KR_OK && value->type == KR_VALUE_INT && !__builtin_add_overflow(before, kr_history_value(h, op->a)->integer, &after) &&
			after == value->integer;
		return status;
	case KR_SAW_VALUE:
		value = kr_history_value(h, c->saw.value);
		if (absent && op->kind == KR_OP_READ && h->keys.at[c->key.i].kind == KR_KIND_COUNTER && value->type == KR_VALUE_INT && value->integer == 0) {
			*out = true;
			return KR_OK;
		}
		return kr_store_is(&o->store, c->key, c->saw.value, out);
	case KR_SAW_OTHER: *out = !absent; return KR_OK;
	default: break;
	}
	if (!absent)
		status = kr_store_matches(&o->store, &h->scans.at[c->saw.scan], c->key, &holds, c->v->err);
	*out = holds == (c->saw.test == KR_SAW_MATCH);
	return status;
}

/* Whether the array has the own elements: at its end, in order, or, of a set, anywhere. */
static enum kr_status has_own(const struct own *o, const struct kr_value_entry *array, bool *out)
{
	const struct kr_history *h = o->c->v->h;
	bool list = h->keys.at[o->c->key.i].kind == KR_KIND_LIST;
	uint32_t own = o->elements.n, count = 0, position = 0;
	struct kr_piece piece;
	struct kr_str text;

	for (size_t at = 1; kr_piece_next(array->text, array->length, &at, &piece);)
		count++;
	*out = count >= own || !list;
	kr_str_init(&text, o->store.mem);
	for (uint32_t i = 0; i < own && *out; i++) {
		bool found = false;

		text.n = 0;
		kr_history_json_value(h, o->elements.at[i], &text);
		position = 0;
		for (size_t at = 1; kr_piece_next(array->text, array->length, &at, &piece) && !text.failed; position++)
			found |= (!list || position == count - own + i) && piece.length == text.n && memcmp(piece.text, kr_str_text(&text), text.n) == 0;
		*out = found;
	}

	bool failed = text.failed;

	kr_str_done(&text);
	return failed ? KR_NOMEM : KR_OK;
}

static enum kr_status shows_own(const struct own *o, bool *out)
{
	const struct kr_claim *c = o->c;
	const struct kr_history *h = c->v->h;
	const struct kr_value_entry *value = kr_history_value(h, c->saw.test == KR_SAW_VALUE ? c->saw.value : KR_ABSENT);

	*out = true;
	if (c->saw.test == KR_SAW_UNTOLD || c->saw.test == KR_SAW_OTHER || c->saw.test == KR_SAW_MATCH)
		return KR_OK;
	if (c->saw.test == KR_SAW_NO_MATCH) {
		const struct kr_scan *scan = &h->scans.at[c->saw.scan];
		*out = kr_where_of_values(h, scan) || !kr_where_has_prefix(h, scan, c->key);
		return KR_OK;
	}
	if (h->keys.at[c->key.i].kind == KR_KIND_COUNTER) {
		*out = value->type == KR_VALUE_INT;
		return KR_OK;
	}
	*out = value->type == KR_VALUE_ARRAY;
	return *out ? has_own(o, value, out) : KR_OK;
}

static enum kr_status judge(struct own *o)
{
	const struct kr_claim *c = o->c;
	bool agrees = true;
	enum kr_status status = replay(o);

	if (status == KR_OK && !o->wrote)
		return kr_err_set(c->v->err, KR_BAD, "%s had not written %s before operation %u", c->txn_name.text, c->key_name.text, (unsigned)c->op);
	if (status == KR_OK)
		status = o->known ? shows_known(o, &agrees) : shows_own(o, &agrees);
	if (status != KR_OK || !agrees)
		return status;
	return kr_err_set(c->v->err, KR_BAD, "operation %u of %s shows %s as it had left it", (unsigned)c->op, c->txn_name.text, c->key_name.text);
}

enum kr_status kr_claim_internal(const struct kr_claim *c)
{
	struct own o = {.c = c};
	enum kr_status status = kr_store_init(&o.store, c->v->ctx, c->v->h, false);

	if (status != KR_OK)
		return status;
	kr_store_write(&o.store, c->key, KR_ABSENT);
	status = judge(&o);
	kr_vec_done(o.store.mem, &o.elements);
	kr_store_done(&o.store);
	return status;
}
