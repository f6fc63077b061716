/* The levels, each from its row in docs/levels.md: a history satisfies one iff some world has none of the cycles it forbids (all but pl-1 forbid cycles of D, so worlds with one
 * are left out). For the levels with axioms all total orders are tried. */
#include "levels.h"

#include <stdlib.h>
#include <string.h>

#include "world.h"

const char *const oracle_level_ids[ORACLE_LEVELS] = {"pl-1", "pl-2", "pl-cs", "pl-2l", "rc-ax", "ra", "cc", "pl-2+", "psi", "pl-fcv", "pc", "si", "pl-2.99",
	"pl-3u", "ser", "ua", "ra-cs", "mv-ra", "cursor-view"};

enum oracle_level oracle_level_of(const char *id)
{
	int level = 0;

	if (strcmp(id, "pl-ss") == 0)
		return ORACLE_SER;
	while (level < ORACLE_LEVELS && strcmp(id, oracle_level_ids[level]) != 0)
		level++;
	return (enum oracle_level)level;
}

/* A world's graphs. */
struct view {
	const struct world *w;
	graph ww, wr, rw, item, cursor; /* rw: of all observations; item: of item observations; cursor: of those through a cursor */
	graph order, d;         /* d: with the order */
};

static void unite(graph *a, const graph *b)
{
	for (int i = 0; i < ORACLE_TXNS; i++)
		a->to[i] |= b->to[i];
}

static graph either(const graph *a, const graph *b)
{
	graph g = *a;

	unite(&g, b);
	return g;
}

/* a ; b */
static graph then(const graph *a, const graph *b)
{
	graph g = {{0}};

	for (int i = 0; i < ORACLE_TXNS; i++)
		for (uint32_t left = a->to[i]; left; left &= left - 1)
			g.to[i] |= b->to[__builtin_ctz(left)];
	return g;
}

/* Transactions that `o` has an rw edge to. */
static uint32_t overwritten(const struct world *w, uint32_t i)
{
	const struct observation *o = &w->seen[i];
	uint32_t v = w->source[i], set = 0;

	for (uint32_t b = 0; b < w->n; b++)
		if (b != o->txn && w->wrote[o->key][b] && (v == INITIAL || w->place[o->key][b] > w->place[o->key][v]) &&
			!(o->predicate && world_fits(w, o, &w->value[o->key][b])))
			set |= 1u << b;
	return set;
}

static struct view look(const struct world *w)
{
	struct view v = {.w = w};

	for (uint32_t key = 0; key < w->h->keys.n; key++)
		for (uint32_t a = 0; a < w->n; a++)
			for (uint32_t b = 0; b < w->n; b++)
				if (w->wrote[key][a] && w->wrote[key][b] && w->place[key][a] < w->place[key][b])
					v.ww.to[a] |= 1u << b;
	for (uint32_t i = 0; i < w->nseen; i++) {
		if (w->source[i] != INITIAL)
			v.wr.to[w->source[i]] |= 1u << w->seen[i].txn;
		v.rw.to[w->seen[i].txn] |= overwritten(w, i);
		if (!w->seen[i].predicate)
			v.item.to[w->seen[i].txn] |= overwritten(w, i);
		if (!w->seen[i].loose)
			v.cursor.to[w->seen[i].txn] |= overwritten(w, i);
	}
	return v;
}

/* ---- cycles ---- */

static bool acyclic(const struct view *v, graph g) { return !world_cyclic(&g, v->w->n); }

static bool lost_update(const struct view *v)
{
	const struct world *w = v->w;

	for (uint32_t i = 0; i < w->nseen; i++) {
		const struct observation *o = &w->seen[i];
		for (uint32_t b = 0; b < w->n; b++)
			if (!o->loose && overwritten(w, i) >> b & 1 && w->wrote[o->key][o->txn] && w->place[o->key][b] < w->place[o->key][o->txn])
				return true;
	}
	return false;
}

static bool view_goes_back(const struct view *v)
{
	const struct world *w = v->w;
	graph reach = world_closure(&v->d, w->n);

	for (uint32_t i = 0; i < w->nseen; i++)
		for (uint32_t j = 0; j < w->nseen; j++) {
			uint32_t s = w->source[j];
			if (w->seen[j].txn != w->seen[i].txn || w->seen[j].op > w->seen[i].op || s == INITIAL)
				continue;
			for (uint32_t b = 0; b < w->n; b++)
				if (overwritten(w, i) >> b & 1 && (s == b || reach.to[b] >> s & 1))
					return true;
		}
	return false;
}

/* An rw answered by a wr or the order. */
static bool fractured(const struct view *v)
{
	graph so_wr = either(&v->order, &v->wr);

	for (uint32_t t = 0; t < v->w->n; t++)
		for (uint32_t b = 0; b < v->w->n; b++)
			if (v->rw.to[t] >> b & 1 && so_wr.to[b] >> t & 1)
				return true;
	return false;
}

/* Exactly one rw, of these. */
static bool single(const struct view *v, const graph *rw)
{
	graph reach = world_closure(&v->d, v->w->n);

	for (uint32_t t = 0; t < v->w->n; t++)
		for (uint32_t b = 0; b < v->w->n; b++)
			if (rw->to[t] >> b & 1 && reach.to[b] >> t & 1)
				return true;
	return false;
}

static bool updates_serializable(const struct view *v)
{
	const struct world *w = v->w;
	graph all = either(&v->d, &v->rw);
	uint32_t updating = 0;

	for (uint32_t t = 0; t < w->n; t++)
		for (uint32_t key = 0; key < w->h->keys.n; key++)
			updating |= (uint32_t)w->wrote[key][t] << t;
	for (uint32_t t = 0; t < w->n; t++) { /* an updating t: those alone */
		uint32_t left = updating | 1u << t;
		graph some = {{0}};
		for (uint32_t a = 0; a < w->n; a++)
			some.to[a] = left >> a & 1 ? all.to[a] & left : 0;
		if (w->in[t] && world_cyclic(&some, w->n))
			return false;
	}
	return true;
}

/* ---- axioms over a total order ---- */

/* Whether t3 must see what t2 wrote, before observation i of t3. */
static bool sees(const struct view *v, enum oracle_level level, const graph *seen, uint32_t t2, uint32_t i)
{
	const struct world *w = v->w;
	uint32_t t3 = w->seen[i].txn;

	if (level == ORACLE_RC_AX) {
		for (uint32_t j = 0; j < w->nseen; j++)
			if (w->seen[j].txn == t3 && w->source[j] == t2 && w->seen[j].op < w->seen[i].op)
				return true;
		return false;
	}
	return seen->to[t2] >> t3 & 1;
}

/* Whether the level's axiom holds of the total order `place`. */
static bool axiom(const struct view *v, enum oracle_level level, const graph *seen, const uint32_t *place)
{
	const struct world *w = v->w;

	for (uint32_t i = 0; i < w->nseen; i++) {
		const struct observation *o = &w->seen[i];
		uint32_t t1 = w->source[i];
		for (uint32_t t2 = 0; t2 < w->n; t2++) {
			if (t2 == t1 || t2 == o->txn || !w->wrote[o->key][t2] || !sees(v, level, seen, t2, i))
				continue;
			if (o->predicate && world_fits(w, o, &w->value[o->key][t2]))
				continue; /* it makes no difference to the match */
			if (t1 == INITIAL || place[t2] > place[t1])
				return false;
		}
	}
	return true;
}

/* Every total order of T that contains the order, wr, and the world's version orders (which are the total order's). */
static bool some_total(const struct view *v, enum oracle_level level, const graph *seen, uint32_t *place, uint32_t next, uint32_t left)
{
	if (left == 0)
		return axiom(v, level, seen, place);
	for (uint32_t t = 0; t < v->w->n; t++) {
		bool first = left >> t & 1;
		for (uint32_t a = 0; a < v->w->n; a++)
			first = first && !(left >> a & 1 && v->d.to[a] >> t & 1);
		if (!first)
			continue;
		place[t] = next;
		if (some_total(v, level, seen, place, next + 1, left & ~(1u << t)))
			return true;
	}
	return false;
}

static bool axiomatic(const struct view *v, enum oracle_level level)
{
	graph seen = either(&v->order, &v->wr);
	uint32_t place[ORACLE_TXNS] = {0}, all = 0;

	for (uint32_t t = 0; t < v->w->n; t++)
		all |= (uint32_t)v->w->in[t] << t;
	if (level == ORACLE_UA)
		unite(&seen, &v->ww); /* writers of one key see each other */
	if (level == ORACLE_CC)
		seen = world_closure(&seen, v->w->n);
	return some_total(v, level, &seen, place, 0, all);
}

/* ---- levels ---- */

static bool holds(const struct view *v, enum oracle_level level)
{
	graph so_wr = either(&v->order, &v->wr), d_rw = then(&v->d, &v->rw), so_wr_rw = then(&so_wr, &v->rw);

	switch (level) {
	case ORACLE_PL_2: return acyclic(v, v->d);
	case ORACLE_PL_CS: return acyclic(v, v->d) && !lost_update(v);
	case ORACLE_RA_CS: return acyclic(v, v->d) && !lost_update(v) && !fractured(v);
	case ORACLE_MV_RA: return acyclic(v, v->d) && !view_goes_back(v) && !fractured(v);
	case ORACLE_PL_2L: return acyclic(v, v->d) && !view_goes_back(v);
	case ORACLE_RC_AX:
	case ORACLE_RA:
	case ORACLE_CC:
	case ORACLE_UA: return axiomatic(v, level);
	case ORACLE_PL_2PLUS:
	case ORACLE_PSI:
	case ORACLE_PL_FCV: return acyclic(v, v->d) && !single(v, &v->rw);
	case ORACLE_CURSOR_VIEW: return acyclic(v, v->d) && !single(v, &v->cursor);
	case ORACLE_PC: unite(&so_wr, &so_wr_rw); return acyclic(v, either(&so_wr, &v->ww));
	case ORACLE_SI: return acyclic(v, either(&v->d, &d_rw));
	case ORACLE_PL_2_99: return acyclic(v, either(&v->d, &v->item));
	case ORACLE_PL_3U: return updates_serializable(v);
	case ORACLE_SER: return acyclic(v, either(&v->d, &v->rw));
	default: return true;
	}
}

static bool try_levels(struct world *w)
{
	struct oracle_answers *out = w->data;
	struct view v = look(w);
	bool all = true;

	for (int order = 0; order < 3; order++) {
		memset(&v.order, 0, sizeof v.order);
		world_order(w, (enum kr_order)order, &v.order);
		v.d = either(&v.ww, &v.wr);
		unite(&v.d, &v.order);
		for (int level = ORACLE_PL_2; level < ORACLE_LEVELS; level++) {
			enum oracle_answer *answer = &out->at[level][order];
			if (*answer == ORACLE_VIOLATED && holds(&v, (enum oracle_level)level))
				*answer = ORACLE_SATISFIED;
			all = all && *answer == ORACLE_SATISFIED;
		}
	}
	return all;
}

void oracle_levels(const struct kr_history *h, uint64_t work, struct oracle_answers *out)
{
	struct world *w = calloc(1, sizeof *w);
	enum oracle_answer answer = ORACLE_TOO_LARGE;

	for (int level = 0; level < ORACLE_LEVELS; level++)
		for (int order = 0; order < 3; order++)
			out->at[level][order] = ORACLE_VIOLATED;
	if (w) {
		w->h = h;
		w->order = KR_ORDER_NONE;
		w->work = work;
		w->prune = KR_BIT(KR_WW) | KR_BIT(KR_WR);
		w->leaf = try_levels;
		w->data = out;
		(void)worlds(w, &answer);
		if (answer == ORACLE_SATISFIED && w->work == 0)
			answer = ORACLE_TOO_LARGE;
	}
	for (int level = 0; level < ORACLE_LEVELS; level++)
		for (int order = 0; order < 3; order++)
			if (out->at[level][order] == ORACLE_VIOLATED && answer != ORACLE_SATISFIED)
				out->at[level][order] = answer;
	for (int order = 0; order < 3; order++)
		out->at[ORACLE_PL_1][order] = h->seen.n > 0 ? ORACLE_UNKNOWN_OPERATION : oracle_uncommitted(h, (enum kr_order)order);
	free(w);
}
