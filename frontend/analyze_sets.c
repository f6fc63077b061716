/* Candidate sets: one per key and value seen (and one for "not that value"), shared by all observations that saw it.
 *
 * Observations are grouped by key (counting sort), those of a key by value (a sort in a buffer of its own, so that it stays in the cache); each group
 * is a set. Then every version looks up the sets of its value among its key's by bisection: once to count, once to fill. Versions come in their order,
 * so members ascend. Cost O(n log m), m the observations of one key: thousands of readers and writers of one value make one set of that many members. */
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
			merge(from + at, to + at, (uint32_t)(left < width ? left : width), (uint32_t)(left < 2 * width ? left : 2 * width));
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

static enum kr_status group_by_key(struct kr_work *w, struct grouping *g)
{
	const struct kr_asg *asg = w->asg;
	uint32_t most = 0;

	g->first = KR_NEW_ARRAY(&g->tmp, uint32_t, (size_t)asg->nkeys + 2);
	g->by_key = KR_NEW_ARRAY(&g->tmp, uint32_t, asg->nobs);
	if (!g->first || !g->by_key)
		return KR_NOMEM;
	for (uint32_t o = 0; o < asg->nobs; o++)
		g->first[asg->obs[o].key.i + 2]++;
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		most = g->first[k + 2] > most ? g->first[k + 2] : most;
		g->first[k + 2] += g->first[k + 1];
	}
	for (uint32_t o = 0; o < asg->nobs; o++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		g->by_key[g->first[asg->obs[o].key.i + 1]++] = o;
	}
	g->buffer = KR_NEW_ARRAY(&g->tmp, uint64_t, 2 * (size_t)most);
	return g->buffer ? KR_OK : KR_NOMEM;
}

/* Observations of key k: those that saw the same get one set. */
static enum kr_status make_sets(struct kr_work *w, struct grouping *g, uint32_t k)
{
	struct kr_observation *obs = w->asg->obs;
	const uint32_t *list = g->by_key + g->first[k];
	uint32_t n = g->first[k + 1] - g->first[k];

	for (uint32_t i = 0; i < n; i++)
		g->buffer[i] = (uint64_t)kr_analyze_set_id((kr_value){obs[list[i]].set}, obs[list[i]].predicate) << 32 | list[i];
	KR_TRY(sort(w->ctx, g->buffer, n));
	w->key_sets[k] = g->ids.n;
	for (uint32_t i = 0; i < n; i++) {
		struct kr_observation *o = &obs[(uint32_t)g->buffer[i]];
		uint32_t id = (uint32_t)(g->buffer[i] >> 32);

		KR_TRY(kr_ctx_tick(w->ctx));
		if (i == 0 || id != (uint32_t)(g->buffer[i - 1] >> 32)) {
			w->any_complement |= o->predicate;
			if (!kr_vec_push(w->asg->mem, &g->ids, id))
				return KR_NOMEM;
		}
		o->set = g->ids.n - 1;
		o->predicate = false;
	}
	return KR_OK;
}

static enum kr_status make_all_sets(struct kr_work *w, struct grouping *g)
{
	KR_TRY(group_by_key(w, g));
	for (uint32_t k = 0; k < w->asg->nkeys; k++)
		KR_TRY(make_sets(w, g, k));
	w->asg->nsets = g->ids.n;
	w->key_sets[w->asg->nkeys] = g->ids.n;
	w->set_id = KR_NEW_ARRAY(&w->scratch, uint32_t, g->ids.n);
	if (!w->set_id)
		return KR_NOMEM;
	if (g->ids.n)
		memcpy(w->set_id, g->ids.at, g->ids.n * sizeof *g->ids.at);
	return KR_OK;
}

uint32_t kr_analyze_find_set(const struct kr_work *w, kr_key k, kr_value value, bool complement)
{
	uint32_t low = w->key_sets[k.i];
	uint32_t high = w->key_sets[k.i + 1];
	uint32_t id = kr_analyze_set_id(value, complement);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (w->set_id[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->key_sets[k.i + 1] && w->set_id[low] == id ? low : KR_NONE;
}

/* ---- members ---- */

static void add_member(struct kr_work *w, uint32_t set, uint32_t v, bool fill)
{
	struct kr_asg_set *s = &w->asg->sets[set];

	if (fill)
		w->asg->members[s->first + s->count] = (kr_version){v};
	s->count++;
}

/* Counts each set's members, or puts them at its place. */
static enum kr_status each_member(struct kr_work *w, bool fill)
{
	for (uint32_t v = 0; v < w->asg->nversions; v++) {
		kr_key k = w->asg->versions[v].key;

		KR_TRY(kr_ctx_tick(w->ctx));
		if (w->key_sets[k.i] == w->key_sets[k.i + 1])
			continue;
		if (w->value[v].i == KR_NONE) {
			for (uint32_t s = w->key_sets[k.i]; s < w->key_sets[k.i + 1]; s++)
				add_member(w, s, v, fill);
			continue;
		}
		for (int complement = 0; complement <= w->any_complement; complement++) {
			uint32_t s = kr_analyze_find_set(w, k, w->value[v], complement);

			if (s != KR_NONE)
				add_member(w, s, v, fill);
		}
	}
	return KR_OK;
}

static enum kr_status make_members(struct kr_work *w)
{
	struct kr_asg *asg = w->asg;
	uint64_t n = 0;

	asg->sets = KR_NEW_ARRAY(&asg->arena, struct kr_asg_set, asg->nsets);
	if (!asg->sets)
		return KR_NOMEM;
	KR_TRY(each_member(w, false));
	for (uint32_t s = 0; s < asg->nsets; s++) {
		asg->sets[s].first = (uint32_t)n;
		asg->sets[s].complement = w->set_id[s] & 1;
		n += asg->sets[s].count;
		if (n >= KR_NONE)
			return kr_err_set(w->err, KR_UNSUPPORTED, "found more than %u candidates, expected fewer", KR_NONE);
		asg->sets[s].count = 0;
	}
	asg->nmembers = (uint32_t)n;
	asg->members = KR_NEW_ARRAY(&asg->arena, kr_version, asg->nmembers);
	return asg->members ? each_member(w, true) : KR_NOMEM;
}

enum kr_status kr_analyze_sets(struct kr_work *w)
{
	struct grouping g = {.first = NULL};

	w->key_sets = KR_NEW_ARRAY(&w->scratch, uint32_t, (size_t)w->asg->nkeys + 1);
	if (!w->key_sets)
		return KR_NOMEM;
	kr_arena_init(&g.tmp, w->asg->mem);

	enum kr_status status = make_all_sets(w, &g);

	kr_vec_done(w->asg->mem, &g.ids);
	kr_arena_done(&g.tmp);
	return status ? status : make_members(w);
}
