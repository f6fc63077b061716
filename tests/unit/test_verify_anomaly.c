/* verify/anomaly and verify/possible: a non-cyclic anomaly is accepted when the history has it, by the name that it has, and not otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verify_rows.h"

#define ANOMALY(name, txn, op, key) "'verdict':'violated','anomaly':{'name':'" name "','txn':'" txn "','op':" op ",'key':'" key "'}"
#define NONE .order = "none"
#define BAD(text) .expected = KR_BAD, .message = text

static const char aborted[] = "{'id':'a','status':'aborted','ops':[['w','x',1],['w','x',2]]}\n{'id':'b','ops':[['r','x',1],['r','x',2],['r','y',9]]}\n"
			      "{'id':'u','status':'unknown','ops':[['w','x',3]]}\n{'id':'c','ops':[['r','x',3]]}";
static const char rewritten[] = "{'id':'a','status':'aborted','ops':[['w','x',1]]}\n{'id':'b','ops':[['r','x',1]]}\n{'id':'c','ops':[['w','x',1]]}";
static const char declared[] = "{'krait':1,'initial':{'x':1}}\n{'id':'a','status':'aborted','ops':[['w','x',1]]}\n{'id':'b','ops':[['r','x',1],['r','y',null]]}\n"
			       "{'id':'c','ops':[['r','x',null],['r','x',2]]}";
static const char intermediate[] = "{'id':'a','ops':[['w','x',1],['w','x',2],['w','y',1],['d','y'],['w','y',1]]}\n{'id':'b','ops':[['r','x',1],['r','y',1],['r','y',null]]}";
static const char deleted[] = "{'krait':1,'initial':{'x':1}}\n{'id':'a','ops':[['d','x'],['w','x',2]]}\n{'id':'b','ops':[['r','x',null]]}";
static const char future[] = "{'id':'a','ops':[['r','x',1],['w','x',1],['r','x',1],['r','y',1],['w','y',1]]}\n{'id':'b','ops':[['w','y',1]]}\n"
			     "{'id':'c','status':'aborted','ops':[['r','x',8]]}";
static const char internal[] = "{'id':'a','ops':[['r','x',5],['w','x',1],['r','x',2],['r','x',1],['d','x'],['r','x',1],['cas','x',null,3,false],['w','z',1],"
			       "['range',null,null,[['z',2]]],['range','x','zz',[]]]}\n{'id':'u','status':'unknown','ops':[['w','x',1],['r','x',2]]}";
static const char ranges[] = "{'id':'a','ops':[['w','b',1],['w','d',1],['range',null,'d',[['a',1]]],['range',null,null,[['a',1]],{'limit':1}],"
			     "['range',null,null,[['e',1]],{'limit':1,'reverse':true}],['range',null,null,[['a',1]],{'limit':2}],['range','d',null,[]]]}";
static const char conditional[] = "{'id':'a','ops':[['cas','x',5,6,true]]}\n{'id':'b','ops':[['insert','y',1,false]]}\n{'id':'c','ops':[['d','z',true]]}\n"
				  "{'id':'d','status':'aborted','ops':[['w','z',1]]}\n{'id':'e','ops':[['insert','v',1,false],['w','v',2]]}";

/* Unknown transactions that cannot have taken effect: what only they wrote was never there. */
static const char impossible[] = "{'id':'u','status':'unknown','ops':[['r','y',9],['w','x',1]]}\n{'id':'b','ops':[['r','x',1]]}";
static const char impossible_chain[] = "{'id':'w','status':'unknown','ops':[['r','v',1],['w','x',1]]}\n{'id':'v','status':'unknown','ops':[['r','u',1],['w','v',1]]}\n"
				       "{'id':'u','status':'unknown','ops':[['r','y',9],['w','u',1]]}\n{'id':'b','ops':[['r','x',1]]}";
static const char possible_chain[] = "{'id':'w','status':'unknown','ops':[['r','v',1],['w','x',1]]}\n{'id':'v','status':'unknown','ops':[['r','u',1],['w','v',1]]}\n"
				     "{'id':'u','status':'unknown','ops':[['r','y',9],['w','u',1]]}\n{'id':'b','ops':[['r','x',1]]}\n{'id':'c','ops':[['w','u',1]]}";
static const char impossible_self[] = "{'id':'u','status':'unknown','ops':[['w','y',1],['r','y',2],['w','x',1]]}\n{'id':'b','ops':[['r','x',1]]}";
static const char impossible_future[] = "{'id':'u','status':'unknown','ops':[['r','y',2],['w','y',2],['w','x',1]]}\n{'id':'b','ops':[['r','x',1]]}";
static const char impossible_insert[] = "{'id':'u','status':'unknown','ops':[['insert','y',2,false],['w','x',1]]}\n{'id':'b','ops':[['r','x',1]]}\n"
					"{'id':'v','status':'unknown','ops':[['r','q',4],['w','y',1]]}";
/* v, which might explain what u saw, turns out impossible after u was looked at. */
static const char impossible_own[] = "{'id':'u','status':'unknown','ops':[['r','y',1],['w','y',1],['w','x',1]]}\n{'id':'v','status':'unknown','ops':[['r','q',9],['w','y',1]]}\n"
				     "{'id':'b','ops':[['r','x',1]]}";
/* u, impossible, wrote x twice; but c wrote it, too. */
static const char possible_other[] = "{'id':'u','status':'unknown','ops':[['w','x',1],['r','q',9],['w','x',1]]}\n{'id':'r','status':'unknown','ops':[['r','x',1],['w','z',1]]}\n"
				     "{'id':'c','ops':[['w','x',1]]}\n{'id':'b','ops':[['r','z',1]]}";
static const char possible_circle[] = "{'id':'u','status':'unknown','ops':[['r','y',1],['w','x',1]]}\n{'id':'v','status':'unknown','ops':[['r','x',1],['w','y',1]]}\n"
				      "{'id':'b','ops':[['r','x',1]]}";

/* Untold initial values: any one value, but one. */
static const char untold[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',7],['r','y',7],['r','z',1]]}\n{'id':'b','ops':[['r','x',8]]}\n"
			     "{'id':'c','status':'aborted','ops':[['w','z',1],['w','y',8]]}\n{'id':'d','ops':[['r','y',8],['r','x',7]]}\n"
			     "{'id':'e','ops':[['w','w',1],['w','w',2]]}\n{'id':'f','ops':[['r','w',1]]}";
static const char untold_impossible[] = "{'krait':1,'initial':'unknown'}\n{'id':'u','status':'unknown','ops':[['r','x',8],['w','y',1]]}\n{'id':'a','ops':[['r','x',7]]}\n"
					"{'id':'b','ops':[['r','y',1]]}\n{'id':'c','ops':[['r','y',2]]}";
/* x is 7 at first, since u, the only one that wrote 7, is impossible; so v, which saw 8, is impossible, too. */
static const char untold_chain[] = "{'krait':1,'initial':'unknown'}\n{'id':'u','status':'unknown','ops':[['w','x',7],['r','x',6]]}\n{'id':'a','ops':[['r','x',7]]}\n"
				   "{'id':'v','status':'unknown','ops':[['r','x',8],['w','y',1]]}\n{'id':'b','ops':[['r','y',1],['r','y',2]]}";
/* ... or is not, by an operation that says so. */
static const char untold_denied[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['cas','x',5,6,false]]}\n{'id':'b','ops':[['r','x',5],['r','y',1]]}\n"
				    "{'id':'u','status':'unknown','ops':[['r','x',5],['w','y',1]]}\n{'id':'c','ops':[['r','y',2]]}";
static const char lists[] = "{'id':'a','ops':[['append','x',1]]}\n{'id':'b','ops':[['r','x',[2]]]}";

static const struct verify_row rows[] = {
	{"aborted read", aborted, NONE, .claim = ANOMALY("aborted read", "b", "0", "x")},
	{"aborted read of a last write", aborted, NONE, .claim = ANOMALY("aborted read", "b", "1", "x")},
	{"aborted read of what nobody wrote", aborted, NONE, .claim = ANOMALY("aborted read", "b", "2", "y"),
		BAD("operation 2 of b is no aborted read of y: what it saw was never written")},
	{"aborted read of what may have taken effect", aborted, NONE, .claim = ANOMALY("aborted read", "c", "0", "x"),
		BAD("operation 0 of c can have seen x by u")},
	{"aborted read of what another one wrote, too", rewritten, NONE, .claim = ANOMALY("aborted read", "b", "0", "x"),
		BAD("operation 0 of b can have seen x by c")},
	{"aborted read of an initial value", declared, NONE, .claim = ANOMALY("aborted read", "b", "0", "x"),
		BAD("operation 0 of b can have seen x by the initial version")},
	{"an operation that saw another key", aborted, NONE, .claim = ANOMALY("aborted read", "b", "0", "y"), BAD("operation 0 of b saw nothing of y")},
	{"an operation of an aborted transaction", aborted, NONE, .claim = ANOMALY("garbage read", "a", "0", "x"), BAD("a is not known to have committed")},
	{"an operation of an unknown transaction", internal, NONE, .claim = ANOMALY("internal inconsistency", "u", "1", "x"),
		BAD("u is not known to have committed")},
	{"aborted read called garbage", aborted, NONE, .claim = ANOMALY("garbage read", "b", "0", "x"),
		BAD("operation 0 of b is no garbage read of x: what it saw was written by an aborted transaction")},

	{"garbage read", aborted, NONE, .claim = ANOMALY("garbage read", "b", "2", "y")},
	{"garbage read of absence", declared, NONE, .claim = ANOMALY("garbage read", "c", "0", "x")},
	{"garbage read beside a declared value", declared, NONE, .claim = ANOMALY("garbage read", "c", "1", "x")},
	{"garbage read of initial absence", declared, NONE, .claim = ANOMALY("garbage read", "b", "1", "y"),
		BAD("operation 1 of b can have seen y by the initial version")},

	{"intermediate read", intermediate, NONE, .claim = ANOMALY("intermediate read", "b", "0", "x")},
	{"intermediate read of what was written again", intermediate, NONE, .claim = ANOMALY("intermediate read", "b", "1", "y"),
		BAD("operation 1 of b can have seen y by a")},
	{"intermediate read of initial absence", intermediate, NONE, .claim = ANOMALY("intermediate read", "b", "2", "y"),
		BAD("operation 2 of b can have seen y by the initial version")},
	{"intermediate read of a delete", deleted, NONE, .claim = ANOMALY("intermediate read", "b", "0", "x")},
	{"intermediate read called aborted", intermediate, NONE, .claim = ANOMALY("aborted read", "b", "0", "x"),
		BAD("operation 0 of b is no aborted read of x: what it saw was an intermediate version")},

	{"future read", future, NONE, .claim = ANOMALY("future read", "a", "0", "x")},
	{"future read of the past", future, NONE, .claim = ANOMALY("future read", "a", "2", "x"), BAD("at operation 2 a had written x itself")},
	{"future read of what another one wrote, too", future, NONE, .claim = ANOMALY("future read", "a", "3", "y"), BAD("operation 3 of a can have seen y by b")},
	{"future read called intermediate", future, NONE, .claim = ANOMALY("intermediate read", "a", "0", "x"),
		BAD("operation 0 of a is no intermediate read of x: what it saw was written later by itself")},

	{"internal inconsistency", internal, NONE, .claim = ANOMALY("internal inconsistency", "a", "2", "x")},
	{"internal consistency", internal, NONE, .claim = ANOMALY("internal inconsistency", "a", "3", "x"), BAD("operation 3 of a shows x as it had left it")},
	{"internal inconsistency after a delete", internal, NONE, .claim = ANOMALY("internal inconsistency", "a", "5", "x")},
	{"internal inconsistency of a failed cas", internal, NONE, .claim = ANOMALY("internal inconsistency", "a", "6", "x")},
	{"internal inconsistency of a range's value", internal, NONE, .claim = ANOMALY("internal inconsistency", "a", "8", "z")},
	{"internal consistency of a range with a delete", internal, NONE, .claim = ANOMALY("internal inconsistency", "a", "8", "x"),
		BAD("operation 8 of a shows x as it had left it")},
	{"internal inconsistency of what a range misses", internal, NONE, .claim = ANOMALY("internal inconsistency", "a", "9", "z")},
	{"what lies beyond the high bound of a range", ranges, NONE, .claim = ANOMALY("internal inconsistency", "a", "2", "d"),
		BAD("operation 2 of a saw nothing of d")},
	{"what lies below the low bound of a range", ranges, NONE, .claim = ANOMALY("internal inconsistency", "a", "6", "b"),
		BAD("operation 6 of a saw nothing of b")},
	{"what lies at the low bound of a range", ranges, NONE, .claim = ANOMALY("internal inconsistency", "a", "6", "d")},
	{"what lies between the bounds of a range", ranges, NONE, .claim = ANOMALY("internal inconsistency", "a", "2", "b")},
	{"what lies beyond the limit of a range", ranges, NONE, .claim = ANOMALY("internal inconsistency", "a", "3", "b"),
		BAD("operation 3 of a saw nothing of b")},
	{"what lies beyond the limit of a range downwards", ranges, NONE, .claim = ANOMALY("internal inconsistency", "a", "4", "d"),
		BAD("operation 4 of a saw nothing of d")},
	{"what lies within the limit of a range", ranges, NONE, .claim = ANOMALY("internal inconsistency", "a", "5", "b")},
	{"internal inconsistency before the first write", internal, NONE, .claim = ANOMALY("internal inconsistency", "a", "0", "x"),
		BAD("a had not written x before operation 0")},

	{"cas of what was never there", conditional, NONE, .claim = ANOMALY("garbage read", "a", "0", "x")},
	{"insert that failed over nothing", conditional, NONE, .claim = ANOMALY("garbage read", "b", "0", "y")},
	{"delete of what an aborted one wrote", conditional, NONE, .claim = ANOMALY("aborted read", "c", "0", "z")},
	{"insert that failed over a later own write", conditional, NONE, .claim = ANOMALY("future read", "e", "0", "v")},

	{"read from an impossible one", impossible, NONE, .claim = ANOMALY("aborted read", "b", "0", "x")},
	{"read from one that read from an impossible one", impossible_chain, NONE, .claim = ANOMALY("aborted read", "b", "0", "x")},
	{"the same with another explanation", possible_chain, NONE, .claim = ANOMALY("aborted read", "b", "0", "x"), BAD("operation 0 of b can have seen x by w")},
	{"read from one that is inconsistent", impossible_self, NONE, .claim = ANOMALY("aborted read", "b", "0", "x")},
	{"read from one that read its own future", impossible_future, NONE, .claim = ANOMALY("aborted read", "b", "0", "x")},
	{"read from one whose insert failed over nothing", impossible_insert, NONE, .claim = ANOMALY("aborted read", "b", "0", "x")},
	{"read from one that only its own write would explain", impossible_own, NONE, .claim = ANOMALY("aborted read", "b", "0", "x")},
	{"read from one that read from the other one of two", possible_other, NONE, .claim = ANOMALY("aborted read", "b", "0", "z"),
		BAD("operation 0 of b can have seen z by r")},
	{"read from one of two that need each other", possible_circle, NONE, .claim = ANOMALY("aborted read", "b", "0", "x"),
		BAD("operation 0 of b can have seen x by u")},

	{"two untold initial values", untold, NONE, .claim = ANOMALY("garbage read", "b", "0", "x")},
	{"the other one of two untold initial values", untold, NONE, .claim = ANOMALY("garbage read", "d", "1", "x")},
	{"an untold initial value that an aborted one wrote, too", untold, NONE, .claim = ANOMALY("aborted read", "a", "2", "z"),
		BAD("operation 2 of a can have seen z by the initial version")},
	{"an untold initial value that is another one", untold, NONE, .claim = ANOMALY("aborted read", "d", "0", "y")},
	{"an untold initial value that is an intermediate one, too", untold, NONE, .claim = ANOMALY("intermediate read", "f", "0", "w"),
		BAD("operation 0 of f can have seen w by the initial version")},
	{"an unknown one that saw another initial value", untold_impossible, NONE, .claim = ANOMALY("aborted read", "b", "0", "y")},
	{"an initial value told by an impossible one", untold_chain, NONE, .claim = ANOMALY("aborted read", "b", "0", "y")},

	{"an untold initial value that was denied", untold_denied, NONE, .claim = ANOMALY("garbage read", "b", "0", "x")},
	{"denying an untold initial value that was seen", untold_denied, NONE, .claim = ANOMALY("garbage read", "a", "0", "x")},
	{"an unknown one that saw a denied initial value", untold_denied, NONE, .claim = ANOMALY("aborted read", "b", "1", "y")},

	{"a list", lists, NONE, .claim = ANOMALY("garbage read", "b", "0", "x")},
	{"no duplicate", lists, NONE, .claim = ANOMALY("duplicate element", "b", "0", "x"), .expected = KR_BAD,
		.message = "operation 0 of b is no duplicate element of x"},
};

int main(void)
{
	static struct CMUnitTest tests[KR_COUNT(rows)];

	VERIFY_TESTS(rows, tests);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
