/* A graph that grows and sheds nodes, and says when a new arc closes a cycle: Pearce and Kelly's dynamic
 * topological order (ACM JEA 2006). Each node has a place in an order that no arc goes against; an arc that
 * would moves only nodes between its ends. What lies on a cycle becomes one node, so that an arc that makes a
 * cycle larger closes one, too.
 *
 * A node that is dropped takes its arcs with it (peeling). One that lay on a cycle may leave some behind:
 * then an arc may be said to close a cycle that is none, but never the other way round. */
#ifndef KR_MECHANISMS_CERTIFIER_H
#define KR_MECHANISMS_CERTIFIER_H

#include "base/terms.h"
#include "base/vec.h"

struct kr_place { int64_t at; uint32_t tie; };

struct kr_knot {             /* a node */
	struct kr_place place;
	uint32_t merged;         /* into which node; itself: into none */
	uint32_t members;        /* nodes that are left in it; 0: free, and `merged` the next free one */
	uint32_t also;           /* another one that was merged into the same, or KR_NONE */
	uint32_t out, in;        /* first arc that leaves it, and that enters it, or KR_NONE */
	uint32_t ahead, behind;  /* searches that met it */
};

struct kr_link {             /* an arc */
	uint32_t from, to;
	uint32_t next_out, next_in;
	uint8_t lists;           /* it stands in so many; 0: free, and next_out the next free one */
	bool dead;
};

KR_VEC_NAMED(kr_knots, uint32_t);

struct kr_certifier {
	struct kr_mem *mem;
	KR_VEC(struct kr_knot) nodes;
	KR_VEC(struct kr_link) arcs;
	uint32_t free_node, free_arc; /* plus one; 0: none */
	uint32_t ties, searches;
	struct kr_knots ahead, behind, stack; /* of the search */
	KR_VEC(struct kr_place) places;
	uint64_t moved;          /* nodes that were given another place */
};

void kr_certifier_done(struct kr_certifier *c);

/* A new node, behind those whose place is the same so far. False: no memory, as below. */
bool kr_certifier_node(struct kr_certifier *c, int64_t place, uint32_t *out);

/* *closes: becomes true if the arc lies on a cycle that did not have all its nodes on cycles with each other
 * before. */
bool kr_certifier_arc(struct kr_certifier *c, uint32_t from, uint32_t to, bool *closes);

void kr_certifier_drop(struct kr_certifier *c, uint32_t node);

#endif
