/* mechanisms/: what the batch finds in small traces, by the definitions of docs/leopard.md. Each row is a trace, a
 * profile and what must be found, and a test of its own. Every finding is verified on the way (checkers/leopard.c).
 *
 * A trace is written as transactions "T1: OP, OP, ...; T2: ...", each in a session of its own unless "T1/s:"; keys x and y
 * start with 0, others absent. An op ends with when it was sent and answered:
 *   w K V   u K V (an UPDATE of a row that was there)   d K 0|1   i K V 0|1   r K V|-   rx, rs: FOR UPDATE, SHARE
 *   R LOW HIGH K=V...    Rx, Rs    R1: with limit 1    S LOW HIGH K=V...: where LOW <= value < HIGH    commit: c   rollback: a   failed COMMIT, ROLLBACK: f   no reply to COMMIT: ?   begin: b
 *   F OP: the statement failed    auto: autocommit    stamp S C: timestamps    undo N */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/leopard.h"
#include "mechanisms/told.h"
#include "tests/unit/reading.h"

struct row {
	const char *name, *trace, *profiles, *expected;
	const char *profile; /* JSON of a profile of its own */
	const char *header;  /* further fields */
};

/* Most rows hold for every profile of a kind. */
#define LOCKING "postgresql-rc postgresql-rr postgresql-ser mariadb-rc mariadb-rr mariadb-rr-si mariadb-ser"
#define ANY LOCKING " sqlite-ser"

/* T1 makes a row of z beside the one in its snapshot, which T2 has deleted. */
#define ROW_OF_BOTH "T0: w z 1 1 2, c 3 4; T2: d z 1 7 8, c 9 10; T1: r y 0 5 6, i z 2 1 12 13"

/* ---- traces ---- */

struct writing { /* native JSON from the notation */
	char out[8192];
	size_t n;
	char tail[512];
	bool auto_commit;
};

static void put(struct writing *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	w->n += (size_t)vsnprintf(w->out + w->n, sizeof w->out - w->n, format, args);
	va_end(args);
	assert_true(w->n < sizeof w->out);
}

static int split(char *text, char **words, int most)
{
	int n = 0;

	for (char *at = strtok(text, " "); at && n < most; at = strtok(NULL, " "))
		words[n++] = at;
	return n;
}

static const char *time_of(const char *word) { return strcmp(word, "-") == 0 ? "null" : word; }

static void put_range(struct writing *w, char **word, int n)
{
	if (word[0][0] == 'S')
		put(w, "[\"scan\", {\"value\": {\"ge\": %s, \"lt\": %s}}, [", word[1], word[2]);
	else
		put(w, "[\"range\", \"%s\", \"%s\", [", word[1], word[2]);
	for (int i = 3; i < n - 2; i++) {
		char *equals = strchr(word[i], '=');
		*equals = '\0';
		put(w, "%s[\"%s\", %s]", i > 3 ? ", " : "", word[i], equals + 1);
	}
	put(w, "]");
}

static bool end_of(struct writing *w, char **word, int n)
{
	static const struct { const char *word, *status; bool failed; } ends[] = {
		{"c", "committed", false}, {"a", "aborted", false}, {"f", "aborted", true}, {"?", "unknown", false}};

	if (strcmp(word[0], "b") == 0) {
		snprintf(w->tail + strlen(w->tail), sizeof w->tail - strlen(w->tail), ", \"begin\": [%s, %s]", word[1], word[2]);
		return true;
	}
	if (strcmp(word[0], "stamp") == 0) {
		snprintf(w->tail + strlen(w->tail), sizeof w->tail - strlen(w->tail), ", \"snapshot\": %s, \"commit_ts\": %s", word[1], word[2]);
		return true;
	}
	for (size_t i = 0; i < KR_COUNT(ends); i++) {
		if (strcmp(word[0], ends[i].word) != 0)
			continue;
		char *at = w->tail + strlen(w->tail);
		size_t room = sizeof w->tail - strlen(w->tail);
		snprintf(at, room, ", \"status\": \"%s\"%s", ends[i].status, ends[i].failed ? ", \"failed\": true" : "");
		if (n == 3)
			snprintf(at + strlen(at), room - strlen(at), ", \"end\": [%s, %s]", word[1], time_of(word[2]));
		return true;
	}
	return false;
}

static void put_op(struct writing *w, char **word, int n, const char **attributes)
{
	const char *op = word[0], *value = n > 2 ? word[2] : "";

	*attributes = "";
	if (strcmp(op, "undo") == 0)
		put(w, "[\"undo\", %s", word[1]);
	else if (op[0] == 'R' || op[0] == 'S')
		put_range(w, word, n);
	else if (op[0] == 'r')
		put(w, "[\"r\", \"%s\", %s", word[1], strcmp(value, "-") == 0 ? "null" : value);
	else if (op[0] == 'd')
		put(w, "[\"d\", \"%s\", %s", word[1], value[0] == '1' ? "true" : "false");
	else if (op[0] == 'i')
		put(w, "[\"insert\", \"%s\", %s, %s", word[1], value, word[3][0] == '1' ? "true" : "false");
	else
		put(w, "[\"w\", \"%s\", %s", word[1], value);
	if (op[0] == 'u' && op[1] == '\0')
		*attributes = "\"row\": \"old\", ";
	if (op[1] == '1')
		*attributes = "\"limit\": 1, ";
	else if (op[0] != 'u' && op[1])
		*attributes = op[1] == 'x' ? "\"lock\": \"exclusive\", " : "\"lock\": \"shared\", ";
}

static void put_entry(struct writing *w, char *text, bool *any)
{
	char *word[16];
	const char *attributes;
	int n = split(text, word, 16), failed = strcmp(word[0], "F") == 0;

	if (end_of(w, word, n))
		return;
	put(w, "%s%s", *any ? ", " : "", failed ? "[\"failed\", " : "");
	put_op(w, word + failed, n - failed, &attributes);
	put(w, failed ? "], {\"t\": [%s, %s]}]" : ", {%s\"t\": [%s, %s]}]", failed ? word[n - 2] : attributes, failed ? time_of(word[n - 1]) : word[n - 2],
		time_of(word[n - 1]));
	*any = true;
}

static void put_txn(struct writing *w, char *text)
{
	char *colon = strchr(text, ':'), *slash, *save = NULL;
	bool any = false;

	assert_non_null(colon);
	*colon = '\0';
	text += strspn(text, " ");
	w->tail[0] = '\0';
	if (strstr(text, " auto")) {
		*strstr(text, " auto") = '\0';
		strcpy(w->tail, ", \"auto\": true");
	}
	slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	put(w, "{\"id\": \"%s\", \"s\": \"%s\", \"ops\": [", text, slash ? slash + 1 : text);
	for (char *entry = strtok_r(colon + 1, ",", &save); entry; entry = strtok_r(NULL, ",", &save))
		put_entry(w, entry, &any);
	put(w, "]%s}\n", w->tail);
}

static char *native(const struct row *row, struct writing *w)
{
	char text[4096], *at = text;

	snprintf(text, sizeof text, "%s", row->trace);
	put(w, "{\"krait\": 1, \"initial\": {\"x\": 0, \"y\": 0}%s}\n", row->header ? row->header : "");
	while (at && *at) {
		char *next = strchr(at, ';');
		if (next)
			*next++ = '\0';
		put_txn(w, at);
		at = next;
	}
	return w->out;
}

/* ---- findings ---- */

static void show_txn(const struct kr_history *h, kr_txn t, struct kr_str *out)
{
	if (t.i == KR_NONE)
		kr_str_add(out, "initial");
	else
		kr_history_print_name(h, h->txns.at[t.i].id, out);
}

/* "CR garbage T3 x {484}", "ME write-write T1 T2 x", "SC T1 T2"; transactions of a cycle by their names. */
static void show(const struct kr_history *h, const struct kr_findings *all, const struct kr_finding *f, struct kr_str *out)
{
	kr_str_format(out, "%s%s%s", kr_mechanism_name(f->mechanism), f->what == KR_FOUND_CYCLE ? "" : " ", f->what == KR_FOUND_CYCLE ? "" : kr_finding_class_name(f));
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		bool named = f->txns[0].i == t.i || f->txns[1].i == t.i;
		for (uint32_t e = 0; e < f->edge_count; e++)
			named |= all->edges.at[f->edge_first + e].from.i == t.i;
		if (!named)
			continue;
		kr_str_add(out, " ");
		show_txn(h, t, out);
	}
	if (f->key.i != KR_NONE) {
		kr_str_add(out, " ");
		kr_history_print_name(h, h->keys.at[f->key.i].name, out);
	}
	for (uint32_t v = 0; v < f->visible_count && f->what == KR_FOUND_GARBAGE; v++) {
		kr_str_add(out, v == 0 ? " {" : ", ");
		kr_history_print_value(h, all->visible.at[f->visible_first + v].value, 0, out);
		kr_str_add(out, v + 1 == f->visible_count ? "}" : "");
	}
}

static void run_profile(struct reading *r, const struct row *row, const struct kr_profile *profile)
{
	struct kr_batch_options options = {.profile = profile, .no_session = row->header && strstr(row->header, "no_session")};
	struct kr_mechanisms_verdict verdict;
	struct kr_str found;
	enum kr_status status;

	kr_str_init(&found, &r->ctx.mem);
	assert_int_equal(kr_profile_level(NULL, profile, &options.certify, &r->err), KR_OK);
	status = kr_check_mechanisms(&r->ctx, &r->h, &options, &verdict, &r->err);
	for (uint32_t i = 0; i < verdict.findings.list.n; i++) {
		kr_str_add(&found, i > 0 ? "; " : "");
		show(&r->h, &verdict.findings, &verdict.findings.list.at[i], &found);
	}
	if (status == KR_BAD)
		kr_str_add(&found, r->err.text);
	else if (status)
		fail_msg("%s, %s: %s", row->name, profile->name, r->err.text);
	if (strcmp(kr_str_text(&found), row->expected) != 0)
		fail_msg("%s, %s: found \"%s\", expected \"%s\"", row->name, profile->name, kr_str_text(&found), row->expected);
	kr_str_done(&found);
	kr_findings_done(&verdict.findings);
}

static void run(void **state)
{
	const struct row *row = *state;
	struct writing w = {.n = 0};
	struct reading r;
	struct kr_profile own;
	struct kr_arena arena;
	char names[512];

	reading_init(&r);
	reading_good(&r, native(row, &w));
	kr_arena_init(&arena, &r.ctx.mem);
	if (row->profile) {
		assert_int_equal(kr_profile_parse(row->profile, strlen(row->profile), &arena, &own, &r.err), KR_OK);
		run_profile(&r, row, &own);
	}
	snprintf(names, sizeof names, "%s", row->profiles);
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		if (!kr_profile_find(name))
			fail_msg("%s: no profile %s", row->name, name);
		run_profile(&r, row, kr_profile_find(name));
	}
	kr_arena_done(&arena);
	reading_done(&r);
}

/* ---- what is not a finding ---- */

/* Whatever allocation fails: no verdict but "unknown", and nothing is lost. */
static void memory_may_run_out(void **state)
{
	static const struct row row = {"", "T1: w x 1 10 11, c 12 13; T2: w x 2 20 21, c 22 23; T3: r x 1 30 31, r y 0 32 33, w y 1 34 35, c 40 41; "
		"T4: r y 0 30 31, R x yy x=2 y=0 32 33, w x 3 34 35, c 40 41; T5: w x 4 34 36, c 42 43", "", "", NULL, NULL};
	struct writing w = {.n = 0};
	struct kr_batch_options options = {.profile = kr_profile_find("postgresql-ser")};
	struct kr_mechanisms_verdict verdict;
	struct reading r;
	uint64_t failures = 0;

	(void)state;
	reading_init(&r);
	reading_good(&r, native(&row, &w));
	assert_int_equal(kr_profile_level(NULL, options.profile, &options.certify, &r.err), KR_OK);
	for (bool done = false; !done; failures++) {
		size_t used = r.ctx.mem.used;
		r.ctx.mem.fail_at = r.ctx.mem.count + failures + 1;
		r.ctx.stopped = KR_OK;
		assert_int_equal(kr_check_mechanisms(&r.ctx, &r.h, &options, &verdict, &r.err), KR_OK);
		done = r.ctx.mem.count < r.ctx.mem.fail_at;
		r.ctx.mem.fail_at = 0;
		if (done)
			assert_int_equal(verdict.outcome, KR_VIOLATED);
		else
			assert_string_equal(verdict.reason, "out of memory");
		kr_findings_done(&verdict.findings);
		assert_int_equal(r.ctx.mem.used, used);
	}
	assert_true(failures > 30);
	reading_done(&r);
}

/* ---- certain order ---- */

static const struct { const char *trace, *expected; } orders[] = {
	{"T1: w x 1 10 11, c 20 21; T2: w x 2 12 22, c 30 31", "x: T1 T2; "},                          /* L10: T2 waited for the lock */
	{"T1 auto: w x 1 10 20; T2 auto: w x 2 12 22", ""},                                              /* L16: either way */
	{"T1: w x 1 10 11, c 12 13; T2: w x 2 20 21, c 22 23; T3: w x 3 30 31, c 32 33", "x: T1 T2; x: T2 T3; "}, /* the next layer only */
	{"T1 auto: w x 1 10 20; T2 auto: w x 2 12 22; T3: r x 1 30 31, c 32 33", "x: T2 T1; "},          /* both were there, and T1's was the newer one */
	{"T1: w x 1 10 11, ? 12 -; T2: w x 2 20 21, c 22 23", ""},                                       /* what may not be there is not told */
};

static void order_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(orders); i++) {
		const struct row row = {"", orders[i].trace, "", "", NULL, NULL};
		const struct kr_batch_options options = {.profile = kr_profile_find("postgresql-rc")};
		struct kr_told_orders told = {0};
		struct writing w = {.n = 0};
		struct kr_str text;
		struct reading r;

		reading_init(&r);
		reading_good(&r, native(&row, &w));
		assert_int_equal(kr_batch_order(&r.ctx, &r.h, &options, &told, &r.err), KR_OK);
		kr_str_init(&text, &r.ctx.mem);
		for (uint32_t o = 0; o < told.n; o++) {
			kr_history_print_name(&r.h, r.h.keys.at[told.at[o].key.i].name, &text);
			kr_str_add(&text, ": ");
			show_txn(&r.h, told.at[o].before, &text);
			kr_str_add(&text, " ");
			show_txn(&r.h, told.at[o].after, &text);
			kr_str_add(&text, "; ");
		}
		assert_string_equal(kr_str_text(&text), orders[i].expected);
		kr_str_done(&text);
		kr_vec_done(&r.ctx.mem, &told);
		reading_done(&r);
	}
}

static const struct { const char *text, *message; } bad_profiles[] = {
	{"[]", "profile: expected one JSON object"},
	{"{\"locks\": {}}", "profile: field \"reads\": expected one of statement, transaction, latest, uncommitted"},
	{"{\"reads\": \"latest\"}", "profile: field \"locks\": expected an object with \"read\", \"share\", \"update\" and \"write\""},
	{"{\"reads\": \"latest\", \"locks\": {\"read\": \"Z\"}}", "profile: field \"locks.read\": expected one of none, S, X"},
	{"{\"reads\": \"latest\", \"fuw\": 1, \"locks\": {\"read\": \"S\", \"share\": \"S\", \"update\": \"X\", \"write\": \"X\"}}",
		"profile: field \"fuw\": expected true or false"},
	{"{\"reads\": \"latest\", \"certify\": \"ser soon\", \"locks\": {\"read\": \"S\", \"share\": \"S\", \"update\": \"X\", \"write\": \"X\"}}",
		"profile: field \"certify\": expected a level, perhaps with a blank and an order, or \"none\""},
	{"{\"reads\": \"latest\", \"lock\": {}}", "profile: unknown field \"lock\""},
};

static void bad_profiles_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(bad_profiles); i++) {
		struct kr_profile out;
		struct kr_arena arena;
		struct kr_mem mem;
		struct kr_err err;

		kr_err_init(&err);
		kr_mem_init(&mem, SIZE_MAX);
		kr_arena_init(&arena, &mem);
		assert_int_equal(kr_profile_parse(bad_profiles[i].text, strlen(bad_profiles[i].text), &arena, &out, &err), KR_BAD);
		assert_string_equal(err.text, bad_profiles[i].message);
		kr_arena_done(&arena);
	}
}

/* A row as --json shows it is read back as the same row. */
static void rows_are_read_back(void **state)
{
	const struct kr_profile *row;
	struct kr_arena arena;
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_arena_init(&arena, &mem);
	for (size_t i = 0; (row = kr_profile_at(i, NULL)) != NULL; i++) {
		struct kr_profile out;
		struct kr_str text, again;
		struct kr_err err;

		kr_err_init(&err);
		kr_str_init(&text, &mem);
		kr_str_init(&again, &mem);
		kr_str_format(&text, "{\"name\": \"%s\"", row->name);
		kr_profile_json(row, &text);
		kr_str_add(&text, "}");
		if (kr_profile_parse(kr_str_text(&text), text.n, &arena, &out, &err))
			fail_msg("%s: %s", row->name, err.text);
		kr_str_format(&again, "{\"name\": \"%s\"", out.name);
		kr_profile_json(&out, &again);
		kr_str_add(&again, "}");
		assert_string_equal(kr_str_text(&text), kr_str_text(&again));
		kr_str_done(&text);
		kr_str_done(&again);
	}
	kr_arena_done(&arena);
}

/* ---- rows ---- */

static const char no_write_locks[] = "{\"reads\": \"statement\", \"locks\": {\"read\": \"none\", \"share\": \"none\", \"update\": \"none\", \"write\": \"none\"}}";
static const char dup_reported[] = "{\"reads\": \"transaction\", \"snapshot_at\": \"statement\", \"locking_reads\": \"snapshot\", \"dml_reads\": \"snapshot\", "
	"\"dup_rows\": \"report\", \"locks\": {\"read\": \"none\", \"share\": \"S\", \"update\": \"X\", \"write\": \"X\"}}";

static const char changes_only[] = "{\"reads\": \"transaction\", \"locking_reads\": \"snapshot\", "
				   "\"dml_reads\": \"snapshot\", \"noop\": \"none\", "
				   "\"certify\": \"ser\", \"locks\": {\"read\": \"none\", \"share\": "
				   "\"none\", \"update\": \"none\", \"write\": \"none\"}}";

#define OVER_BY_LOCKS "T1: w x 1 10 11, c 12 20; T2: w x 2 13 14, c 15 19; T3: r x 1 30 31, c 32 33"

static const struct row rows[] = {
	/* what the specification lists */
	{"L1 a read before the commit was answered", "T1: w x 1 10 12, c 30 32; T2: r x 0 20 21, c 22 23", "postgresql-rr", "", NULL, NULL},
	{"L2 overwritten long before", "T1: w x -386 10 11, c 12 13; T2: w x 484 20 21, c 22 23; T3: r x -386 30 31, c 32 33", ANY, "CR garbage T3 x {484}", NULL, NULL},
	{"L3 ordered by locks", OVER_BY_LOCKS, "postgresql-rc", "CR garbage T3 x {2}", NULL, NULL},
	{"L3 without locks", OVER_BY_LOCKS, "", "", no_write_locks, NULL},
	{"L4 read before it was written", "T2: r x 1 5 6, c 7 8; T1: w x 1 10 11, c 12 13", "postgresql-rc", "CR future T2 x", NULL, NULL},
	{"L5 read before it was committed", "T1: w x 1 10 11, c 20 21; T2: r x 1 13 14, c 15 16", "postgresql-rc", "CR future T2 x", NULL, NULL},
	{"L5 at read uncommitted", "T1: w x 1 10 11, c 20 21; T2: r x 1 13 14, c 15 16", "mariadb-ru", "", NULL, NULL},
	{"L6 of a writer that aborts", "T1: w x 1 10 11, a 20 21; T2: r x 1 13 14, c 15 16", "postgresql-rc", "CR aborted T2 x", NULL, NULL},
	{"L7 a read that is not repeatable", "T1: r x 0 10 11, r x 1 20 21, c 22 23; T2: w x 1 12 13, c 14 15", "postgresql-rc", "", NULL, NULL},
	{"L7 at repeatable read", "T1: r x 0 10 11, r x 1 20 21, c 22 23; T2: w x 1 12 13, c 14 15", "postgresql-rr", "CR future T1 x", NULL, NULL},
	{"L8 its own write", "T1: w x 1 10 11, r x 0 12 13, c 14 15", "postgresql-rc", "CR own write T1 x", NULL, NULL},
	{"L9 two locks at once", "T1: w x 1 10 14, c 16 20; T2: w x 2 11 15, c 17 21", "postgresql-rc mariadb-rr mariadb-rc", "ME write-write T1 T2 x", NULL, NULL},
	{"L10 a lock that was waited for", "T1: w x 1 10 11, c 20 21; T2: w x 2 12 22, c 30 31", ANY, "", NULL, NULL},
	{"L11 two locks at once, the second later", "T1: w x 1 10 11, c 30 31; T2: w x 2 12 13, c 20 21", "postgresql-rc mariadb-rr", "ME write-write T1 T2 x", NULL, NULL},
	{"L12 lost update", "T1: r x 0 10 11, w x 1 30 31, c 32 33; T2: r x 0 12 13, w x 2 20 21, c 22 23", "postgresql-rr", "FUW concurrent writers T1 T2 x", NULL, NULL},
	{"L12 at read committed", "T1: r x 0 10 11, w x 1 30 31, c 32 33; T2: r x 0 12 13, w x 2 20 21, c 22 23", "postgresql-rc", "", NULL, NULL},
	{"L13 lost update of a blind write", "T1: r x 0 10 11, w x 1 30 31, c 32 33; T2: w x 2 20 21, c 22 23", "mariadb-rr", "", NULL, NULL},
	{"L13 where the first updater wins", "T1: r x 0 10 11, w x 1 30 31, c 32 33; T2: w x 2 20 21, c 22 23", "postgresql-rr mariadb-rr-si",
		"FUW concurrent writers T1 T2 x", NULL, NULL},
	{"L14 write skew", "T1: r x 0 10 11, r y 0 12 13, w y 1 20 21, c 30 31; T2: r x 0 10 11, r y 0 12 13, w x 1 20 21, c 30 31", "postgresql-ser", "SC T1 T2", NULL, NULL},
	{"L14 at repeatable read", "T1: r x 0 10 11, r y 0 12 13, w y 1 20 21, c 30 31; T2: r x 0 10 11, r y 0 12 13, w x 1 20 21, c 30 31", "postgresql-rr", "", NULL, NULL},
	{"L15 two rw in a row, commits 1 2 3", "T1: r x 0 10 11, c 30 31; T2: r y 0 10 11, w x 2 20 21, c 40 41; T3: w y 3 20 21, c 50 51", "postgresql-ser", "", NULL, NULL},
	{"L15 two rw in a row, commits 3 2 1", "T1: r x 0 10 11, c 50 51; T2: r y 0 10 11, w x 2 20 21, c 40 41; T3: w y 3 20 21, c 30 31", "postgresql-ser", "", NULL, NULL},
	{"L16 autocommit at the same time", "T1 auto: w x 1 10 20; T2 auto: w x 2 12 22", ANY, "", NULL, NULL},
	{"L17 no reply, and not there", "T1: w x 1 10 11, ? 12 -; T2: r x 0 20 21, c 22 23", ANY, "", NULL, NULL},
	{"L17 no reply, and there", "T1: w x 1 10 11, ? 12 -; T2: r x 1 20 21, c 22 23", ANY, "", NULL, NULL},
	{"L18 the other had committed", "T0: w x 17702 2 3, c 4 5; T1: w x 18 10 11, c 12 13; T2: r x 17702 14 15, c 16 17", "mariadb-rr", "CR garbage T2 x {18}", NULL, NULL},
	{"L18 the other may have committed later", "T0: w x 17702 2 3, c 4 5; T1: w x 18 10 11, c 12 16; T2: r x 17702 14 15, c 16 17", "mariadb-rr", "", NULL, NULL},
	{"L22 one snapshot, two statements", "T1: w x 1 10 11, c 12 30; T2: w y 1 32 33, c 34 50; T3: r x 0 20 40, r y 1 41 42, c 60 61", "postgresql-rr",
		"CR no common snapshot T3 y", NULL, NULL},
	{"L22 one SELECT", "T1: w x 1 10 11, c 12 30; T2: w y 1 32 33, c 34 50; T3: R x z x=0 y=1 20 40, c 60 61", "postgresql-rr postgresql-rc",
		"CR no common snapshot T3 y", NULL, NULL},
	{"L23 a row deleted and made again", "T1: d x 1 10 11, i x 7 1 13 14, c 20 21; T2: rx x - 12 22, c 23 24", "postgresql-rc", "", NULL, NULL},
	{"L23 without waiting", "T1: d x 1 10 11, i x 7 1 13 14, c 20 21; T2: rx x - 22 23, c 24 25", "postgresql-rc", "CR intermediate T2 x", NULL, NULL},
	{"L24 its COMMIT failed", "T1: w x 1 10 11, f 20 21; T2: w x 2 14 15, c 16 17", ANY, "", NULL, NULL},
	{"L24 its ROLLBACK was answered", "T1: w x 1 10 11, a 20 21; T2: w x 2 14 15, c 16 17", ANY, "ME write-write T1 T2 x", NULL, NULL},
	{"L25 an aborted reader", "T1: w x 1 2 3, c 4 5; T2: r x 9 10 11, r x 0 12 13, a 14 15", "postgresql-rc", "CR never written T2 x; CR garbage T2 x {1}", NULL, NULL},
	{"L25 an unknown writer that was seen is a node", "T1: r x 0 10 11, w y 1 12 13, ? 14 -; T2: r y 1 20 21, r x 0 22 23, w z 1 24 25, c 26 27; "
		"T3: r z - 10 11, w x 2 12 13, c 14 15", "postgresql-ser", "CR garbage T2 x {2}", NULL, NULL},
	{"L25 its cycle", "T1: r x 0 10 11, r y 0 12 13, w y 1 20 21, ? 30 -; T2: r x 0 10 11, r y 0 12 13, w x 1 20 21, c 30 31; T3: r y 1 40 41, c 42 43", "postgresql-ser",
		"SC T1 T2", NULL, NULL},
	{"L25 unseen, it is none", "T1: r x 0 10 11, r y 0 12 13, w y 1 20 21, ? 30 -; T2: r x 0 10 11, r y 0 12 13, w x 1 20 21, c 30 31", "postgresql-ser", "", NULL, NULL},

	{"no reply, seen before its like is written",
		"T1 auto: w z 1 10 -, ?; T2: r z 1 20 21, r z - 22 23, c 24 25; T3: w z 1 40 41, c 42 43",
		"sqlite-ser mariadb-ser postgresql-ser", "SC T1 T2", NULL, NULL},
	{"nor does it matter for what else it wrote",
		"T1: w z 1 10 11, w v 2 12 13, ? 14 -; T2: r z 1 20 21, r v - 22 23, c 24 25; T3: w v 2 40 "
		"41, c 42 43",
		"", "SC T1 T2", changes_only, NULL},
	{"what may have been there before may have made no version",
		"T1: w z 1 10 11, w v 2 12 13, ? 14 -; T2: r z 1 20 21, r v - 22 23, c 24 25; "
		"T3: w v 2 15 16, c 17 30",
		"", "", changes_only, NULL},

	{"a pair beside a cycle",
		"T1: r x 0 10 11, w y 1 12 13, c 30 31; T2: r y 0 10 11, w z 1 12 13, c 30 31; "
		"T3: r z - 10 11, w x 1 12 13, c 30 31; "
		"T4: r x 0 10 11, r y 0 12 13, r z - 14 15, w x 2 40 41, w y 2 42 43, w z 2 44 45, c 46 47",
		"postgresql-ser",
		"FUW concurrent writers T3 T4 x; FUW concurrent writers T1 T4 y; "
		"FUW concurrent writers T2 T4 z; SC T1 T2 T3",
		NULL, NULL},
	{"a pair on each cycle",
		"T1: r x 0 10 11, w y 1 12 13, c 30 31; "
		"T4: r x 0 10 11, r y 0 12 13, w x 2 40 41, w y 2 42 43, c 46 47",
		"postgresql-ser", "FUW concurrent writers T1 T4 y", NULL, NULL},

	/* shapes of published bugs */
	{"bug 1 dirty write", "T1: u x 1 10 12, c 20 22; T2: u x 2 11 13, c 21 23", "mariadb-rr postgresql-rc", "ME write-write T1 T2 x", NULL, NULL},
	{"bug 3 a lock that excluded nobody", "T1: rx x 0 10 11, c 30 31; T2: rx x 0 12 13, c 20 21", "mariadb-rr postgresql-rc", "ME write-write T1 T2 x", NULL, NULL},
	{"bug 4 waiting without need", "T1: rs x 0 10 11, c 30 31; T2: rs x 0 12 32, c 33 34", "mariadb-rr postgresql-rc mariadb-ser", "", NULL, NULL},
	{"bug 5 duplicate rows and locks at once", "T1: i z 1 1 10 11, c 30 31; T2: i z 2 1 12 13, Rx z zz z=1 z=2 14 15, c 20 21", "mariadb-rr",
		"CR duplicate row T2 z; ME write-write T1 T2 z", NULL, NULL},
	{"bug 5 as its reader", "T1: i z 1 1 10 11, c 30 31; T3: R z zz z=1 z=1 14 15, c 20 21", "mariadb-rr",
		"CR future T3 z; CR future T3 z; CR duplicate row T3 z", NULL, NULL},
	{"bug 6 and 13 a stale read in a transaction", "T1: w x 5 2 3, c 4 5; T2: r x 0 10 11, c 12 13", "mariadb-rr mariadb-rc", "CR garbage T2 x {5}", NULL, NULL},
	{"bug 9 and 18 a value that nobody wrote", "T1: w x 5 2 3, c 4 5; T2: r x 77 10 11, c 12 13", ANY, "CR never written T2 x", NULL, NULL},
	{"bug 16 an insert into a locked range", "T1: Rx a m b=3 10 11, c 40 41; T2: i c 4 1 12 13, c 14 15; T0: w b 3 1 2, c 3 4", "mariadb-rr", "ME range T1 T2 c", NULL, NULL},
	{"bug 16 where ranges are not locked", "T1: Rx a m b=3 10 11, c 40 41; T2: i c 4 1 12 13, c 14 15; T0: w b 3 1 2, c 3 4", "postgresql-rc", "", NULL, NULL},
	{"bug 17 read uncommitted shows what is gone", "T1: w x 1 2 3, w x 2 4 5, c 6 7; T2: r x 1 10 11, c 12 13", "mariadb-ru", "CR uncommitted T2 x", NULL, NULL},
	{"bug 19 write skew", "T1: r x 0 1 2, r y 0 3 4, w x 1 5 6, c 20 21; T2: r x 0 1 2, r y 0 3 4, w y 1 7 8, c 22 23", "postgresql-ser", "SC T1 T2", NULL, NULL},
	{"bug 20 both versions of an own row", "T0: w z 1 1 2, c 3 4; T1: r y 0 5 6, i z 2 1 12 13, R z zz z=1 z=2 14 15, c 16 17; T2: d z 1 7 8, c 9 10", "postgresql-rr", "", NULL, NULL},
	{"bug 20 where that is reported", "T0: w z 1 1 2, c 3 4; T1: r y 0 5 6, i z 2 1 12 13, R z zz z=1 z=2 14 15, c 16 17; T2: d z 1 7 8, c 9 10", "", "CR duplicate row T1 z",
		dup_reported, NULL},
	{"bug 20 where a condition hides the own row", ROW_OF_BOTH ", S 1 2 z=1 14 15, c 16 17", "postgresql-rr postgresql-ser", "", NULL, NULL},
	{"bug 20 where a limit hides the own row", ROW_OF_BOTH ", R1 z zz z=1 14 15, c 16 17", "postgresql-rr postgresql-ser", "", NULL, NULL},
	{"bug 20 where nothing hides the own row", ROW_OF_BOTH ", R z zz z=1 14 15, c 16 17", "postgresql-rr", "CR own write T1 z", NULL, NULL},
	{"bug 20 where the condition holds for the own row, too", ROW_OF_BOTH ", S 1 3 z=1 14 15, c 16 17", "postgresql-rr", "CR own write T1 z", NULL, NULL},
	{"bug 20 where the other row was never there", ROW_OF_BOTH ", S 1 2 z=1.5 14 15, c 16 17", "postgresql-rr", "CR never written T1 z", NULL, NULL},
	{"bug 20 where the other row was gone before", "T0: w z 1 1 2, c 3 4; T2: d z 1 5 6, c 7 8; T1: r y 0 9 10, i z 2 1 12 13, S 1 2 z=1 14 15, c 16 17", "postgresql-rr",
		"CR garbage T1 z {null}", NULL, NULL},
	{"bug 20 where the own row is the old one", "T0: w z 1 1 2, c 3 4; T1: r y 0 5 6, u z 2 12 13, S 1 2 z=1 14 15, c 16 17", "postgresql-rr", "CR own write T1 z", NULL,
		NULL},
	{"bug 20 where rows have no second", ROW_OF_BOTH ", S 1 2 z=1 14 15, c 16 17", "mariadb-rr", "CR own write T1 z", NULL, NULL},
	{"bug 21 lost update", "T1: r x 5 10 11, u x 6 20 21, c 22 23; T2: r x 5 12 13, u x 7 30 31, c 32 33; T0: w x 5 1 2, c 3 4", "postgresql-rr", "FUW concurrent writers T1 T2 x", NULL, NULL},
	{"bug 22 a snapshot before BEGIN's first read", "T1: u y 1 10 11, r x 1 30 31, c 32 33; T2: w x 1 20 21, c 22 23", "postgresql-rr", "CR future T1 x", NULL, NULL},
	{"bug 22 where plain reads take it", "T1: u y 1 10 11, r x 1 30 31, c 32 33; T2: w x 1 20 21, c 22 23", "mariadb-rr", "", NULL, NULL},
	{"bug 23 a read of what commits later", "T1: w x 1 10 11, c 30 31; T2: r x 1 20 21, c 22 23", "postgresql-rc mariadb-rc mariadb-rr", "CR future T2 x", NULL, NULL},
	{"A3 a key twice", "T0: w z 1 1 2, c 3 4; T1: R z zz z=1 z=1 10 11, c 12 13", "mariadb-rr postgresql-rr", "CR duplicate row T1 z", NULL, NULL},

	/* timestamps */
	{"A1 two writers at once", "T1: w x 1 0 0, stamp 1 2; T2: w x 2 0 0, stamp 3 5; T5: r x 1 0 0, w y 1 0 0, stamp 4 7; T3: r x 2 0 0, w y 2 0 0, stamp 6 9; T4: r y 1 0 0, stamp 8 10",
		"timestamps-si", "FUW concurrent writers T5 T3 y", NULL, NULL},
	{"A2 stale after two writers", "T1: w x 1 0 0, stamp 1 2; T2: w x 2 0 0, stamp 3 4; T3: r x 1 0 0, stamp 5 6", "timestamps-si", "CR garbage T3 x {2}", NULL, NULL},
	{"A3 start after commit", "T1: w x 1 0 0, stamp 5 2", "timestamps-si", "transaction T1 starts (`snapshot`) after it commits (`commit_ts`)", NULL, NULL},
	{"A4 start before the session's last commit", "T1/s: w x 1 0 0, stamp 1 4; T2/s: r x 0 0 0, stamp 3 5", "timestamps-si", "SESSION session T1 T2", NULL, NULL},
	{"A4 by commit", "T1/s: w x 1 0 0, stamp 1 4; T2/s: r x 1 0 0, stamp 3 5", "timestamps-ser", "", NULL, NULL},
	{"A4 without sessions", "T1/s: w x 1 0 0, stamp 1 4; T2/s: r x 0 0 0, stamp 3 5", "timestamps-si", "", NULL, ", \"note\": \"no_session\""},
	{"A5 its own write", "T1: w x 1 0 0, r x 0 0 0, stamp 1 2", "timestamps-si", "CR own write T1 x", NULL, NULL},
	{"A5 a read that changes", "T0: w x 1 0 0, stamp 1 2; T1: r x 1 0 0, r x 0 0 0, stamp 3 4", "timestamps-si", "CR own write T1 x", NULL, NULL},
	{"A6 commit and start are equal", "T1: w x 1 0 0, stamp 1 2; T2: r x 1 0 0, w x 2 0 0, stamp 2 3", "timestamps-si", "", NULL, NULL},
	{"A7 read-only, start and commit are equal", "T1: r x 0 0 0, stamp 2 2", "timestamps-si", "", NULL, NULL},
	{"A7 writing", "T1: w x 1 0 0, stamp 2 2", "timestamps-si", "transaction T1 writes, and starts (`snapshot`) when it commits (`commit_ts`)", NULL, NULL},
	{"A8 T5 last", "T1: w x 1 0 0, stamp 1 2; T2: w x 2 0 0, stamp 3 5; T3: r x 2 0 0, w y 2 0 0, stamp 6 9; T4: r y 1 0 0, stamp 8 10; T5: r x 1 0 0, w y 1 0 0, stamp 4 7",
		"timestamps-si", "FUW concurrent writers T3 T5 y", NULL, NULL},
	{"A9 without T5", "T1: w x 1 0 0, stamp 1 2; T2: w x 2 0 0, stamp 3 5; T3: r x 2 0 0, w y 2 0 0, stamp 6 9; T4: r y 1 0 0, stamp 8 10", "timestamps-si", "CR never written T4 y", NULL, NULL},
	{"A11 write skew", "T1: r x 0 0 0, r y 0 0 0, w x 1 0 0, stamp 1 3; T2: r x 0 0 0, r y 0 0 0, w y 1 0 0, stamp 2 4", "timestamps-si", "", NULL, NULL},
	{"A11 as a serial order", "T1: r x 0 0 0, r y 0 0 0, w x 1 0 0, stamp 1 3; T2: r x 0 0 0, r y 0 0 0, w y 1 0 0, stamp 2 4", "timestamps-ser", "CR garbage T2 x {1}", NULL, NULL},
	{"stamps that are missing", "T1: w x 1 0 0, c 1 2", "timestamps-si", "transaction T1 has no `snapshot` and `commit_ts`, which this profile goes by", NULL, NULL},

	/* each rule, from both sides */
	{"equal ticks may be either way", "T1: w x 1 10 11, c 12 20; T2: r x 0 20 21, c 22 23", ANY, "", NULL, NULL},
	{"a tick apart they may not", "T1: w x 1 10 11, c 12 20; T2: r x 0 21 22, c 23 24", ANY, "CR garbage T2 x {1}", NULL, NULL},
	{"skew explains it", "T1: w x 1 10 11, c 12 20; T2: r x 0 21 22, c 23 24", ANY, "", NULL, ", \"clock_skew\": 1"},
	{"skew is not enough", "T1: w x 1 10 11, c 12 20; T2: r x 0 23 24, c 25 26", ANY, "CR garbage T2 x {1}", NULL, ", \"clock_skew\": 2"},
	{"an unknown version overwrites nothing", "T1: w x 1 1 2, c 3 4; T2: w x 2 5 6, ? 7 -; T3: r x 1 20 21, c 22 23; T4: r x 2 30 31, c 32 33", LOCKING, "", NULL, NULL},
	{"an unknown version may be followed", "T2: w x 2 5 6, ? 7 -; T1: w x 1 10 11, c 12 13; T3: r x 2 20 21, c 22 23", "postgresql-rc", "CR garbage T3 x {1}", NULL, NULL},
	{"an intermediate value", "T1: w x 1 10 11, w x 2 12 13, c 14 15; T2: r x 1 20 21, c 22 23", ANY, "CR intermediate T2 x", NULL, NULL},
	{"what a savepoint took back", "T1: w x 1 10 11, undo 1 12 13, w y 1 14 15, c 16 17; T2: r x 1 20 21, r y 1 22 23, c 24 25", "postgresql-rc", "CR aborted T2 x", NULL, NULL},
	{"what was there before the savepoint is read again", "T1: w x 1 10 11, w x 2 12 13, undo 1 14 15, r x 1 16 17, c 18 19; T2: r x 1 20 21, c 22 23", ANY, "", NULL, NULL},
	{"a lock taken back is not certain", "T1: w x 1 10 11, undo 1 12 13, w y 1 14 15, c 30 31; T2: w x 2 16 17, c 18 19", "postgresql-rc mariadb-rr", "", NULL, NULL},
	{"a statement that failed holds nothing", "T1: r y 0 8 9, F w x 1 10 11, a 30 31; T2: w x 2 16 17, c 18 19", "postgresql-rc mariadb-rr", "", NULL, NULL},
	{"the database ended it while it was idle", "T1: w x 1 10 11, F w y 1 30 31, a 32 33; T2: w x 2 16 17, c 18 19", "postgresql-rc mariadb-rr", "", NULL, NULL},
	{"aborted transactions hold locks", "T1: w x 1 10 11, a 30 31; T2: w x 2 16 17, c 18 19", "postgresql-rc mariadb-rr", "ME write-write T1 T2 x", NULL, NULL},
	{"share locks share", "T1: rs x 0 10 11, c 30 31; T2: rs x 0 12 13, c 20 21", "postgresql-rc mariadb-rr", "", NULL, NULL},
	{"share locks exclude writers", "T1: rs x 0 10 11, c 30 31; T2: w x 1 12 13, c 20 21", "postgresql-rc mariadb-rr", "ME write-read T1 T2 x", NULL, NULL},
	{"plain reads lock", "T1: r x 0 10 11, c 30 31; T2: w x 1 12 13, c 20 21", "mariadb-ser", "ME write-read T1 T2 x", NULL, NULL},
	{"plain reads do not lock", "T1: r x 0 10 11, c 30 31; T2: w x 1 12 13, c 20 21", "mariadb-rr postgresql-ser", "", NULL, NULL},
	{"autocommit reads do not lock", "T1 auto: r x 0 12 13; T2: w x 1 10 11, c 20 21", "mariadb-ser", "", NULL, NULL},
	{"matching nothing locks nothing", "T1: rx z - 10 11, c 30 31; T2: i z 1 1 12 13, c 20 21", "postgresql-rc postgresql-rr mariadb-rr", "", NULL, NULL},
	{"one writer at a time in a whole database", "T1: w x 1 10 11, c 30 31; T2: w y 1 12 13, c 20 21", "sqlite-ser", "FUW concurrent writers T1 T2 y; ME write-write T1 T2 y", NULL, NULL},
	{"an insert after another's delete is a new row", "T1: r y 0 1 2, i x 5 1 20 21, c 22 23; T2: d x 1 10 11, c 12 13", "postgresql-rr", "", NULL, NULL},
	{"unless that is checked", "T1: r y 0 1 2, i x 5 1 20 21, c 22 23; T2: d x 1 10 11, c 12 13", "mariadb-rr-si", "FUW concurrent writers T1 T2 x", NULL, NULL},
	{"an upsert where a delete may lie between", "T1: r y 0 1 2, w x 5 20 21, c 22 23; T2: d x 1 10 11, c 12 13", "postgresql-rr", "", NULL, NULL},
	{"an upsert where none does", "T1: r y 0 1 2, w x 5 20 21, c 22 23; T2: w x 4 10 11, c 12 13", "postgresql-rr", "FUW concurrent writers T1 T2 x", NULL, NULL},
	{"autocommit has no snapshot to lose", "T1 auto: w x 5 10 25; T2: r x 0 1 2, w x 4 12 13, c 14 15", "postgresql-rr", "", NULL, NULL},
	{"writing what is there is no version", "T1: r x 0 1 2, w x 5 20 21, c 22 23; T2: w x 0 10 11, c 12 13", "sqlite-ser mariadb-rr-si", "", NULL, NULL},
	{"where it is a version", "T1: r x 0 1 2, w x 5 20 21, c 22 23; T2: w x 0 10 11, c 12 13", "postgresql-rr", "FUW concurrent writers T1 T2 x", NULL, NULL},
	{"what a scan does not show", "T1: w z 5 1 2, c 3 4; T2: R a zz x=0 y=0 10 11, c 12 13", ANY, "CR garbage T2 z {5}", NULL, NULL},
	{"an insert that finds a row that is gone", "T1: w z 5 1 2, c 3 4; T3: d z 1 5 6, c 7 8; T2: i z 6 0 10 11, c 12 13", "postgresql-rc mariadb-rr", "CR garbage T2 z {null}", NULL, NULL},
	{"an insert sees the newest version", "T1: r x 0 1 2, i z 6 0 10 11, c 12 13; T3: w z 5 3 4, c 5 6", "postgresql-rr", "", NULL, NULL},
	{"an update of a row that is not there", "T2: u z 6 10 11, c 12 13", ANY, "CR never written T2 z", NULL, NULL},
	{"read locks are of the statement's own time", "T1: rx x 1 10 11, c 12 13; T2: w x 1 5 6, c 7 8", "mariadb-rr", "", NULL, NULL},
};

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(order_is_told), cmocka_unit_test(memory_may_run_out), cmocka_unit_test(bad_profiles_are_refused), cmocka_unit_test(rows_are_read_back)};
	struct CMUnitTest tests[KR_COUNT(rows) + KR_COUNT(others)];

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){rows[i].name, run, NULL, NULL, (void *)(uintptr_t)&rows[i]};
	memcpy(tests + KR_COUNT(rows), others, sizeof others);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
