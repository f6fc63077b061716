#include "same_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/format.h"

#define DIFFER(condition, what) \
	do { \
		if (condition) \
			return (what); \
	} while (0)

struct pair { const struct kr_history *a, *b; };

static bool same_value(const struct pair *p, kr_value a, kr_value b)
{
	const struct kr_value_entry *x = kr_history_value(p->a, a), *y = kr_history_value(p->b, b);

	if (x->type != y->type)
		return false;
	switch (x->type) {
	case KR_VALUE_INT: return x->integer == y->integer;
	case KR_VALUE_REAL: return x->real == y->real;
	case KR_VALUE_STRING:
	case KR_VALUE_ARRAY:
	case KR_VALUE_OBJECT: return x->length == y->length && memcmp(x->text, y->text, x->length) == 0;
	default: return true;
	}
}

static bool same_key(const struct pair *p, kr_key a, kr_key b)
{
	if (a.i == KR_NONE || b.i == KR_NONE)
		return a.i == b.i;
	return same_value(p, p->a->keys.at[a.i].name, p->b->keys.at[b.i].name);
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool has_key_like(const struct pair *p, kr_key a)
{
	for (uint32_t k = 0; k < p->b->keys.n; k++)
		if (same_key(p, a, (kr_key){k}))
			return same_value(p, p->a->keys.at[a.i].initial, p->b->keys.at[k].initial) && p->a->keys.at[a.i].kind == p->b->keys.at[k].kind;
	return false;
}

static const char *same_header(const struct pair *p)
{
	const struct kr_history *a = p->a, *b = p->b;

	DIFFER(!same_text(a->name, b->name), "name");
	DIFFER(a->clock_skew != b->clock_skew, "clock skew");
	DIFFER(!same_text(a->time_unit, b->time_unit), "time unit");
	DIFFER(!same_text(a->row_separator, b->row_separator), "row separator");
	DIFFER(!same_text(a->profile, b->profile), "profile");
	DIFFER(a->initial != b->initial, "initial");
	DIFFER(a->key_order != b->key_order, "order of keys");
	DIFFER(a->keys.n != b->keys.n, "number of keys");
	for (uint32_t k = 0; k < a->keys.n; k++)
		DIFFER(!has_key_like(p, (kr_key){k}), "a key, its initial value or its kind");
	return NULL;
}

static bool same_cond(const struct pair *p, const struct kr_cond *x, const struct kr_cond *y)
{
	return x->target == y->target && x->test == y->test && same_value(p, x->value, y->value) &&
	       (x->target != KR_COND_FIELD || same_value(p, x->field, y->field));
}

static const char *same_scan(const struct pair *p, uint32_t a, uint32_t b)
{
	const struct kr_scan *x = &p->a->scans.at[a], *y = &p->b->scans.at[b];

	DIFFER(!same_value(p, x->low, y->low) || !same_value(p, x->high, y->high), "bounds");
	DIFFER(x->limit != y->limit || x->reverse != y->reverse, "limit or reverse");
	DIFFER(!same_value(p, x->set, y->set), "set");
	DIFFER(x->cond_count != y->cond_count || x->row_count != y->row_count, "number of conditions or rows");
	for (uint32_t i = 0; i < x->row_count; i++) {
		const struct kr_row *r = &p->a->rows.at[x->row_first + i], *s = &p->b->rows.at[y->row_first + i];
		DIFFER(!same_key(p, r->key, s->key) || !same_value(p, r->value, s->value), "a row");
	}
	for (uint32_t i = 0; i < x->cond_count; i++) { /* a conjunction: the order says nothing */
		bool found = false;
		for (uint32_t j = 0; j < y->cond_count; j++)
			found = found || same_cond(p, &p->a->conds.at[x->cond_first + i], &p->b->conds.at[y->cond_first + j]);
		DIFFER(!found, "a condition");
	}
	return NULL;
}

static const char *same_attr(const struct pair *p, const struct kr_attr *x, const struct kr_attr *y)
{
	DIFFER(!x != !y, "presence of attributes");
	if (!x)
		return NULL;
	DIFFER(x->has_time != y->has_time, "time of an operation");
	DIFFER(x->has_time && (x->invoked != y->invoked || x->returned != y->returned), "time of an operation");
	DIFFER(x->open != y->open, "answer to an operation");
	DIFFER(x->cursor != y->cursor || x->lock != y->lock || x->read != y->read || x->row_is_old != y->row_is_old, "cursor, lock, read or row");
	DIFFER(x->failed != y->failed || x->ends != y->ends || x->undone != y->undone, "how an operation failed");
	DIFFER(x->seen_count != y->seen_count, "versions");
	for (uint32_t i = 0; i < x->seen_count; i++) {
		bool found = false;
		for (uint32_t j = 0; j < y->seen_count; j++) {
			const struct kr_seen *r = &p->a->seen.at[x->seen_first + i], *s = &p->b->seen.at[y->seen_first + j];
			found = found || (same_key(p, r->key, s->key) && same_value(p, r->writer, s->writer));
		}
		DIFFER(!found, "versions");
	}
	return NULL;
}

static const char *same_operation(const struct pair *p, const struct kr_operation *x, const struct kr_operation *y)
{
	DIFFER(x->kind != y->kind, "kind of an operation");
	DIFFER(x->flags != y->flags, "flags of an operation");
	DIFFER(!same_key(p, x->key, y->key), "key of an operation");
	DIFFER(!same_value(p, x->a, y->a), "value of an operation");
	if (kr_op_scans(x))
		return same_scan(p, x->scan, y->scan);
	DIFFER(!same_value(p, x->b, y->b), "value of an operation");
	return NULL;
}

static const char *same_ops(const struct pair *p, kr_txn t)
{
	struct kr_walk x = kr_walk_txn(p->a, t), y = kr_walk_txn(p->b, t);

	while (kr_walk_next(p->a, &x)) {
		DIFFER(!kr_walk_next(p->b, &y), "number of operations");
		DIFFER(!x.struck != !y.struck || !x.op != !y.op, "whether an operation counts");
		DIFFER(!x.op && x.struck->undo != y.struck->undo, "number of operations undone");
		const char *differs = same_attr(p, x.attr, y.attr);
		if (!differs && x.op)
			differs = same_operation(p, x.op, y.op);
		if (differs)
			return differs;
	}
	DIFFER(kr_walk_next(p->b, &y), "number of operations");
	return NULL;
}

static const char *same_txn(const struct pair *p, uint32_t t)
{
	const struct kr_transaction *x = &p->a->txns.at[t], *y = &p->b->txns.at[t];

	DIFFER(!same_value(p, x->id, y->id), "id");
	DIFFER((x->session.i == KR_NONE) != (y->session.i == KR_NONE), "session");
	DIFFER(x->session.i != KR_NONE && !same_value(p, p->a->sessions.at[x->session.i], p->b->sessions.at[y->session.i]), "session");
	DIFFER(x->status != y->status, "status");
	DIFFER(x->flags != y->flags, "fields of a transaction");
	DIFFER(x->flags & KR_TXN_HAS_BEGIN && (x->begin_invoked != y->begin_invoked || x->begin_returned != y->begin_returned), "begin");
	DIFFER(x->flags & KR_TXN_HAS_END && (x->end_invoked != y->end_invoked || x->end_returned != y->end_returned), "end");
	DIFFER(x->op_count != y->op_count, "number of operations");
	if (x->flags & KR_TXN_WHITE_BOX) {
		const struct kr_white_box *v = &p->a->white_box.at[t], *w = &p->b->white_box.at[t];
		DIFFER(v->serial != w->serial || v->snapshot != w->snapshot || v->commit_ts != w->commit_ts, "white-box fields");
		DIFFER(memcmp(v->snapshot_t, w->snapshot_t, sizeof v->snapshot_t) != 0, "snapshot_t");
	}
	return same_ops(p, (kr_txn){t});
}

static const char *same_orders(const struct pair *p)
{
	DIFFER(p->a->version_orders.n != p->b->version_orders.n, "number of version orders");
	for (uint32_t i = 0; i < p->a->version_orders.n; i++) {
		const struct kr_version_order *x = &p->a->version_orders.at[i], *y = &p->b->version_orders.at[i];
		DIFFER(!same_key(p, x->key, y->key) || x->writer_count != y->writer_count, "a version order");
		for (uint32_t w = 0; w < x->writer_count; w++)
			DIFFER(p->a->order_writers.at[x->writer_first + w].i != p->b->order_writers.at[y->writer_first + w].i, "a version order");
	}
	return NULL;
}

const char *same_history(const struct kr_history *a, const struct kr_history *b)
{
	struct pair p = {a, b}, q = {b, a};
	const char *differs = same_header(&p);

	if (!differs)
		differs = same_header(&q);
	DIFFER(!differs && a->txns.n != b->txns.n, "number of transactions");
	for (uint32_t t = 0; t < a->txns.n && !differs; t++)
		differs = same_txn(&p, t);
	return differs ? differs : same_orders(&p);
}

enum kr_status read_trace_text(struct kr_ctx *ctx, const char *text, size_t length, struct kr_history *h, struct kr_err *err)
{
	char path[] = "/tmp/krait-test-XXXXXX";
	struct kr_read_options options = {0};
	int file = mkstemp(path);

	if (file < 0)
		return kr_err_set(err, KR_INTERNAL, "no temporary file");

	ssize_t written = write(file, text, length);
	enum kr_status status = close(file) == 0 && written == (ssize_t)length ? KR_OK : kr_err_set(err, KR_INTERNAL, "cannot write %s", path);

	if (!status)
		status = kr_read_trace(ctx, path, &options, h, err);
	unlink(path);
	return status;
}
