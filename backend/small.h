/* Small questions to the learner: it has answered before Z3 has been loaded and made its tables, which takes
 * megabytes and some 10 ms in each process. */
#ifndef KR_BACKEND_SMALL_H
#define KR_BACKEND_SMALL_H

#include "backend/choices.h"

enum kr_solver_result { KR_SOLVER_YES, KR_SOLVER_NO, KR_SOLVER_UNKNOWN };

/* Is it a small question? Numbers in sums are taken to fit into what Z3 takes. */
bool kr_small_fits(const struct kr_choices *c);

/* Answers it; where `keep` is not NULL, without the cycles of the proof that are not marked there. The values
 * of all variables are stored in c->all if that is all of it. KR_SOLVER_UNKNOWN: it was not easy. */
enum kr_status kr_small_solve(struct kr_choices *c, const uint8_t *keep, enum kr_solver_result *result);

#endif
