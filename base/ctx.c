/* Limits of one run. The clock is read rarely (kr_ctx_tick), so a deadline is noticed within 256 ticks. */
#include "base/ctx.h"

#include <stdio.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)
#define PROGRESS_STEP (SECOND / 10)
#define LOOK_STEP (2 * MILLISECOND)
#define LONGEST 4e9 /* seconds; a longer limit is none, and the sum with the clock cannot overflow */

int64_t kr_now_ns(void)
{
	struct timespec now = {0};

	/* cannot fail: the clock exists and the address is valid */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

void kr_ctx_init(struct kr_ctx *ctx, double seconds, size_t mebibytes)
{
	*ctx = (struct kr_ctx){.mebibytes = mebibytes};
	kr_mem_init(&ctx->mem, mebibytes == 0 || mebibytes > SIZE_MAX >> 20 ? SIZE_MAX : mebibytes << 20);
	kr_ctx_restart(ctx, seconds);
}

void kr_ctx_restart(struct kr_ctx *ctx, double seconds)
{
	int64_t now = kr_now_ns();

	ctx->seconds = seconds > 0 ? seconds : 0;
	ctx->progress_ns = now;
	ctx->stopped = KR_OK;
	kr_ctx_until(ctx,
		seconds > 0 && seconds < LONGEST ? now + (int64_t)(seconds * (double)SECOND) : INT64_MAX);
}

void kr_ctx_init_beside(struct kr_ctx *ctx, const struct kr_ctx *first, double seconds, size_t mebibytes)
{
	kr_ctx_init(ctx, seconds, mebibytes);
	ctx->modules = first->modules;
	ctx->cancel = first->cancel;
	ctx->progress = first->progress;
	ctx->progress_data = first->progress_data;
	ctx->calling = first->calling;
	ctx->calling_data = first->calling_data;
	ctx->log = first->log;
	ctx->log_data = first->log_data;
	if (first->mem.whole)
		kr_mem_count_process(&ctx->mem, first->mem.floor);
}

const char *kr_ctx_reason(struct kr_ctx *ctx, enum kr_status status)
{
	if (status == KR_TIMEOUT && ctx->seconds > 0)
		(void)snprintf(ctx->reason, sizeof ctx->reason, "time limit of %.9g s", ctx->seconds);
	else if (status == KR_NOMEM && ctx->mebibytes > 0)
		(void)snprintf(ctx->reason, sizeof ctx->reason, "memory limit of %zu MiB", ctx->mebibytes);
	else
		return kr_status_text(status);
	return ctx->reason;
}

/* Whether it is time to look at the memory of the process, and there is too much. */
static bool is_over(struct kr_ctx *ctx, int64_t now)
{
	if (!ctx->mem.whole || now - ctx->looked_ns < LOOK_STEP)
		return false;
	ctx->looked_ns = now;
	return kr_mem_is_over(&ctx->mem, 0);
}

enum kr_status kr_ctx_check(struct kr_ctx *ctx)
{
	if (ctx->stopped != KR_OK)
		return ctx->stopped;
	if (ctx->cancel && atomic_load_explicit(ctx->cancel, memory_order_relaxed))
		return ctx->stopped = KR_CANCELED;
	if (ctx->deadline_ns == INT64_MAX && !ctx->mem.whole)
		return KR_OK;
	int64_t now = kr_now_ns();
	if (now >= ctx->deadline_ns)
		ctx->stopped = KR_TIMEOUT;
	else if (is_over(ctx, now))
		ctx->stopped = KR_NOMEM;
	return ctx->stopped;
}

int64_t kr_ctx_limit(struct kr_ctx *ctx, uint32_t parts, int64_t fallback_ns)
{
	int64_t deadline = ctx->deadline_ns;
	int64_t now = kr_now_ns();
	int64_t part = deadline == INT64_MAX ? fallback_ns : (deadline - now) / parts;

	if (part < INT64_MAX - now)
		ctx->deadline_ns = now + part;
	return deadline;
}

int64_t kr_ctx_limit_ns(struct kr_ctx *ctx, int64_t most_ns)
{
	int64_t deadline = ctx->deadline_ns, now = kr_now_ns();

	if (most_ns < INT64_MAX - now && now + most_ns < deadline)
		ctx->deadline_ns = now + most_ns;
	return deadline;
}

void kr_ctx_resume(struct kr_ctx *ctx, int64_t deadline_ns, enum kr_status *status, struct kr_err *err)
{
	ctx->deadline_ns = deadline_ns;
	if (*status != KR_TIMEOUT && *status != KR_NOMEM)
		return;
	ctx->stopped = KR_OK;
	*status = kr_ctx_check(ctx);
	if (*status == KR_OK && err)
		kr_err_init(err);
}

uint32_t kr_ctx_left_ms(const struct kr_ctx *ctx, uint32_t most)
{
	if (ctx->stopped != KR_OK)
		return 1;
	if (ctx->deadline_ns == INT64_MAX)
		return most;

	int64_t now = kr_now_ns();
	int64_t left = now < ctx->deadline_ns ? (ctx->deadline_ns - now) / MILLISECOND + 1 : 1;

	return left < (int64_t)most ? (uint32_t)left : most;
}

void kr_ctx_progress(struct kr_ctx *ctx, const char *phase, uint64_t done, uint64_t total)
{
	if (!ctx->progress)
		return;

	int64_t now = kr_now_ns();

	if (now - ctx->progress_ns < PROGRESS_STEP)
		return;
	ctx->progress_ns = now;
	ctx->progress(ctx->progress_data, phase, done, total);
}
