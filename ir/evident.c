/* Offset arrays over orders and observations, a list per session, one sort by begin (evident.h). What is
 * later than a version is walked for when asked. */
#include "ir/evident.h"

#include "base/order.h"

static bool is_present(const struct kr_evident *c, kr_txn t)
{
	return t.i != KR_NONE && c->ir->asg->txns[t.i].presence == KR_PRESENT;
}

static kr_txn writer(const struct kr_evident *c, kr_version v) { return c->ir->asg->versions[v.i].writer; }

/* ---- preparation ---- */

static void index_orders(struct kr_evident *c)
{
	const struct kr_asg *asg = c->ir->asg;

	for (uint32_t i = 0; i < asg->norders; i++)
		c->after_first[asg->orders[i].before.i + 2] += asg->orders[i].guard.i == KR_NONE;
	kr_index_places(c->after_first, asg->nversions);
	for (uint32_t i = 0; i < asg->norders; i++)
		if (asg->orders[i].guard.i == KR_NONE)
			c->after[c->after_first[asg->orders[i].before.i + 1]++] = asg->orders[i].after;
}

/* The only candidate of an observation that was certainly made, by a transaction that certainly took
 * effect. */
static kr_version only_candidate(const struct kr_evident *c, kr_obs o)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_version only = {KR_NONE}, other = {KR_NONE};
	kr_candidates it = kr_asg_candidates(asg, o);

	if (!is_present(c, asg->obs[o.i].txn) || !kr_asg_next(asg, &it, &only) ||
		kr_asg_next(asg, &it, &other))
		return (kr_version){KR_NONE};
	return kr_asg_is_initial(asg, only) || is_present(c, writer(c, only)) ? only : (kr_version){KR_NONE};
}

static void index_observations(struct kr_evident *c)
{
	const struct kr_asg *asg = c->ir->asg;

	for (uint32_t o = 0; o < asg->nobs; o++) {
		c->sure[o] = only_candidate(c, (kr_obs){o});
		if (c->sure[o].i != KR_NONE)
			c->seen_first[c->sure[o].i + 2]++;
	}
	kr_index_places(c->seen_first, asg->nversions);
	for (uint32_t o = 0; o < asg->nobs; o++)
		if (c->sure[o].i != KR_NONE)
			c->seen[c->seen_first[c->sure[o].i + 1]++].i = o;
}

static enum kr_status index_sessions(struct kr_evident *c)
{
	const struct kr_asg *asg = c->ir->asg;
	uint32_t *next = kr_mem_alloc(&c->ir->ctx->mem, asg->nsessions, sizeof *next);

	if (!next)
		return KR_NOMEM;
	for (uint32_t s = 0; s < asg->nsessions; s++)
		next[s] = KR_NONE;
	for (uint32_t t = asg->ntxns; t-- > 0;) {
		uint32_t s = asg->txns[t].session;
		uint32_t after = s == KR_NONE ? KR_NONE : next[s];
		c->in_session[t] = after;
		c->behind[t] = after == KR_NONE ? 0 : c->behind[after] + is_present(c, (kr_txn){after});
		if (s != KR_NONE)
			next[s] = t;
	}
	kr_mem_free(&c->ir->ctx->mem, next, asg->nsessions, sizeof *next);
	return KR_OK;
}

struct begun {
	int64_t begin;
	uint32_t txn;
};

KR_BY_BOTH(by_begin, struct begun, begin, txn);

static enum kr_status index_begins(struct kr_evident *c)
{
	const struct kr_asg *asg = c->ir->asg;
	struct begun *all = kr_mem_alloc(&c->ir->ctx->mem, asg->ntxns, sizeof *all);

	if (!all)
		return KR_NOMEM;
	for (uint32_t t = 0; t < asg->ntxns; t++)
		if (asg->txns[t].has_begin && is_present(c, (kr_txn){t}))
			all[c->nbegun++] = (struct begun){kr_asg_begin(asg, (kr_txn){t}), t};
	KR_SORT(all, c->nbegun, by_begin);
	for (uint32_t i = 0; i < c->nbegun; i++)
		c->by_begin[i].i = all[i].txn;
	kr_mem_free(&c->ir->ctx->mem, all, asg->ntxns, sizeof *all);
	return KR_OK;
}

static enum kr_status index_all(struct kr_evident *c)
{
	const struct kr_asg *asg = c->ir->asg;

	KR_TRY(kr_arena_new(&c->arena, c->after_first, (size_t)asg->nversions + 2));
	KR_TRY(kr_arena_new(&c->arena, c->after, asg->norders));
	KR_TRY(kr_arena_new(&c->arena, c->sure, asg->nobs));
	KR_TRY(kr_arena_new(&c->arena, c->seen_first, (size_t)asg->nversions + 2));
	KR_TRY(kr_arena_new(&c->arena, c->seen, asg->nobs));
	KR_TRY(kr_arena_new(&c->arena, c->in_session, asg->ntxns));
	KR_TRY(kr_arena_new(&c->arena, c->behind, asg->ntxns));
	KR_TRY(kr_arena_new(&c->arena, c->by_begin, asg->ntxns));
	KR_TRY(kr_arena_new(&c->arena, c->reached, asg->nversions));
	index_orders(c);
	index_observations(c);
	KR_TRY(index_sessions(c));
	return index_begins(c);
}

enum kr_status kr_evident_init(struct kr_evident *c, const struct kr_ir *ir)
{
	*c = (struct kr_evident){.arena = {.mem = &ir->ctx->mem}, .ir = ir};

	enum kr_status status = index_all(c);

	if (status)
		kr_evident_done(c);
	return status;
}

void kr_evident_done(struct kr_evident *c)
{
	kr_arena_done(&c->arena);
	kr_vec_done(&c->ir->ctx->mem, &c->later);
}

/* ---- edges ---- */

static bool push(struct kr_evident *c, struct kr_links *out, struct kr_link link)
{
	link.edge = KR_NONE;
	return kr_vec_push(&c->ir->ctx->mem, out, link);
}

/* All versions after v, into c->later. */
static enum kr_status walk_from(struct kr_evident *c, kr_version v)
{
	const struct kr_asg *asg = c->ir->asg;
	struct kr_mem *mem = &c->ir->ctx->mem;

	kr_vec_clear(&c->later);
	if (kr_asg_is_initial(asg, v)) {
		for (uint32_t u = v.i + 1; u < asg->keys[asg->versions[v.i].key.i + 1].first; u++)
			KR_TRY(kr_vec_add(mem, &c->later, (kr_version){u}));
		return kr_ctx_tick(c->ir->ctx);
	}
	c->reached[v.i] = ++c->walks;
	for (uint32_t i = 0;; v = c->later.at[i++]) {
		for (uint32_t j = c->after_first[v.i]; j < c->after_first[v.i + 1]; j++) {
			kr_version u = c->after[j];
			if (c->reached[u.i] == c->walks)
				continue;
			c->reached[u.i] = c->walks;
			KR_TRY(kr_vec_add(mem, &c->later, u));
		}
		if (i == c->later.n)
			return kr_ctx_tick(c->ir->ctx);
	}
}

static enum kr_status add_ww(struct kr_evident *c, kr_txn t, struct kr_links *out)
{
	const struct kr_asg *asg = c->ir->asg;

	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		KR_TRY(walk_from(c, asg->written[i]));
		for (uint32_t j = 0; j < c->later.n; j++) {
			kr_txn b = writer(c, c->later.at[j]);
			if (is_present(c, b) &&
				!push(c, out,
					(struct kr_link){KR_WW, t, b, {KR_NONE}, {KR_NONE},
						asg->versions[asg->written[i].i].key, KR_NONE}))
				return KR_NOMEM;
		}
	}
	return KR_OK;
}

static enum kr_status add_wr(struct kr_evident *c, kr_txn t, bool parts, struct kr_links *out)
{
	const struct kr_asg *asg = c->ir->asg;

	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_version v = asg->written[i];
		kr_key key = asg->versions[v.i].key;
		for (uint32_t j = c->seen_first[v.i];
			j < c->seen_first[v.i + 1] && (parts || key.i < asg->nkeys - asg->nparts); j++)
			if (!push(c, out,
				    (struct kr_link){KR_WR, t, asg->obs[c->seen[j].i].txn, c->seen[j], v, key,
					    KR_NONE}))
				return KR_NOMEM;
	}
	return KR_OK;
}

static enum kr_status add_rw(struct kr_evident *c, kr_txn t, struct kr_links *out)
{
	const struct kr_asg *asg = c->ir->asg;

	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		const struct kr_observation *obs = &asg->obs[o];
		if (c->sure[o].i == KR_NONE)
			continue;
		KR_TRY(walk_from(c, c->sure[o]));
		for (uint32_t j = 0; j < c->later.n; j++) {
			kr_version u = c->later.at[j];
			kr_txn b = writer(c, u);
			if (!is_present(c, b) || b.i == t.i ||
				(obs->predicate && kr_asg_in_set(asg, obs->set, u)))
				continue;
			if (!push(c, out, (struct kr_link){KR_RW, t, b, {o}, c->sure[o], obs->key, KR_NONE}))
				return KR_NOMEM;
		}
	}
	return KR_OK;
}

static enum kr_status add_session(struct kr_evident *c, kr_txn t, kr_txn last, struct kr_links *out)
{
	for (uint32_t b = c->in_session[t.i]; b != KR_NONE && b <= last.i; b = c->in_session[b])
		if (is_present(c, (kr_txn){b}) &&
			!push(c, out,
				(struct kr_link){KR_SO, t, {b}, {KR_NONE}, {KR_NONE}, {KR_NONE}, KR_NONE}))
			return KR_NOMEM;
	return KR_OK;
}

static enum kr_status add_time(struct kr_evident *c, kr_txn t, struct kr_links *out)
{
	const struct kr_asg_txn *a = &c->ir->asg->txns[t.i];
	int64_t end;

	if (!a->has_end || __builtin_add_overflow(kr_asg_end(c->ir->asg, t), c->ir->asg->clock_skew, &end))
		return KR_OK;
	for (uint32_t i = c->nbegun; i-- > 0 && kr_asg_begin(c->ir->asg, c->by_begin[i]) > end;)
		if (!push(c, out,
			    (struct kr_link){KR_RT, t, c->by_begin[i], {KR_NONE}, {KR_NONE}, {KR_NONE},
				    KR_NONE}))
			return KR_NOMEM;
	return KR_OK;
}

static bool leads(const struct kr_evident *c, kr_txn t) { return !c->ir->asg->txns[t.i].outcome_unknown; }

bool kr_evident_leads(const struct kr_evident *c, kr_txn t, uint32_t kinds)
{
	return kinds & KR_BIT(KR_SO) && leads(c, t) && c->ir->order >= KR_ORDER_SESSION;
}

enum kr_status kr_evident_out(struct kr_evident *c, kr_txn t, uint32_t kinds, kr_txn last,
	struct kr_links *out)
{
	if (!is_present(c, t))
		return KR_OK;
	if (kinds & KR_BIT(KR_WW))
		KR_TRY(add_ww(c, t, out));
	if (kinds & KR_BIT(KR_WR))
		KR_TRY(add_wr(c, t, (kinds & KR_BIT(KR_WW)) != 0, out));
	if (kinds & KR_BIT(KR_RW))
		KR_TRY(add_rw(c, t, out));
	if (kr_evident_leads(c, t, kinds))
		KR_TRY(add_session(c, t, last, out));
	if (kinds & KR_BIT(KR_RT) && leads(c, t) && c->ir->order >= KR_ORDER_REALTIME)
		KR_TRY(add_time(c, t, out));
	return KR_OK;
}
