/* What operations saw of keys that are seen part by part, by the order of a candidate world. */
#ifndef KR_BACKEND_CUTS_H
#define KR_BACKEND_CUTS_H

#include "backend/world.h"

/* Is a candidate's order better taken from what clients suggest than from a schedule, and what was seen
 * from cuts? Where updates may be lost, and keys are seen part by part: then who read need not have seen
 * the last version, and a replay would only fail. */
bool kr_cuts_apply(const struct kr_ir *ir);

/* For each operation and key with parts: sources of the observations without one are those of the newest
 * place before the observer's at which all that the operation saw of the key, its total included, was
 * there. Where there is none they stay as they are. O(observations of parts log versions). */
enum kr_status kr_cuts_settle(struct kr_candidate *w);

#endif
