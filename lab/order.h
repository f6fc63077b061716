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
};

/* Copies the trace's lines from `in` to `out`, header apart: the database's own numbers become ids, places
 * become `serial` if `serial`. `sink`: what the driver told (sink.h), or NULL. False: no memory, or a line
 * that is none of ours; writing is looked at by the caller. */
bool kr_order_apply(FILE *in, FILE *sink, FILE *out, bool serial, struct kr_order_told *told);

#endif
