/* What will surprise in a trace: things that are allowed, but mostly come from how the trace was taken. They
 * are no errors and decide no level. */
#ifndef KR_FRONTEND_LINT_H
#define KR_FRONTEND_LINT_H

#include "frontend/json.h"

/* In the order of reports. Where a finding lies: `txn` and, where there is one, `op`, its index in the
 * transaction. */
enum kr_lint_kind {
	/* key, value: `op` writes what `other` wrote before it in the file, or (other KR_NONE) what the key
	 * starts with */
	KR_LINT_DUPLICATE_VALUE,
	/* key, value: first read of a value that nobody wrote and that is not the initial one */
	KR_LINT_VALUE_UNWRITTEN,
	KR_LINT_KEY_UNWRITTEN,     /* key: first read of a key that nobody writes */
	/* key, types: first read of another type than before; types of all reads of the key */
	KR_LINT_MIXED_TYPES,
	/* txn is aborted; key, value: it wrote them, nobody else may have, and `other` read them */
	KR_LINT_ABORTED_READ,
	KR_LINT_UNKNOWN_READ,      /* txn is unknown; the rest likewise */
	KR_LINT_TIMED_OUT,         /* txn is aborted, and the trace says that it was for a timeout */
	/* txn is aborted and lasted `time`, longer than every committed one; `other`, the slowest of those,
	 * lasted `other_time` */
	KR_LINT_SLOW_ABORT,
	/* key, value: `op` read what `other` alone wrote, but txn ended at `time` and `other` began later
	 * than the clock skew explains, at `other_time` */
	KR_LINT_EARLY_READ,
	KR_LINT_SAME_VALUE,        /* key, value: `op` writes what the transaction read last of the key */
	/* txn begins at `time`, before `other` of its session returned at `other_time` */
	KR_LINT_SESSION_OVERLAP,
	/* txn begins at `time`, but `other`, earlier in its session, began later, at `other_time` */
	KR_LINT_SESSION_BACKWARDS,
	/* `op` was invoked at `time`, before an operation in front of it was, at `other_time` */
	KR_LINT_OP_BACKWARDS,
	/* `op` lies in part outside its transaction: `time` of the operation, `other_time` of the
	 * transaction */
	KR_LINT_OP_OUTSIDE,
	KR_LINT_NO_BEGIN,          /* txn has no begin though others have */
	KR_LINT_NO_END,            /* txn, not an unknown one, has no end though others have */
	/* one for the trace: `count` transactions, txn the first, are named by their place */
	KR_LINT_DEFAULT_ID,
	KR_LINT_KINDS
};

struct kr_lint_finding {
	kr_txn txn;
	uint32_t op;              /* KR_NONE: the whole transaction */
	kr_key key;               /* KR_NONE: none */
	kr_value value;           /* KR_NONE: none, or `element` */
	struct kr_piece element;  /* JSON text of an element of a list or set; text NULL: none */
	kr_txn other;             /* KR_NONE: none */
	int64_t time, other_time; /* in the trace's unit */
	uint32_t count;
	uint32_t types;           /* bit n: enum kr_value_type n; false counts as true */
};

/* Borrows the history's texts: valid while it is. */
struct kr_lint {
	struct kr_mem *mem;
	struct kr_arena texts;
	/* in file order, but for keys: in the order in which the trace names them */
	KR_VEC_NAMED(kr_lint_findings, struct kr_lint_finding) found[KR_LINT_KINDS];
	uint64_t counts[KR_LINT_KINDS]; /* all of a kind, kept or not */
};

/* Keeps the first `most` findings of each kind. The caller frees *out with kr_lint_done. On failure (KR_NOMEM
 * or a limit) there is nothing to free. */
enum kr_status kr_lint(struct kr_ctx *ctx, const struct kr_history *h, uint32_t most, struct kr_lint *out);
void kr_lint_done(struct kr_lint *lint);

const char *kr_lint_name(enum kr_lint_kind kind); /* "duplicate-value" */

#endif
