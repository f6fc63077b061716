/* Building a history of events: it is one of their sinks. What scans, rows and conditions entries name stands
 * in its arrays already. */
#ifndef KR_FRONTEND_ASSEMBLE_H
#define KR_FRONTEND_ASSEMBLE_H

#include "frontend/event.h"

/* The session's transaction is left out and counted, for `err`, which is then as good as new; `ended`: no
 * more of it comes. */
void kr_assembly_break(struct kr_history *h, kr_session session, bool ended, struct kr_err *err);

/* After the last event: transactions still open are of unknown outcome. Version orders that are bad are
 * dropped and counted if the history is lenient. */
enum kr_status kr_assembly_finish(struct kr_history *h, struct kr_err *err);
void kr_assembly_done(struct kr_history *h); /* part of both that and kr_history_done */

#endif
