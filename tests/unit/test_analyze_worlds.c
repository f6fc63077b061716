/* Semantic analysis against all worlds: for thousands of random tiny histories, every choice of which unknown transactions took effect and of the untold
 * initial values is tried from the definitions alone, and must agree with the ASG: the same worlds (but for transactions that the ASG drops, which must
 * be droppable), the same candidates in each, anomalies exactly where no world is left. Shares nothing with the analysis but the history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/analyze.h"
#include "tests/unit/small_history.h"

#define HISTORIES 40000

static int key_of(const struct kr_history *h, kr_key k)
{
	return h->keys.at[k.i].name.i == kr_history_text((struct kr_history *)(uintptr_t)h, KR_VALUE_STRING, "x", 1).i ? 0 : 1;
}

/* ---- worlds from the ASG ---- */

static unsigned asg_sources(const struct small_history *small, const struct kr_history *h, const struct kr_asg *asg, uint32_t o, unsigned present,
	const int *init)
{
	const struct kr_observation *obs = &asg->obs[o];
	const struct small_op *op = &small->txns[obs->txn.i].ops[obs->op];
	int key = key_of(h, obs->key);
	unsigned found = 0;
	kr_version v;

	for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v);) {
		kr_txn writer = asg->versions[v.i].writer;

		if (writer.i != KR_NONE)
			found |= present >> writer.i & 1 ? 2u << writer.i : 0;
		else if (!asg->keys[obs->key.i].open_initial || small_fits(small, op, key, init[key])) /* untold: the set is one of a single value */
			found |= 1;
	}
	return found;
}

static unsigned asg_absent(const struct kr_asg *asg)
{
	unsigned mask = 0;

	for (uint32_t t = 0; t < asg->ntxns; t++)
		mask |= (unsigned)(asg->txns[t].presence == KR_ABSENT_TXN) << t;
	return mask;
}

/* The version's value, as the ASG names it, is this one. One that nobody mentions has no name. */
static bool is_named(const struct kr_asg *asg, kr_version v, int code)
{
	static const char *const texts[SMALL_CODES] = {"null", "1", "2", "3", "", "0", "-1", "-2"};
	struct kr_str value;
	bool same;

	kr_str_init(&value, asg->mem);
	asg->names.value(asg->names.data, v, &value);
	same = strcmp(kr_str_text(&value), texts[code]) == 0;
	kr_str_done(&value);
	return same;
}

/* The initial values that the ASG knows replace those of the world; SMALL_FRESH: one that nobody mentions. */
static void settle(const struct kr_history *h, const struct kr_asg *asg, const int *init, int *out)
{
	for (int k = 0; k < SMALL_KEYS; k++)
		out[k] = init[k];
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		int code = 0;

		if (asg->keys[k].open_initial)
			continue;
		for (int c = 0; c < SMALL_CODES; c++)
			if (is_named(asg, kr_asg_initial(asg, (kr_key){k}), c))
				code = c;
		out[key_of(h, (kr_key){k})] = code;
	}
}

/* The world keeps to presences that the ASG calls certain. */
static bool asg_allows(const struct kr_asg *asg, unsigned present)
{
	for (uint32_t t = 0; t < asg->ntxns; t++)
		if (asg->txns[t].presence != KR_OPEN && (asg->txns[t].presence == KR_PRESENT) != (present >> t & 1))
			return false;
	return true;
}

/* ---- comparing ---- */

struct tally {
	unsigned worlds, dropped, anomalies, open, left_out, pinned, chosen, predicate, mismatch;
};

#define REQUIRE(condition, problem) \
	do { \
		if (!(condition)) \
			small_show(small, problem); \
	} while (0)

/* What the ASG made of a world loses no source that the transactions it keeps had. */
static void compare_sources(const struct small_history *small, unsigned present, const int *init, unsigned kept, const int *settled)
{
	for (int t = 0; t < small->ntxns; t++) {
		for (int i = 0; kept >> t & 1 && i < small->txns[t].nops; i++) {
			for (int key = 0; key < SMALL_KEYS; key++) {
				if (small_tells(small, &small->txns[t].ops[i], key) && small_last_written(&small->txns[t], key, i) < 0)
					REQUIRE(!(small_sources(small, present, init, t, i, key) & ~small_sources(small, kept, settled, t, i, key)),
						"a source that the ASG does not know");
			}
		}
	}
}

static void compare_world(const struct small_history *small, const struct kr_history *h, const struct kr_asg *asg, unsigned present, const int *init,
	struct tally *tally)
{
	bool real = small_is_world(small, present, init);
	unsigned kept = present & ~asg_absent(asg);
	bool consistent = true;
	int settled[SMALL_KEYS];

	settle(h, asg, init, settled);
	tally->worlds += real;
	if (real) {
		tally->dropped += kept != present;
		tally->chosen += memcmp(settled, init, sizeof settled) != 0;
		REQUIRE(asg_allows(asg, kept), "a world that the ASG forbids");
		REQUIRE(small_is_world(small, kept, settled), "a world that needs a dropped transaction, or another initial value");
		compare_sources(small, present, init, kept, settled);
	}
	if (kept != present || !asg_allows(asg, present) || memcmp(settled, init, sizeof settled) != 0)
		return;
	for (uint32_t o = 0; o < asg->nobs; o++) {
		const struct kr_observation *obs = &asg->obs[o];
		int key = key_of(h, obs->key);

		if (!(present >> obs->txn.i & 1))
			continue;

		unsigned found = asg_sources(small, h, asg, o, present, init);

		REQUIRE(found == small_sources(small, present, init, (int)obs->txn.i, (int)obs->op, key), "other candidates");
		REQUIRE(obs->predicate == small_is_predicate(&small->txns[obs->txn.i].ops[obs->op], key),
			"a predicate observation that is none, or the other way round");
		tally->predicate += obs->predicate;
		consistent &= found != 0;
	}
	REQUIRE(consistent == real, "a world of the ASG that is none, or the other way round");
}

static unsigned count_external(const struct small_history *small, int t)
{
	unsigned n = 0;

	for (int i = 0; i < small->txns[t].nops; i++)
		for (int key = 0; key < SMALL_KEYS; key++)
			n += small_tells(small, &small->txns[t].ops[i], key) && small_last_written(&small->txns[t], key, i) < 0;
	return n;
}

/* Who wrote what would have explained it. */
struct blame {
	bool intermediate, other, own;
};

static struct blame find_blame(const struct small_history *small, const struct kr_anomaly *a, int key)
{
	const struct small_op *op = &small->txns[a->txn.i].ops[a->op];
	struct blame blame = {false, false, false};

	for (int u = 0; u < small->ntxns; u++) {
		const struct small_txn *txn = &small->txns[u];
		bool self = u == (int)a->txn.i;

		for (int i = 0; i < txn->nops; i++) {
			bool is_last = true, hit = small_writes(&txn->ops[i], key) && small_fits(small, op, key, small_written(&txn->ops[i], key));

			for (int j = i + 1; j < txn->nops; j++)
				is_last &= !small_writes(&txn->ops[j], key);
			blame.own |= hit && self;
			blame.other |= hit && !self;
			blame.intermediate |= hit && !self && txn->status != 'a' && !is_last;
			if (hit && u == (int)a->other.i)
				REQUIRE(a->kind == KR_INTERMEDIATE_READ ? txn->status != 'a' : txn->status != 'c', "the wrong other transaction");
		}
	}
	return blame;
}

static void compare_anomaly(const struct small_history *small, const struct kr_history *h, const struct kr_anomaly *a)
{
	const struct small_op *op = &small->txns[a->txn.i].ops[a->op];
	int key = key_of(h, a->key);
	int before = small_last_written(&small->txns[a->txn.i], key, (int)a->op);
	bool any = small_is_any(op); /* several writes may be to blame, any of them will do */

	REQUIRE(small->txns[a->txn.i].status == 'c', "an anomaly of a transaction that did not commit");
	REQUIRE(small_sees(op, key), "an anomaly of an operation that saw nothing");
	bool mismatch = small_is_mismatch(op, key), garbage = a->kind == KR_GARBAGE_READ;

	REQUIRE(mismatch ? garbage || a->kind == KR_RESULT_SET_MISMATCH : a->kind != KR_RESULT_SET_MISMATCH, "a result set that is possible, or the other way round");
	if (mismatch || (before >= 0 && garbage)) {
		struct blame blame = find_blame(small, a, key);

		REQUIRE(!garbage || (!blame.other && !blame.own), "a garbage read of something written");
		if (mismatch)
			return;
	}
	REQUIRE((before >= 0) == (a->kind == KR_INTERNAL_INCONSISTENCY) || (before >= 0 && a->kind == KR_GARBAGE_READ), /* it can be both */
		 "an internal inconsistency that is none, or the other way round");
	if (before >= 0) {
		REQUIRE(!small_fits(small, op, key, before), "an internal inconsistency where all agrees");
		return;
	}

	struct blame blame = find_blame(small, a, key);

	switch (a->kind) {
	case KR_GARBAGE_READ: REQUIRE(!blame.other && !blame.own, "a garbage read of something written"); break;
	case KR_FUTURE_READ: REQUIRE(blame.own && (!blame.other || any), "a future read of something that is not only its own"); break;
	case KR_ABORTED_READ: REQUIRE(blame.other && (!blame.intermediate || any), "not an aborted read"); break;
	case KR_INTERMEDIATE_READ: REQUIRE(blame.intermediate, "not an intermediate read"); break;
	default: small_show(small, "an anomaly of another kind");
	}
	REQUIRE((a->other.i != KR_NONE) == (a->kind == KR_ABORTED_READ || a->kind == KR_INTERMEDIATE_READ), "another transaction, or none");
}

static void compare(const struct small_history *small, const struct kr_history *h, const struct kr_analysis *analysis, struct tally *tally)
{
	const struct kr_asg *asg = &analysis->asg;
	unsigned fixed = 0, unknown = 0, before = tally->worlds;

	for (int t = 0; t < small->ntxns; t++) {
		fixed |= (unsigned)(small->txns[t].status == 'c') << t;
		unknown |= (unsigned)(small->txns[t].status == 'u') << t;
		tally->open += asg->txns[t].presence == KR_OPEN;
	}
	for (uint32_t i = 0; i < analysis->anomalies.n; i++)
		compare_anomaly(small, h, &analysis->anomalies.at[i]);
	tally->anomalies += analysis->anomalies.n > 0;
	for (uint32_t i = 0; i < analysis->anomalies.n; i++)
		tally->mismatch += analysis->anomalies.at[i].kind == KR_RESULT_SET_MISMATCH;
	for (unsigned choice = unknown;; choice = (choice - 1) & unknown) { /* every subset */
		for (int init = 0; init < SMALL_CODES * SMALL_CODES; init++) {
			int values[SMALL_KEYS] = {init % SMALL_CODES, init / SMALL_CODES};

			if (small->initial != '?' && (values[0] != small->start[0] || values[1] != small->start[1]))
				continue;
			if (analysis->anomaly_count > 0)
				REQUIRE(!small_is_world(small, fixed | choice, values), "an anomaly in spite of a world");
			else
				compare_world(small, h, asg, fixed | choice, values, tally);
		}
		if (choice == 0)
			break;
	}
	if (analysis->anomaly_count > 0)
		return;
	REQUIRE(small->initial == '?' || tally->worlds > before, "no anomaly and no world");
	for (int t = 0; t < small->ntxns; t++)
		if (asg->txns[t].presence != KR_ABSENT_TXN)
			REQUIRE(asg->obs_first[t + 1] - asg->obs_first[t] == count_external(small, t), "not every observation");
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_candidates it = kr_asg_candidates(asg, (kr_obs){o});
		kr_version v;

		REQUIRE(kr_asg_next(asg, &it, &v), "an observation without candidates");
	}
}

static void check(const struct small_history *small, struct tally *tally)
{
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
	small_build(small, &h);

	enum kr_status status = kr_analyze(&ctx, &h, &analysis, &err);

	if (status == KR_OK) {
		if (kr_asg_verify(&analysis.asg, &err) != KR_OK)
			small_show(small, err.text);
		for (uint32_t k = 0; k < analysis.asg.nkeys; k++)
			tally->pinned += small->initial == '?' && !analysis.asg.keys[k].open_initial;
		REQUIRE(!analysis.left_out[0] || small->initial == '?', "left out");
		if (analysis.left_out[0])
			tally->left_out++;
		else
			compare(small, &h, &analysis, tally);
		kr_analysis_done(&analysis);
	} else {
		REQUIRE(false, "refused");
	}
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

static void test_all_worlds(void **state)
{
	(void)state;
	const char *seed = getenv("KRAIT_TEST_SEED"), *count = getenv("KRAIT_TEST_COUNT");
	struct tally tally = {0};
	struct kr_rng rng;

	kr_rng_init(&rng, seed ? strtoull(seed, NULL, 10) : 1);
	for (long i = 0, n = count ? atol(count) : HISTORIES; i < n; i++) {
		struct small_history small;

		small_make(&rng, &small);
		check(&small, &tally);
	}
	print_message("worlds %u, with dropped transactions %u, open transactions %u, settled initial values %u, chosen %u, histories with anomalies %u, "
		      "left out %u, predicate observations %u, mismatches %u\n",
		tally.worlds, tally.dropped, tally.open, tally.pinned, tally.chosen, tally.anomalies, tally.left_out, tally.predicate, tally.mismatch);
	if (!count)
		assert_true(tally.worlds > 1000 && tally.dropped > 1000 && tally.open > 1000 && tally.pinned > 1000 && tally.anomalies > 1000 &&
			tally.left_out > 100 && tally.chosen > 100 && tally.predicate > 1000 && tally.mismatch > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_worlds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
