/* The open question of an IR as formulas, for other solvers: Boolean variables for the choices, clauses over
 * them, and guarded edges. The level holds iff some assignment satisfies the clauses such that the edges
 * whose guards are true form no cycle. */
#ifndef KR_BACKEND_ENCODE_H
#define KR_BACKEND_ENCODE_H

#include "ir/ir.h"

enum kr_variable_kind {
	KR_VARIABLE_SOURCE,  /* observation obs saw version a */
	KR_VARIABLE_ORDER,   /* version a comes before version b */
	KR_VARIABLE_PRESENT, /* transaction txn took effect */
	KR_VARIABLE_START,   /* the untold initial version a lies in the candidate set of observation obs */
	KR_VARIABLE_EARLIER  /* a start variable of the same key up to this one is true (auxiliary) */
};

struct kr_variable { enum kr_variable_kind kind; kr_obs obs; kr_version a, b; kr_txn txn; };

/* A literal is a variable's number, from 1, negative when negated. */
typedef int32_t kr_literal;

/* Nodes from ir->nnodes on: a version, in an order of all versions of its key whether they exist or not; or
 * what one operation saw of a key that has parts. */
/* obs: the operation's first of the key; KR_NONE for a version */
struct kr_encoded_node { kr_version version; kr_obs obs; };

/* The weights of the literals that hold add up to the total (`at_most`: to no more), if the guard holds (0:
 * in any case). A term with literal 0 always counts. */
/* into terms */
struct kr_encoded_sum { kr_literal guard; bool at_most; int64_t total; uint32_t first, count; };
struct kr_encoded_term { kr_literal literal; int64_t weight; };

struct kr_guarded_edge {
	kr_node from, to;
	kr_literal guards[3]; /* all of them must be true; 0: none */
	uint8_t kind;         /* enum kr_edge_kind */
};

struct kr_encoding {
	struct kr_ir *ir;
	KR_VEC(struct kr_variable) variables; /* number v is at[v - 1] */
	KR_VEC(kr_literal) clauses;           /* each closed by a 0 */
	KR_VEC(struct kr_guarded_edge) edges;
	uint32_t nnodes;                      /* those of the IR and the others */
	KR_VEC(struct kr_encoded_node) nodes; /* number n is at[n - ir->nnodes] */
	KR_VEC(struct kr_encoded_sum) sums;
	KR_VEC(struct kr_encoded_term) terms;
};

/* KR_UNSUPPORTED: the level does not forbid every cycle of its graph. The caller frees the encoding in every
 * case. */
enum kr_status kr_encode(struct kr_ir *ir, struct kr_encoding *out, struct kr_err *err);
void kr_encoding_done(struct kr_encoding *encoding);

/* What a variable or a node means, for comments: one line. */
void kr_encoding_print_variable(const struct kr_encoding *encoding, uint32_t number, struct kr_str *out);
void kr_encoding_print_node(const struct kr_encoding *encoding, kr_node node, struct kr_str *out);

#endif
