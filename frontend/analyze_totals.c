/* What the versions of a counter can add up to: the sums of all subsets of what is added, as a set of bits,
 * on top of what is known of some version. A number that none gives is garbage. All of a key are made once,
 * and once more for each different amount that a reader adds itself and so did not see. Cost: for each of
 * these, amounts times the range of the sums by 64. */
#include "frontend/analyze_grow.h"

#include <string.h>

#define RANGE_MOST (INT64_C(1) << 24) /* of subset sums, in bits */
#define WORK_MOST (INT64_C(1) << 28)

enum { SUBSETS_MOST = 16 }; /* of one key */

struct kr_grow_subsets { /* sums of the subsets of all relative amounts of a key but one: bit (sum - low) */
	int64_t without; /* which one; 0: of all */
	uint64_t *bits;
	uint64_t words;    /* that there is room for */
	int64_t low, high; /* low > high: not even bounds are known */
	bool made, exact;  /* not exact: bounds only */
};

/* Adds d > 0 to all sums; from the top, so that in and out can be one. */
static void add_up(struct kr_grow_subsets *x, uint64_t d, uint64_t words)
{
	uint64_t step = d / 64, shift = d % 64;

	for (uint64_t i = words; i-- > step;) {
		uint64_t moved = x->bits[i - step] << shift;

		if (shift > 0 && i > step)
			moved |= x->bits[i - step - 1] >> (64 - shift);
		x->bits[i] |= moved;
	}
}

/* Whether the version's amount is counted. One version that has the amount is not. */
static bool is_counted(const struct kr_growing *g, uint32_t v, int64_t amount, bool *left_out)
{
	if (g->absolute[v] || g->amount[v] == 0)
		return false;
	if (*left_out || g->amount[v] != amount)
		return true;
	*left_out = true;
	return false;
}

/* What is too much is not exact. */
static enum kr_status make_subsets(struct kr_growing *g, kr_key k, int64_t without, struct kr_grow_subsets *x)
{
	const struct kr_asg_key *keys = g->versions->keys;
	uint32_t first = keys[k.i].first + 1, end = keys[k.i + 1].first, n = 0;
	bool fits = true, out = without == 0;

	*x = (struct kr_grow_subsets){.without = without, .bits = x->bits, .words = x->words, .made = true};
	for (uint32_t v = first; v < end; v++) {
		if (!is_counted(g, v, without, &out))
			continue;
		n++;
		fits = fits &&
			!__builtin_add_overflow(g->amount[v] < 0 ? x->low : x->high, g->amount[v],
				g->amount[v] < 0 ? &x->low : &x->high);
	}
	x->exact = fits && x->high < RANGE_MOST && x->low > -RANGE_MOST &&
		(x->high - x->low) / 64 * n <= WORK_MOST;
	if (!fits)
		x->low = 1, x->high = 0;
	if (!x->exact)
		return KR_OK;

	uint64_t words = KR_BITS_WORDS((uint64_t)(x->high - x->low) + 1);

	if (words > x->words) {
		x->bits = KR_NEW_ARRAY(g->w->scratch, uint64_t, words);
		x->words = words;
	}
	if (!x->bits)
		return KR_NOMEM;
	memset(x->bits, 0, words * sizeof *x->bits);
	kr_bits_set(x->bits, 0); /* all negative ones: each is taken, or not */
	out = without == 0;
	for (uint32_t v = first; v < end; v++) {
		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (is_counted(g, v, without, &out))
			add_up(x, (uint64_t)(g->amount[v] < 0 ? -g->amount[v] : g->amount[v]), words);
	}
	return KR_OK;
}

/* Those of a key without one amount, made once, unless there are too many. */
static enum kr_status find_subsets(struct kr_growing *g, kr_key k, int64_t without,
	struct kr_grow_subsets **out)
{
	struct kr_grow_subsets **of = &g->seen.subsets[k.i];
	uint32_t i = 0;

	if (!*of && !(*of = KR_NEW_ARRAY(g->w->scratch, struct kr_grow_subsets, SUBSETS_MOST)))
		return KR_NOMEM;
	while (i < SUBSETS_MOST - 1 && (*of)[i].made && (*of)[i].without != without)
		i++;
	*out = &(*of)[i];
	return (*out)->made && (*out)->without == without ? KR_OK : make_subsets(g, k, without, *out);
}

static bool reaches(const struct kr_grow_subsets *x, __int128 sum)
{
	if (x->low > x->high)
		return true;
	if (sum < x->low || sum > x->high)
		return false;
	return !x->exact || kr_bits_get(x->bits, (uint32_t)(sum - x->low));
}

enum kr_status kr_counters_reach(const struct kr_replay *r, kr_key k, int64_t total, bool *out)
{
	struct kr_growing *g = r->growing;
	const struct kr_asg_key *keys = r->writes->keys;
	uint32_t first = keys[k.i].first, own = kr_analyze_version(r->writes, k, r->txn);
	struct kr_grow_subsets *sums;

	KR_TRY(find_subsets(g, k, own != KR_NONE && !g->absolute[own] ? g->amount[own] : 0, &sums));
	*out = reaches(sums, (__int128)total - g->amount[first]);
	for (uint32_t v = first + 1; v < keys[k.i + 1].first && !*out; v++)
		*out = g->absolute[v] && v != own && reaches(sums, (__int128)total - g->amount[v]);
	return KR_OK;
}
