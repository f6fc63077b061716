/* The dependency IR: a graph of what is known, and superpositions for what the trace leaves open. A level is
 * satisfied iff some world, i.e. some way to settle every superposition, gives a graph without a cycle of the
 * level's forbidden pattern (docs/ir.md).
 *
 * Nodes: with KR_NODES_TXN node i is transaction i; with KR_NODES_BEGIN_COMMIT nodes 2i and 2i + 1 are its
 * begin and commit; after these come time nodes, through which real-time order takes a linear number of
 * edges. Edges are appended, never removed; their index is their age, and an edge derived by a pass rests
 * only on older ones: that is how it is explained afterwards at no cost in memory (proof.h).
 *
 * Superpositions, all compact:
 *   order(k):    implicit. Versions a, b of k are ordered iff a known path joins their writers; pairs are
 *                made only by a back end, and only those that it meets.
 *   source(o):   source[o], KR_NONE while open. Its alternatives are the candidates of o in the ASG less
 *                those that kr_ir_impossible rules out.
 *   presence(t): presence[t]. Open ones join the graph when an observation can only have seen them; at the
 *   end those that nobody observed are absent. */
#ifndef KR_IR_IR_H
#define KR_IR_IR_H

#include "base/bits.h"
#include "ir/asg.h"
#include "ir/level.h"
#include "krait/module.h"

/* 18 bytes, not 20 */
struct __attribute__((packed, aligned(2))) kr_edge {
	kr_node from, to;
	uint32_t why;   /* kr_obs.i for wr, rw and KR_RULE_READER; kr_key.i for given ww; else KR_NONE */
	uint8_t kind;   /* enum kr_edge_kind */
	uint8_t rule;   /* enum kr_rule */
	uint32_t next;  /* set when it is added: next edge out of the same node, older; or KR_NONE */
};

/* "so", "rt", "wr", "ww", "rw", "clock", "saturated", "pruned" */
const char *kr_fact_name(enum kr_fact fact);

const char *kr_rule_name(enum kr_rule rule); /* as in the text form: "given", "source", ... */

struct kr_clock;
struct kr_proof;
struct kr_units;

/* Observations of one key by one transaction, in rings; most observations are alone. */
struct kr_siblings {
	uint64_t *has;    /* per observation, a bit: it is not alone */
	uint32_t *before; /* per word of these: how many are set in the words before it */
	kr_obs *next;     /* per observation that is not alone, in their order */
	uint32_t n;
};

KR_VEC_NAMED(kr_rounds, uint64_t);

/* What a pass or a back end counts of its own accord, for --stats: by name, in the order in which the names
 * first came. */
enum { KR_TALLIES_MOST = 16, KR_TALLY_NAME = 32 };
struct kr_tallies { uint32_t n; struct { char name[KR_TALLY_NAME]; int64_t value; } at[KR_TALLIES_MOST]; };

struct kr_ir {
	struct kr_ctx *ctx;              /* limits and memory */
	struct kr_arena arena;           /* holds what has a fixed size */
	const struct kr_asg *asg;        /* borrowed */
	const struct kr_level *level;
	enum kr_order order;
	uint32_t facts;                  /* set of enum kr_fact */
	uint32_t nnodes;
	uint32_t first_time_node;        /* nodes from here on are time nodes, in time order */
	KR_VEC(struct kr_edge) edges;
	KR_VEC(uint32_t) head;           /* per node: newest edge out of it, or KR_NONE */
	/* per observation; KR_NONE: open, or its transaction is not (yet) known to be present */
	kr_version *source;
	struct kr_siblings siblings;
	/* per observation: number of edges when its source became known (0: the trace alone tells) */
	uint32_t *source_age;
	uint8_t *presence;               /* per transaction, enum kr_presence */
	/* per transaction: 1 + the observation that can only have seen it; 0: there is none */
	uint32_t *presence_why;
	struct kr_clock *clock;          /* NULL until the clock pass has run; owned */
	struct kr_proof *conflict;       /* a refutation found by a pass, or NULL; owned */
	/* How many sources were known when all orders of versions that the level's axioms force by them
	 * became edges (pass `visible`); KR_NONE: they did not. */
	uint32_t visible;
	struct kr_units *units;          /* read-modify-write chains (units.h), or NULL; owned */
	struct kr_tallies tallies;     /* of the pass or back end that runs */
	/* of a pass that works in rounds: pairs of units that were still undecided after each */
	struct kr_rounds undecided;
};

/* Makes the nodes of `level`'s model; edges only from begins to their commits, where the model has such. */
enum kr_status kr_ir_init(struct kr_ir *ir, struct kr_ctx *ctx, const struct kr_asg *asg,
	const struct kr_level *level, enum kr_order order);
void kr_ir_done(struct kr_ir *ir);

/* Where edges of a kind leave and enter transaction t. */
static inline kr_node kr_ir_out(const struct kr_ir *ir, enum kr_edge_kind kind, kr_txn t)
{
	return kr_level_out(ir->level, kind, t);
}
static inline kr_node kr_ir_in(const struct kr_ir *ir, enum kr_edge_kind kind, kr_txn t)
{
	return kr_level_in(ir->level, kind, t);
}

static inline bool kr_ir_is_time(const struct kr_ir *ir, kr_node v) { return v.i >= ir->first_time_node; }

/* The transaction of a node; KR_NONE for a time node. */
static inline kr_txn kr_ir_txn(const struct kr_ir *ir, kr_node v)
{
	if (kr_ir_is_time(ir, v))
		return (kr_txn){KR_NONE};
	return (kr_txn){ir->level->model == KR_NODES_TXN ? v.i : v.i / 2};
}

static inline uint32_t kr_sibling_place(const struct kr_siblings *s, kr_obs o)
{
	return s->before[o.i / 64] + kr_bits_below(s->has, o.i);
}

/* The next observation of the same key by the same transaction, in a ring; o itself if it is alone. */
static inline kr_obs kr_ir_sibling(const struct kr_ir *ir, kr_obs o)
{
	const struct kr_siblings *s = &ir->siblings;

	return kr_bits_get(s->has, o.i) ? s->next[kr_sibling_place(s, o)] : o;
}

/* The observation that can only have seen t, or KR_NONE. */
static inline kr_obs kr_ir_presence_why(const struct kr_ir *ir, kr_txn t)
{
	return (kr_obs){ir->presence_why[t.i] - 1};
}

static inline bool kr_ir_is_present(const struct kr_ir *ir, kr_txn t)
{
	return ir->presence[t.i] == KR_PRESENT;
}

/* Appends a time node. Before the clock exists only. */
enum kr_status kr_ir_add_time_node(struct kr_ir *ir, kr_node *out);

/* Appends an edge, without looking at clocks or cycles. */
enum kr_status kr_ir_add_edge(struct kr_ir *ir, struct kr_edge edge);

/* The same, of the nodes at which a dependency of two transactions leaves and enters them. */
enum kr_status kr_ir_relate(struct kr_ir *ir, enum kr_edge_kind kind, kr_txn from, kr_txn to,
	enum kr_rule rule, uint32_t why);

/* How many observations have a known source. O(observations). */
uint32_t kr_ir_known_sources(const struct kr_ir *ir);

/* A topological order of the nodes over known edges (breadth first, so that sessions interleave); *cyclic is
 * set when there is none (then `out` is undefined). `out` has room for nnodes. */
enum kr_status kr_ir_topological(const struct kr_ir *ir, kr_node *out, bool *cyclic);

/* Places in another topological order, per node: by how far along the longest way of known edges that leads
 * through it a node is, time nodes like others. Where much is known, that is near where it has to be.
 * *cyclic: there is no such order; then it is any permutation. O(edges + nodes log nodes). */
enum kr_status kr_ir_along(const struct kr_ir *ir, uint32_t *place, bool *cyclic);

/* A short path of known edges older than `age` from a to b (both ends differ), as edge indices in order:
 * fewest derived edges, and few edges. *found is false when there is none. `path` is appended to.
 * O(edges). */
KR_VEC_NAMED(kr_path, uint32_t);
enum kr_status kr_ir_path(const struct kr_ir *ir, kr_node a, kr_node b, uint32_t age, struct kr_path *path,
	bool *found);

/* The same, of all edges, by the nodes of a's component alone, in which b is, too (kr_ir_components): the
 * path does not change, and where components are small it is sooner found. */
enum kr_status kr_ir_path_within(const struct kr_ir *ir, const uint32_t *component, kr_node a, kr_node b,
	struct kr_path *path, bool *found);

/* The same by edges of some kinds alone, a set of KR_BIT(enum kr_edge_kind), and those within a
 * transaction and between times; of wr those that tell what version of a key was seen, where the way must
 * not go on by ww: none by a part of a key. */
enum kr_status kr_ir_path_by(const struct kr_ir *ir, uint32_t kinds, kr_node a, kr_node b, uint32_t age,
	struct kr_path *path, bool *found);

/* Another observation of the same key by o's transaction, of whose candidates v is none, or KR_NONE. Where rw
 * and wr on a cycle are forbidden, a transaction sees one version of a key only, so v is then impossible for
 * o, an item observation: whichever came first of v and what the other one saw, its overwriter was seen, too.
 * O(such observations). */
kr_obs kr_ir_other_sight(const struct kr_ir *ir, kr_obs o, kr_version v);

/* Does an rw of observation o close a forbidden cycle with *every* path of known edges from its target back
 * to the observer? Not where a level limits such cycles further (their length, their kinds, the place of
 * operations), looks at other rw only, or has none. */
bool kr_ir_rw_counts(const struct kr_ir *ir, kr_obs o);

/* Does version `later` overwrite what o saw, once it comes after that? (docs/levels.md: rw) */
bool kr_ir_overwrites(const struct kr_ir *ir, kr_obs o, kr_version later);

/* Does a come before b by the order asked for, by an edge of that kind: so or rt? */
bool kr_ir_precedes(const struct kr_ir *ir, kr_txn a, kr_txn b, enum kr_edge_kind kind);

/* Are rw of t edges of the graph of known edges? Only if it may have several on a cycle; those of a
 * transaction that writes nothing not where a cycle may have one such transaction only. */
bool kr_ir_rw_joins(const struct kr_ir *ir, kr_txn t);

/* Would wr from a to b close a cycle that the level forbids? False without a clock. */
bool kr_ir_closes_wr(const struct kr_ir *ir, kr_txn a, kr_txn b);

/* Is it known by the clock that the versions of a come before those of b on every key that both write: would
 * ww from b to a close a cycle? False without a clock. */
bool kr_ir_writes_before(const struct kr_ir *ir, kr_txn a, kr_txn b);

/* Is candidate v of observation o ruled out by known edges: the observer reaches v's writer, or another
 * version that comes after v (one outside the candidate set, for a predicate observation) reaches the
 * observer; or by kr_ir_other_sight? O(versions of the key). Without the clock only by the last. */
bool kr_ir_impossible(const struct kr_ir *ir, kr_obs o, kr_version v);

/* Edges that were chosen, laid over the known ones. An arc: the node that it enters, the next one out of the
 * same node or KR_NONE. */
struct kr_ir_arc { uint32_t to, next; };
struct kr_ir_chosen {
	const uint8_t *active;   /* per transaction: does it take part? */
	const uint32_t *rank;    /* per node: KR_NONE; else it takes no part */
	const uint32_t *head;    /* per node: a chosen edge out of it, or KR_NONE */
	const struct kr_ir_arc *arcs;
};

/* Strongly connected components of the known graph, with chosen edges over it unless that is NULL: an edge is
 * on a cycle iff both of its ends are in one. `component` (nnodes, the caller's) gets equal numbers for nodes
 * that reach each other, different ones for others, and KR_NONE for nodes that take no part. O(nodes +
 * edges). */
enum kr_status kr_ir_components(const struct kr_ir *ir, const struct kr_ir_chosen *chosen,
	uint32_t *component);

/* Finds a short cycle of known edges (there must be one) and records it as ir->conflict. O(edges) for each of
 * a bounded number of tries. */
enum kr_status kr_ir_conflict(struct kr_ir *ir);

/* Counts for --stats. open_sources: observations of present transactions. open_pairs: pairs of versions of
 * one key that no known path orders (needs the clock; else all pairs), counted by chain, not pair by pair;
 * open_keys: keys that have any. */
struct kr_ir_counts {
	uint64_t edges[KR_EDGE_KINDS];
	uint32_t open_sources, open_presences, open_keys;
	uint64_t open_pairs;
};
enum kr_status kr_ir_count(const struct kr_ir *ir, struct kr_ir_counts *out);

/* Text form, with the ASG's before it; reading what was printed gives an equal IR (clock and conflict apart).
 * Grammar: docs/ir.md. `asg` is filled and then borrowed by `ir`. Of a text with an ASG alone the IR is made,
 * with that order. */
void kr_ir_print(const struct kr_ir *ir, struct kr_str *out);
enum kr_status kr_ir_read(struct kr_ir *ir, struct kr_asg *asg, struct kr_ctx *ctx,
	const struct kr_level *level, enum kr_order order, const char *text, struct kr_err *err);

/* Checks every structural promise of this header; KR_INTERNAL names the first that is broken. */
enum kr_status kr_ir_verify(const struct kr_ir *ir, struct kr_err *err);

#endif
