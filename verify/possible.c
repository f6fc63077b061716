/* Which transactions of unknown outcome cannot have taken effect, and which initial values are fixed by what
 * was read.
 *
 * Starts from "all are possible" and takes away a transaction when it contradicts itself or made an
 * observation that no version still possible explains; that can take the last explanation from others. A
 * committed observation that only the initial version can explain tells what its untold value is, or is not;
 * an unknown transaction that needs it to be two values is impossible. What is left is the greatest solution,
 * so that what was taken away is absent from every world. Each observation that matters watches one
 * explanation; only when that is taken away it looks for the next one, from there on, since explanations do
 * not come back. Cost: linear in observations and the explanations tried, mostly one each; predicate reads by
 * unknown transactions, or all where initial values are not told, times keys. Lists and sets:
 * possible_grow.c. */
#include "verify/possible.h"

#include "base/hash.h"
#include "verify/own.h"

enum kr_status kr_possible_take_away(struct kr_possible *p, kr_txn t)
{
	if (p->f->impossible[t.i])
		return KR_OK;
	p->f->impossible[t.i] = true;
	return kr_vec_add(&p->ctx->mem, &p->queue, t);
}

/* ---- untold initial values ---- */

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
	*added = true;
	return kr_table_push(f->mem, &f->denied_table, kr_hash_pair(k.i, value.i), &f->denied,
		       (struct kr_row){k, value})
		? KR_OK
		: KR_NOMEM;
}

/* What a committed observation that nothing but the initial version explains says of its value. */
static enum kr_status tell(struct kr_possible *p, const struct kr_sight *s)
{
	bool news = false;

	if (s->saw.test == KR_SAW_VALUE)
		news = add_pin(p->f, s->key, s->saw.value);
	else if (s->saw.test == KR_SAW_OTHER)
		KR_TRY(deny(p->f, s->key, s->saw.value, &news));
	return news ? kr_vec_add(&p->ctx->mem, &p->told, s->key) : KR_OK;
}

/* Notes that an unknown transaction needs the untold initial value of the key to be what it saw: it is
 * impossible if it needs another one, too. */
static enum kr_status need(struct kr_possible *p, const struct kr_sight *s)
{
	uint64_t hash = kr_hash_pair(s->key.i, s->txn.i);
	const struct kr_fact_sight *needs = p->needs.at;
	uint32_t id;

	if (s->saw.test != KR_SAW_VALUE)
		return KR_OK;
	KR_TABLE_FIND(id, &p->need_table, hash, needs[id].key.i == s->key.i && needs[id].txn.i == s->txn.i);
	if (id != KR_NONE)
		return needs[id].value.i == s->saw.value.i ? KR_OK : kr_possible_take_away(p, s->txn);
	return kr_table_push(&p->ctx->mem, &p->need_table, hash, &p->needs,
		       (struct kr_fact_sight){.txn = s->txn, .key = s->key, .value = s->saw.value})
		? KR_OK
		: KR_NOMEM;
}

/* ---- watching ---- */

/* No version is left that explains the observation, but perhaps the initial one. */
static enum kr_status settle(struct kr_possible *p, uint32_t w)
{
	const struct kr_facts *f = p->f;
	const struct kr_sight s = p->watches.at[w].rest.sight;
	bool explains;
	enum kr_status status = kr_facts_candidate(f, &s, (kr_txn){KR_NONE}, &explains, NULL);

	if (status == KR_UNSUPPORTED)
		return KR_OK; /* it is not known what that says */
	if (status != KR_OK)
		return status;
	if (!explains || kr_facts_excluded(f, &s, (kr_txn){KR_NONE})) {
		if (kr_possible_is_unknown(p, s.txn))
			return kr_possible_take_away(p, s.txn);
		return explains ? tell(p, &s) : KR_OK;
	}
	if (!f->untold || kr_facts_grows(f, s.key))
		return KR_OK;
	if (!kr_possible_is_unknown(p, s.txn))
		return tell(p, &s);
	p->watches.at[w].next = p->initial_of[s.key.i];
	p->initial_of[s.key.i] = w;
	return need(p, &s);
}

/* Looks for the next version that explains the observation. */
static enum kr_status explain(struct kr_possible *p, uint32_t w)
{
	const struct kr_facts *f = p->f;
	struct kr_facts_iter it = p->watches.at[w].rest;
	bool found = false;
	kr_txn writer = {KR_NONE};

	if (f->impossible[it.sight.txn.i])
		return KR_OK;
	while (it.at < it.end && !found) {
		enum kr_status status = KR_OK;
		writer = f->versions[f->by_value[it.at++]].txn;
		if (!f->impossible[writer.i])
			status = kr_facts_candidate(f, &it.sight, writer, &found, NULL);
		if (status == KR_UNSUPPORTED)
			return KR_OK;
		KR_TRY(status);
		KR_TRY(kr_ctx_tick(p->ctx));
	}
	if (found && !kr_possible_is_unknown(p, writer))
		return KR_OK; /* a committed one stays */
	p->watches.at[w].rest = it;
	if (!found)
		return settle(p, w);
	p->watches.at[w].next = p->watch_of[writer.i];
	p->watch_of[writer.i] = w;
	return KR_OK;
}

enum kr_status kr_possible_watch(struct kr_possible *p, const struct kr_sight *s)
{
	struct kr_possible_watch watch = {.rest = kr_facts_candidates(p->f, s), .next = KR_NONE};

	KR_TRY(kr_vec_add(&p->ctx->mem, &p->watches, watch));
	return explain(p, p->watches.n - 1);
}

/* ---- the observations that matter ---- */

static enum kr_status watch_if_external(struct kr_possible *p, kr_txn t, uint32_t op, kr_key k,
	const struct kr_saw *saw)
{
	struct kr_sight sight;
	bool external = kr_facts_sight_of(p->f, t, op, k, saw, (kr_value){KR_NONE}, &sight);

	if (!external || (kr_facts_grows(p->f, k) && !kr_possible_is_unknown(p, t)))
		return kr_ctx_tick(p->ctx);
	return kr_possible_watch(p, &sight);
}

/* The rows of a predicate read by themselves, and the keys that it did not return; returned[k]: 1 + the
 * operation that returned k last. */
static enum kr_status watch_scan(struct kr_possible *p, kr_txn t, uint32_t index, uint32_t *returned)
{
	const struct kr_history *h = p->f->h;
	kr_op id = kr_history_op(h, t, index);
	const struct kr_operation *op = &h->ops.at[id.i];
	bool fits = true;

	for (uint32_t i = 0; i < kr_saw_count(h, op); i++) {
		uint32_t *last = &returned[kr_saw_key(h, op, i).i];
		enum kr_status status = kr_saw_row_fits(h, op, i, &fits, NULL);

		if (kr_possible_is_unknown(p, t) && ((status == KR_OK && !fits) || *last == id.i + 1))
			status = kr_possible_take_away(p, t);
		if (status != KR_UNSUPPORTED) /* else it is not known whether it does */
			KR_TRY(status);
		*last = id.i + 1;
	}
	for (kr_key k = {0}; k.i < h->keys.n; k.i++) {
		struct kr_saw saw = kr_saw_missed(h, op, k);
		if (returned[k.i] != id.i + 1)
			KR_TRY(watch_if_external(p, t, index, k, &saw));
	}
	return KR_OK;
}

/* `returned`: as for watch_scan. */
static enum kr_status watch_txn(struct kr_possible *p, kr_txn t, uint32_t *returned)
{
	const struct kr_history *h = p->f->h;

	for (uint32_t index = 0; index < h->txns.at[t.i].op_count; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
		uint32_t seen = kr_saw_count(h, op);

		for (uint32_t i = 0; i < seen; i++) {
			struct kr_saw saw = kr_saw_at(h, op, i);
			KR_TRY(watch_if_external(p, t, index, kr_saw_key(h, op, i), &saw));
		}
		if (kr_op_scans(op))
			KR_TRY(watch_scan(p, t, index, returned));
		KR_TRY(kr_ctx_tick(p->ctx));
	}
	return KR_OK;
}

static enum kr_status watch_all(struct kr_possible *p)
{
	const struct kr_history *h = p->f->h;
	uint32_t *returned;

	KR_TRY(kr_arena_new(&p->arena, returned, h->keys.n));
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++)
		if (kr_possible_is_unknown(p, t) || (p->f->untold && h->txns.at[t.i].status == KR_COMMITTED))
			KR_TRY(watch_txn(p, t, returned));
	return KR_OK;
}

static enum kr_status exclude_inconsistent(struct kr_possible *p)
{
	struct kr_own own;
	uint32_t op;
	kr_key key;
	bool agrees = true;
	KR_TRY(kr_own_init(&own, p->ctx, p->f->h));
	enum kr_status status = KR_OK;
	for (kr_txn t = {0}; status == KR_OK && t.i < p->f->h->txns.n; t.i++) {
		if (!kr_possible_is_unknown(p, t))
			continue;
		status = kr_own_agrees(&own, t, &agrees, &op, &key, NULL);
		if (status == KR_UNSUPPORTED)
			status = KR_OK; /* it is not known whether it does */
		else if (status == KR_OK && !agrees)
			status = kr_possible_take_away(p, t);
	}
	kr_own_done(&own);
	return status;
}

/* ---- all of it ---- */

/* What relied on a transaction that was taken away. */
static enum kr_status look_again(struct kr_possible *p, kr_txn gone)
{
	for (uint32_t i = p->reliance_of[gone.i]; i != KR_NONE; i = p->reliances.at[i].next)
		KR_TRY(kr_possible_take_away(p, p->reliances.at[i].reader));
	for (uint32_t w = p->watch_of[gone.i], next; w != KR_NONE; w = next) {
		next = p->watches.at[w].next;
		KR_TRY(explain(p, w));
	}
	return KR_OK;
}

/* Unknown observations that only an initial value explains of which something new is known. */
static enum kr_status look_at_initial(struct kr_possible *p, kr_key k)
{
	for (uint32_t w = p->initial_of[k.i]; w != KR_NONE; w = p->watches.at[w].next)
		if (kr_facts_excluded(p->f, &p->watches.at[w].rest.sight, (kr_txn){KR_NONE}))
			KR_TRY(kr_possible_take_away(p, p->watches.at[w].rest.sight.txn));
	return KR_OK;
}

static enum kr_status exclude(struct kr_possible *p)
{
	struct kr_facts *f = p->f;
	uint32_t nkeys = f->h->keys.n, n = f->h->txns.n;

	KR_TRY(kr_arena_new(&f->arena, f->impossible, n));
	KR_TRY(kr_arena_new(&f->arena, f->pins, 2 * (size_t)nkeys));
	KR_TRY(kr_arena_new(&p->arena, p->watch_of, n));
	KR_TRY(kr_arena_new(&p->arena, p->initial_of, nkeys));
	KR_TRY(kr_arena_new(&p->arena, p->reliance_of, n));
	KR_TRY(kr_arena_new(&p->arena, p->mark, n));
	for (size_t i = 0; i < 2 * (size_t)nkeys; i++)
		f->pins[i] = (kr_value){KR_NONE};
	for (uint32_t k = 0; k < nkeys; k++)
		p->initial_of[k] = KR_NONE;
	for (uint32_t t = 0; t < n; t++)
		p->watch_of[t] = p->reliance_of[t] = KR_NONE;
	KR_TRY(exclude_inconsistent(p));
	KR_TRY(watch_all(p));
	if (p->f->grow)
		KR_TRY(kr_possible_grow(p));
	while (p->queue.n > 0 || p->told.n > 0)
		KR_TRY(p->queue.n > 0 ? look_again(p, kr_vec_pop(&p->queue))
				      : look_at_initial(p, kr_vec_pop(&p->told)));
	return KR_OK;
}

enum kr_status kr_facts_exclude(struct kr_facts *f, struct kr_ctx *ctx)
{
	struct kr_mem *mem = &ctx->mem;
	struct kr_possible p = {.arena = {.mem = mem}, .f = f, .ctx = ctx};
	enum kr_status status = exclude(&p);

	kr_arena_done(&p.arena);
	kr_vec_done(mem, &p.queue);
	kr_vec_done(mem, &p.told);
	kr_vec_done(mem, &p.watches);
	kr_vec_done(mem, &p.reliances);
	kr_vec_done(mem, &p.needs);
	kr_table_done(mem, &p.need_table);
	return status;
}
