/* Inside of the native reader (TRACE.md's format), shared by native*.c only: state, errors and values. */
#ifndef KR_FRONTEND_NATIVE_H
#define KR_FRONTEND_NATIVE_H

#include "frontend/event.h"
#include "frontend/format.h"
#include "frontend/node.h"

/* What is known of a session of event lines. Of its open transaction: */
struct kr_native_session {
	bool open, over;      /* over: it said that nothing is to come */
	kr_value txn;
	uint32_t line;        /* where it began */
	uint32_t entries;     /* operations and rollbacks to savepoints so far */
	uint32_t doubtful;    /* the first of them that rules a commit out; KR_NONE: none */
	const char *doubt;    /* why, or why its begin does; NULL: nothing does */
	uint16_t flags;
	struct kr_white_box white_box;
};

/* What a key gets that JSON forced to be the name of an object's field: in "initial", "kinds" (kind not
 * KR_KIND_ANY) or "versions" (`seen` into h->seen, not KR_NONE). */
struct kr_native_use { kr_value initial; enum kr_key_kind kind; uint32_t seen; };

/* Such a name that looks like an integer: whether the string or the integer is meant is settled at the end,
 * by which of them the trace uses as a key. */
struct kr_native_name {
	kr_value text;
	int64_t number;
	struct kr_native_use use;
};

/* An unknown field that was seen before: the one that may be meant, or NULL, and its place in h->near_fields,
 * KR_NONE: it has none so far. */
struct kr_native_ignored { const char *name, *meant; uint8_t place; uint32_t near; };

/* last: the part written last; first, next: of an object's names, in `sort` */
struct kr_native_frame { const struct kr_node *node, *last; uint32_t first, next; };

struct kr_native {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	uint32_t line;        /* of the object being read */
	uint32_t header_line; /* 0: no header so far */
	bool in_txn, in_op;   /* what messages begin with */
	bool in_failed;       /* the operation being read is one that failed */
	kr_value id;          /* of the transaction being read, KR_NONE: none given */
	uint32_t op_index;
	uint32_t arguments;   /* of the operation being read, without its name and attributes */
	size_t element;       /* of a list: what messages say for # */

	KR_VEC(struct kr_native_name) names; /* open until the end */
	KR_VEC(struct kr_native_session) open; /* by session, as far as event lines came */
	bool has_events, begun; /* begun: a line that is not blank came */
	KR_VEC(struct kr_native_ignored) ignored;

	/* scratch, reused */
	struct kr_nodes nodes; /* of the JSON that is read now */
	struct kr_str text, copy; /* copy: of a line that is not ours to change */
	KR_VEC(struct kr_native_frame) frames;
	KR_VEC(const struct kr_node *) sort;
	KR_VEC(kr_value) ids;
};

/* Known fields of a line's object, NULL where missing. */
struct kr_native_fields {
	const struct kr_node *krait, *name, *time_unit, *initial, *kinds, *clock_skew, *universe,
		*ordered_keys, *txns, *row_separator, *profile, *stream, *sessions;
	const struct kr_node *id, *s, *status, *begin, *end, *ops, *serial, *snapshot, *commit_ts,
		*autocommit, *snapshot_t, *failed;
	const struct kr_node *txn, *op, *now;
	const struct kr_node *version_order, *writers;
	size_t ignored; /* further fields */
};

/* What has fields; the names of the others mean nothing there. */
enum kr_native_place {
	KR_NATIVE_HEADER,
	KR_NATIVE_TXN,
	KR_NATIVE_EVENT,
	KR_NATIVE_ORDER,
	KR_NATIVE_ATTRIBUTES,
	KR_NATIVE_RANGE /* its options, and attributes */
};

/* A state to fill `h` with; one line, as if it were read, which is terminated and becomes the reader's own,
 * or is copied first; the end of the state. n->line is the line's number, 0: not known. */
void kr_native_begin(struct kr_native *n, struct kr_ctx *ctx, struct kr_history *h, struct kr_err *err);
enum kr_status kr_native_line(struct kr_native *n, char *text, size_t length);
enum kr_status kr_native_copy_line(struct kr_native *n, const char *text, size_t length);
void kr_native_done(struct kr_native *n);

/* Sets the error, with line and, inside a transaction, which one and which operation. Returns KR_BAD. */
enum kr_status kr_native_bad(struct kr_native *n, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same: "WHAT is ..., expected EXPECTED"; '#' in `what` stands for n->element. */
enum kr_status kr_native_wrong(struct kr_native *n, const struct kr_node *json, const char *what,
	const char *expected);

/* What `json` is, for "found ...": a scalar's text (cut), "an object", "an array of 3 elements", "nothing"
 * for NULL. Returns `out`. */
const char *kr_native_found(const struct kr_node *json, char out[80]);

/* The place of a string among `count` names; -1: no string, or none of them. */
int kr_native_word(const struct kr_node *json, const char *const *names, int count);

/* Interns any value; KR_NONE when memory runs out. */
kr_value kr_native_value(struct kr_native *n, const struct kr_node *json);
/* not null */
enum kr_status kr_native_put_value(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_value *out);
/* string or number */
enum kr_status kr_native_put_key(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_key *out);
/* string or integer */
enum kr_status kr_native_put_name(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_value *out);
enum kr_status kr_native_put_int(struct kr_native *n, const struct kr_node *json, const char *what,
	int64_t *out);
enum kr_status kr_native_put_bool(struct kr_native *n, const struct kr_node *json, const char *what,
	bool *out);
/* [from, to]; open, if it may be: to is null */
enum kr_status kr_native_put_times(struct kr_native *n, const struct kr_node *json, const char *what,
	int64_t out[2], bool *open);

/* Puts to use the key of an object's field name, perhaps at the end. */
enum kr_status kr_native_field_name(struct kr_native *n, const char *text, struct kr_native_use use);

/* Gives keys of a history that has been read the values of a JSON object; the text is changed. */
enum kr_status kr_native_initial(struct kr_ctx *ctx, struct kr_history *h, char *text, size_t length,
	struct kr_err *err);

/* In a stream: gives keys from number `from` on the initial values that wait for them. */
enum kr_status kr_native_settle_keys(struct kr_native *n, uint32_t from);

void kr_native_get_fields(const struct kr_node *object, struct kr_native_fields *out);
/* Notes those of the `count` unknown fields of an object that look like known ones (h->near_fields). */
enum kr_status kr_native_fields_ignored(struct kr_native *n, const struct kr_node *object, size_t count,
	enum kr_native_place place);
/* the field that looks like it, or NULL */
const char *kr_native_field_meant(const struct kr_node *object, const char *known,
	enum kr_native_place place);
enum kr_status kr_native_header(struct kr_native *n, const struct kr_node *header,
	const struct kr_native_fields *f);
enum kr_status kr_native_order(struct kr_native *n, const struct kr_node *order,
	const struct kr_native_fields *f);
enum kr_status kr_native_txn(struct kr_native *n, const struct kr_native_fields *f);
enum kr_status kr_native_event(struct kr_native *n, const struct kr_node *json,
	const struct kr_native_fields *f);
bool kr_native_is_event(const struct kr_native_fields *f);

/* Parts of a transaction that events have, too. */
enum kr_status kr_native_put_status(struct kr_native *n, const struct kr_node *json, uint8_t *out);
/* one integer or [from, to] */
enum kr_status kr_native_put_moment(struct kr_native *n, const struct kr_node *json, const char *what,
	int64_t *invoked, int64_t *returned, bool *open);
enum kr_status kr_native_white_box(struct kr_native *n, const struct kr_native_fields *f, uint16_t *flags,
	struct kr_white_box *out);
enum kr_status kr_native_session(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_session *out);
/* KR_ENTRY_NONE so far */
enum kr_status kr_native_entry(struct kr_native *n, const struct kr_node *op, struct kr_entry *out);
/* a non-empty object of nothing but well-formed attributes */
bool kr_native_is_attributes(const struct kr_node *json);
enum kr_status kr_native_attributes(struct kr_native *n, const struct kr_node *json, struct kr_entry *e);
/* NULL: none */
enum kr_status kr_native_time(struct kr_native *n, const struct kr_node *times, struct kr_attr *attr);
enum kr_status kr_native_range(struct kr_native *n, const struct kr_node *op, struct kr_operation *out);
enum kr_status kr_native_scan(struct kr_native *n, const struct kr_node *op, struct kr_operation *out);
enum kr_status kr_native_update(struct kr_native *n, const struct kr_node *op, struct kr_operation *out);

/* After the last line: names, version orders and open transactions that had to wait. */
enum kr_status kr_native_finish(struct kr_native *n);

#endif
