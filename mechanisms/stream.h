/* The streaming engine: a sink of events (frontend/stream.h) that holds a database to a profile while it
 * runs, in memory that follows what is open and not how much was read.
 *
 * Events of all sessions are dispatched in one order (merge.h). A transaction that has ended is settled once
 * everything that can bear on what it saw and did has been dispatched. From time to time a round (round.c)
 * lays a window (window.h) over what is held, asks the batch (batch.h) about it, and tells what is wrong with
 * transactions that have just been settled; then what nothing can depend on any more is forgotten
 * (horizon.c). When rounds are depends on the order of dispatch only, so that what is found, and in which
 * order it is told, does not depend on how sessions interleave on arrival. */
#ifndef KR_MECHANISMS_STREAM_H
#define KR_MECHANISMS_STREAM_H

#include "frontend/stream.h"
#include "mechanisms/batch.h"

struct kr_engine; /* heap */

struct kr_engine_sink { /* what it tells; anything but KR_OK ends it */
	void *data;
	enum kr_status (*findings)(void *data, const struct kr_history *window, const struct kr_marks *marks,
		const struct kr_findings *findings);
	/* or NULL */
	enum kr_status (*late)(void *data, const struct kr_history *h, kr_session session, uint32_t line,
		int64_t invoked, int64_t watermark);
	/* of versions, certain; or NULL */
	enum kr_status (
		*order)(void *data, const struct kr_history *window, kr_key key, kr_txn before, kr_txn after);
	/* or NULL */
	enum kr_status (
		*dispatch)(void *data, const struct kr_history *h, kr_session session, int64_t invoked);
};

struct kr_engine_options {
	struct kr_batch_options batch;
	struct kr_engine_sink sink;
	int64_t lateness;    /* the watermark is held that far behind */
	int64_t stale;       /* a session that is silent for longer is given up; 0: never */
	/* so many transactions end between two rounds; 0: some hundred, and as many as are held */
	uint32_t round;
	/* sessions, or timestamps, may appear with any time: nothing is looked at before the end */
	bool unbounded;
	bool keep;           /* forget nothing */
};

struct kr_engine_state {
	uint32_t txns;       /* that ended */
	uint32_t late;       /* events that came too late */
	uint64_t findings[KR_MECH_KINDS];
	int64_t watermark;   /* INT64_MIN, INT64_MAX: none */
	kr_session holder;   /* that the watermark waits for; KR_NONE: none */
	int64_t newest;      /* time heard of; INT64_MIN: none */
	int64_t trusted_until; /* INT64_MAX: always */
	bool found_trusted;  /* something was found before anything was late */
	uint32_t held, carried; /* transactions in memory; versions that are left of others */
	uint32_t open;       /* that have not ended */
	/* that the last round laid before the mechanisms; versions at the start aside */
	uint32_t versions, locks;
	bool waits;          /* for the open transaction that began first, whose start is known: */
	kr_session session;
	kr_value txn;        /* valid until the next event */
	int64_t since;
};

/* The stream that tells the events is named before the first of them. */
enum kr_status kr_engine_new(struct kr_ctx *ctx, const struct kr_engine_options *options,
	struct kr_engine **out, struct kr_err *err);
void kr_engine_attach(struct kr_engine *e, struct kr_stream *stream);
void kr_engine_free(struct kr_engine *e); /* safe on NULL; before the stream is freed */

/* a kr_sink's */
enum kr_status kr_engine_take(void *engine, const struct kr_event *event, struct kr_err *err);

/* Nothing has come for a while: tells what is certain by now, but for cycles. */
enum kr_status kr_engine_idle(struct kr_engine *e, struct kr_err *err);

/* The input has ended: so has every session. */
enum kr_status kr_engine_end(struct kr_engine *e, struct kr_err *err);

struct kr_engine_state kr_engine_look(const struct kr_engine *e);

#endif
