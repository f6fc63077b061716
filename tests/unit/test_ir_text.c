/* ir/ir_text and ir/ir_verify: what is read prints the same; what is malformed, or breaks a promise of ir.h, is refused with line and words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/clock.h"
#include "ir/ir.h"

#define KINDS (KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO) | KR_BIT(KR_RT))

static const struct kr_level txn_level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KINDS}}};
static const struct kr_level begin_commit_level = {.id = "test", .model = KR_NODES_BEGIN_COMMIT, .forbidden = {{.allowed = KINDS, .lonely = KR_BIT(KR_RW)}}};

/* Five transactions: 0 and 1 write x, 1 and 2 write y; 3 is open, 4 absent. Lines 1 to 24. */
#define ASG \
	"asg 1 skew 2\n" \
	"txn 0 present session 0 begin 0 end 5\n" \
	"txn 1 present session 0 begin 8 end 9\n" \
	"txn 2 present session 1 begin 7 end 8\n" \
	"txn 3 open unknown session 1 begin 9\n" \
	"txn 4 absent session 1\n" \
	"key 0\n" \
	"key 1\n" \
	"version 0 key 0 initial\n" \
	"version 1 key 0 by 0\n" \
	"version 2 key 0 by 1\n" \
	"version 3 key 1 initial\n" \
	"version 4 key 1 by 1\n" \
	"version 5 key 1 by 2\n" \
	"version 6 key 1 by 3\n" \
	"set 0 {1}\n" \
	"set 1 {3}\n" \
	"set 2 {4 6}\n" \
	"set 3 {6}\n" \
	"observe txn 0 op 0 key 1 set 1\n" \
	"observe txn 2 op 0 key 0 set 0\n" \
	"observe txn 2 op 1 key 1 set 2\n" \
	"order 4 < 5\n" \
	"end asg\n"

/* As ASG, and 2 has seen nothing but version 6, that of transaction 3. Lines 1 to 11. */
#define FORCED_ASG \
	"asg 1\n" \
	"txn 0 present\n" \
	"txn 1 open unknown\n" \
	"key 0\n" \
	"version 0 key 0 initial\n" \
	"version 1 key 0 by 1\n" \
	"set 0 {1}\n" \
	"set 1 {0 1}\n" \
	"observe txn 0 op 0 key 0 set 0\n" \
	"observe txn 0 op 1 key 0 set 1\n" \
	"end asg\n"

#define HEAD "ir 1 nodes txn order realtime\n"

struct text_row {
	const char *name, *text;
	uint32_t line;       /* of errors in the words; what kr_ir_verify finds has none */
	const char *message; /* part of it; NULL: the text is sound and prints the same */
};

static const struct text_row rows[] = {
	{"nothing known", ASG HEAD "end ir\n", 0, NULL},
	{"every line",
		ASG HEAD "facts so rt wr ww rw saturated\n"
			 "time 2\n"
			 "presence txn 3 absent\n"
			 "source obs 0 = 3\n"
			 "source obs 1 = 1\n"
			 "source obs 2 = 4\n"
			 "edge 0 so 0 -> 1\n"
			 "edge 1 rt 0 -> 5\n"
			 "edge 2 rt 5 -> 1\n"
			 "edge 3 program 5 -> 6\n"
			 "edge 4 wr 0 -> 2 why 1\n"
			 "edge 5 ww 1 -> 2 why 1\n"
			 "edge 6 wr 1 -> 2 why 2\n"
			 "edge 7 rw 0 -> 1 why 0 rule later\n"
			 "end ir\n",
		0, NULL},
	{"a derived source and order",
		"asg 1\ntxn 0 present session 0\ntxn 1 present\ntxn 2 present session 0\nkey 0\nversion 0 key 0 initial\nversion 1 key 0 by 0\n"
		"version 2 key 0 by 1\nset 0 {1 2}\nobserve txn 2 op 0 key 0 set 0\nend asg\n"
		"ir 1 nodes txn order session\nsource obs 0 = 2 age 1\nedge 0 so 0 -> 2\nedge 1 wr 1 -> 2 why 0 rule source\n"
		"edge 2 ww 0 -> 1 why 0 rule reader\nend ir\n",
		0, NULL},
	{"a forced presence", FORCED_ASG HEAD "presence txn 1 present why 0\nsource obs 0 = 1\nedge 0 wr 1 -> 0 why 0\nend ir\n", 0, NULL},

	/* words */
	{"other version", ASG "ir 2 nodes txn order none\n", 25, "found '2', expected 1"},
	{"other model", ASG "ir 1 nodes begin-commit order none\n", 25, "found 'begin-commit', expected txn"},
	{"no such order", ASG "ir 1 nodes txn order total\n", 25, "found 'total', expected none, session or realtime"},
	{"unfinished", ASG HEAD "time 1\n", 27, "found the end of the line, expected facts, time, presence, source, edge"},
	{"wrong end", ASG HEAD "end asg\n", 26, "found 'asg', expected ir"},
	{"wrong sequence", ASG HEAD "source obs 0 = 3\ntime 1\nend ir\n", 27, "found 'time', expected facts, time, presence, source, edge"},
	{"no such line", ASG HEAD "edges 0\n", 26, "found 'edges', expected facts"},
	{"no such fact", ASG HEAD "facts none\n", 26, "found 'none', expected a fact"},
	{"a clock is not read", ASG HEAD "facts so clock\n", 26, "found 'clock', expected the end of the line"},
	{"more time nodes than begins", ASG HEAD "time 6\n", 26, "found '6', expected a number of time nodes, no more than transactions"},
	{"no such transaction", ASG HEAD "presence txn 5 absent\n", 26, "found '5', expected the number of a transaction"},
	{"no such presence", ASG HEAD "presence txn 3 gone\n", 26, "found 'gone', expected present, open or absent"},
	{"no such observation", ASG HEAD "source obs 3 = 1\n", 26, "found '3', expected the number of an observation"},
	{"no such version", ASG HEAD "source obs 0 = 7\n", 26, "found '7', expected the number of a version"},
	{"edge out of turn", ASG HEAD "edge 1 so 0 -> 1\n", 26, "found '1', expected the next number"},
	{"no such kind", ASG HEAD "edge 0 rwx 0 -> 1\n", 26, "found 'rwx', expected a kind of edge"},
	{"no such node", ASG HEAD "time 1\nedge 0 rt 0 -> 6\n", 27, "found '6', expected the number of a node"},
	{"no such rule", ASG HEAD "edge 0 rw 0 -> 1 why 0 rule guess\n", 26, "found 'guess', expected a rule"},
	{"more on the line", ASG HEAD "edge 0 so 0 -> 1 why 0 rule given given\n", 26, "found 'given', expected the end of the line"},

	/* presences */
	{"present for no reason", FORCED_ASG HEAD "presence txn 1 present\nend ir\n", 1, "transaction 1 is present for no reason"},
	{"present because of a choice", FORCED_ASG HEAD "presence txn 1 present why 1\nsource obs 1 = 0 age 0\nend ir\n", 1,
		"observation 1, which saw another"},
	{"absent though present", ASG HEAD "presence txn 0 absent\nend ir\n", 1, "transaction 0 has a presence other than the trace tells"},
	{"present though absent", ASG HEAD "presence txn 4 present\nend ir\n", 1, "transaction 4 has a presence other than the trace tells"},
	{"needless reason", ASG HEAD "presence txn 0 present why 1\nend ir\n", 1, "transaction 0 has a reason to be present that it does not need"},

	/* sources */
	{"source of another key", ASG HEAD "source obs 0 = 1\nend ir\n", 1, "observation 0 of key 1 saw version 1 of another key"},
	{"source outside the set", ASG HEAD "source obs 0 = 4\nend ir\n", 1, "observation 0 saw version 4, which is not in its set"},
	{"source that may be absent", ASG HEAD "source obs 2 = 6 age 0\nend ir\n", 1, "observation 2 saw version 6, whose writer may be absent"},
	{"source older than the graph", ASG HEAD "source obs 2 = 4 age 1\nend ir\n", 1, "a source of age 1, but there are 0 edges"},
	{"given source of several", ASG HEAD "source obs 2 = 4\nend ir\n", 1, "observation 2 has several candidates, but its source is said to be given"},
	{"source without an edge", ASG HEAD "facts wr\nsource obs 0 = 3\nsource obs 1 = 1\nend ir\n", 1, "observation 1 has a source, but no wr edge leads to it"},
	{"candidates of an open transaction",
		"asg 1\ntxn 0 open unknown\nkey 0\nversion 0 key 0 initial\nversion 1 key 0 by 0\nset 0 {1}\nobserve txn 0 op 0 key 0 set 0\nend asg\n" HEAD
		"end ir\n",
		1, "observation 0 has no candidate"},
	{"wr is a fact", ASG HEAD "facts wr\nsource obs 0 = 3\nend ir\n", 1, "observation 1 has one candidate, but no source in spite of the fact wr"},

	/* edges */
	{"wr of an open source", ASG HEAD "edge 0 wr 1 -> 2 why 2\nend ir\n", 1, "wr edge 0: its observation saw no writer"},
	{"wr from the initial version", ASG HEAD "source obs 0 = 3\nedge 0 wr 1 -> 0 why 0\nend ir\n", 1, "wr edge 0: its observation saw no writer"},
	{"wr of no observation", ASG HEAD "edge 0 wr 1 -> 2\nend ir\n", 1, "wr edge 0 names observation"},
	{"wr the wrong way", ASG HEAD "source obs 1 = 1\nedge 0 wr 2 -> 0 why 1\nend ir\n", 1, "wr edge 0 does not lead from the source to the observer"},
	{"wr by another rule", ASG HEAD "source obs 1 = 1\nedge 0 wr 0 -> 2 why 1 rule later\nend ir\n", 1, "wr edge 0 has rule 3"},
	{"wr to one that may be absent", ASG HEAD "edge 0 wr 1 -> 3 why 2\nend ir\n", 1, "edge 0 joins transactions that may be absent"},
	{"ww of no order", ASG HEAD "edge 0 ww 2 -> 1 why 1\nend ir\n", 1, "ww edge 0 is not in the given order of key 1"},
	{"ww of a key not written", ASG HEAD "edge 0 ww 0 -> 1 why 1\nend ir\n", 1, "ww edge 0 joins transactions that do not write key 1"},
	{"ww to another version than seen", ASG HEAD "source obs 1 = 1\nedge 0 ww 0 -> 1 why 1 rule reader\nend ir\n", 1,
		"ww edge 0 does not lead to the version seen"},
	{"ww without a path",
		"asg 1\ntxn 0 present\ntxn 1 present\ntxn 2 present\nkey 0\nversion 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 0 by 1\n"
		"set 0 {2}\nobserve txn 2 op 0 key 0 set 0\nend asg\nir 1 nodes txn order none\nsource obs 0 = 2\nedge 0 wr 1 -> 2 why 0\n"
		"edge 1 ww 0 -> 1 why 0 rule reader\nend ir\n",
		1, "edge 1 by rule 'reader' rests on no path of older edges from node 0 to node 2"},
	{"rw without a path", ASG HEAD "source obs 1 = 1\nedge 0 wr 0 -> 2 why 1\nedge 1 rw 2 -> 1 why 1 rule later\nend ir\n", 1,
		"edge 1 by rule 'later' rests on no path of older edges from node 0 to node 1"},
	{"rw resting on a younger edge", ASG HEAD "source obs 1 = 1\nedge 0 wr 0 -> 2 why 1\nedge 1 rw 2 -> 1 why 1 rule later\nedge 2 so 0 -> 1\nend ir\n", 1,
		"edge 1 by rule 'later' rests on no path of older edges from node 0 to node 1"},
	{"rw to itself",
		"asg 1\ntxn 0 present\nkey 0\nversion 0 key 0 initial\nversion 1 key 0 by 0\nset 0 {0}\nobserve txn 0 op 0 key 0 set 0\nend asg\n"
		"ir 1 nodes txn order none\nsource obs 0 = 0\nedge 0 rw 0 -> 0 why 0 rule later\nend ir\n",
		1, "rw edge 0 leads back to its own transaction"},
	{"rw to what it saw", ASG HEAD "source obs 1 = 1\nedge 0 rw 2 -> 0 why 1 rule later\nend ir\n", 1, "rw edge 0: its observation saw the target"},
	{"rw to a key not written", ASG HEAD "source obs 0 = 3\nedge 0 rw 0 -> 0 why 0 rule later\nend ir\n", 1, "rw edge 0 leads back"},
	{"rw to no writer of the key", ASG HEAD "source obs 1 = 1\nedge 0 rw 2 -> 2 why 1 rule given\nend ir\n", 1, "rw edge 0 has rule 0"},
	{"rw where the match stays",
		"asg 1\ntxn 0 present session 0\ntxn 1 present\ntxn 2 present session 0\nkey 0\nversion 0 key 0 initial\nversion 1 key 0 by 1\nset 0 {0 1}\n"
		"observe txn 0 op 0 key 0 set 0 predicate\nend asg\nir 1 nodes txn order session\nsource obs 0 = 0 age 1\nedge 0 so 0 -> 2\n"
		"edge 1 rw 0 -> 1 why 0 rule later\nend ir\n",
		1, "rw edge 1: the target does not change the predicate's match"},
	{"so without session order", ASG "ir 1 nodes txn order none\nedge 0 so 0 -> 1\nend ir\n", 1, "so edge 0, but the order asked for has none"},
	{"so across sessions", ASG HEAD "edge 0 so 0 -> 2\nend ir\n", 1, "so edge 0 joins transactions of two sessions"},
	{"so backwards", ASG HEAD "edge 0 so 1 -> 0\nend ir\n", 1, "so edge 0 leads back"},
	{"so from an unknown outcome", "asg 1\ntxn 0 present unknown session 0\ntxn 1 present session 0\nend asg\n" HEAD "edge 0 so 0 -> 1\nend ir\n", 1,
		"so edge 0 leaves a transaction of unknown outcome"},
	{"so with a reason", ASG HEAD "edge 0 so 0 -> 1 why 0\nend ir\n", 1, "edge 0 has a reason that its kind does not need"},
	{"rt without real-time order", ASG "ir 1 nodes txn order session\ntime 1\nedge 0 rt 0 -> 5\nend ir\n", 1,
		"rt edge 0, but the order asked for has none"},
	{"rt between transactions", ASG HEAD "edge 0 rt 0 -> 1\nend ir\n", 1, "rt edge 0 does not join a transaction and a time node"},
	{"rt from no end", ASG HEAD "time 1\nedge 0 rt 4 -> 5\nend ir\n", 1, "rt edge 0 does not leave an end"},
	{"rt from an unknown outcome", "asg 1\ntxn 0 present unknown begin 0 end 1\ntxn 1 present begin 2\nend asg\n" HEAD "time 1\nedge 0 rt 0 -> 2\nend ir\n",
		1, "rt edge 0 leaves a transaction of unknown outcome"},
	{"rt to no begin", ASG HEAD "time 1\nedge 0 rt 5 -> 4\nend ir\n", 1, "rt edge 0 does not enter a begin"},
	{"rt within the skew", ASG HEAD "time 1\nedge 0 rt 0 -> 5\nedge 1 rt 5 -> 2\nend ir\n", 1,
		"rt edge 1 enters a begin that some end before it does not precede"},
	{"rt within the skew, through two time nodes", ASG HEAD "time 2\nedge 0 rt 0 -> 5\nedge 1 program 5 -> 6\nedge 2 rt 6 -> 2\nend ir\n", 1,
		"rt edge 2 enters a begin that some end before it does not precede"},
	{"time nodes of no pass", ASG HEAD "time 1\nend ir\n", 1, "1 time nodes, but not the fact rt"},
	{"program between transactions", ASG HEAD "edge 0 program 0 -> 1\nend ir\n", 1, "program edge 0 does not lead from a begin to its commit"},
	{"program over a time node", ASG HEAD "time 3\nedge 0 program 5 -> 7\nend ir\n", 1, "program edge 0 does not join neighbours"},
	{"dependency of a time node", ASG HEAD "time 1\nedge 0 ww 0 -> 5 why 0\nend ir\n", 1, "edge 0 is a dependency of a time node"},
};

static void reads_or_refuses(void **state)
{
	const struct text_row *row = *state;
	struct kr_ctx ctx;
	struct kr_err err;
	struct kr_asg asg;
	struct kr_ir ir;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);

	enum kr_status status = kr_ir_read(&ir, &asg, &ctx, &txn_level, KR_ORDER_NONE, row->text, &err);

	if (!row->message) {
		struct kr_str out;

		if (status)
			fail_msg("line %u: %s", err.line, err.text);
		kr_str_init(&out, &ctx.mem);
		kr_ir_print(&ir, &out);
		assert_string_equal(kr_str_text(&out), row->text);
		kr_str_done(&out);
		kr_ir_done(&ir);
		kr_asg_done(&asg);
	} else {
		assert_int_equal(status, KR_BAD);
		if (!strstr(err.text, row->message))
			fail_msg("line %u: \"%s\", expected \"%s\"", err.line, err.text, row->message);
		if (strncmp(err.text, "ir: ", 4) != 0)
			assert_int_equal(err.line, row->line);
	}
	assert_int_equal(ctx.mem.used, 0);
}

/* ---- begin-commit nodes ---- */

static void reads_begin_commit_nodes(void **state)
{
	static const char text[] = "asg 1\ntxn 0 present\ntxn 1 present\nkey 0\nversion 0 key 0 initial\nversion 1 key 0 by 0\nset 0 {1}\n"
				   "observe txn 1 op 0 key 0 set 0\nend asg\n"
				   "ir 1 nodes begin-commit order none\nsource obs 0 = 1\nedge 0 program 0 -> 1\nedge 1 program 2 -> 3\n"
				   "edge 2 wr 1 -> 2 why 0\nend ir\n";
	struct kr_ctx ctx;
	struct kr_err err;
	struct kr_asg asg;
	struct kr_ir ir;
	struct kr_str out;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_ir_read(&ir, &asg, &ctx, &begin_commit_level, KR_ORDER_NONE, text, &err), KR_OK);
	kr_str_init(&out, &ctx.mem);
	kr_ir_print(&ir, &out);
	assert_string_equal(kr_str_text(&out), text);
	kr_str_done(&out);
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	assert_int_equal(kr_ir_read(&ir, &asg, &ctx, &begin_commit_level, KR_ORDER_NONE, "asg 1\ntxn 0 present\nend asg\nir 1 nodes begin-commit order none\nend ir\n", &err),
		KR_BAD);
	assert_string_equal(err.text, "ir: 0 edges from begin to commit for 1 transactions");
	assert_int_equal(ctx.mem.used, 0);
}

/* ---- what a text cannot break ---- */

struct broken_row {
	const char *name;
	void (*spoil)(struct kr_ir *ir);
	const char *message;
};

static void spoil_list(struct kr_ir *ir) { ir->head.at[0] = KR_NONE; }
static void spoil_link(struct kr_ir *ir) { ir->head.at[1] = 0; }
static void spoil_loop(struct kr_ir *ir) { ir->edges.at[0].next = 0; }
static void spoil_time(struct kr_ir *ir) { ir->first_time_node++; }
static void spoil_nodes(struct kr_ir *ir) { ir->nnodes++; }
static void spoil_edge(struct kr_ir *ir) { ir->edges.at[0].kind = KR_EDGE_KINDS; }
static void spoil_target(struct kr_ir *ir) { ir->edges.at[0].to.i = 77; }
static void spoil_fact(struct kr_ir *ir) { ir->facts |= KR_FACT_CLOCK; }
static void spoil_presence(struct kr_ir *ir) { ir->presence[3] = KR_OPEN + 1; }

static const struct broken_row broken_rows[] = {
	{"edge in no list", spoil_list, "adjacency lists hold 0 of 1 edges"},
	{"edge in another list", spoil_link, "edge 0 is in the list of node 1, but leaves node 0"},
	{"list in a loop", spoil_loop, "edge 0 is out of place in the list of node 0"},
	{"misplaced time nodes", spoil_time, "time nodes begin at 6, expected 5"},
	{"missing list", spoil_nodes, "5 adjacency lists for 6 nodes"},
	{"no kind", spoil_edge, "edge 0 has kind 6"},
	{"target beyond the last", spoil_target, "edge 0 joins nodes beyond the last"},
	{"clock without a clock", spoil_fact, "the fact clock and the clock itself disagree"},
	{"no presence", spoil_presence, "transaction 3 has presence 3"},
};

static void finds_broken_structure(void **state)
{
	const struct broken_row *row = *state;
	struct kr_ctx ctx;
	struct kr_err err;
	struct kr_asg asg;
	struct kr_ir ir;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_ir_read(&ir, &asg, &ctx, &txn_level, KR_ORDER_NONE, ASG HEAD "edge 0 so 0 -> 1\nend ir\n", &err), KR_OK);

	struct kr_ir whole = ir;
	struct kr_edge edge = ir.edges.at[0];

	row->spoil(&ir);
	assert_int_equal(kr_ir_verify(&ir, &err), KR_INTERNAL);
	if (!strstr(err.text, row->message))
		fail_msg("\"%s\", expected \"%s\"", err.text, row->message);
	ir = whole;
	ir.edges.at[0] = edge;
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	assert_int_equal(ctx.mem.used, 0);
}

/* A clock that says too much or too little. */
static void finds_wrong_clocks(void **state)
{
	struct kr_ctx ctx;
	struct kr_err err;
	struct kr_asg asg;
	struct kr_ir ir;
	bool cyclic = false;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_ir_read(&ir, &asg, &ctx, &txn_level, KR_ORDER_NONE, ASG HEAD "source obs 1 = 1\nedge 0 so 0 -> 1\nedge 1 wr 0 -> 2 why 1\nend ir\n", &err), KR_OK);
	assert_int_equal(kr_clock_build(&ir, &cyclic), KR_OK);
	assert_false(cyclic);
	ir.facts |= KR_FACT_CLOCK;
	assert_int_equal(kr_ir_verify(&ir, &err), KR_OK);

	uint16_t *entry = &ir.clock->rows[2 * ir.clock->stride + ir.clock->chain[0]]; /* what node 2 knows of the chain of node 0 */
	uint16_t right = *entry;

	assert_true(right >= ir.clock->position[0]);
	*entry = 0;
	assert_int_equal(kr_ir_verify(&ir, &err), KR_INTERNAL);
	assert_string_equal(err.text, "ir: clock: node 0 does not reach 2, but there is a path");
	*entry = right;
	ir.clock->rows[3 * ir.clock->stride + ir.clock->chain[0]] = (uint16_t)ir.clock->position[0];
	kr_err_init(&err);
	assert_int_equal(kr_ir_verify(&ir, &err), KR_INTERNAL);
	assert_string_equal(err.text, "ir: clock: node 0 reaches 3, but there is no path");
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	assert_int_equal(ctx.mem.used, 0);
}

static void survives_failed_allocations(void **state)
{
	(void)state;
	for (uint64_t n = 1;; n++) {
		struct kr_ctx ctx;
		struct kr_asg asg;
		struct kr_ir ir;

		kr_ctx_init(&ctx, 0, 0);
		ctx.mem.fail_at = n;

		enum kr_status status = kr_ir_read(&ir, &asg, &ctx, &txn_level, KR_ORDER_NONE, rows[1].text, NULL);

		if (status == KR_OK) {
			assert_true(ctx.mem.count < n);
			kr_ir_done(&ir);
			kr_asg_done(&asg);
			assert_int_equal(ctx.mem.used, 0);
			return;
		}
		assert_int_equal(status, KR_NOMEM);
		assert_int_equal(ctx.mem.used, 0);
	}
}

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(rows) + KR_COUNT(broken_rows) + 3];
	size_t n = 0;

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		tests[n++] = (struct CMUnitTest){rows[i].name, reads_or_refuses, NULL, NULL, (void *)&rows[i]};
	for (size_t i = 0; i < KR_COUNT(broken_rows); i++)
		tests[n++] = (struct CMUnitTest){broken_rows[i].name, finds_broken_structure, NULL, NULL, (void *)&broken_rows[i]};
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(reads_begin_commit_nodes);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(finds_wrong_clocks);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(survives_failed_allocations);
	return _cmocka_run_group_tests("ir_text", tests, n, NULL, NULL);
}
