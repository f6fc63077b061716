/* The worker: starts the store, loads it, lets the clients run, does the faults, asks for the order, stops
 * the store. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/output.h"
#include "lab/home.h"
#include "lab/relay.h"
#include "lab/run.h"
#include "lab/sink.h"

enum { STACK = 512 << 10 };

const struct kl_level *kr_run_level(const struct kr_run *run, uint32_t client)
{
	uint32_t i = 0;

	while (i + 1 < run->share_count && client >= run->shares[i].clients) {
		client -= run->shares[i].clients;
		i++;
	}
	return run->shares[i].level;
}

const struct kl_level *kr_run_one_level(const struct kr_run *run)
{
	const struct kl_level *level = run->shares[0].level;

	for (uint32_t i = 0; run->work.script && i < run->work.script->txns_n; i++)
		if (run->txn_levels[i] && run->txn_levels[i] != level)
			return NULL;
	return run->share_count == 1 ? level : NULL;
}

const char *kr_run_keeps(const struct kr_run *run, const struct kl_level *level)
{
	const struct kl_driver *driver = run->store.driver;

	if (run->store.nodes == 1)
		return level->keeps;
	return driver->cluster_keeps ? driver->cluster_keeps[level - driver->levels] : NULL;
}

void kr_run_fail(struct kr_run *run, enum kr_run_failure kind, const char *format, ...)
{
	va_list args;

	if (run->control->failing++ == 0) {
		va_start(args, format);
		(void)vsnprintf(run->control->message, sizeof run->control->message, format, args);
		va_end(args);
		run->control->failed = kind;
	}
	run->control->stop = 1;
}

static void fail_store(struct kr_run *run)
{
	static const enum kr_run_failure kinds[] =
		{[KL_FAILED] = KR_RUN_FAILED, [KL_LACKING] = KR_RUN_LACKING, [KL_REFUSING] = KR_RUN_REFUSED};

	kr_run_fail(run, kinds[run->store.failure], "%s: %s", run->store.driver->name, run->store.why);
}

/* ---- faults ---- */

void kr_fault_wait(int64_t ns)
{
	int64_t wait = ns > 0 ? ns : KR_FAULT_USUAL;
	struct timespec time = {(time_t)(wait / 1000000000), (long)(wait % 1000000000)};

	(void)nanosleep(&time, NULL);
}

bool kr_fault_has_socket(const struct kl_store *store)
{
	return store->driver->socket && !store->connect && store->nodes == 1;
}

/* What faults need must be there before the server is. */
static bool prepare_faults(struct kr_run *run)
{
	bool relayed = false;

	for (uint32_t i = 0; i < run->planned_n; i++) {
		relayed |= run->planned[i].fault->relayed;
		run->store.parts |= run->planned[i].fault->parts;
		run->store.small_disk |= run->planned[i].fault->small_disk;
	}
	return relayed;
}

int64_t kr_run_late(const struct kr_control *control)
{
	int64_t due = control->fault_due, now = kl_now();

	return due > 0 && now > due ? now - due : 0;
}

static void do_fault(struct kr_run *run, const struct kr_planned *planned)
{
	struct kr_control *control = run->control;
	uint32_t n = control->events_n;
	int64_t from = kl_now();

	control->fault_due = from + (planned->lasts > 0 ? planned->lasts : KR_FAULT_USUAL);
	bool fine = planned->fault->run(&run->store, planned->lasts);
	control->late += kr_run_late(control);
	control->fault_due = 0;
	if (!fine) {
		kr_run_fail(run, KR_RUN_FAILED, "fault %s: %s", planned->fault->name, run->store.why);
		return;
	}
	if (n == KR_EVENTS_MOST)
		return;
	(void)snprintf(control->events[n].name, sizeof control->events[n].name, "%s", planned->fault->name);
	control->events[n].from = from;
	control->events[n].to = kl_now();
	control->events_n = n + 1;
}

/* One after the other, by time, until the clients are done. */
static void *do_faults(void *data)
{
	struct kr_run *run = data;
	struct kr_planned todo[KR_PLANNED_MOST];

	memcpy(todo, run->planned, sizeof todo);
	while (!run->control->stop && run->planned_n > 0) {
		struct kr_planned *next = &todo[0];
		static const struct timespec tick = {0, 5000000};

		for (uint32_t i = 1; i < run->planned_n; i++)
			next = todo[i].at < next->at ? &todo[i] : next;
		if (next->at == INT64_MAX)
			break;
		if (kl_now() - run->control->began < next->at) {
			(void)nanosleep(&tick, NULL);
			continue;
		}
		do_fault(run, next);
		next->at = next->every > 0 ? kl_now() - run->control->began + next->every : INT64_MAX;
	}
	return NULL;
}

/* ---- clients ---- */

static bool start_threads(struct kr_run *run, struct kr_session *sessions, pthread_barrier_t *start)
{
	pthread_attr_t attributes;
	uint32_t started = 0;

	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK > PTHREAD_STACK_MIN ? STACK : PTHREAD_STACK_MIN);
	for (; started < run->clients; started++) {
		struct kr_session *s = &sessions[started];

		*s = (struct kr_session){.run = run, .number = started, .start = start};
		s->plan.work = &run->work;
		s->plan.client = started;
		kr_rng_init(&s->plan.rng, run->seed * 1000003 + started);
		kr_rng_init(&s->chance, run->seed * 7919 + started + (UINT64_C(1) << 40));
		if (pthread_create(&s->thread, &attributes, kr_session_run, s) != 0)
			break;
	}
	(void)pthread_attr_destroy(&attributes);
	if (started == run->clients)
		return true;
	kr_run_fail(run, KR_RUN_FAILED, "cannot start client %" PRIu32 ": %s", started, strerror(errno));
	return false; /* those that wait at the barrier end with the process */
}

/* A script makes its own tables, statement by statement. */
static bool set_up(struct kr_run *run)
{
	const struct kl_driver *driver = run->store.driver;
	const struct kr_script *script = run->work.script;
	struct kl_client *client = driver->connect(&run->store);
	struct kl_result result = {0};
	bool fine = client != NULL;

	if (client) {
		client->store = &run->store;
		client->level = run->store.level;
		client->id = "setup";
	}
	for (uint32_t i = 0; i < script->setup_n && fine; i++) {
		struct kl_op op = {.kind = KL_SQL, .text = script->statements[i].sql};

		result.columns = result.lines = 0;
		result.cells_n = 0;
		fine = driver->run(client, &op, &result) == KL_OK;
		if (!fine)
			(void)kl_fail(&run->store, "setup: %s", result.message);
	}
	if (client)
		driver->close(client);
	free(result.cells);
	return fine;
}

static bool load(struct kr_run *run)
{
	return run->work.script ? run->store.driver->load(&run->store, NULL, 0) && set_up(run)
				: run->store.driver->load(&run->store, run->initial.at, run->initial.n);
}

static void run_clients(struct kr_run *run)
{
	struct kr_session *sessions = calloc(run->clients, sizeof *sessions);
	pthread_barrier_t start;
	pthread_t faults;
	bool faulty = run->planned_n > 0;

	if (!sessions || pthread_barrier_init(&start, NULL, run->clients + 1) != 0) {
		kr_run_fail(run, KR_RUN_FAILED, "out of memory");
		free(sessions);
		return;
	}
	if (!start_threads(run, sessions, &start))
		return;
	run->control->began = kl_now();
	(void)pthread_barrier_wait(&start);
	run->control->began = kl_now();
	run->control->started = 1;
	faulty = faulty && pthread_create(&faults, NULL, do_faults, run) == 0;
	for (uint32_t i = 0; i < run->clients; i++)
		(void)pthread_join(sessions[i].thread, NULL);
	if (run->work.workload->audit && !run->control->stop)
		kr_session_audit(&sessions[0]);
	run->control->stop = 1;
	if (faulty)
		(void)pthread_join(faults, NULL);
	(void)pthread_barrier_destroy(&start);
	free(sessions);
}

static void tell_order(struct kr_run *run)
{
	const struct kl_driver *driver = run->store.driver;
	struct kl_sink sink;

	if (!run->store.certificate)
		return;
	if (!kr_sink_open(&sink, run->folder) || (driver->order && !driver->order(&run->store, &sink)) ||
		!kr_sink_close(&sink))
		kr_run_fail(run, KR_RUN_FAILED, "%s: the order: %s", driver->name,
			run->store.why[0] ? run->store.why : "cannot write it");
}

/* What the store has found out of its nodes; `wanted`: the order was. */
static void note_nodes(struct kr_run *run, bool wanted)
{
	const struct kl_store *store = &run->store;

	for (uint32_t node = 0; node < store->nodes; node++) {
		if (!store->only_reads[node])
			continue;
		run->control->only_reads |= UINT32_C(1) << node;
		if (store->connect)
			kr_note("node n%" PRIu32 " only reads: what writes goes to the first one", node);
	}
	if (wanted && !store->certificate)
		kr_note("several nodes write: what they would tell of their order is no common one, and not "
			"asked for");
}

void kr_run_work(struct kr_run *run)
{
	const struct kl_driver *driver = run->store.driver;
	bool relayed = prepare_faults(run), wanted = run->store.certificate;

	if (!driver->start(&run->store) || !load(run) || (relayed && !kr_relay_start(&run->store))) {
		fail_store(run);
	} else {
		memcpy(run->control->version, run->store.version, sizeof run->control->version);
		memcpy(run->control->where, run->store.where, sizeof run->control->where);
		note_nodes(run, wanted);
		struct kr_turns turns;

		if (run->work.script && run->work.script->turns_n > 0) {
			kr_turns_init(&turns, run->work.script);
			run->turns = &turns;
		}
		run_clients(run);
		if (run->turns)
			kr_turns_done(run->turns);
		if (run->control->failed != KR_RUN_FAILED)
			tell_order(run);
	}
	driver->stop(&run->store);
	kr_relay_stop(&run->store);
	kr_home_close(&run->store);
	run->control->ended = 1;
}
