/* Whether a world's dependencies form a cycle that the level forbids (levels.c).
 *
 * The first pattern of a level whose worlds are checked here is "acyclic": the order of commits must be a
 * topological order of its edges, which is looked at edge by edge; order edges were before (order.c). For a
 * cycle with one rw, t to b, b must reach t by the pattern's other edges. These belong to the first pattern,
 * so that places grow along them, and only versions that committed before t matter: they are looked for
 * backwards from t, no further than the first of them. Where ww edges join, the first later version that
 * counts stands for those behind it. Of an update-serializable world the transactions that write are ordered
 * so; one that does not write is looked at by itself: none that must come after it may reach one that comes
 * before it. Cost: linear, and for each transaction that observed versions already overwritten before it a
 * search between their commits and its own. */
#include "verify/world.h"

#include "base/order.h"

struct graph {
	struct kr_arena arena;
	struct kr_world *w;
	const struct kr_rule_cycle *rule;
	uint32_t kinds;      /* of edges to go back along */
	uint32_t *over_head; /* per transaction: a sight whose rw edge leads to it */
	uint32_t *over_next; /* per sight */
	kr_txn *so_before;   /* per transaction: the last committed one before it in its session */
	uint32_t *ends;      /* present, committed ones with an end, by that */
	uint32_t nends, ends_done;
	uint32_t *stamp, turn; /* per transaction: the search that met it */
	uint32_t least;        /* no place before it matters */
	kr_txn reader;         /* whose successors are looked for, or KR_NONE */
	/* per transaction: the transaction that it must come after by an rw edge of, as reader */
	kr_txn *after;
	bool closed; /* a successor was met */
	KR_VEC(kr_txn) todo;
};

static enum kr_status refuse(const struct graph *g, kr_txn t, kr_txn b, const char *how)
{
	const struct kr_verifier *v = g->w->v;

	return kr_err_set(v->err, KR_BAD, "in this world there is a cycle that %s forbids: %s %s %s",
		v->rule->id, kr_verify_txn_name(v->h, t).text, how, kr_verify_txn_name(v->h, b).text);
}

static bool comes_after_reader(const struct graph *g, kr_txn u)
{
	const struct kr_history *h = g->w->v->h;
	kr_txn t = g->reader;

	if (t.i == KR_NONE || u.i == t.i)
		return false;
	if (g->after[u.i].i == t.i)
		return true;
	if (h->txns.at[t.i].status != KR_COMMITTED || g->w->v->cert->order == KR_ORDER_NONE)
		return false;
	if (h->txns.at[t.i].session.i != KR_NONE && h->txns.at[t.i].session.i == h->txns.at[u.i].session.i &&
		t.i < u.i)
		return true;
	return g->w->v->cert->order == KR_ORDER_REALTIME && kr_history_precedes(h, t, u);
}

/* ---- going back ---- */

static enum kr_status visit(struct graph *g, kr_txn u)
{
	struct kr_world *w = g->w;

	if (u.i == KR_NONE || w->place[u.i] == KR_NONE || g->stamp[u.i] == g->turn ||
		w->place[u.i] < g->least)
		return KR_OK;
	if (w->readers_apart && kr_verify_is_reader(w->v->h, u))
		return KR_OK;
	g->stamp[u.i] = g->turn;
	g->closed |= comes_after_reader(g, u);
	return kr_vec_add(w->mem, &g->todo, u);
}

static enum kr_status visit_order(struct graph *g, kr_txn u)
{
	const struct kr_history *h = g->w->v->h;
	enum kr_order order = g->rule->no_order ? KR_ORDER_NONE : g->w->v->cert->order;

	/* Along the session as long as readers, which are passed over, are met. */
	for (kr_txn a = u; order >= KR_ORDER_SESSION;) {
		a = g->so_before[a.i];
		if (a.i == KR_NONE)
			break;
		KR_TRY(visit(g, a));
		if (!g->w->readers_apart || !kr_verify_is_reader(h, a))
			break;
	}
	while (order == KR_ORDER_REALTIME && g->ends_done < g->nends &&
		kr_history_precedes(h, (kr_txn){g->ends[g->ends_done]}, u))
		KR_TRY(visit(g, (kr_txn){g->ends[g->ends_done++]}));
	return KR_OK;
}

static enum kr_status visit_writes(struct graph *g, kr_txn u)
{
	for (struct kr_effects e = kr_effects_of(g->w->v->h, u); kr_effects_next(&e);) {
		uint32_t at = kr_world_index(g->w, e.row.key, u);
		if (at > g->w->first[e.row.key.i])
			KR_TRY(visit(g, g->w->writers[at - 1]));
	}
	return KR_OK;
}

/* What u depends on directly; sources of its operations before `end` only. */
static enum kr_status visit_before(struct graph *g, kr_txn u, uint32_t end, bool sources_only)
{
	struct kr_world *w = g->w;

	for (uint32_t i = w->sights_of[u.i]; i < w->sights_of[u.i + 1] && g->kinds & KR_BIT(KR_WR); i++)
		if (w->sights.at[i].op < end)
			KR_TRY(visit(g, w->sights.at[i].source));
	if (sources_only)
		return KR_OK;
	if (g->kinds & KR_BIT(KR_WW))
		KR_TRY(visit_writes(g, u));
	for (uint32_t i = g->over_head[u.i]; i != KR_NONE && g->kinds & KR_BIT(KR_RW); i = g->over_next[i])
		KR_TRY(visit(g, w->sights.at[i].txn));
	return visit_order(g, u);
}

static enum kr_status search(struct graph *g)
{
	while (g->todo.n > 0) {
		KR_TRY(visit_before(g, kr_vec_pop(&g->todo), KR_NONE, false));
		KR_TRY(kr_ctx_tick(g->w->v->ctx));
	}
	return KR_OK;
}

static void begin_search(struct graph *g, uint32_t least)
{
	g->turn++;
	g->least = least;
	g->ends_done = 0;
	g->closed = false;
	kr_vec_clear(&g->todo);
}

/* ---- acyclic ---- */

static enum kr_status check_places(const struct graph *g)
{
	const struct kr_world *w = g->w;
	const struct kr_rule_cycle *rule = &w->v->rule->cycles[0];

	for (uint32_t i = 0; i < w->sights.n; i++) {
		const struct kr_world_sight *s = &w->sights.at[i];

		if (w->readers_apart && kr_verify_is_reader(w->v->h, s->txn))
			continue;
		if (s->source.i != KR_NONE && w->place[s->source.i] > w->place[s->txn.i])
			return refuse(g, s->txn, s->source, "saw what was only committed after it by");
		if (rule->kinds & KR_BIT(KR_RW) && !(rule->item && s->predicate) && s->over.i != KR_NONE &&
			w->place[s->over.i] < w->place[s->txn.i])
			return refuse(g, s->txn, s->over, "did not see what was committed before it by");
	}
	return KR_OK;
}

/* ---- one rw ---- */

/* Does b write a key that t writes, too? It committed before t, so that its version is before t's. */
static bool writes_alike(const struct kr_world *w, kr_txn b, kr_txn t)
{
	for (struct kr_effects e = kr_effects_of(w->v->h, b); kr_effects_next(&e);)
		if (kr_world_index(w, e.row.key, t) < w->first[e.row.key.i + 1])
			return true;
	return false;
}

static bool is_direct(const struct graph *g, const struct kr_world_sight *s, kr_txn b)
{
	const struct kr_world *w = g->w;
	const struct kr_history *h = w->v->h;
	enum kr_order order = g->rule->no_order ? KR_ORDER_NONE : w->v->cert->order;
	kr_txn t = s->txn;

	if (g->rule->same_key) /* the other edge is a ww */
		return kr_world_index(w, s->key, t) < w->first[s->key.i + 1];
	for (uint32_t i = w->sights_of[t.i]; i < w->sights_of[t.i + 1]; i++)
		if (w->sights.at[i].source.i == b.i &&
			(g->rule->sight != KR_RULE_BEFORE || w->sights.at[i].op < s->op))
			return true;
	if (g->kinds & KR_BIT(KR_WW) && writes_alike(w, b, t))
		return true;
	if (h->txns.at[b.i].status != KR_COMMITTED || order == KR_ORDER_NONE)
		return false;
	if (h->txns.at[b.i].session.i != KR_NONE && h->txns.at[b.i].session.i == h->txns.at[t.i].session.i &&
		b.i < t.i)
		return true;
	return order == KR_ORDER_REALTIME && kr_history_precedes(h, b, t);
}

/* The versions after what was seen that committed before the observer: [*at, *end) among the key's
 * writers. */
static void missed(const struct kr_world *w, const struct kr_world_sight *s, uint32_t *at, uint32_t *end)
{
	*at = s->source.i == KR_NONE ? w->first[s->key.i] : kr_world_index(w, s->key, s->source) + 1;
	*end = kr_world_first_after(w, s->key, *at, s->txn);
}

static enum kr_status search_from(struct graph *g, const struct kr_world_sight *s, uint32_t least)
{
	begin_search(g, least);
	if (g->rule->sight == KR_RULE_NOT_AFTER)
		KR_TRY(visit_before(g, s->txn, s->op + 1, true));
	else
		KR_TRY(visit_before(g, s->txn, KR_NONE, false));
	return search(g);
}

static enum kr_status check_sight(struct graph *g, const struct kr_world_sight *s)
{
	struct kr_world *w = g->w;
	uint32_t at, end;
	bool searched = false, over = false;

	if (s->over.i == KR_NONE || (g->rule->cursor && s->loose))
		return KR_OK;
	for (missed(w, s, &at, &end); at < end; at++) {
		kr_txn b = w->writers[at];

		KR_TRY(kr_world_overwrites(w, s, b, &over));
		if (!over)
			continue;
		if (g->rule->pair) {
			if (is_direct(g, s, b))
				return refuse(g, s->txn, b, "saw a version older than that of");
			continue;
		}
		if (!searched)
			KR_TRY(search_from(g, s, w->place[b.i]));
		searched = true;
		if (g->stamp[b.i] == g->turn)
			return refuse(g, s->txn, b, "saw a version older than that of");
		if (g->kinds & KR_BIT(KR_WW))
			break; /* later ones are reached by it */
	}
	return KR_OK;
}

/* ---- one reader ---- */

static enum kr_status check_reader(struct graph *g, kr_txn t)
{
	struct kr_world *w = g->w;

	begin_search(g, 0);
	g->reader = t;
	for (uint32_t i = w->sights_of[t.i]; i < w->sights_of[t.i + 1]; i++)
		if (w->sights.at[i].over.i != KR_NONE)
			g->after[w->sights.at[i].over.i] = t;
	KR_TRY(visit_before(g, t, KR_NONE, false));
	KR_TRY(search(g));
	return g->closed ? refuse(g, t, t, "is on one, by itself:") : KR_OK;
}

/* ---- all of it ---- */

static void link_overs(struct graph *g)
{
	struct kr_world *w = g->w;

	for (uint32_t t = 0; t < w->v->h->txns.n; t++) {
		g->over_head[t] = KR_NONE;
		g->after[t] = (kr_txn){KR_NONE};
	}
	for (uint32_t i = 0; i < w->sights.n; i++) {
		kr_txn over = w->sights.at[i].over;
		if (over.i == KR_NONE)
			continue;
		g->over_next[i] = g->over_head[over.i];
		g->over_head[over.i] = i;
	}
}

static int by_end(const void *data, uint32_t a, uint32_t b)
{
	const struct kr_history *h = data;

	return KR_ORDER(h->txns.at[a].end_returned, h->txns.at[b].end_returned);
}

static void sort_ends(struct graph *g, uint32_t *other)
{
	const struct kr_history *h = g->w->v->h;

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++)
		if (g->w->place[t.i] != KR_NONE && h->txns.at[t.i].status == KR_COMMITTED &&
			h->txns.at[t.i].flags & KR_TXN_HAS_END)
			g->ends[g->nends++] = t.i;
	kr_sort_ids(g->ends, other, g->nends, by_end, h);
}

static void link_sessions(struct graph *g, kr_txn *last)
{
	const struct kr_history *h = g->w->v->h;

	for (uint32_t s = 0; s < h->sessions.n; s++)
		last[s] = (kr_txn){KR_NONE};
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		uint32_t session = h->txns.at[t.i].session.i;
		g->so_before[t.i] = session == KR_NONE ? (kr_txn){KR_NONE} : last[session];
		if (session != KR_NONE && h->txns.at[t.i].status == KR_COMMITTED)
			last[session] = t;
	}
}

static enum kr_status check_further(struct graph *g, const struct kr_rule_cycle *rule)
{
	struct kr_world *w = g->w;

	g->rule = rule;
	g->kinds = rule->kinds & ~KR_BIT(KR_RW);
	for (uint32_t i = 0; i < w->sights.n; i++) {
		KR_TRY(check_sight(g, &w->sights.at[i]));
		KR_TRY(kr_ctx_tick(w->v->ctx));
	}
	return KR_OK;
}

static enum kr_status build(struct graph *g)
{
	uint32_t n = g->w->v->h->txns.n, *other;
	kr_txn *last;

	KR_TRY(kr_arena_new(&g->arena, last, g->w->v->h->sessions.n));
	KR_TRY(kr_arena_new(&g->arena, other, n));
	KR_TRY(kr_arena_new(&g->arena, g->over_head, n));
	KR_TRY(kr_arena_new(&g->arena, g->over_next, g->w->sights.n));
	KR_TRY(kr_arena_new(&g->arena, g->so_before, n));
	KR_TRY(kr_arena_new(&g->arena, g->ends, n));
	KR_TRY(kr_arena_new(&g->arena, g->stamp, n));
	KR_TRY(kr_arena_new(&g->arena, g->after, n));
	link_overs(g);
	link_sessions(g, last);
	sort_ends(g, other);
	return KR_OK;
}

static enum kr_status check(struct graph *g)
{
	struct kr_world *w = g->w;

	KR_TRY(check_places(g));
	for (int i = 1; i < KR_PATTERNS_MOST && w->v->rule->cycles[i].kinds; i++)
		KR_TRY(check_further(g, &w->v->rule->cycles[i]));
	g->rule = &w->v->rule->cycles[0];
	g->kinds = g->rule->kinds;
	for (uint32_t i = 0; i < w->v->cert->serial.n && w->readers_apart; i++)
		if (kr_verify_is_reader(w->v->h, w->v->cert->serial.at[i]))
			KR_TRY(check_reader(g, w->v->cert->serial.at[i]));
	return KR_OK;
}

enum kr_status kr_world_check_graph(struct kr_world *w)
{
	struct graph g = {.arena = {.mem = w->mem},
		.w = w,
		.rule = &w->v->rule->cycles[0],
		.reader = {KR_NONE}};
	enum kr_status status = build(&g);

	if (status == KR_OK)
		status = check(&g);
	kr_arena_done(&g.arena);
	kr_vec_done(w->mem, &g.todo);
	return status;
}
