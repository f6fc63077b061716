/* A graph of chosen edges laid over the IR's known graph: topological order of both, or the cycles that
 * forbid the choices.
 *
 * Chosen edges are proof links, so a cycle found here is a cycle of the proof as it stands. Only transactions
 * that are active (present, or taken to be) take part. */
#ifndef KR_BACKEND_OVERLAY_H
#define KR_BACKEND_OVERLAY_H

#include "ir/proof.h"

struct kr_overlay {
	struct kr_arena arena;
	struct kr_ir *ir;
	const uint8_t *active;      /* per transaction; borrowed */
	KR_VEC(struct kr_link) links;
	KR_VEC(struct kr_ir_arc) arcs; /* parallel to links */
	uint32_t *head;             /* per node: newest link out of it, or KR_NONE */
	kr_node *order;             /* a topological order, as far as there is one */
	uint32_t norder;            /* nodes emitted; == nnodes iff acyclic */
	uint32_t *rank;             /* per node: place in order; KR_NONE: on or behind a cycle */
	/* per node: an order that known edges keep and most links do; cycles are looked for near where it is
	 * broken. NULL: none; borrowed */
	const uint32_t *place;
	/* per node: a permutation; among ready nodes the sort takes the least. NULL: breadth first;
	 * borrowed */
	const uint32_t *prefer;
	uint64_t *ready;            /* scratch of the sort: set of preferences */
	uint32_t *by_preference;    /* scratch of the sort: node at a preference */
	uint32_t *via;              /* scratch of the path search */
	uint8_t *cost;
};

enum kr_status kr_overlay_init(struct kr_overlay *o, struct kr_ir *ir, const uint8_t *active);
void kr_overlay_done(struct kr_overlay *o);

/* Before its first use, and for another one. */
void kr_overlay_clear(struct kr_overlay *o);
enum kr_status kr_overlay_add(struct kr_overlay *o, struct kr_link link); /* link.edge == KR_NONE */

/* Fills order and rank, keeping to `prefer` where edges allow. */
enum kr_status kr_overlay_sort(struct kr_overlay *o);

/* after a sort */
static inline bool kr_overlay_acyclic(const struct kr_overlay *o) { return o->norder == o->ir->nnodes; }

/* Strong components of both graphs (ir/ir.h), among the nodes that the last sort left over. */
static inline enum kr_status kr_overlay_components(const struct kr_overlay *o, uint32_t *component)
{
	struct kr_ir_chosen chosen = {o->active, o->rank, o->head, o->arcs.at};

	return kr_ir_components(o->ir, &chosen, component);
}

/* After a sort that found no full order: appends up to `most` short cycles to the proof, each as a closed
 * cycle, with few chosen edges. At least one is found. */
enum kr_status kr_overlay_cycles(struct kr_overlay *o, struct kr_proof *proof, uint32_t most);

#endif
