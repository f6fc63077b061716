/* Claimed cycles: what another checker says proves a violation, held against the history edge by edge. */
#ifndef KR_CROSS_CLAIM_H
#define KR_CROSS_CLAIM_H

#include "checkers/check.h"

enum kr_edge_state {
	KR_EDGE_KNOWN,     /* it is in every world: by what was seen and told */
	KR_EDGE_FORCED,    /* the contrary would close a forbidden cycle of edges that are known or forced */
	KR_EDGE_POSSIBLE,  /* some worlds may have it, others not */
	KR_EDGE_IMPOSSIBLE /* it is in no world */
};

const char *kr_edge_state_name(enum kr_edge_state state); /* "known", ... */

struct kr_claimed_edge {
	kr_txn from, to;
	uint8_t kind;      /* enum kr_edge_kind */
	bool predicate;    /* claimed to be a predicate one; else it may be either */
	kr_key key;        /* KR_NONE: not said */
	/* filled in by kr_claim_judge */
	enum kr_edge_state state;
	bool found;        /* the trace has operations that the edge can speak of: `edge` */
	struct kr_cert_edge edge;
	char why[512];     /* KR_EDGE_IMPOSSIBLE, or when not `found` */
};
KR_VEC_NAMED(kr_claimed_cycle, struct kr_claimed_edge);

/* Reads "t1 wr t2, t2 rw(x) t1": edges separated by commas, or each behind the one where it begins ("t1 wr t2
 * rw t1"). Kinds wr, ww, rw, pwr, prw, so and rt, also written -rw(x)->; the key may be left out. Ids and
 * keys are written as krait prints them: with JSON's quotes where they have blanks, commas, brackets or
 * quotes, or are strings that look like numbers. Appends to *out. Without a history, whatever could be a name
 * is one: `from`, `to` and `key` say nothing then. KR_BAD: err says what was found and expected. */
enum kr_status kr_claim_read(struct kr_mem *mem, const struct kr_history *h, const char *text,
	struct kr_claimed_cycle *out, struct kr_err *err);

enum kr_claim_result { KR_CLAIM_CONFIRMED, KR_CLAIM_REFUTED, KR_CLAIM_ALLOWED, KR_CLAIM_OPEN };

/* Looks for the observations that each edge can speak of, says what its state is, and whether the cycle
 * proves that the level is violated: its edges follow each other in a circle, all are known or forced, the
 * level forbids such a cycle, and the verifier accepts it, with the cycles that force its edges, as a proof,
 * which then is *proof. Refuted: it does not (`why`), whatever the level's verdict is. Allowed: that is so
 * since the level does not forbid such a cycle, whose edges may be there. Open: some edges are only possible,
 * or the proof could not be checked (`why`). `proof` is initialised. */
enum kr_status kr_claim_judge(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, const struct kr_check_options *options,
	struct kr_claimed_cycle *cycle, enum kr_claim_result *result, struct kr_certificate *proof,
	struct kr_err *why);

#endif
