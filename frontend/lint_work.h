/* Between the parts of lint. */
#ifndef KR_FRONTEND_LINT_WORK_H
#define KR_FRONTEND_LINT_WORK_H

#include "frontend/lint.h"

/* A value that a key was given, or an element that was put into it; or one that a read showed and nobody
 * wrote. */
struct kr_lint_entry {
	kr_key key;
	kr_value value;          /* KR_NONE: an element */
	struct kr_piece element;
	kr_txn first, last;      /* writers, in file order; KR_NONE: none */
	uint32_t first_op;
	uint32_t writers;        /* different transactions */
	uint8_t statuses;        /* of the writers: bit n for enum kr_txn_status n */
	bool initial;            /* the key starts with it */
	bool told;               /* there is a finding that nobody wrote it */
};

struct kr_lint_key {
	/* first read; first read of a second type; last transaction that `value` is of. KR_NONE: none */
	kr_txn read, mixed, last;
	uint32_t read_op, mixed_op;
	kr_value value;             /* what `last` read last, or KR_NONE */
	kr_value assumed;           /* where initial values are untold: the one that it must be, or KR_NONE */
	uint32_t types;
	bool written;
};

/* That an aborted or unknown transaction's write was read. */
struct kr_lint_told {
	kr_txn reader;  /* the first; KR_NONE: nobody */
	uint32_t entry; /* what it read */
};

struct kr_lint_work {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_lint *out;
	uint32_t most;
	struct kr_table table;
	KR_VEC(struct kr_lint_entry) entries;
	struct kr_lint_key *keys; /* by kr_key */
	struct kr_lint_told *told; /* by kr_txn */
	kr_txn early;              /* reader of the last early read that was found */
	struct kr_str text;        /* scratch */
};

/* A finding about a transaction, the rest empty. */
struct kr_lint_finding kr_lint_at(kr_txn t, uint32_t op);
enum kr_status kr_lint_put(struct kr_lint_work *w, enum kr_lint_kind kind, struct kr_lint_finding finding);

/* The entry of a value (element.text NULL) or an element; made when it is new, so that pointers to others
 * end. NULL: no memory. */
struct kr_lint_entry *kr_lint_entry(struct kr_lint_work *w, kr_key key, kr_value value,
	struct kr_piece element);

/* The value as the index knows it: a list or set that is empty is absent. */
kr_value kr_lint_value(const struct kr_history *h, kr_key key, kr_value value);

enum kr_status kr_lint_writes(struct kr_lint_work *w); /* fills the index; duplicate values */
enum kr_status kr_lint_reads(struct kr_lint_work *w);  /* all that reads show; after the writes */
enum kr_status kr_lint_times(struct kr_lint_work *w);  /* times, sessions, ids */

#endif
