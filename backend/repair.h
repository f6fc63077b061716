/* A world by repairing an order: of levels that forbid every cycle of their graph, where nothing else is open
 * than orders of versions and sources. */
#ifndef KR_BACKEND_REPAIR_H
#define KR_BACKEND_REPAIR_H

#include "backend/world.h"

/* Is it a question that kr_repair decides? */
bool kr_repair_fits(const struct kr_ir *ir);

/* Searches from w->order on, which known edges keep to. KR_SATISFIED: the answer is a world. KR_VIOLATED: the
 * clauses of `c`, which belong to the cycles of the answer's proof, cannot hold together; to tell which of
 * them is up to whoever asked. KR_UNDECIDED: there were *conflicts conflicts, or a solver for clauses alone
 * had better go on with those. *conflicts: out, how many of them are left. */
enum kr_status kr_repair(struct kr_candidate *w, struct kr_choices *c, uint64_t *conflicts,
	struct kr_answer *answer, enum kr_outcome *outcome);

#endif
