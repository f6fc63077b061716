/* First updater wins: of two committed transactions that wrote a row, the later one's snapshot has seen the other.
 * Wrong iff neither can have been before the other's snapshot. Blind writers have no snapshot, and break no rule. */
#include "mechanisms/mechanism.h"

static bool applies(const struct kr_batch *b) { return b->profile->fuw; }

/* u is certainly not before t's snapshot. */
static bool missed(const struct kr_batch *b, const struct kr_writer *u, const struct kr_writer *t)
{
	const struct kr_party *p = &b->txns.at[t->by.txn.i];

	return p->has_snapshot && kr_span_before(p->snapshot, u->by.commit);
}

static bool concur(const struct kr_batch *b, const struct kr_writer *t, const struct kr_writer *u)
{
	return missed(b, u, t) && (kr_stand_precedes(b, &u->by, &t->by) || missed(b, t, u));
}

static bool is_exempt(const struct kr_batch *b, const struct kr_writer *t, const struct kr_writer *u)
{
	bool last = kr_stand_precedes(b, &u->by, &t->by), first = kr_stand_precedes(b, &t->by, &u->by);

	return (!first && kr_writer_makes_new_row(b, t)) || (!last && kr_writer_makes_new_row(b, u));
}

static enum kr_status report(struct kr_batch *b, const struct kr_writer *t, const struct kr_writer *u)
{
	struct kr_finding *f = kr_batch_report(b, KR_MECH_FUW, KR_FOUND_CONCURRENT_WRITERS);

	if (!f)
		return KR_NOMEM;
	f->txns[0] = t->by.txn;
	f->txns[1] = u->by.txn;
	f->ops[0] = t->op;
	f->ops[1] = u->op;
	f->key = t->key;
	f->snapshot = b->txns.at[t->by.txn.i].snapshot;
	return KR_OK;
}

static enum kr_status find(struct kr_batch *b)
{
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < b->writers.n && !status; i++) {
		const struct kr_writer *t = &b->writers.at[i];
		const uint32_t *of = b->writers_of.at.at;
		for (uint32_t j = b->writers_of.first.at[t->object]; of[j] < i && !status && t->by.committed && t->real; j++) {
			const struct kr_writer *u = &b->writers.at[of[j]];
			if (!u->by.committed || !u->real || is_exempt(b, t, u))
				continue;
			if (concur(b, t, u))
				status = report(b, t, u);
			else if (concur(b, u, t))
				status = report(b, u, t);
		}
		if (!status)
			status = kr_ctx_tick(b->ctx);
	}
	return status;
}

const struct kr_mechanism kr_mechanism_fuw = {
	.name = "fuw",
	.title = "first updater wins: nobody writes a row that changed since its snapshot",
	.source = "Li et al., Leopard, ICDE 2023; timestamps: Chronos, ICDE 2025",
	.applies = applies,
	.find = find,
};
