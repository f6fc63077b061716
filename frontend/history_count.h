/* A history whose values are counted, so that a stream can forget them: only its table of values, and what
 * names them. For streams only. */
#ifndef KR_FRONTEND_HISTORY_COUNT_H
#define KR_FRONTEND_HISTORY_COUNT_H

#include "frontend/history.h"

/* From now on, of a history just initialised, values are counted. KR_NOMEM. */
enum kr_status kr_history_count(struct kr_history *h);
void kr_history_count_done(struct kr_history *h); /* part of kr_history_done */

/* Nothing where values are not counted. A value may be kept up to 2^31 - 1 times at once. */
void kr_history_keep(struct kr_history *h, kr_value value);
void kr_history_release(struct kr_history *h, kr_value value);

/* Forgets what nobody keeps; ids of other values stay. */
void kr_history_forget(struct kr_history *h);

/* For interning: makes room for one more value and puts a spare id into *id, if there is one; its text. */
bool kr_history_count_new(struct kr_history *h, kr_value *id);
/* terminated; NULL: no memory */
const char *kr_history_count_text(struct kr_history *h, const char *text, size_t length);
void kr_history_count_forget_text(struct kr_history *h, const struct kr_value_entry *entry);
uint64_t kr_history_value_hash(const struct kr_value_entry *entry);

#endif
