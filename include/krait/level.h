/* An isolation level as data: node model, forbidden-cycle pattern, default order, names. Nothing in krait
 * branches on which level it is: passes, search, explanation, encoding and verifier read the pattern.
 * docs/writing-a-checker.md says which combinations can be decided; a plug-in with another one is refused. */
#ifndef KRAIT_LEVEL_H
#define KRAIT_LEVEL_H

#include "krait/terms.h"

/* One node per transaction, or begin and commit nodes; with KR_NODES_PREFIX, ww enters the commit of its
 * target and not the begin. */
enum kr_node_model { KR_NODES_TXN, KR_NODES_BEGIN_COMMIT, KR_NODES_PREFIX };

/* How the wr edge that closes a cycle t -rw-> b ... -wr-> t must lie in t's program: at any operation, at
 * none after that of the rw, or before it. */
enum kr_sight_order { KR_SIGHT_ANY, KR_SIGHT_NOT_AFTER, KR_SIGHT_BEFORE };

/* Which cycles a level forbids, after Elle: those that meet all demands of one of its patterns. All edges are
 * of `allowed` kinds; no two neighbours are both of a `lonely` kind; an rw comes right after an edge of a
 * `lead` kind only; exactly one edge is of a `once` kind; at least one is of a `needed` kind. A demand that
 * is 0 or false is none. Sets are of KR_BIT(enum kr_edge_kind). */
struct kr_pattern {
	uint32_t allowed, lonely, lead, once, needed;
	uint8_t longest;     /* at most so many edges */
	enum kr_sight_order sight; /* `once` is rw, and its predecessor on the cycle a wr */
	bool same_key;       /* all edges that have a key have the same */
	bool item_only;      /* rw of predicate observations does not count */
	bool cursor_only;    /* rw of reads that were not through a cursor does not count */
	bool one_reader;     /* at most one transaction on the cycle writes nothing */
};

/* Kinds of edges: what is written and read, and the order asked for. */
#define KR_EDGES_DEPENDENCY (KR_BIT(KR_WR) | KR_BIT(KR_WW))
#define KR_EDGES_ORDER (KR_BIT(KR_SO) | KR_BIT(KR_RT))
#define KR_EDGES_ALL (KR_EDGES_DEPENDENCY | KR_BIT(KR_RW) | KR_EDGES_ORDER)

/* The patterns that have names (docs/levels.md): levels forbid them, and what is found bears them. */
#define KR_G0 {.allowed = KR_BIT(KR_WW) | KR_EDGES_ORDER}
#define KR_G1C {.allowed = KR_EDGES_DEPENDENCY | KR_EDGES_ORDER}
#define KR_G_SINGLE {.allowed = KR_EDGES_ALL, .once = KR_BIT(KR_RW)}
#define KR_G_NONADJACENT {.allowed = KR_EDGES_ALL, .lonely = KR_BIT(KR_RW)}
#define KR_G2_ITEM {.allowed = KR_EDGES_ALL, .item_only = true}
#define KR_G2 {.allowed = KR_EDGES_ALL}

enum { KR_PATTERNS_MOST = 3 };

/* A further name of a level; with has_order it fixes the order ("strong-session-snapshot-isolation"). */
struct kr_level_name { const char *name; bool has_order; enum kr_order order; };

struct kr_level {
	const char *id;                    /* of docs/levels.md, used in output */
	const struct kr_level_name *names; /* ends with a NULL name; without the id */
	const char *title;                 /* one line */
	const char *definition;            /* what is forbidden, one line */
	const char *source;                /* the paper */
	/* ids of levels that it implies directly, both with this order or both with a weaker one;
	 * NULL-terminated; may be NULL */
	const char *const *implies[KR_ORDER_REALTIME + 1];
	enum kr_order default_order;
	enum kr_node_model model;
	struct kr_pattern forbidden[KR_PATTERNS_MOST]; /* the first without `allowed` ends them */
	uint32_t anomalies;                /* set of KR_BIT(enum kr_anomaly_kind) forbidden besides */
	/* ids of levels that imply it, both with the same order: for plug-ins, which others do not list;
	 * likewise */
	const char *const *implied_by;
};

#endif
