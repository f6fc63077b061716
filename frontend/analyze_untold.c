/* Untold initial values that something else than a value was seen of.
 *
 * Of a key whose initial value is not told, observations agree on the initial version as their source when
 * they saw the same (ir/asg.h). "Anything but a", or "does not match", agree with others without being the
 * same. If some value is what every observation of the key allows, the initial value may as well be that one:
 * no other would allow more worlds. Values to try are those seen, "absent", and, where there are no
 * conditions, one that nobody mentions. If none will do, they are left out (kr_analysis.left_out). Linear;
 * each such key tries at most as many values as it takes to rule them out. */
#include "frontend/analyze_grow.h"

struct untold {
	struct kr_work *w;
	uint64_t *used; /* bits: sets that somebody observes */
};

static bool counts(const struct kr_work *w, const struct kr_observation *o)
{
	return w->asg->keys[o->key.i].open_initial && o->set != KR_NONE &&
		w->asg->txns[o->txn.i].presence != KR_ABSENT_TXN;
}

/* Whether every observation of k allows the initial value to be this one. */
static bool suits_all(const struct untold *u, kr_key k, kr_token token)
{
	const struct kr_work *w = u->w;

	for (uint32_t s = w->key_sets[k.i]; s < w->key_sets[k.i + 1]; s++)
		if (kr_bits_get(u->used, s) && kr_test_kind(w->test[s]) != KR_TEST_SOURCE &&
			kr_analyze_may_start(w, s, k) && !kr_analyze_fits(w, w->test[s], k, token))
			return false;
	return true;
}

static bool find_value(const struct untold *u, kr_key k, kr_token *out)
{
	const struct kr_work *w = u->w;
	bool conditions = false;
	uint32_t tried = 0;

	for (uint32_t s = w->key_sets[k.i]; s < w->key_sets[k.i + 1]; s++) {
		enum kr_test_kind kind = kr_test_kind(w->test[s]);

		conditions |= kr_bits_get(u->used, s) && kind > KR_TEST_OR_ABSENT;
		if (!kr_bits_get(u->used, s) || (kind != KR_TEST_IS && kind != KR_TEST_OR_ABSENT) ||
			!kr_analyze_may_start(w, s, k))
			continue;
		*out = kr_test_token(w->test[s]);
		/* a third value seen agrees with the first two as little as they with each other */
		if (tried++ < 2 && suits_all(u, k, *out))
			return true;
	}
	*out = KR_TOKEN_ABSENT;
	if (suits_all(u, k, *out))
		return true;
	*out = KR_TOKEN_THERE;
	return !conditions && suits_all(u, k, *out);
}

/* Leaves out all that was seen of k but values and named versions. */
static enum kr_status forget_others(struct untold *u, kr_key k)
{
	struct kr_asg *asg = u->w->asg;

	for (uint32_t i = 0; i < asg->nobs; i++) {
		struct kr_observation *o = &asg->obs[i];
		enum kr_test_kind kind =
			o->key.i == k.i && o->set != KR_NONE ? kr_test_kind(u->w->test[o->set]) : KR_TEST_IS;

		KR_TRY(kr_ctx_tick(u->w->ctx));
		if (kind != KR_TEST_IS && kind != KR_TEST_SOURCE)
			o->set = KR_NONE;
	}
	return KR_OK;
}

static enum kr_status settle(struct untold *u, const struct kr_observation *o)
{
	struct kr_work *w = u->w;
	kr_token token;

	if (!counts(w, o) || kr_test_kind(w->test[o->set]) == KR_TEST_IS ||
		kr_test_kind(w->test[o->set]) == KR_TEST_SOURCE)
		return KR_OK;
	if (!find_value(u, o->key, &token)) {
		kr_analyze_leave_out(w, o->txn, o->op,
			"seeing that a key of unknown initial value does not hold a certain value");
		return forget_others(u, o->key);
	}
	w->asg->keys[o->key.i].open_initial = false;
	w->token[w->asg->keys[o->key.i].first] = token;
	w->changed = true;
	return KR_OK;
}

/* Of lists only the last element is looked at: that they end alike does not make initial values equal, nor
 * are there others to agree with. */
static void release_lists(struct kr_work *w)
{
	for (uint32_t k = 0; k < w->h->keys.n; k++)
		if (w->h->keys.at[k].kind == KR_KIND_LIST && w->asg->keys[k].open_initial) {
			w->asg->keys[k].open_initial = false;
			w->changed = true;
		}
}

enum kr_status kr_analyze_untold(struct kr_work *w)
{
	const struct kr_asg *asg = w->asg;
	struct untold u = {w, NULL};

	if (!kr_history_untold(w->h))
		return KR_OK;
	release_lists(w);
	if (!w->any_complement && !w->any_where)
		return KR_OK;
	w->changed = true; /* untold initial versions are listed by complements, too */
	u.used = KR_NEW_ARRAY(&w->scratch, uint64_t, KR_BITS_WORDS(asg->nsets));
	if (!u.used)
		return KR_NOMEM;
	for (uint32_t i = 0; i < asg->nobs; i++) {
		const struct kr_observation *o = &asg->obs[i];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (counts(w, o))
			kr_bits_set(u.used, o->set);
	}
	for (uint32_t i = 0; i < asg->nobs; i++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		KR_TRY(settle(&u, &asg->obs[i]));
	}
	return KR_OK;
}
