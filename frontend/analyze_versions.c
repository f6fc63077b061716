/* Transactions, keys and versions of the ASG.
 *
 * A version is the last write of a transaction to a key, if the transaction took effect or may have. Walking
 * each transaction's operations backwards, the first write met of a key is the last one; a stamp per key
 * tells whether one was met. Versions are counted per key, then filled in the order of transactions, so each
 * key's versions are in that order. Linear in the operations. */
#include "frontend/analyze_work.h"
#include "frontend/model/datatype.h"

#include <string.h>

struct kr_row kr_analyze_write(const struct kr_work *w, const struct kr_operation *op, uint32_t i)
{
	struct kr_write write = {.key = {KR_NONE}};

	(void)kr_write_at(w->h, op, i, &write);
	return (struct kr_row){write.key, kr_analyze_grows(w, write.key) ? KR_ABSENT : write.told};
}

uint32_t kr_analyze_version(const struct kr_work *w, kr_key k, kr_txn t)
{
	const struct kr_asg *asg = w->asg;
	uint32_t low = asg->keys[k.i].first + 1, end = asg->keys[k.i + 1].first, at;

	KR_BISECT(at, low, end, asg->versions[at].writer.i < t.i);
	return at < end && asg->versions[at].writer.i == t.i ? at : KR_NONE;
}

/* Lists, sets, marks, and counters; of these, where the results of increments are what they leave, only those
 * that are not told all along. */
static enum kr_status find_growing(struct kr_work *w)
{
	const struct kr_history *h = w->h;
	struct kr_write write;

	w->grows = KR_NEW_ARRAY(&w->scratch, uint64_t, KR_BITS_WORDS(h->keys.n));
	if (!w->grows)
		return KR_NOMEM;
	for (uint32_t k = 0; k < h->keys.n; k++)
		if (kr_datatype_of(h->keys.at[k].kind)->parts)
			kr_bits_set(w->grows, k);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];

		for (uint32_t i = txn->op_first;
			i < txn->op_first + txn->op_count && txn->status != KR_ABORTED; i++) {
			const struct kr_operation *op = &h->ops.at[i];

			KR_TRY(kr_ctx_tick(w->ctx));
			if (!kr_write_at(h, op, 0, &write) || write.how != KR_ADD)
				continue;
			w->out->shows_own |= write.told.i != KR_NONE;
			if (!w->installs || write.told.i == KR_NONE)
				kr_bits_set(w->grows, write.key.i);
		}
	}
	return KR_OK;
}

enum kr_status kr_analyze_txns(struct kr_work *w)
{
	const struct kr_history *h = w->h;
	struct kr_asg *asg = w->asg;

	asg->clock_skew = h->clock_skew;
	asg->nsessions = h->sessions.n;
	asg->ntxns = h->txns.n;
	asg->txns = KR_NEW_ARRAY(&asg->arena, struct kr_asg_txn, asg->ntxns);
	if (!asg->txns)
		return KR_NOMEM;
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		const struct kr_transaction *from = &h->txns.at[t];

		asg->txns[t] = (struct kr_asg_txn){
			.presence = from->status == KR_COMMITTED ? KR_PRESENT
				: from->status == KR_UNKNOWN     ? KR_OPEN
								 : KR_ABSENT_TXN,
			.outcome_unknown = from->status == KR_UNKNOWN,
			.has_begin = from->flags & KR_TXN_HAS_BEGIN,
			.has_end = from->flags & KR_TXN_HAS_END,
			.session = from->session.i,
			.begin = from->flags & KR_TXN_HAS_BEGIN ? from->begin_invoked : 0,
			.end = from->flags & KR_TXN_HAS_END ? from->end_returned : 0,
		};
		KR_TRY(kr_ctx_tick(w->ctx));
	}
	return KR_OK;
}

/* For each version: counts it in next[its key] (fill: false), or puts it at next[its key] (fill: true), which
 * then moves on. */
static enum kr_status each_version(struct kr_work *w, uint32_t *next, bool fill)
{
	const struct kr_history *h = w->h;

	memset(w->stamp, 0xff, h->keys.n * sizeof *w->stamp);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];

		if (w->asg->txns[t].presence == KR_ABSENT_TXN)
			continue;
		for (uint32_t i = txn->op_count; i-- > 0;) {
			const struct kr_operation *op = &h->ops.at[txn->op_first + i];

			KR_TRY(kr_ctx_tick(w->ctx));
			for (uint32_t n = kr_write_count(w->h, op); n-- > 0;) {
				struct kr_row write = kr_analyze_write(w, op, n);
				uint32_t k = write.key.i;

				if (w->stamp[k] == t)
					continue;
				w->stamp[k] = t;
				if (fill) {
					w->asg->versions[next[k]] = (struct kr_asg_version){{t}, write.key};
					w->token[next[k]] = kr_token_of(write.value);
				}
				next[k]++;
			}
		}
	}
	return KR_OK;
}

static enum kr_status number_keys(struct kr_work *w, const uint32_t *count)
{
	struct kr_asg *asg = w->asg;
	uint64_t first = 0;

	for (uint32_t k = 0; k < asg->nkeys; k++) {
		asg->keys[k] = (struct kr_asg_key){.first = (uint32_t)first,
			.open_initial = kr_history_untold(w->h)};
		first += (uint64_t)count[k] + 1;
		if (first >= KR_NONE)
			return kr_err_set(w->err, KR_UNSUPPORTED,
				"found more than %u versions, expected fewer", KR_NONE);
	}
	asg->nversions = (uint32_t)first;
	asg->keys[asg->nkeys].first = asg->nversions;
	return KR_OK;
}

enum kr_status kr_analyze_versions(struct kr_work *w)
{
	struct kr_asg *asg = w->asg;
	uint32_t *next = KR_NEW_ARRAY(&w->scratch, uint32_t, w->h->keys.n);

	w->stamp = KR_NEW_ARRAY(&w->scratch, uint32_t, w->h->keys.n);
	asg->nkeys = w->h->keys.n;
	asg->keys = KR_NEW_ARRAY(&asg->arena, struct kr_asg_key, (size_t)asg->nkeys + 1);
	if (!next || !w->stamp || !asg->keys)
		return KR_NOMEM;
	KR_TRY(find_growing(w));
	KR_TRY(each_version(w, next, false));
	KR_TRY(number_keys(w, next));
	asg->versions = KR_NEW_ARRAY(&asg->arena, struct kr_asg_version, asg->nversions);
	w->token = KR_NEW_ARRAY(&asg->arena, kr_token, asg->nversions);
	if (!asg->versions || !w->token)
		return KR_NOMEM;
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		uint32_t first = asg->keys[k].first;

		asg->versions[first] = (struct kr_asg_version){{KR_NONE}, {k}};
		w->token[first] =
			asg->keys[k].open_initial ? KR_TOKEN_UNTOLD : kr_token_of(w->h->keys.at[k].initial);
		next[k] = first + 1;
	}
	return each_version(w, next, true);
}
