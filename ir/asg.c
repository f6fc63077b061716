/* Access to the abstract semantic graph: its life, membership in candidate sets, the walk over an
 * observation's candidates, and the index from a transaction to the versions that it writes.
 *
 * Right because versions are numbered by key and set members are ascending: membership is a binary search, a
 * complement is walked by merging the key's versions with the members left out, and one pass over the
 * versions fills each writer's list in the order of keys. Cost: index O(transactions + versions); a walk
 * O(versions of the key) for a complement, O(members) otherwise. */
#include "ir/asg.h"

#include "base/order.h"

void kr_asg_init(struct kr_asg *asg, struct kr_mem *mem)
{
	*asg = (struct kr_asg){.mem = mem};
	kr_arena_init(&asg->arena, mem);
}

void kr_asg_done(struct kr_asg *asg)
{
	struct kr_mem *mem = asg->mem;

	kr_arena_done(&asg->arena);
	kr_asg_init(asg, mem);
}

enum kr_status kr_asg_index(struct kr_asg *asg)
{
	uint32_t *first;
	kr_version *list; /* all but the initial ones */

	KR_TRY(kr_arena_new(&asg->arena, first, (size_t)asg->ntxns + 2));
	for (uint32_t v = 0; v < asg->nversions; v++)
		if (asg->versions[v].writer.i != KR_NONE)
			first[asg->versions[v].writer.i + 2]++;
	kr_index_places(first, asg->ntxns);
	KR_TRY(kr_arena_new(&asg->arena, list, first[asg->ntxns + 1]));
	for (uint32_t v = 0; v < asg->nversions; v++)
		if (asg->versions[v].writer.i != KR_NONE)
			list[first[asg->versions[v].writer.i + 1]++] = (kr_version){v};
	asg->written_first = first;
	asg->written = list;
	return KR_OK;
}

bool kr_asg_is_timed(const struct kr_asg *asg)
{
	bool any = false;
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		const struct kr_asg_txn *txn = &asg->txns[t];
		if (txn->presence == KR_PRESENT && !txn->outcome_unknown && !txn->has_end)
			return false;
		any |= txn->has_end;
	}
	return any;
}

bool kr_asg_in_set(const struct kr_asg *asg, uint32_t set, kr_version v)
{
	const struct kr_asg_set *s = &asg->sets[set];
	uint32_t end = s->first + s->count, at;

	KR_BISECT(at, s->first, end, asg->members[at].i < v.i);
	return (at < end && asg->members[at].i == v.i) != s->complement;
}

bool kr_asg_tears(const struct kr_asg *asg, kr_obs o, kr_version over)
{
	const struct kr_observation *x = &asg->obs[o.i];
	const struct kr_asg_set *set = &asg->sets[x->set];
	bool counts_only = set->complement && set->count == 0;

	return !x->predicate || counts_only || !kr_asg_in_set(asg, x->set, over);
}

kr_candidates kr_asg_candidates(const struct kr_asg *asg, kr_obs o)
{
	const struct kr_observation *obs = &asg->obs[o.i];
	const struct kr_asg_set *s = &asg->sets[obs->set];
	kr_candidates it = {.at = s->first,
		.end = s->first + s->count,
		.self = obs->txn,
		.complement = s->complement};

	if (s->complement) {
		it.skip = it.at;
		it.skip_end = it.end;
		it.at = asg->keys[obs->key.i].first;
		it.end = asg->keys[obs->key.i + 1].first;
	}
	return it;
}

bool kr_asg_next(const struct kr_asg *asg, kr_candidates *it, kr_version *v)
{
	while (it->at < it->end) {
		kr_version next = it->complement ? (kr_version){it->at} : asg->members[it->at];

		it->at++;
		if (it->complement && it->skip < it->skip_end && asg->members[it->skip].i == next.i) {
			it->skip++;
			continue;
		}

		kr_txn writer = asg->versions[next.i].writer;

		if (writer.i != KR_NONE &&
			(writer.i == it->self.i || asg->txns[writer.i].presence == KR_ABSENT_TXN))
			continue;
		*v = next;
		return true;
	}
	return false;
}

kr_version kr_asg_version_of(const struct kr_asg *asg, kr_txn t, kr_key k)
{
	uint32_t end = asg->written_first[t.i + 1], at;

	KR_BISECT(at, asg->written_first[t.i], end, asg->versions[asg->written[at].i].key.i < k.i);
	return at < end && asg->versions[asg->written[at].i].key.i == k.i ? asg->written[at]
									  : (kr_version){KR_NONE};
}
