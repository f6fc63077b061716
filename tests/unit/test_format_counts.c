/* Recorded histories in every foreign format have the sizes that other programs counted (verdicts.csv), repeated writes of a value included, and are recognised by content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/format.h"
#include "report/report.h"

enum { MOST_ROWS = 1000, SKIPPED = 77 };

/* Names of formats in verdicts.csv. */
static const struct { const char *recorded, *format; } names[] = {
	{"cobra", "cobra"},
	{"dbcop", "dbcop"},
	{"plume-text", "plume"},
	{"awdit-test", "awdit"},
	{"viper", "viper"},
	{"timekiller-kv", "timekiller"},
	{"list-append", "elle"},
	{"rw-register", "elle"},
	{"json", "elle"},
};

struct row {
	char path[512], format[32];
	unsigned known; /* how many of the numbers the file tells: 5 or 0 */
	unsigned sessions, txns, ops, keys, repeated;
};

static struct row rows[MOST_ROWS];
static struct CMUnitTest tests[MOST_ROWS];

static const char *format_of(const char *recorded)
{
	for (size_t i = 0; i < KR_COUNT(names); i++)
		if (strcmp(names[i].recorded, recorded) == 0)
			return names[i].format;
	fail_msg("verdicts.csv has a format that this test does not know: %s", recorded);
	return NULL;
}

static void check_row(void **state)
{
	const struct row *row = *state;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_err err;
	unsigned sessions = row->sessions;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	if (kr_read_trace(&ctx, row->path, NULL, &h, &err) != KR_OK)
		fail_msg("%s:%u: %s", err.file, (unsigned)err.line, err.text);
	assert_string_equal(h.format, format_of(row->format));
	assert_true(h.txns.n > 0 && h.ops.n > 0);
	if (row->known == 5) {
		struct kr_trace_stats stats;
		if (strstr(row->path, "paper-example.edn"))
			sessions = 0; /* counted as one there: its maps name no process, which orders nothing */
		assert_int_equal(h.sessions.n, sessions);
		assert_int_equal(h.txns.n, row->txns);
		assert_int_equal(h.ops.n, row->ops);
		assert_int_equal(h.keys.n, row->keys);
		assert_int_equal(kr_report_trace_stats(&ctx, &h, &stats), KR_OK);
		assert_int_equal(stats.duplicate_pairs, row->repeated);
	}
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

static size_t read_rows(const char *data, FILE *file)
{
	char line[2048], name[256];
	size_t n = 0;

	while (n < MOST_ROWS && fgets(line, sizeof line, file)) {
		struct row *row = &rows[n];
		int got = sscanf(line, "%255[^,],%31[^,],%u,%u,%u,%u,%u", name, row->format, &row->sessions, &row->txns, &row->ops, &row->keys,
			&row->repeated);
		if (got < 2 || strcmp(name, "path") == 0)
			continue;
		row->known = got == 7 ? 5 : 0;
		snprintf(row->path, sizeof row->path, "%s/%s", data, name);
		tests[n++] = (struct CMUnitTest){.name = row->path, .test_func = check_row, .initial_state = row};
	}
	return n;
}

int main(void)
{
	const char *data = getenv("KRAIT_DATA") ? getenv("KRAIT_DATA") : KR_SOURCE_DIR "/../shared/data";
	char path[512];

	snprintf(path, sizeof path, "%s/verdicts.csv", data);
	FILE *file = fopen(path, "rb");

	if (!file) {
		print_message("skipped: no recorded histories in %s\n", data);
		return SKIPPED;
	}
	size_t n = read_rows(data, file);

	fclose(file);
	return n == 0 || _cmocka_run_group_tests("counts", tests, n, NULL, NULL);
}
