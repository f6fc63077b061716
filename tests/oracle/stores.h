/* Histories that are valid by construction: what clients see of a simulated store that keeps one level. They use every operation of the trace format.
 *
 * The store runs transactions one after the other. Their order is the order in which versions are installed. What a store's level leaves free is which of the earlier transactions
 * each sees: a set that is drawn at random among those that the level's definition by visibility allows (Biswas and Enea, OOPSLA 2019; Cerone and Gotsman, J. ACM 2018). Of a key it
 * sees the last version that a transaction of this set installed. */
#ifndef TESTS_ORACLE_STORES_H
#define TESTS_ORACLE_STORES_H

#include "base/rng.h"
#include "base/str.h"

enum store {
	STORE_SER,
	STORE_SI,  /* a prefix; the first committer of a key wins */
	STORE_PSI, /* a causally closed set; the first committer of a key wins */
	STORE_PC,  /* a prefix */
	STORE_CC,  /* a causally closed set */
	STORE_RA,  /* any set */
	STORE_RC,  /* each operation sees more than the one before it */
	STORES
};

enum store_initial { STORE_ABSENT, STORE_GIVEN, STORE_UNKNOWN };

const char *store_name(enum store store);

/* Levels that the store keeps with the order `session`, or with a weaker one; ends with NULL. */
const char *const *store_keeps(enum store store);

/* Writes a native trace of `ntxns` transactions. */
void store_trace(enum store store, enum store_initial initial, uint32_t ntxns, struct kr_rng *rng, struct kr_str *out);

#endif
