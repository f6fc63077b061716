#include "tiny.h"

#include <string.h>

static int draw(struct kr_rng *rng, int n) { return (int)kr_rng_below(rng, (uint64_t)n); }
static bool chance(struct kr_rng *rng, int percent) { return draw(rng, 100) < percent; }

/* ---- random histories ---- */

struct maker {
	struct tiny *t;
	struct kr_rng *rng;
	enum tiny_mix mix;
	int values, nkeys;
	int noise; /* percent of results that are disturbed */
	int store[TINY_KEYS];
};

static enum kr_op_kind random_kind(struct maker *m)
{
	int d = draw(m->rng, 100);

	if (m->mix == TINY_READ_WRITE)
		return d < 55 ? KR_OP_READ : KR_OP_WRITE;
	if (m->mix == TINY_DELETES)
		return d < 50 ? KR_OP_READ : d < 80 ? KR_OP_WRITE : KR_OP_DELETE;
	return d < 30 ? KR_OP_READ : d < 50 ? KR_OP_WRITE : d < 65 ? KR_OP_DELETE : d < 82 ? KR_OP_INSERT : KR_OP_CAS;
}

/* Runs an operation on the store and fills in its result. */
static void execute(struct tiny_op *op, int *at)
{
	switch (op->kind) {
	case KR_OP_READ: op->a = *at; break;
	case KR_OP_WRITE: *at = op->a; break;
	case KR_OP_DELETE:
		op->done = *at != 0;
		*at = 0;
		break;
	case KR_OP_INSERT:
		op->done = *at == 0;
		*at = op->done ? op->a : *at;
		break;
	default: /* cas */
		op->done = *at == op->a;
		*at = op->done ? op->b : *at;
	}
}

/* Turns the recorded result into another one. */
static void disturb(struct maker *m, struct tiny_op *op)
{
	if (op->kind == KR_OP_READ)
		op->a = draw(m->rng, m->values + 2); /* also a value that nobody writes */
	else if (op->kind != KR_OP_WRITE)
		op->done = !op->done;
}

static void random_txn(struct maker *m, struct tiny_txn *txn)
{
	int before[TINY_KEYS];

	memcpy(before, m->store, sizeof before);
	txn->status = chance(m->rng, 70) ? KR_COMMITTED : chance(m->rng, 60) ? KR_UNKNOWN : KR_ABORTED;
	txn->session = txn->begin = txn->end = -1;
	txn->nops = 1 + draw(m->rng, 4);
	for (int i = 0; i < txn->nops; i++) {
		struct tiny_op *op = &txn->ops[i];
		*op = (struct tiny_op){random_kind(m), draw(m->rng, m->nkeys), 1 + draw(m->rng, m->values), 1 + draw(m->rng, m->values), false};
		if (op->kind == KR_OP_CAS && chance(m->rng, 30))
			op->a = 0;
		execute(op, &m->store[op->key]);
		if (chance(m->rng, m->noise))
			disturb(m, op);
		if ((op->kind == KR_OP_READ || op->kind == KR_OP_DELETE) && chance(m->rng, 5))
			op->a = TINY_UNTOLD;
	}
	if (txn->status == KR_ABORTED || (txn->status == KR_UNKNOWN && chance(m->rng, 50)))
		memcpy(m->store, before, sizeof before);
}

/* Times around the places in the serial execution, sometimes too late or too early for it; sessions in the order of the trace. */
static void random_orders(struct maker *m)
{
	struct tiny *t = m->t;
	bool times = chance(m->rng, 60), sessions = chance(m->rng, 70);
	int spread = 1 + draw(m->rng, 6), nsessions = 1 + draw(m->rng, 3);

	t->skew = times && chance(m->rng, 25) ? 1 + draw(m->rng, 3) : 0;
	for (int i = 0; i < t->ntxns; i++) {
		struct tiny_txn *txn = &t->txns[i];
		if (sessions && chance(m->rng, 85))
			txn->session = draw(m->rng, nsessions);
		if (!times || chance(m->rng, 10))
			continue;
		int place = chance(m->rng, 15) ? draw(m->rng, t->ntxns) : i;
		txn->begin = 10 + 3 * place - draw(m->rng, spread);
		txn->end = 10 + 3 * place + draw(m->rng, spread);
		if (chance(m->rng, 10))
			txn->begin = -1;
		if (chance(m->rng, txn->status == KR_UNKNOWN ? 50 : 10))
			txn->end = -1;
	}
}

static bool may_write(const struct tiny_txn *txn, int key)
{
	for (int i = 0; i < txn->nops; i++) {
		const struct tiny_op *op = &txn->ops[i];
		if (op->key != key || op->kind == KR_OP_READ)
			continue;
		if (op->kind == KR_OP_WRITE || op->done || (op->kind == KR_OP_DELETE && op->a == TINY_UNTOLD))
			return true;
	}
	return false;
}

static void random_version_order(struct maker *m)
{
	struct tiny *t = m->t;
	struct tiny_order *order = &t->orders[t->norders];

	*order = (struct tiny_order){.key = draw(m->rng, m->nkeys)};
	for (int i = 0; i < t->ntxns; i++)
		if (t->txns[i].status != KR_ABORTED && may_write(&t->txns[i], order->key) && chance(m->rng, 80))
			order->writers[order->n++] = i;
	if (order->n > 1 && chance(m->rng, 20)) {
		int i = draw(m->rng, order->n - 1), first = order->writers[i];
		order->writers[i] = order->writers[i + 1];
		order->writers[i + 1] = first;
	}
	t->norders += order->n > 1;
}

/* The trace's order of transactions need not be that of the execution. */
static void shuffle(struct maker *m)
{
	for (int i = m->t->ntxns - 1; i > 0; i--) {
		int j = draw(m->rng, i + 1);
		struct tiny_txn swap = m->t->txns[i];
		m->t->txns[i] = m->t->txns[j];
		m->t->txns[j] = swap;
	}
}

void tiny_random(struct tiny *out, struct kr_rng *rng, enum tiny_mix mix)
{
	static const int noises[] = {0, 5, 10, 20, 30, 60};
	struct maker m = {out, rng, mix, 1 + draw(rng, 3), 1 + draw(rng, TINY_KEYS), noises[draw(rng, (int)KR_COUNT(noises))], {0}};

	*out = (struct tiny){.initial = chance(rng, 50) ? KR_INITIAL_ABSENT : chance(rng, 50) ? KR_INITIAL_GIVEN : KR_INITIAL_UNKNOWN};
	for (int k = 0; k < TINY_KEYS; k++) {
		m.store[k] = out->initial == KR_INITIAL_ABSENT ? 0 : draw(rng, m.values + 2);
		out->first[k] = out->initial == KR_INITIAL_GIVEN ? m.store[k] : 0;
	}
	out->ntxns = 2 + draw(rng, TINY_TXNS - 1);
	for (int i = 0; i < out->ntxns; i++)
		random_txn(&m, &out->txns[i]);
	random_orders(&m);
	for (int i = 0; i < TINY_ORDERS; i++)
		if (chance(rng, 15))
			random_version_order(&m);
	if (chance(rng, 50) && out->norders == 0)
		shuffle(&m);
}

/* ---- to a history ---- */

static kr_value value_of(struct kr_history *h, int value) { return value <= 0 ? KR_ABSENT : kr_history_int(h, value); }

static bool push_op(struct kr_history *h, const struct tiny_op *op)
{
	char name = (char)('x' + op->key);
	struct kr_operation out = {.kind = (uint8_t)op->kind, .scan = KR_NONE};
	bool untold = op->a == TINY_UNTOLD;

	out.key = kr_history_key(h, kr_history_text(h, KR_VALUE_STRING, &name, 1));
	if (op->kind == KR_OP_READ || op->kind == KR_OP_DELETE)
		out.flags = untold ? 0 : KR_OPF_KNOWN;
	if (op->kind != KR_OP_READ && op->kind != KR_OP_WRITE && op->done && !untold)
		out.flags |= KR_OPF_DONE;
	if (op->kind != KR_OP_DELETE)
		out.a = value_of(h, op->a);
	if (op->kind == KR_OP_CAS)
		out.b = value_of(h, op->b);
	return kr_vec_push(h->mem, &h->ops, out);
}

static enum kr_status add_txn(struct kr_history *h, const struct tiny_txn *txn)
{
	struct kr_transaction out = {.id = {KR_NONE}, .session = {KR_NONE}, .status = (uint8_t)txn->status};

	for (int i = 0; i < txn->nops; i++)
		if (!push_op(h, &txn->ops[i]))
			return KR_NOMEM;
	if (txn->session >= 0)
		out.session = kr_history_session(h, kr_history_int(h, txn->session));
	if (txn->begin >= 0) {
		out.flags |= KR_TXN_HAS_BEGIN;
		out.begin_invoked = out.begin_returned = txn->begin;
	}
	if (txn->end >= 0) {
		out.flags |= KR_TXN_HAS_END;
		out.end_invoked = out.end_returned = txn->end;
	}
	return kr_history_add(h, out, h->txns.n + 1, NULL);
}

static enum kr_status fill(const struct tiny *tiny, struct kr_ctx *ctx, struct kr_history *h)
{
	h->format = "native";
	h->initial = tiny->initial;
	h->clock_skew = tiny->skew;
	for (int k = 0; k < TINY_KEYS; k++) {
		char name = (char)('x' + k);
		kr_key key = kr_history_key(h, kr_history_text(h, KR_VALUE_STRING, &name, 1));
		h->keys.at[key.i].initial = value_of(h, tiny->first[k]);
	}
	for (int i = 0; i < tiny->ntxns; i++) {
		enum kr_status status = add_txn(h, &tiny->txns[i]);
		if (status)
			return status;
	}
	for (int i = 0; i < tiny->norders; i++) {
		const struct tiny_order *order = &tiny->orders[i];
		struct kr_version_order out = {.key = {(uint32_t)order->key}, .writer_first = h->order_writers.n, .writer_count = (uint32_t)order->n};
		for (int w = 0; w < order->n; w++)
			if (!kr_vec_push(h->mem, &h->order_writers, (kr_txn){(uint32_t)order->writers[w]}))
				return KR_NOMEM;
		if (!kr_vec_push(h->mem, &h->version_orders, out))
			return KR_NOMEM;
	}
	return kr_history_finish(h, ctx, NULL);
}

enum kr_status tiny_history(const struct tiny *tiny, struct kr_ctx *ctx, struct kr_history *h)
{
	enum kr_status status = kr_history_init(h, &ctx->mem);

	if (status)
		return status;
	status = fill(tiny, ctx, h);
	if (status)
		kr_history_done(h);
	return status;
}

/* ---- shrinking ---- */

static void drop_writer(struct tiny_order *order, int txn)
{
	int n = 0;

	for (int i = 0; i < order->n; i++)
		if (order->writers[i] != txn)
			order->writers[n++] = order->writers[i] - (order->writers[i] > txn);
	order->n = n;
}

static void drop_txn(struct tiny *t, int i)
{
	for (int o = 0; o < t->norders; o++)
		drop_writer(&t->orders[o], i);
	memmove(&t->txns[i], &t->txns[i + 1], (size_t)(t->ntxns - i - 1) * sizeof t->txns[0]);
	t->ntxns--;
}

/* The n-th way to make a history smaller; false when there are no more. `*done` is false when this way changes nothing. */
static bool smaller(struct tiny *t, int n, bool *done)
{
	int i = n / 16, way = n % 16;

	*done = true;
	if (i > TINY_TXNS)
		return false;
	if (i == TINY_TXNS) {
		if (way < TINY_ORDERS && way < t->norders) {
			t->orders[way] = t->orders[t->norders - 1];
			t->norders--;
		} else if (way == TINY_ORDERS && t->skew != 0) {
			t->skew = 0;
		} else if (way == TINY_ORDERS + 1 && t->initial != KR_INITIAL_ABSENT) {
			t->initial = KR_INITIAL_ABSENT;
			memset(t->first, 0, sizeof t->first);
		} else {
			*done = false;
		}
		return true;
	}
	if (i >= t->ntxns) {
		*done = false;
		return true;
	}

	struct tiny_txn *txn = &t->txns[i];

	if (way == 0) {
		drop_txn(t, i);
	} else if (way <= TINY_OPS && way <= txn->nops) {
		memmove(&txn->ops[way - 1], &txn->ops[way], (size_t)(txn->nops - way) * sizeof txn->ops[0]);
		txn->nops--;
	} else if (way == 10 && txn->session >= 0) {
		txn->session = -1;
	} else if (way == 11 && (txn->begin >= 0 || txn->end >= 0)) {
		txn->begin = txn->end = -1;
	} else if (way == 12 && txn->status != KR_COMMITTED) {
		txn->status = KR_COMMITTED;
	} else {
		*done = false;
	}
	return true;
}

const char *tiny_shrink(struct tiny *tiny, const char *(*fails)(const struct tiny *tiny, void *data), void *data)
{
	const char *why = fails(tiny, data);
	struct tiny next = *tiny;
	bool done;

	for (int n = 0; smaller(&next, n, &done); n++) {
		const char *again = done ? fails(&next, data) : NULL;
		if (again) {
			*tiny = next;
			why = again;
			n = -1;
		}
		next = *tiny;
	}
	return why;
}
