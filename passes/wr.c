/* Write-read dependencies that the trace alone tells, as sources and edges: one queue of present
 * transactions, which grows by the writers found. Needs nothing; gives every source that needs no inference
 * (wr.h). */
#include "passes/wr.h"

#include "passes/only.h"

struct work {
	struct kr_ir *ir;
	struct kr_only only;
	KR_VEC(kr_txn) queue; /* present transactions */
	uint32_t *linked;     /* per transaction: 1 + the last observer that got an edge from it */
	bool link, changed;
};

static enum kr_status settle(struct work *w, kr_obs o, kr_version v)
{
	struct kr_ir *ir = w->ir;
	kr_txn writer = ir->asg->versions[v.i].writer;
	kr_txn reader = ir->asg->obs[o.i].txn;

	ir->source[o.i] = v;
	w->changed = true;
	if (writer.i == KR_NONE)
		return KR_OK;
	if (ir->presence[writer.i] == KR_OPEN) {
		ir->presence[writer.i] = KR_PRESENT;
		ir->presence_why[writer.i] = o.i + 1;
		KR_TRY(kr_vec_add(&ir->ctx->mem, &w->queue, writer));
	}
	if (!w->link || w->linked[writer.i] == reader.i + 1)
		return KR_OK;
	w->linked[writer.i] = reader.i + 1;
	return kr_ir_relate(ir, KR_WR, writer, reader, KR_RULE_GIVEN, o.i);
}

static enum kr_status look_at(struct work *w, kr_txn t, struct kr_err *err)
{
	const struct kr_asg *asg = w->ir->asg;

	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		KR_TRY(kr_ctx_tick(w->ir->ctx));
		kr_version v = {KR_NONE};

		kr_only_fetch(asg, o);
		if (w->ir->source[o].i != KR_NONE)
			continue;

		uint32_t n = kr_only_find(&w->only, (kr_obs){o}, &v);

		if (n == 0)
			return kr_err_set(err, KR_INTERNAL,
				"observation %u of transaction %u has no candidate", o, t.i);
		if (n == 1)
			KR_TRY(settle(w, (kr_obs){o}, v));
	}
	return KR_OK;
}

enum kr_status kr_settle(struct kr_ir *ir, bool link, enum kr_change *change, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;
	struct work w = {.ir = ir,
		.link = link && kr_level_orders(ir->level, KR_WR),
		.linked = kr_mem_alloc(mem, ir->asg->ntxns, sizeof *w.linked)};
	bool room = w.linked && (!w.link || kr_vec_reserve(mem, &ir->edges, ir->asg->nobs));
	enum kr_status status = room ? kr_only_init(&w.only, ir) : KR_NOMEM;

	for (uint32_t t = 0; t < ir->asg->ntxns && !status; t++) {
		if (ir->presence[t] == KR_PRESENT && !kr_vec_push(mem, &w.queue, (kr_txn){t}))
			status = KR_NOMEM;
	}
	for (uint32_t i = 0; i < w.queue.n && !status; i++)
		status = look_at(&w, w.queue.at[i], err);
	kr_only_done(&w.only);
	kr_vec_done(mem, &w.queue);
	kr_mem_free(mem, w.linked, ir->asg->ntxns, sizeof *w.linked);
	if (!status && w.changed)
		*change = KR_CHANGED;
	return status;
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	return kr_settle(ir, true, change, err);
}

const struct kr_pass kr_pass_wr = {
	.name = "wr",
	.title = "write-read dependencies of observations with one candidate",
	.source = "Adya, Weak Consistency (1999), read dependencies",
	.provides = KR_FACT_WR,
	.breaks = KR_FACT_WW | KR_FACT_RW | KR_FACT_CLOCK | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
