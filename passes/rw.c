/* Read-write dependencies that follow at once from known sources: observation o saw version v, and a version
 * known to be later has a present writer.
 *
 * v initial: rw to the key's earliest writers, those not known to follow another writer of the key. v
 * written: rw to the transactions that read v and write the key themselves, and to the next versions of the
 * given order. What lies behind a target is implied, since a path of wr and ww edges leads there. For
 * predicate observations it is the same: with one candidate known to be the source, every other version is
 * outside the set. Right because each target's version is initial's successor, a given successor, or written
 * by a reader of v (wr(v) forbids the other order). Needs wr and ww. Cost: linear in observations, versions
 * and orders: where readers x targets of a version exceed SPREAD x (readers + targets), the initial version's
 * are left to the saturate pass, and of the others a few are kept (two read-modify-writes of one version
 * already refute most levels). */
#include "passes/pass.h"

#include "base/order.h"
#include "passes/orders.h"

enum { SPREAD = 16, KEPT = 4 };

struct work {
	struct kr_arena arena;
	struct kr_ir *ir;
	struct kr_orders orders;
	uint8_t *follows;    /* per version: another written one is known to lead to it by wr or ww */
	uint32_t *readers;   /* per version: observations that saw it */
	uint32_t *rmw_first; /* per version: into rmw; nversions + 2 */
	kr_version *rmw;     /* versions written by the readers of a version */
	uint32_t nrmw;
	uint32_t *early_first;    /* per key: into early; nkeys + 1 */
	KR_VEC(kr_version) early; /* versions of present writers that follow none */
	uint32_t *linked;         /* per transaction: 1 + the last observer that got an edge to it */
};

static bool too_many(uint64_t readers, uint64_t targets)
{
	return readers * targets > SPREAD * (readers + targets);
}

static kr_txn writer_of(const struct work *w, kr_version v) { return w->ir->asg->versions[v.i].writer; }

/* ---- what follows what ---- */

/* The version that o's transaction writes on the key that o read, if o's source is known; else KR_NONE. */
static kr_version successor(const struct work *w, kr_obs o)
{
	const struct kr_observation *obs = &w->ir->asg->obs[o.i];

	return w->ir->source[o.i].i == KR_NONE ? (kr_version){KR_NONE}
					       : kr_asg_version_of(w->ir->asg, obs->txn, obs->key);
}

static enum kr_status count_successors(struct work *w)
{
	const struct kr_asg *asg = w->ir->asg;

	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_version v = w->ir->source[o];
		kr_version u = successor(w, (kr_obs){o});
		KR_TRY(kr_ctx_tick(w->ir->ctx));
		if (v.i != KR_NONE)
			w->readers[v.i]++;
		if (u.i == KR_NONE)
			continue;
		w->rmw_first[v.i + 2]++;
		w->nrmw++;
		if (!kr_asg_is_initial(asg, v))
			w->follows[u.i] = 1;
	}
	kr_index_places(w->rmw_first, asg->nversions);
	return KR_OK;
}

static enum kr_status fill_successors(struct work *w)
{
	const struct kr_asg *asg = w->ir->asg;

	KR_TRY(kr_arena_new(&w->arena, w->rmw, w->nrmw));
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_version u = successor(w, (kr_obs){o});

		if (u.i != KR_NONE)
			w->rmw[w->rmw_first[w->ir->source[o].i + 1]++] = u;
	}
	for (uint32_t v = 0; v < asg->nversions; v++) {
		if (kr_asg_is_initial(asg, (kr_version){v}))
			continue;
		for (uint32_t i = kr_orders_begin(&w->orders, (kr_version){v});
			i < kr_orders_end(&w->orders, (kr_version){v}); i++)
			w->follows[w->orders.after.at[i].i] = 1;
	}
	return KR_OK;
}

static enum kr_status collect_early(struct work *w)
{
	const struct kr_asg *asg = w->ir->asg;

	for (uint32_t k = 0; k < asg->nkeys; k++) {
		w->early_first[k] = w->early.n;
		for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first; v++) {
			if (w->ir->presence[writer_of(w, (kr_version){v}).i] != KR_PRESENT || w->follows[v])
				continue;
			KR_TRY(kr_vec_add(&w->ir->ctx->mem, &w->early, (kr_version){v}));
		}
	}
	w->early_first[asg->nkeys] = w->early.n;
	return KR_OK;
}

/* ---- edges ---- */

static enum kr_status link_to(struct work *w, kr_obs o, kr_version target)
{
	struct kr_ir *ir = w->ir;
	const struct kr_observation *obs = &ir->asg->obs[o.i];
	kr_txn from = obs->txn;
	kr_txn to = writer_of(w, target);

	if (to.i == from.i || w->linked[to.i] == from.i + 1)
		return KR_OK;
	/* only where the source was inferred */
	if (obs->predicate && kr_asg_in_set(ir->asg, obs->set, target))
		return KR_OK;
	w->linked[to.i] = from.i + 1;
	return kr_ir_relate(ir, KR_RW, from, to, KR_RULE_LATER, o.i);
}

static enum kr_status link_initial(struct work *w, kr_obs o)
{
	uint32_t key = w->ir->asg->obs[o.i].key.i;
	uint32_t n = w->early_first[key + 1] - w->early_first[key];

	if (too_many(w->readers[w->ir->source[o.i].i], n))
		return KR_OK;
	for (uint32_t i = w->early_first[key]; i < w->early_first[key + 1]; i++)
		KR_TRY(link_to(w, o, w->early.at[i]));
	return KR_OK;
}

static enum kr_status link_later(struct work *w, kr_obs o)
{
	kr_version v = w->ir->source[o.i];
	uint32_t end = w->rmw_first[v.i + 1];

	if (too_many(w->readers[v.i], end - w->rmw_first[v.i]))
		end = w->rmw_first[v.i] + KEPT;
	for (uint32_t i = w->rmw_first[v.i]; i < end; i++)
		KR_TRY(link_to(w, o, w->rmw[i]));
	for (uint32_t i = kr_orders_begin(&w->orders, v); i < kr_orders_end(&w->orders, v); i++)
		KR_TRY(link_to(w, o, w->orders.after.at[i]));
	return KR_OK;
}

static enum kr_status link_all(struct work *w)
{
	const struct kr_ir *ir = w->ir;

	for (uint32_t o = 0; o < ir->asg->nobs; o++) {
		if (ir->source[o].i == KR_NONE ||
			!kr_pattern_counts(&ir->level->forbidden[0], ir->asg->obs[o].predicate, false))
			continue;
		KR_TRY(kr_asg_is_initial(ir->asg, ir->source[o]) ? link_initial(w, (kr_obs){o})
								 : link_later(w, (kr_obs){o}));
		KR_TRY(kr_ctx_tick(ir->ctx));
	}
	return KR_OK;
}

/* ---- life ---- */

static enum kr_status prepare(struct work *w)
{
	const struct kr_asg *asg = w->ir->asg;

	KR_TRY(kr_arena_new(&w->arena, w->follows, asg->nversions));
	KR_TRY(kr_arena_new(&w->arena, w->readers, asg->nversions));
	KR_TRY(kr_arena_new(&w->arena, w->rmw_first, (size_t)asg->nversions + 2));
	KR_TRY(kr_arena_new(&w->arena, w->early_first, (size_t)asg->nkeys + 1));
	KR_TRY(kr_arena_new(&w->arena, w->linked, asg->ntxns));

	KR_TRY(kr_orders_init(&w->orders, w->ir));

	KR_TRY(count_successors(w));
	KR_TRY(fill_successors(w));
	return collect_early(w);
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	struct work w = {.arena = {.mem = &ir->ctx->mem}, .ir = ir};

	(void)change, (void)err;
	if (kr_level_asks(ir->level) != KR_ASK_ACYCLIC || !kr_level_orders(ir->level, KR_RW))
		return KR_OK; /* rw are not edges of the graph that is asked about */

	enum kr_status status = prepare(&w);

	if (!status)
		status = link_all(&w);
	kr_orders_done(&w.orders);
	kr_arena_done(&w.arena);
	kr_vec_done(&ir->ctx->mem, &w.early);
	return status;
}

const struct kr_pass kr_pass_rw = {
	.name = "rw",
	.title = "read-write dependencies that known sources and given orders imply at once",
	.source = "Adya, Weak Consistency (1999), anti-dependencies",
	.requires = KR_FACT_WR | KR_FACT_WW,
	.provides = KR_FACT_RW,
	.breaks = KR_FACT_CLOCK | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
