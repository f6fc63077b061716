/* A serial order, rerun: every operation of its transactions against the state that those before it left. */
#ifndef KR_CHECKERS_RERUN_H
#define KR_CHECKERS_RERUN_H

#include "frontend/history.h"

/* texts for people */
struct kr_difference { kr_txn txn; uint32_t op; kr_key key; char expected[96], seen[96]; };

enum kr_rerun_kind {
	KR_RERUN_SAME,    /* all operations show what is there */
	KR_RERUN_DIFFERS, /* `difference` is the first one */
	KR_RERUN_UNTOLD   /* that cannot be told, for `reason` */
};

struct kr_rerun_end { enum kr_rerun_kind kind; struct kr_difference difference; char reason[160]; };

/* Reads, ranges and scans are compared; what conditional operations, increments and updates do is worked out
 * on the state and compared with what they say they did. Linear in operations and rows, but a range or scan
 * looks at all keys, and a read of a set is quadratic in its elements. */
enum kr_status kr_rerun(struct kr_ctx *ctx, const struct kr_history *h, const kr_txn *order, uint32_t n,
	struct kr_rerun_end *out);

#endif
