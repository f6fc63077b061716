/* Serializability against an expected order, as Enne decides it: the database itself says in which order it
 * serialized its transactions (`serial` in the trace: a timestamp, a place in the log, a revision), and a
 * replay in that order must show what clients saw (rerun.h): reads, ranges and scans are compared with the
 * state, predicate updates are evaluated on it.
 *
 * No difference: the order is a serial order of the trace, and proves the level like any other. Whether it
 * does is for the verifier to say, which replays it; so it is asked first, and this replay is for what the
 * order does not prove: to find the difference, and where initial values are not told. A difference: the
 * history is not what the database says it is. That is a violation under the given order, and labelled so;
 * another order may still explain the history, which other checkers can tell. The first difference is the
 * certificate, and the verifier, which replays with code of its own, must find the same. Undecided: a
 * committed transaction without a place, or with another one's; a difference while some transaction of
 * unknown outcome has no place, since it may have any; an order that contradicts the sessions, times or
 * version orders that it is to keep; what depends on untold initial values.
 *
 * Cost: n log n to sort, then that of the replay. Longer than usual: it decides by itself, without passes and
 * back ends, and checks the order that it is given. */
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "checkers/check.h"
#include "checkers/rerun.h"

struct place {
	int64_t serial;
	kr_txn txn;
};

struct expected {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_verdict *out;
	struct place *places;
	uint32_t n;
	kr_txn unplaced; /* one of unknown outcome without a place, or KR_NONE */
	bool stop;       /* there is nothing to replay */
};

static void refuse(struct expected *e, const char *format, kr_txn a, kr_txn b)
{
	char x[48], y[48] = "";
	kr_history_brief(e->h, e->h->txns.at[a.i].id, x, sizeof x);
	if (b.i != KR_NONE)
		kr_history_brief(e->h, e->h->txns.at[b.i].id, y, sizeof y);
	snprintf(e->out->reason, sizeof e->out->reason, format, x, y);
	e->stop = true;
}

/* ---- the order ---- */

KR_BY_BOTH(by_serial, struct place, serial, txn.i);

static void take_order(struct expected *e)
{
	const struct kr_history *h = e->h;
	for (kr_txn t = {0}; t.i < h->txns.n && !e->stop; t.i++) {
		const struct kr_transaction *txn = &h->txns.at[t.i];
		if (txn->status == KR_ABORTED)
			continue;
		if (txn->flags & KR_TXN_HAS_SERIAL)
			e->places[e->n++] = (struct place){h->white_box.at[t.i].serial, t};
		else if (txn->status == KR_UNKNOWN)
			e->unplaced = t;
		else
			refuse(e, "%s has no place in the serialization order (`serial`)%s", t,
				(kr_txn){KR_NONE});
	}
	KR_SORT(e->places, e->n, by_serial);
	for (uint32_t i = 1; i < e->n && !e->stop; i++)
		if (e->places[i].serial == e->places[i - 1].serial)
			refuse(e, "%s and %s have the same place in the serialization order",
				e->places[i - 1].txn, e->places[i].txn);
}

/* Has b to come before a, which the given order has in front of it? */
static bool goes_against(const struct expected *e, kr_txn a, kr_txn b)
{
	const struct kr_transaction *x = &e->h->txns.at[a.i], *y = &e->h->txns.at[b.i];
	bool session = x->session.i != KR_NONE && x->session.i == y->session.i && b.i < a.i;
	if (y->status != KR_COMMITTED)
		return false;
	return (e->out->order >= KR_ORDER_SESSION && session) ||
		(e->out->order == KR_ORDER_REALTIME && kr_history_precedes(e->h, b, a));
}

/* Of those so far, the last one in the trace of each session, and the one invoked last of all, decide. */
static void check_order(struct expected *e, kr_txn *last)
{
	const struct kr_history *h = e->h;
	kr_txn latest = {KR_NONE};
	memset(last, 0xff, h->sessions.n * sizeof *last);
	for (uint32_t i = 0; i < e->n && !e->stop; i++) {
		kr_txn t = e->places[i].txn;
		const struct kr_transaction *txn = &h->txns.at[t.i];
		kr_txn before[2] = {txn->session.i == KR_NONE ? (kr_txn){KR_NONE} : last[txn->session.i],
			latest};
		for (int j = 0; j < 2 && !e->stop; j++)
			if (before[j].i != KR_NONE && goes_against(e, before[j], t))
				refuse(e,
					"the given order has %s before %s, against the sessions or times "
					"that it is to keep",
					before[j], t);
		if (txn->session.i != KR_NONE &&
			(last[txn->session.i].i == KR_NONE || last[txn->session.i].i < t.i))
			last[txn->session.i] = t;
		if (txn->flags & KR_TXN_HAS_BEGIN &&
			(latest.i == KR_NONE || txn->begin_invoked > h->txns.at[latest.i].begin_invoked))
			latest = t;
	}
}

/* Version orders name writers, oldest first. */
static void check_given(struct expected *e, uint32_t *place)
{
	const struct kr_history *h = e->h;
	for (uint32_t i = 0; i < e->n; i++)
		place[e->places[i].txn.i] = i + 1;
	for (uint32_t o = 0; o < h->version_orders.n && !e->stop; o++) {
		kr_txn before = {KR_NONE};
		for (uint32_t w = 0; w < h->version_orders.at[o].writer_count && !e->stop; w++) {
			kr_txn t = h->order_writers.at[h->version_orders.at[o].writer_first + w];
			if (place[t.i] == 0)
				continue;
			if (before.i != KR_NONE && place[before.i] > place[t.i])
				refuse(e,
					"the given order has %s after %s, against a version order of the "
					"trace",
					before, t);
			before = t;
		}
	}
}

static enum kr_status check_orders(struct expected *e)
{
	struct kr_mem *mem = &e->ctx->mem;
	kr_txn *last = kr_mem_alloc(mem, e->h->sessions.n, sizeof *last);
	uint32_t *place = kr_mem_alloc(mem, e->h->txns.n, sizeof *place);
	if (last && place) {
		check_order(e, last);
		if (!e->stop)
			check_given(e, place);
	}
	enum kr_status status = last && place ? kr_ctx_check(e->ctx) : KR_NOMEM;
	kr_mem_free(mem, last, e->h->sessions.n, sizeof *last);
	kr_mem_free(mem, place, e->h->txns.n, sizeof *place);
	return status;
}

/* ---- the verdict ---- */

static void conclude(struct expected *e, const struct kr_rerun_end *end)
{
	struct kr_certificate *cert = &e->out->certificate;
	e->out->outcome = end->kind == KR_RERUN_SAME ? KR_SATISFIED
		: end->kind == KR_RERUN_DIFFERS      ? KR_VIOLATED
						     : KR_UNDECIDED;
	cert->kind = KR_CERT_ORDER;
	if (end->kind == KR_RERUN_UNTOLD)
		snprintf(e->out->reason, sizeof e->out->reason, "%s", end->reason);
	if (end->kind == KR_RERUN_DIFFERS && e->unplaced.i != KR_NONE) {
		refuse(e, "%s is of unknown outcome and has no place in the serialization order%s",
			e->unplaced, (kr_txn){KR_NONE});
		e->out->outcome = KR_UNDECIDED;
	}
	if (e->out->outcome != KR_VIOLATED)
		return;
	cert->kind = KR_CERT_REPLAY;
	cert->anomaly.txn = end->difference.txn;
	cert->anomaly.op = end->difference.op;
	cert->anomaly.key = end->difference.key;
	e->out->given = KR_GIVEN_ONLY;
	snprintf(e->out->expected, sizeof e->out->expected, "%s", end->difference.expected);
	snprintf(e->out->seen, sizeof e->out->seen, "%s", end->difference.seen);
}

/* Is the order a proof? */
static enum kr_status prove(struct expected *e)
{
	struct kr_verdict *out = e->out;
	struct kr_certificate *cert = &out->certificate;
	struct kr_question question = {out->level, out->order};
	int64_t start = kr_now_ns();

	cert->kind = KR_CERT_ORDER;
	if (kr_history_untold(e->h))
		return KR_OK;
	KR_TRY(kr_check_fits(e->ctx, e->h, cert, question, &out->verified));
	out->verify_seconds = (double)(kr_now_ns() - start) * 1e-9;
	if (out->verified)
		out->outcome = KR_SATISFIED;
	return KR_OK;
}

/* By the proof, and else by a replay; debug builds look whether both agree. */
static enum kr_status replay(struct expected *e)
{
	struct kr_verdict *out = e->out;
	struct kr_certificate *cert = &out->certificate;
	struct kr_rerun_end end;

	if (!kr_vec_reserve(cert->mem, &cert->serial, e->n))
		return KR_NOMEM;
	for (uint32_t i = 0; i < e->n; i++)
		cert->serial.at[cert->serial.n++] = e->places[i].txn;
	KR_TRY(prove(e));
#ifndef KR_DEBUG
	if (out->verified)
		return KR_OK;
#endif
	KR_TRY(kr_rerun(e->ctx, e->h, cert->serial.at, cert->serial.n, &end));
	if (!out->verified)
		conclude(e, &end);
	return out->verified && end.kind == KR_RERUN_DIFFERS ? KR_INTERNAL : KR_OK;
}

static enum kr_status decide(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err)
{
	struct expected e = {.ctx = ctx, .h = h, .out = out, .unplaced = {KR_NONE}};
	(void)options, (void)err;
	KR_TRY(kr_mem_new(&ctx->mem, e.places, h->txns.n));
	take_order(&e);
	enum kr_status status = e.stop ? KR_OK : check_orders(&e);
	if (!status && !e.stop)
		status = replay(&e);
	kr_mem_free(&ctx->mem, e.places, h->txns.n, sizeof *e.places);
	return status;
}

const struct kr_checker kr_checker_enne = {
	.name = "enne",
	.title = "serializability in the order that the database gives: a replay, and the first difference",
	.source = "Clark et al., Enne, TOCS",
	.decides = KR_IDS("ser", "pl-ss"),
	.passes = "",
	.backend = "",
	.decide = decide,
};
