/* What is asked of levels in several places. The levels themselves are data (krait/level.h) and stand with
 * their checkers in checkers/. */
#ifndef KR_IR_LEVEL_H
#define KR_IR_LEVEL_H

#include <string.h>

#include "ir/pattern.h"

/* Is the level's id in the list? `ids` ends with NULL; NULL: it is empty. */
static inline bool kr_level_is_among(const struct kr_level *level, const char *const *ids)
{
	while (ids && *ids && strcmp(*ids, level->id) != 0)
		ids++;
	return ids && *ids;
}

/* The strongest order with which a implies b by its descriptor; -1: none. */
static inline int kr_level_implies(const struct kr_level *a, const struct kr_level *b)
{
	int order = KR_ORDER_REALTIME;

	while (order >= 0 && !kr_level_is_among(a, b->implied_by) && !kr_level_is_among(b, a->implies[order]))
		order--;
	return order;
}

/* Where edges of a kind leave and enter transaction t, on the nodes of the model: t, or its begin 2t and
 * commit 2t + 1. */
static inline kr_node kr_level_out(const struct kr_level *level, enum kr_edge_kind kind, kr_txn t)
{
	return (kr_node){level->model == KR_NODES_TXN ? t.i : 2 * t.i + (kind != KR_RW)};
}

static inline kr_node kr_level_in(const struct kr_level *level, enum kr_edge_kind kind, kr_txn t)
{
	return (kr_node){level->model == KR_NODES_TXN
			? t.i
			: 2 * t.i + (kind == KR_RW || (kind == KR_WW && level->model == KR_NODES_PREFIX))};
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

/* Are edges of the kind in the graph that is to be acyclic? */
static inline bool kr_level_orders(const struct kr_level *level, enum kr_edge_kind kind)
{
	return level->forbidden[0].allowed & KR_BIT(kind);
}

/* Is every rw an edge of it? */
static inline bool kr_level_orders_reads(const struct kr_level *level)
{
	return kr_level_orders(level, KR_RW) && !level->forbidden[0].item_only;
}

/* NULL: on the nodes of the level's model, acyclicity is what its first pattern asks. Else what is wrong with
 * the model. */
const char *kr_level_wrong_model(const struct kr_level *level);

/* Is every cycle of these edges forbidden? (pattern.c) */
bool kr_level_forbids(const struct kr_level *level, const struct kr_pattern_edge *edges, uint32_t n);

/* Is t -rw-> b -wr-> t forbidden, at whatever operations of t, the rw by a predicate observation or by a read
 * that was not through a cursor? */
bool kr_level_forbids_two_states(const struct kr_level *level, bool predicate, bool loose);

/* Is every t -rw-> b -ww-> t on one key forbidden? With `loose`: also where t's read was not through a
 * cursor. */
bool kr_level_forbids_lost_updates(const struct kr_level *level, bool loose);

/* Does it matter to the pattern of which version of a key its parts were seen, since no ww leads from an
 * older one to that? */
static inline bool kr_pattern_wants_whole(const struct kr_pattern *p)
{
	return p->allowed & KR_BIT(KR_RW) && p->allowed & KR_BIT(KR_WR) &&
		(p->longest == 2 || !(p->allowed & KR_BIT(KR_WW)));
}

/* Whom may a reader not miss, by this pattern: those that are visible to it by what it saw and by the
 * order asked for? Then that does not depend on the order of versions, and says what it must be
 * (visible.h). One rw, and the way back has no ww: what Biswas and Enea call an axiom. */
static inline bool kr_pattern_is_axiom(const struct kr_pattern *p)
{
	bool back = p->once == KR_BIT(KR_RW) && p->allowed & KR_BIT(KR_WR) && !(p->allowed & KR_BIT(KR_WW));

	return back && (p->longest == 2 || (p->longest == 0 && p->sight == KR_SIGHT_ANY));
}

/* Are all its further patterns axioms, and is there one? */
static inline bool kr_level_is_axiomatic(const struct kr_level *level)
{
	bool all = kr_level_asks(level) == KR_ASK_SINGLE && kr_level_orders(level, KR_WW);

	for (int i = 1; i < KR_PATTERNS_MOST && level->forbidden[i].allowed; i++)
		all &= kr_pattern_is_axiom(&level->forbidden[i]);
	return all;
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
