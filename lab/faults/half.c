/* What the server answers is lost for a while (for=, else half a second); then those connections are cut. */
#include "lab/faults/fault.h"
#include "lab/relay.h"

static bool run(struct kl_store *store, int64_t ns)
{
	kr_relay_set(store, KR_RELAY_HALF);
	kr_fault_wait(ns);
	kr_relay_set(store, KR_RELAY_PASS);
	return true;
}

const struct kr_fault kr_fault_half = {
	.name = "half",
	.title = "what the server answers is lost for the time for=, then connections are cut",
	.lacking = "a private server with a socket",
	.possible = kr_fault_has_socket,
	.relayed = true,
	.run = run,
};
