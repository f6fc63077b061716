/* The meaning of single operations, as the trace format defines them: which value of a key an operation
 * proves to have been there, and which it left. An operation that did not take place (a failed insert or cas,
 * a delete that found nothing) writes nothing, but still proves something. A delete that does not tell
 * whether it found the key leaves it absent either way. */
#include "verify/saw.h"

static const struct kr_scan *scan_of(const struct kr_history *h, const struct kr_operation *op)
{
	return kr_op_scans(op) ? &h->scans.at[op->scan] : NULL;
}

static bool is_writing(const struct kr_operation *op)
{
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_WRITE:
	case KR_OP_INC:
	case KR_OP_APPEND:
	case KR_OP_ADD:
	case KR_OP_MAX:
	case KR_OP_UPDATE: return true;
	case KR_OP_INSERT:
	case KR_OP_CAS: return op->flags & KR_OPF_DONE;
	case KR_OP_DELETE: return !(op->flags & KR_OPF_KNOWN) || op->flags & KR_OPF_DONE;
	default: return false;
	}
}

/* ---- what was written ---- */

uint32_t kr_effect_count(const struct kr_history *h, const struct kr_operation *op)
{
	const struct kr_scan *scan = scan_of(h, op);

	if (!is_writing(op))
		return 0;
	return scan ? scan->row_count : 1;
}

struct kr_written_row kr_effect_at(const struct kr_history *h, const struct kr_operation *op, uint32_t i)
{
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_WRITE:
	case KR_OP_INSERT: return (struct kr_written_row){op->key, op->a};
	case KR_OP_CAS: return (struct kr_written_row){op->key, op->b};
	case KR_OP_DELETE: return (struct kr_written_row){op->key, KR_ABSENT};
	case KR_OP_UPDATE: {
		const struct kr_row *row = &h->rows.at[scan_of(h, op)->row_first + i];
		return (struct kr_written_row){row->key, row->value};
	}
	case KR_OP_INC:
		if (op->flags & KR_OPF_KNOWN)
			return (struct kr_written_row){op->key, op->b};
		break;
	default: break;
	}
	return (struct kr_written_row){op->key, {KR_NONE}};
}

bool kr_effects_next(struct kr_effects *e)
{
	const struct kr_transaction *txn = &e->h->txns.at[e->t.i];

	for (e->at++; e->op < txn->op_count; e->op++, e->at = 0) {
		const struct kr_operation *op = &e->h->ops.at[txn->op_first + e->op];
		if (e->at >= kr_effect_count(e->h, op))
			continue;
		e->row = kr_effect_at(e->h, op, e->at);
		return true;
	}
	return false;
}

/* ---- what was seen ---- */

uint32_t kr_saw_count(const struct kr_history *h, const struct kr_operation *op)
{
	const struct kr_scan *scan = scan_of(h, op);

	return scan ? scan->row_count : 1;
}

kr_key kr_saw_key(const struct kr_history *h, const struct kr_operation *op, uint32_t i)
{
	const struct kr_scan *scan = scan_of(h, op);

	return scan ? h->rows.at[scan->row_first + i].key : op->key;
}

static const struct kr_row *find_row(const struct kr_history *h, const struct kr_scan *scan, kr_key key)
{
	const struct kr_row *rows = h->rows.at + scan->row_first;

	for (uint32_t i = 0; i < scan->row_count; i++)
		if (rows[i].key.i == key.i)
			return &rows[i];
	return NULL;
}

/* Whether the range looked at the key: between the bounds, and, where the limit cut it off, not beyond the
 * last key returned. */
static bool in_range(const struct kr_history *h, const struct kr_scan *scan, kr_key key)
{
	kr_value name = h->keys.at[key.i].name;

	if (!kr_where_in_bounds(h, scan, name))
		return false;
	if (scan->limit < 0 || scan->row_count < (uint64_t)scan->limit)
		return true;
	if (scan->row_count == 0)
		return false;

	kr_key last = h->rows.at[scan->row_first + scan->row_count - 1].key;
	int side = kr_history_compare_keys(h, name, h->keys.at[last.i].name);

	return scan->reverse ? side >= 0 : side <= 0;
}

/* An update's row tells the value written, not the one that was there. Without conditions on values "it
 * matched" is "it was present". */
static struct kr_saw saw_in_row(const struct kr_history *h, const struct kr_operation *op,
	const struct kr_row *row)
{
	if (op->kind != KR_OP_UPDATE)
		return (struct kr_saw){.test = KR_SAW_VALUE, .value = row->value};
	if (!kr_where_of_values(h, scan_of(h, op)))
		return (struct kr_saw){.test = KR_SAW_OTHER, .value = KR_ABSENT};
	return (struct kr_saw){.test = KR_SAW_MATCH, .scan = op->scan};
}

struct kr_saw kr_saw_missed(const struct kr_history *h, const struct kr_operation *op, kr_key key)
{
	const struct kr_scan *scan = scan_of(h, op);
	bool looked = op->kind == KR_OP_RANGE ? in_range(h, scan, key) : kr_where_has_prefix(h, scan, key);

	if (!looked)
		return (struct kr_saw){.test = KR_SAW_NOTHING, .predicate = true};
	if (op->kind != KR_OP_RANGE && kr_where_of_values(h, scan))
		return (struct kr_saw){.test = KR_SAW_NO_MATCH, .scan = op->scan, .predicate = true};
	return (struct kr_saw){.test = KR_SAW_VALUE, .value = KR_ABSENT, .predicate = true};
}

static struct kr_saw saw_in_scan(const struct kr_history *h, const struct kr_operation *op, kr_key key)
{
	const struct kr_row *row = find_row(h, scan_of(h, op), key);

	return row ? saw_in_row(h, op, row) : kr_saw_missed(h, op, key);
}

bool kr_saw_nothing_in(const struct kr_history *h, kr_value value)
{
	const struct kr_value_entry *e = kr_history_value(h, value);

	return e->type == KR_VALUE_ARRAY && e->length == 2;
}

struct kr_saw kr_saw_of(const struct kr_history *h, const struct kr_operation *op, kr_key key)
{
	const struct kr_saw nothing = {.test = KR_SAW_NOTHING};

	if (kr_op_scans(op))
		return saw_in_scan(h, op, key);
	if (op->key.i != key.i)
		return nothing;
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ:
		return op->flags & KR_OPF_KNOWN ? (struct kr_saw){.test = KR_SAW_VALUE, .value = op->a}
						: nothing;
	case KR_OP_DELETE:
		if (!(op->flags & KR_OPF_KNOWN))
			return nothing;
		return (struct kr_saw){.test = op->flags & KR_OPF_DONE ? KR_SAW_OTHER : KR_SAW_VALUE,
			.value = KR_ABSENT};
	case KR_OP_INSERT:
		return (struct kr_saw){.test = op->flags & KR_OPF_DONE ? KR_SAW_VALUE : KR_SAW_OTHER,
			.value = KR_ABSENT};
	case KR_OP_CAS:
		return (struct kr_saw){.test = op->flags & KR_OPF_DONE ? KR_SAW_VALUE : KR_SAW_OTHER,
			.value = op->a};
	case KR_OP_INC: return op->flags & KR_OPF_KNOWN ? (struct kr_saw){.test = KR_SAW_UNTOLD} : nothing;
	default: return nothing;
	}
}

struct kr_saw kr_saw_at(const struct kr_history *h, const struct kr_operation *op, uint32_t i)
{
	return !kr_op_scans(op) ? kr_saw_of(h, op, op->key)
				: saw_in_row(h, op, &h->rows.at[scan_of(h, op)->row_first + i]);
}

enum kr_status kr_saw_allows(const struct kr_history *h, const struct kr_saw *saw, kr_key key, kr_value value,
	bool *out, struct kr_err *err)
{
	bool holds = false;

	switch (saw->test) {
	case KR_SAW_NOTHING: *out = false; break;
	case KR_SAW_VALUE: *out = value.i == saw->value.i; break;
	case KR_SAW_OTHER: *out = value.i != saw->value.i; break;
	case KR_SAW_MATCH:
	case KR_SAW_NO_MATCH:
		if (value.i != KR_ABSENT.i)
			KR_TRY(kr_where_holds(h, &h->scans.at[saw->scan], key, value, &holds, err));
		*out = holds == (saw->test == KR_SAW_MATCH);
		break;
	case KR_SAW_UNTOLD:
		return kr_err_set(err, KR_UNSUPPORTED, "what was seen of a counter is not checked yet");
	}
	return KR_OK;
}

/* ---- rows ---- */

/* Whether an empty one is an absent one. */
static bool grows(const struct kr_key_entry *key)
{
	return key->kind == KR_KIND_LIST || key->kind == KR_KIND_SET;
}

/* Whether the i-th row of a range can stand there. */
static bool has_place(const struct kr_history *h, const struct kr_scan *scan, uint32_t i)
{
	const struct kr_row *rows = &h->rows.at[scan->row_first];
	kr_value name = h->keys.at[rows[i].key.i].name;
	int step = i == 0 ? 1 : kr_history_compare_keys(h, name, h->keys.at[rows[i - 1].key.i].name);

	if (scan->limit >= 0 && i >= (uint64_t)scan->limit)
		return false;
	if (!kr_where_in_bounds(h, scan, name))
		return false;
	return i == 0 || (scan->reverse ? step < 0 : step > 0);
}

enum kr_status kr_saw_row_fits(const struct kr_history *h, const struct kr_operation *op, uint32_t i,
	bool *out, struct kr_err *err)
{
	const struct kr_scan *scan = scan_of(h, op);
	const struct kr_row *row = &h->rows.at[scan->row_first + i];

	*out = row->value.i != KR_ABSENT.i &&
		!(grows(&h->keys.at[row->key.i]) && kr_saw_nothing_in(h, row->value));
	if (!*out)
		return KR_OK;
	if (op->kind == KR_OP_SCAN)
		return kr_where_holds(h, scan, row->key, row->value, out, err);
	/* an update's rows have the value written */
	*out = op->kind == KR_OP_RANGE ? has_place(h, scan, i) : kr_where_has_prefix(h, scan, row->key);
	return KR_OK;
}
