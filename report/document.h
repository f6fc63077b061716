/* Verdicts as one document for CI systems: JUnit's XML (as Jenkins and GitLab read it) or SARIF 2.1.0
 * (OASIS). Each is a table of functions that append to `out` what is to be written now, in this order: begin;
 * for each trace its verdicts and what failed instead of one, then trace_done; end. */
#ifndef KR_REPORT_DOCUMENT_H
#define KR_REPORT_DOCUMENT_H

#include "checkers/lattice.h"
#include "report/report.h"

struct kr_document {
	/* for later: JUnit's cases of the trace, whose numbers stand before them; SARIF's failures, which
	 * stand after all results */
	struct kr_str kept;
	uint32_t cases, failures, errors; /* of the trace (JUnit); results and errors so far (SARIF) */
	double seconds;          /* of the trace */
};

struct kr_document_format {
	const char *name;
	void (*begin)(const struct kr_question *asked, uint32_t n, struct kr_str *out);
	void (*verdict)(struct kr_document *doc, const struct kr_report *r, struct kr_str *out);
	/* `error` in place of a verdict; of the whole trace when `level` is NULL. */
	void (*failed)(struct kr_document *doc, const char *trace, const struct kr_level *level,
		enum kr_order order, const char *error);
	void (*trace_done)(struct kr_document *doc, const char *trace, const struct kr_notes *notes,
		struct kr_str *out);
	void (*end)(struct kr_document *doc, struct kr_str *out);
};

extern const struct kr_document_format kr_document_junit, kr_document_sarif;

void kr_document_init(struct kr_document *doc, struct kr_mem *mem);
void kr_document_done(struct kr_document *doc);

#endif
