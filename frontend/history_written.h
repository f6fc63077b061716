/* What untold initial values may be (frontend/history_written.c). */
#ifndef KR_FRONTEND_HISTORY_WRITTEN_H
#define KR_FRONTEND_HISTORY_WRITTEN_H

#include "frontend/json.h"

/* Whether an untold initial value of the key may be this one, as far as what is written to the key tells: if initial values are unwritten ones, not a value that some transaction, whatever became
 * of it, writes to the key, and no list or set with an element that some transaction adds. After kr_history_finish. */
bool kr_history_may_start(const struct kr_history *h, kr_key key, kr_value value);
bool kr_history_may_start_with(const struct kr_history *h, kr_key key, struct kr_piece element); /* hold that element */

#endif
