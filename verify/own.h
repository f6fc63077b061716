/* What a transaction shows of keys that it has written itself. Private to verify/. */
#ifndef KR_VERIFY_OWN_H
#define KR_VERIFY_OWN_H

#include "verify/saw.h"
#include "verify/store.h"

struct kr_own_key { /* what the transaction at hand has done with a key */
	kr_key key;
	/* what it left is known: `value`, or of a key that grows what the store has */
	bool known;
	kr_value value;
	KR_VEC(kr_value) elements; /* own ones, of a key that grows, while not known */
};

struct kr_own {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_store store;
	uint32_t *place; /* per key: 1 + where it is among keys; 0: not written */
	KR_VEC(struct kr_own_key) keys;
	/* it met conditions on what a transaction had added to, and did not look at them: they need what was
	 * there before */
	bool vague;
};

/* On failure nothing is left to free. */
enum kr_status kr_own_init(struct kr_own *o, struct kr_ctx *ctx, const struct kr_history *h);
void kr_own_done(struct kr_own *o);

/* Whether each operation of t that shows a key which t had written before shows what t had left there, as far
 * as t knows that. If not, *op and *key tell the first that does not. */
enum kr_status kr_own_agrees(struct kr_own *o, kr_txn t, bool *out, uint32_t *op, kr_key *key,
	struct kr_err *err);

/* The same of one operation and key. *wrote: t had written the key before. */
enum kr_status kr_own_agrees_at(struct kr_own *o, kr_txn t, uint32_t op, kr_key k, bool *wrote, bool *out,
	struct kr_err *err);

#endif
