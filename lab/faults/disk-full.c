/* The disk of the server's data is full for a while (for=, else half a second). A server that does not come
 * back by itself is started again. */
#include <time.h>

#include "lab/faults/fault.h"

enum { TRIES = 250, TICK_MS = 20 };

/* A private server's alone, which gets a small disk for it. */
static bool possible(const struct kl_store *store)
{
	return store->driver->data && !store->connect && store->nodes == 1;
}

static bool comes_back(struct kl_store *store)
{
	static const struct timespec tick = {0, TICK_MS * 1000000};

	for (int i = 0; i < TRIES; i++) {
		struct kl_client *client = store->driver->connect(store);

		if (client) {
			client->store = store;
			store->driver->close(client);
			return true;
		}
		(void)nanosleep(&tick, NULL);
	}
	return false;
}

static bool run(struct kl_store *store, int64_t ns)
{
	if (!kl_home_fill(store, true))
		return false;
	kr_fault_wait(ns);
	if (!kl_home_fill(store, false))
		return false;
	if (comes_back(store))
		return true;
	kl_home_kill(store);
	return store->driver->restart(store);
}

const struct kr_fault kr_fault_disk_full = {
	.name = "disk-full",
	.title = "the disk of the server's data is full for the time for=",
	.lacking = "a private database that is a server and tells where its data are",
	.possible = possible,
	.small_disk = true,
	.run = run,
};
