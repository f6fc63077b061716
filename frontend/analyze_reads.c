/* External observations and internal inconsistencies.
 *
 * Each transaction that may have taken effect is replayed over its own writes: what an operation says of a key that the transaction wrote before must
 * be what it wrote (internal consistency); of any other key it is an external observation. An unknown transaction that contradicts itself, or writes
 * nothing, is absent: it cannot have taken effect, or nothing would show that it had. Two replays, to count and to fill; linear in the operations. */
#include "frontend/analyze_work.h"

#include <string.h>

struct replay {
	bool inconsistent, wrote;
	uint32_t seen;
}; /* seen: external observations */

static bool agrees(const struct kr_effect *effect, kr_value own) { return (effect->seen.i == own.i) != effect->complement; }

/* Replays t. `obs` (or NULL) receives the observations; inconsistencies are recorded only without it. */
static enum kr_status replay(struct kr_work *w, kr_txn t, struct kr_observation *obs, struct replay *out)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];

	*out = (struct replay){.seen = 0};
	for (uint32_t i = 0; i < txn->op_count; i++) {
		const struct kr_operation *op = &w->h->ops.at[txn->op_first + i];
		struct kr_effect effect = kr_analyze_effect(op);
		uint32_t k = op->key.i;

		KR_TRY(kr_ctx_tick(w->ctx));
		if (effect.sees && w->stamp[k] != t.i) {
			if (obs)
				obs[out->seen] = (struct kr_observation){t, i, op->key, effect.seen.i, effect.complement, false};
			out->seen++;
		} else if (effect.sees && !agrees(&effect, w->own[k])) {
			out->inconsistent = true;
			if (!obs && txn->status == KR_COMMITTED && !kr_vec_push(w->asg->mem, &w->internal, (struct kr_internal){t, i, op->key}))
				return KR_NOMEM;
		}
		if (effect.writes) {
			w->stamp[k] = t.i;
			w->own[k] = effect.written;
			out->wrote = true;
		}
	}
	return KR_OK;
}

enum kr_status kr_analyze_replay(struct kr_work *w)
{
	struct kr_asg *asg = w->asg;
	uint64_t nobs = 0;

	w->stamp = KR_NEW_ARRAY(&w->scratch, uint32_t, w->h->keys.n);
	w->own = KR_NEW_ARRAY(&w->scratch, kr_value, w->h->keys.n);
	asg->obs_first = KR_NEW_ARRAY(&asg->arena, uint32_t, (size_t)asg->ntxns + 1);
	if (!w->stamp || !w->own || !asg->obs_first)
		return KR_NOMEM;
	memset(w->stamp, 0xff, w->h->keys.n * sizeof *w->stamp);
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		struct kr_asg_txn *txn = &asg->txns[t];

		if (txn->presence != KR_ABSENT_TXN) {
			struct replay found;

			KR_TRY(replay(w, (kr_txn){t}, NULL, &found));
			if (txn->outcome_unknown && (found.inconsistent || !found.wrote))
				txn->presence = KR_ABSENT_TXN;
			else
				nobs += found.seen;
			w->any_open |= txn->presence == KR_OPEN;
		}
		asg->obs_first[t + 1] = (uint32_t)nobs; /* operations have 32-bit numbers, so observations fit */
	}
	asg->nobs = (uint32_t)nobs;
	return KR_OK;
}

enum kr_status kr_analyze_reads(struct kr_work *w)
{
	struct kr_asg *asg = w->asg;

	asg->obs = KR_NEW_ARRAY(&asg->arena, struct kr_observation, asg->nobs);
	if (!asg->obs)
		return KR_NOMEM;
	memset(w->stamp, 0xff, w->h->keys.n * sizeof *w->stamp);
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		struct replay found;

		if (asg->obs_first[t] != asg->obs_first[t + 1])
			KR_TRY(replay(w, (kr_txn){t}, asg->obs + asg->obs_first[t], &found));
	}
	return KR_OK;
}
