/* A client: plans, runs and tells one transaction after the other. What becomes of it is told by what the
 * database said, and by nothing else:
 *
 *     commit was answered                                   committed
 *     the database ended it, or commit was not sent         aborted
 *     commit was sent and not answered                      unknown
 *
 * Each transaction is told in its slot before anything of it is sent. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/run.h"
#include "lab/tell.h"

enum { CONNECT_MS = 30000 };

static void pause_ns(int64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	if (ns > 0)
		(void)nanosleep(&time, NULL);
}

static bool is_stopped(const struct kr_run *run)
{
	const struct kr_control *c = run->control;

	return c->stop || (c->began && kl_now() - c->began - c->late - kr_run_late(c) > run->duration);
}

static struct kl_client *open_client(const struct kr_session *s)
{
	struct kl_store *store = &s->run->store;

	return store->nodes > 1 ? store->driver->connect_to(store, s->node) : store->driver->connect(store);
}

static void drop_client(struct kr_session *s, uint32_t node)
{
	if (s->nodes[node])
		s->run->store.driver->close(s->nodes[node]);
	s->nodes[node] = NULL;
}

/* Servers come back after a fault. */
static bool connect(struct kr_session *s)
{
	int64_t end = kl_now() + (int64_t)CONNECT_MS * 1000000;

	while (!s->run->control->stop) {
		s->client = s->nodes[s->node] = open_client(s);
		if (s->client) {
			s->client->store = &s->run->store;
			s->client->number = s->number;
			return true;
		}
		if (s->run->control->fault_due) /* it may be away for as long as that takes */
			end = kl_now() + (int64_t)CONNECT_MS * 1000000;
		if (kl_now() > end) {
			kr_run_fail(s->run, KR_RUN_FAILED, "client %" PRIu32 " cannot connect: %s", s->number,
				s->run->store.why);
			return false;
		}
		pause_ns(20000000);
	}
	return false;
}

/* But for what lies behind the start of the message. */
static void clear(struct kl_result *r)
{
	struct kl_row *rows = r->rows;
	char *cells = r->cells, *view = r->view;
	size_t row_cap = r->row_cap, cells_cap = r->cells_cap, view_cap = r->view_cap;

	memset(r, 0, offsetof(struct kl_result, message) + 1);
	r->rows = rows;
	r->row_cap = row_cap;
	r->cells = cells;
	r->cells_cap = cells_cap;
	r->view = view;
	r->view_cap = view_cap;
	if (view)
		view[0] = '\0';
	r->sent = kl_now();
}

static void forget_order(struct kl_result *r)
{
	r->own = r->mark = 0;
	r->has_place = false;
	for (size_t i = 0; i < r->row_count; i++)
		r->rows[i].mark = 0;
}

/* What a call came to. */
enum kl_answer kr_session_answered(struct kr_session *s, const char *what, struct kl_result *r,
	enum kl_answer answer)
{
	r->answered = r->answered ? r->answered : kl_now();
	if (!s->run->store.certificate)
		forget_order(r);
	s->own = r->own ? r->own : s->own;
	if (answer == KL_BUG)
		kr_run_fail(s->run, KR_RUN_FAILED, "%s of %s: unexpected answer %s: %s", what, s->client->id,
			r->code, r->message);
	return answer;
}

static bool only_reads(const struct kr_plan *plan)
{
	if (plan->work->workload->more)
		return plan->reads_only;
	for (uint32_t i = 0; i < plan->n; i++)
		if (!(KL_BIT(plan->steps[i].op.kind) & KL_READS))
			return false;
	return true;
}

static enum kl_answer begin(struct kr_session *s, struct kl_result *r)
{
	s->client->only_reads = only_reads(&s->plan);
	clear(r);

	enum kl_answer answer = kr_session_answered(s, "begin", r, s->run->store.driver->begin(s->client, r));

	if (answer == KL_OK)
		kr_slot_begun(s->run->slots[s->number], r->answered);
	return answer;
}

static enum kl_answer run_step(struct kr_session *s, uint32_t i)
{
	struct kr_slot *slot = s->run->slots[s->number];
	const struct kr_step *step = &s->plan.steps[i];
	struct kl_result *r = &s->results[i];
	struct kl_op op = step->op;

	clear(r);
	if (op.kind == KL_SQL)
		return kr_statement_run(s, i);
	if (step->from >= 0 && !s->results[step->from].found)
		return KL_OK;
	if (step->from >= 0)
		op.value += s->results[step->from].value;
	kr_slot_sent(slot, &op);
	r->sent = kl_now();

	enum kl_answer answer =
		kr_session_answered(s, step->key, r, s->run->store.driver->run(s->client, &op, r));

	if (answer == KL_OK && (s->run->store.driver->facts & KL_BUFFERED) && !(KL_BIT(op.kind) & KL_READS))
		r->sent = 0;
	if (!kr_slot_answered(slot, &op, r, answer)) {
		kr_run_fail(s->run, KR_RUN_FAILED, "transaction %s has no room for what was answered",
			s->client->id);
		return KL_BUG;
	}
	s->run->control->statements_failed += answer == KL_STATEMENT;
	return answer;
}

/* Of a script that has an order. */
static void begin_turn(struct kr_session *s)
{
	if (s->run->turns)
		kr_turn_begin(s->run->turns, s->number);
}

static void end_turn(struct kr_session *s)
{
	if (s->run->turns)
		kr_turn_end(s->run->turns, s->number);
}

/* Where the workload can tell what is right, half of a program would not be. */
static enum kl_answer run_steps(struct kr_session *s)
{
	const struct kr_workload *workload = s->plan.work->workload;
	enum kl_answer answer = KL_OK;

	for (uint32_t i = 0; i < s->plan.n && (answer == KL_OK || answer == KL_STATEMENT); i++) {
		begin_turn(s);
		answer = run_step(s, i);
		end_turn(s);
		s->plan.refrains |= answer == KL_STATEMENT && workload->holds;
		if (s->run->think > 0)
			pause_ns((int64_t)kr_rng_below(&s->chance, s->run->think + 1) * 1000);
		if (workload->more && i + 1 == s->plan.n && answer == KL_OK)
			workload->more(&s->plan, s->results);
		if (s->plan.refrains)
			break;
	}
	return answer == KL_STATEMENT ? KL_OK : answer;
}

/* Hangs up about the commit, every other time before it was sent. To a client it is all the same. */
static enum kl_answer lose(struct kr_session *s)
{
	s->run->store.driver->hang_up(s->client, kr_rng_below(&s->chance, 2) == 0);
	return KL_GONE;
}

static const char *commit(struct kr_session *s, struct kl_result *r)
{
	const struct kl_driver *driver = s->run->store.driver;
	bool loses =
		driver->hang_up && (kr_rng_double(&s->chance) * 100 < s->run->lost || s->run->store.loses);

	begin_turn(s);
	clear(r);
	kr_slot_ending(s->run->slots[s->number], KR_SLOT_COMMITTING, r->sent);

	enum kl_answer answer =
		kr_session_answered(s, "commit", r, loses ? lose(s) : driver->commit(s->client, r));

	end_turn(s);
	switch (answer) {
	case KL_OK: return "committed";
	case KL_GONE:
	case KL_BUG: return "unknown";
	default: return "aborted";
	}
}

/* The program gives up. */
static enum kl_answer roll_back(struct kr_session *s, struct kl_result *r)
{
	clear(r);
	kr_slot_ending(s->run->slots[s->number], KR_SLOT_ROLLING_BACK, r->sent);
	return kr_session_answered(s, "rollback", r, s->run->store.driver->rollback(s->client, r));
}

static void count(struct kr_session *s, const char *status)
{
	struct kr_control *control = s->run->control;

	switch (status[0]) {
	case 'c': control->committed++; break;
	case 'a': control->aborted++; break;
	default: control->unknown++;
	}
}

/* The line of the transaction, with what its workload says of it. */
static bool tell(struct kr_session *s, const char *status, const struct kl_result *r)
{
	const struct kr_workload *workload = s->run->work.workload;
	bool committed = status[0] == 'c';
	struct kr_slot_end end = {.client = s->number,
		.status = status,
		.answered = r->answered,
		.commit = committed ? r : NULL,
		.own = s->own,
		.level = kr_run_one_level(s->run) ? NULL : s->client->level->name};

	if (committed && workload->holds && !workload->holds(&s->plan, s->results)) {
		end.breaks = workload->name;
		s->run->control->broken++;
	}
	count(s, status);
	if (kr_slot_end(s->run->slots[s->number], &end, s->run->file))
		return true;
	kr_run_fail(s->run, KR_RUN_FAILED, "%s: cannot write", s->run->path);
	return false;
}

static uint32_t home_node(const struct kr_session *s) { return s->number % s->run->store.nodes; }

static int32_t session_node(const struct kr_session *s)
{
	if (s->run->store.nodes == 1)
		return KR_SLOT_ONE_NODE;
	return s->run->spread ? KR_SLOT_ANY_NODE : (int32_t)home_node(s);
}

/* A script may say it of its transactions. */
static const struct kl_level *level_of(const struct kr_session *s)
{
	const struct kl_level *own = s->run->work.script ? s->run->txn_levels[s->plan.program] : NULL;

	return own ? own : kr_run_level(s->run, s->number);
}

/* One transaction, as planned. False: the client is done. */
static bool run_transaction(struct kr_session *s)
{
	struct kl_result *r = &s->results[KR_STEPS_MOST];
	const char *status = "aborted";
	char id[32];
	struct kr_line name = {.at = id, .size = sizeof id};

	kr_slot_id(&name, s->number, s->done);
	s->client->id = id;
	s->client->level = level_of(s);
	s->own = 0;
	kr_slot_begin(s->run->slots[s->number], s->done++, session_node(s), kl_now());

	enum kl_answer answer = begin(s, r);

	if (answer == KL_OK)
		answer = run_steps(s);
	if (answer == KL_OK && s->plan.refrains)
		answer = roll_back(s, r);
	else if (answer == KL_OK)
		status = commit(s, r);
	else
		r->answered = kl_now();

	if (s->run->turns)
		kr_turns_leave(s->run->turns, s->number);
	if (!tell(s, status, r))
		return false;
	s->plan.committed = status[0] == 'c';
	s->plan.aborted = status[0] == 'a';
	if (answer == KL_GONE || status[0] == 'u')
		drop_client(s, s->node);
	return !s->run->control->failed;
}

static void plan(struct kr_session *s, void (*make)(struct kr_plan *plan))
{
	struct kr_plan *p = &s->plan;

	p->n = p->program = p->stage = 0;
	p->reads_only = p->audits = p->refrains = false;
	memset(p->at, 0, sizeof p->at);
	p->txns = s->done;
	make(p);
}

/* The clients together start so many transactions a second. */
static void keep_rate(const struct kr_session *s, uint64_t number)
{
	if (s->run->rate > 0) {
		double due = (double)(number * s->run->clients + s->number) / s->run->rate * 1e9;

		pause_ns(s->run->control->began + (int64_t)due - kl_now());
	}
}

/* What writes, or locks, is for the first node: not for those that only read. */
static bool is_for_replicas(const struct kr_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++)
		if (plan->steps[i].op.lock != KL_NO_LOCK)
			return false;
	return only_reads(plan);
}

/* A client is of one node; where transactions go to any, it may be another one each time. */
static bool choose_node(struct kr_session *s)
{
	const struct kl_store *store = &s->run->store;

	s->node = s->run->spread ? (uint32_t)kr_rng_below(&s->chance, store->nodes) : home_node(s);
	if (store->only_reads[s->node] && !is_for_replicas(&s->plan))
		s->node = 0;
	s->client = s->nodes[s->node];
	return s->client || connect(s);
}

static void run_all(struct kr_session *s)
{
	while (s->done < s->run->txns && !is_stopped(s->run)) {
		keep_rate(s, s->done);
		plan(s, s->run->work.workload->plan);
		if (!choose_node(s) || !run_transaction(s))
			return;
	}
}

static bool open_session(struct kr_session *s)
{
	s->results = calloc(KR_STEPS_MOST + 1, sizeof *s->results);
	return s->results && choose_node(s);
}

static void close_session(struct kr_session *s)
{
	if (!kr_slot_flush(s->run->slots[s->number], s->run->file))
		kr_run_fail(s->run, KR_RUN_FAILED, "%s: cannot write", s->run->path);
	for (uint32_t i = 0; i < KL_NODES_MOST; i++)
		drop_client(s, i);
	for (size_t i = 0; s->results && i <= KR_STEPS_MOST; i++) {
		free(s->results[i].rows);
		free(s->results[i].cells);
		free(s->results[i].view);
	}
	free(s->results);
	s->results = NULL;
}

void *kr_session_run(void *session)
{
	struct kr_session *s = session;
	bool connected = open_session(s);

	(void)pthread_barrier_wait(s->start);
	if (connected)
		run_all(s);
	close_session(s);
	return NULL;
}

void kr_session_audit(struct kr_session *s)
{
	plan(s, s->run->work.workload->audit);
	if (open_session(s))
		(void)run_transaction(s);
	close_session(s);
}

struct kl_row *kl_result_row(struct kl_result *result, const char *key, size_t length, int64_t value)
{
	if (result->row_count == result->row_cap) {
		size_t cap = result->row_cap ? 2 * result->row_cap : 16;
		struct kl_row *rows = realloc(result->rows, cap * sizeof *rows);

		if (!rows)
			return NULL;
		result->rows = rows;
		result->row_cap = cap;
	}

	struct kl_row *row = &result->rows[result->row_count++];

	*row = (struct kl_row){.value = value};
	length = length < KL_KEY ? length : KL_KEY - 1;
	memcpy(row->key, key, length);
	return row;
}

bool kl_result_view(struct kl_result *result, const char *text)
{
	size_t size = strlen(text) + 1;

	if (size > result->view_cap) {
		char *view = realloc(result->view, 2 * size);

		if (!view)
			return false;
		result->view = view;
		result->view_cap = 2 * size;
	}
	memcpy(result->view, text, size);
	return true;
}

bool kl_result_add_cell(struct kl_result *result, const char *text, size_t length)
{
	size_t needs = result->cells_n + length + 2;

	if (needs > result->cells_cap) {
		char *cells = realloc(result->cells, 2 * needs);

		if (!cells)
			return false;
		result->cells = cells;
		result->cells_cap = 2 * needs;
	}
	result->cells[result->cells_n] = text ? '=' : '0';
	if (text)
		memcpy(result->cells + result->cells_n + 1, text, length);
	result->cells[needs - 1] = '\0';
	result->cells_n = needs;
	return true;
}

const char *kl_result_cell(const struct kl_result *result, int64_t line, uint32_t column)
{
	const char *cell = result->cells;

	for (uint64_t i = (uint64_t)(line + 1) * result->columns + column; i > 0; i--)
		cell += strlen(cell) + 1;
	return *cell == '=' ? cell + 1 : NULL;
}

bool kl_result_list(struct kl_result *result, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		char *after;
		int64_t value = strtoll(text, &after, 10);

		if (!kl_result_row(result, "", 0, value))
			return false;
		text = after + 1;
	}
	return true;
}

enum kl_answer kl_error(struct kl_result *result, enum kl_answer answer, const char *code,
	const char *message)
{
	(void)snprintf(result->code, sizeof result->code, "%s", code);
	(void)snprintf(result->message, sizeof result->message, "%s", message);
	for (char *c = result->message; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return answer;
}
