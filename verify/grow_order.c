/* The order of writers that a list shows: by the place of the first element that each of them appended. Of a key, the longest list that a committed transaction read says all
 * that the others do. Who has no element there comes behind. An element that was appended more than once tells nothing of its writers.
 * Cost: linear in the lists of the key for all of its versions; for one list, its length times what a writer appended. */
#include "verify/facts.h"

/* Where the first element by version i stands among the members; an element that others appended, too, tells nothing. */
static enum kr_status place_of(const struct kr_facts *f, kr_key k, uint32_t i, const uint32_t *members, uint32_t count, uint32_t *rank)
{
	const struct kr_history *h = f->h;
	const struct kr_fact_version *version = &f->versions[i];
	const struct kr_grow_add *add;
	uint32_t element, adds, first = (uint32_t)(count ? members - f->grow->members.at : 0);
	bool initial;
	enum kr_status status;

	*rank = KR_NONE;
	for (uint32_t at = version->first_op; at <= version->last_op; at++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, version->txn, at).i];

		if (op->kind != KR_OP_APPEND || op->key.i != k.i)
			continue;
		status = kr_grow_element(f->grow, op->a, &element);
		if (status == KR_OK)
			status = kr_grow_appender(f, k, element, &add, &adds, &initial);
		if (status != KR_OK)
			return status;
		if (adds + initial > 1) {
			*rank = KR_GROW_VAGUE;
			return KR_OK;
		}
		for (uint32_t j = 0; j < count && j < *rank; j++)
			if (f->grow->members.at[first + j] == element)
				*rank = j;
	}
	return KR_OK;
}

enum kr_status kr_grow_rank_in(const struct kr_facts *f, const struct kr_grow_sight *s, uint32_t i, uint32_t *rank)
{
	const uint32_t *members;
	uint32_t count;
	enum kr_status status = kr_grow_shown(f, s->key, s->txn, s->op, s->own_count, &members, &count);

	*rank = KR_GROW_VAGUE;
	if (status != KR_OK || count == KR_NONE)
		return status;
	status = place_of(f, s->key, i, members, count, rank);
	if (*rank == KR_NONE && f->versions[i].txn.i == s->txn.i && !f->own_after)
		*rank = KR_GROW_VAGUE;
	return status;
}

/* Ranks for all versions of a list: a pass over the longest one, for the versions whose elements it shows, and one over the others' elements. */
static enum kr_status rank_all(const struct kr_facts *f, kr_key k)
{
	struct kr_grow *g = f->grow;
	const struct kr_grow_sight *longest = NULL;
	const struct kr_grow_add *add;
	const uint32_t *members;
	uint32_t count, most = 0, adds, first;
	bool initial;
	enum kr_status status = KR_OK;

	for (uint32_t i = f->first[k.i]; i < f->first[k.i + 1]; i++)
		g->rank[i] = KR_NONE;
	for (uint32_t i = g->sight_first[k.i]; i < g->sight_first[k.i + 1] && status == KR_OK; i++) {
		const struct kr_grow_sight *s = &g->sights[i];
		if (f->h->txns.at[s->txn.i].status != KR_COMMITTED)
			continue;
		status = kr_grow_shown(f, k, s->txn, s->op, s->own_count, &members, &count);
		if (status == KR_OK && count != KR_NONE && count >= most) {
			most = count;
			longest = s;
		}
	}
	if (status != KR_OK || !longest)
		return status;
	status = kr_grow_shown(f, k, longest->txn, longest->op, longest->own_count, &members, &count);
	first = (uint32_t)(status == KR_OK && count ? members - g->members.at : 0);
	for (uint32_t j = count; status == KR_OK && j-- > 0;) {
		status = kr_grow_appender(f, k, g->members.at[first + j], &add, &adds, &initial);
		if (status == KR_OK && add && adds + initial == 1)
			g->rank[kr_facts_version(f, k, add->txn) - f->versions] = j;
	}
	for (uint32_t i = f->first[k.i]; status == KR_OK && i < f->first[k.i + 1]; i++) {
		bool self = f->versions[i].txn.i == longest->txn.i;
		if (self && g->rank[i] == KR_NONE && !f->own_after)
			g->rank[i] = KR_GROW_VAGUE;
		else if (g->rank[i] == KR_NONE && (status = place_of(f, k, i, NULL, 0, &g->rank[i])) != KR_OK)
			return status;
	}
	return status;
}

enum kr_status kr_grow_rank(const struct kr_facts *f, kr_key k, uint32_t i, uint32_t *rank)
{
	enum kr_status status = KR_OK;

	if (!f->grow->ranked[k.i])
		status = rank_all(f, k);
	f->grow->ranked[k.i] = status == KR_OK;
	*rank = f->grow->rank[i];
	return status;
}
