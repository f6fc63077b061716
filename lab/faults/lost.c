/* The answers of all commits are lost for a while (for=, else half a second): as --lost does of some. */
#include "lab/faults/fault.h"

static bool possible(const struct kl_store *store) { return store->driver->hang_up != NULL; }

static bool run(struct kl_store *store, int64_t ns)
{
	store->loses = true;
	kr_fault_wait(ns);
	store->loses = false;
	return true;
}

const struct kr_fault kr_fault_lost = {
	.name = "lost",
	.title = "clients hang up about each commit, every other time before it was sent, for the time for=",
	.lacking = "a connection that can be lost",
	.possible = possible,
	.run = run,
};
