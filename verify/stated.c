/* What a plug-in's level forbids, in the verifier's terms, read from the level as the plug-in states it (krait/level.h): the level *is* its patterns, so nothing else needs to be believed.
 *
 * Only shapes that the verifier can check both ways are taken: a first pattern that forbids every cycle of some kinds, and at most one further pattern of cycles with one rw. Which
 * worlds prove the level follows from the patterns: a world of snapshot isolation has no cycle but with two rw in a row, one of prefix consistency none whose rw comes after a ww. */
#include <string.h>

#include "base/modules.h"
#include "verify/verifier.h"

#define WR KR_BIT(KR_WR)
#define WW KR_BIT(KR_WW)
#define RW KR_BIT(KR_RW)
#define ORDERS (KR_BIT(KR_SO) | KR_BIT(KR_RT))

static const enum kr_rule_sight sights[] = {
	[KR_SIGHT_ANY] = KR_RULE_ANY,
	[KR_SIGHT_NOT_AFTER] = KR_RULE_NOT_AFTER,
	[KR_SIGHT_BEFORE] = KR_RULE_BEFORE,
};

static struct kr_rule_cycle translate(const struct kr_pattern *p)
{
	return (struct kr_rule_cycle){
		.kinds = p->allowed & ~ORDERS,
		.lonely = p->lonely,
		.before_rw = p->lead & ~ORDERS,
		.one_rw = p->once == RW,
		.pair = p->longest == 2,
		.no_order = !(p->allowed & ORDERS),
		.same_key = p->same_key,
		.item = p->item_only,
		.cursor = p->cursor_only,
		.one_reader = p->one_reader,
		.sight = p->sight <= KR_SIGHT_BEFORE ? sights[p->sight] : KR_RULE_ANY,
	};
}

/* Every cycle of some kinds, or all but those with two rw in a row, with an rw after a ww, with an rw of a predicate, or with two readers. */
static bool is_first(const struct kr_pattern *p)
{
	uint32_t kinds = p->allowed & ~ORDERS;
	bool demands = p->once || p->needed || p->longest || p->sight || p->same_key || p->cursor_only;
	bool special = p->lonely || p->lead || p->item_only || p->one_reader;

	if (demands || (p->allowed & ORDERS) != ORDERS || (kinds != WW && kinds != (WR | WW) && kinds != (WR | WW | RW)))
		return false;
	if (special && !(kinds & RW))
		return false;
	return (p->lonely == 0 || p->lonely == RW) && (p->lead == 0 || p->lead == (WR | ORDERS)) &&
		(p->lonely != 0) + (p->lead != 0) + p->item_only + p->one_reader <= 1;
}

/* Cycles with one rw: of any length; of two edges; of two edges on one key. */
static bool is_further(const struct kr_pattern *p)
{
	uint32_t kinds = p->allowed & ~ORDERS;
	bool orders = (p->allowed & ORDERS) == ORDERS, whole = orders || !(p->allowed & ORDERS);

	if (p->once != RW || p->lonely || p->lead || p->needed || p->item_only || p->one_reader || !whole)
		return false;
	if (p->same_key)
		return p->longest == 2 && kinds == (WW | RW) && !orders && p->sight == KR_SIGHT_ANY;
	if (p->longest == 2)
		return p->sight == KR_SIGHT_BEFORE ? kinds == (WR | RW) && !orders : p->sight == KR_SIGHT_ANY && orders && kinds & WR;
	return p->longest == 0 && orders && kinds & WR && p->sight != KR_SIGHT_BEFORE;
}

/* No world of snapshot isolation has such a cycle. */
static bool snapshots_avoid(const struct kr_pattern *p) { return !(p->allowed & RW) || p->once == RW || p->lonely & RW || (p->lead && !(p->lead & RW)); }

/* No world of prefix consistency has: where an rw is, one comes after a ww. */
static bool prefixes_avoid(const struct kr_pattern *p)
{
	if (!(p->allowed & RW) || p->lead || p->sight)
		return true;
	return snapshots_avoid(p) && !(p->allowed & WW);
}

static bool state(const struct kr_level *level, struct kr_rule *out)
{
	const struct kr_pattern *first = &level->forbidden[0], *further = &level->forbidden[1];

	if (!is_first(first) || level->forbidden[2].allowed || (level->anomalies & ~KR_ANOMALIES_ALL))
		return false;
	if (further->allowed && (!is_further(further) || first->allowed & RW || (first->allowed & ~ORDERS) != (WR | WW)))
		return false;
	*out = (struct kr_rule){
		.id = level->id,
		.cycles = {translate(first)},
		.anomalies = level->anomalies,
		.snapshots = snapshots_avoid(first) && (!further->allowed || snapshots_avoid(further)),
		.prefixes = prefixes_avoid(first) && (!further->allowed || prefixes_avoid(further)),
		.graph = !first->lonely && !first->lead && (!(first->allowed & RW) || first->item_only || first->one_reader),
	};
	if (further->allowed)
		out->cycles[1] = translate(further);
	return true;
}

bool kr_verify_states(const struct kr_level *level)
{
	struct kr_rule rule;

	return state(level, &rule);
}

bool kr_rule_state(const struct kr_modules *more, const char *id, struct kr_rule *out)
{
	for (uint32_t c = 0; more && c < more->checkers.n; c++)
		for (const struct kr_level *level = more->checkers.at[c]->levels; level && level->id; level++)
			if (strcmp(level->id, id) == 0)
				return state(level, out);
	return false;
}
