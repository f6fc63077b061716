/* Foreign formats: what their texts mean, as a history in the native format; that failing allocations and deadlines end well; that gzip makes no difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "frontend/native_write.h"
#include "tests/unit/reading.h"

struct meaning {
	const char *name;           /* of the case */
	const char *format, *trace; /* what is to be recognised; file, or folder */
	const char *file, *text;    /* file: inside the folder, or the trace itself */
	const char *file2, *text2;
	bool lenient;
	const char *means;
};

#define H "{\"krait\": 1}\n"

static const struct meaning meanings[] = {
	{"plume: transactions are lines with one number, wherever they stand; sessions by first mention", "plume", "t.txt", "t.txt",
		"w(7,1,3,9)\nr(7,1,2,8)\nw(-8,2,3,9)\nw(9,5,3,4)\nr(9,0,2,8)", NULL, NULL, false,
		H "{\"id\": 9, \"s\": 3, \"ops\": [[\"w\", 7, 1], [\"w\", -8, 2]]}\n"
		  "{\"id\": 8, \"s\": 2, \"ops\": [[\"r\", 7, 1], [\"r\", 9, null]]}\n"
		  "{\"id\": 4, \"s\": 3, \"ops\": [[\"w\", 9, 5]]}\n"},
	{"plume: what aborted is known by line", "plume", "t.txt", "t.txt", "w(1,5,0,-1)\r\nr(2,0,1,-1)\r\n", NULL, NULL, false,
		H "{\"s\": 0, \"status\": \"aborted\", \"ops\": [[\"w\", 1, 5]]}\n"
		  "{\"s\": 1, \"status\": \"aborted\", \"ops\": [[\"r\", 2, null]]}\n"},
	{"plume: a first transaction that writes 0 stands for the beginning", "plume", "t.txt", "t.txt", "w(1,0,0,0)\nr(1,0,1,1)\nr(2,0,1,1)\n", NULL, NULL, false,
		H "{\"id\": 0, \"s\": 0, \"ops\": [[\"w\", 1, 0]]}\n"
		  "{\"id\": 1, \"s\": 1, \"ops\": [[\"r\", 1, 0], [\"r\", 2, null]]}\n"},
	{"plume: 0 that others write, too, may be the initial one", "plume", "t.txt", "t.txt", "r(1,0,0,0)\nw(1,0,0,1)\n", NULL, NULL, false,
		"{\"krait\": 1, \"initial\": {\"1\": 0}}\n"
		"{\"id\": 0, \"s\": 0, \"ops\": [[\"r\", 1, 0]]}\n"
		"{\"id\": 1, \"s\": 0, \"ops\": [[\"w\", 1, 0]]}\n"},
	{"awdit: separators, empty pieces, 0 as a value", "awdit", "t.txt", "t.txt", "=====\nw 1 0\nr 1 0\n-----\n-----\nw 2 7\n=====\n=====\nr 2 7 -- r 3 3", NULL, NULL, false,
		H "{\"s\": 0, \"ops\": [[\"w\", 1, 0], [\"r\", 1, 0]]}\n"
		  "{\"s\": 0, \"ops\": [[\"w\", 2, 7]]}\n"
		  "{\"s\": 1, \"ops\": [[\"r\", 2, 7]]}\n"
		  "{\"s\": 1, \"ops\": [[\"r\", 3, 3]]}\n"},
	{"awdit: lenient leaves out the transaction of a bad line", "awdit", "t.txt", "t.txt", "w 1 1\n---\nw 2 2\nfoo\nw 3 3\n---\nr 1 1\n", NULL, NULL, true,
		"{\"krait\": 1, \"universe\": [2, 3]}\n"
		"{\"s\": 0, \"ops\": [[\"w\", 1, 1]]}\n"
		"{\"id\": \"#3\", \"s\": 0, \"ops\": [[\"r\", 1, 1]]}\n"},
	{"dbcop JSON: long and short events, null and version 0, uncommitted", "dbcop-json", "t.json", "t.json",
		"{\"params\": {\"id\": 0}, \"info\": [1, {\"data\": 2}], \"data\": [[{\"events\": [{\"Write\": {\"variable\": 1, \"version\": 5}}, "
		"{\"Read\": {\"version\": 0, \"variable\": 2}}], \"committed\": true}], [],\n"
		"[{\"committed\": false, \"events\": [[\"r\", 2, null], [\"w\", \"k\", 0], [\"r\", \"k\", 0]]}]], \"end\": \"x\"}\n",
		NULL, NULL, false,
		H "{\"s\": 1, \"ops\": [[\"w\", 1, 5], [\"r\", 2, null]]}\n"
		  "{\"s\": 3, \"status\": \"aborted\", \"ops\": [[\"r\", 2, null], [\"w\", \"k\", 0], [\"r\", \"k\", 0]]}\n"},
	{"dbcop JSON: bare", "dbcop-json", "t.json", "t.json", " [ [ {\"events\": [], \"committed\": true} ] ]", NULL, NULL, false,
		H "{\"s\": 1, \"ops\": []}\n"},
	{"dbcop text: sessions between dashes, uncommitted, initial reads, comments", "dbcop-hist", "t.hist", "t.hist",
		"// [ y:=1 ]\n[ x:=1 ]! [y==? x==0]\n[]\n---\n-\n[ _k9:=2 // half\n  x==1\n] ! // more\n", NULL, NULL, false,
		H "{\"s\": 1, \"status\": \"aborted\", \"ops\": [[\"w\", \"x\", 1]]}\n"
		  "{\"s\": 1, \"ops\": [[\"r\", \"y\", null], [\"r\", \"x\", null]]}\n"
		  "{\"s\": 1, \"ops\": []}\n"
		  "{\"s\": 2, \"status\": \"aborted\", \"ops\": [[\"w\", \"_k9\", 2], [\"r\", \"x\", 1]]}\n"},
	{"dbcop text: 0 is a version where it is written; lenient leaves out the transaction of a bad event", "dbcop-hist", "t.txt", "t.txt",
		"---\n[ x:=0 ] [ y:=a z:=1 ] [ x==0 ]\n", NULL, NULL, true,
		"{\"krait\": 1, \"universe\": [\"z\"]}\n"
		"{\"s\": 1, \"ops\": [[\"w\", \"x\", 0]]}\n"
		"{\"id\": \"#3\", \"s\": 1, \"ops\": [[\"r\", \"x\", 0]]}\n"},
	{"veristrong: any white space, transactions gathered, lists", "veristrong", "t.txt", "t.txt",
		"6\n0 4 A 7 1\n1 5 R 7 2\n1 2\n0 4 A 7 2 0 9 R 8 0\r\n1\t5 A 8 -3 0 9 R 8 1 -3\n", NULL, NULL, false,
		H "{\"id\": 4, \"s\": 0, \"ops\": [[\"append\", 7, 1], [\"append\", 7, 2]]}\n"
		  "{\"id\": 5, \"s\": 1, \"ops\": [[\"r\", 7, [1,2]], [\"append\", 8, -3]]}\n"
		  "{\"id\": 9, \"s\": 0, \"ops\": [[\"r\", 8, null], [\"r\", 8, [-3]]]}\n"},
	{"timekiller: quoted integers, ranks of timestamps, lists", "timekiller", "t.json", "t.json",
		"[{\"tid\": \"7\", \"sid\": \"a\", \"sts\": {\"p\": \"10\", \"l\": 2}, \"cts\": {\"p\": 11, \"l\": \"0\"}, \"ops\": [{\"t\": \"Write\", \"k\": \"3\", \"v\": \"4\"}]},\n"
		"{\"tid\": 8, \"sid\": \"a\", \"rtts\": 1, \"sts\": {\"p\": 10, \"l\": 2}, \"cts\": {\"p\": 12, \"l\": 0}, \"ops\": [{\"t\": \"r\", \"k\": 3, \"v\": 4}, {\"t\": \"R\", \"k\": 5, "
		"\"v\": 0}, {\"t\": \"a\", \"k\": 6, \"v\": 1}, {\"t\": \"r\", \"k\": 6, \"v\": [1]}, {\"t\": \"r\", \"k\": 9}]}]",
		NULL, NULL, false,
		H "{\"id\": 7, \"s\": \"a\", \"snapshot\": 1, \"commit_ts\": 2, \"ops\": [[\"w\", 3, 4]]}\n"
		  "{\"id\": 8, \"s\": \"a\", \"snapshot\": 1, \"commit_ts\": 3, \"ops\": [[\"r\", 3, 4], [\"r\", 5, null], [\"append\", 6, 1], [\"r\", 6, [1]], [\"r\", 9, null]]}\n"},
	{"timekiller: physical times as they are", "timekiller", "t.json", "t.json",
		"[{\"tid\": 7, \"sid\": 1, \"sts\": {\"p\": 10, \"l\": 0}, \"cts\": {\"p\": 15, \"l\": 0}, \"ops\": []}]", NULL, NULL, false,
		H "{\"id\": 7, \"s\": 1, \"snapshot\": 10, \"commit_ts\": 15, \"ops\": []}\n"},
	{"viper: files are sessions in numeric order; tombstones are values; what did not succeed wrote nothing", "viper", "log", "log/J10.log",
		"{\"value\": [[\"w\", 1, -5, true], [\"w\", 1, 6, false], [\"r\", 2, \"nil\", false], [\"d\", 1, 9, -5, false, true]]}\n", "log/J9.log",
		"{:type :ok, :value [[:r 1 9 true] [:i 2 3 nil false false]]}\n{:type :fail :value [[:w 1 1 true]]}\n", false,
		"{\"krait\": 1, \"initial\": \"unwritten\"}\n"
		"{\"s\": \"J9\", \"ops\": [[\"r\", 1, 9], [\"r\", 2, null]]}\n"
		"{\"s\": \"J10\", \"ops\": [[\"w\", 1, -5], [\"r\", 2, null], [\"r\", 1, -5], [\"w\", 1, 9]]}\n"},
	{"viper: an initial transaction; ranges over all keys", "viper", "log", "log/J1.log",
		"{\"value\": [[\"range\", \"nil\", \"nil\", [{\"id\": 1, \"val\": 4}], [{\"id\": 2, \"val\": 5}], true], [\"w\", 3, 6, true]], \"isInitial\": true}\n", "log/J2.log",
		"{\"value\": [[\"range\", \"nil\", \"nil\", [{\"id\": 1, \"val\": 4}, {\"val\": 6, \"id\": 3}], [{\"id\": 2, \"val\": 5}], true]]}\n", false,
		"{\"krait\": 1, \"initial\": {\"1\": 4, \"2\": 5, \"3\": 6}}\n"
		"{\"s\": \"J2\", \"ops\": [[\"range\", null, null, [[1, 4], [3, 6], [2, 5]]]]}\n"},
	{"elle: pairs, outcomes, sessions that end, results that are not known", "elle", "t.edn", "t.edn",
		"; comment\n{:type :invoke, :process 0, :value [[:append 5 1] [:r x]]}\n"
		"{:type :invoke, :process :nemesis, :value {:a #{1 2}}} #_ #_ {:type :ok} 5\n"
		"{:type :invoke :process 1 :value [[:r 5 nil] [:append 5 3]]}\n"
		"{:type :ok, :process 0, :value [[:append 5 1] [:r x []]], :error #inst \"2019\"}\n"
		"{:type :info, :process 1, :value nil}\n"
		"{:type :invoke :process 2 :f :txn :value [[:append :y 2]]}\n"
		"{:type :fail :process 2 :f :txn :error [:a \"b\"]}\n"
		"{:type :ok, :process 1, :value [[:r 5 [1]]]}\n"
		"{:type :invoke :process 3 :value ((:append \"y\" -3N))}\n",
		NULL, NULL, false,
		H "{\"s\": 0, \"begin\": 1, \"end\": 4, \"ops\": [[\"append\", 5, 1], [\"r\", \"x\", null]]}\n"
		  "{\"s\": 1, \"begin\": 3, \"status\": \"unknown\", \"ops\": [[\"r\", 5], [\"append\", 5, 3]]}\n"
		  "{\"s\": 2, \"begin\": 6, \"end\": 7, \"status\": \"aborted\", \"ops\": [[\"append\", \"y\", 2]]}\n"
		  "{\"s\": \"1#2\", \"end\": 8, \"ops\": [[\"r\", 5, [1]]]}\n"
		  "{\"s\": 3, \"begin\": 9, \"status\": \"unknown\", \"ops\": [[\"append\", \"y\", -3]]}\n"},
	{"elle: registers as JSON, a list of maps; [] is a value there", "elle", "t.json", "t.json",
		"[{\"type\": \"invoke\", \"f\": \"txn\", \"process\": 0, \"value\": [[\"w\", \"x\\u0041\", 2]]},\n"
		"{\"type\": \"ok\", \"f\": \"txn\", \"process\": 0, \"value\": [[\"w\", \"xA\", 2], [\"r\", \"y\", null], [\"r\", \"z\", [[], [1, \"a\"]]], [\"r\", \"z\", []]]}]",
		NULL, NULL, false,
		H "{\"s\": 0, \"begin\": 1, \"end\": 2, \"ops\": [[\"w\", \"xA\", 2], [\"r\", \"y\", null], [\"r\", \"z\", [[],[1,\"a\"]]], [\"r\", \"z\", []]]}\n"},
	{"elle: JSON Lines, no process: no session", "elle", "t.jsonl", "t.jsonl",
		"{\"type\": \"ok\", \"value\": [[\"w\", 1, 2.5]]}\n{\"type\": \"ok\", \"value\": [[\"r\", 1, 2.5]], \"process\": null}\n", NULL, NULL, false,
		H "{\"end\": 1, \"ops\": [[\"w\", 1, 2.5]]}\n"
		  "{\"end\": 2, \"ops\": [[\"r\", 1, 2.5]]}\n"},
	{"elle: a process may have a name; only the nemesis is no client", "elle", "t.json", "t.json",
		"[{\"type\": \"ok\", \"process\": \"p\", \"value\": [[\"w\", 1, 2]]}, {\"type\": \"info\", \"process\": \"nemesis\", \"f\": \"kill\", \"value\": 5}]", NULL, NULL, false,
		H "{\"s\": \"p\", \"end\": 1, \"ops\": [[\"w\", 1, 2]]}\n"},
	{"elle: micro-operations under any name; words for r and w", "elle", "t.edn", "t.edn",
		"{:type :invoke, :process 0, :f :write, :value [[:write :x 1]]}\n{:type :ok, :process 0, :f :write, :value [[:write :x 1]]}\n"
		"{:type :ok, :process 1, :f :read-all, :value [[:r :x 1] [:read :y nil]]}\n{:type :fail, :process 1, :f :swap, :value [[:w :y 2]]}\n",
		NULL, NULL, false,
		H "{\"s\": 0, \"begin\": 1, \"end\": 2, \"ops\": [[\"w\", \"x\", 1]]}\n"
		  "{\"s\": 1, \"end\": 3, \"ops\": [[\"r\", \"x\", 1], [\"r\", \"y\", null]]}\n"
		  "{\"s\": 1, \"end\": 4, \"status\": \"aborted\", \"ops\": [[\"w\", \"y\", 2]]}\n"},
	{"elle: words in JSON, with a name", "elle", "t.json", "t.json",
		"[{\"type\": \"ok\", \"f\": \"update\", \"process\": 0, \"value\": [[\"write\", 1, 2], [\"read\", 1, 2]]}]", NULL, NULL, false,
		H "{\"s\": 0, \"end\": 1, \"ops\": [[\"w\", 1, 2], [\"r\", 1, 2]]}\n"},
	{"elle: transactions on groups of keys", "elle", "t.edn", "t.edn",
		"{:type :invoke, :process 0, :f :txn, :value [3 [[:append :x 1]]]}\n{:type :ok, :process 0, :f :txn, :value [3 [[:append :x 1]]]}\n"
		"{:type :ok, :process 0, :f :txn, :value [\"g\" [[:r [1 2] [5]]]]}\n",
		NULL, NULL, false,
		H "{\"s\": 0, \"begin\": 1, \"end\": 2, \"ops\": [[\"append\", \"[3,\\\"x\\\"]\", 1]]}\n"
		  "{\"s\": 0, \"end\": 3, \"ops\": [[\"r\", \"[\\\"g\\\",[1,2]]\", [5]]]}\n"},
	{"elle: one register; outcomes take what was invoked; a failed compare-and-set is a write that was not to be", "elle", "t.edn", "t.edn",
		"{:type :invoke, :process 0, :f :read, :value nil}\n{:type :ok, :process 0, :f :read, :value nil}\n"
		"{:type :invoke, :process 0, :f :write, :value 1}\n{:type :ok, :process 0, :f :write, :value 1}\n"
		"{:type :invoke, :process 0, :f :cas, :value [1 2]}\n{:type :ok, :process 0, :f :cas, :value [1 2]}\n"
		"{:type :invoke, :process 0, :f :cas, :value [1 3]}\n{:type :fail, :process 0, :f :cas, :value [1 3]}\n"
		"{:type :invoke, :process 0, :f :read}\n{:type :fail, :process 0, :f :read, :value :timed-out}\n"
		"{:type :invoke, :process 1, :f :cas, :value [nil 4]}\n{:type :info, :process 1, :f :cas, :value :timed-out}\n"
		"{:type :invoke, :process 2, :f :write, :value \"a\"}\n",
		NULL, NULL, false,
		H "{\"s\": 0, \"begin\": 1, \"end\": 2, \"ops\": [[\"r\", \"register\", null]]}\n"
		  "{\"s\": 0, \"begin\": 3, \"end\": 4, \"ops\": [[\"w\", \"register\", 1]]}\n"
		  "{\"s\": 0, \"begin\": 5, \"end\": 6, \"ops\": [[\"cas\", \"register\", 1, 2, true]]}\n"
		  "{\"s\": 0, \"begin\": 7, \"end\": 8, \"status\": \"aborted\", \"ops\": [[\"w\", \"register\", 3]]}\n"
		  "{\"s\": 0, \"begin\": 9, \"end\": 10, \"status\": \"aborted\", \"ops\": []}\n"
		  "{\"s\": 1, \"begin\": 11, \"status\": \"unknown\", \"ops\": [[\"cas\", \"register\", null, 4, true]]}\n"
		  "{\"s\": 2, \"begin\": 13, \"status\": \"unknown\", \"ops\": [[\"w\", \"register\", \"a\"]]}\n"},
	{"elle: registers by key, as JSON", "elle", "t.json", "t.json",
		"[{\"type\": \"ok\", \"f\": \"write\", \"process\": 0, \"value\": [\"x\", 1]}, {\"type\": \"ok\", \"f\": \"cas\", \"process\": 0, \"value\": [\"x\", [1, 2]]},\n"
		"{\"type\": \"ok\", \"f\": \"cas\", \"process\": 0, \"value\": [\"y\", null, 5]}, {\"type\": \"invoke\", \"f\": \"read\", \"process\": 0, \"value\": [\"x\", null]},\n"
		"{\"type\": \"ok\", \"f\": \"read\", \"process\": 0, \"value\": [\"x\", 2]}, {\"type\": \"fail\", \"f\": \"cas\", \"process\": 0, \"value\": [\"y\", 5, 6]},\n"
		"{\"type\": \"invoke\", \"f\": \"read\", \"process\": 0, \"value\": [\"y\", null]}, {\"type\": \"info\", \"f\": \"read\", \"process\": 0, \"value\": [\"y\", null]}]",
		NULL, NULL, false,
		H "{\"s\": 0, \"end\": 1, \"ops\": [[\"w\", \"x\", 1]]}\n"
		  "{\"s\": 0, \"end\": 2, \"ops\": [[\"cas\", \"x\", 1, 2, true]]}\n"
		  "{\"s\": 0, \"end\": 3, \"ops\": [[\"cas\", \"y\", null, 5, true]]}\n"
		  "{\"s\": 0, \"begin\": 4, \"end\": 5, \"ops\": [[\"r\", \"x\", 2]]}\n"
		  "{\"s\": 0, \"end\": 6, \"status\": \"aborted\", \"ops\": [[\"w\", \"y\", 6]]}\n"
		  "{\"s\": 0, \"begin\": 7, \"status\": \"unknown\", \"ops\": [[\"r\", \"y\"]]}\n"},
	{"elle: lenient goes on behind a bad operation", "elle", "t.edn", "t.edn",
		"{:type :invoke :process 0 :value [[:w 1 1]]}\n{:type :ok :process 0 :value [[:cas 1 1]]}\n{:type :invoke :process 0 :value [[:w 2 1]]}\n"
		"{:type :ok :process 0 :value [[:w 2 1]]}\n",
		NULL, NULL, true,
		"{\"krait\": 1, \"universe\": [1]}\n"
		"{\"id\": \"#2\", \"s\": 0, \"begin\": 3, \"end\": 4, \"ops\": [[\"w\", 2, 1]]}\n"},
};

static void set_up(struct reading *r, const struct meaning *m)
{
	reading_init(r);
	r->options.lenient = m->lenient;
	reading_write(r, m->file, m->text, strlen(m->text));
	if (m->file2)
		reading_write(r, m->file2, m->text2, strlen(m->text2));
}

static void expect_native(struct reading *r, const char *expected)
{
	struct kr_str text;
	struct kr_err err;

	kr_err_init(&err);
	kr_str_init(&text, &r->ctx.mem);
	assert_int_equal(kr_native_write_text(&r->ctx, &r->h, &text, &err), KR_OK);
	assert_string_equal(kr_str_text(&text), expected);
	kr_str_done(&text);
}

static void means(void **state)
{
	const struct meaning *m = *state;
	struct reading r;

	set_up(&r, m);
	if (reading_read(&r, m->trace) != KR_OK)
		fail_msg("%s", r.message);
	assert_string_equal(r.h.format, m->format);
	assert_int_equal(r.h.skipped, m->lenient ? 1 : 0);
	expect_native(&r, m->means);
	reading_done(&r);
}

/* Each allocation fails once: then there is no memory, and nothing is kept. */
static void survives_failing_allocations(void **state)
{
	const struct meaning *m = *state;
	struct reading r;
	uint64_t fail_at = 0;

	set_up(&r, m);
	do {
		if (r.read)
			kr_history_done(&r.h);
		r.read = false;
		kr_ctx_init(&r.ctx, 0, 0);
		r.ctx.mem.fail_at = ++fail_at;
		(void)reading_read(&r, m->trace);
		assert_true(r.status == KR_OK || r.status == KR_NOMEM);
		assert_true(fail_at < 10000);
	} while (r.status != KR_OK);
	assert_true(fail_at > 10);
	r.ctx.mem.fail_at = 0;
	reading_done(&r);
}

/* A file that has been compressed means the same; a log of a folder has a name that says so, then. */
static void means_the_same_compressed(void **state)
{
	const struct meaning *m = *state;
	struct reading r;
	char path[256];

	set_up(&r, m);
	snprintf(path, sizeof path, "%s/%s", r.folder, m->file);
	if (strcmp(m->trace, m->file) != 0) {
		assert_int_equal(unlink(path), 0);
		strcat(path, ".gz");
	}
	gzFile file = gzopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(gzwrite(file, m->text, (unsigned)strlen(m->text)), (int)strlen(m->text));
	assert_int_equal(gzclose(file), Z_OK);
	if (reading_read(&r, m->trace) != KR_OK)
		fail_msg("%s", r.message);
	assert_string_equal(r.h.format, m->format);
	expect_native(&r, m->means);
	reading_done(&r);
}

/* A byte order mark before the text is no part of it, in files of folders, too. */
static void means_the_same_marked(void **state)
{
	const struct meaning *m = *state;
	struct reading r;
	struct meaning marked = *m;
	char text[4096] = "\xef\xbb\xbf", text2[4096] = "\xef\xbb\xbf";

	assert_true(strlen(m->text) + 4 < sizeof text);
	marked.text = strcat(text, m->text);
	if (m->file2)
		marked.text2 = strcat(text2, m->text2);
	set_up(&r, &marked);
	if (reading_read(&r, m->trace) != KR_OK)
		fail_msg("%s", r.message);
	assert_string_equal(r.h.format, m->format);
	expect_native(&r, m->means);
	reading_done(&r);
}

/* Lines that end with CR and LF. */
static const char *with_returns(const char *text, char out[4096])
{
	size_t n = 0;

	for (; *text; text++) {
		if (*text == '\n' && (n == 0 || out[n - 1] != '\r'))
			out[n++] = '\r';
		out[n++] = *text;
		assert_true(n + 2 < 4096);
	}
	out[n] = '\0';
	return out;
}

static void means_the_same_with_returns(void **state)
{
	const struct meaning *m = *state;
	struct reading r;
	struct meaning returned = *m;
	char text[4096], text2[4096];

	returned.text = with_returns(m->text, text);
	if (m->file2)
		returned.text2 = with_returns(m->text2, text2);
	set_up(&r, &returned);
	if (reading_read(&r, m->trace) != KR_OK)
		fail_msg("%s", r.message);
	assert_string_equal(r.h.format, m->format);
	expect_native(&r, m->means);
	reading_done(&r);
}

/* ---- dbcop's binary form ---- */

struct bytes { unsigned char at[1024]; size_t n; };

static void put_word(struct bytes *b, uint64_t word)
{
	for (int i = 0; i < 8; i++)
		b->at[b->n++] = (unsigned char)(word >> 8 * i);
}

static void put_text(struct bytes *b, const char *text)
{
	put_word(b, strlen(text));
	memcpy(b->at + b->n, text, strlen(text));
	b->n += strlen(text);
}

static void put_head(struct bytes *b)
{
	for (int i = 0; i < 5; i++)
		put_word(b, 99); /* which says nothing */
	put_text(b, "PostgreSQL");
	put_text(b, "2019-03-21T04:46:03.842580303+01:00");
	put_text(b, "2019-03-21T04:46:03+01:00");
}

static void put_event(struct bytes *b, bool write, uint64_t key, uint64_t value, bool success)
{
	b->at[b->n++] = write;
	put_word(b, key);
	put_word(b, value);
	b->at[b->n++] = success;
}

static void dbcop_events(void **state)
{
	struct reading r;
	struct bytes b = {.n = 0};

	(void)state;
	reading_init(&r);
	put_head(&b);
	put_word(&b, 2);
	put_word(&b, 2);
	put_word(&b, 3);
	put_event(&b, true, 1, 5, true);
	put_event(&b, true, 1, 6, false); /* left out */
	put_event(&b, false, UINT64_MAX, 0, true);
	b.at[b.n++] = 1;
	put_word(&b, 1);
	put_event(&b, true, 2, (uint64_t)INT64_MAX + 1, true);
	b.at[b.n++] = 0;
	put_word(&b, 0); /* a session without transactions */
	reading_write(&r, "history.bincode", b.at, b.n);
	assert_int_equal(reading_read(&r, "history.bincode"), KR_OK);
	assert_string_equal(r.h.format, "dbcop");
	assert_int_equal(r.h.sessions.n, 2);
	expect_native(&r,
		H "{\"s\": 0, \"ops\": [[\"w\", 1, 5], [\"r\", \"18446744073709551615\", null]]}\n"
		  "{\"s\": 0, \"status\": \"aborted\", \"ops\": [[\"w\", 2, \"9223372036854775808\"]]}\n");
	reading_done(&r);
}

static void put_times(struct bytes *b, uint64_t start, uint64_t end)
{
	put_word(b, start);
	put_word(b, 0);
	put_word(b, end);
	put_word(b, 0);
}

static void dbcop_events_with_times(void **state)
{
	struct reading r;
	struct bytes b = {.n = 0};

	(void)state;
	reading_init(&r);
	put_head(&b);
	put_word(&b, 1);
	put_word(&b, 1);
	put_word(&b, 2);
	put_event(&b, true, 1, 5, true);
	put_times(&b, 20, 30);
	put_event(&b, false, 1, 5, true);
	put_times(&b, 10, 25);
	b.at[b.n++] = 1;
	reading_write(&r, "history.bincode", b.at, b.n);
	assert_int_equal(reading_read(&r, "history.bincode"), KR_OK);
	expect_native(&r, H "{\"s\": 0, \"begin\": 10, \"end\": 30, \"ops\": [[\"w\", 1, 5], [\"r\", 1, 5]]}\n");
	reading_done(&r);
}

/* The first of the five numbers may begin with the bytes of a byte order mark. */
static void dbcop_is_no_text(void **state)
{
	struct reading r;
	struct bytes b = {.n = 0};

	(void)state;
	reading_init(&r);
	put_head(&b);
	memcpy(b.at, "\xef\xbb\xbf", 3);
	put_word(&b, 1);
	put_word(&b, 1);
	put_word(&b, 1);
	put_event(&b, true, 1, 5, true);
	b.at[b.n++] = 1;
	reading_write(&r, "history.bincode", b.at, b.n);
	assert_int_equal(reading_read(&r, "history.bincode"), KR_OK);
	expect_native(&r, H "{\"s\": 0, \"ops\": [[\"w\", 1, 5]]}\n");
	reading_done(&r);
}

int main(void)
{
	static struct CMUnitTest tests[5 * KR_COUNT(meanings)];
	const struct CMUnitTest dbcop[] = {cmocka_unit_test(dbcop_events), cmocka_unit_test(dbcop_events_with_times), cmocka_unit_test(dbcop_is_no_text)};
	size_t n = 0;

	for (size_t i = 0; i < KR_COUNT(meanings); i++) {
		void *state = (void *)(uintptr_t)&meanings[i];
		tests[n++] = (struct CMUnitTest){.name = meanings[i].name, .test_func = means, .initial_state = state};
		tests[n++] = (struct CMUnitTest){.name = "failing allocations", .test_func = survives_failing_allocations, .initial_state = state};
		tests[n++] = (struct CMUnitTest){.name = "compressed", .test_func = means_the_same_compressed, .initial_state = state};
		tests[n++] = (struct CMUnitTest){.name = "marked", .test_func = means_the_same_marked, .initial_state = state};
		tests[n++] = (struct CMUnitTest){.name = "with CR", .test_func = means_the_same_with_returns, .initial_state = state};
	}
	return _cmocka_run_group_tests("meanings", tests, n, NULL, NULL) + cmocka_run_group_tests(dbcop, NULL, NULL);
}
