/* What is left of a transaction that is held no longer: versions that can still be seen, in as little memory as they need.
 * Each stands in the list of its key. */
#ifndef KR_MECHANISMS_RELIC_H
#define KR_MECHANISMS_RELIC_H

#include "mechanisms/held.h"

struct kr_left {             /* a version */
	kr_key key;              /* of the stream */
	kr_value value;          /* KR_NONE: not told */
	uint8_t marks;           /* KR_MARK_SHADOW, ..., of an operation */
	int64_t sent, answered;  /* from its first write to its last; KR_TIME_OPEN */
	struct kr_span lock;
	struct kr_held *of;
	struct kr_left *next;    /* of the key */
};

struct kr_relic {
	struct kr_carried_txn told;
	uint32_t n, size;
	struct kr_left at[];
};

/* Room for `size` versions of a transaction that has none yet. */
bool kr_relic_new(struct kr_mem *mem, struct kr_held *t, struct kr_carried_txn told, uint32_t size);
void kr_relic_free(struct kr_mem *mem, struct kr_held *t);

/* Puts a version; *list: the first one of its key. Its value is kept. */
void kr_relic_put(struct kr_stream *stream, struct kr_held *t, struct kr_left version, struct kr_left **list);
/* Takes the version away, whose value is released; `lists(data, key)`: the first one of a key. */
void kr_relic_drop(struct kr_stream *stream, struct kr_left *version, struct kr_left **(*lists)(void *data, kr_key key), void *data);

/* The transaction's version of the key, which it has. */
struct kr_left *kr_relic_at(const struct kr_held *t, kr_key key);

#endif
