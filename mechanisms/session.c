/* Sessions by timestamps: a transaction starts (commits, where it reads as of its commit) no earlier than the one before
 * it in its session has committed. */
#include "mechanisms/mechanism.h"

static bool applies(const struct kr_batch *b) { return b->profile->clock == KR_CLOCK_STAMPS && !b->options->no_session; }

static kr_txn predecessor(const struct kr_batch *b, kr_txn t)
{
	kr_session session = b->h->txns.at[t.i].session;

	for (kr_txn u = t; session.i != KR_NONE && u.i-- > 0;)
		if (b->h->txns.at[u.i].session.i == session.i && b->txns.at[u.i].committed)
			return u;
	return (kr_txn){KR_NONE};
}

static enum kr_status find(struct kr_batch *b)
{
	for (kr_txn t = {0}; t.i < b->txns.n; t.i++) {
		kr_txn before = predecessor(b, t);
		if (!b->txns.at[t.i].committed || before.i == KR_NONE || b->txns.at[t.i].snapshot.from >= b->txns.at[before.i].commit.from)
			continue;
		struct kr_finding *f = kr_batch_report(b, KR_MECH_SESSION, KR_FOUND_SESSION);
		if (!f)
			return KR_NOMEM;
		f->txns[0] = t;
		f->txns[1] = before;
		f->snapshot = b->txns.at[t.i].snapshot;
	}
	return kr_ctx_check(b->ctx);
}

const struct kr_mechanism kr_mechanism_session = {
	.name = "session",
	.title = "sessions by timestamps: each transaction starts after the one before it has committed",
	.source = "Chronos, ICDE 2025",
	.applies = applies,
	.find = find,
};
