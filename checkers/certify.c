/* Certificates from proofs, worlds and anomalies (certify.h). A copy with the ASG's numbers replaced by transactions, keys and operation indices. */
#include "checkers/certify.h"

/* The key as the trace knows it, and which part of it (verify.h). */
static kr_key whole_key(const struct kr_asg *asg, kr_key k) { return k.i == KR_NONE ? k : kr_asg_whole(asg, k); }

static kr_value part_of(const struct kr_asg *asg, kr_key k)
{
	uint32_t whole = asg->nkeys - asg->nparts, label;
	if (k.i == KR_NONE || k.i < whole)
		return (kr_value){KR_NONE};
	label = asg->parts[k.i - whole].label;
	return label == KR_NONE ? KR_ABSENT : (kr_value){label};
}

static enum kr_status add_edge(const struct kr_ir *ir, const struct kr_link *link, struct kr_certificate *cert)
{
	struct kr_cert_edge edge = {.kind = link->kind,
		.from = link->from,
		.to = link->to,
		.key = whole_key(ir->asg, link->key),
		.op = KR_NONE,
		.source = {KR_NONE},
		.part = {KR_NONE}};
	if (link->obs.i != KR_NONE) {
		const struct kr_observation *o = &ir->asg->obs[link->obs.i];
		edge.op = o->op;
		edge.predicate = o->predicate;
		edge.part = part_of(ir->asg, o->key);
	}
	if (link->kind == KR_RW)
		edge.source = ir->asg->versions[link->seen.i].writer;
	return kr_vec_push(cert->mem, &cert->edges, edge) ? KR_OK : KR_NOMEM;
}

enum kr_status kr_certify_proof(const struct kr_ir *ir, struct kr_proof *proof, struct kr_certificate *cert)
{
	enum kr_status status = kr_proof_close(proof, ir);
	cert->kind = KR_CERT_CYCLES;
	for (uint32_t c = proof->cycles.n; c-- > 0 && !status;) {
		struct kr_cycle cycle = proof->cycles.at[c];
		struct kr_cert_cycle out = {cert->edges.n, cycle.count};
		for (uint32_t i = 0; i < cycle.count && !status; i++)
			status = add_edge(ir, &proof->links.at[cycle.first + i], cert);
		if (!status && !kr_vec_push(cert->mem, &cert->cycles, out))
			status = KR_NOMEM;
	}
	return status;
}

/* Does the level forbid every cycle, so that the order is a serial one? */
static bool is_serial(const struct kr_level *level)
{
	const uint32_t all = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW);
	const struct kr_pattern *p = &level->forbidden[0];
	bool demands = p->lonely || p->lead || p->once || p->needed || p->longest || p->same_key || p->item_only || p->cursor_only || p->one_reader;
	return level->model == KR_NODES_TXN && (p->allowed & all) == all && !demands;
}

enum kr_status kr_certify_order(const struct kr_ir *ir, const kr_node *order, uint32_t n, struct kr_certificate *cert)
{
	/* Begin and commit nodes name their transaction twice. */
	cert->kind = ir->level->model != KR_NODES_TXN ? KR_CERT_SNAPSHOTS : is_serial(ir->level) ? KR_CERT_ORDER : KR_CERT_WORLD;
	for (uint32_t i = 0; i < n; i++) {
		kr_txn t = kr_ir_txn(ir, order[i]);
		if (t.i != KR_NONE && !kr_vec_push(cert->mem, &cert->serial, t))
			return KR_NOMEM;
	}
	return KR_OK;
}

enum kr_status kr_certify_anomaly(const struct kr_anomaly *anomaly, struct kr_certificate *cert)
{
	cert->kind = KR_CERT_ANOMALY;
	cert->anomaly.kind = anomaly->kind;
	cert->anomaly.txn = anomaly->txn;
	cert->anomaly.op = anomaly->op;
	cert->anomaly.key = anomaly->key;
	return KR_OK;
}
