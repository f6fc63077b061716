/* Certificates from proofs, worlds and anomalies (certify.h). A copy with the ASG's numbers replaced by
 * transactions, keys and operation indices. */
#include "checkers/certify.h"

/* The key as the trace knows it, and which part of it (verify.h). */
static kr_key whole_key(const struct kr_asg *asg, kr_key k)
{
	return k.i == KR_NONE ? k : kr_asg_whole(asg, k);
}

static kr_value part_of(const struct kr_asg *asg, kr_key k)
{
	uint32_t whole = asg->nkeys - asg->nparts, label;
	if (k.i == KR_NONE || k.i < whole)
		return (kr_value){KR_NONE};
	label = asg->parts[k.i - whole].label;
	return label == KR_NONE ? KR_ABSENT : (kr_value){label};
}

static enum kr_status add_edge(const struct kr_ir *ir, const struct kr_link *link,
	struct kr_certificate *cert)
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
	return kr_vec_add(cert->mem, &cert->edges, edge);
}

/* A cycle that no world has: two versions of one key, each before the other; or one observation that saw two
 * versions. It excludes nothing, so the others prove the same without it, and it would only be a poor name
 * for what they say. */
static bool is_idle(const struct kr_proof *proof, uint32_t c)
{
	const struct kr_link *a = &proof->links.at[proof->cycles.at[c].first], *b = a + 1;

	if (proof->cycles.at[c].count != 2)
		return false;
	if (a->kind == KR_WW && b->kind == KR_WW)
		return a->key.i == b->key.i;
	return ((a->kind == KR_WR && b->kind == KR_RW) || (a->kind == KR_RW && b->kind == KR_WR)) &&
		a->obs.i == b->obs.i;
}

/* Are idle cycles to be left out? Not if there is no other: a refutation that needs none shows one of
 * them. */
static bool leaves_idle_out(const struct kr_proof *proof)
{
	uint32_t c = 0;

	while (c < proof->cycles.n && is_idle(proof, c))
		c++;
	return c < proof->cycles.n;
}

enum kr_status kr_certify_proof(const struct kr_ir *ir, struct kr_proof *proof, struct kr_certificate *cert)
{
	KR_TRY(kr_proof_close(proof, ir));
	KR_TRY(kr_proof_shorten(proof, ir));
	bool skip = leaves_idle_out(proof);
	cert->kind = KR_CERT_CYCLES;
	for (uint32_t c = proof->cycles.n; c-- > 0;) {
		struct kr_cycle cycle = proof->cycles.at[c];
		struct kr_cert_cycle out = {cert->edges.n, cycle.count};
		if (skip && is_idle(proof, c))
			continue;
		for (uint32_t i = 0; i < cycle.count; i++)
			KR_TRY(add_edge(ir, &proof->links.at[cycle.first + i], cert));
		KR_TRY(kr_vec_add(cert->mem, &cert->cycles, out));
	}
	return KR_OK;
}

static struct kr_cert_edge overwriting(const struct kr_cert_edge *rw)
{
	return (struct kr_cert_edge){.kind = KR_WW,
		.from = rw->to,
		.to = rw->from,
		.key = rw->key,
		.op = KR_NONE,
		.source = {KR_NONE},
		.part = {KR_NONE}};
}

static bool is_pair(const struct kr_certificate *cert, uint32_t c)
{
	const struct kr_cert_edge *e = &cert->edges.at[cert->cycles.at[c].first];

	return cert->cycles.at[c].count == 2 && e[0].kind == KR_RW && e[1].kind == KR_RW &&
		e[0].key.i == e[1].key.i;
}

enum kr_status kr_certify_lost_updates(const struct kr_level *level, struct kr_certificate *cert)
{
	for (uint32_t c = 0; kr_level_forbids_lost_updates(level, false) && c < cert->cycles.n; c++) {
		if (!is_pair(cert, c))
			continue;
		struct kr_cert_edge *e = &cert->edges.at[cert->cycles.at[c].first], other = e[1];
		struct kr_cert_cycle added = {cert->edges.n, 2}, *last;
		e[1] = overwriting(&e[0]);
		KR_TRY(kr_vec_add(cert->mem, &cert->edges, other));
		KR_TRY(kr_vec_add(cert->mem, &cert->edges, overwriting(&other)));
		KR_TRY(kr_vec_add(cert->mem, &cert->cycles, added));
		last = &cert->cycles.at[cert->cycles.n - 1]; /* the one that closes the argument stays last */
		last[0] = last[-1];
		last[-1] = added;
	}
	return KR_OK;
}

/* What an observation saw. */
static enum kr_status add_source(const struct kr_ir *ir, uint32_t o, kr_version seen,
	struct kr_certificate *cert)
{
	const struct kr_asg *asg = ir->asg;
	const struct kr_observation *obs = &asg->obs[o];
	struct kr_cert_source source = {obs->txn, obs->op, kr_asg_whole(asg, obs->key),
		part_of(asg, obs->key), asg->versions[seen.i].writer};
	return kr_vec_add(cert->mem, &cert->sources, source);
}

enum kr_status kr_certify_world(const struct kr_ir *ir, const struct kr_answer *answer,
	struct kr_certificate *cert)
{
	static const enum kr_cert_kind kinds[] = {
		[KR_WORLD_SERIAL] = KR_CERT_ORDER,
		/* begin and commit nodes name their transaction twice */
		[KR_WORLD_SNAPSHOTS] = KR_CERT_SNAPSHOTS,
		[KR_WORLD_GRAPH] = KR_CERT_WORLD,
	};
	bool room = kr_vec_reserve(cert->mem, &cert->serial, answer->order.n) &&
		kr_vec_reserve(cert->mem, &cert->sources, answer->sources.n);
	enum kr_status status = room ? KR_OK : KR_NOMEM;
	cert->kind = kinds[answer->form];
	for (uint32_t i = 0; i < answer->order.n && !status; i++) {
		if (!kr_vec_push(cert->mem, &cert->serial, kr_ir_txn(ir, answer->order.at[i])))
			status = KR_NOMEM;
	}
	for (uint32_t o = 0; o < answer->sources.n && !status; o++) {
		if (answer->sources.at[o].i != KR_NONE)
			status = add_source(ir, o, answer->sources.at[o], cert);
	}
	return status;
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
