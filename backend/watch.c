/* A thread that sleeps on a condition, in steps, until the work is over or the token is set. The library may be about to begin when it is first told to stop, and then not notice: it is told in every step. */
#include "backend/watch.h"

#include <time.h>

#define STEP_NS 20000000L
#define SECOND_NS 1000000000L

static void *watch_token(void *data)
{
	struct kr_watch *w = data;

	pthread_mutex_lock(&w->lock);
	while (!w->over) {
		struct timespec until;

		(void)clock_gettime(CLOCK_REALTIME, &until); /* the clock of conditions; a jump of it costs a step */
		until.tv_nsec += STEP_NS;
		until.tv_sec += until.tv_nsec / SECOND_NS;
		until.tv_nsec %= SECOND_NS;
		(void)pthread_cond_timedwait(&w->ended, &w->lock, &until);
		if (!w->over && atomic_load_explicit(w->cancel, memory_order_relaxed))
			w->stop(w->data);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

void kr_watch_begin(struct kr_watch *w, const struct kr_ctx *ctx, void (*stop)(void *data), void *data)
{
	*w = (struct kr_watch){.cancel = ctx->cancel, .stop = stop, .data = data};
	if (!w->cancel || pthread_mutex_init(&w->lock, NULL) != 0)
		return;
	if (pthread_cond_init(&w->ended, NULL) == 0) {
		w->running = pthread_create(&w->thread, NULL, watch_token, w) == 0;
		if (!w->running)
			pthread_cond_destroy(&w->ended);
	}
	if (!w->running)
		pthread_mutex_destroy(&w->lock);
}

void kr_watch_end(struct kr_watch *w)
{
	if (!w->running)
		return;
	pthread_mutex_lock(&w->lock);
	w->over = true;
	pthread_cond_signal(&w->ended);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->ended);
	pthread_mutex_destroy(&w->lock);
	w->running = false;
}
