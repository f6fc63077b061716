/* The world of a graph whose known edges leave nothing open, at levels by axioms. */
#ifndef KR_BACKEND_SORTED_H
#define KR_BACKEND_SORTED_H

#include "backend/backend.h"

/* KR_SATISFIED: any topological order of the known edges is a world, and this is one. KR_VIOLATED: they
 * have a cycle. Else the outcome stays: something is open, or the level asks for more. Needs the passes
 * `visible` and `ww`. O((edges + versions + observations) log nodes). */
enum kr_status kr_sorted_decide(struct kr_ir *ir, struct kr_answer *answer);

#endif
