/* The known edges of the IR and, on top of them, edges that are added and taken back like a stack; each is
 * checked, when it comes, for closing a cycle that the level forbids. */
#ifndef KR_BACKEND_GRAPH_H
#define KR_BACKEND_GRAPH_H

#include "backend/backend.h"

struct kr_graph_edge { kr_node from, to; uint32_t next; struct kr_link link; };

/* A node in a search, and whether the way to it passes a transaction that writes nothing (KR_ASK_READERS
 * only): node + nnodes if so. */
typedef struct { uint32_t i; } kr_graph_state;

struct kr_graph {
	struct kr_arena arena;
	const struct kr_ir *ir;
	KR_VEC(struct kr_graph_edge) edges; /* the added ones, of all kinds that the level's patterns have */
	uint32_t *head;                     /* per node: its newest added edge, or KR_NONE */
	/* per state, in a search: the edge by which it was reached (known ones first, then added ones) */
	uint32_t *via;
	kr_graph_state *before;             /* per state, likewise: where that edge left */
	uint32_t *reached;                  /* per state: the last search that reached it */
	uint32_t searches;
	KR_VEC(kr_graph_state) queue;
	uint64_t steps;                     /* edges looked at so far */
};

enum { KR_GRAPH_MOST_STEPS = 10000000 }; /* more of them are too many */

/* `*cyclic`: the known edges alone have a forbidden cycle; `proof` has got it. Gives up, with neither, when
 * there are too many steps. On failure nothing is left to free but by kr_graph_done. */
enum kr_status kr_graph_init(struct kr_graph *g, struct kr_ir *ir, struct kr_proof *proof, bool *cyclic);
void kr_graph_done(struct kr_graph *g);

/* Adds the link's edge, unless the level's patterns have no edges of its kind. When it closes a forbidden
 * cycle a shortest one is appended to the proof and *cycle is set. */
enum kr_status kr_graph_add(struct kr_graph *g, struct kr_link link, struct kr_proof *proof, bool *cycle);

static inline uint32_t kr_graph_mark(const struct kr_graph *g) { return g->edges.n; }
void kr_graph_undo(struct kr_graph *g, uint32_t mark); /* takes back the edges added since the mark */

/* There is no forbidden cycle: fills answer->order with the nodes of the transactions that are present, and
 * the outcome. */
enum kr_status kr_graph_order(struct kr_graph *g, const uint8_t *present, struct kr_answer *answer);

/* For the search of patterns with one rw (once.c). From node `a`, by edges of `kinds`, breadth first until
 * `b` is reached (KR_NONE: everything). */
enum kr_status kr_graph_search(struct kr_graph *g, kr_node a, kr_node b, uint32_t kinds);
bool kr_graph_reached(const struct kr_graph *g, kr_node v);

/* Appends to the cycle that the proof has begun the way from `a` to `b` that the last search found; nothing
 * when they are the same. */
enum kr_status kr_graph_add_way(struct kr_graph *g, kr_node a, kr_node b, struct kr_proof *proof);

/* once.c: after the newest edge was added: whether it is on a cycle of one of the level's patterns with one
 * rw. */
enum kr_status kr_graph_find_once(struct kr_graph *g, struct kr_proof *proof, bool *cycle);

#endif
