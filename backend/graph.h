/* The known edges of the IR and, on top of them, edges that are added and taken back like a stack; each is checked for closing a cycle when it comes. */
#ifndef KR_BACKEND_GRAPH_H
#define KR_BACKEND_GRAPH_H

#include "backend/backend.h"

struct kr_graph_edge { kr_node from, to; uint32_t next; struct kr_link link; };

struct kr_graph {
	const struct kr_ir *ir;
	KR_VEC(struct kr_graph_edge) edges; /* the added ones */
	uint32_t *head;                     /* per node: its newest added edge, or KR_NONE */
	uint32_t *via;                      /* per node, in a search: the edge by which it was reached (known ones first, then added ones) */
	uint32_t *reached;                  /* per node: the last search that reached it */
	uint32_t searches;
	KR_VEC(kr_node) queue;
	uint64_t steps;                     /* edges looked at so far */
};

/* `*cyclic`: the known edges alone have a cycle; `proof` has got it. On failure nothing is left to free but by kr_graph_done. */
enum kr_status kr_graph_init(struct kr_graph *g, struct kr_ir *ir, struct kr_proof *proof, bool *cyclic);
void kr_graph_done(struct kr_graph *g);

/* Adds the link's edge, unless the level's cycles have no edges of its kind. When it closes a cycle a shortest one is appended to the proof and *cycle is set. */
enum kr_status kr_graph_add(struct kr_graph *g, struct kr_link link, struct kr_proof *proof, bool *cycle);

static inline uint32_t kr_graph_mark(const struct kr_graph *g) { return g->edges.n; }
void kr_graph_undo(struct kr_graph *g, uint32_t mark); /* takes back the edges added since the mark */

/* The graph is acyclic: fills answer->order with the nodes of the transactions that are present, and the outcome. */
enum kr_status kr_graph_order(struct kr_graph *g, const uint8_t *present, struct kr_answer *answer);

/* Whether the level forbids every cycle of its node model's graph, so that acyclicity is the question. */
bool kr_graph_decides(const struct kr_level *level);

#endif
