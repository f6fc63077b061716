/* Growing keys: not there yet. Every operation on one is refused. */
#include "frontend/analyze_work.h"

static enum kr_status refuse_operation(struct kr_work *w, kr_txn t, uint32_t i)
{
	const struct kr_operation *op = &w->h->ops.at[kr_history_op(w->h, t, i).i];
	const char *name = kr_op_name((enum kr_op_kind)op->kind);
	char what[32] = "\"";
	size_t n = 1;

	KR_TRY(kr_ctx_tick(w->ctx));
	if (op->scan != KR_NONE || !kr_analyze_grows(w, op->key))
		return KR_OK;
	for (; *name && n < sizeof what - 2; name++)
		what[n++] = *name;
	what[n] = '"';
	return kr_analyze_refuse(w, t, i, what);
}

enum kr_status kr_analyze_grow_keys(struct kr_work *w)
{
	for (uint32_t t = 0; t < w->h->txns.n; t++)
		for (uint32_t i = 0; i < w->h->txns.at[t].op_count; i++)
			KR_TRY(refuse_operation(w, (kr_txn){t}, i));
	return KR_OK;
}

enum kr_status kr_analyze_grow_see(struct kr_replay *r, kr_key k, enum kr_shown shown, kr_value value)
{
	(void)k;
	(void)shown;
	(void)value;
	return kr_analyze_refuse(r->w, r->txn, r->op, "a list, set or counter");
}

enum kr_status kr_analyze_grow_write(struct kr_replay *r, kr_key k, const struct kr_operation *op)
{
	(void)k;
	(void)op;
	return kr_analyze_refuse(r->w, r->txn, r->op, "a list, set or counter");
}

enum kr_status kr_analyze_grow_name(struct kr_work *w, const struct kr_observation *o, struct kr_anomaly *anomaly)
{
	(void)anomaly;
	return kr_analyze_refuse(w, o->txn, o->op, "a list, set or counter");
}

enum kr_status kr_analyze_grow_done(struct kr_work *w, struct kr_analyze_pairs *orders)
{
	(void)w;
	(void)orders;
	return KR_OK;
}
