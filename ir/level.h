/* An isolation level as data: node model, forbidden-cycle pattern, default order, names. Nothing in krait branches on which level it is: passes, search, explanation and encoding
 * read the pattern. Instances stand with their checkers in checkers/. */
#ifndef KR_IR_LEVEL_H
#define KR_IR_LEVEL_H

#include "base/terms.h"

/* One node per transaction, or begin and commit nodes. */
enum kr_node_model { KR_NODES_TXN, KR_NODES_BEGIN_COMMIT };

/* Which cycles a level forbids, after Elle: a cycle is forbidden when all its edges are of `allowed` kinds, no two neighbours are of a `lonely` kind,
 * exactly one is of a `once` kind (0: no such demand), and at least one of a `needed` kind (0: no such demand). */
struct kr_pattern {
	uint32_t allowed, lonely, once, needed; /* sets of KR_BIT(enum kr_edge_kind) */
	bool item_only;                         /* rw of predicate observations does not count */
};

/* A further name of a level; with has_order it fixes the order ("strong-session-snapshot-isolation"). */
struct kr_level_name { const char *name; bool has_order; enum kr_order order; };

struct kr_level {
	const char *id;                    /* of docs/levels.md, used in output */
	const struct kr_level_name *names; /* ends with a NULL name; without the id */
	const char *title;                 /* one line */
	const char *definition;            /* what is forbidden, one line */
	const char *source;                /* the paper */
	const char *const *implies;        /* ids of levels that it implies directly (same order), NULL-terminated; may be NULL */
	enum kr_order default_order;
	enum kr_node_model model;
	struct kr_pattern forbidden;
	uint32_t anomalies;                /* set of KR_BIT(enum kr_anomaly_kind) forbidden besides */
};

#endif
