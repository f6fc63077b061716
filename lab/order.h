/* What the database told of its order, brought into the trace. */
#ifndef KR_LAB_ORDER_H
#define KR_LAB_ORDER_H

#include <stdio.h>

#include "base/base.h"

struct kr_order_told {
	uint64_t versions, keys;  /* in version orders */
	uint64_t named;           /* versions that reads name */
	uint64_t strangers;       /* versions whose writer is not in the trace */
	/* transactions in the order of serialization, and those of them that only read */
	uint64_t places, readers;
	/* keys that ranges and scans looked at, by their snapshots: that were returned or not as they must be
	 * by the versions told, and others */
	uint64_t fit, differ;
};

struct kr_order_asked {
	bool serial;              /* places become `serial` */
	bool (*sees)(const char *view, uint64_t mark); /* of the driver */
};

/* Copies the trace's lines from `in` to `out`, header apart: the database's own numbers become ids. `sink`:
 * what the driver told (sink.h), or NULL. False: no memory, or a line that is none of ours; writing is looked
 * at by the caller. */
bool kr_order_apply(FILE *in, FILE *sink, FILE *out, const struct kr_order_asked *asked,
	struct kr_order_told *told);

#endif
