/* The replay oracle: depth-first over serial orders, for every subset of the unknown transactions and every choice of untold initial values. */
#include <string.h>

#include "oracle.h"

enum { MOST_INITIAL = 40 };

struct replay {
	const struct kr_history *h;
	enum kr_order order;
	uint64_t work;
	uint32_t chosen;                       /* set of transactions that take effect */
	uint32_t before[ORACLE_TXNS];          /* per transaction: those that must come before it */
	uint32_t ninitial[ORACLE_KEYS];        /* possible initial values */
	uint32_t initial[ORACLE_KEYS][MOST_INITIAL];
};

/* A value that no operation of the trace names. */
#define OTHER (KR_NONE - 1)

static bool run_op(const struct kr_operation *op, uint32_t *at)
{
	bool present = *at != KR_ABSENT.i, done = (op->flags & KR_OPF_DONE) != 0;

	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ: return !(op->flags & KR_OPF_KNOWN) || *at == op->a.i;
	case KR_OP_WRITE: *at = op->a.i; return true;
	case KR_OP_DELETE:
		if (op->flags & KR_OPF_KNOWN && done != present)
			return false;
		*at = KR_ABSENT.i;
		return true;
	case KR_OP_INSERT:
		if (done == present)
			return false;
		if (done)
			*at = op->a.i;
		return true;
	case KR_OP_CAS:
		if (done != (*at == op->a.i))
			return false;
		if (done)
			*at = op->b.i;
		return true;
	default: return false;
	}
}

static bool run_txn(const struct kr_history *h, uint32_t t, uint32_t *store)
{
	for (uint32_t i = 0; i < h->txns.at[t].op_count; i++) {
		const struct kr_operation *op = &h->ops.at[h->txns.at[t].op_first + i];
		if (!run_op(op, &store[op->key.i]))
			return false;
	}
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

static bool add_initial(struct replay *r, uint32_t key, uint32_t value)
{
	for (uint32_t i = 0; i < r->ninitial[key]; i++)
		if (r->initial[key][i] == value)
			return true;
	if (r->ninitial[key] == MOST_INITIAL)
		return false;
	r->initial[key][r->ninitial[key]++] = value;
	return true;
}

/* What a key can have started with: told, or anything that an operation names, absent, or something else. */
static bool list_initial(struct replay *r)
{
	const struct kr_history *h = r->h;
	bool fits = true;

	for (uint32_t k = 0; k < h->keys.n; k++)
		fits = fits && add_initial(r, k, h->initial == KR_INITIAL_UNKNOWN ? OTHER : h->keys.at[k].initial.i);
	for (uint32_t i = 0; i < h->ops.n && h->initial == KR_INITIAL_UNKNOWN; i++) {
		fits = fits && add_initial(r, h->ops.at[i].key.i, KR_ABSENT.i);
		if (h->ops.at[i].kind == KR_OP_READ || h->ops.at[i].kind == KR_OP_CAS)
			fits = fits && add_initial(r, h->ops.at[i].key.i, h->ops.at[i].a.i);
	}
	return fits;
}

/* ---- search ---- */

struct level { uint32_t store[ORACLE_KEYS], placed, next; };

/* Whether the chosen transactions replay in some order from `start`. */
static bool some_order(struct replay *r, const uint32_t *start)
{
	struct level stack[ORACLE_TXNS + 1] = {0};
	uint32_t depth = 0;

	memcpy(stack[0].store, start, sizeof stack[0].store);
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
		if (run_txn(r->h, t, down->store))
			depth++;
	}
}

static bool some_initial(struct replay *r)
{
	uint32_t pick[ORACLE_KEYS] = {0}, start[ORACLE_KEYS] = {0};
	uint32_t nkeys = r->h->keys.n, k;

	do {
		for (k = 0; k < nkeys; k++)
			start[k] = r->initial[k][pick[k]];
		if (some_order(r, start))
			return true;
		for (k = 0; k < nkeys && ++pick[k] == r->ninitial[k]; k++)
			pick[k] = 0;
	} while (k < nkeys && r->work > 0);
	return false;
}

static enum oracle_answer check_size(const struct kr_history *h)
{
	if (h->txns.n > ORACLE_TXNS || h->keys.n > ORACLE_KEYS || h->ops.n > ORACLE_OPS)
		return ORACLE_TOO_LARGE;
	for (uint32_t i = 0; i < h->ops.n; i++)
		if (h->ops.at[i].kind > KR_OP_CAS)
			return ORACLE_UNKNOWN_OPERATION;
	return ORACLE_SATISFIED;
}

static uint32_t with_status(const struct kr_history *h, enum kr_txn_status status)
{
	uint32_t set = 0;

	for (uint32_t t = 0; t < h->txns.n; t++)
		if (h->txns.at[t].status == status)
			set |= 1u << t;
	return set;
}

enum oracle_answer oracle_replay(const struct kr_history *h, enum kr_order order, uint64_t work)
{
	enum oracle_answer answer = check_size(h);
	struct replay r = {.h = h, .order = order, .work = work};

	if (answer != ORACLE_SATISFIED)
		return answer;
	if (!list_initial(&r))
		return ORACLE_TOO_LARGE;

	uint32_t unknown = with_status(h, KR_UNKNOWN), subset = 0;

	do { /* every subset of `unknown`, the empty one first */
		r.chosen = with_status(h, KR_COMMITTED) | subset;
		memset(r.before, 0, sizeof r.before);
		constrain(&r);
		if (some_initial(&r))
			return ORACLE_SATISFIED;
		subset = (subset - unknown) & unknown;
	} while (subset != 0 && r.work > 0);
	return r.work > 0 ? ORACLE_VIOLATED : ORACLE_TOO_LARGE;
}

bool oracle_replays(const struct kr_history *h, enum kr_order order, const kr_txn *serial, uint32_t n)
{
	struct replay r = {.h = h, .order = order};
	uint32_t pick[ORACLE_KEYS] = {0}, placed = 0, k;

	if (check_size(h) != ORACLE_SATISFIED || !list_initial(&r))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (serial[i].i >= h->txns.n || r.chosen >> serial[i].i & 1)
			return false;
		r.chosen |= 1u << serial[i].i;
	}
	if ((with_status(h, KR_COMMITTED) & ~r.chosen) != 0 || (with_status(h, KR_ABORTED) & r.chosen) != 0)
		return false;
	constrain(&r);
	for (uint32_t i = 0; i < n; placed |= 1u << serial[i].i, i++)
		if ((r.before[serial[i].i] & r.chosen & ~placed) != 0)
			return false;
	do {
		uint32_t store[ORACLE_KEYS] = {0}, i = 0;
		for (k = 0; k < h->keys.n; k++)
			store[k] = r.initial[k][pick[k]];
		while (i < n && run_txn(h, serial[i].i, store))
			i++;
		if (i == n)
			return true;
		for (k = 0; k < h->keys.n && ++pick[k] == r.ninitial[k]; k++)
			pick[k] = 0;
	} while (k < h->keys.n);
	return false;
}
