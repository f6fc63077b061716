/* The history: what clients of the database did and saw, as flat arrays. The only thing that a front end
 * produces and the only thing that the verifier needs. Read-only once kr_history_finish has returned.
 *
 * Everything named by the trace (keys, values, transaction ids, sessions, field names) is interned once in
 * the value table: equality of values is equality of ids. Operations of transaction t are
 * ops[txns[t].op_first .. + op_count), in program order; an "op index" in reports counts from 0 within its
 * transaction. */
#ifndef KR_FRONTEND_HISTORY_H
#define KR_FRONTEND_HISTORY_H

#include "base/arena.h"
#include "base/ctx.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "krait/build.h"

/* ---- values ---- */

enum kr_value_type {
	KR_VALUE_ABSENT, /* JSON null, and what a key without a value has; always id 0 */
	KR_VALUE_FALSE,
	KR_VALUE_TRUE,
	KR_VALUE_INT,    /* exact 64 bits */
	KR_VALUE_REAL,
	KR_VALUE_STRING, /* UTF-8, may hold NUL */
	KR_VALUE_ARRAY,  /* canonical JSON text: compact, object keys sorted */
	KR_VALUE_OBJECT
};

#define KR_ABSENT ((kr_value){0})
#define KR_UNTOLD ((kr_value){KR_NONE}) /* a value that the trace does not tell: it may be any */

#define KR_TEXT_MOST (UINT32_MAX >> 3) /* bytes of a text */

/* 12 bytes: there may be as many values as operations. */
struct __attribute__((packed, aligned(4))) kr_value_entry {
	union {
		int64_t integer;
		double real;
		const char *text; /* terminated, in the history's arena */
	};
	uint32_t length : 29; /* of text, for strings, arrays and objects */
	enum kr_value_type type : 3;
};

/* ---- operations ---- */

/* Enumerations have the numbers of those of the C API, which stand for the same. */

enum kr_op_kind { /* TRACE.md's operations */
	KR_OP_READ = KRAIT_READ,     /* a: value read (KR_OPF_KNOWN), KR_ABSENT for absent */
	KR_OP_WRITE = KRAIT_WRITE,   /* a: value written */
	/* KR_OPF_KNOWN: whether it was found is known; KR_OPF_DONE: it was found */
	KR_OP_DELETE = KRAIT_DELETE,
	KR_OP_INSERT = KRAIT_INSERT, /* a: value; KR_OPF_DONE: it was absent and the value was put */
	KR_OP_CAS = KRAIT_CAS,       /* a: expected, b: new; KR_OPF_DONE: it was done */
	KR_OP_INC = KRAIT_INC,       /* a: delta (an integer), b: new value where KR_OPF_KNOWN */
	KR_OP_APPEND = KRAIT_APPEND, /* a: element */
	KR_OP_ADD = KRAIT_ADD,       /* a: element */
	KR_OP_MAX = KRAIT_MAX,       /* a: an integer */
	KR_OP_RANGE = KRAIT_RANGE,   /* scan: index into scans */
	KR_OP_SCAN = KRAIT_SCAN,
	KR_OP_UPDATE = KRAIT_UPDATE,
	KR_OP_KINDS
};

enum kr_op_flag { KR_OPF_KNOWN = 1, KR_OPF_DONE = 2, KR_OPF_HAS_ATTR = 4 };

/* 13 bytes: nothing takes more memory than the operations. */
struct __attribute__((packed)) kr_operation {
	enum kr_op_kind kind : 4;
	uint8_t flags : 4; /* enum kr_op_flag */
	kr_key key;        /* KR_NONE for range, scan, update */
	kr_value a;
	union {
		kr_value b;
		uint32_t scan; /* for range, scan, update: into scans */
	};
};

static inline bool kr_op_scans(const struct kr_operation *op) { return op->kind >= KR_OP_RANGE; }

struct kr_row { kr_key key; kr_value value; };

enum kr_cond_target {
	KR_COND_KEY_PREFIX = KRAIT_KEY_PREFIX,
	KR_COND_VALUE = KRAIT_ROW_VALUE,
	KR_COND_FIELD = KRAIT_ROW_FIELD
};
enum kr_cond_test {
	KR_COND_EQ = KRAIT_EQ,
	KR_COND_NE = KRAIT_NE,
	KR_COND_LT = KRAIT_LT,
	KR_COND_LE = KRAIT_LE,
	KR_COND_GT = KRAIT_GT,
	KR_COND_GE = KRAIT_GE,
	KR_COND_IN = KRAIT_IN,
	KR_COND_PREFIX /* of KR_COND_KEY_PREFIX */
};

struct kr_cond { /* one conjunct of a `where` */
	enum kr_cond_target target;
	enum kr_cond_test test;
	kr_value field; /* name of the field, a string; KR_COND_FIELD only */
	kr_value value; /* compared with; an array for KR_COND_IN */
};

struct kr_scan {          /* range, scan, update */
	kr_value low, high;   /* range: bounds, KR_ABSENT = open */
	int64_t limit;        /* range: -1 = none */
	bool reverse;         /* range */
	uint32_t cond_first, cond_count; /* scan, update: into conds */
	uint32_t row_first, row_count;   /* into rows: returned, or written (update) */
	kr_value set;         /* update: the value given by "set" */
};

enum kr_lock {
	KR_LOCK_NONE = KRAIT_LOCK_NONE,
	KR_LOCK_SHARED = KRAIT_LOCK_SHARED,
	KR_LOCK_EXCLUSIVE = KRAIT_LOCK_EXCLUSIVE
};

enum kr_read_mode {
	KR_READ_DEFAULT = KRAIT_READ_AS_USUAL, /* the profile's */
	KR_READ_SNAPSHOT = KRAIT_READ_SNAPSHOT,
	KR_READ_LATEST = KRAIT_READ_LATEST,
	KR_READ_UNCOMMITTED = KRAIT_READ_UNCOMMITTED
};

/* the time of return where no reply came; a trace may also tell this time, so that a flag says which */
#define KR_TIME_OPEN INT64_MAX

struct kr_attr {           /* attributes of an operation that has any (KR_OPF_HAS_ATTR); sorted by op */
	kr_op op;
	bool has_time;
	bool open;             /* no reply came: returned is KR_TIME_OPEN */
	int64_t invoked, returned;
	bool cursor;           /* default true */
	enum kr_lock lock;
	enum kr_read_mode read;
	bool row_is_old;       /* "row": "old": the write changed a row that was there */
	uint32_t seen_first, seen_count; /* "versions": into seen */
	/* Of entries only, never of an operation that counts: */
	bool failed;           /* the statement was answered by an error, or not at all */
	bool ends;             /* failed, and with it the database rolled the transaction back */
	bool undone;           /* a later rollback to a savepoint took it back */
};

/* One entry of what a transaction lists, as readers and builders tell it and sinks take it: an operation,
 * which may have failed, or a rollback to a savepoint. Ids, and places in the arrays of scans, rows,
 * conditions and versions seen, are those of the history at hand. */
struct kr_entry {
	bool is_undo;          /* a rollback to a savepoint; op means nothing */
	/* so many entries before it count no more, those that do not count anyhow included */
	uint32_t undo;
	struct kr_operation op;
	/* where op has KR_OPF_HAS_ATTR, failed, or is a rollback; attr.op means nothing */
	struct kr_attr attr;
};
#define KR_ENTRY_NONE ((struct kr_entry){.op = {.key = {KR_NONE}}, .attr = {.cursor = true}})

/* What a transaction did that does not count: operations that failed or were undone, and rollbacks to
 * savepoints. No level sees them: they do not stand in `ops`, whose indexes pass over them. */
struct kr_struck {
	kr_txn txn;
	/* where it stands: in front of this operation, perhaps the one behind the transaction's last */
	kr_op before;
	struct kr_entry entry;
};

/* version of key by its writer's id, KR_ABSENT = the initial one */
struct kr_seen { kr_key key; kr_value writer; };

/* ---- transactions ---- */

enum kr_txn_status { KR_COMMITTED = KRAIT_COMMITTED, KR_ABORTED = KRAIT_ABORTED, KR_UNKNOWN = KRAIT_UNKNOWN };

enum kr_txn_flag {
	KR_TXN_HAS_BEGIN = 1,
	KR_TXN_HAS_END = 2,
	KR_TXN_HAS_SERIAL = 4,
	KR_TXN_HAS_SNAPSHOT = 8,
	KR_TXN_HAS_COMMIT_TS = 16,
	KR_TXN_TIMED_OUT = 32,   /* a failure that the trace's own words lay to a timeout: for lint only */
	KR_TXN_AUTO = 64,        /* autocommit: one statement, in whose interval everything lies */
	KR_TXN_END_FAILED = 128, /* its COMMIT or ROLLBACK was answered by an error */
	KR_TXN_HAS_SNAPSHOT_T = 256,
	KR_TXN_BEGIN_OPEN = 512, /* no reply came: returned is KR_TIME_OPEN, and it is not committed */
	KR_TXN_END_OPEN = 1024,
	KR_TXN_TIMES = KR_TXN_HAS_BEGIN | KR_TXN_HAS_END | KR_TXN_BEGIN_OPEN | KR_TXN_END_OPEN,
	KR_TXN_WHITE_BOX =
		KR_TXN_HAS_SERIAL | KR_TXN_HAS_SNAPSHOT | KR_TXN_HAS_COMMIT_TS | KR_TXN_HAS_SNAPSHOT_T
};

#define KR_TXN_FLAGS 0x7ffu /* all of them */
#define KR_TXN_FILES 0x7ffffu /* that transactions can tell apart */

/* 56 bytes */
struct kr_transaction {
	kr_value id;         /* integer or string; unique */
	kr_session session;  /* KR_NONE: alone */
	uint32_t op_first, op_count;
	uint32_t line;       /* 1-based line (text formats) where it begins; for binary formats 0 */
	uint32_t file : 19;  /* into files; KR_TXN_FILES: it is not known (kr_txn_put_file) */
	enum kr_txn_status status : 2;
	uint32_t flags : 11; /* enum kr_txn_flag */
	int64_t begin_invoked, begin_returned; /* in the trace's time unit; KR_TXN_HAS_BEGIN */
	int64_t end_invoked, end_returned;     /* KR_TXN_HAS_END */
};

static inline void kr_txn_put_file(struct kr_transaction *txn, uint32_t file)
{
	txn->file = file < KR_TXN_FILES ? file & KR_TXN_FILES : KR_TXN_FILES;
}

/* snapshot_t: of the statement that took the snapshot; only if some transaction has one: parallel to txns */
struct kr_white_box { int64_t serial, snapshot, commit_ts, snapshot_t[2]; };

/* into order_writers, oldest first */
struct kr_version_order { kr_key key; uint32_t writer_first, writer_count; uint32_t line; };

enum kr_initial {
	KR_INITIAL_ABSENT = KRAIT_INITIAL_ABSENT,
	KR_INITIAL_GIVEN = KRAIT_INITIAL_GIVEN,
	KR_INITIAL_UNKNOWN = KRAIT_INITIAL_UNKNOWN, /* untold, and so are */
	KR_INITIAL_UNWRITTEN = KRAIT_INITIAL_UNWRITTEN /* history_written.h */
};
enum kr_key_order {
	KR_KEYS_MIXED = KRAIT_KEYS_MIXED, /* numbers by value before strings by bytes */
	KR_KEYS_BYTES = KRAIT_KEYS_BYTES,
	KR_KEYS_NUMBERS = KRAIT_KEYS_NUMBERS
};
enum kr_key_kind {
	KR_KIND_ANY = KRAIT_KIND_ANY,
	KR_KIND_REGISTER = KRAIT_KIND_REGISTER,
	KR_KIND_COUNTER = KRAIT_KIND_COUNTER,
	KR_KIND_LIST = KRAIT_KIND_LIST,
	KR_KIND_SET = KRAIT_KIND_SET,
	KR_KIND_MARK = KRAIT_KIND_MARK
};

struct kr_key_entry {
	kr_value name;       /* string or number */
	/* value before every transaction; KR_ABSENT also when initial values are untold */
	kr_value initial;
	uint8_t kind;        /* enum kr_key_kind: how the trace uses it, or says that it does */
	bool declared;       /* the trace says its kind apart from the operations */
};

/* A field that means nothing, but looks as if it should. */
struct kr_near_field {
	const char *name;  /* as the trace has it */
	const char *known; /* the field that may be meant */
	const char *place; /* "transaction": what has it */
	uint32_t count, line; /* how many have it, and the line of the first */
};

/* start of a key's name, so that looking it up stays in few cache lines */
struct kr_key_head { uint64_t word; uint32_t length; uint8_t type; };

struct kr_sink;
struct kr_assembling;

struct kr_history {
	struct kr_mem *mem;
	struct kr_arena arena;    /* texts */
	const char *name;         /* from the header, or NULL */
	const char *format;       /* name of the format it was read with */
	int64_t clock_skew;
	const char *time_unit;    /* from the header, or NULL */
	const char *row_separator; /* from the header, or NULL: keys are whole rows */
	bool stream;              /* the header says that it is a stream */
	/* from the header, or NULL: the row of a database that a stream's mechanisms are checked by */
	const char *profile;
	enum kr_initial initial;
	enum kr_key_order key_order;

	KR_VEC(struct kr_value_entry) values;
	KR_VEC(struct kr_key_entry) keys;
	KR_VEC(kr_value) sessions;          /* names, by kr_session */
	KR_VEC(struct kr_transaction) txns; /* in file order: within a session, session order */
	KR_VEC(struct kr_operation) ops;
	KR_VEC(struct kr_scan) scans;
	KR_VEC(struct kr_row) rows;
	KR_VEC(struct kr_cond) conds;
	KR_VEC(struct kr_attr) attrs;
	KR_VEC(struct kr_struck) struck;    /* in the order of transactions, then of the trace */
	KR_VEC(struct kr_seen) seen;
	KR_VEC(struct kr_white_box) white_box;
	KR_VEC(struct kr_version_order) version_orders;
	KR_VEC(kr_txn) order_writers;
	KR_VEC(const char *) files;         /* paths as given; [0] is the trace itself */
	bool lenient;                       /* what is bad is left out and counted instead of failing */
	bool building;                      /* by a builder (api/reader.c) that is not done yet */
	/* bad transactions and version orders left out because of `lenient` */
	uint32_t skipped;
	/* what is wrong with the first of them, "FILE:LINE: ..."; NULL: none, or not known */
	const char *first_skipped;
	/* that the trace has and the reader ignores, in the order in which they first stand there */
	KR_VEC(struct kr_near_field) near_fields;
	/* the first key that a field's name of digits stands for and that is taken for a string though the
	 * trace does not tell; KR_NONE: none */
	kr_key guessed;

	/* what is written to each key, only if initial is KR_INITIAL_UNWRITTEN (history_written.c) */
	struct kr_written *written;

	/* Of a stream's history (history_count.h), which forgets values; texts are then blocks of their
	 * own. */
	bool counted;
	/* parallel to values: how often each is kept, and whether it is in `loose` */
	KR_VEC(uint32_t) counts;
	KR_VEC(kr_value) loose;             /* values that may have to be forgotten; */
	bool overflowed;                    /* and perhaps others */
	kr_value spare;                     /* the first id to use again; where its value stood is the next */

	/* used by the builder functions only */
	struct kr_history_mark {
		uint32_t ops, scans, rows, conds, attrs, struck, seen;
	} draft;                            /* where the arrays of the transaction being built begin */
	uint32_t position;                  /* transactions so far, bad ones too */
	const struct kr_sink *sink;         /* takes what is told instead (event.h); NULL: none */
	KR_VEC(struct kr_assembling) open;  /* told event by event, by session + 1; 0: what stands alone */
	/* that were told; their writers, which may be there later only, in */
	KR_VEC(struct kr_version_order) orders;
	KR_VEC(kr_value) ordered;
	struct kr_table value_table, key_table, session_table;
	/* by value: 1 + the transaction that it names; 0, or beyond the end: none */
	KR_VEC(uint32_t) named;
	KR_VEC(struct kr_key_head) key_heads; /* parallel to keys */
	/* per session, the transaction whose end returned (or else begin was invoked) last, or KR_NONE */
	KR_VEC(kr_txn) session_ends;
};

/* on failure there is nothing to free */
enum kr_status kr_history_init(struct kr_history *h, struct kr_mem *mem);
void kr_history_done(struct kr_history *h);

/* Builder functions for readers: return the id (interning on first use), or i == KR_NONE when memory ran out,
 * or had run out for the name of a key or session. */
kr_value kr_history_int(struct kr_history *h, int64_t value);
kr_value kr_history_real(struct kr_history *h, double value); /* -0.0 is 0.0 */
kr_value kr_history_bool(struct kr_history *h, bool value);
/* string, array, object */
kr_value kr_history_text(struct kr_history *h, enum kr_value_type type, const char *text, size_t length);
kr_key kr_history_key(struct kr_history *h, kr_value name);
/* the key named by that string; faster than interning the name first */
kr_key kr_history_key_text(struct kr_history *h, const char *text, size_t length);
kr_session kr_history_session(struct kr_history *h, kr_value name);

/* The key of that name if there is one, or KR_NONE; the key named by that string. */
kr_key kr_history_find_key(const struct kr_history *h, kr_value name);
kr_key kr_history_find_key_text(const struct kr_history *h, const char *text, size_t length);

/* Hints that a key or value will soon be asked for. A look-up waits for memory at a slot of a table, then at
 * an entry; hints for a few operations at once, slots first, let these waits overlap. */
enum kr_expect { KR_EXPECT_SLOT, KR_EXPECT_ENTRY };
void kr_history_expect_key(const struct kr_history *h, const char *text, size_t length, enum kr_expect stage);
void kr_history_expect_int(const struct kr_history *h, int64_t value, enum kr_expect stage);

/* Gives a key its value before every transaction; elements of an array become values, too. KR_BAD: the key is
 * used as a kind that the value does not fit. */
enum kr_status kr_history_set_initial(struct kr_history *h, kr_key key, kr_value initial, struct kr_err *err);

/* Says what kind of key it is. KR_BAD: it is used as another one, or its initial value does not fit. */
enum kr_status kr_history_set_kind(struct kr_history *h, kr_key key, enum kr_key_kind kind,
	struct kr_err *err);
/* The kind of that name ("register", "counter", "list", "set", "mark"), or KR_KIND_ANY; and the name of a
 * kind. */
enum kr_key_kind kr_history_kind(const char *name);
const char *kr_history_kind_name(enum kr_key_kind kind);
/* The kind of key that an operation writes, KR_KIND_ANY: it writes none, or any. */
enum kr_key_kind kr_history_kind_needed(enum kr_op_kind op);

/* The transaction being built is what was pushed to the arrays since the last one ended, or since _begin: its
 * entries (an undo is of no more than it has), and scans, rows, conditions and versions seen that they point
 * to. */
void kr_history_begin(struct kr_history *h);
enum kr_status kr_history_put(struct kr_history *h, const struct kr_entry *entry); /* KR_NOMEM */
uint32_t kr_history_entries(const struct kr_history *h); /* how many it has, struck ones included */
/* Takes back what was pushed; interned things stay. _drop: it was a transaction, and is bad. */
void kr_history_take_back(struct kr_history *h);
void kr_history_drop(struct kr_history *h);

/* Ends the transaction being built and appends it, and sets keys[].kind of the keys that it writes. `txn.id`
 * with i == KR_NONE gets the default id "#N", N its place among the trace's transactions, from 1; op_first
 * and op_count are filled in. `white_box`: NULL where it has no such fields. KR_BAD (it is dropped, no kind
 * changed): the id is taken; it begins before an earlier transaction of its session returned (unless that one
 * is unknown); it uses a key as another kind than before. */
enum kr_status kr_history_add(struct kr_history *h, struct kr_transaction txn,
	const struct kr_white_box *white_box, struct kr_err *err);

/* All that a transaction's line lists, struck entries at their place. _next: false at the end. */
struct kr_walk {
	uint32_t place;                 /* in the trace's list, of the entry given last; from 0 */
	const struct kr_operation *op;  /* NULL: struck->is_undo */
	const struct kr_attr *attr;     /* or NULL */
	const struct kr_entry *struck;  /* NULL: it counts */
	uint32_t next_op, end_op, next_struck, end_struck; /* inside of the walk */
};
struct kr_walk kr_walk_txn(const struct kr_history *h, kr_txn t);
struct kr_walk kr_walk_new(const struct kr_history *h); /* of the transaction being built */
bool kr_walk_next(const struct kr_history *h, struct kr_walk *walk);
struct kr_entry kr_walk_entry(const struct kr_walk *walk); /* the one given last */

/* KR_BAD: what is wrong with a committed transaction of that id, `why` being what rules its commit out. */
enum kr_status kr_history_doubt(const struct kr_history *h, kr_value id, const char *why, struct kr_err *err);
extern const char kr_doubt_begin[], kr_doubt_op[], kr_doubt_failed[], kr_doubt_end[], kr_doubt_end_failed[];

/* From when to when an autocommit transaction's statement lasted; false: it does not tell. */
bool kr_history_statement(const struct kr_history *h, struct kr_walk walk, int64_t out[2], bool *open);
/* Counts a bad transaction or version order that a lenient reader leaves out, for `err`, which is then as
 * good as new. */
void kr_history_leave_out(struct kr_history *h, struct kr_err *err);
/* That, and KR_OK, if it is one and the history is lenient; else `status`. */
enum kr_status kr_history_forgive(struct kr_history *h, enum kr_status status, struct kr_err *err);

/* The transaction with this id, or KR_NONE. */
kr_txn kr_history_find(const struct kr_history *h, kr_value id);

/* The file that t was read from; `none`: it was not, or that is not known. */
static inline const char *kr_history_file(const struct kr_history *h, kr_txn t, const char *none)
{
	uint32_t file = h->txns.at[t.i].file;

	return file < h->files.n && file < KR_TXN_FILES ? h->files.at[file] : none;
}

/* Checks what only the whole trace can tell: version orders that contradict each other or name a transaction
 * that did not write the key, is aborted or is named twice. Keys of no kind of which an array was read are
 * lists. Pads white_box, trims the arrays. With h->lenient a bad version order is dropped and counted. */
enum kr_status kr_history_finish(struct kr_history *h, struct kr_ctx *ctx, struct kr_err *err);
void kr_history_find_lists(struct kr_history *h); /* part of it */

/* ---- reading ---- */

static inline const struct kr_value_entry *kr_history_value(const struct kr_history *h, kr_value v)
{
	return &h->values.at[v.i];
}
static inline bool kr_history_untold(const struct kr_history *h) { return h->initial >= KR_INITIAL_UNKNOWN; }
static inline kr_op kr_history_op(const struct kr_history *h, kr_txn t, uint32_t index)
{
	return (kr_op){h->txns.at[t.i].op_first + index};
}
const struct kr_attr *kr_history_attr(const struct kr_history *h, kr_op op); /* or NULL */
/* does it say that it did not read through a cursor? */
bool kr_history_is_loose(const struct kr_history *h, kr_op op);

/* Entry `place` of what t lists, struck ones included, as a walk gives it; place is less than
 * kr_history_listed. */
uint32_t kr_history_listed(const struct kr_history *h, kr_txn t);
struct kr_walk kr_walk_at(const struct kr_history *h, kr_txn t, uint32_t place);

/* Where operation `index` of those of t that count stands in the trace's list, struck entries included: what
 * people are told. */
uint32_t kr_history_place(const struct kr_history *h, kr_txn t, uint32_t index);

/* Transactions that are told without an id get "#N", N their place in the trace, from 1: that of t, which may
 * have been told so; 0: it has another id. */
uint32_t kr_history_default_number(const struct kr_history *h, kr_txn t);

/* How many bytes of a key's name, a string, name its row: those before the last row_separator; all of it
 * where there is none. */
size_t kr_history_row_length(const struct kr_history *h, const char *name, size_t length);

const char *kr_op_name(enum kr_op_kind kind); /* as in TRACE.md: "r", "w", ... */

/* Order of keys for ranges, as h->key_order says: <0, 0, >0. */
int kr_history_compare_keys(const struct kr_history *h, kr_value a, kr_value b);

/* Text for people: a key or an id without quotes where that is unambiguous; a value as JSON, cut after `most`
 * bytes with "..." (0: never cut). Characters that terminals obey, or that turn the direction of what stands
 * behind them, are escaped. */
void kr_history_print_name(const struct kr_history *h, kr_value name, struct kr_str *out);
void kr_history_print_value(const struct kr_history *h, kr_value value, size_t most, struct kr_str *out);
/* As exact JSON, for witnesses and JSON reports. */
void kr_history_json_value(const struct kr_history *h, kr_value value, struct kr_str *out);
/* The same as a member of an object. */
void kr_history_json_member(const struct kr_history *h, const char *name, kr_value value, struct kr_str *out);

/* A name for a message: as kr_history_print_name, cut to fit `out`, without needing memory. Returns `out`. */
const char *kr_history_brief(const struct kr_history *h, kr_value name, char *out, size_t size);
/* The shortest decimal text that reads back as `value`, always with a '.' or an exponent. */
void kr_history_real_text(double value, char out[32]);

/* a's end returned (plus the clock skew) before b's begin was invoked. */
bool kr_history_precedes(const struct kr_history *h, kr_txn a, kr_txn b);

#endif
