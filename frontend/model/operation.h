/* What an operation does to a key, and what it tells of it: the one place that knows it for each kind. */
#ifndef KR_FRONTEND_MODEL_OPERATION_H
#define KR_FRONTEND_MODEL_OPERATION_H

#include "frontend/history.h"

enum kr_how {
	KR_KEEP, /* nothing is changed */
	KR_SET,  /* this is left, whatever was there */
	KR_ADD   /* this is put on top of what is there */
};

/* An element of a list or set, or a number of a mark: the value of the trace that has its text, if there is
 * one, else a number of its own, behind those of the values (elements.h). */
typedef struct { uint32_t i; } kr_item;

struct kr_write {
	kr_key key;
	enum kr_how how;
	union {
		kr_value value; /* left (KR_ABSENT: deleted), or added: an increment, or */
		kr_item item;   /* an element */
	};
	/* what the trace says of the value left; KR_UNTOLD: nothing, it rests on what was there */
	kr_value told;
};

/* How often the operation writes: the rows of an update, in their order, are a write each. The i-th write;
 * false: there are fewer. */
uint32_t kr_write_count(const struct kr_history *h, const struct kr_operation *op);
bool kr_write_at(const struct kr_history *h, const struct kr_operation *op, uint32_t i, struct kr_write *out);

/* Its write of key k. */
bool kr_write_of(const struct kr_history *h, const struct kr_operation *op, kr_key k, struct kr_write *out);

/* What an operation on one key tells of it: that it is the value, or that it is not. */
enum kr_view_time { KR_UNSEEN, KR_SEEN_BEFORE, KR_SEEN_AFTER }; /* nothing; before, after its own write */
struct kr_view {
	enum kr_view_time when;
	bool other;     /* something else than the value */
	kr_value value; /* KR_ABSENT: nothing is there */
};
struct kr_view kr_op_view(const struct kr_operation *op);

/* What it tells that keys held before it (KR_ABSENT: nothing): of the i-th key; false: there are fewer. */
bool kr_shown_at(const struct kr_history *h, const struct kr_operation *op, uint32_t i, struct kr_row *out);

bool kr_op_is_read(const struct kr_operation *op); /* it never writes: a read, a range or a scan */

#endif
