/* What an operation saw of a key, and where in time; what explains it; and at which instants all that shares
 * a snapshot can have been seen. */
#include "verify/recheck.h"

bool kr_recheck_allows(const struct kr_recheck *r, const struct kr_sighted *s, kr_key key, kr_value value)
{
	const struct kr_value_entry *entry;
	bool allows = true;

	if (value.i == KR_NONE)
		return true;
	if (s->sum) {
		entry = kr_history_value(r->h, value);
		return value.i == KR_ABSENT.i ? s->number == 0
					      : entry->type == KR_VALUE_INT && entry->integer == s->number;
	}
	return kr_saw_allows(r->h, &s->saw, key, value, &allows, NULL) != KR_OK || allows;
}

uint32_t kr_recheck_times(const struct kr_recheck *r, const struct kr_operation *op, kr_key key)
{
	uint32_t n = 0;

	for (uint32_t i = 0; kr_recheck_is_read(op) && op->kind != KR_OP_READ && i < kr_saw_count(r->h, op);
		i++)
		n += kr_saw_key(r->h, op, i).i == key.i;
	return n;
}

/* ---- what ---- */

static bool find_own(const struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key, kr_value *value)
{
	while (op-- > 0)
		for (uint32_t i = kr_effect_count(r->h, kr_recheck_op_of(r, t, op)); i-- > 0;)
			if (kr_effect_at(r->h, kr_recheck_op_of(r, t, op), i).key.i == key.i) {
				*value = kr_effect_at(r->h, kr_recheck_op_of(r, t, op), i).value;
				return true;
			}
	return false;
}

static bool was_read(const struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key, kr_value *value)
{
	for (uint32_t i = 0; i < op; i++) {
		struct kr_saw saw = kr_saw_of(r->h, kr_recheck_op_of(r, t, i), key);
		*value = saw.value;
		if (saw.test == KR_SAW_VALUE)
			return true;
	}
	return false;
}

static void see(const struct kr_recheck *r, kr_txn t, uint32_t index, kr_key key, const struct kr_saw *given,
	struct kr_sighted *out)
{
	const struct kr_operation *op = kr_recheck_op_of(r, t, index);
	const struct kr_attr *attr = kr_history_attr(r->h, kr_history_op(r->h, t, index));
	uint8_t kind = r->h->keys.at[key.i].kind;

	out->saw = given ? *given : kr_saw_of(r->h, op, key);
	out->says = out->saw.test != KR_SAW_NOTHING && out->saw.test != KR_SAW_UNTOLD;
	if (op->kind == KR_OP_WRITE && op->key.i == key.i && attr && attr->row_is_old &&
		!r->h->row_separator) {
		out->saw = (struct kr_saw){.test = KR_SAW_OTHER, .value = KR_ABSENT};
		out->says = true;
	}
	if (op->kind == KR_OP_INC && op->key.i == key.i && op->flags & KR_OPF_KNOWN) {
		const struct kr_value_entry *by = kr_history_value(r->h, op->a),
					    *result = kr_history_value(r->h, op->b);
		out->says = out->sum = by->type == KR_VALUE_INT && result->type == KR_VALUE_INT &&
			!__builtin_sub_overflow(result->integer, by->integer, &out->number);
	}
	out->says = out->says && kind < KR_KIND_LIST && !(attr && attr->open);
}

/* Twice in one answer: one of the rows may be the reader's own, and the other one is then from outside. */
static void see_twice(const struct kr_recheck *r, const struct kr_operation *op, kr_key key,
	struct kr_sighted *out)
{
	bool shown = out->own && out->own_value.i == KR_NONE;

	for (uint32_t i = 0; out->own && i < kr_saw_count(r->h, op); i++)
		shown |= kr_saw_key(r->h, op, i).i == key.i &&
			kr_saw_at(r->h, op, i).value.i == out->own_value.i;
	if (!out->own)
		return;
	out->allowed = r->claims.profile->dup_rows == KR_DUP_OWN && shown;
	out->says = out->allowed && out->saw.value.i != out->own_value.i;
	out->own = false;
}

static bool starts_with_new_row(const struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key)
{
	for (uint32_t i = 0; i < op; i++) {
		const struct kr_operation *o = kr_recheck_op_of(r, t, i);
		const struct kr_attr *attr = kr_history_attr(r->h, kr_history_op(r->h, t, i));
		bool writes = false;
		for (uint32_t e = 0; e < kr_effect_count(r->h, o); e++)
			writes |= kr_effect_at(r->h, o, e).key.i == key.i;
		if (writes)
			return o->kind == KR_OP_INSERT || (o->kind == KR_OP_CAS && o->a.i == KR_ABSENT.i) ||
				((o->kind == KR_OP_WRITE || o->kind == KR_OP_INC) &&
					!(attr && attr->row_is_old));
	}
	return false;
}

/* Once in the answer, and the reader's own row was left out by the conditions, or by the limit: the other row
 * is from outside. */
static void see_other(const struct kr_recheck *r, kr_txn t, uint32_t index, kr_key key,
	struct kr_sighted *out)
{
	const struct kr_operation *op = kr_recheck_op_of(r, t, index);
	const struct kr_scan *scan = &r->h->scans.at[op->scan];
	uint32_t n = kr_saw_count(r->h, op);
	bool holds = true,
	     differs = out->own_value.i != KR_NONE && out->own_value.i != KR_ABSENT.i &&
		out->own_value.i != out->saw.value.i;

	if (!out->own || !differs || r->claims.profile->dup_rows != KR_DUP_OWN ||
		!starts_with_new_row(r, t, index, key))
		return;
	if (op->kind == KR_OP_RANGE)
		out->own = !(scan->limit >= 0 && n >= (uint64_t)scan->limit &&
			kr_saw_key(r->h, op, n - 1).i == key.i);
	else
		out->own = kr_where_holds(r->h, scan, key, out->own_value, &holds, NULL) != KR_OK || holds;
}

/* ---- when ---- */

enum place { AT_SNAPSHOT, AT_LATEST, AT_WRITTEN };

static enum place place_of(const struct kr_recheck *r, kr_txn t, const struct kr_operation *op,
	const struct kr_attr *attr)
{
	const struct kr_profile *p = r->claims.profile;
	bool locks = attr && attr->lock != KR_LOCK_NONE;

	if (op->kind == KR_OP_INSERT)
		return AT_LATEST;
	if (attr && attr->read != KR_READ_DEFAULT)
		return attr->read == KR_READ_SNAPSHOT  ? AT_SNAPSHOT
			: attr->read == KR_READ_LATEST ? AT_LATEST
						       : AT_WRITTEN;
	if (!kr_recheck_is_read(op) || locks)
		return (kr_recheck_is_read(op) ? p->locking_reads : p->dml_reads) == KR_SEES_SNAPSHOT
			? AT_SNAPSHOT
			: AT_LATEST;
	if (p->reads == KR_READS_UNCOMMITTED)
		return AT_WRITTEN;
	return p->reads == KR_READS_LATEST && !(p->auto_snapshot && kr_recheck_instants(r, t)->is_auto)
		? AT_LATEST
		: AT_SNAPSHOT;
}

/* Where the transaction last updated the row in front of the operation. */
static bool find_update(const struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key, struct kr_span *out)
{
	while (op-- > 0)
		for (uint32_t i = 0; i < kr_effect_count(r->h, kr_recheck_op_of(r, t, op)); i++)
			if (kr_recheck_same_row(r, kr_effect_at(r->h, kr_recheck_op_of(r, t, op), i).key,
				    key)) {
				*out = kr_recheck_op(r, t, op);
				return true;
			}
	return false;
}

static void place(const struct kr_recheck *r, kr_txn t, uint32_t index, kr_key key, struct kr_sighted *out)
{
	const struct kr_operation *op = kr_recheck_op_of(r, t, index);
	const struct kr_attr *attr = kr_history_attr(r->h, kr_history_op(r->h, t, index));
	const struct kr_instants *own = kr_recheck_instants(r, t);
	bool plain = kr_recheck_is_read(op) && !(attr && attr->lock != KR_LOCK_NONE);
	enum place where = place_of(r, t, op, attr);

	out->at = kr_recheck_op(r, t, index);
	out->insert = op->kind == KR_OP_INSERT;
	out->searches = !plain && !out->insert;
	out->uncommitted = where == AT_WRITTEN;
	out->shared = false;
	if (out->insert && r->claims.profile->locks.write == KR_MODE_NONE) {
		out->at.from = own->has_snapshot && own->snapshot.from < out->at.from ? own->snapshot.from
										      : out->at.from;
		out->at.to = own->commit.to > out->at.to ? own->commit.to : out->at.to;
	}
	if (where != AT_SNAPSHOT)
		return;
	if (!own->has_snapshot) {
		out->shared = plain;
		return;
	}
	out->shared =
		r->claims.profile->own_row == KR_SEES_SNAPSHOT || !find_update(r, t, index, key, &out->at);
	if (out->shared)
		out->at = own->snapshot;
}

void kr_recheck_sight(const struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key, const struct kr_saw *saw,
	struct kr_sighted *out)
{
	*out = (struct kr_sighted){.own_value = {KR_NONE}};
	see(r, t, op, key, saw, out);
	out->own = find_own(r, t, op, key, &out->own_value);
	if (!out->own && r->claims.profile->clock == KR_CLOCK_STAMPS)
		out->own = was_read(r, t, op, key, &out->own_value);
	uint32_t times = kr_recheck_times(r, kr_recheck_op_of(r, t, op), key);
	if (times > 1)
		see_twice(r, kr_recheck_op_of(r, t, op), key, out);
	else if (times == 1)
		see_other(r, t, op, key, out);
	place(r, t, op, key, out);
}

/* ---- what explains it ---- */

static int64_t replaced(const struct kr_recheck *r, const struct kr_newly *v)
{
	int64_t gone = INT64_MAX;

	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *u = &r->versions.at[i];
		bool certain = u->txn.i != KR_NONE && r->h->txns.at[u->txn.i].status == KR_COMMITTED &&
			kr_recheck_precedes(r, v, u);
		if (certain && u->first_done < gone)
			gone = u->first_done;
	}
	return gone;
}

/* When what the walk is at, a write of the key, had certainly vanished. */
static int64_t vanished(const struct kr_recheck *r, kr_txn w, struct kr_walk walk, kr_key key)
{
	int64_t gone =
		r->h->txns.at[w.i].status == KR_ABORTED ? kr_recheck_instants(r, w)->rolled_back : INT64_MAX;
	uint32_t place = walk.place;

	for (uint32_t i = 0; i < r->versions.n; i++)
		if (r->versions.at[i].txn.i == w.i && replaced(r, &r->versions.at[i]) < gone)
			gone = replaced(r, &r->versions.at[i]);
	while (kr_walk_next(r->h, &walk)) {
		struct kr_span at = kr_recheck_entry(r, w, &walk);
		bool takes_back =
			walk.struck && walk.struck->is_undo && walk.place <= place + walk.struck->undo;
		for (uint32_t i = 0; !walk.struck && i < kr_effect_count(r->h, walk.op); i++)
			takes_back |= kr_effect_at(r->h, walk.op, i).key.i == key.i;
		if (takes_back && at.to < gone)
			gone = at.to;
	}
	return gone;
}

/* The write that the walk is at can have been what was seen, committed or not. */
static bool written_then(const struct kr_recheck *r, kr_txn w, const struct kr_walk *walk,
	const struct kr_sighted *s, kr_key key)
{
	bool failed = walk->struck && walk->struck->attr.failed;

	for (uint32_t i = 0; !failed && i < kr_effect_count(r->h, walk->op); i++) {
		struct kr_written_row e = kr_effect_at(r->h, walk->op, i);
		if (e.key.i == key.i && kr_recheck_allows(r, s, key, e.value))
			return kr_recheck_entry(r, w, walk).from <= s->at.to &&
				vanished(r, w, *walk, key) >= s->at.from;
	}
	return false;
}

static bool explained_by_written(const struct kr_recheck *r, kr_txn t, const struct kr_sighted *s, kr_key key)
{
	for (kr_txn w = {0}; w.i < r->h->txns.n; w.i++) {
		struct kr_walk walk = kr_walk_txn(r->h, w);
		while (w.i != t.i && kr_walk_next(r->h, &walk))
			if (walk.op && written_then(r, w, &walk, s, key))
				return true;
	}
	return false;
}

/* The moment between another's delete and insert of the row, which a statement that waited may meet. */
static bool explained_by_remade(const struct kr_recheck *r, kr_txn t, const struct kr_sighted *s, kr_key key)
{
	bool deletes;

	if (!r->claims.profile->follows_rows || !s->searches || !kr_recheck_allows(r, s, key, KR_ABSENT))
		return false;
	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *v = &r->versions.at[i];
		if (v->txn.i == KR_NONE || v->txn.i == t.i || v->value.i == KR_ABSENT.i)
			continue;
		deletes = v->marks & KR_MARK_REMADE;
		for (uint32_t op = 0; op < r->h->txns.at[v->txn.i].op_count; op++)
			deletes |= kr_recheck_op_of(r, v->txn, op)->kind == KR_OP_DELETE &&
				kr_recheck_op_of(r, v->txn, op)->key.i == key.i &&
				kr_effect_count(r->h, kr_recheck_op_of(r, v->txn, op)) > 0;
		const struct kr_span *c = &kr_recheck_instants(r, v->txn)->commit;
		if (deletes && c->from <= s->at.to && s->at.from <= c->to)
			return true;
	}
	return false;
}

bool kr_recheck_explained(const struct kr_recheck *r, kr_txn t, const struct kr_sighted *s, kr_key key,
	const struct kr_newly **only)
{
	uint32_t n = 0;
	bool remade = explained_by_remade(r, t, s, key);

	*only = NULL;
	if (s->uncommitted)
		return (kr_recheck_allows(r, s, key, r->versions.at[0].value) &&
			       replaced(r, &r->versions.at[0]) >= s->at.from) ||
			explained_by_written(r, t, s, key);
	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *v = &r->versions.at[i];
		if (v->txn.i == t.i || !kr_recheck_allows(r, s, key, v->value) ||
			!kr_recheck_could_be_seen(r, t, v, s->at))
			continue;
		*only = n == 0 ? v : NULL;
		n++;
	}
	if (remade || n != 1)
		*only = NULL;
	return remade || n > 0;
}

/* ---- what is shared ---- */

/* *out and the windows in which the key can have been seen so. Sorted, apart from each other. */
static enum kr_status intersect(struct kr_recheck *r, kr_txn t, const struct kr_sighted *s, kr_key key,
	struct kr_places *out)
{
	struct kr_places next = {0};
	enum kr_status status = KR_OK;

	for (uint32_t p = 0; p < out->n && !status; p++)
		for (uint32_t i = 0; i < r->versions.n && !status; i++) {
			const struct kr_newly *v = &r->versions.at[i];
			struct kr_span part = {kr_recheck_from(r, v), kr_recheck_gone(r, v)};
			part.from = part.from > out->at[p].from ? part.from : out->at[p].from;
			part.to = part.to < out->at[p].to ? part.to : out->at[p].to;
			bool covered = false;
			if (v->txn.i == t.i || part.from > part.to ||
				!kr_recheck_allows(r, s, key, v->value) ||
				!kr_recheck_could_be_seen(r, t, v, s->at))
				continue;
			for (uint32_t q = 0; q < next.n; q++) {
				bool touch = part.from <= next.at[q].to && next.at[q].from <= part.to;
				covered |= next.at[q].from <= part.from && part.to <= next.at[q].to;
				if (touch && part.from < next.at[q].from && part.to >= next.at[q].from)
					next.at[q].from = part.from;
				if (touch && part.to > next.at[q].to)
					next.at[q].to = part.to;
				covered |= touch;
			}
			if (!covered && !kr_vec_push(&r->ctx->mem, &next, part))
				status = KR_NOMEM;
		}
	kr_vec_done(&r->ctx->mem, out);
	*out = next;
	return status;
}

enum kr_status kr_recheck_share(struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key,
	const struct kr_saw *saw, void *data)
{
	struct kr_places *out = data;
	const struct kr_newly *only;
	struct kr_sighted s;

	kr_recheck_sight(r, t, op, key, saw, &s);
	if (!s.says || s.own || !s.shared)
		return KR_OK;
	KR_TRY(kr_recheck_versions(r, key));
	return kr_recheck_explained(r, t, &s, key, &only) ? intersect(r, t, &s, key, out) : KR_OK;
}

enum kr_status kr_recheck_each_sight(struct kr_recheck *r, kr_txn t, uint32_t op, kr_sight_visit *visit,
	void *data)
{
	const struct kr_operation *o = kr_recheck_op_of(r, t, op);
	bool scans = o->kind == KR_OP_RANGE || o->kind == KR_OP_SCAN || o->kind == KR_OP_UPDATE;

	for (uint32_t i = 0; i < kr_saw_count(r->h, o); i++) {
		struct kr_saw saw = kr_saw_at(r->h, o, i);
		KR_TRY(visit(r, t, op, kr_saw_key(r->h, o, i), scans ? &saw : NULL, data));
	}
	for (kr_key k = {0}; scans && k.i < r->h->keys.n; k.i++)
		if (kr_saw_of(r->h, o, k).predicate)
			KR_TRY(visit(r, t, op, k, NULL, data));
	return KR_OK;
}

enum kr_status kr_recheck_shared(struct kr_recheck *r, kr_txn t, uint32_t op, struct kr_places *out)
{
	bool whole = kr_recheck_instants(r, t)->has_snapshot;
	uint32_t first = whole ? 0 : op, end = whole ? r->h->txns.at[t.i].op_count : op + 1;

	kr_vec_clear(out);
	struct kr_span all = whole ? kr_recheck_instants(r, t)->snapshot : kr_recheck_op(r, t, op);
	KR_TRY(kr_vec_add(&r->ctx->mem, out, all));
	for (uint32_t i = first; i < end && out->n > 0; i++)
		KR_TRY(kr_recheck_each_sight(r, t, i, kr_recheck_share, out));
	return KR_OK;
}
