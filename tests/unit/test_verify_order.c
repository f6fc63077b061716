/* verify/order and verify/replay: a serial order is accepted when it is one, and each way in which it is not one is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verify_rows.h"

#define SERIAL(ids) "'verdict':'satisfied','serial':[" ids "]"
#define COMMON .order = "none"
#define BAD(text) .expected = KR_BAD, .message = text

/* One transaction with these operations, replayed alone: what an operation must show after others of its own. */
#define ALONE(ops) "{'id':'a','ops':[" ops "]}"
#define FROM(initial, ops) "{'krait':1,'initial':" initial "}\n" ALONE(ops)

static const char two[] = "{'id':'a','ops':[['w','x',1]]}\n{'id':'b','ops':[['r','x',1]]}";
static const char outcomes[] = "{'id':'a','ops':[['w','x',1]]}\n{'id':'b','status':'unknown','ops':[['w','x',2]]}\n"
			       "{'id':'c','status':'aborted','ops':[['w','x',3]]}\n{'id':'d','ops':[['r','x',1]]}";
static const char session[] = "{'id':'a','s':1,'ops':[['w','x',1]]}\n{'id':'b','s':1,'ops':[['w','y',1]]}\n{'id':'c','s':2,'ops':[]}";
static const char unknown_first[] = "{'id':'a','s':1,'status':'unknown','ops':[['w','x',1]]}\n{'id':'b','s':1,'ops':[['w','y',1]]}";
static const char unknown_last[] = "{'id':'a','s':1,'ops':[['w','x',1]]}\n{'id':'b','s':1,'status':'unknown','ops':[['w','y',1]]}";
static const char times[] = "{'krait':1,'clock_skew':5}\n{'id':'a','begin':0,'end':10,'ops':[]}\n{'id':'b','begin':16,'end':20,'ops':[]}\n"
			    "{'id':'c','begin':15,'end':30,'ops':[]}";
static const char unknown_times[] = "{'id':'a','begin':0,'end':10,'status':'unknown','ops':[]}\n{'id':'b','begin':20,'end':30,'ops':[]}";
static const char unknown_later[] = "{'id':'a','begin':0,'end':10,'ops':[]}\n{'id':'b','begin':20,'end':30,'status':'unknown','ops':[]}";
static const char given[] = "{'id':'a','ops':[['w','x',1]]}\n{'id':'b','status':'unknown','ops':[['w','x',2]]}\n{'id':'c','ops':[['w','x',3]]}\n"
			    "{'version_order':'x','writers':['c','b','a']}";
static const char untold[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['r','x',7]]}\n{'id':'b','ops':[['r','x',8]]}\n{'id':'c','ops':[['w','x',8]]}";
static const char untold_not[] = "{'krait':1,'initial':'unknown'}\n{'id':'a','ops':[['cas','x',7,1,false]]}\n{'id':'b','ops':[['insert','x',1,false]]}\n"
				 "{'id':'c','ops':[['r','x',8]]}\n{'id':'d','ops':[['w','x',7]]}\n{'id':'e','ops':[['r','x',7]]}";

/* Updates of fields less than 1 in the value that y had at first, which nobody tells. */
#define UPDATED(rows) "['update',{'field':{'f':{'lt':1}}},{'set':2},[" rows "]]"
#define UNTOLD_FIELD(first, second) \
	"{'krait':1,'initial':'unknown','universe':['y']}\n{'id':'a','ops':[" first "]}\n{'id':'b','ops':[" second "]}"
static const char met_after_miss[] = UNTOLD_FIELD(UPDATED(""), UPDATED("['y',2]"));
static const char met_once[] = UNTOLD_FIELD("['scan',{'key_prefix':'q'},[]]", UPDATED("['y',2]"));
static const char missed_and_grown[] = UNTOLD_FIELD("['scan',{'field':{'f':{'ne':3}}},[]],['append','y',1]", "['r','y',[9,1]]");
static const char missed_twice[] = UNTOLD_FIELD(UPDATED(""), "['scan',{'field':{'f':{'gt':5}}},[]]");

static const struct verify_row rows[] = {
	/* members */
	{"an empty order of an empty trace", "", COMMON, .claim = SERIAL("")},
	{"the right order", two, COMMON, .claim = SERIAL("'a','b'")},
	{"the wrong order", two, COMMON, .claim = SERIAL("'b','a'"), BAD("operation 0 of b (r) saw that x is 1, but in the order it is null there")},
	{"one is missing", two, COMMON, .claim = SERIAL("'a'"), BAD("b committed, but is not in the order")},
	{"one is there twice", two, COMMON, .claim = SERIAL("'a','b','a'"), BAD("a is twice in the order")},
	{"without the unknown one", outcomes, COMMON, .claim = SERIAL("'a','d'")},
	{"with the unknown one", outcomes, COMMON, .claim = SERIAL("'b','a','d'")},
	{"with the unknown one where it is seen", outcomes, COMMON, .claim = SERIAL("'a','b','d'"),
		BAD("operation 0 of d (r) saw that x is 1, but in the order it is 2 there")},
	{"with an aborted one", outcomes, COMMON, .claim = SERIAL("'c','a','d'"), BAD("c is in the order, but was aborted")},

	/* orders */
	{"session order kept", session, .order = "session", .claim = SERIAL("'a','c','b'")},
	{"session order broken", session, .order = "session", .claim = SERIAL("'b','a','c'"),
		BAD("b comes after a in their session, but before it in the order")},
	{"session order not asked for", session, .order = "none", .claim = SERIAL("'b','a','c'")},
	{"nothing has to come after an unknown one", unknown_first, .order = "session", .claim = SERIAL("'b','a'")},
	{"an unknown one comes after its session", unknown_last, .order = "session", .claim = SERIAL("'b','a'"),
		BAD("b comes after a in their session, but before it in the order")},
	{"real time kept", times, .order = "realtime", .claim = SERIAL("'a','b','c'")},
	{"real time is no more than the skew", times, .order = "realtime", .claim = SERIAL("'c','a','b'")},
	{"real time broken", times, .order = "realtime", .claim = SERIAL("'c','b','a'"),
		BAD("a had returned before b was invoked, but comes after it in the order")},
	{"real time broken by one far ahead", times, .order = "realtime", .claim = SERIAL("'b','c','a'"),
		BAD("a had returned before b was invoked, but comes after it in the order")},
	{"real time not asked for", times, .order = "session", .claim = SERIAL("'b','c','a'")},
	{"an unknown one may take effect late", unknown_times, .order = "realtime", .claim = SERIAL("'b','a'")},
	{"an unknown one does not take effect early", unknown_later, .order = "realtime", .claim = SERIAL("'b','a'"),
		BAD("a had returned before b was invoked, but comes after it in the order")},
	{"real time includes session order", session, .order = "realtime", .claim = SERIAL("'b','a','c'"),
		BAD("b comes after a in their session, but before it in the order")},
	{"given version order kept", given, COMMON, .claim = SERIAL("'c','b','a'")},
	{"given version order over one left out", given, COMMON, .claim = SERIAL("'a','c'"),
		BAD("the trace has c before a as writers of x, the order has them the other way round")},
	{"given version order broken by an unknown one", given, COMMON, .claim = SERIAL("'b','c','a'"),
		BAD("the trace has c before b as writers of x, the order has them the other way round")},

	/* initial values */
	{"declared initial values", "{'krait':1,'initial':{'x':5}}\n" ALONE("['r','x',5],['r','y',null]"), COMMON, .claim = SERIAL("'a'")},
	{"another initial value", "{'krait':1,'initial':{'x':5}}\n" ALONE("['r','x',6]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 0 of a (r) saw that x is 6, but in the order it is 5 there")},
	{"an untold initial value is what is read first", untold, COMMON, .claim = SERIAL("'a','c','b'")},
	{"and stays that", untold, COMMON, .claim = SERIAL("'a','b','c'"), BAD("operation 0 of b (r) saw that x is 8, but in the order it is 7 there")},
	{"an untold initial value is not what it was seen not to be", untold_not, COMMON, .claim = SERIAL("'a','b','c','d','e'")},
	{"an untold initial value is what it was seen not to be", untold_not, COMMON, .claim = SERIAL("'a','b','e','c','d'"),
		BAD("operation 0 of e (r) saw that x is 7, but in the order it is its initial value there")},

	{"an untold initial value meets a condition", met_once, COMMON, .claim = SERIAL("'a','b'")},
	{"or fails some", missed_twice, COMMON, .claim = SERIAL("'a','b'")},
	{"but not both", met_after_miss, COMMON, .claim = SERIAL("'a','b'"), .expected = KR_UNSUPPORTED,
		.message = "what several conditions say of y, whose initial value is not told"},
	{"it may have failed one and have been grown from", missed_and_grown, COMMON, .claim = SERIAL("'a','b'"), .expected = KR_UNSUPPORTED,
		.message = "what was seen of y, whose initial value is not told"},
	{"it was met before it was overwritten", met_after_miss, COMMON, .claim = SERIAL("'b','a'")},

	/* registers */
	{"own writes are seen", ALONE("['w','x',1],['r','x',1],['d','x'],['r','x',null]"), COMMON, .claim = SERIAL("'a'")},
	{"a read without a result says nothing", ALONE("['w','x',1],['r','x']"), COMMON, .claim = SERIAL("'a'")},
	{"own write not seen", ALONE("['w','x',1],['r','x',2]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (r) saw that x is 2, but in the order it is 1 there")},
	{"delete finds", ALONE("['w','x',1],['d','x',true],['d','x',false],['r','x',null]"), COMMON, .claim = SERIAL("'a'")},
	{"delete finds nothing", ALONE("['d','x',true]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 0 of a (d) saw that x is not null, but in the order it is null there")},
	{"delete does not find what is there", ALONE("['w','x',1],['d','x',false]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (d) saw that x is null, but in the order it is 1 there")},
	{"insert", ALONE("['insert','x',1,true],['insert','x',2,false],['r','x',1]"), COMMON, .claim = SERIAL("'a'")},
	{"insert over something", ALONE("['w','x',1],['insert','x',2,true]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (insert) saw that x is null, but in the order it is 1 there")},
	{"insert fails over nothing", ALONE("['insert','x',2,false]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 0 of a (insert) saw that x is not null, but in the order it is null there")},
	{"cas", ALONE("['cas','x',null,1,true],['cas','x',2,3,false],['cas','x',1,2,true],['r','x',2]"), COMMON, .claim = SERIAL("'a'")},
	{"cas of another value", ALONE("['w','x',1],['cas','x',2,3,true]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (cas) saw that x is 2, but in the order it is 1 there")},
	{"cas fails though equal", ALONE("['w','x',1],['cas','x',1,3,false]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (cas) saw that x is not 1, but in the order it is 1 there")},
	{"integers and reals differ", ALONE("['w','x',1],['r','x',1.0]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (r) saw that x is 1.0, but in the order it is 1 there")},

	/* counters */
	{"inc", ALONE("['inc','x',5,5],['inc','x',-7],['r','x',-2],['inc','x',1,-1]"), COMMON, .claim = SERIAL("'a'")},
	{"inc of a declared value", FROM("{'x':40}", "['inc','x',2,42],['r','x',42]"), COMMON, .claim = SERIAL("'a'")},
	{"inc with another result", ALONE("['inc','x',5],['inc','x',1,7]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (inc) saw that x is 7, but in the order it is 6 there")},
	{"inc to the limit", ALONE("['inc','x',9223372036854775807],['r','x',9223372036854775807]"), COMMON, .claim = SERIAL("'a'")},
	{"inc beyond the limit", ALONE("['inc','x',9223372036854775807],['inc','x',1]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a takes x beyond 64 bits")},
	{"inc below the limit", ALONE("['inc','x',-9223372036854775807],['inc','x',-2]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a takes x beyond 64 bits")},
	{"inc of an untold value: any will do", FROM("'unknown'", "['inc','x',1]"), COMMON, .claim = SERIAL("'a'")},
	{"inc of an untold value that is then read", FROM("'unknown'", "['inc','x',1],['r','x',5]"), COMMON, .claim = SERIAL("'a'")},
	{"inc of an untold value that is read as two", FROM("'unknown'", "['r','x',3],['inc','x',1],['r','x',5]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 2 of a (r) saw that x is 5, but in the order it is 4 there")},
	{"inc of a value that was read", FROM("'unknown'", "['r','x',4],['inc','x',1,5]"), COMMON, .claim = SERIAL("'a'")},

	/* lists */
	{"append",
		ALONE("['r','x',null],['r','x',[]],['append','x',1],['append','x','b'],['append','x',[2,{'c':null}]],"
		      "['r','x',[1,'b',[2,{'c':null}]]]"),
		COMMON, .claim = SERIAL("'a'")},
	{"append to a declared list", FROM("{'x':[1]}", "['append','x',2],['r','x',[1,2]]"), COMMON, .claim = SERIAL("'a'")},
	{"append to a declared empty list", FROM("{'x':[]}", "['r','x',null],['append','x',2],['r','x',[2]]"), COMMON, .claim = SERIAL("'a'")},
	{"append after delete", ALONE("['append','x',1],['d','x',true],['append','x',2],['r','x',[2]]"), COMMON, .claim = SERIAL("'a'")},
	{"a list in another order", ALONE("['append','x',1],['append','x',2],['r','x',[2,1]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 2 of a (r) saw that x is [2,1], but in the order it is [1,2] there")},
	{"a list that is a prefix", ALONE("['append','x',1],['append','x',2],['r','x',[1]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 2 of a (r) saw that x is [1], but in the order it is [1,2] there")},
	{"a list that goes on", ALONE("['append','x',1],['r','x',[1,2]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (r) saw that x is [1,2], but in the order it is [1] there")},
	{"a list that is not empty", ALONE("['append','x',1],['r','x',[]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (r) saw that x is [], but in the order it is [1] there")},
	{"an untold list that was read", FROM("'unknown'", "['r','x',[7]],['append','x',1],['r','x',[7,1]]"), COMMON, .claim = SERIAL("'a'")},
	{"an untold list that was not", FROM("'unknown'", "['append','x',1]"), COMMON, .claim = SERIAL("'a'"), .expected = KR_UNSUPPORTED,
		.message = "the initial value of x, which is not a register, is not told"},

	/* sets */
	{"add", ALONE("['r','x',[]],['add','x',1],['add','x','b'],['add','x',1],['r','x',['b',1]],['r','x',[1,'b']]"), COMMON, .claim = SERIAL("'a'")},
	{"add to a declared set", FROM("{'x':[3,1]}", "['r','x',[1,3]],['add','x',2],['r','x',[1,2,3]]"), COMMON, .claim = SERIAL("'a'")},
	{"a declared empty set", FROM("{'x':[]}", "['r','x',null],['r','x',[]],['add','x',2],['r','x',[2]]"), COMMON, .claim = SERIAL("'a'")},
	{"add after delete", ALONE("['add','x',1],['d','x',true],['add','x',2],['r','x',[2]]"), COMMON, .claim = SERIAL("'a'")},
	{"a set without an element", ALONE("['add','x',1],['add','x',2],['r','x',[2]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 2 of a (r) saw that x is [2], but in the order it is a set of 2 there")},
	{"a set with another element", ALONE("['add','x',1],['add','x',2],['r','x',[2,3]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 2 of a (r) saw that x is [2,3], but in the order it is a set of 2 there")},
	{"a set with an element twice", ALONE("['add','x',1],['add','x',2],['r','x',[2,2]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 2 of a (r) saw that x is [2,2], but in the order it is a set of 2 there")},

	/* ranges */
	{"ranges",
		.trace = "{'krait':1,'initial':{'a':1,'c':3,'e':5},'universe':['b']}\n" ALONE(
			"['range',null,null,[['a',1],['c',3],['e',5]]],['range','a','c',[['a',1]]],['range','b','e',[['c',3]]],['range','x',null,[]],"
			"['range','e','a',[]],['range',null,null,[['e',5],['c',3]],{'limit':2,'reverse':true}],['range','b',null,[['c',3]],{'limit':1}],"
			"['range',null,null,[],{'limit':0}],['w','b',2],['d','c'],['range','a','e',[['a',1],['b',2]],{'limit':5}]"),
		COMMON, .claim = SERIAL("'a'")},
	{"a range of numbers and strings",
		.trace = "{'krait':1,'initial':{'b':1}}\n" ALONE("['w',10,1],['w',9,1],['w','a',1],"
								 "['range',null,null,[[9,1],[10,1],['a',1],['b',1]]],['range',9.5,'b',[[10,1],['a',1]]]"),
		COMMON, .claim = SERIAL("'a'")},
	{"a range that misses a key", .trace = "{'krait':1,'initial':{'a':1,'c':3}}\n" ALONE("['range',null,null,[['c',3]]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 0 of a (range) saw that a is null, but in the order it is 1 there")},
	{"a range that misses the last key", .trace = "{'krait':1,'initial':{'a':1,'c':3}}\n" ALONE("['range',null,null,[['a',1]],{'limit':2}]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a (range) saw that c is null, but in the order it is 3 there")},
	{"a range with a wrong value", .trace = "{'krait':1,'initial':{'a':1}}\n" ALONE("['range',null,null,[['a',2]]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 0 of a (range) saw that a is 2, but in the order it is 1 there")},
	{"a range with an absent key", ALONE("['range',null,null,[['a',2]]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 0 of a returned a, but in the order it is not there, not between the bounds, or not in its place")},
	{"a range with a key beyond its bound", .trace = "{'krait':1,'initial':{'a':1,'b':2}}\n" ALONE("['range',null,'b',[['a',1],['b',2]]]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a returned b, but in the order it is not there, not between the bounds, or not in its place")},
	{"a range beyond its limit", .trace = "{'krait':1,'initial':{'a':1,'b':2}}\n" ALONE("['range',null,null,[['a',1],['b',2]],{'limit':1}]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a returned b, but in the order it is not there, not between the bounds, or not in its place")},
	{"a range out of order", .trace = "{'krait':1,'initial':{'a':1,'b':2}}\n" ALONE("['range',null,null,[['b',2],['a',1]]]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a (range) saw that a is null, but in the order it is 1 there")},
	{"a range over untold values", FROM("'unknown'", "['range','a','d',[['a',1],['c',3]]],['r','a',1],['r','b',null],['r','c',3],['r','d',4]"), COMMON,
		.claim = SERIAL("'a'")},
	{"a range over untold values told otherwise", FROM("'unknown'", "['range','a','d',[['a',1],['c',3]]],['r','b',2]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (r) saw that b is 2, but in the order it is null there")},

	/* scans */
	{"scans",
		.trace = "{'krait':1,'initial':{'u/a':1,'u/b':2.5,'v':{'n':7,'s':'\\u00e9x'},'w':'ab','z':['n',8]}}\n" ALONE(
			"['scan',{'key_prefix':'u/'},[['u/b',2.5],['u/a',1]]],['scan',{'value':{'ge':1,'le':2}},[['u/a',1]]],"
			"['scan',{'value':{'gt':1}},[['u/b',2.5]]],['scan',{'value':{'lt':2.5}},[['u/a',1]]],['scan',{'value':{'eq':'ab'}},[['w','ab']]],"
			"['scan',{'value':{'in':[1,'ab']}},[['u/a',1],['w','ab']]],['scan',{'value':{'ge':'a'}},[['w','ab']]],"
			"['scan',{'field':{'n':{'ge':7}}},[['v',{'n':7,'s':'\\u00e9x'}]]],['scan',{'field':{'s':{'eq':'\\u00e9x'}}},[['v',{'s':'\\u00e9x','n':"
			"7}]]],"
			"['scan',{'field':{'t':{'ne':1}}},[]],['scan',{'key_prefix':'u/','value':{'ne':1}},[['u/b',2.5]]]"),
		COMMON, .claim = SERIAL("'a'")},
	{"scans of sets, whose elements have no order",
		ALONE("['add','s',1],['scan',{'value':{'in':[0,4]}},[]],['scan',{'value':{'ne':1}},[['s',[1]]]],['add','s',2],"
		      "['scan',{'value':{'eq':[2,1]}},[['s',[1,2]]]],['scan',{'value':{'in':[[1],[2,1]]}},[['s',[2,1]]]],['scan',{'value':{'ne':[2,1]}},[]],"
		      "['scan',{'value':{'in':[[1],2]}},[]],['scan',{'value':{'ne':[1]}},[['s',[1,2]]]]"),
		COMMON, .claim = SERIAL("'a'")},
	{"a scan that misses a set", ALONE("['add','s',1],['scan',{'value':{'ne':1}},[]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 1 of a (scan) saw that s is no match, but in the order it is a set of 1 there")},
	{"a scan that misses a match", .trace = "{'krait':1,'initial':{'a':1,'b':2}}\n" ALONE("['scan',{'value':{'ge':1}},[['a',1]]]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a (scan) saw that b is no match, but in the order it is 2 there")},
	{"a scan that returns no match", .trace = "{'krait':1,'initial':{'a':1,'b':2}}\n" ALONE("['scan',{'value':{'ge':2}},[['a',1],['b',2]]]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a returned a, but in the order it does not match")},
	{"a scan with a wrong value", .trace = "{'krait':1,'initial':{'a':1}}\n" ALONE("['scan',{'value':{'ge':1}},[['a',2]]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 0 of a (scan) saw that a is 2, but in the order it is 1 there")},
	{"a scan with an absent key", ALONE("['scan',{'value':{'ge':1}},[['a',2]]]"), COMMON, .claim = SERIAL("'a'"),
		BAD("operation 0 of a returned a, but in the order it is not there, or was returned twice")},
	{"a scan with a row twice", .trace = "{'krait':1,'initial':{'a':1}}\n" ALONE("['scan',{'value':{'ge':1}},[['a',1],['a',1]]]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a returned a, but in the order it is not there, or was returned twice")},
	{"a scan of untold values", FROM("'unknown'", "['scan',{'key_prefix':'a'},[['a',1]]],['r','a',1],['r','ab',null],['r','b',2]"), COMMON,
		.claim = SERIAL("'a'")},
	{"a scan that asks for untold values, which are told later", FROM("'unknown'", "['scan',{'value':{'ge':1}},[]],['r','b',2]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a (scan) saw that b is no match, but in the order it is 2 there")},
	{"a scan that asks for untold values, which fit", FROM("'unknown'", "['scan',{'value':{'ge':3}},[]],['r','b',2]"), COMMON, .claim = SERIAL("'a'")},
	{"update",
		.trace =
			"{'krait':1,'initial':{'a':1,'b':2,'c':3}}\n" ALONE("['update',{'value':{'ge':2}},{'set':9},[['b',9],['c',9]]],['r','a',1],['r','b',9],"
									    "['scan',{'value':{'eq':9}},[['b',9],['c',9]]]"),
		COMMON, .claim = SERIAL("'a'")},
	{"an update that misses a match", .trace = "{'krait':1,'initial':{'a':1,'b':2}}\n" ALONE("['update',{'value':{'ge':1}},{'set':9},[['b',9]]]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a (update) saw that a is no match, but in the order it is 1 there")},
	{"an update of no match", .trace = "{'krait':1,'initial':{'a':1,'b':2}}\n" ALONE("['update',{'value':{'ge':2}},{'set':9},[['a',9],['b',9]]]"), COMMON,
		.claim = SERIAL("'a'"), BAD("operation 0 of a returned a, but in the order it does not match")},
};

int main(void)
{
	static struct CMUnitTest tests[KR_COUNT(rows)];

	VERIFY_TESTS(rows, tests);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
