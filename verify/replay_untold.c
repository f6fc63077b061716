/* What predicate reads say of initial values that nobody tells, while transactions are replayed. Where that
 * can be so in any number of ways nothing is fixed; what is not thought through is unsupported. */
#include "verify/replayed.h"

#include "frontend/where.h"

/* Of a value that nobody tells (else it has been learned), whether it can be so in any number of ways,
 * whatever else it was seen not to be: that a key was not returned, though it did not fail a condition of
 * being other than something only; or that an update returned it, whose one condition is no equality, or asks
 * for a field, beside which there may be others. */
static bool says_little(const struct kr_replayed *r, const struct kr_operation *op, kr_key k, bool returned)
{
	const struct kr_history *h = r->v->h;
	const struct kr_scan *scan = &h->scans.at[op->scan];
	uint32_t wide = 0, conds = 0;

	if (!kr_where_has_prefix(h, scan, k))
		return !returned;
	if (r->store.learned->learning && !returned)
		return kr_where_of_values(h, scan);
	for (uint32_t i = 0; i < scan->cond_count; i++) {
		const struct kr_cond *cond = &h->conds.at[scan->cond_first + i];

		if (cond->target == KR_COND_KEY_PREFIX)
			continue;
		conds++;
		wide += returned ? cond->target == KR_COND_FIELD ||
				(cond->test != KR_COND_EQ && cond->test != KR_COND_IN)
				 : cond->test != KR_COND_NE;
	}
	return wide > 0 && (!returned || (op->kind == KR_OP_UPDATE && conds == 1));
}

static bool same_conditions(const struct kr_history *h, const struct kr_scan *a, const struct kr_scan *b)
{
	bool same = a->cond_count == b->cond_count;

	for (uint32_t i = 0; same && i < a->cond_count; i++) {
		const struct kr_cond *x = &h->conds.at[a->cond_first + i],
				     *y = &h->conds.at[b->cond_first + i];

		same = x->target == y->target && x->test == y->test && x->field.i == y->field.i &&
			x->value.i == y->value.i;
	}
	return same;
}

/* Some value fails any number of conditions, and some meets one of them; what meets one and fails another, or
 * meets two, is not thought through. */
static bool goes_together(struct kr_replayed *r, const struct kr_operation *op, kr_key k, bool met)
{
	const struct kr_history *h = r->v->h;
	uint32_t *little = &r->little[k.i];
	bool first = *little == KR_LITTLE_NOTHING, missed = *little == KR_LITTLE_MISSED;

	if (r->store.learned->learning || !kr_where_has_prefix(h, &h->scans.at[op->scan], k))
		return true;
	if (first)
		*little = met ? KR_LITTLE_MET + op->scan : KR_LITTLE_MISSED;
	return first ||
		(met ? !missed &&
					same_conditions(h, &h->scans.at[op->scan],
						&h->scans.at[*little - KR_LITTLE_MET])
		     : missed);
}

static enum kr_status see_little(struct kr_replayed *r, const struct kr_operation *op, kr_key k, bool met)
{
	if (goes_together(r, op, k, met))
		return KR_OK;
	return kr_err_set(r->v->err, KR_UNSUPPORTED,
		"what several conditions say of %s, whose initial value is not told",
		kr_verify_key_name(r->v->h, k).text);
}

/* A key of which nobody tells the value, nor that it was there, may have been absent whatever conditions it
 * does not meet. That is a guess: one value alone may not meet them, either. */
static bool guess_absent(struct kr_replayed *r, kr_key k)
{
	uint32_t *little = &r->little[k.i];

	if (r->store.learned->learning || *little > KR_LITTLE_MISSED || r->store.cells[k.i].index != KR_NONE)
		return false;
	*little = KR_LITTLE_GUESSED;
	kr_store_write(&r->store, k, KR_ABSENT);
	return true;
}

enum kr_status kr_replay_untold(struct kr_replayed *r, const struct kr_operation *op, kr_key k, bool met,
	bool *settled)
{
	*settled = false;
	if (!r->store.learned)
		return KR_OK;
	if (says_little(r, op, k, met)) {
		*settled = true;
		return see_little(r, op, k, met);
	}
	*settled = !met && guess_absent(r, k);
	return KR_OK;
}
