/* Reachability over the IR's known edges by chain clocks (vector clocks over a chain cover of the graph),
 * kept up to date as edges are added.
 *
 * The nodes are covered by chains, each totally ordered by known paths: sessions where session order counts,
 * the time nodes, and a greedy path cover of the rest. A node's clock holds, per chain, the last position
 * that reaches it; x reaches y iff clock(y)[chain(x)] >= position(x). When there are more chains than memory
 * allows, only the longest are tracked: then answers are "certainly reaches" and "not known to". */
#ifndef KR_IR_CLOCK_H
#define KR_IR_CLOCK_H

#include "ir/ir.h"

struct kr_clock {
	struct kr_arena arena;
	uint32_t nchains, stride; /* row length in entries */
	uint32_t nnodes;
	bool whole;               /* all nodes are tracked */
	uint32_t *chain;          /* per node: its chain, or KR_NONE when not tracked */
	uint32_t *position;       /* per node: place in its chain, from 1 */
	/* nnodes * stride: last position of each chain that reaches the node, 0: none; chains are no longer
	 * than fits */
	uint16_t *rows;
	/* nnodes * words: chains that moved since the node was last taken from the work-list */
	uint64_t *changed;
	uint32_t words;           /* per node */
	/* per node: place in a topological order of the graph when the clock was made or last refreshed */
	uint32_t *rank;
	uint64_t *pending;        /* set of ranks whose nodes have changed chains */
	uint32_t *by_rank;        /* node at a rank */
	uint32_t cursor;          /* no rank below this one is pending */
	kr_node cyclic;           /* a node that has entered its own clock, or KR_NONE */
};

/* Builds the cover and the clocks. Sets *cyclic (and leaves ir->clock NULL) when the known graph has a cycle
 * already. None is pending at first: their successors know what they know. */
enum kr_status kr_clock_build(struct kr_ir *ir, bool *cyclic);
void kr_clock_free(struct kr_mem *mem, struct kr_clock *clock);

static inline bool kr_clock_reaches(const struct kr_clock *c, kr_node x, kr_node y)
{
	return c->chain[x.i] != KR_NONE &&
		c->rows[(size_t)y.i * c->stride + c->chain[x.i]] >= c->position[x.i];
}

/* Does a path of known edges say already what an edge of this kind from a to b would? False without a
 * clock. */
static inline bool kr_clock_implies(const struct kr_ir *ir, enum kr_edge_kind kind, kr_txn a, kr_txn b)
{
	return ir->clock && kr_clock_reaches(ir->clock, kr_ir_out(ir, kind, a), kr_ir_in(ir, kind, b));
}

/* Last position of chain that reaches y (0: none). */
static inline uint32_t kr_clock_last(const struct kr_clock *c, uint32_t chain, kr_node y)
{
	return c->rows[(size_t)y.i * c->stride + chain];
}

/* Tells the clock that an edge was appended: its target takes over the source's clock and becomes pending.
 * What lies behind the target learns of it when pending nodes are taken; until then answers may be "not known
 * to", never wrongly "reaches". Sets c->cyclic when the edge closes a cycle of tracked nodes. */
void kr_clock_edge(struct kr_clock *c, kr_node from, kr_node to);

/* Takes the pending node of least rank, passes its changed chains on to its successors, copies them to
 * `changed` (c->words words) and clears them; false when none is pending: then all clocks are exact. Stop
 * when c->cyclic is set. */
bool kr_clock_take(struct kr_ir *ir, kr_node *node, uint64_t *changed);

/* Is any node pending? */
bool kr_clock_pending(struct kr_clock *c);

/* Makes a node pending for whoever has something to look at there; its successors need not know. */
void kr_clock_wake(struct kr_clock *c, kr_node node);

/* Marks all chains of a node as changed and the node as pending. */
void kr_clock_touch(struct kr_clock *c, kr_node node);

#endif
