/* The page of `krait check --profile --html` and `krait watch --html`: in the frame of report.h, for each
 * trace what it is held to, its findings, and how it came out. */
#ifndef KR_REPORT_PAGE_FINDINGS_H
#define KR_REPORT_PAGE_FINDINGS_H

#include "report/finding.h"
#include "verify/grounds.h"

#define KR_PAGE_FINDINGS_MOST 100u /* of one class, in full; the rest is counted */

enum { KR_PAGE_CLASSES = 64 }; /* of one mechanism; what goes beyond is counted with the last */

struct kr_page_tally { /* of each mechanism its classes, in the order in which they were found */
	struct { const char *name; uint32_t found; } at[KR_MECH_KINDS][KR_PAGE_CLASSES];
};

void kr_report_page_findings_begin(const char *trace, const struct kr_profile *profile,
	const struct kr_level *certify, const struct kr_history *h, struct kr_str *out);

/* Counts them all, and adds those that are shown in full. KR_NOMEM, or a limit of ctx. */
enum kr_status kr_report_page_findings(struct kr_ctx *ctx, const struct kr_finding_report *r,
	const struct kr_marks *marks, struct kr_page_tally *tally, struct kr_str *out);

/* `looked`: what there was to look at, in words. */
void kr_report_page_findings_end(const struct kr_page_tally *tally, const char *looked, struct kr_str *out);

/* One finding, of those that `basis` was made of (page_finding.c). */
enum kr_status kr_report_page_finding(const struct kr_finding_report *r, const struct kr_finding *f,
	struct kr_basis *basis, struct kr_str *out);

#endif
