/* A counter whose value is a sum, and that was seen to be what no choice of the increments gives: a garbage
 * read. Cost: terms times different sums. */
#include "verify/claim.h"

#include "base/order.h"

enum { MOST_SUMS = 100000 };

KR_VEC_NAMED(sums, int64_t);

static int compare(int64_t a, int64_t b) { return KR_ORDER(a, b); }

/* All sums with and without `amount`, ascending and different. */
static enum kr_status with_term(const struct kr_claim *c, const struct sums *in, int64_t amount,
	struct sums *out)
{
	uint32_t a = 0, b = 0;
	int64_t shifted = 0;

	kr_vec_clear(out);
	while (a < in->n || b < in->n) {
		if (b < in->n && __builtin_add_overflow(in->at[b], amount, &shifted))
			return kr_err_set(c->v->err, KR_UNSUPPORTED, "a sum goes beyond 64 bits");

		int side = a == in->n ? 1 : b == in->n ? -1 : compare(in->at[a], shifted);
		int64_t sum = side <= 0 ? in->at[a] : shifted;

		a += side <= 0;
		b += side >= 0;
		if (out->n == MOST_SUMS)
			return kr_err_set(c->v->err, KR_UNSUPPORTED,
				"what was seen of %s has too many explanations to be checked",
				c->key_name.text);
		KR_TRY(kr_vec_add(&c->v->ctx->mem, out, sum));
	}
	return kr_ctx_tick(c->v->ctx);
}

static enum kr_status add_sum(const struct kr_claim *c, struct sums *sums, int64_t sum)
{
	uint32_t at = sums->n;

	KR_TRY(kr_vec_add(&c->v->ctx->mem, sums, sum));
	for (; at > 0 && sums->at[at - 1] > sum; at--)
		sums->at[at] = sums->at[at - 1];
	if (at > 0 && sums->at[at - 1] == sum) { /* it is there */
		for (; at + 1 < sums->n; at++)
			sums->at[at] = sums->at[at + 1];
		sums->n--;
		return KR_OK;
	}
	sums->at[at] = sum;
	return KR_OK;
}

static bool takes_part(const struct kr_claim *c, const struct kr_facts *f, uint32_t i)
{
	kr_txn t = f->versions[i].txn;

	return t.i != c->txn.i && !(f->impossible && f->impossible[t.i]);
}

/* Bases first: then what is absent is found on the way. */
static enum kr_status collect_sums(const struct kr_claim *c, const struct kr_facts *f, struct sums *sums,
	struct sums *spare, bool *absent)
{
	int64_t number;
	bool initial;

	*absent = false;
	if (kr_grow_initial_count(f->h, c->key, &initial, &number)) {
		*absent = initial;
		KR_TRY(add_sum(c, sums, initial ? 0 : number));
	}
	for (uint32_t i = f->first[c->key.i]; i < f->first[c->key.i + 1]; i++) {
		const struct kr_grow_version *version = &f->grow->versions[i];
		if (version->relative || !takes_part(c, f, i))
			continue;
		*absent |= version->absent;
		KR_TRY(add_sum(c, sums, version->absent ? 0 : version->amount));
	}
	for (uint32_t i = f->first[c->key.i]; i < f->first[c->key.i + 1]; i++) {
		struct sums swap = *sums;

		if (!f->grow->versions[i].relative || !takes_part(c, f, i))
			continue;
		KR_TRY(with_term(c, sums, f->grow->versions[i].amount, spare));
		*sums = *spare;
		*spare = swap;
	}
	return KR_OK;
}

enum kr_status kr_claim_sum(const struct kr_claim *c, const struct kr_facts *f, const struct kr_sight *sight,
	bool *out)
{
	struct kr_count want = kr_grow_count(f->h, sight);
	struct sums sums = {0}, spare = {0};
	bool absent;

	*out = false;
	if (c->v->cert->anomaly.kind != KR_GARBAGE_READ)
		return KR_OK;
	if (f->untold) /* left to the case search */
		return KR_OK;
	enum kr_status status = collect_sums(c, f, &sums, &spare, &absent);
	*out = status == KR_OK &&
		(want.test == KR_COUNT_NEVER || (want.test == KR_COUNT_ABSENT && !absent) ||
			want.test == KR_COUNT_IS);
	for (uint32_t i = 0; i < sums.n && want.test == KR_COUNT_IS; i++)
		*out &= sums.at[i] != want.number;
	kr_vec_done(f->mem, &sums);
	kr_vec_done(f->mem, &spare);
	return status;
}
