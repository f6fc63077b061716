/* What is left of a history where what was seen does not count: the orders of versions. A world exists iff
 * these, of transactions that committed, and the order asked for have no circle, and nothing is garbage.
 * Circles on several keys are left to the passes; one on a single key would break the promise that the known
 * orders of a key do not contradict each other, so it is looked for first: a depth-first search, linear. */
#include "checkers/bare.h"

#include <string.h>

#include "backend/told.h"
#include "frontend/shown_lists.h"

bool kr_bare_level(const struct kr_level *level)
{
	return !(kr_level_kinds(level) & (KR_BIT(KR_WR) | KR_BIT(KR_RW)));
}

enum kr_status kr_bare_garbage(struct kr_ctx *ctx, const struct kr_history *h, struct kr_anomaly *out,
	bool *found)
{
	struct kr_garbage_place place = {.txn = {KR_NONE}};
	struct kr_err why;
	kr_err_init(&why);
	enum kr_status status = kr_find_garbage(ctx, h, &place, &why);
	*found = !status && place.txn.i != KR_NONE;
	*out = (struct kr_anomaly){KR_GARBAGE_READ, place.txn, place.op, place.key, {KR_NONE}};
	return status == KR_UNSUPPORTED ? KR_OK : status;
}

/* ---- the graph ---- */

static enum kr_status take_orders(struct kr_ctx *ctx, const struct kr_asg *asg,
	const struct kr_list_orders *shown, struct kr_asg *out)
{
	uint32_t given = asg->norders - asg->norders_seen, n = 0;
	struct kr_asg_order *orders = kr_mem_alloc(&ctx->mem, shown->n + given, sizeof *orders);
	if (!orders)
		return KR_NOMEM;
	for (uint32_t i = 0; i < shown->n; i++) {
		const struct kr_list_order *x = &shown->at[i];
		orders[n++] = (struct kr_asg_order){kr_asg_version_of(asg, x->before, x->key),
			kr_asg_version_of(asg, x->after, x->key), {KR_NONE}};
	}
	if (given > 0)
		memcpy(orders + n, asg->orders + asg->norders_seen, given * sizeof *orders);
	out->orders = orders;
	out->norders = n + given;
	out->norders_seen = n;
	return KR_OK;
}

enum kr_status kr_bare_init(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_asg *asg,
	struct kr_asg *out)
{
	struct kr_list_orders shown = {0};
	enum kr_status status = kr_find_list_orders(ctx, h, &shown);
	*out = *asg;
	out->orders = NULL;
	out->nobs = out->nsums = out->nterms = 0;
	out->txns = kr_mem_alloc(&ctx->mem, asg->ntxns, sizeof *out->txns);
	out->obs_first = kr_mem_alloc(&ctx->mem, (size_t)asg->ntxns + 1, sizeof *out->obs_first);
	if (!status && (!out->txns || !out->obs_first))
		status = KR_NOMEM;
	for (uint32_t t = 0; t < asg->ntxns && !status; t++) {
		out->txns[t] = asg->txns[t];
		if (asg->txns[t].outcome_unknown && asg->txns[t].presence == KR_PRESENT)
			out->txns[t].presence = KR_OPEN;
	}
	if (!status)
		status = take_orders(ctx, asg, &shown, out);
	kr_vec_done(&ctx->mem, &shown);
	return status;
}

void kr_bare_done(struct kr_ctx *ctx, const struct kr_asg *asg, struct kr_asg *bare)
{
	kr_mem_free(&ctx->mem, bare->txns, asg->ntxns, sizeof *bare->txns);
	kr_mem_free(&ctx->mem, bare->obs_first, (size_t)asg->ntxns + 1, sizeof *bare->obs_first);
	kr_mem_free(&ctx->mem, bare->orders, bare->norders, sizeof *bare->orders);
	*bare = (struct kr_asg){.txns = NULL};
}

/* ---- circles ---- */

struct search {
	const struct kr_asg *asg;
	struct kr_told told; /* which orders leave a version */
	uint32_t *at;        /* per version: 0: not met; 1 + where its orders are looked at; ALL: done */
	KR_VEC(kr_version) path;
};

#define ALL (KR_NONE - 1)

/* Walks on from v, which is new. *from: where on the path a circle begins, which ends with it; KR_NONE: there
 * is none. */
static enum kr_status walk(struct kr_ctx *ctx, struct search *s, kr_version v, uint32_t *from)
{
	*from = KR_NONE;
	s->path.n = 0;
	s->at[v.i] = 1 + s->told.first[v.i];
	KR_TRY(kr_vec_add(&ctx->mem, &s->path, v));
	while (s->path.n > 0) {
		v = s->path.at[s->path.n - 1];
		if (s->at[v.i] - 1 == s->told.first[v.i + 1]) {
			s->at[v.i] = ALL;
			s->path.n--;
			continue;
		}
		kr_version next = s->asg->orders[s->told.pairs[s->at[v.i]++ - 1]].after;
		if (s->at[next.i] == 0) {
			s->at[next.i] = 1 + s->told.first[next.i];
			KR_TRY(kr_vec_push(&ctx->mem, &s->path, next) ? kr_ctx_tick(ctx) : KR_NOMEM);
		} else if (s->at[next.i] != ALL) {
			for (*from = 0; s->path.at[*from].i != next.i;)
				++*from;
			return KR_OK;
		}
	}
	return KR_OK;
}

/* The circle that the path ends with, of those that committed: orders hold across the others, too. */
static enum kr_status certify(struct kr_ctx *ctx, const struct search *s, uint32_t from,
	struct kr_certificate *cert)
{
	const struct kr_asg *asg = s->asg;
	struct kr_cert_edge edge = {.kind = KR_WW,
		.from = {KR_NONE},
		.op = KR_NONE,
		.source = {KR_NONE},
		.part = {KR_NONE}};
	for (uint32_t i = from; i < s->path.n; i++) {
		const struct kr_asg_version *v = &asg->versions[s->path.at[i].i];
		if (asg->txns[v->writer.i].presence != KR_PRESENT)
			continue;
		edge.key = v->key;
		edge.to = v->writer;
		if (edge.from.i != KR_NONE && !kr_vec_push(&ctx->mem, &cert->edges, edge))
			return KR_NOMEM;
		edge.from = v->writer;
	}
	edge.to = cert->edges.n > 0 ? cert->edges.at[0].from : edge.from;
	KR_TRY(kr_vec_add(&ctx->mem, &cert->edges, edge));
	KR_TRY(kr_vec_add(&ctx->mem, &cert->cycles, (struct kr_cert_cycle){0, cert->edges.n}));
	cert->kind = KR_CERT_CYCLES;
	return KR_OK;
}

enum kr_status kr_bare_circle(struct kr_ctx *ctx, const struct kr_asg *bare, struct kr_certificate *cert,
	bool *found)
{
	struct search s = {.asg = bare};
	uint32_t from = KR_NONE;
	enum kr_status status = KR_OK;
	*found = false;
	if (bare->norders_seen == 0) /* what the trace gives has been seen to */
		return KR_OK;
	status = kr_told_init(&s.told, &ctx->mem, bare);
	s.at = kr_mem_alloc(&ctx->mem, bare->nversions, sizeof *s.at);
	if (!status && !s.at)
		status = KR_NOMEM;
	for (uint32_t v = 0; v < bare->nversions && !status && from == KR_NONE; v++)
		if (s.at[v] == 0)
			status = walk(ctx, &s, (kr_version){v}, &from);
	*found = !status && from != KR_NONE;
	if (*found)
		status = certify(ctx, &s, from, cert);
	kr_told_done(&s.told);
	kr_mem_free(&ctx->mem, s.at, bare->nversions, sizeof *s.at);
	kr_vec_done(&ctx->mem, &s.path);
	return status;
}
