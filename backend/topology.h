/* A total order of an IR's nodes that known edges keep to, and chosen ones, which come and go. A new edge
 * that it breaks moves what lies between its ends; when that cannot be there is a cycle. */
#ifndef KR_BACKEND_TOPOLOGY_H
#define KR_BACKEND_TOPOLOGY_H

#include "ir/proof.h"

struct kr_arc {
	uint32_t from, to;           /* nodes */
	uint32_t next_out, next_in;  /* older arcs out of the one, into the other, or KR_NONE */
};
KR_VEC_NAMED(kr_arc_links, struct kr_link);

/* Known edges by one of their ends, the newest first: their other ends, per node from first[node] to
 * first[node + 1] - 1. */
struct kr_known_edges { uint32_t *first, *other; };

KR_VEC_NAMED(kr_numbers, uint32_t);

/* One direction of a search from an end of an edge. */
struct kr_topology_side {
	uint8_t *state;            /* per node */
	/* per node: the step by which it was met: a known edge as twice its place in `other`, an arc a as
	 * 2a + 1 */
	uint32_t *via;
	struct kr_numbers now, later; /* nodes to look at: by known edges, behind a further arc */
	struct kr_numbers met;
};

struct kr_topology {
	struct kr_arena arena;
	struct kr_ir *ir;
	const uint8_t *active;       /* per transaction: known edges out of others do not count; borrowed */
	uint32_t *place, *at;        /* per node, and per place the node */
	KR_VEC(struct kr_arc) arcs;
	struct kr_arc_links links;   /* parallel to arcs */
	uint32_t *out, *in;          /* per node: its newest arcs */
	struct kr_known_edges after, before; /* by the node that they leave, and that they enter */
	struct kr_topology_side forward, backward;
	struct kr_numbers places;    /* scratch */
	struct kr_numbers moved;     /* nodes that have another place since this was emptied */
};

/* `order`: all nodes, as known edges want it. */
enum kr_status kr_topology_init(struct kr_topology *t, struct kr_ir *ir, const uint8_t *active,
	const kr_node *order);
void kr_topology_done(struct kr_topology *t);

/* Does the order keep to such an edge as it stands? */
static inline bool kr_topology_keeps(const struct kr_topology *t, const struct kr_link *link)
{
	return t->place[kr_ir_out(t->ir, link->kind, link->from).i] <
		t->place[kr_ir_in(t->ir, link->kind, link->to).i];
}

/* Adds an edge, or, if that closes a cycle, appends the cycle to the proof, with few chosen edges, and adds
 * nothing. O(edges of the nodes between its ends that one of them leads to or that lead to the other). */
enum kr_status kr_topology_add(struct kr_topology *t, struct kr_link link, struct kr_proof *proof,
	bool *cycle);

/* Takes back all arcs but the first n. The order stays. */
void kr_topology_cut(struct kr_topology *t, uint32_t n);

#endif
