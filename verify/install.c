/* What a transaction leaves, on top of what others left: its effects in program order. A value that depends on what was there is computed from what is there now; a
 * counter that the transaction was shown after it wrote it has the value shown. Cost: linear in its operations. */
#include "verify/replayed.h"
#include "verify/saw.h"

static enum kr_status install_effect(struct kr_replayed *r, const struct kr_operation *op, uint32_t i)
{
	struct kr_effect effect = kr_effect_at(r->v->h, op, i);

	r->writer[effect.key.i] = r->txn;
	if (effect.value.i == KR_NONE)
		return kr_replay_grow(r, op);
	kr_store_write(&r->store, effect.key, effect.value);
	return KR_OK;
}

static enum kr_status take_shown(struct kr_replayed *r, const struct kr_operation *op, uint32_t i)
{
	const struct kr_history *h = r->v->h;
	kr_key k = kr_saw_key(h, op, i);

	enum kr_status status = KR_OK;

	if (k.i == KR_NONE || h->keys.at[k.i].kind != KR_KIND_COUNTER || r->writer[k.i].i != r->txn.i)
		return KR_OK;

	struct kr_saw saw = kr_saw_at(h, op, i);

	bool absent = false;

	if (saw.test != KR_SAW_VALUE || saw.predicate || saw.value.i == KR_ABSENT.i)
		return KR_OK;
	if (op->kind == KR_OP_READ && kr_replay_shows_zero(h, k, &saw) && !kr_store_learns(&r->store, k) && r->store.cells[k.i].kind != KR_CELL_UNTOLD)
		status = kr_store_is(&r->store, k, KR_ABSENT, &absent); /* then so it stays */
	if (status == KR_OK && !absent)
		kr_store_write(&r->store, k, saw.value);
	return status;
}

enum kr_status kr_replay_install(struct kr_replayed *r, kr_txn t)
{
	const struct kr_history *h = r->v->h;
	enum kr_status status = KR_OK;

	r->txn = t;
	for (uint32_t index = 0; index < h->txns.at[t.i].op_count && status == KR_OK; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
		uint32_t seen = kr_saw_count(h, op), effects = kr_effect_count(h, op);

		r->op = index;
		for (uint32_t i = 0; i < seen && status == KR_OK; i++)
			status = take_shown(r, op, i);
		for (uint32_t i = 0; i < effects && status == KR_OK; i++)
			status = install_effect(r, op, i);
		if (status == KR_OK)
			status = kr_ctx_tick(r->v->ctx);
	}
	return status;
}
