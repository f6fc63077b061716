/* Pass `saturate`: applies the forcing rules until nothing changes. Each rule adds an edge whose contrary
 * would close a forbidden cycle, so the set of satisfying worlds stays the same; what is left open afterwards
 * is open by these rules.
 *
 * Driver: nodes that have something open, and those whose clocks moved, are visited in order of a topological
 * rank; a visit looks only at the chains that moved. Rules: saturate_rules.c; indices: saturate_index.c; keys
 * that need no visits: saturate_closed.c. Ends because clocks and edges only grow: at most one ww edge per
 * (observation, chain, writer) and one rw edge per (observation, writer). The rules are argued in docs/ir.md;
 * with fewer chains tracked than there are, they find less, never too much. */
#include "passes/saturate.h"

#include <string.h>

static enum kr_status drain(struct kr_saturation *s, uint64_t *changed)
{
	struct kr_ir *ir = s->ir;
	kr_node v;
	uint64_t visits = 0;
	while (ir->clock->cyclic.i == KR_NONE && !s->conflict && kr_clock_take(ir, &v, changed)) {
		KR_TRY(kr_ctx_spend(ir->ctx, 1 + ir->clock->words));
		kr_txn t = kr_ir_txn(ir, v);
		if (t.i != KR_NONE && !s->begun[v.i])
			memset(changed, 0xff, ir->clock->words * sizeof *changed);
		if (t.i != KR_NONE && kr_ir_is_present(ir, t))
			KR_TRY(kr_saturation_visit(s, v, changed));
		if ((++visits & 4095) == 0)
			kr_ctx_progress(ir->ctx, "following what must come before, steps:", visits, 0);
	}
	return KR_OK;
}

/* A cycle in which only untracked nodes take part does not show in the clocks. */
static enum kr_status find_untracked_cycle(struct kr_ir *ir, bool *cyclic)
{
	if (ir->clock->whole)
		return KR_OK;
	kr_node *order = kr_mem_alloc(&ir->ctx->mem, ir->nnodes, sizeof *order);
	if (!order)
		return KR_NOMEM;
	enum kr_status status = kr_ir_topological(ir, order, cyclic);
	kr_mem_free(&ir->ctx->mem, order, ir->nnodes, sizeof *order);
	return status;
}

static enum kr_status saturate(struct kr_saturation *s, enum kr_change *change)
{
	struct kr_ir *ir = s->ir;
	uint64_t *changed = kr_mem_alloc(&ir->ctx->mem, ir->clock->words, sizeof *changed);
	if (!changed)
		return KR_NOMEM;
	enum kr_status status;
	do {
		status = drain(s, changed);
		if (!status && s->arrived)
			status = kr_saturation_link_given(s);
		if (!status && !s->conflict && ir->clock->cyclic.i == KR_NONE)
			status = kr_saturation_sweep(s);
	} while (!status && (s->settled || s->arrived || kr_clock_pending(ir->clock)) && !s->conflict &&
		ir->clock->cyclic.i == KR_NONE);
	kr_mem_free(&ir->ctx->mem, changed, ir->clock->words, sizeof *changed);
	bool cyclic = ir->clock->cyclic.i != KR_NONE;
	if (!status && !s->conflict && !cyclic)
		status = find_untracked_cycle(ir, &cyclic);
	if (!status && !s->conflict && cyclic)
		status = kr_ir_conflict(ir);
	*change = s->conflict || cyclic ? KR_CONFLICT : s->changed ? KR_CHANGED : KR_UNCHANGED;
	return status;
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	struct kr_saturation s;
	(void)err;
	enum kr_status status = kr_saturation_init(&s, ir);
	if (!status)
		status = saturate(&s, change);
	kr_saturation_done(&s);
	return status;
}

const struct kr_pass kr_pass_saturate = {
	.name = "saturate",
	.title = "forced version orders and anti-dependencies, and sources ruled out, to a fixpoint",
	.source = "Cobra's pruning (Tan et al., OSDI 2020) taken to a fixpoint over chain clocks",
	.requires = KR_FACT_CLOCK | KR_FACT_WR,
	.provides = KR_FACT_SATURATED,
	.breaks = 0,
	.run = run,
};
