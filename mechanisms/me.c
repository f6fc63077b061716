/* Mutual exclusion: of two locks that conflict, one was given up before the other was taken. Wrong iff each
 * was certainly taken before the other was given up. A pair of transactions is told once for each object, by
 * the strongest locks. */
#include "frontend/where.h"
#include "mechanisms/mechanism.h"

static bool locks(const struct kr_batch *b)
{
	const struct kr_lock_modes *m = &b->profile->locks;

	return m->read != KR_MODE_NONE || m->share != KR_MODE_NONE || m->update != KR_MODE_NONE ||
		m->write != KR_MODE_NONE;
}

/* Both were held at some instant, wherever the instants lie. */
static bool overlap(const struct kr_batch *b, kr_txn t, struct kr_span taken, kr_txn u, struct kr_span other)
{
	return other.to < b->txns.at[t.i].release.from && taken.to < b->txns.at[u.i].release.from;
}

static bool is_told(const struct kr_batch *b, kr_txn t, kr_txn u, uint32_t object)
{
	for (uint32_t i = 0; i < b->out->list.n; i++) {
		const struct kr_finding *f = &b->out->list.at[i];
		bool pair = (f->txns[0].i == t.i && f->txns[1].i == u.i) ||
			(f->txns[0].i == u.i && f->txns[1].i == t.i);
		if (f->mechanism == KR_MECH_ME && pair && b->objects.at[f->key.i] == object)
			return true;
	}
	return false;
}

static enum kr_status tell(struct kr_batch *b, enum kr_finding_class what, const struct kr_hold *x,
	const struct kr_hold *y, kr_key key)
{
	if (is_told(b, x->txn, y->txn, b->objects.at[key.i]))
		return KR_OK;
	struct kr_finding *f = kr_batch_report(b, KR_MECH_ME, what);
	if (!f)
		return KR_NOMEM;
	f->txns[0] = x->txn;
	f->txns[1] = y->txn;
	f->ops[0] = x->op;
	f->ops[1] = y->op;
	f->key = key;
	f->held[0] = (struct kr_span){x->at.to, b->txns.at[x->txn.i].release.from};
	f->held[1] = (struct kr_span){y->at.to, b->txns.at[y->txn.i].release.from};
	return KR_OK;
}

/* `released`: by place in holds_of, the latest R1 so far of its object. */
static enum kr_status find_pairs(struct kr_batch *b, bool exclusive, const int64_t *released)
{
	for (uint32_t i = 0; i < b->holds.n; i++) {
		const struct kr_hold *x = &b->holds.at[i];
		const uint32_t *of = b->holds_of.at.at,
			       *first = x->range ? NULL : &b->holds_of.first.at[x->object];
		for (uint32_t j = first ? kr_first_above(released, first[0], first[1], x->at.to) : 0;
			first && j < first[1] && of[j] < i; j++) {
			const struct kr_hold *y = &b->holds.at[of[j]];
			bool conflict =
				exclusive ? x->mode == KR_MODE_X && y->mode == KR_MODE_X : x->mode != y->mode;
			if (y->txn.i != x->txn.i && conflict && overlap(b, x->txn, x->at, y->txn, y->at))
				KR_TRY(tell(b, exclusive ? KR_FOUND_WRITE_WRITE : KR_FOUND_WRITE_READ, y, x,
					x->key));
		}
		KR_TRY(kr_ctx_tick(b->ctx));
	}
	return KR_OK;
}

/* A row that is written into a locked range: one of a scan if it meets the conditions. */
static bool falls_into(const struct kr_batch *b, const struct kr_hold *range, const struct kr_edit *e)
{
	bool holds = false;

	if (!kr_op_covers(b->h, range->range, e->key))
		return false;
	if (range->range->kind == KR_OP_RANGE)
		return true;
	if (e->value.i == KR_NONE || e->value.i == KR_ABSENT.i)
		return false;
	return kr_where_holds(b->h, &b->h->scans.at[range->range->scan], e->key, e->value, &holds, NULL) ==
		KR_OK &&
		holds;
}

static enum kr_status find_ranges(struct kr_batch *b)
{
	for (uint32_t i = 0; i < b->holds.n; i++) {
		const struct kr_hold *range = &b->holds.at[i];
		for (uint32_t j = 0; j < b->edits.n && range->range; j++) {
			const struct kr_edit *e = &b->edits.at[j];
			struct kr_hold row = {.txn = e->txn,
				.op = e->op,
				.mode = KR_MODE_X,
				.key = e->key,
				.at = e->at};
			if (e->txn.i != range->txn.i && b->profile->locks.write == KR_MODE_X &&
				overlap(b, range->txn, range->at, e->txn, e->at) && falls_into(b, range, e))
				KR_TRY(tell(b, KR_FOUND_RANGE, range, &row, e->key));
		}
		KR_TRY(kr_ctx_tick(b->ctx));
	}
	return KR_OK;
}

static enum kr_status find(struct kr_batch *b)
{
	uint32_t n = b->holds_of.at.n;
	int64_t *released = kr_mem_alloc(b->mem, n, sizeof *released);
	enum kr_status status = released ? KR_OK : KR_NOMEM;

	for (uint32_t i = 0; i < n && !status; i++)
		released[i] = b->txns.at[b->holds.at[b->holds_of.at.at[i]].txn.i].release.from;
	if (!status)
		kr_group_most(&b->holds_of, released);
	if (!status)
		status = find_pairs(b, true, released);
	if (!status)
		status = find_pairs(b, false, released);
	kr_mem_free(b->mem, released, n, sizeof *released);
	return status ? status : find_ranges(b);
}

const struct kr_mechanism kr_mechanism_me = {
	.name = "me",
	.title = "mutual exclusion: locks that conflict were never held at the same time",
	.source = "Li et al., Leopard, ICDE 2023",
	.applies = locks,
	.find = find,
};
