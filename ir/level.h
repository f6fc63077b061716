/* An isolation level as data: node model, forbidden-cycle pattern, default order, names. Nothing in krait branches on which level it is: passes, search, explanation and encoding
 * read the pattern. Instances stand with their checkers in checkers/. */
#ifndef KR_IR_LEVEL_H
#define KR_IR_LEVEL_H

#include <string.h>

#include "base/terms.h"

/* One node per transaction, or begin and commit nodes; with KR_NODES_PREFIX, ww enters the commit of its target and not the begin. */
enum kr_node_model { KR_NODES_TXN, KR_NODES_BEGIN_COMMIT, KR_NODES_PREFIX };

/* How the wr edge that closes a cycle t -rw-> b ... -wr-> t must lie in t's program: at any operation, at none after that of the rw, or before it. */
enum kr_sight_order { KR_SIGHT_ANY, KR_SIGHT_NOT_AFTER, KR_SIGHT_BEFORE };

/* Which cycles a level forbids, after Elle: those that meet all demands of one of its patterns. All edges are of `allowed` kinds; no two neighbours are both of a
 * `lonely` kind; an rw comes right after an edge of a `lead` kind only; exactly one edge is of a `once` kind; at least one is of a `needed` kind. A demand that is 0 or false is
 * none. Sets are of KR_BIT(enum kr_edge_kind). */
struct kr_pattern {
	uint32_t allowed, lonely, lead, once, needed;
	uint8_t longest;     /* at most so many edges */
	enum kr_sight_order sight; /* `once` is rw, and its predecessor on the cycle a wr */
	bool same_key;       /* all edges that have a key have the same */
	bool item_only;      /* rw of predicate observations does not count */
	bool cursor_only;    /* rw of reads that were not through a cursor does not count */
	bool one_reader;     /* at most one transaction on the cycle writes nothing */
};

enum { KR_PATTERNS_MOST = 3 };

/* A further name of a level; with has_order it fixes the order ("strong-session-snapshot-isolation"). */
struct kr_level_name { const char *name; bool has_order; enum kr_order order; };

struct kr_level {
	const char *id;                    /* of docs/levels.md, used in output */
	const struct kr_level_name *names; /* ends with a NULL name; without the id */
	const char *title;                 /* one line */
	const char *definition;            /* what is forbidden, one line */
	const char *source;                /* the paper */
	const char *const *implies[KR_ORDER_REALTIME + 1]; /* ids of levels that it implies directly, both with this order or both with a weaker one; NULL-terminated; may be NULL */
	enum kr_order default_order;
	enum kr_node_model model;
	struct kr_pattern forbidden[KR_PATTERNS_MOST]; /* the first without `allowed` ends them */
	uint32_t anomalies;                /* set of KR_BIT(enum kr_anomaly_kind) forbidden besides */
};

/* The strongest order with which a implies b by its descriptor; -1: none. */
static inline int kr_level_implies(const struct kr_level *a, const struct kr_level *b)
{
	int order = KR_ORDER_REALTIME;

	for (; order >= 0; order--)
		for (const char *const *id = a->implies[order]; id && *id; id++)
			if (strcmp(*id, b->id) == 0)
				return order;
	return order;
}

/* How a level is decided. */
enum kr_question_kind {
	KR_ASK_ACYCLIC,  /* is the graph of the first pattern's kinds acyclic, on the nodes of the model? */
	KR_ASK_SINGLE,   /* and has it no rw of a further pattern whose target leads back to its source? */
	KR_ASK_READERS   /* is it acyclic among the transactions that write, with each one that does not? */
};

static inline enum kr_question_kind kr_level_asks(const struct kr_level *level)
{
	if (level->forbidden[0].one_reader)
		return KR_ASK_READERS;
	return level->forbidden[1].allowed ? KR_ASK_SINGLE : KR_ASK_ACYCLIC;
}

/* Is t -rw-> b -wr-> t forbidden, at whatever operations of t? */
static inline bool kr_level_forbids_two_states(const struct kr_level *level)
{
	const uint32_t both = KR_BIT(KR_WR) | KR_BIT(KR_RW);

	for (int i = 0; i < KR_PATTERNS_MOST; i++)
		if ((level->forbidden[i].allowed & both) == both && level->forbidden[i].sight == KR_SIGHT_ANY)
			return true;
	return false;
}

/* Kinds of edges that any of its patterns allows. */
static inline uint32_t kr_level_kinds(const struct kr_level *level)
{
	uint32_t kinds = 0;

	for (int i = 0; i < KR_PATTERNS_MOST; i++)
		kinds |= level->forbidden[i].allowed;
	return kinds;
}

#endif
