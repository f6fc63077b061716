/* Histories told as events.
 *
 * An operation without times lies between those of the timed entries around it: behind it walks a second
 * one, which stands at the next timed entry, so that the whole is linear. */
#include "frontend/event.h"

struct telling {
	const struct kr_history *h;
	const struct kr_transaction *txn;
	const struct kr_sink *sink;
	struct kr_err *err;
	struct kr_event event; /* what all events of the transaction share */
	int64_t before;        /* invoked of the last timed event */
	struct kr_walk ahead;  /* at the next timed entry behind the one being told */
	bool ahead_ended;
};

static bool is_timed(const struct kr_walk *w) { return w->attr && w->attr->has_time; }

/* When what comes behind the entry `at` returned. */
static int64_t next_return(struct telling *t, const struct kr_walk *at)
{
	while (!t->ahead_ended &&
		(t->ahead.place == KR_NONE || t->ahead.place <= at->place || !is_timed(&t->ahead)))
		t->ahead_ended = !kr_walk_next(t->h, &t->ahead);
	if (!t->ahead_ended)
		return t->ahead.attr->returned;
	return t->txn->flags & KR_TXN_HAS_END ? t->txn->end_returned : KR_TIME_OPEN;
}

static enum kr_status tell_end_of(struct telling *t, enum kr_event_kind kind, bool timed, int64_t invoked,
	int64_t returned)
{
	struct kr_event event = t->event;
	const unsigned open = kind == KR_EVENT_BEGIN ? KR_TXN_BEGIN_OPEN : KR_TXN_END_OPEN;

	event.kind = kind;
	event.timed = timed;
	event.open = (t->txn->flags & open) != 0;
	event.invoked = timed ? invoked : 0;
	event.returned = timed ? returned : 0;
	if (timed)
		t->before = invoked;
	return t->sink->take(t->sink->data, &event, t->err);
}

static enum kr_status tell_entry(struct telling *t, const struct kr_walk *at)
{
	struct kr_event event = t->event;

	event.kind = KR_EVENT_ENTRY;
	event.place = at->place;
	event.entry = kr_walk_entry(at);
	event.entry.attr.undone = false; /* which only a later event tells */
	event.timed = is_timed(at);
	event.open = event.timed && at->attr->open;
	event.invoked = event.timed ? at->attr->invoked : t->before;
	event.returned = event.timed ? at->attr->returned : next_return(t, at);
	t->before = event.invoked;
	return t->sink->take(t->sink->data, &event, t->err);
}

static enum kr_status tell(struct telling *t, struct kr_walk walk)
{
	const struct kr_transaction *txn = t->txn;
	KR_TRY(tell_end_of(t, KR_EVENT_BEGIN, txn->flags & KR_TXN_HAS_BEGIN, txn->begin_invoked,
		txn->begin_returned));

	while (kr_walk_next(t->h, &walk))
		KR_TRY(tell_entry(t, &walk));
	return tell_end_of(t, KR_EVENT_END, txn->flags & KR_TXN_HAS_END, txn->end_invoked, txn->end_returned);
}

static enum kr_status tell_txn(const struct kr_history *h, const struct kr_transaction *txn,
	const struct kr_white_box *white_box, struct kr_walk walk, const struct kr_sink *sink,
	struct kr_err *err)
{
	struct telling t = {.h = h,
		.txn = txn,
		.sink = sink,
		.err = err,
		.event = kr_event_of(KR_EVENT_BEGIN, txn->session, txn->id),
		.before = INT64_MIN,
		.ahead = walk};

	t.event.file = txn->file;
	t.event.line = txn->line;
	t.event.flags = txn->flags;
	t.event.status = txn->status;
	if (white_box)
		t.event.white_box = *white_box;
	return tell(&t, walk);
}

enum kr_status kr_event_tell_one(const struct kr_history *h, const struct kr_transaction *txn,
	const struct kr_white_box *white_box, struct kr_err *err)
{
	return tell_txn(h, txn, white_box, kr_walk_new(h), h->sink, err);
}

static enum kr_status tell_order(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_version_order *order, const struct kr_sink *sink, struct kr_err *err)
{
	struct kr_event event = kr_event_of(KR_EVENT_ORDER, (kr_session){KR_NONE}, (kr_value){KR_NONE});
	kr_value *ids = kr_mem_alloc(&ctx->mem, order->writer_count, sizeof *ids);

	if (!ids)
		return KR_NOMEM;
	for (uint32_t i = 0; i < order->writer_count; i++)
		ids[i] = h->txns.at[h->order_writers.at[order->writer_first + i].i].id;
	event.line = order->line;
	event.key = order->key;
	event.writers = ids;
	event.writer_count = order->writer_count;

	enum kr_status status = sink->take(sink->data, &event, err);

	kr_mem_free(&ctx->mem, ids, order->writer_count, sizeof *ids);
	return status;
}

enum kr_status kr_event_tell(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_sink *sink,
	struct kr_err *err)
{
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		KR_TRY(tell_txn(h, &h->txns.at[t.i], t.i < h->white_box.n ? &h->white_box.at[t.i] : NULL,
			kr_walk_txn(h, t), sink, err));
		KR_TRY(kr_ctx_tick(ctx));
	}
	for (uint32_t i = 0; i < h->version_orders.n; i++)
		KR_TRY(tell_order(ctx, h, &h->version_orders.at[i], sink, err));
	return KR_OK;
}
