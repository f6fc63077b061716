/* The rest of include/krait/krait.h and build.h: building in memory, walking proofs, cancelling, allocators, logs, threads, plug-ins that there are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <krait/krait.h>

/* ---- building ---- */

static void put(krait_builder *b, const char *session, struct krait_operation first, struct krait_operation second)
{
	krait_build_begin(b, &(struct krait_transaction){.session = krait_text(session)});
	krait_build_op(b, &first);
	krait_build_op(b, &second);
	krait_build_end(b);
}

static struct krait_operation on(enum krait_operation_kind kind, const char *key, struct krait_value value)
{
	return (struct krait_operation){.kind = kind, .key = krait_text(key), .value = value};
}

static krait_builder *new_builder(const struct krait_options *options)
{
	krait_builder *b = NULL;

	assert_int_equal(krait_builder_new("built", options, &b, NULL), KRAIT_OK);
	return b;
}

static void write_skew(krait_builder *b)
{
	put(b, "A", on(KRAIT_READ, "x", krait_absent()), on(KRAIT_WRITE, "y", krait_int(1)));
	put(b, "B", on(KRAIT_READ, "y", krait_absent()), on(KRAIT_WRITE, "x", krait_int(1)));
}

static void event_lines_are_put_together(void **state)
{
	static const char *const lines[] = {"{\"krait\": 1, \"stream\": true}", "{\"txn\": \"a\", \"s\": 1, \"op\": [\"w\", \"x\", 1]}",
		"{\"txn\": \"b\", \"s\": 2, \"auto\": true, \"op\": [\"failed\", [\"w\", \"x\", 2]], \"status\": \"aborted\"}", "{\"s\": 2, \"now\": null}",
		"{\"txn\": \"a\", \"s\": 1, \"end\": [5, 6]}", "{\"txn\": \"c\", \"s\": 3, \"op\": [\"w\", \"x\", 3]}"};
	krait_builder *b = new_builder(NULL);
	krait_history *h = NULL;
	char id[8];

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		assert_true(krait_build_line(b, lines[i], strlen(lines[i])));
	put(b, "d", on(KRAIT_READ, "x", krait_int(1)), on(KRAIT_WRITE, "y", krait_int(1)));
	assert_int_equal(krait_builder_finish(b, &h, NULL), KRAIT_OK);
	assert_int_equal(krait_history_transactions(h), 4);
	assert_int_equal(krait_history_operations(h), 4); /* what failed does not count */
	assert_int_equal(krait_history_id(h, 3, id, sizeof id), 1);
	assert_string_equal(id, "c"); /* which has not ended, so that it comes last */
	krait_history_free(h);
}

static void built_history_is_checked_and_its_cycle_walked(void **state)
{
	krait_builder *b = new_builder(NULL);
	krait_history *h = NULL;
	krait_verdict *v = NULL;
	struct krait_dependency e;
	struct krait_place place;
	char id[8];

	(void)state;
	write_skew(b);
	assert_int_equal(krait_builder_finish(b, &h, NULL), KRAIT_OK);
	assert_int_equal(krait_history_transactions(h), 2);
	assert_int_equal(krait_history_id(h, 1, id, sizeof id), 2);
	assert_string_equal(id, "#2");
	assert_int_equal(krait_history_id(h, 2, id, sizeof id), 0);
	assert_int_equal(krait_check(h, "ser", NULL, NULL, &v, NULL), KRAIT_OK);
	krait_history_free(h); /* the verdict does not need it */
	assert_int_equal(krait_verdict_outcome(v), KRAIT_VIOLATED);
	assert_int_equal(krait_verdict_proof(v), KRAIT_PROOF_CYCLES);
	assert_int_equal(krait_verdict_cycles(v), 1);
	assert_int_equal(krait_verdict_edges(v, 0), 2);
	assert_int_equal(krait_verdict_edges(v, 1), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(krait_verdict_edge(v, 0, i, &e));
		assert_string_equal(e.kind, "rw");
		assert_string_equal(e.key, e.from == 0 ? "\"x\"" : "\"y\"");
		assert_int_equal(e.from + e.to, 1);
		assert_int_equal(e.operation, 0);
		assert_int_equal(e.source, KRAIT_NONE);
	}
	assert_false(krait_verdict_edge(v, 0, 2, &e));
	assert_false(krait_verdict_operation(v, &place));
	assert_int_equal(krait_verdict_order_length(v), 0);
	krait_verdict_free(v);
}

static void order_and_operation_are_walked(void **state)
{
	krait_builder *b = new_builder(NULL);
	krait_history *h = NULL;
	krait_verdict *v = NULL;
	struct krait_place place;

	(void)state;
	assert_true(krait_build_line(b, "{\"id\": \"w\", \"ops\": [[\"w\", \"x\", 1]]}", strlen("{\"id\": \"w\", \"ops\": [[\"w\", \"x\", 1]]}")));
	put(b, "A", on(KRAIT_READ, "x", krait_int(1)), on(KRAIT_READ, "y", krait_absent()));
	assert_int_equal(krait_builder_finish(b, &h, NULL), KRAIT_OK);
	assert_int_equal(krait_check(h, "ser", NULL, NULL, &v, NULL), KRAIT_OK);
	assert_int_equal(krait_verdict_proof(v), KRAIT_PROOF_ORDER);
	assert_int_equal(krait_verdict_order_length(v), 2);
	assert_int_equal(krait_verdict_order_at(v, 0), 0);
	assert_int_equal(krait_verdict_order_at(v, 1), 1);
	assert_int_equal(krait_verdict_order_at(v, 2), KRAIT_NONE);
	krait_verdict_free(v);
	krait_history_free(h);

	b = new_builder(NULL);
	put(b, "A", on(KRAIT_WRITE, "y", krait_int(1)), on(KRAIT_READ, "x", krait_int(7)));
	assert_int_equal(krait_builder_finish(b, &h, NULL), KRAIT_OK);
	assert_int_equal(krait_check(h, "ser", NULL, NULL, &v, NULL), KRAIT_OK);
	assert_string_equal(krait_verdict_anomaly(v), "garbage read");
	assert_true(krait_verdict_operation(v, &place));
	assert_int_equal(place.transaction, 0);
	assert_int_equal(place.operation, 1);
	krait_verdict_free(v);
	krait_history_free(h);
}

/* Every kind of operation, in a serial history that says what it must. */
static void every_operation_is_built(void **state)
{
	static const int64_t times[] = {1, 2};
	krait_builder *b = new_builder(NULL);
	krait_history *h = NULL;
	krait_verdict *v = NULL;
	struct krait_transaction t = {.id = krait_int(9), .has_begin = true, .has_end = true, .begin = {times[0], times[0]}, .end = {times[1], times[1]}};
	const struct krait_operation ops[] = {
		{.kind = KRAIT_INSERT, .key = krait_text("r"), .value = krait_real(0.5), .done = true},
		{.kind = KRAIT_INSERT, .key = krait_text("r"), .value = krait_int(3)},
		{.kind = KRAIT_CAS, .key = krait_text("r"), .expected = krait_real(0.5), .value = krait_bool(true), .done = true},
		{.kind = KRAIT_READ, .key = krait_text("r"), .value = krait_bool(true), .no_cursor = true},
		{.kind = KRAIT_DELETE, .key = krait_text("r"), .done = true},
		{.kind = KRAIT_READ, .key = krait_text("r"), .value = krait_absent()},
		{.kind = KRAIT_READ, .key = krait_text("r"), .unknown = true},
		{.kind = KRAIT_INC, .key = krait_int(5), .value = krait_int(2), .result = krait_int(2)},
		{.kind = KRAIT_APPEND, .key = krait_text("l"), .value = krait_int(1)},
		{.kind = KRAIT_READ, .key = krait_text("l"), .value = krait_json("[1]")},
		{.kind = KRAIT_ADD, .key = krait_text("s"), .value = krait_text("e")},
	};

	(void)state;
	krait_build_begin(b, &t);
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
		assert_true(krait_build_op(b, &ops[i]));
	assert_true(krait_build_end(b));
	assert_int_equal(krait_builder_finish(b, &h, NULL), KRAIT_OK);
	assert_int_equal(krait_history_operations(h), sizeof ops / sizeof ops[0]);
	assert_int_equal(krait_check(h, "strict-serializable", NULL, NULL, &v, NULL), KRAIT_OK);
	assert_int_equal(krait_verdict_outcome(v), KRAIT_SATISFIED);
	krait_verdict_free(v);
	krait_history_free(h);
}

/* ---- failures ---- */

static const struct wrong {
	const char *name;
	struct krait_operation op;
	const char *text;
} wrongs[] = {
	{"a key that is none", {.kind = KRAIT_WRITE, .key = {.type = KRAIT_BOOLEAN}, .value = {.type = KRAIT_INTEGER}}, "the key"},
	{"no value", {.kind = KRAIT_WRITE, .key = {.type = KRAIT_STRING, .text = "x", .length = 1}}, "the value"},
	{"a delta that is none", {.kind = KRAIT_INC, .key = {.type = KRAIT_STRING, .text = "x", .length = 1}}, "the delta"},
	{"no UTF-8", {.kind = KRAIT_WRITE, .key = {.type = KRAIT_STRING, .text = "\xff", .length = 1}}, "UTF-8"},
	{"no JSON", {.kind = KRAIT_WRITE, .key = {.type = KRAIT_STRING, .text = "x", .length = 1}, .value = {.type = KRAIT_JSON, .text = "[", .length = 1}}, "malformed JSON"},
	{"no operation", {.kind = (enum krait_operation_kind)99, .key = {.type = KRAIT_STRING, .text = "x", .length = 1}}, "an operation that there is not"},
};

static void first_failure_is_told_at_the_end(void **state)
{
	const struct wrong *w = *state;
	krait_builder *b = new_builder(NULL);
	krait_history *h = NULL;
	struct krait_error error = {0};

	krait_build_begin(b, &(struct krait_transaction){.id = krait_text("t"), .line = 4});
	assert_false(krait_build_op(b, &w->op));
	assert_false(krait_build_op(b, &(struct krait_operation){.kind = KRAIT_READ}));
	assert_false(krait_build_end(b));
	assert_int_equal(krait_builder_finish(b, &h, &error), KRAIT_BAD);
	assert_null(h);
	assert_non_null(strstr(error.text, w->text));
	assert_memory_equal(error.text, "ops[0] of t: ", 13);
	assert_string_equal(error.file, "built");
	assert_int_equal(error.line, 4);
}

/* Kinds and untold initial values mean what the header's fields do. */
static void what_comes_first_is_built(void **state)
{
	for (int unwritten = 0; unwritten < 2; unwritten++) {
		krait_builder *b = new_builder(NULL);
		krait_history *h = NULL;
		krait_verdict *v = NULL;

		(void)state;
		assert_true(krait_build_header(b, &(struct krait_header){.initial = unwritten ? KRAIT_INITIAL_UNWRITTEN : KRAIT_INITIAL_UNKNOWN}));
		assert_true(krait_build_kind(b, krait_text("n"), KRAIT_KIND_COUNTER));
		assert_true(krait_build_begin(b, &(struct krait_transaction){.id = krait_text("t"), .status = KRAIT_ABORTED}));
		assert_true(krait_build_op(b, &(struct krait_operation){.kind = KRAIT_WRITE, .key = krait_text("x"), .value = krait_int(1)}));
		assert_true(krait_build_end(b));
		put(b, "A", on(KRAIT_READ, "x", krait_int(1)), on(KRAIT_READ, "n", krait_int(0)));
		assert_int_equal(krait_builder_finish(b, &h, NULL), KRAIT_OK);
		assert_int_equal(krait_check(h, "ser", NULL, NULL, &v, NULL), KRAIT_OK);
		assert_int_equal(krait_verdict_outcome(v), unwritten ? KRAIT_VIOLATED : KRAIT_SATISFIED);
		krait_verdict_free(v);
		krait_history_free(h);
	}
}

static void misplaced_calls_are_told(void **state)
{
	struct krait_error error = {0};
	krait_history *h = NULL;
	krait_builder *b = new_builder(NULL);

	(void)state;
	assert_false(krait_build_end(b));
	assert_int_equal(krait_builder_finish(b, &h, &error), KRAIT_BAD);
	b = new_builder(NULL);
	assert_false(krait_build_op(b, &(struct krait_operation){.kind = KRAIT_READ, .key = krait_text("x")}));
	krait_builder_free(b);
	b = new_builder(NULL);
	assert_true(krait_build_begin(b, &(struct krait_transaction){.id = krait_text("t")}));
	assert_int_equal(krait_builder_finish(b, &h, NULL), KRAIT_BAD); /* within a transaction */
	b = new_builder(NULL);
	write_skew(b);
	assert_false(krait_build_initial(b, krait_text("x"), krait_int(1)));
	krait_builder_free(b);
	b = new_builder(NULL);
	write_skew(b);
	assert_false(krait_build_kind(b, krait_text("x"), KRAIT_KIND_SET));
	krait_builder_free(b);
	b = new_builder(NULL);
	assert_false(krait_build_kind(b, krait_text("x"), KRAIT_KIND_ANY));
	krait_builder_free(b);
	b = new_builder(NULL);
	assert_true(krait_build_header(b, &(struct krait_header){.initial = KRAIT_INITIAL_UNKNOWN}));
	assert_false(krait_build_initial(b, krait_text("x"), krait_int(1)));
	krait_builder_free(b);
	assert_null(h);
}

/* A header line and transactions from lines are held to the reader's rules: the last line's fault is told at the end. */
static const struct wrong_lines {
	const char *lines[3], *text;
} wrong_lines[] = {
	{{"{\"id\": \"u\", \"ops\": [[\"update\", {}, {\"set\": 5}, [[\"x\", 6]]]]}"}, "ops[0] of u: the value of row 0 is 6, expected 5, as \"set\" says"},
	{{"{\"txn\": 1, \"s\": 1, \"begin\": 1}", "", "{\"krait\": 1}"}, "a header (\"krait\"), expected only as the first line"},
};

static void wrong_lines_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrong_lines / sizeof *wrong_lines; i++) {
		struct krait_error error = {0};
		krait_history *h = NULL;
		krait_builder *b = new_builder(NULL);

		for (int l = 0; l < 3 && wrong_lines[i].lines[l]; l++)
			(void)krait_build_line(b, wrong_lines[i].lines[l], strlen(wrong_lines[i].lines[l]));
		assert_int_equal(krait_builder_finish(b, &h, &error), KRAIT_BAD);
		assert_string_equal(error.text, wrong_lines[i].text);
	}
}

/* ---- allocators ---- */

struct account {
	size_t held, count, fail_at;
};

static void *allocate(void *data, void *block, size_t old_size, size_t new_size)
{
	struct account *a = data;
	void *p;

	if (new_size == 0) {
		free(block);
		a->held -= old_size;
		return NULL;
	}
	if (++a->count >= a->fail_at)
		return NULL;
	p = realloc(block, new_size);
	if (p)
		a->held += new_size - old_size;
	return p;
}

static enum krait_status whole_run(const struct krait_options *options)
{
	krait_builder *b = NULL;
	krait_history *h = NULL;
	krait_verdict *v = NULL;
	enum krait_status status = krait_builder_new("built", options, &b, NULL);

	if (status)
		return status;
	write_skew(b);
	status = krait_builder_finish(b, &h, NULL);
	if (!status)
		status = krait_check(h, "ser", NULL, options, &v, NULL);
	if (!status && krait_verdict_outcome(v) == KRAIT_UNDECIDED)
		status = KRAIT_NO_MEMORY;
	assert_true(status != KRAIT_OK || krait_verdict_outcome(v) == KRAIT_VIOLATED);
	krait_verdict_free(v);
	krait_history_free(h);
	return status;
}

/* The n-th allocation and all later ones fail, n = 1, 2, ...: an error or no verdict, never a wrong one, and nothing is left over. */
static void every_allocation_may_fail(void **state)
{
	struct account a = {.fail_at = SIZE_MAX};
	struct krait_options options = {.allocate = allocate, .allocate_data = &a};

	(void)state;
	assert_int_equal(whole_run(&options), KRAIT_OK);
	assert_int_equal(a.held, 0);

	size_t all = a.count;

	assert_true(all > 20);
	for (size_t n = 1; n <= all; n++) {
		a = (struct account){.fail_at = n};
		enum krait_status status = whole_run(&options);
		if (status != KRAIT_NO_MEMORY)
			fail_msg("allocation %zu of %zu fails: status %d", n, all, (int)status);
		assert_int_equal(a.held, 0);
	}
}

/* ---- logs, threads, cancelling ---- */

static void collect(void *data, const char *text)
{
	strncat(data, text, 2000 - strlen(data) - 1);
	strncat(data, "\n", 2000 - strlen(data) - 1);
}

static void log_tells_what_was_done(void **state)
{
	char text[2000] = "";
	struct krait_options options = {.log = collect, .log_data = text};

	(void)state;
	assert_int_equal(whole_run(&options), KRAIT_OK);
	assert_non_null(strstr(text, "built: 2 transactions, 4 operations, 2 keys"));
	assert_non_null(strstr(text, "built: ser: pass so: "));
	assert_non_null(strstr(text, "built: ser, order none: violated by "));
}

static void *check_traces(void *data)
{
	static const char *const levels[] = {"ser", "si", "cc", "pl-ss"};
	krait_history *h = NULL;

	(void)data;
	for (int i = 0; i < 8; i++) {
		krait_verdict *v = NULL;
		if (krait_history_read(KR_SOURCE_DIR "/traces/write-skew/trace.jsonl", NULL, NULL, &h, NULL) != KRAIT_OK)
			return "cannot read";
		if (krait_check(h, levels[i % 4], NULL, NULL, &v, NULL) != KRAIT_OK)
			return "cannot check";
		bool violated = krait_verdict_outcome(v) == KRAIT_VIOLATED;
		krait_verdict_free(v);
		krait_history_free(h);
		if (violated != (i % 4 == 0 || i % 4 == 3)) /* write skew is what si allows and ser does not */
			return "wrong verdict";
	}
	return NULL;
}

static void histories_are_checked_in_parallel(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, check_traces, NULL), 0);
	for (int i = 0; i < 4; i++) {
		void *wrong = NULL;
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		if (wrong)
			fail_msg("%s", (const char *)wrong);
	}
}

/* A serial run with few values, in random order and without sessions: the search for the order takes longer than anybody waits for. */
static krait_history *hard(void)
{
	enum { TXNS = 100, KEYS = 8 };
	static struct krait_operation ops[TXNS][4];
	krait_builder *b = new_builder(NULL);
	krait_history *h = NULL;
	struct krait_value store[KEYS];
	uint64_t random = 3;
	int order[TXNS];

#define BELOW(n) ((int)((random = random * UINT64_C(6364136223846793005) + 1442695040888963407u) >> 33) % (n))
	for (int k = 0; k < KEYS; k++)
		store[k] = krait_absent();
	for (int t = 0; t < TXNS; t++) {
		order[t] = t;
		for (int i = 0; i < 4; i++) {
			int k = BELOW(KEYS);
			bool write = BELOW(2);
			if (write)
				store[k] = krait_int(BELOW(3));
			ops[t][i] = (struct krait_operation){.kind = write ? KRAIT_WRITE : KRAIT_READ, .key = krait_int(k), .value = store[k]};
		}
	}
	for (int t = TXNS - 1; t > 0; t--) {
		int other = BELOW(t + 1), swap = order[t];
		order[t] = order[other];
		order[other] = swap;
	}
#undef BELOW
	for (int t = 0; t < TXNS; t++) {
		krait_build_begin(b, &(struct krait_transaction){.id = krait_int(t)});
		for (int i = 0; i < 4; i++)
			krait_build_op(b, &ops[order[t]][i]);
		krait_build_end(b);
	}
	assert_int_equal(krait_builder_finish(b, &h, NULL), KRAIT_OK);
	return h;
}

static void *cancel_soon(void *data)
{
	nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	krait_cancel_set(data);
	return NULL;
}

static void check_is_canceled_by_another_thread(void **state)
{
	krait_cancel *cancel = NULL;
	krait_verdict *v = NULL;
	struct timespec start, end;
	pthread_t thread;
	krait_history *h = hard();

	(void)state;
	assert_int_equal(krait_cancel_new(&cancel), KRAIT_OK);

	struct krait_options options = {.cancel = cancel, .seconds = 100};

	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, cancel), 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(krait_check(h, "ser", NULL, &options, &v, NULL), KRAIT_OK);
	clock_gettime(CLOCK_MONOTONIC, &end);
	pthread_join(thread, NULL);
	if (krait_verdict_outcome(v) == KRAIT_UNDECIDED)
		assert_string_equal(krait_verdict_reason(v), "canceled");
	else
		print_message("decided before the token was set\n");
	assert_true(end.tv_sec - start.tv_sec < 30); /* not the limit's hundred */
	print_message("canceled after %.2f s\n", (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
	krait_verdict_free(v);

	v = NULL; /* a token that is set already */
	krait_cancel_set(cancel);
	assert_int_equal(krait_check(h, "ser", NULL, &options, &v, NULL), KRAIT_OK);
	assert_int_equal(krait_verdict_outcome(v), KRAIT_UNDECIDED);
	assert_string_equal(krait_verdict_reason(v), "canceled");
	assert_int_equal(krait_verdict_proof(v), KRAIT_PROOF_NONE);
	krait_verdict_free(v);
	krait_history_free(h);
	krait_cancel_free(cancel);
}

static void plugins_that_are_none_are_refused(void **state)
{
	krait_plugins *plugins = NULL;
	struct krait_error error = {0};
	size_t n = 0;

	(void)state;
	assert_int_equal(krait_plugins_new(&plugins, NULL), KRAIT_OK);
	assert_int_equal(krait_plugins_load(plugins, KR_SOURCE_DIR "/README.md", &error), KRAIT_BAD);
	assert_non_null(strstr(error.file, "README.md"));
	while (krait_level(plugins, n))
		n++;
	assert_string_equal(krait_level(NULL, n - 1), krait_level(plugins, n - 1));
	assert_null(krait_level(NULL, n));
	krait_plugins_free(plugins);
	krait_plugins_free(NULL);
}

int main(void)
{
	struct CMUnitTest tests[9 + sizeof wrongs / sizeof wrongs[0]] = {
		cmocka_unit_test(event_lines_are_put_together),
		cmocka_unit_test(built_history_is_checked_and_its_cycle_walked),
		cmocka_unit_test(order_and_operation_are_walked),
		cmocka_unit_test(every_operation_is_built),
		cmocka_unit_test(what_comes_first_is_built), cmocka_unit_test(misplaced_calls_are_told), cmocka_unit_test(wrong_lines_are_told),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(log_tells_what_was_done),
		cmocka_unit_test(histories_are_checked_in_parallel),
		cmocka_unit_test(check_is_canceled_by_another_thread),
		cmocka_unit_test(plugins_that_are_none_are_refused),
	};

	for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++)
		tests[9 + i] = (struct CMUnitTest){wrongs[i].name, first_failure_is_told_at_the_end, NULL, NULL, (void *)(uintptr_t)&wrongs[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
