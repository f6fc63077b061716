/* Candidate sets: one per key and test (the same thing seen of a version), shared by all observations that
 * made it.
 *
 * Observations are grouped by key (counting sort), those of a key by test (a sort in a buffer of its own, so
 * that it stays in the cache); each group is a set. Then every version looks up the sets of its value among
 * its key's by bisection: once to count, once to fill; it is tried on those of conditions one by one.
 * Versions come in their order, so members ascend. What conditions take or leave is listed, whichever is
 * less. Cost O(n log m), m the observations of one key: thousands of readers and writers of one value make
 * one set of that many members; and versions times conditions observed. */
#include "frontend/analyze_work.h"

#include <string.h>

#define INSERTION_MOST 24

static void insertion_sort(uint64_t *a, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint64_t x = a[i];
		uint32_t j = i;

		for (; j > 0 && a[j - 1] > x; j--)
			a[j] = a[j - 1];
		a[j] = x;
	}
}

static void merge(const uint64_t *from, uint64_t *to, uint32_t middle, uint32_t n)
{
	uint32_t i = 0, j = middle;

	for (uint32_t o = 0; o < n; o++)
		to[o] = i < middle && (j >= n || from[i] <= from[j]) ? from[i++] : from[j++];
}

/* Sorts a[0, n), with room for n more behind it. */
static enum kr_status sort(struct kr_ctx *ctx, uint64_t *a, uint32_t n)
{
	uint64_t *from = a, *to = a + n;

	for (uint32_t at = 0; at < n; at += INSERTION_MOST)
		insertion_sort(a + at, n - at < INSERTION_MOST ? n - at : INSERTION_MOST);
	for (uint64_t width = INSERTION_MOST; width < n; width *= 2) {
		for (uint64_t at = 0; at < n; at += 2 * width) {
			uint64_t left = n - at;

			KR_TRY(kr_ctx_tick(ctx));
			merge(from + at, to + at, (uint32_t)(left < width ? left : width),
				(uint32_t)(left < 2 * width ? left : 2 * width));
		}
		uint64_t *swapped = from;
		from = to;
		to = swapped;
	}
	if (from != a)
		memcpy(a, from, n * sizeof *a);
	return KR_OK;
}

/* ---- observations to sets ---- */

struct grouping {
	struct kr_arena tmp;
	uint32_t *first; /* nkeys + 1: observations of k are by_key[first[k] .. first[k + 1]) */
	uint32_t *by_key;
	uint64_t *buffer;
	KR_VEC(uint32_t) ids;
};

static enum kr_status group_by_key(struct kr_sets *sets, struct grouping *g)
{
	uint32_t most = 0;

	KR_TRY(kr_arena_new(&g->tmp, g->first, (size_t)sets->writes->nkeys + 2));
	KR_TRY(kr_arena_new(&g->tmp, g->by_key, sets->nobs));
	for (uint32_t o = 0; o < sets->nobs; o++)
		g->first[sets->obs[o].key.i + 2]++;
	for (uint32_t k = 0; k < sets->writes->nkeys; k++) {
		most = g->first[k + 2] > most ? g->first[k + 2] : most;
		g->first[k + 2] += g->first[k + 1];
	}
	for (uint32_t o = 0; o < sets->nobs; o++) {
		KR_TRY(kr_ctx_tick(sets->w->ctx));
		g->by_key[g->first[sets->obs[o].key.i + 1]++] = o;
	}
	return kr_arena_new(&g->tmp, g->buffer, 2 * (size_t)most);
}

/* Observations of key k: those that saw the same get one set. */
static enum kr_status make_sets(struct kr_sets *sets, struct grouping *g, uint32_t k)
{
	struct kr_observation *obs = sets->obs;
	const uint32_t *list = g->by_key + g->first[k];
	uint32_t n = g->first[k + 1] - g->first[k];

	for (uint32_t i = 0; i < n; i++)
		g->buffer[i] = (uint64_t)obs[list[i]].set << 32 | list[i];
	KR_TRY(sort(sets->w->ctx, g->buffer, n));
	sets->key_sets[k] = g->ids.n;
	for (uint32_t i = 0; i < n; i++) {
		struct kr_observation *o = &obs[(uint32_t)g->buffer[i]];
		uint32_t id = (uint32_t)(g->buffer[i] >> 32);

		KR_TRY(kr_ctx_tick(sets->w->ctx));
		if (i == 0 || id != (uint32_t)(g->buffer[i - 1] >> 32)) {
			sets->any_complement |= kr_test_kind(id) == KR_TEST_NOT;
			sets->any_source |= kr_test_kind(id) == KR_TEST_SOURCE;
			sets->any_where |= kr_test_kind(id) >= KR_TEST_OR_ABSENT;
			KR_TRY(kr_vec_add(sets->w->mem, &g->ids, id));
		}
		o->set = g->ids.n - 1;
	}
	return KR_OK;
}

static enum kr_status make_all_sets(struct kr_sets *sets, struct grouping *g)
{
	KR_TRY(group_by_key(sets, g));
	for (uint32_t k = 0; k < sets->writes->nkeys; k++)
		KR_TRY(make_sets(sets, g, k));
	sets->nsets = g->ids.n;
	sets->key_sets[sets->writes->nkeys] = g->ids.n;
	sets->test = kr_arena_take(sets->w->scratch, &g->ids);
	return sets->test ? KR_OK : KR_NOMEM;
}

/* The first set of k whose test is not less. */
static uint32_t bisect(const struct kr_sets *sets, kr_key k, uint32_t test)
{
	uint32_t low = sets->key_sets[k.i];
	uint32_t high = sets->key_sets[k.i + 1];

	KR_BISECT(low, low, high, sets->test[low] < test);
	return low;
}

uint32_t kr_analyze_find_set(const struct kr_sets *sets, kr_key k, uint32_t test)
{
	uint32_t set = bisect(sets, k, test);

	return set < sets->key_sets[k.i + 1] && sets->test[set] == test ? set : KR_NONE;
}

uint32_t kr_analyze_other_sets(const struct kr_sets *sets, kr_key k)
{
	return sets->any_where ? bisect(sets, k, kr_test(KR_TEST_OR_ABSENT, 0)) : sets->key_sets[k.i + 1];
}

/* ---- tests ---- */

bool kr_analyze_holds(const struct kr_sets *sets, uint32_t set, uint32_t version)
{
	const struct kr_asg_version *v = &sets->writes->versions[version];

	if (kr_test_kind(sets->test[set]) == KR_TEST_SOURCE)
		return sets->test[set] == kr_test_source(v->writer);
	if (sets->writes->token[version].i == KR_NONE)
		return kr_analyze_may_start(sets, set, v->key);
	return kr_analyze_fits(sets->w, sets->looks, sets->test[set], v->key, sets->writes->token[version]);
}

/* ---- members ---- */

static void add_member(struct kr_sets *sets, uint32_t set, uint32_t v, bool fill)
{
	struct kr_asg_set *s = &sets->sets[set];

	if (fill)
		sets->members[s->first + s->count] = (kr_version){v};
	s->count++;
}

/* Adds v to the sets that list it. Until they are filled, those of conditions list what they hold. */
static enum kr_status add_version(struct kr_sets *sets, uint32_t v, bool fill)
{
	kr_key k = sets->writes->versions[v].key;
	kr_txn writer = sets->writes->versions[v].writer;
	uint32_t end = sets->key_sets[k.i + 1];
	uint32_t listed[3] = {kr_analyze_find_set(sets, k, kr_test_is(sets->writes->token[v])), KR_NONE,
		KR_NONE};

	if (sets->any_complement)
		listed[1] = kr_analyze_find_set(sets, k, kr_test_not(sets->writes->token[v]));
	if (sets->any_source)
		listed[2] = kr_analyze_find_set(sets, k, kr_test_source(writer));
	for (int i = 0; i < 3; i++)
		if (listed[i] != KR_NONE)
			add_member(sets, listed[i], v, fill);
	for (uint32_t s = kr_analyze_other_sets(sets, k); s < end; s++) {
		KR_TRY(kr_ctx_tick(sets->w->ctx));
		if (kr_analyze_holds(sets, s, v) != sets->sets[s].complement)
			add_member(sets, s, v, fill);
	}
	return KR_OK;
}

/* Counts each set's members, or puts them at its place. */
static enum kr_status each_member(struct kr_sets *sets, bool fill)
{
	for (uint32_t v = 0; v < sets->writes->nversions; v++) {
		kr_key k = sets->writes->versions[v].key;

		KR_TRY(kr_ctx_tick(sets->w->ctx));
		if (sets->key_sets[k.i] == sets->key_sets[k.i + 1])
			continue;
		if (sets->writes->token[v].i != KR_NONE) {
			KR_TRY(add_version(sets, v, fill));
			continue;
		}
		for (uint32_t s = sets->key_sets[k.i]; s < sets->key_sets[k.i + 1]; s++)
			if (kr_test_kind(sets->test[s]) == KR_TEST_SOURCE ? kr_analyze_holds(sets, s, v)
									  : kr_analyze_may_start(sets, s, k))
				add_member(sets, s, v, fill);
	}
	return KR_OK;
}

/* What conditions take may be nearly all: then what they leave is listed. An untold initial value is listed
 * either way. */
static void choose_complements(struct kr_sets *sets, uint32_t k)
{
	uint32_t versions = sets->writes->keys[k + 1].first - sets->writes->keys[k].first;

	for (uint32_t s = sets->key_sets[k]; s < sets->key_sets[k + 1]; s++) {
		enum kr_test_kind kind = kr_test_kind(sets->test[s]);

		if (kind == KR_TEST_NOT) {
			sets->sets[s].complement = true;
		} else if (kind > KR_TEST_OR_ABSENT &&
			4 * (uint64_t)sets->sets[s].count > 3 * (uint64_t)versions) {
			uint32_t left = versions - sets->sets[s].count + sets->writes->keys[k].open_initial;
			sets->sets[s].complement = true;
			sets->sets[s].count = left & KR_ASG_MEMBERS_MOST;
			sets->any_complement = true;
		}
	}
}

static enum kr_status make_members(struct kr_sets *sets)
{
	uint64_t n = 0;

	KR_TRY(kr_arena_new(sets->w->arena, sets->sets, sets->nsets));
	KR_TRY(each_member(sets, false));
	for (uint32_t k = 0; k < sets->writes->nkeys; k++)
		choose_complements(sets, k);
	for (uint32_t s = 0; s < sets->nsets; s++) {
		sets->sets[s].first = (uint32_t)n;
		n += sets->sets[s].count;
		if (n >= KR_ASG_MEMBERS_MOST)
			return kr_err_set(sets->w->err, KR_UNSUPPORTED,
				"found more than %u candidates, expected fewer", KR_ASG_MEMBERS_MOST);
		sets->sets[s].count = 0;
	}
	sets->nmembers = (uint32_t)n;
	sets->members = KR_NEW_ARRAY(sets->w->arena, kr_version, sets->nmembers);
	return sets->members ? each_member(sets, true) : KR_NOMEM;
}

enum kr_status kr_analyze_sets(const struct kr_work *w, const struct kr_writes *writes,
	const struct kr_looks *looks, const struct kr_growing *growing, struct kr_observed *observed,
	struct kr_sets *out)
{
	*out = (struct kr_sets){.w = w,
		.writes = writes,
		.looks = looks,
		.growing = growing,
		.nobs = observed->nobs,
		.obs = observed->obs,
		.obs_first = observed->obs_first};
	observed->obs = NULL;
	struct grouping g = {.first = NULL};

	KR_TRY(kr_arena_new(w->scratch, out->key_sets, (size_t)writes->nkeys + 1));
	kr_arena_init(&g.tmp, w->mem);

	enum kr_status status = make_all_sets(out, &g);

	kr_vec_done(w->mem, &g.ids);
	kr_arena_done(&g.tmp);
	return status ? status : make_members(out);
}
