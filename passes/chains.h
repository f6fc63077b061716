/* Per key the writers on each chain of a clock, in the chain's order. */
#ifndef KR_PASSES_CHAINS_H
#define KR_PASSES_CHAINS_H

#include "ir/clock.h"

/* Writers of one key on one chain, in chain order. */
struct kr_chain_writer { kr_version version; uint32_t position; };
struct kr_segment {
	uint32_t chain;
	uint32_t first, count; /* into writers */
	uint32_t from, to;     /* positions of the first and the last of them */
};

struct kr_chains {
	struct kr_chain_writer *writers; /* of tracked chains, by key, chain, position */
	struct kr_segment *segments;     /* by key, chain */
	uint32_t *segment_first;         /* per key, and one more */
	uint32_t nwriters, nsegments;
};

/* Of the writers that may be present. O(nodes + versions). */
enum kr_status kr_chains_init(struct kr_chains *c, const struct kr_ir *ir, const struct kr_clock *clock);
void kr_chains_done(struct kr_chains *c, struct kr_mem *mem, const struct kr_asg *asg);

static inline const struct kr_segment *kr_chains_of(const struct kr_chains *c, kr_key k, uint32_t *count)
{
	*count = c->segment_first[k.i + 1] - c->segment_first[k.i];
	return c->segments + c->segment_first[k.i];
}

/* Number of writers of the segment at or before a position. */
uint32_t kr_chains_upto(const struct kr_chains *c, const struct kr_segment *segment, uint32_t position);

#endif
