/* What runs a schedule: a lane for each transaction, which has a client and a thread, and the conductor
 * (provoke_run.c), which tells lanes what to do. Private to both. */
#ifndef KR_LAB_PROVOKE_STAGE_H
#define KR_LAB_PROVOKE_STAGE_H

#include <pthread.h>

#include "lab/provoke.h"

enum kr_task { KR_TASK_NONE, KR_TASK_CONNECT, KR_TASK_STEP, KR_TASK_ROLL_BACK, KR_TASK_LEAVE };
enum kr_lane_state { KR_LANE_IDLE, KR_LANE_BUSY, KR_LANE_DONE };

struct kr_stage_lane { /* a transaction's */
	struct kr_stage *stage;
	uint8_t txn;
	bool threaded;
	pthread_t thread;
	struct kl_client *client;
	const struct kl_level *level;  /* of the client */
	struct kl_result result;
	/* under the stage's lock */
	enum kr_task task;
	_Atomic enum kr_lane_state state; /* which may be looked at without it */
	struct kr_done *step;
	/* the conductor's */
	struct kr_done *queue[KR_STEPS];
	uint32_t queued, next;
	int64_t sent, waits_since; /* waits_since 0: it is not known to wait */
};

struct kr_stage {
	struct kr_runner *runner;
	const struct kl_level *level;
	pthread_mutex_t lock;
	pthread_cond_t told;       /* lanes: there is a task */
	pthread_cond_t answered;   /* the conductor: a task is done */
	struct kr_stage_lane lanes[KR_COO_TXNS + 1];
	struct kl_client *control; /* loads, and reads in the end */
	const struct kr_coo_schedule *schedule;
	struct kr_attempt *attempt;
	bool used[KR_COO_OBJECTS]; /* by some case so far */
	int64_t event, looked;     /* when something was last answered; when it was last looked who waits */
};

/* The lane's thread: does tasks until KR_TASK_LEAVE. */
void *kr_lane_run(void *lane);

/* A client that is ready: what is said once for a connection is said. NULL: see store.why. */
struct kl_client *kr_stage_connect(struct kr_stage *stage, const struct kl_level *level, uint32_t number,
	struct kl_result *result);

/* For another call; memory for rows stays. */
void kr_result_clear(struct kl_result *result);

#endif
