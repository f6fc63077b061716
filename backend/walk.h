/* A serial order found by mending what is wrong in one, by chance. */
#ifndef KR_BACKEND_WALK_H
#define KR_BACKEND_WALK_H

#include "backend/world.h"

/* Of questions that kr_repair_fits: is a serial order in which all see what they may, and which keeps to the
 * order that was asked for, a world, and one of the level's graph of transactions? */
bool kr_walk_fits(const struct kr_ir *ir);

/* Walks from the best of some guesses, of w->active, unless repair is the shorter way. *found: w->order is
 * such an order; else it is as it was. The same question always ends in the same way. */
enum kr_status kr_walk(struct kr_candidate *w, bool *found);

#endif
