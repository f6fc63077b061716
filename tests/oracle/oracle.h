/* Two brute-force deciders of serializability, each straight from its definition, that share nothing but the history with the product and with each other.
 *
 * Replay: some choice of the unknown transactions and of the untold initial values, and some serial order that respects the order asked for and the given version orders,
 * makes every operation see what it saw, when the operations are run one after the other on a map.
 * Graph: some world (docs/levels.md: presences, sources, version orders) has no non-cyclic anomaly, and no cycle of wr, ww, rw and the order asked for.
 * Exponential: for a handful of transactions. They know every operation of the trace format, but not the attribute "versions". */
#ifndef TESTS_ORACLE_ORACLE_H
#define TESTS_ORACLE_ORACLE_H

#include "base/terms.h"
#include "frontend/history.h"

enum { ORACLE_TXNS = 24, ORACLE_KEYS = 16, ORACLE_OPS = 200 };

enum oracle_answer {
	ORACLE_SATISFIED,
	ORACLE_VIOLATED,
	ORACLE_TOO_LARGE,        /* more transactions, keys or operations than above, or values, or more work than `work` steps */
	ORACLE_UNKNOWN_OPERATION /* an operation names versions */
};

enum oracle_answer oracle_replay(const struct kr_history *h, enum kr_order order, uint64_t work);
enum oracle_answer oracle_graph(const struct kr_history *h, enum kr_order order, uint64_t work);

/* Snapshot isolation by what databases do: every interleaving of starts (which take a snapshot, later than the commits of those that the order puts before) and commits of five
 * transactions or fewer, where the first committer of a key wins. */
enum oracle_answer oracle_si(const struct kr_history *h, enum kr_order order, uint64_t work);

/* Whether `serial` (any list of transactions) is a serial order as replay looks for: all committed, perhaps unknown, no aborted ones, each once, and so on. */
bool oracle_replays(const struct kr_history *h, enum kr_order order, const kr_txn *serial, uint32_t n);

#endif
