/* report/anomaly: the name of a cycle, row by row from the definitions (docs/levels.md). A cycle is written as its edges in turn: kind, '!' for a predicate dependency,
 * ':' and the key. Edge i goes from transaction i to the next one. Several cycles, each with its own transactions, have '|' between them: each world has one of them.
 * Behind '@' stands the operation that sees, by default one of its own for each edge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "tiny_history.h"

struct row {
	const char *test;
	const char *cycle;
	const char *name;
	const char *txns[6]; /* NULL: each reads and writes x, y and z */
};

#define READERS {"c r x 0; r y 0; w x 1; w y 1", "c r x 0; r y 0; w x 2; w y 2"}

static const struct row rows[] = {
	{"two ww are G0", "ww:x ww:y", "G0", {NULL}},
	{"three ww are G0", "ww:x ww:y ww:x", "G0", {NULL}},
	{"ww and so are G0-session", "ww:x so", "G0-session", {NULL}},
	{"ww and rt are G0-realtime", "ww:x rt", "G0-realtime", {NULL}},
	{"rt wins over so", "ww:x so rt", "G0-realtime", {NULL}},
	{"wr and wr are G1c", "wr:x wr:y", "G1c", {NULL}},
	{"ww and wr are G1c", "ww:x wr:y", "G1c", {NULL}},
	{"a predicate wr is G1c too", "ww:x wr!:y", "G1c", {NULL}},
	{"wr and so are G1c-session", "wr:x so", "G1c-session", {NULL}},
	{"rw then ww of one key by two readers is a lost update", "rw:x ww:x", "lost update", READERS},
	{"ww then rw of one key by two readers is a lost update", "ww:x rw:x", "lost update", READERS},
	{"rw and rw of one key is a lost update, whichever write came first", "rw:x rw:x", "lost update", READERS},
	{"rw then ww of one key with a blind writer is G-single", "rw:x ww:x", "G-single", {"c r x 0; w x 1", "c w x 2"}},
	{"rw then ww of one key with a read without result is G-single", "rw:x ww:x", "G-single", {"c r x 0; w x 1", "c r x ?; w x 2"}},
	{"rw then ww of two keys is G-single", "rw:x ww:y", "G-single", READERS},
	{"rw then wr is G-single", "rw:x wr:y", "G-single", {NULL}},
	{"rw then wr of one key is G-single", "rw:x wr:x", "G-single", {NULL}},
	{"rw and wr of one key by one operation: what was never there", "rw:x@0 wr:x@0", "unexplained reads", {NULL}},
	{"and ww between them", "rw:x@0 ww:x wr:x@0", "unexplained reads", {NULL}},
	{"of two keys is G-single", "rw:x@0 wr:y@0", "G-single", {NULL}},
	{"two such operations", "rw:x@0 ww:x wr:x@0 | rw:x@1 ww:x wr:x@1", "incompatible order", {NULL}},
	{"that there is an order takes nothing away", "ww:x ww:x | rw:x@0 wr:x@0", "unexplained reads", {NULL}},
	{"beside another cycle it is that", "rw:x wr:y | rw:x@0 wr:x@0", "G-single", {NULL}},
	{"a lost update by way of a third is G-single", "rw:x ww:x ww:x", "G-single", {NULL}},
	{"one rw in a longer cycle is G-single", "wr:x ww:y rw:z wr:x", "G-single", {NULL}},
	{"one predicate rw is G-single", "rw!:x wr:y", "G-single", {NULL}},
	{"rw and so are G-single-session", "rw:x so", "G-single-session", {NULL}},
	{"rw and rt are G-single-realtime", "rw:x rt", "G-single-realtime", {NULL}},
	{"two readers and two writers are a long fork", "wr:x rw:y wr:y rw:x", "long fork", {NULL}},
	{"a long fork starts anywhere", "rw:y wr:y rw:x wr:x", "long fork", {NULL}},
	{"with a ww it is only nonadjacent", "ww:x rw:y wr:y rw:x", "G-nonadjacent", {NULL}},
	{"with three rw it is only nonadjacent", "wr:x rw:y wr:y rw:x wr:x rw:y", "G-nonadjacent", {NULL}},
	{"so between the rw keeps them apart", "rw:x so rw:y so", "G-nonadjacent-session", {NULL}},
	{"rt between the rw keeps them apart", "rw:x so rw:y rt", "G-nonadjacent-realtime", {NULL}},
	{"rw and rw of two keys are write skew", "rw:x rw:y", "write skew", READERS},
	{"predicate write skew is write skew", "rw!:x rw:y", "write skew", READERS},
	{"three rw are G2-item", "rw:x rw:y rw:z", "G2-item", {NULL}},
	{"two adjacent rw and a ww are G2-item", "rw:x rw:y ww:z", "G2-item", {NULL}},
	{"the last and the first edge are adjacent", "rw:x wr:y rw:z", "G2-item", {NULL}},
	{"adjacent rw and so are G2-item-session", "rw:x rw:y so", "G2-item-session", {NULL}},
	{"a predicate rw makes it G2", "rw:x rw!:y rw:z", "G2", {NULL}},
	{"a predicate wr does not", "rw:x rw:y wr!:z", "G2-item", {NULL}},
	{"G2-realtime", "rw!:x rw:y rt", "G2-realtime", {NULL}},
	{"either G0 or G1c is G1c", "ww:x ww:y | wr:x wr:y", "G1c", {NULL}},
	{"either G1c or G0 is G1c", "wr:x wr:y | ww:x ww:y", "G1c", {NULL}},
	{"either G-single or G0 is no G0", "rw:x wr:y | ww:x ww:y", "G-single", {NULL}},
	{"either G-single or G1c is no G1c", "rw:x wr:y | wr:x wr:y", "G-single", {NULL}},
	{"a lost update in either order is one", "rw:x ww:x | ww:x rw:x", "lost update", {NULL}},
	{"what breaks more than a lost update does not hide it", "ww:x wr:x | rw:x ww:x", "lost update", {NULL}},
	{"either a lost update or read skew is G-single", "rw:x ww:x | rw:x wr:y", "G-single", {NULL}},
	{"what breaks more than a long fork does not hide it", "ww:x wr:x | wr:x rw:y wr:y rw:x", "long fork", {NULL}},
	{"either read skew or a long fork is nonadjacent", "rw:x wr:y | wr:x rw:y wr:y rw:x", "G-nonadjacent", {NULL}},
	{"what breaks more than write skew does not hide it", "ww:x wr:x | rw:x ww:x | rw:x rw:y", "write skew", {NULL}},
	{"either write skew or read skew is G2-item", "rw:x wr:y | rw:x rw:y", "G2-item", {NULL}},
	{"either a long fork or a predicate's rw is G2", "wr:x rw:y wr:y rw:x | rw!:x rw:y rw:z", "G2", {NULL}},
	{"one session edge is enough", "rw:x so | rw:x wr:y", "G-single-session", {NULL}},
	{"one real-time edge is enough", "rw:x so | ww:x rt | rw:x wr:y", "G-single-realtime", {NULL}},
};

/* One cycle, up to the end or a '|'. */
static uint32_t add_edges(struct kr_history *h, struct kr_certificate *cert, const char *text)
{
	uint32_t n = 0;
	char kind[3], key[2], op;
	int used;

	for (; sscanf(text, " %2[a-z]%n", kind, &used) == 1; text += used, n++) {
		struct kr_cert_edge e = {.from = {n}, .to = {n + 1}, .key = {KR_NONE}, .op = n, .source = {KR_NONE}, .part = {KR_NONE}};
		enum kr_edge_kind parsed;

		assert_true(kr_edge_parse(kind, &parsed));
		e.kind = (uint8_t)parsed;
		text += used;
		used = 0;
		if (*text == '!') {
			e.predicate = true;
			text++;
		}
		if (sscanf(text, ":%1[a-z]%n", key, &used) == 1)
			e.key = tiny_key(h, key);
		if (sscanf(text + used, "@%c", &op) == 1) {
			e.op = (uint32_t)(op - '0');
			used += 2;
		}
		assert_true(kr_vec_push(cert->mem, &cert->edges, e));
	}
	cert->edges.at[cert->edges.n - 1].to = (kr_txn){0};
	assert_true(kr_vec_push(cert->mem, &cert->cycles, (struct kr_cert_cycle){cert->edges.n - n, n}));
	return n;
}

static void name_of_cycle(void **state)
{
	const struct row *row = *state;
	struct kr_mem mem;
	struct kr_history h;
	struct kr_certificate cert;
	char name[KR_ANOMALY_NAME_SIZE];

	kr_mem_init(&mem, SIZE_MAX);
	assert_int_equal(kr_history_init(&h, &mem), KR_OK);
	kr_certificate_init(&cert, &mem);
	cert.kind = KR_CERT_CYCLES;

	uint32_t most = 0;

	for (const char *at = row->cycle; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
		uint32_t n = add_edges(&h, &cert, at);
		most = n > most ? n : most;
	}
	for (uint32_t i = 0; i < most; i++)
		tiny_add(&h, row->txns[0] ? row->txns[i] : "c r x 0; r y 0; r z 0; w x 1; w y 1; w z 1");
	kr_report_anomaly(&h, &cert, name);
	assert_string_equal(name, row->name);
	kr_certificate_done(&cert);
	kr_history_done(&h);
	assert_int_equal(mem.used, 0);
}

static void name_of_operation(void **state)
{
	struct kr_mem mem;
	struct kr_certificate cert;
	char name[KR_ANOMALY_NAME_SIZE];

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_certificate_init(&cert, &mem);
	cert.kind = KR_CERT_ANOMALY;
	cert.anomaly.kind = KR_INTERMEDIATE_READ;
	kr_report_anomaly(NULL, &cert, name);
	assert_string_equal(name, "intermediate read");
	kr_certificate_done(&cert);
}

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(rows) + 1];

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){.name = rows[i].test, .test_func = name_of_cycle, .initial_state = (void *)(uintptr_t)&rows[i]};
	tests[KR_COUNT(rows)] = (struct CMUnitTest)cmocka_unit_test(name_of_operation);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
