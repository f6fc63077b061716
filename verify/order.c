/* A serial order proves serializability when it holds each transaction at most once, all committed and no
 * aborted ones, keeps to the session and real-time order asked for and to version orders that the trace
 * gives, and every operation, replayed in it, shows what the trace says. Starts and commits are such an order
 * with two steps per transaction: who comes before another in an order has committed when the other one
 * starts. A transaction of unknown outcome may be left out; nothing has to come after one, since it may have
 * taken effect late. Real time takes one sweep: a transaction is misplaced iff one before it was invoked
 * after it had returned, and of those before it the one invoked last decides. Cost: linear, but for given
 * orders that meet in transactions left out: once more per step from one to the next. */
#include "verify/given.h"
#include "verify/verifier.h"

struct order {
	struct kr_verifier *v;
	/* per transaction, KR_NONE: left out; where it starts; the same array as place where that is one
	 * step */
	uint32_t *start;
	uint32_t *place; /* where it commits */
	bool points;     /* starts and commits are steps of their own */
	bool updaters;   /* only transactions that write have a place to keep to */
};

static enum kr_status check_members(const struct order *o)
{
	const struct kr_history *h = o->v->h;
	const struct kr_certificate *cert = o->v->cert;

	for (uint32_t i = 0; i < h->txns.n; i++)
		o->start[i] = o->place[i] = KR_NONE;
	for (uint32_t i = 0; i < cert->serial.n; i++) {
		kr_txn t = cert->serial.at[i];
		if (t.i >= h->txns.n)
			return kr_err_set(o->v->err, KR_BAD, "place %u of the order names no transaction",
				(unsigned)i);
		if (o->place[t.i] != KR_NONE)
			return kr_err_set(o->v->err, KR_BAD, "%s is %s in the order",
				kr_verify_txn_name(h, t).text, o->points ? "three times" : "twice");
		if (h->txns.at[t.i].status == KR_ABORTED)
			return kr_err_set(o->v->err, KR_BAD, "%s is in the order, but was aborted",
				kr_verify_txn_name(h, t).text);
		if (o->points && o->start[t.i] == KR_NONE)
			o->start[t.i] = i;
		else
			o->place[t.i] = i;
	}
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		if (o->points && o->start[t.i] != KR_NONE && o->place[t.i] == KR_NONE)
			return kr_err_set(o->v->err, KR_BAD, "%s starts in the order, but does not commit",
				kr_verify_txn_name(h, t).text);
		if (h->txns.at[t.i].status == KR_COMMITTED && o->place[t.i] == KR_NONE)
			return kr_err_set(o->v->err, KR_BAD, "%s committed, but is not in the order",
				kr_verify_txn_name(h, t).text);
	}
	return KR_OK;
}

static enum kr_status check_sessions(const struct order *o, kr_txn *last)
{
	const struct kr_history *h = o->v->h;

	for (uint32_t s = 0; s < h->sessions.n; s++)
		last[s] = (kr_txn){KR_NONE};
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		uint32_t session = h->txns.at[t.i].session.i;
		if (session == KR_NONE || o->place[t.i] == KR_NONE)
			continue;
		if (last[session].i != KR_NONE && o->start[t.i] < o->place[last[session].i])
			return kr_err_set(o->v->err, KR_BAD,
				"%s comes after %s in their session, but before it in the order",
				kr_verify_txn_name(h, t).text, kr_verify_txn_name(h, last[session]).text);
		if (h->txns.at[t.i].status == KR_COMMITTED)
			last[session] = t;
	}
	return KR_OK;
}

static enum kr_status check_session_order(const struct order *o)
{
	struct kr_mem *mem = &o->v->ctx->mem;
	uint32_t n = o->v->h->sessions.n;
	kr_txn *last = kr_mem_alloc(mem, n, sizeof *last);
	enum kr_status status = last ? check_sessions(o, last) : KR_NOMEM;

	kr_mem_free(mem, last, n, sizeof *last);
	return status;
}

bool kr_verify_returned_before(const struct kr_history *h, kr_txn a, kr_txn b)
{
	const struct kr_transaction *first = &h->txns.at[a.i], *second = &h->txns.at[b.i];
	int64_t end;

	return first->flags & KR_TXN_HAS_END &&
		!__builtin_add_overflow(first->end_returned, h->clock_skew, &end) &&
		end < second->begin_invoked;
}

static enum kr_status check_real_time(const struct order *o)
{
	const struct kr_history *h = o->v->h;
	const struct kr_certificate *cert = o->v->cert;
	kr_txn latest = {KR_NONE}; /* invoked last of those so far */

	for (uint32_t i = 0; i < cert->serial.n; i++) {
		kr_txn t = cert->serial.at[i];
		if (latest.i != KR_NONE && i == o->place[t.i] && h->txns.at[t.i].status == KR_COMMITTED &&
			kr_verify_returned_before(h, t, latest))
			return kr_err_set(o->v->err, KR_BAD,
				"%s had returned before %s was invoked, but comes after it in the order",
				kr_verify_txn_name(h, t).text, kr_verify_txn_name(h, latest).text);
		if (i == o->start[t.i] && h->txns.at[t.i].flags & KR_TXN_HAS_BEGIN &&
			(latest.i == KR_NONE ||
				h->txns.at[t.i].begin_invoked > h->txns.at[latest.i].begin_invoked))
			latest = t;
	}
	return KR_OK;
}

/* One list: every member comes after those before it. `after`: per (key, transaction) that was left out, 1 +
 * the last place in the order of what the lists have before it; *news is set when that grows. NULL: of those
 * alone that are in the order; *news is set when one is not. */
static enum kr_status check_given_order(const struct order *o, const struct kr_given *given,
	const struct kr_version_order *list, uint32_t *after, bool *news)
{
	const struct kr_history *h = o->v->h;
	uint32_t last = 0;

	for (uint32_t w = 0; w < list->writer_count; w++) {
		kr_txn t = h->order_writers.at[list->writer_first + w];
		if (o->place[t.i] == KR_NONE && !after) {
			*news = true;
			continue;
		}
		if (o->place[t.i] == KR_NONE) {
			uint32_t *before = &after[kr_given_number(given, list->key, t)];
			*news |= *before < last;
			last = *before = *before < last ? last : *before;
			continue;
		}
		if (o->place[t.i] + 1 < last)
			return kr_err_set(o->v->err, KR_BAD,
				"the trace has %s before %s as writers of %s, the order has them the other "
				"way round",
				kr_verify_txn_name(h, o->v->cert->serial.at[last - 1]).text,
				kr_verify_txn_name(h, t).text, kr_verify_key_name(h, list->key).text);
		last = o->place[t.i] + 1;
	}
	return KR_OK;
}

static enum kr_status check_lists(const struct order *o, const struct kr_given *given, uint32_t *after,
	bool *news)
{
	const struct kr_history *h = o->v->h;

	*news = false;
	for (uint32_t i = 0; i < h->version_orders.n; i++) {
		KR_TRY(check_given_order(o, given, &h->version_orders.at[i], after, news));
		KR_TRY(kr_ctx_tick(o->v->ctx));
	}
	return KR_OK;
}

/* Lists may meet in a transaction that was left out: what one has before it comes before what another has
 * after it. */
static enum kr_status check_given_orders(const struct order *o)
{
	const struct kr_history *h = o->v->h;
	struct kr_given given;
	bool news;

	KR_TRY(check_lists(o, NULL, NULL, &news));
	if (!news)
		return KR_OK;
	KR_TRY(kr_given_init(&given, o->v->ctx, h, (struct kr_shown_pairs){0}));

	uint32_t *after = kr_mem_alloc(given.mem, h->order_writers.n, sizeof *after);
	enum kr_status status = after ? KR_OK : KR_NOMEM;

	while (!status && news)
		status = check_lists(o, &given, after, &news);
	kr_mem_free(given.mem, after, h->order_writers.n, sizeof *after);
	kr_given_done(&given);
	return status;
}

/* Takes the places of transactions that write nothing away, and gives them back. */
static void set_readers(const struct order *o, bool placed)
{
	const struct kr_certificate *cert = o->v->cert;

	for (uint32_t i = 0; i < cert->serial.n; i++)
		if (kr_verify_is_reader(o->v->h, cert->serial.at[i]))
			o->place[cert->serial.at[i].i] = placed ? i : KR_NONE;
}

static enum kr_status check_orders(const struct order *o)
{
	if (o->v->cert->order >= KR_ORDER_SESSION)
		KR_TRY(check_session_order(o));
	if (o->v->cert->order >= KR_ORDER_REALTIME)
		KR_TRY(check_real_time(o));
	return check_given_orders(o);
}

static enum kr_status check(const struct order *o)
{
	KR_TRY(check_members(o));
	if (o->updaters)
		set_readers(o, false);
	enum kr_status status = check_orders(o);
	if (o->updaters)
		set_readers(o, true);
	return status;
}

enum kr_status kr_verify_places(struct kr_verifier *v, uint32_t *place)
{
	const struct order o = {v, place, place, false, false};

	return check(&o);
}

enum kr_status kr_verify_updaters(struct kr_verifier *v, uint32_t *place)
{
	const struct order o = {v, place, place, false, true};

	return check(&o);
}

enum kr_status kr_verify_points(struct kr_verifier *v, uint32_t *start, uint32_t *place)
{
	const struct order o = {v, start, place, true, false};

	return check(&o);
}

enum kr_status kr_verify_serial(struct kr_verifier *v)
{
	struct kr_mem *mem = &v->ctx->mem;
	uint32_t n = v->h->txns.n, *place = kr_mem_alloc(mem, n, sizeof *place);
	enum kr_status status = place ? kr_verify_places(v, place) : KR_NOMEM;

	kr_mem_free(mem, place, n, sizeof *place);
	return status == KR_OK ? kr_verify_replay(v) : status;
}
