/* Which transactions of unknown outcome cannot have taken effect, and which initial values are fixed by what was read.
 *
 * Starts from "all are possible" and takes away a transaction when it contradicts itself or made an observation that no version still possible
 * explains; that can take the last explanation from others, so their observations are looked at again. A committed observation that only
 * the initial version can explain tells what its untold value is, or is not; an unknown transaction that needs it to be two values is
 * impossible. What is left is the greatest solution, so that what was
 * taken away is absent from every world. Per value of a key it counts the versions still possible; observations of a value are looked at
 * again only when one or none is left. Cost: near linear in observations. */
#include "base/hash.h"
#include "verify/facts.h"

struct counts {
	uint32_t *of_key;   /* versions still possible, per key */
	uint32_t *of_group; /* the same per value: at the group's first index in by_value */
};

struct need {
	kr_key key;
	kr_txn txn;
	kr_value value;
};

struct excluding {
	struct kr_facts *f;
	struct kr_ctx *ctx;
	struct counts live;
	KR_VEC(kr_txn) queue;      /* taken away, their versions not yet uncounted */
	KR_VEC(struct need) needs; /* what unknown transactions need untold initial values to be */
	struct kr_table need_table;
};

static enum kr_status take_away(struct excluding *e, kr_txn t)
{
	if (e->f->impossible[t.i])
		return KR_OK;
	e->f->impossible[t.i] = true;
	return kr_vec_push(&e->ctx->mem, &e->queue, t) ? KR_OK : KR_NOMEM;
}

/* How many versions by others can explain the observation. */
static uint32_t explanations(const struct excluding *e, const struct kr_fact_sight *s)
{
	const struct kr_facts *f = e->f;
	const struct kr_fact_version *own = kr_facts_version(f, s->key, s->txn);
	uint32_t low, high, count;

	kr_facts_group(f, s->key, s->value, &low, &high);
	count = low < high ? e->live.of_group[low] : 0;
	if (s->other)
		count = e->live.of_key[s->key.i] - count;
	return count - (own && !f->impossible[s->txn.i] && (own->value.i == s->value.i) != s->other);
}

static bool initial_explains(const struct kr_facts *f, const struct kr_fact_sight *s)
{
	struct kr_sight sight = kr_sight_of(s);

	if (!f->untold)
		return (f->h->keys.at[s->key.i].initial.i == s->value.i) != s->other;
	return !kr_facts_excluded(f, &sight, (kr_txn){KR_NONE});
}

/* Notes that the initial value of the key must be `value`; true when that is new. */
static bool add_pin(struct kr_facts *f, kr_key k, kr_value value)
{
	kr_value *pins = &f->pins[2 * (size_t)k.i];

	if (pins[0].i == value.i || pins[1].i != KR_NONE)
		return false;
	pins[pins[0].i != KR_NONE] = value;
	return true;
}

/* Notes that the initial value of the key is not `value`; *added is set when that is new. */
static enum kr_status deny(struct kr_facts *f, kr_key k, kr_value value, bool *added)
{
	if (kr_facts_denied(f, k, value))
		return KR_OK;
	if (!kr_table_reserve(f->mem, &f->denied_table) || !kr_vec_push(f->mem, &f->denied, (struct kr_row){k, value}))
		return KR_NOMEM;
	kr_table_insert(&f->denied_table, kr_hash_pair(k.i, value.i), f->denied.n - 1);
	*added = true;
	return KR_OK;
}

/* Notes that an unknown transaction needs the untold initial value of the key to be `value`: it is impossible if it needs another one, too. */
static enum kr_status need(struct excluding *e, const struct kr_fact_sight *s)
{
	uint64_t hash = kr_hash_pair(s->key.i, s->txn.i);
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&e->need_table, hash); (id = kr_table_next(&e->need_table, &it)) != KR_NONE;) {
		const struct need *n = &e->needs.at[id];
		if (n->key.i == s->key.i && n->txn.i == s->txn.i)
			return n->value.i == s->value.i ? KR_OK : take_away(e, s->txn);
	}
	if (!kr_table_reserve(&e->ctx->mem, &e->need_table) || !kr_vec_push(&e->ctx->mem, &e->needs, (struct need){s->key, s->txn, s->value}))
		return KR_NOMEM;
	kr_table_insert(&e->need_table, hash, e->needs.n - 1);
	return KR_OK;
}

/* Looks at one observation. *pinned is set when it told something new of an initial value. */
static enum kr_status look_at(struct excluding *e, const struct kr_fact_sight *s, bool *pinned)
{
	struct kr_facts *f = e->f;

	if (f->impossible[s->txn.i] || explanations(e, s) > 0)
		return KR_OK;
	if (f->h->txns.at[s->txn.i].status == KR_UNKNOWN) {
		if (!initial_explains(f, s))
			return take_away(e, s->txn);
		return f->untold && !s->other ? need(e, s) : KR_OK;
	}
	if (f->untold && s->other)
		return deny(f, s->key, s->value, pinned);
	if (f->untold && add_pin(f, s->key, s->value))
		*pinned = true;
	return KR_OK;
}

static enum kr_status look_at_range(struct excluding *e, uint32_t low, uint32_t high, bool *pinned)
{
	enum kr_status status;

	for (uint32_t i = low; i < high; i++)
		if ((status = kr_ctx_tick(e->ctx)) != KR_OK || (status = look_at(e, &e->f->sights[i], pinned)) != KR_OK)
			return status;
	return KR_OK;
}

/* Looks at all observations of a key; when that told something new of its initial value, once more: what a committed one tells does not depend on that. */
static enum kr_status look_at_key(struct excluding *e, kr_key k)
{
	bool told = false, again = false;
	uint32_t low = e->f->sight_first[k.i], high = e->f->sight_first[k.i + 1];
	enum kr_status status = look_at_range(e, low, high, &told);

	return status == KR_OK && told ? look_at_range(e, low, high, &again) : status;
}

/* Uncounts a version of a transaction that was taken away, and looks again at what it may have explained. */
static enum kr_status uncount(struct excluding *e, kr_key k, kr_value value)
{
	struct kr_facts *f = e->f;
	uint32_t low, high;
	bool pinned = false;
	enum kr_status status = KR_OK;

	kr_facts_group(f, k, value, &low, &high);
	e->live.of_key[k.i]--;
	if (--e->live.of_group[low] <= 1)
		status = look_at_range(e, kr_facts_first_sight(f, k, value.i), kr_facts_first_sight(f, k, value.i + 1), &pinned);
	if (status == KR_OK)
		status = look_at_range(e, kr_facts_first_sight(f, k, KR_NONE), f->sight_first[k.i + 1], &pinned);
	return status == KR_OK && pinned ? look_at_key(e, k) : status;
}

static enum kr_status uncount_all(struct excluding *e, kr_txn t)
{
	const struct kr_history *h = e->f->h;
	enum kr_status status;

	for (uint32_t index = 0; index < h->txns.at[t.i].op_count; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
		uint32_t effects = kr_effect_count(h, op);

		for (uint32_t i = 0; i < effects; i++) {
			kr_key k = kr_effect_at(h, op, i).key;
			const struct kr_fact_version *version = kr_facts_version(e->f, k, t);

			if (version->last_op != index || kr_facts_grows(e->f, k))
				continue;
			status = uncount(e, k, version->value);
			if (status != KR_OK)
				return status;
		}
	}
	return KR_OK;
}

/* ---- transactions that contradict themselves ---- */

/* Whether a transaction saw something else of a key than what it had left there. */
static bool contradicts(struct kr_saw saw, kr_value left)
{
	return (saw.test == KR_SAW_VALUE && left.i != saw.value.i) || (saw.test == KR_SAW_OTHER && left.i == saw.value.i);
}

/* Walks an unknown transaction with its own writes; `left` holds, per key, what it wrote last, `stamp` whether it did. */
static bool is_consistent(const struct kr_facts *f, kr_txn t, kr_value *left, uint32_t *stamp)
{
	const struct kr_history *h = f->h;

	for (uint32_t index = 0; index < h->txns.at[t.i].op_count; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
		uint32_t seen = kr_saw_count(h, op), effects = kr_effect_count(h, op);

		for (uint32_t i = 0; i < seen; i++) {
			kr_key k = kr_saw_key(h, op, i);
			if (stamp[k.i] == t.i && !kr_facts_grows(f, k) && contradicts(kr_saw_at(h, op, i), left[k.i]))
				return false;
		}
		for (uint32_t i = 0; i < effects; i++) {
			struct kr_effect effect = kr_effect_at(h, op, i);
			stamp[effect.key.i] = t.i;
			left[effect.key.i] = effect.value;
		}
	}
	return true;
}

static enum kr_status exclude_inconsistent(struct excluding *e)
{
	const struct kr_history *h = e->f->h;
	struct kr_mem *mem = &e->ctx->mem;
	kr_value *left = kr_mem_alloc(mem, h->keys.n, sizeof *left);
	uint32_t *stamp = kr_mem_alloc(mem, h->keys.n, sizeof *stamp);
	enum kr_status status = left && stamp ? KR_OK : KR_NOMEM;

	for (uint32_t k = 0; status == KR_OK && k < h->keys.n; k++)
		stamp[k] = KR_NONE;
	for (kr_txn t = {0}; status == KR_OK && t.i < h->txns.n; t.i++) {
		if (h->txns.at[t.i].status == KR_UNKNOWN && !is_consistent(e->f, t, left, stamp))
			status = take_away(e, t);
		if (status == KR_OK)
			status = kr_ctx_tick(e->ctx);
	}
	kr_mem_free(mem, left, h->keys.n, sizeof *left);
	kr_mem_free(mem, stamp, h->keys.n, sizeof *stamp);
	return status;
}

/* ---- all of it ---- */

static void count_versions(const struct kr_facts *f, struct counts *live)
{
	for (uint32_t k = 0; k < f->h->keys.n; k++) {
		uint32_t head = f->first[k];

		live->of_key[k] = f->first[k + 1] - f->first[k];
		for (uint32_t i = f->first[k]; i < f->first[k + 1]; i++) {
			if (f->versions[f->by_value[i]].value.i != f->versions[f->by_value[head]].value.i)
				head = i;
			live->of_group[head]++;
		}
	}
}

static enum kr_status exclude(struct excluding *e)
{
	enum kr_status status;

	count_versions(e->f, &e->live);
	status = exclude_inconsistent(e);
	for (kr_key k = {0}; status == KR_OK && k.i < e->f->h->keys.n; k.i++)
		status = look_at_key(e, k);
	while (status == KR_OK && e->queue.n > 0)
		status = uncount_all(e, kr_vec_pop(&e->queue));
	return status;
}

enum kr_status kr_facts_exclude(struct kr_facts *f, struct kr_ctx *ctx)
{
	struct kr_mem *mem = &ctx->mem;
	uint32_t nkeys = f->h->keys.n;
	struct excluding e = {.f = f, .ctx = ctx};
	enum kr_status status = KR_NOMEM;

	f->impossible = kr_mem_alloc(mem, f->h->txns.n, sizeof *f->impossible);
	f->pins = kr_mem_alloc(mem, 2 * (size_t)nkeys, sizeof *f->pins);
	e.live.of_key = kr_mem_alloc(mem, nkeys, sizeof *e.live.of_key);
	e.live.of_group = kr_mem_alloc(mem, f->count, sizeof *e.live.of_group);
	if (f->impossible && f->pins && e.live.of_key && e.live.of_group) {
		for (size_t i = 0; i < 2 * (size_t)nkeys; i++)
			f->pins[i] = (kr_value){KR_NONE};
		status = exclude(&e);
	}
	kr_mem_free(mem, e.live.of_key, nkeys, sizeof *e.live.of_key);
	kr_mem_free(mem, e.live.of_group, f->count, sizeof *e.live.of_group);
	kr_vec_done(mem, &e.queue);
	kr_vec_done(mem, &e.needs);
	kr_table_done(mem, &e.need_table);
	return status;
}
