/* frontend/native: the grammar of the native format, its two forms, lenient reading, limits, failing allocations. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/reading.h"
#include "tests/unit/same_history.h"

static int set_up(void **state)
{
	struct reading *r = calloc(1, sizeof *r);

	assert_non_null(r);
	reading_init(r);
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	reading_done(*state);
	free(*state);
	return 0;
}

/* Every feature of the grammar once at least. */
static const char grammar[] =
	"{\"krait\": 1, \"name\": \"all of it\", \"initial\": {\"x\": 0, \"l\": [], \"8\": 80, \"9\": 90}, \"clock_skew\": 5, \"time_unit\": \"ns\",\n"
	"{\"id\": \"never read: the line above is cut\"}\n";

static const char *const grammar_lines[] = {
	"{\"krait\": 1, \"name\": \"all of it\", \"initial\": {\"x\": 0, \"l\": [7], \"8\": 80, \"9\": 90}, \"clock_skew\": 5, \"time_unit\": \"ns\", "
	"\"universe\": [\"u1\", 2], \"ordered_keys\": \"numbers\", \"note\": {\"any\": [\"thing\"]}}",
	"{\"version_order\": \"x\", \"writers\": [\"t1\", 5]}",
	"{\"id\": \"t1\", \"s\": \"c1\", \"begin\": [1000, 1010], \"end\": [1300, 1320], \"status\": \"committed\", \"serial\": -3, \"ops\": ["
	"[\"r\", \"x\", 0], [\"r\", 8], [\"r\", \"y\", null], [\"w\", \"x\", 1, {\"t\": [1100, 1150]}], [\"d\", \"y\"], [\"d\", \"y\", false], [\"d\", \"y\", true, {}]]}",
	"{\"id\": 5, \"s\": 1, \"begin\": 7, \"status\": \"unknown\", \"snapshot\": 1, \"commit_ts\": 2, \"ops\": ["
	"[\"insert\", \"x\", {\"b\": 1, \"a\": [1.0, -0.0, \"\\u0000\\n\\u00e4\", null, true]}, true], [\"insert\", \"x\", \"s\", false], "
	"[\"cas\", \"x\", null, 2, false], [\"cas\", \"x\", 3, false, true, {\"cursor\": false}], [\"inc\", \"n\", -1], [\"inc\", \"n\", 4, 3], "
	"[\"append\", \"l\", 1], [\"add\", \"set\", \"e\", {\"lock\": \"shared\", \"t\": [-1, -1]}]]}",
	"{\"status\": \"aborted\", \"end\": [3, 4], \"ops\": ["
	"[\"range\", \"a\", null, [[\"x\", 1], [2, true]]], [\"range\", null, 3.5, [], {\"limit\": 2, \"reverse\": true, \"cursor\": true}], "
	"[\"range\", 1, 2, [], {\"limit\": 0}, {\"lock\": \"exclusive\"}], "
	"[\"scan\", {\"key_prefix\": \"u\", \"value\": {\"ge\": 0, \"le\": 10, \"eq\": null, \"ne\": [1], \"in\": [1, 2], \"lt\": \"z\", \"gt\": 0.5}, "
	"\"field\": {\"c1\": {\"ge\": 0}, \"c2\": {}}}, [[\"x\", {\"c1\": 1}]], {\"versions\": {\"x\": \"t1\", \"y\": null, \"9\": 5, \"8\": 5}}], "
	"[\"update\", {}, {\"set\": {\"c1\": 2}}, [[\"x\", {\"c1\": 2}], [\"z\", {\"b\": 1, \"c1\": 2}]]]]}",
};

static void make_lines(char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < KR_COUNT(grammar_lines); i++) {
		assert_true(strlen(out) + strlen(grammar_lines[i]) + 2 < size);
		strcat(out, grammar_lines[i]);
		strcat(out, "\n");
	}
}

/* "r x 0 known" and the like, to compare an operation in one line. */
static const char *show(struct reading *r, uint32_t txn, uint32_t op)
{
	static char out[512];
	const struct kr_operation *o = &r->h.ops.at[kr_history_op(&r->h, (kr_txn){txn}, op).i];

	snprintf(out, sizeof out, "%s %s %s %s%s%s%s", kr_op_name(o->kind), o->key.i == KR_NONE ? "-" : reading_key(r, o->key), reading_value(r, o->a),
		reading_value(r, kr_op_scans(o) ? KR_ABSENT : o->b), o->flags & KR_OPF_KNOWN ? " known" : "", o->flags & KR_OPF_DONE ? " done" : "",
		o->flags & KR_OPF_HAS_ATTR ? " attr" : "");
	return out;
}

static void reads_header_and_transactions(void **state)
{
	struct reading *r = *state;
	char text[8192];
	const struct kr_transaction *t;

	make_lines(text, sizeof text);
	reading_good(r, text);
	t = r->h.txns.at;
	assert_string_equal(r->h.name, "all of it");
	assert_string_equal(r->h.time_unit, "ns");
	assert_string_equal(r->h.format, "native");
	assert_int_equal(r->h.clock_skew, 5);
	assert_int_equal(r->h.initial, KR_INITIAL_GIVEN);
	assert_int_equal(r->h.key_order, KR_KEYS_NUMBERS);
	assert_int_equal(r->h.txns.n, 3);
	assert_int_equal(r->h.skipped, 0);

	assert_string_equal(reading_name(r, t[0].id), "t1");
	assert_string_equal(reading_name(r, r->h.sessions.at[t[0].session.i]), "c1");
	assert_int_equal(t[0].status, KR_COMMITTED);
	assert_int_equal(t[0].flags, KR_TXN_HAS_BEGIN | KR_TXN_HAS_END | KR_TXN_HAS_SERIAL);
	assert_int_equal(t[0].begin_invoked, 1000);
	assert_int_equal(t[0].begin_returned, 1010);
	assert_int_equal(t[0].end_invoked, 1300);
	assert_int_equal(t[0].end_returned, 1320);
	assert_int_equal(t[0].line, 3);
	assert_int_equal(t[0].file, 0);
	assert_int_equal(r->h.white_box.at[0].serial, -3);

	assert_string_equal(reading_name(r, t[1].id), "5");
	assert_int_equal(kr_history_value(&r->h, t[1].id)->type, KR_VALUE_INT);
	assert_string_equal(reading_name(r, r->h.sessions.at[t[1].session.i]), "1");
	assert_int_equal(t[1].status, KR_UNKNOWN);
	assert_int_equal(t[1].flags, KR_TXN_HAS_BEGIN | KR_TXN_HAS_SNAPSHOT | KR_TXN_HAS_COMMIT_TS);
	assert_int_equal(t[1].begin_invoked, 7);
	assert_int_equal(t[1].begin_returned, 7);
	assert_int_equal(r->h.white_box.at[1].snapshot, 1);
	assert_int_equal(r->h.white_box.at[1].commit_ts, 2);

	assert_string_equal(reading_name(r, t[2].id), "#3");
	assert_int_equal(t[2].session.i, KR_NONE);
	assert_int_equal(t[2].status, KR_ABORTED);
	assert_int_equal(t[2].flags, KR_TXN_HAS_END);
	assert_int_equal(r->h.white_box.n, 3);

	assert_int_equal(r->h.version_orders.n, 1);
	assert_int_equal(r->h.version_orders.at[0].writer_count, 2);
	assert_int_equal(r->h.version_orders.at[0].line, 2);
	assert_int_equal(r->h.order_writers.at[0].i, 0);
	assert_int_equal(r->h.order_writers.at[1].i, 1);
}

static kr_key key_named(struct reading *r, kr_value name)
{
	kr_key key = kr_history_find_key(&r->h, name);

	assert_int_not_equal(key.i, KR_NONE);
	return key;
}

static void reads_keys_and_initial_values(void **state)
{
	struct reading *r = *state;
	char text[8192];

	make_lines(text, sizeof text);
	reading_good(r, text);
	kr_key x = key_named(r, kr_history_text(&r->h, KR_VALUE_STRING, "x", 1)), l = key_named(r, kr_history_text(&r->h, KR_VALUE_STRING, "l", 1));
	kr_key eight = key_named(r, kr_history_int(&r->h, 8)), nine = key_named(r, kr_history_text(&r->h, KR_VALUE_STRING, "9", 1));

	assert_string_equal(reading_value(r, r->h.keys.at[x.i].initial), "0");
	assert_string_equal(reading_value(r, r->h.keys.at[l.i].initial), "[7]");
	assert_string_equal(reading_value(r, r->h.keys.at[eight.i].initial), "80"); /* used as a number */
	assert_string_equal(reading_value(r, r->h.keys.at[nine.i].initial), "90");  /* not used: a string */
	assert_int_equal(r->h.keys.at[x.i].kind, KR_KIND_REGISTER);
	assert_int_equal(r->h.keys.at[l.i].kind, KR_KIND_LIST);
	assert_int_equal(r->h.keys.at[eight.i].kind, KR_KIND_ANY);
	key_named(r, kr_history_text(&r->h, KR_VALUE_STRING, "u1", 2));
	key_named(r, kr_history_int(&r->h, 2));
	assert_int_equal(kr_history_find_key(&r->h, kr_history_text(&r->h, KR_VALUE_STRING, "8", 1)).i, KR_NONE);
}

static void reads_operations(void **state)
{
	static const char *const expected[][9] = {
		{"r x 0 null known", "r 8 null null", "r y null null known", "w x 1 null attr", "d y null null", "d y null null known", "d y null null known done", NULL},
		{"insert x {\"a\":[1.0,0.0,\"\\u0000\\n\xc3\xa4\",null,true],\"b\":1} null done", "insert x \"s\" null", "cas x null 2", "cas x 3 false done attr",
			"inc n -1 null", "inc n 4 3 known", "append l 1 null", "add set \"e\" null attr", NULL},
		{"range - null null", "range - null null attr", "range - null null attr", "scan - null null attr", "update - null null", NULL},
	};
	struct reading *r = *state;
	char text[8192];

	make_lines(text, sizeof text);
	reading_good(r, text);
	for (uint32_t t = 0; t < KR_COUNT(expected); t++) {
		uint32_t i = 0;
		for (; expected[t][i]; i++)
			assert_string_equal(show(r, t, i), expected[t][i]);
		assert_int_equal(r->h.txns.at[t].op_count, i);
	}
}

static const struct kr_scan *scan_of(struct reading *r, uint32_t op)
{
	return &r->h.scans.at[r->h.ops.at[kr_history_op(&r->h, (kr_txn){2}, op).i].scan];
}

static void expect_row(struct reading *r, const struct kr_scan *scan, uint32_t row, const char *key, const char *value)
{
	assert_true(row < scan->row_count);
	assert_string_equal(reading_key(r, r->h.rows.at[scan->row_first + row].key), key);
	assert_string_equal(reading_value(r, r->h.rows.at[scan->row_first + row].value), value);
}

static void reads_scans(void **state)
{
	static const struct { enum kr_cond_target target; enum kr_cond_test test; const char *field, *value; } conds[] = {
		{KR_COND_KEY_PREFIX, KR_COND_PREFIX, NULL, "\"u\""}, {KR_COND_VALUE, KR_COND_GE, NULL, "0"}, {KR_COND_VALUE, KR_COND_LE, NULL, "10"},
		{KR_COND_VALUE, KR_COND_EQ, NULL, "null"}, {KR_COND_VALUE, KR_COND_NE, NULL, "[1]"}, {KR_COND_VALUE, KR_COND_IN, NULL, "[1,2]"},
		{KR_COND_VALUE, KR_COND_LT, NULL, "\"z\""}, {KR_COND_VALUE, KR_COND_GT, NULL, "0.5"}, {KR_COND_FIELD, KR_COND_GE, "c1", "0"},
	};
	struct reading *r = *state;
	char text[8192];
	const struct kr_scan *s;

	make_lines(text, sizeof text);
	reading_good(r, text);
	s = scan_of(r, 0);
	assert_string_equal(reading_value(r, s->low), "\"a\"");
	assert_int_equal(s->high.i, KR_ABSENT.i);
	assert_int_equal(s->limit, -1);
	assert_false(s->reverse);
	assert_int_equal(s->row_count, 2);
	expect_row(r, s, 0, "x", "1");
	expect_row(r, s, 1, "2", "true");
	s = scan_of(r, 1);
	assert_int_equal(s->low.i, KR_ABSENT.i);
	assert_string_equal(reading_value(r, s->high), "3.5");
	assert_int_equal(s->limit, 2);
	assert_true(s->reverse);
	assert_int_equal(s->row_count, 0);
	assert_int_equal(scan_of(r, 2)->limit, 0);
	s = scan_of(r, 3);
	assert_int_equal(s->cond_count, KR_COUNT(conds));
	for (uint32_t i = 0; i < KR_COUNT(conds); i++) {
		const struct kr_cond *cond = &r->h.conds.at[s->cond_first + i];
		assert_int_equal(cond->target, conds[i].target);
		assert_int_equal(cond->test, conds[i].test);
		assert_string_equal(reading_value(r, cond->value), conds[i].value);
		if (conds[i].field)
			assert_string_equal(reading_name(r, cond->field), conds[i].field);
	}
	expect_row(r, s, 0, "x", "{\"c1\":1}");
	s = scan_of(r, 4);
	assert_int_equal(s->cond_count, 0);
	assert_string_equal(reading_value(r, s->set), "{\"c1\":2}");
	assert_int_equal(s->row_count, 2);
	expect_row(r, s, 1, "z", "{\"b\":1,\"c1\":2}");
}

static void reads_attributes(void **state)
{
	struct reading *r = *state;
	const struct kr_attr *a;
	char text[8192];

	make_lines(text, sizeof text);
	reading_good(r, text);
	assert_int_equal(r->h.attrs.n, 6);
	a = kr_history_attr(&r->h, kr_history_op(&r->h, (kr_txn){0}, 3));
	assert_true(a->has_time && a->cursor && a->lock == KR_LOCK_NONE && a->invoked == 1100 && a->returned == 1150);
	a = kr_history_attr(&r->h, kr_history_op(&r->h, (kr_txn){1}, 3));
	assert_true(!a->has_time && !a->cursor && a->lock == KR_LOCK_NONE);
	a = kr_history_attr(&r->h, kr_history_op(&r->h, (kr_txn){1}, 7));
	assert_true(a->has_time && a->invoked == -1 && a->lock == KR_LOCK_SHARED && a->cursor);
	a = kr_history_attr(&r->h, kr_history_op(&r->h, (kr_txn){2}, 1)); /* in the range's options */
	assert_true(a->cursor && !a->has_time);
	a = kr_history_attr(&r->h, kr_history_op(&r->h, (kr_txn){2}, 2)); /* behind the range's options */
	assert_true(a->lock == KR_LOCK_EXCLUSIVE);
	a = kr_history_attr(&r->h, kr_history_op(&r->h, (kr_txn){2}, 3));
	assert_int_equal(a->seen_count, 4);
	const struct kr_seen *seen = &r->h.seen.at[a->seen_first];
	assert_string_equal(reading_key(r, seen[0].key), "x");
	assert_string_equal(reading_name(r, seen[0].writer), "t1");
	assert_int_equal(seen[1].writer.i, KR_ABSENT.i);
	assert_string_equal(reading_key(r, seen[2].key), "\"9\""); /* nobody uses 9: the string */
	assert_string_equal(reading_key(r, seen[3].key), "8");     /* the key 8 is used */
	assert_string_equal(reading_name(r, seen[3].writer), "5");
}

static void an_object_behind_a_read_is_its_value_or_attributes(void **state)
{
	static const struct { const char *op, *shown; } rows[] = {
		{"[\"r\", \"x\", {\"a\": 1}]", "r x {\"a\":1} null known"},
		{"[\"r\", \"x\", {}]", "r x {} null known"},
		{"[\"r\", \"x\", {\"lock\": \"shared\"}]", "r x null null attr"},
		{"[\"r\", \"x\", {\"t\": [1, 2], \"cursor\": true, \"versions\": {}}]", "r x null null attr"},
		{"[\"r\", \"x\", {\"lock\": \"padlock\"}]", "r x {\"lock\":\"padlock\"} null known"},
		{"[\"r\", \"x\", {\"t\": 1}]", "r x {\"t\":1} null known"},
		{"[\"r\", \"x\", {\"lock\": \"shared\", \"a\": 1}]", "r x {\"a\":1,\"lock\":\"shared\"} null known"},
		{"[\"r\", \"x\", {\"lock\": \"shared\"}, {}]", "r x {\"lock\":\"shared\"} null known"},
		{"[\"r\", \"x\", {\"lock\": \"shared\"}, {\"lock\": \"shared\"}]", "r x {\"lock\":\"shared\"} null known attr"},
		{"[\"w\", \"x\", {\"lock\": \"shared\"}]", "w x {\"lock\":\"shared\"} null"},
		{"[\"d\", \"x\", {\"lock\": \"shared\"}]", "d x null null attr"},
		{"[\"inc\", \"x\", 1, {\"lock\": \"shared\"}]", "inc x 1 null attr"},
		{"[\"cas\", \"x\", {}, {\"a\": {}}, true]", "cas x {} {\"a\":{}} done"},
		{"[\"w\", \"x\", 1, {\"a note\": 1}]", "w x 1 null"},
	};
	struct reading *r = *state;
	char text[256];

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		snprintf(text, sizeof text, "{\"ops\": [%s]}", rows[i].op);
		reading_good(r, text);
		assert_string_equal(show(r, 0, 0), rows[i].shown);
	}
}

static void equal_values_are_one(void **state)
{
	static const struct { const char *a, *b; bool equal; } rows[] = {
		{"{\"a\": 1, \"b\": [2, {\"d\": 1, \"c\": 2}]}", "{\"b\":[2,{\"c\":2,\"d\":1}],\"a\":1}", true},
		{"{\"a\": 1}", "{\"a\": 1.0}", false}, {"1", "1.0", false}, {"1", "\"1\"", false}, {"1.0", "1.00e0", true}, {"0.0", "-0.0", true}, {"0", "-0", true},
		{"[0.0]", "[-0.0]", true}, {"\"\\u0041\"", "\"A\"", true}, {"[\"\\/\"]", "[\"/\"]", true}, {"[1, 2]", "[2, 1]", false}, {"[]", "{}", false}, {"[null]", "[]", false},
		{"\"[]\"", "[]", false}, {"{\"a\": {}, \"ab\": 1}", "{\"ab\": 1, \"a\": {}}", true}, {"0.1", "0.10000000000000001", true}, {"0.1", "0.10000000000000002", false},
		{"9007199254740993", "9007199254740992", false}, {"true", "false", false}, {"[[[[]]]]", "[[[]]]", false},
	};
	struct reading *r = *state;
	char text[512];

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		snprintf(text, sizeof text, "{\"ops\": [[\"w\", \"x\", %s], [\"w\", \"x\", %s]]}", rows[i].a, rows[i].b);
		reading_good(r, text);
		assert_int_equal(r->h.ops.at[0].a.i == r->h.ops.at[1].a.i, rows[i].equal);
	}
}

/* ---- forms ---- */

static void a_document_is_the_same_as_lines(void **state)
{
	struct reading *lines = *state, doc;
	char text[8192] = "", *at = text;

	for (size_t i = 0; i < KR_COUNT(grammar_lines); i++)
		if (i != 1) /* version orders are lines */
			at += sprintf(at, "%s\n", grammar_lines[i]);
	reading_good(lines, text);
	reading_init(&doc);
	for (int breaks = 0; breaks < 3; breaks++) {
		const char *nl = breaks == 2 ? "\r\n" : breaks ? "\n" : " ";
		at = text + sprintf(text, "\n%.*s,%s\"txns\":%s[", (int)strlen(grammar_lines[0]) - 1, grammar_lines[0], nl, nl);
		for (size_t i = 2; i < KR_COUNT(grammar_lines); i++)
			at += sprintf(at, "%s%s%s", i > 2 ? "," : "", nl, grammar_lines[i]);
		sprintf(at, "%s]}%s", nl, nl);
		reading_good(&doc, text);
		assert_null(same_history(&lines->h, &doc.h));
		for (uint32_t t = 0; t < 3; t++)
			assert_int_equal(doc.h.txns.at[t].line, breaks ? 5 + t : 2);
	}
	reading_done(&doc);
}

static void document_defaults(void **state)
{
	struct reading *r = *state;

	reading_good(r, "{\"txns\": []}");
	assert_int_equal(r->h.txns.n, 0);
	assert_int_equal(r->h.initial, KR_INITIAL_ABSENT);
	assert_int_equal(r->h.key_order, KR_KEYS_MIXED);
	reading_good(r, "{\"initial\": \"unknown\", \"t\\u0078ns\": [{\"ops\": []},\n{\"ops\": []}]}"); /* the scan for lines does not see it, jansson does */
	assert_int_equal(r->h.txns.n, 2);
	assert_int_equal(r->h.initial, KR_INITIAL_UNKNOWN);
	reading_good(r, "{\"initial\": \"unwritten\", \"txns\": []}");
	assert_int_equal(r->h.initial, KR_INITIAL_UNWRITTEN);
	reading_good(r, "{\"initial\": \"absent\", \"ordered_keys\": \"bytes\", \"txns\": []}");
	assert_int_equal(r->h.key_order, KR_KEYS_BYTES);
}

/* Names of digits mean the number if the trace uses that and not the string; what it tells of neither is a guess. */
static void kinds_are_declared(void **state)
{
	static const struct {
		const char *text, *name;
		enum kr_value_type type;
		enum kr_key_kind kind;
		bool guessed;
	} rows[] = {
		{"{\"krait\": 1, \"kinds\": {\"s\": \"set\"}}", "s", KR_VALUE_STRING, KR_KIND_SET, false},
		{"{\"krait\": 1, \"kinds\": {\"7\": \"list\"}, \"universe\": [7]}", "7", KR_VALUE_INT, KR_KIND_LIST, false},
		{"{\"krait\": 1, \"kinds\": {\"7\": \"list\"}}", "7", KR_VALUE_STRING, KR_KIND_LIST, true},
		{"{\"krait\": 1, \"kinds\": {\"7\": \"list\"}, \"universe\": [7, \"7\"]}", "7", KR_VALUE_STRING, KR_KIND_LIST, true},
		{"{\"krait\": 1, \"kinds\": {\"7\": \"register\"}}\n{\"ops\": [[\"r\", 7, [1]]]}", "7", KR_VALUE_INT, KR_KIND_REGISTER, false},
		{"{\"ops\": [[\"r\", \"x\", [1]]]}", "x", KR_VALUE_STRING, KR_KIND_LIST, false},
		{"{\"ops\": [[\"range\", null, null, [[\"x\", []]]]]}", "x", KR_VALUE_STRING, KR_KIND_LIST, false},
		{"{\"krait\": 1, \"initial\": {\"x\": 3}}\n{\"ops\": [[\"r\", \"x\", [1]]]}", "x", KR_VALUE_STRING, KR_KIND_ANY, false},
	};
	struct reading *r = *state;

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		reading_good(r, rows[i].text);
		kr_value name = rows[i].type == KR_VALUE_INT ? kr_history_int(&r->h, 7) : kr_history_text(&r->h, KR_VALUE_STRING, rows[i].name, 1);
		assert_int_equal(r->h.keys.at[key_named(r, name).i].kind, rows[i].kind);
		assert_int_equal(r->h.guessed.i != KR_NONE, rows[i].guessed);
	}
}

static void a_cut_first_line_is_no_trace(void **state)
{
	struct reading *r = *state;

	reading_write(r, "t.jsonl", grammar, strlen(grammar));
	assert_int_equal(reading_read(r, "t.jsonl"), KR_BAD);
	assert_string_equal(r->message, "t.jsonl:2: malformed JSON at column 1: string or '}' expected near '{'");
}

static void blank_and_marked_files(void **state)
{
	static const struct { const char *text; unsigned txns, line; } rows[] = {
		{"", 0, 0}, {"\n", 0, 0}, {"  \n\t\r\n", 0, 0}, {"\xef\xbb\xbf", 0, 0}, {"{\"krait\": 1}", 0, 0}, {"\n\n{\"krait\": 1}\n\n{\"ops\": []}\n\n", 1, 5},
		{"{\"ops\": []}", 1, 1}, {"\xef\xbb\xbf{\"ops\": []}\r\n", 1, 1}, {"\xef\xbb\xbf{\"krait\": 1,\n\"txns\": [\n{\"ops\": []}]}", 1, 3},
		{"   {\"ops\": []}   \r\n\r\n   {\"ops\": []}", 2, 1},
	};
	struct reading *r = *state;

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		reading_write(r, "trace", rows[i].text, strlen(rows[i].text)); /* by content, not by name */
		assert_int_equal(reading_read(r, "trace"), KR_OK);
		assert_int_equal(r->h.txns.n, rows[i].txns);
		if (rows[i].line)
			assert_int_equal(r->h.txns.at[0].line, rows[i].line);
	}
}

static void reads_standard_input(void **state)
{
	struct reading *r = *state;
	char path[128];
	int saved = dup(STDIN_FILENO);

	for (int gzip = 0; gzip < 2; gzip++) {
		snprintf(path, sizeof path, "%s/t.jsonl", r->folder);
		reading_write(r, "t.jsonl", "{\"krait\": 1}\n{\"ops\": []}\n", 25);
		if (gzip) {
			char command[256];
			snprintf(command, sizeof command, "gzip -f %s", path);
			assert_int_equal(system(command), 0);
			strcat(path, ".gz");
		}
		assert_non_null(freopen(path, "rb", stdin));
		assert_int_equal(reading_read(r, "-"), KR_OK);
		assert_int_equal(r->h.txns.n, 1);
		assert_string_equal(r->h.files.at[0], "-");
	}
	if (saved >= 0)
		dup2(saved, STDIN_FILENO);
}

static void the_example_of_the_docs(void **state)
{
	struct reading *r = *state;
	static char page[65536];
	FILE *file = fopen(KR_SOURCE_DIR "/docs/formats/native.md", "rb");
	char *from, *to;

	assert_non_null(file);
	assert_true(fread(page, 1, sizeof page - 1, file) > 0);
	fclose(file);
	from = strstr(page, "```json\n");
	assert_non_null(from);
	from += strlen("```json\n");
	to = strstr(from, "```");
	assert_non_null(to);
	*to = '\0';
	reading_good(r, from);
	assert_int_equal(r->h.txns.n, 2);
	assert_int_equal(r->h.ops.n, 5);
}

/* ---- sizes ---- */

static char *put_text(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

static void large_names_values_and_transactions(void **state)
{
	enum { MIB = 1 << 20, OPS = 100000 };
	struct reading *r = *state;
	char *text = malloc(40 * OPS + 5 * MIB), *at = text;

	assert_non_null(text);
	at = put_text(at, "{\"id\": \"");
	memset(at, 'i', MIB);
	at = put_text(at + MIB, "\", \"s\": \"");
	memset(at, 's', MIB);
	at = put_text(at + MIB, "\", \"ops\": [[\"w\", \"");
	memset(at, 'k', MIB);
	at = put_text(at + MIB, "\", \"");
	memset(at, 'v', MIB);
	at = put_text(at + MIB, "\"]]}\n{\"ops\": [");
	for (int i = 0; i < OPS; i++)
		at += sprintf(at, "%s[\"%c\", %d, %d]", i ? "," : "", i % 2 ? 'r' : 'w', i % 100, i);
	at = put_text(at, "]}\n");
	reading_write(r, "t.jsonl", text, (size_t)(at - text));
	free(text);
	assert_int_equal(reading_read(r, "t.jsonl"), KR_OK);
	assert_int_equal(r->h.txns.at[1].op_count, OPS);
	assert_int_equal(kr_history_value(&r->h, r->h.ops.at[0].a)->length, MIB);
	assert_int_equal(kr_history_value(&r->h, r->h.txns.at[0].id)->length, MIB);
	assert_int_equal(kr_history_value(&r->h, r->h.keys.at[0].name)->length, MIB);
	assert_int_equal(kr_history_value(&r->h, r->h.ops.at[OPS].a)->integer, OPS - 1);
	assert_int_equal(r->h.keys.n, 101);

	/* and in a message, cut */
	text = malloc(2 * MIB + 100);
	assert_non_null(text);
	at = put_text(text, "{\"id\": \"");
	memset(at, 'i', MIB);
	at = put_text(at + MIB, "\", \"ops\": [[\"w\", \"");
	memset(at, 'k', MIB - 100);
	at = put_text(at + MIB - 100, "\"]]}");
	reading_write(r, "t.jsonl", text, (size_t)(at - text));
	free(text);
	assert_int_equal(reading_read(r, "t.jsonl"), KR_BAD);
	assert_true(strlen(r->message) < 200);
	assert_non_null(strstr(r->message, "iii...: \"w\" takes a key and a value, found 1 argument"));
}

static void extreme_numbers_and_names(void **state)
{
	struct reading *r = *state;

	reading_good(r, "{\"id\": -9223372036854775808, \"s\": 9223372036854775807, \"begin\": [-9223372036854775808, 9223372036854775807], \"ops\": ["
			"[\"w\", -9223372036854775808, 9223372036854775807], [\"w\", \"\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87\", -9223372036854775808], "
			"[\"w\", \"\\ud83d\\ude00\", 1e-300], [\"w\", \"\", \"\"], [\"w\", 0.5, \"\\u0000\"], [\"w\", \"a\\u0000b\", 1]]}");
	assert_string_equal(show(r, 0, 0), "w -9223372036854775808 9223372036854775807 null");
	assert_string_equal(show(r, 0, 1), "w \xd0\xba\xd0\xbb\xd1\x8e\xd1\x87 -9223372036854775808 null");
	assert_string_equal(show(r, 0, 2), "w \xf0\x9f\x98\x80 1e-300 null");
	assert_string_equal(show(r, 0, 3), "w \"\" \"\" null");
	assert_string_equal(show(r, 0, 4), "w 0.5 \"\\u0000\" null");
	assert_string_equal(show(r, 0, 5), "w \"a\\u0000b\" 1 null");
	assert_string_equal(reading_name(r, r->h.txns.at[0].id), "-9223372036854775808");
	assert_int_equal(r->h.txns.at[0].begin_invoked, INT64_MIN);
}

/* ---- lenient ---- */

static void lenient_skips_bad_lines(void **state)
{
	static const struct { const char *text; unsigned txns, skipped; const char *ids; } rows[] = {
		{"{\"krait\": 1}\n{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1], [\"oops\"]]}\n{\"id\": \"b\", \"ops\": [[\"append\", \"x\", 1]]}\n", 1, 1, "b"},
		{"not json\n{\"ops\": []}\n{\"ops\" []}\n{\"ops\": []}\n", 2, 2, "#2 #4"},
		{"{\"id\": \"a\", \"ops\": []}\n{\"id\": \"a\", \"ops\": []}\n5\n[]\n{\"id\": \"b\", \"ops\": []}\n", 2, 3, "a b"},
		{"{\"id\": \"a\", \"s\": 1, \"end\": 10, \"ops\": []}\n{\"id\": \"b\", \"s\": 1, \"begin\": 5, \"ops\": []}\n{\"id\": \"c\", \"s\": 1, \"begin\": 10, \"ops\": []}\n", 2, 1, "a c"},
		{"{\"id\": \"a\", \"ops\": [[\"inc\", \"x\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"w\", \"x\", 1]]}\n", 1, 1, "a"},
		{"{\"id\": \"a\", \"ops\": [[\"scan\", {}, [[\"x\", 1]], {\"versions\": {\"1\": \"a\"}}], 5]}\n{\"id\": \"b\", \"ops\": [[\"r\", \"x\", 1, {\"cursor\": false}]]}\n", 1, 1, "b"},
		{"{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"version_order\": \"x\", \"writers\": [\"nobody\"]}\n{\"version_order\": \"x\"}\n", 1, 2, "a"},
		{"{\"krait\": 1,\n\"txns\": [5,\n{\"id\": \"b\", \"ops\": []}, {\"id\": \"b\", \"ops\": []}]}\n", 1, 2, "b"},
	};
	struct reading *r = *state;

	r->options.lenient = true;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		char ids[64] = "";
		reading_good(r, rows[i].text);
		assert_int_equal(r->h.txns.n, rows[i].txns);
		assert_int_equal(r->h.skipped, rows[i].skipped);
		for (uint32_t t = 0; t < r->h.txns.n; t++) {
			strcat(ids, t ? " " : "");
			strcat(ids, reading_name(r, r->h.txns.at[t].id));
		}
		assert_string_equal(ids, rows[i].ids);
		const struct kr_transaction *last = &r->h.txns.at[r->h.txns.n - 1];
		assert_int_equal(r->h.ops.n, last->op_first + last->op_count);
	}
}

static void lenient_drops_contradicting_orders(void **state)
{
	struct reading *r = *state;

	r->options.lenient = true;
	reading_good(r, "{\"id\": 1, \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": 2, \"ops\": [[\"w\", \"x\", 2]]}\n{\"version_order\": \"x\", \"writers\": [1, 2]}\n"
			"{\"version_order\": \"x\", \"writers\": [2, 1]}\n{\"version_order\": \"x\", \"writers\": [2]}\n");
	assert_int_equal(r->h.version_orders.n, 2);
	assert_int_equal(r->h.version_orders.at[0].line, 3);
	assert_int_equal(r->h.version_orders.at[1].line, 5);
	assert_int_equal(r->h.skipped, 1);
}

static void lenient_keeps_other_errors(void **state)
{
	static const struct { const char *text, *message; } rows[] = {
		{"{\"krait\": 2}\n", "t.jsonl:1: \"krait\" is 2, expected 1, the format version"},
		{"{\"ops\": []}\n{\"krait\": 1}\n", "t.jsonl:2: a header (\"krait\"), expected only as the first line"},
		{"{\"krait\": 1,\n\"txns\": [}\n", "t.jsonl:2: malformed JSON at column 10: unexpected token near '}'"},
	};
	struct reading *r = *state;

	r->options.lenient = true;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		reading_write(r, "t.jsonl", rows[i].text, strlen(rows[i].text));
		assert_int_equal(reading_read(r, "t.jsonl"), KR_BAD);
		assert_string_equal(r->message, rows[i].message);
	}
}

/* ---- limits ---- */

static void stops_at_limits(void **state)
{
	struct reading *r = *state;
	char *text = malloc(8 << 20), *at = text;

	assert_non_null(text);
	for (int i = 0; i < 60000; i++)
		at += sprintf(at, "{\"ops\": [[\"w\", \"k%d\", %d], [\"r\", \"k%d\", %d]]}\n", i, i, i, i);
	reading_write(r, "t.jsonl", text, (size_t)(at - text));
	kr_ctx_init(&r->ctx, 0, 2);
	assert_int_equal(reading_read(r, "t.jsonl"), KR_NOMEM);
	assert_string_equal(r->message, "t.jsonl: memory limit of 2 MiB while reading the trace");
	kr_ctx_init(&r->ctx, 1e-9, 0);
	assert_int_equal(reading_read(r, "t.jsonl"), KR_TIMEOUT);
	assert_string_equal(r->message, "t.jsonl: time limit of 1e-09 s while reading the trace");

	/* a document is not given to jansson when its tree cannot fit */
	at = text + sprintf(text, "{\"krait\": 1, \"txns\": [{\"ops\": [");
	for (int i = 0; i < 100000; i++)
		at += sprintf(at, "%s[\"r\", 1, 1]", i ? "," : "");
	at += sprintf(at, "]}]}");
	reading_write(r, "t.jsonl", text, (size_t)(at - text));
	kr_ctx_init(&r->ctx, 0, 8);
	assert_int_equal(reading_read(r, "t.jsonl"), KR_NOMEM);
	kr_ctx_init(&r->ctx, 0, 64);
	assert_int_equal(reading_read(r, "t.jsonl"), KR_OK);
	free(text);
}

static void survives_failing_allocations(void **state)
{
	struct reading *r = *state;
	char text[8192];
	uint64_t fail_at;

	for (int form = 0; form < 2; form++) {
		if (form == 0)
			make_lines(text, sizeof text);
		else
			sprintf(text, "%.*s,\n\"txns\": [%s,\n%s]}", (int)strlen(grammar_lines[0]) - 1, grammar_lines[0], grammar_lines[2], grammar_lines[3]);
		reading_write(r, "t.jsonl", text, strlen(text));
		fail_at = 0;
		do {
			if (r->read)
				kr_history_done(&r->h);
			r->read = false;
			kr_ctx_init(&r->ctx, 0, 0);
			r->ctx.mem.fail_at = ++fail_at;
			(void)reading_read(r, "t.jsonl");
			assert_true(r->status == KR_OK || r->status == KR_NOMEM);
			assert_true(fail_at < 10000);
		} while (r->status != KR_OK);
		assert_true(fail_at > 20);
		r->ctx.mem.fail_at = 0;
	}
}

/* ---- the malformed inputs that the command line is tested with ---- */

static void negative_case(void **state)
{
	const char *folder = *state;
	char pattern[512], expected[1024] = "", message[1024];
	struct dirent *entry;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_err err;
	FILE *file;
	DIR *dir;

	snprintf(pattern, sizeof pattern, "%s/tests/negative/cases/%s", KR_SOURCE_DIR, folder);
	assert_int_equal(chdir(pattern), 0);
	file = fopen("expect", "rb");
	assert_non_null(file);
	assert_non_null(fgets(expected, sizeof expected, file));
	fclose(file);
	expected[strcspn(expected, "\n")] = '\0';
	dir = opendir(".");
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "expect") != 0)
			break;
	assert_non_null(entry);
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_read_trace(&ctx, entry->d_name, NULL, &h, &err), KR_BAD);
	assert_int_equal(ctx.mem.used, 0);
	kr_err_format(&err, message, sizeof message);
	assert_string_equal(message, expected);
	closedir(dir);
}

static int run_negative_cases(void)
{
	static struct CMUnitTest tests[1000];
	size_t n = 0;
	struct dirent *entry;
	DIR *dir = opendir(KR_SOURCE_DIR "/tests/negative/cases");

	if (!dir)
		return 1;
	while ((entry = readdir(dir)) != NULL && n < KR_COUNT(tests)) {
		char path[512], *name = strdup(entry->d_name);
		snprintf(path, sizeof path, "%s/tests/negative/cases/%s/cmd", KR_SOURCE_DIR, name);
		if (name[0] != '.' && access(path, F_OK) != 0)
			tests[n++] = (struct CMUnitTest){.name = name, .test_func = negative_case, .initial_state = name};
		else
			free(name);
	}
	closedir(dir);
	int failed = n < 100 || _cmocka_run_group_tests("negative", tests, n, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)tests[i].name);
	return failed;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_header_and_transactions), TEST(reads_keys_and_initial_values), TEST(reads_operations), TEST(reads_scans), TEST(reads_attributes),
		TEST(an_object_behind_a_read_is_its_value_or_attributes), TEST(equal_values_are_one), TEST(a_document_is_the_same_as_lines),
		TEST(document_defaults), TEST(kinds_are_declared), TEST(a_cut_first_line_is_no_trace), TEST(blank_and_marked_files), TEST(reads_standard_input), TEST(the_example_of_the_docs),
		TEST(large_names_values_and_transactions), TEST(extreme_numbers_and_names), TEST(lenient_skips_bad_lines),
		TEST(lenient_drops_contradicting_orders), TEST(lenient_keeps_other_errors), TEST(stops_at_limits), TEST(survives_failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) + run_negative_cases();
}
