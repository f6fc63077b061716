/* What lists tell of the order of versions where nothing else that was seen counts (read uncommitted). */
#ifndef KR_FRONTEND_SHOWN_LISTS_H
#define KR_FRONTEND_SHOWN_LISTS_H

#include "frontend/history.h"

struct kr_list_order { kr_key key; kr_txn before, after; };
KR_VEC_NAMED(kr_list_orders, struct kr_list_order);

/* Appends pairs of committed transactions whose last elements of a key a committed transaction read in one
 * list, as neighbours: each shown once there, and appended by nobody else. They may contradict each other. */
enum kr_status kr_find_list_orders(struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_list_orders *out);

#endif
