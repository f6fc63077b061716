/* While a library works that knows nothing of cancel tokens, a thread looks at the token and stops the library. */
#ifndef KR_BACKEND_WATCH_H
#define KR_BACKEND_WATCH_H

#include <pthread.h>

#include "base/ctx.h"

struct kr_watch {
	const atomic_bool *cancel;
	void (*stop)(void *data); /* called by the thread, again and again, once the token is set */
	void *data;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool running, over;
};

/* Without a token nothing is watched; nor where the system has no thread left: then the token is seen only when the library returns. */
void kr_watch_begin(struct kr_watch *watch, const struct kr_ctx *ctx, void (*stop)(void *data), void *data);
void kr_watch_end(struct kr_watch *watch);

#endif
