/* What is left of a transaction that is held no longer: versions that can still be seen, each in one block of
 * as few bytes as will do, in the list of its key. A key that nobody touches is in no other memory of the
 * engine. */
#ifndef KR_MECHANISMS_RELIC_H
#define KR_MECHANISMS_RELIC_H

#include "frontend/stream.h"
#include "verify/finding.h"

enum kr_left_time {
	KR_LEFT_END,   /* of the transaction: sent */
	KR_LEFT_ENDED, /* and answered */
	KR_LEFT_SENT,
	KR_LEFT_ANSWERED, /* from its first write of the key to its last; KR_TIME_OPEN */
	KR_LEFT_LOCK,
	KR_LEFT_LOCKED, /* where the lock was taken */
	KR_LEFT_COMMIT,
	KR_LEFT_COMMITTED, /* what all of it told: struct kr_carried_txn */
	KR_LEFT_RELEASE,
	KR_LEFT_RELEASED,
	KR_LEFT_DUE, /* a struct kr_held's */
	KR_LEFT_TIMES
};

struct kr_left {        /* a version, and its transaction */
	kr_key key;     /* of the window */
	kr_value value; /* KR_NONE: not told */
	uint8_t marks;  /* KR_MARK_SHADOW, ..., of an operation */
	uint8_t status;
	uint16_t flags; /* a struct kr_transaction's */
	kr_value id;
	kr_session session;
	uint32_t seq, line; /* a struct kr_held's */
	int64_t at[KR_LEFT_TIMES];
	struct kr_relic *relic; /* where it lies */
};

KR_VEC_NAMED(kr_lefts, struct kr_left);

struct kr_relic {
	uint8_t marks;
	uint8_t size; /* of what follows */
	uint8_t bytes[];
};

/* The relics of a key, in no order. One takes no more than itself: the address is that of the relic, or, if
 * it is odd, of a block of several; 0: there are none. */
struct kr_relics { uintptr_t address; };

uint32_t kr_relics_count(struct kr_relics list);
struct kr_relic *kr_relics_at(struct kr_relics list, uint32_t i);

/* Puts the version into the list of its key; its key is not kept. */
bool kr_relic_put(struct kr_stream *stream, struct kr_mem *mem, const struct kr_left *left,
	struct kr_relics *list);

/* The version, but for its key. Values that were not kept as such are interned once more, until the stream's
 * next line; false: no memory. */
bool kr_relic_get(struct kr_stream *stream, struct kr_relic *relic, struct kr_left *out);

void kr_relic_drop(struct kr_stream *stream, struct kr_mem *mem, struct kr_relic *relic,
	struct kr_relics *list);

#endif
