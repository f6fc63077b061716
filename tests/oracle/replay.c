/* The replay oracle: depth-first over serial orders, for every subset of the unknown transactions and every choice of untold initial values, on a plain
 * store whose operations are those of the trace format. */
#include <stdlib.h>
#include <string.h>

#include "values.h"

struct store {
	struct held at[ORACLE_KEYS];
};

struct replay {
	const struct kr_history *h;
	const struct values *values;
	enum kr_order order;
	uint64_t work;
	uint32_t chosen;              /* set of transactions that take effect */
	uint32_t before[ORACLE_TXNS]; /* per transaction: those that must come before it */
	struct starts starts[ORACLE_KEYS];
};

/* ---- the store ---- */

/* Whether a read that showed `value` can have found `at`. */
static bool shows(const struct replay *r, uint32_t key, uint32_t value, const struct held *at)
{
	struct held shown = held_shown(r->values, key, value);

	if (held_equal(&shown, at))
		return true;
	return shown.what == HELD_NUMBER && shown.number == 0 && at->what == HELD_ABSENT; /* an absent counter counts as 0 */
}

static bool run_inc(const struct replay *r, const struct kr_operation *op, struct held *at)
{
	int64_t before = at->what == HELD_NUMBER ? at->number : 0, delta = r->h->values.at[op->a.i].integer;

	*at = (struct held){.what = HELD_NUMBER};
	if (__builtin_add_overflow(before, delta, &at->number))
		return false;
	return !(op->flags & KR_OPF_KNOWN) || r->h->values.at[op->b.i].integer == at->number;
}

static bool run_grow(const struct replay *r, const struct kr_operation *op, struct held *at)
{
	uint8_t element = r->values->alone[op->a.i];

	at->what = op->kind == KR_OP_APPEND ? HELD_LIST : HELD_SET;
	if (op->kind == KR_OP_ADD)
		at->set |= UINT64_C(1) << element;
	else if (at->n < HELD_MOST)
		at->list[at->n++] = element;
	else
		return false;
	return true;
}

/* Every key: in the rows exactly when it is to be found, and as it is. */
static bool run_scan(const struct replay *r, const struct kr_operation *op, struct store *store)
{
	const struct kr_scan *scan = &r->h->scans.at[op->scan];

	for (uint32_t key = 0; key < r->h->keys.n; key++) {
		struct held *at = &store->at[key];
		const struct kr_row *row = row_of(r->h, scan, key);
		bool found = op->kind == KR_OP_RANGE ? key_in_range(r->h, scan, key) && at->what != HELD_ABSENT : held_matches(r->values, scan, key, at);
		if (found != (row != NULL))
			return false;
		if (!row)
			continue;
		struct held shown = held_shown(r->values, key, row->value.i);
		if (op->kind == KR_OP_UPDATE)
			*at = shown;
		else if (!held_equal(&shown, at))
			return false;
	}
	return true;
}

static bool run_op(const struct replay *r, const struct kr_operation *op, struct store *store)
{
	struct held *at = op->key.i == KR_NONE ? NULL : &store->at[op->key.i];
	bool present = at && at->what != HELD_ABSENT, done = (op->flags & KR_OPF_DONE) != 0;

	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ: return !(op->flags & KR_OPF_KNOWN) || shows(r, op->key.i, op->a.i, at);
	case KR_OP_WRITE: *at = held_as(r->values, op->key.i, op->a.i); return true;
	case KR_OP_DELETE:
		if (op->flags & KR_OPF_KNOWN && done != present)
			return false;
		*at = (struct held){.what = HELD_ABSENT};
		return true;
	case KR_OP_INSERT:
		if (done == present)
			return false;
		if (done)
			*at = held_as(r->values, op->key.i, op->a.i);
		return true;
	case KR_OP_CAS: {
		struct held expected = held_as(r->values, op->key.i, op->a.i);
		if (done != held_equal(at, &expected))
			return false;
		if (done)
			*at = held_as(r->values, op->key.i, op->b.i);
		return true;
	}
	case KR_OP_INC: return run_inc(r, op, at);
	case KR_OP_APPEND:
	case KR_OP_ADD: return run_grow(r, op, at);
	case KR_OP_MAX:
		if (at->what == HELD_ABSENT || at->number < r->h->values.at[op->a.i].integer)
			*at = (struct held){.what = HELD_MARK, .number = r->h->values.at[op->a.i].integer};
		return true;
	case KR_OP_RANGE:
	case KR_OP_SCAN:
	case KR_OP_UPDATE: return run_scan(r, op, store);
	default: return false;
	}
}

static bool run_txn(const struct replay *r, uint32_t t, struct store *store)
{
	const struct kr_transaction *txn = &r->h->txns.at[t];

	for (uint32_t i = 0; i < txn->op_count; i++)
		if (!run_op(r, &r->h->ops.at[txn->op_first + i], store))
			return false;
	return true;
}

/* ---- constraints ---- */

static bool must_precede(const struct kr_history *h, enum kr_order order, uint32_t a, uint32_t b)
{
	const struct kr_transaction *x = &h->txns.at[a], *y = &h->txns.at[b];

	if (a == b || x->status == KR_UNKNOWN)
		return false; /* it may take effect at any later time */
	if (order >= KR_ORDER_SESSION && x->session.i != KR_NONE && x->session.i == y->session.i && a < b)
		return true;
	return order == KR_ORDER_REALTIME && x->flags & KR_TXN_HAS_END && y->flags & KR_TXN_HAS_BEGIN && x->end_returned + h->clock_skew < y->begin_invoked;
}

/* The order that the trace gives to the versions of one key, closed: also through versions whose writers did not take effect. */
static void constrain_key(struct replay *r, uint32_t key)
{
	const struct kr_history *h = r->h;
	uint32_t later[ORACLE_TXNS] = {0};

	for (uint32_t o = 0; o < h->version_orders.n; o++) {
		const struct kr_version_order *order = &h->version_orders.at[o];
		for (uint32_t i = 1; order->key.i == key && i < order->writer_count; i++)
			later[h->order_writers.at[order->writer_first + i - 1].i] |= 1u << h->order_writers.at[order->writer_first + i].i;
	}
	for (uint32_t k = 0; k < h->txns.n; k++)
		for (uint32_t a = 0; a < h->txns.n; a++)
			if (later[a] >> k & 1)
				later[a] |= later[k];
	for (uint32_t a = 0; a < h->txns.n; a++)
		for (uint32_t b = 0; b < h->txns.n; b++)
			if (later[a] >> b & 1)
				r->before[b] |= 1u << a;
}

static void constrain(struct replay *r)
{
	const struct kr_history *h = r->h;

	for (uint32_t a = 0; a < h->txns.n; a++)
		for (uint32_t b = 0; b < h->txns.n; b++)
			if (must_precede(h, r->order, a, b))
				r->before[b] |= 1u << a;
	for (uint32_t key = 0; key < h->keys.n; key++)
		constrain_key(r, key);
}

/* ---- search ---- */

struct level {
	struct store store;
	uint32_t placed, next;
};

/* Whether the chosen transactions replay in some order from `start`. */
static bool some_order(struct replay *r, const struct store *start)
{
	struct level stack[ORACLE_TXNS + 1];
	uint32_t depth = 0;

	stack[0] = (struct level){*start, 0, 0};
	for (;;) {
		struct level *top = &stack[depth];
		if (top->placed == r->chosen)
			return true;
		uint32_t t = top->next++;
		if (t >= r->h->txns.n) {
			if (depth-- == 0)
				return false;
			continue;
		}
		if (r->work == 0)
			return false;
		r->work--;
		if (!(r->chosen >> t & 1) || top->placed >> t & 1 || (r->before[t] & r->chosen & ~top->placed) != 0)
			continue;
		struct level *down = &stack[depth + 1];
		*down = *top;
		down->next = 0;
		down->placed |= 1u << t;
		if (run_txn(r, t, &down->store))
			depth++;
	}
}

static bool some_initial(struct replay *r)
{
	uint32_t pick[ORACLE_KEYS] = {0};
	struct store start = {0};
	uint32_t nkeys = r->h->keys.n, k;

	do {
		for (k = 0; k < nkeys; k++)
			start.at[k] = r->starts[k].at[pick[k]];
		if (some_order(r, &start))
			return true;
		for (k = 0; k < nkeys && ++pick[k] == r->starts[k].n; k++)
			pick[k] = 0;
	} while (k < nkeys && r->work > 0);
	return false;
}

static enum oracle_answer check_size(const struct kr_history *h)
{
	if (h->txns.n > ORACLE_TXNS || h->keys.n > ORACLE_KEYS || h->ops.n > ORACLE_OPS)
		return ORACLE_TOO_LARGE;
	return h->seen.n > 0 ? ORACLE_UNKNOWN_OPERATION : ORACLE_SATISFIED;
}

static uint32_t with_status(const struct kr_history *h, enum kr_txn_status status)
{
	uint32_t set = 0;

	for (uint32_t t = 0; t < h->txns.n; t++)
		if (h->txns.at[t].status == status)
			set |= 1u << t;
	return set;
}

/* The caller frees it, and its values. */
static enum oracle_answer begin(const struct kr_history *h, enum kr_order order, uint64_t work, struct replay **out)
{
	enum oracle_answer answer = check_size(h);
	struct replay *r;

	*out = NULL;
	if (answer != ORACLE_SATISFIED)
		return answer;
	struct values *values = values_of(h);
	r = calloc(1, sizeof *r);
	if (values && r) {
		r->h = h;
		r->values = values;
		r->order = order;
		r->work = work;
		bool fits = true;
		for (uint32_t k = 0; k < h->keys.n; k++)
			fits = fits && starts_of(values, k, &r->starts[k]);
		if (fits)
			return *out = r, ORACLE_SATISFIED;
	}
	free(values);
	free(r);
	return ORACLE_TOO_LARGE;
}

static void end(struct replay *r)
{
	free((void *)(uintptr_t)r->values);
	free(r);
}

enum oracle_answer oracle_replay(const struct kr_history *h, enum kr_order order, uint64_t work)
{
	struct replay *r;
	enum oracle_answer answer = begin(h, order, work, &r);

	if (!r)
		return answer;

	uint32_t unknown = with_status(h, KR_UNKNOWN), subset = 0;
	bool found = false;

	do { /* every subset of `unknown`, the empty one first */
		r->chosen = with_status(h, KR_COMMITTED) | subset;
		memset(r->before, 0, sizeof r->before);
		constrain(r);
		found = some_initial(r);
		subset = (subset - unknown) & unknown;
	} while (!found && subset != 0 && r->work > 0);
	answer = found ? ORACLE_SATISFIED : r->work > 0 ? ORACLE_VIOLATED : ORACLE_TOO_LARGE;
	end(r);
	return answer;
}

static bool is_serial_order(struct replay *r, const kr_txn *serial, uint32_t n)
{
	uint32_t placed = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (serial[i].i >= r->h->txns.n || r->chosen >> serial[i].i & 1)
			return false;
		r->chosen |= 1u << serial[i].i;
	}
	if ((with_status(r->h, KR_COMMITTED) & ~r->chosen) != 0 || (with_status(r->h, KR_ABORTED) & r->chosen) != 0)
		return false;
	constrain(r);
	for (uint32_t i = 0; i < n; placed |= 1u << serial[i].i, i++)
		if ((r->before[serial[i].i] & r->chosen & ~placed) != 0)
			return false;
	return true;
}

bool oracle_replays(const struct kr_history *h, enum kr_order order, const kr_txn *serial, uint32_t n)
{
	uint32_t pick[ORACLE_KEYS] = {0}, k = 0;
	struct replay *r;
	bool found = false;

	(void)begin(h, order, 0, &r);
	if (!r)
		return false;
	if (is_serial_order(r, serial, n)) {
		do {
			struct store store = {0};
			uint32_t i = 0;
			for (k = 0; k < h->keys.n; k++)
				store.at[k] = r->starts[k].at[pick[k]];
			while (i < n && run_txn(r, serial[i].i, &store))
				i++;
			found = i == n;
			for (k = 0; k < h->keys.n && ++pick[k] == r->starts[k].n; k++)
				pick[k] = 0;
		} while (!found && k < h->keys.n);
	}
	end(r);
	return found;
}

/* ---- snapshot isolation ---- */

enum { SI_TXNS = 5 };

struct si {
	struct store committed, own[SI_TXNS];
	uint32_t changed[ORACLE_KEYS], started[SI_TXNS], clock; /* times of a key's last commit and of starts */
	uint32_t active, done;                                  /* sets of places in `txns` */
};

struct si_run {
	struct replay *r;
	uint32_t n, txns[SI_TXNS];
};

static bool op_writes(const struct replay *r, const struct kr_operation *op, uint32_t key)
{
	if (op->kind == KR_OP_UPDATE)
		return row_of(r->h, &r->h->scans.at[op->scan], key) != NULL;
	if (op->key.i != key || op->kind == KR_OP_READ)
		return false;
	if (op->kind == KR_OP_DELETE)
		return !(op->flags & KR_OPF_KNOWN) || op->flags & KR_OPF_DONE;
	return (op->kind != KR_OP_INSERT && op->kind != KR_OP_CAS) || op->flags & KR_OPF_DONE;
}

static bool txn_writes(const struct replay *r, uint32_t t, uint32_t key)
{
	const struct kr_transaction *txn = &r->h->txns.at[t];

	for (uint32_t i = 0; i < txn->op_count; i++)
		if (op_writes(r, &r->h->ops.at[txn->op_first + i], key))
			return true;
	return false;
}

/* First committer wins: nobody committed a write of what it writes since it started. */
static bool commit(const struct si_run *run, struct si *s, uint32_t i)
{
	s->clock++;
	for (uint32_t key = 0; key < run->r->h->keys.n; key++) {
		if (!txn_writes(run->r, run->txns[i], key))
			continue;
		if (s->changed[key] > s->started[i])
			return false;
		s->committed.at[key] = s->own[i].at[key];
		s->changed[key] = s->clock;
	}
	s->active &= ~(1u << i);
	s->done |= 1u << i;
	return true;
}

static bool start(const struct si_run *run, struct si *s, uint32_t i)
{
	s->own[i] = s->committed;
	s->started[i] = s->clock;
	s->active |= 1u << i;
	return run_txn(run->r, run->txns[i], &s->own[i]);
}

/* Whether all that must have committed by now have. */
static bool may(const struct si_run *run, const struct si *s, uint32_t i, bool commits)
{
	for (uint32_t a = 0; a < run->n; a++)
		if (!(s->done >> a & 1) &&
			(commits ? run->r->before[run->txns[i]] >> run->txns[a] & 1 : must_precede(run->r->h, run->r->order, run->txns[a], run->txns[i])))
			return false;
	return true;
}

static bool interleave(const struct si_run *run, const struct si *s)
{
	if (s->done == (1u << run->n) - 1)
		return true;
	if (run->r->work == 0)
		return false;
	run->r->work--;
	for (uint32_t i = 0; i < run->n; i++) {
		bool active = s->active >> i & 1;
		struct si next = *s;
		if (s->done >> i & 1 || !may(run, s, i, active) || !(active ? commit(run, &next, i) : start(run, &next, i)))
			continue;
		if (interleave(run, &next))
			return true;
	}
	return false;
}

/* From every choice of initial values; r->before holds the version orders only: commits must follow them. */
static bool some_interleaving(struct replay *r)
{
	uint32_t pick[ORACLE_KEYS] = {0}, k;
	struct si_run run = {.r = r};

	for (uint32_t t = 0; t < r->h->txns.n; t++)
		if (r->chosen >> t & 1)
			run.txns[run.n++] = t;
	memset(r->before, 0, sizeof r->before);
	for (k = 0; k < r->h->keys.n; k++)
		constrain_key(r, k);
	do {
		struct si s = {.clock = 1};
		for (k = 0; k < r->h->keys.n; k++)
			s.committed.at[k] = r->starts[k].at[pick[k]];
		if (interleave(&run, &s))
			return true;
		for (k = 0; k < r->h->keys.n && ++pick[k] == r->starts[k].n; k++)
			pick[k] = 0;
	} while (k < r->h->keys.n && r->work > 0);
	return false;
}

enum oracle_answer oracle_si(const struct kr_history *h, enum kr_order order, uint64_t work)
{
	struct replay *r;
	enum oracle_answer answer = begin(h, order, work, &r);

	if (!r)
		return answer;

	uint32_t committed = with_status(h, KR_COMMITTED), unknown = with_status(h, KR_UNKNOWN), subset = 0;
	bool found = false, fits = __builtin_popcount(committed | unknown) <= SI_TXNS;

	do {
		r->chosen = committed | subset;
		found = fits && some_interleaving(r);
		subset = (subset - unknown) & unknown;
	} while (fits && !found && subset != 0 && r->work > 0);
	answer = found ? ORACLE_SATISFIED : fits && r->work > 0 ? ORACLE_VIOLATED : ORACLE_TOO_LARGE;
	end(r);
	return answer;
}
