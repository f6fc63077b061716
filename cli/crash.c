/* Plug-ins are strangers' code in this process. When one crashes, or runs on beyond the limit of time because
 * it does not ask krait_tick, nothing can be saved, but it can be said who it was: from a signal handler,
 * which may call next to nothing and knows only what its thread left for it: the one that calls modules,
 * where their crashes are delivered. Signals that come while no module runs do what they would have done. */
#define _DEFAULT_SOURCE /* SA_ONSTACK */
#include "cli/crash.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/command.h"

enum { STACK = 64 << 10, GRACE_MS = 3000, LINE = 256 };

static const struct {
	int number;
	const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"},
	{SIGABRT, "SIGABRT"}};

static _Thread_local struct {
	bool installed, alarm;
	void *stack; /* of the handlers, since the module's may be used up; NULL: no memory for it */
	volatile bool running;
	char what[LINE]; /* "pass 'mine'" */
} watch;

static void add(char line[LINE], const char *text)
{
	size_t used = strlen(line), length = strlen(text);

	if (length > LINE - 1 - used)
		length = LINE - 1 - used;
	memcpy(line + used, text, length);
	line[used + length] = '\0';
}

static void end(const char *how, const char *signal_name, const char *after)
{
	char line[LINE] = "krait: ";

	add(line, watch.what);
	add(line, how);
	add(line, signal_name);
	add(line, after);
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		_exit(KR_EXIT_FAILED); /* nobody to tell */
	_exit(KR_EXIT_FAILED);
}

static void on_crash(int number)
{
	const char *name = "a signal";

	for (size_t i = 0; i < KR_COUNT(crashes); i++)
		if (crashes[i].number == number)
			name = crashes[i].name;
	if (watch.running)
		end(" crashed (", name, "); no verdict\n");
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static void on_alarm(int number)
{
	(void)number;
	if (watch.running)
		end(" runs on beyond the limit of time: long loops have to call krait_tick and pass its "
		    "status on; no verdict\n",
			"", "");
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER};

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL); /* without, it is as it was */
}

void kr_crash_install(void)
{
	stack_t stack = {.ss_size = STACK};

	if (watch.installed)
		return;
	watch.installed = true;
	stack.ss_sp = watch.stack = malloc(STACK); /* for as long as the program runs */
	if (watch.stack)
		(void)sigaltstack(&stack, NULL);
	for (size_t i = 0; i < KR_COUNT(crashes); i++)
		handle(crashes[i].number, on_crash);
	handle(SIGALRM, on_alarm);
}

/* INT64_MAX: never. */
static void set_alarm(int64_t deadline_ns)
{
	struct itimerval timer = {.it_value = {0, 0}};

	if (deadline_ns == INT64_MAX && !watch.alarm)
		return;
	watch.alarm = deadline_ns != INT64_MAX;
	if (watch.alarm) {
		int64_t left = (deadline_ns - kr_now_ns()) / 1000000;
		int64_t ms = (left > 0 ? left : 0) + GRACE_MS;

		timer.it_value.tv_sec = (time_t)(ms / 1000);
		timer.it_value.tv_usec = (suseconds_t)(ms % 1000 * 1000);
	}
	(void)setitimer(ITIMER_REAL, &timer, NULL); /* without it a loop without an end has none */
}

void kr_crash_watch(const struct kr_call *call, int64_t deadline_ns)
{
	if (!watch.installed)
		return;
	watch.running = false;
	if (call) {
		watch.what[0] = '\0';
		add(watch.what, call->kind);
		add(watch.what, " '");
		add(watch.what, call->name);
		add(watch.what, "'");
		watch.running = true;
	}
	set_alarm(call ? deadline_ns : INT64_MAX);
}

void kr_crash_calling(void *data, const struct kr_ctx *ctx)
{
	(void)data;
	kr_crash_watch(ctx->call, ctx->latest_ns);
}
