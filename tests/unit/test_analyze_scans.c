/* Semantic analysis of ranges, scans, updates, told increments and the attributes of operations: small traces, and what the definitions say of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/analyze.h"
#include "tests/unit/reading.h"

struct row {
	const char *what;
	const char *header;   /* fields of the header */
	const char *trace;    /* transactions t0, t1, ... with ' for "; a line each */
	const char *expected; /* presences; per observation "txn.op key{candidates}", ! behind the key: predicate, ~: loose; then anomalies */
};

static const struct row rows[] = {
	/* ---- ranges ---- */
	{"a row, and what is not there", "", "'ops':[['w','a',1]]\n'ops':[['w','b',2]]\n'ops':[['range',null,null,[['a',1]]]]", "PPP 2.0 a{0} 2.0 b!{init}"},
	{"no observation of what can never be there", "", "'ops':[['d','a'],['d','b']]\n'ops':[['range',null,null,[]]]", "PP"},
	{"the universe", "'universe':['a','b'],'initial':{'b':1}", "'ops':[['range',null,null,[['b',1]]]]", "P 0.0 b{init}"},
	{"an initial value that was deleted", "'initial':{'a':1}", "'ops':[['d','a']]\n'ops':[['range',null,null,[]]]", "PP 1.0 a!{0}"},
	{"bounds: low is in, high is not", "", "'ops':[['w','a',1],['w','b',1],['w','c',1],['w','d',1]]\n'ops':[['range','b','d',[]]]",
		"PP 1.0 b!{init} 1.0 c!{init}"},
	{"bounds that are no keys", "", "'ops':[['w','b',1],['w','d',1]]\n'ops':[['range','a','c',[]]]", "PP 1.0 b!{init}"},
	{"bounds the wrong way round", "", "'ops':[['w','b',1],['w','d',1]]\n'ops':[['range','d','b',[]]]", "PP"},
	{"numbers come before strings", "", "'ops':[['w',9,1],['w',10,1],['w','10',1]]\n'ops':[['range',9,'1',[]]]", "PP 1.0 9!{init} 1.0 10!{init}"},
	{"limit: nothing beyond the last one", "", "'ops':[['w','a',1],['w','b',1],['w','c',1]]\n'ops':[['range',null,null,[['b',1]],{'limit':1}]]",
		"PP 1.0 b{0} 1.0 a!{init}"},
	{"limit not reached: all of it", "", "'ops':[['w','a',1],['w','b',1],['w','c',1]]\n'ops':[['range',null,null,[['b',1]],{'limit':2}]]",
		"PP 1.0 b{0} 1.0 a!{init} 1.0 c!{init}"},
	{"limit, reverse", "", "'ops':[['w','a',1],['w','b',1],['w','c',1]]\n'ops':[['range',null,null,[['b',1]],{'limit':1,'reverse':true}]]",
		"PP 1.0 b{0} 1.0 c!{init}"},
	{"limit 0 looks at nothing", "", "'ops':[['w','a',1]]\n'ops':[['range',null,null,[],{'limit':0}]]", "PP"},
	{"more than the limit", "", "'ops':[['w','a',1],['w','b',1]]\n'ops':[['range',null,null,[['a',1],['b',1]],{'limit':1}]]",
		"PP 1.0 a{0} | 1.0 b result-set mismatch"},
	{"out of bounds", "", "'ops':[['w','a',1],['w','b',1]]\n'ops':[['range','b',null,[['a',1],['b',1]]]]", "PP 1.0 b{0} | 1.0 a result-set mismatch"},
	{"the upper bound itself", "", "'ops':[['w','a',1],['w','b',1]]\n'ops':[['range','a','b',[['a',1],['b',1]]]]",
		"PP 1.0 a{0} | 1.0 b result-set mismatch"},
	{"out of order", "", "'ops':[['w','a',1],['w','b',1]]\n'ops':[['range',null,null,[['b',1],['a',1]]]]", "PP 1.0 b{0} | 1.0 a result-set mismatch"},
	{"out of order, reverse", "", "'ops':[['w','a',1],['w','b',1]]\n'ops':[['range',null,null,[['a',1],['b',1]],{'reverse':true}]]",
		"PP 1.0 a{0} | 1.0 b result-set mismatch"},
	{"twice", "", "'ops':[['w','a',1]]\n'ops':[['range',null,null,[['a',1],['a',1]]]]", "PP 1.0 a{0} | 1.0 a result-set mismatch"},
	{"its own write", "", "'ops':[['w','a',1],['range',null,null,[['a',1]]],['d','a'],['range',null,null,[]]]", "P"},
	{"misses its own write", "", "'ops':[['w','a',1],['range',null,null,[]]]", "P | 0.1 a internal inconsistency"},
	{"misses its own write, which goes away later", "", "'ops':[['w','a',1],['range',null,null,[]],['d','a']]", "P | 0.1 a internal inconsistency"},
	{"shows its own write wrongly", "", "'ops':[['w','a',1],['range',null,null,[['a',2]]]]", "P | 0.1 a internal inconsistency | 0.1 a garbage read"},
	{"shows what it deleted", "", "'ops':[['d','a'],['range',null,null,[['a',2]]]]", "P | 0.1 a internal inconsistency | 0.1 a garbage read"},
	{"a limit ends before its own write", "", "'ops':[['w','b',1],['range',null,null,[['a',7]],{'limit':1}]]\n'ops':[['w','a',7]]", "PP 0.1 a{1}"},
	{"what only passes is nobody else's business", "", "'ops':[['w','a',1],['d','a']]\n'ops':[['range',null,null,[]]]", "PP"},
	{"absent, but that was only in vain", "'initial':{'a':1}", "'status':'aborted','ops':[['d','a']]\n'ops':[['range',null,null,[]]]",
		"-P | 1.0 a aborted read from 0"},
	{"an unknown deleter is needed", "'initial':{'a':1}", "'status':'unknown','ops':[['d','a']]\n'ops':[['range',null,null,[]]]", "PP 1.0 a!{0}"},
	{"an unknown one that misses its own write", "", "'status':'unknown','ops':[['w','a',1],['range',null,null,[]]]\n'ops':[['r','a',1]]",
		"-P | 1.0 a aborted read from 0"},

	/* ---- scans ---- */
	{"matches and does not", "", "'ops':[['w','a',1],['w','b',5]]\n'ops':[['scan',{'value':{'ge':3}},[['b',5]]]]", "PP 1.0 b{0}"},
	{"a version that would match was not seen", "", "'ops':[['w','a',1]]\n'ops':[['w','a',5]]\n'ops':[['scan',{'value':{'ge':3}},[]]]",
		"PPP 2.0 a!{init 0}"},
	{"by prefix", "", "'ops':[['w','u/a',1],['w','v',1]]\n'ops':[['scan',{'key_prefix':'u/'},[]]]", "PP 1.0 u/a!{init}"},
	{"without conditions", "", "'ops':[['w','a',1],['w','b',1]]\n'ops':[['scan',{},[['a',1]]]]", "PP 1.0 a{0} 1.0 b!{init}"},
	{"two conditions", "", "'ops':[['w','u/a',1],['w','u/b',5],['w','v',5]]\n'ops':[['scan',{'key_prefix':'u/','value':{'ge':3}},[]]]",
		"PP 1.0 u/b!{init}"},
	{"by field", "", "'ops':[['w','a',{'f':1}],['w','b',{'f':2}],['w','c',7]]\n'ops':[['scan',{'field':{'f':{'eq':2}}},[]]]", "PP 1.0 b!{init}"},
	{"a row that does not match", "", "'ops':[['w','a',1]]\n'ops':[['scan',{'value':{'ge':3}},[['a',1]]]]", "PP | 1.0 a result-set mismatch"},
	{"its own writes", "", "'ops':[['w','a',5],['scan',{'value':{'ge':3}},[['a',5]]],['w','a',1],['scan',{'value':{'ge':3}},[]]]", "P"},
	{"misses its own match", "", "'ops':[['w','a',5],['scan',{'value':{'ge':3}},[]],['w','a',1]]", "P | 0.1 a internal inconsistency"},
	{"all that it leaves was written in vain", "'initial':{'a':5}", "'status':'aborted','ops':[['w','a',1]]\n'ops':[['scan',{'value':{'ge':3}},[]]]",
		"-P | 1.0 a aborted read from 0"},
	{"all that it leaves passes", "'initial':{'a':5}", "'ops':[['w','a',1],['w','a',6]]\n'ops':[['scan',{'value':{'ge':3}},[]]]",
		"PP | 1.0 a intermediate read from 0"},
	{"all that it leaves is yet to come", "'initial':{'a':5}", "'ops':[['scan',{'value':{'ge':3}},[]],['w','a',1]]", "P | 0.0 a future read"},
	{"it leaves nothing", "'initial':{'a':5}", "'ops':[['w','a',7]]\n'ops':[['scan',{'value':{'ge':3}},[]]]", "PP | 1.0 a garbage read"},

	/* ---- updates ---- */
	{"what matched, and what it wrote", "",
		"'ops':[['w','a',1],['w','b',5]]\n'ops':[['update',{'value':{'ge':3}},{'set':0},[['b',0]]]]\n'ops':[['r','b',0]]", "PPP 1.0 b{0} 2.0 b{1}"},
	{"what did not match", "", "'ops':[['w','a',5]]\n'ops':[['update',{'value':{'ge':3}},{'set':0},[]]]", "PP 1.0 a!{init}"},
	{"its own update", "", "'ops':[['w','a',5]]\n'ops':[['update',{'value':{'ge':3}},{'set':0},[['a',0]]],['r','a',0],['scan',{'value':{'ge':3}},[]]]",
		"PP 1.0 a{0}"},
	{"updates its own write that does not match", "", "'ops':[['w','a',1],['update',{'value':{'ge':3}},{'set':0},[['a',0]]]]",
		"P | 0.1 a internal inconsistency"},
	{"updates what never matched", "", "'ops':[['w','a',1]]\n'ops':[['update',{'value':{'ge':3}},{'set':0},[['a',0]]]]", "PP | 1.0 a garbage read"},
	{"updates what only it wrote later", "", "'ops':[['update',{'value':{'ge':3}},{'set':4},[['a',4]]]]", "P | 0.0 a future read"},
	{"an unknown update is needed", "", "'ops':[['w','a',1]]\n'status':'unknown','ops':[['update',{},{'set':2},[['a',2]]]]\n'ops':[['r','a',2]]",
		"PPP 1.0 a{0} 2.0 a{1}"},

	/* ---- counters whose increments are told ---- */
	{"an increment saw what was there", "", "'ops':[['inc','c',2,2]]\n'ops':[['inc','c',3,5]]\n'ops':[['r','c',5]]", "PPP 0.0 c{init} 1.0 c{0} 2.0 c{1}"},
	{"0 may be absent", "", "'ops':[['inc','c',1,1]]\n'ops':[['inc','c',-1,0]]\n'ops':[['d','c']]\n'ops':[['r','c',0]]\n'ops':[['r','c',null]]",
		"PPPPP 0.0 c{init 1 2} 1.0 c{0} 3.0 c{init 1 2} 4.0 c{init 2}"},
	{"a row of 0 is not absent", "", "'ops':[['inc','c',1,1]]\n'ops':[['inc','c',-1,0]]\n'ops':[['range',null,null,[['c',0]]]]",
		"PPP 0.0 c{init 1} 1.0 c{0} 2.0 c{1}"},
	{"its own", "", "'ops':[['inc','c',1,1],['inc','c',1,2],['r','c',2]]", "P 0.0 c{init}"},
	{"not its own", "", "'ops':[['inc','c',1,1],['inc','c',1,3]]", "P 0.0 c{init} | 0.1 c internal inconsistency"},
	{"after its own delete", "", "'ops':[['d','c'],['inc','c',1,1]]", "P"},
	{"an aborted one whose result is not told explains nothing", "'initial':{'c':5}",
		"'status':'aborted','ops':[['inc','c',1]]\n'ops':[['inc','c',1,6]]\n'ops':[['r','c',null]]", "-PP 1.0 c{init} | 2.0 c garbage read"},
	{"an aborted one whose result is told", "", "'status':'aborted','ops':[['inc','c',1,1]]\n'ops':[['inc','c',1,2]]", "-P | 1.0 c aborted read from 0"},
	{"from nowhere", "", "'ops':[['inc','c',1,7]]", "P | 0.0 c garbage read"},
	{"an untold start that no operation names", "'initial':'unknown'", "'ops':[['inc','c',1,7]]\n'ops':[['inc','c',1,7]]", "PP 0.0 c{init} 1.0 c{init}"},
	{"a counter in a scan", "", "'ops':[['inc','c',5,5]]\n'ops':[['scan',{'value':{'ge':3}},[]]]", "PP 0.0 c{init} 1.0 c!{init}"},

	/* ---- initial values that are not told ---- */
	{"absent before", "'initial':'unknown'", "'ops':[['w','a',1]]\n'ops':[['range',null,null,[]]]", "PP 1.0 a!{init}"},
	{"does not match: absent will do", "'initial':'unknown'", "'ops':[['w','a',5]]\n'ops':[['scan',{'value':{'ge':3}},[]]]", "PP 1.0 a!{init}"},
	{"what was read does not match either", "'initial':'unknown'", "'ops':[['w','a',1]]\n'ops':[['r','a',1]]\n'ops':[['scan',{'value':{'ge':3}},[]]]",
		"PPP 1.0 a{init 0} 2.0 a!{init 0}"},

	/* ---- attributes ---- */
	{"not through a cursor", "", "'ops':[['w','a',1]]\n'ops':[['r','a',1,{'cursor':false}],['r','a',1,{'cursor':true}],['r','a',1]]",
		"PP 1.0 a~{0} 1.1 a{0} 1.2 a{0}"},
	{"a range not through a cursor", "", "'ops':[['w','a',1]]\n'ops':[['range',null,null,[],{},{'cursor':false}]]", "PP 1.0 a!~{init}"},
	{"a version is named", "", "'ops':[['w','a',1]]\n'ops':[['w','a',1]]\n'ops':[['range',null,null,[['a',1]],{},{'versions':{'a':'t1'}}]]",
		"PPP 2.0 a{1}"},
	{"the initial version is named", "'initial':{'a':1}", "'ops':[['w','a',1]]\n'ops':[['scan',{},[['a',1]],{'versions':{'a':null}}]]", "PP 1.0 a{init}"},
	{"an update's source is named", "",
		"'ops':[['w','a',5]]\n'ops':[['w','a',6]]\n'ops':[['update',{'value':{'ge':3}},{'set':0},[['a',0]],{'versions':{'a':'t1'}}]]", "PPP 2.0 a{1}"},
	{"another value than the version named", "",
		"'ops':[['w','a',1]]\n'ops':[['w','a',2]]\n'ops':[['range',null,null,[['a',1]],{},{'versions':{'a':'t1'}}]]",
		"PPP 2.0 a{0} | 2.0 a result-set mismatch"},
	{"the version named does not match", "",
		"'ops':[['w','a',1]]\n'ops':[['w','a',5]]\n'ops':[['update',{'value':{'ge':3}},{'set':0},[['a',0]],{'versions':{'a':'t0'}}]]",
		"PPP 2.0 a{1} | 2.0 a result-set mismatch"},
	{"the version named would have been returned", "", "'ops':[['w','a',1]]\n'ops':[['range',null,null,[],{},{'versions':{'a':'t0'}}]]",
		"PP 1.0 a!{init} | 1.0 a result-set mismatch"},
	{"the version named would not have been returned", "", "'ops':[['w','a',1]]\n'ops':[['range',null,null,[],{},{'versions':{'a':null}}]]",
		"PP 1.0 a!{init}"},
	{"the version named was aborted", "",
		"'status':'aborted','ops':[['w','a',1]]\n'ops':[['w','a',1]]\n'ops':[['range',null,null,[['a',1]],{},{'versions':{'a':'t0'}}]]",
		"-PP | 2.0 a aborted read from 0"},
	{"the version named was aborted, and not returned", "",
		"'status':'aborted','ops':[['w','a',1]]\n'ops':[['range',null,null,[],{},{'versions':{'a':'t0'}}]]", "-P 1.0 a!{init} | 1.0 a result-set mismatch"},
	{"an aborted version that is not there is named", "",
		"'status':'aborted','ops':[['w','a',1]]\n'ops':[['scan',{},[],{'versions':{'a':'t0'}}]]\n'ops':[['scan',{},[]]]",
		"-PP 1.0 a!{init} | 1.0 a result-set mismatch"},
	{"the writer named wrote something else", "", "'ops':[['w','b',1]]\n'ops':[['scan',{'key_prefix':'a'},[],{'versions':{'a':'t0'}}]]",
		"PP 1.0 a!{init} | 1.0 a result-set mismatch"},
	{"the writer named is itself, before", "", "'ops':[['w','a',1],['scan',{},[['a',1]],{'versions':{'a':'t0'}}]]", "P"},
	{"the writer named is itself, later", "", "'ops':[['scan',{},[['a',1]],{'versions':{'a':'t0'}}],['w','a',1]]", "P | 0.0 a future read"},
	{"the unknown writer of the version named is needed", "",
		"'status':'unknown','ops':[['w','a',1]]\n'ops':[['w','a',1]]\n'ops':[['scan',{},[['a',1]],{'versions':{'a':'t0'}}]]", "PPP 2.0 a{0}"},
};

static void describe(const struct kr_history *h, const struct kr_analysis *analysis, struct kr_str *out)
{
	const struct kr_asg *asg = &analysis->asg;

	for (uint32_t t = 0; t < asg->ntxns; t++)
		kr_str_add_bytes(out, &"-P?"[asg->txns[t].presence], 1);
	for (uint32_t o = 0; o < asg->nobs; o++) {
		const struct kr_observation *obs = &asg->obs[o];
		const char *separator = "";
		kr_version v;

		kr_str_format(out, " %u.%u ", obs->txn.i, obs->op);
		kr_history_print_name(h, h->keys.at[obs->key.i].name, out);
		kr_str_format(out, "%s%s{", obs->predicate ? "!" : "", obs->loose ? "~" : "");
		for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v); separator = " ") {
			if (kr_asg_is_initial(asg, v))
				kr_str_format(out, "%s%s", separator, asg->keys[obs->key.i].open_initial ? "open" : "init");
			else
				kr_str_format(out, "%s%u", separator, asg->versions[v.i].writer.i);
		}
		kr_str_add(out, "}");
	}
	for (uint32_t i = 0; i < analysis->anomalies.n; i++) {
		const struct kr_anomaly *a = &analysis->anomalies.at[i];

		kr_str_format(out, " | %u.%u ", a->txn.i, a->op);
		kr_history_print_name(h, h->keys.at[a->key.i].name, out);
		kr_str_format(out, " %s", kr_anomaly_name(a->kind));
		if (a->other.i != KR_NONE)
			kr_str_format(out, " from %u", a->other.i);
	}
}

/* The trace as text: a header, and ids. */
static void spell(const struct row *row, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "{'krait':1%s%s}\n", *row->header ? "," : "", row->header);
	const char *at = row->trace;

	for (int t = 0; *at; t++) {
		int length = (int)strcspn(at, "\n");

		n += (size_t)snprintf(out + n, size - n, "{'id':'t%d',%.*s}\n", t, length, at);
		at += length + (at[length] != '\0');
	}
	assert_true(n < size);
	for (char *c = out; *c; c++)
		if (*c == '\'')
			*c = '"';
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct reading reading;
		struct kr_analysis analysis;
		struct kr_str out;
		char text[2000];

		reading_init(&reading);
		spell(&rows[i], text, sizeof text);
		reading_good(&reading, text);
		if (kr_analyze(&reading.ctx, &reading.h, &analysis, &reading.err) != KR_OK)
			fail_msg("%s: %s", rows[i].what, reading.err.text);
		kr_str_init(&out, &reading.ctx.mem);
		describe(&reading.h, &analysis, &out);
		if (strcmp(kr_str_text(&out), rows[i].expected) != 0)
			fail_msg("%s: found \"%s\", expected \"%s\"", rows[i].what, kr_str_text(&out), rows[i].expected);
		if (kr_asg_verify(&analysis.asg, &reading.err) != KR_OK)
			fail_msg("%s: %s", rows[i].what, reading.err.text);
		kr_str_done(&out);
		kr_analysis_done(&analysis);
		reading_done(&reading);
	}
}

static void test_out_of_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		enum kr_status status = KR_NOMEM;
		struct reading reading;
		char text[2000];

		reading_init(&reading);
		spell(&rows[i], text, sizeof text);
		reading_good(&reading, text);

		size_t used = reading.ctx.mem.used;

		for (uint64_t n = 1; status != KR_OK; n++) {
			struct kr_analysis analysis;

			reading.ctx.mem.count = 0;
			reading.ctx.mem.fail_at = n;
			status = kr_analyze(&reading.ctx, &reading.h, &analysis, NULL);
			reading.ctx.mem.fail_at = 0;
			if (status == KR_OK)
				kr_analysis_done(&analysis);
			else
				assert_int_equal(status, KR_NOMEM);
			assert_int_equal(reading.ctx.mem.used, used);
			assert_true(n < 10000);
		}
		reading_done(&reading);
	}
}

/* What the analysis does not deal with is told (KR_OK), or refused. */
static void test_left_out(void **state)
{
	(void)state;
	static const struct {
		struct row row;
		enum kr_status status;
		const char *text;
	} cases[] = {
		{{"", "", "'ops':[['w','a',1]]\n'ops':[['d','a']]\n'ops':[['range',null,null,[],{},{'versions':{'a':'t1'}}]]", ""}, KR_OK,
			"\"versions\" of a key that was not returned, and might come from several versions, is not decided (operation 0 of t2)"},
		{{"", "'initial':'unknown'", "'ops':[['range',null,null,[['a',1]],{},{'versions':{'a':null}}]]", ""}, KR_OK,
			"\"versions\" with an initial value that is not told is not decided (operation 0 of t0)"},
		{{"", "", "'ops':[['add','s',1]]\n'ops':[['scan',{},[],{'versions':{'s':null}}]]", ""}, KR_OK,
			"\"versions\" of a list, a set, a mark or a counter whose value is not always told is not decided (operation 0 of t1)"},
		/* it may have been there at first */
		{{"", "'initial':'unknown'", "'status':'aborted','ops':[['add','s',1]]\n'ops':[['r','s',[1,3]]]", ""}, KR_OK,
			"an element that nobody added, in a set of unknown initial value, is not decided (operation 0 of t1)"},
		{{"", "'initial':'unknown'", "'status':'aborted','ops':[['add','s',1]]\n'ops':[['r','s',[1]]]", ""}, KR_OK, ""},
		{{"", "", "'ops':[['append','l',1]]\n'ops':[['append','l',1]]\n'ops':[['r','l',[1]]]", ""}, KR_OK,
			"a list that shows an element which was appended twice is not decided (operation 0 of t2)"},
		{{"", "'initial':'unknown'", "'ops':[['append','l',1]]\n'ops':[['r','l',[9,1]]]", ""}, KR_OK,
			"a list of unknown initial value is not decided (operation 0 of t1)"},
		{{"", "", "'ops':[['inc','c',1]]\n'ops':[['scan',{'value':{'ge':5}},[]]]", ""}, KR_OK,
			"a condition on the value of a list, a set, a mark or a counter whose value is not always told is not decided (operation 0 of t1)"},
		{{"", "", "'ops':[['inc','c',-2,9223372036854775807]]", ""}, KR_UNSUPPORTED,
			"operation 0 of t0: a counter beyond 64 bits is not supported yet"},
	};

	for (size_t i = 0; i < KR_COUNT(cases); i++) {
		struct reading reading;
		struct kr_analysis analysis;
		char text[2000];

		reading_init(&reading);
		spell(&cases[i].row, text, sizeof text);
		reading_good(&reading, text);
		assert_int_equal(kr_analyze(&reading.ctx, &reading.h, &analysis, &reading.err), cases[i].status);
		assert_string_equal(cases[i].status == KR_OK ? analysis.left_out : reading.err.text, cases[i].text);
		if (cases[i].status == KR_OK)
			kr_analysis_done(&analysis);
		reading_done(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_left_out), cmocka_unit_test(test_out_of_memory)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
