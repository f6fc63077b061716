/* Why an edge holds, in words: who read what from whom, what was written before what, which part of a key
 * that grows was seen, which session or clock orders the two. */
#include "report/evidence.h"
#include "report/words.h"

static const struct kr_operation *op_at(const struct kr_history *h, kr_op op) { return &h->ops.at[op.i]; }

static void note_sight(const struct kr_words_notes *notes)
{
	if (notes)
		notes->sight(notes->data);
}

static void note_order(const struct kr_words_notes *notes)
{
	if (notes)
		notes->order(notes->data);
}

/* What is in braces is that of kr_said_edge. */
static void say(const struct kr_words *w, const char *text, const struct kr_cert_edge *e)
{
	kr_words_say(w, text, kr_said_edge(w->h, e));
}

/* Is the last thing that t does to k a delete? */
static bool leaves_nothing(const struct kr_words *w, kr_txn t, kr_key k)
{
	kr_op last = t.i == KR_NONE ? (kr_op){KR_NONE} : kr_words_last_write(w->h, t, k);

	return last.i != KR_NONE && op_at(w->h, last)->kind == KR_OP_DELETE;
}

/* Of a list, what `writer` (KR_NONE: nobody) had put there, and who took it away if it is not shown. */
static void add_list_part(const struct kr_words *w, kr_op op, kr_key k, kr_txn writer, kr_txn by)
{
	kr_op put = writer.i == KR_NONE ? (kr_op){KR_NONE} : kr_words_last_write(w->h, writer, k);
	const struct kr_value_entry *first = kr_history_value(w->h, w->h->keys.at[k.i].initial);
	bool shown = put.i != KR_NONE ? kr_shows_element(w->h, op, k, op_at(w->h, put)->a)
				      : first->type == KR_VALUE_ARRAY && kr_shows_initial(w->h, op, k);

	kr_words_mention(w, put);
	kr_str_add(w->out, shown ? ", with what " : ", without what ");
	kr_words_say(w, writer.i == KR_NONE ? "was there at first" : "{0} appended",
		(struct kr_said){.txns = {writer}});
	if (shown || by.i == writer.i || !leaves_nothing(w, by, k))
		return;
	kr_words_say(w, ", which {0} deleted", (struct kr_said){.txns = {by}});
	kr_words_mention(w, kr_words_last_write(w->h, by, k));
}

/* Which part of a key that grows was seen, and by whom (KR_NONE: nobody) it was left: ", element 1 as T2 left
 * it". `missed`: the incrementing transaction was not counted. */
static void add_part(const struct kr_words *w, const struct kr_cert_edge *e, kr_txn by, bool missed)
{
	uint8_t kind = w->h->keys.at[e->key.i].kind;
	kr_op op = kr_history_op(w->h, e->kind == KR_WR ? e->to : e->from, e->op);

	if (kind == KR_KIND_LIST) {
		add_list_part(w, op, e->key, kr_history_find(w->h, e->part), by);
		return;
	}
	if (missed) {
		kr_words_say(w, ", without what {0} added",
			(struct kr_said){.txns = {kr_history_find(w->h, e->part)}});
		return;
	}
	if (kind == KR_KIND_SET) {
		kr_str_add(w->out, kr_shows_element(w->h, op, e->key, e->part) ? ", element " : ", without ");
		kr_words_add_value(w, e->part);
		kr_str_add(w->out, ", as ");
	} else if (kind == KR_KIND_MARK) {
		bool shown = kr_words_value(w->h, op, e->key).i == e->part.i;
		kr_str_add(w->out, shown ? "" : ", not yet raised to ");
		if (!shown)
			kr_words_add_value(w, e->part);
		if (!shown && by.i == KR_NONE)
			return;
		kr_str_add(w->out, ", as ");
	} else {
		kr_str_add(w->out, ", counted from what ");
	}
	if (by.i == KR_NONE) {
		kr_str_add(w->out, kind == KR_KIND_COUNTER ? "was there at first" : "it was at first");
		return;
	}
	kr_words_txn(w, by);
	kr_str_add(w->out, kind == KR_KIND_COUNTER ? " left" : " left it");
}

/* An edge that rests on the part of a key. */
static bool add_part_edge(const struct kr_words *w, const struct kr_cert_edge *e,
	const struct kr_words_notes *notes)
{
	bool wr = e->kind == KR_WR, counter;

	if (e->part.i == KR_NONE)
		return false;
	counter = w->h->keys.at[e->key.i].kind == KR_KIND_COUNTER && e->part.i != KR_ABSENT.i;
	say(w, wr ? "{1} {saw 0}" : "{0} {saw 0}", e);
	if (counter && wr) {
		say(w, ", with what {0}", e);
		kr_str_add(w->out, w->h->txns.at[e->from.i].id.i == e->part.i ? " added" : " left");
	} else {
		add_part(w, e, wr ? e->from : e->source, counter && w->h->txns.at[e->to.i].id.i == e->part.i);
	}
	note_sight(notes);
	if (wr)
		return true;
	say(w, ", before {1} {wrote 1}", e);
	if (e->source.i != KR_NONE)
		note_order(notes);
	return true;
}

/* Whose doing it was that something was seen: ", which T1 wrote". */
static void add_source(const struct kr_words *w, const struct kr_cert_edge *e)
{
	static const struct {
		const char *before, *after;
	} sources[KR_OP_KINDS] = {
		[KR_OP_DELETE] = {", as ", " deleted it"},
		[KR_OP_APPEND] = {", with what ", " appended"},
		[KR_OP_ADD] = {", with what ", " added"},
		[KR_OP_MAX] = {", as ", " left it"},
	};
	kr_op last = kr_words_last_write(w->h, e->from, e->key);
	uint8_t kind = last.i == KR_NONE ? (uint8_t)KR_OP_WRITE : op_at(w->h, last)->kind;
	const struct kr_operation *reader = op_at(w->h, kr_history_op(w->h, e->to, e->op));
	/* else what was seen is no value */
	bool value = !e->predicate && (reader->kind != KR_OP_CAS || (reader->flags & KR_OPF_DONE) != 0);
	bool own = value && sources[kind].before != NULL;

	kr_words_mention(w, last);
	kr_str_add(w->out, own ? sources[kind].before : value ? ", which " : ", as ");
	kr_words_txn(w, e->from);
	kr_str_add(w->out, own ? sources[kind].after : value ? " wrote" : " left it");
}

static void add_wr(const struct kr_words *w, const struct kr_cert_edge *e, const struct kr_words_notes *notes)
{
	say(w, "{1} {saw 0}", e);
	add_source(w, e);
	note_sight(notes);
}

static void add_rw(const struct kr_words *w, const struct kr_cert_edge *e, const struct kr_words_notes *notes)
{
	say(w, "{0} {saw 0}", e);
	if (e->source.i == KR_NONE) {
		kr_str_add(w->out, e->predicate ? " in the initial state" : ", the initial state");
		note_sight(notes);
		say(w, ", before {1} {wrote 1}", e);
		return;
	}
	say(w, " from {2}", e);
	note_sight(notes);
	kr_str_add(w->out, ", and ");
	kr_words_order(w, e->key, e->source, "came before", e->to);
	note_order(notes);
}

static void add_so(const struct kr_words *w, const struct kr_cert_edge *e)
{
	kr_session session = w->h->txns.at[e->from.i].session;

	say(w, "{0} came before {1} in session ", e);
	if (session.i != KR_NONE)
		kr_words_name(w, w->h->sessions.at[session.i]);
}

static void add_rt(const struct kr_words *w, const struct kr_cert_edge *e)
{
	kr_words_txn(w, e->from);
	kr_str_format(w->out, " had returned at %lld before ",
		(long long)w->h->txns.at[e->from.i].end_returned);
	kr_words_txn(w, e->to);
	kr_str_format(w->out, " began at %lld", (long long)w->h->txns.at[e->to.i].begin_invoked);
	if (w->h->clock_skew != 0)
		kr_str_format(w->out, ", more than the clock skew of %lld apart",
			(long long)w->h->clock_skew);
}

void kr_words_edge(const struct kr_words *w, const struct kr_cert_edge *e, const struct kr_words_notes *notes)
{
	if ((e->kind == KR_WR || e->kind == KR_RW) && add_part_edge(w, e, notes))
		return;
	switch ((enum kr_edge_kind)e->kind) {
	case KR_WR: add_wr(w, e, notes); break;
	case KR_WW:
		kr_words_order(w, e->key, e->from, "came before", e->to);
		note_order(notes);
		break;
	case KR_RW: add_rw(w, e, notes); break;
	case KR_SO: add_so(w, e); break;
	case KR_RT: add_rt(w, e); break;
	default: break;
	}
}
