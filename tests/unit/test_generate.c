/* frontend/generate: what the simulated stores promise, checked by replaying the recorded operations on a map of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/generate.h"
#include "frontend/native_write.h"

enum { MOST_KEYS = 64, MOST_TXNS = 1200, MOST_ELEMENTS = 400 };

static void generate(struct kr_ctx *ctx, const struct kr_generate_options *options, struct kr_history *h)
{
	struct kr_err err;

	kr_err_init(&err);
	kr_ctx_init(ctx, 0, 0);
	if (kr_generate(ctx, options, h, &err) != KR_OK)
		fail_msg("%s", err.text);
}

static void done(struct kr_ctx *ctx, struct kr_history *h)
{
	kr_history_done(h);
	assert_true(ctx->mem.used == 0);
}

/* ---- replay: a plain store of numbers ---- */

struct cell {
	bool present;
	kr_value value; /* registers */
	int64_t number; /* counters, marks */
	uint32_t n;     /* lists and sets */
	int64_t elements[MOST_ELEMENTS];
};

struct state { struct cell at[MOST_KEYS]; };

static int64_t integer(const struct kr_history *h, kr_value v)
{
	assert_int_equal(h->values.at[v.i].type, KR_VALUE_INT);
	return h->values.at[v.i].integer;
}

static bool has(const struct cell *cell, int64_t element)
{
	for (uint32_t i = 0; i < cell->n; i++)
		if (cell->elements[i] == element)
			return true;
	return false;
}

static void put_element(struct cell *cell, int64_t element)
{
	assert_true(cell->n < MOST_ELEMENTS);
	cell->elements[cell->n++] = element;
	cell->present = true;
}

/* Whether what was shown of key k is what the cell holds. */
static bool shows(const struct kr_history *h, kr_key k, const struct cell *cell, kr_value shown)
{
	const struct kr_value_entry *entry = &h->values.at[shown.i];
	uint8_t kind = h->keys.at[k.i].kind;
	static struct cell list;

	if (shown.i == KR_ABSENT.i)
		return !cell->present;
	if (kind != KR_KIND_LIST && kind != KR_KIND_SET && entry->type != KR_VALUE_ARRAY)
		return cell->present && (kind == KR_KIND_COUNTER || kind == KR_KIND_MARK ? integer(h, shown) == cell->number : shown.i == cell->value.i);
	assert_int_equal(entry->type, KR_VALUE_ARRAY);
	list.n = 0;
	for (const char *at = entry->text + 1; *at != ']' && *at; at += *at == ',')
		put_element(&list, strtoll(at, (char **)&at, 10));
	if (list.n != cell->n)
		return false;
	for (uint32_t i = 0; i < list.n; i++)
		if (kind == KR_KIND_SET ? !has(cell, list.elements[i]) || !has(&list, cell->elements[i]) : list.elements[i] != cell->elements[i])
			return false;
	return true;
}

static bool compare(enum kr_cond_test test, int64_t a, int64_t b)
{
	switch (test) {
	case KR_COND_EQ: return a == b;
	case KR_COND_NE: return a != b;
	case KR_COND_LT: return a < b;
	case KR_COND_LE: return a <= b;
	case KR_COND_GT: return a > b;
	default: assert_int_equal(test, KR_COND_GE); return a >= b;
	}
}

static bool is_in(const char *list, int64_t number)
{
	for (const char *at = list + 1; *at && *at != ']'; at += *at == ',')
		if (strtoll(at, (char **)&at, 10) == number)
			return true;
	return false;
}

/* Values are numbers or objects of "n" and "tag". */
static bool cond_holds(const struct kr_history *h, const struct kr_cond *cond, kr_key k, const struct cell *cell)
{
	const struct kr_value_entry *with = &h->values.at[cond->value.i], *value = &h->values.at[cell->value.i];
	bool counter = h->keys.at[k.i].kind == KR_KIND_COUNTER || h->keys.at[k.i].kind == KR_KIND_MARK;
	long long n, tag;

	if (cond->target == KR_COND_KEY_PREFIX)
		return strncmp(h->values.at[h->keys.at[k.i].name.i].text, with->text, with->length) == 0;
	if (counter || value->type == KR_VALUE_INT) {
		int64_t number = counter ? cell->number : value->integer;
		if (cond->target == KR_COND_FIELD)
			return false;
		return cond->test == KR_COND_IN ? is_in(with->text, number) : compare(cond->test, number, integer(h, cond->value));
	}
	assert_int_equal(value->type, KR_VALUE_OBJECT);
	if (cond->target == KR_COND_VALUE) /* no object equals a number or has an order with it */
		return cond->test == KR_COND_NE;
	assert_int_equal(sscanf(value->text, "{\"n\":%lld,\"tag\":%lld}", &n, &tag), 2);
	return compare(cond->test, strcmp(h->values.at[cond->field.i].text, "tag") == 0 ? tag : n, integer(h, cond->value));
}

static bool matches(const struct kr_history *h, const struct kr_scan *scan, kr_key k, const struct cell *cell)
{
	for (uint32_t i = 0; i < scan->cond_count; i++)
		if (!cond_holds(h, &h->conds.at[scan->cond_first + i], k, cell))
			return false;
	return true;
}

static const char *name_of(const struct kr_history *h, uint32_t k) { return h->values.at[h->keys.at[k].name.i].text; }

/* Keys by the bytes of their names. */
static void sort_keys(const struct kr_history *h, uint32_t *out)
{
	for (uint32_t k = 0; k < h->keys.n; k++) {
		uint32_t i = k;
		for (; i > 0 && strcmp(name_of(h, out[i - 1]), name_of(h, k)) > 0; i--)
			out[i] = out[i - 1];
		out[i] = k;
	}
}

static bool in_range(const struct kr_history *h, const struct kr_scan *scan, uint32_t k)
{
	return (scan->low.i == KR_ABSENT.i || strcmp(name_of(h, k), h->values.at[scan->low.i].text) >= 0) &&
		(scan->high.i == KR_ABSENT.i || strcmp(name_of(h, k), h->values.at[scan->high.i].text) < 0);
}

/* Whether the rows are what the operation has to return; in the order of names, though only a range promises it. */
static bool returns(const struct kr_history *h, const struct kr_operation *op, const struct state *state)
{
	const struct kr_scan *scan = &h->scans.at[op->scan];
	uint32_t keys[MOST_KEYS], n = 0;

	sort_keys(h, keys);
	for (uint32_t i = 0; i < h->keys.n && (scan->limit < 0 || n < scan->limit); i++) {
		uint32_t k = keys[scan->reverse ? h->keys.n - 1 - i : i];
		const struct cell *cell = &state->at[k];
		if (!cell->present || !(op->kind == KR_OP_RANGE ? in_range(h, scan, k) : matches(h, scan, (kr_key){k}, cell)))
			continue;
		if (n == scan->row_count)
			return false;
		const struct kr_row *row = &h->rows.at[scan->row_first + n++];
		if (row->key.i != k || (op->kind == KR_OP_UPDATE ? row->value.i != scan->set.i : !shows(h, row->key, cell, row->value)))
			return false;
	}
	return n == scan->row_count;
}

static void set(struct cell *cell, kr_value value) { *cell = (struct cell){.present = true, .value = value}; }

/* Runs an operation, writes going by what it says that it did; returns whether it saw what is there. */
static bool run(const struct kr_history *h, const struct kr_operation *op, struct state *state)
{
	struct cell *cell = op->key.i != KR_NONE ? &state->at[op->key.i] : NULL;
	bool done = op->flags & KR_OPF_DONE, known = op->flags & KR_OPF_KNOWN, right = true;

	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ: return !known || shows(h, op->key, cell, op->a);
	case KR_OP_WRITE: set(cell, op->a); return true;
	case KR_OP_DELETE:
		right = !known || done == cell->present;
		if (done || !known)
			*cell = (struct cell){0};
		return right;
	case KR_OP_INSERT:
		right = done == !cell->present;
		if (done)
			set(cell, op->a);
		return right;
	case KR_OP_CAS:
		right = done == (op->a.i == KR_ABSENT.i ? !cell->present : cell->present && cell->value.i == op->a.i);
		if (done)
			set(cell, op->b);
		return right;
	case KR_OP_INC:
		right = !known || integer(h, op->b) == cell->number + integer(h, op->a);
		cell->present = true;
		cell->number = known ? integer(h, op->b) : cell->number + integer(h, op->a);
		return right;
	case KR_OP_MAX:
		if (!cell->present || cell->number < integer(h, op->a))
			cell->number = integer(h, op->a);
		cell->present = true;
		return true;
	case KR_OP_APPEND: put_element(cell, integer(h, op->a)); return true;
	case KR_OP_ADD:
		if (!has(cell, integer(h, op->a)))
			put_element(cell, integer(h, op->a));
		return true;
	default: right = returns(h, op, state);
	}
	const struct kr_scan *scan = &h->scans.at[op->scan];
	for (uint32_t r = 0; op->kind == KR_OP_UPDATE && r < scan->row_count; r++)
		set(&state->at[h->rows.at[scan->row_first + r].key.i], h->rows.at[scan->row_first + r].value);
	return right;
}

static bool replay(const struct kr_history *h, kr_txn t, struct state *state)
{
	bool right = true;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		right = run(h, &h->ops.at[kr_history_op(h, t, i).i], state) && right;
	return right;
}

/* Keys' names tell their kinds, too, for keys that nobody writes; z: of planted anomalies. */
static void start(const struct kr_history *h, struct state *state)
{
	kr_value zero = {KR_NONE};

	for (uint32_t v = 0; v < h->values.n; v++)
		if (h->values.at[v].type == KR_VALUE_INT && h->values.at[v].integer == 0)
			zero.i = v;
	memset(state, 0, sizeof *state);
	for (uint32_t k = 0; k < h->keys.n && h->initial != KR_INITIAL_ABSENT; k++) {
		char letter = name_of(h, k)[0];
		set(&state->at[k], zero);
		if (letter == 'l' || letter == 's')
			put_element(&state->at[k], 0);
	}
}

/* The transactions that took effect, in the store's order of commits; returns how many. */
static uint32_t by_commit(const struct kr_history *h, kr_txn *out)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < h->txns.n; t++)
		n += (h->txns.at[t].flags & KR_TXN_HAS_SERIAL) != 0;
	assert_true(n <= MOST_TXNS);
	for (uint32_t i = 0; i < n; i++)
		out[i].i = KR_NONE;
	for (uint32_t t = 0; t < h->txns.n; t++) {
		if (!(h->txns.at[t].flags & KR_TXN_HAS_SERIAL))
			continue;
		assert_true(h->txns.at[t].status != KR_ABORTED);
		int64_t place = h->white_box.at[t].serial;
		assert_true(place >= 1 && place <= n && out[place - 1].i == KR_NONE);
		out[place - 1].i = t;
	}
	return n;
}

static void all_committed_are_there(const struct kr_history *h)
{
	for (uint32_t t = 0; t < h->txns.n; t++)
		if (h->txns.at[t].status == KR_COMMITTED)
			assert_true(h->txns.at[t].flags & KR_TXN_HAS_SERIAL);
}

/* Whether a must come before b in the store's order: b was invoked after a's end, whose outcome was learned, had returned. */
static bool must_precede(const struct kr_transaction *a, const struct kr_transaction *b)
{
	return a->status != KR_UNKNOWN && a->flags & KR_TXN_HAS_END && b->flags & KR_TXN_HAS_BEGIN && a->end_returned < b->begin_invoked;
}

static const struct kr_generate_options cases[] = {
	{.seed = 1, .txns = 1000, .sessions = 8, .keys = 20, .ops = 4, .reads = 50, .times = true, .serial = true},
	{.seed = 2, .txns = 1000, .sessions = 20, .keys = 2, .ops = 3, .reads = 60, .times = true, .serial = true},
	{.seed = 3, .txns = 500, .sessions = 5, .keys = 50, .ops = 8, .reads = 30, .theta = 0.99, .values = 2, .times = true, .serial = true},
	{.seed = 4, .txns = 800, .sessions = 6, .keys = 10, .ops = 4, .reads = 40, .deletes = 30, .aborted = 10, .unknown = 20, .times = true, .serial = true},
	{.seed = 5, .txns = 300, .sessions = 3, .keys = 5, .ops = 4, .reads = 50, .unknown = 50, .initial = KR_INITIAL_GIVEN, .times = true, .serial = true},
	{.seed = 6, .txns = 300, .sessions = 3, .keys = 5, .ops = 4, .reads = 50, .initial = KR_INITIAL_UNKNOWN, .values = 1, .times = true, .serial = true},
	{.seed = 7, .txns = 50, .sessions = 50, .keys = 1, .ops = 30, .reads = 50, .times = true, .serial = true},
	{.seed = 8, .txns = 1, .sessions = 1, .keys = 1, .ops = 1, .reads = 100, .times = true, .serial = true},
	{.seed = 9, .txns = 10, .sessions = 2, .keys = 3, .ops = 0, .times = true, .serial = true},
	{.seed = 10, .txns = 600, .sessions = 6, .keys = 24, .ops = 5, .reads = 20, .deletes = 8, .inserts = 8, .cas = 8, .incs = 8, .appends = 8, .adds = 8, .maxes = 5,
		.ranges = 10, .scans = 10, .updates = 4, .span = 6, .untold = 30, .aborted = 5, .unknown = 15, .blank = 40, .times = true, .serial = true},
	{.seed = 11, .txns = 600, .sessions = 4, .keys = 8, .ops = 3, .reads = 30, .deletes = 10, .incs = 15, .appends = 10, .adds = 15, .ranges = 10,
		.scans = 10, .span = 20, .values = 3, .keep_lists = true, .initial = KR_INITIAL_GIVEN, .times = true, .serial = true},
	{.seed = 12, .txns = 400, .sessions = 5, .keys = 30, .ops = 4, .reads = 20, .deletes = 10, .scans = 30, .updates = 10, .ranges = 10, .span = 30,
		.initial = KR_INITIAL_UNKNOWN, .times = true, .serial = true},
	{.seed = 13, .txns = 300, .sessions = 5, .keys = 4, .ops = 4, .reads = 40, .incs = 60, .untold = 50, .times = true, .serial = true},
	{.seed = 14, .txns = 300, .sessions = 5, .keys = 10, .ops = 4, .reads = 20, .incs = 20, .inserts = 20, .scans = 30, .updates = 10, .span = 12,
		.times = true, .serial = true},
};

static void serializable_replays_in_commit_order(void **state)
{
	(void)state;
	for (size_t c = 0; c < KR_COUNT(cases); c++) {
		struct kr_ctx ctx;
		struct kr_history h;
		static struct state store;
		kr_txn order[MOST_TXNS];

		generate(&ctx, &cases[c], &h);
		uint32_t n = by_commit(&h, order);
		all_committed_are_there(&h);
		start(&h, &store);
		for (uint32_t i = 0; i < n; i++)
			assert_true(replay(&h, order[i], &store));
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < i; j++)
				assert_false(must_precede(&h.txns.at[order[i].i], &h.txns.at[order[j].i]));
		done(&ctx, &h);
	}
}

static bool writes_key(const struct kr_history *h, kr_txn t, kr_key k)
{
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
		const struct kr_scan *scan = kr_op_scans(op) ? &h->scans.at[op->scan] : NULL;
		bool done = op->flags & KR_OPF_DONE;
		bool writes = op->kind == KR_OP_DELETE ? done || !(op->flags & KR_OPF_KNOWN)
			: op->kind == KR_OP_INSERT || op->kind == KR_OP_CAS ? done : op->kind != KR_OP_READ;
		if (op->key.i == k.i && writes)
			return true;
		for (uint32_t r = 0; op->kind == KR_OP_UPDATE && r < scan->row_count; r++)
			if (h->rows.at[scan->row_first + r].key.i == k.i)
				return true;
	}
	return false;
}

/* Whether order[i] fits the snapshot after the first `taken` commits: it sees it, and nobody has written its keys since. */
static bool fits_snapshot(const struct kr_history *h, const kr_txn *order, uint32_t i, uint32_t taken, const struct state *snapshot)
{
	static struct state scratch;

	scratch = *snapshot;

	if (!replay(h, order[i], &scratch))
		return false;
	for (uint32_t j = taken; j < i; j++)
		for (uint32_t k = 0; k < h->keys.n; k++)
			if (writes_key(h, order[i], (kr_key){k}) && writes_key(h, order[j], (kr_key){k}))
				return false;
	return true;
}

static void snapshot_reads_one_snapshot_and_first_committer_wins(void **state)
{
	enum { MOST = 150 };
	static struct state after[MOST + 1]; /* after[i]: i commits */

	(void)state;
	for (size_t c = 0; c < KR_COUNT(cases); c++) {
		struct kr_generate_options options = cases[c];
		struct kr_ctx ctx;
		struct kr_history h;
		kr_txn order[MOST_TXNS];

		options.store = KR_STORE_SNAPSHOT;
		options.txns = options.txns > MOST ? MOST : options.txns;
		generate(&ctx, &options, &h);
		uint32_t n = by_commit(&h, order);
		start(&h, &after[0]);
		for (uint32_t i = 0; i < n; i++) {
			after[i + 1] = after[i];
			(void)replay(&h, order[i], &after[i + 1]);
		}
		for (uint32_t i = 0; i < n; i++) {
			uint32_t first = 0; /* the snapshot must hold all that had returned before the begin */
			for (uint32_t j = 0; j < i; j++)
				if (must_precede(&h.txns.at[order[j].i], &h.txns.at[order[i].i]))
					first = j + 1;
			bool fits = false;
			for (uint32_t taken = first; taken <= i && !fits; taken++)
				fits = fits_snapshot(&h, order, i, taken, &after[taken]);
			assert_true(fits);
		}
		done(&ctx, &h);
	}
}

/* On one contended key, a store that validates nothing must lose an update within 500 transactions. */
static void read_committed_loses_updates(void **state)
{
	struct kr_generate_options options = cases[1];
	struct kr_ctx ctx;
	struct kr_history h;
	static struct state store;
	kr_txn order[MOST_TXNS];
	bool good = true;

	(void)state;
	options.store = KR_STORE_READ_COMMITTED;
	generate(&ctx, &options, &h);
	uint32_t n = by_commit(&h, order);
	start(&h, &store);
	for (uint32_t i = 0; i < n; i++)
		good = replay(&h, order[i], &store) && good;
	assert_false(good);
	done(&ctx, &h);
}

static void sizes_are_as_asked(void **state)
{
	(void)state;
	for (size_t c = 0; c < KR_COUNT(cases); c++) {
		struct kr_ctx ctx;
		struct kr_history h;

		generate(&ctx, &cases[c], &h);
		assert_int_equal(h.txns.n, cases[c].txns);
		for (uint32_t t = 0; t < h.txns.n; t++)
			assert_int_equal(h.txns.at[t].op_count, cases[c].ops);
		assert_int_equal(h.keys.n, cases[c].keys);
		assert_true(h.sessions.n <= cases[c].sessions);
		assert_int_equal(h.initial, cases[c].initial);
		done(&ctx, &h);
	}
}

static uint32_t count_status(const struct kr_history *h, enum kr_txn_status status)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < h->txns.n; t++)
		n += h->txns.at[t].status == status;
	return n;
}

/* 1000 draws of 10 and of 20 percent: within five standard deviations (9.5 and 12.6). */
static void shares_are_as_asked(void **state)
{
	struct kr_generate_options options = cases[0];
	struct kr_ctx ctx;
	struct kr_history h;

	(void)state;
	generate(&ctx, &options, &h);
	assert_int_equal(count_status(&h, KR_COMMITTED), 1000);
	done(&ctx, &h);
	options.aborted = 10;
	options.unknown = 20;
	generate(&ctx, &options, &h);
	assert_in_range(count_status(&h, KR_ABORTED), 52, 148);
	assert_in_range(count_status(&h, KR_UNKNOWN), 137, 263);
	done(&ctx, &h);
	options.aborted = 0;
	options.unknown = 100;
	generate(&ctx, &options, &h);
	assert_int_equal(count_status(&h, KR_UNKNOWN), 1000);
	done(&ctx, &h);
}

static void values_are_unique_or_few(void **state)
{
	static bool used[MOST_KEYS][4096];
	struct kr_ctx ctx;
	struct kr_history h;

	(void)state;
	generate(&ctx, &cases[0], &h);
	for (uint32_t i = 0; i < h.ops.n; i++) {
		const struct kr_operation *op = &h.ops.at[i];
		if (op->kind != KR_OP_WRITE)
			continue;
		int64_t value = h.values.at[op->a.i].integer;
		assert_in_range(value, 1, 4095);
		assert_false(used[op->key.i][value]);
		used[op->key.i][value] = true;
	}
	done(&ctx, &h);
	generate(&ctx, &cases[2], &h);
	for (uint32_t i = 0; i < h.ops.n; i++)
		if (h.ops.at[i].kind == KR_OP_WRITE)
			assert_in_range(h.values.at[h.ops.at[i].a.i].integer, 1, 2);
	done(&ctx, &h);
}

/* Sessions are sequential, and some transactions overlap. */
static void clients_are_concurrent(void **state)
{
	struct kr_ctx ctx;
	struct kr_history h;
	bool overlap = false;

	(void)state;
	generate(&ctx, &cases[0], &h);
	for (uint32_t a = 0; a < h.txns.n; a++) {
		const struct kr_transaction *ta = &h.txns.at[a];
		assert_true(ta->begin_invoked <= ta->begin_returned && ta->begin_returned <= ta->end_invoked && ta->end_invoked <= ta->end_returned);
		for (uint32_t b = a + 1; b < h.txns.n; b++) {
			const struct kr_transaction *tb = &h.txns.at[b];
			if (ta->session.i == tb->session.i)
				assert_true(ta->end_returned < tb->begin_invoked);
			else if (ta->begin_invoked < tb->end_returned && tb->begin_invoked < ta->end_returned)
				overlap = true;
		}
	}
	assert_true(overlap);
	done(&ctx, &h);
}

static void text(const struct kr_generate_options *options, struct kr_str *out, struct kr_ctx *ctx)
{
	struct kr_history h;

	generate(ctx, options, &h);
	kr_str_init(out, &ctx->mem);
	assert_int_equal(kr_native_write_text(ctx, &h, out, NULL), KR_OK);
	kr_history_done(&h);
}

static void equal_seeds_give_equal_histories(void **state)
{
	struct kr_generate_options options = cases[3];
	struct kr_ctx ctx[3];
	struct kr_str out[3];

	(void)state;
	text(&options, &out[0], &ctx[0]);
	text(&options, &out[1], &ctx[1]);
	options.seed++;
	text(&options, &out[2], &ctx[2]);
	assert_string_equal(kr_str_text(&out[0]), kr_str_text(&out[1]));
	assert_string_not_equal(kr_str_text(&out[0]), kr_str_text(&out[2]));
	for (int i = 0; i < 3; i++)
		kr_str_done(&out[i]);
}

static void without_times_there_are_none(void **state)
{
	struct kr_generate_options options = cases[3];
	struct kr_ctx ctx;
	struct kr_history h;

	(void)state;
	options.times = options.serial = false;
	generate(&ctx, &options, &h);
	for (uint32_t t = 0; t < h.txns.n; t++)
		assert_int_equal(h.txns.at[t].flags, 0);
	assert_int_equal(h.white_box.n, 0);
	done(&ctx, &h);
}

/* The rest of the history stays what the store promises: a plant has keys and times of its own. */
static void planting_leaves_the_rest_alone(void **state)
{
	(void)state;
	for (size_t a = 0; kr_generate_anomaly(a, NULL); a++) {
		struct kr_generate_options options = cases[4];
		struct kr_ctx ctx;
		struct kr_history h;
		static struct state store;
		kr_txn order[MOST_TXNS];
		uint32_t planted = 0;

		options.anomaly = kr_generate_anomaly(a, NULL);
		generate(&ctx, &options, &h);
		uint32_t n = by_commit(&h, order);
		start(&h, &store);
		for (uint32_t i = 0; i < n; i++)
			assert_true(replay(&h, order[i], &store));
		for (uint32_t i = 0; i < h.txns.n; i++) {
			const struct kr_transaction *t = &h.txns.at[i];
			uint32_t on_new_keys = 0;
			for (uint32_t o = 0; o < t->op_count; o++)
				on_new_keys += h.ops.at[t->op_first + o].key.i >= options.keys;
			assert_true(on_new_keys == 0 || on_new_keys == t->op_count);
			planted += on_new_keys != 0;
		}
		assert_true(planted >= 3);
		assert_int_equal(h.txns.n, options.txns + planted);
		assert_true(h.keys.n > options.keys);
		done(&ctx, &h);
	}
}

static void bad_options_are_named(void **state)
{
	static const struct {
		struct kr_generate_options options;
		const char *text;
	} bad[] = {
		{{.sessions = 0, .keys = 1}, "the number of sessions is 0, expected at least 1"},
		{{.sessions = 1, .keys = 0}, "the number of keys is 0, expected at least 1"},
		{{.sessions = 1, .keys = 1, .reads = 60, .deletes = 41}, "the operations' shares together are 101 percent, expected at most 100"},
		{{.sessions = 1, .keys = 3, .incs = 1, .appends = 1, .adds = 1, .maxes = 1}, "3 keys, expected one at least for each of the 5 kinds used"},
		{{.sessions = 1, .keys = 1, .untold = 101}, "a share of untold results is more than 100 percent"},
		{{.sessions = 1, .keys = 1, .initial = KR_INITIAL_UNKNOWN, .anomaly = "lost-append"}, "the anomaly 'lost-append' needs known initial values"},
		{{.sessions = 1, .keys = 1, .aborted = 101}, "aborted and unknown transactions together are more than 100 percent"},
		{{.sessions = 1, .keys = 1, .theta = -1}, "the zipfian exponent is -1, expected 0 to 100"},
		{{.sessions = 1, .keys = 1, .anomaly = "nonsense"}, "unknown anomaly 'nonsense'"},
		{{.sessions = 1, .keys = 1, .anomaly = "stale-read-realtime"}, "the anomaly 'stale-read-realtime' needs times"},
	};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(bad); i++) {
		struct kr_ctx ctx;
		struct kr_history h;
		struct kr_err err;

		kr_ctx_init(&ctx, 0, 0);
		kr_err_init(&err);
		assert_int_equal(kr_generate(&ctx, &bad[i].options, &h, &err), KR_BAD);
		assert_string_equal(err.text, bad[i].text);
		assert_true(ctx.mem.used == 0);
	}
}

/* Every operation with every result, from one set of options. */
static void every_operation_occurs(void **state)
{
	enum { NAMED = 9 }; /* a case above with all shares */
	unsigned seen[KR_OP_KINDS][4] = {{0}}, tests[KR_COND_PREFIX + 1] = {0}, fields = 0, limits = 0, reverse = 0, open = 0, rows = 0;
	struct kr_ctx ctx;
	struct kr_history h;

	(void)state;
	generate(&ctx, &cases[NAMED], &h);
	for (uint32_t i = 0; i < h.ops.n; i++)
		seen[h.ops.at[i].kind][h.ops.at[i].flags & (KR_OPF_KNOWN | KR_OPF_DONE)]++;
	for (uint32_t i = 0; i < h.conds.n; i++) {
		tests[h.conds.at[i].test]++;
		fields += h.conds.at[i].target == KR_COND_FIELD;
	}
	for (uint32_t i = 0; i < h.scans.n; i++) {
		limits += h.scans.at[i].limit >= 0;
		reverse += h.scans.at[i].reverse;
		open += h.scans.at[i].low.i == KR_ABSENT.i && h.scans.at[i].cond_count == 0;
		rows += h.scans.at[i].row_count > 1;
	}
	for (int kind = 0; kind < KR_OP_KINDS; kind++) {
		bool told = kind == KR_OP_READ || kind == KR_OP_INC, both = kind == KR_OP_INSERT || kind == KR_OP_CAS;
		if (seen[kind][0] == 0 || (told && seen[kind][KR_OPF_KNOWN] == 0) || (both && seen[kind][KR_OPF_DONE] == 0))
			fail_msg("some result of %s does not occur", kr_op_name((enum kr_op_kind)kind));
	}
	assert_true(seen[KR_OP_DELETE][KR_OPF_KNOWN] > 0 && seen[KR_OP_DELETE][KR_OPF_KNOWN | KR_OPF_DONE] > 0);
	for (int test = 0; test <= KR_COND_PREFIX; test++)
		assert_true(tests[test] > 0);
	assert_true(fields > 0 && limits > 0 && reverse > 0 && open > 0 && rows > 0);
	done(&ctx, &h);
}

static bool is_result(const struct kr_operation *op)
{
	return op->flags & (KR_OPF_KNOWN | KR_OPF_DONE) || kr_op_scans(op) || op->kind == KR_OP_INSERT || op->kind == KR_OP_CAS;
}

/* Unknown transactions without results where all are to be blank; no list deleted that is to be kept; no increment or delete told. */
static void what_is_left_out_is_not_there(void **state)
{
	struct kr_generate_options options = cases[9];
	struct kr_ctx ctx;
	struct kr_history h;
	uint32_t kept = 0;

	(void)state;
	options.blank = 100;
	options.untold = 100;
	options.keep_lists = true;
	generate(&ctx, &options, &h);
	for (uint32_t t = 0; t < h.txns.n; t++) {
		for (uint32_t i = 0; i < h.txns.at[t].op_count; i++) {
			const struct kr_operation *op = &h.ops.at[kr_history_op(&h, (kr_txn){t}, i).i];
			if (h.txns.at[t].status == KR_UNKNOWN)
				assert_false(is_result(op));
			if (op->kind == KR_OP_INC || op->kind == KR_OP_DELETE)
				assert_false(op->flags & KR_OPF_KNOWN);
			if (op->kind == KR_OP_DELETE)
				assert_true(name_of(&h, op->key.i)[0] != 'l');
			kept += is_result(op);
		}
	}
	assert_true(kept > 0);
	done(&ctx, &h);
}

static void every_allocation_may_fail(void **state)
{
	static const struct kr_generate_options options[] = {
		{.txns = 12, .sessions = 3, .keys = 3, .ops = 3, .reads = 20, .deletes = 10, .inserts = 10, .cas = 10, .ranges = 10, .scans = 20, .updates = 10,
			.span = 3, .unknown = 40, .times = true, .serial = true, .anomaly = "g0"},
		{.txns = 12, .sessions = 3, .keys = 6, .ops = 3, .reads = 20, .incs = 20, .appends = 20, .adds = 20, .ranges = 20, .span = 3, .unknown = 40,
			.initial = KR_INITIAL_GIVEN, .anomaly = "lost-append"},
		{.txns = 0, .sessions = 1, .keys = 1, .initial = KR_INITIAL_GIVEN, .anomaly = "fractured-range"},
	};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(options); i++) {
		enum kr_status status = KR_NOMEM;
		uint64_t n = 0;
		while (status == KR_NOMEM) {
			struct kr_ctx ctx;
			struct kr_history h;
			kr_ctx_init(&ctx, 0, 0);
			ctx.mem.fail_at = ++n;
			status = kr_generate(&ctx, &options[i], &h, NULL);
			if (!status)
				kr_history_done(&h);
			assert_true(ctx.mem.used == 0);
		}
		assert_int_equal(status, KR_OK);
		assert_true(n > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(serializable_replays_in_commit_order),
		cmocka_unit_test(snapshot_reads_one_snapshot_and_first_committer_wins),
		cmocka_unit_test(read_committed_loses_updates),
		cmocka_unit_test(sizes_are_as_asked),
		cmocka_unit_test(shares_are_as_asked),
		cmocka_unit_test(values_are_unique_or_few),
		cmocka_unit_test(clients_are_concurrent),
		cmocka_unit_test(equal_seeds_give_equal_histories),
		cmocka_unit_test(without_times_there_are_none),
		cmocka_unit_test(planting_leaves_the_rest_alone),
		cmocka_unit_test(bad_options_are_named),
		cmocka_unit_test(every_operation_occurs),
		cmocka_unit_test(what_is_left_out_is_not_there),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
