/* Implications between levels: the closure of what the descriptors name, at one order, and of "the same with
 * a weaker order". Levels of equal patterns (they differ in their default order) imply each other. Sets of
 * the few levels that there are, at most 64, order by order. */
#include "checkers/lattice.h"

#include <string.h>

static bool same_meaning(const struct kr_level *a, const struct kr_level *b)
{
	if (a->model != b->model || a->anomalies != b->anomalies)
		return false;
	for (int i = 0; i < KR_PATTERNS_MOST; i++)
		if (!kr_pattern_equal(&a->forbidden[i], &b->forbidden[i]))
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
				set |= (uint64_t)leads_to(kr_level_at(more, i), kr_level_at(more, j), order)
					<< j;
	} while (set != before);
	return set;
}

/* The steps from a to b, a first, b last: breadth first, so as few as can be. */
static uint32_t chain(const struct kr_modules *more, const struct kr_level *a, const struct kr_level *b,
	enum kr_order order, const struct kr_level *out[64])
{
	uint8_t from[64], queue[64];
	uint32_t head = 0, tail = 0, place = 0;
	uint64_t met = 0;

	for (uint8_t i = 0; i < 64 && kr_level_at(more, i); i++)
		if (kr_level_at(more, i) == a)
			queue[tail++] = from[i] = i;
	for (met = tail ? UINT64_C(1) << queue[0] : 0; head < tail && kr_level_at(more, queue[head]) != b;
		head++)
		for (uint8_t j = 0; j < 64 && kr_level_at(more, j); j++) {
			if (met >> j & 1 ||
				!leads_to(kr_level_at(more, queue[head]), kr_level_at(more, j), order))
				continue;
			met |= UINT64_C(1) << j;
			from[j] = queue[head];
			queue[tail++] = j;
		}
	if (head == tail)
		return 0;
	for (uint8_t at = queue[head], last = 64; at != last; last = at, at = from[at])
		out[place++] = kr_level_at(more, at);
	for (uint32_t i = 0; i < place / 2; i++) {
		const struct kr_level *swap = out[i];
		out[i] = out[place - 1 - i];
		out[place - 1 - i] = swap;
	}
	return place;
}

static bool names(const char *const *ids, const struct kr_level *level)
{
	for (; ids && *ids; ids++)
		if (strcmp(*ids, level->id) == 0)
			return true;
	return false;
}

static bool is_own(const struct kr_checker *checker)
{
	for (size_t i = 0; i < kr_checker_registry_count; i++)
		if (kr_checker_registry[i] == checker)
			return true;
	return false;
}

bool kr_implication_find(const struct kr_modules *more, struct kr_question a, struct kr_question b,
	struct kr_implication *out)
{
	const struct kr_level *steps[64];
	uint32_t n = chain(more, a.level, b.level, b.order, steps);
	bool found = false;

	for (uint32_t i = 0; i + 1 < n; i++) {
		bool by_weak = names(steps[i + 1]->implied_by, steps[i]);
		const struct kr_checker *checker = kr_checker_for(more, by_weak ? steps[i + 1] : steps[i]);

		if ((!by_weak && kr_level_implies(steps[i], steps[i + 1]) < 0) || (found && is_own(checker)))
			/* they have equal patterns; krait's own are to be trusted before a plug-in's */
			continue;
		*out = (struct kr_implication){checker, by_weak ? "implied_by" : "implies", steps[i],
			steps[i + 1], is_own(checker)};
		found = true;
		if (!out->own)
			break;
	}
	return found;
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
