/* The last node of a cluster is cut off from the others for a while (for=, else half a second). */
#include "lab/faults/fault.h"

static bool possible(const struct kl_store *store) { return store->driver->isolate && store->nodes > 1; }

static bool run(struct kl_store *store, int64_t ns)
{
	bool fine = store->driver->isolate(store, store->nodes - 1, true);

	kr_fault_wait(ns);
	return store->driver->isolate(store, store->nodes - 1, false) && fine;
}

const struct kr_fault kr_fault_partition = {
	.name = "partition",
	.title = "one node of a cluster is cut off from the others for the time for=",
	.lacking = "a private cluster (--nodes) whose nodes can be cut off",
	.possible = possible,
	.run = run,
};
