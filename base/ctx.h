/* The context of one run: its memory account, its deadline and its cancel token. One per thread of work;
 * passed down, never global. */
#ifndef KR_BASE_CTX_H
#define KR_BASE_CTX_H

#include <stdatomic.h>

#include "base/err.h"
#include "base/mem.h"

/* What long work tells the user: `done` of `total` (0: not known) steps of `phase`. Called rarely (a few
 * times a second). */
typedef void kr_progress_fn(void *data, const char *phase, uint64_t done, uint64_t total);

/* A module's function was called, or returned: ctx->call (NULL: none) runs now (call.h). */
struct kr_call;
struct kr_ctx;
typedef void kr_calling_fn(void *data, const struct kr_ctx *ctx);

/* One line of what a module says, without a newline. */
typedef void kr_log_fn(void *data, const char *text);

struct kr_modules;

/* Which part of the work runs now: "level", 3 of 16. No name: it has no parts. */
struct kr_ctx_part { const char *name; uint32_t at, of; };

struct kr_ctx {
	struct kr_mem mem;
	int64_t deadline_ns;           /* on kr_now_ns's clock; INT64_MAX: none */
	/* the same of the whole run, when what is done now has a share of the time only */
	int64_t latest_ns;
	const atomic_bool *cancel;     /* NULL: cannot be canceled */
	uint32_t ticks;                /* since the clock was last read */
	enum kr_status stopped;        /* once a limit was hit it stays hit */
	const struct kr_modules *modules; /* of plug-ins; NULL: none */
	kr_progress_fn *progress;      /* NULL: nobody listens */
	void *progress_data;
	int64_t progress_ns;           /* when progress was last told */
	struct kr_ctx_part part;       /* for those who listen */
	const struct kr_call *call;    /* the module's function that runs, or NULL */
	kr_calling_fn *calling;        /* NULL: nobody listens */
	void *calling_data;
	kr_log_fn *log;                /* NULL: nobody listens */
	void *log_data;
	int64_t looked_ns;             /* when the memory of the process was last looked at */
	double seconds;                /* the limits as they were asked for; 0: none */
	size_t mebibytes;
	char reason[64];               /* kr_ctx_reason's */
};

/* seconds <= 0 and mebibytes == 0 mean no limit. */
void kr_ctx_init(struct kr_ctx *ctx, double seconds, size_t mebibytes);

/* A limit of time begins now, and none has been hit. */
void kr_ctx_restart(struct kr_ctx *ctx, double seconds);

int64_t kr_now_ns(void); /* monotonic clock */

/* Another context of the same process, with limits of its own; what plug-ins added, the cancel token, the
 * hooks, and whether the process counts are the first one's. */
void kr_ctx_init_beside(struct kr_ctx *ctx, const struct kr_ctx *first, double seconds, size_t mebibytes);

/* Why work in this context ended with that status, a noun phrase that names the limit: "time limit of 2 s",
 * "memory limit of 60 MiB". Valid until it is asked again. */
const char *kr_ctx_reason(struct kr_ctx *ctx, enum kr_status status);

/* KR_OK, or KR_TIMEOUT / KR_NOMEM / KR_CANCELED once the limit is reached. Reads the clock now, and looks at
 * the memory of the process if that counts and some milliseconds have passed. */
enum kr_status kr_ctx_check(struct kr_ctx *ctx);

/* For inner loops: kr_ctx_check once in 256 calls. */
static inline enum kr_status kr_ctx_tick(struct kr_ctx *ctx)
{
	if ((++ctx->ticks & 255) != 0)
		return ctx->stopped;
	return kr_ctx_check(ctx);
}

/* The same for a step that costs as much as n of those. */
static inline enum kr_status kr_ctx_spend(struct kr_ctx *ctx, uint32_t n)
{
	uint32_t before = ctx->ticks;

	ctx->ticks += n;
	return (before ^ ctx->ticks) < 256 ? ctx->stopped : kr_ctx_check(ctx);
}

/* From now on the whole run has this deadline. */
static inline void kr_ctx_until(struct kr_ctx *ctx, int64_t deadline_ns)
{
	ctx->deadline_ns = ctx->latest_ns = deadline_ns;
}

/* Limits what follows to a part of the time left (`fallback_ns` where there is no limit); returns the
 * deadline to put back. kr_ctx_resume puts it back: when only the part has run out, or memory that is free
 * again, the context is as good as new, *status becomes KR_OK and what `err` tells of the limit is
 * forgotten. */
int64_t kr_ctx_limit(struct kr_ctx *ctx, uint32_t parts, int64_t fallback_ns);
/* the same to that much of it, if more is left */
int64_t kr_ctx_limit_ns(struct kr_ctx *ctx, int64_t most_ns);
void kr_ctx_resume(struct kr_ctx *ctx, int64_t deadline_ns, enum kr_status *status, struct kr_err *err);

/* Milliseconds until the deadline, at least 1, at most `most`. Whoever sleeps for as long wakes behind the
 * deadline, never just before it. */
uint32_t kr_ctx_left_ms(const struct kr_ctx *ctx, uint32_t most);

/* Tells progress if somebody listens and at least a tenth of a second has passed. */
void kr_ctx_progress(struct kr_ctx *ctx, const char *phase, uint64_t done, uint64_t total);

#endif
