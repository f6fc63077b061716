/* A thread that sleeps on a condition, in steps, until the work is over, the token is set or there is too
 * much memory. Steps are short where there is a limit of memory: in one, a library should not get far beyond
 * it. The library may be about to begin when it is first told to stop, and then not notice: it is told in
 * every step. */
#include "backend/watch.h"

#include <time.h>

#define STEP_NS 20000000L
#define MEMORY_STEP_NS 2000000L
#define SECOND_NS 1000000000L

static bool is_canceled(const struct kr_ctx *ctx)
{
	return ctx->cancel && atomic_load_explicit(ctx->cancel, memory_order_relaxed);
}

bool kr_watch_is_over(struct kr_mem *mem, const struct kr_watched *library)
{
	if (mem->limit == SIZE_MAX)
		return false;

	size_t has = library->memory(library->data), next = library->next(library->data),
	       pass = mem->limit / 16;
	size_t more = next > pass ? next - pass : 0;

	return mem->whole ? kr_mem_is_over(mem, more)
			  : mem->used > mem->limit || has > mem->limit - mem->used ||
			more > mem->limit - mem->used - has;
}

static void *watch_limits(void *data)
{
	struct kr_watch *w = data;
	const long step = w->ctx->mem.limit == SIZE_MAX ? STEP_NS : MEMORY_STEP_NS;

	pthread_mutex_lock(&w->lock);
	while (!w->over) {
		struct timespec until;

		/* the clock of conditions; a jump of it costs a step */
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += step;
		until.tv_sec += until.tv_nsec / SECOND_NS;
		until.tv_nsec %= SECOND_NS;
		(void)pthread_cond_timedwait(&w->ended, &w->lock, &until);
		w->no_memory |= !w->over && kr_watch_is_over(&w->ctx->mem, &w->library);
		if (!w->over && (w->no_memory || is_canceled(w->ctx)))
			w->library.stop(w->library.data);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

void kr_watch_begin(struct kr_watch *w, struct kr_ctx *ctx, struct kr_watched library)
{
	*w = (struct kr_watch){.ctx = ctx, .library = library};
	if ((!ctx->cancel && ctx->mem.limit == SIZE_MAX) || pthread_mutex_init(&w->lock, NULL) != 0)
		return;
	if (pthread_cond_init(&w->ended, NULL) == 0) {
		w->running = pthread_create(&w->thread, NULL, watch_limits, w) == 0;
		if (!w->running)
			pthread_cond_destroy(&w->ended);
	}
	if (!w->running)
		pthread_mutex_destroy(&w->lock);
}

enum kr_status kr_watch_end(struct kr_watch *w)
{
	if (!w->running)
		return KR_OK;
	pthread_mutex_lock(&w->lock);
	w->over = true;
	pthread_cond_signal(&w->ended);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->ended);
	pthread_mutex_destroy(&w->lock);
	w->running = false;
	return w->no_memory ? KR_NOMEM : KR_OK;
}
