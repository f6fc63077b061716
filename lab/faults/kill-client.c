/* The server ends all connections; clients connect again. */
#include "lab/faults/fault.h"

static bool possible(const struct kl_store *store) { return store->driver->kill_clients != NULL; }

static bool run(struct kl_store *store, int64_t ns)
{
	(void)ns;
	return store->driver->kill_clients(store);
}

const struct kr_fault kr_fault_kill_client = {
	.name = "kill-client",
	.title = "the server ends all connections",
	.lacking = "a database that is a server",
	.possible = possible,
	.run = run,
};
