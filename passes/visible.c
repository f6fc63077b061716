/* Pass `visible`: the orders of versions that a level's axioms force (docs/passes.md). Where o saw w's
 * version, a wrote the key, too, and a is visible to o, a's version comes before w's. Who is visible does
 * not depend on the order of versions, so one walk over the observations finds all of it, nothing is
 * tried, and where every source is known and nothing else is open, the graph that comes of it has the
 * answer: a cycle, or a world in any of its topological orders (docs/backends.md).
 *
 * Of each session, or chain of the graph, only the last visible writer of a key needs an edge: those
 * before it follow along the chain. That is AWDIT's idea (Møldrup and Pavlogiannis, PLDI 2025) for the
 * axioms of Biswas and Enea (OOPSLA 2019). Cost: that of the two files that find them. */
#include "passes/visible.h"

static enum kr_status refute(struct kr_ir *ir, kr_obs o, kr_txn a)
{
	struct kr_proof *proof = kr_mem_alloc(&ir->ctx->mem, 1, sizeof *proof);

	if (!proof)
		return KR_NOMEM;
	kr_proof_init(proof, &ir->ctx->mem);
	ir->conflict = proof;
	return kr_proof_missed(proof, ir, o, a, ir->edges.n);
}

enum kr_status kr_visibility_order(struct kr_visibility *w, kr_obs o, kr_version v)
{
	struct kr_ir *ir = w->ir;
	kr_version seen = ir->source[o.i];
	kr_txn a = kr_visibility_writer(w, v), b = kr_visibility_writer(w, seen);

	if (w->before[seen.i].i == v.i || ir->conflict)
		return KR_OK;
	w->before[seen.i] = v;
	if (b.i == KR_NONE)
		return refute(ir, o, a);
	return kr_ir_relate(ir, KR_WW, a, b, KR_RULE_READER, o.i);
}

static enum kr_status apply(struct kr_visibility *w)
{
	for (int i = 1; i < KR_PATTERNS_MOST && !w->ir->conflict; i++) {
		w->pattern = &w->ir->level->forbidden[i];
		if (kr_pattern_is_axiom(w->pattern))
			KR_TRY(w->pattern->longest == 2 ? kr_visible_pairs(w) : kr_visible_chains(w));
	}
	return KR_OK;
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	const struct kr_asg *asg = ir->asg;
	struct kr_visibility w = {.ir = ir, .all = true};

	(void)err;
	if (kr_level_asks(ir->level) != KR_ASK_SINGLE)
		return KR_OK;
	KR_TRY(kr_mem_new(&ir->ctx->mem, w.before, asg->nversions));
	for (uint32_t v = 0; v < asg->nversions; v++)
		w.before[v].i = KR_NONE;
	enum kr_status status = apply(&w);
	kr_mem_free(&ir->ctx->mem, w.before, asg->nversions, sizeof *w.before);
	if (!status && ir->conflict)
		*change = KR_CONFLICT;
	ir->visible = !status && w.all ? kr_ir_known_sources(ir) : KR_NONE;
	return status;
}

const struct kr_pass kr_pass_visible = {
	.name = "visible",
	.title = "orders of versions that the axioms of a level force",
	.source = "Biswas and Enea, OOPSLA 2019; Møldrup and Pavlogiannis, AWDIT, PLDI 2025",
	.requires = KR_FACT_SO | KR_FACT_RT | KR_FACT_WR,
	.breaks = KR_FACT_CLOCK | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
