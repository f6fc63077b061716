/* Write-write dependencies that the trace gives: version orders told outright, or read off the prefixes of
 * lists.
 *
 * An edge joins the writers of neighbouring versions; versions whose writers are not known to be present are
 * left out and bridged (orders.h), so the edges among present writers have the same transitive closure as the
 * given order restricted to them. Two writers ordered alike on several keys get one edge. What the order
 * implies for versions that become present later is left to the saturate pass. Needs wr, which may find
 * writers present. Cost: O(versions + orders). */
#include "passes/pass.h"

#include "passes/orders.h"

static enum kr_status link_writer(struct kr_ir *ir, const struct kr_orders *orders, kr_txn t,
	uint32_t *linked)
{
	const struct kr_asg *asg = ir->asg;

	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_version v = asg->written[i];

		for (uint32_t j = kr_orders_begin(orders, v); j < kr_orders_end(orders, v); j++) {
			kr_txn next = asg->versions[orders->after.at[j].i].writer;

			if (linked[next.i] == t.i + 1)
				continue;
			linked[next.i] = t.i + 1;

			KR_TRY(kr_ir_relate(ir, KR_WW, t, next, KR_RULE_GIVEN, asg->versions[v.i].key.i));
		}
	}
	return kr_ctx_tick(ir->ctx);
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;
	struct kr_orders orders = {0};

	(void)change, (void)err;
	if (ir->asg->norders == 0)
		return KR_OK;

	/* per transaction: 1 + the last one that got an edge to it */
	uint32_t *linked = kr_mem_alloc(mem, ir->asg->ntxns, sizeof *linked);
	enum kr_status status = linked ? kr_orders_init(&orders, ir) : KR_NOMEM;

	for (uint32_t t = 0; t < ir->asg->ntxns && !status; t++)
		if (ir->presence[t] == KR_PRESENT)
			status = link_writer(ir, &orders, (kr_txn){t}, linked);
	kr_orders_done(&orders);
	kr_mem_free(mem, linked, ir->asg->ntxns, sizeof *linked);
	return status;
}

const struct kr_pass kr_pass_ww = {
	.name = "ww",
	.title = "write-write dependencies of given version orders",
	.source = "Adya, Weak Consistency (1999), write dependencies; Kingsbury and Alvaro (VLDB 2020), list "
		  "prefixes",
	.requires = KR_FACT_WR,
	.provides = KR_FACT_WW,
	.breaks = KR_FACT_CLOCK | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
