/* Implications between levels: the closure of what the descriptors name, at one order, and of "the same with a weaker order". Levels of equal patterns (they differ in their default order) imply each other.
 * A search over the few levels that there are. */
#include "checkers/lattice.h"

#include <string.h>

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

static bool names(const struct kr_level *level, const struct kr_level *other)
{
	for (const char *const *id = level->implies; id && *id; id++)
		if (strcmp(*id, other->id) == 0)
			return true;
	return same_meaning(level, other);
}

static bool level_implies(const struct kr_level *a, const struct kr_level *b)
{
	uint64_t reached = 0, before;
	const struct kr_level *level;

	for (size_t i = 0; (level = kr_level_at(i)) != NULL && i < 64; i++)
		reached |= (uint64_t)(level == a) << i;
	do {
		before = reached;
		for (size_t i = 0; (level = kr_level_at(i)) != NULL && i < 64; i++) {
			if (!(reached >> i & 1))
				continue;
			if (level == b)
				return true;
			for (size_t j = 0; j < 64 && kr_level_at(j); j++)
				reached |= (uint64_t)names(level, kr_level_at(j)) << j;
		}
	} while (reached != before);
	return false;
}

bool kr_implies(struct kr_question a, struct kr_question b) { return a.order >= b.order && level_implies(a.level, b.level); }
