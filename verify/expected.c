/* A difference from the serialization order that the trace itself gives: all transactions that took effect
 * have places in it, each its own, and the replay in that order first fails at the operation named. It says
 * nothing of other orders. A transaction of unknown outcome without a place could have any, so there must be
 * none. Cost: that of a sort and of the replay. */
#include "verify/replayed.h"

#include "base/order.h"

struct expected {
	int64_t serial;
	kr_txn txn;
};

KR_BY(compare, struct expected, serial);

static enum kr_status collect(struct kr_verifier *v, struct expected *order, uint32_t *n)
{
	const struct kr_history *h = v->h;

	*n = 0;
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		if (h->txns.at[t.i].status == KR_ABORTED)
			continue;
		if (!(h->txns.at[t.i].flags & KR_TXN_HAS_SERIAL))
			return kr_err_set(v->err, KR_BAD, "%s has no place in the serialization order",
				kr_verify_txn_name(h, t).text);
		order[(*n)++] = (struct expected){h->white_box.at[t.i].serial, t};
	}
	KR_SORT(order, *n, compare);
	for (uint32_t i = 1; i < *n; i++)
		if (order[i].serial == order[i - 1].serial)
			return kr_err_set(v->err, KR_BAD,
				"%s and %s have the same place in the serialization order",
				kr_verify_txn_name(h, order[i - 1].txn).text,
				kr_verify_txn_name(h, order[i].txn).text);
	return KR_OK;
}

/* The replay fails at r.txn, behind r.op operations: there the claim must lie. */
static enum kr_status compare_claim(struct kr_verifier *v, const struct kr_replayed *r)
{
	const struct kr_history *h = v->h;

	if (r->txn.i == v->cert->anomaly.txn.i && r->op == v->cert->anomaly.op + 1)
		return KR_OK;
	return kr_err_set(v->err, KR_BAD,
		"the first difference from the serialization order is at operation %u of %s",
		(unsigned)r->op - 1, kr_verify_txn_name(h, r->txn).text);
}

static enum kr_status replay(struct kr_verifier *v, const struct expected *order, uint32_t n)
{
	struct kr_verifier asking = *v;
	struct kr_replayed r;
	struct kr_err why;

	kr_err_init(&why);
	asking.err = &why; /* where it fails is what was claimed */

	KR_TRY(kr_replay_init(&r, &asking));
	enum kr_status status = KR_OK;
	for (uint32_t i = 0; i < n && !status; i++)
		status = kr_replay_txn(&r, order[i].txn, false);
	if (status == KR_BAD)
		status = compare_claim(v, &r);
	else if (!status)
		status = kr_err_set(v->err, KR_BAD,
			"the replay in the serialization order shows no difference");
	else
		kr_err_set(v->err, status, "%s", why.text);
	kr_replay_done(&r);
	return status;
}

enum kr_status kr_verify_expected(struct kr_verifier *v)
{
	const struct kr_history *h = v->h;
	struct kr_mem *mem = &v->ctx->mem;
	uint32_t n = 0;

	if (v->cert->anomaly.txn.i >= h->txns.n ||
		v->cert->anomaly.op >= h->txns.at[v->cert->anomaly.txn.i].op_count)
		return kr_err_set(v->err, KR_BAD, "the difference names no operation of the trace");

	struct expected *order = kr_mem_alloc(mem, h->txns.n, sizeof *order);
	enum kr_status status = order ? collect(v, order, &n) : KR_NOMEM;

	if (!status)
		status = replay(v, order, n);
	kr_mem_free(mem, order, h->txns.n, sizeof *order);
	return status;
}
