/* Levels by a certificate of versions, as Emme decides them: for each key the order of its versions, and for
 * each observation the version that it saw, as their values or the trace's `versions` name it. Then nothing
 * is open, and the level holds iff one graph has no cycle.
 *
 * No cycle: its order is a world, which proves the level. A cycle, or something that this graph does not
 * explain: the pipeline of the level finds the proof, with the orders of the trace as facts, and says whether
 * the violation is one under the given certificate only. Without an order of some key's versions nothing is
 * decided.
 *
 * Cost: linear in operations, rows and versions, but for scans and ranges: the keys that they look at, and
 * the versions that do not change what they match. Longer than usual: it decides by itself, without passes
 * and back ends. */
#include "base/order.h"
#include "checkers/emme_work.h"
#include "checkers/given.h"
#include "frontend/where.h"

/* ---- the graph ---- */

static enum kr_status add_orders(struct emme *e)
{
	for (uint32_t k = 0; k < e->h->keys.n; k++)
		for (uint32_t i = e->of_key[k]; i + 1 < e->of_key[k + 1]; i++)
			KR_TRY(kr_emme_edge(e, KR_WW, e->stands[i].writer, e->stands[i + 1].writer));
	return KR_OK;
}

/* Nothing comes after one of unknown outcome because its client went on. */
static enum kr_status add_sessions(struct emme *e)
{
	const struct kr_history *h = e->h;
	kr_txn *last = kr_mem_alloc(&e->ctx->mem, h->sessions.n, sizeof *last);
	enum kr_status status = last ? KR_OK : KR_NOMEM;

	for (uint32_t s = 0; s < h->sessions.n && last; s++)
		last[s].i = KR_NONE;
	for (kr_txn t = {0}; t.i < h->txns.n && !status; t.i++) {
		kr_session s = h->txns.at[t.i].session;
		if (s.i == KR_NONE || !e->effective[t.i])
			continue;
		if (last[s.i].i != KR_NONE)
			status = kr_emme_edge(e, KR_SO, last[s.i], t);
		if (h->txns.at[t.i].status == KR_COMMITTED)
			last[s.i] = t;
	}
	kr_mem_free(&e->ctx->mem, last, h->sessions.n, sizeof *last);
	return status;
}

static enum kr_status add_begins(struct emme *e)
{
	for (kr_txn t = {0}; t.i < e->h->txns.n && e->level->model != KR_NODES_TXN; t.i++)
		KR_TRY(kr_emme_arc(e, 2 * t.i, 2 * t.i + 1));
	return KR_OK;
}

/* Sorts the nodes, first come, first served; the graph has a cycle if some are left. */
static enum kr_status sort_nodes(struct emme *e, uint32_t *to, uint32_t *order, uint32_t nodes,
	uint32_t *sorted)
{
	uint32_t *first = e->leaving, n = 0;

	kr_index_places(first, nodes);
	for (uint32_t i = 0; i < e->arcs.n; i++)
		to[first[e->arcs.at[i].from + 1]++] = e->arcs.at[i].to;
	for (uint32_t v = 0; v < nodes; v++)
		if (e->entering[v] == 0)
			order[n++] = v;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = first[order[i]]; j < first[order[i] + 1]; j++)
			if (--e->entering[to[j]] == 0)
				order[n++] = to[j];
	*sorted = n;
	return kr_ctx_check(e->ctx);
}

enum kr_cert_kind kr_emme_kind_of_world(const struct kr_level *level)
{
	return level->model != KR_NODES_TXN    ? KR_CERT_SNAPSHOTS
		: kr_level_orders_reads(level) ? KR_CERT_ORDER
					       : KR_CERT_WORLD;
}

static uint32_t count_nodes(const struct emme *e)
{
	return e->h->txns.n << (e->level->model != KR_NODES_TXN);
}

/* Satisfied if the graph can be sorted. */
static enum kr_status conclude(struct emme *e)
{
	struct kr_mem *mem = &e->ctx->mem;
	struct kr_certificate *cert = &e->out->certificate;
	uint32_t nodes = count_nodes(e), sorted = 0;
	uint32_t *to = kr_mem_alloc(mem, e->arcs.n, sizeof *to),
		 *order = kr_mem_alloc(mem, nodes, sizeof *order);
	enum kr_status status = KR_NOMEM;

	if (to && order)
		status = sort_nodes(e, to, order, nodes, &sorted);
	if (!status && sorted == nodes && !kr_vec_reserve(cert->mem, &cert->serial, nodes))
		status = KR_NOMEM;
	if (!status && sorted == nodes) {
		e->out->outcome = KR_SATISFIED;
		cert->kind = kr_emme_kind_of_world(e->level);
		for (uint32_t i = 0; i < nodes; i++) {
			kr_txn t = {e->level->model != KR_NODES_TXN ? order[i] / 2 : order[i]};
			if (e->effective[t.i])
				cert->serial.at[cert->serial.n++] = t;
		}
	}
	kr_mem_free(mem, to, e->arcs.n, sizeof *to);
	kr_mem_free(mem, order, nodes, sizeof *order);
	return status;
}

/* ---- life ---- */

static enum kr_status start(struct emme *e)
{
	const struct kr_history *h = e->h;
	struct kr_arena *arena = &e->elements.arena;
	enum kr_status status = KR_OK;
	struct kr_state initial;
	bool fits, grows = false;

	kr_elements_init(&e->elements, &e->ctx->mem, h);
	KR_TRY(kr_arena_new(arena, e->type, h->keys.n));
	KR_TRY(kr_arena_new(arena, e->effective, h->txns.n));
	KR_TRY(kr_arena_new(arena, e->of_txn, (size_t)h->txns.n + 1));
	KR_TRY(kr_arena_new(arena, e->of_key, (size_t)h->keys.n + 2));
	KR_TRY(kr_arena_new(arena, e->slot, h->keys.n));
	KR_TRY(kr_arena_new(arena, e->mine, h->keys.n));
	KR_TRY(kr_arena_new(arena, e->named, h->keys.n));
	KR_TRY(kr_arena_new(arena, e->returned, h->keys.n));
	KR_TRY(kr_arena_new(arena, e->leaving, (size_t)count_nodes(e) + 2));
	KR_TRY(kr_arena_new(arena, e->entering, count_nodes(e)));
	e->open = kr_history_untold(h) || e->out->order == KR_ORDER_REALTIME;
	for (kr_key k = {0}; k.i < h->keys.n && !status; k.i++) {
		e->type[k.i] = kr_datatype_of(h->keys.at[k.i].kind);
		status = kr_told_state(&e->elements, e->type[k.i], h->keys.at[k.i].initial, &initial, &fits);
		e->open |= !fits;
		grows |= e->type[k.i]->shown == KR_VALUE_ARRAY;
	}
	if (!status && h->scans.n > 0)
		status = kr_keys_by_name(h, arena, &e->by_name);
	return status || !grows ? status : kr_elements_name_added(&e->elements, e->ctx);
}

static void finish(struct emme *e)
{
	kr_vec_done(&e->ctx->mem, &e->versions);
	kr_vec_done(&e->ctx->mem, &e->effects);
	kr_vec_done(&e->ctx->mem, &e->sofar);
	kr_vec_done(&e->ctx->mem, &e->arcs);
	kr_elements_done(&e->elements);
}

/* By the certificate alone. */
static enum kr_status decide_alone(struct emme *e)
{
	enum kr_status status = start(e);

	if (!status && !e->open)
		status = kr_emme_versions(e);
	if (!status && !e->open)
		status = kr_emme_seen(e);
	if (!status && !e->open)
		status = add_orders(e);
	if (!status && !e->open && e->out->order >= KR_ORDER_SESSION)
		status = add_sessions(e);
	if (!status && !e->open)
		status = add_begins(e);
	return status || e->open ? status : conclude(e);
}

static enum kr_status decide(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err)
{
	struct emme e = {.ctx = ctx, .h = h, .level = options->level, .out = out};
	enum kr_status status = decide_alone(&e);

	finish(&e);
	if (status || out->outcome == KR_SATISFIED)
		return status;
	kr_vec_clear(&out->certificate.sources);
	/* where an order is missing, only what is wrong whatever the orders are */
	return kr_check_given(ctx, h, options, out->reason[0] != '\0', out, err);
}

const struct kr_checker kr_checker_emme = {
	.name = "emme",
	.title = "a certificate of versions: their orders and what was seen, in one graph; tells whether a "
		 "violation is one without it",
	.source = "Clark et al., Emme, TOCS",
	.decides = KR_IDS("ser", "pl-ss", "si", "pl-2.99", "pl-2"),
	.passes = "",
	.backend = "",
	.decide = decide,
	.qualify = kr_qualify_given,
};
