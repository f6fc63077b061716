/* Findings in words. Private to report/finding*.c. */
#ifndef KR_REPORT_FINDING_WORDS_H
#define KR_REPORT_FINDING_WORDS_H

#include "report/finding.h"
#include "report/words.h"

/* What cannot be, in one sentence without a period. `cast`: NULL: transactions by their ids. */
void kr_finding_why(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_cast *cast, struct kr_str *out);

#endif
