/* Which candidates of an observation known edges rule out; the plain form of rule "source" (docs/passes.md),
 * for back ends that ask about few observations. */
#include "ir/clock.h"

kr_obs kr_ir_other_sight(const struct kr_ir *ir, kr_obs o, kr_version v)
{
	const struct kr_asg *asg = ir->asg;
	const struct kr_observation *obs = &asg->obs[o.i];
	kr_obs none = {KR_NONE};
	if (obs->predicate)
		return none;
	for (kr_obs p = kr_ir_sibling(ir, o); p.i != o.i; p = kr_ir_sibling(ir, p)) {
		const struct kr_observation *other = &asg->obs[p.i];
		if (other->set != obs->set && !kr_asg_in_set(asg, other->set, v) &&
			kr_level_forbids_two_states(ir->level, other->predicate, obs->loose || other->loose))
			return p;
	}
	return none;
}

static bool is_unlimited(const struct kr_pattern *p)
{
	return p->longest == 0 && p->sight == KR_SIGHT_ANY && !p->same_key && !p->needed &&
		!(p->once & ~KR_BIT(KR_RW));
}

/* The pattern that takes an rw and any known edges, or NULL. */
static const struct kr_pattern *pattern_of_rw(const struct kr_level *level)
{
	for (int i = 0; i < KR_PATTERNS_MOST; i++) {
		const struct kr_pattern *p = &level->forbidden[i];
		if (p->allowed & KR_BIT(KR_RW) && !(level->forbidden[0].allowed & ~p->allowed) &&
			is_unlimited(p))
			return p;
	}
	return NULL;
}

bool kr_ir_rw_counts(const struct kr_ir *ir, kr_obs o)
{
	const struct kr_pattern *p = pattern_of_rw(ir->level);
	const struct kr_observation *obs = &ir->asg->obs[o.i];
	return p && kr_pattern_counts(p, obs->predicate, obs->loose);
}

bool kr_ir_overwrites(const struct kr_ir *ir, kr_obs o, kr_version later)
{
	const struct kr_observation *obs = &ir->asg->obs[o.i];
	if (ir->asg->versions[later.i].writer.i == obs->txn.i)
		return false;
	return !obs->predicate ||
		(!ir->level->forbidden[0].item_only && !kr_asg_in_set(ir->asg, obs->set, later));
}

bool kr_ir_precedes(const struct kr_ir *ir, kr_txn a, kr_txn b, enum kr_edge_kind kind)
{
	const struct kr_asg_txn *x = &ir->asg->txns[a.i], *y = &ir->asg->txns[b.i];
	int64_t end;
	if (x->outcome_unknown)
		return false;
	if (kind == KR_SO)
		return ir->order >= KR_ORDER_SESSION && x->session != KR_NONE && x->session == y->session &&
			a.i < b.i;
	if (ir->order < KR_ORDER_REALTIME || !x->has_end || !y->has_begin)
		return false;
	return !__builtin_add_overflow(kr_asg_end(ir->asg, a), ir->asg->clock_skew, &end) &&
		end < kr_asg_begin(ir->asg, b);
}

bool kr_ir_rw_joins(const struct kr_ir *ir, kr_txn t)
{
	const struct kr_pattern *first = &ir->level->forbidden[0];
	if (!kr_level_orders(ir->level, KR_RW))
		return false;
	return !first->one_reader || ir->asg->written_first[t.i] < ir->asg->written_first[t.i + 1];
}

bool kr_ir_closes_wr(const struct kr_ir *ir, kr_txn a, kr_txn b)
{
	return kr_level_orders(ir->level, KR_WR) && ir->clock &&
		kr_clock_reaches(ir->clock, kr_ir_in(ir, KR_WR, b), kr_ir_out(ir, KR_WR, a));
}

bool kr_ir_writes_before(const struct kr_ir *ir, kr_txn a, kr_txn b)
{
	return ir->clock && kr_clock_reaches(ir->clock, kr_ir_in(ir, KR_WW, a), kr_ir_out(ir, KR_WW, b));
}

bool kr_ir_impossible(const struct kr_ir *ir, kr_obs o, kr_version v)
{
	const struct kr_asg *asg = ir->asg;
	const struct kr_observation *obs = &asg->obs[o.i];
	kr_txn w = asg->versions[v.i].writer;
	if (kr_ir_other_sight(ir, o, v).i != KR_NONE)
		return true;
	if (!ir->clock)
		return false;
	if (w.i != KR_NONE && kr_ir_closes_wr(ir, w, obs->txn))
		return true;
	if (!kr_ir_rw_counts(ir, o))
		return false;
	for (uint32_t u = asg->keys[obs->key.i].first + 1; u < asg->keys[obs->key.i + 1].first; u++) {
		kr_txn x = asg->versions[u].writer;
		if (u == v.i || x.i == obs->txn.i || !kr_ir_is_present(ir, x) ||
			!kr_clock_reaches(ir->clock, kr_ir_out(ir, KR_WW, x), kr_ir_in(ir, KR_WR, obs->txn)))
			continue;
		if (w.i != KR_NONE && !kr_ir_writes_before(ir, w, x))
			continue;
		if (!obs->predicate || !kr_asg_in_set(asg, obs->set, (kr_version){u}))
			return true;
	}
	return false;
}
