/* Read uncommitted, from its row in docs/levels.md. Violated iff the orders that the trace gives, those that its lists show, and the order asked for go round in a circle (an order of the versions of each key
 * that fits in with all of them exists iff they do not, and unknown transactions only add to them), or a committed transaction shows something that nothing ever written explains, whoever wrote it and whatever
 * became of him: a garbage read. What a key ever held: of a register every value written or initial, of a counter every sum of some increments on what it started with, or on nothing if somebody deleted it; of a
 * mark every number that it was raised to, unless it started above that and nobody deleted it; of a list or set its elements tell. */
#include <stdlib.h>
#include <string.h>

#include "levels.h"
#include "world.h"

struct ever {
	const struct kr_history *h;
	const struct values *v;
	uint32_t key;
	struct held start;
	bool deleted, put; /* somebody deleted it; put something into it */
	uint32_t n;
	struct held held[600]; /* of registers, counters and marks */
	uint64_t added;        /* elements of lists and sets that anybody added */
};

static bool done(const struct kr_operation *op) { return op->flags & KR_OPF_DONE; }
static bool known(const struct kr_operation *op) { return op->flags & KR_OPF_KNOWN; }

static bool hold(struct ever *e, struct held value)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (held_equal(&e->held[i], &value))
			return true;
	if (e->n == sizeof e->held / sizeof *e->held)
		return false;
	e->held[e->n++] = value;
	return true;
}

/* Sums of increments: each may be there or not. */
static bool hold_sums(struct ever *e, int64_t delta)
{
	bool fits = true;

	for (uint32_t i = 0, n = e->n; i < n && fits; i++) {
		struct held sum = {.what = HELD_NUMBER, .number = e->held[i].number + delta};

		if (e->held[i].what == HELD_NUMBER || e->held[i].what == HELD_ABSENT)
			fits = hold(e, sum);
	}
	return fits;
}

/* The values that operations of anybody put there. */
static bool hold_written(struct ever *e, const struct kr_operation *op)
{
	const struct kr_row *row = op->kind == KR_OP_UPDATE ? row_of(e->h, &e->h->scans.at[op->scan], e->key) : NULL;

	if (row)
		return hold(e, held_as(e->v, e->key, row->value.i));
	if (kr_op_scans(op) || op->key.i != e->key)
		return true;
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_WRITE: return hold(e, held_as(e->v, e->key, op->a.i));
	case KR_OP_INSERT: return !done(op) || hold(e, held_as(e->v, e->key, op->a.i));
	case KR_OP_CAS: return !done(op) || hold(e, held_as(e->v, e->key, op->b.i));
	case KR_OP_DELETE: e->deleted |= done(op) || !known(op); return !e->deleted || hold(e, (struct held){.what = HELD_ABSENT});
	case KR_OP_APPEND:
	case KR_OP_ADD: e->added |= UINT64_C(1) << e->v->alone[op->a.i]; /* fallthrough */
	case KR_OP_INC:
	case KR_OP_MAX: e->put = true; return true;
	default: return true;
	}
}

static bool what_was_held(struct ever *e)
{
	bool fits = hold(e, e->start);

	for (uint32_t i = 0; i < e->h->ops.n && fits; i++)
		fits = hold_written(e, &e->h->ops.at[i]);
	for (uint32_t i = 0; i < e->h->ops.n && fits; i++) {
		const struct kr_operation *op = &e->h->ops.at[i];
		struct held raised = held_as(e->v, e->key, op->a.i);
		if (op->kind == KR_OP_MAX && op->key.i == e->key && (e->deleted || e->start.what != HELD_MARK || e->start.number <= raised.number))
			fits = hold(e, raised);
	}
	for (uint32_t i = 0; i < e->h->ops.n && fits; i++)
		if (e->h->ops.at[i].kind == KR_OP_INC && e->h->ops.at[i].key.i == e->key)
			fits = hold_sums(e, e->h->values.at[e->h->ops.at[i].a.i].integer);
	return fits;
}

/* ---- what was shown ---- */

/* What `op` shows of the key: some of all values are right, and the key was once what one of them is. */
struct shown {
	enum { SHOWN_NOTHING, SHOWN_VALUE, SHOWN_OTHER, SHOWN_ABSENT, SHOWN_PRESENT, SHOWN_MATCH, SHOWN_NO_MATCH } what;
	struct held value;
	bool or_zero; /* a read that shows 0 of a counter which is absent */
	const struct kr_scan *scan;
};

/* Whether the key's name meets the conditions on names. A row of one that does not cannot be there, whatever was written. */
static bool is_named(const struct ever *e, const struct kr_scan *scan)
{
	const struct kr_value_entry *name = &e->h->values.at[e->h->keys.at[e->key].name.i];

	for (uint32_t i = 0; i < scan->cond_count; i++) {
		const struct kr_cond *cond = &e->h->conds.at[scan->cond_first + i];
		const struct kr_value_entry *prefix = &e->h->values.at[cond->value.i];
		if (cond->target == KR_COND_KEY_PREFIX && (name->type != KR_VALUE_STRING || strncmp(name->text, prefix->text, prefix->length) != 0))
			return false;
	}
	return true;
}

static struct shown shown_by_scan(const struct ever *e, const struct kr_operation *op)
{
	const struct kr_scan *scan = &e->h->scans.at[op->scan];
	const struct kr_row *row = row_of(e->h, scan, e->key);
	struct shown s = {.scan = scan};

	if (op->kind == KR_OP_RANGE && !row && !key_in_range(e->h, scan, e->key))
		return s;
	s.what = op->kind == KR_OP_RANGE ? SHOWN_ABSENT : SHOWN_NO_MATCH;
	if (row) {
		s.what = op->kind != KR_OP_UPDATE ? SHOWN_VALUE : is_named(e, scan) ? SHOWN_MATCH : SHOWN_PRESENT;
		s.value = held_as(e->v, e->key, row->value.i);
	}
	return s;
}

static struct shown shown_by(const struct ever *e, const struct kr_operation *op)
{
	struct shown s = {.what = SHOWN_NOTHING};

	if (kr_op_scans(op))
		return shown_by_scan(e, op);
	if (op->key.i != e->key)
		return s;
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ:
		s.what = known(op) ? SHOWN_VALUE : SHOWN_NOTHING;
		s.value = held_as(e->v, e->key, op->a.i);
		s.or_zero = s.value.what == HELD_NUMBER && s.value.number == 0;
		break;
	case KR_OP_DELETE: s.what = !known(op) ? SHOWN_NOTHING : done(op) ? SHOWN_PRESENT : SHOWN_ABSENT; break;
	case KR_OP_INSERT: s.what = done(op) ? SHOWN_ABSENT : SHOWN_PRESENT; break;
	case KR_OP_CAS:
		s.what = done(op) ? SHOWN_VALUE : SHOWN_OTHER;
		s.value = held_as(e->v, e->key, op->a.i);
		break;
	case KR_OP_INC:
		s.what = known(op) ? SHOWN_VALUE : SHOWN_NOTHING;
		s.value = held_as(e->v, e->key, op->b.i);
		s.or_zero = s.value.number == 0;
		break;
	default: break;
	}
	return s;
}

static bool explains(const struct ever *e, const struct shown *s, const struct held *value)
{
	switch (s->what) {
	case SHOWN_VALUE: return held_equal(value, &s->value) || (s->or_zero && value->what == HELD_ABSENT);
	case SHOWN_OTHER: return !held_equal(value, &s->value);
	case SHOWN_ABSENT: return value->what == HELD_ABSENT;
	case SHOWN_PRESENT: return value->what != HELD_ABSENT;
	case SHOWN_MATCH: return held_matches(e->v, s->scan, e->key, value);
	case SHOWN_NO_MATCH: return !held_matches(e->v, s->scan, e->key, value);
	case SHOWN_NOTHING: break;
	}
	return true;
}

/* ---- lists and sets ---- */

static uint64_t elements_of(const struct held *value)
{
	uint64_t set = value->what == HELD_SET ? value->set : 0;

	for (uint8_t i = 0; value->what == HELD_LIST && i < value->n; i++)
		set |= UINT64_C(1) << (value->list[i] < 63 ? value->list[i] : 63); /* the last one stands for what nobody mentions */
	return set;
}

/* Whether the array can have been there: nobody but who deletes takes initial elements away, and all of them at once; of a list they come first. */
static bool array_explained(const struct ever *e, const struct held *value)
{
	uint64_t all = elements_of(value), initial = elements_of(&e->start);
	bool whole = (all & initial) == initial;

	if (value->what == HELD_VALUE || value->what == HELD_NUMBER || all & ~(initial | e->added))
		return false;
	if (value->what == HELD_LIST || e->start.what == HELD_LIST)
		whole = e->start.n <= value->n && memcmp(e->start.list, value->list, e->start.n) == 0;
	return whole || (e->deleted && !(all & initial & ~e->added));
}

static bool grown_explained(const struct ever *e, const struct shown *s)
{
	struct held nothing = {.what = HELD_ABSENT}, something = {.what = HELD_LIST, .n = 1};
	bool may_be_absent = array_explained(e, &nothing), may_be_there = e->put || e->start.what != HELD_ABSENT;

	if (s->what == SHOWN_VALUE)
		return array_explained(e, &s->value);
	return (may_be_absent && explains(e, s, &nothing)) || (may_be_there && explains(e, s, &something)); /* conditions do not compare with arrays */
}

/* ---- garbage ---- */

static bool op_explained(const struct ever *e, const struct kr_operation *op)
{
	struct shown s = shown_by(e, op);
	uint8_t kind = e->h->keys.at[e->key].kind;
	bool explained = s.what == SHOWN_NOTHING;

	if (kind == KR_KIND_LIST || kind == KR_KIND_SET)
		return explained || grown_explained(e, &s);
	for (uint32_t i = 0; i < e->n && !explained; i++)
		explained = explains(e, &s, &e->held[i]);
	return explained;
}

static bool all_explained(const struct ever *e)
{
	const struct kr_history *h = e->h;

	for (uint32_t t = 0; t < h->txns.n; t++)
		for (uint32_t i = 0; i < h->txns.at[t].op_count && h->txns.at[t].status == KR_COMMITTED; i++)
			if (!op_explained(e, &h->ops.at[h->txns.at[t].op_first + i]))
				return false;
	return true;
}

static enum oracle_answer garbage(const struct kr_history *h)
{
	struct values *values = values_of(h);
	struct starts *starts = malloc(sizeof *starts);
	struct ever *e = malloc(sizeof *e);
	enum oracle_answer answer = values && starts && e ? ORACLE_SATISFIED : ORACLE_TOO_LARGE;

	for (uint32_t key = 0; key < h->keys.n && answer == ORACLE_SATISFIED; key++) {
		if (!starts_of(values, key, starts)) {
			answer = ORACLE_TOO_LARGE;
			break;
		}
		answer = ORACLE_VIOLATED;
		for (uint32_t i = 0; i < starts->n && answer == ORACLE_VIOLATED; i++) {
			*e = (struct ever){.h = h, .v = values, .key = key, .start = starts->at[i]};
			answer = !what_was_held(e) ? ORACLE_TOO_LARGE : all_explained(e) ? ORACLE_SATISFIED : ORACLE_VIOLATED;
		}
	}
	free(e);
	free(starts);
	free(values);
	return answer;
}

/* ---- order ---- */

/* The committed transaction whose last element of list `key` this is, if nobody else's is like it; KR_NONE: there is none. */
static uint32_t whose_last(const struct kr_history *h, const struct values *v, uint32_t key, uint8_t element)
{
	struct held start = held_as(v, key, h->keys.at[key].initial.i);
	uint32_t found = KR_NONE, times = kr_history_untold(h) && h->initial != KR_INITIAL_UNWRITTEN ? 2 : elements_of(&start) >> element & 1;

	for (uint32_t t = 0; t < h->txns.n; t++) {
		uint32_t last = KR_NONE;
		for (uint32_t i = 0; i < h->txns.at[t].op_count; i++) {
			const struct kr_operation *op = &h->ops.at[h->txns.at[t].op_first + i];
			if (kr_op_scans(op) || op->key.i != key)
				continue;
			times += op->kind == KR_OP_APPEND && v->alone[op->a.i] == element;
			last = op->kind == KR_OP_APPEND ? v->alone[op->a.i] : op->kind == KR_OP_DELETE && (done(op) || !known(op)) ? KR_NONE : last;
		}
		if (last == element && h->txns.at[t].status == KR_COMMITTED)
			found = t;
	}
	return times == 1 ? found : KR_NONE;
}

/* Whether t had appended the element before its operation `end`. */
static bool had_appended(const struct kr_history *h, const struct values *v, uint32_t key, uint32_t t, uint32_t end, uint8_t element)
{
	for (uint32_t i = 0; i < end; i++) {
		const struct kr_operation *op = &h->ops.at[h->txns.at[t].op_first + i];
		if (op->kind == KR_OP_APPEND && op->key.i == key && v->alone[op->a.i] == element)
			return true;
	}
	return false;
}

/* A list that t's operation `i` shows, without what it had appended itself at the end, orders the writers whose last elements it shows, each once. */
static void order_by_list(const struct kr_history *h, const struct values *v, uint32_t key, uint32_t t, uint32_t i, uint32_t value, graph *g)
{
	struct held list = held_as(v, key, value);
	uint32_t writer[HELD_MOST];

	while (list.n > 0 && had_appended(h, v, key, t, i, list.list[list.n - 1]))
		list.n--;
	for (uint8_t a = 0; a < list.n; a++) {
		writer[a] = whose_last(h, v, key, list.list[a]);
		for (uint8_t b = 0; b < list.n; b++)
			if (b != a && list.list[b] == list.list[a])
				writer[a] = KR_NONE;
		for (uint8_t b = 0; b < a && writer[a] != KR_NONE; b++)
			if (writer[b] != KR_NONE)
				g->to[writer[b]] |= 1u << writer[a];
	}
}

static void order_by_lists(const struct kr_history *h, const struct values *v, uint32_t key, graph *g)
{
	for (uint32_t t = 0; t < h->txns.n; t++)
		for (uint32_t i = 0; i < h->txns.at[t].op_count && h->txns.at[t].status == KR_COMMITTED; i++) {
			const struct kr_operation *op = &h->ops.at[h->txns.at[t].op_first + i];
			const struct kr_row *row = op->kind == KR_OP_RANGE || op->kind == KR_OP_SCAN ? row_of(h, &h->scans.at[op->scan], key) : NULL;
			if (row || (op->kind == KR_OP_READ && op->key.i == key && known(op)))
				order_by_list(h, v, key, t, i, row ? row->value.i : op->a.i, g);
		}
}

static void order_as_given(const struct world *w, uint32_t key, graph *g)
{
	const struct kr_history *h = w->h;
	graph given = {{0}};

	for (uint32_t o = 0; o < h->version_orders.n; o++)
		for (uint32_t i = 1; h->version_orders.at[o].key.i == key && i < h->version_orders.at[o].writer_count; i++) {
			const kr_txn *pair = &h->order_writers.at[h->version_orders.at[o].writer_first + i - 1];
			given.to[pair[0].i] |= 1u << pair[1].i;
		}
	given = world_closure(&given, w->n); /* a list may lead through a transaction that did not take effect */
	for (uint32_t a = 0; a < w->n; a++)
		for (uint32_t b = 0; b < w->n; b++)
			if (w->in[a] && w->in[b] && given.to[a] >> b & 1)
				g->to[a] |= 1u << b;
}

enum oracle_answer oracle_uncommitted(const struct kr_history *h, enum kr_order order)
{
	struct world *w = calloc(1, sizeof *w);
	struct values *values = h->txns.n <= ORACLE_TXNS && h->keys.n <= ORACLE_KEYS ? values_of(h) : NULL;
	graph g = {{0}};
	enum oracle_answer answer = ORACLE_TOO_LARGE;

	if (w && values) {
		w->h = h;
		w->n = h->txns.n;
		for (uint32_t t = 0; t < w->n; t++)
			w->in[t] = h->txns.at[t].status == KR_COMMITTED;
		world_order(w, order, &g);
		for (uint32_t key = 0; key < h->keys.n; key++) {
			order_as_given(w, key, &g);
			if (h->keys.at[key].kind == KR_KIND_LIST)
				order_by_lists(h, values, key, &g);
		}
		answer = world_cyclic(&g, w->n) ? ORACLE_VIOLATED : garbage(h);
	}
	free(values);
	free(w);
	return answer;
}
