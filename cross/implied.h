/* What findings about mechanisms say of levels (docs/leopard.md): each is a claim that the trace violates a
 * level, perhaps with the order of versions that is certain told. */
#ifndef KR_CROSS_IMPLIED_H
#define KR_CROSS_IMPLIED_H

#include "checkers/leopard.h"
#include "shrink/cut.h"

struct kr_implied {
	const struct kr_level *level;
	enum kr_order order;
	bool told;            /* of the trace that is told the certain order */
	uint32_t finding;     /* that says so, the first one */
};
KR_VEC_NAMED(kr_implied_list, struct kr_implied);

/* Each claim once. Nothing is claimed where some value is written twice to a key. The caller frees *out with
 * kr_vec_done. */
enum kr_status kr_findings_imply(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, const struct kr_findings *findings,
	struct kr_implied_list *out);

/* The trace with the certain order; on success to be freed with kr_cut_done. KR_BAD: it contradicts itself,
 * or what the trace tells. */
enum kr_status kr_history_told(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_cut *out, struct kr_err *err);

#endif
