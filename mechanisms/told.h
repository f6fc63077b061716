/* The order of versions that is certain if the mechanisms work. */
#ifndef KR_MECHANISMS_TOLD_H
#define KR_MECHANISMS_TOLD_H

#include "mechanisms/batch.h"

/* reader: whose read proves it; KR_NONE: commits or locks do */
struct kr_told_order { kr_key key; kr_txn before, after, reader; };
KR_VEC_NAMED(kr_told_orders, struct kr_told_order);

/* Of a batch whose facts are settled. The caller frees *out with kr_vec_done. */
enum kr_status kr_batch_told(struct kr_batch *b, struct kr_told_orders *out);

/* The same of a history. */
enum kr_status kr_batch_order(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_told_orders *out, struct kr_err *err);

#endif
