/* The processes that hold the store, one after the other: an embedded store has one for each level, a server
 * one for all. If one of them dies in a case, or something in it does not come back, the next one goes on
 * behind that case. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"
#include "lab/home.h"
#include "lab/lab.h"
#include "lab/provoke.h"

enum { FILLERS = 8, AGAIN = 3 };

/* What a case asks that the driver does not have. */
static bool is_possible(const struct kl_driver *driver, const struct kl_level *level,
	const struct kr_coo_schedule *s)
{
	uint64_t operations = driver->operations;

	if (driver->lacks)
		operations &= ~driver->lacks[level - driver->levels];
	for (uint32_t i = 0; i < s->ops.n; i++) {
		char key[4], high[4];
		struct kl_op op;

		if (!kr_step_op(s, &s->ops.at[i], key, high, &op))
			continue;
		if (!(operations & KL_BIT(op.kind)) || (op.lock != KL_NO_LOCK && !(operations & KL_LOCKING)))
			return false;
	}
	return true;
}

/* Where silence was taken for waiting, another run has to come out the same way. If it does not, that is
 * said, and a third one counts. */
static bool run_again(struct kr_stage *stage, const struct kr_coo_schedule *s, struct kr_attempt *a)
{
	struct kr_mem mem;
	struct kr_attempt *last = malloc(sizeof *last);
	bool fine = last != NULL;

	kr_mem_init(&mem, SIZE_MAX);
	for (int i = 1; fine && i < AGAIN && !a->stuck; i++) {
		memcpy(last, a, sizeof *last);
		fine = kr_stage_run(stage, s, a);
		if (!fine || a->stuck || kr_attempts_alike(&mem, a, last))
			break;
		a->unsteady = true;
	}
	free(last);
	return fine;
}

static bool has_waited(const struct kr_attempt *a)
{
	for (uint32_t i = 0; i < a->steps_n; i++)
		if (a->steps[i].blocked)
			return true;
	return false;
}

static bool run_case(struct kr_stage *stage, struct kr_runner *r, uint32_t level,
	const struct kr_coo_schedule *s, struct kr_attempt *a)
{
	if (!is_possible(r->store.driver, r->levels[level], s)) {
		a->progress = KR_LEFT_OUT;
		return true;
	}
	a->progress = KR_GOING_ON;
	if (!kr_stage_run(stage, s, a))
		return false;
	if (!a->stuck && !r->store.driver->blocked && has_waited(a) && !run_again(stage, s, a))
		return false;
	a->progress = KR_FINISHED;
	if (a->stuck) /* only the end of the process frees what does not come back */
		_exit(0);
	return true;
}

static bool run_level(struct kr_runner *r, uint32_t level)
{
	struct kr_attempt *attempts = r->attempts + (size_t)level * r->cases->n;
	struct kr_stage *stage = NULL;
	bool fine = true;

	for (uint32_t i = 0; i < r->cases->n && fine; i++) {
		if (attempts[i].progress != KR_NOT_YET)
			continue;
		if (!stage)
			stage = kr_stage_open(r, r->levels[level]);
		fine = stage && run_case(stage, r, level, &r->cases->at[i], &attempts[i]);
	}
	if (stage)
		kr_stage_close(stage);
	return fine;
}

static bool load(struct kr_runner *r)
{
	struct kl_row rows[26 * FILLERS];
	size_t n = 0;

	for (char c = 'd'; c <= 'z' && r->store.driver->facts & KL_PAGES; c++)
		for (int i = 0; i < FILLERS; i++)
			(void)snprintf(rows[n++].key, KL_KEY, "%c~%d", c, i);
	for (size_t i = 0; i < n; i++)
		rows[i].value = rows[i].mark = 0;
	return r->store.driver->load(&r->store, rows, n);
}

/* The worker: levels from `first` up to but without `end`. */
static void work(struct kr_runner *r, uint32_t first, uint32_t end)
{
	const struct kl_driver *driver = r->store.driver;

	r->store.level = r->levels[first];
	bool fine = driver->start(&r->store) && load(r);
	(void)snprintf(r->said->version, sizeof r->said->version, "%s", r->store.version);
	for (uint32_t level = first; level < end && fine; level++)
		fine = run_level(r, level);
	if (!fine) {
		(void)snprintf(r->said->message, sizeof r->said->message, "%s: %s", driver->name,
			r->store.why);
		r->said->failure = r->store.failure;
	}
	driver->stop(&r->store);
	kr_home_close(&r->store);
	r->said->ended = fine ? 1 : 2;
}

static pid_t start_worker(struct kr_runner *r, uint32_t first, uint32_t end)
{
	r->said->ended = 0;
	pid_t pid = kr_home_fork();

	if (pid != 0)
		return pid;
	work(r, first, end);
	_exit(0);
}

static void wait_for_worker(pid_t worker, int *status)
{
	static const struct timespec tick = {0, 10000000};

	while (waitpid(worker, status, 0) < 0 && errno == EINTR)
		continue;
	/* what it has left behind ends by itself, soon */
	for (int i = 0; i < 2000 && waitpid(-1, NULL, WNOHANG) >= 0; i++)
		(void)nanosleep(&tick, NULL);
}

static int tell_failure(const struct kr_runner *r)
{
	switch (r->said->failure) {
	case KL_LACKING: kr_note("skipped: %s", r->said->message); return KR_EXIT_LACKING;
	case KL_REFUSING: return kr_usage("%s", r->said->message);
	default: return kr_fail("%s", r->said->message);
	}
}

/* How many are over. What has begun and not finished is what the worker died in. */
static uint32_t count_over(struct kr_runner *r, uint32_t first, uint32_t end)
{
	uint32_t n = 0;

	for (size_t i = (size_t)first * r->cases->n; i < (size_t)end * r->cases->n; i++) {
		if (r->attempts[i].progress == KR_GOING_ON)
			r->attempts[i].progress = KR_CRASHED;
		n += r->attempts[i].progress != KR_NOT_YET;
	}
	return n;
}

static int run_levels(struct kr_runner *r, uint32_t first, uint32_t end)
{
	uint32_t before, over = 0;

	while (r->said->ended != 1) {
		int status = 0;
		pid_t worker = start_worker(r, first, end);

		if (worker < 0)
			return kr_fail("cannot start the worker: %s", strerror(errno));
		wait_for_worker(worker, &status);
		if (r->said->ended == 2)
			return tell_failure(r);
		before = over;
		over = count_over(r, first, end);
		if (r->said->ended == 0 && over == before)
			return kr_fail("%s: the store's process ended: %s", r->store.driver->name,
				WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no signal");
	}
	r->said->ended = 0;
	return KR_EXIT_SATISFIED;
}

int kr_runner_run(struct kr_runner *r)
{
	bool together = !(r->store.driver->facts & KL_EMBEDDED);
	int status = KR_EXIT_SATISFIED;

	if (together)
		return run_levels(r, 0, r->levels_n);
	for (uint32_t level = 0; level < r->levels_n && status == KR_EXIT_SATISFIED; level++)
		status = run_levels(r, level, level + 1);
	return status;
}
