/* Version orders that the trace gives, as questions about pairs. Private to verify/. */
#ifndef KR_VERIFY_GIVEN_H
#define KR_VERIFY_GIVEN_H

#include "verify/shown.h"

struct kr_given_place { uint32_t key, txn, list, at; }; /* where a list names a transaction */

struct kr_given {
	struct kr_mem *mem;
	const struct kr_history *h;
	struct kr_given_place *places; /* by key, transaction, list */
	uint32_t count, room;
	struct kr_shown_pairs shown;   /* lists of two, behind those that the trace gives */
	/* per list: in the search going on, its end that is known to come later */
	uint32_t *reached;
	KR_VEC(uint32_t) todo, touched;
};

/* Takes over `shown`, on failure, too: what lists show besides; empty where they do not count. */
enum kr_status kr_given_init(struct kr_given *g, struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_shown_pairs shown);
void kr_given_done(struct kr_given *g);

/* Whether a's version of k comes before b's, by one list or by several that meet. Constant time but for
 * searches, and the length of k's lists where several have to be followed. */
enum kr_status kr_given_precedes(struct kr_given *g, kr_key k, kr_txn a, kr_txn b, bool *out);

/* A number of (k, t), which a list must name: below g->count. */
uint32_t kr_given_number(const struct kr_given *g, kr_key k, kr_txn t);

#endif
