/* What the search for transactions that cannot have taken effect has found so far. Private to
 * verify/possible*.c. */
#ifndef KR_VERIFY_POSSIBLE_H
#define KR_VERIFY_POSSIBLE_H

#include "verify/facts.h"

/* An observation and what explains it for now: the version of a transaction that may turn out impossible. */
struct kr_possible_watch {
	struct kr_facts_iter rest; /* explanations not yet tried */
	uint32_t next;             /* of the same transaction, or of the same key's initial version */
};

/* it shows something that only the transaction at hand can have left */
struct kr_reliance { kr_txn reader; uint32_t next; };

struct kr_possible {
	struct kr_arena arena;
	struct kr_facts *f;
	struct kr_ctx *ctx;
	KR_VEC(kr_txn) queue;                 /* taken away; what relies on them is not yet looked at */
	KR_VEC(kr_key) told;                  /* something new is known of their initial values */
	KR_VEC(struct kr_possible_watch) watches;
	uint32_t *watch_of;                   /* per transaction: its watches, KR_NONE: none */
	/* per key of untold initial value: those that nothing but that explains */
	uint32_t *initial_of;
	KR_VEC(struct kr_reliance) reliances;
	uint32_t *reliance_of;                /* per transaction */
	KR_VEC(struct kr_fact_sight) needs;   /* what unknown transactions need untold initial values to be */
	struct kr_table need_table;
	uint32_t *mark, marks;                /* per transaction: of the list at hand */
};

static inline bool kr_possible_is_unknown(const struct kr_possible *p, kr_txn t)
{
	return p->f->h->txns.at[t.i].status == KR_UNKNOWN;
}

enum kr_status kr_possible_take_away(struct kr_possible *p, kr_txn t);

/* Makes the observation one that is watched, if its explanations may go. */
enum kr_status kr_possible_watch(struct kr_possible *p, const struct kr_sight *s);

/* possible_grow.c: the observations of lists and sets by unknown transactions, beside those of the keys as a
 * whole. */
enum kr_status kr_possible_grow(struct kr_possible *p);

#endif
