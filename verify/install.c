/* What a transaction leaves, on top of what others left: its effects in program order. A value that depends
 * on what was there is computed from what is there now, whatever the transaction was shown. Cost: linear in
 * its operations. */
#include "verify/replayed.h"
#include "verify/saw.h"

static enum kr_status install_effect(struct kr_replayed *r, const struct kr_operation *op, uint32_t i)
{
	struct kr_written_row effect = kr_effect_at(r->v->h, op, i);

	r->writer[effect.key.i] = r->txn;
	if (effect.value.i == KR_NONE || op->kind == KR_OP_INC)
		return kr_replay_grow(r, op);
	kr_store_write(&r->store, effect.key, effect.value);
	return KR_OK;
}

enum kr_status kr_replay_install(struct kr_replayed *r, kr_txn t)
{
	const struct kr_history *h = r->v->h;

	r->txn = t;
	for (uint32_t index = 0; index < h->txns.at[t.i].op_count; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
		uint32_t effects = kr_effect_count(h, op);

		r->op = index;
		for (uint32_t i = 0; i < effects; i++)
			KR_TRY(install_effect(r, op, i));
		KR_TRY(kr_ctx_tick(r->v->ctx));
	}
	return KR_OK;
}
