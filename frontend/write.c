/* Writes histories in foreign formats: Elle's EDN and JSON, Plume's text, dbcop's JSON (docs/formats/). What
 * does not fit was found before (write_losses.c).
 *
 * Elle's maps stand in the order of their moments, where times are kept: begins before ends at one moment,
 * since only what ended before is ordered. Where names or values (but for Elle's) do not fit, all are
 * numbered, which keeps which are equal. The text is in memory whole. Cost: linear, plus the sorting of
 * moments. */
#include "frontend/write.h"
#include "base/order.h"

struct moment {
	int64_t at;
	uint32_t txn;
	bool end;
};

struct writing {
	const struct kr_history *h;
	const struct kr_target *target;
	uint32_t losses;
	struct kr_str *out;
	const bool *gone;     /* keys that are lost */
	int64_t free_session; /* a number above those of all sessions */
};

static bool lost(const struct writing *w, enum kr_loss loss) { return w->losses >> loss & 1; }

static void put_key(struct writing *w, kr_key key)
{
	if (lost(w, KR_LOSS_KEYS))
		kr_str_format(w->out, "%u", (unsigned)key.i);
	else
		kr_history_json_value(w->h, w->h->keys.at[key.i].name, w->out);
}

static void put_value(struct writing *w, kr_value value, const char *absent)
{
	if (value.i == KR_ABSENT.i)
		kr_str_add(w->out, absent);
	else if (lost(w, KR_LOSS_VALUES))
		kr_str_format(w->out, "%u", (unsigned)value.i);
	else
		kr_history_json_value(w->h, value, w->out);
}

static bool is_written(const struct writing *w, uint32_t op)
{
	return kr_target_holds(w->h, w->target, w->gone, (kr_op){op});
}

static int64_t session_number(const struct writing *w, uint32_t t)
{
	kr_session session = w->h->txns.at[t].session;

	if (session.i == KR_NONE)
		return w->free_session + t; /* alone */
	return lost(w, KR_LOSS_SESSIONS) ? (int64_t)session.i
					 : kr_history_value(w->h, w->h->sessions.at[session.i])->integer;
}

/* ---- Plume ---- */

static void put_plume(struct writing *w, uint32_t t)
{
	const struct kr_transaction *txn = &w->h->txns.at[t];
	int64_t id = txn->status == KR_ABORTED ? -1
		: lost(w, KR_LOSS_IDS)         ? (int64_t)t
					       : kr_history_value(w->h, txn->id)->integer;

	if (txn->status == KR_UNKNOWN)
		return;
	for (uint32_t i = 0; i < txn->op_count; i++) {
		const struct kr_operation *op = &w->h->ops.at[txn->op_first + i];
		/* from what it read, perhaps its own */
		bool apart = txn->status == KR_ABORTED && txn->op_count > 1;
		if (!is_written(w, txn->op_first + i) ||
			(op->kind == KR_OP_READ && (apart || !(op->flags & KR_OPF_KNOWN))))
			continue;
		kr_str_add(w->out, op->kind == KR_OP_READ ? "r(" : "w(");
		put_key(w, op->key);
		kr_str_add(w->out, ",");
		put_value(w, op->a, "0");
		kr_str_format(w->out, ",%lld,%lld)\n", (long long)session_number(w, t), (long long)id);
	}
}

/* ---- dbcop's JSON ---- */

static void put_dbcop(struct writing *w, uint32_t t)
{
	const struct kr_transaction *txn = &w->h->txns.at[t];
	const char *separator = "";

	kr_str_add(w->out, "{\"events\": [");
	for (uint32_t i = 0; i < txn->op_count; i++) {
		const struct kr_operation *op = &w->h->ops.at[txn->op_first + i];
		if (!is_written(w, txn->op_first + i) ||
			(op->kind == KR_OP_READ && !(op->flags & KR_OPF_KNOWN)))
			continue;
		kr_str_format(w->out, "%s{\"%s\": {\"variable\": ", separator,
			op->kind == KR_OP_READ ? "Read" : "Write");
		put_key(w, op->key);
		kr_str_add(w->out, ", \"version\": ");
		put_value(w, op->a, "null");
		kr_str_add(w->out, "}}");
		separator = ", ";
	}
	kr_str_format(w->out, "], \"committed\": %s}", txn->status == KR_COMMITTED ? "true" : "false");
}

/* Session by session: `order` is the transactions sorted by session, those without one behind. */
static enum kr_status write_dbcop(struct kr_ctx *ctx, struct writing *w, const struct moment *order)
{
	uint32_t named = 0;

	kr_str_add(w->out, "[");
	for (uint32_t i = 0, s = 0; i < w->h->txns.n || s < w->h->sessions.n; s++) {
		kr_str_add(w->out, s == 0 ? "[" : ",\n[");
		for (named = 0; i < w->h->txns.n && order[i].at == (int64_t)s; i++) {
			uint32_t t = order[i].txn;
			if (w->h->txns.at[t].status == KR_UNKNOWN)
				continue;
			kr_str_add(w->out, named++ ? ",\n" : "");
			put_dbcop(w, t);
			KR_TRY(kr_ctx_tick(ctx));
		}
		kr_str_add(w->out, "]");
	}
	kr_str_add(w->out, "]\n");
	return KR_OK;
}

/* ---- Elle ---- */

static void put_elle_ops(struct writing *w, const struct kr_transaction *txn, bool results)
{
	const char *quote = w->target->json ? "\"" : "", *colon = w->target->json ? "" : ":",
		   *comma = w->target->json ? "," : "", *separator = "";

	kr_str_add(w->out, "[");
	for (uint32_t i = 0; i < txn->op_count; i++) {
		const struct kr_operation *op = &w->h->ops.at[txn->op_first + i];
		const char *name = op->kind == KR_OP_READ ? "r" : op->kind == KR_OP_WRITE ? "w" : "append";
		if (!is_written(w, txn->op_first + i) ||
			(results && op->kind == KR_OP_READ && !(op->flags & KR_OPF_KNOWN)))
			continue;
		kr_str_format(w->out, "%s[%s%s%s%s%s ", separator, quote, colon, name, quote, comma);
		put_key(w, op->key);
		kr_str_format(w->out, "%s ", comma);
		put_value(w, op->kind == KR_OP_READ && !results ? KR_ABSENT : op->a,
			w->target->json ? "null" : "nil");
		kr_str_add(w->out, "]");
		separator = w->target->json ? ", " : " ";
	}
	kr_str_add(w->out, "]");
}

static void put_elle(struct writing *w, uint32_t t, const char *type, bool results)
{
	if (w->target->json && w->out->n > 0 && w->out->at[w->out->n - 1] == '}')
		kr_str_add(w->out, ",\n");
	if (w->target->json)
		kr_str_format(w->out,
			"{\"type\": \"%s\", \"process\": %lld, \"f\": \"txn\", \"value\": ", type,
			(long long)session_number(w, t));
	else
		kr_str_format(w->out, "{:type :%s, :process %lld, :f :txn, :value ", type,
			(long long)session_number(w, t));
	put_elle_ops(w, &w->h->txns.at[t], results);
	kr_str_add(w->out, w->target->json ? "}" : "}\n");
}

static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return kr_then(KR_ORDER(x->at, y->at), kr_then(x->end - y->end, KR_ORDER(x->txn, y->txn)));
}

static void put_outcome(struct writing *w, uint32_t t)
{
	static const char *const types[] =
		{[KR_COMMITTED] = "ok", [KR_ABORTED] = "fail", [KR_UNKNOWN] = "info"};
	unsigned outcome = w->h->txns.at[t].status;

	put_elle(w, t, types[outcome], outcome == KR_COMMITTED);
}

/* `moments` has room for two of each transaction. */
static enum kr_status write_elle(struct kr_ctx *ctx, struct writing *w, struct moment *moments)
{
	bool times = w->h->txns.n > 0 && w->h->txns.at[0].flags & KR_TXN_HAS_BEGIN && !lost(w, KR_LOSS_TIMES);
	uint32_t n = 0;

	for (uint32_t t = 0; t < w->h->txns.n; t++) {
		const struct kr_transaction *txn = &w->h->txns.at[t];
		moments[n++] = (struct moment){times ? txn->begin_invoked : t, t, false};
		if (times && txn->status != KR_UNKNOWN)
			moments[n++] = (struct moment){txn->end_returned, t, true};
	}
	qsort(moments, n, sizeof *moments, compare_moments);
	kr_str_add(w->out, w->target->json ? "[" : "");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = moments[i].txn;
		if (times && !moments[i].end)
			put_elle(w, t, "invoke", false);
		if (!times || moments[i].end || w->h->txns.at[t].status == KR_UNKNOWN)
			put_outcome(w, t);
		KR_TRY(kr_ctx_tick(ctx));
	}
	kr_str_add(w->out, w->target->json ? "]\n" : "");
	return KR_OK;
}

/* ---- the whole ---- */

static enum kr_status write_foreign(struct kr_ctx *ctx, struct writing *w, struct moment *moments)
{
	const struct kr_history *h = w->h;
	uint32_t alone = 0;

	if (w->target->elle)
		return write_elle(ctx, w, moments);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		kr_session session = h->txns.at[t].session;
		moments[t] = (struct moment){session.i == KR_NONE ? (int64_t)h->sessions.n + alone++
								  : (int64_t)session.i,
			t, false};
		if (w->target->plume)
			put_plume(w, t);
		KR_TRY(kr_ctx_tick(ctx));
	}
	if (w->target->plume)
		return KR_OK;
	qsort(moments, h->txns.n, sizeof *moments, compare_moments);
	return write_dbcop(ctx, w, moments);
}

enum kr_status kr_target_write(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_target *target,
	uint32_t losses, struct kr_str *out, struct kr_err *err)
{
	struct writing w = {.h = h,
		.target = target,
		.losses = losses,
		.out = out,
		.free_session = (int64_t)h->sessions.n};
	struct kr_arena arena;

	if (target->stream)
		return kr_native_write_stream_text(ctx, h, out, err);
	if (target->native)
		return kr_native_write_text(ctx, h, out, err);
	kr_arena_init(&arena, &ctx->mem);
	w.gone = kr_target_lost_keys(h, target, &arena);
	for (uint32_t s = 0; s < h->sessions.n; s++) {
		const struct kr_value_entry *name = kr_history_value(h, h->sessions.at[s]);
		if (name->type == KR_VALUE_INT && name->integer >= w.free_session &&
			name->integer < INT64_MAX - UINT32_MAX)
			w.free_session = name->integer + 1;
	}
	struct moment *moments = KR_NEW_ARRAY(&arena, struct moment, (size_t)h->txns.n * 2);
	enum kr_status status = w.gone && moments ? write_foreign(ctx, &w, moments) : KR_NOMEM;
	kr_arena_done(&arena);
	return status == KR_OK && out->failed ? KR_NOMEM : status;
}
