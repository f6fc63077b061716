/* The engine's intake by timestamps (Aion): transactions arrive whole, in any order. The watermark is the
 * newest timestamp heard of, held behind by the lateness; what commits before it is settled, since whatever
 * begins or commits before it and comes later is late. So there is one verdict, which does not depend on the
 * order of arrival; sessions alone have one, that of their lines, and are judged as they come. */
#include "mechanisms/claim.h"
#include "mechanisms/stream_work.h"

/* ---- what is held ---- */

static bool make_room(struct kr_mem *mem, struct kr_helds *list, kr_session session)
{
	while (list->n <= session.i)
		if (!kr_vec_push(mem, list, NULL))
			return false;
	return true;
}

/* Where the transaction stands that this event's source has open; NULL: no memory. */
static struct kr_held **open_of(struct kr_engine *e, kr_session session)
{
	if (session.i == KR_NONE)
		return &e->stamps.alone;
	return make_room(e->mem, &e->stamps.open, session) ? &e->stamps.open.at[session.i] : NULL;
}

void kr_stamps_done(struct kr_engine *e)
{
	for (uint32_t i = 0; i < e->stamps.last.n; i++)
		kr_held_free(e->stream, e->mem, e->stamps.last.at[i]);
	kr_vec_done(e->mem, &e->stamps.last);
	kr_vec_done(e->mem, &e->stamps.open);
}

int64_t kr_stamps_watermark(const struct kr_engine *e)
{
	if (e->merge.ended)
		return INT64_MAX;
	return e->options.unbounded ? INT64_MIN : kr_earlier(e->newest, e->options.lateness);
}

/* ---- sessions ---- */

/* What a later one of the session is held to. */
static struct kr_held *stub_of(struct kr_engine *e, const struct kr_event *end, const struct kr_held *t)
{
	struct kr_held *stub = kr_held_new(e->stream, e->mem, end);

	if (!stub)
		return NULL;
	stub->status = t->status;
	stub->line = t->line;
	stub->seq = e->seq;
	stub->ended = true;
	stub->settled = true;
	return stub;
}

static enum kr_status tell_session(struct kr_engine *e, struct kr_held *before, struct kr_held *t,
	struct kr_err *err)
{
	struct kr_held *both[] = {before, t};
	struct kr_helds pair = {both, 2, 2};
	struct kr_window w = {.mem = e->mem};
	struct kr_claims claims = {e->options.batch.profile, e->options.batch.certify, &w.marks};
	struct kr_findings found;
	struct kr_batch b = {.mem = e->mem, .out = &found};
	uint32_t which;

	kr_findings_init(&found, e->mem);
	enum kr_status status = kr_window_build(&w, e->stream, &pair, &e->bases, false);
	struct kr_finding *f = status ? NULL : kr_batch_report(&b, KR_MECH_SESSION, KR_FOUND_DECLARED);
	if (!status && !f)
		status = KR_NOMEM;
	if (!status) {
		f->declared = kr_declared_find("session");
		f->txns[0] = (kr_txn){t->at};
		f->txns[1] = (kr_txn){before->at};
		f->snapshot = (struct kr_span){t->first, t->first};
		f->at[0][0] = t->first;
		f->at[0][1] = before->due;
		status = kr_verify_findings(e->ctx, &w.h, claims, &found, &which, err);
	}
	e->found_trusted |= !status && e->late == 0;
	e->findings[KR_MECH_SESSION] += !status;
	if (!status)
		status = e->options.sink.findings(e->options.sink.data, &w.h, &w.marks, &found);
	kr_findings_done(&found);
	kr_window_done(&w);
	return status;
}

static enum kr_status check_session(struct kr_engine *e, const struct kr_event *end, const struct kr_held *t,
	struct kr_err *err)
{
	enum kr_status status = KR_OK;

	if (e->stamps.no_session || end->session.i == KR_NONE || t->status != KR_COMMITTED || t->late)
		return KR_OK;
	struct kr_held *stub = make_room(e->mem, &e->stamps.last, end->session) ? stub_of(e, end, t) : NULL;
	if (!stub)
		return KR_NOMEM;
	struct kr_held **last = &e->stamps.last.at[end->session.i];
	kr_held_measure(e->h, e->options.batch.profile, stub);
	if (*last && stub->first < (*last)->due)
		status = tell_session(e, *last, stub, err);
	kr_held_free(e->stream, e->mem, *last);
	*last = stub;
	return status;
}

/* ---- arrival ---- */

/* Of a late one only its writes are left, at whatever time (window.c); of what is timed nothing was
 * answered. */
static enum kr_status be_late(struct kr_engine *e, const struct kr_event *end, struct kr_held *t,
	int64_t watermark)
{
	t->late = true;
	for (uint32_t i = 0; i < t->body->entries.n; i++) {
		struct kr_held_entry *entry = &t->body->entries.at[i];
		entry->has_time = entry->open = true;
		entry->invoked = t->first;
		entry->returned = KR_TIME_OPEN;
	}
	return kr_engine_late(e, end, t->first, watermark);
}

static enum kr_status arrive(struct kr_engine *e, const struct kr_event *end, struct kr_held *t,
	struct kr_err *err)
{
	kr_held_end(t, end);
	t->ended = true;
	kr_held_measure(e->h, e->options.batch.profile, t);
	int64_t watermark = kr_stamps_watermark(e);
	if (t->first != INT64_MIN && t->first < watermark)
		KR_TRY(be_late(e, end, t, watermark));
	if (t->first > e->newest)
		e->newest = t->first;
	if (t->due != INT64_MAX && t->due > e->newest)
		e->newest = t->due;
	KR_TRY(check_session(e, end, t, err));
	return kr_engine_finish(e, t, kr_stamps_watermark(e), err);
}

enum kr_status kr_stamps_take(struct kr_engine *e, const struct kr_event *event, struct kr_err *err)
{
	struct kr_held **open = event->kind == KR_EVENT_NOW ? NULL : open_of(e, event->session);
	struct kr_held *t;

	if (event->kind == KR_EVENT_NOW)
		return KR_OK; /* no clock but the timestamps' counts */
	if (!open)
		return KR_NOMEM;
	switch (event->kind) {
	case KR_EVENT_BEGIN: return kr_engine_open(e, open, event);
	case KR_EVENT_END:
		t = *open;
		*open = NULL;
		return arrive(e, event, t, err);
	default: return kr_held_add(e->stream, e->mem, *open, event) ? KR_OK : KR_NOMEM;
	}
}
