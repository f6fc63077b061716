/* `krait lint`: findings as text and JSON. As in report/report.h, a failed allocation shows in
 * out->failed. */
#ifndef KR_REPORT_LINT_H
#define KR_REPORT_LINT_H

#include "base/str.h"
#include "frontend/lint.h"

/* A line for each finding kept, "FILE:LINE: KIND: MESSAGE", and one for those of a kind that were not;
 * nothing without findings. `trace`: as the user named it. */
void kr_report_lint(const char *trace, const struct kr_history *h, const struct kr_lint *lint,
	struct kr_str *out);
/* an object a line */
void kr_report_lint_json(const char *trace, const struct kr_history *h, const struct kr_lint *lint,
	struct kr_str *out);

#endif
