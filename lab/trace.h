/* The files of a recording: the trace, appended to as it happens, and beside it the folder TRACE.live with
 * the slots, which is gone when the trace is complete. */
#ifndef KR_LAB_TRACE_H
#define KR_LAB_TRACE_H

#include "lab/order.h"
#include "lab/run.h"

/* Makes them. KR_EXIT_SATISFIED, or another status after a message. */
int kr_run_files_make(struct kr_run *run, struct kr_mem *mem);
/* Takes them away again: nothing was recorded. */
void kr_run_files_drop(struct kr_run *run);
/* All clients are done: order and events come in. False after a message. */
bool kr_run_files_finish(struct kr_run *run, struct kr_order_told *told);
/* In every case, at the end: what of them is open in this process is closed. */
void kr_run_files_done(struct kr_run *run);

struct kr_recovered {
	uint64_t buffered, in_flight, torn;
	bool synced; /* what stood at the last sync */
};
/* Of a recording that was killed: the file PATH becomes whole, the slots go. `intact`: they are so, though
 * the machine has been started anew. KR_EXIT_SATISFIED, or another status after a message. */
int kr_trace_recover(const char *path, bool intact, struct kr_recovered *out);

/* What of a recording stands at some moment (prefix.h), as a trace of its own. */
bool kr_run_prefix(struct kr_run *run, const char *path, uint64_t *lines);

#endif
