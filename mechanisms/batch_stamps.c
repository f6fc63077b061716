/* Instants that the database tells: the timestamps at which each transaction took its snapshot and committed.
 * They are points; nothing is locked. */
#include "mechanisms/batch.h"

static enum kr_status refuse(const struct kr_batch *b, kr_txn t, const char *what, struct kr_err *err)
{
	const struct kr_transaction *txn = &b->h->txns.at[t.i];
	char name[64];

	kr_err_set(err, KR_BAD, "transaction %s %s", kr_history_brief(b->h, txn->id, name, sizeof name),
		what);
	kr_err_at(err, b->h->files.at[txn->file], txn->line, 0);
	return KR_BAD;
}

static bool writes(const struct kr_batch *b, const struct kr_party *p)
{
	kr_key key;
	kr_value value;

	for (uint32_t i = p->act_first; i < p->act_first + p->act_count; i++)
		if (kr_act_counts(&b->acts.at[i], KR_NONE) &&
			kr_op_write(b->h, b->acts.at[i].op, 0, &key, &value))
			return true;
	return false;
}

static void conclude(struct kr_batch *b, struct kr_party *p)
{
	p->has_snapshot = true;
	p->automatic = false;
	p->begin = p->snapshot;
	p->release = p->commit;
	for (uint32_t i = p->act_first; i < p->act_first + p->act_count; i++)
		b->acts.at[i].at = p->snapshot;
}

static enum kr_status take_stamps(struct kr_batch *b, kr_txn t, struct kr_err *err)
{
	const struct kr_transaction *txn = &b->h->txns.at[t.i];
	struct kr_party *p = &b->txns.at[t.i];
	bool starts = txn->flags & KR_TXN_HAS_SNAPSHOT, ends = txn->flags & KR_TXN_HAS_COMMIT_TS;

	p->snapshot = p->commit = (struct kr_span){INT64_MIN, INT64_MAX};
	if (kr_batch_carried(b, t)) { /* of which only versions are left, and when it committed */
		p->snapshot = p->commit = b->options->marks->carried[t.i].commit;
		conclude(b, p);
		return KR_OK;
	}
	if (p->committed && !(starts && ends))
		return refuse(b, t, "has no `snapshot` and `commit_ts`, which this profile goes by", err);
	if (starts)
		p->snapshot.from = p->snapshot.to = b->h->white_box.at[t.i].snapshot;
	if (ends && p->committed)
		p->commit.from = p->commit.to = b->h->white_box.at[t.i].commit_ts;
	else if (starts)
		p->commit.from = p->snapshot.from;
	if (p->committed && p->snapshot.from > p->commit.from)
		return refuse(b, t, "starts (`snapshot`) after it commits (`commit_ts`)", err);
	if (p->committed && p->snapshot.from == p->commit.from && writes(b, p))
		return refuse(b, t, "writes, and starts (`snapshot`) when it commits (`commit_ts`)", err);
	if (b->profile->snapshot_at == KR_SNAPSHOT_COMMIT)
		p->snapshot = p->commit;
	conclude(b, p);
	return KR_OK;
}

enum kr_status kr_batch_stamps(struct kr_batch *b, struct kr_err *err)
{
	for (kr_txn t = {0}; t.i < b->txns.n; t.i++)
		KR_TRY(take_stamps(b, t, err));
	return KR_OK;
}
