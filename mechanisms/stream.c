/* The engine's intake: events wait in their session's lane, are dispatched in one order, and ends of
 * transactions call for rounds. */
#include "mechanisms/stream_work.h"

enum { ROUND = 256 };

enum kr_status kr_engine_new(struct kr_ctx *ctx, const struct kr_engine_options *options,
	struct kr_engine **out, struct kr_err *err)
{
	const struct kr_profile *profile = options->batch.profile;

	(void)err;
	struct kr_engine *e = kr_mem_alloc(&ctx->mem, 1, sizeof *e);
	if (!e)
		return KR_NOMEM;
	*e = (struct kr_engine){.ctx = ctx,
		.mem = &ctx->mem,
		.options = *options,
		.newest = INT64_MIN,
		.position = INT64_MIN,
		.trusted_until = INT64_MAX};
	e->window.mem = e->batch.mem = e->certifier.mem = e->mem;
	e->uncommitted = profile->reads == KR_READS_UNCOMMITTED;
	e->stamps.no_session = options->batch.no_session;
	e->options.batch.no_session |= kr_engine_by_stamps(e); /* judged as they come */
	*out = e;
	return KR_OK;
}

void kr_engine_attach(struct kr_engine *e, struct kr_stream *stream)
{
	e->stream = stream;
	e->h = kr_stream_history(stream);
	e->merge = (struct kr_merge){.mem = e->mem,
		.h = e->h,
		.lateness = e->options.lateness,
		.unbounded = e->options.unbounded};
}

void kr_engine_free(struct kr_engine *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->open.n; i++)
		kr_held_free(e->stream, e->mem, e->open.at[i]);
	for (uint32_t i = 0; i < e->held.n; i++)
		kr_held_free(e->stream, e->mem, e->held.at[i]);
	for (uint32_t k = 0; k < e->bases.n; k++)
		while (kr_relics_count(e->bases.at[k].relics) > 0)
			kr_relic_drop(e->stream, e->mem, kr_relics_at(e->bases.at[k].relics, 0),
				&e->bases.at[k].relics);
	kr_vec_done(e->mem, &e->open);
	kr_vec_done(e->mem, &e->held);
	kr_vec_done(e->mem, &e->bases);
	kr_echo_done(e->mem, &e->echo);
	kr_window_done(&e->window);
	kr_certifier_done(&e->certifier);
	kr_batch_done(&e->batch);
	kr_vec_done(e->mem, &e->reach);
	kr_stamps_done(e);
	if (e->stream)
		kr_merge_done(&e->merge);
	kr_mem_free(e->mem, e, 1, sizeof *e);
}

/* ---- dispatch ---- */

enum kr_status kr_engine_finish(struct kr_engine *e, struct kr_held *t, int64_t at, struct kr_err *err)
{
	uint32_t place = t->at;

	e->open.at[place] = kr_vec_pop(&e->open);
	e->open.at[place]->at = place; /* perhaps t itself, which was the last */
	if (!kr_vec_push(e->mem, &e->held, t)) {
		kr_held_free(e->stream, e->mem, t);
		return KR_NOMEM;
	}
	t->ended = true;
	t->seq = e->seq++;
	kr_held_measure(e->h, e->options.batch.profile, t);
	e->since++;
	bool due = e->options.round ? e->since >= e->options.round
				    : e->since >= ROUND && 2 * e->since >= e->held.n;
	if (!due || at == INT64_MAX || at == INT64_MIN)
		return KR_OK;
	e->since = 0;
	return kr_engine_round(e, kr_earlier(at, kr_skew_pad(e->h)), KR_ROUND_COUNTED, err);
}

static enum kr_status dispatch(struct kr_engine *e, struct kr_err *err)
{
	struct kr_merge_item item;
	struct kr_lane *lane;

	while (kr_merge_next(&e->merge, &item, &lane)) {
		bool automatic = item.txn->flags & KR_TXN_AUTO;
		bool shown = item.timed && (!automatic || item.kind == KR_EVENT_ENTRY);
		if (item.at > e->position)
			e->position = item.at;
		if (shown && e->options.sink.dispatch)
			KR_TRY(e->options.sink.dispatch(e->options.sink.data, e->h, lane->session, item.at));
		if (item.kind == KR_EVENT_END)
			KR_TRY(kr_engine_finish(e, item.txn, item.at, err));
	}
	return KR_OK;
}

/* ---- intake ---- */

/* An array that is there at first, or read, is a list, unless it was written as a value. */
static void note_shown(struct kr_engine *e, kr_key key, kr_value value)
{
	uint8_t *kind = &e->bases.at[key.i].kind;

	if (*kind == KR_KIND_ANY && kr_history_value(e->h, value)->type == KR_VALUE_ARRAY)
		*kind = KR_KIND_LIST;
}

static bool add_bases(struct kr_engine *e)
{
	for (kr_key k = {e->bases.n}; k.i < e->h->keys.n; k.i++) {
		if (!kr_vec_push(e->mem, &e->bases, (struct kr_base){.kind = e->h->keys.at[k.i].kind}))
			return false;
		note_shown(e, k, e->h->keys.at[k.i].initial);
	}
	return true;
}

static bool add_lanes(struct kr_engine *e)
{
	for (kr_session s = {e->merge.lanes.n}; s.i < e->h->sessions.n; s.i++) {
		struct kr_lane *lane = kr_merge_lane(&e->merge, s);
		if (!lane)
			return false;
		lane->heard = e->newest;
	}
	return true;
}

/* What kind of key the operations so far tell. */
static void note_kind(struct kr_engine *e, const struct kr_operation *op)
{
	enum kr_key_kind kind = kr_history_kind_needed((enum kr_op_kind)op->kind);

	if (op->key.i != KR_NONE && kind != KR_KIND_ANY)
		e->bases.at[op->key.i].kind = (uint8_t)kind;
	else if (op->kind == KR_OP_READ && op->flags & KR_OPF_KNOWN)
		note_shown(e, op->key, op->a);
}

/* The time before which nothing was to come any more. */
static int64_t promised(const struct kr_engine *e, const struct kr_lane *lane, bool begun)
{
	int64_t watermark = begun ? kr_merge_watermark(&e->merge) : INT64_MIN;

	if (watermark == INT64_MAX)
		watermark = e->position;
	return lane->last > watermark ? lane->last : watermark;
}

static enum kr_status be_late(struct kr_engine *e, struct kr_lane *lane, const struct kr_event *event,
	int64_t watermark)
{
	bool told = event->line > 0 && lane->late_line == event->line; /* of a transaction in one line */

	if (lane->open)
		lane->open->late = true;
	lane->late_line = event->line;
	if (!told)
		return kr_engine_late(e, event, event->invoked, watermark);
	if (event->invoked < e->trusted_until)
		e->trusted_until = event->invoked;
	return KR_OK;
}

enum kr_status kr_engine_late(struct kr_engine *e, const struct kr_event *event, int64_t at,
	int64_t watermark)
{
	e->late++;
	if (at < e->trusted_until)
		e->trusted_until = at;
	return e->options.sink.late
		? e->options.sink.late(e->options.sink.data, e->h, event->session, event->line, at, watermark)
		: KR_OK;
}

enum kr_status kr_engine_open(struct kr_engine *e, struct kr_held **out, const struct kr_event *event)
{
	if (!kr_vec_reserve(e->mem, &e->open, 1))
		return KR_NOMEM;
	*out = kr_held_new(e->stream, e->mem, event);
	if (!*out)
		return KR_NOMEM;
	(*out)->at = e->open.n;
	(*out)->first = INT64_MIN;
	e->open.at[e->open.n++] = *out;
	return KR_OK;
}

static enum kr_status put(struct kr_engine *e, struct kr_lane *lane, const struct kr_event *event, int64_t at)
{
	struct kr_held *t = lane->open;
	struct kr_merge_item item = {at, t, event->kind, event->timed};

	if (event->kind == KR_EVENT_ENTRY) {
		note_kind(e, &event->entry.op);
		e->uncommitted |= event->entry.attr.read == KR_READ_UNCOMMITTED;
		if (!kr_held_add(e->stream, e->mem, t, event))
			return KR_NOMEM;
	}
	if (event->kind == KR_EVENT_END) {
		kr_held_end(t, event);
		lane->open = NULL;
	}
	if (!kr_merge_put(&e->merge, lane, item))
		return KR_NOMEM;
	/* of autocommit all events lie in one interval: what follows was not sent before its answer */
	if (event->timed && (!(event->flags & KR_TXN_AUTO) || event->kind == KR_EVENT_END))
		kr_merge_promise(&e->merge, lane, event->open ? event->invoked : event->returned);
	if (lane->session.i == KR_NONE && event->kind == KR_EVENT_END)
		kr_merge_close(&e->merge, lane, true);
	return KR_OK;
}

/* A session that is silent for too long: what it has open will not be heard of any more. */
static enum kr_status give_up(struct kr_engine *e)
{
	for (uint32_t i = 0; i < e->merge.lanes.n && e->options.stale > 0; i++) {
		struct kr_lane *lane = e->merge.lanes.at[i];
		struct kr_event end = {.kind = KR_EVENT_END,
			.session = lane->session,
			.status = KR_UNKNOWN,
			.timed = true,
			.open = true};
		if (lane->over || kr_earlier(e->newest, e->options.stale) <= lane->heard)
			continue;
		kr_merge_close(&e->merge, lane, true);
		if (!lane->open)
			continue;
		end.flags = lane->open->flags;
		end.white_box = lane->open->body->white_box;
		end.invoked = lane->promise > lane->last ? lane->promise : lane->last;
		end.returned = KR_TIME_OPEN;
		if (put(e, lane, &end, end.invoked))
			return KR_NOMEM;
	}
	return KR_OK;
}

static void hear(struct kr_engine *e, struct kr_lane *lane, int64_t at)
{
	e->newest = at > e->newest ? at : e->newest;
	lane->heard = e->newest;
}

static enum kr_status take_now(struct kr_engine *e, struct kr_lane *lane, const struct kr_event *event)
{
	kr_merge_close(&e->merge, lane, event->open);
	if (event->open)
		return KR_OK;
	kr_merge_promise(&e->merge, lane, event->invoked);
	hear(e, lane, event->invoked);
	return KR_OK;
}

/* The lane of an event; of what stands alone, of its transaction. */
static struct kr_lane *lane_of(struct kr_engine *e, const struct kr_event *event)
{
	struct kr_lane *last = e->merge.alone.n > 0 ? e->merge.alone.at[e->merge.alone.n - 1] : NULL;

	if (event->session.i == KR_NONE && event->kind != KR_EVENT_BEGIN)
		return last;
	return kr_merge_lane(&e->merge, event->session);
}

static enum kr_status take(struct kr_engine *e, const struct kr_event *event)
{
	bool begun = e->begun;

	e->begun = true;
	if (!begun && !add_lanes(e))
		return KR_NOMEM;
	bool known = event->session.i == KR_NONE || event->session.i < e->merge.lanes.n;
	int64_t watermark = begun && !known ? kr_merge_watermark(&e->merge) : INT64_MIN;
	struct kr_lane *lane = add_bases(e) && add_lanes(e) ? lane_of(e, event) : NULL;
	if (!lane)
		return KR_NOMEM;
	if (event->kind == KR_EVENT_NOW)
		return take_now(e, lane, event);
	if (event->kind == KR_EVENT_BEGIN)
		KR_TRY(kr_engine_open(e, &lane->open, event));
	if (known)
		watermark = promised(e, lane, begun);
	else if (watermark == INT64_MAX)
		watermark = e->position;
	int64_t at = event->timed && event->invoked > watermark ? event->invoked : watermark;
	if (event->timed && event->invoked < watermark)
		KR_TRY(be_late(e, lane, event, watermark));
	if (event->timed)
		hear(e, lane, event->open ? event->invoked : event->returned);
	if (lane->open == NULL)
		return KR_OK; /* of a transaction that was given up */
	return put(e, lane, event, at);
}

static enum kr_status take_stamped(struct kr_engine *e, const struct kr_event *event, struct kr_err *err)
{
	e->begun = true;
	if (!add_bases(e))
		return KR_NOMEM;
	if (event->kind == KR_EVENT_ENTRY)
		note_kind(e, &event->entry.op);
	return kr_stamps_take(e, event, err);
}

static int64_t watermark_of(const struct kr_engine *e)
{
	if (!e->begun)
		return INT64_MIN;
	return kr_engine_by_stamps(e) ? kr_stamps_watermark(e) : kr_merge_watermark(&e->merge);
}

enum kr_status kr_engine_take(void *engine, const struct kr_event *event, struct kr_err *err)
{
	struct kr_engine *e = engine;

	if (event->kind == KR_EVENT_ORDER)
		return KR_OK; /* mechanisms do not ask */
	if (kr_engine_by_stamps(e))
		return take_stamped(e, event, err);
	KR_TRY(take(e, event));
	KR_TRY(give_up(e));
	return dispatch(e, err);
}

/* ---- the rest ---- */

enum kr_status kr_engine_idle(struct kr_engine *e, struct kr_err *err)
{
	int64_t watermark = watermark_of(e);

	return watermark == INT64_MIN
		? KR_OK
		: kr_engine_round(e, kr_earlier(watermark, kr_skew_pad(e->h)), KR_ROUND_IDLE, err);
}

/* What is still open is of unknown outcome. */
enum kr_status kr_engine_end(struct kr_engine *e, struct kr_err *err)
{
	e->merge.ended = true;
	enum kr_status status = dispatch(e, err);
	while (!status && e->open.n > 0) {
		uint32_t first = 0;
		for (uint32_t i = 1; i < e->open.n; i++)
			if (e->open.at[i]->line < e->open.at[first]->line)
				first = i;
		status = kr_engine_finish(e, e->open.at[first], INT64_MAX, err);
	}
	return status ? status : kr_engine_round(e, INT64_MAX, KR_ROUND_LAST, err);
}

struct kr_engine_state kr_engine_look(const struct kr_engine *e)
{
	struct kr_engine_state s = {.txns = e->seq,
		.late = e->late,
		.watermark = watermark_of(e),
		.holder = {KR_NONE},
		.newest = e->newest,
		.trusted_until = e->trusted_until,
		.found_trusted = e->found_trusted,
		.held = e->held.n,
		.carried = e->carried,
		.open = e->open.n,
		.versions = e->versions,
		.locks = e->locks,
		.session = {KR_NONE},
		.txn = {KR_NONE}};

	const struct kr_lane *holder = kr_merge_holder(&e->merge);

	if (holder)
		s.holder = holder->session;
	for (int i = 0; i < KR_MECH_KINDS; i++)
		s.findings[i] = e->findings[i];
	for (uint32_t i = 0; i < e->open.n; i++) {
		struct kr_held *t = e->open.at[i];
		kr_held_measure(e->h, e->options.batch.profile, t);
		if (t->first == INT64_MIN || (s.waits && t->first >= s.since))
			continue;
		s.waits = true;
		s.since = t->first;
		s.session = t->session;
		s.txn = t->id;
	}
	return s;
}
