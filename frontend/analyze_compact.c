/* Takes out of the ASG what turned out not to be real: versions of absent transactions, observations of
 * absent transactions and those without a candidate, sets that nobody observes any more, and untold initial
 * versions from the sets that they cannot belong to. What stays keeps its order, so all promises of asg.h
 * hold. In place, linear. */
#include "frontend/analyze_work.h"

static bool is_absent(const struct kr_asg *asg, kr_txn t)
{
	return t.i != KR_NONE && asg->txns[t.i].presence == KR_ABSENT_TXN;
}

/* Drops versions; map[old] becomes the new number or KR_NONE. */
static enum kr_status compact_versions(struct kr_work *w, uint32_t *map)
{
	struct kr_asg *asg = w->asg;
	uint32_t n = 0;

	for (uint32_t k = 0; k < asg->nkeys; k++) {
		uint32_t from = asg->keys[k].first;
		uint32_t end = asg->keys[k + 1].first;

		asg->keys[k].first = n;
		for (uint32_t v = from; v < end; v++) {
			KR_TRY(kr_ctx_tick(w->ctx));
			map[v] = is_absent(asg, asg->versions[v].writer) ? KR_NONE : n;
			if (map[v] == KR_NONE)
				continue;
			asg->versions[n] = asg->versions[v];
			w->token[n++] = w->token[v];
		}
	}
	asg->keys[asg->nkeys].first = n;
	asg->nversions = n;
	return KR_OK;
}

enum kr_status kr_analyze_drop_versions(struct kr_work *w)
{
	uint32_t *map = KR_NEW_ARRAY(&w->scratch, uint32_t, w->asg->nversions);

	if (!map)
		return KR_NOMEM;
	KR_TRY(compact_versions(w, map));
	w->changed = false;
	return KR_OK;
}

static enum kr_status compact_index(struct kr_work *w, const uint32_t *map)
{
	struct kr_asg *asg = w->asg;
	uint32_t n = 0;

	for (uint32_t t = 0; t < asg->ntxns; t++) {
		uint32_t from = asg->written_first[t];

		asg->written_first[t] = n;
		for (uint32_t i = from; i < asg->written_first[t + 1]; i++) {
			KR_TRY(kr_ctx_tick(w->ctx));
			if (map[asg->written[i].i] != KR_NONE)
				asg->written[n++] = (kr_version){map[asg->written[i].i]};
		}
	}
	asg->written_first[asg->ntxns] = n;
	return KR_OK;
}

/* Drops observations; used[set] becomes true for those of the others. */
static enum kr_status compact_observations(struct kr_work *w, uint32_t *used)
{
	struct kr_asg *asg = w->asg;
	uint32_t n = 0;

	for (uint32_t t = 0; t < asg->ntxns; t++) {
		uint32_t from = asg->obs_first[t];

		asg->obs_first[t] = n;
		for (uint32_t o = from; o < asg->obs_first[t + 1] && !is_absent(asg, (kr_txn){t}); o++) {
			KR_TRY(kr_ctx_tick(w->ctx));
			if (asg->obs[o].set == KR_NONE)
				continue;
			used[asg->obs[o].set] = true;
			asg->obs[n++] = asg->obs[o];
		}
	}
	asg->obs_first[asg->ntxns] = n;
	asg->nobs = n;
	return KR_OK;
}

/* Whether a member stays one. Versions are still those of before. */
static bool is_member(const struct kr_work *w, uint32_t set, kr_version v)
{
	const struct kr_asg_version *version = &w->asg->versions[v.i];

	if (version->writer.i != KR_NONE)
		return !is_absent(w->asg, version->writer);
	if (w->asg->sets[set].complement) /* listed for now; a member only if the set does not hold it */
		return w->token[v.i].i != KR_NONE && !kr_analyze_holds(w, set, v.i);
	return kr_analyze_holds(w, set, v.i);
}

/* Takes members out of the sets; renumbers nothing. */
static enum kr_status filter_members(struct kr_work *w)
{
	struct kr_asg *asg = w->asg;
	uint32_t n = 0;

	for (uint32_t s = 0; s < asg->nsets; s++) {
		struct kr_asg_set set = asg->sets[s];

		asg->sets[s].first = n;
		for (uint32_t i = set.first; i < set.first + set.count; i++) {
			KR_TRY(kr_ctx_tick(w->ctx));
			if (is_member(w, s, asg->members[i]))
				asg->members[n++] = asg->members[i];
		}
		asg->sets[s].count = n - asg->sets[s].first;
	}
	asg->nmembers = n;
	return KR_OK;
}

/* Drops sets that are not used, with their members, and gives versions their new numbers; used[old] becomes
 * the new number of a set. */
static enum kr_status compact_sets(struct kr_work *w, uint32_t *used, const uint32_t *map)
{
	struct kr_asg *asg = w->asg;
	uint32_t n = 0, members = 0;

	for (uint32_t s = 0; s < asg->nsets; s++) {
		struct kr_asg_set set = asg->sets[s];

		if (!used[s])
			continue;
		used[s] = n;
		asg->sets[n] = set;
		asg->sets[n++].first = members;
		for (uint32_t i = set.first; i < set.first + set.count; i++) {
			KR_TRY(kr_ctx_tick(w->ctx));
			asg->members[members++] = (kr_version){map[asg->members[i].i]};
		}
	}
	asg->nsets = n;
	asg->nmembers = members;
	for (uint32_t o = 0; o < asg->nobs; o++)
		asg->obs[o].set = used[asg->obs[o].set];
	return KR_OK;
}

enum kr_status kr_analyze_compact(struct kr_work *w)
{
	if (!w->changed)
		return KR_OK;

	uint32_t *map = KR_NEW_ARRAY(&w->scratch, uint32_t, w->asg->nversions);
	uint32_t *used = KR_NEW_ARRAY(&w->scratch, uint32_t, w->asg->nsets);

	if (!map || !used)
		return KR_NOMEM;
	KR_TRY(filter_members(w));
	KR_TRY(compact_observations(w, used));
	KR_TRY(compact_versions(w, map));
	KR_TRY(compact_index(w, map));
	return compact_sets(w, used, map);
}
