/* What each edge of the IR claims, checked edge by edge, and the chain of time nodes. Linear but for binary
 * searches; a given ww edge costs a walk over the orders of its key when it is not one of them. */
#include "ir/ir_verify.h"

#include "base/hash.h"
#include "base/table.h"

static kr_txn writer_of(const struct kr_ir *ir, kr_version v) { return ir->asg->versions[v.i].writer; }

static bool leaves_and_enters(const struct kr_ir *ir, const struct kr_edge *e, kr_txn from, kr_txn to)
{
	return e->from.i == kr_ir_out(ir, e->kind, from).i && e->to.i == kr_ir_in(ir, e->kind, to).i;
}

static enum kr_status verify_wr(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];

	KR_IR_CHECK(e->rule == KR_RULE_GIVEN || e->rule == KR_RULE_SOURCE, "wr edge %u has rule %u", index,
		e->rule);

	kr_version v = ir->source[e->why];

	KR_IR_CHECK(v.i != KR_NONE && !kr_asg_is_initial(ir->asg, v),
		"wr edge %u: its observation saw no writer", index);
	KR_IR_CHECK(leaves_and_enters(ir, e, writer_of(ir, v), ir->asg->obs[e->why].txn),
		"wr edge %u does not lead from the source to the observer", index);
	KR_IR_CHECK(e->rule == KR_RULE_SOURCE || ir->source_age[e->why] == 0,
		"wr edge %u is given, but its source is derived", index);
	KR_IR_CHECK(ir->source_age[e->why] <= index, "wr edge %u is older than what its source rests on",
		index);
	return KR_OK;
}

static enum kr_status verify_rw(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];

	KR_IR_CHECK(e->rule == KR_RULE_LATER, "rw edge %u has rule %u", index, e->rule);

	const struct kr_observation *obs = &ir->asg->obs[e->why];
	kr_version seen = ir->source[e->why];
	kr_txn target = kr_ir_txn(ir, e->to);

	KR_IR_CHECK(seen.i != KR_NONE, "rw edge %u: what its observation saw is not known", index);
	KR_IR_CHECK(ir->source_age[e->why] <= index, "rw edge %u is older than what its source rests on",
		index);
	KR_IR_CHECK(target.i != KR_NONE && leaves_and_enters(ir, e, obs->txn, target),
		"rw edge %u does not lead from the observer to a writer", index);
	KR_IR_CHECK(target.i != obs->txn.i, "rw edge %u leads back to its own transaction", index);

	kr_version v = kr_asg_version_of(ir->asg, target, obs->key);

	KR_IR_CHECK(v.i != KR_NONE, "rw edge %u: transaction %u does not write key %u", index, target.i,
		obs->key.i);
	KR_IR_CHECK(v.i != seen.i, "rw edge %u: its observation saw the target", index);
	KR_IR_CHECK(!obs->predicate || !kr_asg_in_set(ir->asg, obs->set, v),
		"rw edge %u: the target does not change the predicate's match", index);
	return KR_OK;
}

static enum kr_status verify_reader(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];
	const struct kr_observation *obs = &ir->asg->obs[e->why];
	kr_version seen = ir->source[e->why];
	kr_txn from = kr_ir_txn(ir, e->from);

	KR_IR_CHECK(seen.i != KR_NONE && !kr_asg_is_initial(ir->asg, seen),
		"ww edge %u: its observation saw no writer", index);
	KR_IR_CHECK(ir->source_age[e->why] <= index, "ww edge %u is older than what its source rests on",
		index);
	KR_IR_CHECK(from.i != KR_NONE && leaves_and_enters(ir, e, from, writer_of(ir, seen)),
		"ww edge %u does not lead to the version seen", index);
	KR_IR_CHECK(from.i != obs->txn.i && from.i != writer_of(ir, seen).i,
		"ww edge %u leaves the observer or the version seen", index);

	kr_version v = kr_asg_version_of(ir->asg, from, obs->key);

	KR_IR_CHECK(v.i != KR_NONE, "ww edge %u: transaction %u does not write key %u", index, from.i,
		obs->key.i);
	KR_IR_CHECK(!obs->predicate || !kr_asg_in_set(ir->asg, obs->set, v),
		"ww edge %u: version %u does not change the predicate's match", index, v.i);
	return KR_OK;
}

static enum kr_status verify_update(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];
	const struct kr_observation *obs = &ir->asg->obs[e->why];
	kr_version seen = ir->source[e->why];
	kr_txn to = kr_ir_txn(ir, e->to);

	KR_IR_CHECK(seen.i != KR_NONE && ir->source_age[e->why] <= index,
		"ww edge %u: what its observation saw was not known", index);
	KR_IR_CHECK(to.i != KR_NONE && to.i != obs->txn.i && leaves_and_enters(ir, e, obs->txn, to),
		"ww edge %u does not lead from the observer to a writer", index);

	kr_version own = kr_asg_version_of(ir->asg, obs->txn, obs->key);
	kr_version v = kr_asg_version_of(ir->asg, to, obs->key);

	KR_IR_CHECK(own.i != KR_NONE && v.i != KR_NONE && v.i != seen.i,
		"ww edge %u joins transactions that do not write key %u", index, obs->key.i);
	KR_IR_CHECK(!obs->predicate || !kr_asg_in_set(ir->asg, obs->set, v),
		"ww edge %u: the target does not change the predicate's match", index);
	return KR_OK;
}

static enum kr_status verify_ww(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];
	kr_txn from = kr_ir_txn(ir, e->from);
	kr_txn to = kr_ir_txn(ir, e->to);
	kr_key key = {e->why};

	KR_IR_CHECK(e->rule == KR_RULE_GIVEN || e->rule == KR_RULE_WRITERS, "ww edge %u has rule %u", index,
		e->rule);
	KR_IR_CHECK(key.i < ir->asg->nkeys, "ww edge %u names key %u of %u", index, key.i, ir->asg->nkeys);
	KR_IR_CHECK(from.i != KR_NONE && to.i != KR_NONE && from.i != to.i &&
			leaves_and_enters(ir, e, from, to),
		"ww edge %u does not join two writers", index);
	KR_IR_CHECK(kr_asg_version_of(ir->asg, from, key).i != KR_NONE &&
			kr_asg_version_of(ir->asg, to, key).i != KR_NONE,
		"ww edge %u joins transactions that do not write key %u", index, key.i);
	return KR_OK;
}

static enum kr_status verify_so(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];
	kr_txn from = kr_ir_txn(ir, e->from);
	kr_txn to = kr_ir_txn(ir, e->to);

	KR_IR_CHECK(ir->order >= KR_ORDER_SESSION, "so edge %u, but the order asked for has none", index);
	KR_IR_CHECK(from.i != KR_NONE && to.i != KR_NONE && leaves_and_enters(ir, e, from, to),
		"so edge %u does not join two transactions", index);
	KR_IR_CHECK(ir->asg->txns[from.i].session != KR_NONE &&
			ir->asg->txns[from.i].session == ir->asg->txns[to.i].session,
		"so edge %u joins transactions of two sessions", index);
	KR_IR_CHECK(from.i < to.i, "so edge %u leads back", index);
	KR_IR_CHECK(!ir->asg->txns[from.i].outcome_unknown && kr_ir_is_present(ir, from),
		"so edge %u leaves a transaction of unknown outcome", index);
	return KR_OK;
}

/* Between a transaction and a time node; which times they stand for is checked by kr_ir_verify_time. */
static enum kr_status verify_rt(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];
	kr_txn from = kr_ir_txn(ir, e->from);
	kr_txn to = kr_ir_txn(ir, e->to);

	KR_IR_CHECK(ir->order >= KR_ORDER_REALTIME, "rt edge %u, but the order asked for has none", index);
	KR_IR_CHECK((from.i == KR_NONE) != (to.i == KR_NONE),
		"rt edge %u does not join a transaction and a time node", index);
	if (from.i == KR_NONE) {
		KR_IR_CHECK(ir->asg->txns[to.i].has_begin && e->to.i == kr_ir_in(ir, KR_RT, to).i,
			"rt edge %u does not enter a begin", index);
		return KR_OK;
	}
	KR_IR_CHECK(ir->asg->txns[from.i].has_end && e->from.i == kr_ir_out(ir, KR_RT, from).i,
		"rt edge %u does not leave an end", index);
	KR_IR_CHECK(!ir->asg->txns[from.i].outcome_unknown && kr_ir_is_present(ir, from),
		"rt edge %u leaves a transaction of unknown outcome", index);
	return KR_OK;
}

static enum kr_status verify_program(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];

	KR_IR_CHECK(e->to.i == e->from.i + 1, "program edge %u does not join neighbours", index);
	KR_IR_CHECK(kr_ir_is_time(ir, e->from) == kr_ir_is_time(ir, e->to),
		"program edge %u joins a transaction and a time node", index);
	KR_IR_CHECK(kr_ir_is_time(ir, e->from) || (ir->level->model != KR_NODES_TXN && e->from.i % 2 == 0),
		"program edge %u does not lead from a begin to its commit", index);
	return KR_OK;
}

static enum kr_status verify_edge(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];
	bool dependency = e->kind == KR_WR || e->kind == KR_WW || e->kind == KR_RW;
	bool by_sight = e->kind == KR_WR || e->kind == KR_RW || e->rule == KR_RULE_READER ||
		e->rule == KR_RULE_UPDATE;

	KR_IR_CHECK(e->from.i < ir->nnodes && e->to.i < ir->nnodes, "edge %u joins nodes beyond the last",
		index);
	KR_IR_CHECK(e->kind < KR_EDGE_KINDS && e->rule < KR_RULES, "edge %u has kind %u and rule %u", index,
		e->kind, e->rule);
	KR_IR_CHECK(dependency || (e->why == KR_NONE && e->rule == KR_RULE_GIVEN),
		"edge %u has a reason that its kind does not need", index);
	if (dependency) {
		kr_txn from = kr_ir_txn(ir, e->from);
		kr_txn to = kr_ir_txn(ir, e->to);

		KR_IR_CHECK(from.i != KR_NONE && to.i != KR_NONE, "edge %u is a dependency of a time node",
			index);
		KR_IR_CHECK(kr_ir_is_present(ir, from) && kr_ir_is_present(ir, to),
			"edge %u joins transactions that may be absent", index);
	}
	KR_IR_CHECK(!by_sight || e->why < ir->asg->nobs, "%s edge %u names observation %u of %u",
		kr_edge_name((enum kr_edge_kind)e->kind), index, e->why, ir->asg->nobs);
	switch ((enum kr_edge_kind)e->kind) {
	case KR_WR: return verify_wr(ir, index, err);
	case KR_WW:
		return e->rule == KR_RULE_READER    ? verify_reader(ir, index, err)
			: e->rule == KR_RULE_UPDATE ? verify_update(ir, index, err)
						    : verify_ww(ir, index, err);
	case KR_RW: return verify_rw(ir, index, err);
	case KR_SO: return verify_so(ir, index, err);
	case KR_RT: return verify_rt(ir, index, err);
	default: return verify_program(ir, index, err);
	}
}

/* Begin and commit of every transaction are joined. */
static enum kr_status verify_programs(const struct kr_ir *ir, struct kr_err *err)
{
	uint32_t n = 0;

	if (ir->level->model == KR_NODES_TXN)
		return KR_OK;
	for (uint32_t e = 0; e < ir->edges.n; e++)
		n += ir->edges.at[e].kind == KR_PROGRAM && !kr_ir_is_time(ir, ir->edges.at[e].from);
	KR_IR_CHECK(n == ir->asg->ntxns, "%u edges from begin to commit for %u transactions", n,
		ir->asg->ntxns);
	return KR_OK;
}

/* ---- an edge behind every source ---- */

static uint64_t hash_ends(kr_node from, kr_node to) { return kr_hash_pair(from.i, to.i); }

static bool has_edge(const struct kr_ir *ir, const struct kr_table *table, kr_node from, kr_node to)
{
	uint32_t e;

	KR_TABLE_FIND(e, table, hash_ends(from, to),
		ir->edges.at[e].from.i == from.i && ir->edges.at[e].to.i == to.i);
	return e != KR_NONE;
}

static enum kr_status index_wr(const struct kr_ir *ir, struct kr_table *table)
{
	for (uint32_t e = 0; e < ir->edges.n; e++) {
		const struct kr_edge *edge = &ir->edges.at[e];

		if (edge->kind != KR_WR || has_edge(ir, table, edge->from, edge->to))
			continue;
		if (!kr_table_reserve(&ir->ctx->mem, table))
			return KR_NOMEM;
		kr_table_insert(table, hash_ends(edge->from, edge->to), e);
	}
	return KR_OK;
}

static enum kr_status check_sources(const struct kr_ir *ir, const struct kr_table *table, struct kr_err *err)
{
	for (uint32_t o = 0; o < ir->asg->nobs; o++) {
		kr_version v = ir->source[o];

		if (v.i == KR_NONE || kr_asg_is_initial(ir->asg, v))
			continue;

		kr_node from = kr_ir_out(ir, KR_WR, writer_of(ir, v));

		KR_IR_CHECK(has_edge(ir, table, from, kr_ir_in(ir, KR_WR, ir->asg->obs[o].txn)),
			"observation %u has a source, but no wr edge leads to it", o);
	}
	return KR_OK;
}

static enum kr_status verify_source_edges(const struct kr_ir *ir, struct kr_err *err)
{
	struct kr_table table = {0};
	enum kr_status status = index_wr(ir, &table);

	if (!status && !ir->conflict && ir->facts & KR_FACT_WR && kr_level_orders(ir->level, KR_WR))
		status = check_sources(ir, &table, err);
	kr_table_done(&ir->ctx->mem, &table);
	return status;
}

enum kr_status kr_ir_verify_edges(const struct kr_ir *ir, struct kr_err *err)
{
	for (uint32_t e = 0; e < ir->edges.n; e++) {
		KR_TRY(kr_ctx_tick(ir->ctx));
		KR_TRY(verify_edge(ir, e, err));
	}

	KR_TRY(verify_programs(ir, err));

	return verify_source_edges(ir, err);
}

/* ---- real time ---- */

/* latest[i] becomes the latest end, skew included, that enters time node i or one linked before it. */
static enum kr_status collect_ends(const struct kr_ir *ir, int64_t *latest, struct kr_err *err)
{
	uint32_t n = ir->nnodes - ir->first_time_node;

	for (uint32_t i = 0; i < n; i++)
		latest[i] = INT64_MIN;
	for (uint32_t e = 0; e < ir->edges.n; e++) {
		const struct kr_edge *edge = &ir->edges.at[e];
		uint32_t node = edge->to.i - ir->first_time_node;
		int64_t end;

		if (edge->kind != KR_RT || !kr_ir_is_time(ir, edge->to))
			continue;
		KR_IR_CHECK(!__builtin_add_overflow(kr_asg_end(ir->asg, kr_ir_txn(ir, edge->from)),
				    ir->asg->clock_skew, &end),
			"rt edge %u leaves an end past the end of time", e);
		if (latest[node] < end)
			latest[node] = end;
	}
	for (uint32_t i = 1; i < n; i++) {
		if (latest[i] < latest[i - 1])
			latest[i] = latest[i - 1];
	}
	return KR_OK;
}

static enum kr_status check_begins(const struct kr_ir *ir, const int64_t *latest, struct kr_err *err)
{
	for (uint32_t e = 0; e < ir->edges.n; e++) {
		const struct kr_edge *edge = &ir->edges.at[e];

		if (edge->kind == KR_RT && kr_ir_is_time(ir, edge->from))
			KR_IR_CHECK(latest[edge->from.i - ir->first_time_node] <
					kr_asg_begin(ir->asg, kr_ir_txn(ir, edge->to)),
				"rt edge %u enters a begin that some end before it does not precede", e);
	}
	return KR_OK;
}

enum kr_status kr_ir_verify_time(const struct kr_ir *ir, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;
	uint32_t n = ir->nnodes - ir->first_time_node;
	int64_t *latest = kr_mem_alloc(mem, n, sizeof *latest);
	enum kr_status status = latest ? collect_ends(ir, latest, err) : KR_NOMEM;

	if (!status)
		status = check_begins(ir, latest, err);
	kr_mem_free(mem, latest, n, sizeof *latest);
	if (status)
		return status;
	KR_IR_CHECK(n == 0 || ir->facts & KR_FACT_RT, "%u time nodes, but not the fact rt", n);
	return KR_OK;
}
