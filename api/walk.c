/* Reading a history: everything that a reader or a builder put into it, in the structs that build one. Arrays
 * are made anew by each call, in scratch memory of the history. */
#include "api/handle.h"
#include "krait/build.h"

static struct krait_value give(const struct kr_history *h, kr_value v)
{
	const struct kr_value_entry *e = kr_history_value(h, v);

	switch (e->type) {
	case KR_VALUE_ABSENT: break;
	case KR_VALUE_FALSE: return (struct krait_value){.type = KRAIT_BOOLEAN};
	case KR_VALUE_TRUE: return (struct krait_value){.type = KRAIT_BOOLEAN, .integer = 1};
	case KR_VALUE_INT: return (struct krait_value){.type = KRAIT_INTEGER, .integer = e->integer};
	case KR_VALUE_REAL: return (struct krait_value){.type = KRAIT_REAL, .real = e->real};
	case KR_VALUE_STRING:
		return (struct krait_value){.type = KRAIT_STRING, .text = e->text, .length = e->length};
	case KR_VALUE_ARRAY:
	case KR_VALUE_OBJECT:
		return (struct krait_value){.type = KRAIT_JSON, .text = e->text, .length = e->length};
	}
	return (struct krait_value){.type = KRAIT_ABSENT};
}

static struct krait_value give_key(const struct kr_history *h, kr_key k)
{
	return give(h, h->keys.at[k.i].name);
}

static enum krait_status none(const char *what, uint32_t asked, uint32_t count, struct krait_error *error)
{
	struct kr_err err = {.status = KR_OK};

	kr_err_set(&err, KR_BAD, "found %s %u asked for, expected one of %u, from 0", what, (unsigned)asked,
		(unsigned)count);
	return kr_public_fail(&err, KR_BAD, error);
}

static enum krait_status no_memory(struct krait_error *error)
{
	struct kr_err err = {.status = KR_OK};

	return kr_public_fail(&err, KR_NOMEM, error);
}

/* ---- the whole ---- */

const char *krait_history_format(const krait_history *h)
{
	return h->history.format ? h->history.format : "native";
}
uint32_t krait_history_keys(const krait_history *h) { return h->history.keys.n; }
uint32_t krait_history_version_orders(const krait_history *h) { return h->history.version_orders.n; }

enum krait_status krait_history_header(krait_history *handle, struct krait_header *out,
	struct krait_error *error)
{
	const struct kr_history *h = &handle->history;

	kr_public_begin(NULL, error);
	kr_vec_clear(&handle->walk.values);
	for (kr_key k = {0}; k.i < h->keys.n; k.i++)
		if (!kr_vec_push(&handle->self, &handle->walk.values, give_key(h, k)))
			return no_memory(error);
	*out = (struct krait_header){
		.name = h->name,
		.time_unit = h->time_unit,
		.clock_skew = h->clock_skew,
		.initial = (enum krait_initial)h->initial,
		.key_order = (enum krait_key_order)h->key_order,
		.row_separator = h->row_separator,
		.profile = h->profile,
		.universe = handle->walk.values.at,
		.universe_count = handle->walk.values.n,
	};
	return KRAIT_OK;
}

enum krait_status krait_history_key(const krait_history *handle, uint32_t key, struct krait_key *out,
	struct krait_error *error)
{
	const struct kr_history *h = &handle->history;

	kr_public_begin(NULL, error);
	if (key >= h->keys.n)
		return none("key", key, h->keys.n, error);
	*out = (struct krait_key){give_key(h, (kr_key){key}), give(h, h->keys.at[key].initial),
		(enum krait_key_kind)h->keys.at[key].kind, h->keys.at[key].declared};
	return KRAIT_OK;
}

enum krait_status krait_history_version_order(krait_history *handle, uint32_t i,
	struct krait_version_order *out, struct krait_error *error)
{
	const struct kr_history *h = &handle->history;

	kr_public_begin(NULL, error);
	if (i >= h->version_orders.n)
		return none("version order", i, h->version_orders.n, error);
	const struct kr_version_order *order = &h->version_orders.at[i];
	kr_vec_clear(&handle->walk.values);
	for (uint32_t w = 0; w < order->writer_count; w++)
		if (!kr_vec_push(&handle->self, &handle->walk.values,
			    give(h, h->txns.at[h->order_writers.at[order->writer_first + w].i].id)))
			return no_memory(error);
	*out = (struct krait_version_order){give_key(h, order->key), handle->walk.values.at,
		handle->walk.values.n};
	return KRAIT_OK;
}

/* ---- transactions ---- */

enum krait_status krait_history_transaction(const krait_history *handle, uint32_t t,
	struct krait_transaction *out, uint32_t *operations, struct krait_error *error)
{
	const struct kr_history *h = &handle->history;

	kr_public_begin(NULL, error);
	if (t >= h->txns.n)
		return none("transaction", t, h->txns.n, error);

	const struct kr_transaction *x = &h->txns.at[t];
	struct kr_white_box box = t < h->white_box.n ? h->white_box.at[t] : (struct kr_white_box){0};

	*out = (struct krait_transaction){
		.id = give(h, x->id),
		.session = x->session.i == KR_NONE ? krait_absent() : give(h, h->sessions.at[x->session.i]),
		.status = (enum krait_transaction_status)x->status,
		.has_begin = x->flags & KR_TXN_HAS_BEGIN,
		.has_end = x->flags & KR_TXN_HAS_END,
		.begin = {x->begin_invoked, x->begin_returned},
		.end = {x->end_invoked, x->end_returned},
		.line = x->line,
		.has_serial = x->flags & KR_TXN_HAS_SERIAL,
		.has_snapshot = x->flags & KR_TXN_HAS_SNAPSHOT,
		.has_commit_ts = x->flags & KR_TXN_HAS_COMMIT_TS,
		.serial = box.serial,
		.snapshot = box.snapshot,
		.commit_ts = box.commit_ts,
		.autocommit = x->flags & KR_TXN_AUTO,
		.begin_unanswered = x->flags & KR_TXN_BEGIN_OPEN,
		.end_unanswered = x->flags & KR_TXN_END_OPEN,
		.end_failed = x->flags & KR_TXN_END_FAILED,
		.has_snapshot_time = x->flags & KR_TXN_HAS_SNAPSHOT_T,
		.snapshot_time = {box.snapshot_t[0], box.snapshot_t[1]},
	};
	if (operations)
		*operations = kr_history_listed(h, (kr_txn){t});
	return KRAIT_OK;
}

/* ---- operations ---- */

static bool give_rows(krait_history *handle, const struct kr_scan *scan, struct krait_operation *out)
{
	const struct kr_history *h = &handle->history;

	kr_vec_clear(&handle->walk.rows);
	for (uint32_t r = 0; r < scan->row_count; r++) {
		const struct kr_row *row = &h->rows.at[scan->row_first + r];

		if (!kr_vec_push(&handle->self, &handle->walk.rows,
			    ((struct krait_row){give_key(h, row->key), give(h, row->value)})))
			return false;
	}
	out->rows = handle->walk.rows.at;
	out->row_count = scan->row_count;
	return true;
}

static bool give_conditions(krait_history *handle, const struct kr_scan *scan, struct krait_operation *out)
{
	const struct kr_history *h = &handle->history;

	kr_vec_clear(&handle->walk.conditions);
	for (uint32_t c = 0; c < scan->cond_count; c++) {
		const struct kr_cond *cond = &h->conds.at[scan->cond_first + c];
		struct krait_condition given = {
			.target = (enum krait_condition_target)cond->target,
			.test = cond->test == KR_COND_PREFIX ? KRAIT_EQ : (enum krait_test)cond->test,
			.field = cond->target == KR_COND_FIELD ? give(h, cond->field) : krait_absent(),
			.value = give(h, cond->value),
		};

		if (!kr_vec_push(&handle->self, &handle->walk.conditions, given))
			return false;
	}
	out->conditions = handle->walk.conditions.at;
	out->condition_count = scan->cond_count;
	return true;
}

static bool give_attributes(krait_history *handle, const struct kr_attr *attr, struct krait_operation *out)
{
	const struct kr_history *h = &handle->history;

	out->no_cursor = !attr->cursor;
	out->has_time = attr->has_time;
	out->time[0] = attr->invoked;
	out->time[1] = attr->returned;
	out->unanswered = attr->open;
	out->lock = (enum krait_lock)attr->lock;
	out->read = (enum krait_read_mode)attr->read;
	out->old_row = attr->row_is_old;
	out->failed = attr->failed;
	out->goes_on = attr->failed && !attr->ends;
	kr_vec_clear(&handle->walk.seen);
	for (uint32_t s = 0; s < attr->seen_count; s++) {
		const struct kr_seen *seen = &h->seen.at[attr->seen_first + s];

		if (!kr_vec_push(&handle->self, &handle->walk.seen,
			    ((struct krait_seen){give_key(h, seen->key), give(h, seen->writer)})))
			return false;
	}
	out->seen = handle->walk.seen.at;
	out->seen_count = attr->seen_count;
	return true;
}

/* The arguments of an operation on one key. */
static void give_arguments(const struct kr_history *h, const struct kr_operation *op,
	struct krait_operation *out)
{
	bool known = op->flags & KR_OPF_KNOWN;

	out->key = give_key(h, op->key);
	out->done = op->flags & KR_OPF_DONE;
	switch (op->kind) {
	case KR_OP_READ:
		out->unknown = !known;
		out->value = known ? give(h, op->a) : krait_absent();
		break;
	case KR_OP_DELETE: out->unknown = !known; break;
	case KR_OP_CAS:
		out->expected = give(h, op->a);
		out->value = give(h, op->b);
		break;
	case KR_OP_INC:
		out->unknown = !known;
		out->value = give(h, op->a);
		out->result = known ? give(h, op->b) : krait_absent();
		break;
	default: out->value = give(h, op->a); break;
	}
}

static bool give_scan(krait_history *handle, const struct kr_operation *op, struct krait_operation *out)
{
	const struct kr_history *h = &handle->history;
	const struct kr_scan *scan = &h->scans.at[op->scan];

	if (op->kind == KR_OP_RANGE) {
		out->low = give(h, scan->low);
		out->high = give(h, scan->high);
		out->has_limit = scan->limit >= 0;
		out->limit = scan->limit >= 0 ? scan->limit : 0;
		out->reverse = scan->reverse;
		return give_rows(handle, scan, out);
	}
	if (op->kind == KR_OP_UPDATE)
		out->value = give(h, scan->set);
	return give_conditions(handle, scan, out) && give_rows(handle, scan, out);
}

enum krait_status krait_history_operation(krait_history *handle, uint32_t t, uint32_t i,
	struct krait_operation *out, struct krait_error *error)
{
	const struct kr_history *h = &handle->history;

	kr_public_begin(NULL, error);
	if (t >= h->txns.n)
		return none("transaction", t, h->txns.n, error);
	if (i >= kr_history_listed(h, (kr_txn){t}))
		return none("operation", i, kr_history_listed(h, (kr_txn){t}), error);

	struct kr_walk at = kr_walk_at(h, (kr_txn){t}, i);
	const struct kr_operation *op = at.op;
	struct krait_operation made = {.kind = op ? (enum krait_operation_kind)op->kind : KRAIT_UNDO,
		.undone = op ? 0 : at.struck->undo};

	if (op && !kr_op_scans(op))
		give_arguments(h, op, &made);
	else if (op && !give_scan(handle, op, &made))
		return no_memory(error);
	if (at.attr && !give_attributes(handle, at.attr, &made))
		return no_memory(error);
	*out = made;
	return KRAIT_OK;
}
