/* The graph oracle: enumerates worlds as docs/levels.md defines them, and looks for a cycle in each. A partial world whose graph has a cycle already is
 * not continued, since choices only add edges. */
#include <string.h>

#include "oracle.h"

enum { INITIAL = ORACLE_TXNS, MOST_OBSERVATIONS = 64 };

#define SOMETHING_ELSE (KR_NONE - 1) /* a value that no operation names */

struct observation { uint32_t txn, key; const struct kr_operation *op; };

struct world {
	const struct kr_history *h;
	enum kr_order order;
	uint64_t work;
	uint32_t n;                                 /* transactions of the history */
	bool in[ORACLE_TXNS];                       /* T */
	uint32_t start[ORACLE_KEYS];                /* initial values */
	uint32_t value[ORACLE_KEYS][ORACLE_TXNS];   /* of the version of key by transaction, where wrote */
	bool wrote[ORACLE_KEYS][ORACLE_TXNS];
	struct observation seen[MOST_OBSERVATIONS]; /* by key */
	uint32_t nseen, seen_first[ORACLE_KEYS + 1];
};

typedef struct { uint32_t to[ORACLE_TXNS]; } graph; /* sets */

/* ---- the meaning of operations ---- */

static bool says_something(const struct kr_operation *op)
{
	return op->kind != KR_OP_WRITE && (op->flags & KR_OPF_KNOWN || op->kind == KR_OP_INSERT || op->kind == KR_OP_CAS);
}

/* Whether a version of this value lies in the candidate set of what op saw. */
static bool candidate(const struct kr_operation *op, uint32_t value)
{
	bool done = (op->flags & KR_OPF_DONE) != 0;

	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ: return value == op->a.i;
	case KR_OP_DELETE: return done ? value != KR_ABSENT.i : value == KR_ABSENT.i;
	case KR_OP_INSERT: return done ? value == KR_ABSENT.i : value != KR_ABSENT.i;
	default: return done ? value == op->a.i : value != op->a.i;
	}
}

static bool writes(const struct kr_operation *op, uint32_t *value)
{
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ: return false;
	case KR_OP_DELETE: *value = KR_ABSENT.i; return !(op->flags & KR_OPF_KNOWN) || op->flags & KR_OPF_DONE;
	case KR_OP_CAS: *value = op->b.i; return op->flags & KR_OPF_DONE;
	case KR_OP_INSERT: *value = op->a.i; return op->flags & KR_OPF_DONE;
	default: *value = op->a.i; return true;
	}
}

/* Versions and external observations of t on key; false when t contradicts its own writes. */
static bool collect(struct world *w, uint32_t t, uint32_t key)
{
	const struct kr_transaction *txn = &w->h->txns.at[t];

	for (uint32_t i = 0; i < txn->op_count; i++) {
		const struct kr_operation *op = &w->h->ops.at[txn->op_first + i];
		uint32_t value;
		if (op->key.i != key)
			continue;
		if (says_something(op) && w->wrote[key][t] && !candidate(op, w->value[key][t]))
			return false;
		if (says_something(op) && !w->wrote[key][t])
			w->seen[w->nseen++] = (struct observation){t, key, op};
		if (writes(op, &value)) {
			w->wrote[key][t] = true;
			w->value[key][t] = value;
		}
	}
	return true;
}

static bool collect_all(struct world *w)
{
	w->nseen = 0;
	memset(w->wrote, 0, sizeof w->wrote);
	for (uint32_t key = 0; key < w->h->keys.n; key++) {
		w->seen_first[key] = w->nseen;
		for (uint32_t t = 0; t < w->n; t++)
			if (w->in[t] && !collect(w, t, key))
				return false;
	}
	w->seen_first[w->h->keys.n] = w->nseen;
	return true;
}

/* ---- graphs ---- */

static bool cyclic(const graph *g, uint32_t n)
{
	graph c = *g;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			if (c.to[i] >> k & 1)
				c.to[i] |= c.to[k];
	for (uint32_t i = 0; i < n; i++)
		if (c.to[i] >> i & 1)
			return true;
	return false;
}

static void add_order(const struct world *w, graph *g)
{
	for (uint32_t a = 0; a < w->n; a++) {
		const struct kr_transaction *x = &w->h->txns.at[a];
		if (!w->in[a] || x->status == KR_UNKNOWN)
			continue;
		for (uint32_t b = 0; b < w->n; b++) {
			const struct kr_transaction *y = &w->h->txns.at[b];
			bool so = x->session.i != KR_NONE && x->session.i == y->session.i && a < b;
			bool rt = x->flags & KR_TXN_HAS_END && y->flags & KR_TXN_HAS_BEGIN && y->begin_invoked > x->end_returned + w->h->clock_skew;
			if (a != b && w->in[b] && ((so && w->order != KR_ORDER_NONE) || (rt && w->order == KR_ORDER_REALTIME)))
				g->to[a] |= 1u << b;
		}
	}
}

/* Whether the trace says that a's version of key comes before b's. */
static bool given(const struct world *w, uint32_t key, uint32_t a, uint32_t b)
{
	for (uint32_t o = 0; o < w->h->version_orders.n; o++) {
		const struct kr_version_order *order = &w->h->version_orders.at[o];
		uint32_t place_a = KR_NONE, place_b = KR_NONE;
		for (uint32_t i = 0; i < order->writer_count; i++) {
			uint32_t t = w->h->order_writers.at[order->writer_first + i].i;
			place_a = t == a ? i : place_a;
			place_b = t == b ? i : place_b;
		}
		if (order->key.i == key && place_a != KR_NONE && place_b != KR_NONE && place_a < place_b)
			return true;
	}
	return false;
}

/* Two lists may agree only through a transaction that did not take effect: their order of versions holds all the same. */
static bool given_closed(const struct world *w, uint32_t key, uint32_t a, uint32_t b)
{
	uint32_t reached = 1u << a, before = 0;

	while (reached != before) {
		before = reached;
		for (uint32_t x = 0; x < w->n; x++)
			for (uint32_t y = 0; y < w->n; y++)
				if (before >> x & 1 && x != y && given(w, key, x, y))
					reached |= 1u << y;
	}
	return a != b && reached >> b & 1;
}

/* ---- worlds ---- */

static bool settle_key(struct world *w, uint32_t key, const graph *g);

/* Chooses the source of observation i of `key`, and those after it; `place` is the version order: the initial version is before all. */
static bool settle_sources(struct world *w, uint32_t key, const uint32_t *place, uint32_t i, const graph *g)
{
	if (w->work == 0)
		return false;
	w->work--;
	if (cyclic(g, w->n))
		return false;
	if (i == w->seen_first[key + 1])
		return settle_key(w, key + 1, g);

	const struct observation *o = &w->seen[i];

	for (uint32_t v = 0; v <= INITIAL; v++) {
		bool exists = v == INITIAL || (v < w->n && w->wrote[key][v] && v != o->txn);
		graph next = *g;
		if (!exists || !candidate(o->op, v == INITIAL ? w->start[key] : w->value[key][v]))
			continue;
		if (v != INITIAL)
			next.to[v] |= 1u << o->txn; /* wr */
		for (uint32_t b = 0; b < w->n; b++)
			if (w->wrote[key][b] && b != o->txn && (v == INITIAL || place[b] > place[v]))
				next.to[o->txn] |= 1u << b; /* rw */
		if (settle_sources(w, key, place, i + 1, &next))
			return true;
	}
	return false;
}

/* Places the versions of `key` that are left, in every order; `next` is the place to fill. */
static bool settle_order(struct world *w, uint32_t key, uint32_t *place, uint32_t next, const graph *g)
{
	bool left = false;

	if (w->work == 0)
		return false;
	w->work--;
	for (uint32_t t = 0; t < w->n; t++) {
		bool first = w->wrote[key][t] && place[t] == KR_NONE;
		graph with = *g;
		left = left || first;
		for (uint32_t u = 0; u < w->n; u++) {
			if (u != t && w->wrote[key][u] && place[u] == KR_NONE) {
				first = first && !given_closed(w, key, u, t);
				with.to[t] |= 1u << u; /* ww */
			}
		}
		if (!first || cyclic(&with, w->n))
			continue;
		place[t] = next;
		if (settle_order(w, key, place, next + 1, &with))
			return true;
		place[t] = KR_NONE;
	}
	return !left && settle_sources(w, key, place, w->seen_first[key], g);
}

static bool settle_key(struct world *w, uint32_t key, const graph *g)
{
	uint32_t place[ORACLE_TXNS];

	if (key == w->h->keys.n)
		return true;
	for (uint32_t t = 0; t < ORACLE_TXNS; t++)
		place[t] = KR_NONE;
	return settle_order(w, key, place, 0, g);
}

/* The values that `key` may have started with: its i-th one, or false. */
static bool initial_value(const struct world *w, uint32_t key, uint32_t i, uint32_t *value)
{
	if (w->h->initial != KR_INITIAL_UNKNOWN) {
		*value = w->h->keys.at[key].initial.i;
		return i == 0;
	}
	if (i < 2) {
		*value = i == 0 ? KR_ABSENT.i : SOMETHING_ELSE;
		return true;
	}
	for (uint32_t o = 0, rank = 1; o < w->h->ops.n; o++) {
		const struct kr_operation *op = &w->h->ops.at[o];
		if (op->key.i == key && (op->kind == KR_OP_READ || op->kind == KR_OP_CAS) && ++rank == i) {
			*value = op->a.i;
			return true;
		}
	}
	return false;
}

static bool some_start(struct world *w, uint32_t key)
{
	if (key == w->h->keys.n) {
		graph g = {{0}};
		add_order(w, &g);
		return settle_key(w, 0, &g);
	}
	for (uint32_t i = 0; initial_value(w, key, i, &w->start[key]); i++)
		if (some_start(w, key + 1))
			return true;
	return false;
}

static bool some_presence(struct world *w, uint32_t t)
{
	if (t == w->n)
		return collect_all(w) && some_start(w, 0);
	w->in[t] = w->h->txns.at[t].status == KR_COMMITTED;
	if (some_presence(w, t + 1))
		return true;
	w->in[t] = w->h->txns.at[t].status == KR_UNKNOWN;
	return w->in[t] && some_presence(w, t + 1);
}

enum oracle_answer oracle_graph(const struct kr_history *h, enum kr_order order, uint64_t work)
{
	struct world w = {.h = h, .order = order, .work = work, .n = h->txns.n};
	uint32_t observations = 0;

	if (h->txns.n > ORACLE_TXNS || h->keys.n > ORACLE_KEYS)
		return ORACLE_TOO_LARGE;
	for (uint32_t i = 0; i < h->ops.n; i++) {
		if (h->ops.at[i].kind > KR_OP_CAS)
			return ORACLE_UNKNOWN_OPERATION;
		observations += says_something(&h->ops.at[i]);
	}
	if (observations > MOST_OBSERVATIONS)
		return ORACLE_TOO_LARGE;
	if (some_presence(&w, 0))
		return ORACLE_SATISFIED;
	return w.work > 0 ? ORACLE_VIOLATED : ORACLE_TOO_LARGE;
}
