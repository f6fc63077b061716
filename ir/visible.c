/* The ways by which a transaction is visible to an observation (visible.h), one after the other. */
#include "ir/visible.h"

static enum kr_status by_path(const struct kr_ir *ir, uint32_t kinds, kr_txn a, kr_txn t, uint32_t age,
	struct kr_proof *proof, bool *found)
{
	struct kr_path path = {0};
	enum kr_status status =
		kr_ir_path_by(ir, kinds, kr_ir_out(ir, KR_WW, a), kr_ir_in(ir, KR_WR, t), age, &path, found);

	if (!status && *found)
		status = kr_proof_add_path(proof, ir, path.at, path.n);
	kr_vec_done(&ir->ctx->mem, &path);
	return status;
}

static bool by_order(const struct kr_ir *ir, const struct kr_pattern *p, kr_txn a, kr_txn t,
	struct kr_link *link)
{
	*link = (struct kr_link){KR_SO, a, t, {KR_NONE}, {KR_NONE}, {KR_NONE}, KR_NONE};
	for (; link->kind <= KR_RT; link->kind++)
		if (p->allowed & KR_BIT(link->kind) &&
			kr_ir_precedes(ir, a, t, (enum kr_edge_kind)link->kind))
			return true;
	return false;
}

static bool by_sight(const struct kr_ir *ir, const struct kr_pattern *p, kr_txn a, kr_obs o, uint32_t age,
	struct kr_link *link)
{
	const struct kr_asg *asg = ir->asg;
	const struct kr_observation *obs = asg->obs;
	kr_txn t = obs[o.i].txn;

	for (uint32_t i = asg->obs_first[t.i]; i < asg->obs_first[t.i + 1]; i++) {
		if (!kr_visible_by(ir, (kr_obs){i}) || ir->source_age[i] > age ||
			asg->versions[ir->source[i].i].writer.i != a.i ||
			!kr_pattern_sees(p, obs[i].op, obs[o.i].op))
			continue;
		*link = (struct kr_link){KR_WR, a, t, {i}, ir->source[i], obs[i].key, KR_NONE};
		return true;
	}
	return false;
}

enum kr_status kr_visible_way(const struct kr_ir *ir, kr_txn a, kr_obs o, uint32_t age,
	struct kr_proof *proof, bool *found)
{
	const struct kr_observation *obs = &ir->asg->obs[o.i];
	struct kr_link link;
	*found = false;
	if (kr_ir_rw_counts(ir, o))
		return by_path(ir, UINT32_MAX, a, obs->txn, age, proof, found);
	for (int i = 1; i < KR_PATTERNS_MOST && !*found; i++) {
		const struct kr_pattern *p = &ir->level->forbidden[i];
		if (!kr_pattern_is_axiom(p) || !kr_pattern_counts(p, obs->predicate, obs->loose))
			continue;
		if (p->longest == 0) {
			KR_TRY(by_path(ir, p->allowed & ~KR_BIT(KR_RW), a, obs->txn, age, proof, found));
			continue;
		}
		*found = by_sight(ir, p, a, o, age, &link) || by_order(ir, p, a, obs->txn, &link);
		if (*found)
			KR_TRY(kr_proof_add_link(proof, link));
	}
	return KR_OK;
}
