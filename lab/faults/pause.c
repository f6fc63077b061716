/* All processes of the server stand still for a while (for=, else half a second). */
#include <signal.h>

#include "lab/faults/fault.h"

static bool possible(const struct kl_store *store)
{
	return store->driver->processes != NULL && !store->connect && store->nodes == 1;
}

static void signal_all(struct kl_store *store, int number)
{
	pid_t pids[1024];
	size_t n = kl_home_processes(store, pids, sizeof pids / sizeof pids[0]);

	for (size_t i = 0; i < n; i++)
		(void)kill(pids[i], number); /* it may have ended by itself */
}

static bool run(struct kl_store *store, int64_t ns)
{
	signal_all(store, SIGSTOP);
	kr_fault_wait(ns);
	signal_all(store, SIGCONT);
	return true;
}

const struct kr_fault kr_fault_pause = {
	.name = "pause",
	.title = "SIGSTOP to the whole server, and SIGCONT after the time for=",
	.lacking = "a private database that is a server",
	.possible = possible,
	.run = run,
};
