/* verify/possible*, verify/own: unknown transactions that cannot have taken effect, by what they saw of any kind of key. In each trace but the last of a kind, only u left what b saw, and u cannot have taken effect:
 * so nobody did. Then orders that reads of lists and sets show, and what an anomaly of a key's presence is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verify_rows.h"

#define ANOMALY(name, txn, op, key) "'verdict':'violated','anomaly':{'name':'" name "','txn':'" txn "','op':" op ",'key':'" key "'}"
#define ABORTED .order = "none", .claim = ANOMALY("aborted read", "b", "0", "x")
#define BAD(text) .expected = KR_BAD, .message = text
#define SEEN BAD("operation 0 of b can have seen x by u")
#define U "{'id':'u','status':'unknown','ops':["
#define B "]}\n{'id':'b','ops':[['r','x',1]]}"
#define WW(from, to, key) "{'from':'" from "','to':'" to "','kind':'ww','key':'" key "'}"
#define CYCLE(edges) .order = "none", .claim = "'verdict':'violated','cycles':[[" edges "]]"
#define NO_CASES "the cases are not exhausted: no cycle follows from the history"

static const char given_against_list[] =
	"{'id':'a','ops':[['append','x',1]]}\n{'id':'b','ops':[['append','x',2]]}\n{'id':'r','ops':[['append','x',7],['r','x',[1,2,7]]]}\n"
	"{'version_order':'x','writers':['b','a']}";
/* Two appended 2 to x, and the list has only 1: c's version comes first. y's has 2, which either of a and b may have appended before c's 1. */
static const char equal_missing[] = "{'id':'a','ops':[['append','x',2]]}\n{'id':'b','ops':[['append','x',2]]}\n{'id':'c','ops':[['append','x',1]]}\n"
				    "{'id':'r','ops':[['r','x',[1]]]}\n{'version_order':'x','writers':['a','c']}";
static const char equal_shown[] = "{'id':'a','ops':[['append','y',2]]}\n{'id':'b','ops':[['append','y',2]]}\n{'id':'c','ops':[['append','y',1]]}\n"
				  "{'id':'r','ops':[['r','y',[2,1]]]}\n{'version_order':'y','writers':['c','a']}";
static const char given_with_list[] =
	"{'id':'a','ops':[['append','x',1]]}\n{'id':'b','ops':[['append','x',2]]}\n{'id':'r','ops':[['append','x',7],['r','x',[1,2,7]]]}\n"
	"{'version_order':'x','writers':['a','b']}";
/* r1 saw 1 and not 2: a's version comes first. r2's set, which has both, does not tell. */
static const char set_order[] =
	"{'id':'a','ops':[['add','x',1]]}\n{'id':'b','ops':[['add','x',2]]}\n{'id':'r1','ops':[['r','x',[1]]]}\n{'id':'r2','ops':[['r','x',[1,2]]]}\n"
	"{'version_order':'x','writers':['b','a']}";
static const char set_no_order[] = "{'id':'a','ops':[['add','x',1]]}\n{'id':'b','ops':[['add','x',2]]}\n{'id':'r2','ops':[['r','x',[1,2]]]}\n"
				   "{'version_order':'x','writers':['b','a']}";
/* With a delete, 2 may have been there and gone. */
static const char set_deleted[] =
	"{'id':'a','ops':[['add','x',1]]}\n{'id':'b','ops':[['add','x',2]]}\n{'id':'c','ops':[['d','x']]}\n{'id':'r1','ops':[['r','x',[1]]]}\n"
	"{'version_order':'x','writers':['b','a']}";
static const char presence[] = "{'krait':1,'initial':{'y':[9]}}\n{'id':'b','ops':[['d','x',true],['add','x',1]]}\n{'id':'c','ops':[['d','y',false]]}\n"
			       "{'id':'e','status':'aborted','ops':[['d','y',true]]}\n{'id':'f','ops':[['append','y',4]]}\n{'id':'g','ops':[['d','z',true]]}\n{"
			       "'id':'h','ops':[['add','z',4]]}";
static const char no_delete[] = "{'id':'b','ops':[['range',null,null,[['x',[2]]]]]}\n{'id':'a','ops':[['append','x',1],['d','x',false],['append','x',2]]}";
static const char untold[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['scan',{},[]]]}\n{'id':'b','ops':[['r','x',9]]}";
static const char untold_rows[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['scan',{},[['x',1]]]]}\n{'id':'b','ops':[['scan',{'value':{'gt':1}},[]],["
				  "'update',{'value':{'gt':1}},{'set':5},[['x',5]]]]}";

static const struct verify_row rows[] = {
	{"a range that misses its own write", U "['w','x',1],['range',null,null,[]]" B, ABORTED},
	{"an update that misses its own write", U "['w','x',1],['update',{},{'set':2},[]]" B, ABORTED},
	{"an update that shows its own write", U "['w','x',1],['scan',{'value':{'lt':3}},[['x',1]]]" B, ABORTED, SEEN},
	{"a scan that shows what its conditions do not take", U "['w','x',1],['scan',{'value':{'gt':1}},[['x',1]]]" B, ABORTED},
	{"a row that the name does not fit", U "['scan',{'key_prefix':'y'},[['x',2]]],['w','x',1]" B "\n{'id':'c','ops':[['w','x',2]]}", ABORTED},
	{"a row twice", U "['scan',{},[['y',2],['y',2]]],['w','x',1]" B "\n{'id':'c','ops':[['w','y',2]]}", ABORTED},
	{"rows out of order", U "['range',null,null,[['z',2],['y',2]]],['w','x',1]" B "\n{'id':'c','ops':[['w','y',2],['w','z',2]]}", ABORTED},
	{"an update of what was never there", U "['update',{},{'set':1},[['x',1]]]" B, ABORTED},
	{"an update of what somebody wrote", U "['update',{},{'set':1},[['x',1]]]" B "\n{'id':'c','ops':[['w','x',3]]}", ABORTED, SEEN},
	{"a key that it cannot have missed", "{'krait':1,'initial':{'y':3}}\n" U "['w','x',1],['scan',{'value':{'eq':3}},[]]" B, ABORTED},
	{"a key that somebody took away", "{'krait':1,'initial':{'y':3}}\n" U "['w','x',1],['scan',{'value':{'eq':3}},[]]" B "\n{'id':'c','ops':[['d','y']]}",
		ABORTED, SEEN},
	{"a key that only one without effect took away",
		"{'krait':1,'initial':{'y':3}}\n" U "['w','x',1],['scan',{'value':{'eq':3}},[]]" B
		"\n{'id':'v','status':'unknown','ops':[['d','y'],['r','q',1]]}",
		ABORTED},
	{"a list without its own element", U "['append','y',1],['r','y',[]],['w','x',1]" B, ABORTED},
	{"a list with nobody's element", U "['r','y',[3]],['w','x',1]" B "\n{'id':'c','ops':[['append','y',2]]}", ABORTED},
	{"a list out of its writer's order", U "['r','y',[3,2]],['w','x',1]" B "\n{'id':'c','ops':[['append','y',2],['append','y',3]]}", ABORTED},
	{"a list that ends within a transaction", U "['r','y',[2]],['w','x',1]" B "\n{'id':'c','ops':[['append','y',2],['append','y',3]]}", ABORTED},
	{"a list with an element twice", U "['r','y',[2,2]],['w','x',1]" B "\n{'id':'c','ops':[['append','y',2]]}", ABORTED},
	{"a list without the initial element", "{'krait':1,'initial':{'y':[9]}}\n" U "['r','y',[2]],['w','x',1]" B "\n{'id':'c','ops':[['append','y',2]]}",
		ABORTED},
	{"a list with its own later element", U "['r','y',[2]],['append','y',2],['w','x',1]" B, ABORTED},
	{"a list with an element of one without effect",
		U "['r','y',[2,3]],['w','x',1]" B "\n{'id':'c','ops':[['append','y',3]]}\n{'id':'v','status':'unknown','ops':[['append','y',2],['r','q',1]]}",
		ABORTED},
	{"a list unlike a committed one",
		U "['r','y',[2]],['w','x',1]" B "\n{'id':'c','ops':[['append','y',2]]}\n{'id':'d','ops':[['append','y',3]]}\n{'id':'e','ops':[['r','y',[3]]]}",
		ABORTED},
	{"a list that goes on where a committed one ends",
		U "['r','y',[3,2]],['w','x',1]" B
		  "\n{'id':'c','ops':[['append','y',2]]}\n{'id':'d','ops':[['append','y',3]]}\n{'id':'e','ops':[['r','y',[3]]]}",
		ABORTED, SEEN},
	{"a list with equal elements may be anything",
		U "['r','y',[2,2]],['w','x',1]" B "\n{'id':'c','ops':[['append','y',2]]}\n{'id':'d','ops':[['append','y',2]]}", ABORTED, SEEN},
	{"a set with nobody's element", U "['r','y',[3]],['w','x',1]" B "\n{'id':'c','ops':[['add','y',2]]}", ABORTED},
	{"a set without its own element", U "['add','y',1],['range',null,null,[]],['w','x',1]" B, ABORTED},
	{"a set with no more than its own element", U "['add','y',1],['r','y',[1]],['w','x',1]" B, ABORTED, SEEN},
	{"half of what one transaction added", U "['r','y',[2]],['w','x',1]" B "\n{'id':'c','ops':[['add','y',2],['add','y',3]]}", ABORTED},
	{"half of it, where another one adds the rest, too",
		U "['r','y',[2]],['w','x',1]" B "\n{'id':'c','ops':[['add','y',2]]}\n{'id':'d','ops':[['add','y',3]]}", ABORTED, SEEN},
	{"half of it, and a delete",
		U "['r','y',[2]],['w','x',1]" B "\n{'id':'c','ops':[['add','y',2],['add','y',3]]}\n{'id':'d','ops':[['d','y'],['add','y',2]]}", ABORTED, SEEN},
	{"an element of one without effect", U "['r','y',[2]],['w','x',1]" B "\n{'id':'v','status':'unknown','ops':[['add','y',2],['r','q',1]]}", ABORTED},
	{"an initial element that nobody took away", "{'krait':1,'initial':{'y':[2]}}\n" U "['r','y',[]],['w','x',1]" B "\n{'id':'c','ops':[['add','y',2]]}",
		ABORTED},
	{"a counter that was told otherwise", U "['inc','y',1,4],['inc','y',1],['r','y',6],['w','x',1]" B, ABORTED},

	{"a given order against a list's", given_against_list, CYCLE(WW("a", "b", "x") "," WW("b", "a", "x"))},
	{"a given order against a list's that lacks what two appended", equal_missing, CYCLE(WW("a", "c", "x") "," WW("c", "a", "x"))},
	{"the same of what two appended and it has", equal_shown, CYCLE(WW("a", "c", "y") "," WW("c", "a", "y")), BAD(NO_CASES)},
	{"a given order that is the list's", given_with_list, CYCLE(WW("a", "b", "x") "," WW("b", "a", "x")), BAD(NO_CASES)},
	{"a given order against that of sets", set_order, CYCLE(WW("a", "b", "x") "," WW("b", "a", "x"))},
	{"sets that show no order", set_no_order, CYCLE(WW("a", "b", "x") "," WW("b", "a", "x")), BAD(NO_CASES)},
	{"sets with a delete", set_deleted, CYCLE(WW("a", "b", "x") "," WW("b", "a", "x")), BAD(NO_CASES)},
	{"sets at read uncommitted, where reads do not count", set_order, CYCLE(WW("a", "b", "x") "," WW("b", "a", "x")), BAD(NO_CASES), .level = "pl-1"},

	{"a delete that found what only itself added later", presence, .order = "none", .claim = ANOMALY("future read", "b", "0", "x")},
	{"a delete that found nothing where there was always something", presence, .order = "none", .claim = ANOMALY("aborted read", "c", "0", "y")},
	{"a delete that found what was there", presence, .order = "none", .claim = ANOMALY("garbage read", "g", "0", "z"),
		BAD("operation 0 of g can have seen z by h")},
	{"a list torn by a delete that found nothing", no_delete, .order = "none", .claim = ANOMALY("incompatible order", "b", "0", "x")},
	{"an untold value that a scan says is none", untold, .order = "none", .claim = ANOMALY("garbage read", "b", "0", "x")},
	{"an untold value, known by a row, that conditions do not take, as what the update wrote would be", untold_rows, .order = "none",
		.claim = ANOMALY("future read", "b", "1", "x")},
	{"the same that they are said not to take", untold_rows, .order = "none", .claim = ANOMALY("garbage read", "b", "0", "x"),
		BAD("operation 0 of b can have seen x by the initial version")},
};

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(rows)];

	VERIFY_TESTS(rows, tests);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
