/* What shows that an operation has no explanation: whose write it was, which other read disagrees, what a
 * range or scan cannot show. Looked for in the history by value, anew, for the certificate names only the
 * operation; the first in file order is taken. Where nothing plain is found the kind of the anomaly alone is
 * told. Of a list the elements that the reader had appended itself are left out, for they stand behind what
 * it saw. Cost: the operations of the history times the elements of the read. */
#include "report/evidence.h"

#include "frontend/model/datatype.h"
#include "frontend/where.h"
#include "report/words.h"

struct looking {
	const struct kr_history *h;
	const struct kr_certificate *cert;
	kr_txn txn;
	kr_op op;
	kr_key key;
};

static const struct kr_operation *op_at(const struct kr_history *h, kr_op op) { return &h->ops.at[op.i]; }

/* ---- who wrote a value ---- */

static bool leaves(const struct kr_history *h, const struct kr_operation *op, kr_key k, kr_value value)
{
	struct kr_write write;

	return value.i != KR_ABSENT.i && kr_write_of(h, op, k, &write) &&
		(write.how == KR_SET || h->keys.at[k.i].kind == KR_KIND_MARK) && write.value.i == value.i;
}

/* A write of `value` to k by a transaction with this status, as its last write of k or as an earlier one. */
static bool find_write(const struct looking *l, enum kr_txn_status status, bool last, struct kr_evidence *out)
{
	const struct kr_history *h = l->h;
	kr_value value = op_at(h, l->op)->a;

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		const struct kr_transaction *txn = &h->txns.at[t.i];
		if (txn->status != status || t.i == l->txn.i)
			continue;
		for (uint32_t i = 0; i < txn->op_count; i++) {
			kr_op at = {txn->op_first + i};
			if (!leaves(h, op_at(h, at), l->key, value) ||
				(kr_words_last_write(h, t, l->key).i == at.i) != last)
				continue;
			out->txn = t;
			out->op = at;
			return true;
		}
	}
	return false;
}

/* ---- elements of lists and sets ---- */

struct adds {
	uint32_t all, effective, aborted; /* by anybody; by committed transactions; by aborted ones */
	/* the first one's, best an effective one's, then an aborted one's */
	kr_txn txn;
	kr_op op;
};

static bool adds(const struct kr_operation *op) { return op->kind == KR_OP_APPEND || op->kind == KR_OP_ADD; }

static bool is_element(const struct kr_history *h, kr_value value, struct kr_piece piece)
{
	struct kr_operand a = kr_operand_of_value(h, value), b = kr_operand_of_piece(piece);

	return kr_operand_equal(&a, &b);
}

static void find_adds(const struct looking *l, struct kr_piece piece, struct adds *out)
{
	const struct kr_history *h = l->h;

	*out = (struct adds){.txn = {KR_NONE}, .op = {KR_NONE}};
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		const struct kr_transaction *txn = &h->txns.at[t.i];
		for (uint32_t i = 0; i < txn->op_count; i++) {
			kr_op at = {txn->op_first + i};
			if (!adds(op_at(h, at)) || op_at(h, at)->key.i != l->key.i ||
				!is_element(h, op_at(h, at)->a, piece))
				continue;
			out->all++;
			out->effective += txn->status == KR_COMMITTED;
			out->aborted += txn->status == KR_ABORTED;
			if (out->op.i == KR_NONE || (out->effective == 1 && txn->status == KR_COMMITTED) ||
				(out->effective == 0 && out->aborted == 1 && txn->status == KR_ABORTED)) {
				out->txn = t;
				out->op = at;
			}
		}
	}
}

/* The pieces that a read shows, without those that its transaction had appended itself. */
struct shown {
	const struct kr_value_entry *entry;
	uint32_t count;
};

static bool shown_by(const struct kr_history *h, kr_txn t, kr_op at, kr_key k, struct shown *out)
{
	const struct kr_operation *op = op_at(h, at);
	struct kr_piece piece;
	uint32_t own = 0;

	if (op->kind != KR_OP_READ || op->key.i != k.i || !(op->flags & KR_OPF_KNOWN))
		return false;
	*out = (struct shown){.entry = kr_history_value(h, op->a)};
	if (out->entry->type != KR_VALUE_ARRAY)
		return false;
	for (size_t i = 1; kr_piece_next(out->entry->text, out->entry->length, &i, &piece);)
		out->count++;
	for (uint32_t i = h->txns.at[t.i].op_first; i < at.i; i++)
		own += h->ops.at[i].kind == KR_OP_APPEND && h->ops.at[i].key.i == k.i;
	out->count -= own < out->count ? own : out->count;
	return true;
}

static bool same_piece(struct kr_piece a, struct kr_piece b)
{
	struct kr_operand x = kr_operand_of_piece(a), y = kr_operand_of_piece(b);

	return kr_operand_equal(&x, &y);
}

static uint32_t count_in(const struct shown *s, struct kr_piece piece)
{
	struct kr_piece other;
	uint32_t times = 0, n = 0;

	for (size_t i = 1; n < s->count && kr_piece_next(s->entry->text, s->entry->length, &i, &other); n++)
		times += same_piece(piece, other);
	return times;
}

/* Where the element first stands, or s->count. */
static uint32_t place_in(const struct kr_history *h, const struct shown *s, kr_value element)
{
	struct kr_piece piece;
	uint32_t n = 0;

	for (size_t i = 1; n < s->count && kr_piece_next(s->entry->text, s->entry->length, &i, &piece); n++)
		if (is_element(h, element, piece))
			return n;
	return s->count;
}

bool kr_shows_element(const struct kr_history *h, kr_op op, kr_key k, kr_value element)
{
	kr_value value = kr_words_value(h, op, k);
	const struct kr_value_entry *e = value.i == KR_NONE ? NULL : kr_history_value(h, value);
	struct kr_piece piece;

	for (size_t i = 1; e && e->type == KR_VALUE_ARRAY && kr_piece_next(e->text, e->length, &i, &piece);)
		if (is_element(h, element, piece))
			return true;
	return false;
}

bool kr_shows_initial(const struct kr_history *h, kr_op op, kr_key k)
{
	kr_value value = kr_words_value(h, op, k);
	const struct kr_value_entry *e = value.i == KR_NONE ? NULL : kr_history_value(h, value),
				    *initial = kr_history_value(h, h->keys.at[k.i].initial);
	struct shown all = {.entry = e, .count = UINT32_MAX};
	struct kr_piece piece;

	for (size_t i = 1; e && e->type == KR_VALUE_ARRAY && initial->type == KR_VALUE_ARRAY &&
		kr_piece_next(initial->text, initial->length, &i, &piece);)
		if (count_in(&all, piece) > 0)
			return true;
	return false;
}

bool kr_find_order_shown(const struct kr_history *h, kr_key k, kr_txn a, kr_txn b, kr_txn *reader,
	kr_op *read)
{
	kr_op first = kr_words_last_write(h, a, k), second = kr_words_last_write(h, b, k);
	struct shown s;

	read->i = KR_NONE;
	if (h->keys.at[k.i].kind != KR_KIND_LIST || first.i == KR_NONE || second.i == KR_NONE ||
		!adds(op_at(h, first)) || !adds(op_at(h, second)))
		return false;
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		const struct kr_transaction *txn = &h->txns.at[t.i];
		for (uint32_t i = txn->op_first;
			i < txn->op_first + txn->op_count && txn->status == KR_COMMITTED; i++) {
			if (!shown_by(h, t, (kr_op){i}, k, &s))
				continue;
			uint32_t at = place_in(h, &s, op_at(h, first)->a),
				 then = place_in(h, &s, op_at(h, second)->a);
			if (at >= then || (then == s.count && read->i != KR_NONE))
				continue;
			*reader = t;
			*read = (kr_op){i};
			if (then < s.count)
				return true;
		}
	}
	return read->i != KR_NONE;
}

/* ---- what an element gives away ---- */

/* The transaction's next append or add to k behind `op`. */
static kr_op next_add(const struct looking *l, kr_txn t, kr_op op)
{
	const struct kr_transaction *txn = &l->h->txns.at[t.i];

	for (uint32_t i = op.i + 1; i < txn->op_first + txn->op_count; i++)
		if (adds(&l->h->ops.at[i]) && l->h->ops.at[i].key.i == l->key.i)
			return (kr_op){i};
	return (kr_op){KR_NONE};
}

/* Its last one before `op`. */
static kr_op last_add(const struct looking *l, kr_txn t, kr_op op)
{
	for (uint32_t i = op.i; i-- > l->h->txns.at[t.i].op_first;)
		if (adds(&l->h->ops.at[i]) && l->h->ops.at[i].key.i == l->key.i)
			return (kr_op){i};
	return (kr_op){KR_NONE};
}

/* The element at that place. */
static struct kr_piece piece_at(const struct shown *s, uint32_t place)
{
	struct kr_piece piece = {NULL, 0};

	for (size_t i = 1; kr_piece_next(s->entry->text, s->entry->length, &i, &piece) && place > 0;)
		place--;
	return piece;
}

static bool is_initial(const struct looking *l, struct kr_piece piece)
{
	const struct kr_value_entry *e = kr_history_value(l->h, l->h->keys.at[l->key.i].initial);
	struct shown initial = {.entry = e, .count = UINT32_MAX};

	return e->type == KR_VALUE_ARRAY && count_in(&initial, piece) > 0;
}

/* One transaction adds two elements to a list, which are seen one without the other, apart, or the wrong way
 * round. */
static bool judge_two(const struct looking *l, const struct shown *s, const struct adds *by,
	struct kr_evidence *out)
{
	/* nobody sees what aborted ones add */
	if (by->all != 1 && (by->effective != 1 || by->all - by->aborted != 1))
		return false;

	kr_op next = next_add(l, by->txn, by->op), before = last_add(l, by->txn, by->op);
	uint32_t first = place_in(l->h, s, op_at(l->h, by->op)->a),
		 second = next.i == KR_NONE ? s->count : place_in(l->h, s, op_at(l->h, next)->a);
	bool list = l->h->keys.at[l->key.i].kind == KR_KIND_LIST;
	struct adds between;

	out->other = next;
	if (next.i != KR_NONE && second == s->count) {
		out->kind = KR_ADDED_MORE;
		return true;
	}
	if (next.i != KR_NONE && list && second != first + 1) {
		out->kind = second < first ? KR_ADDED_IN_ORDER : KR_ADDED_APART;
		out->element = piece_at(s, first + 1);
		find_adds(l, out->element, &between);
		out->adder = between.txn;
		out->adding = between.op;
		return true;
	}
	out->op = before;
	out->other = by->op;
	out->kind = KR_ADDED_MORE;
	return before.i != KR_NONE && place_in(l->h, s, op_at(l->h, before)->a) == s->count;
}

/* Whether the element shows what the anomaly's kind says. What only aborted transactions added is looked for
 * first, then what those of unknown outcome did (`perhaps`), which may have taken effect. */
static bool judge_element(const struct looking *l, const struct shown *s, struct kr_piece piece, bool perhaps,
	struct kr_evidence *out)
{
	struct adds by;

	find_adds(l, piece, &by);
	out->element = piece;
	out->txn = by.txn;
	out->op = by.op;
	switch (l->cert->anomaly.kind) {
	case KR_GARBAGE_READ: out->kind = KR_NOBODY_ADDED; return by.all == 0 && !is_initial(l, piece);
	case KR_ABORTED_READ:
		out->kind = KR_ADDED_IN_VAIN;
		return by.all > 0 && (perhaps ? by.effective == 0 : by.aborted == by.all) &&
			!is_initial(l, piece);
	case KR_FUTURE_READ:
		out->kind = KR_ADDED_LATER;
		return by.all == 1 && by.txn.i == l->txn.i && by.op.i > l->op.i;
	case KR_DUPLICATE_ELEMENT: out->kind = KR_ADDED_ONCE; return by.all == 1 && count_in(s, piece) > 1;
	case KR_INTERMEDIATE_READ:
	case KR_INCOMPATIBLE_ORDER: return judge_two(l, s, &by, out);
	default: return false;
	}
}

/* From where on do the lists differ? False: one is the beginning of the other. */
static bool lists_differ(const struct shown *a, const struct shown *b, struct kr_evidence *out)
{
	size_t i = 1, j = 1;

	for (out->place = 0; out->place < a->count && out->place < b->count; out->place++)
		if (!kr_piece_next(a->entry->text, a->entry->length, &i, &out->element) ||
			!kr_piece_next(b->entry->text, b->entry->length, &j, &out->there) ||
			!same_piece(out->element, out->there))
			return true;
	return false;
}

/* An element of set a that b lacks. */
static bool find_lacking(const struct shown *a, const struct shown *b, struct kr_piece *out)
{
	size_t i = 1;

	for (uint32_t n = 0; n < a->count && kr_piece_next(a->entry->text, a->entry->length, &i, out); n++)
		if (count_in(b, *out) == 0)
			return true;
	return false;
}

static bool disagree(const struct shown *a, const struct shown *b, bool list, struct kr_evidence *out)
{
	return list ? lists_differ(a, b, out)
		    : find_lacking(a, b, &out->element) && find_lacking(b, a, &out->there);
}

static bool find_other_read(const struct looking *l, const struct shown *s, struct kr_evidence *out)
{
	const struct kr_history *h = l->h;
	struct shown other;

	out->kind = KR_READ_OTHERWISE;
	for (out->txn.i = 0; out->txn.i < h->txns.n; out->txn.i++) {
		const struct kr_transaction *txn = &h->txns.at[out->txn.i];
		for (uint32_t i = txn->op_first;
			i < txn->op_first + txn->op_count && txn->status == KR_COMMITTED; i++) {
			out->op = (kr_op){i};
			if (i != l->op.i && shown_by(h, out->txn, out->op, l->key, &other) &&
				disagree(s, &other, h->keys.at[l->key.i].kind == KR_KIND_LIST, out))
				return true;
		}
	}
	return false;
}

static const struct kr_evidence nothing = {.kind = KR_NO_EVIDENCE,
	.txn = {KR_NONE},
	.adder = {KR_NONE},
	.adding = {KR_NONE},
	.op = {KR_NONE},
	.other = {KR_NONE}};

static bool find_element(const struct looking *l, const struct shown *s, bool perhaps,
	struct kr_evidence *out)
{
	struct kr_piece piece;
	uint32_t n = 0;

	for (size_t i = 1; n < s->count && kr_piece_next(s->entry->text, s->entry->length, &i, &piece); n++) {
		*out = nothing;
		if (judge_element(l, s, piece, perhaps, out))
			return true;
	}
	*out = nothing;
	return false;
}

static bool find_in_elements(const struct looking *l, struct kr_evidence *out)
{
	struct shown s;

	if (!shown_by(l->h, l->txn, l->op, l->key, &s))
		return false;
	if (find_element(l, &s, false, out) ||
		(l->cert->anomaly.kind == KR_ABORTED_READ && find_element(l, &s, true, out)))
		return true;
	return l->cert->anomaly.kind == KR_INCOMPATIBLE_ORDER && find_other_read(l, &s, out);
}

/* ---- rows ---- */

static bool is_outside(const struct looking *l, const struct kr_scan *scan)
{
	kr_value name = l->h->keys.at[l->key.i].name;

	return (scan->low.i != KR_ABSENT.i && kr_history_compare_keys(l->h, name, scan->low) < 0) ||
		(scan->high.i != KR_ABSENT.i && kr_history_compare_keys(l->h, name, scan->high) >= 0);
}

static uint32_t row_of(const struct looking *l, const struct kr_scan *scan)
{
	uint32_t i = 0;

	while (i < scan->row_count && l->h->rows.at[scan->row_first + i].key.i != l->key.i)
		i++;
	return i;
}

/* What is not there is no row: an absent value, an empty list or set. */
static bool is_no_row(const struct looking *l, const struct kr_scan *scan, uint32_t at)
{
	kr_value value = l->h->rows.at[scan->row_first + at].value;
	const struct kr_value_entry *e = kr_history_value(l->h, value);
	uint8_t kind = l->h->keys.at[l->key.i].kind;

	return value.i == KR_ABSENT.i ||
		(kr_datatype_of(kind)->shown == KR_VALUE_ARRAY && e->type == KR_VALUE_ARRAY &&
			e->length == 2);
}

static bool is_out_of_order(const struct looking *l, const struct kr_scan *scan, uint32_t at)
{
	for (uint32_t i = at > 0 ? at : 1; i <= at + 1 && i < scan->row_count; i++) {
		const struct kr_row *row = &l->h->rows.at[scan->row_first + i];
		int side = kr_history_compare_keys(l->h, l->h->keys.at[row[-1].key.i].name,
			l->h->keys.at[row->key.i].name);
		if (scan->reverse ? side <= 0 : side >= 0)
			return true;
	}
	return false;
}

static bool find_in_rows(const struct looking *l, struct kr_evidence *out)
{
	const struct kr_operation *op = op_at(l->h, l->op);
	const struct kr_scan *scan = kr_op_scans(op) ? &l->h->scans.at[op->scan] : NULL;
	const struct kr_attr *attr = kr_history_attr(l->h, l->op);
	uint32_t at = scan ? row_of(l, scan) : 0;
	bool holds = true;

	*out = nothing;
	if (!scan ||
		(l->cert->anomaly.kind != KR_RESULT_SET_MISMATCH && l->cert->anomaly.kind != KR_ABORTED_READ))
		return false;
	for (uint32_t i = 0; attr && i < attr->seen_count; i++) {
		if (l->h->seen.at[attr->seen_first + i].key.i != l->key.i)
			continue;
		out->kind = KR_NAMED_VERSION;
		if (l->h->seen.at[attr->seen_first + i].writer.i != KR_ABSENT.i)
			out->txn = kr_history_find(l->h, l->h->seen.at[attr->seen_first + i].writer);
	}
	if (at == scan->row_count || l->cert->anomaly.kind == KR_ABORTED_READ)
		return out->kind != KR_NO_EVIDENCE;
	if (op->kind == KR_OP_RANGE && is_no_row(l, scan, at))
		out->kind = KR_EMPTY_ROW;
	else if (op->kind == KR_OP_RANGE)
		out->kind = scan->limit >= 0 && at >= (uint64_t)scan->limit ? KR_BEYOND_LIMIT
			: is_outside(l, scan)                               ? KR_OUTSIDE
			: out->kind                                         ? out->kind
			: is_out_of_order(l, scan, at)                      ? KR_OUT_OF_ORDER
									    : KR_NO_EVIDENCE;
	else if (op->kind == KR_OP_SCAN &&
		kr_where_holds(l->h, scan, l->key, l->h->rows.at[scan->row_first + at].value, &holds, NULL) ==
			KR_OK &&
		!holds)
		out->kind = KR_UNMET;
	return out->kind != KR_NO_EVIDENCE;
}

/* ---- the reader's own writes, and what a writer read ---- */

static bool find_own_write(const struct looking *l, struct kr_evidence *out)
{
	out->kind = KR_CHANGED_BEFORE;
	out->txn = l->txn;
	for (uint32_t i = l->op.i; i-- > l->h->txns.at[l->txn.i].op_first;) {
		out->op = (kr_op){i};
		if (kr_words_writes(l->h, out->op, l->key))
			return true;
	}
	return false;
}

/* A transaction that was not committed and changes the key, in whatever way. */
static bool find_change(const struct looking *l, struct kr_evidence *out)
{
	out->kind = KR_CHANGED_IN_VAIN;
	for (out->txn.i = 0; out->txn.i < l->h->txns.n; out->txn.i++) {
		const struct kr_transaction *txn = &l->h->txns.at[out->txn.i];
		for (uint32_t i = txn->op_first;
			i < txn->op_first + txn->op_count && txn->status != KR_COMMITTED; i++) {
			out->op = (kr_op){i};
			if (kr_words_writes(l->h, out->op, l->key))
				return true;
		}
	}
	return false;
}

static bool find_value(const struct looking *l, struct kr_evidence *out)
{
	switch (l->cert->anomaly.kind) {
	case KR_ABORTED_READ:
		out->kind = KR_WRITTEN_IN_VAIN;
		return find_write(l, KR_ABORTED, true, out) || find_write(l, KR_ABORTED, false, out) ||
			find_write(l, KR_UNKNOWN, true, out) || find_change(l, out);
	case KR_INTERMEDIATE_READ: out->kind = KR_OVERWRITTEN; return find_write(l, KR_COMMITTED, false, out);
	case KR_FUTURE_READ:
		out->kind = KR_WRITTEN_LATER;
		out->txn = l->txn;
		out->op = kr_words_last_write(l->h, l->txn, l->key);
		return out->op.i != KR_NONE;
	case KR_INTERNAL_INCONSISTENCY: return find_own_write(l, out);
	default: return false;
	}
}

void kr_find_evidence(const struct kr_history *h, const struct kr_certificate *cert, struct kr_evidence *out)
{
	struct looking l = {h, cert, cert->anomaly.txn, kr_history_op(h, cert->anomaly.txn, cert->anomaly.op),
		cert->anomaly.key};

	*out = nothing;
	if (cert->anomaly.kind != KR_INTERNAL_INCONSISTENCY && find_in_elements(&l, out))
		return;
	if (find_in_rows(&l, out))
		return;
	*out = nothing;
	if (!find_value(&l, out))
		*out = nothing;
}
