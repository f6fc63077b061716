/* Transactions of a stream: what their events told, kept until nothing later can depend on it. Values are
 * counted (frontend/stream.h). */
#ifndef KR_MECHANISMS_HELD_H
#define KR_MECHANISMS_HELD_H

#include "frontend/stream.h"
#include "mechanisms/batch.h"

struct kr_held_entry {
	struct kr_operation op; /* scan: index into the transaction's scans */
	uint32_t undo;          /* a rollback to a savepoint; KR_NONE: an operation */
	int64_t invoked, returned;
	/* of the attributes that mechanisms ask for: */
	bool has_time : 1, open : 1, cursor : 1, row_is_old : 1, failed : 1, ends : 1, undone : 1;
	uint8_t lock, read;
};

struct kr_pending {
	uint32_t op;
	kr_key key;
}; /* a finding whose class may still change; key as in the stream's history */

struct kr_body { /* of a transaction that is held whole */
	struct kr_white_box white_box;
	int64_t begin[2];
	KR_VEC(struct kr_held_entry) entries; /* op.scan: into scans */
	KR_VEC(struct kr_scan) scans; /* rows and conditions: into the arrays below */
	KR_VEC(struct kr_row) rows;
	KR_VEC(struct kr_cond) conds;
	KR_VEC(struct kr_pending) pending;
};

struct kr_held {
	kr_value id;
	kr_session session;
	uint32_t seq, line; /* seq: place among all that ended, in the order of dispatch */
	/* its number in the window of the round; while it has not ended, among those open */
	uint32_t at;
	uint32_t nodes[2];  /* in the certifier, of begin and commit, or one of both */
	int64_t end[2];
	/* earliest and latest instant that it tells of, widened by the skew */
	int64_t first, due;
	/* NULL: it is carried: only versions are left, which the window has (window.h), */
	struct kr_body *body;
	uint32_t left_first, left_count; /* these */
	uint16_t flags;
	uint8_t status;
	bool ended;     /* its end is dispatched */
	bool settled;   /* and all that bears on it is known */
	bool fresh;     /* since this round */
	bool certified; /* its cycles were looked for */
	/* when they were: 0, or one more than its versions of unknown outcome that were known to be real */
	uint32_t effects;
	bool entered;   /* it has nodes in the certifier */
	bool late;      /* an event of it came too late */
	bool carried;
	bool reached; /* by certain dependencies, from what is near the present: horizon.c */
};

struct kr_held *kr_held_new(struct kr_stream *stream, struct kr_mem *mem, const struct kr_event *begin);
void kr_held_free(struct kr_stream *stream, struct kr_mem *mem, struct kr_held *t); /* safe on NULL */

/* nothing is to come: gives back what it has more than it needs */
void kr_held_trim(struct kr_mem *mem, struct kr_held *t);
struct kr_attr kr_held_attr(const struct kr_held_entry *e);

/* OP, UNDO */
bool kr_held_add(struct kr_stream *stream, struct kr_mem *mem, struct kr_held *t, const struct kr_event *e);
void kr_held_end(struct kr_held *t, const struct kr_event *e);

/* first and due. */
void kr_held_measure(const struct kr_history *h, const struct kr_profile *profile, struct kr_held *t);

int64_t kr_earlier(int64_t at, int64_t by); /* minus, within bounds; the bounds of time stay */

#endif
