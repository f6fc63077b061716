/* What observations with one candidate saw: pass wr, and without its edges, which is enough for schedules:
 * they replay. */
#ifndef KR_PASSES_WR_H
#define KR_PASSES_WR_H

#include "passes/pass.h"

/* An observation by a present transaction with one candidate saw that candidate: source[o] becomes it. If the
 * writer's outcome is unknown, it took effect (presence_why = o), and its own observations are looked at in
 * turn. With `link`, and at levels that look at wr, an edge leads from the writer to the observer, unless it
 * is the initial version; a transaction that observes several versions of one writer gets one edge: a second
 * would say the same of the graph, and the sources say the rest. Cost: O(transactions + observations +
 * members of their sets). */
enum kr_status kr_settle(struct kr_ir *ir, bool link, enum kr_change *change, struct kr_err *err);

#endif
