/* What was executed, and its pairs (docs/schedules.md). A schedule says what is sent; a database answers when
 * it likes, lets statements wait, and shows old versions. So operations are known by versions and by
 * intervals: two writes, or a write and a read, of an object are in the order of the versions that they made
 * or saw, and a pair is said to have met its first transaction open only where the intervals leave no doubt
 * of that. */
#ifndef KR_COO_EXECUTED_H
#define KR_COO_EXECUTED_H

#include "coo/pops.h"

/* An operation on one object. */
struct kr_coo_access {
	uint8_t txn;
	char object;
	bool writes;
	/* the version, 0 the initial one, then in the order in which they were written; of a read that may
	 * have seen one of several the first and the last of these */
	uint32_t least, most;
	int64_t from, to; /* when it took effect: between these */
	uint32_t at;      /* place of its operation, for kr_pop */
};

enum kr_coo_how { KR_COO_OPEN, KR_COO_COMMITTED, KR_COO_ABORTED };

/* How a transaction ended, and when: between these. */
struct kr_coo_fate {
	enum kr_coo_how how;
	int64_t from, to;
};

/* All pairs, in the order of when they were complete. `buffered`: writes take effect at commit, and only
 * then; `from` and `to` are the commit's. KR_NOMEM; the caller owns *out in every case. */
enum kr_status kr_coo_executed(struct kr_mem *mem, const struct kr_coo_access *accesses, uint32_t n,
	const struct kr_coo_fate fates[KR_COO_TXNS + 1], bool buffered, struct kr_pops *out);

/* The first cycle to close, and a name for it: if it has none, the first one that does. */
enum kr_status kr_coo_executed_classify(struct kr_mem *mem, const struct kr_pops *pops,
	struct kr_coo_anomaly *out, bool *found);

#endif
