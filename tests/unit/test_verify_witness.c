/* verify/witness: what is printed reads back as the same certificate, and no line, however bad, does more than give one clear error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/checker.h"
#include "same_history.h"
#include "verify/verify.h"

/* Ids and keys of every kind: strings with all that needs escapes, integers at the limits, reals, and texts that look like them. */
static const char trace[] = "{\"id\":1,\"s\":\"p\",\"ops\":[[\"w\",\"x\",1],[\"r\",2.5,null]]}\n"
			    "{\"id\":\"1\",\"s\":\"p\",\"ops\":[[\"r\",\"x\",1],[\"w\",2.5,1],[\"r\",-9223372036854775808,null]]}\n"
			    "{\"id\":\"t \\\"\\\\\\u0000\\u00e9\\n\",\"ops\":[[\"r\",\"2.5\",null],[\"w\",-9223372036854775808,7],[\"w\",\"\\u0000\",1]]}\n"
			    "{\"id\":9223372036854775807,\"status\":\"unknown\",\"ops\":[[\"w\",\"x\",1]]}\n"
			    "{\"ops\":[[\"r\",\"\",null]]}";

struct fixture {
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_arena arena;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct kr_err err;

	assert_non_null(f);
	kr_ctx_init(&f->ctx, 0, 0);
	kr_err_init(&err);
	if (read_trace_text(&f->ctx, trace, strlen(trace), &f->h, &err) != KR_OK)
		fail_msg("line %u: %s", (unsigned)err.line, err.text);
	kr_arena_init(&f->arena, &f->ctx.mem);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	kr_arena_done(&f->arena);
	kr_history_done(&f->h);
	assert_int_equal(f->ctx.mem.used, 0);
	free(f);
	return 0;
}

static void same_certificate(const struct kr_certificate *a, const struct kr_certificate *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->serial.n, b->serial.n);
	for (uint32_t i = 0; i < a->serial.n; i++)
		assert_int_equal(a->serial.at[i].i, b->serial.at[i].i);
	if (a->kind == KR_CERT_ANOMALY) {
		assert_int_equal(a->anomaly.kind, b->anomaly.kind);
		assert_int_equal(a->anomaly.txn.i, b->anomaly.txn.i);
		assert_int_equal(a->anomaly.op, b->anomaly.op);
		assert_int_equal(a->anomaly.key.i, b->anomaly.key.i);
	}
	assert_int_equal(a->edges.n, b->edges.n);
	for (uint32_t i = 0; i < a->edges.n; i++) {
		const struct kr_cert_edge *x = &a->edges.at[i], *y = &b->edges.at[i];
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->predicate, y->predicate);
		assert_int_equal(x->from.i, y->from.i);
		assert_int_equal(x->to.i, y->to.i);
		assert_int_equal(x->key.i, y->key.i);
		assert_int_equal(x->op, y->op);
		assert_int_equal(x->source.i, y->source.i);
	}
	assert_int_equal(a->cycles.n, b->cycles.n);
	for (uint32_t i = 0; i < a->cycles.n; i++) {
		assert_int_equal(a->cycles.at[i].first, b->cycles.at[i].first);
		assert_int_equal(a->cycles.at[i].count, b->cycles.at[i].count);
	}
}

/* Prints, reads and prints again. `expected`, if not NULL, is the text. */
static void round_trip(struct fixture *f, const struct kr_certificate *cert, const char *expected)
{
	const struct kr_witness_head head = {"a \"b\".jsonl", "ser", KR_ORDER_SESSION};
	struct kr_witness_head got;
	struct kr_certificate copy;
	struct kr_str text, again;
	struct kr_err err;

	kr_str_init(&text, &f->ctx.mem);
	kr_str_init(&again, &f->ctx.mem);
	kr_err_init(&err);
	kr_certificate_init(&copy, &f->ctx.mem);
	kr_witness_print(&f->h, &head, cert, &text);
	if (expected)
		assert_string_equal(kr_str_text(&text), expected);
	if (kr_witness_read(&f->h, &f->arena, kr_str_text(&text), text.n, &got, &copy, &err) != KR_OK)
		fail_msg("%s", err.text);
	assert_string_equal(got.trace, head.trace);
	assert_string_equal(got.level, head.level);
	assert_null(copy.level);
	assert_int_equal(got.order, head.order);
	assert_int_equal(copy.order, head.order);
	same_certificate(cert, &copy);
	kr_witness_print(&f->h, &got, &copy, &again);
	assert_string_equal(kr_str_text(&again), kr_str_text(&text));
	kr_certificate_done(&copy);
	kr_str_done(&text);
	kr_str_done(&again);
}

static void order_comes_back(void **state)
{
	struct fixture *f = *state;
	struct kr_certificate cert;

	kr_certificate_init(&cert, &f->ctx.mem);
	cert.kind = KR_CERT_ORDER;
	round_trip(f, &cert, "{\"krait_witness\":1,\"trace\":\"a \\\"b\\\".jsonl\",\"level\":\"ser\",\"order\":\"session\",\"verdict\":\"satisfied\",\"serial\":[]}\n");
	for (uint32_t i = f->h.txns.n; i-- > 0;)
		assert_true(kr_vec_push(&f->ctx.mem, &cert.serial, (kr_txn){i}));
	round_trip(f, &cert, "{\"krait_witness\":1,\"trace\":\"a \\\"b\\\".jsonl\",\"level\":\"ser\",\"order\":\"session\",\"verdict\":\"satisfied\","
			     "\"serial\":[\"#5\",9223372036854775807,\"t \\\"\\\\\\u0000\xc3\xa9\\n\",\"1\",1]}\n");
	kr_certificate_done(&cert);
}

static void anomaly_comes_back(void **state)
{
	struct fixture *f = *state;
	struct kr_certificate cert;

	kr_certificate_init(&cert, &f->ctx.mem);
	cert.kind = KR_CERT_ANOMALY;
	for (unsigned kind = 0; kind < KR_ANOMALY_KINDS; kind++) {
		cert.anomaly.kind = (enum kr_anomaly_kind)kind;
		cert.anomaly.txn = (kr_txn){kind % 3};
		cert.anomaly.op = kind % 2;
		cert.anomaly.key = (kr_key){kind == 0 ? KR_NONE : kind % f->h.keys.n};
		round_trip(f, &cert, NULL);
	}
	kr_certificate_done(&cert);
}

static void cycles_come_back(void **state)
{
	struct fixture *f = *state;
	const struct kr_cert_edge edges[] = {
		{KR_WR, false, {0}, {1}, {0}, 0, {KR_NONE}, {KR_NONE}},
		{KR_WR, true, {0}, {1}, {1}, 2, {KR_NONE}, {KR_NONE}},
		{KR_WW, false, {1}, {3}, {2}, KR_NONE, {KR_NONE}, {KR_NONE}},
		{KR_RW, false, {1}, {2}, {3}, 1, {KR_NONE}, {KR_NONE}},
		{KR_RW, true, {2}, {1}, {4}, 0, {3}, {KR_NONE}},
		{KR_SO, false, {0}, {1}, {KR_NONE}, KR_NONE, {KR_NONE}, {KR_NONE}},
		{KR_RT, false, {4}, {1}, {KR_NONE}, KR_NONE, {KR_NONE}, {KR_NONE}},
	};
	const struct kr_cert_cycle cycles[] = {{0, 3}, {3, 0}, {3, 4}};
	struct kr_certificate cert;

	kr_certificate_init(&cert, &f->ctx.mem);
	cert.kind = KR_CERT_CYCLES;
	round_trip(f, &cert, NULL);
	for (size_t i = 0; i < KR_COUNT(edges); i++)
		assert_true(kr_vec_push(&f->ctx.mem, &cert.edges, edges[i]));
	for (size_t i = 0; i < KR_COUNT(cycles); i++)
		assert_true(kr_vec_push(&f->ctx.mem, &cert.cycles, cycles[i]));
	round_trip(f, &cert, NULL);
	kr_certificate_done(&cert);
}

/* ---- bad lines ---- */

static enum kr_status read_line(struct fixture *f, const char *line, size_t length, struct kr_err *err)
{
	struct kr_witness_head head = {"before", "before", KR_ORDER_NONE};
	struct kr_certificate cert;
	enum kr_status status;

	kr_err_init(err);
	kr_certificate_init(&cert, &f->ctx.mem);
	status = kr_witness_read(&f->h, &f->arena, line, length, &head, &cert, err);
	if (status != KR_OK) {
		assert_string_equal(head.trace, "before"); /* outputs are written on success only */
		assert_int_equal(cert.serial.n + cert.edges.n + cert.cycles.n, 0);
	}
	kr_certificate_done(&cert);
	return status;
}

struct bad_row { const char *line, *message; };

#define HEAD "{\"krait_witness\":1,\"trace\":\"t\",\"level\":\"ser\",\"order\":\"none\","
#define EDGE(fields) HEAD "\"verdict\":\"violated\",\"cycles\":[[{" fields "}]]}"
#define FROM_TO "\"from\":1,\"to\":\"1\","

static void bad_lines(void **state)
{
	static const struct bad_row rows[] = {
		{"", "witness: expected one JSON object: '[' or '{' expected near end of file"},
		{"{", "witness: expected one JSON object: string or '}' expected near end of file"},
		{"[]", "witness: expected an object, found an array"},
		{"{}", "witness: krait_witness: expected 1, found nothing"},
		{"{\"krait_witness\":2}", "witness: krait_witness: expected 1, found another version"},
		{"{\"krait_witness\":\"1\"}", "witness: krait_witness: expected 1, found a string"},
		{"{\"krait_witness\":1}", "witness: trace: expected a string, found nothing"},
		{"{\"krait_witness\":1,\"trace\":\"a\\u0000b\"}", "witness: trace: expected a string without NUL"},
		{"{\"krait_witness\":1,\"trace\":\"t\",\"level\":7}", "witness: level: expected a string, found an integer"},
		{"{\"krait_witness\":1,\"trace\":\"t\",\"level\":\"ser\"}", "witness: order: expected a string, found nothing"},
		{"{\"krait_witness\":1,\"trace\":\"t\",\"level\":\"ser\",\"order\":\"any\"}",
			"witness: order: expected none, session or realtime, found \"any\""},
		{HEAD "\"a\":1,\"a\":2}", "witness: expected one JSON object: duplicate object key near '\"a\"'"},
		{HEAD "\"x\":1}", "witness: verdict: expected a string, found nothing"},
		{HEAD "\"verdict\":\"unknown\"}", "witness: verdict: expected \"satisfied\" or \"violated\", found \"unknown\""},
		{HEAD "\"verdict\":\"satisfied\"}", "witness: serial: expected an array of transactions, found nothing"},
		{HEAD "\"verdict\":\"satisfied\",\"serial\":{}}", "witness: serial: expected an array of transactions, found an object"},
		{HEAD "\"verdict\":\"satisfied\",\"serial\":[1,2]}", "witness: serial: the trace has no such transaction"},
		{HEAD "\"verdict\":\"satisfied\",\"serial\":[1.0]}", "witness: serial: the trace has no such transaction"},
		{HEAD "\"verdict\":\"satisfied\",\"serial\":[\"9\"]}", "witness: serial: the trace has no transaction \"9\""},
		{HEAD "\"verdict\":\"satisfied\",\"serial\":[null]}", "witness: serial: expected the id of a transaction, found null"},
		{HEAD "\"verdict\":\"satisfied\",\"serial\":[[1]]}", "witness: serial: expected the id of a transaction, found an array"},
		{HEAD "\"verdict\":\"violated\"}", "witness: cycles: expected an array, found nothing"},
		{HEAD "\"verdict\":\"violated\",\"cycles\":[1]}", "witness: cycles: expected arrays of edges, found an integer"},
		{HEAD "\"verdict\":\"violated\",\"cycles\":[[1]]}", "witness: cycle 1, edge 1, edge: expected an object, found an integer"},
		{EDGE(""), "witness: cycle 1, edge 1, kind: expected a string, found nothing"},
		{EDGE("\"kind\":\"program\""), "witness: cycle 1, edge 1, kind: there is no kind of edge \"program\", expected wr, pwr, ww, rw, prw, so or rt"},
		{EDGE("\"kind\":\"pww\""), "witness: cycle 1, edge 1, kind: there is no kind of edge \"pww\", expected wr, pwr, ww, rw, prw, so or rt"},
		{EDGE("\"kind\":\"p\""), "witness: cycle 1, edge 1, kind: there is no kind of edge \"p\", expected wr, pwr, ww, rw, prw, so or rt"},
		{EDGE("\"kind\":\"so\""), "witness: cycle 1, edge 1, from: expected the id of a transaction, found nothing"},
		{EDGE("\"kind\":\"so\",\"from\":1"), "witness: cycle 1, edge 1, to: expected the id of a transaction, found nothing"},
		{EDGE(FROM_TO "\"kind\":\"ww\""), "witness: cycle 1, edge 1, key: expected the name of a key, found nothing"},
		{EDGE(FROM_TO "\"kind\":\"ww\",\"key\":\"none\""), "witness: cycle 1, edge 1, key: the trace has no key \"none\""},
		{EDGE(FROM_TO "\"kind\":\"ww\",\"key\":2"), "witness: cycle 1, edge 1, key: the trace has no such key"},
		{EDGE(FROM_TO "\"kind\":\"wr\",\"key\":\"x\""), "witness: cycle 1, edge 1, op: expected the number of an operation, found nothing"},
		{EDGE(FROM_TO "\"kind\":\"wr\",\"key\":\"x\",\"op\":1.0"),
			"witness: cycle 1, edge 1, op: expected the number of an operation, found a real number"},
		{EDGE(FROM_TO "\"kind\":\"wr\",\"key\":\"x\",\"op\":3"), "witness: cycle 1, edge 1, op: found 3, but the transaction has 3 operations"},
		{EDGE(FROM_TO "\"kind\":\"rw\",\"key\":\"x\",\"op\":2,\"source\":null"), "witness: cycle 1, edge 1, op: found 2, but the transaction has 2 operations"},
		{EDGE(FROM_TO "\"kind\":\"wr\",\"key\":\"x\",\"op\":-1"), "witness: cycle 1, edge 1, op: found -1, but the transaction has 3 operations"},
		{EDGE(FROM_TO "\"kind\":\"wr\",\"key\":\"x\",\"op\":4294967296"),
			"witness: cycle 1, edge 1, op: found 4294967296, but the transaction has 3 operations"},
		{EDGE(FROM_TO "\"kind\":\"rw\",\"key\":\"x\",\"op\":0"),
			"witness: cycle 1, edge 1, source: expected a transaction, or null for the initial version, found nothing"},
		{EDGE(FROM_TO "\"kind\":\"rw\",\"key\":\"x\",\"op\":0,\"source\":5"), "witness: cycle 1, edge 1, source: the trace has no such transaction"},
		{HEAD "\"verdict\":\"violated\",\"anomaly\":[]}", "witness: anomaly: expected an object, found an array"},
		{HEAD "\"verdict\":\"violated\",\"anomaly\":{}}", "witness: name: expected a string, found nothing"},
		{HEAD "\"verdict\":\"violated\",\"anomaly\":{\"name\":\"odd read\"}}", "witness: name: there is no anomaly \"odd read\""},
		{HEAD "\"verdict\":\"violated\",\"anomaly\":{\"name\":\"garbage read\",\"txn\":1,\"op\":0}}", "witness: key: expected the name of a key, found nothing"},
	};
	struct fixture *f = *state;
	struct kr_err err;

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		assert_int_equal(read_line(f, rows[i].line, strlen(rows[i].line), &err), KR_BAD);
		assert_string_equal(err.text, rows[i].message);
	}
}

static const char good_line[] = HEAD "\"verdict\":\"violated\",\"cycles\":[[{\"from\":1,\"to\":\"1\",\"kind\":\"rw\",\"key\":2.5,\"op\":1,\"source\":null},"
				     "{\"from\":\"1\",\"to\":1,\"kind\":\"rw\",\"key\":\"x\",\"op\":0,\"source\":9223372036854775807}]],\"note\":[1,{}]}";

static void cut_lines(void **state)
{
	struct fixture *f = *state;
	struct kr_err err;

	assert_int_equal(read_line(f, good_line, strlen(good_line), &err), KR_OK);
	for (size_t length = 0; length < strlen(good_line); length++) {
		assert_int_equal(read_line(f, good_line, length, &err), KR_BAD);
		assert_int_not_equal(err.text[0], 0);
	}
}

/* Every byte replaced by each of some: never more than an error, and what is read can be verified without harm. */
static void changed_lines(void **state)
{
	static const char bytes[] = "\"{}[]:,01-.en\\\n\xff\x80 p";
	struct fixture *f = *state;
	char line[sizeof good_line];

	for (size_t i = 0; i + 1 < sizeof line; i++) {
		for (size_t b = 0; b < sizeof bytes; b++) {
			struct kr_witness_head head;
			struct kr_certificate cert;
			struct kr_err err;

			memcpy(line, good_line, sizeof line);
			line[i] = bytes[b];
			kr_err_init(&err);
			kr_certificate_init(&cert, &f->ctx.mem);

			enum kr_status status = kr_witness_read(&f->h, &f->arena, line, strlen(good_line), &head, &cert, &err);

			cert.level = kr_level_of_id(NULL, "ser");
			if (status == KR_OK)
				status = kr_verify(&f->ctx, &f->h, &cert, &err);
			if (status != KR_OK)
				assert_int_not_equal(err.text[0], 0);
			kr_certificate_done(&cert);
		}
	}
}

static void deep_lines(void **state)
{
	enum { DEPTH = 100000 };
	struct fixture *f = *state;
	char *line = malloc(DEPTH);
	struct kr_err err;

	assert_non_null(line);
	memset(line, '[', DEPTH);
	assert_int_equal(read_line(f, line, DEPTH, &err), KR_BAD);
	for (size_t i = 0; i + 5 <= DEPTH; i += 5)
		memcpy(line + i, "{\"a\":", 5);
	assert_int_equal(read_line(f, line, DEPTH, &err), KR_BAD);
	free(line);
}

/* ---- certificates that no witness gives ---- */

static void bad_certificates(void **state)
{
	struct fixture *f = *state;
	struct kr_certificate cert;
	struct kr_err err;

	kr_err_init(&err);
	kr_certificate_init(&cert, &f->ctx.mem);
	cert.level = kr_level_of_id(NULL, "pl-99");
	assert_null(cert.level);
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, &err), KR_UNSUPPORTED);
	assert_string_equal(err.text, "certificates of a level that is not known cannot be checked");

	cert.level = kr_level_of_id(NULL, "pl-ss");
	cert.kind = KR_CERT_ANOMALY;
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);
	cert.anomaly.kind = KR_ANOMALY_KINDS;
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);

	cert.kind = KR_CERT_ORDER;
	assert_true(kr_vec_push(&f->ctx.mem, &cert.serial, (kr_txn){99}));
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);

	cert.kind = KR_CERT_CYCLES;
	assert_true(kr_vec_push(&f->ctx.mem, &cert.cycles, (struct kr_cert_cycle){1, KR_NONE}));
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);
	cert.cycles.at[0] = (struct kr_cert_cycle){0, 2};
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);
	for (int i = 0; i < 2; i++)
		assert_true(kr_vec_push(&f->ctx.mem, &cert.edges, (struct kr_cert_edge){KR_RW, false, {0}, {1}, {0}, 1, {KR_NONE}, {KR_NONE}}));
	cert.edges.at[0].kind = KR_PROGRAM;
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);
	cert.edges.at[0] = (struct kr_cert_edge){KR_RW, false, {0}, {1}, {99}, 1, {KR_NONE}, {KR_NONE}};
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);
	cert.edges.at[0] = (struct kr_cert_edge){KR_RW, false, {0}, {1}, {1}, 99, {KR_NONE}, {KR_NONE}};
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);
	cert.edges.at[0] = (struct kr_cert_edge){KR_RW, false, {0}, {1}, {1}, 1, {99}, {KR_NONE}};
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);
	cert.edges.at[0] = (struct kr_cert_edge){KR_RW, false, {99}, {1}, {1}, 1, {KR_NONE}, {KR_NONE}};
	assert_int_equal(kr_verify(&f->ctx, &f->h, &cert, NULL), KR_BAD);
	kr_certificate_done(&cert);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(order_comes_back),
		TEST(anomaly_comes_back),
		TEST(cycles_come_back),
		TEST(bad_lines),
		TEST(cut_lines),
		TEST(changed_lines),
		TEST(deep_lines),
		TEST(bad_certificates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
