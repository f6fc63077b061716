/* Where the snapshot, the commit and the end of each transaction lie, by what its client saw. */
#include "mechanisms/batch.h"

static struct kr_span hull(struct kr_span a, struct kr_span b)
{
	return (struct kr_span){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

static bool has(const struct kr_batch *b, kr_txn t, enum kr_txn_flag flag)
{
	return b->h->txns.at[t.i].flags & flag;
}

/* When the last statement in front of act `end` that was acknowledged had been sent: until then the
 * transaction lived. */
static int64_t lived_until(const struct kr_batch *b, const struct kr_party *p, uint32_t end)
{
	while (end-- > p->act_first)
		if (b->acts.at[end].answered && !b->acts.at[end].failed)
			return b->acts.at[end].at.from;
	return p->begin.from;
}

/* The statement with which the database rolled the transaction back, or the end. */
static uint32_t breaks_at(const struct kr_batch *b, const struct kr_party *p)
{
	uint32_t i = p->act_first;

	while (i < p->act_first + p->act_count && !b->acts.at[i].ends)
		i++;
	return i;
}

/* One statement is all: its span is snapshot, lock, write and commit. */
static void end_automatic(struct kr_batch *b, kr_txn t)
{
	struct kr_party *p = &b->txns.at[t.i];
	struct kr_span all = p->commit;

	for (uint32_t i = 0; i < p->act_count; i++)
		all = i == 0 ? b->acts.at[p->act_first].at : hull(all, b->acts.at[p->act_first + i].at);
	if (p->act_count == 0 && !has(b, t, KR_TXN_HAS_END))
		all = (struct kr_span){INT64_MIN, INT64_MAX};
	if (p->optional)
		all.to = INT64_MAX;
	p->commit = p->release = all;
	if (!p->committed)
		p->release.from = INT64_MIN;
}

static void end_party(struct kr_batch *b, kr_txn t)
{
	struct kr_party *p = &b->txns.at[t.i];
	uint32_t end = p->act_first + p->act_count, broken = breaks_at(b, p);
	bool told = has(b, t, KR_TXN_HAS_END);
	int64_t last = p->act_count > 0 ? b->acts.at[end - 1].at.from : p->begin.from;

	if (!told)
		p->commit = (struct kr_span){last, INT64_MAX};
	p->release = p->commit;
	if (p->committed)
		return;
	bool answered = told && !has(b, t, KR_TXN_END_OPEN) && !has(b, t, KR_TXN_END_FAILED);
	if (p->optional || broken < end || !answered)
		p->release.from = lived_until(b, p, broken);
	if (p->optional)
		p->commit.to = p->release.to = INT64_MAX;
}

/* ---- snapshots ---- */

static bool is_plain_read(const struct kr_act *a)
{
	bool read = a->op->kind == KR_OP_READ || a->op->kind == KR_OP_RANGE || a->op->kind == KR_OP_SCAN;

	return read && !(a->attr && a->attr->lock != KR_LOCK_NONE) &&
		!(a->attr && (a->attr->read == KR_READ_LATEST || a->attr->read == KR_READ_UNCOMMITTED));
}

/* From the first statement that may have taken it to the first that certainly has. */
static bool snapshot_by_act(struct kr_batch *b, struct kr_party *p, bool plain_read)
{
	bool begun = false;

	for (uint32_t i = p->act_first; i < p->act_first + p->act_count; i++) {
		const struct kr_act *a = &b->acts.at[i];
		if (!a->op || (plain_read && !is_plain_read(a)))
			continue;
		p->snapshot.from = begun ? p->snapshot.from : a->at.from;
		p->snapshot.to = a->at.to;
		begun = true;
		if (!a->failed)
			return true;
	}
	return begun;
}

static void take_snapshot(struct kr_batch *b, kr_txn t)
{
	struct kr_party *p = &b->txns.at[t.i];

	if (b->profile->reads != KR_READS_TRANSACTION || p->automatic)
		return;
	if (has(b, t, KR_TXN_HAS_SNAPSHOT_T)) {
		p->has_snapshot = true;
		return;
	}
	switch (b->profile->snapshot_at) {
	case KR_SNAPSHOT_NEVER: break;
	case KR_SNAPSHOT_STATEMENT:
	case KR_SNAPSHOT_PLAIN_READ:
		p->has_snapshot = snapshot_by_act(b, p, b->profile->snapshot_at == KR_SNAPSHOT_PLAIN_READ);
		break;
	case KR_SNAPSHOT_BEGIN:
		p->has_snapshot = true;
		p->snapshot = p->begin;
		if (!has(b, t, KR_TXN_HAS_BEGIN))
			p->snapshot.to = p->act_count > 0 ? b->acts.at[p->act_first].at.to : INT64_MAX;
		break;
	case KR_SNAPSHOT_COMMIT:
		p->has_snapshot = true;
		p->snapshot = p->commit;
		break;
	}
}

enum kr_status kr_batch_instants(struct kr_batch *b)
{
	for (kr_txn t = {0}; t.i < b->txns.n; t.i++) {
		struct kr_party *p = &b->txns.at[t.i];
		if (!has(b, t, KR_TXN_HAS_BEGIN))
			p->begin = (struct kr_span){INT64_MIN,
				p->act_count > 0 ? b->acts.at[p->act_first].at.to : INT64_MAX};
		if (p->automatic)
			end_automatic(b, t);
		else
			end_party(b, t);
		if (kr_batch_carried(b, t)) {
			p->commit = b->options->marks->carried[t.i].commit;
			p->release = b->options->marks->carried[t.i].release;
		}
		take_snapshot(b, t);
	}
	return KR_OK;
}
