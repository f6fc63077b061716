/* The events of all sessions in one order: by (time sent, session's name, sequence), each as soon as nothing
 * before it can still come. A session promises: nothing before its last answer. The watermark is the least
 * promise of the sessions that have nothing waiting; what was sent before it is dispatched, strictly. */
#ifndef KR_MECHANISMS_MERGE_H
#define KR_MECHANISMS_MERGE_H

#include "mechanisms/held.h"

struct kr_merge_item { int64_t at; struct kr_held *txn; enum kr_event_kind kind; bool timed; };

struct kr_lane {         /* a session, or one transaction that stands alone */
	kr_session session;  /* KR_NONE: alone */
	uint32_t number;     /* order of arrival of what stands alone */
	KR_VEC(struct kr_merge_item) items;
	uint32_t head;       /* items before it are gone */
	int64_t last;        /* of the last item that was put */
	int64_t promise;
	int64_t heard;       /* the newest time of any session when this one was last heard of */
	uint32_t late_line;  /* of the last event that came too late */
	bool over;           /* no more of it, as it says or by --stale */
	struct kr_held *open;
};

struct kr_merge {
	struct kr_mem *mem;
	const struct kr_history *h;
	int64_t lateness;
	bool unbounded;      /* more sessions may come with any time: nothing goes before the end */
	bool ended;
	KR_VEC(struct kr_lane *) lanes; /* by session, then what stands alone */
	KR_VEC(struct kr_lane *) alone;
	KR_VEC(struct kr_lane *) heap;  /* those with something waiting, the first on top */
	/* of the sessions that have nothing waiting, whose promise is least; NULL: there is none, */
	const struct kr_lane *least;
	bool known;                     /* if this says that it is known */
};

void kr_merge_done(struct kr_merge *m);

/* The session's lane; alone: a new one. NULL: no memory. */
struct kr_lane *kr_merge_lane(struct kr_merge *m, kr_session session);

/* It promises that nothing is to come from before `at`; that there is no more of it. */
void kr_merge_promise(struct kr_merge *m, struct kr_lane *lane, int64_t at);
void kr_merge_close(struct kr_merge *m, struct kr_lane *lane, bool over);

bool kr_merge_put(struct kr_merge *m, struct kr_lane *lane, struct kr_merge_item item);
/* What the watermark waits for: of the sessions that have nothing waiting the one with the least promise;
 * NULL: none. */
const struct kr_lane *kr_merge_holder(const struct kr_merge *m);
int64_t kr_merge_watermark(const struct kr_merge *m);
/* false: it waits */
bool kr_merge_next(struct kr_merge *m, struct kr_merge_item *out, struct kr_lane **lane);

#endif
