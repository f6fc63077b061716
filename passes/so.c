/* Session order: per session a chain of edges through its transactions, in the order of the trace.
 *
 * A transaction whose client never learned its outcome may take effect at any later time: an edge enters it,
 * from the last transaction before it whose outcome is known, and none leaves it; the chain goes on from that
 * same predecessor. Transactions that took no effect are passed over, which loses nothing, since their
 * neighbours are linked with each other. The transitive closure of the chain is the session order of
 * docs/levels.md. Where cycles may pass one transaction that writes nothing and no more (KR_ASK_READERS), a
 * chain must not lead through such: then each is linked with the nearest ones that write. Needs nothing; does
 * nothing where the order asked for does not include sessions. Cost: O(transactions). */
#include "passes/pass.h"

static enum kr_status add(struct kr_ir *ir, kr_txn a, kr_txn b)
{
	return kr_ir_relate(ir, KR_SO, a, b, KR_RULE_GIVEN, KR_NONE);
}

static bool writes(const struct kr_ir *ir, uint32_t t)
{
	return ir->asg->written_first[t] < ir->asg->written_first[t + 1];
}

/* Links of t around transactions that write nothing: from the last one that writes, and from all since then.
 * `before` leads back along the session. */
static enum kr_status link_around(struct kr_ir *ir, kr_txn last, kr_txn t, const kr_txn *before)
{
	bool near = true;

	for (kr_txn a = last; a.i != KR_NONE; a = before[a.i], near = false) {
		if (!near && (writes(ir, a.i) || writes(ir, t.i)))
			KR_TRY(add(ir, a, t));
		if (writes(ir, a.i))
			break;
	}
	return KR_OK;
}

static enum kr_status link_sessions(struct kr_ir *ir, kr_txn *last, kr_txn *before)
{
	const struct kr_asg *asg = ir->asg;

	for (uint32_t s = 0; s < asg->nsessions; s++)
		last[s].i = KR_NONE;
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		uint32_t session = asg->txns[t].session;
		KR_TRY(kr_ctx_tick(ir->ctx));

		if (session != KR_NONE && ir->presence[t] != KR_ABSENT_TXN) {
			if (last[session].i != KR_NONE)
				KR_TRY(add(ir, last[session], (kr_txn){t}));
			if (kr_level_asks(ir->level) == KR_ASK_READERS)
				KR_TRY(link_around(ir, last[session], (kr_txn){t}, before));
			before[t] = last[session];
			if (!asg->txns[t].outcome_unknown)
				last[session].i = t;
		}
	}
	return KR_OK;
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;

	(void)change, (void)err;
	if (ir->order < KR_ORDER_SESSION)
		return KR_OK;

	kr_txn *last = kr_mem_alloc(mem, ir->asg->nsessions, sizeof *last);
	kr_txn *before = kr_mem_alloc(mem, ir->asg->ntxns, sizeof *before);
	enum kr_status status = last && before ? link_sessions(ir, last, before) : KR_NOMEM;

	kr_mem_free(mem, last, ir->asg->nsessions, sizeof *last);
	kr_mem_free(mem, before, ir->asg->ntxns, sizeof *before);
	return status;
}

const struct kr_pass kr_pass_so = {
	.name = "so",
	.title = "session order: a chain of edges per session",
	.source = "Adya, Weak Consistency (1999), session guarantees; Biswas and Enea (OOPSLA 2019)",
	.provides = KR_FACT_SO,
	.breaks = KR_FACT_CLOCK | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
