/* Cycles of a level's further patterns in a candidate world (KR_ASK_SINGLE, KR_ASK_READERS): what acyclicity
 * of the graph alone does not tell. */
#ifndef KR_BACKEND_SINGLE_H
#define KR_BACKEND_SINGLE_H

#include "backend/world.h"

/* w->whole is sorted and acyclic. Appends up to `most` forbidden cycles of the world to the proof, each
 * closed; none: the world satisfies the level. */
enum kr_status kr_single_cycles(struct kr_candidate *w, struct kr_proof *proof, uint32_t most);

#endif
