/* The replay of transactions over their own writes: what its files share; for frontend/analyze_reads.c,
 * analyze_scans.c and those of growing keys. */
#ifndef KR_FRONTEND_ANALYZE_REPLAY_H
#define KR_FRONTEND_ANALYZE_REPLAY_H

#include "frontend/analyze_work.h"

/* Each transaction is replayed for what contradicts it and for its observations: at once, or, where keys
 * grow, of which the first replay of all tells what the second one needs, twice. */
struct kr_replay {
	const struct kr_work *w;
	const struct kr_writes *writes;
	const struct kr_looks *looks;
	struct kr_growing *growing; /* NULL: no key grows */
	struct kr_observed *out;
	KR_VEC(struct kr_observation) seen;
	/* Per key of the trace. stamp[k] == turn: the transaction has written k, and own[k] last. */
	uint32_t *stamp;
	kr_token *own;
	uint32_t *row_of;           /* the row of the operation at hand, or KR_NONE; NULL without scans */
	/* its place in h->seen, if the operation at hand names its version, or KR_NONE; NULL: no operation
	 * has so far */
	uint32_t *seen_of;
	/* Of the transaction at hand. */
	kr_txn txn;
	uint32_t op;                /* index of the operation at hand */
	uint32_t turn;              /* differs from replay to replay */
	bool loose;                 /* the operation at hand does not read through a cursor */
	bool judges;                /* contradictions are told */
	bool fills;                 /* observations are kept; of keys that grow: this is the second time */
	bool inconsistent, wrote;
};

static inline const struct kr_operation *kr_replay_op(const struct kr_replay *r)
{
	return &r->w->h->ops.at[kr_history_op(r->w->h, r->txn, r->op).i];
}

#define KR_NOBODY ((kr_txn){KR_NONE})

/* An external observation of key or part k at the operation at hand. */
enum kr_status kr_analyze_see(struct kr_replay *r, kr_key k, uint32_t test, bool predicate);
/* What the transaction says cannot be, whatever others did: `kind` if it committed; an unknown one took no
 * effect. `other`: who wrote what it saw, or KR_NOBODY. */
enum kr_status kr_analyze_contradict(struct kr_replay *r, kr_key k, enum kr_anomaly_kind kind, kr_txn other);
/* What the operation saw of a key that does not grow: an observation, or compared with the transaction's own
 * write. */
enum kr_status kr_analyze_look(struct kr_replay *r, kr_key k, uint32_t test, bool predicate);
enum kr_status kr_analyze_range(struct kr_replay *r, const struct kr_operation *op);
enum kr_status kr_analyze_scan(struct kr_replay *r, const struct kr_operation *op); /* update, too */

/* ---- growing keys (analyze_grow.c) ---- */

/* How an operation showed a growing key. */
enum kr_shown {
	KR_SHOWN_READ,      /* value: the result of a read; KR_ABSENT: absent */
	KR_SHOWN_ROW,       /* value: returned by a range or scan, so it was present */
	KR_SHOWN_NO_ROW,    /* a range or scan looked at the key and did not return it: it was absent */
	KR_SHOWN_FOUND,     /* a delete found it */
	KR_SHOWN_NOT_FOUND, /* a delete did not find it; nothing was written */
	/* value: the result of an increment (op->b), with its delta in it; kr_analyze_grow_write follows */
	KR_SHOWN_INC
};

/* An operation showed growing key k; one wrote it (a delete that found it or does not tell, inc, append,
 * add). */
enum kr_status kr_analyze_grow_see(struct kr_replay *r, kr_key k, enum kr_shown shown, kr_value value);
void kr_analyze_grow_write(struct kr_replay *r, kr_key k);
/* Between the replays: what reads of one key by different transactions contradict. */
enum kr_status kr_analyze_grow_check(struct kr_replay *r);

#endif
