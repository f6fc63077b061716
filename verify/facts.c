/* Collects the versions of every key in one walk over the operations: a transaction's last write of a key is
 * its version, an earlier one is overwritten in place, so that what is intermediate or aborted never enters.
 * Two counting sorts then order them by key, and by value within a key. Values are interned, so a candidate
 * set "had value a" is a range there; any other set is a filter over the key's versions. Cost: linear in
 * operations, keys and values; a lookup is a binary search. Does not look at predicate observations: those
 * are judged when asked for. */
#include "verify/facts.h"
#include "frontend/history_written.h"

#include <string.h>

#include "base/hash.h"
#include "base/order.h"

/* ---- collecting ---- */

struct written {
	kr_key key;
	struct kr_fact_version version;
};

KR_VEC_NAMED(writes, struct written);

/* Which transaction touched a key last, and what it left: valid only while that transaction is walked. */
struct stamp {
	uint32_t txn;
	uint32_t entry;
};

static enum kr_status collect_op(const struct kr_history *h, struct kr_mem *mem, kr_txn t, uint32_t index,
	struct stamp *stamps, struct writes *out)
{
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
	uint32_t effects = kr_effect_count(h, op);

	for (uint32_t i = 0; i < effects; i++) {
		struct kr_written_row effect = kr_effect_at(h, op, i);
		struct stamp *stamp = &stamps[effect.key.i];
		struct kr_fact_version version = {t, effect.value, index, index};

		if (stamp->txn == t.i && stamp->entry < out->n) {
			version.first_op = out->at[stamp->entry].version.first_op;
			out->at[stamp->entry].version = version;
			continue;
		}
		*stamp = (struct stamp){t.i, out->n};
		KR_TRY(kr_vec_add(mem, out, (struct written){effect.key, version}));
	}
	return KR_OK;
}

static void clear_stamps(struct stamp *stamps, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		stamps[k] = (struct stamp){KR_NONE, 0};
}

static enum kr_status collect_writes(struct kr_facts *f, struct kr_ctx *ctx, struct stamp *stamps,
	struct writes *out)
{
	const struct kr_history *h = f->h;

	clear_stamps(stamps, h->keys.n);
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		if (h->txns.at[t.i].status == KR_ABORTED)
			continue;
		f->unknowns |= h->txns.at[t.i].status == KR_UNKNOWN;
		for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
			KR_TRY(kr_ctx_tick(ctx));
			KR_TRY(collect_op(h, f->mem, t, i, stamps, out));
		}
	}
	return KR_OK;
}

static enum kr_status collect_sight(const struct kr_facts *f, kr_txn t, uint32_t index,
	struct kr_fact_sights *out)
{
	const struct kr_history *h = f->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
	uint32_t seen = kr_saw_count(h, op);

	for (uint32_t i = 0; i < seen; i++) {
		kr_key k = kr_saw_key(h, op, i);
		struct kr_saw saw = kr_saw_at(h, op, i);

		if ((saw.test != KR_SAW_VALUE && saw.test != KR_SAW_OTHER) || kr_facts_grows(f, k) ||
			!kr_facts_external(f, k, t, index))
			continue;
		KR_TRY(kr_vec_add(f->mem, out,
			(struct kr_fact_sight){t, k, saw.value, index, saw.test == KR_SAW_OTHER}));
	}
	return KR_OK;
}

static enum kr_status collect_sights(const struct kr_facts *f, struct kr_ctx *ctx, struct kr_fact_sights *out)
{
	const struct kr_history *h = f->h;

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		if (h->txns.at[t.i].status == KR_ABORTED)
			continue;
		for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
			KR_TRY(kr_ctx_tick(ctx));
			KR_TRY(collect_sight(f, t, i, out));
		}
	}
	return KR_OK;
}

/* ---- sorting ---- */

/* Stable counting sort: writes into `out` the items of `in` (NULL: 0, 1, ... n - 1) by their label, and into
 * `first` (labels + 2 entries) where each label's items start. label[i] belongs to item i. */
static void sort_by(const uint32_t *label, const uint32_t *in, uint32_t n, uint32_t *first, uint32_t labels,
	uint32_t *out)
{
	memset(first, 0, ((size_t)labels + 2) * sizeof *first);
	for (uint32_t i = 0; i < n; i++)
		first[label[i] + 2]++;
	kr_index_places(first, labels);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = in ? in[i] : i;
		out[first[label[item] + 1]++] = item;
	}
}

/* Sorts n items by key, and by value within a key: `order` gets the items, `first` where each key starts. */
static enum kr_status sort_by_value(const struct kr_facts *f, struct kr_arena *scratch, const uint32_t *key,
	const uint32_t *value, uint32_t n, uint32_t *first, uint32_t *order)
{
	uint32_t nvalues = f->h->values.n + 1; /* the last label stands for items without a plain value */
	uint32_t *value_first, *half;

	KR_TRY(kr_arena_new(scratch, value_first, (size_t)nvalues + 2));
	KR_TRY(kr_arena_new(scratch, half, n));
	sort_by(value, NULL, n, value_first, nvalues, half);
	sort_by(key, half, n, first, f->h->keys.n, order);
	return KR_OK;
}

static enum kr_status sort_versions(struct kr_facts *f, struct kr_arena *scratch, const struct writes *w)
{
	uint32_t n = w->n, *key, *value;

	f->count = n;
	KR_TRY(kr_arena_new(scratch, key, n));
	KR_TRY(kr_arena_new(scratch, value, n));
	KR_TRY(kr_arena_new(&f->arena, f->first, (size_t)f->h->keys.n + 2));
	KR_TRY(kr_arena_new(&f->arena, f->versions, n));
	KR_TRY(kr_arena_new(&f->arena, f->by_value, n));
	for (uint32_t i = 0; i < n; i++)
		key[i] = w->at[i].key.i;
	sort_by(key, NULL, n, f->first, f->h->keys.n, f->by_value);
	for (uint32_t i = 0; i < n; i++) {
		const struct written *written = &w->at[f->by_value[i]];
		f->versions[i] = written->version;
		key[i] = written->key.i;
		value[i] = written->version.value.i == KR_NONE ? f->h->values.n : written->version.value.i;
	}
	return sort_by_value(f, scratch, key, value, n, f->first, f->by_value);
}

static enum kr_status sort_sights(struct kr_facts *f, struct kr_arena *scratch,
	const struct kr_fact_sights *sights)
{
	uint32_t n = sights->n, *key, *value, *order;

	KR_TRY(kr_arena_new(scratch, key, n));
	KR_TRY(kr_arena_new(scratch, value, n));
	KR_TRY(kr_arena_new(scratch, order, n));
	KR_TRY(kr_arena_new(&f->arena, f->sight_first, (size_t)f->h->keys.n + 2));
	KR_TRY(kr_arena_new(&f->arena, f->sights, n));
	for (uint32_t i = 0; i < n; i++) {
		key[i] = sights->at[i].key.i;
		value[i] = sights->at[i].other ? f->h->values.n : sights->at[i].value.i;
	}
	KR_TRY(sort_by_value(f, scratch, key, value, n, f->sight_first, order));
	for (uint32_t i = 0; i < n; i++)
		f->sights[i] = sights->at[order[i]];
	return KR_OK;
}

/* ---- building ---- */

static enum kr_status build_versions(struct kr_facts *f, struct kr_ctx *ctx)
{
	uint32_t nkeys = f->h->keys.n;
	struct stamp *stamps = kr_mem_alloc(f->mem, nkeys, sizeof *stamps);
	struct writes writes = {0};
	enum kr_status status = stamps ? collect_writes(f, ctx, stamps, &writes) : KR_NOMEM;
	struct kr_arena scratch = {.mem = f->mem};

	kr_mem_free(f->mem, stamps, nkeys, sizeof *stamps);
	if (status == KR_OK)
		status = sort_versions(f, &scratch, &writes);
	kr_arena_done(&scratch);
	kr_vec_done(f->mem, &writes);
	return status;
}

static enum kr_status build_sights(struct kr_facts *f, struct kr_ctx *ctx)
{
	struct kr_fact_sights sights = {0};
	enum kr_status status = collect_sights(f, ctx, &sights);
	struct kr_arena scratch = {.mem = f->mem};

	if (status == KR_OK)
		status = sort_sights(f, &scratch, &sights);
	kr_arena_done(&scratch);
	kr_vec_done(f->mem, &sights);
	return status;
}

enum kr_status kr_facts_init(struct kr_facts *f, struct kr_ctx *ctx, const struct kr_history *h,
	bool installs, struct kr_err *err)
{
	*f = (struct kr_facts){.arena = {.mem = &ctx->mem},
		.mem = &ctx->mem,
		.h = h,
		.installs = installs,
		.untold = kr_history_untold(h)};
	enum kr_status status = build_versions(f, ctx);
	if (status == KR_OK)
		status = kr_grow_init(f, ctx);
	if (status == KR_OK && (f->unknowns || f->untold)) {
		status = build_sights(f, ctx);
		if (status == KR_OK)
			status = kr_facts_exclude(f, ctx);
	}
	if (status != KR_OK)
		kr_facts_done(f);
	return status == KR_OK ? KR_OK : kr_err_set(err, status, "%s", kr_status_text(status));
}

void kr_facts_done(struct kr_facts *f)
{
	kr_grow_done(f);
	kr_arena_done(&f->arena);
	kr_vec_done(f->mem, &f->denied);
	kr_table_done(f->mem, &f->denied_table);
	*f = (struct kr_facts){.mem = f->mem, .h = f->h};
}

/* ---- asking ---- */

const struct kr_fact_version *kr_facts_version(const struct kr_facts *f, kr_key k, kr_txn t)
{
	uint32_t end = f->first[k.i + 1], at;

	KR_BISECT(at, f->first[k.i], end, f->versions[at].txn.i < t.i);
	return at < end && f->versions[at].txn.i == t.i ? &f->versions[at] : NULL;
}

bool kr_facts_external(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t op)
{
	const struct kr_fact_version *own = kr_facts_version(f, k, t);

	return !own || op <= own->first_op;
}

static void name_source(const struct kr_history *h, struct kr_sight *s)
{
	const struct kr_attr *attr = kr_history_attr(h, kr_history_op(h, s->txn, s->op));

	for (uint32_t i = 0; attr && i < attr->seen_count; i++) {
		const struct kr_seen *seen = &h->seen.at[attr->seen_first + i];
		if (seen->key.i != s->key.i)
			continue;
		s->named = true;
		s->source = seen->writer;
	}
}

bool kr_facts_sight_of(const struct kr_facts *f, kr_txn t, uint32_t op, kr_key k, const struct kr_saw *saw,
	kr_value part, struct kr_sight *out)
{
	*out = (struct kr_sight){.txn = t, .op = op, .key = k, .saw = *saw, .part = part};
	if (saw->test == KR_SAW_NOTHING)
		return false;
	if (part.i == KR_NONE)
		name_source(f->h, out);
	if (!kr_facts_grows(f, k) || out->saw.predicate)
		return kr_facts_external(f, k, t, op);

	const struct kr_grow_sight *sight = kr_grow_sight(f, k, t, op);

	if (!sight)
		return false;
	out->own = sight->own;
	out->own_count = sight->own_count;
	out->named &= sight->own_count == 0; /* own additions hide it */
	return true;
}

bool kr_facts_sight(const struct kr_facts *f, kr_txn t, uint32_t op, kr_key k, kr_value part,
	struct kr_sight *out)
{
	struct kr_saw saw = kr_saw_of(f->h, &f->h->ops.at[kr_history_op(f->h, t, op).i], k);

	return kr_facts_sight_of(f, t, op, k, &saw, part, out);
}

static uint32_t value_at(const struct kr_facts *f, uint32_t i) { return f->versions[f->by_value[i]].value.i; }

/* First index of [low, high) of by_value whose value is at least `value` (KR_NONE, the greatest, sorts
 * last). */
static uint32_t lower_bound(const struct kr_facts *f, uint32_t low, uint32_t high, uint32_t value)
{
	uint32_t at;

	KR_BISECT(at, low, high, value_at(f, at) < value);
	return at;
}

void kr_facts_group(const struct kr_facts *f, kr_key k, kr_value value, uint32_t *low, uint32_t *high)
{
	*low = lower_bound(f, f->first[k.i], f->first[k.i + 1], value.i);
	*high = lower_bound(f, *low, f->first[k.i + 1], value.i + 1);
}

uint32_t kr_facts_first_sight(const struct kr_facts *f, kr_key k, uint32_t value)
{
	uint32_t at;

	KR_BISECT(at, f->sight_first[k.i], f->sight_first[k.i + 1],
		!f->sights[at].other && f->sights[at].value.i < value);
	return at;
}

enum kr_status kr_facts_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer,
	bool *out, struct kr_err *err)
{
	*out = false;
	if (s->named && s->source.i != (writer.i == KR_NONE ? KR_ABSENT.i : f->h->txns.at[writer.i].id.i))
		return KR_OK;
	if (kr_facts_grows(f, s->key))
		return kr_grow_candidate(f, s, writer, out, err);
	if (writer.i == KR_NONE) {
		if (f->untold) {
			*out = s->saw.test != KR_SAW_NOTHING &&
				(s->saw.test != KR_SAW_VALUE ||
					kr_history_may_start(f->h, s->key, s->saw.value));
			return KR_OK;
		}
		return kr_saw_allows(f->h, &s->saw, s->key, f->h->keys.at[s->key.i].initial, out, err);
	}

	const struct kr_fact_version *version = kr_facts_version(f, s->key, writer);

	if (!version || writer.i == s->txn.i)
		return KR_OK;
	return kr_saw_allows(f->h, &s->saw, s->key, version->value, out, err);
}

bool kr_facts_denied(const struct kr_facts *f, kr_key k, kr_value value)
{
	uint32_t id;

	KR_TABLE_FIND(id, &f->denied_table, kr_hash_pair(k.i, value.i),
		f->denied.at[id].key.i == k.i && f->denied.at[id].value.i == value.i);
	return id != KR_NONE;
}

bool kr_facts_excluded(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer)
{
	const struct kr_saw *saw = &s->saw;
	bool allowed;

	if (writer.i != KR_NONE)
		return f->impossible && f->impossible[writer.i];
	if (!f->untold || kr_facts_grows(f, s->key))
		return false;

	const kr_value *pins = &f->pins[2 * (size_t)s->key.i];

	for (int i = 0; i < 2; i++)
		if (pins[i].i != KR_NONE &&
			kr_saw_allows(f->h, saw, s->key, pins[i], &allowed, NULL) == KR_OK && !allowed)
			return true;
	return saw->test == KR_SAW_VALUE && kr_facts_denied(f, s->key, saw->value);
}

struct kr_facts_iter kr_facts_candidates(const struct kr_facts *f, const struct kr_sight *s)
{
	struct kr_facts_iter it = {.sight = *s, .initial = true};

	it.at = f->first[s->key.i];
	it.end = f->first[s->key.i + 1];
	if (s->saw.test == KR_SAW_VALUE && !kr_facts_grows(f, s->key))
		kr_facts_group(f, s->key, s->saw.value, &it.at, &it.end);
	return it;
}

enum kr_status kr_facts_next(const struct kr_facts *f, struct kr_facts_iter *it, bool *found, kr_txn *writer,
	struct kr_err *err)
{
	*found = false;
	while (it->at < it->end || it->initial) {
		bool initial = it->at == it->end;

		*writer = initial ? (kr_txn){KR_NONE} : f->versions[f->by_value[it->at++]].txn;
		it->initial = !initial;
		KR_TRY(kr_facts_candidate(f, &it->sight, *writer, found, err));
		if (*found && !kr_facts_excluded(f, &it->sight, *writer))
			return KR_OK;
		*found = false;
	}
	return KR_OK;
}
