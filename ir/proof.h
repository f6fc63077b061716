/* Proofs in the IR's terms: a list of forbidden cycles over guarded edges that cannot all be avoided. The
 * checkers' driver turns them into certificates (verify/verify.h).
 *
 * A link is an edge together with its guard. A link that is a known edge of the IR names it, so that what it
 * was derived from can be added to the proof: kr_proof_close appends, for every known edge used, the cycles
 * that force it, until only facts of the trace and choices are left. */
#ifndef KR_IR_PROOF_H
#define KR_IR_PROOF_H

#include "ir/ir.h"
#include "krait/graph.h"

struct kr_cycle {
	uint32_t first, count; /* into links; link i ends where link i + 1 begins, cyclically */
	/* it is one only where a part by which a wr leads on is the newest that its operation saw of the
	 * key */
	bool whole;
};

struct kr_proof {
	struct kr_mem *mem;
	KR_VEC(struct kr_link) links;
	/* KR_NONE, or the known edge that kr_proof_close found not to be what its rule says */
	uint32_t unfounded;
	/* after kr_proof_close: premises after what they support; cycle 0 is what was found first */
	KR_VEC(struct kr_cycle) cycles;
};

void kr_proof_init(struct kr_proof *proof, struct kr_mem *mem);
void kr_proof_done(struct kr_proof *proof);

/* Starts a new cycle (at the end of links); then push links; kr_proof_end closes it. Consecutive real-time
 * steps through time nodes are one link. */
void kr_proof_begin(struct kr_proof *proof);
enum kr_status kr_proof_add_link(struct kr_proof *proof, struct kr_link link);
/* known edges */
enum kr_status kr_proof_add_path(struct kr_proof *proof, const struct kr_ir *ir, const uint32_t *edges,
	uint32_t n);
/* The same of steps, the last one first: a known edge e is 2e, the link of number l is 2l + 1. Known edges go
 * in together, so that time nodes fold. */
enum kr_status kr_proof_add_steps(struct kr_proof *proof, const struct kr_ir *ir, const uint32_t *steps,
	uint32_t n, const struct kr_link *links);
enum kr_status kr_proof_end(struct kr_proof *proof);

/* Two parts of one key that one operation cannot have seen together. */
struct kr_tear {
	kr_obs older;        /* saw `seen` of its part, */
	kr_version seen;
	kr_version over;     /* over which this version of the part was written, */
	/* though another part, or the same, was seen as of this version, which comes later yet or is by the
	 * same transaction */
	kr_obs newer;
	kr_version newest;
};

/* Appends the cycle that says so: rw, ww (unless `over` and `newest` have one writer), wr. No level allows it
 * at which what was seen counts. */
enum kr_status kr_proof_tear(struct kr_proof *proof, const struct kr_asg *asg, const struct kr_tear *tear);

/* Appends the cycle of o's rw to a, which is visible to it (visible.h) by what is older than `age`;
 * KR_INTERNAL: it is not. */
enum kr_status kr_proof_missed(struct kr_proof *proof, const struct kr_ir *ir, kr_obs o, kr_txn a,
	uint32_t age);

/* Appends one cycle per candidate of observation o, none of which is possible by the known edges: together
 * they refute the level. */
enum kr_status kr_proof_no_candidate(struct kr_proof *proof, const struct kr_ir *ir, kr_obs o);

/* Appends the cycle that rules candidate v of o out, and what its version order rests on; nothing when no
 * known edges rule it out (its writer is absent). */
enum kr_status kr_proof_rule_out(struct kr_proof *proof, const struct kr_ir *ir, kr_obs o, kr_version v);

/* Appends what the known edges of the proof's cycles rest on. Each lemma is one cycle; its size is that of
 * the explanation, its cost a breadth-first search per derived edge used. KR_INTERNAL: `unfounded` is set. */
enum kr_status kr_proof_close(struct kr_proof *proof, const struct kr_ir *ir);

/* Of a closed proof: puts one cycle of edges that the trace itself tells in its place, if a search bounded by
 * a number of edges finds one that needs no other cycle to support it, or that is better than the only one
 * there is: shorter, or of a more special name (shortest.c). */
enum kr_status kr_proof_shorten(struct kr_proof *proof, const struct kr_ir *ir);

#endif
