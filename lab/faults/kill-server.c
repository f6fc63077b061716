/* All processes of the server are killed, and it is started again; of a cluster, the last node, which stays
 * away for a while (for=, else half a second). */
#include "lab/faults/fault.h"
#include "lab/home.h"

static bool possible(const struct kl_store *store)
{
	return !store->connect &&
		(store->nodes > 1 ? store->driver->restart_node != NULL : store->driver->restart != NULL);
}

static bool run(struct kl_store *store, int64_t ns)
{
	uint32_t node = store->nodes - 1;

	if (node == 0) {
		kl_home_kill(store);
		return store->driver->restart(store);
	}
	if (!kr_home_kill_node(store, node))
		return false;
	kr_fault_wait(ns);
	return store->driver->restart_node(store, node);
}

const struct kr_fault kr_fault_kill_server = {
	.name = "kill-server",
	.title = "SIGKILL to the whole server, or one node of a cluster, which is then started again",
	.lacking = "a private database that is a server",
	.possible = possible,
	.run = run,
};
