/* A window of a stream as a history of its own, for the batch: transactions that are held whole, and of those
 * before them the versions that can still be seen. Values are those of the stream; keys are only those that
 * the window speaks of. */
#ifndef KR_MECHANISMS_WINDOW_H
#define KR_MECHANISMS_WINDOW_H

#include "mechanisms/held.h"
#include "mechanisms/relic.h"

KR_VEC_NAMED(kr_helds, struct kr_held *);

struct kr_base {                 /* of a key of the stream */
	struct kr_relics relics; /* what is left of transactions that are forgotten: their versions of it */
	uint32_t at;             /* its number in the window, if that names it there */
	uint8_t kind;            /* enum kr_key_kind, as far as was seen */
	bool gone, gone_present; /* a version of it is forgotten; one that was not absent */
	bool vain_present;       /* a write that came to nothing is, whose value was not absent */
};
KR_VEC_NAMED(kr_bases, struct kr_base);

struct kr_window { /* zero but for mem is none */
	struct kr_mem *mem;
	struct kr_history h;             /* values, sessions and header are borrowed */
	struct kr_helds txns;            /* by kr_txn of the window */
	KR_VEC(kr_key) keys;             /* by kr_key of the window: that of the stream */
	struct kr_lefts lefts;           /* what is left of carried transactions, one after the other */
	struct kr_lefts sorted;          /* and, while they are sorted, they anew */
	KR_VEC(uint32_t) order;          /* and their order */
	KR_VEC(struct kr_held) carriers; /* they: for the round */
	KR_VEC(uint8_t) txn_marks, op_marks;
	KR_VEC(struct kr_carried_txn) carried;
	KR_VEC(struct kr_span) locks;
	struct kr_marks marks;
};

/* `held`: in the order of their ends. Marks of settled transactions are as they are now. Keys are in the
 * order of their names if somebody asks (`sorted`), or reads ranges; else in that in which the transactions
 * name them. */
enum kr_status kr_window_build(struct kr_window *w, struct kr_stream *stream, const struct kr_helds *held,
	struct kr_bases *bases, bool sorted);
void kr_window_done(struct kr_window *w);
void kr_window_clear(struct kr_window *w); /* for another round: keeps its memory */

#endif
