/* Whom a transaction t may not miss by one edge: whose versions it saw, before it missed them where the
 * axiom says so; who comes before it in its session; who had returned before it began.
 *
 * Seen: for each writer that t saw, the keys that this one wrote and t observed, by a walk over whichever
 * of the two is shorter: O(n^1.5) in all, as Møldrup and Pavlogiannis prove best. Session: session by
 * session, with the last writer so far of every key. Time: per key its writers by their end; back from the
 * last that had returned, until one had done so before another one of those met began. Cost of these:
 * linear, and the writers that ran side by side. */
#include "passes/visible.h"

#include "base/order.h"

struct last {
	uint32_t session; /* KR_NONE: none */
	kr_version version;
};

struct pairs {
	struct kr_arena arena;
	struct kr_visibility *w;
	const struct kr_ir *ir;
	const struct kr_asg *asg;
	uint32_t *mine;     /* per key: 1 + the first observation of it by the transaction that looked last */
	uint32_t *met;      /* per transaction: 1 + the transaction that saw it last */
	struct last *last;  /* per key: its last writer so far in a session */
	kr_version *former; /* per version: the one before it in its session, or KR_NONE */
	kr_txn *by_session; /* all transactions, session by session */
	uint32_t *first;    /* per session, and one for those without: into by_session */
	/* versions of those who told their end, by key and end; where they count, else NULL */
	kr_version *by_end;
	uint32_t *end_first; /* per key, and one more */
};

/* ---- seen ---- */

static enum kr_status order(const struct pairs *x, kr_obs o, kr_version v)
{
	return v.i == x->ir->source[o.i].i ? KR_OK : kr_visibility_order(x->w, o, v);
}

/* All observations of v's key by t, whose operation `op` saw something of v's writer. */
static enum kr_status order_all(const struct pairs *x, kr_txn t, uint32_t op, kr_version v)
{
	uint32_t mine = x->mine[x->asg->versions[v.i].key.i], o = mine - 1;

	if (mine == 0 || x->asg->obs[o].txn.i != t.i)
		return KR_OK;
	do {
		if (kr_visibility_counts(x->w, (kr_obs){o}) &&
			kr_pattern_sees(x->w->pattern, op, x->asg->obs[o].op) &&
			kr_visibility_shows(x->w, (kr_obs){o}, v))
			KR_TRY(order(x, (kr_obs){o}, v));
		o = kr_ir_sibling(x->ir, (kr_obs){o}).i;
	} while (o != mine - 1);
	return KR_OK;
}

/* p is t's first sight of a writer. */
static enum kr_status order_seen(const struct pairs *x, kr_txn t, kr_obs p, kr_txn b)
{
	enum { BISECTION = 8 }; /* costs as much as so many steps of a walk */
	const struct kr_asg *asg = x->asg;
	uint32_t op = asg->obs[p.i].op, first = asg->written_first[b.i], end = asg->written_first[b.i + 1];

	if (end - first <= BISECTION * (asg->obs_first[t.i + 1] - asg->obs_first[t.i])) {
		for (uint32_t i = first; i < end; i++)
			KR_TRY(order_all(x, t, op, asg->written[i]));
		return KR_OK;
	}
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		kr_version v = x->mine[asg->obs[o].key.i] == o + 1
			? kr_asg_version_of(asg, b, asg->obs[o].key)
			: (kr_version){KR_NONE}; /* its siblings come with the first one */
		if (v.i != KR_NONE)
			KR_TRY(order_all(x, t, op, v));
	}
	return KR_OK;
}

static enum kr_status look_at_sights(const struct pairs *x, kr_txn t)
{
	const struct kr_asg *asg = x->asg;

	for (uint32_t o = asg->obs_first[t.i + 1]; o-- > asg->obs_first[t.i];)
		x->mine[asg->obs[o].key.i] = o + 1;
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		if (!kr_visible_by(x->ir, (kr_obs){o}))
			continue;
		kr_txn b = asg->versions[x->ir->source[o].i].writer;
		if (b.i == KR_NONE || x->met[b.i] == t.i + 1)
			continue;
		x->met[b.i] = t.i + 1;
		KR_TRY(order_seen(x, t, (kr_obs){o}, b));
		KR_TRY(kr_ctx_tick(x->ir->ctx));
	}
	return KR_OK;
}

/* ---- session ---- */

static enum kr_status look_back(const struct pairs *x, kr_txn t, uint32_t session)
{
	const struct kr_asg *asg = x->asg;

	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		const struct last *last = &x->last[asg->obs[o].key.i];
		kr_version v = last->session == session ? last->version : (kr_version){KR_NONE};
		if (!kr_visibility_counts(x->w, (kr_obs){o}))
			continue;
		while (v.i != KR_NONE && v.i != x->ir->source[o].i &&
			!kr_visibility_shows(x->w, (kr_obs){o}, v))
			v = x->former[v.i];
		if (v.i != KR_NONE)
			KR_TRY(order(x, (kr_obs){o}, v));
	}
	return KR_OK;
}

static void remember(const struct pairs *x, kr_txn t, uint32_t session)
{
	const struct kr_asg *asg = x->asg;

	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_version v = asg->written[i];
		struct last *last = &x->last[asg->versions[v.i].key.i];
		x->former[v.i] = last->session == session ? last->version : (kr_version){KR_NONE};
		*last = (struct last){session, v};
	}
}

/* ---- time ---- */

static kr_txn writer_of(const struct pairs *x, kr_version v) { return x->asg->versions[v.i].writer; }

/* Has the writer of v returned before that time? */
static bool returned(const struct pairs *x, kr_version v, int64_t time)
{
	int64_t end;
	return !__builtin_add_overflow(kr_asg_end(x->asg, writer_of(x, v)), x->asg->clock_skew, &end) &&
		end < time;
}

static enum kr_status look_at_time(const struct pairs *x, kr_txn t)
{
	const struct kr_asg *asg = x->asg;

	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1] && asg->txns[t.i].has_begin; o++) {
		uint32_t k = asg->obs[o].key.i, at;
		int64_t latest = INT64_MIN; /* begin of those met */
		if (!kr_visibility_counts(x->w, (kr_obs){o}))
			continue;
		KR_BISECT(at, x->end_first[k], x->end_first[k + 1],
			returned(x, x->by_end[at], kr_asg_begin(asg, t)));
		while (at-- > x->end_first[k] && !returned(x, x->by_end[at], latest)) {
			kr_version v = x->by_end[at];
			bool seen = v.i == x->ir->source[o].i;
			if (!seen && !kr_visibility_shows(x->w, (kr_obs){o}, v))
				continue;
			KR_TRY(order(x, (kr_obs){o}, v));
			kr_txn writer = writer_of(x, v);
			if (asg->txns[writer.i].has_begin && kr_asg_begin(asg, writer) > latest)
				latest = kr_asg_begin(asg, writer);
			KR_TRY(kr_ctx_tick(x->ir->ctx));
		}
	}
	return KR_OK;
}

struct ending {
	int64_t end;
	uint32_t version;
};

KR_BY_BOTH(by_end, struct ending, end, version);

static enum kr_status index_ends(struct pairs *x)
{
	const struct kr_asg *asg = x->asg;
	struct kr_mem *mem = &x->ir->ctx->mem;
	struct ending *of_key;
	uint32_t all = 0;

	KR_TRY(kr_arena_new(&x->arena, x->by_end, asg->nversions));
	KR_TRY(kr_arena_new(&x->arena, x->end_first, (size_t)asg->nkeys + 1));
	KR_TRY(kr_mem_new(mem, of_key, asg->nversions));
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		uint32_t n = 0;
		for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first; v++) {
			kr_txn t = writer_of(x, (kr_version){v});
			if (asg->txns[t.i].has_end && !asg->txns[t.i].outcome_unknown)
				of_key[n++] = (struct ending){kr_asg_end(asg, t), v};
		}
		KR_SORT(of_key, n, by_end);
		for (uint32_t i = 0; i < n; i++)
			x->by_end[all++].i = of_key[i].version;
		x->end_first[k + 1] = all;
	}
	kr_mem_free(mem, of_key, asg->nversions, sizeof *of_key);
	return KR_OK;
}

/* ---- all of them ---- */

static uint32_t session_of(const struct pairs *x, uint32_t t)
{
	return x->asg->txns[t].session == KR_NONE ? x->asg->nsessions : x->asg->txns[t].session;
}

static enum kr_status prepare(struct pairs *x)
{
	const struct kr_asg *asg = x->asg;

	KR_TRY(kr_arena_new(&x->arena, x->mine, asg->nkeys));
	KR_TRY(kr_arena_new(&x->arena, x->met, asg->ntxns));
	KR_TRY(kr_arena_new(&x->arena, x->last, asg->nkeys));
	KR_TRY(kr_arena_new(&x->arena, x->former, asg->nversions));
	KR_TRY(kr_arena_new(&x->arena, x->by_session, asg->ntxns));
	KR_TRY(kr_arena_new(&x->arena, x->first, (size_t)asg->nsessions + 3));
	for (uint32_t k = 0; k < asg->nkeys; k++)
		x->last[k].session = KR_NONE;
	for (uint32_t t = 0; t < asg->ntxns; t++)
		x->first[session_of(x, t) + 2]++;
	kr_index_places(x->first, asg->nsessions + 1);
	for (uint32_t t = 0; t < asg->ntxns; t++)
		x->by_session[x->first[session_of(x, t) + 1]++].i = t;
	return x->w->pattern->allowed & KR_BIT(KR_RT) && x->ir->order == KR_ORDER_REALTIME ? index_ends(x)
											   : KR_OK;
}

static enum kr_status look_at(const struct pairs *x, kr_txn t)
{
	uint32_t session = x->asg->txns[t.i].session;
	bool in_order = x->w->pattern->allowed & KR_BIT(KR_SO) && x->ir->order >= KR_ORDER_SESSION &&
		session != KR_NONE;

	if (!kr_ir_is_present(x->ir, t))
		return KR_OK;
	KR_TRY(look_at_sights(x, t));
	if (in_order)
		KR_TRY(look_back(x, t, session));
	if (x->by_end)
		KR_TRY(look_at_time(x, t));
	if (in_order && !x->asg->txns[t.i].outcome_unknown)
		remember(x, t, session);
	return KR_OK;
}

enum kr_status kr_visible_pairs(struct kr_visibility *w)
{
	struct pairs x = {.arena = {.mem = &w->ir->ctx->mem}, .w = w, .ir = w->ir, .asg = w->ir->asg};
	enum kr_status status = prepare(&x);

	for (uint32_t i = 0; i < x.asg->ntxns && !status && !w->ir->conflict; i++)
		status = look_at(&x, x.by_session[i]);
	kr_arena_done(&x.arena);
	return status;
}
