/* Who is visible to an observation: whose versions it must not miss. Where an rw closes a forbidden cycle
 * with every path of known edges (kr_ir_rw_counts), all that lead to the observer; else those that lead
 * there as an axiom of the level says (kr_pattern_is_axiom): by one edge, so, rt or a wr that stands where
 * it must, or by any number of them. */
#ifndef KR_IR_VISIBLE_H
#define KR_IR_VISIBLE_H

#include "ir/proof.h"

/* Does a wr by observation p count as a way to whom it may not miss? Of a part of a key the version seen
 * may be a later one than the part tells. */
static inline bool kr_visible_by(const struct kr_ir *ir, kr_obs p)
{
	return ir->source[p.i].i != KR_NONE && !kr_asg_is_part(ir->asg, ir->asg->obs[p.i].key);
}

/* Appends to the open cycle of the proof a way from a to the observer of o, by what is older than `age`,
 * that closes a forbidden cycle with an rw of o to a; *found is false when there is none. Two edges:
 * O(observations of the observer), else O(edges). */
enum kr_status kr_visible_way(const struct kr_ir *ir, kr_txn a, kr_obs o, uint32_t age,
	struct kr_proof *proof, bool *found);

#endif
