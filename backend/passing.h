/* An order of commits for levels that allow lost updates: what a transaction was shown of a counter need not
 * be the last version before its own. */
#ifndef KR_BACKEND_PASSING_H
#define KR_BACKEND_PASSING_H

#include "backend/backend.h"

/* A guess at an order in which every version that was seen has been installed before it was, where the totals
 * of counters are known only as hints (kr_asg.shown). Whether it is a world is for the verifier to say; no
 * order: answer->outcome stays. Levels of one node per transaction only. */
enum kr_status kr_passing_order(struct kr_ir *ir, struct kr_answer *answer);

#endif
