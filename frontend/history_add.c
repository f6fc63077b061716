/* The history's builder: appending transactions.
 *
 * What a transaction alone, or it and those before it, can get wrong (its id, its place in its session, the
 * kinds of its keys) is checked when it is added, before anything changes, so that a lenient reader can leave
 * it out and go on. A new kind is set with a mark while the transaction is being checked; the mark goes, or
 * the kind, once it is known to be good or bad. Cost: O(1) per operation. */
#include "frontend/history.h"

#include "frontend/event.h"
#include "frontend/history_count.h"
#include "frontend/json.h"
#include "frontend/model/datatype.h"

#include <jansson.h>
#include <string.h>

#define NEW_KIND 0x80u /* mark in keys[].kind: set by the transaction that is being checked */

void kr_history_begin(struct kr_history *h)
{
	h->draft = (struct kr_history_mark){h->ops.n, h->scans.n, h->rows.n, h->conds.n, h->attrs.n,
		h->struck.n, h->seen.n};
}

void kr_history_take_back(struct kr_history *h)
{
	h->ops.n = h->draft.ops;
	h->scans.n = h->draft.scans;
	h->rows.n = h->draft.rows;
	h->conds.n = h->draft.conds;
	h->attrs.n = h->draft.attrs;
	h->struck.n = h->draft.struck;
	h->seen.n = h->draft.seen;
}

void kr_history_drop(struct kr_history *h)
{
	kr_history_take_back(h);
	h->position++;
}

static enum kr_status default_id(struct kr_history *h, uint32_t position, kr_value *id)
{
	char text[16] = "#";
	char digits[12];
	size_t n = 0, length = 1;

	do
		digits[n++] = (char)('0' + position % 10);
	while ((position /= 10) != 0);
	while (n > 0)
		text[length++] = digits[--n];
	*id = kr_history_text(h, KR_VALUE_STRING, text, length);
	return id->i == KR_NONE ? KR_NOMEM : KR_OK;
}

uint32_t kr_history_default_number(const struct kr_history *h, kr_txn t)
{
	const struct kr_value_entry *id = kr_history_value(h, h->txns.at[t.i].id);
	uint64_t n = 0;

	if (id->type != KR_VALUE_STRING || id->length < 2 || id->length > 11 || id->text[0] != '#' ||
		id->text[1] == '0')
		return 0;
	for (uint32_t i = 1; i < id->length; i++) {
		if (id->text[i] < '0' || id->text[i] > '9')
			return 0;
		n = 10 * n + (uint64_t)(id->text[i] - '0');
	}
	return n <= UINT32_MAX ? (uint32_t)n : 0;
}

static enum kr_status check_id(const struct kr_history *h, kr_value id, struct kr_err *err)
{
	kr_txn other = kr_history_find(h, id);
	char name[80];

	if (other.i == KR_NONE)
		return KR_OK;
	kr_history_brief(h, id, name, sizeof name);
	if (h->txns.at[other.i].line == 0)
		return kr_err_set(err, KR_BAD, "duplicate transaction id %s, expected a new one", name);
	return kr_err_set(err, KR_BAD, "duplicate transaction id %s, first used in line %u", name,
		(unsigned)h->txns.at[other.i].line);
}

/* Else it may be over long after its client went on: one of unknown outcome, or whose end nobody answered. */
static bool is_over_in_time(const struct kr_transaction *t)
{
	return t->status != KR_UNKNOWN && !(t->flags & KR_TXN_END_OPEN);
}

/* The first moment that a transaction tells: its begin or, without, its end. */
static bool first_moment(const struct kr_transaction *t, int64_t *out)
{
	*out = t->flags & KR_TXN_HAS_BEGIN ? t->begin_invoked : t->end_returned;
	return t->flags & KR_TXN_HAS_BEGIN || (t->flags & KR_TXN_HAS_END && is_over_in_time(t));
}

static int64_t last_moment(const struct kr_transaction *t)
{
	return t->flags & KR_TXN_HAS_END ? t->end_returned : t->begin_invoked;
}

/* Session order and real-time order must not contradict each other, whichever times are told. */
static enum kr_status check_session(const struct kr_history *h, const struct kr_transaction *txn,
	struct kr_err *err)
{
	int64_t first;

	if (txn->session.i == KR_NONE || !first_moment(txn, &first))
		return KR_OK;

	kr_txn last = h->session_ends.at[txn->session.i];

	if (last.i == KR_NONE || first >= last_moment(&h->txns.at[last.i]))
		return KR_OK;

	char name[80], before[80];

	return kr_err_set(err, KR_BAD,
		"%s %s at %lld, before %s of the same session %s at %lld; expected session order",
		kr_history_brief(h, txn->id, name, sizeof name),
		txn->flags & KR_TXN_HAS_BEGIN ? "begins" : "ends", (long long)first,
		kr_history_brief(h, h->txns.at[last.i].id, before, sizeof before),
		h->txns.at[last.i].flags & KR_TXN_HAS_END ? "returned" : "began",
		(long long)last_moment(&h->txns.at[last.i]));
}

static bool initial_fits(const struct kr_history *h, kr_value initial, enum kr_key_kind kind)
{
	enum kr_value_type type = h->values.at[initial.i].type, shown = kr_datatype_of(kind)->shown;

	return type == KR_VALUE_ABSENT || shown == KR_VALUE_ABSENT || type == shown;
}

/* An initial value for a message: strings in quotes. */
static const char *brief_value(const struct kr_history *h, kr_value value, char *out, size_t size)
{
	if (h->values.at[value.i].type != KR_VALUE_STRING)
		return kr_history_brief(h, value, out, size);
	kr_history_brief(h, value, out + 1, size - 2);
	if (out[1] == '"')
		return out + 1;
	out[0] = '"';
	strcat(out, "\"");
	return out;
}

const char *kr_history_kind_name(enum kr_key_kind kind)
{
	return kind == KR_KIND_ANY ? "any" : kr_datatype_of(kind)->name;
}

enum kr_key_kind kr_history_kind(const char *name)
{
	for (size_t i = 0; i < kr_datatype_registry_count; i++)
		if (strcmp(name, kr_datatype_registry[i]->name) == 0)
			return kr_datatype_registry[i]->kind;
	return KR_KIND_ANY;
}

/* "used" or "declared": how the key's kind is known. */
static const char *how_known(const struct kr_key_entry *entry)
{
	return entry->declared ? "declared" : "used";
}

/* The value of a piece of canonical JSON, interned; KR_NONE when memory runs out. */
static kr_value intern_piece(struct kr_history *h, struct kr_piece piece)
{
	struct kr_operand x = kr_operand_of_piece(piece);
	json_error_t error;

	switch (x.type) {
	case KR_VALUE_ABSENT: return KR_ABSENT;
	case KR_VALUE_FALSE:
	case KR_VALUE_TRUE: return kr_history_bool(h, x.type == KR_VALUE_TRUE);
	case KR_VALUE_INT: return kr_history_int(h, x.integer);
	case KR_VALUE_REAL: return kr_history_real(h, x.real);
	case KR_VALUE_ARRAY:
	case KR_VALUE_OBJECT: return kr_history_text(h, x.type, piece.text, piece.length);
	case KR_VALUE_STRING: break;
	}
	json_t *json = json_loadb(piece.text, piece.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	kr_value value = json
		? kr_history_text(h, KR_VALUE_STRING, json_string_value(json), json_string_length(json))
		: (kr_value){KR_NONE};
	json_decref(json);
	return value;
}

/* Elements of a list or set that nobody else names have values, too. */
static enum kr_status intern_elements(struct kr_history *h, kr_value array)
{
	struct kr_value_entry e = *kr_history_value(h, array); /* the table may move */
	struct kr_piece piece;

	for (size_t at = 1; e.type == KR_VALUE_ARRAY && kr_piece_next(e.text, e.length, &at, &piece);)
		if (intern_piece(h, piece).i == KR_NONE)
			return KR_NOMEM;
	return KR_OK;
}

enum kr_status kr_history_set_initial(struct kr_history *h, kr_key key, kr_value initial, struct kr_err *err)
{
	struct kr_key_entry *entry = &h->keys.at[key.i];
	char name[80], value[80];

	if (entry->kind != KR_KIND_ANY && !initial_fits(h, initial, entry->kind))
		return kr_err_set(err, KR_BAD, "%s starts as %s, but is %s as a %s",
			kr_history_brief(h, entry->name, name, sizeof name),
			brief_value(h, initial, value, sizeof value), how_known(entry),
			kr_history_kind_name(entry->kind));
	entry->initial = initial;
	kr_history_keep(h, initial);
	return intern_elements(h, initial);
}

enum kr_status kr_history_set_kind(struct kr_history *h, kr_key key, enum kr_key_kind kind,
	struct kr_err *err)
{
	struct kr_key_entry *entry = &h->keys.at[key.i];
	char name[80], value[80];

	kr_history_brief(h, entry->name, name, sizeof name);
	if (entry->kind != KR_KIND_ANY && entry->kind != kind)
		return kr_err_set(err, KR_BAD, "%s is declared as a %s, but %s as a %s", name,
			kr_history_kind_name(kind), how_known(entry), kr_history_kind_name(entry->kind));
	if (!initial_fits(h, entry->initial, kind))
		return kr_err_set(err, KR_BAD, "%s is declared as a %s, but starts as %s", name,
			kr_history_kind_name(kind), brief_value(h, entry->initial, value, sizeof value));
	entry->kind = (uint8_t)kind;
	entry->declared = true;
	return KR_OK;
}

static void show_array(struct kr_history *h, kr_key key, kr_value value)
{
	struct kr_key_entry *entry = &h->keys.at[key.i];

	if (entry->kind == KR_KIND_ANY && kr_history_value(h, value)->type == KR_VALUE_ARRAY &&
		initial_fits(h, entry->initial, KR_KIND_LIST))
		entry->kind = KR_KIND_LIST;
}

void kr_history_find_lists(struct kr_history *h)
{
	bool open = false;

	for (kr_key k = {0}; k.i < h->keys.n; k.i++) {
		show_array(h, k, h->keys.at[k.i].initial);
		open |= h->keys.at[k.i].kind == KR_KIND_ANY;
	}
	if (!open)
		return;
	for (uint32_t i = 0; i < h->ops.n; i++)
		if (h->ops.at[i].kind == KR_OP_READ && h->ops.at[i].flags & KR_OPF_KNOWN)
			show_array(h, h->ops.at[i].key, h->ops.at[i].a);
	for (uint32_t i = 0; i < h->rows.n; i++)
		show_array(h, h->rows.at[i].key, h->rows.at[i].value);
}

/* Uses `key` as `kind`: false on a clash. */
static bool use_key(struct kr_history *h, kr_key key, enum kr_key_kind kind, bool *marked)
{
	struct kr_key_entry *entry = &h->keys.at[key.i];

	if (entry->kind == KR_KIND_ANY && initial_fits(h, entry->initial, kind)) {
		entry->kind = (uint8_t)(kind | NEW_KIND);
		*marked = true;
	}
	return (entry->kind & ~NEW_KIND) == (unsigned)kind;
}

/* Ends the marks of new kinds on the keys of ops[first..]: they stay when the transaction is good. */
static void settle_kinds(struct kr_history *h, uint32_t first, bool good)
{
	for (uint32_t i = first; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		const struct kr_scan *scan = op->kind == KR_OP_UPDATE ? &h->scans.at[op->scan] : NULL;
		uint32_t count = scan ? scan->row_count : op->key.i != KR_NONE;

		for (uint32_t r = 0; r < count; r++) {
			uint8_t *kind =
				&h->keys.at[scan ? h->rows.at[scan->row_first + r].key.i : op->key.i].kind;
			if (*kind & NEW_KIND)
				*kind = good ? (uint8_t)(*kind & ~NEW_KIND) : (uint8_t)KR_KIND_ANY;
		}
	}
}

static enum kr_status kind_clash(const struct kr_history *h, kr_value id, const struct kr_operation *op,
	uint32_t index, kr_key key, struct kr_err *err)
{
	const struct kr_key_entry *entry = &h->keys.at[key.i];
	unsigned used = entry->kind & ~NEW_KIND;
	char txn[80], name[80], initial[80];

	kr_history_brief(h, id, txn, sizeof txn);
	kr_history_brief(h, entry->name, name, sizeof name);
	return kr_err_set(err, KR_BAD, "ops[%u] of %s: \"%s\" needs a %s key, but %s %s%s as %s%s",
		(unsigned)index, txn, kr_op_name(op->kind),
		kr_history_kind_name(kr_history_kind_needed(op->kind)), name,
		used == KR_KIND_ANY ? "starts" : "is ", used == KR_KIND_ANY ? "" : how_known(entry),
		used == KR_KIND_ANY ? "" : "a ",
		used == KR_KIND_ANY ? brief_value(h, entry->initial, initial, sizeof initial)
				    : kr_history_kind_name(used));
}

/* How many struck entries of the transaction being added stand in front of operation `op`. */
static uint32_t struck_before(const struct kr_history *h, uint32_t op)
{
	uint32_t n = 0;

	for (uint32_t i = h->struck.n; i > 0 && h->struck.at[i - 1].txn.i == KR_NONE; i--)
		n += h->struck.at[i - 1].before.i <= op;
	return n;
}

static enum kr_status check_kinds(struct kr_history *h, kr_value id, uint32_t first, struct kr_err *err)
{
	bool marked = false;

	for (uint32_t i = first; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		enum kr_key_kind kind = kr_history_kind_needed(op->kind);
		const struct kr_scan *scan = op->kind == KR_OP_UPDATE ? &h->scans.at[op->scan] : NULL;
		uint32_t count = kind == KR_KIND_ANY ? 0 : scan ? scan->row_count : 1;

		for (uint32_t r = 0; r < count; r++) {
			kr_key key = scan ? h->rows.at[scan->row_first + r].key : op->key;
			if (!use_key(h, key, kind, &marked)) {
				enum kr_status status =
					kind_clash(h, id, op, i - first + struck_before(h, i), key, err);
				settle_kinds(h, first, false);
				return status;
			}
		}
	}
	if (marked)
		settle_kinds(h, first, true);
	return KR_OK;
}

const char kr_doubt_begin[] = "its begin was not answered";
const char kr_doubt_op[] = "an operation was not answered";
const char kr_doubt_failed[] = "an operation failed and ended it";
const char kr_doubt_end[] = "its end was not answered";
const char kr_doubt_end_failed[] = "its end failed";

enum kr_status kr_history_doubt(const struct kr_history *h, kr_value id, const char *why, struct kr_err *err)
{
	char name[80];

	return kr_err_set(err, KR_BAD, "%s is \"committed\", but %s; expected \"aborted\" or \"unknown\"",
		kr_history_brief(h, id, name, sizeof name), why);
}

/* What rules out that t took effect: something that nobody answered, or the database's refusal. NULL:
 * nothing. */
static const char *doubt(const struct kr_history *h, const struct kr_transaction *t)
{
	if (t->flags & KR_TXN_BEGIN_OPEN && !(t->flags & KR_TXN_AUTO))
		return kr_doubt_begin;
	for (uint32_t i = h->attrs.n; i > h->draft.attrs; i--)
		if (h->attrs.at[i - 1].open)
			return kr_doubt_op;
	for (uint32_t i = h->draft.struck; i < h->struck.n; i++)
		if (h->struck.at[i].entry.attr.ends && !h->struck.at[i].entry.attr.undone)
			return kr_doubt_failed;
	if (t->flags & KR_TXN_END_OPEN)
		return kr_doubt_end;
	return t->flags & KR_TXN_END_FAILED ? kr_doubt_end_failed : NULL;
}

/* Fills in what a transaction leaves to defaults (id, the times of autocommit; op_first, op_count) and looks
 * at what it alone can get wrong: that it is committed, although something rules that out. */
static enum kr_status prepare(struct kr_history *h, struct kr_transaction *txn, struct kr_err *err)
{
	int64_t times[2];
	bool open;

	if (txn->id.i == KR_NONE)
		KR_TRY(default_id(h, h->position, &txn->id));

	txn->op_first = h->draft.ops;
	txn->op_count = h->ops.n - h->draft.ops;
	if (txn->flags & KR_TXN_AUTO && kr_history_statement(h, kr_walk_new(h), times, &open)) {
		if (!(txn->flags & KR_TXN_HAS_BEGIN)) {
			txn->begin_invoked = times[0];
			txn->begin_returned = times[1];
			txn->flags |= open ? KR_TXN_BEGIN_OPEN : 0;
		}
		if (!(txn->flags & KR_TXN_HAS_END)) {
			txn->end_invoked = times[0];
			txn->end_returned = times[1];
			txn->flags |= open ? KR_TXN_END_OPEN : 0;
		}
		txn->flags |= KR_TXN_HAS_BEGIN | KR_TXN_HAS_END;
	}

	const char *why = txn->status == KR_COMMITTED ? doubt(h, txn) : NULL;

	return why ? kr_history_doubt(h, txn->id, why, err) : KR_OK;
}

static enum kr_status set_white_box(struct kr_history *h, const struct kr_white_box *fields)
{
	while (h->white_box.n < h->txns.n)
		KR_TRY(kr_vec_add(h->mem, &h->white_box, (struct kr_white_box){0}));
	h->white_box.at[h->txns.n - 1] = *fields;
	return KR_OK;
}

static enum kr_status append(struct kr_history *h, const struct kr_transaction *txn,
	const struct kr_white_box *white_box, struct kr_err *err)
{
	kr_txn t = {h->txns.n};

	if (!kr_vec_reserve(h->mem, &h->txns, 1) ||
		(txn->id.i >= h->named.n && !kr_vec_reserve(h->mem, &h->named, txn->id.i + 1 - h->named.n)))
		return KR_NOMEM;
	KR_TRY(check_id(h, txn->id, err));
	KR_TRY(check_session(h, txn, err));
	KR_TRY(check_kinds(h, txn->id, txn->op_first, err));

	for (uint32_t i = h->draft.struck; i < h->struck.n; i++)
		h->struck.at[i].txn = t;
	h->txns.at[h->txns.n++] = *txn;
	while (h->named.n <= txn->id.i)
		h->named.at[h->named.n++] = 0;
	h->named.at[txn->id.i] = h->txns.n;
	if (txn->session.i != KR_NONE && txn->flags & (KR_TXN_HAS_BEGIN | KR_TXN_HAS_END) &&
		is_over_in_time(txn)) {
		kr_txn *last = &h->session_ends.at[txn->session.i];
		if (last->i == KR_NONE || last_moment(&h->txns.at[last->i]) <= last_moment(txn))
			*last = t;
	}
	return white_box && txn->flags & KR_TXN_WHITE_BOX ? set_white_box(h, white_box) : KR_OK;
}

enum kr_status kr_history_add(struct kr_history *h, struct kr_transaction txn,
	const struct kr_white_box *white_box, struct kr_err *err)
{
	h->position++;
	enum kr_status status = prepare(h, &txn, err);
	if (!status)
		status = h->sink ? kr_event_tell_one(h, &txn, white_box, err)
				 : append(h, &txn, white_box, err);
	if (status || h->sink)
		kr_history_take_back(h);
	kr_history_begin(h);
	return status;
}

void kr_history_leave_out(struct kr_history *h, struct kr_err *err)
{
	char text[sizeof err->file + sizeof err->text + 32];

	if (h->skipped++ == 0 && err) {
		kr_err_format(err, text, sizeof text);
		h->first_skipped = kr_arena_text(&h->arena, text, strlen(text)); /* or it is not known */
	}
	kr_err_init(err);
}

enum kr_status kr_history_forgive(struct kr_history *h, enum kr_status status, struct kr_err *err)
{
	if (status != KR_BAD || !h->lenient)
		return status;
	kr_history_leave_out(h, err);
	return KR_OK;
}
