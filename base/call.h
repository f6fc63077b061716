/* Calls of modules' functions: which one runs, for whoever has to name it when it does not come back, and
 * whether what it returns makes sense. Modules may be strangers' (plug-ins). */
#ifndef KR_BASE_CALL_H
#define KR_BASE_CALL_H

#include "base/ctx.h"

struct kr_call {
	const char *kind, *name;      /* "pass", "saturate" */
	const struct kr_call *outer;  /* a back end may let another one decide */
};

/* `call` must live until kr_call_leave. `ctx` NULL: nobody is told. */
void kr_call_enter(struct kr_ctx *ctx, struct kr_call *call, const char *kind, const char *name);

/* The call has returned `status`; gives the status to go on with. An error that was told beside KR_OK, a
 * status that there is not, and a failure of which nothing is told, become KR_INTERNAL with one line that
 * names the module. What a pass or a back end tells of its failure is kept, with the module's name before it;
 * it is never the user's mistake (KR_BAD). */
enum kr_status kr_call_leave(struct kr_ctx *ctx, const struct kr_call *call, enum kr_status status,
	struct kr_err *err);

/* A failure of the module that is called, or was called last: KR_INTERNAL with "KIND 'NAME' ..." */
enum kr_status kr_call_fail(const struct kr_call *call, struct kr_err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
