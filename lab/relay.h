/* A relay between clients and a private server: what goes through it can be held up, lost or cut off, without
 * root and for every driver that tells its server's socket. */
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

#endif
