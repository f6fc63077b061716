/* Lint: what reads show.
 *
 * Whose value a read saw is told only where one transaction alone can have written it; a finding of an
 * aborted writer needs that every writer is aborted, one of an unknown writer that there is no other. A read
 * of the transaction's own value says nothing, nor does what was not answered. A done insert saw its key
 * absent, a done cas saw what it expected, a delete that found nothing saw its key absent. Where initial
 * values are untold, the first value that nobody wrote is taken for it. */
#include "frontend/lint_work.h"
#include "frontend/model/datatype.h"

#include "frontend/model/operation.h"

struct place {
	kr_txn txn;
	uint32_t op;
};

/* Notes the first read of a write that is surprising to be seen. */
static void judge_writers(struct kr_lint_work *w, const struct kr_lint_entry *e, kr_txn reader)
{
	bool aborted = e->statuses == 1u << KR_ABORTED,
	     unknown = e->statuses == 1u << KR_UNKNOWN && e->writers == 1;
	/* or may be */
	bool own = e->first.i == reader.i || (e->writers > 1 && w->h->txns.at[reader.i].status == KR_ABORTED);

	if (!e->initial && !own && (aborted || unknown) && w->told[e->first.i].reader.i == KR_NONE)
		w->told[e->first.i] = (struct kr_lint_told){reader, (uint32_t)(e - w->entries.at)};
}

/* A reader that ended before the writer began: their clocks disagree. One for each reader. */
static enum kr_status judge_clocks(struct kr_lint_work *w, const struct kr_lint_entry *e, struct place at)
{
	const struct kr_transaction *txns = w->h->txns.at;
	struct kr_lint_finding finding = kr_lint_at(at.txn, at.op);

	if (e->initial || e->writers != 1 || e->first.i == at.txn.i || w->early.i == at.txn.i ||
		!kr_history_precedes(w->h, at.txn, e->first))
		return KR_OK;
	w->early = at.txn;
	finding.key = e->key;
	finding.value = e->value;
	finding.element = e->element;
	finding.other = e->first;
	finding.time = txns[at.txn.i].end_returned;
	finding.other_time = txns[e->first.i].begin_invoked;
	return kr_lint_put(w, KR_LINT_EARLY_READ, finding);
}

static enum kr_status judge_told(struct kr_lint_work *w)
{
	for (kr_txn t = {0}; t.i < w->h->txns.n; t.i++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (w->told[t.i].reader.i == KR_NONE)
			continue;

		const struct kr_lint_entry *e = &w->entries.at[w->told[t.i].entry];
		struct kr_lint_finding finding = kr_lint_at(t, e->first_op);

		finding.key = e->key;
		finding.value = e->value;
		finding.element = e->element;
		finding.other = w->told[t.i].reader;
		KR_TRY(kr_lint_put(w,
			w->h->txns.at[t.i].status == KR_ABORTED ? KR_LINT_ABORTED_READ : KR_LINT_UNKNOWN_READ,
			finding));
	}
	return KR_OK;
}

static enum kr_status unwritten(struct kr_lint_work *w, struct kr_lint_entry *e, struct place at)
{
	struct kr_lint_finding finding = kr_lint_at(at.txn, at.op);
	kr_value *assumed = &w->keys[e->key.i].assumed;

	if (kr_history_untold(w->h)) {
		if (assumed->i == KR_NONE)
			*assumed = e->value;
		if (kr_has_elements(w->h, e->key) || assumed->i == e->value.i)
			return KR_OK;
	}
	if (e->told)
		return KR_OK;
	e->told = true;
	finding.key = e->key;
	finding.value = e->value;
	finding.element = e->element;
	return kr_lint_put(w, KR_LINT_VALUE_UNWRITTEN, finding);
}

static enum kr_status see(struct kr_lint_work *w, kr_key key, kr_value value, struct kr_piece element,
	struct place at)
{
	struct kr_lint_entry *e = kr_lint_entry(w, key, value, element);

	if (!e)
		return KR_NOMEM;
	if (e->first.i == KR_NONE && !e->initial)
		return unwritten(w, e, at);
	if (!element.text && value.i == KR_ABSENT.i)
		return KR_OK; /* many deletes look alike */
	judge_writers(w, e, at.txn);
	return judge_clocks(w, e, at);
}

static void see_type(struct kr_lint_key *k, enum kr_value_type type, struct place at)
{
	uint32_t bit = 1u << (type == KR_VALUE_FALSE ? KR_VALUE_TRUE : type);

	if (type == KR_VALUE_ABSENT)
		return;
	if (k->types != 0 && k->types != bit && k->mixed.i == KR_NONE) {
		k->mixed = at.txn;
		k->mixed_op = at.op;
	}
	k->types |= bit;
}

static void see_key(struct kr_lint_work *w, kr_key key, struct place at)
{
	struct kr_lint_key *k = &w->keys[key.i];

	if (k->read.i != KR_NONE)
		return;
	k->read = at.txn;
	k->read_op = at.op;
}

static enum kr_status see_value(struct kr_lint_work *w, kr_key key, kr_value seen, struct place at)
{
	const struct kr_value_entry *entry = kr_history_value(w->h, seen);
	kr_value value = kr_lint_value(w->h, key, seen);
	struct kr_lint_key *k = &w->keys[key.i];
	struct kr_piece piece;

	see_key(w, key, at);
	see_type(k, entry->type, at);
	k->last = at.txn;
	k->value = value;
	if (w->h->keys.at[key.i].kind == KR_KIND_COUNTER)
		return KR_OK;
	if (!kr_has_elements(w->h, key) || entry->type != KR_VALUE_ARRAY || value.i == KR_ABSENT.i)
		return see(w, key, value, (struct kr_piece){0}, at);
	for (size_t i = 1; kr_piece_next(entry->text, entry->length, &i, &piece);) {
		KR_TRY(kr_ctx_tick(w->ctx));
		KR_TRY(see(w, key, (kr_value){KR_NONE}, piece, at));
	}
	return KR_OK;
}

/* A write of a register: is it what the transaction read last? After it, nothing is. */
static enum kr_status compare(struct kr_lint_work *w, kr_key key, kr_value value, struct place at)
{
	struct kr_lint_key *k = &w->keys[key.i];
	bool same = k->last.i == at.txn.i && k->value.i == value.i && value.i != KR_NONE;
	struct kr_lint_finding finding = kr_lint_at(at.txn, at.op);

	k->value = (kr_value){KR_NONE};
	finding.key = key;
	finding.value = value;
	return same ? kr_lint_put(w, KR_LINT_SAME_VALUE, finding) : KR_OK;
}

static enum kr_status read_rows(struct kr_lint_work *w, const struct kr_operation *op, struct place at)
{
	const struct kr_scan *scan = &w->h->scans.at[op->scan];

	for (uint32_t i = 0; i < scan->row_count; i++) {
		const struct kr_row *row = &w->h->rows.at[scan->row_first + i];
		KR_TRY(kr_ctx_tick(w->ctx));
		if (op->kind == KR_OP_UPDATE)
			w->keys[row->key.i].value = (kr_value){KR_NONE};
		else
			KR_TRY(see_value(w, row->key, row->value, at));
	}
	return KR_OK;
}

/* Did nobody see the result? */
static bool is_unanswered(const struct kr_history *h, struct place at)
{
	const struct kr_attr *attr = kr_history_attr(h, kr_history_op(h, at.txn, at.op));

	return attr && attr->open;
}

static enum kr_status read_op(struct kr_lint_work *w, const struct kr_operation *op, struct place at)
{
	bool open = is_unanswered(w->h, at);
	struct kr_view view = kr_op_view(op);
	struct kr_write write;

	if (kr_op_scans(op))
		return open && kr_op_is_read(op) ? KR_OK : read_rows(w, op, at);
	if (open && view.when == KR_SEEN_BEFORE && !kr_op_is_read(op))
		return compare(w, op->key, KR_UNTOLD, at);
	if (view.when == KR_SEEN_BEFORE || kr_op_is_read(op))
		see_key(w, op->key, at);
	if (view.when == KR_SEEN_BEFORE && !view.other && !open)
		KR_TRY(see_value(w, op->key, view.value, at));
	if (!kr_write_at(w->h, op, 0, &write) || write.how == KR_ADD)
		return KR_OK;
	return compare(w, op->key, write.value.i == KR_ABSENT.i ? KR_UNTOLD : write.value, at);
}

static enum kr_status judge_keys(struct kr_lint_work *w)
{
	for (kr_key key = {0}; key.i < w->h->keys.n; key.i++) {
		const struct kr_lint_key *k = &w->keys[key.i];
		struct kr_lint_finding finding = kr_lint_at(k->read, k->read_op);

		KR_TRY(kr_ctx_tick(w->ctx));
		finding.key = key;
		if (k->read.i != KR_NONE && !k->written)
			KR_TRY(kr_lint_put(w, KR_LINT_KEY_UNWRITTEN, finding));
		finding.txn = k->mixed;
		finding.op = k->mixed_op;
		finding.types = k->types;
		if (k->mixed.i != KR_NONE)
			KR_TRY(kr_lint_put(w, KR_LINT_MIXED_TYPES, finding));
	}
	return KR_OK;
}

enum kr_status kr_lint_reads(struct kr_lint_work *w)
{
	const struct kr_history *h = w->h;

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
			KR_TRY(kr_ctx_tick(w->ctx));
			KR_TRY(read_op(w, &h->ops.at[h->txns.at[t.i].op_first + i], (struct place){t, i}));
		}
	}
	KR_TRY(judge_keys(w));
	return judge_told(w);
}
