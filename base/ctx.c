/* Limits of one run. The clock is read rarely (kr_ctx_tick), so a deadline is noticed within 256 ticks. */
#include "base/ctx.h"

#include <time.h>

#define SECOND INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)
#define PROGRESS_STEP (SECOND / 10)
#define LONGEST 4e9 /* seconds; a longer limit is none, and the sum with the clock cannot overflow */

int64_t kr_now_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists and the address is valid */
	return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

void kr_ctx_init(struct kr_ctx *ctx, double seconds, size_t mebibytes)
{
	int64_t now = kr_now_ns();

	*ctx = (struct kr_ctx){.deadline_ns = INT64_MAX, .latest_ns = INT64_MAX, .progress_ns = now};
	kr_mem_init(&ctx->mem, mebibytes == 0 || mebibytes > SIZE_MAX >> 20 ? SIZE_MAX : mebibytes << 20);
	if (seconds > 0 && seconds < LONGEST)
		kr_ctx_until(ctx, now + (int64_t)(seconds * (double)SECOND));
}

enum kr_status kr_ctx_check(struct kr_ctx *ctx)
{
	if (ctx->stopped != KR_OK)
		return ctx->stopped;
	if (ctx->cancel && atomic_load_explicit(ctx->cancel, memory_order_relaxed))
		ctx->stopped = KR_CANCELED;
	else if (ctx->deadline_ns != INT64_MAX && kr_now_ns() >= ctx->deadline_ns)
		ctx->stopped = KR_TIMEOUT;
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

void kr_ctx_resume(struct kr_ctx *ctx, int64_t deadline_ns, enum kr_status *status)
{
	ctx->deadline_ns = deadline_ns;
	if (*status != KR_TIMEOUT && *status != KR_NOMEM)
		return;
	ctx->stopped = KR_OK;
	*status = kr_ctx_check(ctx);
}

uint32_t kr_ctx_left_ms(const struct kr_ctx *ctx, uint32_t most)
{
	if (ctx->stopped != KR_OK)
		return 1;
	if (ctx->deadline_ns == INT64_MAX)
		return most;

	int64_t now = kr_now_ns();
	int64_t left = now < ctx->deadline_ns ? (ctx->deadline_ns - now) / MILLISECOND : 0;

	if (left < 1)
		return 1;
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
