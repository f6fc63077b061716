/* include/krait/krait.h: what its comments promise, through nothing but the header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <krait/krait.h>

#define TRACE(name) KR_SOURCE_DIR "/traces/" name "/trace.jsonl"

static krait_history *read_trace(const char *path)
{
	struct krait_error error = {0};
	krait_history *history = NULL;

	if (krait_history_read(path, NULL, NULL, &history, &error) != KRAIT_OK)
		fail_msg("%s:%u: %s", error.file, error.line, error.text);
	return history;
}

static krait_verdict *decide(krait_history *history, const char *level, const char *order)
{
	struct krait_error error = {0};
	krait_verdict *verdict = NULL;

	if (krait_check(history, level, order, NULL, &verdict, &error) != KRAIT_OK)
		fail_msg("%s", error.text);
	return verdict;
}

static void version_is_three_numbers(void **state)
{
	int dots = 0;

	(void)state;
	for (const char *c = krait_version(); *c; c++)
		dots += *c == '.';
	assert_int_equal(dots, 2);
}

static void violated_verdict_has_its_reasons(void **state)
{
	krait_history *history = read_trace(TRACE("write-skew"));
	krait_verdict *verdict = decide(history, "serializable", NULL);

	(void)state;
	assert_int_equal(krait_history_transactions(history), 2);
	assert_int_equal(krait_history_operations(history), 6);
	assert_int_equal(krait_verdict_outcome(verdict), KRAIT_VIOLATED);
	assert_string_equal(krait_verdict_level(verdict), "ser");
	assert_string_equal(krait_verdict_order(verdict), "none");
	assert_string_equal(krait_verdict_anomaly(verdict), "write skew");
	assert_null(krait_verdict_reason(verdict));
	assert_non_null(strstr(krait_verdict_explanation(verdict), "a contradiction!"));
	assert_non_null(strstr(krait_verdict_json(verdict), "\"verdict\": \"violated\", \"anomaly\": {\"name\": \"write skew\""));
	assert_null(strchr(krait_verdict_json(verdict), '\n'));
	assert_non_null(strstr(krait_verdict_witness(verdict), "\"cycles\""));
	assert_int_equal(krait_verdict_witness(verdict)[strlen(krait_verdict_witness(verdict)) - 1], '\n');
	assert_true(krait_verdict_seconds(verdict) >= 0);
	krait_verdict_free(verdict);
	krait_history_free(history);
}

static void satisfied_verdict_has_its_order(void **state)
{
	krait_history *history = read_trace(TRACE("serial"));
	krait_verdict *verdict = decide(history, "ser", "realtime");

	(void)state;
	assert_int_equal(krait_verdict_outcome(verdict), KRAIT_SATISFIED);
	assert_string_equal(krait_verdict_order(verdict), "realtime");
	assert_null(krait_verdict_anomaly(verdict));
	assert_null(krait_verdict_reason(verdict));
	assert_non_null(strstr(krait_verdict_witness(verdict), "\"serial\""));
	krait_verdict_free(verdict);
	krait_history_free(history);
}

static void one_history_serves_several_checks(void **state)
{
	krait_history *history = read_trace(TRACE("stale-read"));
	krait_verdict *plain = decide(history, "ser", NULL), *strict = decide(history, "Strict_Serializable", NULL), *again = decide(history, "ser", NULL);

	(void)state;
	assert_int_equal(krait_verdict_outcome(plain), KRAIT_SATISFIED);
	assert_int_equal(krait_verdict_outcome(strict), KRAIT_VIOLATED);
	assert_string_equal(krait_verdict_level(strict), "pl-ss");
	assert_string_equal(krait_verdict_anomaly(strict), "G-single-realtime");
	assert_int_equal(krait_verdict_outcome(again), KRAIT_SATISFIED);
	krait_verdict_free(plain);
	krait_verdict_free(strict);
	krait_verdict_free(again);
	krait_history_free(history);
}

static void passed_time_limit_is_an_outcome(void **state)
{
	krait_history *history = read_trace(TRACE("serial"));
	struct krait_options limits = {.seconds = 1e-9};
	krait_verdict *verdict = NULL;

	(void)state;
	assert_int_equal(krait_check(history, "ser", NULL, &limits, &verdict, NULL), KRAIT_OK);
	if (krait_verdict_outcome(verdict) == KRAIT_UNDECIDED) { /* a tiny trace may be decided between two looks at the clock */
		assert_string_equal(krait_verdict_reason(verdict), "time limit of 1e-09 s");
		assert_null(krait_verdict_witness(verdict));
		assert_non_null(strstr(krait_verdict_json(verdict), "\"verdict\": \"unknown\", \"reason\": \"time limit of 1e-09 s\""));
	}
	krait_verdict_free(verdict);

	verdict = decide(history, "ser", NULL); /* the limit was that call's */
	assert_int_equal(krait_verdict_outcome(verdict), KRAIT_SATISFIED);
	krait_verdict_free(verdict);
	krait_history_free(history);
}

struct failure {
	const char *name;
	const char *path, *format, *level, *order;
	enum krait_status status;
	const char *text; /* or its beginning */
	const char *file; /* its end */
};

static const struct failure failures[] = {
	{"a missing file", TRACE("no-such"), NULL, "ser", NULL, KRAIT_BAD, "cannot open", "/traces/no-such/trace.jsonl"},
	{"an unknown format", TRACE("serial"), "frob", "ser", NULL, KRAIT_BAD, "unknown format 'frob'", ""},
	{"an unknown level", TRACE("serial"), NULL, "serr", NULL, KRAIT_BAD, "unknown level 'serr'", ""},
	{"an unknown order", TRACE("serial"), NULL, "ser", "sideways", KRAIT_BAD, "unknown order 'sideways'", ""},
};

static enum krait_status attempt(const struct failure *f, struct krait_error *error)
{
	krait_history *history = NULL;
	krait_verdict *verdict = NULL;
	enum krait_status status = krait_history_read(f->path, f->format, NULL, &history, error);

	if (status == KRAIT_OK)
		status = krait_check(history, f->level, f->order, NULL, &verdict, error);
	assert_null(verdict);
	krait_history_free(history);
	return status;
}

static void failure_is_told(void **state)
{
	const struct failure *f = *state;
	struct krait_error error = {0};

	assert_int_equal(attempt(f, &error), f->status);
	assert_int_equal(error.status, f->status);
	assert_memory_equal(error.text, f->text, strlen(f->text));
	assert_true(strlen(error.file) >= strlen(f->file));
	assert_string_equal(error.file + strlen(error.file) - strlen(f->file), f->file);
	assert_int_equal(attempt(f, NULL), f->status); /* nobody listens */
}

static void place_of_an_error_is_told(void **state)
{
	struct krait_error error = {0};
	krait_history *history = NULL;

	(void)state;
	assert_int_equal(krait_history_read(KR_SOURCE_DIR "/tests/golden/cases/check-bad-trace/trace.jsonl", "native", NULL, &history, &error), KRAIT_BAD);
	assert_null(history);
	assert_int_equal(error.line, 2);
	assert_non_null(strstr(error.text, "frob"));
}

static void small_memory_is_an_error_of_reading(void **state)
{
	struct krait_options limits = {.mebibytes = 1};
	struct krait_error error = {0};
	krait_history *history = NULL;
	char path[] = "/tmp/krait-test-api-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	(void)state;
	assert_non_null(file);
	for (int i = 0; i < 50000; i++)
		fprintf(file, "{\"ops\": [[\"w\", \"key %d\", %d]]}\n", i, i);
	fclose(file);
	assert_int_equal(krait_history_read(path, NULL, &limits, &history, &error), KRAIT_NO_MEMORY);
	assert_int_equal(error.status, KRAIT_NO_MEMORY);
	assert_null(history);
	remove(path);
}

static void freeing_nothing_is_fine(void **state)
{
	(void)state;
	krait_history_free(NULL);
	krait_verdict_free(NULL);
}

int main(void)
{
	static const struct CMUnitTest single[] = {
		cmocka_unit_test(version_is_three_numbers),
		cmocka_unit_test(violated_verdict_has_its_reasons),
		cmocka_unit_test(satisfied_verdict_has_its_order),
		cmocka_unit_test(one_history_serves_several_checks),
		cmocka_unit_test(passed_time_limit_is_an_outcome),
		cmocka_unit_test(place_of_an_error_is_told),
		cmocka_unit_test(small_memory_is_an_error_of_reading),
		cmocka_unit_test(freeing_nothing_is_fine),
	};
	enum { SINGLE = sizeof single / sizeof single[0], FAILURES = sizeof failures / sizeof failures[0] };
	struct CMUnitTest tests[SINGLE + FAILURES];

	memcpy(tests, single, sizeof single);
	for (size_t i = 0; i < FAILURES; i++)
		tests[SINGLE + i] = (struct CMUnitTest){.name = failures[i].name, .test_func = failure_is_told, .initial_state = (void *)(uintptr_t)&failures[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
