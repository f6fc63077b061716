/* The last node of a cluster is cut off from the others for a while (for=, else half a second). */
#include "lab/faults/fault.h"
#include "lab/relay.h"

static bool possible(const struct kl_store *store)
{
	return store->driver->parted && !store->connect && store->nodes > 1;
}

static bool run(struct kl_store *store, int64_t ns)
{
	uint32_t node = store->nodes - 1;

	kr_relay_part(store, node, true);
	kr_fault_wait(ns);
	kr_relay_part(store, node, false);
	return store->driver->parted(store, node);
}

const struct kr_fault kr_fault_partition = {
	.name = "partition",
	.title = "one node of a cluster is cut off from the others for the time for=",
	.lacking = "a private cluster (--nodes) whose nodes can be cut off",
	.possible = possible,
	.parts = true,
	.run = run,
};
