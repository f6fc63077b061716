/* Sessions by timestamps: a transaction starts (commits, where it reads as of its commit) no earlier than the one before
 * it in its session has committed. */
#include "mechanisms/mechanism.h"

static bool applies(const struct kr_batch *b) { return b->profile->clock == KR_CLOCK_STAMPS && !b->options->no_session; }

static enum kr_status report(struct kr_batch *b, kr_txn t, kr_txn before)
{
	struct kr_finding *f;

	if (before.i == KR_NONE || b->txns.at[t.i].snapshot.from >= b->txns.at[before.i].commit.from)
		return KR_OK;
	f = kr_batch_report(b, KR_MECH_SESSION, KR_FOUND_SESSION);
	if (!f)
		return KR_NOMEM;
	f->txns[0] = t;
	f->txns[1] = before;
	f->snapshot = b->txns.at[t.i].snapshot;
	return KR_OK;
}

static enum kr_status find(struct kr_batch *b)
{
	uint32_t n = b->h->sessions.n;
	kr_txn *last = kr_mem_alloc(b->mem, n, sizeof *last); /* by session: the last one that committed */
	enum kr_status status = last ? KR_OK : KR_NOMEM;

	for (uint32_t s = 0; s < n && last; s++)
		last[s] = (kr_txn){KR_NONE};
	for (kr_txn t = {0}; t.i < b->txns.n && !status; t.i++) {
		kr_session s = b->h->txns.at[t.i].session;
		if (s.i == KR_NONE || !b->txns.at[t.i].committed)
			continue;
		status = report(b, t, last[s.i]);
		last[s.i] = t;
	}
	kr_mem_free(b->mem, last, n, sizeof *last);
	return status ? status : kr_ctx_check(b->ctx);
}

const struct kr_mechanism kr_mechanism_session = {
	.name = "session",
	.title = "sessions by timestamps: each transaction starts after the one before it has committed",
	.source = "Chronos, ICDE 2025",
	.applies = applies,
	.find = find,
};
