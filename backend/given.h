/* The version orders that the trace gives, for a set of active transactions that changes from candidate to candidate. */
#ifndef KR_BACKEND_GIVEN_H
#define KR_BACKEND_GIVEN_H

#include "ir/ir.h"

struct kr_given {
	const struct kr_ir *ir;
	uint32_t *first;     /* per version, and one more: into after; NULL: no orders are given */
	kr_version *after;   /* versions given as later */
	uint32_t *visited;   /* per version: mark of the walk that reached it */
	uint32_t mark;
	KR_VEC(kr_version) stack;
};

enum kr_status kr_given_init(struct kr_given *g, const struct kr_ir *ir);
void kr_given_done(struct kr_given *g);

KR_VEC_NAMED(kr_versions, kr_version);

/* Appends the nearest later versions of v whose writers are active, through those that are not. */
enum kr_status kr_given_after(struct kr_given *g, kr_version v, const uint8_t *active, struct kr_versions *out);

/* Is a given as earlier than b, directly or through others? *out is set. O(orders). */
enum kr_status kr_given_before(struct kr_given *g, kr_version a, kr_version b, bool *out);

#endif
