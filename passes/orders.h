/* The version orders that the trace gives, among the versions that are known to exist: those of present
 * transactions, and initial ones as starting points. Versions in between whose writers are not known to be
 * present are bridged: from a < x < b with x left out follows a < b. */
#ifndef KR_PASSES_ORDERS_H
#define KR_PASSES_ORDERS_H

#include "ir/ir.h"

struct kr_orders {
	struct kr_mem *mem;
	uint32_t *first;       /* nversions + 1; NULL: the trace gives no orders */
	uint32_t nfirst;
	KR_VEC(kr_version) after; /* nearest later versions of v: after[first[v] .. first[v + 1]) */
};

/* O(versions + orders) where orders are chains; a version left out is passed once for every version before
 * it. */
enum kr_status kr_orders_init(struct kr_orders *orders, const struct kr_ir *ir);
void kr_orders_done(struct kr_orders *orders);

static inline uint32_t kr_orders_begin(const struct kr_orders *o, kr_version v)
{
	return o->first ? o->first[v.i] : 0;
}
static inline uint32_t kr_orders_end(const struct kr_orders *o, kr_version v)
{
	return o->first ? o->first[v.i + 1] : 0;
}

#endif
