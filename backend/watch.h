/* While a library works that knows nothing of cancel tokens and of limits of memory, a thread looks after
 * them, and stops the library. */
#ifndef KR_BACKEND_WATCH_H
#define KR_BACKEND_WATCH_H

#include <pthread.h>

#include "base/ctx.h"

struct kr_watched {
	void (*stop)(void *data);         /* called by the thread, again and again, once a limit is passed */
	/* what the library has now beside the account, in bytes; by the thread, too */
	size_t (*memory)(void *data);
	size_t (*next)(void *data);       /* the most that it may ask for at once now; by the thread, too */
	void *data;
};

struct kr_watch {
	struct kr_ctx *ctx;
	struct kr_watched library;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool running, over, no_memory;
};

/* Whether the library may take the memory beyond the limit with its next step. A sixteenth of the limit is
 * let pass. */
bool kr_watch_is_over(struct kr_mem *mem, const struct kr_watched *library);

/* Without a token and a limit of memory nothing is watched; nor where the system has no thread left: then
 * limits are seen only when the library returns. The context must not be used meanwhile. */
void kr_watch_begin(struct kr_watch *watch, struct kr_ctx *ctx, struct kr_watched library);

/* KR_NOMEM: the library was stopped, since memory was beyond the limit. */
enum kr_status kr_watch_end(struct kr_watch *watch);

#endif
