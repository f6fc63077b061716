/* cross/claim: claimed cycles of small traces, whose edges are known, forced, possible or impossible by the definitions of docs/levels.md; and texts that are no cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cross/claim.h"
#include "tests/unit/same_history.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct claim {
	const char *name, *trace, *level;
	enum kr_order order;
	const char *cycle, *states; /* k, f, p, i: an edge each */
	enum kr_claim_result result;
	const char *why; /* part of it; NULL: none */
};

#define SKEW "{\"id\": \"a\", \"ops\": [[\"r\", \"x\", null], [\"w\", \"y\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"r\", \"y\", null], [\"w\", \"x\", 1]]}\n"
#define LOST "{\"id\": \"a\", \"ops\": [[\"r\", \"x\", null], [\"w\", \"x\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"r\", \"x\", null], [\"w\", \"x\", 2]]}\n"
#define BLIND "{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1], [\"w\", \"y\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"w\", \"x\", 2], [\"w\", \"y\", 2]]}\n"
#define STALE "{\"id\": 1, \"s\": 7, \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": 2, \"s\": 7, \"ops\": [[\"r\", \"x\", null]]}\n"
/* r saw a's x or b's, which its session wrote later; it missed a's y. */
#define TWO_SOURCES \
	"{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1], [\"w\", \"y\", 1]]}\n{\"id\": \"r\", \"s\": 1, \"ops\": [[\"r\", \"x\", 1], [\"r\", \"y\", null]]}\n{\"id\": \"b\", \"s\": 1, \"ops\": [[\"w\", \"x\", 1]]}\n"
#define PHANTOM "{\"id\": \"p\", \"ops\": [[\"range\", \"a\", \"c\", []], [\"w\", \"a\", 1]]}\n{\"id\": \"q\", \"ops\": [[\"range\", \"a\", \"c\", []], [\"w\", \"b\", 1]]}\n"
#define UNKNOWN "{\"id\": \"u\", \"status\": \"unknown\", \"ops\": [[\"r\", \"y\", null], [\"w\", \"x\", 1]]}\n{\"id\": \"t\", \"ops\": [[\"r\", \"x\", null], [\"w\", \"y\", 1]]}\n"
#define SEEN UNKNOWN "{\"id\": \"v\", \"ops\": [[\"r\", \"x\", 1]]}\n"
#define ABORTED "{\"id\": \"a\", \"status\": \"aborted\", \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"r\", \"x\", null]]}\n"
#define GIVEN BLIND "{\"version_order\": \"x\", \"writers\": [\"a\", \"b\"]}\n{\"version_order\": \"y\", \"writers\": [\"b\", \"a\"]}\n"
#define LATER "{\"id\": \"a\", \"begin\": 1, \"end\": 2, \"ops\": [[\"w\", \"x\", 1]]}\n{\"id\": \"b\", \"begin\": 3, \"end\": 4, \"ops\": [[\"r\", \"x\", null]]}\n"

static const struct claim claims[] = {
	{"write skew", SKEW, "ser", KR_ORDER_NONE, "a rw b, b rw a", "kk", KR_CLAIM_CONFIRMED, NULL},
	{"write skew, with keys and arrows", SKEW, "ser", KR_ORDER_NONE, " a -rw(x)-> b -rw(y)-> a ", "kk", KR_CLAIM_CONFIRMED, NULL},
	{"write skew, which snapshot isolation allows", SKEW, "si", KR_ORDER_NONE, "a rw b, b rw a", "kk", KR_CLAIM_ALLOWED, "two rw in a row"},
	{"the wrong key", SKEW, "ser", KR_ORDER_NONE, "a rw(y) b, b rw a", "ik", KR_CLAIM_REFUTED, "edge 1 is impossible"},
	{"nobody saw it", SKEW, "ser", KR_ORDER_NONE, "a wr b, b rw a", "ik", KR_CLAIM_REFUTED, "edge 1 is impossible"},
	{"no common key", SKEW, "ser", KR_ORDER_NONE, "a ww b, b rw a", "ik", KR_CLAIM_REFUTED, "edge 1 is impossible"},
	{"not a circle", SKEW, "ser", KR_ORDER_NONE, "a rw b, a rw b", "kk", KR_CLAIM_REFUTED, "edge 1 does not end where edge 2 begins"},
	{"one edge", SKEW, "ser", KR_ORDER_NONE, "a rw b", "k", KR_CLAIM_REFUTED, "edge 1 does not end where edge 1 begins"},
	{"to itself", SKEW, "ser", KR_ORDER_NONE, "a rw a", "i", KR_CLAIM_REFUTED, "one edge is no cycle"},
	{"no sessions", SKEW, "ser", KR_ORDER_SESSION, "a so b, b rw a", "ik", KR_CLAIM_REFUTED, "edge 1 is impossible"},
	/* b saw what comes before a's x, so its own x cannot come before a's unless a's comes before: whichever order, one of the two is overwritten unseen */
	{"lost update: a version order that the contrary of forces", LOST, "ser", KR_ORDER_NONE, "a rw b, b ww a", "kf", KR_CLAIM_CONFIRMED, NULL},
	{"lost update by what was read alone", LOST, "si", KR_ORDER_NONE, "a rw b, b rw a", "kk", KR_CLAIM_ALLOWED, "two rw in a row"},
	{"blind writes: any order", BLIND, "ser", KR_ORDER_NONE, "a ww(x) b, b ww(y) a", "pp", KR_CLAIM_OPEN, "edge 1 is possible"},
	{"given orders", GIVEN, "pl-1", KR_ORDER_NONE, "a ww(x) b, b ww(y) a", "kk", KR_CLAIM_CONFIRMED, NULL},
	{"given orders, the wrong way round", GIVEN, "pl-1", KR_ORDER_NONE, "a ww(y) b, b ww(x) a", "ii", KR_CLAIM_REFUTED, "edge 1 is impossible"},
	{"stale read of a session", STALE, "ser", KR_ORDER_SESSION, "1 so 2, 2 rw 1", "kk", KR_CLAIM_CONFIRMED, NULL},
	{"sessions do not count", STALE, "ser", KR_ORDER_NONE, "1 so 2, 2 rw 1", "kk", KR_CLAIM_ALLOWED, "is not one that ser with order none forbids"},
	{"a session the other way round", STALE, "ser", KR_ORDER_SESSION, "2 so 1, 1 rw 2", "ii", KR_CLAIM_REFUTED, "edge 1 is impossible"},
	{"stale read in real time", LATER, "ser", KR_ORDER_REALTIME, "a rt b, b rw a", "kk", KR_CLAIM_CONFIRMED, NULL},
	{"not in real time", LATER, "ser", KR_ORDER_REALTIME, "b rt a, b rw a", "ik", KR_CLAIM_REFUTED, "edge 1 does not end"},
	{"one source left, since the other comes later in the session", TWO_SOURCES, "ser", KR_ORDER_SESSION, "a wr r, r rw a", "fk", KR_CLAIM_CONFIRMED, NULL},
	/* r did not see a's, since it missed a's y: the contrary closes the cycle above */
	{"the other source, from the other side", TWO_SOURCES, "ser", KR_ORDER_SESSION, "b wr r, r so b", "fk", KR_CLAIM_CONFIRMED, NULL},
	{"either source", TWO_SOURCES, "ser", KR_ORDER_NONE, "a wr r, r rw(y) a", "pk", KR_CLAIM_OPEN, "edge 1 is possible"},
	{"phantom", PHANTOM, "ser", KR_ORDER_NONE, "p prw q, q rw(a) p", "kk", KR_CLAIM_CONFIRMED, NULL},
	{"phantom, which repeatable read allows", PHANTOM, "pl-2.99", KR_ORDER_NONE, "p prw q, q prw p", "kk", KR_CLAIM_ALLOWED, "a predicate read did not return"},
	{"item reads are no predicate ones", SKEW, "ser", KR_ORDER_NONE, "a prw b, b rw a", "ik", KR_CLAIM_REFUTED, "edge 1 is impossible"},
	{"it may have taken no effect", UNKNOWN, "ser", KR_ORDER_NONE, "t rw u, u rw t", "pp", KR_CLAIM_OPEN, "edge 1 is possible"},
	{"it took effect, for it was seen", SEEN, "ser", KR_ORDER_NONE, "t rw u, u rw t", "kk", KR_CLAIM_CONFIRMED, NULL},
	{"it took no effect", ABORTED, "ser", KR_ORDER_NONE, "b rw a, a wr b", "ii", KR_CLAIM_REFUTED, "edge 1 is impossible"},
};

static void read_text(struct kr_ctx *ctx, const char *text, struct kr_history *h)
{
	struct kr_err err;

	kr_err_init(&err);
	if (read_trace_text(ctx, text, strlen(text), h, &err) != KR_OK)
		fail_msg("%s: %s", err.text, text);
}

static void compare(const struct claim *c, const struct kr_claimed_cycle *cycle, enum kr_claim_result result, const char *why)
{
	for (uint32_t i = 0; i < cycle->n; i++)
		if (kr_edge_state_name(cycle->at[i].state)[0] != c->states[i])
			fail_msg("edge %u is %s (%s), expected %c", i + 1, kr_edge_state_name(cycle->at[i].state), cycle->at[i].why, c->states[i]);
	if (result != c->result)
		fail_msg("result %d, expected %d: %s", (int)result, (int)c->result, why);
	if (c->why ? !strstr(why, c->why) : *why != '\0')
		fail_msg("because '%s', expected '%s'", why, c->why ? c->why : "");
}

/* Judges the claim with the n-th allocation failing (0: none); the status is that of the first step that fails. */
static enum kr_status judge(const struct claim *c, uint64_t n, uint64_t *allocations)
{
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_claimed_cycle cycle = {0};
	struct kr_certificate proof;
	struct kr_err why;
	enum kr_order order;
	struct kr_check_options options = {.level = kr_level_find(NULL, c->level, &order), .order = c->order};
	enum kr_claim_result result = KR_CLAIM_OPEN;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&why);
	read_text(&ctx, c->trace, &h);
	assert_int_equal(kr_analyze(&ctx, &h, &analysis, &why), KR_OK);
	ctx.mem.count = 0;
	ctx.mem.fail_at = n;
	kr_certificate_init(&proof, &ctx.mem);
	enum kr_status status = kr_claim_read(&ctx.mem, &h, c->cycle, &cycle, &why);
	if (!status) {
		assert_int_equal(cycle.n, strlen(c->states));
		status = kr_claim_judge(&ctx, &h, &analysis, &options, &cycle, &result, &proof, &why);
	}
	if (!status) {
		compare(c, &cycle, result, why.text);
		ctx.mem.fail_at = 0;
		if (result == KR_CLAIM_CONFIRMED)
			assert_int_equal(kr_verify(&ctx, &h, &proof, NULL), KR_OK);
	}
	*allocations = ctx.mem.count;
	kr_certificate_done(&proof);
	kr_vec_done(&ctx.mem, &cycle);
	kr_analysis_done(&analysis);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
	return status;
}

static void test_claim(void **state)
{
	uint64_t total, ignored;

	assert_int_equal(judge(*state, 0, &total), KR_OK);
	for (uint64_t n = 1; n <= total; n += 1 + total / 100) {
		enum kr_status status = judge(*state, n, &ignored);
		assert_true(status == KR_OK || status == KR_NOMEM);
	}
}

/* ---- texts ---- */

struct text { const char *text, *error; };

static const struct text texts[] = {
	{"", "a cycle ends at its place 1, expected a transaction"},
	{"a", "a cycle ends at its place 2, expected wr, ww, rw, pwr, prw, so or rt"},
	{"a rw", "a cycle ends at its place 5, expected a transaction"},
	{"a rw b,", "a cycle ends at its place 8, expected a transaction"},
	{"a rw b, ,", "a cycle has ',' at its place 9, expected a transaction"},
	{"a wrr b", "a cycle has 'r' at its place 5, expected a transaction of the trace"},
	{"a pww b", "a cycle has 'pww' at its place 3, expected wr, ww, rw, pwr, prw, so or rt"},
	{"a rw(z) b", "a cycle has 'z)' at its place 6, expected a key of the trace"},
	{"a rw(x b", "a cycle has 'x' at its place 6, expected a key of the trace"},
	{"a -rw(x) b", "a cycle has ' ' at its place 9, expected '->'"},
	{"a rw c", "a cycle has 'c' at its place 6, expected a transaction of the trace"},
	{"\"a\" rw(\"x\") \"b\"", NULL},
};

static void test_text(void **state)
{
	const struct text *t = *state;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_claimed_cycle cycle = {0};
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	read_text(&ctx, SKEW, &h);
	enum kr_status status = kr_claim_read(&ctx.mem, &h, t->text, &cycle, &err);
	assert_int_equal(status, t->error ? KR_BAD : KR_OK);
	assert_string_equal(err.text, t->error ? t->error : "");
	kr_vec_done(&ctx.mem, &cycle);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(claims) + COUNT(texts)];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(claims); i++)
		tests[n++] = (struct CMUnitTest){claims[i].name, test_claim, NULL, NULL, (void *)&claims[i]};
	for (size_t i = 0; i < COUNT(texts); i++)
		tests[n++] = (struct CMUnitTest){*texts[i].text ? texts[i].text : "nothing", test_text, NULL, NULL, (void *)&texts[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
