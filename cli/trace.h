/* Reading a trace for a command: limits, options and progress. */
#ifndef KR_CLI_TRACE_H
#define KR_CLI_TRACE_H

#include "checkers/check.h"
#include "cli/command.h"
#include "frontend/analyze.h"
#include "frontend/format.h"
#include "mechanisms/profile.h"
#include "report/notes.h"

/* Options that commands which read traces share, for their tables. */
#define KR_OPTION_FORMAT \
	{ \
		"format", 'f', "FORMAT", KR_WORDS_FORMAT, \
			"input format; default: told from content, then name" \
	}
#define KR_OPTION_INITIAL \
	{ \
		"initial", 0, "unknown|unwritten|FILE", KR_WORDS_FILE, \
			"initial values, where the format cannot tell: a JSON object by key" \
	}
#define KR_OPTION_LENIENT {"lenient", 0, NULL, KR_WORDS_ANY, "leave bad transactions out, and count them"}
#define KR_OPTION_TIMEOUT {"timeout", 0, "SECONDS", KR_WORDS_ANY, "limit of time for each trace"}
#define KR_OPTION_MEMORY {"memory", 0, "MIB", KR_WORDS_ANY, "limit of memory for each trace"}
#define KR_OPTION_JOBS {"jobs", 'j', "N", KR_WORDS_ANY, "without effect: one thread does all"}
#define KR_OPTION_REQUIRE \
	{ \
		"require-committed", 0, "N", KR_WORDS_ANY, \
			"with fewer committed transactions nothing passes for satisfied" \
	}
#define KR_OPTION_QUIET {"quiet", 'q', NULL, KR_WORDS_ANY, "no progress, colour or notes"}

struct kr_trace_options {
	const struct kr_modules *modules;
	struct kr_read_options read;
	double seconds;      /* 0: no limit */
	uint64_t mebibytes;  /* 0: no limit */
	uint64_t committed;  /* with fewer committed transactions nothing is satisfied */
	size_t resident;     /* what the process had before any work */
	bool quiet;          /* no progress */
	bool decides;        /* the command gives verdicts */
	bool tells;          /* the command's result tells what there is to note */
	bool held;           /* to a profile, and none of its levels decided */
	const struct kr_profile *profile; /* NULL: that of the trace */
	bool log;            /* what modules say goes to standard error */
};

/* From the options above; false after a message. */
bool kr_trace_options(const struct kr_args *args, struct kr_trace_options *out);

/* A line on the terminal for work of more than a second. */
struct kr_progress {
	const char *trace;
	int64_t start;
	bool shown;
	const char *phase;          /* that runs now, NULL: none so far */
	int64_t phase_start;        /* when it was first told of */
	uint64_t phase_done, done;  /* then and now, in its own steps (bytes, transactions, ...) */
	const struct kr_ctx_part *part; /* that runs now, or NULL */
};

/* What is shown: "TRACE: level 3 of 16: PHASE 40%, 1.2M/s, 3 s left, 2 s". The rate is that since the phase
 * was first told of; without a total there is neither a percentage nor a time left. `now`: kr_now_ns. */
#define KR_PROGRESS_TEXT 160
void kr_progress_text(struct kr_progress *p, const char *phase, uint64_t done, uint64_t total, int64_t now,
	char out[KR_PROGRESS_TEXT]);

struct kr_trace {
	const char *path;
	struct kr_ctx ctx;         /* fresh for each trace */
	struct kr_history history;
	struct kr_analysis analysis;
	bool has_history, has_analysis;
	int64_t start;             /* kr_now_ns */
	struct kr_notes notes;     /* of what was read */
	double read_seconds, analyze_seconds;
	struct kr_progress progress;
};

/* Initialises *t, reads the trace, and tells what there is to note of it on standard error. In every case the
 * caller frees *t with kr_trace_done, and must not move it in between. */
enum kr_status kr_trace_read(struct kr_trace *t, const char *path, const struct kr_trace_options *options,
	struct kr_err *err);
enum kr_status kr_trace_analyze(struct kr_trace *t, struct kr_err *err);
void kr_trace_done(struct kr_trace *t);

/* Verdicts "satisfied" become undecided where fewer transactions than asked for committed. */
void kr_trace_require(const struct kr_trace *t, const struct kr_trace_options *options,
	struct kr_decision *decisions, uint32_t n);

/* Says on standard error why the trace could not be read, or what was to be done with it; the status to exit
 * with: KR_EXIT_FAILED, or at a limit KR_EXIT_UNDECIDED. */
int kr_trace_fail(struct kr_trace *t, enum kr_status status, struct kr_err *err);
/* The same for what is no whole trace. */
int kr_fail_on(struct kr_ctx *ctx, const char *path, enum kr_status status, struct kr_err *err);

/* Reads every operand and prints what `make` tells of it, until nothing can be printed any more; `tells`: of
 * what there is to note, too. The status that wins, or KR_EXIT_USAGE after a message where options are
 * wrong. */
typedef enum kr_status kr_trace_maker(struct kr_trace *t, const struct kr_args *args, struct kr_str *out,
	struct kr_err *err);
int kr_print_traces(const struct kr_args *args, bool tells, kr_trace_maker *make);

/* Takes the progress line off the terminal, before anything else is written. */
void kr_trace_clear(struct kr_trace *t);

/* Peak memory of the process so far, in MiB, rounded up. */
uint64_t kr_peak_mib(void);

#endif
