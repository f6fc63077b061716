/* What is written to keys, by transactions whatever became of them; and what untold initial values may be
 * (frontend/history_written.c). */
#ifndef KR_FRONTEND_HISTORY_WRITTEN_H
#define KR_FRONTEND_HISTORY_WRITTEN_H

#include "frontend/json.h"

/* Whether an untold initial value of the key may be this one, as far as what is written to the key tells: if
 * initial values are unwritten ones, not a value that some transaction, whatever became of it, writes to the
 * key, and no list or set with an element that some transaction adds. After kr_history_finish. */
bool kr_history_may_start(const struct kr_history *h, kr_key key, kr_value value);
enum kr_status kr_history_index_written(struct kr_history *h, struct kr_ctx *ctx); /* part of that */
/* hold that element */
bool kr_history_may_start_with(const struct kr_history *h, kr_key key, struct kr_piece element);

/* An index of what was written to registers and added to lists and sets. */
struct kr_written;
enum kr_status kr_written_new(struct kr_mem *mem, struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_written **out);
void kr_written_free(struct kr_written *w); /* safe on NULL */
bool kr_written_value(const struct kr_written *w, kr_key key, kr_value value);
bool kr_written_element(const struct kr_written *w, kr_key key, struct kr_piece element);

#endif
