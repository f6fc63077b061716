/* Reading histories by the C API (api/walk.c) and building all that the native format can say: every bundled trace, read, walked, built anew from what the walk gave, and written, is the trace written. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/handle.h"
#include "frontend/native_write.h"

/* ---- every bundled trace ---- */

static void rebuild_transaction(krait_history *h, uint32_t t, krait_builder *b)
{
	struct krait_transaction txn;
	struct krait_operation op;
	uint32_t operations;

	assert_int_equal(krait_history_transaction(h, t, &txn, &operations, NULL), KRAIT_OK);
	krait_build_begin(b, &txn);
	for (uint32_t i = 0; i < operations; i++) {
		assert_int_equal(krait_history_operation(h, t, i, &op, NULL), KRAIT_OK);
		krait_build_op(b, &op);
	}
	krait_build_end(b);
}

static krait_history *rebuild(krait_history *h, const char *name)
{
	krait_builder *b = NULL;
	krait_history *out = NULL;
	struct krait_error error = {0};
	struct krait_header header;
	struct krait_key key;
	struct krait_version_order order;

	assert_int_equal(krait_builder_new(name, NULL, &b, NULL), KRAIT_OK);
	assert_int_equal(krait_history_header(h, &header, NULL), KRAIT_OK);
	krait_build_header(b, &header);
	for (uint32_t k = 0; k < krait_history_keys(h); k++) {
		assert_int_equal(krait_history_key(h, k, &key, NULL), KRAIT_OK);
		if (key.declared)
			krait_build_kind(b, key.name, key.kind);
		if (key.initial.type != KRAIT_ABSENT)
			krait_build_initial(b, key.name, key.initial);
	}
	for (uint32_t t = 0; t < krait_history_transactions(h); t++)
		rebuild_transaction(h, t, b);
	for (uint32_t i = 0; i < krait_history_version_orders(h); i++) {
		assert_int_equal(krait_history_version_order(h, i, &order, NULL), KRAIT_OK);
		krait_build_version_order(b, order.key, order.writers, order.count);
	}
	if (krait_builder_finish(b, &out, &error) != KRAIT_OK)
		fail_msg("%s cannot be built anew: %s", name, error.text);
	return out;
}

static void write_native(krait_history *h, struct kr_str *out)
{
	kr_str_init(out, &h->ctx.mem);
	assert_int_equal(kr_native_write_text(&h->ctx, &h->history, out, NULL), KR_OK);
	assert_false(out->failed);
}

static void assert_rebuilt(krait_history *h, const char *name)
{
	krait_history *again = rebuild(h, name);
	struct kr_str a, b;

	write_native(h, &a);
	write_native(again, &b);
	assert_string_equal(kr_str_text(&b), kr_str_text(&a));
	kr_str_done(&a);
	kr_str_done(&b);
	krait_history_free(again);
}

static void bundled_traces_are_rebuilt(void **state)
{
	DIR *folder = opendir(KR_SOURCE_DIR "/traces");
	struct dirent *entry;
	unsigned n = 0;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		char path[4096];
		krait_history *h = NULL;

		(void)snprintf(path, sizeof path, "%s/traces/%s/trace.jsonl", KR_SOURCE_DIR, entry->d_name);
		if (entry->d_name[0] == '.' || krait_history_read(path, NULL, NULL, &h, NULL) != KRAIT_OK)
			continue;
		assert_rebuilt(h, path);
		krait_history_free(h);
		n++;
	}
	closedir(folder);
	assert_true(n > 100);
}

/* ---- everything the format can say, from memory ---- */

static const char everything[] =
	"{\"krait\": 1, \"name\": \"all\", \"time_unit\": \"us\", \"clock_skew\": 3, \"ordered_keys\": \"bytes\", \"initial\": {\"x\": 1, \"o\": {\"f\": 2}}, \"universe\": [\"u\", 7, \"7\"]}\n"
	"{\"id\": 1, \"s\": \"a\", \"begin\": [1, 2], \"end\": [5, 6], \"serial\": -4, \"snapshot\": 10, \"commit_ts\": 12, \"ops\": ["
	"[\"r\", \"x\", 1, {\"t\": [2, 3], \"lock\": \"shared\"}], [\"w\", \"x\", 2, {\"lock\": \"exclusive\"}], [\"r\", \"x\"], [\"d\", 1.5], [\"d\", 1.5, false], [\"cas\", \"x\", 2, 3, true], [\"insert\", \"x\", 9, false], "
	"[\"inc\", \"c\", 2, 2], [\"inc\", \"c\", 1], [\"append\", \"l\", \"e\\u0000f\"], [\"add\", \"s\", true], [\"r\", \"s\", [true], {\"cursor\": false}]]}\n"
	"{\"id\": \"two\", \"s\": 3, \"status\": \"unknown\", \"ops\": ["
	"[\"range\", null, \"y\", [[\"o\", {\"f\": 2}], [\"x\", 3]], {\"limit\": 2, \"reverse\": true}, {\"t\": [1, 9], \"versions\": {\"x\": 1, \"o\": null}}], "
	"[\"scan\", {\"key_prefix\": \"o\", \"value\": {\"ne\": 4, \"in\": [1, {\"f\": 2}]}, \"field\": {\"f\": {\"ge\": 0, \"le\": 2}}}, [[\"o\", {\"f\": 2}]]], "
	"[\"update\", {\"field\": {\"f\": {\"eq\": 2}}}, {\"set\": {\"f\": 3}}, [[\"o\", {\"f\": 3}]]]]}\n"
	"{\"status\": \"aborted\", \"ops\": [[\"w\", \"z\", -0.5], [\"r\", \"n\", null]]}\n"
	"{\"version_order\": \"x\", \"writers\": [1]}\n";

static krait_history *read_memory(const char *text)
{
	krait_history *h = NULL;
	struct krait_error error;

	if (krait_history_read_memory("memory", text, strlen(text), NULL, NULL, &h, &error) != KRAIT_OK)
		fail_msg("%s:%u: %s", error.file, error.line, error.text);
	return h;
}

static void everything_is_walked_and_rebuilt(void **state)
{
	krait_history *h = read_memory(everything);
	struct krait_header header;
	struct krait_transaction t;
	struct krait_operation op;
	struct krait_version_order order;
	uint32_t operations;

	(void)state;
	assert_rebuilt(h, "everything");
	assert_string_equal(krait_history_format(h), "native");
	assert_int_equal(krait_history_header(h, &header, NULL), KRAIT_OK);
	assert_string_equal(header.name, "all");
	assert_string_equal(header.time_unit, "us");
	assert_int_equal(header.clock_skew, 3);
	assert_int_equal(header.initial, KRAIT_INITIAL_GIVEN);
	assert_int_equal(header.key_order, KRAIT_KEYS_BYTES);
	assert_int_equal(krait_history_transaction(h, 0, &t, &operations, NULL), KRAIT_OK);
	assert_int_equal(t.id.integer, 1);
	assert_int_equal(operations, 12);
	assert_true(t.has_serial && t.serial == -4 && t.has_snapshot && t.snapshot == 10 && t.has_commit_ts && t.commit_ts == 12);
	assert_true(t.has_begin && t.begin[1] == 2 && t.has_end && t.end[0] == 5);
	assert_int_equal(krait_history_operation(h, 0, 0, &op, NULL), KRAIT_OK);
	assert_true(op.kind == KRAIT_READ && op.has_time && op.time[0] == 2 && op.lock == KRAIT_LOCK_SHARED && op.value.integer == 1 && !op.unknown);
	assert_int_equal(krait_history_operation(h, 0, 9, &op, NULL), KRAIT_OK);
	assert_true(op.kind == KRAIT_APPEND && op.value.length == 3 && memcmp(op.value.text, "e\0f", 3) == 0);
	assert_int_equal(krait_history_operation(h, 1, 0, &op, NULL), KRAIT_OK);
	assert_true(op.kind == KRAIT_RANGE && op.has_limit && op.limit == 2 && op.reverse && op.row_count == 2 && op.seen_count == 2);
	assert_true(op.low.type == KRAIT_ABSENT && strcmp(op.high.text, "y") == 0 && strcmp(op.rows[0].value.text, "{\"f\":2}") == 0);
	assert_true(op.seen[0].writer.integer == 1 && op.seen[1].writer.type == KRAIT_ABSENT);
	assert_int_equal(krait_history_operation(h, 1, 1, &op, NULL), KRAIT_OK);
	assert_true(op.kind == KRAIT_SCAN && op.condition_count == 5 && op.conditions[0].target == KRAIT_KEY_PREFIX);
	assert_int_equal(krait_history_operation(h, 1, 2, &op, NULL), KRAIT_OK);
	assert_true(op.kind == KRAIT_UPDATE && op.value.type == KRAIT_JSON && op.conditions[0].test == KRAIT_EQ);
	assert_int_equal(krait_history_transaction(h, 2, &t, NULL, NULL), KRAIT_OK);
	assert_true(t.status == KRAIT_ABORTED && strcmp(t.id.text, "#3") == 0 && t.session.type == KRAIT_ABSENT);
	assert_int_equal(krait_history_version_order(h, 0, &order, NULL), KRAIT_OK);
	assert_true(order.count == 1 && order.writers[0].integer == 1 && strcmp(order.key.text, "x") == 0);
	krait_history_free(h);
}

/* ---- memory ---- */

static void *fail_at(void *data, void *block, size_t old_size, size_t new_size)
{
	uint64_t *left = data;

	(void)old_size;
	if (new_size == 0) {
		free(block);
		return NULL;
	}
	return --*left == 0 ? NULL : realloc(block, new_size);
}

static enum krait_status walk_and_build(krait_history *h, krait_builder *b)
{
	struct krait_header header;
	struct krait_transaction txn;
	struct krait_operation op;
	struct krait_version_order order;
	uint32_t operations;
	enum krait_status status = krait_history_header(h, &header, NULL);

	if (!status)
		krait_build_header(b, &header);
	for (uint32_t t = 0; t < krait_history_transactions(h) && !status; t++) {
		status = krait_history_transaction(h, t, &txn, &operations, NULL);
		krait_build_begin(b, &txn);
		for (uint32_t i = 0; i < operations && !status; i++) {
			status = krait_history_operation(h, t, i, &op, NULL);
			if (!status)
				krait_build_op(b, &op);
		}
		krait_build_end(b);
	}
	if (!status)
		status = krait_history_version_order(h, 0, &order, NULL);
	if (!status)
		krait_build_version_order(b, order.key, order.writers, order.count);
	return status;
}

static enum krait_status read_walk_and_build(const struct krait_options *options)
{
	krait_history *h = NULL, *again = NULL;
	krait_builder *b = NULL;
	enum krait_status status = krait_history_read_memory("memory", everything, strlen(everything), NULL, options, &h, NULL);

	if (!status)
		status = krait_builder_new("built", options, &b, NULL);
	if (!status && (status = walk_and_build(h, b)) != KRAIT_OK)
		krait_builder_free(b);
	else if (!status)
		status = krait_builder_finish(b, &again, NULL);
	krait_history_free(again);
	krait_history_free(h);
	return status;
}

static void every_allocation_may_fail(void **state)
{
	enum krait_status status = KRAIT_NO_MEMORY;
	uint64_t n = 0;

	(void)state;
	while (status == KRAIT_NO_MEMORY) {
		uint64_t left = ++n;
		struct krait_options options = {.allocate = fail_at, .allocate_data = &left};

		status = read_walk_and_build(&options);
	}
	assert_int_equal(status, KRAIT_OK);
	assert_true(n > 50);
}

/* ---- what is not there ---- */

static void numbers_past_the_end_are_told(void **state)
{
	krait_history *h = read_memory("{\"ops\": [[\"w\", \"x\", 1]]}\n");
	struct krait_error error;
	struct krait_transaction t;
	struct krait_operation op;
	struct krait_key key;
	struct krait_version_order order;

	(void)state;
	assert_int_equal(krait_history_transaction(h, 1, &t, NULL, &error), KRAIT_BAD);
	assert_string_equal(error.text, "found transaction 1 asked for, expected one of 1, from 0");
	assert_int_equal(krait_history_operation(h, 0, 1, &op, &error), KRAIT_BAD);
	assert_string_equal(error.text, "found operation 1 asked for, expected one of 1, from 0");
	assert_int_equal(krait_history_operation(h, 5, 0, &op, NULL), KRAIT_BAD);
	assert_int_equal(krait_history_key(h, 1, &key, &error), KRAIT_BAD);
	assert_int_equal(krait_history_version_order(h, 0, &order, &error), KRAIT_BAD);
	assert_int_equal(krait_history_key(h, 0, &key, &error), KRAIT_OK);
	assert_int_equal(error.status, KRAIT_OK);
	assert_int_equal(error.text[0], 0);
	assert_int_equal(key.kind, KRAIT_KIND_REGISTER);
	krait_history_free(h);
}

/* One record for several calls: each tells of itself. */
static void errors_are_fresh(void **state)
{
	krait_history *h = read_memory("{\"ops\": [[\"w\", \"x\", 1]]}\n"), *none = NULL;
	krait_verdict *v = NULL;
	struct krait_error error;

	(void)state;
	memset(&error, 0x5a, sizeof error); /* whatever it held */
	assert_int_equal(krait_check(h, "serr", NULL, NULL, &v, &error), KRAIT_BAD);
	assert_string_equal(error.text, "unknown level 'serr'; did you mean 'ser'?");
	assert_int_equal(krait_check(h, "ser", "sesion", NULL, &v, &error), KRAIT_BAD);
	assert_string_equal(error.text, "unknown order 'sesion', expected none, session or realtime");
	assert_int_equal(krait_check(h, "read committed", NULL, NULL, &v, &error), KRAIT_BAD);
	assert_non_null(strstr(error.text, "has several meanings: pl-2"));
	assert_int_equal(krait_history_read("x", "natve", NULL, &none, &error), KRAIT_BAD);
	assert_string_equal(error.text, "unknown format 'natve'; did you mean 'native'?");
	assert_int_equal(krait_history_read_memory("memory", "{\"ops\": 1}", 10, NULL, NULL, &none, &error), KRAIT_BAD);
	assert_string_equal(error.file, "memory");
	assert_int_equal(error.line, 1);
	assert_int_equal(krait_history_read_memory("memory", "", 0, "cobra", NULL, &none, &error), KRAIT_BAD);
	assert_string_equal(error.text, "is in memory, expected a folder (format cobra)");
	assert_int_equal(krait_check(h, "ser", NULL, NULL, &v, &error), KRAIT_OK);
	assert_int_equal(error.status, KRAIT_OK);
	assert_int_equal(error.text[0], 0);
	assert_null(none);
	krait_verdict_free(v);
	krait_history_free(h);
}

/* ---- what cannot be built ---- */

#define TEXT(T) {.type = KRAIT_STRING, .text = (T), .length = sizeof(T) - 1}

static const struct krait_row no_value = {TEXT("x"), {.type = KRAIT_ABSENT}};
static const struct krait_condition twice[] = {{KRAIT_ROW_VALUE, KRAIT_EQ, {0}, {.type = KRAIT_INTEGER}}, {KRAIT_ROW_VALUE, KRAIT_EQ, {0}, {.type = KRAIT_INTEGER}}};
static const struct krait_condition prefixes[] = {{KRAIT_KEY_PREFIX, KRAIT_EQ, {0}, TEXT("a")}, {KRAIT_KEY_PREFIX, KRAIT_EQ, {0}, TEXT("b")}};
static const struct krait_condition odd = {(enum krait_condition_target)9, KRAIT_EQ, {0}, {.type = KRAIT_INTEGER}};
static const struct krait_condition nameless = {KRAIT_ROW_FIELD, KRAIT_EQ, {.type = KRAIT_INTEGER}, {.type = KRAIT_INTEGER}};
static const struct krait_seen keyless = {{.type = KRAIT_ABSENT}, {.type = KRAIT_INTEGER}};

static const struct wrong {
	const char *name;
	struct krait_operation op;
	const char *text;
} wrongs[] = {
	{"a row without a value", {.kind = KRAIT_RANGE, .rows = &no_value, .row_count = 1}, "null"},
	{"a limit below nothing", {.kind = KRAIT_RANGE, .has_limit = true, .limit = -2}, "limit"},
	{"a condition twice", {.kind = KRAIT_SCAN, .conditions = twice, .condition_count = 2}, "test the same thing"},
	{"two prefixes", {.kind = KRAIT_SCAN, .conditions = prefixes, .condition_count = 2}, "two prefixes"},
	{"no such target", {.kind = KRAIT_SCAN, .conditions = &odd, .condition_count = 1}, "a target or a test that there is not"},
	{"a field without a name", {.kind = KRAIT_UPDATE, .conditions = &nameless, .condition_count = 1}, "the field of a condition"},
	{"a lock that is none", {.kind = KRAIT_READ, .key = TEXT("x"), .unknown = true, .lock = (enum krait_lock)5}, "a lock that there is not"},
	{"a time backwards", {.kind = KRAIT_READ, .key = TEXT("x"), .unknown = true, .has_time = true, .time = {2, 1}}, "invoked <= returned"},
	{"a way to read that is none", {.kind = KRAIT_READ, .key = TEXT("x"), .unknown = true, .read = (enum krait_read_mode)5}, "a way to read that there is not"},
	{"an old row that is read", {.kind = KRAIT_READ, .key = TEXT("x"), .unknown = true, .old_row = true}, "KRAIT_WRITE only"},
	{"no answer at no time", {.kind = KRAIT_READ, .key = TEXT("x"), .unknown = true, .unanswered = true}, "without a time"},
	{"more undone than done", {.kind = KRAIT_UNDO, .undone = 1}, "more operations undone"},
	{"a version of no key", {.kind = KRAIT_READ, .key = TEXT("x"), .unknown = true, .seen = &keyless, .seen_count = 1}, "the key"},
};

static void wrong_operations_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(wrongs); i++) {
		krait_builder *b = NULL;
		krait_history *h = NULL;
		struct krait_error error;

		assert_int_equal(krait_builder_new("built", NULL, &b, NULL), KRAIT_OK);
		krait_build_begin(b, &(struct krait_transaction){.status = KRAIT_COMMITTED});
		if (krait_build_op(b, &wrongs[i].op))
			fail_msg("%s: taken", wrongs[i].name);
		assert_int_equal(krait_builder_finish(b, &h, &error), KRAIT_BAD);
		if (!strstr(error.text, wrongs[i].text))
			fail_msg("%s: '%s'", wrongs[i].name, error.text);
	}
}

static void headers_come_first_and_once(void **state)
{
	static const struct krait_header plain = {.name = "a"}, skewed = {.clock_skew = -1}, odd_order = {.key_order = (enum krait_key_order)7};
	krait_builder *b = NULL;

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(krait_builder_new("built", NULL, &b, NULL), KRAIT_OK);
		if (i == 0)
			assert_true(krait_build_header(b, &plain));
		if (i == 1)
			assert_true(krait_build_line(b, "{\"ops\": []}", 11));
		if (i == 2)
			assert_true(krait_build_initial(b, krait_text("x"), krait_int(1)));
		assert_false(krait_build_header(b, i < 3 ? &plain : i == 3 ? &skewed : &odd_order));
		assert_false(krait_build_version_order(b, krait_text("x"), NULL, 0));
		krait_builder_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bundled_traces_are_rebuilt),
		cmocka_unit_test(everything_is_walked_and_rebuilt),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(numbers_past_the_end_are_told),
		cmocka_unit_test(errors_are_fresh),
		cmocka_unit_test(wrong_operations_are_told),
		cmocka_unit_test(headers_come_first_and_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
