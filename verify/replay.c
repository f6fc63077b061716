/* Replays a serial order: one transaction after the other, each operation against the state that those before it left. What an operation claims to have seen
 * must be what is there; what it wrote is there from then on, first for its own transaction. That intermediate and aborted versions are never
 * seen, and that reads agree with each other, needs no rule of its own: there is only the state. Needs a checked list of members (order.c).
 * Cost: linear in operations and rows; a scan looks at every key that is present. */
#include "verify/saw.h"
#include "verify/store.h"
#include "verify/verifier.h"

#include <stdio.h>

struct replay {
	struct kr_verifier *v;
	struct kr_store store;
	uint32_t *row_marks; /* per key: 1 + the newest row that returned it; only for predicate reads */
	kr_txn txn;          /* what is being replayed */
	uint32_t op;
};

static enum kr_status mismatch(const struct replay *r, kr_key k, const char *saw)
{
	const struct kr_history *h = r->v->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, r->txn, r->op).i];
	char there[96];

	kr_store_describe(&r->store, k, there, sizeof there);
	return kr_err_set(r->v->err, KR_BAD, "operation %u of %s (%s) saw that %s is %s, but in the order it is %s there", (unsigned)r->op,
		kr_verify_txn_name(h, r->txn).text, kr_op_name(op->kind), kr_verify_key_name(h, k).text, saw, there);
}

/* ---- operations on one key ---- */

static enum kr_status expect(struct replay *r, kr_key k, kr_value value)
{
	bool holds;
	enum kr_status status = kr_store_is(&r->store, k, value, &holds);
	char saw[96];

	if (status != KR_OK || holds)
		return status;
	return mismatch(r, k, kr_history_brief(r->v->h, value, saw, sizeof saw));
}

static enum kr_status expect_not(struct replay *r, kr_key k, kr_value value)
{
	bool holds;
	enum kr_status status = kr_store_is_not(&r->store, k, value, &holds);
	char other[64], saw[96];

	if (status != KR_OK || holds)
		return status;
	(void)snprintf(saw, sizeof saw, "not %s", kr_history_brief(r->v->h, value, other, sizeof other));
	return mismatch(r, k, saw);
}

static enum kr_status replay_inc(struct replay *r, const struct kr_operation *op)
{
	const struct kr_history *h = r->v->h;
	const struct kr_value_entry *delta = kr_history_value(h, op->a);
	int64_t before = 0, after;
	enum kr_status status = kr_store_count(&r->store, op->key, &before, r->v->err);
	char saw[96];

	if (status != KR_OK)
		return status;
	if (delta->type != KR_VALUE_INT || __builtin_add_overflow(before, delta->integer, &after))
		return kr_err_set(r->v->err, KR_BAD, "operation %u of %s takes %s beyond 64 bits", (unsigned)r->op, kr_verify_txn_name(h, r->txn).text,
			kr_verify_key_name(h, op->key).text);
	kr_store_put(&r->store, op->key, (struct kr_cell){KR_CELL_INT, .integer = after});
	if (!(op->flags & KR_OPF_KNOWN))
		return KR_OK;

	const struct kr_value_entry *result = kr_history_value(h, op->b);

	if (result->type == KR_VALUE_INT && result->integer == after)
		return KR_OK;
	return mismatch(r, op->key, kr_history_brief(h, op->b, saw, sizeof saw));
}

/* ---- predicate reads ---- */

static enum kr_status unexpected_row(const struct replay *r, kr_key k, const char *why)
{
	const struct kr_history *h = r->v->h;

	return kr_err_set(r->v->err, KR_BAD, "operation %u of %s returned %s, but in the order %s", (unsigned)r->op, kr_verify_txn_name(h, r->txn).text,
		kr_verify_key_name(h, k).text, why);
}

/* Walks the keys that are there between the bounds beside the rows returned, which are in the same order. */
static enum kr_status replay_range(struct replay *r, const struct kr_scan *scan)
{
	const struct kr_row *rows = r->v->h->rows.at + scan->row_first;
	uint32_t low, high, rank, next = 0;
	enum kr_status status;

	kr_store_bounds(&r->store, scan->low, scan->high, &low, &high);
	while ((scan->limit < 0 || next < (uint64_t)scan->limit) && (rank = kr_store_next(&r->store, low, high, scan->reverse)) != KR_NONE) {
		kr_key k = r->store.by_rank[rank];
		bool returned = next < scan->row_count && rows[next].key.i == k.i;

		if ((status = kr_ctx_tick(r->v->ctx)) != KR_OK || (status = expect(r, k, returned ? rows[next].value : KR_ABSENT)) != KR_OK)
			return status;
		next += returned;
		if (scan->reverse)
			high = rank;
		else
			low = rank + 1;
	}
	return next == scan->row_count ? KR_OK : unexpected_row(r, rows[next].key, "it is not there, not between the bounds, or not in its place");
}

/* Whether the key, which is present or untold, meets the conditions. A row that was read tells an untold value. */
static enum kr_status matches(struct replay *r, const struct kr_operation *op, kr_key k, const struct kr_row *row, bool *out)
{
	const struct kr_history *h = r->v->h;
	const struct kr_scan *scan = &h->scans.at[op->scan];
	const struct kr_cell *cell = &r->store.cells[k.i];
	enum kr_status status = KR_OK;

	if (cell->kind == KR_CELL_UNTOLD && row && op->kind == KR_OP_SCAN)
		status = expect(r, k, row->value);
	if (status == KR_OK)
		status = kr_where_holds(h, scan, k, cell->kind == KR_CELL_VALUE ? cell->value : (kr_value){KR_NONE}, out, r->v->err);
	if (status == KR_OK && *out && cell->kind == KR_CELL_UNTOLD) {
		/* The conditions do not ask for the value, so whether the key was returned tells whether it is present. */
		if (row)
			return kr_err_set(r->v->err, KR_UNSUPPORTED, "an update of %s, whose initial value is not told", kr_verify_key_name(h, k).text);
		status = expect(r, k, KR_ABSENT);
		*out = false;
	}
	return status;
}

static const struct kr_row *row_of(const struct kr_scan *scan, const struct kr_row *rows, const uint32_t *marks, kr_key k)
{
	uint32_t mark = marks[k.i];

	return mark >= scan->row_first + 1 && mark <= scan->row_first + scan->row_count ? &rows[mark - 1] : NULL;
}

static enum kr_status replay_scan(struct replay *r, const struct kr_operation *op)
{
	const struct kr_history *h = r->v->h;
	const struct kr_scan *scan = &h->scans.at[op->scan];
	uint32_t low = 0, met = 0, rank;
	bool holds = false;
	enum kr_status status = KR_OK;

	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++)
		r->row_marks[h->rows.at[i].key.i] = i + 1;
	for (; status == KR_OK && (rank = kr_store_next(&r->store, low, h->keys.n, false)) != KR_NONE; low = rank + 1) {
		kr_key k = r->store.by_rank[rank];
		const struct kr_row *row = row_of(scan, h->rows.at, r->row_marks, k);

		status = kr_ctx_tick(r->v->ctx);
		if (status == KR_OK)
			status = matches(r, op, k, row, &holds);
		if (status == KR_OK && holds && !row)
			return mismatch(r, k, "no match");
		if (status == KR_OK && !holds && row)
			return unexpected_row(r, k, "it does not match");
		if (status == KR_OK && row && op->kind == KR_OP_SCAN)
			status = expect(r, k, row->value);
		met += row != NULL;
	}
	if (status != KR_OK || met == scan->row_count)
		return status;
	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++) {
		kr_key k = h->rows.at[i].key;
		const struct kr_cell *cell = &r->store.cells[k.i];
		if (r->row_marks[k.i] != i + 1 || (cell->kind == KR_CELL_VALUE && cell->value.i == KR_ABSENT.i))
			return unexpected_row(r, k, "it is not there, or was returned twice");
	}
	return KR_OK;
}

/* ---- all operations ---- */

static enum kr_status see_and_write(struct replay *r, const struct kr_operation *op)
{
	struct kr_saw saw = kr_saw_of(r->v->h, op, op->key);
	enum kr_status status = KR_OK;

	if (saw.test == KR_SAW_VALUE)
		status = expect(r, op->key, saw.value);
	else if (saw.test == KR_SAW_OTHER)
		status = expect_not(r, op->key, saw.value);
	if (status == KR_OK && kr_effect_count(r->v->h, op) > 0)
		kr_store_write(&r->store, op->key, kr_effect_at(r->v->h, op, 0).value);
	return status;
}

static enum kr_status replay_op(struct replay *r, const struct kr_operation *op)
{
	const struct kr_history *h = r->v->h;
	enum kr_status status;

	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_INC: return replay_inc(r, op);
	case KR_OP_APPEND: return kr_store_append(&r->store, op->key, op->a, r->v->err);
	case KR_OP_ADD: return kr_store_add(&r->store, op->key, op->a, r->v->err);
	case KR_OP_RANGE: return replay_range(r, &h->scans.at[op->scan]);
	case KR_OP_SCAN: return replay_scan(r, op);
	case KR_OP_UPDATE:
		status = replay_scan(r, op);
		for (uint32_t i = 0; status == KR_OK && i < kr_effect_count(h, op); i++)
			kr_store_write(&r->store, kr_effect_at(h, op, i).key, kr_effect_at(h, op, i).value);
		return status;
	default: return see_and_write(r, op);
	}
}

static enum kr_status replay_all(struct replay *r)
{
	const struct kr_history *h = r->v->h;
	const struct kr_certificate *cert = r->v->cert;
	enum kr_status status;

	for (uint32_t i = 0; i < cert->serial.n; i++) {
		r->txn = cert->serial.at[i];
		for (r->op = 0; r->op < h->txns.at[r->txn.i].op_count; r->op++) {
			status = kr_ctx_tick(r->v->ctx);
			if (status == KR_OK)
				status = replay_op(r, &h->ops.at[kr_history_op(h, r->txn, r->op).i]);
			if (status != KR_OK)
				return status;
		}
		kr_ctx_progress(r->v->ctx, "replay", i, cert->serial.n);
	}
	return KR_OK;
}

enum kr_status kr_verify_replay(struct kr_verifier *v)
{
	struct kr_mem *mem = &v->ctx->mem;
	struct replay r = {.v = v};
	bool ordered = v->h->scans.n > 0;
	enum kr_status status = kr_store_init(&r.store, v->ctx, v->h, ordered);

	if (status != KR_OK)
		return status;
	if (ordered)
		r.row_marks = kr_mem_alloc(mem, v->h->keys.n, sizeof *r.row_marks);
	status = ordered && !r.row_marks ? KR_NOMEM : replay_all(&r);
	kr_mem_free(mem, r.row_marks, v->h->keys.n, sizeof *r.row_marks);
	kr_store_done(&r.store);
	return status;
}
