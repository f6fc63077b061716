/* Takes out of the ASG what turned out not to be real: versions of absent transactions, observations of
 * absent transactions and those without a candidate, sets that nobody observes any more, and untold initial
 * versions from the sets that they cannot belong to. What stays keeps its order, so all promises of asg.h
 * hold. In place, linear. */
#include "frontend/analyze_work.h"

struct compacting {
	const struct kr_work *w;
	const uint8_t *presence;
	struct kr_writes *writes;
	struct kr_sets *sets;
	uint32_t *map;  /* per version: its new number, or KR_NONE */
	uint32_t *used; /* per set: somebody observes it; then its new number */
};

static bool is_absent(const struct compacting *c, kr_txn t)
{
	return t.i != KR_NONE && c->presence[t.i] == KR_ABSENT_TXN;
}

static enum kr_status compact_versions(struct compacting *c)
{
	struct kr_writes *writes = c->writes;
	uint32_t n = 0;

	KR_TRY(kr_arena_new(c->w->scratch, c->map, writes->nversions));
	for (uint32_t k = 0; k < writes->nkeys; k++) {
		uint32_t from = writes->keys[k].first, end = writes->keys[k + 1].first;

		writes->keys[k].first = n;
		for (uint32_t v = from; v < end; v++) {
			KR_TRY(kr_ctx_tick(c->w->ctx));
			c->map[v] = is_absent(c, writes->versions[v].writer) ? KR_NONE : n;
			if (c->map[v] == KR_NONE)
				continue;
			writes->versions[n] = writes->versions[v];
			writes->token[n++] = writes->token[v];
		}
	}
	writes->keys[writes->nkeys].first = n;
	writes->nversions = n;
	return KR_OK;
}

enum kr_status kr_analyze_drop_versions(const struct kr_work *w, const struct kr_observed *observed,
	struct kr_writes *writes)
{
	struct compacting c = {.w = w, .presence = observed->presence, .writes = writes};

	return observed->any_lost ? compact_versions(&c) : KR_OK;
}

static enum kr_status compact_observations(struct compacting *c)
{
	struct kr_sets *sets = c->sets;
	uint32_t ntxns = c->w->h->txns.n, n = 0;

	for (uint32_t t = 0; t < ntxns; t++) {
		uint32_t from = sets->obs_first[t];

		sets->obs_first[t] = n;
		for (uint32_t o = from; o < sets->obs_first[t + 1] && !is_absent(c, (kr_txn){t}); o++) {
			KR_TRY(kr_ctx_tick(c->w->ctx));
			if (sets->obs[o].set == KR_NONE)
				continue;
			c->used[sets->obs[o].set] = true;
			sets->obs[n++] = sets->obs[o];
		}
	}
	sets->obs_first[ntxns] = n;
	sets->nobs = n;
	return KR_OK;
}

/* Whether a member stays one. Versions are still those of before. */
static bool is_member(const struct compacting *c, uint32_t set, kr_version v)
{
	kr_txn writer = c->writes->versions[v.i].writer;

	if (writer.i != KR_NONE)
		return !is_absent(c, writer);
	if (c->sets->sets[set].complement) /* listed for now; a member only if the set does not hold it */
		return c->writes->token[v.i].i != KR_NONE && !kr_analyze_holds(c->sets, set, v.i);
	return kr_analyze_holds(c->sets, set, v.i);
}

/* Takes members out of the sets; renumbers nothing. */
static enum kr_status filter_members(struct compacting *c)
{
	struct kr_sets *sets = c->sets;
	uint32_t n = 0;

	for (uint32_t s = 0; s < sets->nsets; s++) {
		struct kr_asg_set set = sets->sets[s];

		sets->sets[s].first = n;
		for (uint32_t i = set.first; i < set.first + set.count; i++) {
			KR_TRY(kr_ctx_tick(c->w->ctx));
			if (is_member(c, s, sets->members[i]))
				sets->members[n++] = sets->members[i];
		}
		sets->sets[s].count = (n - sets->sets[s].first) & KR_ASG_MEMBERS_MOST;
	}
	sets->nmembers = n;
	return KR_OK;
}

/* Drops sets that are not used, with their members, and gives versions their new numbers. */
static enum kr_status compact_sets(struct compacting *c)
{
	struct kr_sets *sets = c->sets;
	uint32_t n = 0, members = 0;

	for (uint32_t s = 0; s < sets->nsets; s++) {
		struct kr_asg_set set = sets->sets[s];

		if (!c->used[s])
			continue;
		c->used[s] = n;
		sets->sets[n] = set;
		sets->sets[n++].first = members;
		for (uint32_t i = set.first; i < set.first + set.count; i++) {
			KR_TRY(kr_ctx_tick(c->w->ctx));
			sets->members[members++] = (kr_version){c->map[sets->members[i].i]};
		}
	}
	sets->nsets = n;
	sets->nmembers = members;
	for (uint32_t o = 0; o < sets->nobs; o++)
		sets->obs[o].set = c->used[sets->obs[o].set];
	return KR_OK;
}

enum kr_status kr_analyze_compact(const struct kr_settled *settled, struct kr_writes *writes,
	struct kr_sets *sets)
{
	const struct kr_work *w = sets->w;
	struct compacting c = {.w = w, .presence = settled->presence, .writes = writes, .sets = sets};

	if (!settled->changed && !sets->changed)
		return KR_OK;
	KR_TRY(kr_arena_new(w->scratch, c.used, sets->nsets));
	KR_TRY(filter_members(&c));
	KR_TRY(compact_observations(&c));
	KR_TRY(compact_versions(&c));
	return compact_sets(&c);
}
