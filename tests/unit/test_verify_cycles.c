/* verify/edges and verify/cases: cycles are accepted when every edge is what it claims and the cases are exhausted; each way to fail is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verify_rows.h"

#define CYCLES(list) "'verdict':'violated','cycles':[" list "]"
#define CYCLE(edges) "[" edges "]"
#define RW(from, to, key, op, source) "{'from':'" from "','to':'" to "','kind':'rw','key':'" key "','op':" op ",'source':" source "}"
#define PRW(from, to, key, op, source) "{'from':'" from "','to':'" to "','kind':'prw','key':'" key "','op':" op ",'source':" source "}"
#define WR(from, to, key, op) "{'from':'" from "','to':'" to "','kind':'wr','key':'" key "','op':" op "}"
#define PWR(from, to, key, op) "{'from':'" from "','to':'" to "','kind':'pwr','key':'" key "','op':" op "}"
#define WW(from, to, key) "{'from':'" from "','to':'" to "','kind':'ww','key':'" key "'}"
#define SO(from, to) "{'from':'" from "','to':'" to "','kind':'so'}"
#define RT(from, to) "{'from':'" from "','to':'" to "','kind':'rt'}"
#define NONE .order = "none"
#define BAD(text) .expected = KR_BAD, .message = text

/* Write skew: each reads what the other writes. */
static const char skew[] = "{'id':'a','ops':[['r','x',null],['w','y',1]]}\n{'id':'b','ops':[['r','y',null],['w','x',1]]}\n"
			   "{'id':'c','status':'aborted','ops':[['r','y',null],['w','x',2]]}\n{'id':'d','ops':[['w','z',1]]}";
#define SKEW CYCLE(RW("a", "b", "x", "0", "null") "," RW("b", "a", "y", "0", "null"))

/* b, of the same session, misses what a wrote. */
static const char stale[] = "{'id':'a','s':1,'begin':0,'end':10,'ops':[['w','x',1]]}\n{'id':'b','s':1,'begin':20,'end':30,'ops':[['r','x',null]]}\n"
			    "{'id':'c','s':2,'begin':10,'end':30,'ops':[['r','x',null]]}\n{'id':'d','ops':[['r','x',null]]}";
#define STALE(edge, reader) CYCLES(CYCLE(edge "," RW(reader, "a", "x", "0", "null")))

static const char stale_unknown[] = "{'id':'a','s':1,'begin':0,'end':10,'status':'unknown','ops':[['w','x',1]]}\n"
				    "{'id':'b','s':1,'begin':20,'end':30,'ops':[['r','x',null]]}\n{'id':'e','ops':[['r','x',1]]}";

/* The reads of c and d contradict each other, whichever of a and b wrote x first. */
static const char split[] = "{'id':'a','ops':[['w','x',1],['w','y',1]]}\n{'id':'b','ops':[['w','x',2],['w','y',2]]}\n"
			    "{'id':'c','ops':[['r','x',1],['r','y',2]]}\n{'id':'d','ops':[['r','x',2],['r','y',1]]}";
#define A_FIRST CYCLE(RW("c", "b", "x", "0", "'a'") "," WR("b", "c", "y", "1"))
#define B_FIRST CYCLE(RW("d", "a", "x", "0", "'b'") "," WR("a", "d", "y", "1"))

/* Lost update: a and b both read the version of c, and write. */
static const char lost[] = "{'id':'c','ops':[['w','x',1]]}\n{'id':'a','ops':[['r','x',1],['w','x',2]]}\n{'id':'b','ops':[['r','x',1],['w','x',3]]}";
/* The same with c unknown. */
static const char lost_unknown[] = "{'id':'c','status':'unknown','ops':[['w','x',1]]}\n{'id':'a','ops':[['r','x',1],['w','x',2]]}\n"
				   "{'id':'b','ops':[['r','x',1],['w','x',3]]}";
#define LOST CYCLE(RW("a", "b", "x", "0", "'c'") "," WW("b", "a", "x"))
#define LOST_TOO CYCLE(RW("b", "a", "x", "0", "'c'") "," WW("a", "b", "x"))
#define C_FIRST CYCLE(WR("c", "a", "x", "0") "," WW("a", "c", "x"))
#define C_FIRST_TOO CYCLE(WR("c", "b", "x", "0") "," WW("b", "c", "x"))

/* Two wrote the value that r read; both have seen what r wrote. */
static const char twins[] = "{'id':'a','ops':[['r','y',1],['w','x',1]]}\n{'id':'b','ops':[['r','y',1],['w','x',1]]}\n"
			    "{'id':'r','ops':[['r','x',1],['w','y',1]]}";
static const char twins_unknown[] = "{'id':'a','ops':[['r','y',1],['w','x',1]]}\n{'id':'b','status':'unknown','ops':[['r','y',1],['w','x',1]]}\n"
				    "{'id':'r','ops':[['r','x',1],['w','y',1]]}";
static const char twins_impossible[] = "{'id':'a','ops':[['r','y',1],['w','x',1]]}\n{'id':'b','status':'unknown','ops':[['r','q',9],['w','x',1]]}\n"
				       "{'id':'r','ops':[['r','x',1],['w','y',1]]}";
#define FROM_A CYCLE(WR("a", "r", "x", "0") "," WR("r", "a", "y", "0"))
#define FROM_B CYCLE(WR("b", "r", "x", "0") "," WR("r", "b", "y", "0"))

/* An unknown transaction u that only has to have taken effect because e read from it. */
static const char forced[] = "{'id':'u','status':'unknown','ops':[['r','x',null],['w','y',1],['w','q',1]]}\n"
			     "{'id':'b','ops':[['r','y',null],['w','x',1]]}\n{'id':'e','ops':[['r','q',1]]}";
static const char unforced[] = "{'id':'u','status':'unknown','ops':[['r','x',null],['w','y',1],['w','q',1]]}\n"
			       "{'id':'b','ops':[['r','y',null],['w','x',1]]}\n{'id':'e','ops':[['r','q',1]]}\n{'id':'f','ops':[['w','q',1]]}";
/* ... because e read from v, which has to have taken effect, and v read from u. */
static const char forced_twice[] = "{'id':'u','status':'unknown','ops':[['r','x',null],['w','y',1],['w','q',1]]}\n"
				   "{'id':'b','ops':[['r','y',null],['w','x',1]]}\n"
				   "{'id':'v','status':'unknown','ops':[['r','q',1],['w','p',1]]}\n{'id':'e','ops':[['r','p',1]]}";
/* ... because an insert that failed must have found something. */
static const char forced_insert[] = "{'id':'u','status':'unknown','ops':[['r','x',null],['w','y',1],['w','q',1]]}\n"
				    "{'id':'b','ops':[['r','y',null],['w','x',1]]}\n{'id':'e','ops':[['insert','q',5,false]]}";
static const char unforced_unknown[] = "{'id':'u','status':'unknown','ops':[['r','x',null],['w','y',1],['w','q',1]]}\n"
				       "{'id':'b','ops':[['r','y',null],['w','x',1]]}\n{'id':'e','status':'unknown','ops':[['r','q',1]]}";
#define FORCED CYCLES(CYCLE(RW("u", "b", "x", "0", "null") "," RW("b", "u", "y", "0", "null")))

/* Untold initial values: if a saw the initial 1, then b cannot have seen an initial 2. */
static const char untold[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',1],['w','y',1]]}\n{'id':'b','ops':[['r','x',2],['w','y',2]]}\n"
			     "{'id':'v','ops':[['r','y',1],['w','x',1]]}\n{'id':'w','ops':[['r','y',2],['w','x',2]]}\n{'id':'q','ops':[['r','y',0]]}";
#define A_FROM_V CYCLE(WR("v", "a", "x", "0") "," WR("a", "v", "y", "0"))
#define B_FROM_W CYCLE(WR("w", "b", "x", "0") "," WR("b", "w", "y", "0"))
/* These never hold, since a and b saw one version each; but they name the initial version as a source. */
#define A_FROM_INITIAL CYCLE(RW("a", "v", "x", "0", "null") "," WR("v", "a", "x", "0"))
#define B_FROM_INITIAL CYCLE(RW("b", "w", "x", "0", "null") "," WR("w", "b", "x", "0"))
/* The same with another value, 3, that may or may not be the initial one. */
static const char untold_three[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',1],['w','y',1]]}\n{'id':'m','ops':[['r','x',3]]}\n"
				   "{'id':'b','ops':[['r','x',2],['w','y',2]]}\n{'id':'v','ops':[['r','y',1],['w','x',1]]}\n{'id':'n','ops':[['w','x',3]]}\n"
				   "{'id':'w','ops':[['r','y',2],['w','x',2]]}\n{'id':'q','ops':[['r','y',0]]}";
/* k is 4 at first, as q saw it, so u, which saw 3, took no effect, so p saw 2 as the initial x, and a cannot have seen 1. */
static const char untold_far[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',1],['w','y',1]]}\n{'id':'v','ops':[['r','y',1],['w','x',1]]}\n"
				 "{'id':'p','ops':[['r','x',2]]}\n{'id':'u','status':'unknown','ops':[['r','k',3],['w','x',2]]}\n"
				 "{'id':'q','ops':[['r','k',4],['w','z',1]]}\n{'id':'k','ops':[['r','z',1],['w','k',4]]}\n{'id':'t','ops':[['r','y',0],['r','z',0]]}";
/* ... and where somebody saw a value that nobody wrote, that is the initial one. */
static const char untold_pinned[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',1],['w','y',1]]}\n"
				    "{'id':'v','ops':[['r','y',1],['w','x',1]]}\n{'id':'p','ops':[['r','x',7],['r','y',0]]}";
static const char untold_free[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',1],['w','y',1]]}\n"
				  "{'id':'v','ops':[['r','y',1],['w','x',1]]}\n{'id':'p','ops':[['r','x',1],['r','y',0]]}";
/* ... and a cas that failed on 1 has not seen an initial 1. */
static const char untold_other[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',1],['w','y',1]]}\n{'id':'b','ops':[['cas','x',1,5,false],['w','y',2]]}\n"
				   "{'id':'v','ops':[['r','y',1],['w','x',1]]}\n{'id':'w','ops':[['r','y',2],['w','x',2]]}\n{'id':'q','ops':[['r','y',0]]}";

#define GIVEN(lists) "{'id':'a','ops':[['w','x',1],['r','y',null]]}\n{'id':'b','ops':[['w','x',2],['w','y',1]]}\n{'id':'c','ops':[['w','x',3]]}\n" lists
/* b before a by the lists, though a did not see b's y. */
#define AGAINST CYCLES(CYCLE(WW("b", "a", "x") "," RW("a", "b", "y", "1", "null")))

/* Predicate reads: each range misses the key that the other one inserts. */
static const char phantom[] = "{'id':'a','ops':[['range','k','l',[]],['w','k1',1]]}\n{'id':'b','ops':[['range','k','l',[]],['w','k2',1]]}";
static const char deleted[] = "{'krait':1,'initial':{'k':1}}\n{'id':'d','ops':[['r','z',1],['d','k']]}\n{'id':'a','ops':[['range',null,null,[]],['w','z',1]]}\n"
			      "{'id':'e','ops':[['r','z',1],['d','k']]}";
static const char scanned[] = "{'krait':1,'initial':{'k':1}}\n{'id':'a','ops':[['scan',{'value':{'ge':5}},[]],['w','z',1]]}\n"
			      "{'id':'b','ops':[['r','z',null],['w','k',7]]}\n{'id':'c','ops':[['r','z',null],['w','k',3]]}";
static const char scanned_twice[] = "{'krait':1,'initial':{'k':1}}\n{'id':'a','ops':[['scan',{'value':{'ge':5}},[]],['w','z',1]]}\n"
				    "{'id':'b','ops':[['r','z',null],['w','k',7]]}\n{'id':'c','ops':[['r','z',1],['w','k',3]]}";
static const char returned[] = "{'krait':1,'initial':{'k':1}}\n{'id':'a','ops':[['range',null,null,[['k',1]]],['w','z',1]]}\n{'id':'b','ops':[['r','z',null],['w','k',7]]}";
static const char counter[] = "{'id':'a','ops':[['inc','x',1,1],['r','y',null]]}\n{'id':'b','ops':[['inc','x',1,1],['w','y',1]]}";

static const struct verify_row rows[] = {
	{"write skew", skew, NONE, .claim = CYCLES(SKEW)},
	{"no cycle", skew, NONE, .claim = CYCLES(""), BAD("the cases are not exhausted: no cycle follows from the history")},
	{"an empty cycle", skew, NONE, .claim = CYCLES(SKEW ",[]"), BAD("cycle 2: has 0 edges, expected at least 2")},
	{"a cycle of one edge", skew, NONE, .claim = CYCLES(CYCLE(RW("a", "b", "x", "0", "null"))), BAD("cycle 1: has 1 edges, expected at least 2")},
	{"a path that does not close", skew, NONE, .claim = CYCLES(CYCLE(RW("a", "b", "x", "0", "null") "," RW("a", "b", "x", "0", "null"))),
		BAD("cycle 1: edge 1 does not end where the next one begins")},
	{"an edge from a transaction to itself", skew, NONE, .claim = CYCLES(CYCLE(WW("a", "a", "y") "," WW("a", "a", "y"))),
		BAD("cycle 1, edge 1: a -ww-> a: expected two transactions")},
	{"an aborted transaction", skew, NONE, .claim = CYCLES(CYCLE(RW("a", "c", "x", "0", "null") "," RW("c", "a", "y", "0", "null"))),
		BAD("cycle 1, edge 1: a -rw-> c: c was aborted")},

	/* so, rt */
	{"session order", stale, .order = "session", .claim = STALE(SO("a", "b"), "b")},
	{"session order under real time", stale, .order = "realtime", .claim = STALE(SO("a", "b"), "b")},
	{"session order not asked for", stale, .order = "none", .claim = STALE(SO("a", "b"), "b"),
		BAD("cycle 1 is not one that ser with order none forbids: it has an edge of another kind")},
	{"session order of two sessions", stale, .order = "session", .claim = STALE(SO("a", "c"), "c"),
		BAD("cycle 1, edge 1: a -so-> c: they are not of one session")},
	{"session order of no session", stale, .order = "session", .claim = STALE(SO("a", "d"), "d"),
		BAD("cycle 1, edge 1: a -so-> d: they are not of one session")},
	{"session order turned round", stale, .order = "session", .claim = CYCLES(CYCLE(RW("b", "a", "x", "0", "null") "," SO("b", "a"))),
		BAD("cycle 1: edge 1 does not end where the next one begins")},
	{"session order from the later", stale, .order = "session", .claim = CYCLES(CYCLE(SO("b", "a") "," WW("a", "b", "x"))),
		BAD("cycle 1, edge 1: b -so-> a: the session has them the other way round")},
	{"session order from an unknown one", stale_unknown, .order = "session", .claim = STALE(SO("a", "b"), "b"),
		BAD("cycle 1, edge 1: a -so-> b: a has no known outcome, so it may take effect later")},
	{"real time", stale, .order = "realtime", .claim = STALE(RT("a", "b"), "b")},
	{"real time not asked for", stale, .order = "session", .claim = STALE(RT("a", "b"), "b"),
		BAD("cycle 1 is not one that ser with order session forbids: it has an edge of another kind")},
	{"real time of one that had just returned", stale, .order = "realtime", .claim = STALE(RT("a", "c"), "c"),
		BAD("cycle 1, edge 1: a -rt-> c: a had not returned when c was invoked")},
	{"real time of one without times", stale, .order = "realtime", .claim = STALE(RT("a", "d"), "d"),
		BAD("cycle 1, edge 1: a -rt-> d: the trace does not tell these times")},
	{"real time from an unknown one", stale_unknown, .order = "realtime", .claim = STALE(RT("a", "b"), "b"),
		BAD("cycle 1, edge 1: a -rt-> b: a has no known outcome, so it may take effect later")},

	/* wr, rw, ww */
	{"wr of another value", split, NONE, .claim = CYCLES(CYCLE(WR("a", "c", "y", "1") "," WW("c", "a", "y"))),
		BAD("cycle 1, edge 1: a -wr-> c: operation 1 of c cannot have seen y by a")},
	{"wr at an operation on another key", split, NONE, .claim = CYCLES(CYCLE(WR("a", "c", "x", "1") "," WW("c", "a", "y"))),
		BAD("cycle 1, edge 1: a -wr-> c: operation 1 of c saw nothing of x")},
	{"wr from one that does not write the key", twins, NONE, .claim = CYCLES(CYCLE(WR("r", "a", "x", "0") "," WR("a", "r", "x", "0"))),
		BAD("cycle 1, edge 1: r -wr-> a: operation 0 of a saw nothing of x")},
	{"wr after an own write", "{'id':'a','ops':[['w','x',1]]}\n{'id':'b','ops':[['w','x',1],['r','x',1]]}", NONE,
		.claim = CYCLES(CYCLE(WR("a", "b", "x", "1") "," WW("b", "a", "x"))), BAD("cycle 1, edge 1: a -wr-> b: at operation 1 b had written x itself")},
	{"wr of an intermediate value", "{'id':'a','ops':[['w','x',1],['w','x',2]]}\n{'id':'b','ops':[['r','x',1],['w','x',3]]}", NONE,
		.claim = CYCLES(CYCLE(WR("a", "b", "x", "0") "," WW("b", "a", "x"))), BAD("cycle 1, edge 1: a -wr-> b: operation 0 of b cannot have seen x by a")},
	{"rw by a read of another value", split, NONE, .claim = CYCLES(CYCLE(RW("c", "a", "x", "0", "'b'") "," WR("a", "c", "x", "0"))),
		BAD("cycle 1, edge 1: c -rw-> a: operation 0 of c cannot have seen x by b")},
	{"rw by a read of no initial value", split, NONE, .claim = CYCLES(CYCLE(RW("c", "a", "x", "0", "null") "," WR("a", "c", "x", "0"))),
		BAD("cycle 1, edge 1: c -rw-> a: operation 0 of c cannot have seen x by the initial version")},
	{"rw to one that does not write the key", skew, NONE, .claim = CYCLES(CYCLE(RW("a", "d", "x", "0", "null") "," WW("d", "a", "x"))),
		BAD("cycle 1, edge 1: a -rw-> d: d does not write x")},
	{"rw to the source", split, NONE, .claim = CYCLES(CYCLE(RW("c", "a", "x", "0", "'a'") "," WR("a", "c", "x", "0"))),
		BAD("cycle 1, edge 1: c -rw-> a: a version does not come before itself")},
	{"rw from an own version", lost, NONE, .claim = CYCLES(CYCLE(RW("a", "b", "x", "0", "'a'") "," WW("b", "a", "x"))),
		BAD("cycle 1, edge 1: a -rw-> b: operation 0 of a cannot have seen x by a")},
	{"ww of one that does not write the key", skew, NONE, .claim = CYCLES(CYCLE(WW("a", "d", "x") "," WW("d", "a", "x"))),
		BAD("cycle 1, edge 1: a -ww-> d: a does not write x")},
	{"ww to one that does not write the key", skew, NONE, .claim = CYCLES(CYCLE(WW("b", "a", "x") "," WW("a", "b", "x"))),
		BAD("cycle 1, edge 1: b -ww-> a: a does not write x")},
	{"an item edge called predicate", skew, NONE, .claim = CYCLES(CYCLE(PRW("a", "b", "x", "0", "null") "," RW("b", "a", "y", "0", "null"))),
		BAD("cycle 1, edge 1: a -rw-> b: operation 0 of a is an item observation of x")},

	/* orders */
	{"both cases of an order", split, NONE, .claim = CYCLES(A_FIRST "," B_FIRST)},
	{"one case of an order", split, NONE, .claim = CYCLES(A_FIRST), BAD("the cases are not exhausted: left is one where b comes before a as writer of x")},
	{"the other case of an order", split, NONE, .claim = CYCLES(B_FIRST), BAD("the cases are not exhausted: left is one where a comes before b as writer of x")},
	{"an order both ways", split, NONE, .claim = CYCLES(CYCLE(WW("a", "b", "x") "," WW("b", "a", "x"))), BAD("the cases are not exhausted: ...")},
	{"lost update", lost, NONE, .claim = CYCLES(C_FIRST "," C_FIRST_TOO "," LOST "," LOST_TOO)},
	{"lost update without a lemma", lost, NONE, .claim = CYCLES(C_FIRST "," LOST "," LOST_TOO), BAD("the cases are not exhausted: ...")},
	{"lost update without a case", lost, NONE, .claim = CYCLES(C_FIRST "," C_FIRST_TOO "," LOST), BAD("the cases are not exhausted: ...")},

	/* given orders */
	{"a given order", GIVEN("{'version_order':'x','writers':['b','a']}"), NONE, .claim = AGAINST},
	{"a given order over another", GIVEN("{'version_order':'x','writers':['b','c','a']}"), NONE, .claim = AGAINST},
	{"two given orders that meet", GIVEN("{'version_order':'x','writers':['c','a']}\n{'version_order':'x','writers':['b','c']}"), NONE, .claim = AGAINST},
	{"two given orders that meet, asked for twice", GIVEN("{'version_order':'x','writers':['c','a']}\n{'version_order':'x','writers':['b','c']}"), NONE,
		.claim = CYCLES(CYCLE(WW("b", "a", "x") "," WW("a", "c", "x") "," WW("c", "b", "x")) "," CYCLE(WW("b", "a", "x") "," RW("a", "b", "y", "1", "null")))},
	{"two given orders that do not meet", GIVEN("{'version_order':'x','writers':['c','a']}\n{'version_order':'x','writers':['c','b']}"), NONE,
		.claim = AGAINST, BAD("the cases are not exhausted: left is one where a comes before b as writer of x")},
	{"no given order", GIVEN(""), NONE, .claim = AGAINST, BAD("the cases are not exhausted: left is one where a comes before b as writer of x")},
	{"a given order the other way", GIVEN("{'version_order':'x','writers':['a','b']}"), NONE, .claim = AGAINST,
		BAD("the cases are not exhausted: no cycle follows from the history")},

	/* sources */
	{"both sources", twins, NONE, .claim = CYCLES(FROM_A "," FROM_B)},
	{"one source of two", twins, NONE, .claim = CYCLES(FROM_A), BAD("the cases are not exhausted: left is one where operation 0 of r did not see x by a")},
	{"both sources, one unknown", twins_unknown, NONE, .claim = CYCLES(FROM_A "," FROM_B)},
	{"one source of two, the other one unknown", twins_unknown, NONE, .claim = CYCLES(FROM_A),
		BAD("the cases are not exhausted: left is one where b took effect")},
	{"one source of two, the other one impossible", twins_impossible, NONE, .claim = CYCLES(FROM_A)},

	/* presences */
	{"an unknown one whose write was seen", forced, NONE, .claim = FORCED},
	{"an unknown one whose write need not have been seen", unforced, NONE, .claim = FORCED,
		BAD("the cases are not exhausted: left is one where u took no effect")},
	{"an unknown one seen through another one", forced_twice, NONE, .claim = FORCED},
	{"an unknown one that made an insert fail", forced_insert, NONE, .claim = FORCED},
	{"an unknown one that only an unknown one saw", unforced_unknown, NONE, .claim = FORCED,
		BAD("the cases are not exhausted: left is one where u took no effect")},
	{"lost update of an unknown one's version", lost_unknown, NONE, .claim = CYCLES(C_FIRST "," C_FIRST_TOO "," LOST "," LOST_TOO)},

	/* untold initial values */
	{"two initial values", untold, NONE, .claim = CYCLES(A_FROM_V "," B_FROM_W)},
	{"one initial value", untold, NONE, .claim = CYCLES(A_FROM_V), BAD("the cases are not exhausted: left is one where operation 0 of a did not see x by v")},
	{"an initial value told by another read", untold_pinned, NONE, .claim = CYCLES(A_FROM_V)},
	{"an initial value that another read agrees with", untold_free, NONE, .claim = CYCLES(A_FROM_V),
		BAD("the cases are not exhausted: left is one where operation 0 of a did not see x by v")},
	{"an initial value and none such", untold_other, NONE, .claim = CYCLES(A_FROM_V "," B_FROM_W)},

	{"two initial values that edges name", untold, NONE, .claim = CYCLES(A_FROM_V "," B_FROM_W "," A_FROM_INITIAL "," B_FROM_INITIAL)},
	{"the first and the last of three initial values", untold_three, NONE,
		.claim = CYCLES(A_FROM_V "," A_FROM_INITIAL "," CYCLE(RW("m", "n", "x", "0", "null") "," WR("n", "m", "x", "0")) "," B_FROM_INITIAL "," B_FROM_W)},
	{"initial values of which one decides the other", untold_far, NONE, .claim = CYCLES(A_FROM_V "," CYCLE(WR("k", "q", "k", "0") "," WR("q", "k", "z", "0")))},

	/* predicates */
	{"phantoms", phantom, NONE, .claim = CYCLES(CYCLE(PRW("a", "b", "k2", "0", "null") "," PRW("b", "a", "k1", "0", "null")))},
	{"phantoms called items", phantom, NONE, .claim = CYCLES(CYCLE(RW("a", "b", "k2", "0", "null") "," RW("b", "a", "k1", "0", "null"))),
		BAD("cycle 1, edge 1: a -rw-> b: operation 0 of a is a predicate observation of k2")},
	{"a deleted key that a range misses", deleted, NONE,
		.claim = CYCLES(CYCLE(PWR("d", "a", "k", "0") "," WR("a", "d", "z", "0")) "," CYCLE(PWR("e", "a", "k", "0") "," WR("a", "e", "z", "0")))},
	{"one delete of two that a range may have seen", deleted, NONE, .claim = CYCLES(CYCLE(PWR("d", "a", "k", "0") "," WR("a", "d", "z", "0"))),
		BAD("the cases are not exhausted: left is one where operation 0 of a did not see k by d")},
	{"a write that changes no match", deleted, NONE, .claim = CYCLES(CYCLE(PRW("a", "e", "k", "0", "'d'") "," WW("e", "a", "k"))),
		BAD("cycle 1, edge 1: a -rw-> e: k by e does not change what the predicate read returned")},
	{"a write that a scan would have returned", scanned, NONE, .claim = CYCLES(CYCLE(PRW("a", "b", "k", "0", "null") "," RW("b", "a", "z", "0", "null"))),
		BAD("the cases are not exhausted: left is one where operation 0 of a did not see k by the initial version")},
	{"a write that a scan would have returned, whichever it saw", scanned_twice, NONE,
		.claim = CYCLES(CYCLE(PRW("a", "b", "k", "0", "null") "," RW("b", "a", "z", "0", "null")) ","
			CYCLE(PWR("c", "a", "k", "0") "," WR("a", "c", "z", "0")))},
	{"a write that a scan would not have returned", scanned, NONE, .claim = CYCLES(CYCLE(PRW("a", "c", "k", "0", "null") "," RW("c", "a", "z", "0", "null"))),
		BAD("cycle 1, edge 1: a -rw-> c: k by c does not change what the predicate read returned")},
	{"a row that a range returned", returned, NONE, .claim = CYCLES(CYCLE(RW("a", "b", "k", "0", "null") "," RW("b", "a", "z", "0", "null")))},
	{"counters", counter, NONE, .claim = CYCLES(CYCLE(WR("a", "b", "x", "0") "," WW("b", "a", "x"))), .expected = KR_BAD,
		.message = "cycle 1, edge 1: a -wr-> b: operation 0 of b cannot have seen x by a"},
};

int main(void)
{
	static struct CMUnitTest tests[KR_COUNT(rows)];

	VERIFY_TESTS(rows, tests);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
