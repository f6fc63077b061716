/* What a driver of krait-lab is: a shared object lib/krait/drivers/NAME.so that defines `krait_driver` and
 * knows one database. It runs one operation at a time and says what was answered; plans, threads, clocks and
 * the trace are the engine's. A driver never tries anything again by itself. */
#ifndef KR_LAB_DRIVER_H
#define KR_LAB_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KL_ABI 8
#define KL_NODES_MOST 5

/* In a driver's file: the library that it is built with, as pkg-config calls it (or else -lMODULE and
 * MODULE.h do; "MODULE HEADER" if that is called otherwise), and Debian's package of it. Where it is not
 * found, the driver is left out (lab/CMakeLists.txt). KL_LIBRARY_VERSION is what pkg-config gave of the first
 * one. */
#define KL_NEEDS(module, package) _Static_assert(sizeof module && sizeof package, "")

#define KL_KEY 40 /* bytes of a key, terminator included */

enum kl_answer {
	KL_OK,
	KL_STATEMENT, /* the statement failed and had no effect; the transaction goes on */
	/* from here to KL_BUSY: the database ended the transaction, which had no effect. Over a conflict, */
	KL_REFUSED,
	KL_DEADLOCK,
	KL_TIMEOUT,
	KL_BUSY,
	KL_GONE,      /* the connection was lost, or what was answered tells nothing */
	KL_BUG        /* an error that no right program meets: the recording stops */
};

enum kl_kind {
	KL_READ,      /* key -> found, value */
	KL_READ_LIST, /* key -> found, rows' values */
	KL_READ_SET,  /* key -> found, rows' values in any order */
	KL_WRITE,     /* key, value: upsert */
	KL_DELETE,    /* key -> done */
	KL_INSERT,    /* key, value -> done: nothing was there */
	KL_INC,       /* key, value: added to a counter that is there -> value */
	KL_APPEND,    /* key, value: to a list */
	KL_ADD,       /* key, value: to a set */
	KL_RANGE,     /* low <= key < high, limit -> rows in the order of keys */
	KL_SCAN,      /* keys that begin with `key`, of which ge <= value < lt -> rows */
	KL_UPDATE,    /* the same condition; value -> rows: what was written */
	KL_KINDS,
	KL_SQL = 33   /* text, as it is -> rows of cells; value: how many rows were changed */
};
#define KL_BIT(kind) (UINT64_C(1) << (kind))
#define KL_LOCKING KL_BIT(32) /* KL_READ with `lock` */
#define KL_READS \
	(KL_BIT(KL_READ) | KL_BIT(KL_READ_LIST) | KL_BIT(KL_READ_SET) | KL_BIT(KL_RANGE) | \
		KL_BIT(KL_SCAN)) /* those that write nothing */

enum kl_lock { KL_NO_LOCK, KL_SHARED, KL_EXCLUSIVE };

struct kl_op {
	enum kl_kind kind;
	enum kl_lock lock;
	const char *key;        /* KL_RANGE: low */
	const char *high;
	int64_t value, ge, lt;
	uint32_t limit;         /* 0: none */
	bool exists;            /* KL_WRITE: the key is there, so that an update does it */
	const char *text;       /* KL_SQL */
};

struct kl_row {
	char key[KL_KEY];
	int64_t value;
	uint64_t mark;          /* the writer of this version, by the database's own number; 0: not told */
};

/* Zeroed before each call, rows' memory apart. */
struct kl_result {
	/* kl_now() just before and just after the call; 0: the engine's reading stands. A driver that parses
	 * answers sets `answered` first */
	int64_t sent, answered;
	bool found, done, unchanged; /* `unchanged`: a row matched and got no new version */
	int64_t value;
	uint64_t mark;          /* KL_READ: as of a row */
	uint64_t own;           /* the database's own number of this transaction, once it has one */
	/* of commit: where the database puts this transaction in its order of serialization, */
	bool has_place;
	bool reads_only;        /* behind all that wrote at that place */
	uint64_t place;
	bool unseen;            /* KL_INC: the new value was not given */
	/* KL_RANGE, KL_SCAN: the snapshot that was looked at, in the database's own words (kl_result_view) */
	char *view;
	size_t view_cap;
	struct kl_row *rows;
	size_t row_count, row_cap;
	/* KL_SQL: the names of its columns, then what is in the lines, one by one (kl_result_cell) */
	uint32_t columns, lines;
	char *cells;
	size_t cells_n, cells_cap;
	char code[16];          /* of an error, as the database calls it; empty: none */
	char message[256];      /* of an error */
};

struct kl_level {
	const char *name;       /* what users call it */
	const char *sent;       /* what is sent or set */
	const char *claims;     /* the level of krait that the documentation claims */
	const char *keeps;      /* the level that runs of it were found to keep */
	const char *profile;    /* its row of `krait profiles`, or NULL */
};

struct kl_home;             /* a private folder (home.h) */
struct kl_sink;             /* what the database tells of its order (kl_tell_...) */

struct kl_store {
	const struct kl_driver *driver;
	const struct kl_level *level; /* the strictest that is used */
	const char *connect;    /* NULL: a private one */
	/* further addresses of the user's own cluster, by node; NULL for the first, and of private ones */
	const char *further[KL_NODES_MOST];
	uint32_t nodes;         /* servers of a cluster, at most KL_NODES_MOST; 1: no cluster */
	bool only_reads[KL_NODES_MOST]; /* set by `start`: what writes is for the first node */
	struct kl_home *home;
	uint64_t seed;
	bool certificate;       /* ask for the order */
	bool remote;            /* addresses beyond this machine are allowed */
	bool spread;            /* provoke: each object has a partition of its own */
	bool directed;          /* provoke: one statement is sent after the other, and waits are long */
	enum { KL_FAILED, KL_LACKING, KL_REFUSING } failure; /* of the last call: the kind */
	bool small_disk;        /* a private server's data are on a disk of their own (driver->data) */
	void *own;              /* the driver's */
	bool parts;             /* what nodes send each other goes through relays, to be cut off */
	_Atomic bool loses;     /* the answers of all commits are lost now */
	struct kr_relay *relay, *relays[KL_NODES_MOST]; /* before the server; before each node */
	char relayed[108];      /* the socket to connect to in place of the server's own; empty: that */
	char version[160];      /* of server and library, set by `start`; */
	char where[KL_NODES_MOST][80]; /* and host and port of each server of the user's; empty: not told */
	char why[512];          /* why the last call that failed did */
};

struct kl_client {
	struct kl_store *store;
	const struct kl_level *level;
	uint32_t number;
	const char *id;         /* of the transaction, */
	bool only_reads;        /* which is known when it begins */
};

enum {
	KL_EMBEDDED = 1,
	KL_SESSIONS = 2,
	KL_SERIAL = 4 /* places are an order of serialization at levels that claim `ser` or more */,
	KL_BACKENDS = 8 /* a process for each client */,
	KL_BUFFERED = 16 /* what is written is sent with the commit: it has no times of its own */,
	KL_PAGES = 32 /* what is locked are pages: keys are kept apart by others between them */,
	KL_PARTITIONS = 64 /* `spread` can be */
};

struct kl_driver {
	uint32_t abi;           /* KL_ABI */
	const char *name, *title, *library;
	const struct kl_level *levels; /* strictest first, until a name NULL */
	uint64_t operations;
	const uint64_t *lacks;  /* those that are none, for each level; NULL: all are */
	uint32_t facts;
	/* of a private server: its program, Debian's package of it, and the pattern of further folders where
	 * it may be, as for kl_program. NULL: it has none */
	const char *program, *package, *folders;
	const char *data;       /* the folder of its data, in its private one; NULL: none to fill up */
	/* True, or `why` says why not. */
	bool (*start)(struct kl_store *store);
	void (*stop)(struct kl_store *store);
	bool (*restart)(struct kl_store *store);  /* after its processes were killed; NULL: there are none */
	bool (*load)(struct kl_store *store, const struct kl_row *rows, size_t count);
	/* NULL: not now. By the client's own thread. */
	struct kl_client *(*connect)(struct kl_store *store);
	/* Of a cluster; NULL: the driver knows one address only. */
	struct kl_client *(*connect_to)(struct kl_store *store, uint32_t node);
	const char *const *cluster_keeps; /* what each level keeps in a private one; NULL: there is none */
	enum kl_answer (*begin)(struct kl_client *client, struct kl_result *result);
	enum kl_answer (*run)(struct kl_client *client, const struct kl_op *op, struct kl_result *result);
	enum kl_answer (*commit)(struct kl_client *client, struct kl_result *result);
	enum kl_answer (*rollback)(struct kl_client *client, struct kl_result *result);
	/* NULL: no connection that can be lost */
	void (*hang_up)(struct kl_client *client, bool after_sending_commit);
	void (*close)(struct kl_client *client);
	/* after the run; NULL: nothing to tell */
	bool (*order)(struct kl_store *store, struct kl_sink *sink);
	/* Does a snapshot (`view`) have what `mark` wrote, another transaction than the reader? NULL: there
	 * are no views. */
	bool (*sees)(const char *view, uint64_t mark);
	/* Faults; NULL: not of this store. */
	bool (*kill_clients)(struct kl_store *store);                 /* the server ends all connections */
	void (*socket)(const struct kl_store *store, char out[300]); /* of a private server */
	/* Of a cluster whose nodes reach each other by kl_relay_node: one was cut off; until it is back. */
	bool (*parted)(struct kl_store *store, uint32_t node);
	bool (*restart_node)(struct kl_store *store, uint32_t node); /* of a cluster, after it was killed */
	/* of the server; the first is the main one, the others serve clients */
	size_t (*processes)(struct kl_store *store, pid_t *out, size_t most);
	/* Directed runs. Does what the client has sent wait for another transaction? By another thread, after
	 * `silence_ms` without an answer, and every `look_ms`. NULL: only silence tells. */
	bool (*blocked)(struct kl_store *store, struct kl_client *client);
	uint32_t silence_ms, look_ms;
	/* what waits is to end as busy; by another thread. NULL: when all wait, the database ends one */
	void (*give_up)(struct kl_client *client);
	/* how the names of levels begin whose writes happen at commit; NULL: none, or all (KL_BUFFERED) */
	const char *buffered;
	/* the statement that is sent for an operation. NULL: there are calls, and no statements */
	void (*statement)(const struct kl_client *client, const struct kl_op *op, char *out, size_t size);
	/* The same database made otherwise, under names NAME:PARAMETER=VALUE, until a NULL; NULL: there are
	 * none */
	const struct kl_driver *const *others;
};

/* ---- what the engine offers to drivers ---- */

#define KL_EXPORT __attribute__((visibility("default")))

KL_EXPORT int64_t kl_now(void); /* CLOCK_MONOTONIC in ns */

/* An integer as text, somewhere in `out`: snprintf takes ten times as long. */
#define KL_DECIMAL 24
KL_EXPORT const char *kl_decimal(int64_t number, char out[KL_DECIMAL]);

/* A row of the result; NULL: no memory. The key is cut to KL_KEY. */
KL_EXPORT struct kl_row *kl_result_row(struct kl_result *result, const char *key, size_t length,
	int64_t value);

/* False: no memory. */
KL_EXPORT bool kl_result_view(struct kl_result *result, const char *text);

/* Of KL_SQL: the next name of a column, or the next cell; NULL: no value. False: no memory. */
KL_EXPORT bool kl_result_add_cell(struct kl_result *result, const char *text, size_t length);
/* Line -1: the names. NULL: no value. */
KL_EXPORT const char *kl_result_cell(const struct kl_result *result, int64_t line, uint32_t column);

/* Rows of the integers in a text, with commas between: lists are kept so in stores that have none. False: no
 * memory. */
KL_EXPORT bool kl_result_list(struct kl_result *result, const char *text, size_t length);

/* Sets store->why; false. */
KL_EXPORT bool kl_fail(struct kl_store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* This machine lacks what the driver needs; false. */
KL_EXPORT bool kl_lacks(struct kl_store *store, const char *what);
/* Where a node of the user's is, as --connect has it. */
KL_EXPORT const char *kl_address(const struct kl_store *store, uint32_t node);
/* For each node, the first one first, until it is false. */
KL_EXPORT bool kl_each_node(struct kl_store *store, bool (*of)(struct kl_store *store, uint32_t node));
/* What was asked for is refused, before anything was done; false. */
KL_EXPORT bool kl_refuse(struct kl_store *store, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Is a host this machine: a socket's folder, a loopback address, "localhost", or empty? */
KL_EXPORT bool kl_is_local(const char *host);
/* A port of the loopback address that nobody listens on; 0: none. */
KL_EXPORT int kl_free_port(void);
/* Where others reach a node that listens at this port of 127.0.0.1: there, or at a relay. */
KL_EXPORT bool kl_relay_node(struct kl_store *store, uint32_t node, int port, char host[16]);
/* Fills code and message; returns `answer`. */
KL_EXPORT enum kl_answer kl_error(struct kl_result *result, enum kl_answer answer, const char *code,
	const char *message);

/* The private folder, made at the first call; NULL after kl_fail. As root it belongs to `user` (NULL: to
 * root), under whom programs then run. It and all processes that were started in it are gone when the lab
 * ends, however that comes. */
KL_EXPORT const char *kl_home_open(struct kl_store *store, const char *user);
/* The path of a program, also where it is not on the path; false after kl_lacks. `folder`: a pattern of
 * further folders, or NULL. */
KL_EXPORT bool kl_program(struct kl_store *store, const char *name, const char *package, const char *folder,
	char out[512]);
/* waits; true if it exits with 0 */
KL_EXPORT bool kl_home_run(struct kl_store *store, const char *const *argv);
/* A server, which stays: the only one, or a node of a cluster. */
KL_EXPORT bool kl_home_start(struct kl_store *store, uint32_t node, const char *const *argv);
/* Until it is ready; false after kl_fail, if it ends before that, or is not in time: minutes, for a machine
 * that has much else to do. Of a user's own cluster: until a node has what the first one has; then why not is
 * what `ready` has said. */
KL_EXPORT bool kl_home_wait(struct kl_store *store, bool (*ready)(struct kl_store *store, uint32_t node),
	uint32_t node);
/* for each node but the first */
KL_EXPORT bool kl_home_wait_others(struct kl_store *store,
	bool (*ready)(struct kl_store *store, uint32_t node));
/* the server, at once, and waits for all of it */
KL_EXPORT void kl_home_kill(struct kl_store *store);
KL_EXPORT void kl_home_stop(struct kl_store *store);                           /* as is proper, within 10 s */
/* What is left of the disk of a server's data, which is as small as `small_disk` has it, is taken or given
 * back. */
KL_EXPORT bool kl_home_fill(struct kl_store *store, bool full);
/* those of the server, the main one first */
KL_EXPORT size_t kl_home_processes(struct kl_store *store, pid_t *out, size_t most);
/* the end of what they printed */
KL_EXPORT void kl_home_log(struct kl_store *store, char *out, size_t size);

/* The order, oldest first: `mark` wrote a version of `key` (value NULL: deleted it); a transaction took
 * effect at a place, by its id. */
KL_EXPORT bool kl_tell_version(struct kl_sink *sink, const char *key, uint64_t mark, const int64_t *value);
/* the same, by the id of the transaction */
KL_EXPORT bool kl_tell_version_by(struct kl_sink *sink, const char *key, const char *id);
KL_EXPORT bool kl_tell_place(struct kl_sink *sink, const char *id, uint64_t place);
KL_EXPORT bool kl_tell_loader(struct kl_sink *sink, uint64_t mark); /* who wrote the initial rows */

#endif
