/* The scanner of JSON: it takes what jansson takes, and as the same values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/unit/same_json.h"

static const char *const texts[] = {
	"", " ", "[]", "{}", "[ ]", "{ }", " [1] ", "[1]x", "[1] 2", "1", "\"s\"", "null", "[", "{", "]", "}", "[}", "{]", "[[]]", "[[],[]]", "[[]", "[]]",
	/* numbers */
	"[0]", "[-0]", "[-]", "[+1]", "[01]", "[-01]", "[1 2]", "[0.5]", "[-0.0]", "[.5]", "[5.]", "[1e5]", "[1E+5]", "[1e]", "[1e5.0]", "[1-2]",
	"[999999999999999999]", "[9223372036854775807]", "[-9223372036854775808]", "[9223372036854775808]", "[-9223372036854775809]", "[1e999]",
	"[123456789012345678901234567890]", "[0x10]", "[1a]", "[NaN]", "[Infinity]", "[00000000000000000001]", "[0000000000000000000]",
	"[100000000000000000]", "[1000000000000000000]",
	/* words */
	"[null]", "[true,false]", "[nul]", "[nullx]", "[True]", "[truefalse]", "[t", "[n",
	/* strings */
	"[\"\"]", "[\"a\"", "[\"a]", "[\"\\n\\t\\\\\\\"\\/\"]", "[\"\\u0041\"]", "[\"\\u0000\"]", "[\"\\ud83d\\ude00\"]", "[\"\\ud83d\"]", "[\"\\ude00\"]",
	"[\"\\x\"]", "[\"\\", "[\"\\\"", "[\"\\u12\"]", "[\"a\tb\"]", "[\"\x7f\"]", "[\"\xc3\xa9\"]", "[\"\xc3\"]", "[\"\xff\"]", "[\"\xed\xa0\x80\"]",
	"[\"\xe2\x80\xae\"]", "['a']",
	/* objects */
	"{\"a\":1}", "{\"a\" : 1 }", "{\"a\":1,}", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1 \"b\":2}", "{\"a\":1,\"b\":2}", "{\"a\":1,\"a\":2}", "{\"\":1}",
	"{\"\":1,\"\":2}", "{a:1}", "{1:1}", "{\"a\\u0000b\":1}", "{\"\\u0061\":1,\"a\":2}", "{\"\xc3\xa9\":{\"b\":[]}}",
	"{\"a\":{\"a\":{\"a\":1}}}", "{\"a\":1,\"b\":{\"a\":1,\"b\":2},\"c\":[{\"a\":1}]}", "{\"a\":1,\"b\":{\"a\":1,\"a\":2}}",
	/* blanks and commas */
	"[1,2]", "[1,,2]", "[,1]", "[1,]", "[\n1\r\n,\t2 ]", "[\v1]", "[\f1]", "[1;2]", "[1/**/]",
	"{\"id\": 7, \"s\": \"c1\", \"begin\": [1, 2], \"ops\": [[\"r\", \"x\", null], [\"w\", \"y\", -3, {\"t\": [4, 5.5]}]]}",
};

static void texts_are_jansson_s(void **state)
{
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (size_t i = 0; i < KR_COUNT(texts); i++) {
		const char *why = json_differs(&mem, texts[i], strlen(texts[i]));
		if (why)
			fail_msg("%s: %s", texts[i], why);
	}
	assert_null(json_differs(&mem, "[1]\0", 4));
	assert_null(json_differs(&mem, "[\"a\0b\"]", 7));
	assert_int_equal(mem.used, 0);
}

/* A member too many for a comparison of all with all, and one that is there twice. */
static void many_members(void **state)
{
	char text[4000];
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (int members = 14; members < 40; members++)
		for (int twice = 0; twice < 2; twice++) {
			int n = sprintf(text, "{");
			for (int i = 0; i < members; i++)
				n += sprintf(text + n, "%s\"%d\": %d", i ? ", " : "", i == members - 1 && twice ? members / 2 : i, i);
			strcpy(text + n, "}");
			assert_null(json_differs(&mem, text, strlen(text)));
		}
	assert_int_equal(mem.used, 0);
}

static void depth(void **state)
{
	enum { MOST = 2050 };
	static char text[2 * MOST + 2];
	struct kr_mem mem;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (int deep = MOST - 5; deep < MOST; deep++)
		for (int scalar = 0; scalar < 2; scalar++) {
			memset(text, '[', (size_t)deep);
			memset(text + deep, '1', (size_t)scalar);
			memset(text + deep + scalar, ']', (size_t)deep);
			const char *why = json_differs(&mem, text, (size_t)(2 * deep + scalar));
			if (why)
				fail_msg("%d arrays and %d: %s", deep, scalar, why);
		}
	assert_int_equal(mem.used, 0);
}

/* Texts that are nearly well-formed: bytes of the ones above changed, put in, left out, or taken from others. */
static void random_texts(void **state)
{
	static const char alphabet[] = "[]{}\",:\\ \n0123456789-+.eEtruefalsnu\xc3\xa9\x01";
	struct kr_mem mem;
	struct kr_rng rng;
	char text[300];
	int taken = 0;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_rng_init(&rng, 7);
	for (int run = 0; run < 200000; run++) {
		const char *from = texts[kr_rng_below(&rng, KR_COUNT(texts))];
		size_t length = strlen(from);
		memcpy(text, from, length);
		for (uint64_t change = kr_rng_below(&rng, 4); change > 0; change--) {
			size_t at = length > 0 ? kr_rng_below(&rng, length) : 0, cut = kr_rng_below(&rng, 2);
			char byte = alphabet[kr_rng_below(&rng, sizeof alphabet - 1)];
			if (cut && length > 0)
				memmove(text + at, text + at + 1, --length - at);
			if (kr_rng_below(&rng, 3) > 0) {
				memmove(text + at + 1, text + at, length++ - at);
				text[at] = byte;
			}
		}
		const char *why = json_differs(&mem, text, length);
		if (why)
			fail_msg("%.*s: %s", (int)length, text, why);
		json_t *json = json_loadb(text, length, KR_NODE_JANSSON, NULL);
		taken += json != NULL;
		json_decref(json);
	}
	assert_in_range(taken, 20000, 180000);
	assert_int_equal(mem.used, 0);
}

static void memory_may_run_out(void **state)
{
	const char *text = "{\"a\": [1, 2.5, \"\\n\", {\"b\": null}], \"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1,"
			   "\"10\":1,\"11\":1,\"12\":1,\"13\":1,\"14\":1,\"15\":1,\"16\":1,\"17\":1}";
	enum kr_status status = KR_NOMEM;
	int failed = 0;

	(void)state;
	for (uint64_t at = 1; status == KR_NOMEM; at++, failed++) {
		struct kr_mem mem;
		struct kr_nodes nodes;
		const struct kr_node *root;
		char copy[400];
		kr_mem_init(&mem, SIZE_MAX);
		mem.fail_at = at;
		kr_nodes_init(&nodes, &mem);
		strcpy(copy, text);
		status = kr_nodes_scan(&nodes, copy, strlen(text), &root);
		if (status)
			assert_string_equal(copy, text);
		kr_nodes_done(&nodes);
		assert_int_equal(mem.used, 0);
	}
	assert_int_equal(status, KR_OK);
	assert_true(failed > 4);
}

static void nodes_are_found(void **state)
{
	char text[] = "{\"a\": [1, [2, 3], {\"x\": 4}], \"b\": null}";
	struct kr_mem mem;
	struct kr_nodes nodes;
	const struct kr_node *root, *a;
	int64_t sum = 0;

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_nodes_init(&nodes, &mem);
	assert_int_equal(kr_nodes_scan(&nodes, text, strlen(text), &root), KR_OK);
	assert_int_equal(kr_node_members(root), 2);
	a = kr_node_get(root, "a");
	assert_int_equal(kr_node_size(a), 3);
	assert_int_equal(kr_node_at(kr_node_at(a, 1), 1)->integer, 3);
	assert_int_equal(kr_node_get(kr_node_at(a, 2), "x")->integer, 4);
	assert_null(kr_node_at(a, 3));
	assert_null(kr_node_at(root, 0));
	assert_null(kr_node_get(root, "c"));
	assert_null(kr_node_get(NULL, "c"));
	assert_true(kr_node_is(kr_node_get(root, "b"), KR_NODE_NULL));
	for (const struct kr_node *at = kr_node_element(kr_node_at(a, 1), NULL); at; at = kr_node_element(kr_node_at(a, 1), at))
		sum += at->integer;
	assert_int_equal(sum, 5);
	kr_nodes_done(&nodes);
	assert_int_equal(mem.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_jansson_s),
		cmocka_unit_test(many_members),
		cmocka_unit_test(depth),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(nodes_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
