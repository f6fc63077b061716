/* A transaction's client, in a thread of its own: what it is told to do it does, with the times, and says
 * what was answered. The first error ends the transaction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/provoke_stage.h"

void kr_result_clear(struct kl_result *r)
{
	struct kl_row *rows = r->rows;
	size_t cap = r->row_cap;

	*r = (struct kl_result){.rows = rows, .row_cap = cap};
}

bool kr_step_op(const struct kr_coo_schedule *s, const struct kr_coo_op *op, char key[4], char high[4],
	struct kl_op *out)
{
	static const struct {
		enum kl_kind kind;
		enum kl_lock lock;
	} kinds[KR_COO_KINDS] = {
		[KR_COO_READ] = {KL_READ, KL_NO_LOCK},
		[KR_COO_WRITE] = {KL_WRITE, KL_NO_LOCK},
		[KR_COO_DELETE] = {KL_DELETE, KL_NO_LOCK},
		[KR_COO_INSERT] = {KL_INSERT, KL_NO_LOCK},
		[KR_COO_LOCK_READ] = {KL_READ, KL_EXCLUSIVE},
		[KR_COO_QUERY] = {KL_RANGE, KL_NO_LOCK},
		[KR_COO_UPDATE] = {KL_UPDATE, KL_NO_LOCK},
	};
	char objects[2];
	int64_t value;

	if (op->kind == KR_COO_COMMIT || op->kind == KR_COO_ABORT)
		return false;
	*out = (struct kl_op){.kind = kinds[op->kind].kind,
		.lock = kinds[op->kind].lock,
		.key = key,
		.high = high,
		.value = op->value,
		.ge = INT64_MIN,
		.lt = INT64_MAX};
	if (op->kind != KR_COO_QUERY && op->kind != KR_COO_UPDATE) {
		(void)kr_object_key(op->object, key);
		out->exists = kr_coo_initial(s, op->object, &value);
		for (uint32_t i = 0; i < s->ops.n; i++)
			out->exists = out->exists &&
				(s->ops.at[i].kind != KR_COO_DELETE || s->ops.at[i].object != op->object);
		return true;
	}
	kr_coo_range(op->object, objects);
	(void)kr_object_key(objects[0], key);
	(void)snprintf(high, 4, "%cz", objects[0]);
	return true;
}

static void see(struct kr_done *step, const struct kl_result *r)
{
	char objects[2], key[4];

	step->done = r->done;
	switch ((enum kr_coo_kind)step->op.kind) {
	case KR_COO_READ:
	case KR_COO_LOCK_READ: step->seen[0] = (struct kr_shown){r->found, r->found ? r->value : 0}; break;
	case KR_COO_QUERY:
	case KR_COO_UPDATE:
		kr_coo_range(step->op.object, objects);
		for (size_t i = 0; i < r->row_count; i++)
			for (int k = 0; k < KR_SEEN; k++)
				if (strcmp(r->rows[i].key, kr_object_key(objects[k], key)) == 0)
					step->seen[k] = (struct kr_shown){true, r->rows[i].value};
		step->done = r->row_count > 0;
		break;
	default: break;
	}
}

static enum kl_answer begin(struct kr_stage_lane *lane, struct kr_lab_part *part)
{
	const struct kl_driver *driver = lane->stage->runner->store.driver;
	const struct kr_coo_schedule *s = lane->stage->schedule;

	lane->client->only_reads = true;
	for (uint32_t i = 0; i < s->ops.n; i++)
		if (s->ops.at[i].txn == lane->txn && s->ops.at[i].kind < KR_COO_COMMIT)
			lane->client->only_reads = lane->client->only_reads &&
				(s->ops.at[i].kind == KR_COO_READ || s->ops.at[i].kind == KR_COO_QUERY);
	part->began = true;
	part->begin[0] = kl_now();
	enum kl_answer answer = driver->begin(lane->client, &lane->result);
	part->begin[1] = kl_now();
	return answer;
}

static enum kl_answer do_step(struct kr_stage_lane *lane, struct kr_done *step, struct kr_lab_part *part)
{
	const struct kl_driver *driver = lane->stage->runner->store.driver;
	char key[4], high[4];
	struct kl_op op;
	enum kl_answer answer;

	kr_result_clear(&lane->result);
	if (step->op.kind == KR_COO_COMMIT)
		return driver->commit(lane->client, &lane->result);
	if (step->op.kind == KR_COO_ABORT)
		return driver->rollback(lane->client, &lane->result);
	if (!part->began) {
		answer = begin(lane, part);
		if (answer != KL_OK)
			return answer;
		kr_result_clear(&lane->result);
		step->sent = kl_now();
	}
	(void)kr_step_op(lane->stage->schedule, &step->op, key, high, &op);
	if (driver->statement)
		driver->statement(lane->client, &op, step->text, sizeof step->text);
	answer = driver->run(lane->client, &op, &lane->result);
	if (answer == KL_OK)
		see(step, &lane->result);
	return answer;
}

/* The transaction is over, if not by what the step says. */
static void end_failed(struct kr_stage_lane *lane, const struct kr_done *step, struct kr_lab_part *part)
{
	enum kl_answer answer = (enum kl_answer)step->answer;
	bool committing = step->op.kind == KR_COO_COMMIT;
	struct kl_result none = {0};
	int64_t now = kl_now();

	part->failed = (int32_t)(step - lane->stage->attempt->steps);
	part->outcome = committing && answer >= KL_GONE ? KR_PART_UNKNOWN : KR_PART_ABORTED;
	/* what undoes a statement only leaves the rest as it was until the rollback */
	part->end[0] = answer == KL_STATEMENT ? now
		: step->sent > part->begin[1] ? step->sent
					      : part->begin[1];
	if (answer == KL_STATEMENT || answer == KL_BUG)
		(void)lane->stage->runner->store.driver->rollback(lane->client, &none);
	part->end[1] = kl_now();
	free(none.rows);
}

static void run_step(struct kr_stage_lane *lane)
{
	struct kr_attempt *attempt = lane->stage->attempt;
	struct kr_lab_part *part = &attempt->parts[lane->txn];
	struct kr_done *step = lane->step;
	char id[8];

	(void)snprintf(id, sizeof id, "T%d", lane->txn);
	lane->client->id = id;
	step->sent_at_all = true;
	step->sent = kl_now();
	step->answer = (uint8_t)do_step(lane, step, part);
	step->answered = lane->result.answered ? lane->result.answered : kl_now();
	step->answered_at_all = step->answer != KL_GONE;
	(void)snprintf(step->code, sizeof step->code, "%s", lane->result.code);
	(void)snprintf(step->message, sizeof step->message, "%.150s", lane->result.message);
	if (step->answer != KL_OK) {
		end_failed(lane, step, part);
	} else if (step->op.kind >= KR_COO_COMMIT) {
		part->outcome = step->op.kind == KR_COO_COMMIT ? KR_PART_COMMITTED : KR_PART_ABORTED;
		part->end[0] = step->sent;
		part->end[1] = step->answered;
	}
}

static void roll_back(struct kr_stage_lane *lane)
{
	struct kr_lab_part *part = &lane->stage->attempt->parts[lane->txn];

	kr_result_clear(&lane->result);
	part->end[0] = kl_now();
	(void)lane->stage->runner->store.driver->rollback(lane->client, &lane->result);
	part->end[1] = kl_now();
	part->outcome = KR_PART_ABORTED;
}

static void hang_up(struct kr_stage_lane *lane)
{
	if (lane->client)
		lane->stage->runner->store.driver->close(lane->client);
	lane->client = NULL;
}

/* What is said once for a connection is said now: a first transaction that does nothing. */
struct kl_client *kr_stage_connect(struct kr_stage *stage, const struct kl_level *level, uint32_t number,
	struct kl_result *result)
{
	const struct kl_driver *driver = stage->runner->store.driver;
	struct kl_client *client = driver->connect(&stage->runner->store);

	if (!client)
		return NULL;
	client->store = &stage->runner->store;
	client->level = level;
	client->number = number;
	client->id = "ready";
	client->only_reads = true;
	kr_result_clear(result);
	if (driver->begin(client, result) == KL_OK && driver->rollback(client, result) == KL_OK)
		return client;
	(void)kl_fail(&stage->runner->store, "%s", result->message);
	driver->close(client);
	return NULL;
}

void *kr_lane_run(void *data)
{
	struct kr_stage_lane *lane = data;
	struct kr_stage *stage = lane->stage;
	enum kr_task task;

	do {
		(void)pthread_mutex_lock(&stage->lock);
		while (lane->task == KR_TASK_NONE)
			(void)pthread_cond_wait(&stage->told, &stage->lock);
		task = lane->task;
		lane->task = KR_TASK_NONE;
		(void)pthread_mutex_unlock(&stage->lock);
		switch (task) {
		case KR_TASK_CONNECT:
			hang_up(lane);
			lane->client = kr_stage_connect(stage, lane->level, lane->txn, &lane->result);
			break;
		case KR_TASK_STEP: run_step(lane); break;
		case KR_TASK_ROLL_BACK: roll_back(lane); break;
		default: hang_up(lane);
		}
		(void)pthread_mutex_lock(&stage->lock);
		lane->state = KR_LANE_DONE;
		(void)pthread_cond_signal(&stage->answered);
		(void)pthread_mutex_unlock(&stage->lock);
	} while (task != KR_TASK_LEAVE);
	return NULL;
}
