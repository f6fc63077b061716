/* krait: does a recorded history of transactions satisfy an isolation level, and why (not)?
 *
 *     struct krait_error error = {0};
 *     krait_history *history;
 *     krait_verdict *verdict;
 *
 *     if (krait_history_read("trace.jsonl", NULL, NULL, &history, &error) != KRAIT_OK)
 *         return complain(error.file, error.line, error.text);
 *     if (krait_check(history, "ser", NULL, NULL, &verdict, &error) == KRAIT_OK) {
 *         if (krait_verdict_outcome(verdict) == KRAIT_VIOLATED)
 *             puts(krait_verdict_explanation(verdict));
 *         krait_verdict_free(verdict);
 *     }
 *     krait_history_free(history);
 *
 * Conventions. Functions that can fail return a status, KRAIT_OK (0) on success, and take the caller's error record last (NULL allowed). Outputs are written
 * only on success. What a function gives out through a pointer to a pointer is the caller's, to be freed with the matching _free, which accepts NULL. Texts that
 * a function returns belong to the object they were asked of and live as long as it does; they are UTF-8 and terminated. The library has no global state and
 * never prints: different histories may be used by different threads at once, one history by one thread at a time. Verdicts are independent of each other. */
#ifndef KRAIT_KRAIT_H
#define KRAIT_KRAIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define KRAIT_API __attribute__((visibility("default")))
#else
#define KRAIT_API
#endif

/* Version of the library, "MAJOR.MINOR.PATCH". */
KRAIT_API const char *krait_version(void);

enum krait_status {
	KRAIT_OK = 0,
	KRAIT_NO_MEMORY,   /* the memory limit, or the machine, said no */
	KRAIT_TIME_LIMIT,  /* the time limit has passed */
	KRAIT_BAD,         /* malformed trace, unreadable file, unknown level or order: the error says which */
	KRAIT_UNSUPPORTED, /* a valid trace with an operation that this version cannot decide */
	KRAIT_INTERNAL     /* a bug in krait; no verdict is given */
};

/* What went wrong, and where. Filled by the function that fails; nothing in it is to be freed. */
struct krait_error {
	enum krait_status status;
	unsigned line;   /* of `file`, from 1; 0: not known */
	unsigned column; /* from 1; 0: not known */
	char file[256];  /* as it was named; empty: none */
	char text[512];  /* one line: what was found and what was expected */
};

/* Limits of one call. Zeroed fields, or a NULL pointer to the whole, mean no limit. */
struct krait_limits {
	double seconds;   /* of wall-clock time */
	size_t mebibytes; /* of memory that krait itself allocates; of a history, for all its calls together */
};

/* ---- histories ---- */

/* A trace that was read: what clients of the database did and saw. */
typedef struct krait_history krait_history;

/* Reads the trace at `path`: a file (compressed with gzip or not), a folder for formats that are folders, or "-" for standard input. `format` is a name from
 * `krait formats`; NULL: told from the content. Limits hold for the reading; the one of memory stays with the history.
 * Fails with KRAIT_BAD, KRAIT_UNSUPPORTED, KRAIT_NO_MEMORY, KRAIT_TIME_LIMIT. */
KRAIT_API enum krait_status krait_history_read(const char *path, const char *format, const struct krait_limits *limits, krait_history **out,
	struct krait_error *error);
KRAIT_API void krait_history_free(krait_history *history);

KRAIT_API uint32_t krait_history_transactions(const krait_history *history); /* how many, whatever became of them */
KRAIT_API uint32_t krait_history_operations(const krait_history *history);   /* of all transactions together */

/* ---- checking ---- */

enum krait_outcome {
	KRAIT_SATISFIED,
	KRAIT_VIOLATED,
	KRAIT_UNDECIDED /* within the limits, or the solver gave up: krait_verdict_reason */
};

/* What was found of one history and one level. */
typedef struct krait_verdict krait_verdict;

/* Decides whether the history satisfies `level`: an id or alias from `krait levels`, such as "ser" or "strict-serializable". `order` is "none", "session" or
 * "realtime"; NULL: the one that the level's name asks for. The proof has been checked by code apart from the search before a verdict is given.
 * `limits->seconds` is for this call; `limits->mebibytes` is not used here (the history has its own). Limits that are hit are no failure but the outcome
 * KRAIT_UNDECIDED. Fails with KRAIT_BAD (unknown level or order), KRAIT_NO_MEMORY (not even the verdict itself could be allocated) and KRAIT_INTERNAL. The verdict
 * must be freed before its history. */
KRAIT_API enum krait_status krait_check(krait_history *history, const char *level, const char *order, const struct krait_limits *limits, krait_verdict **out,
	struct krait_error *error);
KRAIT_API void krait_verdict_free(krait_verdict *verdict);

KRAIT_API enum krait_outcome krait_verdict_outcome(const krait_verdict *verdict);
KRAIT_API const char *krait_verdict_level(const krait_verdict *verdict);       /* its id, whatever name was asked for */
KRAIT_API const char *krait_verdict_order(const krait_verdict *verdict);       /* "none", "session" or "realtime" */
KRAIT_API const char *krait_verdict_anomaly(const krait_verdict *verdict);     /* "G-single", "aborted read", ...; NULL unless violated */
KRAIT_API const char *krait_verdict_reason(const krait_verdict *verdict);      /* why it is undecided; NULL unless it is */
KRAIT_API const char *krait_verdict_explanation(const krait_verdict *verdict); /* the proof in words, several lines: `krait check --explain` */
KRAIT_API const char *krait_verdict_json(const krait_verdict *verdict);        /* one JSON object, no newline: `krait check --json` */
KRAIT_API const char *krait_verdict_witness(const krait_verdict *verdict);     /* the proof for `krait verify`, with its newline; NULL if undecided */
KRAIT_API double krait_verdict_seconds(const krait_verdict *verdict);          /* spent in krait_check */

#ifdef __cplusplus
}
#endif

#endif
