/* Relays. One between clients and a private server: what goes through it can be held up, lost or cut off,
 * without root and for every driver that tells its server's socket. And one before each node of a private
 * cluster (kl_relay_node), for all that other nodes send it, where one is to be cut off from them. */
#ifndef KR_LAB_RELAY_H
#define KR_LAB_RELAY_H

#include "lab/driver.h"

/* Clients that connect from now on go through it. False: store->why. */
bool kr_relay_start(struct kl_store *store);
void kr_relay_stop(struct kl_store *store); /* nothing to do without one */

enum kr_relay_mode {
	KR_RELAY_PASS,
	KR_RELAY_DELAY, /* each message takes longer, in both directions */
	KR_RELAY_HALF   /* what the server answers is lost; who lost something is cut off in the end */
};
void kr_relay_set(struct kl_store *store, enum kr_relay_mode mode);
void kr_relay_cut(struct kl_store *store); /* all connections end, as they are */

/* Between this node and the others nothing comes through, in either direction, and nobody is told: what was
 * sent, new connections among it, comes when the node is back. */
void kr_relay_part(struct kl_store *store, uint32_t node, bool away);

#endif
