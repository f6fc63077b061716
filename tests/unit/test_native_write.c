/* frontend/native_write: what is written reads back as an equal history, for every operation and attribute of the format; and its exact text where
 * the format leaves no choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/generate.h"
#include "frontend/native_write.h"
#include "same_history.h"

static void read_text(struct kr_ctx *ctx, const char *text, size_t length, struct kr_history *h)
{
	struct kr_err err;

	kr_err_init(&err);
	if (read_trace_text(ctx, text, length, h, &err) != KR_OK)
		fail_msg("line %u: %s\n%s", (unsigned)err.line, err.text, text);
}

static void round_trip(struct kr_ctx *ctx, const struct kr_history *h)
{
	struct kr_history again;
	struct kr_str out;

	kr_str_init(&out, &ctx->mem);
	assert_int_equal(kr_native_write_text(ctx, h, &out, NULL), KR_OK);
	read_text(ctx, kr_str_text(&out), out.n, &again);
	const char *differs = same_history(h, &again);
	if (differs)
		fail_msg("%s differs:\n%s", differs, kr_str_text(&out));
	kr_history_done(&again);
	kr_str_done(&out);
}

static const char *const traces[] = {
	/* every operation, with and without what may be left out */
	"{\"ops\": [[\"r\", \"x\", 1], [\"r\", \"x\", null], [\"r\", \"x\"], [\"w\", \"x\", 2], [\"d\", \"x\"], [\"d\", \"x\", true], [\"d\", \"x\", false],"
	" [\"insert\", \"x\", 3, true], [\"insert\", \"x\", 3, false], [\"cas\", \"x\", 1, 2, true], [\"cas\", \"x\", null, 2, false]]}",
	"{\"ops\": [[\"inc\", \"c\", 1], [\"inc\", \"c\", -5, 7], [\"append\", \"l\", 1], [\"append\", \"l\", [2]], [\"add\", \"s\", \"e\"], [\"r\", \"l\", [1, [2]]]]}",
	"{\"ops\": [[\"range\", \"a\", \"m\", []], [\"range\", null, null, [[\"x\", 1], [\"y\", {\"b\": 1, \"a\": 2}]]],"
	" [\"range\", \"a\", null, [[\"x\", 1]], {\"limit\": 1}], [\"range\", 1, 2, [], {\"reverse\": true}],"
	" [\"range\", 1, 2, [], {\"limit\": 3, \"reverse\": true}, {\"t\": [1, 2]}], [\"range\", 1, 2, [], {\"t\": [1, 2]}]]}",
	"{\"ops\": [[\"scan\", {}, []], [\"scan\", {\"key_prefix\": \"user/\"}, [[\"user/1\", 5]]],"
	" [\"scan\", {\"value\": {\"ge\": 0, \"le\": 10, \"eq\": 5, \"ne\": 6, \"in\": [5, 7], \"lt\": 11, \"gt\": -1}}, []],"
	" [\"scan\", {\"key_prefix\": \"u\", \"value\": {\"ne\": 1}, \"field\": {\"c1\": {\"ge\": 0}, \"c2\": {\"eq\": \"z\", \"ne\": \"y\"}}}, []],"
	" [\"update\", {\"field\": {\"c1\": {\"ge\": 0}}}, {\"set\": {\"c1\": 1}}, [[\"r\", {\"c1\": 1}]]]]}",
	/* attributes, also where they could be taken for a value and the other way round */
	"{\"ops\": [[\"w\", \"x\", 2, {\"t\": [5, 9]}], [\"r\", \"x\", {\"t\": [1, 2]}], [\"r\", \"x\", {\"t\": [1, 2]}, {}], [\"r\", \"x\", {\"cursor\": true}],"
	" [\"r\", \"x\", {\"cursor\": false}, {\"cursor\": false}], [\"r\", \"x\", {\"a\": 1}], [\"r\", \"x\", {}],"
	" [\"r\", \"x\", 1, {\"lock\": \"shared\"}], [\"r\", \"x\", 1, {\"lock\": \"exclusive\", \"cursor\": false, \"t\": [7, 7]}]]}",
	"{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": 2, \"ops\": [[\"scan\", {}, [[\"x\", 1]], {\"versions\": {\"x\": \"a\", \"y\": null, \"17\": 2}}], [\"r\", 17, null]]}",
	/* transactions */
	"{\"id\": \"t7\", \"s\": \"client-3\", \"begin\": [1000, 1010], \"end\": [1300, 1320], \"status\": \"committed\", \"ops\": []}\n"
	"{\"id\": -5, \"s\": 3, \"begin\": 7, \"end\": 8, \"status\": \"aborted\", \"ops\": []}\n"
	"{\"s\": \"3\", \"begin\": -1, \"status\": \"unknown\", \"ops\": []}\n"
	/* what failed, was undone, was not answered */
	"{\"ops\": [[\"w\", \"x\", 1], [\"failed\", [\"r\", \"x\", {\"a\": 1}]], [\"undo\", 2]], \"status\": \"aborted\"}",
	"{\"ops\": [[\"failed\", [\"r\", \"x\", 5, {\"read\": \"latest\", \"lock\": \"shared\"}], {\"t\": [1, null], \"ends\": false}],"
	" [\"failed\", [\"range\", 1, 2, [], {\"lock\": \"exclusive\"}], {\"ends\": false}], [\"failed\", [\"r\", \"x\", {\"t\": [1, 2]}, {}], {\"t\": [3, 4], \"ends\": false}],"
	" [\"failed\", [\"scan\", {\"key_prefix\": \"a\"}, [[\"a\", 1]], {\"versions\": {\"a\": null}}], {\"ends\": false}], [\"undo\", 0, {\"t\": [5, 6]}],"
	" [\"w\", \"x\", 2, {\"row\": \"old\"}], [\"w\", \"y\", 2, {\"t\": [7, 8], \"row\": \"old\"}], [\"undo\", 1], [\"undo\", 2], [\"r\", \"x\", null, {\"read\": \"snapshot\"}]]}",
	"{\"status\": \"unknown\", \"begin\": [1, null], \"ops\": [[\"r\", \"x\", {\"t\": [5, null]}], [\"r\", \"x\", {\"read\": \"uncommitted\"}]]}",
	"{\"status\": \"unknown\", \"begin\": 1, \"end\": [4, null], \"snapshot_t\": [1, 2], \"serial\": 5, \"ops\": []}\n"
	"{\"status\": \"aborted\", \"end\": [4, null], \"ops\": []}\n{\"status\": \"aborted\", \"end\": [4, 9223372036854775807], \"failed\": true, \"ops\": []}\n"
	"{\"auto\": true, \"ops\": [[\"w\", \"x\", 1, {\"t\": [4, 5]}]]}\n{\"auto\": true, \"ops\": []}\n{\"auto\": true, \"begin\": 3, \"end\": [4, 6], \"ops\": [[\"w\", \"x\", 1, {\"t\": [4, 5]}]]}\n"
	"{\"auto\": true, \"status\": \"unknown\", \"ops\": [[\"w\", \"x\", 1, {\"t\": [4, null]}]]}",
	"{\"krait\": 1, \"row_separator\": \"::\", \"profile\": \"mariadb-rr\"}",
	"{\"end\": 9223372036854775807, \"serial\": -9223372036854775808, \"ops\": []}\n"
	"{\"snapshot\": 5, \"commit_ts\": 6, \"ops\": []}\n",
	"{\"id\": \"#2\", \"ops\": []}\n{\"id\": \"#1\", \"ops\": []}\n{\"id\": \"#03\", \"ops\": []}\n{\"ops\": []}",
	/* headers */
	"",
	"{\"krait\": 1, \"name\": \"bank \\\"\\u00e9\\u0001\", \"initial\": {\"x\": 0, \"y\": {\"a\": [1, null]}, \"7\": 1}, \"clock_skew\": 5, \"time_unit\": \"ns\","
	" \"universe\": [\"z\", 4, 1.5], \"ordered_keys\": \"bytes\"}\n{\"ops\": [[\"r\", \"x\", 0], [\"r\", 7, 1]]}",
	"{\"krait\": 1, \"initial\": \"unknown\", \"ordered_keys\": \"numbers\"}\n{\"ops\": [[\"r\", \"x\", 0]]}",
	"{\"krait\": 1, \"initial\": \"unwritten\"}\n{\"ops\": [[\"r\", \"x\", 0]]}",
	"{\"krait\": 1, \"initial\": {\"5\": 1, \"6\": [2]}, \"kinds\": {\"5\": \"counter\", \"6\": \"set\", \"x\": \"register\", \"y\": \"list\"}, \"universe\": [5]}\n"
	"{\"ops\": [[\"r\", \"x\", [1]], [\"r\", \"y\", [1]], [\"append\", \"y\", 1], [\"r\", \"z\", [1]]]}",
	/* values and keys of every type */
	"{\"ops\": [[\"w\", \"x\", 9223372036854775807], [\"w\", \"x\", -9223372036854775808], [\"w\", \"x\", 1.0], [\"w\", \"x\", 0.1], [\"w\", \"x\", 1e300], [\"w\", \"x\", true],"
	" [\"w\", \"x\", false], [\"w\", \"x\", \"\"], [\"w\", \"x\", \"a\\u0000b\"], [\"w\", \"x\", \"\\ud83d\\ude00\"], [\"w\", \"x\", [1, 2.5, \"q\", null, {}]],"
	" [\"w\", \"x\", {\"z\": 1, \"a\": {\"b\": []}}], [\"w\", \"\", 1], [\"w\", 0, 1], [\"w\", \"0\", 1], [\"w\", -1.5, 1], [\"w\", \"true\", 1]]}",
	/* version orders, ahead of the transactions that they name */
	"{\"version_order\": \"x\", \"writers\": [\"a\", \"b\"]}\n{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"w\", \"x\", 2], [\"w\", 5, 2]]}\n"
	"{\"version_order\": 5, \"writers\": [\"b\"]}\n{\"version_order\": \"x\", \"writers\": []}",
};

static void what_was_read_reads_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(traces); i++) {
		struct kr_ctx ctx;
		struct kr_history h;

		kr_ctx_init(&ctx, 0, 0);
		read_text(&ctx, traces[i], strlen(traces[i]), &h);
		round_trip(&ctx, &h);
		kr_history_done(&h);
		assert_true(ctx.mem.used == 0);
	}
}

static void what_was_generated_reads_back(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 40; seed++) {
		struct kr_generate_options options = {.seed = seed, .txns = 60, .sessions = 1 + seed % 5, .keys = 1 + seed % 7, .ops = seed % 4, .reads = 40,
			.deletes = seed % 3 * 10, .values = seed % 3, .aborted = seed % 2 * 20, .unknown = seed % 4 * 10, .times = seed % 5 != 0, .serial = seed % 2,
			.initial = (enum kr_initial)(seed % 4), .anomaly = kr_generate_anomaly(seed % 16, NULL)};
		struct kr_ctx ctx;
		struct kr_history h;

		if (!options.times && options.anomaly && strcmp(options.anomaly, "stale-read-realtime") == 0)
			continue;
		kr_ctx_init(&ctx, 0, 0);
		assert_int_equal(kr_generate(&ctx, &options, &h, NULL), KR_OK);
		round_trip(&ctx, &h);
		kr_history_done(&h);
		assert_true(ctx.mem.used == 0);
	}
}

static void lines_are_those_of_the_format(void **state)
{
	static const char text[] =
		"{\"krait\": 1, \"name\": \"n\", \"initial\": {\"x\": 0}, \"clock_skew\": 3}\n"
		"{\"id\": \"t7\", \"s\": \"c\", \"begin\": [1, 2], \"end\": 3, \"status\": \"aborted\", \"ops\": [[\"r\", \"x\", 0], [\"w\", \"y\", 2, {\"t\": [1, 2]}]]}\n"
		"{\"ops\": []}\n";
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_str out;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&out, &ctx.mem);
	read_text(&ctx, text, strlen(text), &h);
	assert_int_equal(kr_native_write_text(&ctx, &h, &out, NULL), KR_OK);
	assert_string_equal(kr_str_text(&out), text);
	kr_str_done(&out);
	kr_history_done(&h);
}

struct taken { struct kr_str *text; unsigned calls, fail_at; };

static enum kr_status take(void *data, const char *text, size_t length, struct kr_err *err)
{
	struct taken *taken = data;

	if (++taken->calls == taken->fail_at)
		return kr_err_set(err, KR_BAD, "disk full");
	assert_true(length > 0 && text[length - 1] == '\n');
	kr_str_add_bytes(taken->text, text, length);
	return KR_OK;
}

static void pieces_add_up_and_a_failing_sink_ends_it(void **state)
{
	struct kr_generate_options options = {.txns = 3000, .sessions = 4, .keys = 10, .ops = 4, .reads = 50};
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_str whole, pieces;
	struct kr_err err;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	kr_str_init(&whole, &ctx.mem);
	kr_str_init(&pieces, &ctx.mem);
	assert_int_equal(kr_generate(&ctx, &options, &h, NULL), KR_OK);
	assert_int_equal(kr_native_write_text(&ctx, &h, &whole, NULL), KR_OK);
	struct taken taken = {.text = &pieces};
	assert_int_equal(kr_native_write(&ctx, &h, take, &taken, &err), KR_OK);
	assert_true(taken.calls > 1);
	assert_string_equal(kr_str_text(&whole), kr_str_text(&pieces));
	taken = (struct taken){.text = &pieces, .fail_at = 2};
	assert_int_equal(kr_native_write(&ctx, &h, take, &taken, &err), KR_BAD);
	assert_string_equal(err.text, "disk full");
	assert_int_equal(taken.calls, 2);
	kr_str_done(&whole);
	kr_str_done(&pieces);
	kr_history_done(&h);
	assert_true(ctx.mem.used == 0);
}

/* Foreign formats may hold a conjunction that a JSON object cannot. */
static void what_the_format_cannot_say_is_refused(void **state)
{
	static const char text[] = "{\"ops\": [[\"scan\", {\"value\": {\"ge\": 0, \"le\": 1}}, []]]}";
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_str out;
	struct kr_err err;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	kr_str_init(&out, &ctx.mem);
	read_text(&ctx, text, strlen(text), &h);
	h.conds.at[1].test = h.conds.at[0].test;
	assert_int_equal(kr_native_write_text(&ctx, &h, &out, &err), KR_UNSUPPORTED);
	assert_string_equal(err.text, "a condition that tests the same thing twice cannot be written in the native format");
	kr_str_done(&out);
	kr_history_done(&h);
}

static void every_allocation_may_fail(void **state)
{
	struct kr_ctx ctx;
	struct kr_history h;
	enum kr_status status = KR_NOMEM;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	read_text(&ctx, traces[0], strlen(traces[0]), &h);
	for (uint64_t n = 1; status == KR_NOMEM; n++) {
		size_t used = ctx.mem.used;
		struct kr_str out;

		ctx.mem.count = 0;
		ctx.mem.fail_at = n;
		kr_str_init(&out, &ctx.mem);
		status = kr_native_write_text(&ctx, &h, &out, NULL);
		assert_true(n > 2 || status == KR_NOMEM);
		kr_str_done(&out);
		assert_true(ctx.mem.used == used);
	}
	assert_int_equal(status, KR_OK);
	kr_history_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_read_reads_back),
		cmocka_unit_test(what_was_generated_reads_back),
		cmocka_unit_test(lines_are_those_of_the_format),
		cmocka_unit_test(pieces_add_up_and_a_failing_sink_ends_it),
		cmocka_unit_test(what_the_format_cannot_say_is_refused),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
