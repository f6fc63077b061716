/* One process that serves a client is killed. */
#include <signal.h>

#include "lab/faults/fault.h"

/* A private server's alone: these are processes that this run has started. */
static bool possible(const struct kl_store *store)
{
	return (store->driver->facts & KL_BACKENDS) && !store->connect && store->nodes == 1;
}

static bool run(struct kl_store *store, int64_t ns)
{
	pid_t pids[1024];
	size_t n = store->driver->processes(store, pids, sizeof pids / sizeof pids[0]);

	(void)ns;
	if (n > 1)
		(void)kill(pids[1 + (size_t)kl_now() % (n - 1)], SIGKILL); /* it may have ended by itself */
	return true;
}

const struct kr_fault kr_fault_kill_backend = {
	.name = "kill-backend",
	.title = "SIGKILL to one process that serves clients",
	.lacking = "a private database with a process for each client",
	.possible = possible,
	.run = run,
};
