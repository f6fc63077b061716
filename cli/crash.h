/* What becomes of a run in which a module's function does not come back (base/call.h): one line that names
 * the module, and status 255. Installed only when there are plug-ins. */
#ifndef KR_CLI_CRASH_H
#define KR_CLI_CRASH_H

#include "base/call.h"

/* From now on; a second call does nothing more. */
void kr_crash_install(void);

/* For kr_ctx.calling. With a limit of time the module's function has some seconds more than that; then the
 * run ends. */
void kr_crash_calling(void *data, const struct kr_ctx *ctx);

/* The same where there is no context, and no limit. `call` NULL: nothing runs. */
void kr_crash_watch(const struct kr_call *call, int64_t deadline_ns);

#endif
