/* Structural check of an ASG: every promise of asg.h that later code leans on without looking. Linear but for
 * a binary search per observation. Not checked here: that versions and candidate sets are those of a trace,
 * which only frontend/analyze.c knows. */
#include "ir/asg.h"

#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			return kr_err_set(err, KR_INTERNAL, "asg: " __VA_ARGS__); \
	} while (0)

static enum kr_status verify_txns(const struct kr_asg *asg, struct kr_err *err)
{
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		const struct kr_asg_txn *txn = &asg->txns[t];

		CHECK(txn->presence <= KR_OPEN, "transaction %u has presence %u", t, txn->presence);
		CHECK(txn->presence != KR_OPEN || txn->outcome_unknown,
			"transaction %u is open, but its outcome is known", t);
		CHECK(txn->session == KR_NONE || txn->session < asg->nsessions,
			"transaction %u has session %u of %u", t, txn->session, asg->nsessions);
	}
	return KR_OK;
}

static enum kr_status verify_versions(const struct kr_asg *asg, struct kr_err *err)
{
	CHECK(asg->keys[asg->nkeys].first == asg->nversions, "the last key ends at version %u of %u",
		asg->keys[asg->nkeys].first, asg->nversions);
	CHECK(asg->nkeys == 0 || asg->keys[0].first == 0, "the first key does not begin at version 0");
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		uint32_t first = asg->keys[k].first;

		CHECK(first < asg->keys[k + 1].first, "key %u has no version", k);
		CHECK(asg->keys[k + 1].first <= asg->nversions, "key %u ends at version %u of %u", k,
			asg->keys[k + 1].first, asg->nversions);
		CHECK(asg->versions[first].writer.i == KR_NONE,
			"key %u does not begin with its initial version", k);
		for (uint32_t v = first; v < asg->keys[k + 1].first; v++) {
			CHECK(asg->versions[v].key.i == k, "version %u is listed under key %u", v, k);
			if (v == first)
				continue;
			CHECK(asg->versions[v].writer.i < asg->ntxns, "version %u has writer %u of %u", v,
				asg->versions[v].writer.i, asg->ntxns);
			CHECK(v == first + 1 || asg->versions[v - 1].writer.i < asg->versions[v].writer.i,
				"writer of version %u is out of order", v);
		}
	}
	return KR_OK;
}

static enum kr_status verify_sets(const struct kr_asg *asg, struct kr_err *err)
{
	for (uint32_t s = 0; s < asg->nsets; s++) {
		const struct kr_asg_set *set = &asg->sets[s];

		CHECK(set->first <= asg->nmembers && set->count <= asg->nmembers - set->first,
			"set %u has members beyond the last", s);
		for (uint32_t i = set->first; i < set->first + set->count; i++) {
			CHECK(asg->members[i].i < asg->nversions, "set %u has member %u of %u", s,
				asg->members[i].i, asg->nversions);
			if (i == set->first)
				continue;
			CHECK(asg->members[i - 1].i < asg->members[i].i, "members of set %u are out of order",
				s);
			CHECK(asg->versions[asg->members[i - 1].i].key.i ==
					asg->versions[asg->members[i].i].key.i,
				"set %u has members of two keys", s);
		}
	}
	return KR_OK;
}

static enum kr_status verify_observations(const struct kr_asg *asg, struct kr_err *err)
{
	CHECK(asg->obs_first[0] == 0 && asg->obs_first[asg->ntxns] == asg->nobs,
		"observations are not those of the transactions");
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		uint32_t first = asg->obs_first[t];

		CHECK(first <= asg->obs_first[t + 1] && asg->obs_first[t + 1] <= asg->nobs,
			"observations of transaction %u end before they begin", t);
		for (uint32_t o = first; o < asg->obs_first[t + 1]; o++) {
			const struct kr_observation *obs = &asg->obs[o];

			CHECK(obs->txn.i == t, "observation %u is listed under transaction %u", o, t);
			CHECK(o == first || asg->obs[o - 1].op <= obs->op, "observation %u is out of order",
				o);
			CHECK(obs->key.i < asg->nkeys, "observation %u has key %u of %u", o, obs->key.i,
				asg->nkeys);
			CHECK(obs->set < asg->nsets, "observation %u has set %u of %u", o, obs->set,
				asg->nsets);

			const struct kr_asg_set *set = &asg->sets[obs->set];

			CHECK(set->count == 0 ||
					asg->versions[asg->members[set->first].i].key.i == obs->key.i,
				"observation %u has a set of another key", o);
		}
	}
	return KR_OK;
}

static enum kr_status verify_parts(const struct kr_asg *asg, struct kr_err *err)
{
	CHECK(asg->nparts <= asg->nkeys, "%u parts among %u keys", asg->nparts, asg->nkeys);
	for (uint32_t i = 0; i < asg->nparts; i++) {
		uint32_t k = asg->nkeys - asg->nparts + i;
		uint32_t of = asg->parts[i].of.i;

		CHECK(of < asg->nkeys - asg->nparts, "key %u is part of key %u, of which there are %u", k, of,
			asg->nkeys - asg->nparts);

		uint32_t whole = asg->keys[of].first + 1;

		/* writers ascend in both */
		for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first; v++) {
			while (whole < asg->keys[of + 1].first &&
				asg->versions[whole].writer.i < asg->versions[v].writer.i)
				whole++;
			CHECK(whole < asg->keys[of + 1].first &&
					asg->versions[whole].writer.i == asg->versions[v].writer.i,
				"version %u is of a part of key %u, which its writer does not write", v, of);
		}
	}
	return KR_OK;
}

/* `used`: per observation, whether it has terms. */
static enum kr_status verify_sum(const struct kr_asg *asg, uint32_t i, uint8_t *used, struct kr_err *err)
{
	const struct kr_asg_sum *sum = &asg->sums[i], *last = i ? sum - 1 : sum;

	CHECK(sum->txn.i < asg->ntxns && sum->key.i < asg->nkeys - asg->nparts,
		"sum %u names a transaction or a key beyond the last", i);
	CHECK(last->txn.i < sum->txn.i || (last->txn.i == sum->txn.i && last->op <= sum->op),
		"sum %u is out of order", i);
	CHECK(sum->first <= asg->nterms && sum->count <= asg->nterms - sum->first,
		"sum %u has terms beyond the last", i);
	for (uint32_t j = sum->first; j < sum->first + sum->count; j++) {
		const struct kr_asg_term *term = &asg->terms[j];
		bool again = j > sum->first && asg->terms[j - 1].obs.i == term->obs.i;

		CHECK(term->obs.i < asg->nobs && term->seen.i < asg->nversions,
			"sum %u names an observation or a version beyond the last", i);

		const struct kr_observation *obs = &asg->obs[term->obs.i];

		CHECK(obs->txn.i == sum->txn.i && obs->op == sum->op,
			"sum %u has a term of another operation", i);
		CHECK(obs->key.i != sum->key.i && kr_asg_whole(asg, obs->key).i == sum->key.i,
			"sum %u has a term that is not about a part of key %u", i, sum->key.i);
		CHECK(asg->versions[term->seen.i].key.i == obs->key.i,
			"sum %u has a term whose observation cannot see version %u", i, term->seen.i);
		CHECK(!again || asg->terms[j - 1].seen.i < term->seen.i,
			"terms of observation %u are out of order", term->obs.i);
		CHECK(again || !used[term->obs.i], "observation %u has terms in two places", term->obs.i);
		used[term->obs.i] = 1;
	}
	return KR_OK;
}

static enum kr_status verify_sums(const struct kr_asg *asg, struct kr_err *err)
{
	uint8_t *used = kr_mem_alloc(asg->mem, asg->nobs, 1);
	enum kr_status status = used ? KR_OK : KR_NOMEM;

	for (uint32_t i = 0; i < asg->nsums && !status; i++)
		status = verify_sum(asg, i, used, err);
	kr_mem_free(asg->mem, used, asg->nobs, 1);
	return status;
}

static enum kr_status verify_orders(const struct kr_asg *asg, struct kr_err *err)
{
	for (uint32_t i = 0; i < asg->norders; i++) {
		struct kr_asg_order order = asg->orders[i];

		CHECK(order.before.i < asg->nversions && order.after.i < asg->nversions,
			"order %u names a version beyond the last", i);
		CHECK(order.guard.i == KR_NONE || order.guard.i < asg->ntxns, "order %u has guard %u of %u",
			i, order.guard.i, asg->ntxns);
		CHECK(order.before.i != order.after.i, "order %u puts version %u before itself", i,
			order.after.i);
		CHECK(asg->versions[order.before.i].key.i == asg->versions[order.after.i].key.i,
			"order %u names versions of two keys", i);
		CHECK(asg->versions[order.after.i].writer.i != KR_NONE,
			"order %u puts a version before the initial one", i);
	}
	return KR_OK;
}

struct sort {
	uint32_t *head, *next; /* pairs by their first version, as lists: pair + 1, 0 ends */
	uint32_t *earlier;     /* per version: pairs that name it second and are left */
	uint32_t *queue;       /* versions that no pair that is left names second */
};

/* How many pairs go when versions that nothing precedes are taken away one by one, those with a guard
 * beforehand: all, unless some form a cycle. */
static uint32_t sort_orders(const struct kr_asg *asg, const struct sort *s)
{
	uint32_t n = 0, gone = 0;

	for (uint32_t i = 0; i < asg->norders; i++) {
		if (asg->orders[i].guard.i != KR_NONE) { /* two guards may exclude each other */
			gone++;
			continue;
		}
		s->next[i] = s->head[asg->orders[i].before.i];
		s->head[asg->orders[i].before.i] = i + 1;
		s->earlier[asg->orders[i].after.i]++;
	}
	for (uint32_t v = 0; v < asg->nversions; v++)
		if (s->earlier[v] == 0)
			s->queue[n++] = v;
	for (uint32_t done = 0; done < n; done++) {
		for (uint32_t i = s->head[s->queue[done]]; i > 0; i = s->next[i - 1], gone++)
			if (--s->earlier[asg->orders[i - 1].after.i] == 0)
				s->queue[n++] = asg->orders[i - 1].after.i;
	}
	return gone;
}

static enum kr_status verify_acyclic(const struct kr_asg *asg, struct kr_err *err)
{
	struct kr_mem *mem = asg->mem;
	uint32_t gone = 0;

	if (asg->norders == 0)
		return KR_OK;

	struct sort s = {
		.head = kr_mem_alloc(mem, asg->nversions, sizeof *s.head),
		.next = kr_mem_alloc(mem, asg->norders, sizeof *s.next),
		.earlier = kr_mem_alloc(mem, asg->nversions, sizeof *s.earlier),
		.queue = kr_mem_alloc(mem, asg->nversions, sizeof *s.queue),
	};
	bool ok = s.head && s.next && s.earlier && s.queue;

	if (ok)
		gone = sort_orders(asg, &s);
	kr_mem_free(mem, s.head, asg->nversions, sizeof *s.head);
	kr_mem_free(mem, s.next, asg->norders, sizeof *s.next);
	kr_mem_free(mem, s.earlier, asg->nversions, sizeof *s.earlier);
	kr_mem_free(mem, s.queue, asg->nversions, sizeof *s.queue);
	if (!ok)
		return KR_NOMEM;
	CHECK(gone == asg->norders, "the known orders of versions contradict each other");
	return KR_OK;
}

static enum kr_status verify_index(const struct kr_asg *asg, struct kr_err *err)
{
	if (!asg->written_first)
		return KR_OK;
	CHECK(asg->written_first[0] == 0, "the index of written versions does not begin at 0");
	CHECK(asg->written_first[asg->ntxns] == asg->nversions - asg->nkeys,
		"the index does not hold every written version");
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		for (uint32_t i = asg->written_first[t]; i < asg->written_first[t + 1]; i++) {
			CHECK(asg->written[i].i < asg->nversions,
				"the index of transaction %u names a version beyond the last", t);
			CHECK(asg->versions[asg->written[i].i].writer.i == t,
				"the index gives version %u to transaction %u", asg->written[i].i, t);
			CHECK(i == asg->written_first[t] || asg->written[i - 1].i < asg->written[i].i,
				"the index of transaction %u is out of order", t);
		}
	}
	return KR_OK;
}

enum kr_status kr_asg_verify(const struct kr_asg *asg, struct kr_err *err)
{
	enum kr_status (*const parts[])(const struct kr_asg *, struct kr_err *) = {
		verify_txns,
		verify_versions,
		verify_parts,
		verify_sets,
		verify_observations,
		verify_sums,
		verify_orders,
		verify_acyclic,
		verify_index,
	};

	for (size_t i = 0; i < KR_COUNT(parts); i++)
		KR_TRY(parts[i](asg, err));
	return KR_OK;
}
