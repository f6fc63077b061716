/* ASG: candidates, membership, index, text form and verifier, on a graph given as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/asg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* Two keys. x: initial 0, t0, t1, t3; y: initial 4, t1. t2 is aborted, t3 unknown and open. */
static const char sample[] = "asg 1 skew -5\n"
			     "txn 0 \"t 0\" present session 0 begin 10 end 20\n"
			     "txn 1 \"\\\"q\\\\\" present session 1 begin -9223372036854775808\n"
			     "txn 2 \"nul\\u0000end\" absent\n"
			     "txn 3 \"\xc3\xa9\xe2\x82\xac\" open unknown session 1 end 9223372036854775807\n"
			     "txn 4 \"five\" present unknown\n"
			     "key 0 \"x\"\n"
			     "key 1 \"\" open\n"
			     "version 0 key 0 initial value null\n"
			     "version 1 key 0 by 0 value 1\n"
			     "version 2 key 0 by 1 value \"a b\"\n"
			     "version 3 key 0 by 3 value {\"k\":[1,2]}\n"
			     "version 4 key 1 initial\n"
			     "version 5 key 1 by 1 value 7\n"
			     "set 0 {1 3}\n"
			     "set 1 not {2}\n"
			     "set 2 {}\n"
			     "set 3 not {}\n"
			     "observe txn 0 op 0 key 0 set 0\n"
			     "observe txn 0 op 4 key 1 set 3 predicate\n"
			     "observe txn 1 op 1 key 0 set 1\n"
			     "observe txn 4 op 0 key 0 set 0\n"
			     "observe txn 4 op 0 key 1 set 2\n"
			     "order 1 < 3\n"
			     "order 0 < 2\n"
			     "end asg\n";

static void read_ok(struct kr_asg *asg, struct kr_ctx *ctx, const char *text)
{
	struct kr_err err;
	const char *rest = NULL;

	kr_err_init(&err);
	kr_ctx_init(ctx, 0, 0);

	enum kr_status status = kr_asg_read(asg, ctx, text, &rest, &err);

	if (status)
		fail_msg("line %u: %s", err.line, err.text);
	assert_string_equal(rest, "");
}

static void done(struct kr_asg *asg, struct kr_ctx *ctx)
{
	kr_asg_done(asg);
	assert_int_equal(ctx->mem.used, 0);
}

static void test_round_trip(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_str out;

	read_ok(&asg, &ctx, sample);
	kr_str_init(&out, &ctx.mem);
	kr_asg_print(&asg, &out);
	assert_string_equal(kr_str_text(&out), sample);
	kr_str_done(&out);
	done(&asg, &ctx);
}

static void test_read_fields(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_str name;

	read_ok(&asg, &ctx, sample);
	assert_int_equal(asg.ntxns, 5);
	assert_int_equal(asg.nkeys, 2);
	assert_int_equal(asg.nversions, 6);
	assert_int_equal(asg.nobs, 5);
	assert_int_equal(asg.nsets, 4);
	assert_int_equal(asg.nmembers, 3);
	assert_int_equal(asg.norders, 2);
	assert_int_equal(asg.nsessions, 2);
	assert_int_equal(asg.clock_skew, -5);
	assert_true(asg.txns[1].has_begin && !asg.txns[1].has_end && kr_asg_begin(&asg, (kr_txn){1}) == INT64_MIN);
	assert_true(!asg.txns[3].has_begin && asg.txns[3].has_end && kr_asg_end(&asg, (kr_txn){3}) == INT64_MAX);
	assert_int_equal(asg.txns[3].presence, KR_OPEN);
	assert_true(asg.txns[4].outcome_unknown && asg.txns[4].presence == KR_PRESENT);
	assert_int_equal(asg.txns[2].presence, KR_ABSENT_TXN);
	assert_int_equal(asg.txns[2].session, KR_NONE);
	assert_true(!asg.keys[0].open_initial && asg.keys[1].open_initial);
	assert_int_equal(asg.keys[2].first, 6);
	assert_int_equal(asg.obs_first[1], 2);
	assert_int_equal(asg.obs_first[2], 3);
	assert_int_equal(asg.obs_first[4], 3);
	assert_int_equal(asg.obs_first[5], 5);
	kr_str_init(&name, &ctx.mem);
	asg.names.txn(asg.names.data, (kr_txn){2}, &name);
	assert_int_equal(name.n, 7);
	assert_memory_equal(kr_str_text(&name), "nul\0end", 7);
	kr_str_done(&name);
	done(&asg, &ctx);
}

/* The candidates of observation o, as bits of version numbers. */
static uint32_t candidates(const struct kr_asg *asg, uint32_t o)
{
	uint32_t bits = 0;
	kr_version v;

	for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v);) {
		assert_int_equal(bits >> v.i, 0); /* ascending */
		bits |= 1u << v.i;
	}
	return bits;
}

static void test_candidates(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_asg asg;

	read_ok(&asg, &ctx, sample);
	assert_int_equal(candidates(&asg, 0), 1 << 3);              /* {1 3} without t0's own version 1 */
	assert_int_equal(candidates(&asg, 1), 1 << 4 | 1 << 5);     /* all of key 1 */
	assert_int_equal(candidates(&asg, 2), 1 | 1 << 1 | 1 << 3); /* not {2}; its own version is the 2 */
	assert_int_equal(candidates(&asg, 3), 1 << 1 | 1 << 3);
	assert_int_equal(candidates(&asg, 4), 0);
	asg.txns[3].presence = KR_ABSENT_TXN;
	assert_int_equal(candidates(&asg, 0), 0);
	assert_int_equal(candidates(&asg, 2), 1 | 1 << 1);
	done(&asg, &ctx);
}

static void test_membership(void **state)
{
	(void)state;
	static const bool expected[4][6] = {
		{false, true, false, true, false, false},
		{true, true, false, true, false, false},
		{false, false, false, false, false, false},
		{true, true, true, true, true, true},
	};
	struct kr_ctx ctx;
	struct kr_asg asg;

	read_ok(&asg, &ctx, sample);
	for (uint32_t s = 0; s < 4; s++)
		for (uint32_t v = 0; v < (s < 2 ? 4u : 6u); v++)
			assert_int_equal(kr_asg_in_set(&asg, s, (kr_version){v}), expected[s][v]);
	done(&asg, &ctx);
}

static void test_index(void **state)
{
	(void)state;
	static const uint32_t expected[5][2] = {{1, KR_NONE}, {2, 5}, {KR_NONE, KR_NONE}, {3, KR_NONE}, {KR_NONE, KR_NONE}};
	struct kr_ctx ctx;
	struct kr_asg asg;

	read_ok(&asg, &ctx, sample);
	for (uint32_t t = 0; t < 5; t++)
		for (uint32_t k = 0; k < 2; k++)
			assert_int_equal(kr_asg_version_of(&asg, (kr_txn){t}, (kr_key){k}).i, expected[t][k]);
	assert_int_equal(kr_asg_initial(&asg, (kr_key){1}).i, 4);
	assert_true(kr_asg_is_initial(&asg, (kr_version){4}));
	assert_false(kr_asg_is_initial(&asg, (kr_version){5}));
	done(&asg, &ctx);
}

/* The examples in docs/asg.md. */
static void test_documented(void **state)
{
	(void)state;
	static char page[1 << 16];
	FILE *file = fopen(KR_SOURCE_DIR "/docs/asg.md", "r");
	uint32_t n = 0;

	assert_non_null(file);
	page[fread(page, 1, sizeof page - 1, file)] = '\0';
	(void)fclose(file);
	for (char *example = strstr(page, "```\nasg 1"); example; n++) {
		char *end = strstr(example, "\n```\n");
		struct kr_ctx ctx;
		struct kr_asg asg;
		struct kr_str out;

		assert_non_null(end);
		end[1] = '\0';
		read_ok(&asg, &ctx, example + 4);
		kr_str_init(&out, &ctx.mem);
		kr_asg_print(&asg, &out);
		assert_string_equal(kr_str_text(&out), example + 4);
		kr_str_done(&out);
		done(&asg, &ctx);
		example = strstr(end + 2, "```\nasg 1");
	}
	assert_int_equal(n, 2);
}

/* A set with a part for element 5, a counter with one for t1's increment and its base; guards, a loose observation, a sum. */
static const char grown[] = "asg 1\n"
			    "txn 0 present\n"
			    "txn 1 open unknown\n"
			    "txn 2 present\n"
			    "key 0 \"s\"\n"
			    "key 1 \"n\"\n"
			    "part 2 of 0 open label 40 {\"e\": 5}\n"
			    "part 3 of 1 label 7 \"t1\"\n"
			    "part 4 of 1\n"
			    "version 0 key 0 initial\n"
			    "version 1 key 0 by 0\n"
			    "version 2 key 0 by 1\n"
			    "version 3 key 1 initial\n"
			    "version 4 key 1 by 0\n"
			    "version 5 key 1 by 1\n"
			    "version 6 key 2 initial\n"
			    "version 7 key 2 by 0\n"
			    "version 8 key 3 initial\n"
			    "version 9 key 3 by 1\n"
			    "version 10 key 4 initial\n"
			    "version 11 key 4 by 0\n"
			    "set 0 not {}\n"
			    "set 1 {7}\n"
			    "observe txn 2 op 0 key 2 set 1 predicate loose\n"
			    "observe txn 2 op 1 key 3 set 0 loose\n"
			    "observe txn 2 op 1 key 4 set 0\n"
			    "order 1 < 2 if 2\n"
			    "order 2 < 1 if 1\n"
			    "sum txn 2 op 1 key 1 total -3 {obs 1 = 9 weight -4 obs 2 = 10 weight 1 obs 2 = 11 weight 9223372036854775807}\n"
			    "sum txn 2 op 2 key 1 total 0 {}\n"
			    "end asg\n";

static void test_grown(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_str out;

	read_ok(&asg, &ctx, grown);
	assert_int_equal(asg.nkeys, 5);
	assert_int_equal(asg.nparts, 3);
	assert_int_equal(asg.nsums, 2);
	assert_int_equal(asg.nterms, 3);
	assert_int_equal(asg.parts[0].of.i, 0);
	assert_int_equal(asg.parts[0].label, 40);
	assert_int_equal(asg.parts[2].label, KR_NONE);
	assert_int_equal(kr_asg_whole(&asg, (kr_key){3}).i, 1);
	assert_int_equal(kr_asg_whole(&asg, (kr_key){1}).i, 1);
	assert_true(asg.keys[2].open_initial && !asg.keys[3].open_initial);
	assert_true(asg.obs[0].predicate && asg.obs[0].loose && asg.obs[1].loose && !asg.obs[1].predicate && !asg.obs[2].loose);
	assert_int_equal(asg.orders[0].guard.i, 2);
	assert_int_equal(asg.sums[0].total, -3);
	assert_int_equal(asg.sums[0].count, 3);
	assert_int_equal(asg.terms[2].obs.i, 2);
	assert_int_equal(asg.terms[2].seen.i, 11);
	assert_true(asg.terms[2].weight == INT64_MAX && asg.terms[0].weight == -4);
	kr_str_init(&out, &ctx.mem);
	asg.names.part(asg.names.data, 7, &out);
	assert_string_equal(kr_str_text(&out), "\"t1\"");
	out.n = 0;
	asg.names.key(asg.names.data, (kr_key){3}, &out);
	assert_string_equal(kr_str_text(&out), "n");
	out.n = 0;
	kr_asg_print(&asg, &out);
	assert_string_equal(kr_str_text(&out), grown);
	kr_str_done(&out);
	done(&asg, &ctx);
}

static void test_read_loose(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_str out;
	struct kr_err err;
	const char *rest;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_asg_read(&asg, &ctx,
				 "\n# a comment\r\n  asg 1 sessions 7\r\n\ttxn  0 present\nkey 0\nversion 0 key 0 initial\nset 0 { 0 }\n end asg \nmore", &rest,
				 &err),
		KR_OK);
	assert_string_equal(rest, "more");
	assert_int_equal(asg.nsessions, 7);
	kr_str_init(&out, &ctx.mem);
	kr_asg_print(&asg, &out);
	assert_string_equal(kr_str_text(&out), "asg 1 sessions 7\ntxn 0 present\nkey 0\nversion 0 key 0 initial\nset 0 {0}\nend asg\n");
	kr_str_done(&out);
	done(&asg, &ctx);
}

static void test_read_empty(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_str out;

	read_ok(&asg, &ctx, "asg 1\nend asg");
	kr_str_init(&out, &ctx.mem);
	kr_asg_print(&asg, &out);
	assert_string_equal(kr_str_text(&out), "asg 1\nend asg\n");
	kr_str_done(&out);
	done(&asg, &ctx);
}

#define X "asg 1\ntxn 0 present\ntxn 1 present\nkey 0\nkey 1\nversion 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 0 by 1\nversion 3 key 1 initial\n"

static void test_read_errors(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t line;
		const char *error;
	} rows[] = {
		{"", 1, "found the end of the line, expected asg 1"},
		{"asg 2\n", 1, "found '2', expected 1"},
		{"asg 1\n", 2, "found the end of the line, expected txn, key, part, version, set, observe, order, sum (in this sequence) or end asg"},
		{"asg 1\ntxn 1 present\n", 2, "found '1', expected the next number"},
		{"asg 1\ntxn 0 perhaps\n", 2, "found 'perhaps', expected present, open or absent"},
		{"asg 1\ntxn 0 presents\n", 2, "found 'presents', expected present, open or absent"},
		{"asg 1\ntxn 0 \"a\n", 2, "found '\"a', expected a name"},
		{"asg 1\ntxn 0 \"\\x\" present\n", 2, "found '\"\\x\"', expected a name"},
		{"asg 1\ntxn 0 present begin 9223372036854775808\n", 2, "found '9223372036854775808', expected a time"},
		{"asg 1 sessions 1\ntxn 0 present session 1\n", 2, "found '1', expected the number of a session"},
		{"asg 1\ntxn 0 present huh\n", 2, "found 'huh', expected the end of the line"},
		{"asg 1\ntxn 0 \"a\" present\ntxn 1 present\nend asg\n", 0, "found names for some transactions, expected one for each or none"},
		{"asg 1\nkey 0\nend asg\n", 0, "found no versions of key 0, expected at least its initial one"},
		{"asg 1\nkey 0\nversion 0 key 1 initial\n", 3, "found '1', expected the number of a key"},
		{"asg 1\nkey 0\nkey 1\nversion 0 key 1 initial\n", 4,
			"found 'initial', expected the initial version of the next key, or a version of the same key"},
		{"asg 1\ntxn 0 present\nkey 0\nversion 0 key 0 by 0\n", 4,
			"found 'by', expected the initial version of the next key, or a version of the same key"},
		{X "version 4 key 1 by 2\n", 10, "found '2', expected the number of a transaction"},
		{X "version 4 key 1 by 1\nversion 5 key 1 by 0\n", 11, "found '0', expected a later transaction than of the version before"},
		{X "set 0 {2 1}\n", 10, "found '1}', expected a later version of the same key"},
		{X "set 0 {2 3}\n", 10, "found '3}', expected a later version of the same key"},
		{X "set 0 {9}\n", 10, "found '9}', expected the number of a version or }"},
		{X "set 0 {1\n", 10, "found the end of the line, expected the number of a version or }"},
		{X "set 0 {1}\nobserve txn 0 op 0 key 1 set 0\n", 11, "found the end of the line, expected a set of the same key"},
		{X "set 0 {1}\nobserve txn 0 op 0 key 0 set 1\n", 11, "found '1', expected the number of a set"},
		{X "set 0 {1}\nobserve txn 1 op 0 key 0 set 0\nobserve txn 0 op 0 key 0 set 0\n", 12,
			"found the end of the line, expected observations in the order of transactions and operations"},
		{X "order 1 < 0\n", 10, "found the end of the line, expected two versions of one key, the second not the initial one"},
		{X "order 1 < 3\n", 10, "found the end of the line, expected two versions of one key, the second not the initial one"},
		{X "order 1 > 2\n", 10, "found '>', expected <"},
		{X "txn 2 present\n", 10, "found 'txn', expected txn, key, part, version, set, observe, order, sum (in this sequence) or end asg"},
		{X "order 1 < 2 if 2\n", 10, "found '2', expected the number of a transaction"},
		{"asg 1\nkey 0\npart 2 of 0\n", 3, "found '2', expected the next number"},
		{"asg 1\nkey 0\npart 1 of 0\npart 2 of 1\n", 4, "found '1', expected the number of a key"},
		{"asg 1\nkey 0\npart 1 of 0\nkey 2\n", 4,
			"found 'key', expected txn, key, part, version, set, observe, order, sum (in this sequence) or end asg"},
		{"asg 1\nkey 0\npart 1 of 0 label 3 \"a\"\npart 2 of 0 label 3 \"b\"\nversion 0 key 0 initial\nversion 1 key 1 initial\nversion 2 key 2 "
		 "initial\nend asg\n",
			0, "found two names for label 3, expected one"},
		{"asg 1\nkey 0\npart 1 of 0 label 3 \"a\"\npart 2 of 0 label 4\nversion 0 key 0 initial\nversion 1 key 1 initial\nversion 2 key 2 "
		 "initial\nend asg\n",
			0, "found names for some labels, expected one for each or none"},
		{X "sum txn 0 op 0 key 2 total 0 {}\n", 10, "found '2', expected the number of a key"},
		{X "sum txn 0 op 0 key 0 total 0 {obs 0 = 1 weight 1}\n", 10, "found '0', expected the number of an observation"},
		{"asg 1\ntxn 0 open session 0\n", 2, "found 'session', expected unknown, since only such a transaction is open"},
	};

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct kr_ctx ctx;
		struct kr_asg asg;
		struct kr_err err;

		kr_ctx_init(&ctx, 0, 0);
		kr_err_init(&err);
		assert_int_not_equal(kr_asg_read(&asg, &ctx, rows[i].text, NULL, &err), KR_OK);
		assert_string_equal(err.text, rows[i].error);
		assert_int_equal(err.line, rows[i].line);
		assert_int_equal(err.status, KR_BAD);
		assert_int_equal(ctx.mem.used, 0);
	}
}

static void test_read_out_of_memory(void **state)
{
	(void)state;
	for (uint64_t n = 1;; n++) {
		struct kr_ctx ctx;
		struct kr_asg asg;

		kr_ctx_init(&ctx, 0, 0);
		ctx.mem.fail_at = n;

		enum kr_status status = kr_asg_read(&asg, &ctx, grown, NULL, NULL);

		if (status == KR_OK) {
			assert_true(n > 10);
			done(&asg, &ctx);
			return;
		}
		assert_int_equal(status, KR_NOMEM);
		assert_int_equal(ctx.mem.used, 0);
	}
}

static void test_print_out_of_memory(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_asg asg;

	read_ok(&asg, &ctx, sample);
	for (uint64_t n = 1; n < 1000; n++) {
		struct kr_str out;

		kr_str_init(&out, &ctx.mem);
		ctx.mem.count = 0;
		ctx.mem.fail_at = n;
		kr_asg_print(&asg, &out);

		bool failed = out.failed;

		if (!failed)
			assert_string_equal(kr_str_text(&out), sample);
		kr_str_done(&out);
		if (!failed) {
			assert_true(n > 3);
			ctx.mem.fail_at = 0;
			done(&asg, &ctx);
			return;
		}
	}
	fail();
}

static void test_deadline(void **state)
{
	(void)state;
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_str text;

	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	kr_str_add(&text, "asg 1\n");
	for (int t = 0; t < 1000; t++)
		kr_str_format(&text, "txn %d present\n", t);
	kr_str_add(&text, "end asg\n");
	ctx.deadline_ns = 0;
	assert_int_equal(kr_asg_read(&asg, &ctx, kr_str_text(&text), NULL, NULL), KR_TIMEOUT);
	kr_str_done(&text);
	assert_int_equal(ctx.mem.used, 0);
}

static void break_presence(struct kr_asg *asg) { asg->txns[0].presence = 9; }
static void break_session(struct kr_asg *asg) { asg->txns[0].session = 2; }
static void break_last_key(struct kr_asg *asg) { asg->keys[2].first = 5; }
static void break_empty_key(struct kr_asg *asg) { asg->keys[1].first = 6; }
static void break_initial(struct kr_asg *asg) { asg->versions[4].writer.i = 0; }
static void break_version_key(struct kr_asg *asg) { asg->versions[5].key.i = 0; }
static void break_writer(struct kr_asg *asg) { asg->versions[5].writer.i = 5; }
static void break_writer_order(struct kr_asg *asg) { asg->versions[3].writer.i = 1; }
static void break_member(struct kr_asg *asg) { asg->members[0].i = 6; }
static void break_member_order(struct kr_asg *asg) { asg->members[0].i = 3; }
static void break_member_key(struct kr_asg *asg) { asg->members[1].i = 5; }
static void break_set_range(struct kr_asg *asg) { asg->sets[3].count = 2; }
static void break_obs_first(struct kr_asg *asg) { asg->obs_first[2] = 2; }
static void break_obs_order(struct kr_asg *asg) { asg->obs[0].op = 5; }
static void break_obs_key(struct kr_asg *asg) { asg->obs[0].key.i = 1; }
static void break_obs_set(struct kr_asg *asg) { asg->obs[0].set = 4; }
static void break_order_self(struct kr_asg *asg) { asg->orders[0].after.i = 1; }
static void break_order_initial(struct kr_asg *asg) { asg->orders[0].after.i = 0; }
static void break_order_key(struct kr_asg *asg) { asg->orders[0].after.i = 5; }
static void break_order_cycle(struct kr_asg *asg) { asg->orders[1] = (struct kr_asg_order){{3}, {1}, {KR_NONE}}; }
static void break_index(struct kr_asg *asg) { asg->written[0].i = 2; }

static void break_part_of(struct kr_asg *asg) { asg->parts[1].of.i = 2; }
static void break_part_writer(struct kr_asg *asg) { asg->versions[9].writer.i = 2; }
static void break_part_count(struct kr_asg *asg) { asg->nparts = 6; }
static void break_guard(struct kr_asg *asg) { asg->orders[0].guard.i = 3; }
static void break_sum_txn(struct kr_asg *asg) { asg->sums[0].txn.i = 1; }
static void break_sum_op(struct kr_asg *asg) { asg->sums[0].op = 0; }
static void break_sum_key(struct kr_asg *asg) { asg->sums[0].key.i = 0; }
static void break_sum_range(struct kr_asg *asg) { asg->sums[0].count = 4; }
static void break_sum_order(struct kr_asg *asg) { asg->sums[1].op = 0; }
static void break_sum_twice(struct kr_asg *asg) { asg->sums[1] = asg->sums[0]; }
static void break_term_version(struct kr_asg *asg) { asg->terms[0].seen.i = 10; }
static void break_term_order(struct kr_asg *asg) { asg->terms[2].seen.i = 10; }
static void break_term_obs(struct kr_asg *asg) { asg->terms[0].obs.i = 3; }

static void test_verify_grown(void **state)
{
	(void)state;
	static void (*const breaks[])(struct kr_asg *) = {
		break_part_of,
		break_part_writer,
		break_part_count,
		break_guard,
		break_sum_txn,
		break_sum_op,
		break_sum_key,
		break_sum_range,
		break_sum_order,
		break_sum_twice,
		break_term_version,
		break_term_order,
		break_term_obs,
	};

	for (size_t i = 0; i < KR_COUNT(breaks); i++) {
		struct kr_ctx ctx;
		struct kr_asg asg;
		struct kr_err err;

		kr_err_init(&err);
		read_ok(&asg, &ctx, grown);
		assert_int_equal(kr_asg_verify(&asg, &err), KR_OK);
		breaks[i](&asg);
		if (kr_asg_verify(&asg, &err) != KR_INTERNAL)
			fail_msg("break %zu is not found", i);
		done(&asg, &ctx);
	}
}

static void test_verify(void **state)
{
	(void)state;
	static void (*const breaks[])(struct kr_asg *) = {
		break_presence,
		break_session,
		break_last_key,
		break_empty_key,
		break_initial,
		break_version_key,
		break_writer,
		break_writer_order,
		break_member,
		break_member_order,
		break_member_key,
		break_set_range,
		break_obs_first,
		break_obs_order,
		break_obs_key,
		break_obs_set,
		break_order_self,
		break_order_initial,
		break_order_key,
		break_order_cycle,
		break_index,
	};

	for (size_t i = 0; i < KR_COUNT(breaks); i++) {
		struct kr_ctx ctx;
		struct kr_asg asg;
		struct kr_err err;

		kr_err_init(&err);
		read_ok(&asg, &ctx, sample);
		assert_int_equal(kr_asg_verify(&asg, &err), KR_OK);
		breaks[i](&asg);
		if (kr_asg_verify(&asg, &err) != KR_INTERNAL)
			fail_msg("break %zu was not found", i);
		assert_int_equal(strncmp(err.text, "asg: ", 5), 0);
		done(&asg, &ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_read_fields),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_membership),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_documented),
		cmocka_unit_test(test_read_loose),
		cmocka_unit_test(test_read_empty),
		cmocka_unit_test(test_read_errors),
		cmocka_unit_test(test_read_out_of_memory),
		cmocka_unit_test(test_print_out_of_memory),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_grown),
		cmocka_unit_test(test_verify),
		cmocka_unit_test(test_verify_grown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
