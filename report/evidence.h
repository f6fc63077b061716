/* What shows that an operation has no explanation (evidence.c). Private to report/. */
#ifndef KR_REPORT_EVIDENCE_H
#define KR_REPORT_EVIDENCE_H

#include "frontend/json.h"
#include "verify/verify.h"

enum kr_evidence_kind {
	KR_NO_EVIDENCE,
	KR_WRITTEN_IN_VAIN, /* `txn` wrote it with `op` and took no effect */
	KR_CHANGED_IN_VAIN, /* the same of transactions such as `txn`, which changed the key with `op` */
	KR_OVERWRITTEN,     /* `txn` wrote it with `op` and then something else */
	KR_WRITTEN_LATER,   /* the reader did, with `op` */
	KR_CHANGED_BEFORE,  /* the reader had, with `op` */
	KR_NOBODY_ADDED,    /* `element` */
	KR_ADDED_IN_VAIN,   /* `element`, by `txn` with `op`, without effect */
	KR_ADDED_LATER,     /* `element`, by the reader with `op` */
	KR_ADDED_ONCE,      /* `element`, by `txn` with `op`, but it is there more often */
	KR_ADDED_MORE,      /* `txn` with `op`, and then `other`, which is not there */
	KR_ADDED_IN_ORDER,  /* `txn` with `op`, and then `other`, which stands before it */
	KR_ADDED_APART,     /* `txn` with `op`, and then `other`, with `element` between them */
	/* `txn` with `op`; from element `place` on where they are lists, which is `element` here and
	 * `there` */
	KR_READ_OTHERWISE,
	KR_BEYOND_LIMIT,    /* of a range */
	KR_OUTSIDE,
	KR_OUT_OF_ORDER,
	KR_EMPTY_ROW,       /* what is not there, shown by a range */
	KR_UNMET,           /* the conditions of a scan */
	/* `txn`'s (KR_NONE: the initial one), which the operation names as the one it saw, does not give
	 * this */
	KR_NAMED_VERSION,
	KR_EVIDENCE_KINDS
};

struct kr_evidence {
	enum kr_evidence_kind kind;
	kr_txn txn, adder;       /* adder, adding: of `element`, KR_NONE: not looked for */
	kr_op op, other, adding;
	struct kr_piece element, there; /* length 0: none */
	uint32_t place;
};

/* Of a certificate of one operation. */
void kr_find_evidence(const struct kr_history *h, const struct kr_certificate *cert, struct kr_evidence *out);

/* Does the operation show the element in k? */
bool kr_shows_element(const struct kr_history *h, kr_op op, kr_key k, kr_value element);

/* Does it show an element that k had at first? */
bool kr_shows_initial(const struct kr_history *h, kr_op op, kr_key k);

/* A committed read of the list k that shows what b left behind what a left; else one that shows what a left
 * and not what b did. */
bool kr_find_order_shown(const struct kr_history *h, kr_key k, kr_txn a, kr_txn b, kr_txn *reader,
	kr_op *read);

#endif
