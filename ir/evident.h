/* The dependencies that the trace itself tells, between transactions that certainly took effect: so, rt; wr
 * and rw of observations with one candidate; ww and rw by given version orders without a guard. Unlike the
 * edges of the IR they lead to *all* later versions and transactions, so that the paths through them are as
 * short as the definitions allow (docs/levels.md). They hold at every level. */
#ifndef KR_IR_EVIDENT_H
#define KR_IR_EVIDENT_H

#include "ir/proof.h"

KR_VEC_NAMED(kr_links, struct kr_link);

struct kr_evident {
	struct kr_arena arena;
	const struct kr_ir *ir;
	/* nversions + 2: given orders out of version v are after[after_first[v] .. after_first[v + 1]) */
	uint32_t *after_first;
	kr_version *after;      /* norders */
	kr_version *sure;       /* per observation: its only candidate, or KR_NONE */
	/* nversions + 2: observations that saw v are seen[seen_first[v] .. seen_first[v + 1]) */
	uint32_t *seen_first;
	kr_obs *seen;           /* nobs */
	uint32_t *in_session;   /* per transaction: the next one of its session, or KR_NONE */
	/* per transaction: how many of its session come later, of those that certainly took effect */
	uint32_t *behind;
	kr_txn *by_begin;       /* nbegun transactions that tell their begin, by that */
	uint32_t nbegun;
	uint32_t *reached;      /* per version: the last walk that reached it */
	uint32_t walks;
	KR_VEC(kr_version) later; /* of one walk */
};

/* O(n log n) in the size of the trace. On failure there is nothing to free. */
enum kr_status kr_evident_init(struct kr_evident *c, const struct kr_ir *ir);
void kr_evident_done(struct kr_evident *c);

/* Do so edges, if they are among `kinds`, leave t? */
bool kr_evident_leads(const struct kr_evident *c, kr_txn t, uint32_t kinds);

/* Appends the dependencies of `kinds` that leave t; those of so only up to `last` of its session, KR_NONE:
 * all. wr of parts of a key only together with ww: the version of the key that was seen may be a later one.
 * O(those). */
enum kr_status kr_evident_out(struct kr_evident *c, kr_txn t, uint32_t kinds, kr_txn last,
	struct kr_links *out);

#endif
