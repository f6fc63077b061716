/* Witness-first scheduling: builds an order of the transactions by replaying them, and with it a candidate
 * world for every choice that is still open. */
#ifndef KR_BACKEND_SCHEDULE_H
#define KR_BACKEND_SCHEDULE_H

#include "backend/overlay.h"

struct kr_schedule {
	/* sorted and acyclic: its order is the preference, its edges are kept; borrowed */
	const struct kr_overlay *overlay;
	/* in and out, per observation of an active transaction: KR_NONE = free to choose */
	kr_version *source;
	kr_node *order;             /* out: all nodes, inactive transactions anywhere */
	/* stop where a node would have to be emitted against the rules; then forced is 1, and the order ends
	 * there */
	bool strict;
	/* out: times that a node had to be emitted against the rules; 0: the order is a world */
	uint32_t forced;
};

/* Fills source, order and forced. Needs overlay->norder == nnodes. */
enum kr_status kr_schedule_run(struct kr_schedule *s);

#endif
