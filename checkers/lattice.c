/* Implications between levels: the closure of what the descriptors name, at one order, and of "the same with a weaker order". Levels of equal patterns (they differ in their default order) imply each other.
 * Sets of the few levels that there are, at most 64, order by order. */
#include "checkers/lattice.h"

static bool same_pattern(const struct kr_pattern *a, const struct kr_pattern *b)
{
	bool sets = a->allowed == b->allowed && a->lonely == b->lonely && a->lead == b->lead && a->once == b->once && a->needed == b->needed;
	bool demands = a->longest == b->longest && a->sight == b->sight && a->same_key == b->same_key;

	return sets && demands && a->item_only == b->item_only && a->cursor_only == b->cursor_only && a->one_reader == b->one_reader;
}

static bool same_meaning(const struct kr_level *a, const struct kr_level *b)
{
	if (a->model != b->model || a->anomalies != b->anomalies)
		return false;
	for (int i = 0; i < KR_PATTERNS_MOST; i++)
		if (!same_pattern(&a->forbidden[i], &b->forbidden[i]))
			return false;
	return true;
}

/* Directly, with the same order. */
static bool leads_to(const struct kr_level *a, const struct kr_level *b, enum kr_order order)
{
	return kr_level_implies(a, b) >= (int)order || same_meaning(a, b);
}

/* The levels, as a set of places, that those of `set` lead to with the order, and they. */
static uint64_t close_over(const struct kr_modules *more, uint64_t set, enum kr_order order)
{
	uint64_t before;

	do {
		before = set;
		for (size_t i = 0; i < 64 && kr_level_at(more, i); i++)
			for (size_t j = 0; set >> i & 1 && j < 64 && kr_level_at(more, j); j++)
				set |= (uint64_t)leads_to(kr_level_at(more, i), kr_level_at(more, j), order) << j;
	} while (set != before);
	return set;
}

bool kr_implies(const struct kr_modules *more, struct kr_question a, struct kr_question b)
{
	uint64_t reached = 0;
	const struct kr_level *level;

	for (size_t i = 0; i < 64 && (level = kr_level_at(more, i)) != NULL; i++)
		reached |= (uint64_t)(level == a.level) << i;
	for (int order = (int)a.order; order >= (int)b.order; order--)
		reached = close_over(more, reached, (enum kr_order)order);
	for (size_t i = 0; i < 64 && (level = kr_level_at(more, i)) != NULL; i++)
		if (level == b.level && reached >> i & 1)
			return a.order >= b.order;
	return false;
}
