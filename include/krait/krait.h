/* krait: does a recorded history of transactions satisfy an isolation level, and why (not)?
 *
 *     struct krait_error error = {0}; krait_history *history; krait_verdict *verdict;
 *
 *     if (krait_history_read("trace.jsonl", NULL, NULL, &history, &error) != KRAIT_OK)
 *         return complain(error.file, error.line, error.text);
 *     if (krait_check(history, "ser", NULL, NULL, &verdict, &error) == KRAIT_OK) {
 *         if (krait_verdict_outcome(verdict) == KRAIT_VIOLATED)
 *             puts(krait_verdict_explanation(verdict));
 *         krait_verdict_free(verdict);
 *     } krait_history_free(history);
 *
 * Conventions. Functions that can fail return a status, KRAIT_OK (0) on success, and take the caller's error
 * record last (NULL allowed), which they clear first: after a call it tells of that call alone, whatever it
 * held before. Outputs are written only on success. What a function gives out through a pointer to a pointer
 * is the caller's, to be freed with the matching _free, which accepts NULL. Texts that a function returns
 * belong to the object they were asked of and live as long as it does; they are UTF-8 and terminated. The
 * library has no global state and never prints: different histories may be used by different threads at once,
 * one history by one thread at a time. Verdicts are independent of each other and of their history. Plug-ins
 * and cancel tokens may be shared by all threads. */
#ifndef KRAIT_KRAIT_H
#define KRAIT_KRAIT_H

#include "krait/build.h"
#include "krait/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library, "MAJOR.MINOR.PATCH". */
KRAIT_EXPORT const char *krait_version(void);

enum krait_status {
	KRAIT_OK = 0,
	KRAIT_NO_MEMORY,   /* the memory limit, the allocator or the machine said no */
	KRAIT_TIME_LIMIT,  /* the time limit has passed */
	/* malformed trace, unreadable file, unknown level or order: the error says which */
	KRAIT_BAD,
	KRAIT_UNSUPPORTED, /* a valid trace with an operation that this version cannot decide */
	KRAIT_INTERNAL,    /* a bug in krait; no verdict is given */
	KRAIT_CANCELED     /* the cancel token was set */
};

/* What went wrong, and where. Filled by the function that fails, zeroed by one that does not; nothing in it
 * is to be freed. */
struct krait_error {
	enum krait_status status;
	unsigned line;   /* of `file`, from 1; 0: not known */
	unsigned column; /* from 1; 0: not known */
	char file[256];  /* as it was named; empty: none */
	char text[512];  /* one line: what was found and what was expected */
};

/* ---- options ---- */

/* A token that stops calls that were given it: they return KRAIT_CANCELED, or give the outcome
 * KRAIT_UNDECIDED, soon (well below a second) after it was set. Must outlive these calls. */
typedef struct krait_cancel krait_cancel;
KRAIT_EXPORT enum krait_status krait_cancel_new(krait_cancel **out); /* KRAIT_NO_MEMORY */
KRAIT_EXPORT void krait_cancel_set(krait_cancel *cancel);   /* by any thread; also in a signal handler */
KRAIT_EXPORT void krait_cancel_clear(krait_cancel *cancel); /* to use it again */
KRAIT_EXPORT void krait_cancel_free(krait_cancel *cancel);

/* Gives a block of new_size bytes, aligned for any type, that begins with what the old one held (NULL, 0:
 * there is none), or NULL, which leaves the old one as it was. new_size 0: frees the old one. Called by the
 * thread that called krait. */
typedef void *krait_allocate_fn(void *data, void *block, size_t old_size, size_t new_size);

/* One line about what was done, without a newline: what was read, each pass, the verdict. The text lives
 * until the function returns, which must not call krait. */
typedef void krait_log_fn(void *data, const char *text);

/* How far long work is: `done` of `total` (0: not known) steps of `phase`; a few times a second. */
typedef void krait_progress_fn(void *data, const char *phase, uint64_t done, uint64_t total);

typedef struct krait_plugins krait_plugins;

/* Zeroed fields, or a NULL pointer to the whole, mean none. A history keeps the memory limit, the allocator
 * and the plug-ins that it was made with, for all its checks and verdicts; the other fields hold for one
 * call. */
struct krait_options {
	double seconds;               /* limit of wall-clock time */
	/* limit of memory that krait itself allocates for the history and its checks, solvers' memory
	 * apart */
	size_t mebibytes;
	const krait_cancel *cancel;
	krait_allocate_fn *allocate;  /* for krait's own memory; libraries (Z3, Jansson, zlib) use malloc */
	void *allocate_data;
	krait_log_fn *log;
	void *log_data;
	krait_progress_fn *progress;
	void *progress_data;
	const krait_plugins *plugins; /* must outlive the history */
};

/* ---- plug-ins ---- */

/* an empty set. KRAIT_NO_MEMORY */
KRAIT_EXPORT enum krait_status krait_plugins_new(krait_plugins **out, struct krait_error *error);
/* Loads a shared object, or all *.so of a folder (docs/writing-a-checker.md). Not while others use the set.
 * KRAIT_BAD: refused; the error says why, and nothing of it is kept. */
KRAIT_EXPORT enum krait_status krait_plugins_load(krait_plugins *plugins, const char *path,
	struct krait_error *error);
KRAIT_EXPORT void krait_plugins_free(krait_plugins *plugins);

/* The i-th level that can be checked, krait's own and those of plug-ins (NULL: none): its id; NULL past the
 * end. */
KRAIT_EXPORT const char *krait_level(const krait_plugins *plugins, size_t i);

/* ---- histories ---- */

/* What clients of the database did and saw. */
typedef struct krait_history krait_history;

/* Reads the trace at `path`: a file (compressed with gzip or not), a folder for formats that are folders, or
 * "-" for standard input. `format` is a name from `krait formats`; NULL: told from the content. Fails with
 * KRAIT_BAD, KRAIT_UNSUPPORTED, KRAIT_NO_MEMORY, KRAIT_TIME_LIMIT, KRAIT_CANCELED. */
KRAIT_EXPORT enum krait_status krait_history_read(const char *path, const char *format,
	const struct krait_options *options, krait_history **out, struct krait_error *error);

/* The same of `length` bytes in memory (borrowed during the call; plain or gzip), of a format that is a file.
 * `name` stands for them in reports and errors. */
KRAIT_EXPORT enum krait_status krait_history_read_memory(const char *name, const void *bytes, size_t length,
	const char *format, const struct krait_options *options, krait_history **out,
	struct krait_error *error);

/* Builds one in memory (build.h). `name` stands for it in reports and errors. Fails with KRAIT_NO_MEMORY. */
KRAIT_EXPORT enum krait_status krait_builder_new(const char *name, const struct krait_options *options,
	krait_builder **out, struct krait_error *error);
/* Makes the history of what was built, or tells the first failure; frees the builder in either case. The
 * limit of time of the options began with krait_builder_new. */
KRAIT_EXPORT enum krait_status krait_builder_finish(krait_builder *builder, krait_history **out,
	struct krait_error *error);
KRAIT_EXPORT void krait_builder_free(krait_builder *builder); /* instead of finishing */

KRAIT_EXPORT void krait_history_free(krait_history *history);

/* how many, whatever became of them */
KRAIT_EXPORT uint32_t krait_history_transactions(const krait_history *history);
/* of all transactions together, without those that failed or were undone */
KRAIT_EXPORT uint32_t krait_history_operations(const krait_history *history);

/* The id of transaction t (from 0, in the order of the trace): copies it to `out`, cut to `size` bytes with
 * the terminator, and returns its length uncut; 0: there is no such transaction. */
KRAIT_EXPORT size_t krait_history_id(const krait_history *history, uint32_t t, char *out, size_t size);
/* Where it stands in the trace: its line (0: not known). */
KRAIT_EXPORT unsigned krait_history_line(const krait_history *history, uint32_t t);

/* ---- reading a history ---- */

/* Everything that it holds, in the structs of build.h that build one: a history that is built of what these
 * functions give is the same. Values are borrowed from the history; arrays (and `universe`) are valid until
 * the next call of a function of this part on the same history. KRAIT_BAD: a number is past the end.
 * KRAIT_NO_MEMORY. All numbers count from 0. */

/* name of the format that it was read in; "native" if it was built */
KRAIT_EXPORT const char *krait_history_format(const krait_history *history);

/* The header. `universe` gives every key of the trace, in the order in which their numbers count
 * (krait_history_key), those that operations name included. */
KRAIT_EXPORT enum krait_status krait_history_header(krait_history *history, struct krait_header *out,
	struct krait_error *error);

struct krait_key {
	struct krait_value name;    /* string or number */
	/* before every transaction, where the header says KRAIT_INITIAL_GIVEN; absent: nothing */
	struct krait_value initial;
	enum krait_key_kind kind;   /* how the trace uses it */
	bool declared;              /* the trace says its kind apart from the operations (krait_build_kind) */
};
KRAIT_EXPORT uint32_t krait_history_keys(const krait_history *history); /* how many */
KRAIT_EXPORT enum krait_status krait_history_key(const krait_history *history, uint32_t key,
	struct krait_key *out, struct krait_error *error);

/* Transaction t, in the order of the trace; its id is always there ("#N" if the trace gives none).
 * `operations` (NULL: not wanted): how many it lists, those that failed or were undone, and rollbacks to
 * savepoints (KRAIT_UNDO), included. */
KRAIT_EXPORT enum krait_status krait_history_transaction(const krait_history *history, uint32_t t,
	struct krait_transaction *out, uint32_t *operations, struct krait_error *error);

/* The i-th operation that transaction t lists. */
KRAIT_EXPORT enum krait_status krait_history_operation(krait_history *history, uint32_t t, uint32_t i,
	struct krait_operation *out, struct krait_error *error);

struct krait_version_order {
	struct krait_value key;
	const struct krait_value *writers; /* ids of transactions, oldest version first */
	size_t count;
};
/* how many lists the trace gives */
KRAIT_EXPORT uint32_t krait_history_version_orders(const krait_history *history);
KRAIT_EXPORT enum krait_status krait_history_version_order(krait_history *history, uint32_t i,
	struct krait_version_order *out, struct krait_error *error);

/* ---- checking ---- */

enum krait_outcome {
	KRAIT_SATISFIED,
	KRAIT_VIOLATED,
	KRAIT_UNDECIDED /* within the limits, or the solver gave up: krait_verdict_reason */
};

/* What was found of one history and one level. */
typedef struct krait_verdict krait_verdict;

/* Decides whether the history satisfies `level`: an id or alias from `krait levels`, such as "ser" or
 * "strict-serializable". `order` is "none", "session" or "realtime"; NULL: the one that the level's name asks
 * for. The proof has been checked by code apart from the search before a verdict is given. Limits that are
 * hit, and the cancel token, are no failure but the outcome KRAIT_UNDECIDED. Fails with KRAIT_BAD (unknown
 * level or order), KRAIT_NO_MEMORY (not even the verdict itself could be allocated) and KRAIT_INTERNAL. */
KRAIT_EXPORT enum krait_status krait_check(krait_history *history, const char *level, const char *order,
	const struct krait_options *options, krait_verdict **out, struct krait_error *error);
KRAIT_EXPORT void krait_verdict_free(krait_verdict *verdict);

KRAIT_EXPORT enum krait_outcome krait_verdict_outcome(const krait_verdict *verdict);
/* its id, whatever name was asked for */
KRAIT_EXPORT const char *krait_verdict_level(const krait_verdict *verdict);
/* "none", "session" or "realtime" */
KRAIT_EXPORT const char *krait_verdict_order(const krait_verdict *verdict);
/* "G-single", "aborted read", ...; NULL unless violated */
KRAIT_EXPORT const char *krait_verdict_anomaly(const krait_verdict *verdict);
/* why it is undecided; NULL unless it is */
KRAIT_EXPORT const char *krait_verdict_reason(const krait_verdict *verdict);
/* the proof in words, several lines: `krait check --explain` */
KRAIT_EXPORT const char *krait_verdict_explanation(const krait_verdict *verdict);
/* one JSON object, no newline: `krait check --json` */
KRAIT_EXPORT const char *krait_verdict_json(const krait_verdict *verdict);
/* the proof for `krait verify`, with its newline; NULL if undecided */
KRAIT_EXPORT const char *krait_verdict_witness(const krait_verdict *verdict);
KRAIT_EXPORT double krait_verdict_seconds(const krait_verdict *verdict);          /* spent in krait_check */

/* ---- walking the proof (docs/witness.md says what it proves) ---- */

enum krait_proof_kind {
	KRAIT_PROOF_NONE,      /* undecided */
	KRAIT_PROOF_ORDER,     /* satisfied: a serial order, each transaction once */
	KRAIT_PROOF_SNAPSHOTS, /* satisfied: starts and commits, each transaction twice */
	KRAIT_PROOF_WORLD,     /* satisfied: an order of commits */
	KRAIT_PROOF_OPERATION, /* violated: one operation that no world explains */
	KRAIT_PROOF_CYCLES     /* violated: cycles that no world avoids; the last one closes the argument */
};

KRAIT_EXPORT enum krait_proof_kind krait_verdict_proof(const krait_verdict *verdict);

#define KRAIT_NONE UINT32_MAX

/* ORDER, SNAPSHOTS, WORLD: the number of entries, and the transaction of the i-th; KRAIT_NONE past the
 * end. */
KRAIT_EXPORT uint32_t krait_verdict_order_length(const krait_verdict *verdict);
KRAIT_EXPORT uint32_t krait_verdict_order_at(const krait_verdict *verdict, uint32_t i);

/* OPERATION: which one. False: it is another proof. */
struct krait_place { uint32_t transaction, operation; }; /* both from 0 */
KRAIT_EXPORT bool krait_verdict_operation(const krait_verdict *verdict, struct krait_place *out);

/* CYCLES: how many; how many edges the c-th has (0 past the end); the i-th edge of the c-th. Edge i ends
 * where edge i + 1 begins, cyclically. */
KRAIT_EXPORT uint32_t krait_verdict_cycles(const krait_verdict *verdict);
KRAIT_EXPORT uint32_t krait_verdict_edges(const krait_verdict *verdict, uint32_t c);

struct krait_dependency {
	const char *kind;   /* "wr", "ww", "rw", "so" or "rt" */
	uint32_t from, to;  /* transactions */
	const char *key;    /* wr, ww, rw; as JSON; else NULL. Lives as long as the verdict */
	uint32_t operation; /* the read: of `to` (wr) or `from` (rw), from 0; else KRAIT_NONE */
	/* rw: the transaction whose version was read; KRAIT_NONE: the initial version, or another kind of
	 * edge */
	uint32_t source;
	bool predicate;     /* wr, rw: seen by a scan that did not return the key */
};
/* false: there is none */
KRAIT_EXPORT bool krait_verdict_edge(const krait_verdict *verdict, uint32_t c, uint32_t i,
	struct krait_dependency *out);

#ifdef __cplusplus
}
#endif

#endif
