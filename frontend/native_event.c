/* Native format: one event line of a stream.
 *
 * {"txn", "s"} with one of "begin", "op", "end" is an event of a transaction; {"s", "now"} tells how far a
 * session is. The reader knows of each session its open transaction and how many entries it has, so that a
 * line can be held to the rules at once; the rest is the sink's. An operation is read into the history's
 * arrays as one of a transaction line is, and taken out again. Cost: that of the line. */
#include "frontend/history_count.h"
#include "frontend/native.h"

#include <stdio.h>
#include <string.h>

bool kr_native_is_event(const struct kr_native_fields *f) { return !f->ops && (f->txn || (f->now && f->s)); }

/* ---- sessions ---- */

static struct kr_native_session *session_of(struct kr_native *n, kr_session session)
{
	while (n->open.n <= session.i)
		if (!kr_vec_push(n->h->mem, &n->open, (struct kr_native_session){.txn = {KR_NONE}}))
			return NULL;
	return &n->open.at[session.i];
}

static const char *name_of(const struct kr_native *n, kr_session session, char out[80])
{
	return kr_history_brief(n->h, n->h->sessions.at[session.i], out, 80);
}

static struct kr_event event_of(const struct kr_native *n, enum kr_event_kind kind, kr_session session)
{
	const struct kr_native_session *s = &n->open.at[session.i];

	struct kr_event event = kr_event_of(kind, session, n->id);

	event.line = n->line;
	event.flags = s->flags;
	event.white_box = s->white_box;
	return event;
}

/* {"s": session, "now": time or null} */
static enum kr_status read_now(struct kr_native *n, const struct kr_native_fields *f)
{
	int64_t now = KR_TIME_OPEN;
	kr_session session;
	KR_TRY(kr_native_session(n, f->s, "\"s\"", &session));

	if (!kr_node_is(f->now, KR_NODE_NULL) && !kr_node_is(f->now, KR_NODE_INT))
		return kr_native_wrong(n, f->now, "\"now\"",
			"an integer, or null for the end of the session");
	if (kr_node_is(f->now, KR_NODE_INT))
		now = f->now->integer;

	struct kr_native_session *s = session_of(n, session);

	if (!s)
		return KR_NOMEM;
	s->over = s->over || kr_node_is(f->now, KR_NODE_NULL);

	struct kr_event event = event_of(n, KR_EVENT_NOW, session);

	event.flags = 0; /* of a transaction */
	event.white_box = (struct kr_white_box){0};
	event.timed = true;
	event.invoked = event.returned = now;
	event.open = kr_node_is(f->now, KR_NODE_NULL);
	return kr_history_take(n->h, &event, n->err);
}

/* ---- transactions ---- */

/* The first event of a transaction opens it. */
static enum kr_status open_txn(struct kr_native *n, kr_session session, const struct kr_native_fields *f,
	bool autocommit)
{
	struct kr_native_session *s = session_of(n, session);
	char name[80], other[80];

	if (!s)
		return KR_NOMEM;
	if (s->over)
		return kr_native_bad(n, "session %s is over, expected no more of it",
			name_of(n, session, name));
	if (s->open && s->txn.i == n->id.i && !f->begin && !autocommit)
		return KR_OK;
	if (s->open && s->txn.i == n->id.i)
		return kr_native_bad(n, "%s after its first event in line %u, expected \"op\" or \"end\"",
			f->begin ? "\"begin\"" : "\"auto\"", (unsigned)s->line);
	if (s->open)
		return kr_native_bad(n,
			"begins in session %s, where %s of line %u has not ended, expected its \"end\" first",
			name_of(n, session, name), kr_history_brief(n->h, s->txn, other, sizeof other),
			(unsigned)s->line);
	kr_history_keep(n->h, n->id);
	*s = (struct kr_native_session){.open = true,
		.txn = n->id,
		.line = n->line,
		.doubtful = KR_NONE,
		.flags = autocommit ? KR_TXN_AUTO : 0};

	if (autocommit)
		return KR_OK; /* which is told once its statement is read */

	struct kr_event event = event_of(n, KR_EVENT_BEGIN, session);
	enum kr_status status = KR_OK;

	if (f->begin) {
		event.timed = true;
		status = kr_native_put_moment(n, f->begin, "\"begin\"", &event.invoked, &event.returned,
			&event.open);
		if (!status)
			status = kr_native_white_box(n, f, &s->flags, &s->white_box);
		if (event.open)
			s->doubt = kr_doubt_begin;
		event.flags = s->flags;
		event.white_box = s->white_box;
	}

	/* of a bad one, too: a lenient reader goes on to its end */
	enum kr_status taken = kr_history_take(n->h, &event, n->err);

	return status ? status : taken;
}

/* What entry number `place` says about the transaction's end; what a rollback to a savepoint took back
 * says nothing. */
static void note_entry(struct kr_native_session *s, const struct kr_event *e)
{
	const char *doubt = e->entry.attr.ends     ? kr_doubt_failed
		: !e->entry.attr.failed && e->open ? kr_doubt_op
						   : NULL;

	if (e->entry.is_undo && s->doubtful != KR_NONE && s->doubtful >= e->place - e->entry.undo) {
		s->doubtful = KR_NONE;
		s->doubt = NULL;
	}
	if (!e->entry.is_undo && doubt && !s->doubt) {
		s->doubt = doubt;
		s->doubtful = e->place;
	}
	s->entries++;
}

static enum kr_status read_entry(struct kr_native *n, kr_session session, const struct kr_node *op,
	struct kr_event *out)
{
	struct kr_native_session *s = &n->open.at[session.i];
	struct kr_event event = event_of(n, KR_EVENT_ENTRY, session);
	uint32_t names = n->names.n;

	kr_history_begin(n->h);
	n->in_op = true;
	n->op_index = event.place = s->entries;
	enum kr_status status = kr_native_entry(n, op, &event.entry);
	n->in_op = false;
	if (status) {
		kr_history_take_back(n->h);
		n->names.n = names;
		return status;
	}
	event.timed = event.entry.attr.has_time;
	event.open = event.entry.attr.open;
	event.invoked = event.timed ? event.entry.attr.invoked : INT64_MIN;
	event.returned = event.timed ? event.entry.attr.returned : KR_TIME_OPEN;
	note_entry(s, &event);
	*out = event;
	return KR_OK;
}

static void close_txn(struct kr_native *n, struct kr_native_session *s)
{
	kr_history_release(n->h, s->txn);
	s->open = false;
}

static enum kr_status end_txn(struct kr_native *n, kr_session session, struct kr_event *event)
{
	struct kr_native_session *s = &n->open.at[session.i];
	const char *doubt = s->doubt;
	enum kr_status status;

	event->flags = s->flags;
	event->white_box = s->white_box;
	if (!doubt && event->open)
		doubt = kr_doubt_end;
	if (!doubt && s->flags & KR_TXN_END_FAILED)
		doubt = kr_doubt_end_failed;
	if (doubt && event->status == KR_COMMITTED) {
		status = kr_history_doubt(n->h, n->id, doubt, n->err);
		kr_err_at(n->err, n->h->files.at[0], n->line, 0);
		return status;
	}
	return kr_history_take(n->h, event, n->err);
}

static enum kr_status read_end(struct kr_native *n, kr_session session, const struct kr_native_fields *f)
{
	struct kr_native_session *s = &n->open.at[session.i];
	struct kr_event event = event_of(n, KR_EVENT_END, session);
	bool failed = false;

	close_txn(n, s);
	KR_TRY(kr_native_put_moment(n, f->end, "\"end\"", &event.invoked, &event.returned, &event.open));
	event.timed = true;
	if (f->status)
		KR_TRY(kr_native_put_status(n, f->status, &event.status));
	if (f->failed)
		KR_TRY(kr_native_put_bool(n, f->failed, "\"failed\"", &failed));
	KR_TRY(kr_native_white_box(n, f, &s->flags, &s->white_box));
	s->flags |= failed ? KR_TXN_END_FAILED : 0;
	return end_txn(n, session, &event);
}

/* An autocommit statement is a transaction in one line: all of it lies in the statement's interval. */
static enum kr_status read_auto(struct kr_native *n, kr_session session, const struct kr_native_fields *f)
{
	struct kr_event event = event_of(n, KR_EVENT_BEGIN, session), statement = event;
	uint8_t outcome = KR_COMMITTED;
	enum kr_status status = f->status ? kr_native_put_status(n, f->status, &outcome) : KR_OK, taken;

	if (!status)
		status = read_entry(n, session, f->op, &statement);
	if (!status && statement.entry.is_undo)
		status = kr_native_bad(n, "\"undo\" of an autocommit statement, expected an operation");
	close_txn(n, &n->open.at[session.i]);
	event.timed = !status && statement.timed;
	event.open = !status && statement.open;
	event.invoked = event.timed ? statement.invoked : 0;
	event.returned = event.timed ? statement.returned : 0;
	taken = kr_history_take(n->h, &event, n->err);
	if (status || (status = taken) || (status = kr_history_take(n->h, &statement, n->err)))
		return status;
	event.kind = KR_EVENT_END;
	event.status = outcome;
	return end_txn(n, session, &event);
}

/* Which fields go with which: each stands beside one of those named. */
static enum kr_status check_fields(struct kr_native *n, const struct kr_native_fields *f, bool autocommit)
{
	const struct {
		const struct kr_node *field;
		const char *name;
		bool fits;
		const char *expected;
	} rules[] = {
		{f->autocommit, "auto", f->op, "op"},
		{f->status, "status", f->end || autocommit, "end"},
		{f->failed, "failed", f->end, "end"},
		{f->snapshot_t, "snapshot_t", f->begin, "begin"},
		{f->snapshot, "snapshot", f->begin || f->end, "begin\" or \"end"},
		{f->commit_ts, "commit_ts", f->end, "end"},
		{f->serial, "serial", f->end, "end"},
	};

	if (!f->begin && !f->op && !f->end)
		return kr_native_bad(n,
			"an event without \"begin\", \"op\" and \"end\", expected one of them");
	if (!!f->begin + !!f->op + !!f->end > 1)
		return kr_native_bad(n, "\"%s\" and \"%s\" in one event, expected one of them",
			f->begin ? "begin" : "op", f->end ? "end" : "op");
	for (size_t i = 0; i < KR_COUNT(rules); i++)
		if (rules[i].field && !rules[i].fits)
			return kr_native_bad(n, "\"%s\" without \"%s\", expected them in one event",
				rules[i].name, rules[i].expected);
	return KR_OK;
}

static enum kr_status read_event(struct kr_native *n, const struct kr_native_fields *f, kr_session *session)
{
	bool autocommit = false;
	struct kr_event event;
	KR_TRY(kr_native_put_name(n, f->txn, "\"txn\"", &n->id));
	n->in_txn = true;
	if (!f->s)
		return kr_native_bad(n, "an event without \"s\", expected its session");
	if (f->autocommit)
		KR_TRY(kr_native_put_bool(n, f->autocommit, "\"auto\"", &autocommit));
	KR_TRY(kr_native_session(n, f->s, "\"s\"", session));
	KR_TRY(open_txn(n, *session, f, autocommit));
	KR_TRY(check_fields(n, f, autocommit));
	if (f->begin)
		return KR_OK;
	if (f->end)
		return read_end(n, *session, f);
	if (autocommit)
		return read_auto(n, *session, f);
	KR_TRY(read_entry(n, *session, f->op, &event));
	return kr_history_take(n->h, &event, n->err);
}

enum kr_status kr_native_event(struct kr_native *n, const struct kr_node *json,
	const struct kr_native_fields *f)
{
	kr_session session = {KR_NONE};

	n->has_events = true;
	n->in_txn = n->in_op = false;
	n->id = (kr_value){KR_NONE};
	enum kr_status status = kr_native_fields_ignored(n, json, f->ignored, KR_NATIVE_EVENT);
	if (!status)
		status = f->txn ? read_event(n, f, &session) : read_now(n, f);
	n->in_txn = n->in_op = false;
	if (status != KR_BAD || !n->h->lenient || session.i == KR_NONE || session.i >= n->open.n)
		return status;
	kr_assembly_break(n->h, session, !n->open.at[session.i].open, n->err);
	return KR_OK;
}
