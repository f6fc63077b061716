/* Locks that are certain: of statements that succeeded, matched something and were not taken back. */
#include "mechanisms/batch.h"

struct locking {
	struct kr_batch *b;
	const struct kr_act *act;
	struct kr_party *party;
	bool failed; /* no memory */
};

static bool has_lock(const struct kr_act *a) { return a->attr && a->attr->lock != KR_LOCK_NONE; }

static enum kr_lock_mode mode_of(const struct locking *l)
{
	const struct kr_profile *p = l->b->profile;
	const struct kr_attr *attr = l->act->attr;

	if (attr && attr->lock != KR_LOCK_NONE)
		return attr->lock == KR_LOCK_SHARED ? p->locks.share : p->locks.update;
	if (attr && (attr->read == KR_READ_SNAPSHOT || attr->read == KR_READ_UNCOMMITTED))
		return KR_MODE_NONE;
	return l->party->automatic && p->auto_snapshot ? KR_MODE_NONE : p->locks.read;
}

/* The first lock of a mode on an object is the one that counts. */
static bool is_held(const struct locking *l, enum kr_lock_mode mode, uint32_t object)
{
	const struct kr_hold *holds = l->b->holds.at + l->party->hold_first;

	for (uint32_t i = 0; i < l->party->hold_count; i++)
		if (!holds[i].range && holds[i].mode == mode && holds[i].object == object)
			return true;
	return false;
}

static void hold(struct locking *l, enum kr_lock_mode mode, kr_key key, const struct kr_operation *range)
{
	uint32_t object = range ? KR_NONE : l->b->objects.at[key.i];
	struct kr_hold h = {l->act->txn, l->act->index, mode, range, key, object, l->act->at};

	if (kr_batch_carried(l->b, l->act->txn))
		h.at = l->b->options->marks->locks[l->act->op - l->b->h->ops.at];
	if (mode == KR_MODE_NONE || (!range && is_held(l, mode, object)))
		return;
	l->failed |= !kr_vec_push(l->b->mem, &l->b->holds, h);
	l->party->hold_count += !l->failed;
}

static void hold_read(struct locking *l)
{
	const struct kr_history *h = l->b->h;
	const struct kr_operation *op = l->act->op;
	enum kr_lock_mode mode = mode_of(l);
	bool ranges = l->b->profile->range_locks == KR_RANGES_ALL ||
		(l->b->profile->range_locks == KR_RANGES_LOCKING && has_lock(l->act));

	if (op->kind == KR_OP_READ) {
		if (op->flags & KR_OPF_KNOWN && op->a.i != KR_ABSENT.i)
			hold(l, mode, op->key, NULL);
		return;
	}
	const struct kr_scan *scan = &h->scans.at[op->scan];
	for (uint32_t i = 0; i < scan->row_count; i++)
		hold(l, mode, h->rows.at[scan->row_first + i].key, NULL);
	if (ranges)
		hold(l, mode, (kr_key){KR_NONE}, op);
}

static void hold_writes(struct locking *l)
{
	const struct kr_operation *op = l->act->op;
	kr_key key;
	kr_value value;

	if (op->kind == KR_OP_DELETE && !(op->flags & KR_OPF_KNOWN))
		return; /* perhaps nothing was there */
	for (uint32_t i = 0; kr_op_write(l->b->h, op, i, &key, &value); i++) {
		struct kr_edit edit = {l->act->txn, l->act->index, key, value, l->act->at};
		hold(l, l->b->profile->locks.write, key, NULL);
		l->failed |= !kr_vec_push(l->b->mem, &l->b->edits, edit);
	}
	if (op->kind == KR_OP_UPDATE && l->b->profile->range_locks != KR_RANGES_NONE)
		hold(l, l->b->profile->locks.write, (kr_key){KR_NONE}, op);
}

enum kr_status kr_batch_locks(struct kr_batch *b)
{
	for (kr_txn t = {0}; t.i < b->txns.n; t.i++) {
		struct locking l = {.b = b, .party = &b->txns.at[t.i]};
		l.party->hold_first = b->holds.n;
		for (uint32_t i = 0; i < l.party->act_count; i++) {
			l.act = &b->acts.at[l.party->act_first + i];
			if (!kr_act_counts(l.act, KR_NONE) || !l.act->answered)
				continue;
			bool reads = l.act->op->kind == KR_OP_READ || l.act->op->kind == KR_OP_RANGE ||
				l.act->op->kind == KR_OP_SCAN;
			if (reads)
				hold_read(&l);
			else
				hold_writes(&l);
		}
		if (l.failed)
			return KR_NOMEM;
	}
	return kr_ctx_check(b->ctx);
}
