/* Which candidates of an observation known edges rule out; the plain form of rule "source" (docs/passes.md), for back ends that ask about few observations. */
#include "ir/clock.h"

kr_obs kr_ir_other_sight(const struct kr_ir *ir, kr_obs o, kr_version v)
{
	const struct kr_asg *asg = ir->asg;
	const struct kr_observation *obs = &asg->obs[o.i];
	kr_obs none = {KR_NONE};
	if (obs->predicate || !kr_level_forbids_two_states(ir->level))
		return none;
	for (uint32_t p = ir->sibling[o.i]; p != o.i; p = ir->sibling[p]) {
		const struct kr_observation *other = &asg->obs[p];
		bool counts = !(other->predicate && ir->level->forbidden[0].item_only);
		if (other->set != obs->set && counts && !kr_asg_in_set(asg, other->set, v))
			return (kr_obs){p};
	}
	return none;
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
	if (w.i != KR_NONE && kr_clock_reaches(ir->clock, kr_ir_out(ir, KR_RW, obs->txn), kr_ir_in(ir, KR_WW, w)))
		return true;
	for (uint32_t u = asg->keys[obs->key.i].first + 1; u < asg->keys[obs->key.i + 1].first; u++) {
		kr_txn x = asg->versions[u].writer;
		if (u == v.i || x.i == obs->txn.i || !kr_ir_is_present(ir, x) ||
			!kr_clock_reaches(ir->clock, kr_ir_out(ir, KR_WW, x), kr_ir_in(ir, KR_WR, obs->txn)))
			continue;
		if (w.i != KR_NONE && !kr_clock_reaches(ir->clock, kr_ir_out(ir, KR_WW, w), kr_ir_in(ir, KR_WW, x)))
			continue;
		if (!obs->predicate || !kr_asg_in_set(asg, obs->set, (kr_version){u}))
			return true;
	}
	return false;
}
