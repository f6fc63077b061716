/* What becomes of a run in which a module's function does not come back (base/call.h): one line that names the module, and status 255. Installed only when there are plug-ins. */
#ifndef KR_CLI_CRASH_H
#define KR_CLI_CRASH_H

#include "base/call.h"

/* From now on; a second call does nothing more. */
void kr_crash_install(void);

/* The module's function that runs, or NULL: for kr_ctx.calling. */
void kr_crash_calling(void *data, const struct kr_call *call);

/* Functions of modules are to come back before this time (kr_now_ns; INT64_MAX: whenever they like), or some seconds after it, or the run ends. */
void kr_crash_deadline(int64_t deadline_ns);

#endif
