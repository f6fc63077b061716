/* Timestamps, against the definitions of Chronos and Aion (docs/leopard.md, "Timestamps"), taken word by word: what a read may
 * show, which writers conflict, what sessions promise; and against themselves: as a stream the transactions arrive in any
 * order, and what is found is what the whole history shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "checkers/leopard.h"
#include "frontend/format.h"
#include "mechanisms/stream.h"
#include "report/finding.h"

enum { TXNS = 80, KEYS = 4, OPS = 6, FOUND = 4000, ABSENT = 0 };

struct op { bool writes; int key, value; };
struct txn { int id, session, start, commit, n; char status; struct op ops[OPS]; }; /* session < 0: none; status: c, a, u */
struct run { struct txn txns[TXNS]; int n; bool ser, sessions; };
struct found { char *at[FOUND]; int n; };

static uint64_t state;

static int below(int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int)(state % (uint64_t)n);
}

static void add(struct found *f, const char *text)
{
	assert_true(f->n < FOUND);
	f->at[f->n++] = strdup(text);
}

static void clear(struct found *f)
{
	for (int i = 0; i < f->n; i++)
		free(f->at[i]);
	f->n = 0;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* ---- the definitions ---- */

static int reads_at(const struct run *r, const struct txn *t) { return r->ser ? t->commit : t->start; }

/* The last value that t writes to the key before its operation `end`; false: none. */
static bool last_write(const struct txn *t, int end, int key, int *value)
{
	while (end-- > 0)
		if (t->ops[end].writes && t->ops[end].key == key) {
			*value = t->ops[end].value;
			return true;
		}
	return false;
}

/* May a transaction that reads at `at` be shown the value? By the last commit until then (of several at that time, any), or by whatever of
 * unknown outcome had begun. */
static bool is_visible(const struct run *r, const struct txn *reader, int at, int key, int value)
{
	int newest = -1, written;

	for (int i = 0; i < r->n; i++) {
		const struct txn *u = &r->txns[i];
		if (u == reader || !last_write(u, u->n, key, &written))
			continue;
		if (u->status == 'u' && u->start <= at && written == value)
			return true;
		if (u->status == 'c' && u->commit <= at && u->commit > newest)
			newest = u->commit;
	}
	for (int i = 0; i < r->n; i++) {
		const struct txn *u = &r->txns[i];
		if (u != reader && u->status == 'c' && u->commit == newest && last_write(u, u->n, key, &written) && written == value)
			return true;
	}
	return newest < 0 && value == ABSENT;
}

/* What t must be shown of the key at operation `op`: what it wrote, or read; false: anything that is visible. */
static bool is_bound(const struct txn *t, int op, int key, int *value)
{
	if (last_write(t, op, key, value))
		return true;
	for (int i = 0; i < op; i++)
		if (!t->ops[i].writes && t->ops[i].key == key) {
			*value = t->ops[i].value;
			return true;
		}
	return false;
}

static void define_reads(const struct run *r, const struct txn *t, struct found *out)
{
	char text[80];
	int bound;

	for (int i = 0; i < t->n; i++) {
		const struct op *op = &t->ops[i];
		bool own = is_bound(t, i, op->key, &bound);
		if (op->writes || (own ? bound == op->value : is_visible(r, t, reads_at(r, t), op->key, op->value)))
			continue;
		snprintf(text, sizeof text, "CR %st%d %d k%d", own ? "own write " : "", t->id, i, op->key);
		add(out, text);
	}
}

static void define(const struct run *r, struct found *out)
{
	int last[8];
	char text[80];

	for (int s = 0; s < 8; s++)
		last[s] = -1;
	for (int i = 0; i < r->n; i++) {
		const struct txn *t = &r->txns[i];
		if (t->status == 'c' || !r->ser)
			define_reads(r, t, out);
		if (t->status != 'c')
			continue;
		if (t->session >= 0 && last[t->session] >= 0 && reads_at(r, t) < r->txns[last[t->session]].commit) {
			snprintf(text, sizeof text, "SESSION t%d t%d", t->id, r->txns[last[t->session]].id);
			add(out, text);
		}
		if (t->session >= 0)
			last[t->session] = i;
		for (int j = 0; j < i && !r->ser; j++)
			for (int k = 0; k < KEYS; k++) {
				const struct txn *u = &r->txns[j];
				int v;
				if (u->status != 'c' || !last_write(t, t->n, k, &v) || !last_write(u, u->n, k, &v) || t->start >= u->commit || u->start >= t->commit)
					continue;
				snprintf(text, sizeof text, "FUW t%d t%d k%d", t->id < u->id ? t->id : u->id, t->id < u->id ? u->id : t->id, k);
				add(out, text);
			}
	}
}

/* ---- random histories ---- */

static void fill_ops(struct run *r, int i, bool repeated, int *next)
{
	struct txn *t = &r->txns[i];
	bool may_write = t->start < t->commit;

	t->n = 1 + below(OPS);
	for (int o = 0; o < t->n; o++) {
		struct op *op = &t->ops[o];
		*op = (struct op){may_write && below(2), below(KEYS), 0};
		op->value = op->writes ? (repeated ? 1 + below(5) : ++*next) : 0;
	}
}

/* Mostly what is right, else what somebody wrote, or nobody. */
static void fill_reads(struct run *r, int wrong)
{
	for (int i = 0; i < r->n; i++)
		for (int o = 0; o < r->txns[i].n; o++) {
			struct txn *t = &r->txns[i];
			struct op *op = &t->ops[o];
			int bound;
			if (op->writes)
				continue;
			op->value = below(8) == 0 ? 900 + below(3) : ABSENT;
			for (int tries = 0; tries < 40 && below(100) >= wrong; tries++) {
				const struct txn *u = &r->txns[below(r->n)];
				if (is_bound(t, o, op->key, &bound))
					op->value = bound;
				else if (is_visible(r, t, reads_at(r, t), op->key, op->value))
					break;
				else if (!last_write(u, u->n, op->key, &op->value))
					op->value = ABSENT;
			}
		}
}

static void make(struct run *r, bool ser, bool repeated, bool sessions, bool all_commit)
{
	int next = 0, span = 10 + below(200), wrong = below(60);

	*r = (struct run){.n = 2 + below(TXNS - 2), .ser = ser, .sessions = sessions};
	for (int i = 0; i < r->n; i++) {
		struct txn *t = &r->txns[i];
		int fate = below(20);
		t->id = i;
		t->session = sessions ? below(5) - 1 : -1;
		t->status = all_commit || fate > 1 ? 'c' : fate == 0 ? 'u' : 'a';
		t->start = below(span);
		t->commit = t->start + below(12);
		fill_ops(r, i, repeated, &next);
	}
	fill_reads(r, wrong);
}

static void print(const struct txn *t, struct kr_str *out)
{
	static const char *const names[] = {['c'] = "committed", ['a'] = "aborted", ['u'] = "unknown"};

	kr_str_format(out, "{\"id\": \"t%d\"", t->id);
	if (t->session >= 0)
		kr_str_format(out, ", \"s\": \"s%d\"", t->session);
	kr_str_format(out, ", \"status\": \"%s\", \"snapshot\": %d", names[(int)t->status], t->start);
	if (t->status == 'c')
		kr_str_format(out, ", \"commit_ts\": %d", t->commit);
	kr_str_add(out, ", \"ops\": [");
	for (int i = 0; i < t->n; i++) {
		const struct op *op = &t->ops[i];
		kr_str_format(out, op->value == ABSENT ? "%s[\"%s\", \"k%d\", null]" : "%s[\"%s\", \"k%d\", %d]", i > 0 ? ", " : "", op->writes ? "w" : "r", op->key, op->value);
	}
	kr_str_add(out, "]}\n");
}

/* ---- what krait finds ---- */

struct taking { struct found *found; bool classes; const struct kr_profile *profile; int late; };

static int id_of(const struct kr_history *h, kr_txn t)
{
	return atoi(kr_history_value(h, h->txns.at[t.i].id)->text + 1);
}

static enum kr_status take(void *data, const struct kr_history *h, const struct kr_marks *marks, const struct kr_findings *findings)
{
	struct taking *t = data;
	char text[120];

	(void)marks;
	for (uint32_t i = 0; i < findings->list.n; i++) {
		const struct kr_finding *f = &findings->list.at[i];
		int a = id_of(h, f->txns[0]), b = f->txns[1].i == KR_NONE ? -1 : id_of(h, f->txns[1]);
		const char *key = f->key.i == KR_NONE ? "" : kr_history_value(h, h->keys.at[f->key.i].name)->text;
		bool own = f->what == KR_FOUND_OWN_WRITE;
		if (f->mechanism == KR_MECH_CR)
			snprintf(text, sizeof text, "CR %st%d %u %s%s%s", own ? "own write " : "", a, f->ops[0], key, t->classes ? " " : "",
				t->classes ? kr_finding_class_name(f) : "");
		else if (f->mechanism == KR_MECH_FUW)
			snprintf(text, sizeof text, "FUW t%d t%d %s", a < b ? a : b, a < b ? b : a, key);
		else
			snprintf(text, sizeof text, "%s t%d t%d", kr_mechanism_name(f->mechanism), a, b);
		add(t->found, text);
	}
	return KR_OK;
}

static enum kr_status count_late(void *data, const struct kr_history *h, kr_session session, uint32_t line, int64_t invoked, int64_t watermark)
{
	(void)h, (void)session, (void)line;
	assert_true(invoked < watermark);
	((struct taking *)data)->late++;
	return KR_OK;
}

static const struct kr_profile *profile_of(const struct run *r) { return kr_profile_find(r->ser ? "timestamps-ser" : "timestamps-si"); }

static void whole(const struct run *r, bool classes, struct found *out)
{
	char path[] = "/tmp/krait-stamps-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct kr_read_options options = {.format = "native"};
	struct kr_batch_options asked = {.profile = profile_of(r)};
	struct taking taking = {out, classes, asked.profile, 0};
	struct kr_mechanisms_verdict verdict;
	struct kr_history h;
	struct kr_str text;
	struct kr_ctx ctx;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	kr_str_init(&text, &ctx.mem);
	for (int i = 0; i < r->n; i++)
		print(&r->txns[i], &text);
	fputs(kr_str_text(&text), file);
	fclose(file);
	if (kr_read_trace(&ctx, path, &options, &h, &err) || kr_check_mechanisms(&ctx, &h, &asked, &verdict, &err))
		fail_msg("%s: %s", kr_str_text(&text), err.text);
	take(&taking, &h, NULL, &verdict.findings);
	kr_findings_done(&verdict.findings);
	kr_history_done(&h);
	kr_str_done(&text);
	assert_int_equal(ctx.mem.used, 0);
	unlink(path);
}

/* In the order of `order`; returns how many were late. lateness < 0: none is given. */
static int stream(const struct run *r, const int *order, int64_t lateness, uint32_t round, bool classes, struct found *out)
{
	struct taking taking = {out, classes, profile_of(r), 0};
	struct kr_engine_options options = {.batch = {.profile = taking.profile}, .sink = {.data = &taking, .findings = take, .late = count_late}, .round = round};
	struct kr_engine *engine;
	struct kr_stream *s;
	struct kr_str text;
	struct kr_ctx ctx;
	struct kr_err err;

	options.unbounded = lateness < 0;
	options.lateness = lateness < 0 ? 0 : lateness;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_engine_new(&ctx, &options, &engine, &err), KR_OK);
	struct kr_sink sink = {engine, kr_engine_take};
	assert_int_equal(kr_stream_new(&ctx, "run", &sink, &s), KR_OK);
	kr_engine_attach(engine, s);
	kr_str_init(&text, &ctx.mem);
	for (int i = 0; i < r->n; i++) {
		text.n = 0;
		print(&r->txns[order[i]], &text);
		if (kr_stream_line(s, kr_str_text(&text), text.n - 1, (uint32_t)i + 1, &err))
			fail_msg("%s: %s", kr_str_text(&text), err.text);
	}
	if (kr_engine_end(engine, &err))
		fail_msg("%s", err.text);
	assert_int_equal(kr_engine_look(engine).late, taking.late);
	kr_str_done(&text);
	kr_engine_free(engine);
	kr_stream_free(s);
	assert_int_equal(ctx.mem.used, 0);
	return taking.late;
}

static void compare(const struct run *r, struct found *a, const char *which_a, struct found *b, const char *which_b)
{
	qsort(a->at, (size_t)a->n, sizeof *a->at, by_text);
	qsort(b->at, (size_t)b->n, sizeof *b->at, by_text);
	for (int i = 0; i < a->n || i < b->n; i++) {
		if (i < a->n && i < b->n && strcmp(a->at[i], b->at[i]) == 0)
			continue;
		struct kr_mem mem = {0};
		struct kr_str text;
		kr_str_init(&text, &mem);
		for (int t = 0; t < r->n; t++)
			print(&r->txns[t], &text);
		fail_msg("%s: %s; %s: %s (%s)\n%s", which_a, i < a->n ? a->at[i] : "no more", which_b, i < b->n ? b->at[i] : "no more", r->ser ? "ser" : "si", kr_str_text(&text));
	}
}

/* A random order of arrival; a session's own transactions come in its order. */
static void shuffle(const struct run *r, int *order)
{
	for (int i = 0; i < r->n; i++) {
		int j = below(i + 1);
		order[i] = order[j];
		order[j] = i;
	}
	for (int i = 0; i < r->n; i++)
		for (int j = i + 1; j < r->n; j++) {
			bool same = r->txns[order[i]].session >= 0 && r->txns[order[i]].session == r->txns[order[j]].session;
			if (same && order[j] < order[i]) {
				int swap = order[i];
				order[i] = order[j];
				order[j] = swap;
			}
		}
}

/* ---- tests ---- */

static int how_many(int usual)
{
	const char *count = getenv("KRAIT_ORACLE_COUNT");

	return count ? atoi(count) : usual;
}

static void test_definitions(void **unused)
{
	struct found expected = {.n = 0}, got = {.n = 0};
	struct run r;
	int total = 0;

	(void)unused;
	for (int i = 0; i < how_many(1500); i++) {
		state = 88172645463325252ULL + (uint64_t)i * 7919;
		make(&r, i % 2, i % 3 == 0, i % 4 > 0, i % 2); /* of which instant an aborted one tells, where reads go by commits, nobody defines */
		define(&r, &expected);
		whole(&r, false, &got);
		total += expected.n;
		compare(&r, &expected, "by definition", &got, "found");
		clear(&expected);
		clear(&got);
	}
	assert_true(total > how_many(1500));
}

/* With lateness for all of it every order of arrival finds what the whole shows, whenever rounds are and however much is forgotten between them. */
static void test_arrival(void **unused)
{
	struct found expected = {.n = 0}, got = {.n = 0};
	int order[TXNS], total = 0;
	struct run r;

	(void)unused;
	for (int i = 0; i < how_many(600); i++) {
		state = 362436069ULL + (uint64_t)i * 104729;
		bool repeated = i % 3 == 0;
		make(&r, i % 2, repeated, i % 4 > 0, false);
		whole(&r, !repeated, &expected);
		total += expected.n;
		for (int way = 0; way < 3; way++) {
			shuffle(&r, order);
			assert_int_equal(stream(&r, order, way == 0 ? -1 : 250, way == 2 ? 3 : 0, !repeated, &got), 0);
			compare(&r, &expected, "whole", &got, way == 0 ? "as a stream without lateness" : "as a stream");
			clear(&got);
		}
		clear(&expected);
	}
	assert_true(total > how_many(600));
}

/* In the order of commits, no later than the longest transaction takes, nothing is late, and most is forgotten on the way. */
static void test_forgetting(void **unused)
{
	struct found expected = {.n = 0}, got = {.n = 0};
	int order[TXNS];
	struct run r;

	(void)unused;
	for (int i = 0; i < how_many(600); i++) {
		state = 521288629ULL + (uint64_t)i * 15485863;
		make(&r, i % 2, false, false, false);
		for (int t = 0; t < r.n; t++)
			order[t] = t;
		for (int t = 1; t < r.n; t++)
			for (int u = t; u > 0 && r.txns[order[u]].commit < r.txns[order[u - 1]].commit; u--) {
				int swap = order[u];
				order[u] = order[u - 1];
				order[u - 1] = swap;
			}
		whole(&r, true, &expected);
		assert_int_equal(stream(&r, order, 12, 2, true, &got), 0);
		compare(&r, &expected, "whole", &got, "by commit");
		clear(&expected);
		clear(&got);
	}
}

static void set(struct run *r, int id, int start, int commit, struct op a, struct op b, int n)
{
	r->txns[r->n++] = (struct txn){.id = id, .session = -1, .start = start, .commit = commit, .n = n, .status = 'c', .ops = {a, b}};
}

/* A1 of docs/leopard.md's acceptance: T1 (1,2) W x1; T2 (3,5) W x2; T5 (4,7) R x1 W y1; T3 (6,9) R x2 W y2; T4 (8,10) R y1. */
static void make_a1(struct run *r)
{
	const struct op none = {false, 0, 0};

	*r = (struct run){.n = 0};
	set(r, 1, 1, 2, (struct op){true, 0, 1}, none, 1);
	set(r, 2, 3, 5, (struct op){true, 0, 2}, none, 1);
	set(r, 5, 4, 7, (struct op){false, 0, 1}, (struct op){true, 1, 3}, 2);
	set(r, 3, 6, 9, (struct op){false, 0, 2}, (struct op){true, 1, 4}, 2);
	set(r, 4, 8, 10, (struct op){false, 1, 3}, none, 1);
}

static void expect(struct run *r, const int *order, int64_t lateness, int late, const char *one)
{
	struct found got = {.n = 0};

	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(stream(r, order, lateness, round, true, &got), late);
		if (got.n != (one ? 1 : 0) || (one && strcmp(got.at[0], one) != 0))
			fail_msg("%d found, first: %s; expected: %s", got.n, got.n > 0 ? got.at[0] : "", one);
		clear(&got);
	}
}

/* A9: every permutation with D = 100. A8: T5 last with D = 7; without it. And what is late. */
static void test_a1(void **unused)
{
	int last[] = {0, 1, 3, 4, 2}, order[5];
	struct run r;

	(void)unused;
	make_a1(&r);
	for (int p = 0; p < 3125; p++) {
		int seen = 0;
		for (int i = 0, rest = p; i < 5; i++, rest /= 5) {
			order[i] = rest % 5;
			seen |= 1 << order[i];
		}
		if (seen == 31)
			expect(&r, order, 100, 0, "FUW t3 t5 k1");
	}
	expect(&r, last, 7, 0, "FUW t3 t5 k1");
	expect(&r, last, 6, 0, "FUW t3 t5 k1"); /* its start, 4, is not before 10 - 6 */
	expect(&r, last, 5, 1, NULL);           /* of unknown outcome from then on: T4 may have been shown it */
	r.n = 4;
	r.txns[2] = r.txns[3];
	make_a1(&r);
	r.txns[2] = r.txns[3];
	r.txns[3] = r.txns[4];
	r.n = 4;
	for (int i = 0; i < 4; i++)
		order[i] = i;
	expect(&r, order, 7, 0, "CR t4 0 k1 never written");
	expect(&r, order, 100, 0, "CR t4 0 k1 never written");
}

/* ---- A10: how much it takes ---- */

enum { MANY = 100000, WRONG = 10000 };

/* Transaction i overlaps the next one; it reads what is there, but for one in WRONG, and writes a key of its own turn. */
static void print_many(int i, struct kr_str *out)
{
	int from = (i + 500) % 1000, read = i - (i % 1000 - from) - (i % 1000 < from ? 1000 : 0); /* who wrote the key read, 500 before */

	kr_str_format(out, "{\"id\": \"t%d\", \"s\": \"s%d\", \"snapshot\": %d, \"commit_ts\": %d, \"ops\": [[\"r\", \"k%d\", ", i, i % 16, 3 * i, 3 * i + 4, from);
	if (read < 0)
		kr_str_add(out, "null");
	else
		kr_str_format(out, "%d", i % WRONG == WRONG - 1 ? read - 1000 : read);
	kr_str_format(out, "], [\"w\", \"k%d\", %d]]}\n", i % 1000, i);
}

static void check_many(const struct found *got)
{
	char text[40];

	assert_int_equal(got->n, MANY / WRONG);
	for (int i = 0; i < got->n; i++) {
		snprintf(text, sizeof text, "CR t%d 0 k%d garbage", (i + 1) * WRONG - 1, ((i + 1) * WRONG + 499) % 1000);
		assert_string_equal(got->at[i], text);
	}
}

/* Ten wrong reads of a hundred thousand, each listed, in a minute at the very most: what compares all with all takes hours. */
static void test_whole_of_many(void **unused)
{
	char path[] = "/tmp/krait-stamps-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct kr_read_options options = {.format = "native"};
	struct kr_batch_options asked = {.profile = kr_profile_find("timestamps-si")};
	struct found got = {.n = 0};
	struct taking taking = {&got, true, asked.profile, 0};
	struct kr_mechanisms_verdict verdict;
	struct kr_history h;
	struct kr_str text;
	struct kr_ctx ctx;
	struct kr_err err;

	(void)unused;
	kr_ctx_init(&ctx, 60, 400);
	kr_err_init(&err);
	kr_str_init(&text, &ctx.mem);
	for (int i = 0; i < MANY; i++) {
		text.n = 0;
		print_many(i, &text);
		fputs(kr_str_text(&text), file);
	}
	fclose(file);
	kr_str_done(&text);
	if (kr_read_trace(&ctx, path, &options, &h, &err) || kr_check_mechanisms(&ctx, &h, &asked, &verdict, &err))
		fail_msg("%s", err.text);
	assert_int_equal(verdict.outcome, KR_VIOLATED);
	take(&taking, &h, NULL, &verdict.findings);
	check_many(&got);
	clear(&got);
	kr_findings_done(&verdict.findings);
	kr_history_done(&h);
	unlink(path);
}

/* The same as a stream, in memory that does not grow with it, but for the fingerprints of what is forgotten, of which there are so many at most
 * (mechanisms/echo.c). */
static void test_stream_of_many(void **unused)
{
	struct found got = {.n = 0};
	struct taking taking = {&got, true, kr_profile_find("timestamps-si"), 0};
	struct kr_engine_options options = {.batch = {.profile = taking.profile}, .sink = {.data = &taking, .findings = take, .late = count_late}, .lateness = 20};
	struct kr_engine *engine;
	struct kr_stream *s;
	struct kr_str text;
	struct kr_ctx ctx;
	struct kr_err err;

	(void)unused;
	kr_ctx_init(&ctx, 60, 32); /* MiB, of which the whole takes several times as much */
	kr_err_init(&err);
	assert_int_equal(kr_engine_new(&ctx, &options, &engine, &err), KR_OK);
	struct kr_sink sink = {engine, kr_engine_take};
	assert_int_equal(kr_stream_new(&ctx, "many", &sink, &s), KR_OK);
	kr_engine_attach(engine, s);
	kr_str_init(&text, &ctx.mem);
	for (int i = 0; i < MANY; i++) {
		text.n = 0;
		print_many(i, &text);
		if (kr_stream_line(s, kr_str_text(&text), text.n - 1, (uint32_t)i + 1, &err))
			fail_msg("%s: %s", kr_str_text(&text), err.text);
	}
	assert_int_equal(kr_engine_end(engine, &err), KR_OK);
	assert_int_equal(taking.late, 0);
	check_many(&got);
	clear(&got);
	kr_str_done(&text);
	kr_engine_free(engine);
	kr_stream_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a1),
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_arrival),
		cmocka_unit_test(test_forgetting),
		cmocka_unit_test(test_whole_of_many),
		cmocka_unit_test(test_stream_of_many),
	};

	return cmocka_run_group_tests_name("stamps", tests, NULL, NULL);
}
