/* Findings about mechanisms, as JSON and in words (docs/leopard.md). */
#ifndef KR_REPORT_FINDING_H
#define KR_REPORT_FINDING_H

#include "checkers/leopard.h"
#include "report/report.h"
#include "report/words.h"

struct kr_finding_report { /* all borrowed */
	const char *trace;              /* NULL: findings do not name it */
	const struct kr_history *history;
	const struct kr_profile *profile;
	const struct kr_level *certify; /* or NULL */
	const struct kr_findings *all;
};

/* "garbage"; of a cycle the name of its anomaly. */
void kr_report_finding_class(const struct kr_finding_report *r, const struct kr_finding *f,
	char out[KR_ANOMALY_NAME_SIZE]);

/* JSON; null where it is not known. */
void kr_report_instant(int64_t at, struct kr_str *out);

/* Of its last transaction; 0: none. */
uint32_t kr_report_finding_line(const struct kr_finding_report *r, const struct kr_finding *f);

/* One JSON object, without a newline: `krait verify` reads it. */
void kr_report_finding_json(const struct kr_finding_report *r, const struct kr_finding *f,
	struct kr_str *out);

/* "Let: ... Then: ... However, ...", several lines. */
void kr_report_finding_explain(const struct kr_finding_report *r, const struct kr_finding *f,
	struct kr_str *out);
/* with the caller's cast */
void kr_finding_explain(const struct kr_words *w, const struct kr_finding_report *r,
	const struct kr_finding *f);

/* Whom that text speaks of, in its order, each with an operation of its own that matters (KR_NONE: none but
 * its write of the key). */
struct kr_finding_part { kr_txn txn; uint32_t op; };
KR_VEC_NAMED(kr_finding_parts, struct kr_finding_part);
bool kr_finding_parts(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_mem *mem,
	struct kr_finding_parts *out);

/* Why an edge of a cycle is certain: "T2 read what T1 wrote of x". */
void kr_finding_edge_says(const struct kr_words *w, const struct kr_certain_edge *e);

/* What cannot be, in one sentence without a period; transactions by their ids. */
void kr_finding_says(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_str *out);

/* The result of a check: its line, and one JSON object on one line without a newline. */
void kr_report_mechanisms_line(const struct kr_finding_report *r, const struct kr_mechanisms_verdict *verdict,
	bool colour, struct kr_str *out);
void kr_report_mechanisms_json(const struct kr_finding_report *r, const struct kr_mechanisms_verdict *verdict,
	bool explain, struct kr_str *out);

#endif
