/* shrink/: parts of histories as histories of their own, and the shrinking of violated ones, whose outcome is known from how they were made: noise around an anomaly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/format.h"
#include "frontend/native_write.h"
#include "shrink/shrink.h"
#include "tests/unit/same_history.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- parts ---- */

/* A trace with everything that a part has to take along. */
static const char everything[] =
	"{\"krait\": 1, \"name\": \"n\", \"initial\": {\"x\": 1, \"l\": [7, 8], \"u\": true}, \"clock_skew\": 3, \"time_unit\": \"ms\", \"universe\": [\"v\"], "
	"\"ordered_keys\": \"bytes\"}\n"
	"{\"id\": 5, \"s\": \"a\", \"begin\": [1, 2], \"end\": [3, 4], \"serial\": 9, \"ops\": [[\"r\", \"x\", 1, {\"t\": [1, 2], \"cursor\": false, \"lock\": "
	"\"shared\"}], [\"w\", \"x\", 2.5]]}\n"
	"{\"id\": \"b\", \"s\": \"a\", \"begin\": 10, \"end\": 11, \"ops\": [[\"cas\", \"x\", 2.5, \"s\", true], [\"inc\", \"c\", 2, 2], [\"append\", \"l\", "
	"9], [\"add\", \"s\", 1]]}\n"
	"{\"status\": \"unknown\", \"ops\": [[\"d\", \"x\", true], [\"insert\", \"y\", {\"f\": 1}, true]]}\n"
	"{\"status\": \"aborted\", \"ops\": [[\"w\", \"y\", 4]]}\n"
	"{\"id\": \"r\", \"ops\": [[\"r\", \"l\", [7, 8, 9]], [\"r\", \"s\", [1]], [\"range\", \"a\", \"z\", [[\"c\", 2], [\"l\", [7, 8, 9]]], {\"limit\": 2}, "
	"{\"versions\": {\"c\": \"b\"}}], "
	"[\"scan\", {\"field\": {\"f\": {\"ge\": 0}}}, [[\"y\", {\"f\": 1}]]], [\"update\", {\"value\": {\"eq\": \"s\"}}, {\"set\": 3}, [[\"x\", 3]]]]}\n"
	"{\"version_order\": \"x\", \"writers\": [5, \"b\"]}\n";

static void read_text(struct kr_ctx *ctx, const char *text, struct kr_history *h)
{
	struct kr_err err;

	kr_err_init(&err);
	if (read_trace_text(ctx, text, strlen(text), h, &err) != KR_OK)
		fail_msg("%s: %s", err.text, text);
}

static void cut(struct kr_ctx *ctx, const struct kr_part *part, struct kr_cut *out)
{
	struct kr_err err;

	kr_err_init(&err);
	if (kr_cut_make(ctx, part, out, &err) != KR_OK)
		fail_msg("no cut: %s", err.text);
}

static void test_whole(void **state)
{
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_part part;
	struct kr_cut whole;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	read_text(&ctx, everything, &h);
	assert_int_equal(kr_part_init(&part, &ctx.mem, &h, true), KR_OK);
	cut(&ctx, &part, &whole);
	const char *difference = same_history(&h, &whole.history);
	if (difference)
		fail_msg("%s", difference);
	for (uint32_t i = 0; i < h.ops.n; i++)
		assert_int_equal(whole.op_of.at[i].i, i);
	for (uint32_t i = 0; i < h.ops.n; i++)
		assert_int_equal(whole.value_of.at[whole.history.ops.at[i].a.i].i, h.ops.at[i].a.i);
	kr_cut_done(&whole);
	kr_part_done(&part);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

/* What is left when things are taken away, as native text. */
struct taken {
	const char *name, *trace, *txn, *key, *element; /* taken away: the transaction, the key, the element of `key`; NULL: nothing of the kind */
	const char *left;                               /* NULL: that is no trace */
};

#define HEAD "{\"krait\": 1}\n"
static const struct taken takings[] = {
	{"a transaction", HEAD "{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"w\", \"y\", 2]]}\n", "a", NULL, NULL,
		"{\"krait\": 1, \"universe\": [\"x\"]}\n{\"id\": \"b\", \"ops\": [[\"w\", \"y\", 2]]}\n"},
	{"a key, with its rows and its limit",
		HEAD "{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1], [\"range\", null, null, [[\"x\", 1], [\"y\", 2]], {\"limit\": 2}]]}\n", NULL, "x", NULL,
		HEAD "{\"id\": \"a\", \"ops\": [[\"range\", null, null, [[\"y\", 2]], {\"limit\": 1}]]}\n"},
	{"a key, of which the limit was not reached",
		HEAD "{\"id\": \"a\", \"ops\": [[\"range\", null, null, [[\"x\", 1], [\"y\", 2]], {\"limit\": 9, \"reverse\": true}]]}\n", NULL, "y", NULL,
		HEAD "{\"id\": \"a\", \"ops\": [[\"range\", null, null, [[\"x\", 1]], {\"limit\": 8, \"reverse\": true}]]}\n"},
	{"the only key that a range cut off by its limit shows",
		HEAD "{\"id\": \"a\", \"ops\": [[\"range\", null, null, [[\"x\", 1]], {\"limit\": 1}], [\"r\", \"y\", null]]}\n", NULL, "x", NULL, NULL},
	{"an element",
		HEAD "{\"id\": \"a\", \"ops\": [[\"append\", \"x\", 1], [\"append\", \"x\", 2]]}\n{\"id\": \"b\", \"ops\": [[\"r\", \"x\", [1, 2]], [\"r\", "
		     "\"y\", [1]], [\"append\", \"y\", 1]]}\n",
		NULL, "x", "1",
		HEAD "{\"id\": \"a\", \"ops\": [[\"append\", \"x\", 2]]}\n{\"id\": \"b\", \"ops\": [[\"r\", \"x\", [2]], [\"r\", \"y\", [1]], [\"append\", "
		     "\"y\", 1]]}\n"},
	{"a writer of a version order",
		HEAD "{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"w\", \"x\", 2]]}\n{\"id\": \"c\", \"ops\": [[\"w\", \"x\", "
		     "3]]}\n{\"version_order\": \"x\", \"writers\": [\"c\", \"b\", \"a\"]}\n",
		"b", NULL, NULL,
		HEAD "{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"c\", \"ops\": [[\"w\", \"x\", 3]]}\n{\"version_order\": \"x\", \"writers\": "
		     "[\"c\", \"a\"]}\n"},
	{"the writer of a version that was named",
		HEAD "{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"scan\", {\"key_prefix\": \"\"}, [], {\"versions\": {\"x\": "
		     "\"a\", \"y\": null}}], [\"r\", \"x\", 1], [\"r\", \"y\"]]}\n",
		"a", NULL, NULL,
		HEAD "{\"id\": \"b\", \"ops\": [[\"scan\", {\"key_prefix\": \"\"}, [], {\"versions\": {\"y\": null}}], [\"r\", \"x\", 1], [\"r\", \"y\"]]}\n"},
};

static void take_away(struct kr_part *part, struct kr_history *h, const struct taken *c)
{
	if (c->txn)
		kr_bits_clear(part->txns, kr_history_find(h, kr_history_text(h, KR_VALUE_STRING, c->txn, strlen(c->txn))).i);
	if (!c->key)
		return;
	kr_key key = kr_history_find_key(h, kr_history_text(h, KR_VALUE_STRING, c->key, strlen(c->key)));
	if (!c->element) {
		kr_bits_clear(part->keys, key.i);
		return;
	}
	struct kr_element element = {key, kr_history_int(h, atoi(c->element))};
	assert_true(kr_vec_push(part->mem, &part->without, element));
	for (uint32_t i = 0; i < h->ops.n; i++)
		if (h->ops.at[i].key.i == key.i && h->ops.at[i].a.i == element.value.i)
			kr_bits_clear(part->ops, i);
}

static void test_taken(void **state)
{
	const struct taken *c = *state;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_part part;
	struct kr_cut left;
	struct kr_str text;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	read_text(&ctx, c->trace, &h);
	assert_int_equal(kr_part_init(&part, &ctx.mem, &h, true), KR_OK);
	take_away(&part, &h, c);
	enum kr_status status = kr_cut_make(&ctx, &part, &left, &err);
	assert_int_equal(status, c->left ? KR_OK : KR_BAD);
	if (c->left) {
		kr_str_init(&text, &ctx.mem);
		assert_int_equal(kr_native_write_text(&ctx, &left.history, &text, &err), KR_OK);
		assert_string_equal(kr_str_text(&text), c->left);
		kr_str_done(&text);
		kr_cut_done(&left);
	}
	kr_part_done(&part);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

/* ---- shrinking ---- */

struct shrinking {
	const char *name, *level;
	enum kr_order order;
	const char *trace; /* behind the noise */
	const char *left;  /* without the header */
};

/* Transactions in sessions of their own, which write and read keys of their own, and read keys and write a key of the anomaly; one that everybody has read from. */
#define NOISE 40

static const struct shrinking shrinkings[] = {
	{"write skew", "ser", KR_ORDER_NONE,
		"{\"id\": \"p\", \"ops\": [[\"r\", \"x\", null], [\"r\", \"noise\", 7], [\"r\", \"y\", null], [\"w\", \"x\", 1], [\"w\", \"own\", 1]]}\n"
		"{\"id\": \"q\", \"ops\": [[\"r\", \"x\", null], [\"w\", \"y\", 1], [\"r\", \"y\", 1]]}\n",
		"{\"id\": \"p\", \"ops\": [[\"r\", \"y\", null], [\"w\", \"x\", 1]]}\n{\"id\": \"q\", \"ops\": [[\"r\", \"x\", null], [\"w\", \"y\", 1]]}\n"},
	{"aborted read, not a garbage read", "pl-2", KR_ORDER_NONE,
		"{\"id\": \"p\", \"status\": \"aborted\", \"ops\": [[\"w\", \"x\", 1], [\"w\", \"y\", 1]]}\n{\"id\": \"q\", \"ops\": [[\"r\", \"noise\", 7], "
		"[\"r\", \"x\", 1], [\"w\", \"y\", 2]]}\n",
		"{\"id\": \"p\", \"status\": \"aborted\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"q\", \"ops\": [[\"r\", \"x\", 1]]}\n"},
	{"stale read of a session, one of two", "ser", KR_ORDER_SESSION,
		"{\"id\": \"p\", \"s\": 1, \"ops\": [[\"w\", \"x\", 1], [\"r\", \"y\", null]]}\n{\"id\": \"m\", \"s\": 1, \"ops\": [[\"w\", \"y\", "
		"1]]}\n{\"id\": \"q\", \"s\": 1, \"ops\": [[\"r\", \"x\", null], [\"r\", \"y\", 1]]}\n",
		"{\"id\": \"p\", \"s\": 1, \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"q\", \"s\": 1, \"ops\": [[\"r\", \"x\", null]]}\n"},
	{"a phantom: of the range only the rows of the cycle's keys", "ser", KR_ORDER_NONE,
		"{\"id\": \"w\", \"ops\": [[\"w\", \"r1\", 1], [\"w\", \"r2\", 2]]}\n"
		"{\"id\": \"p\", \"ops\": [[\"range\", \"r\", \"s\", [[\"r1\", 1], [\"r2\", 2]]], [\"w\", \"r3\", 3]]}\n"
		"{\"id\": \"q\", \"ops\": [[\"range\", \"r\", \"s\", [[\"r1\", 1], [\"r2\", 2]]], [\"w\", \"r4\", 4]]}\n",
		"{\"id\": \"p\", \"ops\": [[\"range\", \"r\", \"s\", []], [\"w\", \"r3\", 3]]}\n{\"id\": \"q\", \"ops\": [[\"range\", \"r\", \"s\", []], "
		"[\"w\", \"r4\", 4]]}\n"},
	{"a list of which only the last element matters, which tells what was seen", "ser", KR_ORDER_NONE,
		"{\"id\": \"a\", \"ops\": [[\"append\", \"l\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"append\", \"l\", 2]]}\n{\"id\": \"c\", \"ops\": "
		"[[\"append\", \"l\", 3]]}\n"
		"{\"id\": \"p\", \"ops\": [[\"r\", \"l\", [1, 2, 3]], [\"append\", \"l\", 4]]}\n{\"id\": \"q\", \"ops\": [[\"r\", \"l\", [1, 2, 3]], "
		"[\"append\", \"l\", 5]]}\n",
		"{\"id\": \"c\", \"ops\": [[\"append\", \"l\", 3]]}\n{\"id\": \"p\", \"ops\": [[\"r\", \"l\", [3]], [\"append\", \"l\", 4]]}\n{\"id\": \"q\", "
		"\"ops\": [[\"r\", \"l\", [3]], [\"append\", \"l\", 5]]}\n"},
	/* t read x = 1 of a or of b, and missed a's y: without b that would be a cycle of two, but with b it is none. What is there is a ring of three rw. */
	{"no cycle that is there only because a writer is not", "ser", KR_ORDER_NONE,
		"{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1], [\"r\", \"g\", null], [\"w\", \"y\", 1]]}\n"
		"{\"id\": \"b\", \"ops\": [[\"r\", \"h\", null], [\"w\", \"x\", 1], [\"w\", \"g\", 1]]}\n"
		"{\"id\": \"t\", \"ops\": [[\"r\", \"x\", 1], [\"r\", \"y\", null], [\"w\", \"h\", 1]]}\n",
		"{\"id\": \"a\", \"ops\": [[\"r\", \"g\", null], [\"w\", \"y\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"r\", \"h\", null], [\"w\", \"g\", 1]]}\n"
		"{\"id\": \"t\", \"ops\": [[\"r\", \"y\", null], [\"w\", \"h\", 1]]}\n"},
};

static void make_trace(const struct shrinking *c, struct kr_str *out)
{
	kr_str_add(out, "{\"krait\": 1}\n{\"id\": \"first\", \"ops\": [[\"w\", \"noise\", 7], [\"w\", \"n0\", 0]]}\n");
	for (int i = 1; i < NOISE; i++)
		kr_str_format(out, "{\"id\": %d, \"s\": \"n%d\", \"ops\": [[\"r\", \"noise\", 7], [\"r\", \"n%d\", %d], [\"w\", \"n%d\", %d]]}\n", i, i % 3,
			i - 1, i - 1, i, i);
	kr_str_add(out, c->trace);
}

struct asked {
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_verdict verdict;
	struct kr_check_options options;
	struct kr_shrunk shrunk;
};

/* Reads, decides and shrinks. Frees everything but a->ctx when something fails. */
static enum kr_status shrink(struct asked *a, const struct shrinking *c, const struct kr_str *trace)
{
	enum kr_order order;
	struct kr_err err;
	enum kr_status status;

	kr_err_init(&err);
	a->options = (struct kr_check_options){.level = kr_level_find(NULL, c->level, &order), .order = c->order};
	status = read_trace_text(&a->ctx, trace->at, trace->n, &a->h, &err);
	if (status)
		return status;
	status = kr_analyze(&a->ctx, &a->h, &a->analysis, &err);
	if (!status) {
		status = kr_check(&a->ctx, &a->h, &a->analysis, &a->options, &a->verdict, &err);
		if (!status && a->verdict.outcome == KR_VIOLATED &&
			!(status = kr_shrink(&a->ctx, &a->h, &a->analysis, &a->options, &a->verdict, &a->shrunk, &err)))
			return KR_OK;
		if (!status)
			status = KR_TIMEOUT; /* undecided */
		kr_verdict_done(&a->verdict, &a->ctx.mem);
		kr_analysis_done(&a->analysis);
	}
	kr_history_done(&a->h);
	return status;
}

static void asked_done(struct asked *a)
{
	kr_shrunk_done(&a->ctx, &a->shrunk);
	kr_verdict_done(&a->verdict, &a->ctx.mem);
	kr_analysis_done(&a->analysis);
	kr_history_done(&a->h);
}

static void test_shrink(void **state)
{
	const struct shrinking *c = *state;
	struct kr_mem mem;
	struct kr_str trace, text;
	struct asked a = {0};

	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&trace, &mem);
	kr_str_init(&text, &mem);
	make_trace(c, &trace);
	kr_ctx_init(&a.ctx, 0, 0);
	assert_int_equal(shrink(&a, c, &trace), KR_OK);
	assert_true(a.shrunk.minimal);
	assert_int_equal(kr_native_write_text(&a.ctx, &a.shrunk.best->cut.history, &text, NULL), KR_OK);
	const char *behind = strchr(kr_str_text(&text), '\n');
	assert_non_null(behind);
	assert_string_equal(behind + 1, c->left);
	kr_str_done(&text);
	asked_done(&a);
	assert_int_equal(a.ctx.mem.used, 0);
	kr_str_done(&trace);
}

/* Every allocation fails in turn: what is left is the best so far, or nothing, and no memory. */
static void test_no_memory(void **state)
{
	struct kr_mem mem;
	struct kr_str trace;
	uint64_t total = 0, done = 0, cut_short = 0;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&trace, &mem);
	make_trace(&shrinkings[0], &trace);
	for (uint64_t n = 0; n == 0 || n <= total; n += n < 50 ? 1 : 1 + total / 300) {
		struct asked a = {0};
		kr_ctx_init(&a.ctx, 0, 0);
		a.ctx.mem.fail_at = n;
		enum kr_status status = shrink(&a, &shrinkings[0], &trace);
		if (n == 0)
			total = a.ctx.mem.count;
		if (status == KR_OK) {
			done += a.shrunk.minimal;
			cut_short += !a.shrunk.minimal;
			assert_true(n == 0 || !a.shrunk.minimal || a.shrunk.limit == KR_OK);
			if (a.shrunk.best)
				assert_true(a.shrunk.best->verdict.outcome == KR_VIOLATED && a.shrunk.best->cut.history.txns.n >= 2);
			asked_done(&a);
		} else {
			assert_true(status == KR_NOMEM || status == KR_TIMEOUT);
		}
		assert_int_equal(a.ctx.mem.used, 0);
	}
	assert_true(total > 100 && done > 0 && cut_short > 0);
	kr_str_done(&trace);
}

/* A deadline that has passed when shrinking begins. */
static void test_no_time(void **state)
{
	struct kr_mem mem;
	struct kr_str trace;
	struct asked a = {0};
	struct kr_shrunk again;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&trace, &mem);
	make_trace(&shrinkings[0], &trace);
	kr_ctx_init(&a.ctx, 0, 0);
	assert_int_equal(shrink(&a, &shrinkings[0], &trace), KR_OK);
	a.ctx.deadline_ns = kr_now_ns() - 1;
	assert_int_equal(kr_shrink(&a.ctx, &a.h, &a.analysis, &a.options, &a.verdict, &again, NULL), KR_OK);
	assert_false(again.minimal);
	assert_int_equal(again.limit, KR_TIMEOUT);
	kr_shrunk_done(&a.ctx, &again);
	asked_done(&a);
	assert_int_equal(a.ctx.mem.used, 0);
	kr_str_done(&trace);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(takings) + COUNT(shrinkings) + 3];
	size_t n = 0;

	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_whole);
	for (size_t i = 0; i < COUNT(takings); i++)
		tests[n++] = (struct CMUnitTest){takings[i].name, test_taken, NULL, NULL, (void *)&takings[i]};
	for (size_t i = 0; i < COUNT(shrinkings); i++)
		tests[n++] = (struct CMUnitTest){shrinkings[i].name, test_shrink, NULL, NULL, (void *)&shrinkings[i]};
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_no_memory);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_no_time);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
