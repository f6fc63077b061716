/* An order of the transactions found by replaying them and going back where counters stand in the way, for
 * levels of one node per transaction. */
#ifndef KR_BACKEND_BACKTRACK_H
#define KR_BACKEND_BACKTRACK_H

#include "backend/schedule.h"

/* As kr_schedule_run, but no node is emitted against the rules: s->forced is 0 and source and order are
 * filled, or 1 and source is as it was. Gives up after a number of steps that grows with the nodes. */
enum kr_status kr_backtrack(struct kr_schedule *s);

#endif
