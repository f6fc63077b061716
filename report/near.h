/* Near twins of what nobody wrote. Private to report/. */
#ifndef KR_REPORT_NEAR_H
#define KR_REPORT_NEAR_H

#include "frontend/json.h"
#include "report/words.h"

/* Adds "; T1 wrote 1.0, a real number" where something else was written that looks like the value that nobody
 * wrote to k, or (`element`) added to it; nothing if there is no such. */
void kr_say_near(const struct kr_words *w, kr_key k, const struct kr_operand *value, bool element);

#endif
