/* Z3 as an incremental SAT solver over numbered Boolean variables. The only file that knows Z3's C API for this purpose, and its versions. */
#ifndef KR_BACKEND_SAT_Z3_H
#define KR_BACKEND_SAT_Z3_H

#include "backend/choices.h"

struct kr_sat; /* heap */

enum kr_sat_result { KR_SAT_YES, KR_SAT_NO, KR_SAT_UNKNOWN };

enum kr_status kr_sat_new(struct kr_ctx *ctx, struct kr_sat **out);
void kr_sat_free(struct kr_sat *sat);

/* Gives the solver the clauses that have gathered in `c` (and clears them), asks it, and stores the values of all variables in c->all. KR_SAT_UNKNOWN: reason has why.
 * An error inside Z3 is unknown, never a verdict. */
enum kr_status kr_sat_solve(struct kr_sat *sat, struct kr_choices *c, enum kr_sat_result *result, char *reason, size_t size);

#endif
