/* Structural check of the dependency IR: what passes, back ends and proofs lean on without looking. Debug
 * builds run it after every pass.
 *
 * Here: sizes, adjacency, presences, sources and facts. ir_verify_edges.c: what edges claim.
 * ir_verify_reach.c: paths and clocks. Cost: linear, and a walk over the candidates of each observation;
 * searches are sampled so that large graphs stay affordable. Not checked: that the other candidates of a
 * derived source are impossible (proof.h finds the reasons when they are needed). */
#include "ir/ir_verify.h"

static enum kr_status verify_sizes(const struct kr_ir *ir, struct kr_err *err)
{
	uint32_t nodes = ir->level->model == KR_NODES_TXN ? ir->asg->ntxns : 2 * ir->asg->ntxns;

	KR_IR_CHECK(ir->first_time_node == nodes, "time nodes begin at %u, expected %u", ir->first_time_node,
		nodes);
	KR_IR_CHECK(ir->nnodes >= nodes, "%u nodes, expected at least %u", ir->nnodes, nodes);
	KR_IR_CHECK(ir->head.n == ir->nnodes, "%u adjacency lists for %u nodes", ir->head.n, ir->nnodes);
	KR_IR_CHECK(!(ir->facts & KR_FACT_CLOCK) == !ir->clock,
		"the fact clock and the clock itself disagree");
	return KR_OK;
}

/* Every edge is in the list of the node that it leaves, newest first. */
static enum kr_status verify_adjacency(const struct kr_ir *ir, struct kr_err *err)
{
	uint32_t listed = 0;

	for (uint32_t v = 0; v < ir->nnodes; v++) {
		uint32_t last = ir->edges.n;

		for (uint32_t e = ir->head.at[v]; e != KR_NONE; e = ir->edges.at[e].next) {
			KR_IR_CHECK(e < last, "edge %u is out of place in the list of node %u", e, v);
			KR_IR_CHECK(ir->edges.at[e].from.i == v,
				"edge %u is in the list of node %u, but leaves node %u", e, v,
				ir->edges.at[e].from.i);
			last = e;
			listed++;
		}
	}
	KR_IR_CHECK(listed == ir->edges.n, "adjacency lists hold %u of %u edges", listed, ir->edges.n);
	return KR_OK;
}

/* t, of unknown outcome by the ASG, is present because observation `why` can only have seen it. */
static enum kr_status verify_forced(const struct kr_ir *ir, uint32_t t, struct kr_err *err)
{
	kr_obs why = kr_ir_presence_why(ir, (kr_txn){t});

	KR_IR_CHECK(why.i < ir->asg->nobs, "transaction %u is present for no reason", t);

	const struct kr_observation *obs = &ir->asg->obs[why.i];

	KR_IR_CHECK(kr_ir_is_present(ir, obs->txn) && obs->txn.i != t,
		"transaction %u is present because of %u, which is not", t, obs->txn.i);
	KR_IR_CHECK(ir->source[why.i].i == KR_NONE || ir->asg->versions[ir->source[why.i].i].writer.i == t,
		"transaction %u is present because of observation %u, which saw another", t, why.i);

	kr_version v = kr_asg_version_of(ir->asg, (kr_txn){t}, obs->key);

	KR_IR_CHECK(v.i != KR_NONE && kr_asg_in_set(ir->asg, obs->set, v),
		"transaction %u is present because of observation %u, which cannot have seen it", t, why.i);
	return KR_OK;
}

static enum kr_status verify_presences(const struct kr_ir *ir, struct kr_err *err)
{
	for (uint32_t t = 0; t < ir->asg->ntxns; t++) {
		uint8_t told = ir->asg->txns[t].presence;

		KR_IR_CHECK(ir->presence[t] <= KR_OPEN, "transaction %u has presence %u", t, ir->presence[t]);
		if (told == KR_OPEN && ir->presence[t] == KR_PRESENT) {
			KR_TRY(verify_forced(ir, t, err));
			continue;
		}
		KR_IR_CHECK(told == KR_OPEN || ir->presence[t] == told,
			"transaction %u has a presence other than the trace tells", t);
		KR_IR_CHECK(ir->presence_why[t] == 0,
			"transaction %u has a reason to be present that it does not need", t);
	}
	return KR_OK;
}

/* At most two: what is left of the candidates of o. */
static uint32_t count_candidates(const struct kr_ir *ir, kr_obs o)
{
	uint32_t n = 0;
	kr_version v;

	for (kr_candidates it = kr_asg_candidates(ir->asg, o); n < 2 && kr_asg_next(ir->asg, &it, &v);) {
		kr_txn writer = ir->asg->versions[v.i].writer;

		n += writer.i == KR_NONE || ir->presence[writer.i] != KR_ABSENT_TXN;
	}
	return n;
}

static enum kr_status verify_source(const struct kr_ir *ir, kr_obs o, struct kr_err *err)
{
	const struct kr_observation *obs = &ir->asg->obs[o.i];
	kr_version v = ir->source[o.i];

	KR_IR_CHECK(v.i < ir->asg->nversions, "observation %u saw version %u of %u", o.i, v.i,
		ir->asg->nversions);
	KR_IR_CHECK(kr_ir_is_present(ir, obs->txn),
		"observation %u has a source, but its transaction %u may be absent", o.i, obs->txn.i);
	KR_IR_CHECK(ir->asg->versions[v.i].key.i == obs->key.i,
		"observation %u of key %u saw version %u of another key", o.i, obs->key.i, v.i);
	KR_IR_CHECK(kr_asg_in_set(ir->asg, obs->set, v),
		"observation %u saw version %u, which is not in its set", o.i, v.i);
	KR_IR_CHECK(ir->source_age[o.i] <= ir->edges.n,
		"observation %u has a source of age %u, but there are %u edges", o.i, ir->source_age[o.i],
		ir->edges.n);

	kr_txn writer = ir->asg->versions[v.i].writer;

	KR_IR_CHECK(writer.i != obs->txn.i, "observation %u saw its own transaction's write", o.i);
	KR_IR_CHECK(writer.i == KR_NONE || kr_ir_is_present(ir, writer),
		"observation %u saw version %u, whose writer may be absent", o.i, v.i);
	return KR_OK;
}

/* Does o's transaction observe the key once more? */
static bool has_sibling(const struct kr_ir *ir, kr_obs o)
{
	const struct kr_asg *asg = ir->asg;
	kr_txn t = asg->obs[o.i].txn;
	uint32_t n = 0;

	for (uint32_t p = asg->obs_first[t.i]; p < asg->obs_first[t.i + 1]; p++)
		n += asg->obs[p].key.i == asg->obs[o.i].key.i;
	return n > 1;
}

static enum kr_status verify_sources(const struct kr_ir *ir, struct kr_err *err)
{
	for (uint32_t o = 0; o < ir->asg->nobs; o++) {
		KR_TRY(kr_ctx_tick(ir->ctx));

		if (ir->source[o].i != KR_NONE)
			KR_TRY(verify_source(ir, (kr_obs){o}, err));
		if (ir->conflict || ir->presence[ir->asg->obs[o].txn.i] == KR_ABSENT_TXN)
			continue;

		uint32_t n = count_candidates(ir, (kr_obs){o});
		/* other observations may bind the initial value, or be of the same transaction and see what
		 * this one cannot */
		bool bound =
			ir->asg->keys[ir->asg->obs[o].key.i].open_initial || has_sibling(ir, (kr_obs){o});

		KR_IR_CHECK(n > 0, "observation %u has no candidate", o);
		KR_IR_CHECK(n == 1 || bound || ir->source[o].i == KR_NONE || ir->source_age[o] > 0,
			"observation %u has several candidates, but its source is said to be given", o);
		KR_IR_CHECK(n > 1 || !(ir->facts & KR_FACT_WR) || ir->source[o].i != KR_NONE ||
				!kr_ir_is_present(ir, ir->asg->obs[o].txn),
			"observation %u has one candidate, but no source in spite of the fact wr", o);
	}
	return KR_OK;
}

enum kr_status kr_ir_verify(const struct kr_ir *ir, struct kr_err *err)
{
	enum kr_status (*const parts[])(const struct kr_ir *, struct kr_err *) = {
		verify_sizes,
		verify_adjacency,
		verify_presences,
		verify_sources,
		kr_ir_verify_edges,
		kr_ir_verify_time,
		kr_ir_verify_premises,
		kr_ir_verify_clock,
	};

	for (size_t i = 0; i < KR_COUNT(parts); i++)
		KR_TRY(parts[i](ir, err));
	return KR_OK;
}
