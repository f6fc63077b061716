/* krait-lab record: options, then a worker process that does it (run.h) while this one watches. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/file.h"
#include "cli/output.h"
#include "lab/check.h"
#include "lab/home.h"
#include "lab/lab.h"
#include "lab/record_options.h"
#include "lab/sync.h"
#include "lab/trace.h"

enum { TICK_MS = 100, PATIENCE_S = 20 };
#define SECOND INT64_C(1000000000)
#define SPACE (UINT64_C(512) << 20) /* what a recording leaves free */

/* The lab's process, while the worker works. */
struct watch {
	const struct kr_args *args;
	struct kr_run *run;
	struct kr_record_options options;
	pid_t worker;
	sigset_t signals;
	int interrupted; /* by this signal */
	int status;      /* of the worker, as wait has it */
	int64_t stop_by; /* when a worker that is to stop is killed; 0: it is not to */
	int64_t moved, next_check, next_line;
	uint64_t done; /* transactions, when it was last looked */
	bool violated, terminal;
};

static uint64_t transactions(const struct kr_run *run)
{
	return run->control->committed + run->control->aborted + run->control->unknown;
}

static pid_t start_worker(struct watch *w)
{
	pid_t pid = kr_home_fork();

	if (pid != 0)
		return pid;
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)pthread_sigmask(SIG_UNBLOCK, &w->signals, NULL);
	kr_run_work(w->run);
	_exit(0);
}

static void print_line(struct watch *w, int64_t now)
{
	const struct kr_control *c = w->run->control;
	uint64_t n = transactions(w->run);

	if (!w->terminal || !c->started || now < w->next_line)
		return;
	fprintf(stderr,
		"\r%" PRIu64 " transactions, %" PRIu64 " a second, %" PRIu64 " aborted, %" PRIu64 " unknown ",
		n, (uint64_t)((double)n * 1e9 / (double)(now - c->began + 1)), (uint64_t)c->aborted,
		(uint64_t)c->unknown);
	w->next_line = now + SECOND;
}

/* A fault ends only when its server is back, which takes what it takes, within kl_home_wait's limit. */
static bool waits_for_server(const struct watch *w)
{
	return !w->interrupted && !w->run->control->failed && kr_run_late(w->run->control) > 0;
}

static void look(struct watch *w)
{
	struct kr_control *c = w->run->control;
	int64_t now = kl_now();
	uint64_t n = transactions(w->run);
	struct statvfs disk;

	if (n != w->done || w->moved == 0 || !c->started || c->ended)
		w->moved = now;
	w->done = n;
	if (now - w->moved > w->options.stall && !c->stop) {
		kr_run_fail(w->run, KR_RUN_FAILED, "nothing came back for %g s",
			(double)w->options.stall / 1e9);
		w->stop_by = now + SECOND;
	}
	if (statvfs(w->run->path, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < SPACE && !c->stop)
		kr_run_fail(w->run, KR_RUN_FAILED, "less than %d MiB of the disk are left",
			(int)(SPACE >> 20));
	if (c->stop && !w->stop_by)
		w->stop_by = now + PATIENCE_S * SECOND;
	if (w->stop_by && now > w->stop_by && !waits_for_server(w))
		(void)kill(w->worker, SIGKILL);
	print_line(w, now);
	if (!w->options.check_every || !w->options.levels || !c->started || c->stop || now < w->next_check)
		return;
	if (w->next_check > 0 && kr_lab_check_prefix(w->args, w->run, w->options.levels)) {
		w->violated = true;
		c->stop = !kr_args_has(w->args, "keep-going");
	}
	w->next_check = kl_now() + w->options.check_every;
}

static void watch(struct watch *w)
{
	static const struct timespec tick = {0, TICK_MS * 1000000};

	for (;;) {
		int number = sigtimedwait(&w->signals, NULL, &tick);

		if (waitpid(w->worker, &w->status, WNOHANG) == w->worker)
			break;
		if (number > 0 && number != SIGCHLD) {
			if (w->interrupted)
				(void)kill(w->worker, SIGKILL);
			w->interrupted = number;
			w->run->control->stop = 1;
		}
		look(w);
	}
	if (w->terminal)
		fputs("\r\033[K", stderr);
}

/* What a worker that crashed has left behind ends by itself, soon. */
static void wait_for_keepers(void)
{
	int64_t end = kl_now() + PATIENCE_S * SECOND;
	static const struct timespec tick = {0, 10000000};

	while (waitpid(-1, NULL, WNOHANG) >= 0 && kl_now() < end)
		(void)nanosleep(&tick, NULL);
}

/* ---- the end ---- */

static void note_flights(const struct watch *w)
{
	struct kr_slot_view view;

	for (uint32_t i = 0; i < w->run->clients; i++) {
		if (!kr_slot_look(w->run->slots[i], i, &view))
			return;
		if (view.flight && w->run->slots[i]->pending_n > 0)
			kr_note("client c%" PRIu32 " had sent: %s", i, w->run->slots[i]->pending);
		free(view.lines);
		free(view.flight);
	}
}

static int tell_failure(struct watch *w)
{
	const struct kr_control *c = w->run->control;

	switch (c->failed) {
	case KR_RUN_LACKING: kr_note("skipped: %s", c->message); return KR_EXIT_LACKING;
	case KR_RUN_REFUSED: return kr_usage("%s", c->message);
	default: return kr_fail("%s", c->message);
	}
}

static void tell_counts(const struct watch *w, const struct kr_order_told *told)
{
	const struct kr_control *c = w->run->control;

	kr_note("%s: %s: %" PRIu64 " committed, %" PRIu64 " aborted, %" PRIu64 " unknown%s", w->run->path,
		c->version, (uint64_t)c->committed, (uint64_t)c->aborted, (uint64_t)c->unknown,
		c->events_n > 0 ? ", with faults" : "");
	if (told->versions > 0 || told->named > 0)
		kr_note("the database told %" PRIu64 " versions of %" PRIu64 " keys; reads name %" PRIu64,
			told->versions, told->keys, told->named);
	if (told->fit + told->differ > 0)
		kr_note("snapshots of ranges and scans show %" PRIu64
			" keys as they were by these versions, and %" PRIu64 " otherwise",
			told->fit, told->differ);
	if (told->places > 0)
		kr_note("the database told %" PRIu64 " places in its order, %" PRIu64
			" of them of transactions that only read",
			told->places, told->readers);
	if (told->strangers > 0)
		kr_note("it also told %" PRIu64 " times of transactions that are not in the trace",
			told->strangers);
	if (c->broken > 0)
		kr_note("%s: %" PRIu64 " committed transactions saw what the workload rules out",
			w->run->work.workload->name, (uint64_t)c->broken);
}

/* The worker died: what it had recorded is there all the same. */
static int salvage(struct watch *w)
{
	struct kr_recovered found;

	if (WIFSIGNALED(w->status) && !w->run->control->failed)
		kr_fail("%s: the store's process was ended by signal %d (%s)", w->run->store.driver->name,
			WTERMSIG(w->status), strsignal(WTERMSIG(w->status)));
	else
		(void)tell_failure(w);
	note_flights(w);
	if (kr_trace_recover(w->run->path, true, &found) == KR_EXIT_SATISFIED)
		kr_note("%s: what was recorded until then", w->run->path);
	return KR_EXIT_FAILED;
}

static int finish(struct watch *w)
{
	const struct kr_control *c = w->run->control;
	struct kr_order_told told = {0};

	if (!c->ended)
		return salvage(w);
	if (c->failed && !c->started) {
		kr_run_files_drop(w->run);
		return tell_failure(w);
	}
	if (!kr_run_files_finish(w->run, &told))
		return KR_EXIT_FAILED;
	tell_counts(w, &told);
	if (c->failed)
		return tell_failure(w);
	return w->violated ? KR_EXIT_VIOLATED : KR_EXIT_SATISFIED;
}

static void block_signals(struct watch *w)
{
	(void)sigemptyset(&w->signals);
	(void)sigaddset(&w->signals, SIGINT);
	(void)sigaddset(&w->signals, SIGTERM);
	(void)sigaddset(&w->signals, SIGHUP);
	(void)sigaddset(&w->signals, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &w->signals, NULL);
}

static int record(struct watch *w)
{
	w->run->control = mmap(NULL, sizeof *w->run->control, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w->run->control == MAP_FAILED)
		return kr_fail("out of memory");
	int status = kr_run_files_make(w->run, w->args->mem);
	if (status != KR_EXIT_SATISFIED)
		return status;
	block_signals(w);
	w->worker = start_worker(w);
	if (w->worker < 0) {
		kr_run_files_drop(w->run);
		return kr_fail("cannot start the worker: %s", strerror(errno));
	}
	struct kr_sync *sync = kr_sync_start(w->run);
	watch(w);
	wait_for_keepers();
	kr_sync_stop(sync);
	status = finish(w);
	(void)pthread_sigmask(SIG_UNBLOCK, &w->signals, NULL);
	if (w->interrupted) {
		(void)signal(w->interrupted, SIG_DFL);
		(void)raise(w->interrupted);
	}
	return status;
}

/* Files that are written may not be each other. */
static int check_files(const struct kr_args *args)
{
	struct kr_args copy = *args;
	struct kr_files files;

	copy.files = &files;

	int status = kr_files_init(&files, &copy);

	kr_files_done(&files);
	return status;
}

static int run_record(const struct kr_args *args)
{
	struct kr_run run = {.file = -1};
	struct watch w = {.args = args,
		.run = &run,
		.terminal = kr_terminal(stderr, kr_args_has(args, "quiet"))};
	int status = check_files(args);

	if (status == KR_EXIT_SATISFIED)
		status = kr_record_options(args, &run, &w.options);
	if (status == KR_EXIT_SATISFIED)
		status = record(&w);
	kr_run_files_done(&run);
	if (status == KR_EXIT_SATISFIED || status == KR_EXIT_VIOLATED)
		status = kr_exit_worst(status, kr_lab_check(args, &run, w.options.levels));
	kr_zipf_done(&run.work.zipf, args->mem);
	kr_script_free(run.work.script);
	kr_vec_done(args->mem, &run.initial);
	return status;
}

static const struct kr_command command = {
	.name = "record",
	.program = "krait-lab",
	.synopsis = "-d DRIVER [OPTION]...",
	.title = "let clients work on a database, and record what they see",
	.text = "Without --connect a private database is started, and removed at the end. The\n"
		"trace tells every transaction, whatever became of it, with the times at which\n"
		"each statement was sent and answered; nothing of it is lost when the recorder\n"
		"is killed (krait-lab recover). Exit status: 0 recorded, and what was asked is\n"
		"satisfied; 1 violated; 2 undecided; 77 this machine lacks the database;\n"
		"254 bad arguments; 255 no trace, or the store crashed.",
	.options = kr_record_option_table,
	.own_files = true,
	.run = run_record,
};

const struct kr_lab kr_lab_record = {
	.command = &command,
};
