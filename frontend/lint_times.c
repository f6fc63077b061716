/* Lint: times and ids of transactions.
 *
 * Readers refuse a transaction that begins before its session's last one returned, unless that one is
 * unknown: what overlaps here overlaps an unknown one. A time is compared with the latest of its session so
 * far. Linear in transactions and operations. */
#include "frontend/lint_work.h"

#include <string.h>

struct latest {
	/* the transactions whose begin was invoked and whose end returned last; KR_NONE: none */
	kr_txn began, returned;
};

/* The first moment that t tells. */
static bool start_of(const struct kr_transaction *t, int64_t *out)
{
	*out = t->flags & KR_TXN_HAS_BEGIN ? t->begin_invoked : t->end_invoked;
	return t->flags & (KR_TXN_HAS_BEGIN | KR_TXN_HAS_END);
}

static enum kr_status judge_session(struct kr_lint_work *w, kr_txn t, struct latest *latest)
{
	const struct kr_transaction *txns = w->h->txns.at, *txn = &txns[t.i];
	struct kr_lint_finding finding = kr_lint_at(t, KR_NONE);
	enum kr_lint_kind kind = KR_LINT_KINDS;
	int64_t begun = 0;

	if (!start_of(txn, &finding.time))
		return KR_OK;
	if (latest->began.i != KR_NONE && start_of(&txns[latest->began.i], &begun) && finding.time < begun) {
		kind = KR_LINT_SESSION_BACKWARDS;
		finding.other = latest->began;
		finding.other_time = begun;
	} else {
		if (latest->returned.i != KR_NONE && finding.time < txns[latest->returned.i].end_returned) {
			kind = KR_LINT_SESSION_OVERLAP;
			finding.other = latest->returned;
			finding.other_time = txns[latest->returned.i].end_returned;
		}
		latest->began = t;
	}
	if (txn->flags & KR_TXN_HAS_END && !(txn->flags & KR_TXN_END_OPEN) &&
		(latest->returned.i == KR_NONE || txn->end_returned >= txns[latest->returned.i].end_returned))
		latest->returned = t;
	return kind == KR_LINT_KINDS ? KR_OK : kr_lint_put(w, kind, finding);
}

static enum kr_status judge_sessions(struct kr_lint_work *w)
{
	const struct kr_history *h = w->h;
	struct latest *latest = kr_mem_alloc(&w->ctx->mem, h->sessions.n, sizeof *latest);
	enum kr_status status = latest ? KR_OK : KR_NOMEM;

	for (uint32_t s = 0; latest && s < h->sessions.n; s++)
		latest[s] = (struct latest){{KR_NONE}, {KR_NONE}};
	for (kr_txn t = {0}; t.i < h->txns.n && status == KR_OK; t.i++)
		if ((status = kr_ctx_tick(w->ctx)) == KR_OK && h->txns.at[t.i].session.i != KR_NONE)
			status = judge_session(w, t, &latest[h->txns.at[t.i].session.i]);
	kr_mem_free(&w->ctx->mem, latest, h->sessions.n, sizeof *latest);
	return status;
}

static enum kr_status judge_op(struct kr_lint_work *w, kr_txn t, const struct kr_attr *attr,
	const int64_t *before)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];
	struct kr_lint_finding finding = kr_lint_at(t, attr->op.i - txn->op_first);

	if (before && attr->invoked < *before) {
		finding.time = attr->invoked;
		finding.other_time = *before;
		KR_TRY(kr_lint_put(w, KR_LINT_OP_BACKWARDS, finding));
	}
	if (txn->flags & KR_TXN_HAS_BEGIN && attr->invoked < txn->begin_invoked) {
		finding.time = attr->invoked;
		finding.other_time = txn->begin_invoked;
	} else if (txn->flags & KR_TXN_HAS_END && !attr->open && attr->returned > txn->end_returned) {
		finding.time = attr->returned;
		finding.other_time = txn->end_returned;
	} else {
		return KR_OK;
	}
	return kr_lint_put(w, KR_LINT_OP_OUTSIDE, finding);
}

/* Attributes stand in the order of operations, and so do transactions. */
static enum kr_status judge_ops(struct kr_lint_work *w)
{
	const struct kr_history *h = w->h;
	kr_txn t = {0};
	int64_t before = 0;
	bool any = false;

	for (uint32_t i = 0; i < h->attrs.n; i++) {
		const struct kr_attr *attr = &h->attrs.at[i];

		KR_TRY(kr_ctx_tick(w->ctx));
		for (; attr->op.i >= h->txns.at[t.i].op_first + h->txns.at[t.i].op_count; t.i++)
			any = false;
		if (!attr->has_time)
			continue;
		KR_TRY(judge_op(w, t, attr, any ? &before : NULL));
		before = any && before > attr->invoked ? before : attr->invoked;
		any = true;
	}
	return KR_OK;
}

/* How long t lasted, 0 where it does not tell. */
static int64_t duration(const struct kr_transaction *t)
{
	uint64_t length = (uint64_t)t->end_returned - (uint64_t)t->begin_invoked;

	if (!(t->flags & KR_TXN_HAS_BEGIN) || !(t->flags & KR_TXN_HAS_END) || t->flags & KR_TXN_END_OPEN)
		return 0;
	return length < INT64_MAX ? (int64_t)length : INT64_MAX;
}

/* What is given up for a timeout lasts longer than what succeeds, if the trace does not say it in words. */
static enum kr_status judge_failures(struct kr_lint_work *w)
{
	const struct kr_transaction *txns = w->h->txns.at;
	kr_txn slowest = {KR_NONE};

	for (kr_txn t = {0}; t.i < w->h->txns.n; t.i++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (txns[t.i].status == KR_COMMITTED &&
			duration(&txns[t.i]) > (slowest.i == KR_NONE ? 0 : duration(&txns[slowest.i])))
			slowest = t;
	}
	for (kr_txn t = {0}; t.i < w->h->txns.n; t.i++) {
		struct kr_lint_finding finding = kr_lint_at(t, KR_NONE);

		KR_TRY(kr_ctx_tick(w->ctx));
		if (txns[t.i].flags & KR_TXN_TIMED_OUT)
			KR_TRY(kr_lint_put(w, KR_LINT_TIMED_OUT, finding));
		if (txns[t.i].flags & KR_TXN_TIMED_OUT || slowest.i == KR_NONE)
			continue;
		finding.other = slowest;
		finding.time = duration(&txns[t.i]);
		finding.other_time = duration(&txns[slowest.i]);
		if (txns[t.i].status == KR_ABORTED && finding.time > finding.other_time)
			KR_TRY(kr_lint_put(w, KR_LINT_SLOW_ABORT, finding));
	}
	return KR_OK;
}

static enum kr_status judge_txns(struct kr_lint_work *w)
{
	const struct kr_history *h = w->h;
	struct kr_lint_finding unnamed = kr_lint_at((kr_txn){KR_NONE}, KR_NONE);
	uint8_t told = 0;

	for (uint32_t t = 0; t < h->txns.n; t++)
		told |= h->txns.at[t].flags & (KR_TXN_HAS_BEGIN | KR_TXN_HAS_END);
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		const struct kr_transaction *txn = &h->txns.at[t.i];
		unsigned missing = told & ~(unsigned)txn->flags;

		KR_TRY(kr_ctx_tick(w->ctx));
		if (missing & KR_TXN_HAS_BEGIN)
			KR_TRY(kr_lint_put(w, KR_LINT_NO_BEGIN, kr_lint_at(t, KR_NONE)));
		if (missing & KR_TXN_HAS_END && txn->status != KR_UNKNOWN)
			KR_TRY(kr_lint_put(w, KR_LINT_NO_END, kr_lint_at(t, KR_NONE)));
		/* those that were left out are counted */
		uint32_t number = kr_history_default_number(h, t);
		if (number <= t.i || number - t.i - 1 > h->skipped)
			continue;
		if (unnamed.count++ == 0)
			unnamed.txn = t;
	}
	return unnamed.count > 0 ? kr_lint_put(w, KR_LINT_DEFAULT_ID, unnamed) : KR_OK;
}

enum kr_status kr_lint_times(struct kr_lint_work *w)
{
	KR_TRY(judge_sessions(w));
	KR_TRY(judge_ops(w));
	KR_TRY(judge_failures(w));
	return judge_txns(w);
}
