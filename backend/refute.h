/* From the cycles that a search has met to a refutation that people can read. */
#ifndef KR_BACKEND_REFUTE_H
#define KR_BACKEND_REFUTE_H

#include "backend/solver_z3.h"

/* The cycles of the proof are unsatisfiable as clauses, as `sat` has just said: leaves few of them, which
 * still are, so far as that many nanoseconds go, and appends what rules candidates out. */
enum kr_status kr_refute(struct kr_solver *sat, struct kr_choices *c, int64_t most_ns,
	struct kr_proof *proof);

#endif
