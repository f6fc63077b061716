/* Building a history operation by operation: for programs that record what they do (krait.h), and for formats
 * of plug-ins (reader.h).
 *
 *     krait_build_begin(b, &(struct krait_transaction){.id = krait_text("t1"), .session = krait_int(1)});
 *     krait_build_op(b, &(struct krait_operation){.kind = KRAIT_WRITE, .key = krait_text("x"), .value =
 *     krait_int(1)}); krait_build_end(b);
 *
 * Functions return false once something has failed; all later ones then do nothing and return false, so that
 * it suffices to look at what finishes the history, which tells what the first failure was and where. Texts
 * are copied. docs/formats/native.md says what operations, outcomes and times mean. */
#ifndef KRAIT_BUILD_H
#define KRAIT_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "krait/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct krait_builder krait_builder;

/* ---- values ---- */

enum krait_value_type {
	KRAIT_ABSENT, /* nothing: a key without a value; a field that is not given */
	KRAIT_BOOLEAN,
	KRAIT_INTEGER,
	KRAIT_REAL,   /* finite */
	KRAIT_STRING, /* UTF-8 */
	KRAIT_JSON    /* any value, as JSON text */
};

struct krait_value {
	enum krait_value_type type;
	int64_t integer;  /* KRAIT_INTEGER; KRAIT_BOOLEAN: 0 or not */
	double real;
	const char *text; /* KRAIT_STRING, KRAIT_JSON; borrowed */
	size_t length;    /* of text, in bytes */
};

static inline struct krait_value krait_absent(void)
{
	struct krait_value v = {KRAIT_ABSENT, 0, 0, NULL, 0};
	return v;
}
static inline struct krait_value krait_bool(bool value)
{
	struct krait_value v = {KRAIT_BOOLEAN, value, 0, NULL, 0};
	return v;
}
static inline struct krait_value krait_int(int64_t value)
{
	struct krait_value v = {KRAIT_INTEGER, value, 0, NULL, 0};
	return v;
}
static inline struct krait_value krait_real(double value)
{
	struct krait_value v = {KRAIT_REAL, 0, value, NULL, 0};
	return v;
}
static inline struct krait_value krait_text(const char *text)
{
	struct krait_value v = {KRAIT_STRING, 0, 0, text, strlen(text)};
	return v;
}
static inline struct krait_value krait_json(const char *text)
{
	struct krait_value v = {KRAIT_JSON, 0, 0, text, strlen(text)};
	return v;
}

/* ---- transactions ---- */

enum krait_transaction_status {
	KRAIT_COMMITTED, /* it took effect */
	KRAIT_ABORTED,   /* it did not */
	KRAIT_UNKNOWN    /* its client never learned */
};

struct krait_transaction {
	struct krait_value id;      /* string or integer, unique; absent: "#N", N its place from 1 */
	struct krait_value session; /* string or integer; absent: a session of its own */
	enum krait_transaction_status status;
	bool has_begin, has_end;
	/* of the begin, and of the commit or abort: invoked, returned; in any unit, one for the history */
	int64_t begin[2], end[2];
	unsigned line;              /* of the file, for messages; 0: not known */
	/* What the database itself says, if it does: */
	bool has_serial, has_snapshot, has_commit_ts;
	int64_t serial;             /* its place in the serialization order, any integer */
	/* when its snapshot was taken, and its commit time; in a unit of the database's */
	int64_t snapshot, commit_ts;
	/* For checks of mechanisms; levels look at `autocommit` only: */
	/* one statement, whose time is that of begin and end, where they are not given */
	bool autocommit;
	/* no answer came: the time of return means nothing, and it is not committed */
	bool begin_unanswered, end_unanswered;
	bool end_failed;            /* the commit or rollback was answered by an error */
	bool has_snapshot_time;
	/* of the statement that took its snapshot: invoked, returned; in the unit of begin and end */
	int64_t snapshot_time[2];
};

/* Transactions of one session begin in the order in which they are built. */
KRAIT_EXPORT bool krait_build_begin(krait_builder *builder, const struct krait_transaction *transaction);
KRAIT_EXPORT bool krait_build_end(krait_builder *builder);

/* ---- operations ---- */

enum krait_operation_kind {
	KRAIT_READ,   /* value: what was seen, if known; KRAIT_ABSENT: nothing was there */
	KRAIT_WRITE,  /* value */
	KRAIT_DELETE, /* done, if known: something was there */
	KRAIT_INSERT, /* value; done: nothing was there, and the value was put */
	/* expected, value; done: expected was there (KRAIT_ABSENT: nothing), and was replaced */
	KRAIT_CAS,
	KRAIT_INC,    /* value: an integer that is added; result, if known: what it then was */
	KRAIT_APPEND, /* value: appended to a list */
	KRAIT_ADD,    /* value: added to a set */
	KRAIT_MAX,    /* value: an integer to which a high-water mark is raised, if it is lower */
	/* low, high, rows: all present keys k with low <= k < high, in the order of keys; perhaps limit,
	 * reverse */
	KRAIT_RANGE,
	KRAIT_SCAN,   /* conditions, rows: all present keys of which all conditions hold */
	/* conditions, value, rows: a scan, and a write of each matching row; value: what the statement sets,
	 * rows: what was written */
	KRAIT_UPDATE,
	/* a rollback to a savepoint: the last `undone` operations of the transaction count no more, whatever
	 * they are; only its time is given */
	KRAIT_UNDO
};

/* key: string or number; value: what the key holds, never absent */
struct krait_row { struct krait_value key, value; };

enum krait_condition_target {
	KRAIT_KEY_PREFIX, /* `value`, a string, is what the key begins with; no test */
	KRAIT_ROW_VALUE,  /* the whole value is compared */
	KRAIT_ROW_FIELD   /* the member `field` of a value that is an object is */
};
enum krait_test {
	KRAIT_EQ,
	KRAIT_NE,
	KRAIT_LT,
	KRAIT_LE,
	KRAIT_GT,
	KRAIT_GE,
	KRAIT_IN /* `value`: an array */
};

struct krait_condition {
	enum krait_condition_target target;
	enum krait_test test;
	struct krait_value field; /* KRAIT_ROW_FIELD: a string */
	struct krait_value value; /* compared with */
};

/* the version of a key by the id of its writer; absent: the initial one */
struct krait_seen { struct krait_value key, writer; };

enum krait_read_mode { KRAIT_READ_AS_USUAL, KRAIT_READ_SNAPSHOT, KRAIT_READ_LATEST, KRAIT_READ_UNCOMMITTED };

enum krait_lock { KRAIT_LOCK_NONE, KRAIT_LOCK_SHARED, KRAIT_LOCK_EXCLUSIVE };

/* Zeroed fields mean "none"; arrays are borrowed, and NULL when they are empty. */
struct krait_operation {
	enum krait_operation_kind kind;
	struct krait_value key;      /* string or number; not of RANGE, SCAN, UPDATE */
	struct krait_value value, expected, result;
	bool unknown;                /* the result was not learned: of read, delete, inc */
	bool done;
	bool no_cursor;              /* not through a cursor: matters to cursor stability only */

	bool has_time;
	int64_t time[2];             /* invoked, returned; in the unit of the transactions' times */
	bool unanswered;             /* no answer came: time[1] means nothing */
	enum krait_lock lock;        /* that the operation took */
	enum krait_read_mode read;   /* of what it read, where its level does not tell */
	bool old_row;                /* WRITE: it changed a row that was there */
	/* it was answered by an error: its results mean nothing, and it does not count */
	bool failed;
	bool goes_on;                /* failed: the database did not roll the transaction back */
	uint32_t undone;             /* UNDO */
	/* what the database says: the version of each key over which a predicate was evaluated */
	const struct krait_seen *seen;
	size_t seen_count;

	struct krait_value low, high; /* RANGE: string or number; absent: unbounded */
	bool has_limit, reverse;     /* RANGE */
	int64_t limit;               /* RANGE, with has_limit: it ends after so many rows, 0 or more */
	/* SCAN, UPDATE: all of them hold; of one target and field each test once */
	const struct krait_condition *conditions;
	size_t condition_count;
	const struct krait_row *rows; /* RANGE, SCAN: returned; UPDATE: written */
	size_t row_count;
};

/* Of the transaction that was begun. */
KRAIT_EXPORT bool krait_build_op(krait_builder *builder, const struct krait_operation *operation);

/* ---- the rest ---- */

/* What the key holds before every transaction. Keys that this is not called for are then absent at first, as
 * all are without any call. Before the first transaction only. */
KRAIT_EXPORT bool krait_build_initial(krait_builder *builder, struct krait_value key,
	struct krait_value value);

enum krait_initial {
	KRAIT_INITIAL_ABSENT, /* keys are absent before every transaction */
	KRAIT_INITIAL_GIVEN,  /* some have values: krait_build_initial; the others are absent */
	KRAIT_INITIAL_UNKNOWN, /* each has some value that is not told */
	KRAIT_INITIAL_UNWRITTEN /* the same, but none that is written to its key */
};
enum krait_key_order {
	KRAIT_KEYS_MIXED /* numbers by value, before strings by bytes */,
	KRAIT_KEYS_BYTES,
	KRAIT_KEYS_NUMBERS
};

struct krait_header {
	const char *name;      /* of the trace; NULL: none. Copied */
	const char *time_unit; /* of all times, for people ("ns"); NULL: not told. Copied */
	int64_t clock_skew;    /* clocks of two clients may differ by so much; 0 or more, in that unit */
	enum krait_initial initial;
	enum krait_key_order key_order;     /* how ranges compare keys */
	/* what stands before its last occurrence in a key names a row; NULL: keys are rows. Copied */
	const char *row_separator;
	const char *profile;                /* by which mechanisms are checked; NULL: none. Copied */
	/* keys that exist for ranges and scans, though no operation names them; string or number each */
	const struct krait_value *universe;
	size_t universe_count;
};

/* What holds for all of the history. First of all, at most once; without it the fields are as if zeroed. */
KRAIT_EXPORT bool krait_build_header(krait_builder *builder, const struct krait_header *header);

/* The database says that versions of the key were installed in this order, oldest first: by the ids of their
 * writers, which may be built later. Lists may be partial, and several for a key. Not between begin and
 * end. */
KRAIT_EXPORT bool krait_build_version_order(krait_builder *builder, struct krait_value key,
	const struct krait_value *writers, size_t count);

enum krait_key_kind {
	KRAIT_KIND_ANY /* only read, and nothing was there */,
	KRAIT_KIND_REGISTER,
	KRAIT_KIND_COUNTER,
	KRAIT_KIND_LIST,
	KRAIT_KIND_SET,
	KRAIT_KIND_MARK
};

/* What kind of key it is, where no operation tells: one of which an array is read is a list otherwise. Before
 * the first transaction only. */
KRAIT_EXPORT bool krait_build_kind(krait_builder *builder, struct krait_value key, enum krait_key_kind kind);

/* A line of the native format: the header (first of all), a transaction with any of its operations (scans,
 * ranges, updates, what failed or was undone), an event of a stream, a version order. Not between begin and
 * end of what is built otherwise. A transaction whose events have no end is of unknown outcome. */
KRAIT_EXPORT bool krait_build_line(krait_builder *builder, const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
