/* What nodes do to keys, for searches that know nothing of a history but an order of its nodes. */
#ifndef KR_BACKEND_ACCESSES_H
#define KR_BACKEND_ACCESSES_H

#include "backend/world.h"

/* It sees the newest version of the key, then writes one. */
struct kr_access {
	uint32_t key;
	uint32_t first, end; /* its observations, in kr_accesses.seen */
	kr_version wrote;    /* KR_NONE: none */
};

struct kr_accesses {
	struct kr_arena arena;
	uint32_t *first; /* per node, and one more: its accesses, by key */
	KR_VEC(struct kr_access) all;
	uint32_t *seen;  /* observations, those of a transaction by key */
};

/* May an observation have seen v, which is its source or, where that is open, a candidate? */
static inline bool kr_accesses_sees(const struct kr_ir *ir, uint32_t o, kr_version v)
{
	kr_version known = ir->source[o];
	return known.i != KR_NONE ? v.i == known.i : kr_asg_in_set(ir->asg, ir->asg->obs[o].set, v);
}

/* Of the active transactions of w. Done with kr_accesses_done, whatever it returns; both take the memory of
 * w's IR. */
enum kr_status kr_accesses_init(struct kr_accesses *x, const struct kr_candidate *w);
void kr_accesses_done(struct kr_accesses *x);

#endif
