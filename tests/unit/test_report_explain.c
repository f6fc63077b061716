/* report/explain: the text of arguments, from certificates written by hand, so that no search decides what is explained. Rows as in verify_rows.h: JSON with ' for ". The
 * text is the plain sentence and what stands between "Then:" and "Assumed:". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "checkers/checker.h"
#include "report/fold.h"
#include "report/report.h"
#include "same_history.h"

struct row {
	const char *name;
	const char *trace;
	const char *cycles;
	const char *sentence;
	const char *then;
	bool unproved; /* the certificate alone does not prove the violation */
};

#define RW(from, to, key, op, source) "{'from':'" from "','to':'" to "','kind':'rw','key':'" key "','op':" op ",'source':" source "}"
#define WR(from, to, key, op) "{'from':'" from "','to':'" to "','kind':'wr','key':'" key "','op':" op "}"
#define WW(from, to, key) "{'from':'" from "','to':'" to "','kind':'ww','key':'" key "'}"

static const char lost[] = "{'id':'c','ops':[['w','x',1]]}\n{'id':'a','ops':[['r','x',1],['w','x',2]]}\n{'id':'b','ops':[['r','x',1],['w','x',3]]}";

static const char lost_long[] = "{'id':'opening-balance','ops':[['w','x',1]]}\n{'id':'first-transfer','ops':[['r','x',1],['w','x',2]]}\n"
				"{'id':'second-transfer','ops':[['r','x',1],['w','x',3]]}";

/* u wrote the q = 1 that e read: so it took effect. */
static const char forced[] = "{'id':'u','status':'unknown','ops':[['r','x',null],['w','y',1],['w','q',1]]}\n"
			     "{'id':'b','ops':[['r','y',null],['w','x',1]]}\n{'id':'e','ops':[['r','q',1]]}";

/* e read q = 1 from u or v, both of unknown outcome; v would have to come before b and after it. */
static const char forced_of_two[] = "{'id':'u','status':'unknown','ops':[['r','x',null],['w','y',1],['w','q',1]]}\n"
				    "{'id':'v','status':'unknown','ops':[['r','x',null],['w','z',1],['w','q',1]]}\n"
				    "{'id':'b','ops':[['r','y',null],['r','z',null],['w','x',1]]}\n{'id':'e','ops':[['r','q',1]]}";

/* r read x = 1 from a, b or c; each had seen what r wrote only later. */
static const char three_sources[] = "{'id':'a','ops':[['r','y',1],['w','x',1]]}\n{'id':'b','ops':[['r','y',1],['w','x',1]]}\n{'id':'c','ops':[['r','y',1],['w','x',1]]}\n"
				    "{'id':'r','ops':[['r','x',1],['w','y',1]]}";

/* r read x = 1 from a or b. What r wrote was seen by s, which missed a's p, and by t, which missed b's q. */
static const char split_source[] = "{'id':'a','ops':[['w','x',1],['w','p',1]]}\n{'id':'b','ops':[['w','x',1],['w','q',1]]}\n"
				   "{'id':'d','ops':[['w','x',2]]}\n{'id':'r','ops':[['r','x',1],['w','m',1]]}\n"
				   "{'id':'s','ops':[['r','m',1],['r','x',2],['r','p',null]]}\n{'id':'t','ops':[['r','m',1],['r','q',null]]}";

/* r read x = 1 from one of a, b and c, each of which saw two blind writers of a key of its own; two readers that come after r put these in opposite orders. */
#define SOURCE(s) \
	"{'id':'m" s "','ops':[['w','y" s "',1],['w','p" s "',1]]}\n{'id':'n" s "','ops':[['w','y" s "',2],['w','q" s "',1]]}\n" \
	"{'id':'" s "','ops':[['r','p" s "',1],['r','q" s "',1],['w','x',1]]}\n" \
	"{'id':'g" s "','ops':[['r','k',1],['r','y" s "',1]]}\n{'id':'h" s "','ops':[['r','k',1],['r','y" s "',2]]}\n"
#define SOURCE_CYCLES(s) \
	"[" WR(s, "r", "x", "0") "," WR("r", "g" s, "k", "0") "," RW("g" s, "n" s, "y" s, "1", "'m" s "'") "," WR("n" s, s, "q" s, "1") "],[" \
	WR(s, "r", "x", "0") "," WR("r", "h" s, "k", "0") "," RW("h" s, "m" s, "y" s, "1", "'n" s "'") "," WR("m" s, s, "p" s, "0") "]"
static const char cases[] = "{'id':'r','ops':[['r','x',1],['w','k',1]]}\n" SOURCE("a") SOURCE("b") SOURCE("c");
#define CASE(s, label, fact, saw, how) \
	"  Case " label ": if r saw " saw ", then\n" \
	"    [" fact "] y" s ": 2 (n" s ") came before 1 (m" s "). Otherwise\n" \
	"        - g" s " < n" s ", if g" s " read y" s " = 1 from m" s ", and y" s ": 1 (m" s ") came before 2 (n" s "),\n" \
	"        - n" s " < " s ", because " s " read q" s " = 1, which n" s " wrote,\n" \
	"        - " s " < r, because r read x = 1, which " s " wrote" how ",\n" \
	"        - r < g" s ", because g" s " read k = 1, which r wrote.\n" \
	"    - " s " < r, because r read x = 1, which " s " wrote" how ".\n" \
	"    - r < h" s ", because h" s " read k = 1, which r wrote.\n" \
	"    - h" s " < m" s ", because h" s " read y" s " = 2 from n" s ", and y" s ": 2 (n" s ") came before 1 (m" s ") [" fact "].\n" \
	"    - However, m" s " < " s ", because " s " read p" s " = 1, which m" s " wrote: a contradiction!\n"

static const char two_states[] = "{'id':'a','ops':[['w','x',1]]}\n{'id':'b','ops':[['w','x',1]]}\n{'id':'c','ops':[['w','x',2]]}\n{'id':'d','ops':[['w','x',2]]}\n"
				 "{'id':'r','ops':[['r','x',1],['r','x',2]]}";

static const struct row rows[] = {
	{"an order that one edge settles is told on the spot",
		lost,
		"[[" WR("c", "a", "x", "0") "," WW("a", "c", "x") "],[" WR("c", "b", "x", "0") "," WW("b", "c", "x") "],"
		"[" RW("a", "b", "x", "0", "'c'") "," RW("b", "a", "x", "0", "'c'") "]]",
		"a and b both read x = 1 and both overwrote it.",
		"  - a < b, because a read x = 1 from c, and x: 1 (c) came before 3 (b), as b read x = 1, which c wrote.\n"
		"  - However, b < a, because b read x = 1 from c, and x: 1 (c) came before 2 (a), as a read x = 1, which c wrote: a contradiction!\n",
		false},
	{"ids that are no short names are numbered",
		lost_long,
		"[[" WR("opening-balance", "first-transfer", "x", "0") "," WW("first-transfer", "opening-balance", "x") "],"
		"[" WR("opening-balance", "second-transfer", "x", "0") "," WW("second-transfer", "opening-balance", "x") "],"
		"[" RW("first-transfer", "second-transfer", "x", "0", "'opening-balance'") "," RW("second-transfer", "first-transfer", "x", "0", "'opening-balance'") "]]",
		"first-transfer and second-transfer both read x = 1 and both overwrote it.",
		"  - T1 < T2, because T1 read x = 1 from T3, and x: 1 (T3) came before 3 (T2), as T2 read x = 1, which T3 wrote.\n"
		"  - However, T2 < T1, because T2 read x = 1 from T3, and x: 1 (T3) came before 2 (T1), as T1 read x = 1, which T3 wrote: a contradiction!\n",
		false},
	{"an effect that the trace alone settles is no fact of its own",
		forced,
		"[[" RW("u", "b", "x", "0", "null") "," RW("b", "u", "y", "0", "null") "]]",
		"u and b each overwrote what the other had read: u found x absent and wrote y = 1, b found y absent and wrote x = 1.",
		"  - u < b, because u found x absent, the initial state, before b wrote x = 1.\n"
		"  - However, b < u, because b found y absent, the initial state, before u wrote y = 1: a contradiction!\n",
		false},
	{"an effect is forced when the other one is impossible",
		forced_of_two,
		"[[" RW("v", "b", "x", "0", "null") "," RW("b", "v", "z", "1", "null") "],[" RW("u", "b", "x", "0", "null") "," RW("b", "u", "y", "0", "null") "]]",
		"Whether v, whose outcome is not known, took effect or not, what others saw does not fit.",
		"  [1] v did not see the initial x. Otherwise\n"
		"      - v < b, if v found x absent, the initial state, before b wrote x = 1,\n"
		"      - b < v, because b found z absent, the initial state, before v wrote z = 1.\n"
		"  [2] v took no effect, as v found x absent (not from the initial state [1]).\n"
		"  [3] u took effect, as e read q = 1 from it (not from v, which took no effect [2]).\n"
		"  - u < b, because u found x absent, the initial state, before b wrote x = 1 (u took effect [3]).\n"
		"  - However, b < u, because b found y absent, the initial state, before u wrote y = 1 (u took effect [3]): a contradiction!\n",
		false},
	{"other sources of a read are ruled out where it is told",
		three_sources,
		"[[" WR("a", "r", "x", "0") "," WR("r", "a", "y", "0") "],[" WR("b", "r", "x", "0") "," WR("r", "b", "y", "0") "],"
		"[" WR("c", "r", "x", "0") "," WR("r", "c", "y", "0") "]]",
		"c and r each saw a write of the other: r read x = 1, c read y = 1.",
		"  - c < r, because r read x = 1, which c wrote (not from a, as a read y = 1, which r wrote; not from b, as b read y = 1, which r wrote).\n"
		"  - However, r < c, because c read y = 1, which r wrote: a contradiction!\n",
		false},
	{"a read not from one source is from the other",
		split_source,
		"[[" RW("s", "a", "p", "2", "null") "," WR("a", "r", "x", "0") "," WR("r", "s", "m", "0") "],"
		"[" RW("t", "b", "q", "1", "null") "," WR("b", "r", "x", "0") "," WR("r", "t", "m", "0") "]]",
		"r read x = 1, as a or b left it, and neither fits what else was seen.",
		"  [1] r did not see a's x = 1. Otherwise\n"
		"      - a < r, if r read x = 1, which a wrote,\n"
		"      - r < s, because s read m = 1, which r wrote,\n"
		"      - s < a, because s found p absent, the initial state, before a wrote p = 1.\n"
		"  - t < b, because t found q absent, the initial state, before b wrote q = 1.\n"
		"  - b < r, because r read x = 1, which b wrote (not from a [1]).\n"
		"  - However, r < t, because t read m = 1, which r wrote: a contradiction!\n",
		false},
	{"the sources of a read are cases side by side",
		cases,
		"[" SOURCE_CYCLES("a") "," SOURCE_CYCLES("b") "," SOURCE_CYCLES("c") "]",
		"r read x = 1, as a, b or c left it, and that does not fit what else was seen.",
		CASE("a", "1", "1", "a's x = 1", " (assumed)") CASE("b", "2", "2", "b's x = 1", " (assumed)")
		CASE("c", "3", "3", "none of these", " (no other is left)"),
		false},
	{"two states of one key stand for a proof with cases",
		two_states,
		"[[" RW("r", "c", "x", "0", "'a'") "," WR("c", "r", "x", "1") "],[" RW("r", "d", "x", "0", "'a'") "," WR("d", "r", "x", "1") "],"
		"[" RW("r", "c", "x", "0", "'b'") "," WR("c", "r", "x", "1") "],[" RW("r", "d", "x", "0", "'b'") "," WR("d", "r", "x", "1") "],"
		"[" RW("r", "a", "x", "1", "'c'") "," WR("a", "r", "x", "0") "],[" RW("r", "b", "x", "1", "'c'") "," WR("b", "r", "x", "0") "],"
		"[" RW("r", "a", "x", "1", "'d'") "," WR("a", "r", "x", "0") "],[" RW("r", "b", "x", "1", "'d'") "," WR("b", "r", "x", "0") "]]",
		"r read x = 1 and read x = 2, two states of one key.",
		"  - r read x = 1 (operation 0) and read x = 2 (operation 1), and had not written x itself: it saw two versions.\n"
		"  - Whichever of the two came first, r read it before the other one was written.\n"
		"  - However, r read the other one too, after it was written: a contradiction!\n",
		false},
	{"what is not proved by the cycles is not claimed",
		lost,
		"[[" RW("b", "a", "x", "0", "'c'") "," WW("a", "b", "x") "],[" RW("a", "b", "x", "0", "'c'") "," WW("b", "a", "x") "]]",
		"Every order that may be supposed contradicts something that was seen; in one case a and b both read x = 1 and both overwrote it.",
		"  In each case one of these 2 is there:\n  Cycle 1:\n"
		"    - b < a, because b read x = 1 from c, and x: 1 (c) came before 2 (a).\n"
		"    - However, a < b, because x: 2 (a) came before 3 (b): a contradiction!\n"
		"  Cycle 2:\n"
		"    - a < b, because a read x = 1 from c, and x: 1 (c) came before 3 (b).\n"
		"    - However, b < a, because x: 3 (b) came before 2 (a): a contradiction!\n",
		true},
};

static void with_quotes(char *out, size_t size, const char *text)
{
	assert_true(strlen(text) < size);
	strcpy(out, text);
	for (char *at = out; (at = strchr(at, '\'')) != NULL;)
		*at = '"';
}

static void read_row(const struct row *row, struct kr_ctx *ctx, struct kr_history *h, struct kr_arena *arena, struct kr_certificate *cert)
{
	struct kr_witness_head head;
	struct kr_err err;
	char trace[4096], cycles[4096], line[4400];

	kr_err_init(&err);
	with_quotes(trace, sizeof trace, row->trace);
	with_quotes(cycles, sizeof cycles, row->cycles);
	assert_int_equal(read_trace_text(ctx, trace, strlen(trace), h, &err), KR_OK);
	(void)snprintf(line, sizeof line, "{\"krait_witness\":1,\"trace\":\"t\",\"level\":\"ser\",\"order\":\"none\",\"verdict\":\"violated\",\"cycles\":%s}", cycles);
	kr_arena_init(arena, &ctx->mem);
	kr_certificate_init(cert, &ctx->mem);
	if (kr_witness_read(h, arena, line, strlen(line), &head, cert, &err) != KR_OK)
		fail_msg("the witness cannot be read: %s", err.text);
	cert->level = kr_level_of_id(NULL, "ser");
	if (!row->unproved && kr_verify(ctx, h, cert, &err) != KR_OK)
		fail_msg("the witness proves nothing: %s", err.text);
}

/* How lines are folded is test_fold.c's. */
static void is_folded(struct kr_ctx *ctx, const char *found, const char *expected)
{
	struct kr_str plain, folded;

	kr_str_init(&plain, &ctx->mem);
	kr_str_init(&folded, &ctx->mem);
	kr_str_add(&plain, expected);
	kr_fold(&plain, &folded);
	assert_string_equal(found, kr_str_text(&folded));
	kr_str_done(&plain);
	kr_str_done(&folded);
}

static void text_is(void **state)
{
	const struct row *row = *state;
	struct kr_verdict verdict = {.outcome = KR_VIOLATED};
	struct kr_report report = {.trace = "t", .verdict = &verdict};
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_arena arena;
	struct kr_ctx ctx;
	struct kr_str out;

	kr_ctx_init(&ctx, 0, 0);
	read_row(row, &ctx, &h, &arena, &verdict.certificate);
	assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
	report.level = kr_level_find(NULL, "ser", &report.order);
	report.checker = kr_checker_for(NULL, report.level);
	report.history = &h;
	report.analysis = &analysis;
	kr_str_init(&out, &ctx.mem);
	kr_report_explain(&report, &out);
	assert_false(out.failed);

	char *end = strstr(out.at, "\n\nLet:\n"), *then = strstr(out.at, "\nThen:\n"), *assumed = strstr(out.at, "\nAssumed:\n");

	assert_true(end && then && assumed && then < assumed);
	*end = *assumed = '\0';
	is_folded(&ctx, out.at, row->sentence);
	is_folded(&ctx, then + strlen("\nThen:\n"), row->then);

	kr_str_done(&out);
	kr_analysis_done(&analysis);
	kr_certificate_done(&verdict.certificate);
	kr_arena_done(&arena);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(rows)];

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){.name = rows[i].name, .test_func = text_is, .initial_state = (void *)(uintptr_t)&rows[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
