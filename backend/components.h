/* Strongly connected components of a known graph with chosen edges over it: an edge is on a cycle iff both of
 * its ends are in one. */
#ifndef KR_BACKEND_COMPONENTS_H
#define KR_BACKEND_COMPONENTS_H

#include "backend/overlay.h"

/* Among the nodes that the last sort left over: `component` (nnodes, the caller's) gets equal numbers for
 * nodes that reach each other, different ones for others, and KR_NONE for nodes in the order. */
enum kr_status kr_components(const struct kr_overlay *o, uint32_t *component);

#endif
