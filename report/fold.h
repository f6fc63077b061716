/* Text for a screen. Private to report/. */
#ifndef KR_REPORT_FOLD_H
#define KR_REPORT_FOLD_H

#include "base/str.h"

#define KR_FOLD_COLUMNS 100

/* Appends the text, its long lines folded. */
void kr_fold(const struct kr_str *text, struct kr_str *out);

#endif
