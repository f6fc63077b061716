/* Findings about two transactions: locks held at the same time, writers of one row neither of which saw the
 * other. */
#include "verify/recheck.h"

struct pair {
	kr_txn t, u;
	const struct kr_instants *a, *b;
};

/* ---- mutual exclusion ---- */

/* Each was taken before the other was given up. */
static bool overlap(const struct pair *p, struct kr_span x, struct kr_span y)
{
	return x.to < p->b->lives_until && y.to < p->a->lives_until;
}

static enum kr_status note_overlap(const struct kr_recheck *r, const struct pair *p, struct kr_span x,
	struct kr_span y)
{
	kr_recheck_note_locks(r, p->t, x, p->u);
	kr_recheck_note_locks(r, p->u, y, p->t);
	return KR_OK;
}

/* a's snapshot was taken before b committed. */
static void note_missed(const struct kr_recheck *r, kr_txn a, kr_txn b)
{
	kr_recheck_note(r,
		kr_recheck_gap(kr_recheck_snapshot(r, a, kr_recheck_instants(r, a)->snapshot.to),
			kr_point_at(KR_INSTANT_COMMIT, b, kr_recheck_instants(r, b)->commit.from)));
}

static struct kr_span weakest(struct kr_span s, struct kr_span x) { return s.to <= x.to ? s : x; }

static enum kr_status check_locks(struct kr_recheck *r, const struct pair *p)
{
	struct kr_span x = kr_recheck_lock(r, p->t, KR_MODE_X, r->f->key),
		       y = kr_recheck_lock(r, p->u, KR_MODE_X, r->f->key);
	struct kr_span s = kr_recheck_lock(r, p->t, KR_MODE_S, r->f->key),
		       q = kr_recheck_lock(r, p->u, KR_MODE_S, r->f->key);

	bool writes = r->f->what == KR_FOUND_WRITE_WRITE;
	if (overlap(p, x, writes ? y : weakest(q, y)))
		return note_overlap(r, p, x, writes ? y : weakest(q, y));
	if (!writes && overlap(p, weakest(s, x), y))
		return note_overlap(r, p, weakest(s, x), y);
	return kr_recheck_fail(r, "one lock may have been given up before the other was taken");
}

static bool locks_range(const struct kr_recheck *r, kr_txn t, uint32_t index)
{
	const struct kr_profile *profile = r->claims.profile;
	const struct kr_attr *attr = kr_history_attr(r->h, kr_history_op(r->h, t, index));
	const struct kr_operation *op = kr_recheck_op_of(r, t, index);
	bool reads = op->kind == KR_OP_RANGE || op->kind == KR_OP_SCAN,
	     locks = attr && attr->lock != KR_LOCK_NONE;

	if (!reads && op->kind != KR_OP_UPDATE)
		return false;
	if (reads && !locks &&
		(profile->locks.read == KR_MODE_NONE ||
			(kr_recheck_instants(r, t)->is_auto && profile->auto_snapshot)))
		return false;
	return profile->range_locks == KR_RANGES_ALL ||
		(profile->range_locks == KR_RANGES_LOCKING && (locks || !reads));
}

/* Does the write fall into what the operation searched? It was not returned, or it was: the range covers
 * it. */
static bool falls_into(const struct kr_recheck *r, const struct kr_operation *range, struct kr_written_row e)
{
	struct kr_saw saw = kr_saw_missed(r->h, range, e.key);
	bool holds = false;

	if (saw.test == KR_SAW_NOTHING || range->kind == KR_OP_RANGE)
		return saw.test != KR_SAW_NOTHING;
	return e.value.i != KR_NONE && e.value.i != KR_ABSENT.i &&
		kr_where_holds(r->h, &r->h->scans.at[range->scan], e.key, e.value, &holds, NULL) == KR_OK &&
		holds;
}

static enum kr_status check_range(struct kr_recheck *r, const struct pair *p)
{
	for (uint32_t i = 0; i < r->h->txns.at[p->t.i].op_count; i++) {
		const struct kr_operation *range = kr_recheck_op_of(r, p->t, i);
		for (uint32_t j = 0; locks_range(r, p->t, i) && j < r->h->txns.at[p->u.i].op_count; j++) {
			const struct kr_operation *write = kr_recheck_op_of(r, p->u, j);
			bool sure = write->kind != KR_OP_DELETE || write->flags & KR_OPF_KNOWN;
			struct kr_span x = kr_recheck_op(r, p->t, i), y = kr_recheck_op(r, p->u, j);
			for (uint32_t e = 0; sure && e < kr_effect_count(r->h, write); e++)
				if (kr_recheck_same_object(r, kr_effect_at(r->h, write, e).key, r->f->key) &&
					falls_into(r, range, kr_effect_at(r->h, write, e)) &&
					overlap(p, x, y))
					return note_overlap(r, p, x, y);
		}
	}
	return kr_recheck_fail(r, "no locked range was certainly written into while it was held");
}

/* ---- first updater wins ---- */

static bool deletes(const struct kr_recheck *r, kr_txn t, kr_key key)
{
	for (uint32_t i = 0; i < r->h->txns.at[t.i].op_count; i++) {
		const struct kr_operation *op = kr_recheck_op_of(r, t, i);
		bool deleted = op->kind == KR_OP_DELETE ||
			kr_recheck_marks(r, t, kr_history_op(r->h, t, i)) & KR_MARK_DELETED;
		if (deleted && kr_effect_count(r->h, op) > 0 && kr_recheck_same_object(r, op->key, key))
			return true;
	}
	return false;
}

/* Its first write of the object's rows. */
static const struct kr_operation *first_write(const struct kr_recheck *r, kr_txn t, kr_key key,
	uint32_t *index)
{
	for (*index = 0; *index < r->h->txns.at[t.i].op_count; ++*index) {
		const struct kr_operation *op = kr_recheck_op_of(r, t, *index);
		for (uint32_t e = 0; e < kr_effect_count(r->h, op); e++)
			if (kr_recheck_same_object(r, kr_effect_at(r->h, op, e).key, key))
				return op;
	}
	return NULL;
}

bool kr_recheck_new_row(const struct kr_recheck *r, kr_txn later, kr_key key)
{
	uint32_t index;
	const struct kr_operation *op = first_write(r, later, key, &index);
	const struct kr_instants *own = kr_recheck_instants(r, later);
	int64_t from = own->has_snapshot ? own->snapshot.from : INT64_MIN,
		to = kr_recheck_lock(r, later, KR_MODE_X, key).to;

	if (r->claims.profile->fuw_new_row == KR_NEW_ROW_CHECKED || !op)
		return false;
	const struct kr_attr *attr = kr_history_attr(r->h, kr_history_op(r->h, later, index));
	bool inserts = op->kind == KR_OP_INSERT || (op->kind == KR_OP_CAS && op->a.i == KR_ABSENT.i);
	bool finds = op->kind == KR_OP_DELETE || op->kind == KR_OP_UPDATE || op->kind == KR_OP_CAS ||
		(attr && attr->row_is_old);
	bool upserts = !inserts && !finds;
	for (kr_txn d = {0}; d.i < r->h->txns.n && upserts; d.i++)
		if (d.i != later.i && r->h->txns.at[d.i].status != KR_ABORTED && deletes(r, d, key) &&
			kr_recheck_instants(r, d)->commit.from <= to &&
			from <= kr_recheck_instants(r, d)->commit.to)
			return true;
	return inserts;
}

/* It surely made a version of some row of the object. */
static enum kr_status makes_version(struct kr_recheck *r, kr_txn t, bool *out)
{
	uint32_t index;

	*out = false;
	if (!first_write(r, t, r->f->key, &index))
		return KR_OK;
	for (kr_key k = {0}; k.i < r->h->keys.n && !*out; k.i++) {
		if (!kr_recheck_same_object(r, k, r->f->key))
			continue;
		KR_TRY(kr_recheck_versions(r, k));
		for (uint32_t i = 0; i < r->versions.n; i++)
			*out |= r->versions.at[i].txn.i == t.i &&
				!kr_recheck_is_shadow(r, &r->versions.at[i]);
	}
	return KR_OK;
}

static enum kr_status check_writers(struct kr_recheck *r, const struct pair *p)
{
	struct kr_newly v = {.txn = p->u, .lock = kr_recheck_lock(r, p->u, KR_MODE_X, r->f->key)};
	struct kr_newly w = {.txn = p->t, .lock = kr_recheck_lock(r, p->t, KR_MODE_X, r->f->key)};
	bool last = kr_recheck_precedes(r, &v, &w), first = kr_recheck_precedes(r, &w, &v), t_writes,
	     u_writes;
	KR_TRY(makes_version(r, p->t, &t_writes));
	KR_TRY(makes_version(r, p->u, &u_writes));
	if (!r->claims.profile->fuw || !t_writes || !u_writes)
		return kr_recheck_fail(r,
			"they are not both known to have written it, or the profile asks nothing of writers");
	if ((!first && kr_recheck_new_row(r, p->t, r->f->key)) ||
		(!last && kr_recheck_new_row(r, p->u, r->f->key)))
		return kr_recheck_fail(r, "the later one may have made a new row");
	if (!p->a->has_snapshot || p->a->snapshot.to >= p->b->commit.from)
		return kr_recheck_fail(r,
			"the second one may have committed before the first one's snapshot");
	bool missed = p->b->has_snapshot && p->b->snapshot.to < p->a->commit.from;
	note_missed(r, p->t, p->u);
	if (missed)
		note_missed(r, p->u, p->t);
	else if (last)
		kr_recheck_note_order(r, &v, &w, KR_NONE);
	if (last || missed)
		return KR_OK;
	return kr_recheck_fail(r, "the first one may have committed before the second one's snapshot");
}

enum kr_status kr_recheck_pair(struct kr_recheck *r)
{
	const struct kr_finding *f = r->f;
	struct pair p = {.t = f->txns[0], .u = f->txns[1]};
	bool locks = f->mechanism == KR_MECH_ME;

	if (p.t.i == KR_NONE || p.u.i == KR_NONE || p.t.i == p.u.i || f->key.i == KR_NONE)
		return kr_recheck_fail(r, "it names no two transactions, or no key");
	p.a = kr_recheck_instants(r, p.t);
	p.b = kr_recheck_instants(r, p.u);
	if (!locks &&
		(r->h->txns.at[p.t.i].status != KR_COMMITTED || r->h->txns.at[p.u.i].status != KR_COMMITTED))
		return kr_recheck_fail(r, "they did not both commit");
	switch (f->what) {
	case KR_FOUND_WRITE_WRITE:
	case KR_FOUND_WRITE_READ: return check_locks(r, &p);
	case KR_FOUND_RANGE: return check_range(r, &p);
	case KR_FOUND_CONCURRENT_WRITERS: return check_writers(r, &p);
	default: return kr_recheck_fail(r, "the class is not one of two transactions");
	}
}
