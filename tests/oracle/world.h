/* The worlds of docs/levels.md, one after another: which unknown transactions took effect, what untold initial values were, the order of each key's versions, the source of each
 * external observation. Without a non-cyclic anomaly: an observation that nothing fits, or one of own writes that is not so, leaves no world. */
#ifndef TESTS_ORACLE_WORLD_H
#define TESTS_ORACLE_WORLD_H

#include "values.h"

enum { INITIAL = ORACLE_TXNS, MOST_OBSERVATIONS = 200 };

struct observation {
	uint32_t txn, key, op; /* op: index in the transaction */
	uint32_t from;         /* the first operation that agrees with it: op, but where less was told before */
	bool predicate, loose; /* loose: not through a cursor */
	bool over_own;         /* the first that the transaction is shown over its own additions */
};

typedef struct {
	uint32_t to[ORACLE_TXNS];
} graph; /* sets */

struct world {
	const struct kr_history *h;
	const struct values *values;
	enum kr_order order;
	uint64_t work;
	uint32_t prune;                /* set of KR_BIT(KR_WW), KR_WR, KR_RW: worlds with cycles of these and the order alone are left out */
	bool (*leaf)(struct world *w); /* true: no further worlds */
	void *data;

	uint32_t n;
	bool in[ORACLE_TXNS]; /* T */
	struct starts starts[ORACLE_KEYS];
	struct held start[ORACLE_KEYS];
	bool wrote[ORACLE_KEYS][ORACLE_TXNS];
	struct held value[ORACLE_KEYS][ORACLE_TXNS]; /* of versions, once the key's order is settled */
	uint32_t place[ORACLE_KEYS][ORACLE_TXNS];    /* in the key's version order; KR_NONE: no version */
	struct observation seen[MOST_OBSERVATIONS];  /* by key */
	uint32_t source[MOST_OBSERVATIONS];          /* a transaction, or INITIAL */
	uint32_t nseen, seen_first[ORACLE_KEYS + 1];
};

/* Whether `leaf` stopped at a world; w->work == 0: the search was cut off. *answer: other than satisfied when h is nothing for it. */
bool worlds(struct world *w, enum oracle_answer *answer);

bool world_cyclic(const graph *g, uint32_t n);
graph world_closure(const graph *g, uint32_t n);
void world_order(const struct world *w, enum kr_order order, graph *g); /* adds so and rt edges */

/* Whether an observation could have this value of a version for its source: the candidate set S. */
bool world_fits(const struct world *w, const struct observation *o, const struct held *version);

#endif
