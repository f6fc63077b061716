/* Lint, from what each kind of finding means (frontend/lint.h): small traces, and all that must be found in them.
 *
 * A finding is written "KIND TXN[.OP][ KEY][=VALUE][ <OTHER][ (COUNT)]", findings separated by "; ", in the order of kinds. Quotes in traces are single ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/lint.h"
#include "tests/unit/reading.h"

#define T(id, ops) "{'id':'" id "','ops':[" ops "]}\n"
#define S(id, status, ops) "{'id':'" id "','status':'" status "','ops':[" ops "]}\n"
#define TIMED(id, session, status, times) "{'id':'" id "','s':'" session "','status':'" status "'," times ",'ops':[]}\n"

static const struct row {
	const char *test, *trace, *expected;
	bool lenient;
} rows[] = {
	{"nothing to say", T("a", "['w','x',1]") T("b", "['r','x',1],['w','x',2]") T("c", "['r','x',2]"), "", false},
	{"an empty trace", "", "", false},

	{"the same value twice", T("a", "['w','x',1]") T("b", "['w','x',1]"), "duplicate-value b.0 x=1 <a", false},
	{"each later write is one", T("a", "['w','x',1]") T("b", "['w','x',1]") T("c", "['w','x',1]"), "duplicate-value b.0 x=1 <a; duplicate-value c.0 x=1 <a", false},
	{"within a transaction", T("a", "['w','x',1],['w','x',1]"), "duplicate-value a.1 x=1 <a", false},
	{"two keys are no duplicates", T("a", "['w','x',1],['w','y',1]"), "", false},
	{"1 and 1.0 are two values", T("a", "['w','x',1],['w','x',1.0]"), "", false},
	{"inserts and swaps that were done count", T("a", "['insert','x',1,true]") T("b", "['cas','x',1,2,true],['w','x',1],['w','x',2]"),
		"duplicate-value b.1 x=1 <a; duplicate-value b.2 x=2 <b", false},
	{"those that were not do not", T("a", "['w','x',1],['insert','x',2,false],['cas','x',3,4,false],['w','x',2],['w','x',4]"), "", false},
	{"rows of an update are written", T("a", "['w','x',1]") T("b", "['update',{},{'set':1},[['x',1]]]"), "duplicate-value b.0 x=1 <a", false},
	{"an aborted write counts", S("a", "aborted", "['w','x',1]") T("b", "['w','x',1]"), "duplicate-value b.0 x=1 <a", false},
	{"the initial value is there already", "{'krait':1,'initial':{'x':1}}\n" T("a", "['w','x',1]"), "duplicate-value a.0 x=1", false},
	{"deletes are no values", T("a", "['d','x'],['d','x']") T("b", "['r','x',null]"), "", false},
	{"equal elements of a list", T("a", "['append','l','e']") T("b", "['append','l','e'],['append','l','f']"), "duplicate-value b.0 l:\"e\" <a", false},
	{"an element of the initial list", "{'krait':1,'initial':{'l':[7]}}\n" T("a", "['append','l',7]"), "duplicate-value a.0 l:7", false},
	{"equal elements of a set", T("a", "['add','s',1]") T("b", "['add','s',1]"), "duplicate-value b.0 s:1 <a", false},
	{"increments have no values", T("a", "['inc','c',1]") T("b", "['inc','c',1]"), "", false},

	{"a value that nobody wrote", T("a", "['w','x',1]") T("b", "['r','x',2]") T("c", "['r','x',2]"), "value-unwritten b.0 x=2", false},
	{"an initial value is none", "{'krait':1,'initial':{'x':2}}\n" T("a", "['r','x',2],['w','x',1]"), "", false},
	{"absent at the start is none", T("a", "['r','x',null],['w','x',1]"), "", false},
	{"absent, though it starts present and nobody deletes it", "{'krait':1,'initial':{'x':2}}\n" T("a", "['r','x',null],['w','x',1]"), "value-unwritten a.0 x=null",
		false},
	{"a delete makes it absent", "{'krait':1,'initial':{'x':2}}\n" T("a", "['r','x',null],['w','x',1],['d','x']"), "", false},
	{"one that found nothing does not", "{'krait':1,'initial':{'x':2}}\n" T("a", "['w','x',1],['d','x',false]"), "value-unwritten a.1 x=null", false},
	{"a done swap saw what it expected", T("a", "['w','x',1]") T("b", "['cas','x',5,6,true]"), "value-unwritten b.0 x=5", false},
	{"one not done saw nothing known", T("a", "['w','x',1]") T("b", "['cas','x',5,6,false]"), "", false},
	{"a done insert saw it absent", "{'krait':1,'initial':{'x':2}}\n" T("a", "['insert','x',1,true]"), "value-unwritten a.0 x=null", false},
	{"rows of ranges and scans are read", T("a", "['w','x',1]") T("b", "['range',null,null,[['x',2]]],['scan',{},[['x',3]]]"),
		"value-unwritten b.0 x=2; value-unwritten b.1 x=3", false},
	{"elements of a list", T("a", "['append','l','e']") T("b", "['r','l',['e','f']]") T("c", "['r','l',['f']]"), "value-unwritten b.0 l:\"f\"", false},
	{"elements it starts with are known", "{'krait':1,'initial':{'l':[1]}}\n" T("a", "['append','l',2]") T("b", "['r','l',[1,2]]"), "", false},
	{"an empty list is an absent one", T("a", "['append','l',2]") T("b", "['r','l',[]],['r','l',null]"), "", false},
	{"an empty list, though it starts with elements", "{'krait':1,'initial':{'l':[1]}}\n" T("a", "['append','l',2]") T("b", "['r','l',[]]"),
		"value-unwritten b.0 l=null", false},
	{"elements that are arrays or strings with quotes", T("a", "['append','l',[1,2]],['append','l','\\\"']") T("b", "['r','l',[[1,2],'\\\"']]"), "", false},
	{"sums of counters are not judged", T("a", "['inc','c',2]") T("b", "['r','c',7]"), "", false},
	{"one value of a key may be the untold initial one", "{'krait':1,'initial':'unknown'}\n" T("a", "['w','x',1]") T("b", "['r','x',5]") T("c", "['r','x',5],['r','x',6]"),
		"value-unwritten c.1 x=6", false},
	{"an untold list may hold anything", "{'krait':1,'initial':'unknown'}\n" T("a", "['append','l',1]") T("b", "['r','l',[5,6,1]]"), "", false},
	{"a read without result shows nothing", T("a", "['w','x',1]") T("b", "['r','x']"), "", false},

	{"a key that nobody writes", T("a", "['w','x',1],['r','y',null]") T("b", "['r','y',null]"), "key-unwritten a.1 y", false},
	{"a read without result is one of the key", T("a", "['r','y']"), "key-unwritten a.0 y", false},
	{"a delete writes", T("a", "['r','y',null],['d','y']"), "", false},
	{"an insert that was not answered tells nothing",
		"{'krait':1,'initial':{'x':2,'y':1}}\n" S("a", "unknown", "['insert','x',1,true,{'t':[1,null]}]") S("b", "unknown", "['insert','y',2,false,{'t':[1,null]}]"),
		"", false},
	{"nor does a swap", S("a", "unknown", "['cas','x',5,6,true,{'t':[1,null]}]"), "", false},
	{"a read that was not answered has no result", T("a", "['w','x',1]") S("b", "unknown", "['r','x',2,{'t':[1,null]}]"), "", false},
	{"nor has a scan", T("a", "['w','x',1]") S("b", "unknown", "['scan',{},[['x',3]],{'t':[1,null]}]"), "", false},
	{"an insert that was not done only reads", "{'krait':1,'initial':{'y':1}}\n" T("a", "['insert','y',2,false]"), "key-unwritten a.0 y", false},
	{"increments and additions write", T("a", "['r','c',0],['r','s',[]]") T("b", "['inc','c',1],['add','s',1]"), "", false},

	{"two types", T("a", "['w','x',1],['w','x','b']") T("b", "['r','x',1]") T("c", "['r','x','b']"), "mixed-types c.0 x", false},
	{"1 and 1.0 are two types", T("a", "['w','x',1],['w','x',1.0]") T("b", "['r','x',1],['r','x',1.0]"), "mixed-types b.1 x", false},
	{"absent is none", T("a", "['w','x',1]") T("b", "['r','x',null]") T("c", "['r','x',1]"), "", false},
	{"true and false are one", T("a", "['w','x',true],['w','x',false]") T("b", "['r','x',true]") T("c", "['r','x',false]"), "", false},
	{"types that are only written do not count", T("a", "['w','x',1],['w','x','b']") T("b", "['r','x',1]"), "", false},

	{"an aborted write was read", S("a", "aborted", "['w','y',0],['w','x',1]") T("b", "['r','x',1]") T("c", "['r','x',1]"), "aborted-read a.1 x=1 <b", false},
	{"by itself says nothing", S("a", "aborted", "['w','x',1],['r','x',1]"), "", false},
	{"it may be somebody else's", S("a", "aborted", "['w','x',1]") T("b", "['w','x',1]") T("c", "['r','x',1]"), "duplicate-value b.0 x=1 <a", false},
	{"or the initial one", "{'krait':1,'initial':{'x':1}}\n" S("a", "aborted", "['w','x',1]") T("c", "['r','x',1]"), "duplicate-value a.0 x=1", false},
	{"an element of an aborted transaction", S("a", "aborted", "['append','l',1]") T("b", "['append','l',2]") T("c", "['r','l',[2,1]]"), "aborted-read a.0 l:1 <c",
		false},
	{"an aborted delete is not told from being absent", S("a", "aborted", "['d','x']") T("b", "['r','x',null]"), "", false},
	{"told in the writers' order", S("a", "aborted", "['w','x',1]") S("b", "aborted", "['w','y',1]") T("c", "['r','y',1],['r','x',1]"),
		"aborted-read a.0 x=1 <c; aborted-read b.0 y=1 <c", false},
	{"an unknown write was read", S("a", "unknown", "['w','x',1]") T("b", "['r','x',1]"), "unknown-read a.0 x=1 <b", false},
	{"one of two unknown ones", S("a", "unknown", "['w','x',1]") S("b", "unknown", "['w','x',1]") T("c", "['r','x',1]"), "duplicate-value b.0 x=1 <a", false},
	{"an unknown or an aborted one", S("a", "unknown", "['w','x',1]") S("b", "aborted", "['w','x',1]") T("c", "['r','x',1]"), "duplicate-value b.0 x=1 <a", false},
	{"one of two aborted ones", S("a", "aborted", "['w','x',1]") S("b", "aborted", "['w','x',1]") T("c", "['r','x',1]"),
		"duplicate-value b.0 x=1 <a; aborted-read a.0 x=1 <c", false},
	{"of two aborted ones the reader may be the writer", S("a", "aborted", "['w','x',1]") S("b", "aborted", "['w','x',1],['r','x',1]"), "duplicate-value b.0 x=1 <a",
		false},

	{"reads and writes the same", T("a", "['w','x',1]") T("b", "['r','x',1],['w','x',1]"), "duplicate-value b.1 x=1 <a; same-value b.1 x=1", false},
	{"a swap for the same", T("a", "['w','x',1]") T("b", "['cas','x',1,1,true]"), "duplicate-value b.0 x=1 <a; same-value b.0 x=1", false},
	{"not with another write between", T("a", "['w','x',1]") T("b", "['r','x',1],['w','x',2],['w','x',1]"), "duplicate-value b.2 x=1 <a", false},
	{"not with a delete between", T("a", "['w','x',1]") T("b", "['r','x',1],['d','x'],['w','x',1]"), "duplicate-value b.2 x=1 <a", false},
	{"not what another transaction read", T("a", "['w','x',1],['w','y',1]") T("b", "['r','x',1]") T("c", "['w','x',1]"), "duplicate-value c.0 x=1 <a", false},

	{"begins before an unknown one returned", TIMED("a", "s", "unknown", "'begin':1,'end':9") TIMED("b", "s", "committed", "'begin':5,'end':6"),
		"session-overlap b <a", false},
	{"another session may", TIMED("a", "s", "unknown", "'begin':1,'end':9") TIMED("b", "t", "committed", "'begin':5,'end':6"), "", false},
	{"begins where it returned", TIMED("a", "s", "unknown", "'begin':1,'end':9") TIMED("b", "s", "committed", "'begin':9,'end':10"), "", false},
	{"begins before an unknown one began", TIMED("a", "s", "unknown", "'begin':5,'end':9") TIMED("b", "s", "committed", "'begin':2,'end':3"),
		"session-backwards b <a", false},
	{"operations run backwards", "{'id':'a','ops':[['w','x',1,{'t':[5,6]}],['w','x',2],['w','x',3,{'t':[4,7]}],['w','x',4,{'t':[5,8]}]]}\n", "op-backwards a.2", false},
	{"behind the latest of all in front", "{'id':'a','ops':[['w','x',1,{'t':[5,6]}],['w','x',2,{'t':[3,7]}],['w','x',3,{'t':[4,8]}]]}\n", "op-backwards a.1; op-backwards a.2", false},
	{"each transaction has its own", "{'id':'a','ops':[['w','x',1,{'t':[5,6]}]]}\n{'id':'b','ops':[['w','x',2,{'t':[1,2]}]]}\n", "", false},
	{"operations outside", "{'id':'a','begin':[3,4],'end':[7,8],'ops':[['w','x',1,{'t':[2,3]}],['w','x',2,{'t':[3,8]}],['w','x',3,{'t':[7,9]}]]}\n",
		"op-outside a.0; op-outside a.2", false},

	{"an aborted one lasted longest", TIMED("a", "s", "committed", "'begin':1,'end':9") TIMED("b", "t", "aborted", "'begin':2,'end':11"), "slow-abort b <a", false},
	{"as long as the slowest", TIMED("a", "s", "committed", "'begin':1,'end':9") TIMED("b", "t", "aborted", "'begin':2,'end':10"), "", false},
	{"the slowest is the longest, not the last", TIMED("a", "s", "committed", "'begin':1,'end':9") TIMED("c", "u", "committed", "'begin':1,'end':3")
		TIMED("b", "t", "aborted", "'begin':0,'end':9"), "slow-abort b <a", false},
	{"unknown ones may last long", TIMED("a", "s", "committed", "'begin':1,'end':9") TIMED("b", "t", "unknown", "'begin':2,'end':99"), "", false},
	{"nothing to compare with", TIMED("b", "t", "aborted", "'begin':2,'end':99"), "", false},
	{"from one end of time to the other", TIMED("a", "s", "committed", "'begin':1,'end':9")
		TIMED("b", "t", "aborted", "'begin':-9223372036854775808,'end':9223372036854775807"), "slow-abort b <a", false},

	{"read before it was written", "{'id':'a','begin':1,'end':2,'ops':[['r','x',1],['r','y',2]]}\n{'id':'b','begin':3,'end':4,'ops':[['w','x',1],['w','y',2]]}\n",
		"early-read a.0 x=1 <b", false},
	{"an element", "{'id':'a','begin':1,'end':2,'ops':[['r','l',[7]]]}\n{'id':'b','begin':3,'end':4,'ops':[['append','l',7]]}\n", "early-read a.0 l:7 <b", false},
	{"one moment is no order", "{'id':'a','begin':1,'end':3,'ops':[['r','x',1]]}\n{'id':'b','begin':3,'end':4,'ops':[['w','x',1]]}\n", "", false},
	{"the clock skew may explain it", "{'krait':1,'clock_skew':1}\n{'id':'a','begin':1,'end':2,'ops':[['r','x',1]]}\n{'id':'b','begin':3,'end':4,'ops':[['w','x',1]]}\n", "",
		false},
	{"who wrote it is not known", "{'id':'a','begin':1,'end':2,'ops':[['r','x',1]]}\n{'id':'b','begin':3,'end':4,'ops':[['w','x',1]]}\n"
		"{'id':'c','begin':0,'end':4,'ops':[['w','x',1]]}\n", "duplicate-value c.0 x=1 <b", false},
	{"it may have been there", "{'krait':1,'initial':{'x':1}}\n{'id':'a','begin':1,'end':2,'ops':[['r','x',1]]}\n{'id':'b','begin':3,'end':4,'ops':[['w','x',1]]}\n",
		"duplicate-value b.0 x=1", false},

	{"no begin", TIMED("a", "s", "committed", "'begin':1,'end':2") TIMED("b", "t", "committed", "'end':4"), "no-begin b", false},
	{"no end", TIMED("a", "s", "committed", "'begin':1,'end':2") TIMED("b", "t", "aborted", "'begin':3"), "no-end b", false},
	{"neither", TIMED("a", "s", "committed", "'begin':1,'end':2") T("b", ""), "no-begin b; no-end b", false},
	{"an unknown one need not end", TIMED("a", "s", "committed", "'begin':1,'end':2") TIMED("b", "t", "unknown", "'begin':3"), "", false},
	{"nobody ends", TIMED("a", "s", "committed", "'begin':1") TIMED("b", "t", "committed", "'begin':3"), "", false},

	{"no id", T("a", "") "{'ops':[]}\n", "default-id #2 (1)", false},
	{"no ids at all are one finding", "{'ops':[]}\n{'ops':[]}\n{'ops':[]}\n", "default-id #1 (3)", false},
	{"an id of that form elsewhere", T("#7", "") T("#02", "") T("#", "") T("4", ""), "", false},
	{"places count what was left out", T("a", "") "{'id':'a','ops':[]}\n{'ops':[]}\n", "default-id #3 (1)", true},
};

static void print_finding(struct reading *r, enum kr_lint_kind kind, const struct kr_lint_finding *f, struct kr_str *out)
{
	kr_str_format(out, "%s%s ", out->n ? "; " : "", kr_lint_name(kind));
	kr_history_print_name(&r->h, r->h.txns.at[f->txn.i].id, out);
	if (f->op != KR_NONE)
		kr_str_format(out, ".%u", (unsigned)f->op);
	if (f->key.i != KR_NONE)
		kr_str_format(out, " %s", reading_key(r, f->key));
	if (f->value.i != KR_NONE)
		kr_str_format(out, "=%s", reading_value(r, f->value));
	if (f->element.text)
		kr_str_format(out, ":%.*s", (int)f->element.length, f->element.text);
	if (f->other.i != KR_NONE)
		kr_str_format(out, " <%s", reading_name(r, r->h.txns.at[f->other.i].id));
	if (f->count > 0)
		kr_str_format(out, " (%u)", (unsigned)f->count);
}

static void print_lint(struct reading *r, const struct kr_lint *lint, struct kr_str *out)
{
	for (int kind = 0; kind < KR_LINT_KINDS; kind++) {
		assert_int_equal(lint->counts[kind], lint->found[kind].n);
		for (uint32_t i = 0; i < lint->found[kind].n; i++)
			print_finding(r, (enum kr_lint_kind)kind, &lint->found[kind].at[i], out);
	}
}

static void start(struct reading *r, const char *trace, bool lenient)
{
	char text[2048];

	assert_true(strlen(trace) < sizeof text);
	strcpy(text, trace);
	for (char *at = text; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	reading_init(r);
	r->options.lenient = lenient;
	reading_good(r, text);
}

static void found(void **state)
{
	const struct row *row = *state;
	struct reading r;
	struct kr_lint lint;
	struct kr_str out;

	start(&r, row->trace, row->lenient);
	kr_str_init(&out, &r.ctx.mem);
	assert_int_equal(kr_lint(&r.ctx, &r.h, UINT32_MAX, &lint), KR_OK);
	print_lint(&r, &lint, &out);
	assert_string_equal(kr_str_text(&out), row->expected);
	kr_str_done(&out);
	kr_lint_done(&lint);
	reading_done(&r);
}

static void keeps_the_first(void **state)
{
	struct reading r;
	struct kr_lint lint;

	(void)state;
	start(&r, T("a", "['w','x',1],['w','x',1],['w','x',1],['w','x',1],['r','y',null]"), false);
	assert_int_equal(kr_lint(&r.ctx, &r.h, 2, &lint), KR_OK);
	assert_int_equal(lint.counts[KR_LINT_DUPLICATE_VALUE], 3);
	assert_int_equal(lint.found[KR_LINT_DUPLICATE_VALUE].n, 2);
	assert_int_equal(lint.found[KR_LINT_DUPLICATE_VALUE].at[0].op, 1);
	assert_int_equal(lint.found[KR_LINT_DUPLICATE_VALUE].at[1].op, 2);
	assert_int_equal(lint.counts[KR_LINT_KEY_UNWRITTEN], 1);
	kr_lint_done(&lint);
	reading_done(&r);
}

static void types_of_a_key(void **state)
{
	struct reading r;
	struct kr_lint lint;

	(void)state;
	start(&r, T("a", "['w','x',1],['w','x',false],['w','x','b'],['r','x',1],['r','x',false],['r','x','b']"), false);
	assert_int_equal(kr_lint(&r.ctx, &r.h, 2, &lint), KR_OK);
	assert_int_equal(lint.found[KR_LINT_MIXED_TYPES].n, 1);
	assert_int_equal(lint.found[KR_LINT_MIXED_TYPES].at[0].types, 1u << KR_VALUE_INT | 1u << KR_VALUE_TRUE | 1u << KR_VALUE_STRING);
	kr_lint_done(&lint);
	reading_done(&r);
}

/* Whichever allocation fails, it is told and nothing leaks (reading_done looks). */
static void any_allocation_may_fail(void **state)
{
	struct reading r;
	struct kr_lint lint;
	enum kr_status status = KR_NOMEM;
	uint32_t failures = 0;

	(void)state;
	start(&r,
		"{'krait':1,'initial':{'l':[1],'x':1}}\n" S("a", "aborted", "['w','x',1],['append','l',1],['append','l','f']")
			TIMED("b", "s", "committed", "'begin':1,'end':2") T("c", "['r','l',['f',9]],['r','y','u'],['r','x',1],['w','x',1]"),
		false);
	for (size_t used = r.ctx.mem.used; status == KR_NOMEM; failures++) {
		r.ctx.mem.fail_at = r.ctx.mem.count + failures + 1;
		status = kr_lint(&r.ctx, &r.h, UINT32_MAX, &lint);
		if (status != KR_OK)
			assert_int_equal(r.ctx.mem.used, used);
	}
	r.ctx.mem.fail_at = 0;
	assert_int_equal(status, KR_OK);
	assert_true(failures > 10);
	kr_lint_done(&lint);
	reading_done(&r);
}

static void stops_at_a_limit(void **state)
{
	struct reading r;
	struct kr_lint lint;

	(void)state;
	start(&r, T("a", "['w','x',1]"), false);
	r.ctx.stopped = KR_TIMEOUT;
	assert_int_equal(kr_lint(&r.ctx, &r.h, UINT32_MAX, &lint), KR_TIMEOUT);
	reading_done(&r);
}

static void names_are_told_apart(void **state)
{
	(void)state;
	for (int a = 0; a < KR_LINT_KINDS; a++)
		for (int b = 0; b < a; b++)
			assert_string_not_equal(kr_lint_name((enum kr_lint_kind)a), kr_lint_name((enum kr_lint_kind)b));
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(keeps_the_first),
		cmocka_unit_test(types_of_a_key),
		cmocka_unit_test(any_allocation_may_fail),
		cmocka_unit_test(stops_at_a_limit),
		cmocka_unit_test(names_are_told_apart),
	};
	struct CMUnitTest tests[KR_COUNT(rows) + KR_COUNT(others)];

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){.name = rows[i].test, .test_func = found, .initial_state = (void *)(uintptr_t)&rows[i]};
	memcpy(tests + KR_COUNT(rows), others, sizeof others);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
