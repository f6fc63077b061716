/* Semantic analysis: versions, candidate sets, presence and anomalies of small histories, from the definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/analyze.h"
#include "tests/unit/tiny_history.h"

#define TXNS 8

struct row {
	const char *what;
	const char *initial; /* "": absent; "?": unknown; else "x=1 y=2": given */
	const char *txns[TXNS];
	const char *expected; /* presence of each transaction; then, per observation, "txn.op key{candidates}"; then the anomalies */
};

static void set_initial(struct kr_history *h, const char *initial)
{
	if (*initial == '?')
		h->initial = KR_INITIAL_UNKNOWN;
	else if (*initial)
		h->initial = KR_INITIAL_GIVEN;
	for (const char *at = initial; *at && *at != '?'; at += at[3] ? 4 : 3) { /* one-letter keys and one-digit values */
		char key[2] = {at[0], '\0'}, value[2] = {at[2], '\0'};
		kr_key k = tiny_key(h, key);

		h->keys.at[k.i].initial = tiny_value(h, value);
	}
}

static void make_history(struct kr_history *h, struct kr_ctx *ctx, const char *initial, const char *const *txns)
{
	kr_ctx_init(ctx, 0, 0);
	assert_int_equal(kr_history_init(h, &ctx->mem), KR_OK);
	set_initial(h, initial);
	for (int t = 0; t < TXNS && txns[t]; t++)
		tiny_add(h, txns[t]);
	assert_int_equal(kr_history_finish(h, ctx, NULL), KR_OK);
}

static void describe_observation(const struct kr_history *h, const struct kr_asg *asg, uint32_t o, struct kr_str *out)
{
	const struct kr_observation *obs = &asg->obs[o];
	const char *separator = "";
	kr_version v;

	kr_str_format(out, " %u.%u ", obs->txn.i, obs->op);
	kr_history_print_name(h, h->keys.at[obs->key.i].name, out);
	kr_str_add(out, "{");
	for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v); separator = " ") {
		if (kr_asg_is_initial(asg, v))
			kr_str_format(out, "%s%s", separator, asg->keys[obs->key.i].open_initial ? "open" : "init");
		else
			kr_str_format(out, "%s%u", separator, asg->versions[v.i].writer.i);
	}
	kr_str_add(out, "}");
}

static void describe(const struct kr_history *h, const struct kr_analysis *analysis, struct kr_str *out)
{
	const struct kr_asg *asg = &analysis->asg;

	for (uint32_t t = 0; t < asg->ntxns; t++)
		kr_str_add_bytes(out, &"-P?"[asg->txns[t].presence], 1);
	for (uint32_t o = 0; o < asg->nobs; o++)
		describe_observation(h, asg, o, out);
	for (uint32_t i = 0; i < analysis->anomalies.n; i++) {
		const struct kr_anomaly *a = &analysis->anomalies.at[i];

		kr_str_format(out, " | %u.%u %s", a->txn.i, a->op, kr_anomaly_name(a->kind));
		if (a->other.i != KR_NONE)
			kr_str_format(out, " from %u", a->other.i);
	}
}

static const struct row rows[] = {
	/* ---- sources ---- */
	{"empty", "", {NULL}, ""},
	{"a read sees the one write of its value", "", {"c w x 1", "c r x 1"}, "PP 1.0 x{0}"},
	{"the last write is the version", "", {"c w x 1; w x 2", "c r x 2"}, "PP 1.0 x{0}"},
	{"two writes of one value", "", {"c w x 1", "c w x 1", "c r x 1", "c r x 1"}, "PPPP 2.0 x{0 1} 3.0 x{0 1}"},
	{"equal values of different keys", "", {"c w x 1", "c w y 1", "c r x 1; r y 1"}, "PPP 2.0 x{0} 2.1 y{1}"},
	{"absent is the initial version", "", {"c w x 1", "c r x -"}, "PP 1.0 x{init}"},
	{"a given initial value", "x=1", {"c w x 1", "c r x 1"}, "PP 1.0 x{init 0}"},
	{"another key starts absent", "x=1", {"c r y -; r x 1"}, "P 0.0 y{init} 0.1 x{init}"},
	{"its own later version is no candidate", "", {"c r x 1; w x 1", "c w x 1"}, "PP 0.0 x{1}"},
	{"a read without a result says nothing", "", {"c r x ?; w x 1; r x ?"}, "P"},
	{"each read is an observation", "", {"c w x 1", "c r x 1; r x 1; r x -"}, "PP 1.0 x{0} 1.1 x{0} 1.2 x{init}"},
	{"aborted transactions see nothing", "", {"a r x 7; w x 1; r x 2", "c r x -"}, "-P 1.0 x{init}"},

	/* ---- own writes ---- */
	{"its own write", "", {"c w x 1; r x 1; w x 2; r x 2"}, "P"},
	{"not its own write, nor anybody's", "", {"c w x 1; r x 2"}, "P | 0.1 internal inconsistency | 0.1 garbage read"},
	{"its own earlier write", "", {"c w x 1; w x 2; r x 1"}, "P | 0.2 internal inconsistency"},
	{"absent after its own write", "", {"c w x 1; r x -"}, "P | 0.1 internal inconsistency"},
	{"another's value after its own write", "", {"c w x 2", "c w x 1; r x 2"}, "PP | 1.1 internal inconsistency"},
	{"external first, then own", "", {"c w x 1", "c r x 1; w x 2; r x 1"}, "PP 1.0 x{0} | 1.2 internal inconsistency"},
	{"own writes do not leak into the next transaction", "", {"c w x 1", "c r x -"}, "PP 1.0 x{init}"},

	/* ---- anomalies ---- */
	{"garbage", "", {"c r x 1"}, "P | 0.0 garbage read"},
	{"garbage: written to another key", "", {"c w y 1", "c r x 1"}, "PP | 1.0 garbage read"},
	{"garbage: absent, but the key starts with a value", "x=1", {"c r x -"}, "P | 0.0 garbage read"},
	{"aborted", "", {"a w x 1", "c r x 1"}, "-P | 1.0 aborted read from 0"},
	{"aborted, not last", "", {"a w x 1; w x 2", "c r x 1"}, "-P | 1.0 aborted read from 0"},
	{"aborted, but written by another, too", "", {"a w x 1", "c w x 1", "c r x 1"}, "-PP 2.0 x{1}"},
	{"intermediate", "", {"c w x 1; w x 2", "c r x 1"}, "PP | 1.0 intermediate read from 0"},
	{"intermediate, but another's version, too", "", {"c w x 1; w x 2", "c w x 1", "c r x 1"}, "PPP 2.0 x{1}"},
	{"intermediate and last the same", "", {"c w x 1; w x 1", "c r x 1"}, "PP 1.0 x{0}"},
	{"intermediate of an unknown one", "", {"u w x 1; w x 2", "c r x 1"}, "-P | 1.0 intermediate read from 0"},
	{"future", "", {"c r x 1; w x 1"}, "P | 0.0 future read"},
	{"future, not last", "", {"c r x 1; w x 1; w x 2"}, "P | 0.0 future read"},
	{"future, but aborted by another", "", {"c r x 1; w x 1", "a w x 1"}, "P- | 0.0 aborted read from 1"},
	{"future, but another's intermediate", "", {"c r x 1; w x 1; w x 2", "c w x 1; w x 2"}, "PP | 0.0 intermediate read from 1"},
	{"in file order, internal ones among them", "", {"c r x 1; w y 1; r y 2; r z 3", "c r x 4"},
		"PP | 0.0 garbage read | 0.2 internal inconsistency | 0.2 garbage read | 0.3 garbage read | 1.0 garbage read"},

	/* ---- unknown transactions ---- */
	{"unseen", "", {"u w x 1", "c r x -"}, "-P 1.0 x{init}"},
	{"only reads", "", {"c w x 1", "u r x 1"}, "P-"},
	{"needed", "", {"u w x 1", "c r x 1"}, "PP 1.0 x{0}"},
	{"one of two", "", {"u w x 1", "c w x 1", "c r x 1"}, "?PP 2.0 x{0 1}"},
	{"one of two unknown", "", {"u w x 1", "u w x 1", "c r x 1"}, "??P 2.0 x{0 1}"},
	{"needed by a needed one", "", {"u w x 1", "u r x 1; w y 1", "c r y 1"}, "PPP 1.0 x{0} 2.0 y{1}"},
	{"needed by an open one", "", {"u w x 1", "u r x 1; w y 1", "c w y 1", "c r y 1"}, "??PP 1.0 x{0} 3.0 y{1 2}"},
	{"seen only by an unseen one", "", {"u w x 1", "u r x 1; w y 1", "c r y -"}, "--P 2.0 y{init}"},
	{"two that see only each other", "", {"u r y 1; w x 1", "u r x 1; w y 1", "c r z -"}, "--P 2.0 z{init}"},
	{"needed because the other writer is the reader", "", {"u w x 1", "c r x 1; w x 1"}, "PP 1.0 x{0}"},
	{"impossible: garbage", "", {"u r y 7; w x 1", "c w x 1", "c r x 1"}, "-PP 2.0 x{1}"},
	{"impossible: contradicts itself", "", {"u w x 1; r x 2", "c w x 1", "c r x 1"}, "-PP 2.0 x{1}"},
	{"impossible and needed", "", {"u r y 7; w x 1", "c r x 1"}, "-P | 1.0 aborted read from 0"},
	{"contradicts itself and needed", "", {"u w x 1; w y 1; r y 2", "c r x 1"}, "-P | 1.0 aborted read from 0"},
	{"impossible through another", "", {"u r y 7; w x 1", "u r x 1; w z 1", "c w z 1", "c r z 1"}, "--PP 3.0 z{2}"},
	{"needed, impossible through another", "", {"u r y 7; w x 1", "u r x 1; w z 1", "c r z 1"}, "--P | 2.0 aborted read from 1"},
	{"needed after another is found impossible", "", {"u r y 7; w x 1", "u w x 1", "c r x 1"}, "-PP 2.0 x{1}"},
	{"needed after another than its own is found impossible", "", {"u r y 7; w x 1", "u w x 1", "c r x 1; w x 1"}, "-PP 2.0 x{1}"},
	{"needed by itself only", "", {"u r x 1; w x 1", "c r x -"}, "-P 1.0 x{init}"},
	{"its own version does not explain it", "", {"u r x 1; w x 1; w y 1", "c r y 1"}, "-P | 1.0 aborted read from 0"},

	/* ---- unknown initial values ---- */
	{"never written: it is the initial value", "?", {"c r x 7", "c r x 7", "c w x 8"}, "PPP 0.0 x{init} 1.0 x{init}"},
	{"absent: it is the initial value", "?", {"c r x -", "c w x 8", "c r x 8"}, "PPP 0.0 x{init} 2.0 x{1}"},
	{"two values never written", "?", {"c r x 7", "c r x 8"}, "PP 0.0 x{init} | 1.0 garbage read"},
	{"of two keys", "?", {"c r x 7", "c r y 8"}, "PP 0.0 x{init} 1.0 y{init}"},
	{"written values may be initial, too", "?", {"c w x 1", "c r x 1"}, "PP 1.0 x{open 0}"},
	{"the initial value is known, so not another", "?", {"c w x 1", "c r x 1", "c r x 7"}, "PPP 1.0 x{0} 2.0 x{init}"},
	{"aborted: it may be initial", "?", {"a w x 1", "c r x 1"}, "-P 1.0 x{init}"},
	{"intermediate: it may be initial", "?", {"c w x 1; w x 2", "c r x 1"}, "PP 1.0 x{init}"},
	{"its own later write: it may be initial", "?", {"c r x 1; w x 1"}, "P 0.0 x{init}"},
	{"two aborted values", "?", {"a w x 1", "a w x 2", "c r x 1", "c r x 2"}, "--PP 2.0 x{init} | 3.0 aborted read from 1"},
	{"aborted, but another value is initial", "?", {"a w x 1", "c r x 1", "c r x 2"}, "-PP 2.0 x{init} | 1.0 aborted read from 0"},
	{"aborted and intermediate", "?", {"a w x 1", "c w x 2; w x 3", "c r x 1", "c r x 2"}, "-PPP 2.0 x{init} | 3.0 intermediate read from 1"},
	{"initial value forced, so the unknown one is needed", "?", {"c r x 7", "u w x 1", "c r x 1"}, "PPP 0.0 x{init} 2.0 x{1}"},
	{"an unknown one does not force it", "?", {"u r x 7; w y 1", "c w y 1", "c r x 8; r y 1"}, "-PP 2.0 x{init} 2.1 y{open 1}"},
	{"it stays open for unknown ones", "?", {"u r x 7; w y 1", "u r x 8; w y 2", "c w y 1", "c w y 2", "c r y 1; r y 2"},
		"??PPP 0.0 x{open} 1.0 x{open} 4.0 y{open 0 2} 4.1 y{open 1 3}"},

	{"a needed one that turns out impossible settles no initial value", "?",
		{"c r m 8; r n 5; r p 5; r q 5; r z 5; r z 1", "u r x 7; r q 1; w z 1", "u r p 1; w q 1", "u r n 1; w p 1", "u r m 9; w n 1", "u r n 1; w x 8",
			"a w x 7", "c r x 8"},
		"P------P 0.0 m{init} 0.1 n{init} 0.2 p{init} 0.3 q{init} 0.4 z{init} 7.0 x{init} | 0.5 aborted read from 1"},

	/* ---- deletes ---- */
	{"a blind delete writes absent", "x=1", {"c d x", "c r x -"}, "PP 1.0 x{0}"},
	{"absent initially and deleted", "", {"c d x", "c r x -"}, "PP 1.0 x{init 0}"},
	{"found: it saw something", "", {"c w x 1", "c w x 2", "c d x +", "c r x -"}, "PPPP 2.0 x{0 1} 3.0 x{init 2}"},
	{"found, with a given value", "x=1", {"c d x +", "c r x -"}, "PP 0.0 x{init} 1.0 x{0}"},
	{"not found: it saw absent and wrote nothing", "x=1", {"c d x", "c d x -", "c r x -"}, "PPP 1.0 x{0} 2.0 x{0}"},
	{"found, but never there", "", {"c d x +"}, "P | 0.0 garbage read"},
	{"found, but only aborted", "", {"a w x 1", "c d x +"}, "-P | 1.0 aborted read from 0"},
	{"found, but only intermediate", "", {"c w x 1; d x", "c d x +"}, "PP | 1.0 intermediate read from 0"},
	{"found, but only its own later write", "", {"c d x +; w x 1"}, "P | 0.0 future read"},
	{"found after its own write", "", {"c w x 1; d x +; r x -; d x -; w x 2; r x 2"}, "P"},
	{"not found after its own write", "", {"c w x 1; d x -"}, "P | 0.1 internal inconsistency"},
	{"found after its own delete", "", {"c d x; d x +"}, "P | 0.1 internal inconsistency"},
	{"a delete not found leaves its reads external", "", {"c d x -; r x -; w x 1; r x 1", "c d x"}, "PP 0.0 x{init 1} 0.1 x{init 1}"},

	/* ---- inserts ---- */
	{"done: it saw absent", "", {"c i x 1 +", "c r x 1", "c d x"}, "PPP 0.0 x{init 2} 1.0 x{0}"},
	{"not done: it saw something", "", {"c i x 1 -", "c w x 2", "c d x"}, "PPP 0.0 x{1}"},
	{"not done, but never there", "", {"c i x 1 -"}, "P | 0.0 garbage read"},
	{"done, but it was there", "x=1", {"c i x 1 +"}, "P | 0.0 garbage read"},
	{"done after its own write", "", {"c w x 1; i x 2 +"}, "P | 0.1 internal inconsistency"},
	{"done after its own delete", "", {"c d x; i x 2 +; r x 2; i x 3 -; r x 2"}, "P"},
	{"not done after its own delete", "", {"c d x; i x 2 -"}, "P | 0.1 internal inconsistency"},

	/* ---- compare and set ---- */
	{"done: it saw the value expected", "", {"c w x 1", "c cas x 1 2 +", "c r x 2"}, "PPP 1.0 x{0} 2.0 x{1}"},
	{"done on absent", "", {"c cas x - 2 +", "c r x 2"}, "PP 0.0 x{init} 1.0 x{0}"},
	{"not done: it saw anything else", "", {"c w x 1", "c w x 2", "c cas x 1 5 -", "c r x 2"}, "PPPP 2.0 x{init 1} 3.0 x{1}"},
	{"not done: absent is something else", "", {"c cas x 1 5 -"}, "P 0.0 x{init}"},
	{"not done: its own later version is not what it saw", "", {"c w x 1", "c cas x - 5 -; w x 3"}, "PP 1.0 x{0}"},
	{"not done, but nothing else was there", "x=1", {"c cas x 1 5 -"}, "P | 0.0 garbage read"},
	{"not done, but something else only by its own later write", "x=1", {"c cas x 1 5 -; w x 2"}, "P | 0.0 future read"},
	{"seen and seen not, apart", "", {"c w x 1", "c w x 2", "c cas x 1 5 -; r x 1"}, "PPP 2.0 x{init 1} 2.1 x{0}"},
	{"done after its own write", "", {"c w x 1; cas x 1 2 +; r x 2; cas x 1 3 -; r x 2"}, "P"},
	{"done after its own other write", "", {"c w x 1; cas x 2 3 +"}, "P | 0.1 internal inconsistency"},
	{"not done after its own such write", "", {"c w x 1; cas x 1 3 -"}, "P | 0.1 internal inconsistency"},
	{"an unknown one seen by a complement", "", {"u w x 2", "c cas x 1 5 -"}, "?P 1.0 x{init 0}"},
	{"the only one left for a complement stays open", "", {"u w x 2", "c cas x - 5 -"}, "?P 1.0 x{0}"},
	{"all that a complement could see is impossible", "", {"u r y 7; w x 2", "c cas x - 5 -"}, "-P | 1.0 aborted read from 0"},
	{"an unknown one whose complement loses all", "", {"u r y 7; w x 2", "u cas x - 5 -; w z 1", "c w z 1", "c r z 1"}, "--PP 3.0 z{2}"},
	{"an unknown initial value settled", "?", {"c r x 7", "c cas x 7 1 -", "c w x 2"}, "PPP 0.0 x{init} 1.0 x{2}"},
	{"any initial value but one", "?", {"c cas x 1 2 -", "c w x 1", "c w x 3"}, "PPP 0.0 x{init 2}"},
	{"any initial value but two", "?", {"c cas x 1 2 -; cas x 2 3 -", "c w x 1"}, "PP 0.0 x{init} 0.1 x{init 1}"},
	{"the initial value may as well be what was read", "?", {"c cas x 1 2 -", "c w x 3", "c r x 3"}, "PPP 0.0 x{init 1} 2.0 x{init 1}"},
	{"an unknown initial value settled otherwise", "?", {"c r x 7", "c cas x 8 1 -", "c w x 8"}, "PPP 0.0 x{init} 1.0 x{init}"},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct kr_ctx ctx;
		struct kr_history h;
		struct kr_analysis analysis;
		struct kr_err err;
		struct kr_str out;

		kr_err_init(&err);
		make_history(&h, &ctx, rows[i].initial, rows[i].txns);
		if (kr_analyze(&ctx, &h, &analysis, &err) != KR_OK)
			fail_msg("%s: %s", rows[i].what, err.text);
		kr_str_init(&out, &ctx.mem);
		describe(&h, &analysis, &out);
		if (strcmp(kr_str_text(&out), rows[i].expected) != 0)
			fail_msg("%s: found \"%s\", expected \"%s\"", rows[i].what, kr_str_text(&out), rows[i].expected);
		assert_int_equal(analysis.anomaly_count, analysis.anomalies.n);
		if (kr_asg_verify(&analysis.asg, &err) != KR_OK)
			fail_msg("%s: %s", rows[i].what, err.text);
		kr_str_done(&out);
		kr_analysis_done(&analysis);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
}

/* ---- text, order, fields ---- */

static void test_text(void **state)
{
	(void)state;
	static const char *const txns[TXNS] = {"c w x 1; w y 5", "u r z 9; w x 3", "a w x 4", "c r x 1; w x 2", "u w x 1", "c r x -; r y 6", NULL};
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_str out, again;
	struct kr_asg read;

	make_history(&h, &ctx, "y=6", txns);
	h.txns.at[0].flags = KR_TXN_HAS_BEGIN | KR_TXN_HAS_END;
	h.txns.at[0].begin_invoked = 10;
	h.txns.at[0].begin_returned = 11;
	h.txns.at[0].end_invoked = 12;
	h.txns.at[0].end_returned = 13;
	h.clock_skew = 2;
	assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
	kr_str_init(&out, &ctx.mem);
	kr_str_init(&again, &ctx.mem);
	kr_asg_print(&analysis.asg, &out);
	assert_string_equal(kr_str_text(&out),
		"asg 1 skew 2\n"
		"txn 0 \"t0\" present begin 10 end 13\n"
		"txn 1 \"t1\" absent unknown\n"
		"txn 2 \"t2\" absent\n"
		"txn 3 \"t3\" present\n"
		"txn 4 \"t4\" open unknown\n"
		"txn 5 \"t5\" present\n"
		"key 0 \"y\"\n"
		"key 1 \"x\"\n"
		"key 2 \"z\"\n"
		"version 0 key 0 initial value 6\n"
		"version 1 key 0 by 0 value 5\n"
		"version 2 key 1 initial value null\n"
		"version 3 key 1 by 0 value 1\n"
		"version 4 key 1 by 3 value 2\n"
		"version 5 key 1 by 4 value 1\n"
		"version 6 key 2 initial value null\n"
		"set 0 {0}\n"
		"set 1 {2}\n"
		"set 2 {3 5}\n"
		"observe txn 3 op 0 key 1 set 2\n"
		"observe txn 5 op 0 key 1 set 1\n"
		"observe txn 5 op 1 key 0 set 0\n"
		"end asg\n");
	assert_int_equal(kr_asg_read(&read, &ctx, kr_str_text(&out), NULL, NULL), KR_OK);
	kr_asg_print(&read, &again);
	assert_string_equal(kr_str_text(&again), kr_str_text(&out));
	for (uint32_t t = 0; t < read.ntxns; t++)
		for (uint32_t k = 0; k < read.nkeys; k++) /* the index of a compacted ASG is that of one made anew */
			assert_int_equal(kr_asg_version_of(&analysis.asg, (kr_txn){t}, (kr_key){k}).i, kr_asg_version_of(&read, (kr_txn){t}, (kr_key){k}).i);
	kr_asg_done(&read);
	kr_str_done(&out);
	kr_str_done(&again);
	kr_analysis_done(&analysis);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

static void test_orders(void **state)
{
	(void)state;
	static const char *const txns[TXNS] = {"c w x 1", "u w x 9", "c w x 2; w y 1", "c w x 3", "c w y 2", NULL};
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;

	make_history(&h, &ctx, "", txns);
	tiny_order(&h, "x", "3 1 0"); /* 1 is unseen: its neighbours become adjacent, also those in the list that meets this one there */
	tiny_order(&h, "y", "4 2");
	tiny_order(&h, "x", "1 2");
	assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
	assert_int_equal(analysis.asg.norders, 3);
	for (uint32_t i = 0; i < 3; i++) {
		static const uint32_t expected[3][3] = {{3, 2, 0}, {3, 0, 0}, {4, 2, 1}};
		struct kr_asg_order order = analysis.asg.orders[i];

		assert_int_equal(analysis.asg.versions[order.before.i].writer.i, expected[i][0]);
		assert_int_equal(analysis.asg.versions[order.after.i].writer.i, expected[i][1]);
		assert_int_equal(analysis.asg.versions[order.before.i].key.i, expected[i][2]);
		assert_int_equal(analysis.asg.versions[order.after.i].key.i, expected[i][2]);
	}
	kr_analysis_done(&analysis);
	kr_history_done(&h);
}

/* What the ASG does not say is told, and the rest is there. */
static void test_left_out(void **state)
{
	(void)state;
	static const struct {
		const char *initial, *txns[TXNS];
		const char *left_out;
		uint32_t nobs;
	} cases[] = {
		{"", {"c append l 1", "c append l 1; d l"}, "", 0},
		{"?", {"c w x 1", "c w x 2", "c r x 1; r x 2", "c cas x 3 4 -"},
			"seeing that a key of unknown initial value does not hold a certain value is not decided (operation 0 of t3)", 2},
	};

	for (size_t i = 0; i < KR_COUNT(cases); i++) {
		struct kr_ctx ctx;
		struct kr_history h;
		struct kr_analysis analysis;

		make_history(&h, &ctx, cases[i].initial, cases[i].txns);
		assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
		assert_string_equal(analysis.left_out, cases[i].left_out);
		assert_int_equal(analysis.asg.nobs, cases[i].nobs);
		kr_analysis_done(&analysis);
		kr_history_done(&h);
		assert_int_equal(ctx.mem.used, 0);
	}
}

/* ---- limits ---- */

static void test_anomaly_limit(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;

	kr_ctx_init(&ctx, 0, 0);
	assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
	tiny_add(&h, "a w x 1");
	for (int i = 0; i < 1500; i++)
		tiny_add(&h, "c r x 1");
	tiny_add(&h, "c r x 2");
	tiny_add(&h, "c r x 3");
	assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
	assert_int_equal(analysis.anomaly_count, 1502);
	assert_int_equal(analysis.anomalies.n, 1000);
	assert_int_equal(analysis.anomalies.at[998].txn.i, 999);
	assert_int_equal(analysis.anomalies.at[999].kind, KR_GARBAGE_READ); /* the first of its kind shows in spite of the limit */
	assert_int_equal(analysis.anomalies.at[999].txn.i, 1501);
	kr_analysis_done(&analysis);
	kr_history_done(&h);
}

static void test_out_of_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct kr_ctx ctx;
		struct kr_history h;
		enum kr_status status = KR_NOMEM;

		make_history(&h, &ctx, rows[i].initial, rows[i].txns);

		size_t used = ctx.mem.used;

		for (uint64_t n = 1; status != KR_OK; n++) {
			struct kr_analysis analysis;

			ctx.mem.count = 0;
			ctx.mem.fail_at = n;
			status = kr_analyze(&ctx, &h, &analysis, NULL);
			if (status == KR_OK)
				kr_analysis_done(&analysis);
			else
				assert_int_equal(status, KR_NOMEM);
			assert_int_equal(ctx.mem.used, used);
		}
		kr_history_done(&h);
	}
}

static void test_deadline(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;

	kr_ctx_init(&ctx, 0, 0);
	assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
	for (int i = 0; i < 1000; i++)
		tiny_add(&h, "c r x 1; w x 1");
	ctx.deadline_ns = 0;
	assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_TIMEOUT);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

/* Thousands of writers and readers of one value share one set. */
static void test_shared_set(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	uint32_t n = 0;
	kr_version v;

	kr_ctx_init(&ctx, 0, 0);
	assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
	for (int i = 0; i < 5000; i++) {
		tiny_add(&h, "c w x 1");
		tiny_add(&h, "u w x 1");
		tiny_add(&h, "c r x 1; w y 1");
	}
	assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
	assert_int_equal(analysis.asg.nobs, 5000);
	assert_int_equal(analysis.asg.nsets, 1);
	assert_int_equal(analysis.asg.nmembers, 10000);
	for (kr_candidates it = kr_asg_candidates(&analysis.asg, (kr_obs){4999}); kr_asg_next(&analysis.asg, &it, &v);)
		n++;
	assert_int_equal(n, 10000);
	kr_analysis_done(&analysis);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_anomaly_limit),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_shared_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
