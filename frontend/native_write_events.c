/* The native writer's event lines: one for each begin, operation and end, by the time at which the client
 * knew of it.
 *
 * A line's time is that of the answer, or of the request where no answer came; what has no time comes with
 * what stands before it in its session. A session's times are made to rise, so that its lines keep their
 * order; then all lines are sorted. Cost: a sort, and 24 bytes a line. */
#include "frontend/native_write_work.h"

#include "base/order.h"

enum what { BEGIN, ENTRY, END, WHOLE, OVER };

struct line {
	int64_t time;
	uint32_t number; /* by which equal times are ordered */
	uint32_t txn;    /* OVER: the session */
	uint32_t at;     /* ENTRY: place in the transaction's list */
	uint8_t what;
};

struct lines {
	const struct kr_history *h;
	struct kr_mem *mem;
	KR_VEC(struct line) lines;
	int64_t *latest; /* time of the last line, by session; last: of what has no session */
	uint32_t *last;  /* the session's last transaction */
};

static bool add(struct lines *l, kr_session session, struct line line, const int64_t *time)
{
	int64_t *latest = &l->latest[session.i == KR_NONE ? l->h->sessions.n : session.i];

	if (time)
		*latest = *latest > *time ? *latest : *time;
	line.time = *latest;
	line.number = l->lines.n;
	return kr_vec_push(l->mem, &l->lines, line);
}

/* Whether event lines can tell transaction t. */
static bool fits(const struct lines *l, kr_txn t)
{
	const struct kr_transaction *txn = &l->h->txns.at[t.i];
	struct kr_walk walk = kr_walk_txn(l->h, t);
	int64_t times[2];
	bool open;

	if (txn->session.i == KR_NONE)
		return false;
	if (txn->flags & KR_TXN_AUTO) {
		bool one = kr_walk_next(l->h, &walk) && walk.op &&
			(!walk.struck || !walk.struck->attr.undone) && walk.next_op == walk.end_op &&
			walk.next_struck == walk.end_struck;
		bool timed = kr_history_statement(l->h, kr_walk_txn(l->h, t), times, &open);
		const unsigned ends = KR_TXN_HAS_BEGIN | KR_TXN_HAS_END;

		if (!one || txn->flags & (KR_TXN_WHITE_BOX | KR_TXN_END_FAILED) ||
			(txn->flags & ends) != (timed ? ends : 0))
			return false;
		return !timed ||
			(txn->begin_invoked == times[0] && txn->end_invoked == times[0] &&
				txn->begin_returned == times[1] && txn->end_returned == times[1]);
	}
	if (txn->flags & KR_TXN_HAS_SNAPSHOT_T && !(txn->flags & KR_TXN_HAS_BEGIN))
		return false;
	return txn->flags & KR_TXN_HAS_END ||
		(txn->status == KR_UNKNOWN && l->last[txn->session.i] == t.i &&
			!(txn->flags & KR_TXN_WHITE_BOX) &&
			(txn->flags & KR_TXN_HAS_BEGIN || txn->op_count > 0));
}

static bool add_txn(struct lines *l, kr_txn t)
{
	const struct kr_transaction *txn = &l->h->txns.at[t.i];
	const int64_t begin = txn->flags & KR_TXN_BEGIN_OPEN ? txn->begin_invoked : txn->begin_returned;
	const int64_t end = txn->flags & KR_TXN_END_OPEN ? txn->end_invoked : txn->end_returned;
	struct kr_walk walk = kr_walk_txn(l->h, t);

	if (!fits(l, t))
		return add(l, txn->session, (struct line){.txn = t.i, .what = WHOLE},
			txn->flags & KR_TXN_HAS_END ? &end : NULL);
	if (txn->flags & KR_TXN_HAS_BEGIN && !(txn->flags & KR_TXN_AUTO) &&
		!add(l, txn->session, (struct line){.txn = t.i, .what = BEGIN}, &begin))
		return false;
	while (kr_walk_next(l->h, &walk)) {
		bool timed = walk.attr && walk.attr->has_time;
		int64_t time = !timed ? 0 : walk.attr->open ? walk.attr->invoked : walk.attr->returned;

		if (!add(l, txn->session, (struct line){.txn = t.i, .what = ENTRY, .at = walk.place},
			    timed ? &time : NULL))
			return false;
	}
	if (txn->flags & KR_TXN_AUTO || !(txn->flags & KR_TXN_HAS_END))
		return true;
	return add(l, txn->session, (struct line){.txn = t.i, .what = END}, &end);
}

KR_BY_BOTH(compare, struct line, time, number);

static enum kr_status gather(struct lines *l, struct kr_ctx *ctx)
{
	const struct kr_history *h = l->h;

	for (uint32_t s = 0; s <= h->sessions.n; s++)
		l->latest[s] = INT64_MIN;
	for (uint32_t t = 0; t < h->txns.n; t++)
		if (h->txns.at[t].session.i != KR_NONE)
			l->last[h->txns.at[t].session.i] = t;
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++)
		KR_TRY(add_txn(l, t) ? kr_ctx_tick(ctx) : KR_NOMEM);
	for (kr_session s = {0}; s.i < h->sessions.n; s.i++)
		KR_TRY(add(l, s, (struct line){.txn = s.i, .what = OVER}, NULL) ? KR_OK : KR_NOMEM);
	if (l->lines.n > 1)
		qsort(l->lines.at, l->lines.n, sizeof *l->lines.at, compare);
	return KR_OK;
}

/* The entry at that place: a walk goes on from the one before it, since lines of one transaction come in
 * order. */
static void put_entry(struct kr_native_writer *w, struct kr_walk *walk, uint32_t place)
{
	while (walk->place == KR_NONE || walk->place < place)
		if (!kr_walk_next(w->h, walk))
			return;
	kr_native_write_bit(w, "\"op\": ");
	kr_native_write_entry(w, walk);
	kr_native_write_bit(w, "}\n");
}

/* Ends the line: what kr_native_write_fields wrote has a comma behind it. */
static void close_line(struct kr_native_writer *w)
{
	if (!w->out->failed)
		w->out->n -= 2;
	kr_native_write_bit(w, "}\n");
}

static void put_line(struct kr_native_writer *w, const struct line *line, struct kr_walk *walks)
{
	kr_txn t = {line->txn};
	const struct kr_transaction *txn = line->what == OVER ? NULL : &w->h->txns.at[t.i];
	kr_session session = txn ? txn->session : (kr_session){line->txn};

	if (line->what == WHOLE) {
		kr_native_write_txn(w, t);
		return;
	}
	kr_native_write_bit(w, txn ? "{\"txn\": " : "{");
	if (txn)
		kr_native_write_value(w, txn->id);
	kr_native_write_bit(w, txn ? ", \"s\": " : "\"s\": ");
	kr_native_write_value(w, w->h->sessions.at[session.i]);
	kr_native_write_bit(w, ", ");
	if (!txn) {
		kr_native_write_bit(w, "\"now\": null}\n");
	} else if (line->what == ENTRY) {
		if (txn->flags & KR_TXN_AUTO) {
			kr_native_write_bit(w, "\"auto\": true, ");
			kr_native_write_fields(w, t, false, true);
		}
		if (line->at == 0)
			walks[session.i] = kr_walk_txn(w->h, t);
		put_entry(w, &walks[session.i], line->at);
	} else {
		kr_native_write_fields(w, t, line->what == BEGIN, line->what == END);
		close_line(w);
	}
}

static enum kr_status write_gathered(struct kr_native_writer *w, struct kr_ctx *ctx, const struct lines *l)
{
	/* of the open transaction, by session */
	struct kr_walk *walks = kr_mem_alloc(&ctx->mem, w->h->sessions.n, sizeof *walks);
	enum kr_status status = walks ? KR_OK : KR_NOMEM;

	for (uint32_t i = 0; i < l->lines.n && !status; i++) {
		put_line(w, &l->lines.at[i], walks);
		if (!(status = kr_native_write_flush(w, false)))
			status = kr_ctx_tick(ctx);
	}
	kr_mem_free(&ctx->mem, walks, w->h->sessions.n, sizeof *walks);
	return status;
}

enum kr_status kr_native_write_events(struct kr_native_writer *w, struct kr_ctx *ctx)
{
	struct kr_mem *mem = &ctx->mem;
	uint32_t sessions = w->h->sessions.n;
	struct lines l = {.h = w->h,
		.mem = mem,
		.latest = kr_mem_alloc(mem, sessions + 1, sizeof *l.latest),
		.last = kr_mem_alloc(mem, sessions, sizeof *l.last)};
	enum kr_status status = l.latest && l.last ? gather(&l, ctx) : KR_NOMEM;

	if (!status)
		status = write_gathered(w, ctx, &l);
	kr_mem_free(mem, l.latest, sessions + 1, sizeof *l.latest);
	kr_mem_free(mem, l.last, sessions, sizeof *l.last);
	kr_vec_done(mem, &l.lines);
	return status;
}
