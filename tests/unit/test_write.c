/* frontend/write: the texts of foreign formats, what they cannot hold, and that reading them back gives the same history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/write.h"
#include "tests/unit/reading.h"

struct written {
	const char *target, *file;
	const char *trace; /* native */
	uint32_t losses;
	const char *text;
	bool same; /* reading it back gives the trace again, as native text */
};

#define BIT(loss) (UINT32_C(1) << (loss))
#define H "{\"krait\": 1}\n"

/* A plain trace without ids and times, which dbcop's JSON, too, holds whole. */
#define PLAIN \
	H "{\"s\": 1, \"ops\": [[\"w\", 7, 5], [\"r\", \"k\", null]]}\n" \
	  "{\"s\": 2, \"status\": \"aborted\", \"ops\": [[\"w\", 7, 6]]}\n"

/* Two that overlap, one behind both. */
#define TIMED \
	H "{\"s\": 0, \"begin\": 1, \"end\": 3, \"ops\": [[\"append\", \"x\", 1]]}\n" \
	  "{\"s\": 1, \"begin\": 2, \"end\": 4, \"ops\": [[\"r\", \"x\", [1]], [\"r\", 3, null]]}\n" \
	  "{\"s\": 0, \"begin\": 5, \"status\": \"unknown\", \"ops\": [[\"append\", \"x\", \"a\"]]}\n"

static const struct written cases[] = {
	{"plume", "t.txt", H "{\"id\": 4, \"s\": 3, \"ops\": [[\"w\", 7, 5], [\"r\", -8, null]]}\n{\"s\": 0, \"status\": \"aborted\", \"ops\": [[\"w\", 7, 6]]}\n", 0,
		"w(7,5,3,4)\nr(-8,0,3,4)\nw(7,6,0,-1)\n", false /* the default id of an aborted one is not the native text's */},
	{"plume", "t.txt", H "{\"id\": \"a\", \"ops\": [[\"w\", \"x\", \"v\"]]}\n{\"id\": \"b\", \"ops\": [[\"r\", \"x\", \"v\"], [\"d\", \"x\"]]}\n",
		BIT(KR_LOSS_IDS) | BIT(KR_LOSS_OPS) | BIT(KR_LOSS_HISTORIES), "", false},
	/* What a read of a list saw is gone with the appends, and so is the read; not so one of a key that a conditional operation left as it was. */
	{"plume", "t.txt", H "{\"id\": 1, \"s\": 0, \"ops\": [[\"append\", 1, 5], [\"w\", 2, 7], [\"insert\", 2, 8, false]]}\n{\"id\": 2, \"s\": 1, \"ops\": [[\"r\", 1, [5]], [\"r\", 2, 7]]}\n",
		BIT(KR_LOSS_OPS) | BIT(KR_LOSS_HISTORIES), "w(2,7,0,1)\nr(2,7,1,2)\n", false},
	/* Who has an unknown outcome may have written what others read. */
	{"plume", "t.txt", H "{\"id\": 1, \"s\": 0, \"status\": \"unknown\", \"ops\": [[\"w\", 1, 5], [\"r\", 2, 7]]}\n{\"id\": 2, \"s\": 1, \"ops\": [[\"r\", 1, 5], [\"w\", 2, 7]]}\n",
		BIT(KR_LOSS_UNKNOWN) | BIT(KR_LOSS_HISTORIES), "w(2,7,1,2)\n", false},
	{"plume", "t.txt", H "{\"id\": 1, \"ops\": [[\"w\", 1, 0]]}\n", BIT(KR_LOSS_VALUES), NULL, false},
	{"plume", "t.txt", H "{\"id\": 1, \"ops\": []}\n", BIT(KR_LOSS_EMPTY), NULL, false},
	{"plume", "t.txt", "{\"krait\": 1, \"initial\": {\"x\": 1}, \"name\": \"n\", \"clock_skew\": 2}\n{\"id\": 1, \"begin\": 1, \"ops\": [[\"r\", 1, 5]]}\n",
		BIT(KR_LOSS_INITIAL) | BIT(KR_LOSS_NAME) | BIT(KR_LOSS_SKEW) | BIT(KR_LOSS_TIMES) | BIT(KR_LOSS_UNIVERSE), "r(1,5,0,1)\n", false},
	{"dbcop-json", "t.json", PLAIN, 0,
		"[[{\"events\": [{\"Write\": {\"variable\": 7, \"version\": 5}}, {\"Read\": {\"variable\": \"k\", \"version\": null}}], \"committed\": true}],\n"
		"[{\"events\": [{\"Write\": {\"variable\": 7, \"version\": 6}}], \"committed\": false}]]\n",
		true},
	{"dbcop-json", "t.json", H "{\"s\": \"a\", \"status\": \"unknown\", \"ops\": [[\"r\", 1.5]]}\n",
		BIT(KR_LOSS_UNKNOWN) | BIT(KR_LOSS_SESSIONS) | BIT(KR_LOSS_UNTOLD) | BIT(KR_LOSS_KEYS), "[[]]\n", false},
	{"elle", "t.edn", TIMED, 0,
		"{:type :invoke, :process 0, :f :txn, :value [[:append \"x\" 1]]}\n"
		"{:type :invoke, :process 1, :f :txn, :value [[:r \"x\" nil] [:r 3 nil]]}\n"
		"{:type :ok, :process 0, :f :txn, :value [[:append \"x\" 1]]}\n"
		"{:type :ok, :process 1, :f :txn, :value [[:r \"x\" [1]] [:r 3 nil]]}\n"
		"{:type :invoke, :process 0, :f :txn, :value [[:append \"x\" \"a\"]]}\n"
		"{:type :info, :process 0, :f :txn, :value [[:append \"x\" \"a\"]]}\n",
		true},
	{"elle-json", "t.json", TIMED, 0,
		"[{\"type\": \"invoke\", \"process\": 0, \"f\": \"txn\", \"value\": [[\"append\", \"x\", 1]]},\n"
		"{\"type\": \"invoke\", \"process\": 1, \"f\": \"txn\", \"value\": [[\"r\", \"x\", null], [\"r\", 3, null]]},\n"
		"{\"type\": \"ok\", \"process\": 0, \"f\": \"txn\", \"value\": [[\"append\", \"x\", 1]]},\n"
		"{\"type\": \"ok\", \"process\": 1, \"f\": \"txn\", \"value\": [[\"r\", \"x\", [1]], [\"r\", 3, null]]},\n"
		"{\"type\": \"invoke\", \"process\": 0, \"f\": \"txn\", \"value\": [[\"append\", \"x\", \"a\"]]},\n"
		"{\"type\": \"info\", \"process\": 0, \"f\": \"txn\", \"value\": [[\"append\", \"x\", \"a\"]]}]\n",
		true},
	/* At one moment nothing has ended before. */
	{"elle", "t.edn", H "{\"s\": 0, \"begin\": 1, \"end\": 3, \"ops\": []}\n{\"s\": 1, \"begin\": 3, \"end\": 4, \"ops\": []}\n", 0,
		"{:type :invoke, :process 0, :f :txn, :value []}\n{:type :invoke, :process 1, :f :txn, :value []}\n"
		"{:type :ok, :process 0, :f :txn, :value []}\n{:type :ok, :process 1, :f :txn, :value []}\n",
		false},
	{"elle", "t.edn", H "{\"s\": 0, \"begin\": 1, \"end\": 3, \"ops\": []}\n{\"s\": 0, \"begin\": 3, \"end\": 4, \"ops\": []}\n", BIT(KR_LOSS_TIMES), NULL, false},
	{"elle", "t.edn", H "{\"s\": 0, \"begin\": 1, \"end\": 3, \"ops\": []}\n{\"s\": 1, \"end\": 4, \"ops\": []}\n", BIT(KR_LOSS_TIMES), NULL, false},
	{"elle", "t.edn", H "{\"s\": 0, \"status\": \"unknown\", \"ops\": [[\"r\", 1, 2]]}\n{\"s\": 0, \"ops\": [[\"r\", 1]]}\n",
		BIT(KR_LOSS_SPLIT) | BIT(KR_LOSS_RESULTS) | BIT(KR_LOSS_UNTOLD), NULL, false},
	/* An array that is read is a list. */
	{"elle", "t.edn", H "{\"s\": 0, \"ops\": [[\"r\", 1, []]]}\n", 0, "{:type :ok, :process 0, :f :txn, :value [[:r 1 []]]}\n", false},
	{"elle", "t.edn", H "{\"s\": 0, \"ops\": [[\"w\", 1, {\"a\": 1}]]}\n", BIT(KR_LOSS_HISTORIES), NULL, false},
	{"elle", "t.edn", H "{\"s\": 0, \"ops\": [[\"w\", 1, [null]]]}\n", BIT(KR_LOSS_HISTORIES), NULL, false},
	{"elle", "t.edn", H "{\"s\": 0, \"serial\": 1, \"ops\": [[\"w\", 1, [\"null{\"], {\"cursor\": false}]]}\n{\"version_order\": 1, \"writers\": [\"#1\"]}\n",
		BIT(KR_LOSS_WHITE_BOX) | BIT(KR_LOSS_ATTRS) | BIT(KR_LOSS_ORDERS), NULL, false},
	{"native", "t2.jsonl", TIMED, 0, TIMED, true},
};

static void expect_text(struct reading *r, const struct written *c, const struct kr_target *target)
{
	struct kr_str text, again;
	struct kr_err err;

	kr_err_init(&err);
	kr_str_init(&text, &r->ctx.mem);
	assert_int_equal(kr_target_write(&r->ctx, &r->h, target, c->losses, &text, &err), KR_OK);
	assert_string_equal(kr_str_text(&text), c->text);
	reading_write(r, c->file, kr_str_text(&text), text.n);
	kr_str_done(&text);
	kr_history_done(&r->h);
	r->read = false;
	if (reading_read(r, c->file) != KR_OK)
		fail_msg("%s", r->message);
	kr_str_init(&again, &r->ctx.mem);
	assert_int_equal(kr_native_write_text(&r->ctx, &r->h, &again, &err), KR_OK);
	if (c->same)
		assert_string_equal(kr_str_text(&again), c->trace);
	kr_str_done(&again);
}

static void writes(void **state)
{
	const struct written *c = *state;
	const struct kr_target *target = kr_target_find(c->target);
	struct reading r;
	uint32_t losses = 0;

	reading_init(&r);
	reading_good(&r, c->trace);
	assert_non_null(target);
	assert_int_equal(kr_target_losses(&r.ctx, &r.h, target, &losses), KR_OK);
	assert_int_equal(losses, c->losses);
	if (c->text)
		expect_text(&r, c, target);
	reading_done(&r);
}

static void knows_its_targets(void **state)
{
	(void)state;
	assert_null(kr_target_find("cobra"));
	assert_null(kr_target_find(""));
	for (int i = 0; i < KR_LOSSES; i++)
		assert_non_null(kr_loss_text((enum kr_loss)i));
}

/* Equal values stay equal, others different, when all are numbered. */
static void numbers_what_does_not_fit(void **state)
{
	struct reading r;
	struct kr_str text;
	struct kr_err err;
	uint32_t losses = 0;
	int k[3], v[3], s[3], t[3], end = 0;

	(void)state;
	reading_init(&r);
	reading_good(&r, H "{\"id\": \"a\", \"s\": \"p\", \"ops\": [[\"w\", \"x\", \"v\"], [\"w\", \"y\", 0]]}\n{\"id\": \"b\", \"s\": \"q\", \"ops\": [[\"r\", \"x\", \"v\"]]}\n");
	kr_err_init(&err);
	kr_str_init(&text, &r.ctx.mem);
	assert_int_equal(kr_target_losses(&r.ctx, &r.h, kr_target_find("plume"), &losses), KR_OK);
	assert_int_equal(kr_target_write(&r.ctx, &r.h, kr_target_find("plume"), losses, &text, &err), KR_OK);
	assert_int_equal(sscanf(kr_str_text(&text), "w(%d,%d,%d,%d)\nw(%d,%d,%d,%d)\nr(%d,%d,%d,%d)\n%n", &k[0], &v[0], &s[0], &t[0], &k[1], &v[1], &s[1], &t[1], &k[2], &v[2],
				 &s[2], &t[2], &end),
		12);
	assert_int_equal(end, text.n);
	assert_true(k[0] == k[2] && k[0] != k[1] && v[0] == v[2] && v[0] != v[1] && v[0] > 0 && v[1] > 0);
	assert_true(s[0] == s[1] && s[0] != s[2] && t[0] == t[1] && t[0] != t[2] && t[0] >= 0 && t[2] >= 0);
	kr_str_done(&text);
	reading_done(&r);
}

static void survives_failing_allocations(void **state)
{
	struct reading r;
	struct kr_err err;
	enum kr_status status;
	uint64_t fail_after = 0;

	(void)state;
	reading_init(&r);
	reading_good(&r, TIMED);
	do {
		struct kr_str text;
		uint32_t losses = 0;
		kr_err_init(&err);
		kr_str_init(&text, &r.ctx.mem);
		r.ctx.mem.fail_at = r.ctx.mem.count + ++fail_after;
		status = kr_target_losses(&r.ctx, &r.h, kr_target_find("elle"), &losses);
		if (status == KR_OK)
			status = kr_target_write(&r.ctx, &r.h, kr_target_find("elle"), losses, &text, &err);
		assert_true(status == KR_OK || status == KR_NOMEM);
		kr_str_done(&text);
	} while (status != KR_OK);
	assert_true(fail_after > 3);
	r.ctx.mem.fail_at = 0;
	reading_done(&r);
}

int main(void)
{
	static struct CMUnitTest tests[KR_COUNT(cases)];
	const struct CMUnitTest others[] = {
		cmocka_unit_test(knows_its_targets),
		cmocka_unit_test(numbers_what_does_not_fit),
		cmocka_unit_test(survives_failing_allocations),
	};

	for (size_t i = 0; i < KR_COUNT(cases); i++)
		tests[i] = (struct CMUnitTest){.name = cases[i].target, .test_func = writes, .initial_state = (void *)(uintptr_t)&cases[i]};
	return _cmocka_run_group_tests("cases", tests, KR_COUNT(cases), NULL, NULL) + cmocka_run_group_tests(others, NULL, NULL);
}
