/* Tiny random histories over two keys, x and y, and what the definitions of docs/asg.md say of them: for tests of the semantic analysis. Shares nothing with it but the
 * history that small_build makes. Operations are those on single keys, ranges, scans, updates and, where y is a counter, increments whose result is told. */
#ifndef KR_TESTS_UNIT_SMALL_HISTORY_H
#define KR_TESTS_UNIT_SMALL_HISTORY_H

#include "base/rng.h"
#include "frontend/history.h"

#define SMALL_TXNS 5
#define SMALL_OPS 4
#define SMALL_KEYS 2

/* Values by code: 0 is absent, 1 to 3 are themselves. */
enum small_value { SMALL_MOST = 3, SMALL_FRESH, /* one that nobody mentions */ SMALL_ZERO, SMALL_MINUS, SMALL_MINUS_2, /* -1, -2 */ SMALL_CODES };

enum small_kind { R, R_ANY, W, D, D_FOUND, D_NOT, I_DONE, I_NOT, CAS_DONE, CAS_NOT, INC, RANGE, SCAN, UPDATE, SMALL_KINDS };
enum small_where { ALL_ROWS, PREFIX_X, GE_2, NE_1, SMALL_WHERES };

struct small_op {
	enum small_kind kind;
	int key, a, b;            /* INC: a is the delta, b the code of the result */
	enum small_where where;   /* SCAN, UPDATE */
	int row[SMALL_KEYS];      /* RANGE, SCAN, UPDATE: a value, or -1: not returned */
	int low, high;            /* RANGE: keys low to high - 1 */
	int limit;                /* RANGE: -1: none */
	bool reverse;
};
struct small_txn {
	char status;              /* c, a, u */
	int nops;
	struct small_op ops[SMALL_OPS];
};
struct small_history {
	char initial;             /* '-': absent, '=': as `start` says, '?': untold */
	bool counter;             /* y is one */
	int start[SMALL_KEYS], ntxns;
	struct small_txn txns[SMALL_TXNS];
};

/* ---- the definitions ---- */

bool small_sees(const struct small_op *op, int key);
bool small_is_predicate(const struct small_op *op, int key);      /* it sees that the key is not returned */
bool small_fits(const struct small_history *h, const struct small_op *op, int key, int value); /* what it saw of the key can be this value */
bool small_is_mismatch(const struct small_op *op, int key);       /* it returned the key though no state of the database can make it */
bool small_is_any(const struct small_op *op);                     /* it saw anything but one value */
bool small_writes(const struct small_op *op, int key);
int small_written(const struct small_op *op, int key);
int small_last_written(const struct small_txn *t, int key, int end); /* before operation `end`; -1: nothing */

/* It tells something of the key: there is a version, by whoever was not aborted, that it rules out, or it is no predicate observation. */
bool small_tells(const struct small_history *h, const struct small_op *op, int key);

/* The sources that operation i of t may have for the key in the world: bit 0 the initial version, bit u + 1 transaction u's. */
unsigned small_sources(const struct small_history *h, unsigned present, const int *init, int t, int i, int key);

/* Every observation of a present transaction has a source, or agrees with its own write. */
bool small_is_world(const struct small_history *h, unsigned present, const int *init);

/* ---- making them ---- */

void small_make(struct kr_rng *rng, struct small_history *out);
void small_build(const struct small_history *from, struct kr_history *h); /* h is initialised; fails the test on errors */
void small_show(const struct small_history *h, const char *problem);      /* fails the test */

#endif
