/* Tiny random histories and their meaning, written down from the definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/small_history.h"
#include "tests/unit/tiny_history.h"

static int number_of(int code) { return code == SMALL_ZERO ? 0 : code == SMALL_MINUS ? -1 : code == SMALL_MINUS_2 ? -2 : code == SMALL_FRESH ? 99 : code; }

static bool is_scan(const struct small_op *op) { return op->kind == RANGE || op->kind == SCAN || op->kind == UPDATE; }

static bool matches(enum small_where where, int key, int value)
{
	switch (where) {
	case PREFIX_X: return value != 0 && key == 0;
	case GE_2: return value != 0 && number_of(value) >= 2;
	case NE_1: return value != 0 && number_of(value) != 1;
	default: return value != 0;
	}
}

/* The range looked at the key: between the bounds, and not beyond the last one returned if that was the last one wanted. */
static bool looked_at(const struct small_op *op, int key)
{
	int rows = 0, last = -1;

	for (int k = 0; k < SMALL_KEYS; k++) {
		if (op->row[k] < 0)
			continue;
		rows++;
		if (last < 0 || !op->reverse)
			last = k;
	}
	if (key < op->low || key >= op->high)
		return false;
	if (op->limit < 0 || rows < op->limit)
		return true;
	return rows > 0 && (op->reverse ? key >= last : key <= last);
}

bool small_sees(const struct small_op *op, int key)
{
	if (op->kind == RANGE)
		return op->row[key] >= 0 || looked_at(op, key);
	if (is_scan(op))
		return true;
	return op->key == key && op->kind != R_ANY && op->kind != W && op->kind != D;
}

bool small_is_predicate(const struct small_op *op, int key) { return is_scan(op) && op->row[key] < 0; }

bool small_is_mismatch(const struct small_op *op, int key)
{
	int before = 0;

	if (!is_scan(op) || op->row[key] < 0)
		return false;
	if (op->kind == UPDATE)
		return op->where == PREFIX_X && key != 0;
	if (op->kind == SCAN)
		return !matches(op->where, key, op->row[key]);
	for (int k = 0; k < SMALL_KEYS; k++)
		before += op->row[k] >= 0 && (op->reverse ? k > key : k < key);
	return key < op->low || key >= op->high || (op->limit >= 0 && before >= op->limit);
}

bool small_is_any(const struct small_op *op)
{
	return op->kind == CAS_NOT || op->kind == D_FOUND || op->kind == I_NOT || (op->kind == UPDATE && (op->where == ALL_ROWS || op->where == PREFIX_X));
}

static bool fits_scan(const struct small_op *op, int key, int value)
{
	if (small_is_mismatch(op, key))
		return false;
	if (op->kind == UPDATE)
		return matches(op->where, key, value) == (op->row[key] >= 0);
	if (op->row[key] >= 0)
		return value == op->row[key];
	return op->kind == RANGE ? value == 0 : !matches(op->where, key, value);
}

bool small_fits(const struct small_history *h, const struct small_op *op, int key, int value)
{
	switch (op->kind) {
	case R: return value == op->a || (h->counter && key == 1 && op->a == SMALL_ZERO && value == 0);
	case CAS_DONE: return value == op->a;
	case CAS_NOT: return value != op->a;
	case D_NOT:
	case I_DONE: return value == 0;
	case INC: return (value == 0 ? 0 : number_of(value)) + op->a == number_of(op->b);
	case RANGE:
	case SCAN:
	case UPDATE: return fits_scan(op, key, value);
	default: return value != 0; /* D_FOUND, I_NOT */
	}
}

bool small_writes(const struct small_op *op, int key)
{
	if (op->kind == UPDATE)
		return op->row[key] >= 0;
	return op->key == key && (op->kind == W || op->kind == D || op->kind == D_FOUND || op->kind == I_DONE || op->kind == CAS_DONE || op->kind == INC);
}

int small_written(const struct small_op *op, int key)
{
	switch (op->kind) {
	case W:
	case I_DONE: return op->a;
	case INC:
	case CAS_DONE: return op->b;
	case UPDATE: return op->row[key];
	default: return 0;
	}
}

int small_last_written(const struct small_txn *t, int key, int end)
{
	int value = -1;

	for (int i = 0; i < end; i++)
		if (small_writes(&t->ops[i], key))
			value = small_written(&t->ops[i], key);
	return value;
}

bool small_tells(const struct small_history *h, const struct small_op *op, int key)
{
	if (!small_sees(op, key) || small_is_mismatch(op, key))
		return false;
	if (!small_is_predicate(op, key))
		return true;
	for (int value = 0; value < SMALL_CODES; value++) {
		bool is_version = h->initial == '?' || h->start[key] == value;

		for (int u = 0; u < h->ntxns; u++)
			is_version |= h->txns[u].status != 'a' && small_last_written(&h->txns[u], key, h->txns[u].nops) == value;
		if (is_version && !small_fits(h, op, key, value))
			return true;
	}
	return false;
}

unsigned small_sources(const struct small_history *h, unsigned present, const int *init, int t, int i, int key)
{
	const struct small_op *op = &h->txns[t].ops[i];
	unsigned found = small_fits(h, op, key, init[key]);

	for (int u = 0; u < h->ntxns; u++) {
		int value = small_last_written(&h->txns[u], key, h->txns[u].nops);

		if (u != t && present >> u & 1 && value >= 0 && small_fits(h, op, key, value))
			found |= 2u << u;
	}
	return found;
}

static bool is_explained(const struct small_history *h, unsigned present, const int *init, int t, int i)
{
	const struct small_op *op = &h->txns[t].ops[i];

	for (int key = 0; key < SMALL_KEYS; key++) {
		int own = small_last_written(&h->txns[t], key, i);

		if (small_sees(op, key) && (own >= 0 ? !small_fits(h, op, key, own) : !small_sources(h, present, init, t, i, key)))
			return false;
	}
	return true;
}

bool small_is_world(const struct small_history *h, unsigned present, const int *init)
{
	for (int t = 0; t < h->ntxns; t++)
		for (int i = 0; present >> t & 1 && i < h->txns[t].nops; i++)
			if (!is_explained(h, present, init, t, i))
				return false;
	return true;
}

/* ---- random ones ---- */

static int below(struct kr_rng *rng, int n) { return (int)kr_rng_below(rng, (uint64_t)n); }

/* Rows at random, or those that the state gives. */
static void make_rows(struct kr_rng *rng, const struct small_history *h, struct small_op *op, const int *state)
{
	bool faithful = below(rng, 2);

	op->where = (enum small_where)below(rng, SMALL_WHERES);
	op->low = below(rng, 3) == 0;
	op->high = below(rng, 3) == 0 ? 1 : SMALL_KEYS;
	op->limit = below(rng, 3) == 0 ? below(rng, 3) : -1;
	op->reverse = below(rng, 2);
	for (int k = 0; k < SMALL_KEYS; k++) {
		op->row[k] = below(rng, 2) ? 1 + below(rng, SMALL_MOST) : -1;
		if (faithful)
			op->row[k] = state[k] != 0 && (op->kind == RANGE || matches(op->where, k, state[k])) ? state[k] : -1;
		if (op->kind == UPDATE && op->row[k] >= 0)
			op->row[k] = 1 + below(rng, SMALL_MOST);
		if (op->kind == UPDATE && h->counter && k == 1)
			op->row[k] = -1;
	}
	for (int i = 0; i < SMALL_KEYS; i++) {
		int k = op->reverse ? i : SMALL_KEYS - 1 - i; /* the last one first, so that a limit takes it */

		if (small_is_mismatch(op, k) && (faithful || below(rng, 8) > 0))
			op->row[k] = -1;
	}
}

static void make_op(struct kr_rng *rng, const struct small_history *h, struct small_op *op, bool simple, const int *state)
{
	static const enum small_kind of_counter[] = {R, R, R_ANY, D, D_FOUND, D_NOT, INC, INC, INC, RANGE, SCAN, UPDATE};

	*op = (struct small_op){.kind = simple ? (below(rng, 2) ? W : R) : (enum small_kind)below(rng, SMALL_KINDS),
		.key = below(rng, SMALL_KEYS),
		.row = {-1, -1}};
	if (h->counter && op->key == 1)
		op->kind = of_counter[below(rng, (int)KR_COUNT(of_counter))];
	else if (op->kind == INC)
		op->kind = W;
	op->a = op->kind == W || op->kind == I_DONE || op->kind == I_NOT ? 1 + below(rng, SMALL_MOST) : below(rng, SMALL_MOST + 1);
	op->b = 1 + below(rng, SMALL_MOST);
	if (op->kind == INC) {
		op->a = 1 + below(rng, 2);
		op->b = (const int[]){1, 2, 3, SMALL_ZERO}[below(rng, 4)];
	}
	if (op->kind == R && h->counter && op->key == 1 && below(rng, 4) == 0)
		op->a = SMALL_ZERO;
	if (op->kind == R && below(rng, 2))
		op->a = state[op->key];
	if (is_scan(op))
		make_rows(rng, h, op, state);
}

void small_make(struct kr_rng *rng, struct small_history *out)
{
	static const char statuses[] = "cccccuuuua";
	bool simple = below(rng, 3) == 0;

	*out = (struct small_history){.initial = "-=?"[below(rng, 3)], .counter = below(rng, 3) == 0, .ntxns = 1 + below(rng, SMALL_TXNS)};
	for (int k = 0; k < SMALL_KEYS; k++)
		out->start[k] = out->initial == '=' ? below(rng, SMALL_MOST + 1) : 0;
	bool any_inc = false;
	int state[SMALL_KEYS] = {out->start[0], out->start[1]};

	for (int t = 0; t < out->ntxns; t++) {
		struct small_txn *txn = &out->txns[t];

		txn->status = statuses[below(rng, 10)];
		txn->nops = below(rng, SMALL_OPS + 1);
		for (int i = 0; i < txn->nops; i++) {
			make_op(rng, out, &txn->ops[i], simple, state);
			for (int k = 0; k < SMALL_KEYS; k++)
				if (small_writes(&txn->ops[i], k))
					state[k] = small_written(&txn->ops[i], k);
			any_inc |= txn->ops[i].kind == INC;
		}
	}
	out->counter &= any_inc; /* else nothing tells that it is one */
}

/* ---- as a history ---- */

static kr_value value_of(struct kr_history *h, int code) { return code == 0 ? KR_ABSENT : kr_history_int(h, number_of(code)); }

static void add_condition(struct kr_history *h, enum small_where where)
{
	struct kr_cond cond = {.target = KR_COND_VALUE, .test = where == GE_2 ? KR_COND_GE : KR_COND_NE, .value = kr_history_int(h, where == GE_2 ? 2 : 1)};

	if (where == PREFIX_X)
		cond = (struct kr_cond){.target = KR_COND_KEY_PREFIX, .test = KR_COND_PREFIX, .value = kr_history_text(h, KR_VALUE_STRING, "x", 1)};
	assert_true(kr_vec_push(h->mem, &h->conds, cond));
}

static void add_scan(struct kr_history *h, const struct small_op *from, struct kr_operation *op)
{
	struct kr_scan scan = {.limit = from->limit, .reverse = from->reverse, .cond_first = h->conds.n, .row_first = h->rows.n};

	if (from->kind == RANGE && from->low > 0)
		scan.low = kr_history_text(h, KR_VALUE_STRING, "y", 1);
	if (from->kind == RANGE && from->high < SMALL_KEYS)
		scan.high = kr_history_text(h, KR_VALUE_STRING, "y", 1);
	if (from->kind != RANGE && from->where != ALL_ROWS) {
		add_condition(h, from->where);
		scan.cond_count = 1;
	}
	for (int i = 0; i < SMALL_KEYS; i++) {
		int k = from->kind == RANGE && from->reverse ? SMALL_KEYS - 1 - i : i;

		if (from->row[k] >= 0)
			assert_true(kr_vec_push(h->mem, &h->rows, (struct kr_row){tiny_key(h, k ? "y" : "x"), value_of(h, from->row[k])}));
	}
	scan.row_count = h->rows.n - scan.row_first;
	op->key = (kr_key){KR_NONE};
	op->scan = h->scans.n;
	assert_true(kr_vec_push(h->mem, &h->scans, scan));
}

static void add_op(struct kr_history *h, const struct small_op *from)
{
	static const enum kr_op_kind kinds[SMALL_KINDS] = {KR_OP_READ, KR_OP_READ, KR_OP_WRITE, KR_OP_DELETE, KR_OP_DELETE, KR_OP_DELETE, KR_OP_INSERT,
		KR_OP_INSERT, KR_OP_CAS, KR_OP_CAS, KR_OP_INC, KR_OP_RANGE, KR_OP_SCAN, KR_OP_UPDATE};
	struct kr_operation op = {.kind = kinds[from->kind], .key = tiny_key(h, from->key ? "y" : "x")};

	if (from->kind == R || from->kind == D_FOUND || from->kind == D_NOT || from->kind == INC)
		op.flags = KR_OPF_KNOWN;
	if (from->kind == D_FOUND || from->kind == I_DONE || from->kind == CAS_DONE)
		op.flags |= KR_OPF_DONE;
	op.a = from->kind == INC                                                  ? kr_history_int(h, from->a)
		: from->kind == D || from->kind == D_FOUND || from->kind == D_NOT ? KR_ABSENT
										  : value_of(h, from->a);
	op.b = value_of(h, from->b);
	if (is_scan(from))
		add_scan(h, from, &op);
	assert_true(kr_vec_push(h->mem, &h->ops, op));
}

void small_build(const struct small_history *from, struct kr_history *h)
{
	h->initial = from->initial == '?' ? KR_INITIAL_UNKNOWN : from->initial == '=' ? KR_INITIAL_GIVEN : KR_INITIAL_ABSENT;
	for (int k = 0; k < SMALL_KEYS; k++) {
		kr_key key = tiny_key(h, k ? "y" : "x");

		h->keys.at[key.i].initial = value_of(h, from->start[k]);
	}
	for (int t = 0; t < from->ntxns; t++) {
		const struct small_txn *txn = &from->txns[t];
		struct kr_transaction out = {.session = {KR_NONE}, .id = {KR_NONE}, .line = h->txns.n + 1};

		out.status = txn->status == 'c' ? KR_COMMITTED : txn->status == 'a' ? KR_ABORTED : KR_UNKNOWN;
		for (int i = 0; i < txn->nops; i++)
			add_op(h, &txn->ops[i]);
		assert_int_equal(kr_history_add(h, out, NULL, NULL), KR_OK);
	}
}

/* ---- for people ---- */

static void print_op(const struct small_op *op, char *out, size_t size)
{
	static const char *const names[SMALL_KINDS] = {"r", "r?", "w", "d", "d+", "d-", "i+", "i-", "cas+", "cas-", "inc", "range", "scan", "update"};
	static const char *const wheres[SMALL_WHERES] = {"all", "prefix x", "ge 2", "ne 1"};
	char bounds[60];

	(void)snprintf(bounds, sizeof bounds, "[%d,%d) limit %d%s", op->low, op->high, op->limit, op->reverse ? " reverse" : "");
	if (is_scan(op))
		(void)snprintf(out, size, " %s %s x=%d y=%d;", names[op->kind], op->kind == RANGE ? bounds : wheres[op->where], op->row[0], op->row[1]);
	else
		(void)snprintf(out, size, " %s %c %d %d;", names[op->kind], "xy"[op->key], op -> a, op -> b);
}

void small_show(const struct small_history *h, const char *problem)
{
	char text[SMALL_TXNS * SMALL_OPS * 90] = "";

	for (int t = 0; t < h->ntxns; t++) {
		size_t n = strlen(text);

		(void)snprintf(text + n, sizeof text - n, "\n  %c", h->txns[t].status);
		for (int i = 0; i < h->txns[t].nops; i++) {
			n = strlen(text);
			print_op(&h->txns[t].ops[i], text + n, sizeof text - n);
		}
	}
	fail_msg("%s; initial %c x=%d y=%d%s (values by code)%s", problem, h->initial, h->start[0], h->start[1], h->counter ? ", y is a counter" : "", text);
}
