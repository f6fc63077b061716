/* Whom a transaction may not miss by any number of edges: a clock over the graph of the edges that count
 * tells, per chain, the last node that leads to it, and the writers of a key on each chain stand in its
 * order. So one comparison tells of most chains that they have nothing new, and one search finds the last
 * writer of the others. Cost: the clock's, and observations times the chains that write their key. With
 * more chains than are tracked some writers are left out. */
#include "passes/chains.h"
#include "passes/visible.h"

struct chains {
	struct kr_visibility *w;
	struct kr_ir graph; /* of the edges that count; its clock */
	bool own;           /* its edges are, too */
	struct kr_chains writers;
};

/* ---- the graph ---- */

static bool counts(const struct kr_visibility *w, const struct kr_edge *e)
{
	uint32_t kinds = w->pattern->allowed | KR_BIT(KR_PROGRAM); /* from time to time */

	return kinds & KR_BIT(e->kind) && (e->kind != KR_WR || kr_visible_by(w->ir, (kr_obs){e->why}));
}

static bool all_count(const struct kr_visibility *w)
{
	uint32_t e = 0;

	while (e < w->ir->edges.n && counts(w, &w->ir->edges.at[e]))
		e++;
	return e == w->ir->edges.n;
}

static enum kr_status copy_graph(struct chains *c)
{
	const struct kr_ir *ir = c->w->ir;

	c->own = true;
	c->graph.edges.at = NULL, c->graph.edges.n = c->graph.edges.cap = 0;
	c->graph.head.at = NULL, c->graph.head.n = c->graph.head.cap = 0;
	for (uint32_t v = 0; v < ir->nnodes; v++)
		KR_TRY(kr_vec_add(&ir->ctx->mem, &c->graph.head, KR_NONE));
	for (uint32_t e = 0; e < ir->edges.n; e++)
		if (counts(c->w, &ir->edges.at[e]))
			KR_TRY(kr_ir_add_edge(&c->graph, ir->edges.at[e]));
	return KR_OK;
}

static enum kr_status make_graph(struct chains *c, bool *cyclic)
{
	c->graph = *c->w->ir;
	c->graph.clock = NULL;

	KR_TRY(all_count(c->w) ? KR_OK : copy_graph(c));
	KR_TRY(kr_clock_build(&c->graph, cyclic));
	for (uint32_t v = 0; !*cyclic && v < c->graph.nnodes; v++)
		c->w->all &= c->graph.clock->chain[v] != KR_NONE;
	return KR_OK;
}

static void release(struct chains *c)
{
	struct kr_mem *mem = &c->w->ir->ctx->mem;

	kr_clock_free(mem, c->graph.clock);
	if (c->own) {
		kr_vec_done(mem, &c->graph.edges);
		kr_vec_done(mem, &c->graph.head);
	}
	kr_chains_done(&c->writers, mem, c->w->ir->asg);
}

/* ---- the writers ---- */

/* The last one of the segment, at or before the place, that o would have shown: it leads to o's
 * transaction. What leads to the writer of what o saw, or is that, is known to come before it. */
static enum kr_status order_last(struct chains *c, kr_obs o, const struct kr_segment *segment, uint32_t place,
	uint32_t known)
{
	struct kr_visibility *w = c->w;
	const struct kr_chain_writer *writers = c->writers.writers + segment->first;

	for (uint32_t n = kr_chains_upto(&c->writers, segment, place); n-- > 0;) {
		if (writers[n].version.i == w->ir->source[o.i].i || writers[n].position <= known)
			return KR_OK;
		if (kr_visibility_shows(w, o, writers[n].version))
			return kr_visibility_order(w, o, writers[n].version);
	}
	return KR_OK;
}

static enum kr_status look_at(struct chains *c, kr_obs o)
{
	const struct kr_ir *ir = c->w->ir;
	const struct kr_clock *clock = c->graph.clock;
	kr_txn seen = kr_visibility_writer(c->w, ir->source[o.i]);
	kr_node t = kr_ir_in(ir, KR_WR, ir->asg->obs[o.i].txn);
	uint32_t count;
	const struct kr_segment *segments = kr_chains_of(&c->writers, ir->asg->obs[o.i].key, &count);
	KR_TRY(kr_ctx_spend(ir->ctx, 1 + count));

	for (uint32_t i = 0; i < count; i++) {
		uint32_t place = kr_clock_last(clock, segments[i].chain, t);
		uint32_t known = seen.i == KR_NONE
			? 0
			: kr_clock_last(clock, segments[i].chain, kr_ir_out(ir, KR_WW, seen));
		if (place > known)
			KR_TRY(order_last(c, o, &segments[i], place, known));
	}
	return KR_OK;
}

enum kr_status kr_visible_chains(struct kr_visibility *w)
{
	const struct kr_asg *asg = w->ir->asg;
	struct chains c = {.w = w};
	bool cyclic = false;
	enum kr_status status = make_graph(&c, &cyclic);

	if (!status && cyclic)
		status = kr_ir_conflict(w->ir);
	if (!status && !cyclic)
		status = kr_chains_init(&c.writers, w->ir, c.graph.clock);
	for (uint32_t o = 0; o < asg->nobs && !status && !w->ir->conflict; o++)
		if (kr_visibility_counts(w, (kr_obs){o}))
			status = look_at(&c, (kr_obs){o});
	release(&c);
	return status;
}
