/* Versions of one key, the order of their writers, and until when each can have been seen. */
#include <string.h>

#include "verify/recheck.h"

#include "base/order.h"

/* ---- rows and objects ---- */

static size_t prefix(const struct kr_recheck *r, const struct kr_value_entry *name, enum kr_lock_scope scope)
{
	if (scope == KR_SCOPE_ROW)
		return r->h->row_separator ? kr_history_row_length(r->h, name->text, name->length)
					   : name->length;
	const char *slash = memchr(name->text, '/', name->length);
	return slash ? (size_t)(slash - name->text) : 0;
}

static bool same_part(const struct kr_recheck *r, kr_key a, kr_key b, enum kr_lock_scope scope)
{
	const struct kr_value_entry *x = kr_history_value(r->h, r->h->keys.at[a.i].name);
	const struct kr_value_entry *y = kr_history_value(r->h, r->h->keys.at[b.i].name);

	if (a.i == b.i || scope == KR_SCOPE_DATABASE)
		return true;
	if (scope == KR_SCOPE_ROW && !r->h->row_separator)
		return false;
	if (x->type != KR_VALUE_STRING || y->type != KR_VALUE_STRING)
		return scope == KR_SCOPE_TABLE && x->type != KR_VALUE_STRING && y->type != KR_VALUE_STRING;
	return prefix(r, x, scope) == prefix(r, y, scope) &&
		memcmp(x->text, y->text, prefix(r, x, scope)) == 0;
}

bool kr_recheck_same_row(const struct kr_recheck *r, kr_key a, kr_key b)
{
	return same_part(r, a, b, KR_SCOPE_ROW);
}
bool kr_recheck_same_object(const struct kr_recheck *r, kr_key a, kr_key b)
{
	return same_part(r, a, b, r->claims.profile->lock_scope);
}

/* ---- locks ---- */

static enum kr_lock_mode mode_of(const struct kr_recheck *r, kr_txn t, kr_op op)
{
	const struct kr_lock_modes *modes = &r->claims.profile->locks;
	const struct kr_attr *attr = kr_history_attr(r->h, op);
	bool free = kr_recheck_instants(r, t)->is_auto && r->claims.profile->auto_snapshot;

	if (!kr_recheck_is_read(&r->h->ops.at[op.i]))
		return modes->write;
	if (attr && attr->lock == KR_LOCK_EXCLUSIVE)
		return modes->update;
	if (attr && attr->lock == KR_LOCK_SHARED)
		return modes->share;
	free |= attr && (attr->read == KR_READ_SNAPSHOT || attr->read == KR_READ_UNCOMMITTED);
	return free ? KR_MODE_NONE : modes->read;
}

static bool is_unsure(const struct kr_operation *op)
{
	return op->kind == KR_OP_DELETE && !(op->flags & KR_OPF_KNOWN);
}

/* Does the operation touch a row of the object that is there? */
static bool touches(const struct kr_recheck *r, const struct kr_operation *op, kr_key key)
{
	const struct kr_history *h = r->h;

	if (op->kind == KR_OP_READ)
		return op->flags & KR_OPF_KNOWN && op->a.i != KR_ABSENT.i &&
			kr_recheck_same_object(r, op->key, key);
	if (op->kind == KR_OP_RANGE || op->kind == KR_OP_SCAN) {
		for (uint32_t i = 0; i < h->scans.at[op->scan].row_count; i++)
			if (kr_recheck_same_object(r, h->rows.at[h->scans.at[op->scan].row_first + i].key,
				    key))
				return true;
		return false;
	}
	for (uint32_t i = 0; i < kr_effect_count(h, op) && !is_unsure(op); i++)
		if (kr_recheck_same_object(r, kr_effect_at(h, op, i).key, key))
			return true;
	return false;
}

static bool was_answered(const struct kr_recheck *r, kr_op op)
{
	const struct kr_attr *attr = kr_history_attr(r->h, op);

	return !(attr && attr->open);
}

struct kr_span kr_recheck_lock(const struct kr_recheck *r, kr_txn t, enum kr_lock_mode mode, kr_key key)
{
	for (uint32_t i = 0; i < r->h->txns.at[t.i].op_count; i++) {
		kr_op op = kr_history_op(r->h, t, i);
		if (mode_of(r, t, op) == mode && was_answered(r, op) && touches(r, &r->h->ops.at[op.i], key))
			return kr_recheck_carried(r, t) ? r->claims.marks->locks[op.i]
							: kr_recheck_op(r, t, i);
	}
	return (struct kr_span){INT64_MAX, INT64_MAX};
}

/* ---- versions ---- */

static enum kr_status add_version(struct kr_recheck *r, kr_txn t, kr_key key)
{
	struct kr_newly v = {.txn = t};
	bool writes = false;

	for (uint32_t i = 0; i < r->h->txns.at[t.i].op_count; i++) {
		const struct kr_operation *op = &r->h->ops.at[kr_history_op(r->h, t, i).i];
		struct kr_span at = kr_recheck_op(r, t, i);
		for (uint32_t e = 0; e < kr_effect_count(r->h, op); e++) {
			if (kr_effect_at(r->h, op, e).key.i != key.i)
				continue;
			if (!writes) {
				v.first_done = at.to;
				v.first_sent = at.from;
			}
			writes = true;
			v.value = kr_effect_at(r->h, op, e).value;
			v.sure |= !is_unsure(op);
			v.marks |= kr_recheck_marks(r, t, kr_history_op(r->h, t, i));
		}
	}
	if (!writes)
		return KR_OK;
	v.lock = kr_recheck_lock(r, t, KR_MODE_X, key);
	return kr_vec_add(&r->ctx->mem, &r->versions, v);
}

/* Every write of every transaction, struck ones included: counted, or put where it belongs. */
static void pass_writes(struct kr_recheck *r, bool put)
{
	for (kr_txn t = {0}; t.i < r->h->txns.n; t.i++) {
		struct kr_walk walk = kr_walk_txn(r->h, t);
		while (kr_walk_next(r->h, &walk))
			for (uint32_t e = 0; walk.op && e < kr_effect_count(r->h, walk.op); e++) {
				uint32_t *place = &r->writer_first[kr_effect_at(r->h, walk.op, e).key.i +
					(put ? 1 : 2)];
				if (put)
					r->writers[*place] = t;
				++*place;
			}
	}
}

enum kr_status kr_recheck_writers(struct kr_recheck *r)
{
	uint32_t keys = r->h->keys.n;

	if (r->writers)
		return KR_OK;
	KR_TRY(kr_arena_new(&r->arena, r->writer_first, (size_t)keys + 2));
	pass_writes(r, false);
	kr_index_places(r->writer_first, keys);
	KR_TRY(kr_arena_new(&r->arena, r->writers, r->writer_first[keys + 1]));
	pass_writes(r, true);
	return kr_ctx_check(r->ctx);
}

enum kr_status kr_recheck_versions(struct kr_recheck *r, kr_key key)
{
	struct kr_newly initial = {.txn = {KR_NONE},
		.sure = true,
		.first_done = INT64_MIN,
		.first_sent = INT64_MIN};

	KR_TRY(kr_recheck_writers(r));
	if (key.i == r->key.i)
		return KR_OK;
	kr_vec_clear(&r->versions);
	r->key = (kr_key){KR_NONE};
	initial.value = kr_history_untold(r->h) ? (kr_value){KR_NONE} : r->h->keys.at[key.i].initial;
	KR_TRY(kr_vec_add(&r->ctx->mem, &r->versions, initial));
	for (uint32_t i = r->writer_first[key.i]; i < r->writer_first[key.i + 1]; i++) {
		bool again = i > r->writer_first[key.i] && r->writers[i].i == r->writers[i - 1].i;
		if (!again && r->h->txns.at[r->writers[i].i].status != KR_ABORTED)
			KR_TRY(add_version(r, r->writers[i], key));
	}
	r->key = key;
	return kr_ctx_check(r->ctx);
}

static bool committed(const struct kr_recheck *r, kr_txn t)
{
	return t.i == KR_NONE || r->h->txns.at[t.i].status == KR_COMMITTED;
}

bool kr_recheck_precedes(const struct kr_recheck *r, const struct kr_newly *v, const struct kr_newly *u)
{
	if (u->txn.i == KR_NONE || u->txn.i == v->txn.i)
		return false;
	if (v->txn.i == KR_NONE)
		return true;

	const struct kr_instants *a = kr_recheck_instants(r, v->txn), *b = kr_recheck_instants(r, u->txn);
	kr_session s = r->h->txns.at[v->txn.i].session;
	bool in_turn = s.i != KR_NONE && s.i == r->h->txns.at[u->txn.i].session.i && v->txn.i < u->txn.i;
	if (committed(r, v->txn) && a->commit.to < b->commit.from)
		return true;
	if (r->claims.profile->clock == KR_CLOCK_STAMPS)
		return false; /* timestamps order versions; sessions do not */
	if (committed(r, v->txn) && in_turn)
		return true;
	/* v's writer had the lock before u's gave it up, and not the other way round */
	return r->claims.profile->locks.write == KR_MODE_X && v->lock.to < b->lives_until &&
		u->lock.to >= a->lives_until;
}

static int64_t gone_but_for(const struct kr_recheck *r, const struct kr_newly *v,
	const struct kr_newly *other)
{
	int64_t gone = v->marks & KR_MARK_GONE ? INT64_MIN : INT64_MAX;

	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *u = &r->versions.at[i];
		if (u == other || u->txn.i == KR_NONE || !committed(r, u->txn) ||
			!kr_recheck_precedes(r, v, u))
			continue;
		if (kr_recheck_instants(r, u->txn)->commit.to < gone)
			gone = kr_recheck_instants(r, u->txn)->commit.to;
	}
	return gone;
}

int64_t kr_recheck_gone(const struct kr_recheck *r, const struct kr_newly *v)
{
	return gone_but_for(r, v, NULL);
}

bool kr_recheck_is_shadow_by(const struct kr_recheck *r, const struct kr_newly *u, int64_t by)
{
	if (u->txn.i != KR_NONE && kr_recheck_carried(r, u->txn))
		return u->marks & KR_MARK_SHADOW;
	if (u->txn.i == KR_NONE || !u->sure || r->claims.profile->noop != KR_NOOP_NONE)
		return u->txn.i != KR_NONE && !u->sure;
	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *v = &r->versions.at[i];
		int64_t from = kr_recheck_from(r, v);
		bool equal = v->value.i == u->value.i || v->value.i == KR_NONE || u->value.i == KR_NONE;
		if (v != u && equal && !kr_recheck_precedes(r, u, v) && from <= by &&
			gone_but_for(r, v, u) >= u->first_sent)
			return true;
	}
	return false;
}

bool kr_recheck_is_shadow(const struct kr_recheck *r, const struct kr_newly *u)
{
	return kr_recheck_is_shadow_by(r, u,
		u->txn.i == KR_NONE ? INT64_MIN : kr_recheck_instants(r, u->txn)->commit.to);
}

bool kr_recheck_could_be_seen(const struct kr_recheck *r, kr_txn reader, const struct kr_newly *v,
	struct kr_span at)
{
	int64_t from = kr_recheck_from(r, v), gone;
	const struct kr_newly *own = NULL;

	for (uint32_t i = 0; i < r->versions.n; i++)
		own = r->versions.at[i].txn.i == reader.i ? &r->versions.at[i] : own;
	gone = gone_but_for(r, v, own);
	/* by timestamps a version is gone when the next one commits */
	return from <= at.to &&
		(r->claims.profile->clock == KR_CLOCK_STAMPS ? at.from < gone : at.from <= gone);
}
