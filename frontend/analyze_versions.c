/* Keys and versions.
 *
 * A version is the last write of a transaction to a key, if the transaction took effect or may have. Walking
 * each transaction's operations backwards, the first write met of a key is the last one; a stamp per key
 * tells whether one was met. Versions are counted per key, then filled in the order of transactions, so each
 * key's versions are in that order. Linear in the operations. */
#include "frontend/analyze_work.h"
#include "frontend/model/datatype.h"

#include <string.h>

struct kr_row kr_analyze_write(const struct kr_work *w, const struct kr_writes *writes,
	const struct kr_operation *op, uint32_t i)
{
	struct kr_write write = {.key = {KR_NONE}};

	(void)kr_write_at(w->h, op, i, &write);
	return (struct kr_row){write.key, kr_analyze_grows(writes, write.key) ? KR_ABSENT : write.told};
}

uint32_t kr_analyze_version(const struct kr_writes *writes, kr_key k, kr_txn t)
{
	uint32_t low = writes->keys[k.i].first + 1, end = writes->keys[k.i + 1].first, at;

	KR_BISECT(at, low, end, writes->versions[at].writer.i < t.i);
	return at < end && writes->versions[at].writer.i == t.i ? at : KR_NONE;
}

static enum kr_status each_write(const struct kr_work *w, const struct kr_writes *writes, bool all,
	kr_take_write *take, void *data, uint32_t *stamp)
{
	const struct kr_history *h = w->h;

	memset(stamp, 0xff, h->keys.n * sizeof *stamp);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];

		for (uint32_t i = txn->op_count; i-- > 0 && (all || txn->status != KR_ABORTED);) {
			const struct kr_operation *op = &h->ops.at[txn->op_first + i];

			KR_TRY(kr_ctx_tick(w->ctx));
			for (uint32_t n = kr_write_count(h, op); n-- > 0;) {
				struct kr_row write = kr_analyze_write(w, writes, op, n);
				bool last = stamp[write.key.i] != t;

				stamp[write.key.i] = t;
				KR_TRY(take(data, (kr_txn){t}, write, last));
			}
		}
	}
	return KR_OK;
}

enum kr_status kr_analyze_each_write(const struct kr_work *w, const struct kr_writes *writes, bool all,
	kr_take_write *take, void *data)
{
	uint32_t nkeys = w->h->keys.n, *stamp = kr_mem_alloc(w->mem, nkeys, sizeof *stamp);
	enum kr_status status = stamp ? each_write(w, writes, all, take, data, stamp) : KR_NOMEM;

	kr_mem_free(w->mem, stamp, nkeys, sizeof *stamp);
	return status;
}

/* Lists, sets, marks, and counters; of these, where the results of increments are what they leave, only those
 * that are not told all along. */
static enum kr_status find_growing(const struct kr_work *w, struct kr_writes *out)
{
	const struct kr_history *h = w->h;
	struct kr_write write;
	bool added_to = false; /* some key, for all that its kind says */

	for (uint32_t k = 0; k < h->keys.n; k++) {
		if (kr_datatype_of(h->keys.at[k].kind)->parts)
			kr_bits_set(out->grows, k);
		added_to |= h->keys.at[k].kind != KR_KIND_ANY && h->keys.at[k].kind != KR_KIND_REGISTER;
	}
	for (uint32_t t = 0; t < h->txns.n && added_to; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];

		for (uint32_t i = txn->op_first;
			i < txn->op_first + txn->op_count && txn->status != KR_ABORTED; i++) {
			KR_TRY(kr_ctx_tick(w->ctx));
			if (!kr_write_at(h, &h->ops.at[i], 0, &write) || write.how != KR_ADD)
				continue;
			out->shows_own |= write.told.i != KR_NONE;
			if (!w->installs || write.told.i == KR_NONE)
				kr_bits_set(out->grows, write.key.i);
		}
	}
	return KR_OK;
}

/* ---- versions ---- */

struct versions {
	struct kr_writes *out;
	uint32_t *next; /* per key: how many there are; then where to put the next one */
};

static enum kr_status take_version(void *data, kr_txn t, struct kr_row write, bool last)
{
	const struct versions *v = data;
	uint32_t *next = &v->next[write.key.i];

	if (last && v->out->versions) {
		v->out->versions[*next] = (struct kr_asg_version){t, write.key};
		v->out->token[*next] = kr_token_of(write.value);
	}
	*next += last;
	return KR_OK;
}

static enum kr_status number_keys(const struct kr_work *w, const uint32_t *count, struct kr_writes *out)
{
	uint64_t first = 0;

	for (uint32_t k = 0; k < out->nkeys; k++) {
		out->keys[k] = (struct kr_asg_key){.first = (uint32_t)first,
			.open_initial = kr_history_untold(w->h)};
		first += (uint64_t)count[k] + 1;
		if (first >= KR_NONE)
			return kr_err_set(w->err, KR_UNSUPPORTED,
				"found more than %u versions, expected fewer", KR_NONE);
	}
	out->nversions = (uint32_t)first;
	out->keys[out->nkeys].first = out->nversions;
	return KR_OK;
}

enum kr_status kr_analyze_versions(const struct kr_work *w, struct kr_writes *out)
{
	uint32_t nkeys = w->h->keys.n;
	struct versions making = {out, KR_NEW_ARRAY(w->scratch, uint32_t, nkeys)};

	*out = (struct kr_writes){.nkeys = nkeys,
		.keys = KR_NEW_ARRAY(w->arena, struct kr_asg_key, (size_t)nkeys + 1),
		.grows = KR_NEW_ARRAY(w->scratch, uint64_t, KR_BITS_WORDS(nkeys))};
	if (!making.next || !out->keys || !out->grows)
		return KR_NOMEM;
	KR_TRY(find_growing(w, out));
	KR_TRY(kr_analyze_each_write(w, out, false, take_version, &making));
	KR_TRY(number_keys(w, making.next, out));
	KR_TRY(kr_arena_new(w->arena, out->versions, out->nversions));
	KR_TRY(kr_arena_new(w->scratch, out->token, out->nversions));
	for (uint32_t k = 0; k < nkeys; k++) {
		uint32_t first = out->keys[k].first;

		out->versions[first] = (struct kr_asg_version){{KR_NONE}, {k}};
		out->token[first] =
			out->keys[k].open_initial ? KR_TOKEN_UNTOLD : kr_token_of(w->h->keys.at[k].initial);
		making.next[k] = first + 1;
	}
	return kr_analyze_each_write(w, out, false, take_version, &making);
}
