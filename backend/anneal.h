/* An order of nodes found by chance: for questions in which what transactions saw is open, and few orders of
 * them do. */
#ifndef KR_BACKEND_ANNEAL_H
#define KR_BACKEND_ANNEAL_H

#include "backend/world.h"

/* Of questions that kr_repair_fits: is an order that known edges keep to, and in which all see what they may,
 * a world? And is much of what was seen open? Else repair is the shorter way. */
bool kr_anneal_fits(const struct kr_ir *ir);

/* Searches from w->order on, which known edges keep to, for as many sweeps: in each of them as many nodes
 * move as there are. *found: w->order is a world; else it is another order that known edges keep to. The same
 * question always ends in the same way. */
enum kr_status kr_anneal(struct kr_candidate *w, uint64_t sweeps, bool *found);

#endif
