/* The streaming engine against the batch, on runs of simulated databases (store_run.h) with planted faults and with rows
 * that are not the database's: what is found does not depend on how sessions interleave on arrival, on how often it is
 * looked for, or on what is forgotten; and it is what the batch finds in the whole trace.
 *
 * Of cycles the batch tells one a component, the stream one when it closes: there both find some, or neither. A class that
 * rests on a value that is written over and over may differ, since the batch knows all that comes later.
 *
 * KRAIT_ORACLE_COUNT: transactions for each case; KRAIT_ORACLE_SEED: other runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "asked.h"
#include "checkers/leopard.h"
#include "frontend/format.h"
#include "mechanisms/stream.h"
#include "report/finding.h"
#include "store_run.h"
#include "verify/grounds.h"

enum { RUN = 400, LINES = 4000, FOUND = 20000 };

/* ---- a run of the simulator as lines of a stream ---- */

struct line { const char *text; size_t length; int session; };

struct lines {
	char *header;
	struct line at[LINES];
	int n, sessions;
	char names[64][24];
};

static int session_of(struct lines *l, const char *text)
{
	const char *s = strstr(text, "\"s\": ");
	char name[24] = "";

	if (!s)
		fail_msg("a line without a session");
	size_t n = strcspn(s + 5, ",}");
	memcpy(name, s + 5, n < 23 ? n : 23);
	for (int i = 0; i < l->sessions; i++)
		if (strcmp(l->names[i], name) == 0)
			return i;
	assert_true(l->sessions < 64);
	strcpy(l->names[l->sessions], name);
	return l->sessions++;
}

static void split(const struct kr_str *trace, struct lines *out)
{
	const char *text = kr_str_text(trace), *end = text + trace->n, *newline = memchr(text, '\n', trace->n);
	size_t head = (size_t)(newline - text);

	out->n = out->sessions = 0;
	for (const char *at = newline + 1; at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		assert_true(newline && out->n < LINES);
		out->at[out->n].text = at;
		out->at[out->n].length = (size_t)(newline - at);
		out->at[out->n].session = session_of(out, at);
		out->n++;
	}
	out->header = malloc(head + 2000);
	int n = sprintf(out->header, "{\"krait\": 1, \"stream\": true, \"sessions\": [");
	for (int i = 0; i < out->sessions; i++)
		n += sprintf(out->header + n, "%s%s", i ? ", " : "", out->names[i]);
	n += sprintf(out->header + n, "], ");
	memcpy(out->header + n, text + strlen("{\"krait\": 1, "), head - strlen("{\"krait\": 1, "));
	out->header[n + (int)head - (int)strlen("{\"krait\": 1, ")] = '\0';
}

/* Another order of arrival: each session's lines stay in theirs. */
static void shuffle(struct lines *l, struct kr_rng *rng)
{
	static struct line mixed[LINES];
	int next[64] = {0};

	for (int i = 0; i < l->n;) {
		int s = (int)kr_rng_below(rng, (uint64_t)l->sessions), burst = 1 + (int)kr_rng_below(rng, 40);
		while (burst-- > 0) {
			while (next[s] < l->n && l->at[next[s]].session != s)
				next[s]++;
			if (next[s] == l->n)
				break;
			mixed[i++] = l->at[next[s]++];
		}
	}
	memcpy(l->at, mixed, (size_t)l->n * sizeof *mixed);
}

/* ---- what is found ---- */

struct found { char *at[FOUND]; int n; };

static void add(struct found *f, const char *text)
{
	assert_true(f->n < FOUND);
	f->at[f->n++] = strdup(text);
}

static void clear(struct found *f)
{
	while (f->n > 0)
		free(f->at[--f->n]);
}

/* Fields that do not have to agree: `line` depends on the arrival. */
static void drop_field(char *text, const char *name)
{
	char *at = strstr(text, name);

	if (at) {
		size_t n = strlen(name) + strspn(at + strlen(name), "0123456789");
		memmove(at, at + n, strlen(at + n) + 1);
	}
}

struct taking { struct found *found; const struct kr_profile *profile; const struct kr_level *certify; };

/* What a finding rests on holds, and is there where its mechanism compares instants. A finding that the stream tells with a class that
 * only more of the history shows is refused, but not for what it rests on. */
static void check_grounds(const struct taking *t, const struct kr_history *h, const struct kr_marks *marks, const struct kr_findings *findings)
{
	struct kr_basis *basis = NULL;
	struct kr_ctx ctx;

	kr_ctx_init(&ctx, 0, 0);
	assert_int_equal(kr_basis_new(&ctx, h, (struct kr_claims){t->profile, t->certify, marks}, findings, &basis), KR_OK);
	for (uint32_t i = 0; i < findings->list.n; i++) {
		const struct kr_finding *f = &findings->list.at[i];
		struct kr_grounds grounds;
		enum kr_status status = kr_basis_of(basis, f, &grounds);
		assert_true(status == KR_OK || (status == KR_BAD && marks && f->mechanism == KR_MECH_CR));
		assert_true(f->mechanism != KR_MECH_ME || grounds.gaps.n == 2);
		assert_true(f->mechanism != KR_MECH_FUW || grounds.gaps.n > 0);
		assert_true(f->what != KR_FOUND_FUTURE || f->writer.i == f->txns[0].i || grounds.gaps.n == 1);
		for (uint32_t g = 0; g < grounds.gaps.n; g++) {
			const struct kr_gap *gap = &grounds.gaps.at[g];
			assert_true(gap->before.at < gap->after.at || (gap->touches && gap->before.at == gap->after.at));
		}
		kr_grounds_done(&grounds);
	}
	kr_basis_free(basis);
}

static enum kr_status take_findings(void *data, const struct kr_history *window, const struct kr_marks *marks, const struct kr_findings *findings)
{
	struct taking *t = data;
	struct kr_finding_report report = {NULL, window, t->profile, t->certify, findings};

	check_grounds(t, window, marks, findings);
	for (uint32_t i = 0; i < findings->list.n; i++) {
		struct kr_str text;
		kr_str_init(&text, findings->mem);
		kr_report_finding_json(&report, &findings->list.at[i], &text);
		char *copy = strdup(kr_str_text(&text));
		drop_field(copy, ", \"line\": ");
		add(t->found, copy);
		free(copy);
		kr_str_done(&text);
	}
	return KR_OK;
}

static enum kr_status never_late(void *data, const struct kr_history *h, kr_session session, uint32_t line, int64_t invoked, int64_t watermark)
{
	(void)data, (void)h, (void)session;
	fail_msg("line %u, sent at %lld, is late at %lld", line, (long long)invoked, (long long)watermark);
	return KR_OK;
}

static void write_file(char *path, const struct kr_str *trace)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, kr_str_text(trace), trace->n), (ssize_t)trace->n);
	close(fd);
}

static enum kr_status tell_lines(struct kr_stream *s, const struct lines *l, struct kr_err *err)
{
	enum kr_status status = kr_stream_line(s, l->header, strlen(l->header), 1, err);

	for (int i = 0; i < l->n && !status; i++)
		status = kr_stream_line(s, l->at[i].text, l->at[i].length, (uint32_t)i + 2, err);
	for (int i = 0; i < l->sessions && !status; i++) {
		char now[64];
		snprintf(now, sizeof now, "{\"s\": %s, \"now\": null}", l->names[i]);
		status = kr_stream_line(s, now, strlen(now), (uint32_t)(l->n + i) + 2, err);
	}
	return status;
}

/* l NULL: the trace at `path`, read whole. */
static void stream(const struct lines *l, const char *path, const struct kr_profile *profile, uint32_t round, bool keep, struct found *out, const char *what)
{
	struct taking taking = {out, profile, NULL};
	struct kr_engine_options options = {.batch = {.profile = profile}, .sink = {.data = &taking, .findings = take_findings, .late = never_late}, .round = round, .keep = keep};
	struct kr_engine *engine;
	struct kr_stream *s;
	struct kr_ctx ctx;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_profile_level(NULL, profile, &options.batch.certify, &err), KR_OK);
	taking.certify = options.batch.certify;
	assert_int_equal(kr_engine_new(&ctx, &options, &engine, &err), KR_OK);
	struct kr_sink sink = {engine, kr_engine_take};
	assert_int_equal(l ? kr_stream_new(&ctx, "run", &sink, &s) : kr_stream_whole(&ctx, path, "native", &sink, &s, &err), KR_OK);
	kr_engine_attach(engine, s);
	bool more = false;
	enum kr_status status = l ? tell_lines(s, l, &err) : kr_stream_next(s, NULL, &more, &err);
	assert_false(more);
	if (!status)
		status = kr_engine_end(engine, &err);
	if (status)
		fail_msg("%s: line %u: %s", what, err.line, err.text);
	kr_engine_free(engine);
	kr_stream_free(s);
	assert_int_equal(ctx.mem.used, 0);
}

static void batch(const struct kr_str *trace, const struct kr_profile *profile, struct found *out)
{
	char path[] = "/tmp/krait-stream-XXXXXX";
	struct kr_read_options options = {.format = "native"};
	struct kr_batch_options asked = {.profile = profile};
	struct kr_mechanisms_verdict verdict;
	struct kr_history h;
	struct kr_ctx ctx;
	struct kr_err err;

	write_file(path, trace);
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	if (kr_read_trace(&ctx, path, &options, &h, &err) || kr_profile_level(NULL, profile, &asked.certify, &err) ||
		kr_check_mechanisms(&ctx, &h, &asked, &verdict, &err))
		fail_msg("%s:%u: %s", path, err.line, err.text);
	struct taking taking = {out, profile, asked.certify};
	take_findings(&taking, &h, NULL, &verdict.findings);
	kr_findings_done(&verdict.findings);
	kr_history_done(&h);
	unlink(path);
}

/* ---- comparing ---- */

struct streamed { const char *name, *store, *row; enum fault fault; int share; bool repeated; int unknown, killed, automatic, skew; bool columns; uint64_t first; };
/* first: the number of the first run */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool is_cycle(const char *text) { return strstr(text, "\"mechanism\": \"SC\"") && strstr(text, "\"cycle\""); }

/* The class of what no version explains may rest on what comes much later, where a value is written again. */
static void forget_class(char *text, bool repeated)
{
	static const char *const classes[] = {"\"class\": \"aborted\"", "\"class\": \"intermediate\"", "\"class\": \"future\"", "\"class\": \"never written\""};
	char *why = strstr(text, ", \"why\": ");

	for (size_t i = 0; i < 2; i++) /* who wrote it may be forgotten */
		if (strstr(text, classes[i]))
			*why = '\0';
	for (size_t i = 0; i < KR_COUNT(classes) && (repeated || strstr(text, "\"seen\": null") || !strstr(text, "\"seen\": ")); i++) {
		char *at = strstr(text, classes[i]);
		if (!at)
			continue;
		*why = '\0';
		memmove(at + strlen("\"class\": \"vain\""), at + strlen(classes[i]), strlen(at + strlen(classes[i])) + 1);
		memcpy(at, "\"class\": \"vain\"", strlen("\"class\": \"vain\""));
		return;
	}
}

/* What does not depend on how the file is ordered: mechanism, class, transactions, key. */
static void canonical(char *text)
{
	char mechanism[16] = "", class[32] = "", a[40] = "", b[40] = "", key[40] = "", op[16] = "";
	const char *at = strstr(text, "\"txns\": [");

	sscanf(strstr(text, "\"mechanism\": ") + 13, "\"%15[^\"]", mechanism);
	sscanf(strstr(text, "\"class\": ") + 9, "\"%31[^\"]", class);
	sscanf(at + 9, "%39[^],], %39[^]]", a, b);
	if ((at = strstr(text, "\"key\": ")) && strcmp(class, "no common snapshot") != 0)
		sscanf(at + 7, "%39[^,]", key);
	if ((at = strstr(text, "\"op\": ")) && strcmp(class, "no common snapshot") != 0)
		sscanf(at + 6, "%15[0-9]", op);
	bool turned = b[0] && strcmp(a, b) > 0;
	sprintf(text, "%s %s %s %s %s %s", mechanism, class, turned ? b : a, turned ? a : b, strcmp(mechanism, "ME") == 0 ? "" : key, op);
}

static void compare(const struct found *x, const struct found *y, bool broadly, const struct streamed *c, const char *what)
{
	struct found a = {0}, b = {0};
	int cycles[2] = {0};

	for (int i = 0; i < x->n; i++)
		is_cycle(x->at[i]) ? (void)cycles[0]++ : add(&a, x->at[i]);
	for (int i = 0; i < y->n; i++)
		is_cycle(y->at[i]) ? (void)cycles[1]++ : add(&b, y->at[i]);
	for (int i = 0; i < a.n; i++) {
		drop_field(a.at[i], ", \"cycles\": ");
		forget_class(a.at[i], c->repeated);
		broadly ? canonical(a.at[i]) : (void)0;
	}
	for (int i = 0; i < b.n; i++) {
		drop_field(b.at[i], ", \"cycles\": ");
		forget_class(b.at[i], c->repeated);
		broadly ? canonical(b.at[i]) : (void)0;
	}
	qsort(a.at, (size_t)a.n, sizeof *a.at, by_text);
	qsort(b.at, (size_t)b.n, sizeof *b.at, by_text);
	for (int i = 0; i < a.n || i < b.n; i++)
		if (i >= a.n || i >= b.n || strcmp(a.at[i], b.at[i]) != 0)
			fail_msg("%s: %d findings and %d, number %d:\n%s\n%s", what, a.n, b.n, i, i < a.n ? a.at[i] : "(none)", i < b.n ? b.at[i] : "(none)");
	if ((cycles[0] > 0) != (cycles[1] > 0))
		fail_msg("%s: %d cycles and %d", what, cycles[0], cycles[1]);
	clear(&a);
	clear(&b);
}

static void compare_order(const struct found *x, const struct found *y, const char *what)
{
	for (int i = 0; i < x->n || i < y->n; i++)
		if (i >= x->n || i >= y->n || strcmp(x->at[i], y->at[i]) != 0)
			fail_msg("%s: %d findings and %d, number %d:\n%s\n%s", what, x->n, y->n, i, i < x->n ? x->at[i] : "(none)",
				i < y->n ? y->at[i] : "(none)");
}

static int cycles_kept, cycles_told; /* without forgetting; and with it, too */

static bool has(const struct found *f, const char *text)
{
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->at[i], text) == 0)
			return true;
	return false;
}

/* With forgetting and without: the same in the same order, but for cycles. One that leads through a transaction of which it
 * is proved late that it took effect, or that leans on a version whose transaction is forgotten, may not be told. */
static void compare_forgetting(const struct found *kept, const struct found *forgot, const char *what)
{
	static struct found a, b;

	a.n = b.n = 0;
	for (int i = 0; i < kept->n; i++)
		if (!is_cycle(kept->at[i])) {
			add(&a, kept->at[i]);
			forget_class(a.at[a.n - 1], false);
		}
	for (int i = 0; i < forgot->n; i++)
		if (is_cycle(forgot->at[i])) {
			cycles_told += has(kept, forgot->at[i]);
		} else {
			add(&b, forgot->at[i]);
			forget_class(b.at[b.n - 1], false);
		}
	for (int i = 0; i < kept->n; i++)
		cycles_kept += is_cycle(kept->at[i]);
	compare_order(&a, &b, what);
	clear(&a);
	clear(&b);
}

static const struct streamed cases[] = {
	{"PostgreSQL RC", "postgresql-rc", "postgresql-rc", FAULT_NONE, 0, true, 5, 2, 0, 0, false, 0},
	{"SI, snapshots taken late", "postgresql-rr", "postgresql-rr", FAULT_LATE_SNAPSHOT, 20, false, 5, 2, 0, 0, false, 0},
	{"InnoDB, snapshots taken late", "mariadb-rr", "mariadb-rr", FAULT_LATE_SNAPSHOT, 20, true, 0, 2, 20, 0, false, 0},
	{"RC, locks dropped", "postgresql-rc", "postgresql-rc", FAULT_LOCK_DROPPED, 50, false, 5, 2, 20, 0, false, 0},
	{"RC, a lock older than the version", "postgresql-rc", "postgresql-rc", FAULT_LOCK_DROPPED, 50, false, 5, 2, 20, 0, false, 316},
	{"2PL, locks dropped", "mariadb-ser", "mariadb-ser", FAULT_LOCK_DROPPED, 50, false, 0, 0, 0, 0, false, 0},
	{"SI, updaters lost", "postgresql-rr", "postgresql-rr", FAULT_UPDATER_LOST, 50, true, 5, 2, 0, 100, false, 0},
	{"RC, resurrected", "postgresql-rc", "postgresql-rc", FAULT_RESURRECTED, 20, false, 0, 0, 20, 0, false, 0},
	{"SI, resurrected", "postgresql-rr", "postgresql-rr", FAULT_RESURRECTED, 20, true, 0, 0, 0, 0, true, 0},
	{"RC, dirty reads", "postgresql-rc", "postgresql-rc", FAULT_DIRTY_READ, 50, false, 5, 2, 0, 0, false, 0},
	{"SI, aborted writes visible", "postgresql-rr", "postgresql-rr", FAULT_ABORTED_VISIBLE, 100, false, 0, 2, 0, 0, false, 0},
	{"SSI, certifier skipped", "postgresql-ser", "postgresql-ser", FAULT_CERTIFIER_SKIPPED, 100, false, 0, 0, 0, 0, false, 0},
	{"SSI, certifier skipped, outcomes unknown", "postgresql-ser", "postgresql-ser", FAULT_CERTIFIER_SKIPPED, 100, false, 15, 5, 0, 0, false, 0},
	{"2PL, range locks dropped", "mariadb-ser", "mariadb-ser", FAULT_RANGE_DROPPED, 100, false, 0, 0, 0, 0, false, 0},
	{"RC as RR", "postgresql-rc", "postgresql-rr", FAULT_NONE, 0, true, 5, 2, 20, 0, false, 0},
	{"RR as SER", "postgresql-rr", "postgresql-ser", FAULT_NONE, 0, false, 0, 0, 0, 0, false, 0},
	{"RR as SER, outcomes unknown", "postgresql-rr", "postgresql-ser", FAULT_NONE, 0, false, 20, 5, 10, 0, false, 0},
	{"RU as RC", "mariadb-ru", "mariadb-rc", FAULT_NONE, 0, false, 0, 0, 0, 0, false, 0},
	{"RU", "mariadb-ru", "mariadb-ru", FAULT_RESURRECTED, 20, true, 5, 2, 20, 0, false, 0},
	{"InnoDB RR as first updater wins", "mariadb-rr", "mariadb-rr-si", FAULT_NONE, 0, true, 0, 0, 0, 0, false, 0},
	{"SQLite", "sqlite-ser", "sqlite-ser", FAULT_RESURRECTED, 20, true, 5, 2, 20, 0, false, 0},
	{"SQLite, no reply, and an equal value later", "sqlite-ser", "sqlite-ser", FAULT_RESURRECTED, 20,
		true, 5, 2, 20, 0, false, 190},
	{"Oracle", "oracle-ser", "oracle-ser", FAULT_UPDATER_LOST, 50, false, 0, 0, 0, 0, false, 0},
};

static void stream_is_batch(void **state)
{
	const struct streamed *c = *state;
	const struct kr_profile *row = kr_profile_find(c->row);
	uint64_t runs = (asked_number("KRAIT_ORACLE_COUNT", 4 * RUN) + RUN - 1) / RUN, seed = asked_number("KRAIT_ORACLE_SEED", 1);
	static struct lines lines;
	static struct found whole, reference, first, second;
	int total = 0;
	struct kr_mem mem;
	struct kr_rng rng;

	kr_mem_init(&mem, SIZE_MAX);
	cycles_kept = cycles_told = 0;
	whole.n = reference.n = first.n = second.n = 0;
	for (uint64_t run = c->first; run < c->first + runs; run++) {
		struct store_settings s = {.profile = kr_profile_find(c->store), .txns = RUN, .latency = 5 + 10 * (int)(run % 3), .think = 40, .fault = c->fault, .fault_share = c->share,
			.repeated = c->repeated, .unknown = c->unknown, .killed = c->killed, .automatic = c->automatic, .skew = c->skew, .columns = c->columns};
		struct kr_str trace;
		char what[100];
		kr_rng_init(&rng, seed * 7001 + run);
		kr_str_init(&trace, &mem);
		store_run(&s, &rng, &trace);
		split(&trace, &lines);

		batch(&trace, row, &whole);
		snprintf(what, sizeof what, "run %llu, batch and one window", (unsigned long long)run);
		stream(&lines, NULL, row, UINT32_MAX, true, &reference, what);
		compare(&whole, &reference, true, c, what);
		char path[] = "/tmp/krait-stream-XXXXXX";
		write_file(path, &trace);
		snprintf(what, sizeof what, "run %llu, batch and read whole", (unsigned long long)run);
		stream(NULL, path, row, 8, true, &first, what);
		compare(&whole, &first, true, c, what);
		clear(&first);
		unlink(path);
		snprintf(what, sizeof what, "run %llu, rounds of 8, all kept", (unsigned long long)run);
		stream(&lines, NULL, row, 8, true, &first, what);
		compare(&reference, &first, false, c, what);
		snprintf(what, sizeof what, "run %llu, rounds of 8", (unsigned long long)run);
		stream(&lines, NULL, row, 8, false, &second, what);
		compare_forgetting(&first, &second, what);
		clear(&first);
		shuffle(&lines, &rng);
		snprintf(what, sizeof what, "run %llu, rounds of 8, another arrival", (unsigned long long)run);
		stream(&lines, NULL, row, 8, false, &first, what);
		compare_order(&second, &first, what);
		total += reference.n;
		clear(&whole);
		clear(&reference);
		clear(&first);
		clear(&second);
		free(lines.header);
		kr_str_done(&trace);
	}
	printf("%s: %d findings; of %d cycles %d told with forgetting\n", c->name, total, cycles_kept, cycles_told);
	assert_true(10 * cycles_told >= 9 * cycles_kept || c->unknown > 0);
	assert_true(total > 0 || c->fault == FAULT_NONE);
}

/* ---- counters ---- */

/* A counter is incremented again and again. The 40th increment, of a transaction that is rolled back, finds what is
 * installed two transactions later, the 50th what was there long before: one is of the future, one stale, whatever a
 * stream has forgotten. */
static void counters_are_classified(void **state)
{
	static struct found whole, forgot;
	static struct lines lines;
	struct kr_mem mem;
	struct kr_str trace;
	int value = 0;

	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&trace, &mem);
	kr_str_add(&trace, "{\"krait\": 1, \"initial\": {\"n\": 0}}\n");
	for (int i = 1; i <= 80; i++) {
		bool odd = i == 40 || i == 50;
		int at = 100 * i, result = i == 40 ? value + 3 : i == 50 ? 11 : ++value;
		kr_str_format(&trace, "{\"id\": %d, \"s\": \"s%d\", \"begin\": [%d, %d], \"ops\": [[\"inc\", \"n\", 1, %d, {\"t\": [%d, %d]}]], ", i, i % 4, at, at + 1,
			result, at + 2, at + 3);
		kr_str_format(&trace, "\"end\": [%d, %d], \"status\": \"%s\"}\n", at + 4, at + 5, odd ? "aborted" : "committed");
	}
	split(&trace, &lines);
	batch(&trace, kr_profile_find(*state), &whole);
	assert_int_equal(whole.n, 2);
	assert_non_null(strstr(whole.at[0], "\"class\": \"future\""));
	assert_non_null(strstr(whole.at[1], "\"class\": \"garbage\""));
	stream(&lines, NULL, kr_profile_find(*state), 8, false, &forgot, "counters");
	assert_int_equal(forgot.n, 2);
	for (int i = 0; i < 2; i++) {
		canonical(forgot.at[i]);
		canonical(whole.at[i]);
		assert_string_equal(forgot.at[i], whole.at[i]);
	}
	clear(&whole);
	clear(&forgot);
	free(lines.header);
	kr_str_done(&trace);
}

/* ---- memory ---- */

static enum kr_status no_findings(void *data, const struct kr_history *window, const struct kr_marks *marks, const struct kr_findings *findings)
{
	(void)data, (void)window, (void)marks;
	fail_msg("%u findings", findings->list.n);
	return KR_OK;
}

/* A serial history of sessions in turn, on few keys: what is in memory does not grow with what was read. */
static void memory_is_bounded(void **state)
{
	struct kr_engine_options options = {.batch = {.profile = kr_profile_find(*state)}, .sink = {.findings = no_findings, .late = never_late}};
	struct kr_engine *engine;
	struct kr_stream *s;
	struct kr_ctx ctx;
	struct kr_err err;
	const char *header = "{\"krait\": 1, \"stream\": true, \"sessions\": [\"s0\", \"s1\", \"s2\", \"s3\"], \"initial\": {}}";
	int values[10] = {0};
	size_t early = 0, late = 0;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_profile_level(NULL, options.batch.profile, &options.batch.certify, &err), KR_OK);
	assert_int_equal(kr_engine_new(&ctx, &options, &engine, &err), KR_OK);
	struct kr_sink sink = {engine, kr_engine_take};
	assert_int_equal(kr_stream_new(&ctx, "run", &sink, &s), KR_OK);
	kr_engine_attach(engine, s);
	assert_int_equal(kr_stream_line(s, header, strlen(header), 1, &err), KR_OK);
	for (int i = 0; i < 30000; i++) {
		char line[400], seen[20] = "null";
		int k = i % 10, at = 100 * i;
		if (values[k])
			snprintf(seen, sizeof seen, "%d", values[k]);
		values[k] = 1 + i % 500;
		snprintf(line, sizeof line,
			"{\"id\": %d, \"s\": \"s%d\", \"begin\": [%d, %d], \"ops\": [[\"r\", \"k%d\", %s, {\"t\": [%d, %d]}], [\"w\", \"k%d\", %d, {\"t\": [%d, %d]}]], \"end\": [%d, %d]}", i, i % 4,
			at, at + 1, k, seen, at + 2, at + 3, k, values[k], at + 4, at + 5, at + 6, at + 7);
		if (kr_stream_line(s, line, strlen(line), (uint32_t)i + 2, &err))
			fail_msg("line %u: %s", err.line, err.text);
		struct kr_engine_state now = kr_engine_look(engine);
		assert_true(now.held < 600 && now.carried <= 20);
		size_t *most = i < 10000 ? &early : &late;
		*most = ctx.mem.used > *most ? ctx.mem.used : *most;
	}
	assert_int_equal(kr_engine_end(engine, &err), KR_OK);
	printf("%zu KiB, then %zu KiB\n", early / 1024, late / 1024);
	assert_true(late <= early + early / 20);
	kr_engine_free(engine);
	kr_stream_free(s);
	assert_int_equal(ctx.mem.used, 0);
}

/* Wherever memory runs out, that is said, and everything is given back. */
static void memory_may_run_out(void **state)
{
	struct store_settings settings = {.profile = kr_profile_find(*state), .txns = 60, .latency = 5, .think = 40, .unknown = 5, .automatic = 20};
	static struct lines lines;
	struct kr_str trace;
	struct kr_mem mem;
	struct kr_rng rng;
	enum kr_status status = KR_NOMEM;
	int failed = 0;

	kr_mem_init(&mem, SIZE_MAX);
	kr_rng_init(&rng, 5);
	kr_str_init(&trace, &mem);
	store_run(&settings, &rng, &trace);
	split(&trace, &lines);
	for (uint64_t at = 1; status == KR_NOMEM; at += 1 + at / 16) {
		struct kr_engine_options options = {.batch = {.profile = settings.profile}, .sink = {.findings = no_findings, .late = never_late}, .round = 8};
		struct kr_engine *engine = NULL;
		struct kr_stream *s = NULL;
		struct kr_ctx ctx;
		struct kr_err err;
		kr_ctx_init(&ctx, 0, 0);
		kr_err_init(&err);
		ctx.mem.fail_at = at;
		assert_int_equal(kr_profile_level(NULL, settings.profile, &options.batch.certify, &err), KR_OK);
		status = kr_engine_new(&ctx, &options, &engine, &err);
		struct kr_sink sink = {engine, kr_engine_take};
		if (!status && !(status = kr_stream_new(&ctx, "run", &sink, &s)))
			kr_engine_attach(engine, s);
		if (!status)
			status = kr_stream_line(s, lines.header, strlen(lines.header), 1, &err);
		for (int i = 0; i < lines.n && !status; i++)
			status = kr_stream_line(s, lines.at[i].text, lines.at[i].length, (uint32_t)i + 2, &err);
		if (!status)
			status = kr_engine_end(engine, &err);
		if (status && status != KR_NOMEM)
			fail_msg("allocation %llu: line %u: %s", (unsigned long long)at, err.line, err.text);
		failed += status == KR_NOMEM;
		kr_engine_free(engine);
		kr_stream_free(s);
		assert_int_equal(ctx.mem.used, 0);
	}
	assert_true(failed > 50);
	free(lines.header);
	kr_str_done(&trace);
}

int main(void)
{
	static const char *const rows[] = {"postgresql-rc", "postgresql-rr", "postgresql-ser", "mariadb-ser", "sqlite-ser"};
	struct CMUnitTest tests[KR_COUNT(cases) + 2 * KR_COUNT(rows) + 1];
	size_t n = 0;

	tests[n++] = (struct CMUnitTest){"counters", counters_are_classified, NULL, NULL, (void *)(uintptr_t) "postgresql-rc"};

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		tests[n++] = (struct CMUnitTest){rows[i], memory_is_bounded, NULL, NULL, (void *)(uintptr_t)rows[i]};

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		tests[n++] = (struct CMUnitTest){rows[i], memory_may_run_out, NULL, NULL, (void *)(uintptr_t)rows[i]};
	for (size_t i = 0; i < KR_COUNT(cases); i++)
		tests[n++] = (struct CMUnitTest){cases[i].name, stream_is_batch, NULL, NULL, (void *)(uintptr_t)&cases[i]};
	return _cmocka_run_group_tests("stream", tests, n, NULL, NULL);
}
