/* Z3 as an incremental SAT solver over numbered Boolean variables. The only file that knows Z3's C API for
 * this purpose, and its versions. As long as questions are small, Z3 is not asked (small.h). */
#ifndef KR_BACKEND_SOLVER_Z3_H
#define KR_BACKEND_SOLVER_Z3_H

#include "backend/small.h"

struct kr_solver; /* heap */

enum kr_status kr_solver_new(struct kr_ctx *ctx, struct kr_solver **out);
void kr_solver_free(struct kr_solver *sat);

/* Gives the solver the clauses and facts that are new in `c`, asks it, and stores the values of all variables
 * in c->all. KR_SOLVER_UNKNOWN: reason has why. An error inside Z3 is unknown, never a verdict. */
enum kr_status kr_solver_solve(struct kr_solver *sat, struct kr_choices *c, enum kr_solver_result *result,
	char *reason, size_t size);

/* Of a solver whose last answer was KR_SOLVER_NO, and which answers nothing but this from then on: are the
 * clauses of `c` unsatisfiable when of the `ncycles` cycles of the proof only those count that are marked in
 * `keep` (facts always count)? If so, *refuted is set and the cycles that the answer does not rest on are
 * unmarked, of a small question none; if not, or without an answer, nothing changes. */
enum kr_status kr_solver_core(struct kr_solver *sat, struct kr_choices *c, uint8_t *keep, uint32_t ncycles,
	bool *refuted);

#endif
