/* Operations of transactions whose lines may stand anywhere in a file: gathered, then put behind each other.
 * Inside of the readers of foreign formats. */
#ifndef KR_FRONTEND_GATHER_H
#define KR_FRONTEND_GATHER_H

#include "frontend/foreign.h"

struct kr_gather_op {
	uint32_t txn;
	enum kr_op_kind kind; /* a read with its result, a write or an append */
	kr_key key;
	kr_value a;
};
struct kr_gather_txn {
	int64_t id;
	kr_session session;
	uint32_t line, count, first;
	bool aborted; /* has no id: one of its own for each operation */
};

struct kr_gather {
	struct kr_history *h;
	KR_VEC(struct kr_gather_op) ops;
	KR_VEC(struct kr_gather_txn) txns; /* by first mention */
	struct kr_table table;             /* of txns, by id */
	int64_t session_name;              /* of the last operation */
	kr_session session;                /* KR_NONE: none yet */
	uint32_t txn;                      /* of the last operation */
};

void kr_gather_init(struct kr_gather *g, struct kr_history *h);
void kr_gather_done(struct kr_gather *g);

/* The transaction with that id, or (`aborted`) a new one without; made, at `line`, if it is new. *out: index
 * into txns. KR_NOMEM. */
enum kr_status kr_gather_txn(struct kr_gather *g, int64_t session, int64_t id, bool aborted, uint32_t line,
	uint32_t *out);

/* An operation of that transaction, behind those that it has. KR_NOMEM, also where key or value is
 * KR_NONE. */
enum kr_status kr_gather_op(struct kr_gather *g, uint32_t txn, enum kr_op_kind kind, kr_key key, kr_value a);

/* Adds all transactions to the history, in the order of first mention. */
enum kr_status kr_gather_finish(struct kr_gather *g, struct kr_ctx *ctx, struct kr_err *err);

#endif
