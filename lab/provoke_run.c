/* One schedule on a database. Each transaction has a client and a thread of its own, which is told what to do
 * by the conductor: a step is sent when the one before it, of whichever transaction, has been answered or is
 * known to wait. Steps of a transaction that waits queue behind. Whenever something is answered, all that was
 * not is looked at again, and queues go on, before the schedule does. The first error of a transaction ends
 * it; the others go on.
 *
 * What waits the database says itself, or, where it cannot, silence for a while is taken for it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/provoke_stage.h"

enum { STACK = 512 << 10, TICK_MS = 2 };
#define MS INT64_C(1000000)

/* ---- the conductor ---- */

static void tell(struct kr_stage_lane *lane, enum kr_task task, struct kr_done *step)
{
	struct kr_stage *stage = lane->stage;

	lane->sent = kl_now();
	lane->waits_since = 0;
	(void)pthread_mutex_lock(&stage->lock);
	lane->task = task;
	lane->step = step;
	lane->state = KR_LANE_BUSY;
	(void)pthread_cond_broadcast(&stage->told);
	(void)pthread_mutex_unlock(&stage->lock);
}

static bool all_idle(struct kr_stage *stage)
{
	for (int t = 1; t <= KR_COO_TXNS; t++)
		if (stage->lanes[t].state != KR_LANE_IDLE)
			return false;
	return true;
}

/* Until something is answered, or `ns` have passed. */
static void wait_for_answer(struct kr_stage *stage, int64_t ns)
{
	int64_t until = kl_now() + ns;
	struct timespec end = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
	bool some = false;

	(void)pthread_mutex_lock(&stage->lock);
	for (int t = 1; t <= KR_COO_TXNS; t++)
		some |= stage->lanes[t].state == KR_LANE_DONE;
	if (!some)
		(void)pthread_cond_timedwait(&stage->answered, &stage->lock, &end);
	(void)pthread_mutex_unlock(&stage->lock);
}

/* For a task of all lanes. False: it did not come back in time. */
static bool wait_for_all(struct kr_stage *stage)
{
	int64_t end = kl_now() + stage->runner->cap;

	while (kl_now() < end) {
		bool busy = false;

		for (int t = 1; t <= KR_COO_TXNS; t++) {
			struct kr_stage_lane *lane = &stage->lanes[t];

			if (lane->state == KR_LANE_DONE)
				lane->state = KR_LANE_IDLE;
			busy |= lane->state == KR_LANE_BUSY;
		}
		if (!busy)
			return true;
		wait_for_answer(stage, TICK_MS * MS);
	}
	return kl_fail(&stage->runner->store, "nothing came back");
}

static bool send_next(struct kr_stage_lane *lane)
{
	if (lane->state != KR_LANE_IDLE || lane->next == lane->queued)
		return false;
	tell(lane, KR_TASK_STEP, lane->queue[lane->next++]);
	return true;
}

/* What was answered; queues go on, and those of transactions that are over do not. */
static void take_answers(struct kr_stage *stage)
{
	for (int t = 1; t <= KR_COO_TXNS; t++) {
		struct kr_stage_lane *lane = &stage->lanes[t];

		if (lane->state != KR_LANE_DONE)
			continue;
		lane->state = KR_LANE_IDLE;
		lane->waits_since = 0;
		stage->event = kl_now();
		if (lane->step && lane->step->answer != KL_OK)
			lane->next = lane->queued;
		(void)send_next(lane);
	}
}

/* Does it wait, as far as can be known now? `may_ask`: the database, which is not asked too often. */
static bool look(struct kr_stage *stage, struct kr_stage_lane *lane, bool may_ask, bool *asked)
{
	const struct kl_driver *driver = stage->runner->store.driver;
	int64_t now = kl_now(), since = lane->sent > stage->event ? lane->sent : stage->event;

	if (!driver->blocked)
		return now - since >= stage->runner->grace;
	if (!may_ask || now - since < driver->silence_ms * MS)
		return false;
	*asked = true;
	return driver->blocked(&stage->runner->store, lane->client);
}

/* Looks at those of whom it is not known yet. True: all wait. */
static bool look_at_all(struct kr_stage *stage)
{
	int64_t now = kl_now();
	bool all = true, asked = false,
	     may_ask = now - stage->looked >= stage->runner->store.driver->look_ms * MS;

	for (int t = 1; t <= KR_COO_TXNS; t++) {
		struct kr_stage_lane *lane = &stage->lanes[t];

		if (lane->state == KR_LANE_IDLE || (lane->waits_since && lane->waits_since >= stage->event))
			continue;
		if (!look(stage, lane, may_ask, &asked)) {
			all = false;
			continue;
		}
		lane->waits_since = now;
		lane->step->blocked = true;
		lane->step->waited_until = now;
	}
	if (asked)
		stage->looked = now;
	for (int t = 1; t <= KR_COO_TXNS; t++)
		all = all && stage->lanes[t].state != KR_LANE_DONE;
	return all;
}

/* Until each has been answered or is known to wait; or until the given time. */
static void settle(struct kr_stage *stage, int64_t until)
{
	for (;;) {
		take_answers(stage);
		if (all_idle(stage) || look_at_all(stage) || kl_now() > until)
			return;
		wait_for_answer(stage, TICK_MS * MS / 2);
	}
}

static void let_one_give_up(struct kr_stage *stage)
{
	struct kr_stage_lane *longest = NULL;

	for (int t = 1; t <= KR_COO_TXNS; t++)
		if (stage->lanes[t].state == KR_LANE_BUSY &&
			(!longest || stage->lanes[t].sent < longest->sent))
			longest = &stage->lanes[t];
	if (longest)
		stage->runner->store.driver->give_up(longest->client);
}

/* All that is in flight comes back. False: it does not. */
static bool come_back(struct kr_stage *stage)
{
	int64_t until = kl_now() + stage->runner->cap;

	while (settle(stage, until), !all_idle(stage) && kl_now() < until) {
		if (stage->runner->store.driver->give_up)
			let_one_give_up(stage);
		wait_for_answer(stage, TICK_MS * MS);
	}
	return all_idle(stage);
}

static bool is_over(const struct kr_stage *stage, uint8_t txn)
{
	return stage->attempt->parts[txn].outcome != KR_PART_OPEN;
}

static bool conduct(struct kr_stage *stage)
{
	const struct kr_coo_schedule *s = stage->schedule;
	int64_t until = kl_now() + stage->runner->cap;

	for (uint32_t i = 0; i < s->ops.n; i++) {
		struct kr_stage_lane *lane = &stage->lanes[s->ops.at[i].txn];
		struct kr_done *step = &stage->attempt->steps[i];
		bool over = lane->state == KR_LANE_IDLE && is_over(stage, lane->txn);

		if (over || (step->op.kind >= KR_COO_COMMIT && lane->queued == 0))
			continue;
		lane->queue[lane->queued++] = step;
		(void)send_next(lane);
		settle(stage, until);
	}
	if (!come_back(stage))
		return false;
	for (uint8_t t = 1; t <= KR_COO_TXNS; t++)
		if (stage->attempt->parts[t].began && !is_over(stage, t))
			tell(&stage->lanes[t], KR_TASK_ROLL_BACK, NULL);
	return wait_for_all(stage);
}

/* ---- before and after ---- */

static bool say_failed(struct kr_stage *stage, const char *what, const struct kl_result *r)
{
	return kl_fail(&stage->runner->store, "%s: %s %s", what, r->code, r->message);
}

/* In one transaction of the control client: objects become what the schedule says, or are read. */
static bool with_objects(struct kr_stage *stage, struct kr_shown *read)
{
	const struct kl_driver *driver = stage->runner->store.driver;
	struct kl_result r = {0};

	stage->control->only_reads = read != NULL;
	stage->control->id = read ? "final" : "reset";
	bool fine = driver->begin(stage->control, &r) == KL_OK;
	for (char object = 'd'; object <= 'z' && fine; object++) {
		char key[4];
		struct kl_op op = {.key = kr_object_key(object, key), .kind = KL_READ};

		if (!(read ? stage->attempt->used : stage->used)[kr_coo_index(object)])
			continue;
		if (!read)
			op.kind = kr_coo_initial(stage->schedule, object, &op.value) ? KL_WRITE : KL_DELETE;
		kr_result_clear(&r);
		fine = driver->run(stage->control, &op, &r) == KL_OK;
		if (read)
			read[kr_coo_index(object)] = (struct kr_shown){r.found, r.found ? r.value : 0};
	}
	fine = fine && driver->commit(stage->control, &r) == KL_OK;
	if (!fine)
		(void)say_failed(stage, stage->control->id, &r);
	free(r.rows);
	return fine;
}

static bool prepare(struct kr_stage *stage, const struct kr_coo_schedule *s, struct kr_attempt *a)
{
	char objects[2];

	a->steps_n = s->ops.n;
	for (int t = 0; t <= KR_COO_TXNS; t++) {
		struct kr_stage_lane *lane = &stage->lanes[t];

		a->parts[t] = (struct kr_lab_part){.failed = -1};
		lane->queued = lane->next = 0;
	}
	for (uint32_t i = 0; i < s->ops.n; i++) {
		const struct kr_coo_op *op = &s->ops.at[i];

		a->steps[i] = (struct kr_done){.op = *op};
		if (op->kind == KR_COO_QUERY || op->kind == KR_COO_UPDATE) {
			kr_coo_range(op->object, objects);
			a->used[kr_coo_index(objects[0])] = a->used[kr_coo_index(objects[1])] = true;
		} else if (op->object) {
			a->used[kr_coo_index(op->object)] = true;
		}
	}
	for (int i = 0; i < KR_COO_OBJECTS; i++)
		stage->used[i] |= a->used[i];
	return with_objects(stage, NULL);
}

/* NULL after kl_refuse. */
static const struct kl_level *level_of(struct kr_stage *stage, const struct kr_coo_schedule *s, int txn)
{
	if (!s->level[txn][0])
		return stage->level;
	for (const struct kl_level *l = stage->runner->store.driver->levels; l->name; l++)
		if (strcmp(l->name, s->level[txn]) == 0)
			return l;
	(void)kl_refuse(&stage->runner->store, "case '%s': the driver has no level '%s'", s->id,
		s->level[txn]);
	return NULL;
}

/* Each transaction of the schedule has a client at its level, which is ready. */
static bool connect_all(struct kr_stage *stage, const struct kr_coo_schedule *s)
{
	for (uint32_t i = 0; i < s->ops.n; i++) {
		struct kr_stage_lane *lane = &stage->lanes[s->ops.at[i].txn];
		const struct kl_level *level = level_of(stage, s, lane->txn);
		pthread_attr_t attributes;

		if (!level)
			return false;
		(void)pthread_attr_init(&attributes);
		(void)pthread_attr_setstacksize(&attributes, STACK);
		if (!lane->threaded)
			lane->threaded = pthread_create(&lane->thread, &attributes, kr_lane_run, lane) == 0;
		(void)pthread_attr_destroy(&attributes);
		if (!lane->threaded)
			return kl_fail(&stage->runner->store, "cannot start a thread");
		if ((lane->client && lane->level == level) || lane->state == KR_LANE_BUSY)
			continue;
		lane->level = level;
		tell(lane, KR_TASK_CONNECT, NULL);
	}
	if (!wait_for_all(stage))
		return false;
	for (uint32_t i = 0; i < s->ops.n; i++)
		if (!stage->lanes[s->ops.at[i].txn].client)
			return false;
	return true;
}

bool kr_is_buffered(const struct kr_runner *r, const struct kl_level *level)
{
	const struct kl_driver *driver = r->store.driver;

	return driver->facts & KL_BUFFERED ||
		(driver->buffered && strncmp(level->name, driver->buffered, strlen(driver->buffered)) == 0);
}

bool kr_stage_run(struct kr_stage *stage, const struct kr_coo_schedule *s, struct kr_attempt *out)
{
	stage->schedule = s;
	stage->attempt = out;
	if (!prepare(stage, s, out) || !connect_all(stage, s))
		return false;
	out->began = kl_now();
	if (!conduct(stage)) {
		out->stuck = true;
		out->ended = kl_now();
		return true;
	}
	for (int t = 1; t <= KR_COO_TXNS; t++) /* who lost a connection gets another one */
		if (out->parts[t].failed >= 0 && out->steps[out->parts[t].failed].answer >= KL_GONE)
			stage->lanes[t].level = NULL;
	out->final_begin[0] = kl_now();
	if (!with_objects(stage, out->final))
		return false;
	out->final_end[1] = out->ended = kl_now();
	out->final_begin[1] = out->final_begin[0];
	out->final_end[0] = out->final_end[1];
	return true;
}

/* What it sees is what there is. */
static const struct kl_level *strictest_like(const struct kr_runner *r, const struct kl_level *level)
{
	const struct kl_level *l = r->store.driver->levels;

	while (kr_is_buffered(r, l) != kr_is_buffered(r, level))
		l++;
	return l;
}

struct kr_stage *kr_stage_open(struct kr_runner *r, const struct kl_level *level)
{
	struct kr_stage *stage = calloc(1, sizeof *stage);
	struct kl_result result = {0};
	pthread_condattr_t clock;

	if (!stage)
		return NULL;
	stage->runner = r;
	stage->level = level;
	(void)pthread_mutex_init(&stage->lock, NULL);
	(void)pthread_condattr_init(&clock);
	(void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&stage->told, NULL);
	(void)pthread_cond_init(&stage->answered, &clock);
	(void)pthread_condattr_destroy(&clock);
	for (int t = 0; t <= KR_COO_TXNS; t++) {
		stage->lanes[t].stage = stage;
		stage->lanes[t].txn = (uint8_t)t;
	}
	stage->control = kr_stage_connect(stage, strictest_like(r, level), 0, &result);
	free(result.rows);
	if (stage->control)
		return stage;
	kr_stage_close(stage);
	return NULL;
}

void kr_stage_close(struct kr_stage *stage)
{
	for (int t = 1; t <= KR_COO_TXNS; t++) {
		struct kr_stage_lane *lane = &stage->lanes[t];

		if (!lane->threaded)
			continue;
		tell(lane, KR_TASK_LEAVE, NULL);
		(void)pthread_join(lane->thread, NULL);
		free(lane->result.rows);
	}
	if (stage->control)
		stage->runner->store.driver->close(stage->control);
	(void)pthread_cond_destroy(&stage->told);
	(void)pthread_cond_destroy(&stage->answered);
	(void)pthread_mutex_destroy(&stage->lock);
	free(stage);
}
