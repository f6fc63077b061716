/* What a level forbids, in the verifier's terms, read from the level as it states itself (krait/level.h),
 * krait's own as a plug-in's: the level *is* its patterns, so nothing else needs to be believed.
 *
 * Only shapes that the verifier can check both ways are taken: a first pattern that forbids every cycle of
 * some kinds, and further patterns of cycles with one rw. Which worlds prove the level follows from the
 * patterns: a world of snapshot isolation has no cycle but with two rw in a row, one of prefix consistency
 * none whose rw comes after a ww. */
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
		.sight = sights[p->sight],
	};
}

/* ---- which shapes ---- */

/* The first test that fails says why. */
struct test {
	bool good;
	const char *otherwise;
};

static const char *first_failure(const struct test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!tests[i].good)
			return tests[i].otherwise;
	return NULL;
}

/* Every cycle of some kinds, or all but those with two rw in a row, with an rw after a ww, with an rw of a
 * predicate, or with two readers. */
static const char *wrong_first(const struct kr_pattern *p)
{
	uint32_t kinds = p->allowed & ~ORDERS;
	bool rw = kinds & RW;
	const struct test tests[] = {
		{p->allowed, "`allowed` is empty: no cycle is forbidden"},
		{(p->allowed & ORDERS) == ORDERS,
			"`allowed` lacks so or rt: the first pattern has both (they count as far as the "
			"order asked for has them)"},
		{kinds == WW || kinds == (WR | WW) || kinds == (WR | WW | RW),
			"`allowed` is, beside so and rt, not ww, wr and ww, or wr, ww and rw"},
		{!p->once, "`once` is for further patterns"},
		{!p->needed, "`needed` is not looked for"},
		{!p->longest, "`longest` is for further patterns, where it is 2"},
		{!p->sight, "`sight` is for further patterns"},
		{!p->same_key, "`same_key` is for further patterns"},
		{!p->cursor_only, "`cursor_only` is for further patterns"},
		{p->lonely == 0 || p->lonely == RW, "`lonely` is not rw"},
		{p->lead == 0 || p->lead == (WR | ORDERS), "`lead` is not wr, so and rt"},
		{!p->lonely || rw, "`lonely` does not combine with `allowed` without rw"},
		{!p->lead || rw, "`lead` does not combine with `allowed` without rw"},
		{!p->item_only || rw, "`item_only` does not combine with `allowed` without rw"},
		{!p->one_reader || rw, "`one_reader` does not combine with `allowed` without rw"},
		{!p->lonely || !p->lead, "`lonely` does not combine with `lead`"},
		{!p->lonely || !p->item_only, "`lonely` does not combine with `item_only`"},
		{!p->lonely || !p->one_reader, "`lonely` does not combine with `one_reader`"},
		{!p->lead || !p->item_only, "`lead` does not combine with `item_only`"},
		{!p->lead || !p->one_reader, "`lead` does not combine with `one_reader`"},
		{!p->item_only || !p->one_reader, "`item_only` does not combine with `one_reader`"},
	};

	return first_failure(tests, KR_COUNT(tests));
}

/* Cycles with one rw: of any length; of two edges; of two edges on one key. */
static const char *wrong_further(const struct kr_pattern *p)
{
	uint32_t kinds = p->allowed & ~ORDERS;
	bool orders = (p->allowed & ORDERS) == ORDERS, pair = p->longest == 2,
	     before = p->sight == KR_SIGHT_BEFORE;
	const struct test tests[] = {
		{p->once == RW && kinds & RW,
			"`once` is not rw, or `allowed` lacks it: a further pattern has exactly one rw"},
		{!p->lonely, "`lonely` is for the first pattern"},
		{!p->lead, "`lead` is for the first pattern"},
		{!p->needed, "`needed` is not looked for"},
		{!p->item_only, "`item_only` is for the first pattern"},
		{!p->one_reader, "`one_reader` is for the first pattern"},
		{p->longest == 0 || pair, "`longest` is neither 0 (any length) nor 2"},
		{orders || !(p->allowed & ORDERS), "`allowed` has one of so and rt, expected both or none"},
		{!(kinds & ~(WR | WW | RW)), "`allowed` has a kind that is none of wr, ww, rw, so and rt"},
		{!p->same_key || pair, "`same_key` does not combine with `longest` other than 2"},
		{!p->same_key || (kinds == (WW | RW) && !orders),
			"`same_key` does not combine with `allowed` other than ww and rw"},
		{!p->same_key || !p->sight, "`same_key` does not combine with `sight`"},
		{p->same_key || kinds & WR, "`allowed` lacks wr, which it may with `same_key` only"},
		{!before || pair, "`sight` KR_SIGHT_BEFORE does not combine with `longest` other than 2"},
		{!before || (kinds == (WR | RW) && !orders),
			"`sight` KR_SIGHT_BEFORE does not combine with `allowed` other than wr and rw"},
		{!pair || p->sight != KR_SIGHT_NOT_AFTER,
			"`sight` KR_SIGHT_NOT_AFTER does not combine with `longest` 2"},
		{p->same_key || before || orders,
			"`allowed` lacks so and rt, which it may with `same_key` or `sight` KR_SIGHT_BEFORE "
			"only"},
	};

	return first_failure(tests, KR_COUNT(tests));
}

static bool is_plain(const struct kr_pattern *p) { return p->allowed == (WR | WW | ORDERS); }

static const char *wrong_pattern(const struct kr_level *level, int i)
{
	const struct kr_pattern *p = &level->forbidden[i];

	if (p->allowed & ~(WR | WW | RW | ORDERS) || (unsigned)p->sight > KR_SIGHT_BEFORE)
		return "`allowed` or `sight` has a value that there is not";
	if (i == 0)
		return wrong_first(p);
	return is_plain(&level->forbidden[0])
		? wrong_further(p)
		: "there is a further pattern, so the first one must allow wr, ww, so and rt";
}

/* ---- which worlds ---- */

/* No world of snapshot isolation has such a cycle. */
static bool snapshots_avoid(const struct kr_pattern *p)
{
	return !(p->allowed & RW) || p->once == RW || p->lonely & RW || (p->lead && !(p->lead & RW));
}

/* No world of prefix consistency has: where an rw is, one comes after a ww. */
static bool prefixes_avoid(const struct kr_pattern *p)
{
	if (!(p->allowed & RW) || p->lead || p->sight)
		return true;
	return snapshots_avoid(p) && !(p->allowed & WW);
}

static bool all_avoid(const struct kr_level *level, bool (*avoid)(const struct kr_pattern *p))
{
	for (int i = 0; i < KR_PATTERNS_MOST && level->forbidden[i].allowed; i++)
		if (!avoid(&level->forbidden[i]))
			return false;
	return true;
}

/* ---- the rule ---- */

const char *kr_rule_state(const struct kr_level *level, struct kr_rule *out, int *pattern)
{
	const struct kr_pattern *first = &level->forbidden[0];
	int n = 0;

	do {
		const char *why = wrong_pattern(level, n);

		*pattern = n;
		if (why)
			return why;
	} while (++n < KR_PATTERNS_MOST && level->forbidden[n].allowed);
	*out = (struct kr_rule){
		.id = level->id,
		.anomalies = level->anomalies & KR_ANOMALIES_ALL,
		.snapshots = all_avoid(level, snapshots_avoid),
		.prefixes = all_avoid(level, prefixes_avoid),
		.graph = !first->lonely && !first->lead &&
			(!(first->allowed & RW) || first->item_only || first->one_reader),
	};
	while (n-- > 0)
		out->cycles[n] = translate(&level->forbidden[n]);
	return NULL;
}

const char *kr_verify_states(const struct kr_level *level, int *pattern)
{
	struct kr_rule rule;

	return kr_rule_state(level, &rule, pattern);
}
