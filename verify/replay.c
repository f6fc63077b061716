/* Replays a serial order: one transaction after the other, each operation against the state that those before
 * it left. What an operation claims to have seen must be what is there; what it wrote is there from then on,
 * first for its own transaction. That intermediate and aborted versions are never seen, and that reads agree
 * with each other, needs no rule of its own: there is only the state. Needs a checked list of members
 * (order.c). Cost: linear in operations and rows; a scan looks at every key that is present. */
#include "verify/replayed.h"
#include "verify/saw.h"

#include <stdio.h>

#include "base/bits.h"

/* What a guess at an initial value does not fit is not judged, nor what has grown from it. */
static bool is_guess(struct kr_replayed *r, kr_key k)
{
	return (r->little && r->little[k.i] == KR_LITTLE_GUESSED &&
		       (kr_store_is_absent(&r->store, k) || kr_saw_grows(r->v->h, k))) ||
		(r->store.learned && !kr_learned_settles(r->store.learned, r->v->h, k));
}

static enum kr_status refuse_guess(const struct kr_replayed *r, kr_key k)
{
	return kr_err_set(r->v->err, KR_UNSUPPORTED, "what was seen of %s, whose initial value is not told",
		kr_verify_key_name(r->v->h, k).text);
}

static enum kr_status mismatch(struct kr_replayed *r, kr_key k, const char *saw)
{
	const struct kr_history *h = r->v->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, r->txn, r->op).i];
	char there[96];

	if (is_guess(r, k))
		return refuse_guess(r, k);
	kr_store_describe(&r->store, k, there, sizeof there);
	return kr_err_set(r->v->err, KR_BAD,
		"operation %u of %s (%s) saw that %s is %s, but in the order it is %s there", (unsigned)r->op,
		kr_verify_txn_name(h, r->txn).text, kr_op_name(op->kind), kr_verify_key_name(h, k).text, saw,
		there);
}

/* ---- operations on one key ---- */

static enum kr_status expect(struct kr_replayed *r, kr_key k, kr_value value)
{
	bool holds;
	char saw[96];

	KR_TRY(kr_store_is(&r->store, k, value, &holds));
	if (holds)
		return KR_OK;
	return mismatch(r, k, kr_history_brief(r->v->h, value, saw, sizeof saw));
}

static enum kr_status expect_not(struct kr_replayed *r, kr_key k, kr_value value)
{
	bool holds;
	char other[64], saw[96];

	KR_TRY(kr_store_is_not(&r->store, k, value, &holds));
	if (holds)
		return KR_OK;
	(void)snprintf(saw, sizeof saw, "not %s", kr_history_brief(r->v->h, value, other, sizeof other));
	return mismatch(r, k, saw);
}

/* What the transaction was shown of a counter, at its operation at hand or later, less what it has added
 * since. False: nothing. */
static bool find_count(const struct kr_replayed *r, kr_key k, int64_t *out)
{
	const struct kr_history *h = r->v->h;
	int64_t added = 0;

	for (uint32_t i = r->op; i < h->txns.at[r->txn.i].op_count; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, r->txn, i).i];
		struct kr_saw saw = kr_saw_of(h, op, k);
		kr_value shown = saw.test == KR_SAW_VALUE ? saw.value
			: saw.test == KR_SAW_UNTOLD       ? op->b
							  : (kr_value){KR_NONE};

		if (op->kind == KR_OP_INC && op->key.i == k.i &&
			(kr_history_value(h, op->a)->type != KR_VALUE_INT ||
				__builtin_add_overflow(added, kr_history_value(h, op->a)->integer, &added)))
			return false;
		if (op->kind == KR_OP_DELETE && op->key.i == k.i && kr_effect_count(h, op) > 0)
			return false;
		if (shown.i != KR_NONE)
			return kr_history_value(h, shown)->type == KR_VALUE_INT &&
				!__builtin_sub_overflow(kr_history_value(h, shown)->integer, added, out);
	}
	return false;
}

static int64_t delta_of(const struct kr_history *h, const struct kr_operation *op)
{
	const struct kr_value_entry *delta = kr_history_value(h, op->a);

	return delta->type == KR_VALUE_INT ? delta->integer : 0;
}

/* What an increment, or a read after it, tells of what was there before; where that is being learned, it
 * becomes what is there. */
static enum kr_status learn_count(struct kr_replayed *r, const struct kr_operation *op, bool *out)
{
	int64_t before;

	if (!kr_store_learns(&r->store, op->key))
		return KR_OK;
	if (!find_count(r, op->key, &before)) { /* a later transaction may tell */
		*out = true;
		return kr_learned_add(r->store.learned, op->key, delta_of(r->v->h, op));
	}
	enum kr_status status = before == 0 ? kr_learned_zero(r->store.learned, op->key)
					    : kr_learned_number(r->store.learned, op->key, before);
	kr_store_put(&r->store, op->key, (struct kr_cell){KR_CELL_INT, .integer = before});
	return status;
}

static enum kr_status count(struct kr_replayed *r, const struct kr_operation *op, int64_t *after)
{
	const struct kr_history *h = r->v->h;
	KR_TRY(kr_store_count(&r->store, op->key, after, r->v->err));
	if (kr_history_value(h, op->a)->type != KR_VALUE_INT ||
		__builtin_add_overflow(*after, delta_of(h, op), after))
		return kr_err_set(r->v->err, KR_BAD, "operation %u of %s takes %s beyond 64 bits",
			(unsigned)r->op, kr_verify_txn_name(h, r->txn).text,
			kr_verify_key_name(h, op->key).text);
	kr_store_put(&r->store, op->key, (struct kr_cell){KR_CELL_INT, .integer = *after});
	return KR_OK;
}

static enum kr_status replay_inc(struct kr_replayed *r, const struct kr_operation *op)
{
	const struct kr_history *h = r->v->h;
	int64_t after = 0;
	bool added = false;
	char saw[96];

	KR_TRY(learn_count(r, op, &added));
	if (added)
		return KR_OK;
	KR_TRY(count(r, op, &after));
	if (!(op->flags & KR_OPF_KNOWN))
		return KR_OK;

	const struct kr_value_entry *result = kr_history_value(h, op->b);

	if (result->type == KR_VALUE_INT && result->integer == after)
		return KR_OK;
	return mismatch(r, op->key, kr_history_brief(h, op->b, saw, sizeof saw));
}

/* ---- predicate reads ---- */

static enum kr_status unexpected_row(struct kr_replayed *r, kr_key k, const char *why)
{
	const struct kr_history *h = r->v->h;

	if (is_guess(r, k))
		return refuse_guess(r, k);
	return kr_err_set(r->v->err, KR_BAD, "operation %u of %s returned %s, but in the order %s",
		(unsigned)r->op, kr_verify_txn_name(h, r->txn).text, kr_verify_key_name(h, k).text, why);
}

/* Walks the keys that are there between the bounds beside the rows returned, which are in the same order. */
static enum kr_status replay_range(struct kr_replayed *r, const struct kr_scan *scan)
{
	const struct kr_row *rows = r->v->h->rows.at + scan->row_first;
	uint32_t low, high, rank, next = 0;

	kr_store_bounds(&r->store, scan->low, scan->high, &low, &high);
	while ((scan->limit < 0 || next < (uint64_t)scan->limit) &&
		(rank = kr_store_next(&r->store, low, high, scan->reverse)) != KR_NONE) {
		kr_key k = r->store.by_rank[rank];
		bool returned = next < scan->row_count && rows[next].key.i == k.i;

		KR_TRY(kr_ctx_tick(r->v->ctx));
		KR_TRY(expect(r, k, returned ? rows[next].value : KR_ABSENT));
		next += returned;
		if (scan->reverse)
			high = rank;
		else
			low = rank + 1;
	}
	return next == scan->row_count
		? KR_OK
		: unexpected_row(r, rows[next].key,
			  "it is not there, not between the bounds, or not in its place");
}

/* Whether the key, which is present or untold, meets the conditions. A row that was read tells an untold
 * value. */
static enum kr_status matches(struct kr_replayed *r, const struct kr_operation *op, kr_key k,
	const struct kr_row *row, bool *out)
{
	const struct kr_history *h = r->v->h;
	const struct kr_scan *scan = &h->scans.at[op->scan];
	const struct kr_cell *cell = &r->store.cells[k.i];
	bool settled = false;

	if ((cell->kind == KR_CELL_UNTOLD || kr_store_learns(&r->store, k)) && row && op->kind == KR_OP_SCAN)
		KR_TRY(expect(r, k, row->value));
	*out = row != NULL;
	if (kr_store_learns(&r->store, k))
		return row ? kr_learned_other(&r->store, k) : KR_OK;
	if (cell->kind == KR_CELL_UNTOLD)
		KR_TRY(kr_replay_untold(r, op, k, row != NULL, &settled));
	if (settled)
		return KR_OK;
	KR_TRY(kr_store_matches(&r->store, scan, k, out, r->v->err));
	if (!*out || cell->kind != KR_CELL_UNTOLD)
		return KR_OK;
	/* The conditions do not ask for the value, so whether the key was returned tells whether it is
	 * present. */
	if (row) /* an update, which does not tell it */
		return expect_not(r, k, KR_ABSENT);
	*out = false;
	return expect(r, k, KR_ABSENT);
}

static const struct kr_row *row_of(const struct kr_scan *scan, const struct kr_row *rows,
	const uint32_t *marks, kr_key k)
{
	uint32_t mark = marks[k.i];

	return mark >= scan->row_first + 1 && mark <= scan->row_first + scan->row_count ? &rows[mark - 1]
											: NULL;
}

static enum kr_status replay_scan(struct kr_replayed *r, const struct kr_operation *op)
{
	const struct kr_history *h = r->v->h;
	const struct kr_scan *scan = &h->scans.at[op->scan];
	uint32_t low = 0, met = 0, rank;
	bool holds = false;

	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++)
		r->row_marks[h->rows.at[i].key.i] = i + 1;
	for (; (rank = kr_store_next(&r->store, low, h->keys.n, false)) != KR_NONE; low = rank + 1) {
		kr_key k = r->store.by_rank[rank];
		const struct kr_row *row = row_of(scan, h->rows.at, r->row_marks, k);

		KR_TRY(kr_ctx_tick(r->v->ctx));
		KR_TRY(matches(r, op, k, row, &holds));
		if (holds && !row)
			return mismatch(r, k, "no match");
		if (!holds && row)
			return unexpected_row(r, k, "it does not match");
		if (row && op->kind == KR_OP_SCAN)
			KR_TRY(expect(r, k, row->value));
		met += row != NULL;
	}
	if (met == scan->row_count)
		return KR_OK;
	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++) {
		kr_key k = h->rows.at[i].key;
		if (r->row_marks[k.i] != i + 1 || !kr_bits_get(r->store.present, r->store.ranks[k.i]))
			return unexpected_row(r, k, "it is not there, or was returned twice");
	}
	return KR_INTERNAL;
}

/* ---- named versions ---- */

static bool wrote_before(const struct kr_replayed *r, kr_key k)
{
	for (struct kr_effects e = kr_effects_of(r->v->h, r->txn); kr_effects_next(&e) && e.op < r->op;)
		if (e.row.key.i == k.i)
			return true;
	return false;
}

/* Whether the versions that are there are those that the operation names, of keys that it looked at and the
 * transaction had not written. */
static enum kr_status check_named(const struct kr_replayed *r, kr_op id)
{
	const struct kr_history *h = r->v->h;
	const struct kr_attr *attr = kr_history_attr(h, id);

	for (uint32_t i = 0; attr && i < attr->seen_count; i++) {
		const struct kr_seen *seen = &h->seen.at[attr->seen_first + i];
		kr_txn last = r->writer[seen->key.i];

		if (seen->writer.i == (last.i == KR_NONE ? KR_ABSENT : h->txns.at[last.i].id).i ||
			wrote_before(r, seen->key) ||
			kr_saw_of(h, &h->ops.at[id.i], seen->key).test == KR_SAW_NOTHING)
			continue;
		return kr_err_set(r->v->err, KR_BAD,
			"operation %u of %s names another version of %s than the one that is there in the "
			"order",
			(unsigned)r->op, kr_verify_txn_name(h, r->txn).text,
			kr_verify_key_name(h, seen->key).text);
	}
	return KR_OK;
}

/* What t wrote is there. */
static void note_writer(struct kr_replayed *r, kr_txn t)
{
	for (struct kr_effects e = kr_effects_of(r->v->h, t); kr_effects_next(&e);)
		r->writer[e.row.key.i] = t;
}

/* ---- all operations ---- */

bool kr_replay_shows_zero(const struct kr_history *h, kr_key k, const struct kr_saw *saw)
{
	const struct kr_value_entry *e = saw->test == KR_SAW_VALUE ? kr_history_value(h, saw->value) : NULL;

	return h->keys.at[k.i].kind == KR_KIND_COUNTER && e && e->type == KR_VALUE_INT && e->integer == 0;
}

/* A read of a counter does not tell 0 from absent. */
static enum kr_status see_zero(struct kr_replayed *r, kr_key k, kr_value zero)
{
	bool absent;

	if (kr_store_learns(&r->store, k))
		return kr_learned_zero(r->store.learned, k);
	if (r->store.cells[k.i].kind == KR_CELL_UNTOLD)
		return expect(r, k, zero);
	KR_TRY(kr_store_is(&r->store, k, KR_ABSENT, &absent));
	return absent ? KR_OK : expect(r, k, zero);
}

static enum kr_status see(struct kr_replayed *r, const struct kr_operation *op)
{
	if (op->kind == KR_OP_INC)
		return KR_OK; /* its result is compared when it is applied */
	if (op->kind == KR_OP_RANGE)
		return replay_range(r, &r->v->h->scans.at[op->scan]);
	if (kr_op_scans(op))
		return replay_scan(r, op);
	struct kr_saw saw = kr_saw_of(r->v->h, op, op->key);
	if (saw.test == KR_SAW_VALUE && kr_store_is_plainly(&r->store, op->key, saw.value))
		return KR_OK;
	if (op->kind == KR_OP_READ && kr_replay_shows_zero(r->v->h, op->key, &saw))
		return see_zero(r, op->key, saw.value);
	if (saw.test == KR_SAW_VALUE)
		return expect(r, op->key, saw.value);
	return saw.test == KR_SAW_OTHER ? expect_not(r, op->key, saw.value) : KR_OK;
}

/* What an operation leaves of a key; `i` counts its effects. */
static enum kr_status leave(struct kr_replayed *r, const struct kr_operation *op, uint32_t i)
{
	struct kr_written_row effect;

	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_INC: return replay_inc(r, op);
	case KR_OP_APPEND: return kr_store_append(&r->store, op->key, op->a, r->v->err);
	case KR_OP_ADD: return kr_store_add(&r->store, op->key, op->a, r->v->err);
	case KR_OP_MAX:
		return kr_store_learns(&r->store, op->key)
			? kr_learned_raise(r->store.learned, op->key, delta_of(r->v->h, op))
			: kr_store_raise(&r->store, op->key, op->a, r->v->err);
	default:
		effect = kr_effect_at(r->v->h, op, i);
		kr_store_write(&r->store, effect.key, effect.value);
		return KR_OK;
	}
}

enum kr_status kr_replay_grow(struct kr_replayed *r, const struct kr_operation *op)
{
	int64_t after;

	if (op->kind != KR_OP_INC)
		return leave(r, op, 0);
	if (kr_store_learns(&r->store, op->key))
		return kr_learned_add(r->store.learned, op->key, delta_of(r->v->h, op));
	return count(r, op, &after);
}

enum kr_status kr_replay_txn(struct kr_replayed *r, kr_txn t, bool undo)
{
	const struct kr_history *h = r->v->h;
	uint32_t first = h->txns.at[t.i].op_first, count = h->txns.at[t.i].op_count;
	enum kr_status status = KR_OK;

	r->txn = t;
	for (r->op = 0; r->op < count && status == KR_OK; r->op++) {
		const struct kr_operation *op = &h->ops.at[first + r->op];
		uint32_t effects = kr_effect_count(h, op);

		status = kr_ctx_tick(r->v->ctx);
		if (status == KR_OK)
			status = see(r, op);
		if (status == KR_OK && h->seen.n > 0)
			status = check_named(r, kr_history_op(h, t, r->op));
		for (uint32_t i = 0; i < effects && status == KR_OK; i++) {
			if (undo)
				status = kr_store_touch(&r->store, kr_effect_at(h, op, i).key);
			if (status == KR_OK)
				status = leave(r, op, i);
		}
	}
	if (undo)
		kr_store_undo(&r->store);
	else if (h->seen.n > 0)
		note_writer(r, t);
	return status;
}

/* ---- one key ---- */

static enum kr_status see_match(struct kr_replayed *r, const struct kr_operation *op,
	const struct kr_saw *saw, kr_key k)
{
	bool absent = true, holds = false, settled = false, met = saw->test == KR_SAW_MATCH,
	     untold = r->store.cells[k.i].kind == KR_CELL_UNTOLD;

	if (kr_store_learns(&r->store, k))
		return met ? kr_learned_other(&r->store, k) : KR_OK;
	if (untold)
		KR_TRY(kr_replay_untold(r, op, k, met, &settled));
	if (settled)
		return KR_OK;
	if (untold)
		return kr_err_set(r->v->err, KR_UNSUPPORTED,
			"what a predicate read says of %s, whose initial value is not told",
			kr_verify_key_name(r->v->h, k).text);
	KR_TRY(kr_store_is(&r->store, k, KR_ABSENT, &absent));
	if (!absent)
		KR_TRY(kr_store_matches(&r->store, &r->v->h->scans.at[saw->scan], k, &holds, r->v->err));
	return holds == met ? KR_OK : mismatch(r, k, holds ? "no match" : "a match");
}

static enum kr_status see_key(struct kr_replayed *r, const struct kr_operation *op, kr_key k)
{
	struct kr_saw saw = kr_saw_of(r->v->h, op, k);

	switch (saw.test) {
	case KR_SAW_MATCH:
	case KR_SAW_NO_MATCH: return see_match(r, op, &saw, k);
	case KR_SAW_UNTOLD: return leave(r, op, 0);
	case KR_SAW_VALUE: break;
	case KR_SAW_OTHER: return expect_not(r, k, saw.value);
	case KR_SAW_NOTHING: return KR_OK;
	}
	if (op->kind == KR_OP_READ && kr_replay_shows_zero(r->v->h, k, &saw))
		return see_zero(r, k, saw.value);
	return expect(r, k, saw.value);
}

enum kr_status kr_replay_sight(struct kr_replayed *r, kr_txn t, uint32_t index, kr_key k, bool own)
{
	const struct kr_history *h = r->v->h;
	enum kr_status status = KR_OK;

	r->txn = t;
	for (r->op = 0; own && r->op < index && status == KR_OK; r->op++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, r->op).i];
		uint32_t effects = kr_effect_count(h, op);

		for (uint32_t i = 0; i < effects && status == KR_OK; i++) {
			if (kr_effect_at(h, op, i).key.i != k.i)
				continue;
			status = kr_store_touch(&r->store, k);
			if (status == KR_OK)
				status = leave(r, op, i);
		}
	}
	r->op = index;
	if (status == KR_OK && (own || r->store.learned)) /* else a look changes nothing that is told */
		status = kr_store_touch(&r->store, k);
	if (status == KR_OK && r->store.cells[k.i].kind == KR_CELL_UNTOLD && !kr_store_learns(&r->store, k))
		r->store.touched.n = 0; /* what the observation fixes of an initial value stays */
	if (status == KR_OK)
		status = see_key(r, &h->ops.at[kr_history_op(h, t, index).i], k);
	kr_store_undo(&r->store);
	return status;
}

/* ---- life ---- */

enum kr_status kr_replay_init(struct kr_replayed *r, struct kr_verifier *v)
{
	bool ordered = v->h->scans.n > 0;

	*r = (struct kr_replayed){.v = v};
	KR_TRY(kr_store_init(&r->store, v->ctx, v->h, ordered));
	enum kr_status status = KR_OK;
	r->store.learned = v->learned;
	/* there the first read tells */
	if (v->h->initial == KR_INITIAL_UNKNOWN && v->cert->kind != KR_CERT_REPLAY)
		status = kr_store_pin_lists(&r->store);
	if (status == KR_OK && v->learned && !v->learned->learning)
		status = kr_learned_start(&r->store);
	if (ordered)
		r->row_marks = kr_mem_alloc(&v->ctx->mem, v->h->keys.n, sizeof *r->row_marks);
	if (ordered)
		r->little = kr_mem_alloc(&v->ctx->mem, v->h->keys.n, sizeof *r->little);
	r->writer = kr_mem_alloc(&v->ctx->mem, v->h->keys.n, sizeof *r->writer);
	for (uint32_t k = 0; r->writer && k < v->h->keys.n; k++)
		r->writer[k] = (kr_txn){KR_NONE};
	if (status == KR_OK && (!ordered || (r->row_marks && r->little)) && r->writer)
		return KR_OK;
	kr_replay_done(r);
	return KR_NOMEM;
}

void kr_replay_done(struct kr_replayed *r)
{
	kr_mem_free(&r->v->ctx->mem, r->row_marks, r->v->h->keys.n, sizeof *r->row_marks);
	kr_mem_free(&r->v->ctx->mem, r->little, r->v->h->keys.n, sizeof *r->little);
	kr_mem_free(&r->v->ctx->mem, r->writer, r->v->h->keys.n, sizeof *r->writer);
	kr_store_done(&r->store);
}

enum kr_status kr_verify_replay(struct kr_verifier *v)
{
	struct kr_replayed r;
	KR_TRY(kr_replay_init(&r, v));
	enum kr_status status = KR_OK;
	for (uint32_t i = 0; i < v->cert->serial.n && status == KR_OK; i++) {
		status = kr_replay_txn(&r, v->cert->serial.at[i], false);
		kr_ctx_progress(v->ctx, "checking the proof", i, v->cert->serial.n);
	}
	kr_replay_done(&r);
	return status;
}
