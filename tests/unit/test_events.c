/* frontend/event, assemble, stream, native_event, native_write_events: event lines become transactions;
 * histories are told as events and put together again; streams forget values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "frontend/generate.h"
#include "frontend/native_write.h"
#include "frontend/stream.h"
#include "same_history.h"

static void read_text(struct kr_ctx *ctx, const char *text, size_t length, struct kr_history *h)
{
	struct kr_err err;

	kr_err_init(&err);
	if (read_trace_text(ctx, text, length, h, &err) != KR_OK)
		fail_msg("line %u: %s\n%s", (unsigned)err.line, err.text, text);
}

static char *text_of(struct kr_ctx *ctx, const struct kr_history *h, bool stream)
{
	struct kr_str out;

	kr_str_init(&out, &ctx->mem);
	assert_int_equal((stream ? kr_native_write_stream_text : kr_native_write_text)(ctx, h, &out, NULL), KR_OK);
	char *copy = strdup(kr_str_text(&out));
	kr_str_done(&out);
	return copy;
}

/* ---- event lines become transactions ---- */

#define HEAD "{\"krait\": 1}\n"

static const struct {
	const char *name, *stream, *transactions;
} assembled[] = {
	{"begin, operations, end",
		"{\"txn\": \"a\", \"s\": 1, \"begin\": [1, 2]}\n{\"txn\": \"a\", \"s\": 1, \"op\": [\"w\", \"x\", 1, {\"t\": [3, 4]}]}\n{\"txn\": \"a\", \"s\": 1, \"op\": [\"r\", \"x\", 1]}\n"
		"{\"txn\": \"a\", \"s\": 1, \"end\": [5, 6]}",
		"{\"id\": \"a\", \"s\": 1, \"begin\": [1, 2], \"end\": [5, 6], \"ops\": [[\"w\", \"x\", 1, {\"t\": [3, 4]}], [\"r\", \"x\", 1]]}\n"},
	{"an end alone", "{\"txn\": 7, \"s\": \"c\", \"end\": 5, \"status\": \"aborted\"}", "{\"id\": 7, \"s\": \"c\", \"end\": 5, \"status\": \"aborted\", \"ops\": []}\n"},
	{"interleaved sessions, in the order of ends",
		"{\"txn\": \"a\", \"s\": 1, \"op\": [\"w\", \"x\", 1]}\n{\"txn\": \"b\", \"s\": 2, \"op\": [\"w\", \"y\", 2]}\n{\"txn\": \"a\", \"s\": 1, \"op\": [\"w\", \"x\", 3]}\n"
		"{\"txn\": \"b\", \"s\": 2, \"end\": 5}\n{\"txn\": \"a\", \"s\": 1, \"end\": 6}",
		"{\"id\": \"b\", \"s\": 2, \"end\": 5, \"ops\": [[\"w\", \"y\", 2]]}\n{\"id\": \"a\", \"s\": 1, \"end\": 6, \"ops\": [[\"w\", \"x\", 1], [\"w\", \"x\", 3]]}\n"},
	{"transaction lines between events",
		"{\"txn\": \"a\", \"s\": 1, \"op\": [\"w\", \"x\", 1]}\n{\"id\": \"b\", \"s\": 2, \"ops\": [[\"w\", \"y\", 2]]}\n{\"ops\": []}\n{\"txn\": \"a\", \"s\": 1, \"end\": 6}",
		"{\"id\": \"b\", \"s\": 2, \"ops\": [[\"w\", \"y\", 2]]}\n{\"ops\": []}\n{\"id\": \"a\", \"s\": 1, \"end\": 6, \"ops\": [[\"w\", \"x\", 1]]}\n"},
	{"autocommit",
		"{\"txn\": \"a\", \"s\": 1, \"auto\": true, \"op\": [\"w\", \"x\", 1, {\"row\": \"old\", \"t\": [3, 4]}]}\n"
		"{\"txn\": \"b\", \"s\": 1, \"auto\": true, \"op\": [\"r\", \"x\", 1]}\n{\"txn\": \"c\", \"s\": 1, \"auto\": true, \"op\": [\"failed\", [\"w\", \"x\", 2], {\"t\": [5, null]}], \"status\": \"aborted\"}\n"
		"{\"txn\": \"d\", \"s\": 1, \"auto\": true, \"op\": [\"w\", \"x\", {\"t\": [1, 2]}], \"status\": \"unknown\"}",
		"{\"id\": \"a\", \"s\": 1, \"auto\": true, \"ops\": [[\"w\", \"x\", 1, {\"t\": [3, 4], \"row\": \"old\"}]]}\n"
		"{\"id\": \"b\", \"s\": 1, \"auto\": true, \"ops\": [[\"r\", \"x\", 1]]}\n{\"id\": \"c\", \"s\": 1, \"auto\": true, \"status\": \"aborted\", \"ops\": [[\"failed\", [\"w\", \"x\", 2], {\"t\": [5, null]}]]}\n"
		"{\"id\": \"d\", \"s\": 1, \"auto\": true, \"status\": \"unknown\", \"ops\": [[\"w\", \"x\", {\"t\":[1,2]}]]}\n"},
	{"failed, undone, not answered",
		"{\"txn\": \"a\", \"s\": 1, \"op\": [\"w\", \"x\", 1]}\n{\"txn\": \"a\", \"s\": 1, \"op\": [\"failed\", [\"inc\", \"n\", 1, 5], {\"ends\": true}]}\n{\"txn\": \"a\", \"s\": 1, \"op\": [\"undo\", 2, {\"t\": [1, 2]}]}\n"
		"{\"txn\": \"a\", \"s\": 1, \"op\": [\"w\", \"y\", 1]}\n{\"txn\": \"a\", \"s\": 1, \"end\": [5, 6]}\n{\"txn\": \"b\", \"s\": 1, \"op\": [\"w\", \"y\", 2, {\"t\": [7, null]}]}\n"
		"{\"txn\": \"b\", \"s\": 1, \"end\": [8, null], \"status\": \"unknown\"}\n{\"txn\": \"c\", \"s\": 2, \"end\": [8, 9], \"failed\": true, \"status\": \"aborted\"}",
		"{\"id\": \"a\", \"s\": 1, \"end\": [5, 6], \"ops\": [[\"w\", \"x\", 1], [\"failed\", [\"inc\", \"n\", 1, 5]], [\"undo\", 2, {\"t\": [1, 2]}], [\"w\", \"y\", 1]]}\n"
		"{\"id\": \"b\", \"s\": 1, \"end\": [8, null], \"status\": \"unknown\", \"ops\": [[\"w\", \"y\", 2, {\"t\": [7, null]}]]}\n"
		"{\"id\": \"c\", \"s\": 2, \"end\": [8, 9], \"failed\": true, \"status\": \"aborted\", \"ops\": []}\n"},
	{"white box",
		"{\"txn\": \"a\", \"s\": 1, \"begin\": [1, 2], \"snapshot_t\": [1, 2], \"snapshot\": 77}\n{\"txn\": \"a\", \"s\": 1, \"end\": [5, 6], \"serial\": 3, \"commit_ts\": 88}",
		"{\"id\": \"a\", \"s\": 1, \"begin\": [1, 2], \"snapshot_t\": [1, 2], \"end\": [5, 6], \"serial\": 3, \"snapshot\": 77, \"commit_ts\": 88, \"ops\": []}\n"},
	{"open at the end, in the order of their begins",
		"{\"txn\": \"a\", \"s\": 1, \"begin\": [1, 2]}\n{\"txn\": \"b\", \"s\": 2, \"op\": [\"w\", \"x\", 1]}\n{\"txn\": \"c\", \"s\": 3, \"end\": 4}\n{\"s\": 3, \"now\": 9}\n{\"s\": 2, \"now\": null}",
		"{\"id\": \"c\", \"s\": 3, \"end\": 4, \"ops\": []}\n{\"id\": \"a\", \"s\": 1, \"begin\": [1, 2], \"status\": \"unknown\", \"ops\": []}\n"
		"{\"id\": \"b\", \"s\": 2, \"status\": \"unknown\", \"ops\": [[\"w\", \"x\", 1]]}\n"},
	{"version orders, before their writers, too",
		"{\"version_order\": \"x\", \"writers\": [\"a\", \"b\"]}\n{\"txn\": \"a\", \"s\": 1, \"op\": [\"w\", \"x\", 1]}\n{\"txn\": \"a\", \"s\": 1, \"end\": 4}\n{\"id\": \"b\", \"ops\": [[\"w\", \"x\", 2]]}",
		"{\"id\": \"a\", \"s\": 1, \"end\": 4, \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"w\", \"x\", 2]]}\n{\"version_order\": \"x\", \"writers\": [\"a\", \"b\"]}\n"},
	{"a note called txn on a transaction line", "{\"id\": \"a\", \"txn\": 5, \"ops\": []}", "{\"id\": \"a\", \"ops\": []}\n"},
};

static void event_lines_become_transactions(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(assembled); i++) {
		char stream[2048];
		struct kr_history h, again;
		struct kr_ctx ctx;

		kr_ctx_init(&ctx, 0, 0);
		snprintf(stream, sizeof stream, HEAD "%s\n", assembled[i].stream);
		read_text(&ctx, stream, strlen(stream), &h);
		char *text = text_of(&ctx, &h, false);
		const char *lines = strchr(text, '\n') + 1;
		if (strcmp(lines, assembled[i].transactions) != 0)
			fail_msg("%s: found\n%s, expected\n%s", assembled[i].name, lines, assembled[i].transactions);
		read_text(&ctx, text, strlen(text), &again);
		assert_null(same_history(&h, &again));
		kr_history_done(&again);
		kr_history_done(&h);
		free(text);
		assert_int_equal(ctx.mem.used, 0);
	}
}

/* ---- what counts ---- */

static const struct {
	const char *ops;   /* of one transaction; */
	const char *count; /* the values written that count, in order, */
	const char *walk;  /* and all entries: a value, f(ailed) or u(ndo), with a - where it was undone */
} undone[] = {
	{"[\"w\", \"x\", 1], [\"w\", \"x\", 2]", "1 2 ", "1 2 "},
	{"[\"w\", \"x\", 1], [\"w\", \"x\", 2], [\"undo\", 1]", "1 ", "1 2- u "},
	{"[\"w\", \"x\", 1], [\"w\", \"x\", 2], [\"undo\", 2], [\"w\", \"x\", 3]", "3 ", "1- 2- u 3 "},
	{"[\"w\", \"x\", 1], [\"undo\", 0], [\"w\", \"x\", 3]", "1 3 ", "1 u 3 "},
	{"[\"w\", \"x\", 1], [\"failed\", [\"w\", \"x\", 2]], [\"w\", \"x\", 3], [\"undo\", 2]", "1 ", "1 f- 3- u "},
	{"[\"w\", \"x\", 1], [\"failed\", [\"w\", \"x\", 2]], [\"w\", \"x\", 3], [\"undo\", 1]", "1 ", "1 f 3- u "},
	{"[\"w\", \"x\", 1], [\"w\", \"x\", 2], [\"undo\", 1], [\"w\", \"x\", 4], [\"undo\", 3], [\"w\", \"x\", 5]", "1 5 ", "1 2- u- 4- u 5 "},
	{"[\"w\", \"x\", 1], [\"w\", \"x\", 2], [\"undo\", 1], [\"w\", \"x\", 4], [\"undo\", 4], [\"w\", \"x\", 5]", "5 ", "1- 2- u- 4- u 5 "},
	{"[\"failed\", [\"w\", \"x\", 1]], [\"failed\", [\"w\", \"x\", 2]], [\"undo\", 1]", "", "f f- u "},
};

static void put_value(const struct kr_history *h, const struct kr_operation *op, char *out) { sprintf(out + strlen(out), "%d", (int)kr_history_value(h, op->a)->integer); }

static void what_is_undone_does_not_count(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(undone); i++) {
		char text[1024], count[64] = "", walked[64] = "";
		struct kr_history h;
		struct kr_ctx ctx;

		kr_ctx_init(&ctx, 0, 0);
		snprintf(text, sizeof text, "{\"ops\": [[\"w\", \"y\", 0]]}\n{\"status\": \"aborted\", \"ops\": [%s]}\n{\"ops\": [[\"failed\", [\"w\", \"y\", 0], {\"ends\": false}], [\"w\", \"y\", 0]]}", undone[i].ops);
		read_text(&ctx, text, strlen(text), &h);
		assert_int_equal(h.txns.n, 3);
		for (uint32_t o = 0; o < h.txns.at[1].op_count; o++) {
			put_value(&h, &h.ops.at[h.txns.at[1].op_first + o], count);
			strcat(count, " ");
		}
		uint32_t place = 0;
		for (struct kr_walk w = kr_walk_txn(&h, (kr_txn){1}); kr_walk_next(&h, &w);) {
			assert_int_equal(w.place, place++);
			if (!w.op)
				strcat(walked, "u");
			else if (w.attr && w.attr->failed)
				strcat(walked, "f");
			else
				put_value(&h, w.op, walked);
			strcat(walked, w.attr && w.attr->undone ? "- " : " ");
		}
		assert_string_equal(count, undone[i].count);
		assert_string_equal(walked, undone[i].walk);
		assert_int_equal(h.txns.at[2].op_count, 1);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
}

/* ---- rows ---- */

static void a_row_ends_before_the_last_separator(void **state)
{
	static const struct { const char *separator, *name; size_t row; } rows[] = {
		{".", "acc/7.balance", 5}, {".", "acc/7.5.balance", 7}, {".", "acc", 3}, {".", ".a", 0}, {".", "a.", 1}, {".", "", 0},
		{"::", "a::b:c", 1}, {"::", "a:b", 3}, {"::", "a:::b", 2}, {NULL, "a.b", 3}};
	struct kr_history h = {0};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		h.row_separator = rows[i].separator;
		assert_int_equal(kr_history_row_length(&h, rows[i].name, strlen(rows[i].name)), rows[i].row);
	}
}

/* ---- told and put together again ---- */

static void told_and_put_together(struct kr_ctx *ctx, const struct kr_history *h)
{
	struct kr_history copy = *h; /* which shares what it holds, but for what the assembly makes */
	struct kr_err err;

	kr_err_init(&err);
	memset(&copy.txns, 0, sizeof copy.txns);
	memset(&copy.ops, 0, sizeof copy.ops);
	memset(&copy.attrs, 0, sizeof copy.attrs);
	memset(&copy.struck, 0, sizeof copy.struck);
	memset(&copy.white_box, 0, sizeof copy.white_box);
	memset(&copy.version_orders, 0, sizeof copy.version_orders);
	memset(&copy.order_writers, 0, sizeof copy.order_writers);
	memset(&copy.named, 0, sizeof copy.named);
	for (uint32_t s = 0; s < h->sessions.n; s++)
		copy.session_ends.at[s] = (kr_txn){KR_NONE};
	copy.position = 0;
	const struct kr_sink sink = {&copy, kr_history_take};
	if (kr_event_tell(ctx, h, &sink, &err) || kr_assembly_finish(&copy, &err))
		fail_msg("%s", err.text);
	while (copy.white_box.n > 0 && copy.white_box.n < copy.txns.n)
		assert_true(kr_vec_push(copy.mem, &copy.white_box, (struct kr_white_box){0}));
	const char *differs = same_history(h, &copy);
	if (differs)
		fail_msg("%s differs", differs);
	kr_vec_done(copy.mem, &copy.txns);
	kr_vec_done(copy.mem, &copy.ops);
	kr_vec_done(copy.mem, &copy.attrs);
	kr_vec_done(copy.mem, &copy.struck);
	kr_vec_done(copy.mem, &copy.white_box);
	kr_vec_done(copy.mem, &copy.version_orders);
	kr_vec_done(copy.mem, &copy.order_writers);
	kr_vec_done(copy.mem, &copy.named);
}

static int compare_texts(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Sorts the lines behind the header. */
static void sort_lines(char *text)
{
	char *copy = strdup(text), *lines[20000];
	size_t n = 0;

	for (char *at = strtok(strchr(copy, '\n') + 1, "\n"); at; at = strtok(NULL, "\n"))
		lines[n++] = at;
	qsort(lines, n, sizeof *lines, compare_texts);
	char *out = strchr(text, '\n') + 1;
	for (size_t i = 0; i < n; i++)
		out += sprintf(out, "%s\n", lines[i]);
	free(copy);
}

/* A history, as a stream, and read again, has the same transactions. */
static void streamed_and_read(struct kr_ctx *ctx, const struct kr_history *h)
{
	struct kr_history again;
	char *stream = text_of(ctx, h, true), *before, *after;

	read_text(ctx, stream, strlen(stream), &again);
	/* ids are told in streams; a history that has them compares line by line */
	before = text_of(ctx, h, false);
	after = text_of(ctx, &again, false);
	sort_lines(before);
	sort_lines(after);
	assert_int_equal(h->ops.n, again.ops.n);
	assert_int_equal(h->struck.n, again.struck.n);
	if (!strstr(before, "{\"s\"") && !strstr(before, "{\"ops\""))
		assert_string_equal(strchr(before, '\n'), strchr(after, '\n'));
	kr_history_done(&again);
	free(stream);
	free(before);
	free(after);
}

static void histories_are_told_and_put_together(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 24; seed++) {
		struct kr_generate_options o;
		struct kr_history h;
		struct kr_ctx ctx;

		kr_ctx_init(&ctx, 0, 0);
		kr_generate_defaults(&o);
		o.seed = seed;
		o.txns = 120;
		o.sessions = 1 + seed % 5;
		o.keys = 12;
		o.aborted = o.unknown = 10;
		o.ranges = o.updates = seed % 3 == 0 ? 10 : 0;
		o.op_times = seed % 2;
		o.serial = seed % 4 == 0;
		o.store = (enum kr_store)(seed % 3);
		assert_int_equal(kr_generate(&ctx, &o, &h, NULL), KR_OK);
		told_and_put_together(&ctx, &h);
		streamed_and_read(&ctx, &h);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
	for (size_t i = 0; i < KR_COUNT(assembled); i++) {
		char text[2048];
		struct kr_history h;
		struct kr_ctx ctx;

		kr_ctx_init(&ctx, 0, 0);
		snprintf(text, sizeof text, HEAD "%s", assembled[i].transactions);
		read_text(&ctx, text, strlen(text), &h);
		told_and_put_together(&ctx, &h);
		streamed_and_read(&ctx, &h);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
}

/* ---- streams ---- */

struct log {
	struct kr_stream *stream;
	char text[4096];
	uint32_t events;
};

static enum kr_status note(void *data, const struct kr_event *e, struct kr_err *err)
{
	static const char *const kinds[] = {"begin", "op", "end", "now", "order"};
	struct log *l = data;
	const struct kr_history *h = kr_stream_history(l->stream);
	char *out = l->text + strlen(l->text), name[80];
	size_t left = sizeof l->text - strlen(l->text);

	(void)err;
	l->events++;
	if (left < 200)
		return KR_OK;
	out += sprintf(out, "%s", e->entry.is_undo ? "undo" : kinds[e->kind]);
	if (e->txn.i != KR_NONE)
		out += sprintf(out, " %s", kr_history_brief(h, e->txn, name, sizeof name));
	if (e->session.i != KR_NONE)
		out += sprintf(out, "/%s", kr_history_brief(h, h->sessions.at[e->session.i], name, sizeof name));
	if (e->kind == KR_EVENT_ENTRY && e->entry.is_undo)
		out += sprintf(out, " %u", e->entry.undo);
	else if (e->kind == KR_EVENT_ENTRY)
		out += sprintf(out, " %s%s", e->entry.attr.failed ? "failed " : "", kr_op_name((enum kr_op_kind)e->entry.op.kind));
	if (e->timed && e->open)
		out += sprintf(out, " %lld-", (long long)e->invoked);
	else if (e->timed)
		out += sprintf(out, " %lld-%lld", (long long)e->invoked, (long long)e->returned);
	else if (e->kind == KR_EVENT_ENTRY && e->invoked != INT64_MIN)
		out += sprintf(out, " (%lld-%lld)", (long long)e->invoked, e->returned == KR_TIME_OPEN ? -1LL : (long long)e->returned);
	if (e->kind == KR_EVENT_END)
		out += sprintf(out, " %s", e->status == KR_COMMITTED ? "committed" : e->status == KR_ABORTED ? "aborted" : "unknown");
	if (e->flags & KR_TXN_AUTO)
		out += sprintf(out, " auto");
	sprintf(out, "\n");
	return KR_OK;
}

static const struct {
	const char *line, *events;
} told[] = {
	{"{\"krait\": 1, \"stream\": true, \"sessions\": [\"c1\", \"c2\"], \"initial\": {\"8\": 80, \"9\": 90, \"x\": 0}}", ""},
	{"", ""},
	{"{\"txn\": \"t7\", \"s\": \"c1\", \"op\": [\"r\", \"x\", 0, {\"t\": [100, 120]}]}", "begin t7/c1\nop t7/c1 r 100-120\n"},
	{"{\"txn\": \"t7\", \"s\": \"c1\", \"op\": [\"failed\", [\"w\", 8, 0], {\"t\": [121, null], \"ends\": false}]}", "op t7/c1 failed w 121-\n"},
	{"{\"txn\": \"t7\", \"s\": \"c1\", \"op\": [\"undo\", 2, {\"t\": [122, 123]}]}", "undo t7/c1 2 122-123\n"},
	{"{\"txn\": \"t8\", \"s\": \"c2\", \"auto\": true, \"op\": [\"w\", \"x\", 1, {\"row\": \"old\", \"t\": [118, 131]}]}",
		"begin t8/c2 118-131 auto\nop t8/c2 w 118-131 auto\nend t8/c2 118-131 committed auto\n"},
	{"{\"s\": \"c2\", \"now\": 150}", "now/c2 150-150\n"},
	{"{\"txn\": \"t7\", \"s\": \"c1\", \"end\": [130, 145], \"status\": \"committed\"}", "end t7/c1 130-145 committed\n"},
	{"{\"s\": \"c2\", \"now\": null}", "now/c2 9223372036854775807-\n"},
	{"{\"id\": \"w\", \"s\": \"c3\", \"begin\": [200, 201], \"end\": [230, null], \"status\": \"unknown\", \"ops\": [[\"r\", \"9\", 90], [\"w\", \"x\", 2, {\"t\": [205, 207]}], [\"undo\", 1], [\"r\", \"x\", 1]]}",
		"begin w/c3 200-201\nop w/c3 r (200-207)\nop w/c3 w 205-207\nundo w/c3 1 (205--1)\nop w/c3 r (205--1)\nend w/c3 230- unknown\n"},
	{"{\"ops\": [[\"w\", \"y\", 1]], \"snapshot\": 5, \"commit_ts\": 6}", "begin #2\nop #2 w\nend #2 committed\n"},
	{"{\"version_order\": \"x\", \"writers\": [\"t8\", \"w\"]}", "order\n"},
};

static void a_stream_tells_events(void **state)
{
	struct log log = {.events = 0};
	const struct kr_sink sink = {&log, note};
	struct kr_ctx ctx;
	struct kr_err err;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_stream_new(&ctx, "-", &sink, &log.stream), KR_OK);
	for (uint32_t i = 0; i < KR_COUNT(told); i++) {
		log.text[0] = '\0';
		if (kr_stream_line(log.stream, told[i].line, strlen(told[i].line), i + 1, &err) != KR_OK)
			fail_msg("%s", err.text);
		assert_string_equal(log.text, told[i].events);
	}
	/* a name of digits in "initial" is that of the key that came: 8 as a number, 9 as a string */
	struct kr_history *h = kr_stream_history(log.stream);
	assert_int_equal(kr_history_value(h, h->keys.at[kr_history_find_key(h, kr_history_int(h, 8)).i].initial)->integer, 80);
	assert_int_equal(kr_history_value(h, h->keys.at[kr_history_find_key(h, kr_history_text(h, KR_VALUE_STRING, "9", 1)).i].initial)->integer, 90);
	assert_int_equal(kr_stream_line(log.stream, "{\"txns\": []}", 12, 90, &err), KR_BAD);
	assert_int_equal(err.line, 90);
	assert_string_equal(err.text, "found a document (\"txns\"), expected a stream: one object per line");
	kr_stream_free(log.stream);
	assert_int_equal(ctx.mem.used, 0);
}

/* ---- forgetting ---- */

struct keeper {
	struct kr_stream *stream;
	kr_value kept[8];
	uint32_t n;
};

static enum kr_status keep_some(void *data, const struct kr_event *e, struct kr_err *err)
{
	struct keeper *k = data;

	(void)err;
	if (e->kind != KR_EVENT_ENTRY || e->entry.is_undo)
		return KR_OK;
	kr_stream_keep(k->stream, e->entry.op.a);
	if (k->n >= 8)
		kr_stream_release(k->stream, k->kept[k->n % 8]);
	k->kept[k->n++ % 8] = e->entry.op.a;
	return KR_OK;
}

static void a_stream_forgets_what_nobody_keeps(void **state)
{
	struct keeper keeper = {.n = 0};
	const struct kr_sink sink = {&keeper, keep_some};
	size_t used = 0;
	struct kr_ctx ctx;
	struct kr_err err;
	char line[256];

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_stream_new(&ctx, "-", &sink, &keeper.stream), KR_OK);
	const struct kr_history *h = kr_stream_history(keeper.stream);
	for (uint32_t i = 1; i <= 20000; i++) {
		int length = snprintf(line, sizeof line, i % 3 ? "{\"txn\": \"transaction-%u\", \"s\": \"c%u\", \"auto\": true, \"op\": [\"w\", \"key%u\", \"value %u\"]}" :
			"{\"txn\": \"transaction-%u\", \"s\": \"c%u\", \"auto\": true, \"op\": [\"w\", \"key%u\", [%u, {\"a\": 1}]]}", i, i % 4, i % 10, i / 2);
		assert_int_equal(kr_stream_line(keeper.stream, line, (size_t)length, i, &err), KR_OK);
		/* the last eight are still there, as they were */
		for (uint32_t k = i < 8 ? 0 : i - 8; k < i; k++) {
			char expected[64];
			const struct kr_value_entry *value = kr_history_value(h, keeper.kept[k % 8]);
			snprintf(expected, sizeof expected, (k + 1) % 3 ? "value %u" : "[%u,{\"a\":1}]", (k + 1) / 2);
			assert_string_equal(value->text, expected);
		}
		if (i == 200)
			used = ctx.mem.used;
	}
	assert_true(ctx.mem.used < used + 100); /* texts may be longer by some bytes */
	assert_true(h->values.n < 64);
	assert_int_equal(h->keys.n, 10);
	kr_stream_free(keeper.stream);
	assert_int_equal(ctx.mem.used, 0);
}

static void tables_remove(void **state)
{
	struct kr_rng rng;
	struct kr_mem mem;
	struct kr_table table = {0};
	bool in[512] = {false};

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_rng_init(&rng, 7);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t id = (uint32_t)kr_rng_below(&rng, 512), found;
		uint64_t hash = (uint64_t)(id * 2654435761u % 97) << 33; /* many collide */

		assert_true(kr_table_reserve(&mem, &table));
		if (in[id])
			kr_table_remove(&table, hash, id);
		else
			kr_table_insert(&table, hash, id);
		in[id] = !in[id];
		for (uint32_t other = i % 16; other < 512; other += 16) {
			kr_table_iter it = kr_table_find(&table, (uint64_t)(other * 2654435761u % 97) << 33);
			while ((found = kr_table_next(&table, &it)) != KR_NONE && found != other)
				;
			assert_int_equal(found == other, in[other]);
		}
	}
	kr_table_done(&mem, &table);
	assert_int_equal(mem.used, 0);
}

static void failing_allocations_end_well(void **state)
{
	bool more = true;

	(void)state;
	for (uint64_t fail_at = 1; more; fail_at++) {
		struct log log = {.events = 0};
		const struct kr_sink sink = {&log, note};
		struct kr_ctx ctx;
		struct kr_err err;

		kr_ctx_init(&ctx, 0, 0);
		kr_err_init(&err);
		ctx.mem.fail_at = fail_at;
		enum kr_status status = kr_stream_new(&ctx, "-", &sink, &log.stream);
		for (uint32_t i = 0; i < KR_COUNT(told) && status == KR_OK; i++)
			status = kr_stream_line(log.stream, told[i].line, strlen(told[i].line), i + 1, &err);
		assert_true(status == KR_OK || status == KR_NOMEM);
		more = status == KR_NOMEM;
		kr_stream_free(log.stream);
		assert_int_equal(ctx.mem.used, 0);
		assert_true(fail_at < 2000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_lines_become_transactions),
		cmocka_unit_test(what_is_undone_does_not_count),
		cmocka_unit_test(a_row_ends_before_the_last_separator),
		cmocka_unit_test(histories_are_told_and_put_together),
		cmocka_unit_test(a_stream_tells_events),
		cmocka_unit_test(a_stream_forgets_what_nobody_keeps),
		cmocka_unit_test(tables_remove),
		cmocka_unit_test(failing_allocations_end_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
