/* When operations ran, and when transactions took their snapshots, committed and were last known to live: of
 * those that are asked for. */
#include "verify/recheck.h"

static int64_t add(int64_t at, int64_t by)
{
	int64_t sum;

	if (at == INT64_MIN || at == INT64_MAX)
		return at;
	return __builtin_add_overflow(at, by, &sum) ? (by < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static struct kr_span wide(const struct kr_history *h, int64_t from, int64_t to)
{
	int64_t half = h->clock_skew / 2 + (h->clock_skew & 1);

	return (struct kr_span){add(from, -half), add(to, half)};
}

struct passing { /* through the entries of a transaction */
	const struct kr_recheck *r;
	kr_txn t;
	const struct kr_transaction *txn;
	struct kr_instants *out;
	int64_t sent;                 /* of the last timed entry */
	int64_t alive;                /* when the last statement that was answered had been sent */
	bool ended, snapped, certain; /* certain: the snapshot has certainly been taken */
	struct kr_span all;           /* of autocommit */
};

static bool flag(const struct passing *p, unsigned f) { return (p->txn->flags & f) != 0; }

/* Answered by: of the next entry with times, or the end. */
static int64_t answered(const struct passing *p, struct kr_walk walk)
{
	do
		if (walk.attr && walk.attr->has_time)
			return walk.attr->returned;
	while (kr_walk_next(p->r->h, &walk));
	return flag(p, KR_TXN_HAS_END) ? p->txn->end_returned : INT64_MAX;
}

static bool takes_snapshot(const struct passing *p, const struct kr_walk *walk)
{
	enum kr_snapshot_at rule = p->r->claims.profile->snapshot_at;
	bool read = kr_recheck_is_read(walk->op);

	if (rule != KR_SNAPSHOT_PLAIN_READ)
		return rule == KR_SNAPSHOT_STATEMENT;
	if (!read || !walk->attr)
		return read;
	return walk->attr->lock == KR_LOCK_NONE && walk->attr->read != KR_READ_LATEST &&
		walk->attr->read != KR_READ_UNCOMMITTED;
}

static void pass_entry(struct passing *p, const struct kr_walk *walk)
{
	const struct kr_history *h = p->r->h;
	const struct kr_attr *attr = walk->attr;
	bool failed = walk->struck && walk->op && attr->failed;

	p->sent = attr && attr->has_time ? attr->invoked : p->sent;
	struct kr_span at = wide(h, p->sent, answered(p, *walk));
	bool replied = !(attr && attr->open);
	if (!walk->struck)
		p->r->ops[walk->op - h->ops.at] = at;
	if (at.from < p->all.from)
		p->all.from = at.from;
	if (at.to > p->all.to)
		p->all.to = at.to;
	if (walk->op && takes_snapshot(p, walk) && !p->certain) {
		p->out->snapshot.from = p->snapped ? p->out->snapshot.from : at.from;
		p->out->snapshot.to = at.to;
		p->snapped = true;
		p->certain = !failed;
	}
	p->ended |= failed && attr->ends;
	if (!p->ended && !failed && replied)
		p->alive = at.from;
}

struct kr_span kr_recheck_entry(const struct kr_recheck *r, kr_txn t, const struct kr_walk *walk)
{
	const struct kr_transaction *txn = &r->h->txns.at[t.i];
	struct passing p = {.txn = txn,
		.sent = txn->flags & KR_TXN_HAS_BEGIN ? txn->begin_invoked : INT64_MIN};
	struct kr_walk at = kr_walk_txn(r->h, t);

	p.r = &(struct kr_recheck){.h = r->h};
	while (kr_walk_next(r->h, &at) && at.place <= walk->place)
		p.sent = at.attr && at.attr->has_time ? at.attr->invoked : p.sent;
	return wide(r->h, p.sent, answered(&p, *walk));
}

static void conclude_auto(struct passing *p, bool any)
{
	struct kr_instants *o = p->out;

	if (!any)
		p->all = flag(p, KR_TXN_HAS_END) ? wide(p->r->h, p->txn->end_invoked, p->txn->end_returned)
						 : (struct kr_span){INT64_MIN, INT64_MAX};
	o->commit = p->all;
	o->commit.to = p->txn->status == KR_UNKNOWN ? INT64_MAX : o->commit.to;
	o->lives_until = p->txn->status == KR_COMMITTED ? o->commit.from : INT64_MIN;
	o->rolled_back = o->commit.to;
	o->begin = o->commit;
}

static void conclude(struct passing *p, bool any)
{
	struct kr_instants *o = p->out;
	const struct kr_transaction *txn = p->txn;
	bool told = flag(p, KR_TXN_HAS_END);

	o->commit = told ? wide(p->r->h, txn->end_invoked, txn->end_returned)
			 : (struct kr_span){any ? wide(p->r->h, p->sent, 0).from : o->begin.from, INT64_MAX};
	bool regular = txn->status == KR_COMMITTED ||
		(txn->status == KR_ABORTED && told && !flag(p, KR_TXN_END_OPEN) &&
			!flag(p, KR_TXN_END_FAILED) && !p->ended);
	o->lives_until = regular ? o->commit.from : p->alive;
	o->commit.to = txn->status == KR_UNKNOWN ? INT64_MAX : o->commit.to;
	o->rolled_back = o->commit.to;
}

static void conclude_snapshot(struct passing *p, int64_t first_done)
{
	const struct kr_profile *profile = p->r->claims.profile;
	struct kr_instants *o = p->out;

	o->has_snapshot = false;
	if (profile->reads != KR_READS_TRANSACTION || o->is_auto)
		return;
	o->has_snapshot = profile->snapshot_at != KR_SNAPSHOT_NEVER;
	if (flag(p, KR_TXN_HAS_SNAPSHOT_T)) {
		const int64_t *at = p->r->h->white_box.at[p->t.i].snapshot_t;
		o->snapshot = wide(p->r->h, at[0], at[1]);
		o->has_snapshot = true;
	} else if (profile->snapshot_at == KR_SNAPSHOT_BEGIN) {
		o->snapshot = o->begin;
		o->snapshot.to = flag(p, KR_TXN_HAS_BEGIN) ? o->begin.to : first_done;
	} else if (profile->snapshot_at == KR_SNAPSHOT_COMMIT) {
		o->snapshot = o->commit;
	} else {
		o->has_snapshot = o->has_snapshot && p->snapped;
	}
}

static void pass_txn(const struct kr_recheck *r, kr_txn t)
{
	const struct kr_transaction *txn = &r->h->txns.at[t.i];
	struct passing p = {.r = r,
		.t = t,
		.txn = txn,
		.out = &r->txns[t.i],
		.sent = INT64_MIN,
		.all = {INT64_MAX, INT64_MIN}};
	struct kr_walk walk = kr_walk_txn(r->h, t);
	int64_t first_done = INT64_MAX;
	bool any = false;

	p.out->is_auto = flag(&p, KR_TXN_AUTO);
	p.out->begin = flag(&p, KR_TXN_HAS_BEGIN) ? wide(r->h, txn->begin_invoked, txn->begin_returned)
						  : (struct kr_span){INT64_MIN, INT64_MAX};
	if (flag(&p, KR_TXN_HAS_BEGIN))
		p.sent = txn->begin_invoked;
	else if (p.out->is_auto && flag(&p, KR_TXN_HAS_END))
		p.sent = txn->end_invoked;
	p.alive = p.out->begin.from;
	while (kr_walk_next(r->h, &walk)) {
		pass_entry(&p, &walk);
		first_done = any ? first_done : wide(r->h, 0, answered(&p, walk)).to;
		any = true;
	}
	if (!flag(&p, KR_TXN_HAS_BEGIN))
		p.out->begin.to = first_done;
	if (p.out->is_auto)
		conclude_auto(&p, any);
	else
		conclude(&p, any);
	if (kr_recheck_carried(r, t)) {
		p.out->commit = r->claims.marks->carried[t.i].commit;
		p.out->lives_until = r->claims.marks->carried[t.i].release.from;
	}
	conclude_snapshot(&p, first_done);
}

static void pass_stamped(const struct kr_recheck *r, kr_txn t)
{
	const struct kr_transaction *txn = &r->h->txns.at[t.i];
	struct kr_instants *o = &r->txns[t.i];
	bool starts = txn->flags & KR_TXN_HAS_SNAPSHOT,
	     commits = txn->flags & KR_TXN_HAS_COMMIT_TS && txn->status == KR_COMMITTED;
	int64_t start = starts ? r->h->white_box.at[t.i].snapshot : INT64_MIN;
	int64_t commit = commits ? r->h->white_box.at[t.i].commit_ts : start;

	o->snapshot = (struct kr_span){start, starts ? start : INT64_MAX};
	o->commit = (struct kr_span){commit, commits ? commit : INT64_MAX};
	if (kr_recheck_carried(r, t))
		o->snapshot = o->commit = r->claims.marks->carried[t.i].commit;
	if (r->claims.profile->snapshot_at == KR_SNAPSHOT_COMMIT)
		o->snapshot = o->commit;
	o->has_snapshot = true;
	o->begin = o->snapshot;
	o->lives_until = o->commit.from;
	o->rolled_back = o->commit.to;
	for (uint32_t i = 0; i < txn->op_count; i++)
		r->ops[txn->op_first + i] = o->snapshot;
}

const struct kr_instants *kr_recheck_instants(const struct kr_recheck *r, kr_txn t)
{
	struct kr_instants *out = &r->txns[t.i];

	if (!out->derived && r->claims.profile->clock == KR_CLOCK_STAMPS)
		pass_stamped(r, t);
	else if (!out->derived)
		pass_txn(r, t);
	out->derived = true;
	return out;
}

struct kr_span kr_recheck_op(const struct kr_recheck *r, kr_txn t, uint32_t index)
{
	(void)kr_recheck_instants(r, t);
	return r->ops[kr_history_op(r->h, t, index).i];
}
