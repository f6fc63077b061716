/* The graph of dependencies that are certain if reads, locks and updaters are right, for the certifier
 * (sc.c). */
#ifndef KR_MECHANISMS_CERTAIN_H
#define KR_MECHANISMS_CERTAIN_H

#include "mechanisms/batch.h"

/* An edge between nodes: of a transaction t, 2 t is its begin and 2 t + 1 its commit; with one node each they
 * are the same. */
/* edge.from.i == KR_NONE: from begin to commit */
struct kr_certain_arc { uint32_t from, to; struct kr_certain_edge edge; };

struct kr_certain {
	struct kr_batch *b;
	const struct kr_level *level;
	KR_VEC(struct kr_certain_arc) arcs;
	KR_VEC(uint32_t) first; /* by node, and one more: arcs that leave it, once sorted */
	/* by version: until when it can be the newest, by what surely makes versions */
	KR_VEC(int64_t) gone;
	KR_VEC(int64_t) last_gone; /* the latest so far of the key */
	const uint32_t *component; /* by node; NULL: not known */
	bool failed;            /* no memory */
};

enum kr_status kr_certain_build(struct kr_certain *c); /* sc_edges.c */
/* arcs by where they begin, then where they end; `first` */
enum kr_status kr_certain_sort(struct kr_certain *c);
/* the same within components, with every rw */
enum kr_status kr_certain_widen(struct kr_certain *c, const uint32_t *component);
enum kr_status kr_certain_tell(struct kr_certain *c);  /* sc_cycles.c: reports cycles */

#endif
