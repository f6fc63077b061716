/* Building a history of events: one of their sinks. Ids in events are those of the history; scans, rows
 * and conditions of operations stand in its arrays already. */
#ifndef KR_FRONTEND_ASSEMBLE_H
#define KR_FRONTEND_ASSEMBLE_H

#include "frontend/event.h"

struct kr_assembled { struct kr_operation op; struct kr_attr attr; bool is_undo; uint32_t undo; };

struct kr_assembling {          /* an open transaction */
	struct kr_transaction txn;
	struct kr_white_box white_box;
	bool open, broken;          /* broken: something of it was bad, and it is left out */
	KR_VEC(struct kr_assembled) entries;
};

struct kr_assembly {
	struct kr_history *h;
	uint32_t *position;         /* transactions so far, of any kind; the reader's */
	KR_VEC(struct kr_assembling) open; /* by session + 1; 0: what stands alone */
	KR_VEC(struct kr_version_order) orders; /* writers: into writers, since they may be named before they are there */
	KR_VEC(kr_value) writers;
};

void kr_assembly_init(struct kr_assembly *a, struct kr_history *h, uint32_t *position);
void kr_assembly_done(struct kr_assembly *a);

enum kr_status kr_assembly_take(void *assembly, const struct kr_event *event, struct kr_err *err); /* a kr_sink's */

/* The session's transaction is left out and counted, for `err`, which is then as good as new; `ended`: no more of it comes. */
void kr_assembly_break(struct kr_assembly *a, kr_session session, bool ended, struct kr_err *err);

/* After the last event: transactions still open are of unknown outcome. Version orders that are bad are
 * dropped and counted if the history is lenient. */
enum kr_status kr_assembly_finish(struct kr_assembly *a, struct kr_err *err);

#endif
