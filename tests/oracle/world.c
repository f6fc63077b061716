#include "world.h"

#include <stdlib.h>
#include <string.h>

/* ---- the meaning of operations, for one key ---- */

static const struct kr_scan *scan_of(const struct world *w, const struct kr_operation *op) { return kr_op_scans(op) ? &w->h->scans.at[op->scan] : NULL; }

/* Whether op is about key at all. */
static bool concerns(const struct world *w, const struct kr_operation *op, uint32_t key)
{
	if (op->kind == KR_OP_RANGE)
		return key_in_range(w->h, scan_of(w, op), key) || row_of(w->h, scan_of(w, op), key);
	return kr_op_scans(op) || op->key.i == key;
}

static bool says_something(const struct kr_operation *op)
{
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ:
	case KR_OP_DELETE:
	case KR_OP_INC: return op->flags & KR_OPF_KNOWN;
	case KR_OP_WRITE:
	case KR_OP_APPEND:
	case KR_OP_ADD:
	case KR_OP_MAX: return false;
	default: return true;
	}
}

static int64_t number(const struct world *w, kr_value v) { return w->h->values.at[v.i].integer; }

/* Whether op, run where key holds `value`, sees what it saw. */
static bool agrees(const struct world *w, const struct kr_operation *op, uint32_t key, const struct held *value)
{
	bool done = (op->flags & KR_OPF_DONE) != 0, absent = value->what == HELD_ABSENT;
	const struct kr_scan *scan = scan_of(w, op);
	const struct kr_row *row = scan ? row_of(w->h, scan, key) : NULL;
	struct held shown = {.what = HELD_ABSENT};

	if (op->kind == KR_OP_READ || op->kind == KR_OP_CAS)
		shown = held_shown(w->values, key, op->a.i);
	if (row)
		shown = held_shown(w->values, key, row->value.i);
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ: return held_equal(value, &shown) || (absent && shown.what == HELD_NUMBER && shown.number == 0);
	case KR_OP_DELETE: return done != absent;
	case KR_OP_INSERT: return done == absent;
	case KR_OP_CAS: return done == held_equal(value, &shown);
	case KR_OP_INC: return number(w, op->b) == (value->what == HELD_NUMBER ? value->number : 0) + number(w, op->a);
	case KR_OP_RANGE: return row ? !absent && key_in_range(w->h, scan, key) && held_equal(value, &shown) : absent;
	case KR_OP_SCAN: return held_matches(w->values, scan, key, value) ? row && held_equal(value, &shown) : !row;
	case KR_OP_UPDATE: return held_matches(w->values, scan, key, value) == (row != NULL);
	default: return true;
	}
}

enum effect { NO_EFFECT, RELATIVE, ABSOLUTE };

/* What op makes of what key holds: nothing, something that depends on it, or not. */
static enum effect effect_of(const struct world *w, const struct kr_operation *op, uint32_t key, struct held *value)
{
	bool done = op->flags & KR_OPF_DONE, known = op->flags & KR_OPF_KNOWN;
	const struct kr_row *row;

	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_WRITE: *value = held_as(w->values, key, op->a.i); return ABSOLUTE;
	case KR_OP_DELETE:
		if (known && !done)
			return NO_EFFECT;
		*value = (struct held){.what = HELD_ABSENT};
		return ABSOLUTE;
	case KR_OP_INSERT:
		if (done)
			*value = held_as(w->values, key, op->a.i);
		return done ? ABSOLUTE : NO_EFFECT;
	case KR_OP_CAS:
		if (done)
			*value = held_as(w->values, key, op->b.i);
		return done ? ABSOLUTE : NO_EFFECT;
	case KR_OP_INC:
		*value = (struct held){.what = HELD_NUMBER, .number = (value->what == HELD_NUMBER ? value->number : 0) + number(w, op->a)};
		return RELATIVE;
	case KR_OP_APPEND:
		value->what = HELD_LIST;
		if (value->n < HELD_MOST)
			value->list[value->n++] = w->values->alone[op->a.i];
		return RELATIVE;
	case KR_OP_ADD:
		value->what = HELD_SET;
		value->set |= UINT64_C(1) << w->values->alone[op->a.i];
		return RELATIVE;
	case KR_OP_MAX:
		if (value->what != HELD_MARK || value->number < number(w, op->a))
			*value = (struct held){.what = HELD_MARK, .number = number(w, op->a)};
		return RELATIVE;
	case KR_OP_UPDATE:
		row = row_of(w->h, scan_of(w, op), key);
		if (row)
			*value = held_as(w->values, key, row->value.i);
		return row ? ABSOLUTE : NO_EFFECT;
	default: return NO_EFFECT;
	}
}

static const struct kr_operation *op_at(const struct world *w, uint32_t t, uint32_t i) { return &w->h->ops.at[w->h->txns.at[t].op_first + i]; }

/* Runs t's operations first..end-1 on key, from `value`; with `check` all of them must see what they saw. */
static bool run(const struct world *w, uint32_t t, uint32_t key, uint32_t first, uint32_t end, bool check, struct held *value)
{
	for (uint32_t i = first; i < end; i++) {
		const struct kr_operation *op = op_at(w, t, i);
		if (!concerns(w, op, key))
			continue;
		if (check && says_something(op) && !agrees(w, op, key, value))
			return false;
		effect_of(w, op, key, value);
	}
	return true;
}

/* What a transaction is shown over its own additions comes from one version, so all of it must agree. */
bool world_fits(const struct world *w, const struct observation *o, const struct held *version)
{
	struct held value = *version;

	(void)run(w, o->txn, o->key, 0, o->from, false, &value);
	if (o->over_own)
		return run(w, o->txn, o->key, o->from, w->h->txns.at[o->txn].op_count, true, &value);
	return agrees(w, op_at(w, o->txn, o->op), o->key, &value);
}

/* Whether op tells what key holds, and not only something about it. */
static bool tells_value(const struct world *w, const struct kr_operation *op, uint32_t key)
{
	if (op->kind == KR_OP_READ || op->kind == KR_OP_INC)
		return op->flags & KR_OPF_KNOWN;
	return (op->kind == KR_OP_RANGE || op->kind == KR_OP_SCAN) && row_of(w->h, scan_of(w, op), key);
}

static bool observe(struct world *w, uint32_t t, uint32_t key, uint32_t i, uint32_t from, bool over_own)
{
	const struct kr_operation *op = op_at(w, t, i);
	const struct kr_attr *attr = kr_history_attr(w->h, (kr_op){w->h->txns.at[t].op_first + i});
	bool row = kr_op_scans(op) && row_of(w->h, scan_of(w, op), key);

	if (w->nseen == MOST_OBSERVATIONS)
		return false;
	w->seen[w->nseen++] = (struct observation){t, key, i, from, kr_op_scans(op) && !row, attr && !attr->cursor, over_own};
	return true;
}

/* Version and external observations of t on key; false when t contradicts its own writes. */
static bool collect(struct world *w, uint32_t t, uint32_t key)
{
	enum { NOT_WRITTEN, ADDED, SHOWN, KNOWN } state = NOT_WRITTEN;
	struct held value = {.what = HELD_ABSENT};
	uint32_t hinted = KR_NONE; /* the first operation that tells something over own additions, as long as none has told all */

	for (uint32_t i = 0; i < w->h->txns.at[t].op_count; i++) {
		const struct kr_operation *op = op_at(w, t, i);
		if (!concerns(w, op, key))
			continue;
		bool says = says_something(op), tells = tells_value(w, op, key);
		if (says && state == KNOWN && !agrees(w, op, key, &value))
			return false;
		enum effect effect = effect_of(w, op, key, &value);
		bool over_own = state == ADDED || (state == NOT_WRITTEN && effect == RELATIVE);
		if (says && over_own && hinted == KR_NONE)
			hinted = i;
		if (says && state == NOT_WRITTEN && !over_own && !observe(w, t, key, i, i, false))
			return false;
		if (tells && over_own && !observe(w, t, key, i, hinted, true))
			return false;
		w->wrote[key][t] = w->wrote[key][t] || effect != NO_EFFECT;
		if (over_own)
			state = tells ? SHOWN : ADDED;
		if (effect == ABSOLUTE && over_own && !tells && hinted != KR_NONE && !observe(w, t, key, hinted, hinted, true))
			return false;
		state = effect == ABSOLUTE ? KNOWN : state;
	}
	return state != ADDED || hinted == KR_NONE || observe(w, t, key, hinted, hinted, true);
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

/* Each version is the one before it and its writer's own effects, whatever the writer was shown. */
static void evaluate(struct world *w, uint32_t key)
{
	struct held last = w->start[key];
	uint32_t count = 0;

	for (uint32_t t = 0; t < w->n; t++)
		count += w->wrote[key][t];
	for (uint32_t place = 0; place < count; place++)
		for (uint32_t t = 0; t < w->n; t++)
			if (w->wrote[key][t] && w->place[key][t] == place) {
				(void)run(w, t, key, 0, w->h->txns.at[t].op_count, false, &last);
				w->value[key][t] = last;
			}
}

/* ---- graphs ---- */

graph world_closure(const graph *g, uint32_t n)
{
	graph c = *g;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			if (c.to[i] >> k & 1)
				c.to[i] |= c.to[k];
	return c;
}

bool world_cyclic(const graph *g, uint32_t n)
{
	graph c = world_closure(g, n);

	for (uint32_t i = 0; i < n; i++)
		if (c.to[i] >> i & 1)
			return true;
	return false;
}

void world_order(const struct world *w, enum kr_order order, graph *g)
{
	for (uint32_t a = 0; a < w->n; a++) {
		const struct kr_transaction *x = &w->h->txns.at[a];
		if (!w->in[a] || x->status == KR_UNKNOWN)
			continue;
		for (uint32_t b = 0; b < w->n; b++) {
			const struct kr_transaction *y = &w->h->txns.at[b];
			bool so = x->session.i != KR_NONE && x->session.i == y->session.i && a < b;
			bool rt = x->flags & KR_TXN_HAS_END && y->flags & KR_TXN_HAS_BEGIN && y->begin_invoked > x->end_returned + w->h->clock_skew;
			if (a != b && w->in[b] && ((so && order != KR_ORDER_NONE) || (rt && order == KR_ORDER_REALTIME)))
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

	if (w->h->version_orders.n == 0)
		return false;
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

/* Chooses the source of observation i of `key`, and those after it. */
static bool settle_sources(struct world *w, uint32_t key, uint32_t i, const graph *g)
{
	if (w->work == 0)
		return false;
	w->work--;
	if (world_cyclic(g, w->n))
		return false;
	if (i == w->seen_first[key + 1])
		return settle_key(w, key + 1, g);

	const struct observation *o = &w->seen[i];
	const uint32_t *place = w->place[key];

	for (uint32_t v = 0; v <= INITIAL; v++) {
		bool exists = v == INITIAL || (v < w->n && w->wrote[key][v] && v != o->txn);
		const struct held *value = v == INITIAL ? &w->start[key] : &w->value[key][v];
		graph next = *g;
		if (!exists || !world_fits(w, o, value))
			continue;
		w->source[i] = v;
		if (v != INITIAL && w->prune & KR_BIT(KR_WR))
			next.to[v] |= 1u << o->txn;
		for (uint32_t b = 0; b < w->n && w->prune & KR_BIT(KR_RW); b++)
			if (w->wrote[key][b] && b != o->txn && (v == INITIAL || place[b] > place[v]) && !(o->predicate && world_fits(w, o, &w->value[key][b])))
				next.to[o->txn] |= 1u << b;
		if (settle_sources(w, key, i + 1, &next))
			return true;
	}
	return false;
}

/* Places the versions of `key` that are left, in every order; `next` is the place to fill. */
static bool settle_order(struct world *w, uint32_t key, uint32_t next, const graph *g)
{
	uint32_t *place = w->place[key];
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
		if (!first || world_cyclic(&with, w->n))
			continue;
		place[t] = next;
		if (settle_order(w, key, next + 1, &with))
			return true;
		place[t] = KR_NONE;
	}
	if (left)
		return false;
	evaluate(w, key);
	return settle_sources(w, key, w->seen_first[key], g);
}

/* Chooses what `key` started with, and goes on from there. */
static bool settle_key(struct world *w, uint32_t key, const graph *g)
{
	if (key == w->h->keys.n)
		return w->leaf(w);
	for (uint32_t i = 0; i < w->starts[key].n; i++) {
		w->start[key] = w->starts[key].at[i];
		for (uint32_t t = 0; t < ORACLE_TXNS; t++)
			w->place[key][t] = KR_NONE;
		if (settle_order(w, key, 0, g))
			return true;
	}
	return false;
}

static bool some_world(struct world *w)
{
	graph g = {{0}};

	if (!collect_all(w))
		return false;
	world_order(w, w->order, &g);
	return settle_key(w, 0, &g);
}

static bool some_presence(struct world *w, uint32_t t)
{
	if (t == w->n)
		return some_world(w);
	w->in[t] = w->h->txns.at[t].status == KR_COMMITTED;
	if (some_presence(w, t + 1))
		return true;
	w->in[t] = w->h->txns.at[t].status == KR_UNKNOWN;
	return w->in[t] && some_presence(w, t + 1);
}

bool worlds(struct world *w, enum oracle_answer *answer)
{
	struct values *values = NULL;
	bool found = false, fits = w->h->txns.n <= ORACLE_TXNS && w->h->keys.n <= ORACLE_KEYS && w->h->ops.n <= ORACLE_OPS;

	*answer = w->h->seen.n > 0 ? ORACLE_UNKNOWN_OPERATION : ORACLE_TOO_LARGE;
	if (!fits || w->h->seen.n > 0)
		return false;
	for (uint32_t i = 0, observations = 0; i < w->h->ops.n; i++) {
		observations += kr_op_scans(&w->h->ops.at[i]) ? w->h->keys.n : 1;
		fits = observations <= MOST_OBSERVATIONS;
	}
	if (!fits || !(values = values_of(w->h)))
		return false;
	w->values = values;
	w->n = w->h->txns.n;
	for (uint32_t k = 0; k < w->h->keys.n; k++)
		fits = fits && starts_of(values, k, &w->starts[k]);
	if (fits) {
		*answer = ORACLE_SATISFIED;
		found = some_presence(w, 0);
	}
	free(values);
	return found;
}
