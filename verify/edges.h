/* Whether an edge of a certificate is what it claims to be, under its guard. Private to verify/. */
#ifndef KR_VERIFY_EDGES_H
#define KR_VERIFY_EDGES_H

#include "verify/facts.h"
#include "verify/verifier.h"

/* On KR_OK *sight (wr, rw) is the edge's observation. `cycle` and `edge` are indices for messages. */
enum kr_status kr_edge_check(struct kr_verifier *v, const struct kr_facts *f, const struct kr_cert_edge *e,
	uint32_t cycle, uint32_t edge, struct kr_sight *sight);

/* The observer of a wr or rw edge. */
static inline kr_txn kr_edge_observer(const struct kr_cert_edge *e)
{
	return e->kind == KR_WR ? e->to : e->from;
}

#endif
