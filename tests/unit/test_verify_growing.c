/* verify/grow, grow_cases, sums and anomaly_grow: what observations of counters, lists and sets prove, from the definitions, by hand. */
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
#define WW(from, to, key) "{'from':'" from "','to':'" to "','kind':'ww','key':'" key "'}"
#define WR_OF(from, to, key, op, part) "{'from':'" from "','to':'" to "','kind':'wr','key':'" key "','op':" op ",'part':" part "}"
#define RW_OF(from, to, key, op, source, part) \
	"{'from':'" from "','to':'" to "','kind':'rw','key':'" key "','op':" op ",'source':" source ",'part':" part "}"
#define ANOMALY(name, txn, op, key) "'verdict':'violated','anomaly':{'name':'" name "','txn':'" txn "','op':" op ",'key':'" key "'}"
/* A set failed a condition that every set fails. */
static const char failed_by_all[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',[0]],['scan',{'value':{'eq':5}},[]]]}\n"
				    "{'id':'b','status':'aborted','ops':[['add','x',7]]}";

/* b saw x without elements, so it began empty, and u's first read is impossible. */
static const char begun_empty[] = "{'krait':1,'initial':'unknown'}\n{'id':'u','status':'unknown','ops':[['r','x',[0]],['add','x',0]]}\n"
				  "{'id':'b','ops':[['range',null,null,[]],['r','x',[0,1]]]}\n{'id':'c','ops':[['add','x',1]]}\n"
				  "{'id':'d','ops':[['add','x',2],['r','x',[0,1,2]]]}";

#define BAD(text) .expected = KR_BAD, .message = text
#define NONE .order = "none"

/* c saw a's element and not b's, d the other way round in y. */
static const char lists[] = "{'id':'a','ops':[['append','x',1],['w','y',1]]}\n{'id':'b','ops':[['append','x',2],['w','y',2]]}\n"
			    "{'id':'c','ops':[['r','x',[1]],['r','y',2]]}\n{'id':'d','ops':[['r','x',[1,2]]]}";
#define B_LATER CYCLE(RW("c", "b", "x", "0", "'a'") "," WR("b", "c", "y", "1"))

/* Two increments, of which r saw one: it saw what b wrote to y, so it must be b's, and a wrote y before. */
static const char sums[] = "{'id':'a','ops':[['inc','n',1],['w','y',1]]}\n{'id':'b','ops':[['inc','n',2],['r','y',1]]}\n{'id':'r','ops':[['r','n',2]]}";
#define B_ONLY CYCLE(WR_OF("b", "r", "n", "0", "'b'") "," RW_OF("r", "a", "n", "0", "null", "'a'") "," WR("a", "b", "y", "1"))
static const char either[] = "{'id':'a','ops':[['inc','n',2],['w','y',1]]}\n{'id':'b','ops':[['inc','n',2],['r','y',1]]}\n{'id':'r','ops':[['r','n',2]]}";
static const char own_sum[] = "{'id':'a','ops':[['inc','n',1],['w','y',1]]}\n{'id':'b','ops':[['inc','n',2],['r','y',1]]}\n{'id':'r','ops':[['inc','n',5],['r','n',7]]}";

/* Elements of a set: r saw b's and not a's. */
static const char sets[] = "{'id':'a','ops':[['add','s',1],['w','y',1]]}\n{'id':'b','ops':[['add','s',2],['r','y',1]]}\n{'id':'r','ops':[['r','s',[2]]]}";
#define ELEMENTS CYCLE(WR_OF("b", "r", "s", "0", "2") "," RW_OF("r", "a", "s", "0", "null", "1") "," WR("a", "b", "y", "1"))

/* r may have seen c's version, which tells it nothing that it had not added itself, and which a does not come before. */
static const char own_element[] = "{'id':'a','ops':[['add','s',2],['w','y',1]]}\n{'id':'b','ops':[['r','y',1],['add','s',1]]}\n{'id':'c','ops':[['add','s',3]]}\n"
				  "{'id':'r','ops':[['add','s',3],['r','s',[1,3]]]}\n";
#define ONE_WITHOUT_TWO CYCLE(WR_OF("b", "r", "s", "1", "1") "," RW_OF("r", "a", "s", "1", "null", "2") "," WR("a", "b", "y", "0"))
static const char torn[] = "{'id':'a','ops':[['append','x',1],['append','x',2]]}\n{'id':'b','ops':[['append','x',3]]}\n{'id':'c','ops':[['r','x',[1,3]]]}\n"
			   "{'id':'d','ops':[['r','x',[1]]]}\n{'id':'e','ops':[['r','x',[3]]]}\n{'id':'f','ops':[['r','x',[1,2]]]}\n{'id':'g','ops':[['r','x',[3,3]]]}";
static const char unseen[] = "{'id':'a','status':'aborted','ops':[['append','x',1],['add','s',1]]}\n{'id':'b','ops':[['r','x',[1]],['r','s',[1]]]}\n"
			     "{'id':'c','ops':[['r','x',[9]],['append','x',9]]}\n{'id':'d','ops':[['r','x',[8]]]}";
static const char own[] = "{'id':'a','ops':[['append','x',1],['r','x',[7]]]}\n{'id':'b','ops':[['append','x',2],['r','x',[7,2]],['r','x',[2]]]}\n"
			  "{'id':'c','ops':[['inc','n',1,5],['r','n',5],['r','n',6]]}\n{'id':'d','ops':[['add','s',1],['r','s',[2]]]}\n{'id':'e','ops':[['append','x',7]]}";
/* u, which saw two numbers, took no effect; b's delete found what b itself had made. */
static const char found_own[] = "{'id':'u','status':'unknown','ops':[['r','n',0],['r','n',-1],['inc','n',-1]]}\n{'id':'b','ops':[['inc','n',2],['d','n',true]]}";
static const char numbers[] = "{'id':'a','ops':[['inc','n',4]]}\n{'id':'b','ops':[['inc','n',6]]}\n{'id':'c','ops':[['r','n',5]]}\n{'id':'d','ops':[['r','n',10]]}";

/* Both a and b saw the empty list; an unknown reader would say which of them came first. */
static const char unknown_reader[] = "{'id':'a','ops':[['r','x',[]],['append','x',1]]}\n{'id':'b','ops':[['r','x',[]],['append','x',2]]}\n"
				     "{'id':'u','status':'unknown','ops':[['r','x',[1,2]]]}";
#define A_LOST CYCLE(RW("a", "b", "x", "0", "null") "," WW("b", "a", "x"))
#define B_LOST CYCLE(RW("b", "a", "x", "0", "null") "," WW("a", "b", "x"))

/* a and b were each shown their own increment alone; r saw both. */
static const char alone[] = "{'id':'a','ops':[['inc','n',1,1]]}\n{'id':'b','ops':[['inc','n',2],['r','n',2]]}\n{'id':'r','ops':[['r','n',3]]}";
static const char unread[] = "{'id':'a','ops':[['inc','n',1,1]]}\n{'id':'b','ops':[['inc','n',2],['r','n',2]]}";
#define COMMITS(list, sources) "'verdict':'satisfied','commits':[" list "],'sources':[" sources "]"
#define SNAPSHOTS(list) "'verdict':'satisfied','snapshots':[" list "]"
#define ALONE_IF(x, y) CYCLE(RW_OF(x, y, "n", "0", "null", "'" y "'") "," WW(y, x, "n"))
#define B_ALONE CYCLE(RW_OF("b", "a", "n", "1", "null", "'a'") "," WW("a", "b", "n"))
#define A_AS_NUMBER CYCLE(RW("a", "b", "n", "0", "null") "," WW("b", "a", "n"))
#define B_AS_NUMBER CYCLE(RW("b", "a", "n", "1", "null") "," WW("a", "b", "n"))
/* r saw 1, so whoever came first; and before that what the other one wrote. */
static const char one_missed[] = "{'id':'a','ops':[['inc','n',1,1],['w','x',1]]}\n{'id':'b','ops':[['inc','n',1,1],['w','y',1]]}\n"
				 "{'id':'r','ops':[['r','x',1],['r','y',1],['r','n',1]]}";
static const char twice[] = "{'id':'a','ops':[['add','s',1]]}\n{'id':'b','ops':[['add','s',1],['r','s',[1,1]]]}\n{'id':'c','ops':[['r','s',[1]]]}";

/* b and what is behind it come before a in the order given; c shows a before b. Their list was deleted, so that it tells of neighbours alone. */
static const char given_round[] = "{'id':'a','ops':[['append','x',1]]}\n{'id':'b','ops':[['append','x',2]]}\n{'id':'d','ops':[['d','x']]}\n"
				  "{'id':'c','ops':[['append','x',3],['r','x',[1,2,3]]]}\n{'version_order':'x','writers':['b','c','d','a']}";

static const struct verify_row rows[] = {
	{"shown an older version: read committed allows it", alone, NONE, .level = "pl-2", .claim = COMMITS("'a','b','r'", "")},
	{"shown an older version: so does prefix consistency", alone, NONE, .level = "pc", .claim = SNAPSHOTS("'a','b','a','b','r','r'")},
	{"shown an older version: a lost update", alone, NONE, .level = "pl-cs", .claim = COMMITS("'a','b','r'", ""),
		BAD("in this world there is a cycle that pl-cs forbids: b saw a version older than that of a")},
	{"what was shown is not what was left", one_missed, NONE, .level = "cc", .claim = COMMITS("'a','b','r'", ""),
		BAD("in this world there is a cycle that cc forbids: r saw a version older than that of b")},
	{"nor in the other order", one_missed, NONE, .level = "cc", .claim = COMMITS("'b','a','r'", ""),
		BAD("in this world there is a cycle that cc forbids: r saw a version older than that of a")},
	{"read committed allows a version without the second one", one_missed, NONE, .level = "pl-2", .claim = COMMITS("'b','a','r'", "")},
	{"a lost update by parts", alone, NONE, .level = "si", .claim = CYCLES(ALONE_IF("a", "b") "," B_ALONE)},
	{"a lost update, as numbers", alone, NONE, .level = "si", .claim = CYCLES(A_AS_NUMBER "," B_AS_NUMBER)},
	{"one of its cases is left", unread, NONE, .level = "si", .claim = CYCLES(B_AS_NUMBER), BAD("the cases are not exhausted...")},
	{"no refutation where it is allowed", alone, NONE, .level = "cc", .claim = CYCLES(ALONE_IF("a", "b") "," B_ALONE), BAD("cycle 1 is not one that cc...")},
	{"a number that additions give is no garbage", alone, NONE, .level = "si", .claim = ANOMALY("garbage read", "r", "0", "n"),
		BAD("operation 0 of r is no garbage read of n")},
	{"a set that shows an element twice", twice, NONE, .level = "pl-2", .claim = ANOMALY("duplicate element", "b", "1", "s")},
	{"a set that was added to twice", twice, NONE, .level = "pl-2", .claim = ANOMALY("duplicate element", "c", "0", "s"),
		BAD("operation 0 of c is no duplicate element of s")},
	{"an order given that goes round with a list", given_round, NONE, .level = "pl-2", .claim = CYCLES(CYCLE(WW("a", "d", "x") "," WW("d", "a", "x")))},
	{"a list's last element is its source, and what it does not show comes later", lists, NONE, .claim = CYCLES(B_LATER)},
	{"an order that a list shows", lists, NONE, .claim = CYCLES(CYCLE(WW("b", "a", "x") "," WW("a", "b", "x"))),
		BAD("the cases are not exhausted: no cycle follows from the history")},
	{"a list by another than its last element's writer", lists, NONE, .claim = CYCLES(CYCLE(WR("a", "d", "x", "0") "," WW("d", "a", "x"))),
		BAD("cycle 1, edge 1: a -wr-> d: operation 0 of d cannot have seen x by a")},
	{"an order that only an unknown reader shows", unknown_reader, NONE, .level = "si", .claim = CYCLES(A_LOST "," B_LOST)},
	{"the reader may not have taken effect", unknown_reader, NONE, .level = "si", .claim = CYCLES(B_LOST),
		BAD("the cases are not exhausted: left is one where b comes before a as writer of x")},
	{"a sum that only one choice gives", sums, NONE, .claim = CYCLES(B_ONLY)},
	{"a sum that two choices give", either, NONE, .claim = CYCLES(B_ONLY), BAD("the cases are not exhausted: left is one where operation 0 of r saw n by a")},
	{"a sum without the own increment", own_sum, NONE,
		.claim = CYCLES(CYCLE(WR_OF("b", "r", "n", "1", "'b'") "," RW_OF("r", "a", "n", "1", "null", "'a'") "," WR("a", "b", "y", "1")))},
	{"a part seen, causal: no other version than its own fits", sums, NONE, .level = "cc", .claim = CYCLES(B_ONLY)},
	{"a part seen, causal: the version seen may be another one", own_element, NONE, .level = "cc", .claim = CYCLES(ONE_WITHOUT_TWO), .expected = KR_UNSUPPORTED,
		.message = "which version of a key was seen, of which parts were, where ww does not count"},
	{"the same, parallel SI: ww leads to it", own_element, NONE, .level = "psi", .claim = CYCLES(ONE_WITHOUT_TWO)},
	{"a part seen, parallel SI: ww leads to the version seen", sums, NONE, .level = "psi", .claim = CYCLES(B_ONLY)},
	{"a part that is not named", sums, NONE, .claim = CYCLES(CYCLE(WR("b", "r", "n", "0") "," WW("r", "b", "n"))),
		BAD("cycle 1, edge 2: r -ww-> b: r does not write n")},
	{"elements of a set", sets, NONE, .claim = CYCLES(ELEMENTS)},
	{"an element that was shown, as not seen", sets, NONE, .claim = CYCLES(CYCLE(RW_OF("r", "b", "s", "0", "null", "2") "," WR_OF("b", "r", "s", "0", "2"))),
		BAD("cycle 1, edge 1: r -rw-> b: operation 0 of r cannot have seen s by the initial version")},
	{"a writer that does not touch the element", sets, NONE, .claim = CYCLES(CYCLE(RW_OF("r", "b", "s", "0", "null", "1") "," WR_OF("b", "r", "s", "0", "2"))),
		BAD("cycle 1, edge 1: r -rw-> b: b does not touch that part of s")},

	{"a set that no scan can match", failed_by_all, NONE, .claim = ANOMALY("aborted read", "a", "0", "x"), BAD("operation 0 of a is no aborted read of x")},
	{"an unknown transaction that no initial value explains", begun_empty, NONE, .claim = ANOMALY("aborted read", "b", "1", "x"), .expected = KR_UNSUPPORTED,
		.message = "what was seen of x, whose initial value is not told"},
	{"nor is it in an incompatible order", failed_by_all, NONE, .claim = ANOMALY("incompatible order", "a", "0", "x"),
		BAD("operation 0 of a is no incompatible order of x")},
	{"a list that is torn", torn, NONE, .claim = ANOMALY("incompatible order", "c", "0", "x")},
	{"a list that ends within a transaction", torn, NONE, .claim = ANOMALY("intermediate read", "d", "0", "x")},
	{"a list that ends with a transaction", torn, NONE, .claim = ANOMALY("intermediate read", "f", "0", "x"),
		BAD("operation 0 of f is no intermediate read of x")},
	{"two lists, neither a prefix", torn, NONE, .claim = ANOMALY("incompatible order", "e", "0", "x")},
	{"an element twice", torn, NONE, .claim = ANOMALY("duplicate element", "g", "0", "x")},
	{"an element once", torn, NONE, .claim = ANOMALY("duplicate element", "e", "0", "x"), BAD("operation 0 of e is no duplicate element of x")},
	{"an aborted append", unseen, NONE, .claim = ANOMALY("aborted read", "b", "0", "x")},
	{"an aborted add", unseen, NONE, .claim = ANOMALY("aborted read", "b", "1", "s")},
	{"an aborted append is no garbage", unseen, NONE, .claim = ANOMALY("garbage read", "b", "0", "x"), BAD("operation 0 of b is no garbage read of x")},
	{"an own later append", unseen, NONE, .claim = ANOMALY("future read", "c", "0", "x")},
	{"nobody's element", unseen, NONE, .claim = ANOMALY("garbage read", "d", "0", "x")},
	{"an own append that is not shown", own, NONE, .claim = ANOMALY("internal inconsistency", "a", "1", "x")},
	{"an own append that is shown", own, NONE, .claim = ANOMALY("internal inconsistency", "b", "1", "x"), BAD("operation 1 of b shows x as it had left it")},
	{"other elements than before", own, NONE, .claim = ANOMALY("internal inconsistency", "b", "2", "x")},
	{"a counter as it was", own, NONE, .claim = ANOMALY("internal inconsistency", "c", "1", "n"), BAD("operation 1 of c shows n as it had left it")},
	{"a counter that changed", own, NONE, .claim = ANOMALY("internal inconsistency", "c", "2", "n")},
	{"an own element that is missing", own, NONE, .claim = ANOMALY("internal inconsistency", "d", "1", "s")},
	{"a delete that found an own increment", found_own, NONE, .claim = ANOMALY("aborted read", "b", "1", "n"), BAD("operation 1 of b is no aborted read of n")},
	{"a number that no increments give", numbers, NONE, .claim = ANOMALY("garbage read", "c", "0", "n")},
	{"a number that both give", numbers, NONE, .claim = ANOMALY("garbage read", "d", "0", "n"), BAD("operation 0 of d is no garbage read of n")},
};

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(rows)];

	VERIFY_TESTS(rows, tests);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
