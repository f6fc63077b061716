/* verify/levels, pattern, snapshots, world: which cycles which level forbids, and which worlds prove it. Expected: the definitions of docs/levels.md, by hand. */
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
#define SO(from, to) "{'from':'" from "','to':'" to "','kind':'so'}"
#define SNAPSHOTS(list) "'verdict':'satisfied','snapshots':[" list "]"
#define COMMITS(list, sources) "'verdict':'satisfied','commits':[" list "],'sources':[" sources "]"
#define SERIAL(list) "'verdict':'satisfied','serial':[" list "]"
#define AT(id, level_order) .level = id, .order = level_order
#define NOT_FORBIDDEN(id, why) .expected = KR_BAD, .message = "cycle 1 is not one that " id " with order none forbids: it has " why

/* Write skew: each reads what the other writes. */
static const char skew[] = "{'id':'a','ops':[['r','x',null],['w','y',1]]}\n{'id':'b','ops':[['r','y',null],['w','x',1]]}";
#define SKEW CYCLES(CYCLE(RW("a", "b", "x", "0", "null") "," RW("b", "a", "y", "0", "null")))

/* Read skew: b sees x before a and y after it. */
static const char read_skew[] = "{'id':'a','ops':[['w','x',1],['w','y',1]]}\n{'id':'b','ops':[['r','x',null],['r','y',1]]}";
static const char read_skew_late[] = "{'id':'a','ops':[['w','x',1],['w','y',1]]}\n{'id':'b','ops':[['r','y',1],['r','x',null]]}";
#define READ_SKEW(rw, wr) CYCLES(CYCLE(RW("b", "a", "x", rw, "null") "," WR("a", "b", "y", wr)))

/* Lost update, and the same through a read that is not through a cursor. */
static const char lost[] = "{'id':'a','ops':[['r','x',null],['w','x',1]]}\n{'id':'b','ops':[['r','x',null],['w','x',2]]}\n{'version_order':'x','writers':['b','a']}";
static const char lost_loose[] =
	"{'id':'a','ops':[['r','x',null,{'cursor':false}],['w','x',1]]}\n{'id':'b','ops':[['r','x',null],['w','x',2]]}\n{'version_order':'x','writers':['b','a']}";
#define LOST CYCLES(CYCLE(RW("a", "b", "x", "0", "null") "," WW("b", "a", "x")))

/* Long fork: c sees a's write and not b's, d the other way round. */
static const char fork[] = "{'id':'a','ops':[['w','x',1]]}\n{'id':'b','ops':[['w','y',1]]}\n"
			   "{'id':'c','ops':[['r','x',1],['r','y',null]]}\n{'id':'d','ops':[['r','x',null],['r','y',1]]}";
#define FORK \
	CYCLES(CYCLE(WR("a", "c", "x", "0") "," RW("c", "b", "y", "1", "null") "," WR("b", "d", "y", "1") "," RW("d", "a", "x", "0", "null")))

/* What b did not find, a inserted, and the other way round. */
static const char phantoms[] = "{'id':'a','ops':[['range',null,null,[]],['w','x',1]]}\n{'id':'b','ops':[['range',null,null,[]],['w','y',1]]}";
#define PHANTOMS CYCLES(CYCLE(PRW("a", "b", "y", "0", "null") "," PRW("b", "a", "x", "0", "null")))

/* b, of the same session, misses what a wrote. */
static const char stale[] = "{'id':'a','s':1,'ops':[['w','x',1]]}\n{'id':'b','s':1,'ops':[['r','x',null]]}";
#define STALE CYCLES(CYCLE(SO("a", "b") "," RW("b", "a", "x", "0", "null")))

/* Two versions of one value; whose was read makes a difference. */
static const char twins[] = "{'id':'a','ops':[['w','x',1],['w','y',1]]}\n{'id':'b','ops':[['w','x',1],['w','y',2]]}\n{'id':'c','ops':[['r','x',1],['r','y',1]]}";

static const char garbage[] = "{'id':'a','ops':[['r','x',7]]}";
static const char unseen[] = "{'id':'a','status':'aborted','ops':[['w','x',7]]}\n{'id':'b','ops':[['r','x',7]]}";

/* No choice explains what r5 and r6 read, which is nothing to PL-1: what was read, but garbage, does not matter there. */
static const char unexplained[] =
	"{'krait':1,'initial':'unknown'}\n{'id':'r5','ops':[['r','x',5]]}\n{'id':'r6','ops':[['r','x',6]]}\n"
	"{'id':'u5','status':'unknown','ops':[['r','x',7],['w','x',5]]}\n{'id':'u6','status':'unknown','ops':[['r','x',8],['w','x',6]]}";

static const struct verify_row rows[] = {
	{"no choice explains what was read, read committed", unexplained, AT("pl-2", "none"), .claim = CYCLES("")},
	{"no choice explains what was read, read uncommitted", unexplained, AT("pl-1", "none"), .claim = CYCLES(""), .expected = KR_BAD,
		.message = "the cases are not exhausted: no cycle follows from the history"},
	{"write skew, SER", skew, AT("ser", "none"), .claim = SKEW},
	{"write skew, repeatable read", skew, AT("pl-2.99", "none"), .claim = SKEW},
	{"write skew, SI", skew, AT("si", "none"), .claim = SKEW, NOT_FORBIDDEN("si", "two rw in a row")},
	{"write skew, consistent view", skew, AT("pl-2+", "none"), .claim = SKEW, NOT_FORBIDDEN("pl-2+", "an edge of another kind, and not exactly one rw")},
	{"write skew, prefix consistency", skew, AT("pc", "none"), .claim = SKEW, NOT_FORBIDDEN("pc", "an rw after an edge that none may follow")},
	{"write skew, update serializability", skew, AT("pl-3u", "none"), .claim = SKEW},
	{"read skew, SI", read_skew, AT("si", "none"), .claim = READ_SKEW("0", "1")},
	{"read skew, prefix consistency", read_skew, AT("pc", "none"), .claim = READ_SKEW("0", "1")},
	{"read skew, causal", read_skew, AT("cc", "none"), .claim = READ_SKEW("0", "1")},
	{"read skew, read atomic", read_skew, AT("ra", "none"), .claim = READ_SKEW("0", "1")},
	{"read skew, read committed", read_skew, AT("pl-2", "none"), .claim = READ_SKEW("0", "1"), NOT_FORBIDDEN("pl-2", "an edge of another kind")},
	{"read skew, stale read first, axiomatic read committed", read_skew, AT("rc-ax", "none"), .claim = READ_SKEW("0", "1"),
		NOT_FORBIDDEN("rc-ax", "an edge of another kind, and a wr that was seen later than what was overwritten")},
	{"read skew, stale read last, axiomatic read committed", read_skew_late, AT("rc-ax", "none"), .claim = READ_SKEW("1", "0")},
	{"read skew, stale read first, monotonic view", read_skew, AT("pl-2l", "none"), .claim = READ_SKEW("0", "1"),
		NOT_FORBIDDEN("pl-2l", "an edge of another kind, and a wr that was seen later than what was overwritten")},
	{"read skew, stale read last, monotonic view", read_skew_late, AT("pl-2l", "none"), .claim = READ_SKEW("1", "0")},
	{"lost update, cursor stability", lost, AT("pl-cs", "none"), .claim = LOST},
	{"lost update without a cursor, cursor stability", lost_loose, AT("pl-cs", "none"), .claim = LOST,
		NOT_FORBIDDEN("pl-cs", "an edge of another kind, and an rw of a read that was not through a cursor")},
	{"lost update, prefix consistency", lost, AT("pc", "none"), .claim = LOST, NOT_FORBIDDEN("pc", "an rw after an edge that none may follow")},
	{"lost update, causal", lost, AT("cc", "none"), .claim = LOST, NOT_FORBIDDEN("cc", "an edge of another kind, and an edge of another kind")},
	{"long fork, SI", fork, AT("si", "none"), .claim = FORK},
	{"long fork, prefix consistency", fork, AT("pc", "none"), .claim = FORK},
	{"long fork, parallel SI", fork, AT("psi", "none"), .claim = FORK, NOT_FORBIDDEN("psi", "an edge of another kind, and not exactly one rw")},
	{"long fork, update serializability", fork, AT("pl-3u", "none"), .claim = FORK, NOT_FORBIDDEN("pl-3u", "two transactions that write nothing")},
	{"phantoms, repeatable read", phantoms, AT("pl-2.99", "none"), .claim = PHANTOMS,
		NOT_FORBIDDEN("pl-2.99", "an rw of keys that a predicate read did not return")},
	{"phantoms, SER", phantoms, AT("ser", "none"), .claim = PHANTOMS},
	{"session order, causal", stale, AT("cc", "session"), .claim = STALE},
	{"session order, axiomatic read committed", stale, AT("rc-ax", "session"), .claim = STALE, .expected = KR_BAD,
		.message = "cycle 1 is not one that rc-ax with order session forbids: it has an edge of another kind, and an edge of another kind"},
	{"an unknown level", skew, AT("pl-9", "none"), .claim = SKEW, .expected = KR_UNSUPPORTED, .message = "certificates of a level that is not known cannot be checked"},

	/* starts and commits */
	{"both start, then both commit", skew, AT("si", "none"), .claim = SNAPSHOTS("'a','b','a','b'")},
	{"it proves a weaker level", skew, AT("pl-2+", "none"), .claim = SNAPSHOTS("'a','b','a','b'")},
	{"it does not prove a stronger one", skew, AT("ser", "none"), .claim = SNAPSHOTS("'a','b','a','b'"), .expected = KR_BAD,
		.message = "starts and commits do not prove ser"},
	{"b starts after a committed", skew, AT("si", "none"), .claim = SNAPSHOTS("'a','a','b','b'"), .expected = KR_BAD,
		.message = "operation 0 of b (r) saw that y is null, but in the order it is 1 there"},
	{"first committer wins", lost, AT("si", "none"), .claim = SNAPSHOTS("'b','a','b','a'"), .expected = KR_BAD,
		.message = "b and a both write x, and neither starts after the other has committed"},
	{"prefix consistency lets both win", lost, AT("pc", "none"), .claim = SNAPSHOTS("'b','a','b','a'")},
	{"a session's next starts too early", stale, AT("si", "session"), .claim = SNAPSHOTS("'a','b','a','b'"), .expected = KR_BAD,
		.message = "b comes after a in their session, but before it in the order"},
	{"without the session it may", stale, AT("si", "none"), .claim = SNAPSHOTS("'a','b','a','b'")},
	{"one never commits", skew, AT("si", "none"), .claim = SNAPSHOTS("'a','b','a'"), .expected = KR_BAD, .message = "b starts in the order, but does not commit"},
	{"one commits twice", skew, AT("si", "none"), .claim = SNAPSHOTS("'a','b','a','b','b'"), .expected = KR_BAD, .message = "b is three times in the order"},

	/* worlds */
	{"long fork, parallel SI satisfied", fork, AT("psi", "none"), .claim = COMMITS("'a','b','c','d'", "")},
	{"long fork, not SI by an order of commits", fork, AT("si", "none"), .claim = COMMITS("'a','b','c','d'", ""), .expected = KR_BAD,
		.message = "an order of commits does not prove si"},
	{"long fork, update serializability satisfied", fork, AT("pl-3u", "none"), .claim = COMMITS("'a','b','c','d'", "")},
	{"read skew, read committed satisfied", read_skew, AT("pl-2", "none"), .claim = COMMITS("'a','b'", "")},
	{"read skew, read committed, reader first", read_skew, AT("pl-2", "none"), .claim = COMMITS("'b','a'", ""), .expected = KR_BAD,
		.message = "in this world there is a cycle that pl-2 forbids: b saw what was only committed after it by a"},
	{"read skew, consistent view", read_skew, AT("pl-2+", "none"), .claim = COMMITS("'a','b'", ""), .expected = KR_BAD,
		.message = "in this world there is a cycle that pl-2+ forbids: b saw a version older than that of a"},
	{"lost update, read committed satisfied", lost, AT("pl-2", "none"), .claim = COMMITS("'b','a'", "")},
	{"lost update, cursor stability by a world", lost, AT("pl-cs", "none"), .claim = COMMITS("'b','a'", ""), .expected = KR_BAD,
		.message = "in this world there is a cycle that pl-cs forbids: a saw a version older than that of b"},
	{"lost update without a cursor, cursor stability satisfied", lost_loose, AT("pl-cs", "none"), .claim = COMMITS("'b','a'", "")},
	{"phantoms, repeatable read satisfied", phantoms, AT("pl-2.99", "none"), .claim = COMMITS("'a','b'", "")},
	{"a source told", twins, AT("pl-2+", "none"), .claim = COMMITS("'a','c','b'", "{'txn':'c','op':0,'key':'x','source':'a'}")},
	{"a source told that is not committed before", twins, AT("pl-2+", "none"), .claim = COMMITS("'a','c','b'", "{'txn':'c','op':0,'key':'x','source':'b'}"),
		.expected = KR_BAD, .message = "in this world there is a cycle that pl-2+ forbids: c saw what was only committed after it by b"},
	{"a source told that has another value", twins, AT("pl-2", "none"), .claim = COMMITS("'a','b','c'", "{'txn':'c','op':1,'key':'y','source':'b'}"),
		.expected = KR_BAD, .message = "operation 1 of c (r) saw that y is 1, but in the order it is 2 there"},
	{"stale, read uncommitted satisfied", stale, AT("pl-1", "session"), .claim = COMMITS("'a','b'", "")},
	{"garbage, read uncommitted", garbage, AT("pl-1", "none"), .claim = COMMITS("'a'", ""), .expected = KR_BAD, .message = "operation 0 of a is a garbage read of x"},
	{"an aborted read, read uncommitted satisfied", unseen, AT("pl-1", "none"), .claim = COMMITS("'b'", "")},
	{"an aborted read, read committed", unseen, AT("pl-2", "none"), .claim = COMMITS("'b'", ""), .expected = KR_BAD,
		.message = "nothing that took effect in this world explains what operation 0 of b saw of x"},
	{"a serial order proves every level", stale, AT("cc", "none"), .claim = SERIAL("'b','a'")},
};

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(rows)];

	VERIFY_TESTS(rows, tests);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
