/* Per key the writers on each chain of a clock, in the chain's order. */
#ifndef KR_PASSES_CHAINS_H
#define KR_PASSES_CHAINS_H

#include "base/bits.h"
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
	uint64_t *has;                   /* per key, so many words: set of the chains with a segment */
	uint32_t nwriters, nsegments, words;
};

/* Of the writers that may be present. O(nodes + versions + keys * chains / 64). */
enum kr_status kr_chains_init(struct kr_chains *c, const struct kr_ir *ir, const struct kr_clock *clock);
void kr_chains_done(struct kr_chains *c, struct kr_mem *mem, const struct kr_asg *asg);

static inline const struct kr_segment *kr_chains_of(const struct kr_chains *c, kr_key k, uint32_t *count)
{
	*count = c->segment_first[k.i + 1] - c->segment_first[k.i];
	return c->segments + c->segment_first[k.i];
}

/* Of a key's segments those whose chains are in a set, as kr_chains_next returns them; NULL: no more. */
typedef struct {
	const struct kr_segment *segments; /* of the word's chains */
	const uint64_t *has, *in;
	uint64_t left;                     /* of the word */
	uint32_t words;                    /* that and those behind it */
} kr_segments_in;

static inline kr_segments_in kr_chains_in(const struct kr_chains *c, kr_key k, const uint64_t *in)
{
	const uint64_t *has = c->has + (size_t)k.i * c->words;
	return (kr_segments_in){c->segments + c->segment_first[k.i], has, in, has[0] & in[0], c->words};
}

static inline const struct kr_segment *kr_chains_next(kr_segments_in *it)
{
	while (it->left == 0) {
		if (--it->words == 0)
			return NULL;
		it->segments += __builtin_popcountll(*it->has++);
		it->left = *it->has & *++it->in;
	}
	uint32_t chain = (uint32_t)__builtin_ctzll(it->left);
	it->left &= it->left - 1;
	return it->segments + kr_bits_below(it->has, chain);
}

/* Number of writers of the segment at or before a position. */
uint32_t kr_chains_upto(const struct kr_chains *c, const struct kr_segment *segment, uint32_t position);

#endif
