#include "tiny.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int draw(struct kr_rng *rng, int n) { return (int)kr_rng_below(rng, (uint64_t)n); }
static bool chance(struct kr_rng *rng, int percent) { return draw(rng, 100) < percent; }

/* ---- random histories ---- */

static const char *const mix_names[] = {"read-write", "deletes", "conditional", "counters", "lists", "lists-with-deletes", "sets", "marks", "growing", "ranges", "scans", "updates",
	"all"};

const char *tiny_mix_name(enum tiny_mix mix) { return mix_names[mix]; }

struct maker {
	struct tiny *t;
	struct kr_rng *rng;
	enum tiny_mix mix;
	int values, nkeys;
	int noise; /* percent of results that are disturbed */
	int told;  /* percent of increments that tell their result */
	int store[TINY_KEYS];
	int element;                             /* the last one appended */
	bool kept;                               /* the first key, whose initial value is not told, is only read and deleted: what was seen of it must agree */
	bool weak;                               /* transactions see old states */
	int nold, old[TINY_TXNS + 1][TINY_KEYS]; /* states after each transaction */
};

static enum kr_key_kind kind_of_mix(struct maker *m)
{
	switch (m->mix) {
	case TINY_COUNTERS: return KR_KIND_COUNTER;
	case TINY_LISTS:
	case TINY_LISTS_WITH_DELETES: return KR_KIND_LIST;
	case TINY_SETS: return KR_KIND_SET;
	case TINY_MARKS: return KR_KIND_MARK;
	case TINY_GROWING: return (enum kr_key_kind)(KR_KIND_COUNTER + draw(m->rng, 4));
	case TINY_ALL:
	case TINY_RANGES: return (enum kr_key_kind)(KR_KIND_REGISTER + (chance(m->rng, 40) ? 0 : draw(m->rng, 5)));
	case TINY_SCANS: return chance(m->rng, 80) ? KR_KIND_REGISTER : (enum kr_key_kind)(KR_KIND_COUNTER + draw(m->rng, 4));
	default: return KR_KIND_REGISTER;
	}
}

static bool is_scan(enum kr_op_kind kind) { return kind == KR_OP_RANGE || kind == KR_OP_SCAN || kind == KR_OP_UPDATE; }

/* Operations over several keys, per mix, in percent. */
static enum kr_op_kind random_scan(struct maker *m)
{
	int d = draw(m->rng, 100);

	if (m->kept && m->mix != TINY_UPDATES && d < 40)
		return chance(m->rng, 50) ? KR_OP_RANGE : KR_OP_SCAN;
	switch (m->mix) {
	case TINY_RANGES: return d < 40 ? KR_OP_RANGE : KR_OP_READ;
	case TINY_SCANS: return d < 45 ? KR_OP_SCAN : KR_OP_READ;
	case TINY_UPDATES: return d < 25 ? KR_OP_UPDATE : d < 35 ? KR_OP_SCAN : KR_OP_READ;
	case TINY_ALL: return d < 10 ? KR_OP_RANGE : d < 20 ? KR_OP_SCAN : d < 25 ? KR_OP_UPDATE : KR_OP_READ;
	case TINY_GROWING: return d < 4 ? KR_OP_RANGE : d < 8 ? KR_OP_SCAN : KR_OP_READ;
	case TINY_COUNTERS:
	case TINY_SETS:
	case TINY_MARKS:
	case TINY_LISTS: return d < 5 ? KR_OP_RANGE : KR_OP_READ;
	default: return KR_OP_READ;
	}
}

static enum kr_op_kind random_kind(struct maker *m, enum kr_key_kind kind)
{
	static const enum kr_op_kind adding[] = {[KR_KIND_COUNTER] = KR_OP_INC, [KR_KIND_LIST] = KR_OP_APPEND, [KR_KIND_SET] = KR_OP_ADD, [KR_KIND_MARK] = KR_OP_MAX};
	int d = draw(m->rng, 100);
	bool deletes = m->mix != TINY_LISTS && (m->mix != TINY_ALL || kind != KR_KIND_LIST);

	if (kind != KR_KIND_REGISTER) {
		if (d < 45 || (d < 55 && !deletes))
			return KR_OP_READ;
		return d < 55 ? KR_OP_DELETE : adding[kind];
	}
	if (m->mix == TINY_READ_WRITE)
		return d < 55 ? KR_OP_READ : KR_OP_WRITE;
	if (m->mix == TINY_CONDITIONAL || m->mix == TINY_ALL)
		return d < 30 ? KR_OP_READ : d < 50 ? KR_OP_WRITE : d < 65 ? KR_OP_DELETE : d < 82 ? KR_OP_INSERT : KR_OP_CAS;
	return d < (m->mix == TINY_DELETES ? 50 : 20) ? KR_OP_READ : d < 80 ? KR_OP_WRITE : KR_OP_DELETE;
}

static bool is_number(enum kr_key_kind kind) { return kind == KR_KIND_COUNTER || kind == KR_KIND_MARK; }
static bool is_array(enum kr_key_kind kind) { return kind == KR_KIND_LIST || kind == KR_KIND_SET; }
static int absent_as(enum kr_key_kind kind) { return is_number(kind) ? TINY_NULL : 0; }
static bool present(const struct tiny *t, int key, int value) { return value != absent_as(t->kinds[key]); }
static bool grows(enum kr_op_kind kind) { return kind == KR_OP_INC || kind == KR_OP_APPEND || kind == KR_OP_ADD || kind == KR_OP_MAX; }

static bool holds(const struct tiny *t, const struct tiny_cond *c, int key, int value)
{
	bool object = t->kinds[key] == KR_KIND_REGISTER && t->objects;
	bool number = is_number(t->kinds[key]) || (t->kinds[key] == KR_KIND_REGISTER && (!object || c->field));

	if (c->field && !object)
		return false;
	switch (c->test) {
	case KR_COND_EQ: return number && value == c->a;
	case KR_COND_NE: return !number || value != c->a;
	case KR_COND_LT: return number && value < c->a;
	case KR_COND_LE: return number && value <= c->a;
	case KR_COND_GT: return number && value > c->a;
	case KR_COND_GE: return number && value >= c->a;
	case KR_COND_IN: return number && (value == c->a || value == c->b);
	default: return false;
	}
}

static bool matches(const struct tiny *t, const struct tiny_op *op, int key, int value)
{
	if (!present(t, key, value))
		return false;
	if (op->kind == KR_OP_RANGE)
		return (op->low < 0 || key >= op->low) && (op->high < 0 || key < op->high);
	for (int i = 0; i < op->nconds; i++)
		if (!holds(t, &op->conds[i], key, value))
			return false;
	return op->prefix < 0 || op->prefix == key;
}

/* False for an update that matches what cannot be written. */
static bool execute_scan(const struct tiny *t, struct tiny_op *op, int *store)
{
	int left = op->limit < 0 ? TINY_KEYS : op->limit;

	for (int i = 0; i < TINY_KEYS; i++) {
		int k = op->reverse ? TINY_KEYS - 1 - i : i;
		op->has[k] = matches(t, op, k, store[k]) && left > 0;
		left -= op->has[k];
		op->row[k] = op->kind == KR_OP_UPDATE ? op->a : store[k];
		if (op->has[k] && op->kind == KR_OP_UPDATE && t->kinds[k] != KR_KIND_REGISTER)
			return false;
	}
	for (int k = 0; k < TINY_KEYS; k++)
		if (op->has[k])
			store[k] = op->row[k];
	return true;
}

/* Runs an operation on the store and fills in its result. */
static void execute(const struct tiny *t, struct tiny_op *op, int *at)
{
	switch (op->kind) {
	case KR_OP_READ: op->a = *at; break;
	case KR_OP_WRITE: *at = op->a; break;
	case KR_OP_DELETE:
		op->done = present(t, op->key, *at);
		*at = absent_as(t->kinds[op->key]);
		break;
	case KR_OP_INSERT:
		op->done = *at == 0;
		*at = op->done ? op->a : *at;
		break;
	case KR_OP_INC:
		*at = (*at == TINY_NULL ? 0 : *at) + op->a;
		op->b = op->b == TINY_UNTOLD ? op->b : *at;
		break;
	case KR_OP_APPEND: *at = *at * 10 + op->a; break;
	case KR_OP_ADD: *at |= 1 << op->a; break;
	case KR_OP_MAX: *at = *at == TINY_NULL || *at < op->a ? op->a : *at; break;
	default: /* cas */ op->done = *at == op->a; *at = op->done ? op->b : *at;
	}
}

/* Another value that such a key could show. */
static int other_value(struct maker *m, int key, int value)
{
	switch (m->t->kinds[key]) {
	case KR_KIND_MARK:
	case KR_KIND_COUNTER: return chance(m->rng, 20) ? TINY_NULL : (value == TINY_NULL ? 0 : value) + draw(m->rng, 5) - 2;
	case KR_KIND_SET: return chance(m->rng, 10) ? value | TINY_TWICE : value ^ 1 << draw(m->rng, m->values + 1);
	case KR_KIND_LIST:
		return chance(m->rng, 70)                         ? value / 10
			: chance(m->rng, 50) && value < 100000000 ? value * 10 + 1 + draw(m->rng, 4)
								  : value % 100 / 10 + 10 * (value % 10);
	default: return draw(m->rng, m->values + 2); /* also a value that nobody writes */
	}
}

static void disturb_rows(struct maker *m, struct tiny_op *op)
{
	int k = draw(m->rng, m->nkeys), count = 0;

	if (m->t->kinds[k] != KR_KIND_REGISTER && op->kind == KR_OP_UPDATE)
		return;
	if (m->kept)
		k = 0;
	if (chance(m->rng, 50) || op->kind == KR_OP_UPDATE) {
		op->has[k] = !op->has[k] && (op->low < 0 || k >= op->low) && (op->high < 0 || k < op->high);
		if (op->kind != KR_OP_UPDATE && op->has[k])
			op->row[k] = other_value(m, k, op->row[k]);
	} else {
		op->row[k] = other_value(m, k, op->row[k]);
	}
	for (int i = 0; i < TINY_KEYS; i++) {
		op->has[i] = op->has[i] && present(m->t, i, op->row[i]);
		count += op->has[i];
	}
	if (op->limit >= 0 && count > op->limit)
		op->limit = count;
}

/* Turns the recorded result into another one. */
static void disturb(struct maker *m, struct tiny_op *op)
{
	if (is_scan(op->kind))
		disturb_rows(m, op);
	else if (op->kind == KR_OP_READ)
		op->a = other_value(m, op->key, op->a);
	else if (op->kind == KR_OP_INC && op->b != TINY_UNTOLD)
		op->b += draw(m->rng, 5) - 2;
	else if (op->kind == KR_OP_DELETE || op->kind == KR_OP_INSERT || op->kind == KR_OP_CAS)
		op->done = !op->done;
}

static void random_where(struct maker *m, struct tiny_op *op)
{
	op->low = op->high = op->limit = op->prefix = -1;
	if (op->kind == KR_OP_RANGE) {
		op->low = chance(m->rng, 50) ? -1 : draw(m->rng, TINY_KEYS);
		op->high = chance(m->rng, 50) ? -1 : draw(m->rng, TINY_KEYS);
		op->limit = chance(m->rng, 60) ? -1 : draw(m->rng, 3);
		op->reverse = chance(m->rng, 30);
		return;
	}
	op->prefix = chance(m->rng, 70) ? -1 : draw(m->rng, m->nkeys);
	op->nconds = chance(m->rng, 15) ? 0 : 1 + chance(m->rng, 25);
	for (int i = 0; i < op->nconds; i++)
		op->conds[i] = (struct tiny_cond){m->t->objects && chance(m->rng, 80), (enum kr_cond_test)draw(m->rng, KR_COND_PREFIX),
			draw(m->rng, m->values + 2), draw(m->rng, m->values + 2)};
}

/* What the kind of key needs for its arguments. */
static void random_arguments(struct maker *m, struct tiny_op *op)
{
	if (op->kind == KR_OP_CAS && chance(m->rng, 30))
		op->a = 0;
	if (op->kind == KR_OP_INC) {
		op->a = draw(m->rng, 6) - 2;
		op->b = chance(m->rng, m->told) ? 0 : TINY_UNTOLD;
	}
	if (op->kind == KR_OP_ADD)
		op->a = draw(m->rng, m->values + 1);
	if (op->kind == KR_OP_MAX)
		op->a = draw(m->rng, m->values + 3) - 1;
	if (op->kind == KR_OP_APPEND) {
		op->a = m->element > 0 && chance(m->rng, 3) ? m->element : ++m->element;
		if (m->element > 8 || m->store[op->key] > 10000000)
			op->kind = KR_OP_READ;
	}
}

/* `last`: the key of the operation before; transactions that are shown what they added need the same again. */
static struct tiny_op random_op(struct maker *m, int last)
{
	bool again = last >= 0 && m->mix == TINY_GROWING && chance(m->rng, 50);
	struct tiny_op op = {.kind = random_scan(m), .key = again ? last : draw(m->rng, m->nkeys), .a = 1 + draw(m->rng, m->values), .b = 1 + draw(m->rng, m->values)};
	int before[TINY_KEYS];

	memcpy(before, m->store, sizeof before);
	op.loose = chance(m->rng, 5);
	if (is_scan(op.kind)) {
		random_where(m, &op);
		if (execute_scan(m->t, &op, m->store))
			return op;
		memcpy(m->store, before, sizeof before);
		op = (struct tiny_op){.key = op.key, .a = op.a, .b = op.b};
	}
	op.kind = random_kind(m, m->t->kinds[op.key]);
	if (m->kept && op.key == 0 && op.kind != KR_OP_DELETE)
		op.kind = KR_OP_READ;
	random_arguments(m, &op);
	execute(m->t, &op, &m->store[op.key]);
	return op;
}

enum sight { SEES_ALL, SEES_SNAPSHOT, SEES_ANY };

/* What the transaction sees next: the store that it has worked on, or one of old states, for all keys or each that it has not written. */
static void look_back(struct maker *m, enum sight sight, bool first, const bool *wrote)
{
	int snapshot = draw(m->rng, m->nold);

	for (int k = 0; k < TINY_KEYS; k++)
		if ((sight == SEES_SNAPSHOT && first) || (sight == SEES_ANY && !wrote[k] && chance(m->rng, 40)))
			m->store[k] = m->old[sight == SEES_ANY ? draw(m->rng, m->nold) : snapshot][k];
}

/* What op did to the transaction's own store, it does to `current`, too. */
static void carry_over(const struct maker *m, const struct tiny_op *op, const int *before, int *current, bool *wrote)
{
	for (int k = 0; k < TINY_KEYS; k++) {
		struct tiny_op again = *op;
		if (m->store[k] == before[k])
			continue;
		wrote[k] = true;
		if (grows(op->kind) && (op->kind != KR_OP_APPEND || current[k] < 10000000))
			execute(m->t, &again, &current[k]);
		else if (!grows(op->kind))
			current[k] = m->store[k];
	}
}

static void random_txn(struct maker *m, struct tiny_txn *txn)
{
	int start[TINY_KEYS], current[TINY_KEYS];
	bool wrote[TINY_KEYS] = {false};
	enum sight sight = m->weak ? (enum sight)draw(m->rng, 3) : SEES_ALL;

	memcpy(start, m->store, sizeof start);
	memcpy(current, m->store, sizeof current);
	txn->status = chance(m->rng, 70) ? KR_COMMITTED : chance(m->rng, 60) ? KR_UNKNOWN : KR_ABORTED;
	txn->session = txn->begin = txn->end = -1;
	txn->nops = 1 + draw(m->rng, 4);
	for (int i = 0; i < txn->nops; i++) {
		struct tiny_op *op = &txn->ops[i];
		int before[TINY_KEYS];
		if (sight != SEES_ALL)
			look_back(m, sight, i == 0, wrote);
		memcpy(before, m->store, sizeof before);
		*op = random_op(m, i > 0 && !is_scan(op[-1].kind) ? op[-1].key : -1);
		carry_over(m, op, before, current, wrote);
		if (chance(m->rng, m->noise))
			disturb(m, op);
		if ((op->kind == KR_OP_READ || op->kind == KR_OP_DELETE) && chance(m->rng, 5))
			op->a = TINY_UNTOLD;
		if (op->kind == KR_OP_READ && is_array(m->t->kinds[op->key]))
			op->done = chance(m->rng, 30);
	}
	bool took_effect = txn->status == KR_COMMITTED || (txn->status == KR_UNKNOWN && chance(m->rng, 50));
	memcpy(m->store, took_effect ? current : start, sizeof m->store);
	memcpy(m->old[m->nold++], m->store, sizeof m->store);
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
		if (op->kind == KR_OP_UPDATE && op->has[key])
			return true;
		if (op->key != key || op->kind == KR_OP_READ || is_scan(op->kind))
			continue;
		if (op->done || (op->kind == KR_OP_DELETE && op->a == TINY_UNTOLD))
			return true;
		if (op->kind == KR_OP_WRITE || grows(op->kind))
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

static void make(struct tiny *out, struct kr_rng *rng, enum tiny_mix mix, bool weak)
{
	static const int noises[] = {0, 5, 10, 20, 30, 60}, told[] = {0, 30, 60, 100};
	struct maker m = {.t = out, .rng = rng, .mix = mix, .values = 1 + draw(rng, 3), .nkeys = 1 + draw(rng, TINY_KEYS), .weak = weak};

	m.noise = noises[draw(rng, weak ? 2 : (int)KR_COUNT(noises))];
	m.told = told[draw(rng, (int)KR_COUNT(told))];

	*out = (struct tiny){.initial = chance(rng, 50)   ? KR_INITIAL_ABSENT
			: chance(rng, 50) ? KR_INITIAL_GIVEN
			: chance(rng, 50) ? KR_INITIAL_UNKNOWN
					  : KR_INITIAL_UNWRITTEN};
	m.kept = mix >= TINY_GROWING && chance(rng, 5);
	if (m.kept) {
		out->initial = chance(rng, 50) ? KR_INITIAL_UNKNOWN : KR_INITIAL_UNWRITTEN;
		m.noise = 20;
	} else if (mix > TINY_CONDITIONAL && out->initial >= KR_INITIAL_UNKNOWN && chance(rng, 70)) {
		out->initial = KR_INITIAL_GIVEN;
	}
	if (out->initial >= KR_INITIAL_UNKNOWN && mix >= TINY_RANGES && m.nkeys > 2)
		m.nkeys = 2;
	out->objects = (mix == TINY_SCANS || mix == TINY_UPDATES) && chance(rng, 30);
	for (int k = 0; k < TINY_KEYS; k++) {
		out->kinds[k] = k < m.nkeys ? kind_of_mix(&m) : KR_KIND_REGISTER;
		out->declared[k] = k < m.nkeys && ((m.kept && k == 0) || chance(rng, 10));
		m.store[k] = absent_as(out->kinds[k]);
		if (k < m.nkeys && out->initial != KR_INITIAL_ABSENT)
			m.store[k] = draw(rng, m.values + 2);
		if (out->kinds[k] == KR_KIND_LIST && m.store[k] != 0)
			m.store[k] = 9; /* never appended */
		out->first[k] = out->initial == KR_INITIAL_GIVEN ? m.store[k] : absent_as(out->kinds[k]);
	}
	memcpy(m.old[m.nold++], m.store, sizeof m.store);
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

void tiny_random(struct tiny *out, struct kr_rng *rng, enum tiny_mix mix) { make(out, rng, mix, false); }

void tiny_random_weak(struct tiny *out, struct kr_rng *rng, enum tiny_mix mix) { make(out, rng, mix, true); }

/* ---- to a history ---- */

static kr_value array_of(struct kr_history *h, enum kr_key_kind kind, int value)
{
	char text[80] = "[", digits[16];
	size_t n = 1;

	snprintf(digits, sizeof digits, "%d", value);
	for (const char *d = digits; kind == KR_KIND_LIST && value != 0 && *d; d++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%c", n > 1 ? "," : "", *d);
	for (int e = 0, twice = value & TINY_TWICE; kind == KR_KIND_SET && e < 14; e++)
		for (int i = 0; value >> e & 1 && i < 1 + (twice != 0); i++, twice = i < 2 ? twice : 0)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", n > 1 ? "," : "", e);
	n += (size_t)snprintf(text + n, sizeof text - n, "]");
	return kr_history_text(h, KR_VALUE_ARRAY, text, n);
}

static kr_value object_of(struct kr_history *h, int value)
{
	char text[40];
	int n = snprintf(text, sizeof text, "{\"f\":%d}", value);

	return kr_history_text(h, KR_VALUE_OBJECT, text, (size_t)n);
}

static kr_value value_of(const struct tiny *t, struct kr_history *h, int key, int value)
{
	if (is_array(t->kinds[key]))
		return array_of(h, t->kinds[key], value);
	if (!present(t, key, value))
		return KR_ABSENT;
	if (is_number(t->kinds[key]) || !t->objects)
		return kr_history_int(h, value);
	return object_of(h, value);
}

static kr_value name_of(struct kr_history *h, int key)
{
	char name = (char)('x' + key);

	return key < 0 ? KR_ABSENT : kr_history_text(h, KR_VALUE_STRING, &name, 1);
}

static kr_value operand_of(struct kr_history *h, const struct tiny_cond *c)
{
	char text[40];

	if (c->test != KR_COND_IN)
		return kr_history_int(h, c->a);
	int n = snprintf(text, sizeof text, "[%d,%d]", c->a, c->b);
	return kr_history_text(h, KR_VALUE_ARRAY, text, (size_t)n);
}

/* Values on each side of what a condition compares with, and between; and rows with that field and another one, which may be there at first where no written value may. The oracles try as untold initial values only
 * what the history names. */
static void name_alternatives(struct kr_history *h, const struct tiny_cond *c)
{
	const int operands[] = {c->a, c->test == KR_COND_IN ? c->b : c->a};
	char text[40];

	for (size_t i = 0; i < KR_COUNT(operands); i++)
		for (int by = -1; by <= 1; by++) {
			(void)kr_history_int(h, operands[i] + by);
			(void)kr_history_real(h, operands[i] + by * 0.5);
			if (!c->field)
				continue;
			(void)object_of(h, operands[i] + by);
			int n = snprintf(text, sizeof text, "{\"f\":%d.5}", operands[i] + by);
			(void)kr_history_text(h, KR_VALUE_OBJECT, text, (size_t)n);
			n = snprintf(text, sizeof text, "{\"f\":%d,\"g\":0}", operands[i] + by);
			(void)kr_history_text(h, KR_VALUE_OBJECT, text, (size_t)n);
		}
}

static bool push_conds(struct kr_history *h, const struct tiny_op *op)
{
	struct kr_cond cond = {KR_COND_KEY_PREFIX, KR_COND_PREFIX, KR_ABSENT, name_of(h, op->prefix)};
	bool fits = op->prefix < 0 || kr_vec_push(h->mem, &h->conds, cond);

	for (int i = 0; i < op->nconds; i++) {
		const struct tiny_cond *c = &op->conds[i];
		cond = (struct kr_cond){c->field ? KR_COND_FIELD : KR_COND_VALUE, c->test, c->field ? kr_history_text(h, KR_VALUE_STRING, "f", 1) : KR_ABSENT,
			operand_of(h, c)};
		name_alternatives(h, c);
		fits = fits && kr_vec_push(h->mem, &h->conds, cond);
	}
	return fits;
}

static bool push_scan(const struct tiny *t, struct kr_history *h, const struct tiny_op *op)
{
	struct kr_scan scan = {.low = name_of(h, op->low), .high = name_of(h, op->high), .limit = op->limit, .reverse = op->reverse, .set = KR_ABSENT};
	bool fits;

	if (op->kind != KR_OP_RANGE)
		scan.low = scan.high = KR_ABSENT;
	scan.cond_first = h->conds.n;
	fits = op->kind == KR_OP_RANGE || push_conds(h, op);
	scan.cond_count = h->conds.n - scan.cond_first;
	scan.row_first = h->rows.n;
	if (op->kind == KR_OP_UPDATE)
		scan.set = t->objects ? value_of(t, h, 0, op->a) : kr_history_int(h, op->a);
	for (int i = 0; i < TINY_KEYS; i++) {
		int k = op->reverse ? TINY_KEYS - 1 - i : i;
		struct kr_row row = {kr_history_key(h, name_of(h, k)), op->has[k] ? value_of(t, h, k, op->row[k]) : KR_ABSENT};
		fits = fits && (!op->has[k] || kr_vec_push(h->mem, &h->rows, row));
	}
	scan.row_count = h->rows.n - scan.row_first;
	return fits && kr_vec_push(h->mem, &h->scans, scan);
}

static bool push_op(const struct tiny *t, struct kr_history *h, const struct tiny_op *op)
{
	struct kr_operation out = {.kind = op->kind, .key = {KR_NONE}};
	struct kr_attr attr = {.op = {h->ops.n}, .cursor = false};
	bool untold = op->a == TINY_UNTOLD;
	bool conditional = op->kind == KR_OP_DELETE || op->kind == KR_OP_INSERT || op->kind == KR_OP_CAS;

	if (op->loose) {
		out.flags |= KR_OPF_HAS_ATTR;
		if (!kr_vec_push(h->mem, &h->attrs, attr))
			return false;
	}
	if (is_scan(op->kind)) {
		out.scan = h->scans.n;
		return push_scan(t, h, op) && kr_vec_push(h->mem, &h->ops, out);
	}
	out.key = kr_history_key(h, name_of(h, op->key));
	if ((op->kind == KR_OP_READ || op->kind == KR_OP_DELETE) && !untold)
		out.flags |= KR_OPF_KNOWN;
	if (conditional && op->done && !untold)
		out.flags |= KR_OPF_DONE;
	if (op->kind == KR_OP_INC && op->b != TINY_UNTOLD) {
		out.flags |= KR_OPF_KNOWN;
		out.b = kr_history_int(h, op->b);
	}
	if (grows(op->kind))
		out.a = kr_history_int(h, op->a);
	else if (op->kind == KR_OP_READ && is_array(t->kinds[op->key]) && op->a == 0 && op->done)
		out.a = KR_ABSENT;
	else if (op->kind != KR_OP_DELETE && !untold)
		out.a = value_of(t, h, op->key, op->a);
	if (op->kind == KR_OP_CAS)
		out.b = value_of(t, h, op->key, op->b);
	return kr_vec_push(h->mem, &h->ops, out);
}

static enum kr_status add_txn(const struct tiny *t, struct kr_history *h, const struct tiny_txn *txn)
{
	struct kr_transaction out = {.id = {KR_NONE}, .session = {KR_NONE}, .status = txn->status};

	for (int i = 0; i < txn->nops; i++)
		if (!push_op(t, h, &txn->ops[i]))
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
	return kr_history_add(h, out, NULL, NULL);
}

/* Without such an operation a key that starts as an empty array could be anything. */
static bool is_told_to_grow(const struct tiny *t, int key)
{
	for (int i = 0; i < t->ntxns; i++)
		for (int o = 0; o < t->txns[i].nops; o++)
			if (t->txns[i].ops[o].key == key && (t->txns[i].ops[o].kind == KR_OP_APPEND || t->txns[i].ops[o].kind == KR_OP_ADD))
				return true;
	return false;
}

static enum kr_status fill(const struct tiny *tiny, struct kr_ctx *ctx, struct kr_history *h)
{
	h->format = "native";
	h->initial = tiny->initial;
	h->clock_skew = tiny->skew;
	for (int k = 0; k < TINY_KEYS; k++) {
		kr_key key = kr_history_key(h, name_of(h, k));
		bool told = tiny->initial == KR_INITIAL_GIVEN && (present(tiny, k, tiny->first[k]) || tiny->declared[k] || is_told_to_grow(tiny, k));
		if (tiny->declared[k] && kr_history_set_kind(h, key, tiny->kinds[k], NULL) != KR_OK)
			return KR_BAD;
		if (told && kr_history_set_initial(h, key, value_of(tiny, h, k, tiny->first[k]), NULL) != KR_OK)
			return KR_NOMEM;
	}
	for (int v = 1; v < 7 && tiny->initial >= KR_INITIAL_UNKNOWN; v++)
		(void)(tiny->objects ? value_of(tiny, h, TINY_KEYS - 1, v) : kr_history_int(h, v)); /* so that the oracles can think of them */
	for (int i = 0; i < tiny->ntxns; i++) {
		enum kr_status status = add_txn(tiny, h, &tiny->txns[i]);
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

/* The n-th of 8 ways to make an operation simpler; false when it changes nothing. */
static bool simpler(const struct tiny *t, struct tiny_op *op, int way)
{
	struct tiny_op before = *op;

	if (op->loose && way == 0)
		op->loose = false;
	else if (way == 1 && op->kind == KR_OP_READ && t->kinds[op->key] == KR_KIND_LIST && op->a > 0)
		op->a /= 10;
	else if (!is_scan(op->kind))
		return false;
	else if (way < TINY_KEYS)
		op->has[way] = false;
	else if (way == 3 && op->nconds > 0)
		op->nconds--;
	else if (way == 4)
		op->prefix = -1;
	else if (way == 5)
		op->reverse = false;
	else if (way == 6)
		op->limit = -1;
	else if (way == 7)
		op->low = op->high = -1;
	return memcmp(&before, op, sizeof before) != 0;
}

/* The n-th way to make a history smaller; false when there are no more. `*done` is false when this way changes nothing. */
static bool smaller(struct tiny *t, int n, bool *done)
{
	int i = n / 64, way = n % 64;

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
		} else if (way == TINY_ORDERS + 2 && t->objects) {
			t->objects = false;
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
	} else if (way >= 16 && (way - 16) / 8 < txn->nops) {
		*done = simpler(t, &txn->ops[(way - 16) / 8], (way - 16) % 8);
	} else {
		*done = false;
	}
	return true;
}

const char *tiny_shrink(struct tiny *tiny, const char *(*fails)(const struct tiny *tiny, void *data), void *data)
{
	const clock_t until = clock() + 60 * CLOCKS_PER_SEC;
	const char *why = fails(tiny, data);
	struct tiny next = *tiny;
	bool done;

	for (int n = 0; smaller(&next, n, &done) && clock() < until; n++) {
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
