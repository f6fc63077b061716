/* Observations of a transaction sorted by key, in one pass with its versions, which are. */
#include "backend/accesses.h"

#include "base/order.h"

static int by_key(const void *data, uint32_t x, uint32_t y)
{
	const struct kr_asg *asg = data;
	return KR_ORDER(asg->obs[x].key.i, asg->obs[y].key.i);
}

/* What a node does; observations and versions are both sorted by key. */
static enum kr_status index_node(struct kr_accesses *x, const struct kr_ir *ir, kr_node node)
{
	const struct kr_asg *asg = ir->asg;
	kr_txn t = kr_ir_txn(ir, node);
	bool reads = kr_ir_in(ir, KR_WR, t).i == node.i, writes = kr_ir_out(ir, KR_WW, t).i == node.i;
	uint32_t o = asg->obs_first[t.i], nobs = reads ? asg->obs_first[t.i + 1] : o;
	uint32_t v = asg->written_first[t.i], nwritten = writes ? asg->written_first[t.i + 1] : v;
	while (o < nobs || v < nwritten) {
		uint32_t seen = o < nobs ? asg->obs[x->seen[o]].key.i : UINT32_MAX;
		uint32_t wrote = v < nwritten ? asg->versions[asg->written[v].i].key.i : UINT32_MAX;
		struct kr_access one = {seen < wrote ? seen : wrote, o, o, {KR_NONE}};
		while (one.end < nobs && asg->obs[x->seen[one.end]].key.i == one.key)
			one.end++;
		if (wrote == one.key)
			one.wrote = asg->written[v++];
		o = one.end;
		KR_TRY(kr_vec_add(x->arena.mem, &x->all, one));
	}
	return KR_OK;
}

enum kr_status kr_accesses_init(struct kr_accesses *x, const struct kr_candidate *w)
{
	const struct kr_ir *ir = w->ir;
	const struct kr_asg *asg = ir->asg;
	uint32_t *scratch;
	*x = (struct kr_accesses){.arena = {.mem = &ir->ctx->mem}};
	KR_TRY(kr_arena_new(&x->arena, x->first, (size_t)ir->nnodes + 1));
	KR_TRY(kr_arena_new(&x->arena, x->seen, asg->nobs));
	KR_TRY(kr_arena_new(&x->arena, scratch, asg->nobs));
	for (uint32_t o = 0; o < asg->nobs; o++)
		x->seen[o] = o;
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		uint32_t first = asg->obs_first[t];
		kr_sort_ids(x->seen + first, scratch, asg->obs_first[t + 1] - first, by_key, asg);
	}
	for (kr_node node = {0}; node.i < ir->nnodes; node.i++) {
		kr_txn t = kr_ir_txn(ir, node);
		x->first[node.i] = x->all.n;
		if (t.i != KR_NONE && w->active[t.i])
			KR_TRY(index_node(x, ir, node));
	}
	x->first[ir->nnodes] = x->all.n;
	return KR_OK;
}

void kr_accesses_done(struct kr_accesses *x)
{
	if (!x->arena.mem)
		return;
	kr_vec_done(x->arena.mem, &x->all);
	kr_arena_done(&x->arena);
}
