/* Candidate sets: one per key and test (the same thing seen of a version), shared by all observations that
 * made it.
 *
 * Observations are grouped by key (counting sort), those of a key by test (a sort in a buffer of its own, so
 * that it stays in the cache); each group is a set. Then every version looks up the sets of its value among
 * its key's by bisection: once to count, once to fill; it is tried on those of conditions one by one.
 * Versions come in their order, so members ascend. What conditions take or leave is listed, whichever is
 * less. Cost O(n log m), m the observations of one key: thousands of readers and writers of one value make
 * one set of that many members; and versions times conditions observed. */
#include "frontend/analyze_grow.h"
#include "frontend/history_written.h"

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
		g->buffer[i] = (uint64_t)obs[list[i]].set << 32 | list[i];
	KR_TRY(sort(w->ctx, g->buffer, n));
	w->key_sets[k] = g->ids.n;
	for (uint32_t i = 0; i < n; i++) {
		struct kr_observation *o = &obs[(uint32_t)g->buffer[i]];
		uint32_t id = (uint32_t)(g->buffer[i] >> 32);

		KR_TRY(kr_ctx_tick(w->ctx));
		if (i == 0 || id != (uint32_t)(g->buffer[i - 1] >> 32)) {
			w->any_complement |= kr_test_kind(id) == KR_TEST_NOT;
			w->any_source |= kr_test_kind(id) == KR_TEST_SOURCE;
			w->any_where |= kr_test_kind(id) >= KR_TEST_OR_ABSENT;
			if (!kr_vec_push(w->asg->mem, &g->ids, id))
				return KR_NOMEM;
		}
		o->set = g->ids.n - 1;
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
	w->test = KR_NEW_ARRAY(&w->scratch, uint32_t, g->ids.n);
	if (!w->test)
		return KR_NOMEM;
	if (g->ids.n)
		memcpy(w->test, g->ids.at, g->ids.n * sizeof *g->ids.at);
	return KR_OK;
}

/* The first set of k whose test is not less. */
static uint32_t bisect(const struct kr_work *w, kr_key k, uint32_t test)
{
	uint32_t low = w->key_sets[k.i];
	uint32_t high = w->key_sets[k.i + 1];

	KR_BISECT(low, low, high, w->test[low] < test);
	return low;
}

uint32_t kr_analyze_find_set(const struct kr_work *w, kr_key k, uint32_t test)
{
	uint32_t set = bisect(w, k, test);

	return set < w->key_sets[k.i + 1] && w->test[set] == test ? set : KR_NONE;
}

uint32_t kr_analyze_other_sets(const struct kr_work *w, kr_key k)
{
	return w->any_where ? bisect(w, k, kr_test(KR_TEST_OR_ABSENT, 0)) : w->key_sets[k.i + 1];
}

/* ---- tests ---- */

static bool matches(const struct kr_work *w, uint32_t where, kr_key k, kr_token token)
{
	const struct kr_scan *scan = &w->h->scans.at[w->wheres.at[where].scan];
	struct kr_operand operand = {.type = KR_VALUE_INT};

	if (token.i == KR_TOKEN_ABSENT.i)
		return false;
	if (token.i < w->h->values.n)
		operand = kr_operand_of_value(w->h, (kr_value){token.i});
	else if (token.i - w->h->values.n >= w->numbers.n)
		/* a value that nobody mentions (analyze_untold.c): nobody observes these sets then */
		return false;
	else
		operand.integer = w->numbers.at[token.i - w->h->values.n];
	return kr_where_holds_of(w->h, scan, k, &operand);
}

bool kr_analyze_fits(const struct kr_work *w, uint32_t test, kr_key k, kr_token token)
{
	uint32_t argument = kr_test_argument(test);

	switch (kr_test_kind(test)) {
	case KR_TEST_IS: return token.i == argument;
	case KR_TEST_NOT: return token.i != argument;
	case KR_TEST_OR_ABSENT: return token.i == argument || token.i == KR_TOKEN_ABSENT.i;
	case KR_TEST_MATCH: return matches(w, argument, k, token);
	case KR_TEST_MISS: return !matches(w, argument, k, token);
	case KR_TEST_SOURCE: break;
	}
	return false;
}

bool kr_analyze_may_start(const struct kr_work *w, uint32_t set, kr_key k)
{
	kr_value value = {kr_test_argument(w->test[set])}; /* of a register, or it is not asked for */

	if (kr_test_kind(w->test[set]) != KR_TEST_IS || k.i >= w->h->keys.n || value.i == KR_ABSENT.i)
		return true;
	/* by its last element */
	if (w->h->initial == KR_INITIAL_UNWRITTEN && w->h->keys.at[k.i].kind == KR_KIND_LIST)
		return kr_grow_find(w->grow, k, value.i) == NULL;
	return kr_history_may_start(w->h, k, value);
}

bool kr_analyze_holds(const struct kr_work *w, uint32_t set, uint32_t version)
{
	const struct kr_asg_version *v = &w->asg->versions[version];

	if (kr_test_kind(w->test[set]) == KR_TEST_SOURCE)
		return w->test[set] == kr_test_source(v->writer);
	if (w->token[version].i == KR_NONE)
		return kr_analyze_may_start(w, set, v->key);
	return kr_analyze_fits(w, w->test[set], v->key, w->token[version]);
}

/* ---- numbers ---- */

bool kr_analyze_integer(const struct kr_work *w, kr_token token, int64_t *out)
{
	bool told = token.i < w->h->values.n;

	*out = told ? kr_analyze_told(w, (kr_value){token.i}) : w->numbers.at[token.i - w->h->values.n];
	return !told || w->h->values.at[token.i].type == KR_VALUE_INT;
}

static enum kr_status index_numbers(struct kr_work *w)
{
	for (uint32_t i = 0; i < w->h->values.n; i++) {
		const struct kr_value_entry *entry = &w->h->values.at[i];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (entry->type != KR_VALUE_INT)
			continue;
		if (!kr_table_reserve(w->asg->mem, &w->number_table))
			return KR_NOMEM;
		kr_table_insert(&w->number_table, kr_hash_u64((uint64_t)entry->integer), i);
	}
	w->numbers_ready = true;
	return KR_OK;
}

enum kr_status kr_analyze_number(struct kr_work *w, int64_t number, kr_token *out)
{
	struct kr_mem *mem = w->asg->mem;
	uint64_t hash = kr_hash_u64((uint64_t)number);
	uint32_t id;

	if (!w->numbers_ready)
		KR_TRY(index_numbers(w));
	for (kr_table_iter it = kr_table_find(&w->number_table, hash);
		(id = kr_table_next(&w->number_table, &it)) != KR_NONE;) {
		int64_t found;

		if (kr_analyze_integer(w, (kr_token){id}, &found) && found == number) {
			*out = (kr_token){id};
			return KR_OK;
		}
	}
	id = w->h->values.n + w->numbers.n;
	if (id >= KR_TEST_ARGUMENTS)
		return kr_err_set(w->err, KR_UNSUPPORTED,
			"found more than %u different values, expected fewer", KR_TEST_ARGUMENTS);
	if (!kr_table_reserve(mem, &w->number_table) || !kr_vec_push(mem, &w->numbers, number))
		return KR_NOMEM;
	kr_table_insert(&w->number_table, hash, id);
	*out = (kr_token){id};
	return KR_OK;
}

/* ---- members ---- */

static void add_member(struct kr_work *w, uint32_t set, uint32_t v, bool fill)
{
	struct kr_asg_set *s = &w->asg->sets[set];

	if (fill)
		w->asg->members[s->first + s->count] = (kr_version){v};
	s->count++;
}

/* Adds v to the sets that list it. Until they are filled, those of conditions list what they hold. */
static enum kr_status add_version(struct kr_work *w, uint32_t v, bool fill)
{
	kr_key k = w->asg->versions[v].key;
	kr_txn writer = w->asg->versions[v].writer;
	uint32_t end = w->key_sets[k.i + 1];
	uint32_t listed[3] = {kr_analyze_find_set(w, k, kr_test_is(w->token[v])), KR_NONE, KR_NONE};

	if (w->any_complement)
		listed[1] = kr_analyze_find_set(w, k, kr_test_not(w->token[v]));
	if (w->any_source)
		listed[2] = kr_analyze_find_set(w, k, kr_test_source(writer));
	for (int i = 0; i < 3; i++)
		if (listed[i] != KR_NONE)
			add_member(w, listed[i], v, fill);
	for (uint32_t s = kr_analyze_other_sets(w, k); s < end; s++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (kr_analyze_holds(w, s, v) != w->asg->sets[s].complement)
			add_member(w, s, v, fill);
	}
	return KR_OK;
}

/* Counts each set's members, or puts them at its place. */
static enum kr_status each_member(struct kr_work *w, bool fill)
{
	for (uint32_t v = 0; v < w->asg->nversions; v++) {
		kr_key k = w->asg->versions[v].key;

		KR_TRY(kr_ctx_tick(w->ctx));
		if (w->key_sets[k.i] == w->key_sets[k.i + 1])
			continue;
		if (w->token[v].i != KR_NONE) {
			KR_TRY(add_version(w, v, fill));
			continue;
		}
		for (uint32_t s = w->key_sets[k.i]; s < w->key_sets[k.i + 1]; s++)
			if (kr_test_kind(w->test[s]) == KR_TEST_SOURCE ? kr_analyze_holds(w, s, v)
								       : kr_analyze_may_start(w, s, k))
				add_member(w, s, v, fill);
	}
	return KR_OK;
}

/* What conditions take may be nearly all: then what they leave is listed. An untold initial value is listed
 * either way. */
static void choose_complements(struct kr_work *w, uint32_t k)
{
	struct kr_asg *asg = w->asg;
	uint32_t versions = asg->keys[k + 1].first - asg->keys[k].first;

	for (uint32_t s = w->key_sets[k]; s < w->key_sets[k + 1]; s++) {
		enum kr_test_kind kind = kr_test_kind(w->test[s]);

		if (kind == KR_TEST_NOT) {
			asg->sets[s].complement = true;
		} else if (kind > KR_TEST_OR_ABSENT &&
			4 * (uint64_t)asg->sets[s].count > 3 * (uint64_t)versions) {
			asg->sets[s].complement = true;
			asg->sets[s].count = versions - asg->sets[s].count + asg->keys[k].open_initial;
			w->any_complement = true;
		}
	}
}

static enum kr_status make_members(struct kr_work *w)
{
	struct kr_asg *asg = w->asg;
	uint64_t n = 0;

	asg->sets = KR_NEW_ARRAY(&asg->arena, struct kr_asg_set, asg->nsets);
	if (!asg->sets)
		return KR_NOMEM;
	KR_TRY(each_member(w, false));
	for (uint32_t k = 0; k < asg->nkeys; k++)
		choose_complements(w, k);
	for (uint32_t s = 0; s < asg->nsets; s++) {
		asg->sets[s].first = (uint32_t)n;
		n += asg->sets[s].count;
		if (n >= KR_NONE)
			return kr_err_set(w->err, KR_UNSUPPORTED,
				"found more than %u candidates, expected fewer", KR_NONE);
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
