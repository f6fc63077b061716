/* Who is known to have seen which version, for passes that decide orders of versions. */
#ifndef KR_IR_READERS_H
#define KR_IR_READERS_H

#include "ir/ir.h"

/* Observations of present transactions by what they saw, in their order. */
struct kr_readers {
	uint32_t *head; /* per version: the first observation that saw it, or KR_NONE */
	uint32_t *next; /* per observation */
};

/* O(versions + observations). To be done with also where it fails. */
enum kr_status kr_readers_init(struct kr_readers *readers, const struct kr_ir *ir);
void kr_readers_done(struct kr_readers *readers, const struct kr_ir *ir);

/* Is an rw edge from the observer of o to v's writer one that closes cycles? */
bool kr_readers_mind(const struct kr_ir *ir, uint32_t o, kr_version v);

#endif
