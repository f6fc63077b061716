/* A part of a history: which transactions, operations, keys and elements of lists and sets are kept. What a
 * part leaves out it leaves out everywhere: a key is gone from the rows of ranges, too, and an element from
 * all that reads showed. */
#ifndef KR_SHRINK_PART_H
#define KR_SHRINK_PART_H

#include "base/bits.h"
#include "frontend/analyze.h"
#include "verify/verify.h"

/* An element of a list or set, by the value that somebody appended or added. */
struct kr_element { kr_key key; kr_value value; };

struct kr_part {
	struct kr_mem *mem;
	struct kr_arena arena;
	const struct kr_history *whole;     /* borrowed */
	/* sets of the whole's; an operation is kept if its transaction and its key are, too */
	uint64_t *txns, *ops, *keys;
	/* elements left out; operations that bring them about are left out as operations */
	KR_VEC(struct kr_element) without;
};

/* The whole, or (all == false) nothing of it. On failure there is nothing to free. */
enum kr_status kr_part_init(struct kr_part *part, struct kr_mem *mem, const struct kr_history *whole,
	bool all);
void kr_part_fill(struct kr_part *part); /* the whole again */
void kr_part_done(struct kr_part *part);
/* `to` is an initialised part of the same whole */
enum kr_status kr_part_copy(const struct kr_part *from, struct kr_part *to);

/* op is one of t's; ranges, scans and updates are kept whatever their keys */
bool kr_part_keeps(const struct kr_part *part, kr_txn t, kr_op op);
/* does something that is kept of t change k? */
bool kr_part_writes(const struct kr_part *part, kr_txn t, kr_key k);

/* Keeps in an empty part what a certificate of a violation speaks of: the transactions, keys and operations
 * of its edges, and whoever can have written what these operations saw; or all that happened to the key of an
 * anomaly. `asg` is the whole's. That is mostly a violated part; nothing promises it. */
enum kr_status kr_part_support(struct kr_part *part, struct kr_ctx *ctx, const struct kr_asg *asg,
	const struct kr_certificate *cert);

#endif
