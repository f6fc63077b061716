/* Implications between levels: the closure of what the descriptors name, at one order, and of "the same with
 * a weaker order". Levels of equal patterns (they differ in their default order) imply each other. Sets of
 * the few levels that there are, at most 64, order by order. */
#include "checkers/lattice.h"

enum { LEVELS_MOST = 64 };

struct levels {
	const struct kr_level *at[LEVELS_MOST];
	uint32_t n;
};

static void list_levels(const struct kr_modules *more, struct levels *out)
{
	const struct kr_level *level;

	for (out->n = 0; out->n < LEVELS_MOST && (level = kr_level_at(more, out->n)) != NULL; out->n++)
		out->at[out->n] = level;
}

/* LEVELS_MOST: not among them. */
static uint32_t place_of(const struct levels *levels, const struct kr_level *level)
{
	for (uint32_t i = 0; i < levels->n; i++)
		if (levels->at[i] == level)
			return i;
	return LEVELS_MOST;
}

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
static uint64_t close_over(const struct levels *levels, uint64_t set, enum kr_order order)
{
	for (uint64_t left = set; left != 0;) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		uint64_t met = 0;

		for (uint32_t j = 0; j < levels->n; j++)
			if (!(set >> j & 1))
				met |= (uint64_t)leads_to(levels->at[i], levels->at[j], order) << j;
		set |= met;
		left = (left & (left - 1)) | met;
	}
	return set;
}

/* The steps from a to b, a first, b last: breadth first, so as few as can be. */
static uint32_t chain(const struct levels *levels, const struct kr_level *a, const struct kr_level *b,
	enum kr_order order, const struct kr_level *out[LEVELS_MOST])
{
	uint32_t from[LEVELS_MOST], queue[LEVELS_MOST];
	uint32_t first = place_of(levels, a), head = 0, tail = 0, place = 0;
	uint64_t met = 0;

	if (first == LEVELS_MOST)
		return 0;
	met = UINT64_C(1) << first;
	queue[tail++] = from[first] = first;
	for (; head < tail && levels->at[queue[head]] != b; head++)
		for (uint32_t j = 0; j < levels->n; j++) {
			if (met >> j & 1 || !leads_to(levels->at[queue[head]], levels->at[j], order))
				continue;
			met |= UINT64_C(1) << j;
			from[j] = queue[head];
			queue[tail++] = j;
		}
	if (head == tail)
		return 0;
	for (uint32_t at = queue[head], last = LEVELS_MOST; at != last; last = at, at = from[at])
		out[place++] = levels->at[at];
	for (uint32_t i = 0; i < place / 2; i++) {
		const struct kr_level *swap = out[i];
		out[i] = out[place - 1 - i];
		out[place - 1 - i] = swap;
	}
	return place;
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
	const struct kr_level *steps[LEVELS_MOST];
	struct levels levels;
	bool found = false;

	list_levels(more, &levels);
	uint32_t n = chain(&levels, a.level, b.level, b.order, steps);

	for (uint32_t i = 0; i + 1 < n; i++) {
		bool by_weak = kr_level_is_among(steps[i], steps[i + 1]->implied_by);
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
	struct levels levels;

	list_levels(more, &levels);
	uint32_t from = place_of(&levels, a.level), to = place_of(&levels, b.level);

	if (from == LEVELS_MOST || to == LEVELS_MOST || a.order < b.order)
		return false;
	uint64_t reached = UINT64_C(1) << from;

	for (int order = (int)a.order; order >= (int)b.order; order--)
		reached = close_over(&levels, reached, (enum kr_order)order);
	return reached >> to & 1;
}
