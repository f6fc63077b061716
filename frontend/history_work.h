/* Between the files of the history's builder, frontend/history*.c. */
#ifndef KR_FRONTEND_HISTORY_WORK_H
#define KR_FRONTEND_HISTORY_WORK_H

#include "frontend/history.h"

/* Keys of which no operation tells what they are, and of which arrays were seen, are lists
 * (history_add.c). */
void kr_history_find_lists(struct kr_history *h);

/* history_written.c; nothing where initial values are not unwritten ones. */
enum kr_status kr_history_index_written(struct kr_history *h, struct kr_ctx *ctx);

#endif
