/* Between clients and server each message takes 50 ms longer, for a while (for=, else half a second). */
#include "lab/faults/fault.h"
#include "lab/relay.h"

static bool run(struct kl_store *store, int64_t ns)
{
	kr_relay_set(store, KR_RELAY_DELAY);
	kr_fault_wait(ns);
	kr_relay_set(store, KR_RELAY_PASS);
	return true;
}

const struct kr_fault kr_fault_delay = {
	.name = "delay",
	.title = "each message takes 50 ms longer, for the time for=",
	.lacking = "a private server with a socket",
	.possible = kr_fault_has_socket,
	.relayed = true,
	.run = run,
};
