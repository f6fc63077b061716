/* Pruning in rounds, shared by the passes that do it: what they ask reachability of differs. */
#ifndef KR_PASSES_PRUNE_H
#define KR_PASSES_PRUNE_H

#include "passes/pass.h"

/* Answers about the known graph as it was at the beginning of a round. "No" may be "not known". */
struct kr_pruner {
	void *data;
	/* At the beginning of every round. *cyclic: the known graph has a forbidden cycle; nothing is asked
	 * then. */
	enum kr_status (*refresh)(void *data, struct kr_ir *ir, bool *cyclic);
	bool (*writes_before)(const void *data, kr_txn a, kr_txn b);  /* would ww b -> a close a cycle? */
	bool (*reaches_read)(const void *data, kr_txn a, kr_txn t);   /* would rw t -> a close a cycle? */
	/* does a path say what this edge would? */
	bool (*implied)(const void *data, enum kr_edge_kind kind, kr_txn a, kr_txn b);
};

/* Is the level one of which the questions above have the sense that pruning needs? */
bool kr_prune_applies(const struct kr_ir *ir);

/* Runs rounds until one decides nothing, or the graph is cyclic (KR_CONFLICT). Appends to ir->undecided after
 * each. */
enum kr_status kr_prune(struct kr_ir *ir, const struct kr_pruner *pruner, enum kr_change *change);

#endif
