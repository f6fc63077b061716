/* What the files of the streaming engine share. */
#ifndef KR_MECHANISMS_STREAM_WORK_H
#define KR_MECHANISMS_STREAM_WORK_H

#include "mechanisms/certifier.h"
#include "mechanisms/echo.h"
#include "mechanisms/merge.h"
#include "mechanisms/stream.h"
#include "mechanisms/window.h"

struct kr_stamped {         /* by timestamps: stamps_online.c */
	bool no_session;
	struct kr_helds open;   /* by session: what has begun; NULL: nothing */
	struct kr_held *alone;  /* of no session */
	/* by session: of the last one that committed, what the next one is held to; NULL: none did */
	struct kr_helds last;
};

struct kr_engine {
	struct kr_ctx *ctx;
	struct kr_mem *mem;
	struct kr_engine_options options;
	struct kr_stream *stream;
	struct kr_history *h;   /* the stream's */
	bool begun;             /* an event came */
	bool uncommitted;       /* some read sees what is not committed */
	struct kr_merge merge;
	struct kr_stamped stamps;
	struct kr_bases bases;  /* by key of the stream */
	struct kr_helds open;   /* have not ended; first is not measured */
	struct kr_helds held;   /* have ended, in the order of their ends */
	uint32_t carried;       /* versions that are left of others */
	struct kr_echo echo;
	struct kr_window window; /* of the round; between rounds only its memory */
	struct kr_batch batch;
	struct kr_reaches reach;
	struct kr_certifier certifier;
	bool renewed;           /* in this round something that the certifier knows has become new */
	uint32_t seq, since;    /* ended so far, and since the last round */
	uint32_t versions, locks; /* in the last one */
	int64_t newest;         /* time heard of */
	int64_t position;       /* of the last event dispatched */
	int64_t trusted_until;
	uint32_t late;
	uint64_t findings[KR_MECH_KINDS];
	bool found_trusted;
};

static inline bool kr_engine_by_stamps(const struct kr_engine *e)
{
	return e->options.batch.profile->clock == KR_CLOCK_STAMPS;
}

/* The transaction, one of those open, has ended; everything before `at` has been dispatched. May call for a
 * round. */
enum kr_status kr_engine_finish(struct kr_engine *e, struct kr_held *t, int64_t at, struct kr_err *err);

/* stream.c: a transaction begins; an event is late, which is told. */
enum kr_status kr_engine_open(struct kr_engine *e, struct kr_held **out, const struct kr_event *event);
enum kr_status kr_engine_late(struct kr_engine *e, const struct kr_event *event, int64_t at,
	int64_t watermark);

enum kr_status kr_stamps_take(struct kr_engine *e, const struct kr_event *event, struct kr_err *err);
int64_t kr_stamps_watermark(const struct kr_engine *e); /* INT64_MIN: nothing is settled before the end */
void kr_stamps_done(struct kr_engine *e);

enum kr_round { KR_ROUND_COUNTED, KR_ROUND_IDLE, KR_ROUND_LAST };

/* Everything sent before `position` has been dispatched. */
enum kr_status kr_engine_round(struct kr_engine *e, int64_t position, enum kr_round kind, struct kr_err *err);

/* round_cycles.c: which transactions are new to the certifier; the certifier as the batch asks it; and what
 * it is to forget. */
void kr_engine_renew(struct kr_engine *e);
struct kr_closing kr_engine_closing(struct kr_engine *e, enum kr_round kind);
void kr_engine_leave(struct kr_engine *e, struct kr_held *t);

/* Forgets what nothing that is still to come can depend on, by the round's window, batch and certain
 * dependencies. */
enum kr_status kr_engine_forget(struct kr_engine *e, int64_t position);

#endif
