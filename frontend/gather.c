/* Gathers operations by transaction (gather.h): a counting sort, in which the order of lines stays. A
 * transaction has its place in its session where it is first mentioned. Cost: a look-up in a table for each
 * line that is of another transaction than the one before, one pass over the operations at the end. */
#include "frontend/gather.h"

#include "base/hash.h"

void kr_gather_init(struct kr_gather *g, struct kr_history *h)
{
	*g = (struct kr_gather){.h = h, .session = {KR_NONE}};
}

void kr_gather_done(struct kr_gather *g)
{
	kr_vec_done(g->h->mem, &g->ops);
	kr_vec_done(g->h->mem, &g->txns);
	kr_table_done(g->h->mem, &g->table);
}

static enum kr_status take_session(struct kr_gather *g, int64_t name)
{
	if (g->session.i != KR_NONE && g->session_name == name)
		return KR_OK;
	g->session = kr_foreign_session(g->h, name);
	g->session_name = name;
	return g->session.i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_gather_txn(struct kr_gather *g, int64_t session, int64_t id, bool aborted, uint32_t line,
	uint32_t *out)
{
	uint64_t hash = kr_hash_u64((uint64_t)id);

	KR_TRY(take_session(g, session));
	struct kr_gather_txn txn = {.id = id, .session = g->session, .line = line, .aborted = aborted};
	*out = g->txn;
	if (!aborted && g->txns.n > 0 && !g->txns.at[g->txn].aborted && g->txns.at[g->txn].id == id)
		return KR_OK;
	*out = KR_NONE;
	if (!aborted)
		KR_TABLE_FIND(*out, &g->table, hash, g->txns.at[*out].id == id);
	if (*out != KR_NONE)
		return KR_OK;
	if (!kr_table_reserve(g->h->mem, &g->table) || !kr_vec_push(g->h->mem, &g->txns, txn))
		return KR_NOMEM;
	*out = g->txns.n - 1;
	if (!aborted)
		kr_table_insert(&g->table, hash, *out);
	return KR_OK;
}

enum kr_status kr_gather_op(struct kr_gather *g, uint32_t txn, enum kr_op_kind kind, kr_key key, kr_value a)
{
	struct kr_gather_op op = {.txn = txn, .kind = (uint8_t)kind, .key = key, .a = a};

	if (key.i == KR_NONE || a.i == KR_NONE || !kr_vec_push(g->h->mem, &g->ops, op))
		return KR_NOMEM;
	g->txns.at[txn].count++;
	g->txn = txn;
	return KR_OK;
}

static enum kr_status sort_ops(struct kr_gather *g, struct kr_ctx *ctx, struct kr_operation *sorted)
{
	uint32_t first = 0;

	for (uint32_t t = 0; t < g->txns.n; first += g->txns.at[t++].count)
		g->txns.at[t].first = first;
	for (uint32_t i = 0; i < g->ops.n; i++) {
		const struct kr_gather_op *op = &g->ops.at[i];
		sorted[g->txns.at[op->txn].first++] = (struct kr_operation){.kind = op->kind,
			.flags = op->kind == KR_OP_READ ? KR_OPF_KNOWN : 0,
			.key = op->key,
			.a = op->a};
		KR_TRY(kr_ctx_tick(ctx));
	}
	return KR_OK;
}

static enum kr_status add_txns(struct kr_gather *g, struct kr_ctx *ctx, struct kr_err *err)
{
	struct kr_history *h = g->h;

	for (uint32_t t = 0; t < g->txns.n; t++) {
		const struct kr_gather_txn *txn = &g->txns.at[t];
		struct kr_transaction add = {.id = txn->aborted ? (kr_value){KR_NONE}
								: kr_history_int(h, txn->id),
			.session = txn->session,
			.status = txn->aborted ? KR_ABORTED : KR_COMMITTED,
			.line = txn->line};

		if (!txn->aborted && add.id.i == KR_NONE)
			return KR_NOMEM;
		h->ops.n = txn->first; /* which is behind its last operation */
		KR_TRY(kr_foreign_add(h, add, NULL, err));
		KR_TRY(kr_ctx_tick(ctx));
	}
	return KR_OK;
}

enum kr_status kr_gather_finish(struct kr_gather *g, struct kr_ctx *ctx, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	if (g->ops.n > 0) {
		if (!kr_vec_reserve(g->h->mem, &g->h->ops, g->ops.n))
			return KR_NOMEM;
		status = sort_ops(g, ctx, g->h->ops.at);
	}
	kr_vec_done(g->h->mem, &g->ops);
	return status ? status : add_txns(g, ctx, err);
}
