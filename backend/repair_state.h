/* What the files of kr_repair share (repair.h). */
#ifndef KR_BACKEND_REPAIR_STATE_H
#define KR_BACKEND_REPAIR_STATE_H

#include "backend/learner.h"
#include "backend/repair.h"
#include "backend/topology.h"

struct kr_wanted {
	kr_version before, after; /* whose order is to be a variable */
	kr_obs source;            /* or whose source; KR_NONE: neither, then `base` is an edge in any case */
	struct kr_link base;
	uint32_t place; /* where it is broken */
};

/* What to take back when a literal is. */
struct kr_repair_mark {
	uint32_t arcs, reads, laters;
};

struct kr_repair_place {
	uint32_t place, version;
};

/* The edges that an order brings about by what is known to have seen its first version. */
struct kr_repair_edges {
	uint32_t first, end; /* into r->edges */
	bool made;
};

struct kr_repair_later {
	kr_version before, after;
	uint32_t next;
};

struct kr_repair {
	struct kr_arena arena;
	struct kr_candidate *w;
	struct kr_ir *ir;
	const struct kr_asg *asg;
	struct kr_choices *c;
	struct kr_answer *answer;
	struct kr_learner sat;
	struct kr_topology order;
	uint32_t clauses, facts;   /* of c, that the solver has */
	KR_VEC(struct kr_repair_mark) marks; /* per literal of the trail that has been looked at */
	kr_version *source;        /* per observation: known or chosen, else KR_NONE */
	/* observations by what they saw, the latest first */
	uint32_t *reader_head, *reader_next;
	/* per version: the newest of those whose source is known; per literal of an order its edges */
	uint32_t *known_head;
	KR_VEC(struct kr_repair_edges) edges_of;
	KR_VEC(struct kr_link) edges;
	uint32_t kept; /* of edges: those of literals; behind them those that were made last */
	KR_VEC(uint32_t) reads; /* observations whose source is chosen */
	/* versions that a version is chosen to come before, the latest first */
	uint32_t *later_head;
	KR_VEC(struct kr_repair_later) laters;
	uint32_t *open_first, *open_obs; /* observations without a known source, by key */
	uint64_t *dirty;                 /* keys to look at */
	struct kr_repair_place *sorted;
	KR_VEC(struct kr_wanted) wanted;
	uint32_t window_at, window_cycles; /* conflicts and cycles that there were when a window began */
	uint32_t before, settled; /* variables when all was last lined up; and the time before that */
	uint64_t again;    /* literals that were put into effect again since all was decided anew */
};

static inline kr_txn kr_repair_writer(const struct kr_repair *r, kr_version v)
{
	return r->asg->versions[v.i].writer;
}

static inline bool kr_repair_active(const struct kr_repair *r, kr_txn t) { return r->w->active[t.i]; }

static inline struct kr_link kr_repair_ww(const struct kr_repair *r, kr_version a, kr_version b)
{
	return (struct kr_link){KR_WW, kr_repair_writer(r, a), kr_repair_writer(r, b), {KR_NONE}, {KR_NONE},
		r->asg->versions[a.i].key, KR_NONE};
}

static inline struct kr_link kr_repair_rw(const struct kr_repair *r, uint32_t o, kr_version b)
{
	const struct kr_observation *x = &r->asg->obs[o];
	return (struct kr_link){KR_RW, x->txn, kr_repair_writer(r, b), {o}, r->source[o], x->key, KR_NONE};
}

/* Is there an rw from the observation to that version, once it comes after the one seen? */
static inline bool kr_repair_overwrites(const struct kr_repair *r, uint32_t o, kr_version b)
{
	return kr_repair_writer(r, b).i != r->asg->obs[o].txn.i && kr_level_orders(r->ir->level, KR_RW) &&
		kr_pattern_counts(&r->ir->level->forbidden[0], r->asg->obs[o].predicate, false) &&
		kr_ir_overwrites(r->ir, (kr_obs){o}, b);
}

static inline uint32_t kr_repair_write_place(const struct kr_repair *r, kr_version v)
{
	return r->order.place[kr_ir_out(r->ir, KR_WW, kr_repair_writer(r, v)).i];
}

/* The active versions of key k after the initial one, as the order has them, into r->sorted; how many. */
uint32_t kr_repair_sort(struct kr_repair *r, uint32_t k);

/* The newest version of the n sorted ones whose wr to the observer the order keeps: 1 + its number; 0: the
 * initial one. */
uint32_t kr_repair_visible(const struct kr_repair *r, uint32_t o, uint32_t n);

/* Appends to r->wanted what would have to be variables for the order to be mended where it breaks the edges
 * of a key. */
enum kr_status kr_repair_look(struct kr_repair *r, uint32_t k);

#endif
