/* Events: what readers tell, one at a time, in the order of the trace. A sink takes them: the assembly of
 * a history (assemble.c) is one, the engine that checks a database while it runs another.
 *
 * Of one transaction come: one BEGIN, its entries in program order, one END; a transaction that
 * the trace leaves open has no END. Between them stand events of other sessions. One session has one open
 * transaction at most, and all its events come in its order. */
#ifndef KR_FRONTEND_EVENT_H
#define KR_FRONTEND_EVENT_H

#include "frontend/history.h"

enum kr_event_kind {
	KR_EVENT_BEGIN, /* untimed where the trace does not tell it */
	KR_EVENT_ENTRY, /* of its list */
	KR_EVENT_END,   /* status says how */
	/* invoked: nothing of this session that was invoked before is still to come; open: the session is
	 * over */
	KR_EVENT_NOW,
	KR_EVENT_ORDER  /* a known order of versions: `key` and `writers` */
};

/* Ids are those of the history that reader and sink share: equality of values is equality of ids. What an
 * event points to, rows of scans included, is valid during the call; a sink of a stream that keeps a value
 * says so (stream.h). */
struct kr_event {
	enum kr_event_kind kind;
	uint32_t file, line;       /* for messages; line 0: not known */
	kr_session session;        /* KR_NONE: of a transaction that stands alone; ORDER */
	kr_value txn;              /* its id; KR_NONE: NOW, ORDER */
	bool timed;                /* the trace tells when */
	bool open;                 /* no reply came: returned is KR_TIME_OPEN */
	/* Of an untimed ENTRY: of the timed events around it, as far as they are known; INT64_MIN or
	 * KR_TIME_OPEN where there is none */
	int64_t invoked, returned;
	/* enum kr_txn_flag, of the transaction: all of them in END; KR_TXN_AUTO and those of `white_box` as
	 * far as they are told in BEGIN */
	uint16_t flags;
	uint8_t status;            /* enum kr_txn_status: END. Autocommit that failed: KR_ABORTED */
	struct kr_white_box white_box; /* BEGIN, END: as `flags` say */
	uint32_t place;            /* ENTRY: from 0 in its transaction */
	/* ENTRY. has_time as `timed`, `undone` is not known; results of a failed one mean nothing */
	struct kr_entry entry;
	kr_key key;
	const kr_value *writers;   /* ids of transactions, oldest first */
	uint32_t writer_count;
};

static inline struct kr_event kr_event_of(enum kr_event_kind kind, kr_session session, kr_value txn)
{
	return (struct kr_event){.kind = kind,
		.session = session,
		.txn = txn,
		.entry = KR_ENTRY_NONE,
		.key = {KR_NONE}};
}

struct kr_sink {
	void *data;
	/* Anything but KR_OK ends the reading, which then returns it. KR_BAD: `err` says what is wrong;
	 * the reader adds file and line. */
	enum kr_status (*take)(void *data, const struct kr_event *event, struct kr_err *err);
};

/* A history is a sink: it puts transactions together (assemble.c); what scans, rows and conditions entries
 * name stands in its arrays already. One with a sink of its own passes events on. */
enum kr_status kr_history_take(void *history, const struct kr_event *event, struct kr_err *err);

/* The session's transaction is left out and counted, for `err`, which is then as good as new; `ended`: no
 * more of it comes. */
void kr_assembly_break(struct kr_history *h, kr_session session, bool ended, struct kr_err *err);
/* After the last event: transactions still open are of unknown outcome. Version orders that are bad are
 * dropped and counted if the history is lenient. */
enum kr_status kr_assembly_finish(struct kr_history *h, struct kr_err *err);
void kr_assembly_done(struct kr_history *h); /* part of both that and kr_history_done */

/* Tells the transaction that is being built, with its id and times, to the history's sink. */
enum kr_status kr_event_tell_one(const struct kr_history *h, const struct kr_transaction *txn,
	const struct kr_white_box *white_box, struct kr_err *err);

/* Tells a history as events: its transactions one after another, in its order, then its version orders. */
enum kr_status kr_event_tell(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_sink *sink,
	struct kr_err *err);

#endif
