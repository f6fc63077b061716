/* Anomalies of keys that grow which no element decides alone: that what was seen has no explanation is left
 * to the case search (cases.c), and the name is right when there is something of the kind that it tells of: a
 * write by a transaction that was aborted, or may be (aborted read), one that its transaction followed by
 * another (intermediate read), one by the reader itself, later (future read); of a counter, its number may
 * always be called one that nobody made (garbage read). Cost: a walk over the history, and the search. */
#include "verify/claim.h"

struct evidence {
	bool aborted, intermediate, future;
};

static void find_evidence(const struct kr_claim *c, kr_txn t, struct evidence *out)
{
	const struct kr_history *h = c->v->h;
	uint32_t writes = 0;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
		bool write = op->key.i == c->key.i && kr_effect_count(h, op) > 0;

		writes += write;
		out->future |= write && t.i == c->txn.i && i > c->op;
	}
	out->aborted |= writes > 0 && h->txns.at[t.i].status != KR_COMMITTED;
	out->intermediate |= writes > 1 && t.i != c->txn.i;
}

static bool is_named_rightly(const struct kr_claim *c, const struct evidence *e)
{
	switch (c->v->cert->anomaly.kind) {
	case KR_ABORTED_READ: return e->aborted;
	case KR_INTERMEDIATE_READ: return e->intermediate;
	case KR_FUTURE_READ: return e->future;
	case KR_GARBAGE_READ: return c->v->h->keys.at[c->key.i].kind == KR_KIND_COUNTER;
	default: return c->v->cert->anomaly.kind == KR_INCOMPATIBLE_ORDER;
	}
}

enum kr_status kr_claim_is_named(const struct kr_claim *c, bool *out)
{
	struct evidence evidence = {0};

	for (kr_txn t = {0}; t.i < c->v->h->txns.n; t.i++) {
		find_evidence(c, t, &evidence);
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	*out = is_named_rightly(c, &evidence);
	return KR_OK;
}

enum kr_status kr_claim_by_cases(const struct kr_claim *c, bool *out)
{
	struct kr_err unheard; /* that it may be otherwise is said of the claim as a whole */
	struct kr_verifier asking = *c->v;
	struct kr_claim claim = *c;

	kr_err_init(&unheard);
	asking.err = &unheard;
	claim.v = &asking;
	enum kr_status status =
		kr_claim_unexplained(&claim, c->v->cert->anomaly.kind == KR_INCOMPATIBLE_ORDER);
	*out = status == KR_OK;
	return status == KR_BAD || status == KR_UNSUPPORTED ? KR_OK : status;
}
