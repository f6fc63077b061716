/* An order of the transactions found by replaying them and going back where counters stand in the way, for
 * levels of one node per transaction. */
#ifndef KR_BACKEND_BACKTRACK_H
#define KR_BACKEND_BACKTRACK_H

#include "backend/schedule.h"

/* Whether there is anything that it could do: counters, and one node per transaction. */
static inline bool kr_backtrack_applies(const struct kr_ir *ir)
{
	return (ir->asg->nshown > 0 || ir->asg->nsums > 0) && ir->level->model == KR_NODES_TXN;
}

/* Where that is so: as kr_schedule_run, but no node is emitted against the rules. s->forced is 0, and source
 * and order are filled, or it is 1, and source is as it was. Gives up after a number of steps that grows with
 * the nodes. */
enum kr_status kr_backtrack(struct kr_schedule *s);

#endif
