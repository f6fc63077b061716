/* frontend/native_field: which unknown fields are taken for known ones, and which pass for notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/reading.h"

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

/* An unknown field of a place, and what is meant by it; NULL: nothing. */
static const struct row {
	const char *place, *field, *known;
} rows[] = {
	/* other names */
	{"transaction", "session", "s"},
	{"transaction", "process", "s"},
	{"transaction", "client", "s"},
	{"transaction", "start", "begin"},
	{"transaction", "timestamp", "begin"},
	{"transaction", "finish", "end"},
	{"transaction", "state", "status"},
	{"transaction", "start_ts", "snapshot"},
	{"transaction", "commit_timestamp", "commit_ts"},
	{"header", "init", "initial"},
	{"header", "skew", "clock_skew"},
	{"operation", "time", "t"},
	{"operation", "for_update", "lock"},
	{"range", "desc", "reverse"},
	{"range", "time", "t"},
	/* case, and dashes */
	{"transaction", "S", "s"},
	{"transaction", "ID", "id"},
	{"transaction", "Status", "status"},
	{"transaction", "commit-ts", "commit_ts"},
	{"transaction", "Session", "s"},
	{"header", "clockSkew", "clock_skew"},
	{"header", "Initial", "initial"},
	{"operation", "T", "t"},
	{"range", "LIMIT", "limit"},
	{"version order", "Writers", NULL}, /* the right one is there, too */
	/* misspelt */
	{"transaction", "sesion", "s"},
	{"transaction", "sessoin", "s"},
	{"transaction", "staus", "status"},
	{"transaction", "begn", "begin"},
	{"transaction", "snapshots", "snapshot"},
	{"header", "inital", "initial"},
	{"header", "univers", "universe"},
	{"operation", "version", "versions"},
	{"operation", "curser", "cursor"},
	{"range", "limt", "limit"},
	{"range", "revers", "reverse"},
	/* notes */
	{"transaction", "note", NULL},
	{"transaction", "notes", NULL},
	{"transaction", "comment", NULL},
	{"transaction", "tags", NULL},
	{"transaction", "node", NULL},
	{"transaction", "kind", NULL},
	{"transaction", "type", NULL},
	{"transaction", "error", NULL},
	{"transaction", "x", NULL},
	{"transaction", "sql", NULL},
	{"transaction", "retries", NULL},
	{"transaction", "side", NULL},
	{"transaction", "send", NULL},
	{"transaction", "step", NULL},
	{"transaction", "index", NULL},
	{"transaction", "isolation", NULL},
	{"transaction", "init", NULL},       /* that is for headers */
	{"transaction", "clock_skew", NULL}, /* a field of other lines */
	{"header", "session", "sessions"},
	{"header", "row_seperator", "row_separator"},
	{"transaction", "autocommit", "auto"},
	{"transaction", "txn", "id"},
	{"transaction", "op", NULL}, /* "ops" is there */
	{"operation", "reads", NULL},
	{"header", "database", NULL},
	{"header", "version", NULL},
	{"header", "recorder", NULL},
	{"header", "shrunk", NULL},
	{"operation", "sql", NULL},
	{"operation", "limit", NULL},
	{"operation", "rows", NULL},
	{"range", "plan", NULL},
	{"version order", "source", NULL},
	{"transaction", "a_name_that_is_far_too_long_to_be_meant_for_any_of_the_fields_that_there_are", NULL},
};

static void make_trace(const struct row *row, char *out, size_t size)
{
	char field[160];

	(void)snprintf(field, sizeof field, "\"%s\": 1", row->field);
	(void)snprintf(out, size,
		"{\"krait\": 1%s%s}\n"
		"{%s%s\"ops\": [[\"w\", \"x\", 1, {%s}], [\"range\", 1, 2, [], {%s}]]}\n"
		"{\"version_order\": \"x\", \"writers\": [\"#1\"]%s%s}\n",
		strcmp(row->place, "header") == 0 ? ", " : "", strcmp(row->place, "header") == 0 ? field : "",
		strcmp(row->place, "transaction") == 0 ? field : "", strcmp(row->place, "transaction") == 0 ? ", " : "",
		strcmp(row->place, "operation") == 0 ? field : "", strcmp(row->place, "range") == 0 ? field : "",
		strcmp(row->place, "version order") == 0 ? ", " : "", strcmp(row->place, "version order") == 0 ? field : "");
}

static void each_name(void **state)
{
	struct reading *r = *state;
	char trace[1024];

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		make_trace(&rows[i], trace, sizeof trace);
		reading_good(r, trace);
		print_message("%s: %s\n", rows[i].place, rows[i].field);
		assert_int_equal(r->h.near_fields.n, rows[i].known != NULL);
		if (!rows[i].known)
			continue;
		assert_string_equal(r->h.near_fields.at[0].name, rows[i].field);
		assert_string_equal(r->h.near_fields.at[0].known, rows[i].known);
		assert_string_equal(r->h.near_fields.at[0].place, rows[i].place);
		assert_int_equal(r->h.near_fields.at[0].count, 1);
	}
}

static void counts_and_first_lines(void **state)
{
	struct reading *r = *state;

	reading_good(r, "{\"session\": 1, \"ops\": [], \"s\": 1}\n\n{\"session\": 1, \"state\": 0, \"ops\": []}\n{\"session\": 2, \"ops\": []}\n");
	assert_int_equal(r->h.near_fields.n, 2);
	assert_string_equal(r->h.near_fields.at[0].name, "session");
	assert_int_equal(r->h.near_fields.at[0].count, 2);
	assert_int_equal(r->h.near_fields.at[0].line, 3);
	assert_string_equal(r->h.near_fields.at[1].name, "state");
	assert_int_equal(r->h.near_fields.at[1].line, 3);
	reading_good(r, "{\"krait\": 1, \"inital\": {},\n \"txns\": [{\"ops\": []},\n {\"sid\": 1, \"ops\": []}]}\n");
	assert_int_equal(r->h.near_fields.n, 2);
	assert_string_equal(r->h.near_fields.at[0].place, "header");
	assert_int_equal(r->h.near_fields.at[1].line, 3);
}

/* Names without end cost no look-up without end. */
static void many_names(void **state)
{
	struct reading *r = *state;
	char *trace = malloc(200 * 64), *at = trace;

	assert_non_null(trace);
	for (int i = 0; i < 100; i++)
		at += sprintf(at, "{\"note%c%c\": 1, \"ops\": []}\n", 'A' + i / 10, 'A' + i % 10);
	(void)sprintf(at, "{\"session\": 1, \"ops\": []}\n");
	reading_good(r, trace);
	assert_int_equal(r->h.txns.n, 101);
	assert_int_equal(r->h.near_fields.n, 0);
	free(trace);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_name),
		TEST(counts_and_first_lines),
		TEST(many_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
