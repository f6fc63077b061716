/* Validation: nobody may overwrite what a transaction that writes has read, between its snapshot and its commit. */
#include "mechanisms/mechanism.h"

static bool applies(const struct kr_batch *b) { return b->profile->validate; }

static bool writes(const struct kr_batch *b, kr_txn t)
{
	const struct kr_party *p = &b->txns.at[t.i];

	for (uint32_t i = p->writer_first; i < p->writer_first + p->writer_count; i++)
		if (b->writers.at[i].real)
			return true;
	return false;
}

static bool is_stale(const struct kr_batch *b, const struct kr_look *look, const struct kr_written *u)
{
	const struct kr_party *p = &b->txns.at[look->txn.i];
	bool changes = !look->predicate || (u->value.i != KR_NONE && !kr_look_fits(b, look, u->value));

	return u->by.committed && u->by.txn.i != KR_NONE && u->by.txn.i != look->txn.i && !u->shadow && changes && kr_span_before(p->snapshot, u->by.commit) &&
		kr_span_before(u->by.commit, p->commit);
}

static enum kr_status find(struct kr_batch *b)
{
	for (uint32_t i = 0; i < b->looks.n; i++) {
		const struct kr_look *look = &b->looks.at[i];
		const struct kr_party *p = &b->txns.at[look->txn.i];
		if (!p->committed || !p->has_snapshot || look->own || look->insert || !writes(b, look->txn))
			continue;
		for (uint32_t j = b->version_first.at[look->key.i]; j < b->version_first.at[look->key.i + 1]; j++) {
			if (!is_stale(b, look, &b->versions.at[j]))
				continue;
			struct kr_finding *f = kr_batch_report(b, KR_MECH_SC, KR_FOUND_STALE_VALIDATED);
			if (!f)
				return KR_NOMEM;
			f->txns[0] = look->txn;
			f->txns[1] = b->versions.at[j].by.txn;
			f->ops[0] = look->op;
			f->ops[1] = b->versions.at[j].op;
			f->key = look->key;
			f->snapshot = p->snapshot;
		}
	}
	return kr_ctx_check(b->ctx);
}

const struct kr_mechanism kr_mechanism_validate = {
	.name = "validate",
	.title = "validation: what a transaction read is not overwritten before it commits",
	.source = "Kung and Robinson, TODS 1981",
	.applies = applies,
	.find = find,
};
