/* From the IR's terms to the verifier's: proofs and worlds become certificates. */
#ifndef KR_CHECKERS_CERTIFY_H
#define KR_CHECKERS_CERTIFY_H

#include "backend/backend.h"
#include "frontend/analyze.h"
#include "verify/verify.h"

/* The proof's cycles, closed first; what was found first becomes the certificate's last cycle. */
enum kr_status kr_certify_proof(const struct kr_ir *ir, struct kr_proof *proof, struct kr_certificate *cert);

/* Two transactions of which neither saw the other's write of one key: whichever wrote first, the other one
 * overwrote what it had not seen. That says more than two rw do. Puts the two cycles that say it in the place
 * of each such cycle, where the level forbids them. */
enum kr_status kr_certify_lost_updates(const struct kr_level *level, struct kr_certificate *cert);

/* A world: a serial order, starts and commits, or an order of commits with what was seen, as the answer has
 * it. */
enum kr_status kr_certify_world(const struct kr_ir *ir, const struct kr_answer *answer,
	struct kr_certificate *cert);

enum kr_status kr_certify_anomaly(const struct kr_anomaly *anomaly, struct kr_certificate *cert);

/* A serial order that the trace suggests, if one proves the certificate's level; else *cert is of no use
 * (told_orders.c). It looks at the history alone: before there is an analysis, and where that leaves
 * something out. */
enum kr_status kr_certify_told_order(struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_certificate *cert, bool *found);

/* The same with any serial order, where these are few (any_order.c). */
enum kr_status kr_certify_any_order(struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_certificate *cert, bool *found);

#endif
