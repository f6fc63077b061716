/* frontend/history: interning, the builder's checks, version orders, the order of keys, texts. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/history.h"

struct fixture {
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_err err;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	kr_ctx_init(&f->ctx, 0, 0);
	kr_err_init(&f->err);
	assert_int_equal(kr_history_init(&f->h, &f->ctx.mem), KR_OK);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	kr_history_done(&f->h);
	assert_int_equal(f->ctx.mem.used, 0);
	free(f);
	return 0;
}

static kr_value text(struct kr_history *h, const char *s) { return kr_history_text(h, KR_VALUE_STRING, s, strlen(s)); }

static kr_key key(struct kr_history *h, const char *s) { return kr_history_key(h, text(h, s)); }

static void interns_by_type_and_content(void **state)
{
	struct kr_history *h = &((struct fixture *)*state)->h;
	kr_value all[] = {KR_ABSENT, kr_history_bool(h, false), kr_history_bool(h, true), kr_history_int(h, 0), kr_history_int(h, 1), kr_history_int(h, -1),
		kr_history_int(h, INT64_MAX), kr_history_int(h, INT64_MIN), kr_history_real(h, 0.0), kr_history_real(h, 1.0), kr_history_real(h, DBL_MIN),
		text(h, ""), text(h, "1"), text(h, "a"), kr_history_text(h, KR_VALUE_STRING, "a\0b", 3), kr_history_text(h, KR_VALUE_STRING, "a\0c", 3),
		kr_history_text(h, KR_VALUE_ARRAY, "[]", 2), text(h, "[]"), kr_history_text(h, KR_VALUE_OBJECT, "{}", 2)};

	for (size_t i = 0; i < KR_COUNT(all); i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(all[i].i, all[j].i);
	assert_int_equal(all[0].i, 0);
	assert_int_equal(kr_history_int(h, INT64_MIN).i, all[7].i);
	assert_int_equal(kr_history_real(h, -0.0).i, all[8].i);
	assert_int_equal(kr_history_text(h, KR_VALUE_STRING, "a\0c", 3).i, all[15].i);
	assert_int_equal(kr_history_value(h, all[15])->length, 3);
	assert_int_equal(kr_history_value(h, all[6])->integer, INT64_MAX);

	/* a finished history knows its values still */
	assert_int_equal(kr_history_finish(h, &((struct fixture *)*state)->ctx, NULL), KR_OK);
	assert_int_equal(kr_history_int(h, INT64_MIN).i, all[7].i);
	assert_int_equal(kr_history_text(h, KR_VALUE_STRING, "a\0c", 3).i, all[15].i);
	assert_int_equal(kr_history_int(h, 2).i, KR_COUNT(all));
	assert_int_equal(kr_history_finish(h, &((struct fixture *)*state)->ctx, NULL), KR_OK);
	assert_int_equal(kr_history_text(h, KR_VALUE_STRING, "a\0c", 3).i, all[15].i);
	assert_int_equal(kr_history_int(h, 2).i, KR_COUNT(all));
}

static void interns_many(void **state)
{
	struct kr_history *h = &((struct fixture *)*state)->h;
	char name[32];

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 20000; i++) {
			snprintf(name, sizeof name, i % 2 ? "k%u" : "a-rather-long-key-%u", (unsigned)i);
			kr_value v = kr_history_int(h, (int64_t)i * 1000003);
			kr_key k = round ? kr_history_key_text(h, name, strlen(name)) : key(h, name);
			assert_int_equal(k.i, i);
			assert_int_equal(kr_history_value(h, v)->integer, (int64_t)i * 1000003);
			assert_string_equal(kr_history_value(h, h->keys.at[k.i].name)->text, name);
		}
	}
	assert_int_equal(h->values.n, 40001);
	assert_int_equal(kr_history_find_key(h, kr_history_int(h, 0)).i, KR_NONE);
	assert_int_equal(kr_history_key(h, kr_history_int(h, 7)).i, 20000); /* the key 7 is not the key "7" */
	assert_int_equal(key(h, "7").i, 20001);
	assert_int_equal(kr_history_key(h, kr_history_real(h, 7.0)).i, 20002);
	assert_int_equal(kr_history_find_key(h, kr_history_int(h, 7)).i, 20000);
}

/* ---- transactions ---- */

static void push(struct kr_history *h, enum kr_op_kind kind, const char *name, kr_value a)
{
	struct kr_operation op = {.kind = kind, .key = key(h, name), .a = a};

	assert_true(kr_vec_push(h->mem, &h->ops, op));
}

static struct kr_transaction plain(struct kr_history *h, const char *id)
{
	return (struct kr_transaction){.id = id ? text(h, id) : (kr_value){KR_NONE}, .session = {KR_NONE}, .line = h->txns.n + 1};
}

static void adds_transactions(void **state)
{
	struct fixture *f = *state;
	struct kr_history *h = &f->h;

	push(h, KR_OP_WRITE, "x", kr_history_int(h, 1));
	push(h, KR_OP_READ, "y", KR_ABSENT);
	assert_int_equal(kr_history_add(h, plain(h, "t1"), NULL, &f->err), KR_OK);
	assert_int_equal(kr_history_add(h, plain(h, NULL), NULL, &f->err), KR_OK);
	push(h, KR_OP_APPEND, "z", kr_history_int(h, 1));
	h->position = 1234567889;
	assert_int_equal(kr_history_add(h, plain(h, NULL), NULL, &f->err), KR_OK);
	assert_int_equal(h->txns.n, 3);
	assert_int_equal(h->txns.at[0].op_count, 2);
	assert_int_equal(h->txns.at[1].op_count, 0);
	assert_int_equal(h->txns.at[2].op_first, 2);
	assert_int_equal(h->txns.at[2].op_count, 1);
	assert_int_equal(kr_history_find(h, text(h, "t1")).i, 0);
	assert_int_equal(kr_history_find(h, text(h, "#2")).i, 1);
	assert_int_equal(kr_history_find(h, text(h, "#1234567890")).i, 2);
	assert_int_equal(kr_history_find(h, text(h, "t2")).i, KR_NONE);
	assert_int_equal(h->keys.at[key(h, "x").i].kind, KR_KIND_REGISTER);
	assert_int_equal(h->keys.at[key(h, "y").i].kind, KR_KIND_ANY);
	assert_int_equal(h->keys.at[key(h, "z").i].kind, KR_KIND_LIST);
	assert_int_equal(kr_history_add(h, plain(h, "t1"), NULL, &f->err), KR_BAD);
	assert_string_equal(f->err.text, "duplicate transaction id t1, first used in line 1");
	assert_int_equal(h->txns.n, 3);
}

static void a_clash_leaves_no_kind_behind(void **state)
{
	struct fixture *f = *state;
	struct kr_history *h = &f->h;

	push(h, KR_OP_INC, "x", kr_history_int(h, 1));
	assert_int_equal(kr_history_add(h, plain(h, "t1"), NULL, &f->err), KR_OK);
	push(h, KR_OP_ADD, "new", kr_history_int(h, 1));
	push(h, KR_OP_INC, "x", kr_history_int(h, 1));
	push(h, KR_OP_WRITE, "x", kr_history_int(h, 1));
	assert_int_equal(kr_history_add(h, plain(h, "t2"), NULL, &f->err), KR_BAD);
	assert_string_equal(f->err.text, "ops[2] of t2: \"w\" needs a register key, but x is used as a counter");
	assert_int_equal(h->ops.n, 1);
	assert_int_equal(h->keys.at[key(h, "x").i].kind, KR_KIND_COUNTER);
	assert_int_equal(h->keys.at[key(h, "new").i].kind, KR_KIND_ANY);
	push(h, KR_OP_WRITE, "new", kr_history_int(h, 1));
	assert_int_equal(kr_history_add(h, plain(h, "t2"), NULL, NULL), KR_OK);
	assert_int_equal(h->txns.at[1].op_count, 1);
	assert_int_equal(h->keys.at[key(h, "new").i].kind, KR_KIND_REGISTER);
}

/* ---- sessions: (begin, end, status) in order; the last one is added with this outcome ---- */

enum { UNANSWERED = -2 };
struct timed { int begin, end, status; }; /* -1: none */
struct session_row { const char *name; struct timed txns[3]; enum kr_status outcome; };

static const struct session_row session_rows[] = {
	{"apart", {{0, 5, KR_COMMITTED}, {6, 9, KR_COMMITTED}, {10, 12, KR_COMMITTED}}, KR_OK},
	{"touching", {{0, 5, KR_COMMITTED}, {5, 9, KR_COMMITTED}, {9, 9, KR_COMMITTED}}, KR_OK},
	{"overlapping", {{0, 5, KR_COMMITTED}, {5, 9, KR_COMMITTED}, {8, 12, KR_COMMITTED}}, KR_BAD},
	{"after an aborted one", {{0, 5, KR_COMMITTED}, {5, 9, KR_ABORTED}, {8, 12, KR_COMMITTED}}, KR_BAD},
	{"after an unknown one", {{0, 5, KR_COMMITTED}, {5, 9, KR_UNKNOWN}, {8, 12, KR_COMMITTED}}, KR_OK},
	{"after an aborted one whose end was not answered", {{0, 5, KR_COMMITTED}, {5, UNANSWERED, KR_ABORTED}, {8, 12, KR_COMMITTED}}, KR_OK},
	{"before one further back", {{0, 50, KR_COMMITTED}, {-1, -1, KR_COMMITTED}, {20, 60, KR_COMMITTED}}, KR_BAD},
	{"before one further back, past an unknown one", {{0, 50, KR_COMMITTED}, {60, 70, KR_UNKNOWN}, {20, 60, KR_COMMITTED}}, KR_BAD},
	{"no end", {{0, 5, KR_COMMITTED}, {5, -1, KR_COMMITTED}, {5, 6, KR_COMMITTED}}, KR_OK},
	{"no begin", {{0, 5, KR_COMMITTED}, {5, 9, KR_COMMITTED}, {-1, 9, KR_COMMITTED}}, KR_OK},
	{"no begin, ends before", {{0, 5, KR_COMMITTED}, {5, 9, KR_COMMITTED}, {-1, 6, KR_COMMITTED}}, KR_BAD},
	{"no begin, unknown, ends before", {{0, 5, KR_COMMITTED}, {5, 9, KR_COMMITTED}, {-1, 6, KR_UNKNOWN}}, KR_OK},
	{"no end, begins before its begin", {{0, 5, KR_COMMITTED}, {9, -1, KR_COMMITTED}, {8, 12, KR_COMMITTED}}, KR_BAD},
};

static void checks_session_order(void **state)
{
	const struct session_row *row = *state;
	struct kr_ctx ctx;
	struct kr_history h;

	kr_ctx_init(&ctx, 0, 0);
	assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
	for (int i = 0; i < 3; i++) {
		const struct timed *t = &row->txns[i];
		struct kr_transaction txn = {.id = {KR_NONE}, .session = kr_history_session(&h, text(&h, "s")), .status = (enum kr_txn_status)t->status & 3,
			.begin_invoked = t->begin, .begin_returned = t->begin, .end_invoked = t->end, .end_returned = t->end};
		txn.flags = (t->begin >= 0 ? KR_TXN_HAS_BEGIN : 0u) | (t->end >= 0 ? KR_TXN_HAS_END : 0u);
		if (t->end == UNANSWERED) {
			txn.end_invoked = t->begin;
			txn.end_returned = KR_TIME_OPEN;
			txn.flags |= KR_TXN_HAS_END | KR_TXN_END_OPEN;
		}
		assert_int_equal(kr_history_add(&h, txn, NULL, NULL), i < 2 ? KR_OK : row->outcome);
	}
	/* another session does not care */
	struct kr_transaction other = {.id = {KR_NONE}, .session = kr_history_session(&h, text(&h, "other")), .flags = KR_TXN_HAS_BEGIN};
	assert_int_equal(kr_history_add(&h, other, NULL, NULL), KR_OK);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

/* ---- version orders over writers t0..t4 of x, of which t3 is aborted and t4 writes y only ---- */

struct orders_row { const char *name, *orders, *error; unsigned kept; };

static const struct orders_row orders_rows[] = {
	{"none", "", NULL, 0},
	{"one", "012", NULL, 1},
	{"empty and single", " 0", NULL, 2},
	{"agreeing", "01 12 02", NULL, 3},
	{"unrelated", "01 20", NULL, 2},
	{"opposite", "01 10", "version order of x: t1 before t0, but earlier version orders put t0 before t1", 1},
	{"round in three", "01 12 20", "version order of x: t2 before t0, but earlier version orders put t0 before t2", 2},
	{"backwards with others between", "20 012", "version order of x: t0 before t2, but earlier version orders put t2 before t0", 1},
	{"same writers, other key", "01 10y", NULL, 2},
	{"first bad, later good", "01 10 02 12 21", "version order of x: t1 before t0, but earlier version orders put t0 before t1", 3},
	{"twice", "010", "version order of x: t0 is named twice, expected each writer once", 0},
	{"aborted", "03", "version order of x: t3 is aborted, expected writers that took effect", 0},
	{"no writer", "04", "version order of x: t4 does not write that key, expected a writer", 0},
	{"writer of the other key only", "24y", "version order of y: t2 does not write that key, expected a writer", 0},
};

static void add_orders(struct kr_history *h, const char *orders)
{
	struct kr_version_order order = {.line = 10};

	for (const char *at = orders;; at++) {
		if (*at >= '0' && *at <= '9') {
			assert_true(kr_vec_push(h->mem, &h->order_writers, (kr_txn){(uint32_t)(*at - '0')}));
			order.writer_count++;
			continue;
		}
		order.key = key(h, *at == 'y' ? "y" : "x");
		if (*orders)
			assert_true(kr_vec_push(h->mem, &h->version_orders, order));
		order = (struct kr_version_order){.writer_first = h->order_writers.n, .line = order.line + 1};
		at += *at == 'y';
		if (*at == '\0')
			return;
	}
}

static void build_writers(struct kr_history *h)
{
	for (uint32_t t = 0; t < 5; t++) {
		char id[] = {'t', (char)('0' + t), '\0'};
		struct kr_transaction txn = plain(h, id);
		txn.status = t == 3 ? KR_ABORTED : KR_COMMITTED;
		if (t != 4)
			push(h, KR_OP_WRITE, "x", kr_history_int(h, t));
		if (t != 2)
			push(h, KR_OP_WRITE, "y", kr_history_int(h, t));
		assert_int_equal(kr_history_add(h, txn, NULL, NULL), KR_OK);
	}
}

static void checks_version_orders(void **state)
{
	const struct orders_row *row = *state;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_err err;

	for (int lenient = 0; lenient < 2; lenient++) {
		kr_ctx_init(&ctx, 0, 0);
		kr_err_init(&err);
		assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
		h.lenient = lenient;
		build_writers(&h);
		add_orders(&h, row->orders);
		unsigned lists = h.version_orders.n;
		assert_int_equal(kr_history_finish(&h, &ctx, &err), row->error && !lenient ? KR_BAD : KR_OK);
		if (row->error && !lenient)
			assert_string_equal(err.text, row->error);
		if (lenient) {
			assert_int_equal(h.version_orders.n, row->kept);
			assert_int_equal(h.skipped, lists - row->kept);
		}
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
}

/* ---- order of keys ---- */

static void orders_keys(void **state)
{
	struct kr_history *h = &((struct fixture *)*state)->h;
	kr_value min = kr_history_int(h, INT64_MIN), max = kr_history_int(h, INT64_MAX), two = kr_history_int(h, 2), ten = kr_history_int(h, 10);
	kr_value beyond = kr_history_real(h, 9223372036854775808.0), lowest = kr_history_real(h, -9223372036854775808.0), half = kr_history_real(h, 2.5);
	kr_value minus_half = kr_history_real(h, -0.5), zero = kr_history_int(h, 0), tiny = kr_history_real(h, -1e300), real_two = kr_history_real(h, 2.0);
	kr_value s2 = text(h, "2"), s10 = text(h, "10"), a = text(h, "a"), b = text(h, "b"), ab = text(h, "ab"), umlaut = text(h, "\xc3\xa4");
	kr_value big = text(h, "99999999999999999999"), s2e1 = text(h, "2e1"), s02 = text(h, "02");
	kr_value mixed[] = {tiny, min, minus_half, zero, two, half, ten, max, beyond, s10, s2, a, ab, b, umlaut};
	kr_value numbers[] = {tiny, min, minus_half, zero, s2, half, s10, s2e1, max, beyond, big, s02, a, ab, b};
	kr_value bytes[] = {minus_half, zero, s02, ten, half, big, a, ab, b, umlaut};

	for (int order = 0; order < 3; order++) {
		kr_value *sorted[] = {mixed, bytes, numbers};
		size_t counts[] = {KR_COUNT(mixed), KR_COUNT(bytes), KR_COUNT(numbers)};
		h->key_order = (enum kr_key_order)order;
		for (size_t i = 0; i < counts[order]; i++)
			for (size_t j = 0; j < counts[order]; j++) {
				int sign = kr_history_compare_keys(h, sorted[order][i], sorted[order][j]);
				assert_int_equal((sign > 0) - (sign < 0), (i > j) - (i < j));
			}
	}
	h->key_order = KR_KEYS_MIXED;
	assert_int_equal(kr_history_compare_keys(h, two, real_two), 0); /* equal by value */
	assert_int_equal(kr_history_compare_keys(h, min, lowest), 0);
	assert_true(kr_history_compare_keys(h, ten, s2) < 0);
	h->key_order = KR_KEYS_NUMBERS;
	assert_int_equal(kr_history_compare_keys(h, two, s2), 0);
}

/* ---- texts ---- */

static const char *printed(struct kr_history *h, kr_value v, size_t most, bool name)
{
	static char out[128];
	struct kr_str str;

	kr_str_init(&str, h->mem);
	if (name)
		kr_history_print_name(h, v, &str);
	else
		kr_history_print_value(h, v, most, &str);
	snprintf(out, sizeof out, "%s", kr_str_text(&str));
	kr_str_done(&str);
	return out;
}

static void prints_names(void **state)
{
	struct kr_history *h = &((struct fixture *)*state)->h;
	static const struct { const char *name, *shown; } rows[] = {
		{"x", "x"}, {"client-3", "client-3"}, {"#7", "#7"}, {"user/1", "user/1"}, {"0xa6", "0xa6"}, {"10:00", "\"10:00\""}, {"1e5", "\"1e5\""}, {"1.2.3", "1.2.3"}, {"", "\"\""}, {"1", "\"1\""}, {"-1", "\"-1\""},
		{"-", "-"}, {"true", "\"true\""}, {"truer", "truer"}, {"null", "\"null\""}, {"a b", "\"a b\""}, {"a\"b", "\"a\\\"b\""},
		{"a\nb", "\"a\\nb\""}, {"a\xc2\x85", "\"a\\u0085\""}, {"\xe2\x80\xaf", "\xe2\x80\xaf"}, {"\xc3\xa4", "\xc3\xa4"}, {"a,b", "\"a,b\""},
	};
	char small[12];

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		assert_string_equal(printed(h, text(h, rows[i].name), 0, true), rows[i].shown);
	assert_string_equal(printed(h, kr_history_int(h, -5), 0, true), "-5");
	assert_string_equal(kr_history_brief(h, text(h, "abcdef"), small, sizeof small), "abcdef");
	assert_string_equal(kr_history_brief(h, text(h, "abcdefghi"), small, sizeof small), "abcdef...");
	assert_string_equal(kr_history_brief(h, text(h, "abcde\xc3\xa4zz"), small, sizeof small), "abcde...");
	assert_string_equal(kr_history_brief(h, text(h, "1 23"), small, sizeof small), "\"1 23\"");
}

static void prints_values(void **state)
{
	struct kr_history *h = &((struct fixture *)*state)->h;

	assert_string_equal(printed(h, KR_ABSENT, 0, false), "null");
	assert_string_equal(printed(h, kr_history_bool(h, true), 0, false), "true");
	assert_string_equal(printed(h, kr_history_bool(h, false), 0, false), "false");
	assert_string_equal(printed(h, kr_history_int(h, INT64_MIN), 0, false), "-9223372036854775808");
	assert_string_equal(printed(h, kr_history_real(h, 1), 0, false), "1.0");
	assert_string_equal(printed(h, kr_history_real(h, 0.1), 0, false), "0.1");
	assert_string_equal(printed(h, kr_history_real(h, 0.30000000000000004), 0, false), "0.30000000000000004");
	assert_string_equal(printed(h, kr_history_real(h, 1e100), 0, false), "1e+100");
	assert_string_equal(printed(h, kr_history_real(h, -1e15), 0, false), "-1e+15");
	assert_string_equal(printed(h, text(h, "a\"b"), 0, false), "\"a\\\"b\"");
	assert_string_equal(printed(h, kr_history_text(h, KR_VALUE_STRING, "a\0b", 3), 0, false), "\"a\\u0000b\"");
	assert_string_equal(printed(h, kr_history_text(h, KR_VALUE_ARRAY, "[1,2,3]", 7), 0, false), "[1,2,3]");
	assert_string_equal(printed(h, kr_history_text(h, KR_VALUE_ARRAY, "[1,2,3]", 7), 7, false), "[1,2,3]");
	assert_string_equal(printed(h, kr_history_text(h, KR_VALUE_ARRAY, "[1,2,3]", 7), 4, false), "[1,2...");
	assert_string_equal(printed(h, text(h, "abcdefgh"), 4, false), "\"abc...\"");
	assert_string_equal(printed(h, text(h, "ab\xc3\xa4zzzz"), 4, false), "\"ab...\"");
	assert_string_equal(printed(h, text(h, "a\xe2\x80\xae" "b\xc2\x9b"), 0, false), "\"a\\u202eb\\u009b\""); /* turns the direction; begins a terminal's command */
	assert_string_equal(printed(h, kr_history_text(h, KR_VALUE_ARRAY, "[\"\xe2\x81\xa6\"]", 7), 0, false), "[\"\\u2066\"]");
}

static void tells_real_time_order(void **state)
{
	struct fixture *f = *state;
	struct kr_history *h = &f->h;
	struct kr_transaction txn = {.id = {KR_NONE}, .session = {KR_NONE}, .flags = KR_TXN_HAS_BEGIN | KR_TXN_HAS_END, .begin_invoked = 1,
		.begin_returned = 2, .end_invoked = 9, .end_returned = 10};

	assert_int_equal(kr_history_add(h, txn, NULL, NULL), KR_OK);
	for (uint32_t i = 0; i < 3; i++) {
		txn.begin_invoked = 10 + i;
		txn.end_returned = INT64_MAX;
		txn.flags = i == 2 ? KR_TXN_HAS_END : KR_TXN_HAS_BEGIN | KR_TXN_HAS_END;
		assert_int_equal(kr_history_add(h, txn, NULL, NULL), KR_OK);
	}
	assert_false(kr_history_precedes(h, (kr_txn){0}, (kr_txn){1})); /* begins at the very time */
	assert_true(kr_history_precedes(h, (kr_txn){0}, (kr_txn){2}));
	assert_false(kr_history_precedes(h, (kr_txn){0}, (kr_txn){3})); /* no begin */
	assert_false(kr_history_precedes(h, (kr_txn){2}, (kr_txn){0}));
	h->clock_skew = 1;
	assert_false(kr_history_precedes(h, (kr_txn){0}, (kr_txn){2}));
	assert_false(kr_history_precedes(h, (kr_txn){1}, (kr_txn){2})); /* end + skew is beyond 64 bits */
}

static void finds_attributes(void **state)
{
	struct kr_history *h = &((struct fixture *)*state)->h;

	for (uint32_t i = 0; i < 100; i++) {
		push(h, KR_OP_READ, "x", KR_ABSENT);
		if (i % 3 != 0)
			continue;
		h->ops.at[i].flags |= KR_OPF_HAS_ATTR;
		assert_true(kr_vec_push(h->mem, &h->attrs, (struct kr_attr){.op = {i}, .invoked = i}));
	}
	for (uint32_t i = 0; i < 100; i++) {
		const struct kr_attr *attr = kr_history_attr(h, (kr_op){i});
		if (i % 3 != 0)
			assert_null(attr);
		else
			assert_int_equal(attr->invoked, i);
	}
}

static void white_box_is_parallel(void **state)
{
	struct fixture *f = *state;
	struct kr_history *h = &f->h;

	for (uint32_t i = 0; i < 5; i++) {
		struct kr_transaction txn = plain(h, NULL);
		txn.flags = i == 1 || i == 3 ? KR_TXN_HAS_SERIAL : 0;
		assert_int_equal(kr_history_add(h, txn, &(struct kr_white_box){.serial = i}, NULL), KR_OK);
	}
	assert_int_equal(kr_history_finish(h, &f->ctx, NULL), KR_OK);
	assert_int_equal(h->white_box.n, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(h->white_box.at[i].serial, i == 1 || i == 3 ? i : 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static struct CMUnitTest rows[KR_COUNT(session_rows) + KR_COUNT(orders_rows)];
	static char names[KR_COUNT(rows)][80];
	const struct CMUnitTest tests[] = {
		TEST(interns_by_type_and_content), TEST(interns_many), TEST(adds_transactions), TEST(a_clash_leaves_no_kind_behind), TEST(orders_keys),
		TEST(prints_names), TEST(prints_values), TEST(tells_real_time_order), TEST(finds_attributes), TEST(white_box_is_parallel),
	};

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		bool session = i < KR_COUNT(session_rows);
		const void *row = session ? (const void *)&session_rows[i] : (const void *)&orders_rows[i - KR_COUNT(session_rows)];
		snprintf(names[i], sizeof names[i], "%s: %s", session ? "session" : "version orders", *(const char *const *)row);
		rows[i] = (struct CMUnitTest){.name = names[i], .test_func = session ? checks_session_order : checks_version_orders,
			.initial_state = (void *)(uintptr_t)row};
	}
	return cmocka_run_group_tests(tests, NULL, NULL) + cmocka_run_group_tests_name("rows", rows, NULL, NULL);
}
