/* Tiny random histories, in a form that is easy to shrink, and the history that the product sees. */
#ifndef TESTS_ORACLE_TINY_H
#define TESTS_ORACLE_TINY_H

#include "base/rng.h"
#include "frontend/history.h"

enum { TINY_TXNS = 6, TINY_OPS = 5, TINY_KEYS = 3, TINY_ORDERS = 2, TINY_CONDS = 2, TINY_UNTOLD = -1000, TINY_NULL = -999, TINY_TWICE = 1 << 14 };

/* Values are small integers. Registers: 0 is absent. Counters and marks: TINY_NULL is absent. Lists: the decimal digits are the elements, 0 is empty. Sets: the bits are the elements; with TINY_TWICE a
 * read shows the first of them twice. */
struct tiny_cond {
	bool field;
	enum kr_cond_test test;
	int a, b;
};

struct tiny_op {
	enum kr_op_kind kind;
	int key;
	int a, b; /* as in struct kr_operation; a = TINY_UNTOLD: a read without a result, a delete that does not say whether it found something; b: an inc's result or TINY_UNTOLD */
	bool done;  /* delete (found), insert, cas; a read of an empty list or set: shown as null */
	bool loose; /* not through a cursor */
	/* range, scan, update (a: the value set) */
	int low, high, limit; /* keys, or -1 */
	bool reverse;
	int prefix, nconds; /* prefix: a key, or -1 */
	struct tiny_cond conds[TINY_CONDS];
	bool has[TINY_KEYS]; /* rows */
	int row[TINY_KEYS];
};

struct tiny_txn {
	enum kr_txn_status status;
	int session;    /* -1: none */
	int begin, end; /* -1: not told; the invocation of begin and the return of end, with which the other times of the two coincide */
	int nops;
	struct tiny_op ops[TINY_OPS];
};

struct tiny_order {
	int key, n, writers[TINY_TXNS];
}; /* a version order: places in txns */

struct tiny {
	enum kr_initial initial;
	int first[TINY_KEYS]; /* initial values, when given */
	enum kr_key_kind kinds[TINY_KEYS];
	bool declared[TINY_KEYS]; /* the trace tells the kind apart from the operations */
	bool objects; /* registers hold objects with the value in a field */
	int skew;
	int ntxns, norders;
	struct tiny_txn txns[TINY_TXNS];
	struct tiny_order orders[TINY_ORDERS];
};

/* What kinds of operations a random history may have. */
enum tiny_mix {
	TINY_READ_WRITE,
	TINY_DELETES,
	TINY_CONDITIONAL,
	TINY_COUNTERS,
	TINY_LISTS,
	TINY_LISTS_WITH_DELETES,
	TINY_SETS,
	TINY_MARKS,
	TINY_GROWING,
	TINY_RANGES,
	TINY_SCANS,
	TINY_UPDATES,
	TINY_ALL,
	TINY_MIXES
};

const char *tiny_mix_name(enum tiny_mix mix);

/* A random history: a serial execution whose record is then disturbed, so that about half satisfy serializability. */
void tiny_random(struct tiny *out, struct kr_rng *rng, enum tiny_mix mix);

/* One whose transactions mostly saw old states: levels tell these apart. */
void tiny_random_weak(struct tiny *out, struct kr_rng *rng, enum tiny_mix mix);

/* KR_BAD: no valid trace (the sessions' times or the version orders contradict each other). */
enum kr_status tiny_history(const struct tiny *tiny, struct kr_ctx *ctx, struct kr_history *h);

/* Drops transactions, operations, orders and details for as long as `fails` (non-NULL) stays, for a minute at most. Returns the last answer of `fails`. */
const char *tiny_shrink(struct tiny *tiny, const char *(*fails)(const struct tiny *tiny, void *data), void *data);

#endif
