/* Sessions by timestamps: a transaction starts (commits, where it reads as of its commit) no earlier than the
 * one before it in its session has committed. */
#include "mechanisms/mechanism.h"

static bool asked(const struct kr_profile *profile) { return profile->clock == KR_CLOCK_STAMPS; }

static const struct kr_declared classes[] = {
	{
		.name = "session",
		.mechanism = KR_MECH_SESSION,
		.says = "{0} started before {1}, the one before it in its session, had committed",
		.asked = asked,
		.cites = KR_CITES_SESSION,
		.premise_count = 1,
		.premises = {{{KR_INSTANT_SNAPSHOT, 0}, {KR_INSTANT_COMMIT, 1}}},
	},
	{.name = NULL},
};

static bool applies(const struct kr_batch *b) { return asked(b->profile) && !b->options->no_session; }

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
		if (last[s.i].i != KR_NONE)
			status = kr_batch_claim(b, &classes[0],
				(struct kr_suspect){{t, last[s.i]}, {KR_NONE, KR_NONE}, {KR_NONE}});
		last[s.i] = t;
	}
	kr_mem_free(b->mem, last, n, sizeof *last);
	return status ? status : kr_ctx_check(b->ctx);
}

const struct kr_mechanism kr_mechanism_session = {
	.name = "session",
	.title = "sessions by timestamps: each transaction starts after the one before it has committed",
	.source = "Chronos, ICDE 2025",
	.declares = classes,
	.applies = applies,
	.find = find,
};
