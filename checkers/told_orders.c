/* Serial orders that the trace suggests: the order of ends, of the trace and of begins, each without the
 * transactions of unknown outcome and with them. A serial order proves every level, and the verifier alone,
 * which leaves out nothing, says whether one is. Cost: six replays and two sorts, of which those that a wrong
 * order takes mostly end soon. */
#include "checkers/certify.h"
#include "checkers/check.h"

#include "base/order.h"

struct placed {
	int64_t time;
	uint32_t txn;
};

KR_BY_BOTH(by_time, struct placed, time, txn);

enum suggestion { BY_END, BY_PLACE, BY_BEGIN, SUGGESTIONS };

/* One whose time is not told stays beside those that stand before it in the trace. *some: it is not one of
 * the other suggestions, since times are told, and there are transactions of unknown outcome to add. */
static enum kr_status suggest(const struct kr_history *h, struct placed *all, enum suggestion by,
	bool unknown, struct kr_certificate *cert, bool *some)
{
	uint32_t n = 0;
	int64_t last = INT64_MIN;
	bool told = by == BY_PLACE, doubted = !unknown;
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];
		if (by == BY_END && txn->flags & KR_TXN_HAS_END && !(txn->flags & KR_TXN_END_OPEN))
			last = txn->end_returned;
		if (by == BY_BEGIN && txn->flags & KR_TXN_HAS_BEGIN)
			last = txn->begin_invoked;
		told |= last != INT64_MIN;
		doubted |= txn->status == KR_UNKNOWN;
		if (txn->status == KR_COMMITTED || (txn->status == KR_UNKNOWN && unknown))
			all[n++] = (struct placed){last, t};
	}
	*some = told && doubted;
	if (*some)
		KR_SORT(all, n, by_time);
	kr_vec_clear(&cert->serial);
	for (uint32_t i = 0; i < n && *some; i++)
		KR_TRY(kr_vec_add(cert->mem, &cert->serial, (kr_txn){all[i].txn}));
	return KR_OK;
}

enum kr_status kr_certify_told_order(struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_certificate *cert, bool *found)
{
	struct placed *all = kr_mem_alloc(&ctx->mem, h->txns.n, sizeof *all);
	enum kr_status status = all ? KR_OK : KR_NOMEM;
	struct kr_question question = {cert->level, cert->order};
	*found = false;
	cert->kind = KR_CERT_ORDER;
	for (int i = 0; i < 2 * SUGGESTIONS && !status && !*found; i++) {
		bool other;
		status = suggest(h, all, (enum suggestion)(i / 2), i % 2, cert, &other);
		if (!status && other)
			status = kr_check_fits(ctx, h, cert, question, found);
	}
	kr_mem_free(&ctx->mem, all, h->txns.n, sizeof *all);
	return status;
}
