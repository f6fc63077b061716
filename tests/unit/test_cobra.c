/* frontend/cobra: records, reserved ids, sessions, lenient reading, failing allocations; the recorded histories' known sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <zlib.h>

#include "tests/unit/reading.h"

#define INIT 0xbebeebeeu
#define ABSENT 0xdeadbeefu
#define DELETED 0xabcdefabu
#define REPEATED 0xabddefeeu

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

/* ---- writing logs ---- */

struct log { unsigned char at[65536]; size_t n; };

static void put_record(struct log *log, char tag, int words, ...)
{
	va_list args;

	log->at[log->n++] = (unsigned char)tag;
	va_start(args, words);
	for (int i = 0; i < words; i++) {
		uint64_t word = va_arg(args, uint64_t);
		for (int shift = 56; shift >= 0; shift -= 8)
			log->at[log->n++] = (unsigned char)(word >> shift);
	}
	va_end(args);
}

#define W(x) ((uint64_t)(x))
#define S(log, id) put_record(log, 'S', 1, W(id))
#define C(log, id) put_record(log, 'C', 1, W(id))
#define WRITE(log, write, key, value) put_record(log, 'W', 3, W(write), W(key), W(value))
#define READ(log, writer, write, key, value) put_record(log, 'R', 4, W(writer), W(write), W(key), W(value))

static void expect_op(struct reading *r, uint32_t op, enum kr_op_kind kind, const char *key, const char *value)
{
	const struct kr_operation *o = &r->h.ops.at[op];

	assert_int_equal(o->kind, kind);
	assert_string_equal(reading_key(r, o->key), key);
	assert_string_equal(reading_value(r, o->a), value);
	assert_int_equal(o->flags, kind == KR_OP_READ ? KR_OPF_KNOWN : 0);
	assert_int_equal(o->b.i, KR_ABSENT.i);
}

static void reads_records_and_reserved_ids(void **state)
{
	struct reading *r = *state;
	struct log log = {.n = 0};

	S(&log, 0x1000004ed);
	WRITE(&log, 0x51, 0xa6, 0x99);
	WRITE(&log, 0xfffffffffffffff, 0xb8873aa82ef6c6d3, 0x99);
	WRITE(&log, DELETED, 0xa6, 0);
	WRITE(&log, REPEATED, 0, 0xfedcba9876543210);
	C(&log, 0x1000004ed);
	S(&log, 0xffffffffffffffff);
	READ(&log, 0x1000004ed, 0x51, 0xa6, 0x99);
	READ(&log, INIT, INIT, 1, 0x77);
	READ(&log, ABSENT, ABSENT, 2, 0);
	READ(&log, INIT, ABSENT, 3, 0);
	READ(&log, INIT, 0x23332333, 4, 0);
	READ(&log, 7, DELETED, 5, 0);
	READ(&log, REPEATED, REPEATED, 0, 0xfedcba9876543210);
	READ(&log, 8, 0x8000000000000000, 6, 0); /* nobody wrote it: data */
	READ(&log, 9, INIT, 7, 0);
	C(&log, 0xffffffffffffffff);
	S(&log, 3);
	C(&log, 3);
	reading_write(r, "logs/T12.log", log.at, log.n);
	assert_int_equal(reading_read(r, "logs"), KR_OK);
	assert_string_equal(r->h.format, "cobra");
	assert_int_equal(r->h.initial, KR_INITIAL_ABSENT);
	assert_int_equal(r->h.txns.n, 3);
	assert_string_equal(reading_name(r, r->h.txns.at[0].id), "4294968557");
	assert_string_equal(reading_name(r, r->h.txns.at[1].id), "0xffffffffffffffff");
	for (uint32_t t = 0; t < 3; t++) {
		assert_int_equal(r->h.txns.at[t].status, KR_COMMITTED);
		assert_int_equal(r->h.txns.at[t].flags, 0);
		assert_int_equal(r->h.txns.at[t].line, 0);
		assert_string_equal(reading_name(r, r->h.sessions.at[r->h.txns.at[t].session.i]), "T12");
	}
	assert_int_equal(r->h.txns.at[0].op_count, 4);
	expect_op(r, 0, KR_OP_WRITE, "0xa6", "81");
	expect_op(r, 1, KR_OP_WRITE, "0xb8873aa82ef6c6d3", "1152921504606846975");
	expect_op(r, 2, KR_OP_DELETE, "0xa6", "null");
	expect_op(r, 3, KR_OP_WRITE, "0x0", "\"0xfedcba9876543210\"");
	expect_op(r, 4, KR_OP_READ, "0xa6", "81");
	for (uint32_t op = 5; op < 10; op++)
		expect_op(r, op, KR_OP_READ, (const char *[]){"0x1", "0x2", "0x3", "0x4", "0x5"}[op - 5], "null");
	expect_op(r, 10, KR_OP_READ, "0x0", "\"0xfedcba9876543210\"");
	expect_op(r, 11, KR_OP_READ, "0x6", "\"0x8000000000000000\"");
	expect_op(r, 12, KR_OP_READ, "0x7", "3200183278");
	assert_int_equal(r->h.txns.at[2].op_count, 0);
}

static void sessions_are_files_in_numeric_order(void **state)
{
	static const char *const names[] = {"T10", "T9", "T100", "T09", "a", "T9x"};
	static const char *const expected[] = {"T09", "T9", "T9x", "T10", "T100", "a"};
	struct reading *r = *state;
	char path[160];

	for (uint32_t i = 0; i < KR_COUNT(names); i++) {
		struct log log = {.n = 0};
		if (i != 2) { /* T100 is empty */
			S(&log, i + 1);
			READ(&log, INIT, INIT, i, 0);
			C(&log, i + 1);
		}
		snprintf(path, sizeof path, "logs/%s.log", names[i]);
		reading_write(r, path, log.at, log.n);
	}
	reading_write(r, "logs/T1.debug", "text", 4);
	reading_write(r, "logs/T1.wlog", "text", 4);
	reading_write(r, "logs/.log", "text", 4);
	snprintf(path, sizeof path, "%s/logs/folder.log", r->folder);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(reading_read(r, "logs/"), KR_OK);
	assert_int_equal(r->h.sessions.n, KR_COUNT(expected));
	assert_int_equal(r->h.txns.n, KR_COUNT(expected) - 1);
	for (uint32_t i = 0; i < KR_COUNT(expected); i++) {
		assert_string_equal(reading_name(r, r->h.sessions.at[i]), expected[i]);
		snprintf(path, sizeof path, "%s/logs/%s.log", r->folder, expected[i]);
		assert_string_equal(r->h.files.at[i + 1], path);
	}
	assert_string_equal(r->h.files.at[r->h.txns.at[2].file], r->h.files.at[3]);
}

/* A folder of compressed logs is recognised, too; what is there in both forms would count twice. */
static void logs_may_be_compressed(void **state)
{
	struct reading *r = *state;
	struct log log = {.n = 0};
	char path[256];

	S(&log, 1);
	WRITE(&log, 5, 1, 0);
	C(&log, 1);
	reading_write(r, "logs/x", "", 0);
	snprintf(path, sizeof path, "%s/logs/T1.log.gz", r->folder);
	gzFile file = gzopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(gzwrite(file, log.at, (unsigned)log.n), (int)log.n);
	assert_int_equal(gzclose(file), Z_OK);
	assert_int_equal(reading_read(r, "logs"), KR_OK);
	assert_string_equal(r->h.format, "cobra");
	assert_int_equal(r->h.ops.n, 1);
	assert_string_equal(reading_name(r, r->h.sessions.at[0]), "T1");
	reading_write(r, "logs/T1.log", log.at, log.n);
	assert_int_equal(reading_read(r, "logs"), KR_BAD);
	assert_string_equal(r->message, "logs: holds T1.log and T1.log.gz, expected one of them");
}

static void reads_large_logs(void **state)
{
	enum { OPS = 20000 }; /* over several buffers, cut at every place of a record */
	struct reading *r = *state;
	unsigned char *all = malloc(OPS * 33 + 18), *at = all;
	struct log log = {.n = 0};

	assert_non_null(all);
	S(&log, 1);
	memcpy(at, log.at, log.n);
	at += log.n;
	for (unsigned i = 0; i < OPS; i++) {
		log.n = 0;
		if (i % 3)
			WRITE(&log, i + 1, i % 1000, 5);
		else
			READ(&log, 1, i + 1, i % 1000, 5);
		memcpy(at, log.at, log.n);
		at += log.n;
	}
	log.n = 0;
	C(&log, 1);
	memcpy(at, log.at, log.n);
	at += log.n;
	reading_write(r, "logs/T1.log", all, (size_t)(at - all));
	free(all);
	assert_int_equal(reading_read(r, "logs"), KR_OK);
	assert_int_equal(r->h.ops.n, OPS);
	assert_int_equal(r->h.keys.n, 1000);
	for (uint32_t i = 0; i < OPS; i++) {
		assert_int_equal(r->h.ops.at[i].kind, i % 3 ? KR_OP_WRITE : KR_OP_READ);
		assert_int_equal(kr_history_value(&r->h, r->h.ops.at[i].a)->integer, i + 1);
	}
}

static void lenient_skips_a_repeated_transaction(void **state)
{
	struct reading *r = *state;
	struct log log = {.n = 0};

	for (int i = 0; i < 2; i++) {
		S(&log, 1);
		WRITE(&log, 5 + i, 1, 1);
		C(&log, 1);
	}
	S(&log, 2);
	READ(&log, 1, 5, 1, 1);
	C(&log, 2);
	reading_write(r, "logs/T1.log", log.at, log.n);
	assert_int_equal(reading_read(r, "logs"), KR_BAD);
	r->options.lenient = true;
	assert_int_equal(reading_read(r, "logs"), KR_OK);
	assert_int_equal(r->h.txns.n, 2);
	assert_int_equal(r->h.ops.n, 2);
	assert_int_equal(r->h.skipped, 1);
	expect_op(r, 1, KR_OP_READ, "0x1", "5");
}

static void chooses_folders_by_content(void **state)
{
	struct reading *r = *state;

	reading_write(r, "empty/T1.log", "", 0);
	reading_write(r, "other/J1.log", "text\n", 5);
	reading_write(r, "none/T1.txt", "S", 1);
	assert_int_equal(reading_read(r, "empty"), KR_OK);
	assert_int_equal(r->h.txns.n, 0);
	assert_int_equal(r->h.sessions.n, 1);
	assert_int_equal(reading_read(r, "other"), KR_BAD);
	assert_string_equal(r->message, "other: is a folder, but not one of a known format, expected a trace file or a folder of: cobra, store, viper");
	r->options.format = "cobra";
	assert_int_equal(reading_read(r, "other"), KR_BAD);
	assert_string_equal(r->message,
		"other/J1.log: at byte 0: expected a record: S, C, W or R (logs with time stamps, plain keys or in base64 cannot be read)");
	assert_int_equal(reading_read(r, "none"), KR_BAD);
	assert_string_equal(r->message, "none: holds no .log file, expected one for each client");
	assert_int_equal(reading_read(r, "none/T1.txt"), KR_BAD);
	assert_string_equal(r->message, "none/T1.txt: is a file, expected a folder (format cobra)");
	assert_int_equal(reading_read(r, "nothing"), KR_BAD);
	assert_string_equal(r->message, "nothing: cannot open: No such file or directory");
	r->options.format = "native";
	assert_int_equal(reading_read(r, "empty"), KR_BAD);
	assert_string_equal(r->message, "empty: is a folder, expected a file (format native)");
	r->options.format = "nonsense";
	assert_int_equal(reading_read(r, "empty"), KR_BAD);
	assert_string_equal(r->message, "empty: unknown format 'nonsense'; see 'krait formats'");
}

static void finds_formats_by_name_and_alias(void **state)
{
	(void)state;
	assert_string_equal(kr_format_find(NULL, "cobra")->name, "cobra");
	assert_string_equal(kr_format_find(NULL, "native")->name, "native");
	assert_string_equal(kr_format_find(NULL, "jsonl")->name, "native");
	assert_string_equal(kr_format_find(NULL, "krait")->name, "native");
	assert_null(kr_format_find(NULL, ""));
	assert_null(kr_format_find(NULL, "xml"));
	assert_null(kr_format_find(NULL, "krait jsonl"));
	assert_string_equal(kr_format_find(NULL, "Cobra")->name, "cobra");
}

static void survives_failing_allocations(void **state)
{
	struct reading *r = *state;
	struct log log = {.n = 0};
	uint64_t fail_at = 0;

	for (unsigned t = 1; t < 40; t++) {
		S(&log, t);
		WRITE(&log, t, t, t);
		READ(&log, t / 2, t / 2, t / 2, 1);
		C(&log, t);
	}
	reading_write(r, "logs/T1.log", log.at, log.n);
	reading_write(r, "logs/T2.log", "", 0);
	do {
		if (r->read)
			kr_history_done(&r->h);
		r->read = false;
		kr_ctx_init(&r->ctx, 0, 0);
		r->ctx.mem.fail_at = ++fail_at;
		(void)reading_read(r, "logs");
		assert_true(r->status == KR_OK || r->status == KR_NOMEM);
		assert_true(fail_at < 10000);
	} while (r->status != KR_OK);
	assert_true(fail_at > 20);
	r->ctx.mem.fail_at = 0;
}

/* ---- recorded histories: counts of verdicts.csv, which other programs made ---- */

struct known { char path[256]; unsigned sessions, txns, ops, keys; };

static void recorded_history(void **state)
{
	const struct known *known = *state;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	if (kr_read_trace(&ctx, known->path, NULL, &h, &err) != KR_OK)
		fail_msg("%s: %s", err.file, err.text);
	assert_string_equal(h.format, "cobra");
	assert_int_equal(h.sessions.n, known->sessions);
	assert_int_equal(h.txns.n, known->txns);
	assert_int_equal(h.ops.n, known->ops);
	assert_int_equal(h.keys.n, known->keys);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

static int run_recorded_histories(void)
{
	static struct CMUnitTest tests[1000];
	static struct known known[KR_COUNT(tests)];
	const char *data = getenv("KRAIT_DATA") ? getenv("KRAIT_DATA") : KR_SOURCE_DIR "/../shared/data";
	char path[512], line[1024], name[256];
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof path, "%s/verdicts.csv", data);
	file = fopen(path, "rb");
	if (!file) {
		print_message("no recorded histories in %s: left out\n", data);
		return 0;
	}
	while (n < KR_COUNT(tests) && fgets(line, sizeof line, file)) {
		struct known *k = &known[n];
		if (sscanf(line, "%255[^,],cobra,%u,%u,%u,%u", name, &k->sessions, &k->txns, &k->ops, &k->keys) != 5)
			continue;
		if (snprintf(k->path, sizeof k->path, "%s/%s", data, name) >= (int)sizeof k->path)
			continue;
		tests[n++] = (struct CMUnitTest){.name = k->path, .test_func = recorded_history, .initial_state = k};
	}
	fclose(file);
	return n == 0 || _cmocka_run_group_tests("recorded", tests, n, NULL, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_records_and_reserved_ids), TEST(sessions_are_files_in_numeric_order), TEST(logs_may_be_compressed), TEST(reads_large_logs),
		TEST(lenient_skips_a_repeated_transaction), TEST(chooses_folders_by_content), TEST(survives_failing_allocations),
		cmocka_unit_test(finds_formats_by_name_and_alias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) + run_recorded_histories();
}
