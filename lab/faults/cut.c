/* All connections are cut between clients and server, without a word of either. */
#include "lab/faults/fault.h"
#include "lab/relay.h"

static bool run(struct kl_store *store, int64_t ns)
{
	(void)ns;
	kr_relay_cut(store);
	return true;
}

const struct kr_fault kr_fault_cut = {
	.name = "cut",
	.title = "all connections are cut on the way",
	.lacking = "a private server with a socket",
	.possible = kr_fault_has_socket,
	.relayed = true,
	.run = run,
};
