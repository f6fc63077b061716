/* What passes and back ends of plug-ins see of a question, and how they answer it. docs/asg.md and docs/ir.md
 * say what the words mean, docs/levels.md what a world is.
 *
 * Numbers: transactions, keys, versions, observations and known edges are numbered from 0; a number out of
 * range gives the "none" of its kind, never undefined behaviour. Keys beyond those of the trace are parts of
 * a key (an element of a set, an increment of a counter). What a function returns by pointer belongs to krait
 * and lives as long as the question. Nothing here is believed: an answer becomes a verdict only when the
 * verifier accepts what it amounts to. */
#ifndef KRAIT_GRAPH_H
#define KRAIT_GRAPH_H

#include "krait/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the question ---- */

KRAIT_EXPORT struct kr_ctx *krait_ir_ctx(const struct kr_ir *ir); /* for krait_tick */
KRAIT_EXPORT const struct kr_level *krait_ir_level(const struct kr_ir *ir);
KRAIT_EXPORT enum kr_order krait_ir_order(const struct kr_ir *ir);

struct krait_sizes { uint32_t transactions, keys, versions, observations, nodes, edges; };
KRAIT_EXPORT struct krait_sizes krait_ir_sizes(const struct kr_ir *ir);

/* ---- transactions and versions ---- */

enum kr_presence {
	KR_ABSENT_TXN, /* took no effect: aborted, or unknown and impossible or unseen by all */
	KR_PRESENT,    /* took effect */
	KR_OPEN        /* unknown, and the trace leaves it open */
};

/* as far as passes have settled it */
KRAIT_EXPORT enum kr_presence krait_ir_presence(const struct kr_ir *ir, kr_txn t);

/* The versions of a key are neighbours: the first is the initial one, the others are one for each transaction
 * that may have taken effect and writes the key, by transaction. */
struct krait_range { uint32_t first, count; };
KRAIT_EXPORT struct krait_range krait_ir_versions(const struct kr_ir *ir, kr_key k);

struct krait_version { kr_key key; kr_txn writer; }; /* writer KR_NONE: the initial version */
KRAIT_EXPORT struct krait_version krait_ir_version(const struct kr_ir *ir, kr_version v);

/* Version of key k written by t, or KR_NONE. O(log writes of t). */
KRAIT_EXPORT kr_version krait_ir_version_of(const struct kr_ir *ir, kr_txn t, kr_key k);

/* ---- observations ---- */

/* Observations of a transaction are neighbours, in the order of its operations. */
KRAIT_EXPORT struct krait_range krait_ir_observations(const struct kr_ir *ir, kr_txn t);

struct krait_observation {
	kr_txn txn;
	uint32_t op;    /* index within the transaction's program */
	kr_key key;
	/* a key that a predicate read did not return: rw only to versions that are no candidates */
	bool predicate;
	bool loose;     /* the operation says that it did not read through a cursor */
	kr_version saw; /* KR_NONE: open */
};
KRAIT_EXPORT struct krait_observation krait_ir_observation(const struct kr_ir *ir, kr_obs o);

/* Can o have seen v, as far as the trace alone tells? O(log candidates). */
KRAIT_EXPORT bool krait_ir_is_candidate(const struct kr_ir *ir, kr_obs o, kr_version v);

/* ---- known edges ---- */

/* Nodes: transactions, or with begin and commit nodes two for each; behind them nodes that stand for
 * times. */
/* where edges of a kind leave t */
KRAIT_EXPORT kr_node krait_ir_out(const struct kr_ir *ir, enum kr_edge_kind kind, kr_txn t);
/* where they enter it */
KRAIT_EXPORT kr_node krait_ir_in(const struct kr_ir *ir, enum kr_edge_kind kind, kr_txn t);
/* KR_NONE: a time */
KRAIT_EXPORT kr_txn krait_ir_txn(const struct kr_ir *ir, kr_node v);

struct krait_edge { enum kr_edge_kind kind; kr_node from, to; };
KRAIT_EXPORT struct krait_edge krait_ir_edge(const struct kr_ir *ir, uint32_t i);

/* Do known edges lead from a to b? With the fact KR_FACT_CLOCK only; else false. True is certain; false is
 * "not known". O(1). */
KRAIT_EXPORT bool krait_ir_reaches(const struct kr_ir *ir, kr_node a, kr_node b);

/* ---- what a pass may do ---- */

/* Why a known edge is known. The proof of a violation is made from this: an edge that its rule does not bear
 * out gets no verdict. */
enum kr_rule {
	KR_RULE_GIVEN,  /* the trace says so: so, rt, wr of an only candidate, ww of a given version order */
	KR_RULE_SOURCE, /* wr: every other candidate of observation `why` is impossible by older edges */
	/* ww a -> b: observation `why` saw b's version, and a reaches the observer: by a path with which
	 * an rw to a would close a forbidden cycle */
	KR_RULE_READER,
	/* rw: the version that observation `why` saw comes before the target's (initial, given, or its writer
	 * reaches the target) */
	KR_RULE_LATER,
	/* ww a -> b: both write key `why`, and where ww enters a reaches where ww leaves b (with begin and
	 * commit nodes, a's begin b's commit) */
	KR_RULE_WRITERS,
	/* ww a -> b: observation `why` of a saw a version of a key that a writes, too, and that version comes
	 * before b's */
	KR_RULE_UPDATE,
	KR_RULES
};

/* Adds a known edge, ww or rw, between two transactions that are present. `why`: kr_obs.i for rw,
 * KR_RULE_READER and KR_RULE_UPDATE; kr_key.i for other ww. The new edge counts for krait_ir_reaches at its
 * own ends at once, farther away after the pass. KR_INTERNAL, recorded in err: it is not of this kind, or
 * names what there is not. */
KRAIT_EXPORT enum kr_status krait_ir_add_edge(struct kr_ir *ir, enum kr_edge_kind kind, kr_txn from,
	kr_txn to, enum kr_rule rule, uint32_t why, struct kr_err *err);

/* Records the cycle of known edges that there is, as the refutation of the level; the pass then returns KR_OK
 * with the change KR_CONFLICT. KR_INTERNAL: there is none. O(edges). */
KRAIT_EXPORT enum kr_status krait_ir_conflict(struct kr_ir *ir, struct kr_err *err);

/* ---- statistics, of passes and back ends ---- */

/* Adds `more` to what the module counts under `name` (borrowed), from 0 in each run; `krait check --stats`
 * shows it with the pass or back end. A name is cut to 31 bytes; after 16 names of one module, further ones
 * are left out. */
KRAIT_EXPORT void krait_count(struct kr_ir *ir, const char *name, int64_t more);

/* ---- how a back end answers ---- */

/* KR_VIOLATED: cycles over known edges and choices that exhaust all worlds. A link ends where the next one
 * begins, cyclically. */
struct kr_link {
	uint8_t kind;      /* enum kr_edge_kind; never KR_PROGRAM */
	kr_txn from, to;
	kr_obs obs;        /* wr, rw; else KR_NONE */
	kr_version seen;   /* wr: the version seen; rw: the version that obs saw, before to's; else KR_NONE */
	kr_key key;        /* wr, ww, rw; else KR_NONE */
	uint32_t edge;     /* index of the known edge that it is, or KR_NONE: a choice */
};

/* Adds a cycle of two or more links. KR_INTERNAL, recorded in err: a link names what there is not, or does
 * not end where the next one begins. */
KRAIT_EXPORT enum kr_status krait_answer_cycle(struct kr_answer *answer, const struct kr_ir *ir,
	const struct kr_link *links, uint32_t count, struct kr_err *err);

/* KR_SATISFIED: a world. `order`: the nodes in a topological order of its graph; transactions absent in the
 * world, and times, are left out. KR_INTERNAL: a node or form that there is not; the error tells of it. */
KRAIT_EXPORT enum kr_status krait_answer_world(struct kr_answer *answer, const struct kr_ir *ir,
	enum kr_world_form form, const kr_node *order, uint32_t count);
/* KR_WORLD_GRAPH: what an observation saw in it. KR_INTERNAL: there is no such observation, or `seen`
 * (KR_NONE: nothing) is no version of its key; the error tells of it. */
KRAIT_EXPORT enum kr_status krait_answer_source(struct kr_answer *answer, const struct kr_ir *ir, kr_obs o,
	kr_version seen);

/* KR_UNDECIDED, with the reason: one line (copied; what is longer than 159 bytes is cut). */
KRAIT_EXPORT void krait_answer_unknown(struct kr_answer *answer, const char *reason);

/* What has been answered so far. */
KRAIT_EXPORT enum kr_outcome krait_answer_outcome(const struct kr_answer *answer);

/* Lets another back end decide, for those that only prepare. KR_INTERNAL: there is none of that name that
 * decides. */
KRAIT_EXPORT enum kr_status krait_solve_with(const char *backend, struct kr_ir *ir, struct kr_answer *answer,
	struct kr_err *err);

/* For `write`: appends text. A failed allocation is kept in mind, and told in the end. */
KRAIT_EXPORT void krait_text_add(struct kr_str *out, const char *format, ...) KRAIT_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif

#endif
