/* Certificates from proofs, worlds and anomalies (certify.h). A copy with the ASG's numbers replaced by transactions, keys and operation indices. */
#include "checkers/certify.h"

static enum kr_status add_edge(const struct kr_ir *ir, const struct kr_link *link, struct kr_certificate *cert)
{
	struct kr_cert_edge edge =
		{.kind = link->kind, .from = link->from, .to = link->to, .key = link->key, .op = KR_NONE, .source = {KR_NONE}, .part = {KR_NONE}};
	if (link->obs.i != KR_NONE) {
		edge.op = ir->asg->obs[link->obs.i].op;
		edge.predicate = ir->asg->obs[link->obs.i].predicate;
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

enum kr_status kr_certify_order(const struct kr_ir *ir, const kr_node *order, uint32_t n, struct kr_certificate *cert)
{
	cert->kind = KR_CERT_ORDER;
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
