/* Reports: a verdict and its certificate as text, JSON and pictures. The only code that formats results; it
 * prints nothing itself.
 *
 * Every function here appends to `out` and takes its memory from out->mem; a failed allocation shows in
 * out->failed, which the caller checks once. */
#ifndef KR_REPORT_REPORT_H
#define KR_REPORT_REPORT_H

#include "base/str.h"
#include "checkers/standing.h"
#include "report/notes.h"

/* What a report speaks of; all borrowed. */
struct kr_report {
	const char *trace;                  /* as the user named it */
	const struct kr_level *level;
	enum kr_order order;
	const struct kr_checker *checker;
	const struct kr_history *history;   /* NULL: a limit was hit while it was read */
	const struct kr_analysis *analysis; /* NULL: a limit was hit before or in the analysis */
	const struct kr_verdict *verdict;   /* NULL: undecided, for `reason` */
	const char *reason;                 /* why there is no verdict */
	const struct kr_notes *notes;       /* NULL: none */
	const struct kr_modules *modules;   /* of plug-ins; NULL: none */
	struct kr_standing standing;        /* of the trace, for explanations, where that is known */
	double read_seconds;                /* reading the trace, once for all levels */
	double seconds;                     /* wall clock: reading, analysis and this level */
	uint64_t peak_mib;                  /* peak memory of the process so far, rounded up */
};

enum kr_outcome kr_report_outcome(const struct kr_report *r);

/* Why it is undecided; NULL when it is not. */
const char *kr_report_reason(const struct kr_report *r);

const char *kr_report_verdict(enum kr_outcome outcome); /* "satisfied", "violated", "unknown" */

/* Of a violation, whether it is one only because of an order that the trace gives (check.h): "under the given
 * order", "perhaps under the given order only", or NULL. */
const char *kr_report_given(const struct kr_report *r);

/* Name of the anomaly of a violated verdict (docs/levels.md), with its suffix: "G-single-session". */
#define KR_ANOMALY_NAME_SIZE 48
void kr_report_anomaly(const struct kr_history *h, const struct kr_certificate *cert,
	char out[KR_ANOMALY_NAME_SIZE]);

/* The anomaly in one plain sentence, without a period; transactions by their ids. */
void kr_report_sentence(const struct kr_report *r, struct kr_str *out);

/* "TRACE<TAB>LEVEL<TAB>VERDICT[<TAB>ANOMALY[<TAB>under the given order]]" and a newline; with `colour` the
 * verdict between terminal escapes. */
void kr_report_line(const struct kr_report *r, bool colour, struct kr_str *out);

/* How such a line begins: the trace, what it was held to, and the outcome. */
void kr_report_line_head(const char *trace, const char *question, enum kr_outcome outcome, bool colour,
	struct kr_str *out);

/* One JSON object on one line (docs/cli.md), without a newline; with the fields "explanation" and "stats" if
 * asked for. */
struct kr_json_extras { bool explanation, stats; };
void kr_report_json(const struct kr_report *r, struct kr_json_extras extras, struct kr_str *out);

/* Where a trace stands in the lattice (`krait classify`); all borrowed. */
struct kr_classes {
	const char *trace;
	const struct kr_history *history;
	const struct kr_decision *decisions;
	uint32_t n;
	const struct kr_modules *modules;
	const struct kr_notes *notes;
};
/* what stands behind the trace's name: the border */
void kr_report_classes(const struct kr_classes *c, struct kr_str *out);
/* one decided question, in one line */
void kr_report_class(const struct kr_history *h, const struct kr_decision *d, struct kr_str *out);
/* one object on one line, without a newline */
void kr_report_classes_json(const struct kr_classes *c, struct kr_str *out);

/* The lattice of all levels, as a graph in the DOT language and as a page in Markdown (docs/lattice.md). */
void kr_report_lattice_dot(const struct kr_modules *more, struct kr_str *out);
void kr_report_lattice_page(const struct kr_modules *more, struct kr_str *out);

/* The verdict in words (docs/cli.md), several lines; with r->standing at the end, if that is known. */
void kr_report_explain(const struct kr_report *r, struct kr_str *out);
/* The levels that a trace breaks and keeps, a line for each order. */
void kr_report_standing(const struct kr_modules *more, const struct kr_standing *s, struct kr_str *out);

/* One graph in the DOT language; nothing when the verdict is not a violation. */
void kr_report_dot(const struct kr_report *r, struct kr_str *out);

/* The page of `krait check --html`, in parts: the beginning, for each trace its data and then its verdicts,
 * the end. A trace without a history (a limit was hit while it was read) has data, too; one that could not be
 * used has its error instead. */
void kr_report_page_begin(const struct kr_modules *more, struct kr_str *out);
void kr_report_page_trace(const char *trace, const struct kr_history *h, struct kr_str *out);
void kr_report_page_verdict(const struct kr_modules *more, const struct kr_report *r, struct kr_str *out);
void kr_report_page_failed(const char *trace, const char *error, struct kr_str *out);
void kr_report_page_end(struct kr_str *out);

/* The page of `krait-lab provoke --html`, in parts; a cell is JSON, which is emptied and freed. */
void kr_report_provoked_begin(struct kr_str *out);
void kr_report_provoked_cell(struct kr_str *json, struct kr_str *out);
void kr_report_provoked_end(struct kr_str *out);

/* The table of `krait check --stats`: sizes, what each pass did, times, memory. */
void kr_report_run_stats(const struct kr_report *r, struct kr_str *out);
void kr_report_run_stats_json(const struct kr_report *r, struct kr_str *out); /* one JSON object */

/* `krait stats`: what a history holds. Needs a set over its writes: KR_NOMEM when `ctx` has no memory for it,
 * or a limit. */
struct kr_trace_stats {
	uint32_t txns, committed, aborted, unknown, sessions, keys, files, skipped;
	uint64_t failed, undone; /* operations that do not count; of both: failed */
	uint64_t ops, by_kind[KR_OP_KINDS], reads_unknown; /* reads whose result the trace does not tell */
	uint32_t ops_most;          /* operations of the longest transaction */
	kr_txn longest;             /* that transaction, KR_NONE: no transactions */
	/* writes of a value; those whose (key, value) was written before in the file */
	uint64_t writes, duplicate_writes;
	uint32_t duplicate_pairs;   /* (key, value) pairs written more than once */
	bool timed;                 /* every transaction has begin and end */
};
enum kr_status kr_report_trace_stats(struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_trace_stats *out);
void kr_report_print_stats(const char *trace, const struct kr_history *h, const struct kr_trace_stats *stats,
	struct kr_str *out);
/* one line, no newline */
void kr_report_json_stats(const char *trace, const struct kr_history *h, const struct kr_trace_stats *stats,
	struct kr_str *out);

#endif
