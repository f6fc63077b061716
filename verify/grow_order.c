/* The order of writers that lists and sets show, as ranks.
 *
 * A list: by the place of the first element that each of them alone appended. Of a key, the longest list that
 * a committed transaction read says all that the others do. Who has an element that is not there comes
 * behind. Where the list is deleted, each list tells of those that it shows alone. A set that nobody deletes:
 * by the smallest set that a committed transaction read and that shows an element of theirs. If that set
 * shows none of another writer, it is a version at or behind the one's and before the other's. An element
 * that was appended or added more than once tells nothing of its writers, nor does any of a list of untold
 * initial value. Cost: linear in the lists and sets of the key for all of its versions, but for sorting; for
 * one list, its length times what a writer appended. */
#include "verify/facts.h"

#include "base/order.h"

struct members {
	uint32_t first, count;
}; /* an array, into kr_grow.members */

/* Where an element that only version i appends stands among the members; KR_NONE where one is missing:
 * versions are shown whole or not at all. `places` (NULL: they are looked for) has, per element, 1 + the
 * first place that shows it. */
static enum kr_status place_of(const struct kr_facts *f, kr_key k, uint32_t i, const struct members *m,
	const uint32_t *places, uint32_t *rank)
{
	const struct kr_history *h = f->h;
	const struct kr_fact_version *version = &f->versions[i];
	const struct kr_grow_add *add;
	uint32_t element, adds, place;
	bool initial;

	*rank = KR_GROW_VAGUE;
	for (uint32_t at = kr_grow_left_from(f, k, version->txn, &initial); at <= version->last_op; at++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, version->txn, at).i];

		if (op->kind != KR_OP_APPEND || op->key.i != k.i)
			continue;
		KR_TRY(kr_grow_element(f->grow, op->a, &element));
		KR_TRY(kr_grow_appender(f, k, element, &add, &adds, &initial));
		place = places ? places[element] - 1 : 0;
		while (!places && place < m->count && f->grow->members.at[m->first + place] != element)
			place++;
		if (place >= m->count) {
			*rank = KR_NONE;
			return KR_OK;
		}
		if (adds + initial < 2 && place < *rank)
			*rank = place;
	}
	return KR_OK;
}

static enum kr_status members_of(const struct kr_facts *f, const struct kr_grow_sight *s, struct members *out)
{
	return kr_grow_shown(f, s->key, s->txn, s->op, s->own_count, &out->first, &out->count);
}

enum kr_status kr_grow_rank_in(const struct kr_facts *f, const struct kr_grow_sight *s, uint32_t i,
	uint32_t *rank)
{
	struct members m;
	enum kr_status status = members_of(f, s, &m);

	*rank = KR_GROW_VAGUE;
	if (status != KR_OK || m.count == KR_NONE || f->untold)
		return status;
	status = place_of(f, s->key, i, &m, NULL, rank);
	if (*rank == KR_NONE &&
		(f->grow->deleted[s->key.i] || (f->versions[i].txn.i == s->txn.i && !f->own_after)))
		*rank = KR_GROW_VAGUE;
	return status;
}

static enum kr_status find_longest(const struct kr_facts *f, kr_key k)
{
	struct kr_grow *g = f->grow;
	uint32_t first, count, most = 0, longest = 1;

	for (uint32_t i = g->sight_first[k.i]; i < g->sight_first[k.i + 1]; i++) {
		const struct kr_grow_sight *s = &g->sights[i];
		if (f->h->txns.at[s->txn.i].status != KR_COMMITTED)
			continue;
		KR_TRY(kr_grow_shown(f, k, s->txn, s->op, s->own_count, &first, &count));
		if (count != KR_NONE && count >= most) {
			most = count;
			longest = 2 + i;
		}
	}
	g->longest[k.i] = longest;
	return KR_OK;
}

enum kr_status kr_grow_longest(const struct kr_facts *f, kr_key k, const struct kr_grow_sight **out)
{
	const struct kr_grow *g = f->grow;
	enum kr_status status = g->longest[k.i] ? KR_OK : find_longest(f, k);

	*out = status == KR_OK && g->longest[k.i] > 1 ? &g->sights[g->longest[k.i] - 2] : NULL;
	return status;
}

/* Ranks for all versions of a list: a pass over the longest one, and one over all appends. */
static enum kr_status rank_list(const struct kr_facts *f, kr_key k)
{
	struct kr_grow *g = f->grow;
	const struct kr_grow_sight *longest;
	struct members m = {0, 0};
	enum kr_status status = kr_grow_longest(f, k, &longest);

	for (uint32_t i = f->first[k.i]; i < f->first[k.i + 1]; i++)
		g->rank[i] = KR_GROW_VAGUE;
	if (status != KR_OK || !longest || g->deleted[k.i] || f->untold)
		return status;
	status = members_of(f, longest, &m);
	uint32_t n = g->elements.n;
	uint32_t *places = status == KR_OK ? kr_mem_alloc(f->mem, n, sizeof *places) : NULL;
	if (!places)
		return KR_NOMEM;
	for (uint32_t j = m.count; j-- > 0;)
		places[g->members.at[m.first + j]] = 1 + j;
	for (uint32_t i = f->first[k.i]; status == KR_OK && i < f->first[k.i + 1]; i++) {
		status = place_of(f, k, i, &m, places, &g->rank[i]);
		if (g->rank[i] == KR_NONE && f->versions[i].txn.i == longest->txn.i && !f->own_after)
			g->rank[i] = KR_GROW_VAGUE;
	}
	kr_mem_free(f->mem, places, n, sizeof *places);
	return status;
}

struct sized {
	uint32_t size, sight;
};

KR_BY_BOTH(by_size, struct sized, size, sight);

/* The sets of k that committed transactions read, which had added nothing themselves, by size. */
static enum kr_status sort_sets(const struct kr_facts *f, kr_key k, struct sized *out, uint32_t *n)
{
	const struct kr_grow *g = f->grow;
	uint32_t first, count;

	*n = 0;
	for (uint32_t i = g->sight_first[k.i]; i < g->sight_first[k.i + 1]; i++) {
		const struct kr_grow_sight *s = &g->sights[i];
		if (f->h->txns.at[s->txn.i].status != KR_COMMITTED || s->own_count > 0)
			continue;
		KR_TRY(kr_grow_shown(f, k, s->txn, s->op, 0, &first, &count));
		if (count != KR_NONE)
			out[(*n)++] = (struct sized){count, i};
	}
	KR_SORT(out, *n, by_size);
	return KR_OK;
}

/* The version that alone adds the element, or KR_NONE. */
static enum kr_status only_version(const struct kr_facts *f, kr_key k, uint32_t element, uint32_t *out)
{
	const struct kr_grow_add *add;
	uint32_t adds;
	bool initial;
	enum kr_status status = kr_grow_appender(f, k, element, &add, &adds, &initial);

	*out = status == KR_OK && adds == 1 && !initial
		? (uint32_t)(kr_facts_version(f, k, add->txn) - f->versions)
		: KR_NONE;
	return status;
}

/* KR_NONE for a version with an element of its own: until a read shows one, it comes behind all that were
 * shown. */
static enum kr_status begin_ranks(const struct kr_facts *f, kr_key k)
{
	const struct kr_grow *g = f->grow;
	uint32_t version;

	for (uint32_t i = f->first[k.i]; i < f->first[k.i + 1]; i++)
		g->rank[i] = KR_GROW_VAGUE;
	for (uint32_t i = f->first[k.i]; i < f->first[k.i + 1]; i++) {
		const struct kr_fact_version *v = &f->versions[i];
		for (uint32_t at = v->first_op; at <= v->last_op; at++) {
			const struct kr_operation *op = &f->h->ops.at[kr_history_op(f->h, v->txn, at).i];
			uint32_t element;
			if (op->kind != KR_OP_ADD || op->key.i != k.i)
				continue;
			KR_TRY(kr_grow_element(f->grow, op->a, &element));
			KR_TRY(only_version(f, k, element, &version));
			if (version != KR_NONE)
				g->rank[version] = KR_NONE;
		}
	}
	return KR_OK;
}

static enum kr_status rank_shown(const struct kr_facts *f, kr_key k, const struct sized *sets, uint32_t n)
{
	struct kr_grow *g = f->grow;

	for (uint32_t i = 0; i < n; i++) {
		const struct kr_grow_sight *s = &g->sights[sets[i].sight];
		uint32_t first, count, version;

		KR_TRY(kr_grow_shown(f, k, s->txn, s->op, 0, &first, &count));
		for (uint32_t j = 0; j < count; j++) {
			KR_TRY(only_version(f, k, g->members.at[first + j], &version));
			if (version != KR_NONE && g->rank[version] == KR_NONE)
				g->rank[version] = i;
		}
	}
	return KR_OK;
}

static enum kr_status rank_set(const struct kr_facts *f, kr_key k)
{
	const struct kr_grow *g = f->grow;
	uint32_t most = g->sight_first[k.i + 1] - g->sight_first[k.i], n = 0;
	bool tells = !g->deleted[k.i] && !f->untold && f->own_after;
	enum kr_status status = begin_ranks(f, k);

	for (uint32_t i = f->first[k.i]; i < f->first[k.i + 1] && !tells; i++)
		g->rank[i] = KR_GROW_VAGUE;
	if (status != KR_OK || !tells)
		return status;
	struct sized *sets = kr_mem_alloc(f->mem, most, sizeof *sets);
	status = sets ? sort_sets(f, k, sets, &n) : KR_NOMEM;
	if (status == KR_OK)
		status = rank_shown(f, k, sets, n);
	kr_mem_free(f->mem, sets, most, sizeof *sets);
	return status;
}

enum kr_status kr_grow_rank(const struct kr_facts *f, kr_key k, uint32_t i, uint32_t *rank)
{
	enum kr_status status = KR_OK;

	if (!f->grow->ranked[k.i])
		status = kr_facts_mode(f, k) == KR_GROW_SET ? rank_set(f, k) : rank_list(f, k);
	f->grow->ranked[k.i] = status == KR_OK;
	*rank = f->grow->rank[i];
	return status;
}
