/* What a driver tells of the database's order (kl_tell_...), on its way from the worker to order.c: lines of
 * a file in the slots' folder. */
#ifndef KR_LAB_SINK_H
#define KR_LAB_SINK_H

#include <stdio.h>

#include "lab/driver.h"

#define KR_SINK_NAME "order"

struct kl_sink { FILE *file; };

bool kr_sink_open(struct kl_sink *sink, const char *folder);
bool kr_sink_close(struct kl_sink *sink);

#endif
