/* All processes of the server are killed, and it is started again. */
#include "lab/faults/fault.h"

static bool possible(const struct kl_store *store)
{
	return store->driver->restart != NULL && !store->connect && store->nodes == 1;
}

static bool run(struct kl_store *store, int64_t ns)
{
	(void)ns;
	kl_home_kill(store);
	return store->driver->restart(store);
}

const struct kr_fault kr_fault_kill_server = {
	.name = "kill-server",
	.title = "SIGKILL to the whole server, which is then started again",
	.lacking = "a private database that is a server",
	.possible = possible,
	.run = run,
};
