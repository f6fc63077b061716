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

#include "base/rng.h"
#include "frontend/analyze.h"
#include "tests/unit/tiny_history.h"

#define TXNS 5
#define OPS 4
#define KEYS 2
#define VALUES 4     /* 0 is absent */
#define FRESH VALUES /* an initial value that nobody mentions */
#define HISTORIES 40000

enum kind { R, R_ANY, W, D, D_FOUND, D_NOT, I_DONE, I_NOT, CAS_DONE, CAS_NOT, KINDS };

struct op {
	enum kind kind;
	int key, a, b;
};
struct txn {
	char status;
	int nops;
	struct op ops[OPS];
};
struct tiny {
	char initial;
	int start[KEYS], ntxns;
	struct txn txns[TXNS];
};

/* ---- the definitions ---- */

static bool sees(const struct op *op) { return op->kind != R_ANY && op->kind != W && op->kind != D; }
static bool writes(const struct op *op) { return op->kind == W || op->kind == D || op->kind == D_FOUND || op->kind == I_DONE || op->kind == CAS_DONE; }

static int written(const struct op *op)
{
	switch (op->kind) {
	case W:
	case I_DONE: return op->a;
	case CAS_DONE: return op->b;
	default: return 0;
	}
}

static bool fits(const struct op *op, int value)
{
	switch (op->kind) {
	case R:
	case CAS_DONE: return value == op->a;
	case CAS_NOT: return value != op->a;
	case D_NOT:
	case I_DONE: return value == 0;
	default: return value != 0; /* D_FOUND, I_NOT */
	}
}

/* What t wrote to key before operation `end`, last; -1: nothing. */
static int last_written(const struct txn *t, int key, int end)
{
	int value = -1;

	for (int i = 0; i < end; i++)
		if (t->ops[i].key == key && writes(&t->ops[i]))
			value = written(&t->ops[i]);
	return value;
}

/* The sources that operation i of t may have in the world: bit 0 the initial version, bit u + 1 transaction u's. */
static unsigned sources(const struct tiny *h, unsigned present, const int *init, int t, int i)
{
	const struct op *op = &h->txns[t].ops[i];
	unsigned found = fits(op, init[op->key]);

	for (int u = 0; u < h->ntxns; u++) {
		int value = last_written(&h->txns[u], op->key, h->txns[u].nops);

		if (u != t && present >> u & 1 && value >= 0 && fits(op, value))
			found |= 2u << u;
	}
	return found;
}

/* Every observation of a present transaction has a source, or agrees with its own write. */
static bool is_world(const struct tiny *h, unsigned present, const int *init)
{
	for (int t = 0; t < h->ntxns; t++) {
		for (int i = 0; present >> t & 1 && i < h->txns[t].nops; i++) {
			const struct op *op = &h->txns[t].ops[i];
			int own = last_written(&h->txns[t], op->key, i);

			if (sees(op) && (own >= 0 ? !fits(op, own) : !sources(h, present, init, t, i)))
				return false;
		}
	}
	return true;
}

/* ---- the same from the ASG ---- */

static unsigned asg_sources(const struct tiny *h, const struct kr_asg *asg, uint32_t o, unsigned present, const int *init)
{
	const struct kr_observation *obs = &asg->obs[o];
	const struct op *op = &h->txns[obs->txn.i].ops[obs->op];
	unsigned found = 0;
	kr_version v;

	for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v);) {
		kr_txn writer = asg->versions[v.i].writer;

		if (writer.i != KR_NONE)
			found |= present >> writer.i & 1 ? 2u << writer.i : 0;
		else if (!asg->keys[obs->key.i].open_initial || fits(op, init[op->key])) /* untold: the set is one of a single value */
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

/* The initial values that the ASG knows replace those of the world; FRESH: one that nobody mentions. */
static void settle(const struct kr_history *h, const struct kr_asg *asg, const int *init, int *out)
{
	for (int k = 0; k < KEYS; k++)
		out[k] = init[k];
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		struct kr_str value;
		int key = h->keys.at[k].name.i == kr_history_text((struct kr_history *)(uintptr_t)h, KR_VALUE_STRING, "x", 1).i ? 0 : 1;

		if (asg->keys[k].open_initial)
			continue;
		kr_str_init(&value, asg->mem);
		asg->names.value(asg->names.data, kr_asg_initial(asg, (kr_key){k}), &value);
		out[key] = value.n == 0 ? FRESH : strcmp(kr_str_text(&value), "null") == 0 ? 0 : atoi(kr_str_text(&value));
		kr_str_done(&value);
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
	unsigned worlds, dropped, anomalies, open, refused, pinned, chosen;
};

static void show(const struct tiny *tiny, const char *problem);

#define REQUIRE(condition, problem) \
	do { \
		if (!(condition)) \
			show(tiny, problem); \
	} while (0)

/* What the ASG made of a world loses no source that the transactions it keeps had. */
static void compare_sources(const struct tiny *tiny, unsigned present, const int *init, unsigned kept, const int *settled)
{
	for (int t = 0; t < tiny->ntxns; t++) {
		for (int i = 0; kept >> t & 1 && i < tiny->txns[t].nops; i++) {
			const struct op *op = &tiny->txns[t].ops[i];

			if (sees(op) && last_written(&tiny->txns[t], op->key, i) < 0)
				REQUIRE(!(sources(tiny, present, init, t, i) & ~sources(tiny, kept, settled, t, i)), "a source that the ASG does not know");
		}
	}
}

static void compare_world(const struct tiny *tiny, const struct kr_history *h, const struct kr_asg *asg, unsigned present, const int *init, struct tally *tally)
{
	bool real = is_world(tiny, present, init);
	unsigned kept = present & ~asg_absent(asg);
	bool consistent = true;
	int settled[KEYS];

	settle(h, asg, init, settled);
	tally->worlds += real;
	if (real) {
		tally->dropped += kept != present;
		tally->chosen += memcmp(settled, init, sizeof settled) != 0;
		REQUIRE(asg_allows(asg, kept), "a world that the ASG forbids");
		REQUIRE(is_world(tiny, kept, settled), "a world that needs a dropped transaction, or another initial value");
		compare_sources(tiny, present, init, kept, settled);
	}
	if (kept != present || !asg_allows(asg, present) || memcmp(settled, init, sizeof settled) != 0)
		return;
	for (uint32_t o = 0; o < asg->nobs; o++) {
		const struct kr_observation *obs = &asg->obs[o];

		if (!(present >> obs->txn.i & 1))
			continue;

		unsigned found = asg_sources(tiny, asg, o, present, init);

		REQUIRE(found == sources(tiny, present, init, (int)obs->txn.i, (int)obs->op), "other candidates");
		consistent &= found != 0;
	}
	REQUIRE(consistent == real, "a world of the ASG that is none, or the other way round");
}

static unsigned count_external(const struct tiny *tiny, int t)
{
	unsigned n = 0;

	for (int i = 0; i < tiny->txns[t].nops; i++)
		n += sees(&tiny->txns[t].ops[i]) && last_written(&tiny->txns[t], tiny->txns[t].ops[i].key, i) < 0;
	return n;
}

static void compare_anomaly(const struct tiny *tiny, const struct kr_anomaly *a)
{
	const struct op *op = &tiny->txns[a->txn.i].ops[a->op];
	bool intermediate = false, other = false, own = false;
	bool any = op->kind == CAS_NOT || op->kind == D_FOUND || op->kind == I_NOT; /* several writes may be to blame, any of them will do */
	int before = last_written(&tiny->txns[a->txn.i], op->key, (int)a->op);

	REQUIRE(tiny->txns[a->txn.i].status == 'c', "an anomaly of a transaction that did not commit");
	REQUIRE((before >= 0) == (a->kind == KR_INTERNAL_INCONSISTENCY), "an internal inconsistency that is none, or the other way round");
	if (before >= 0) {
		REQUIRE(!fits(op, before), "an internal inconsistency where all agrees");
		return;
	}
	for (int u = 0; u < tiny->ntxns; u++) {
		const struct txn *txn = &tiny->txns[u];

		for (int i = 0; i < txn->nops; i++) {
			bool is_last = true, hit = txn->ops[i].key == op->key && writes(&txn->ops[i]) && fits(op, written(&txn->ops[i]));

			for (int j = i + 1; j < txn->nops; j++)
				is_last &= txn->ops[j].key != op->key || !writes(&txn->ops[j]);
			own |= hit && u == (int)a->txn.i;
			other |= hit && u != (int)a->txn.i;
			intermediate |= hit && u != (int)a->txn.i && txn->status != 'a' && !is_last;
			if (hit && u == (int)a->other.i)
				REQUIRE(a->kind == KR_INTERMEDIATE_READ ? txn->status != 'a' : txn->status != 'c', "the wrong other transaction");
		}
	}
	switch (a->kind) {
	case KR_GARBAGE_READ: REQUIRE(!other && !own, "a garbage read of something written"); break;
	case KR_FUTURE_READ: REQUIRE(own && (!other || any), "a future read of something that is not only its own"); break;
	case KR_ABORTED_READ: REQUIRE(other && (!intermediate || any), "not an aborted read"); break;
	case KR_INTERMEDIATE_READ: REQUIRE(intermediate, "not an intermediate read"); break;
	default: show(tiny, "an anomaly of another kind");
	}
	REQUIRE((a->other.i != KR_NONE) == (a->kind == KR_ABORTED_READ || a->kind == KR_INTERMEDIATE_READ), "another transaction, or none");
}

static void compare(const struct tiny *tiny, const struct kr_history *h, const struct kr_analysis *analysis, struct tally *tally)
{
	const struct kr_asg *asg = &analysis->asg;
	unsigned fixed = 0, unknown = 0, before = tally->worlds;

	for (int t = 0; t < tiny->ntxns; t++) {
		fixed |= (unsigned)(tiny->txns[t].status == 'c') << t;
		unknown |= (unsigned)(tiny->txns[t].status == 'u') << t;
		tally->open += asg->txns[t].presence == KR_OPEN;
	}
	for (uint32_t i = 0; i < analysis->anomalies.n; i++)
		compare_anomaly(tiny, &analysis->anomalies.at[i]);
	tally->anomalies += analysis->anomalies.n > 0;
	for (unsigned choice = unknown;; choice = (choice - 1) & unknown) { /* every subset */
		for (int init = 0; init < (FRESH + 1) * (FRESH + 1); init++) {
			int values[KEYS] = {init % (FRESH + 1), init / (FRESH + 1)};

			if (tiny->initial != '?' && (values[0] != tiny->start[0] || values[1] != tiny->start[1]))
				continue;
			if (analysis->anomaly_count > 0)
				REQUIRE(!is_world(tiny, fixed | choice, values), "an anomaly in spite of a world");
			else
				compare_world(tiny, h, asg, fixed | choice, values, tally);
		}
		if (choice == 0)
			break;
	}
	if (analysis->anomaly_count > 0)
		return;
	REQUIRE(tiny->initial == '?' || tally->worlds > before, "no anomaly and no world");
	for (int t = 0; t < tiny->ntxns; t++)
		if (asg->txns[t].presence != KR_ABSENT_TXN)
			REQUIRE(asg->obs_first[t + 1] - asg->obs_first[t] == count_external(tiny, t), "not every observation");
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_candidates it = kr_asg_candidates(asg, (kr_obs){o});
		kr_version v;

		REQUIRE(kr_asg_next(asg, &it, &v), "an observation without candidates");
	}
}

/* ---- making histories ---- */

static int below(struct kr_rng *rng, int n) { return (int)kr_rng_below(rng, (uint64_t)n); }

static void make(struct kr_rng *rng, struct tiny *tiny)
{
	static const char statuses[] = "cccccuuuua";
	bool simple = below(rng, 3) == 0;

	*tiny = (struct tiny){.initial = "-=?"[below(rng, 3)], .ntxns = 1 + below(rng, TXNS)};
	for (int k = 0; k < KEYS; k++)
		tiny->start[k] = tiny->initial == '=' ? below(rng, VALUES) : 0;
	for (int t = 0; t < tiny->ntxns; t++) {
		struct txn *txn = &tiny->txns[t];

		txn->status = statuses[below(rng, 10)];
		txn->nops = below(rng, OPS + 1);
		for (int i = 0; i < txn->nops; i++) {
			struct op *op = &txn->ops[i];

			op->kind = simple ? (below(rng, 2) ? W : R) : (enum kind)below(rng, KINDS);
			op->key = below(rng, KEYS);
			op->a = op->kind == W || op->kind == I_DONE || op->kind == I_NOT ? 1 + below(rng, VALUES - 1) : below(rng, VALUES);
			op->b = 1 + below(rng, VALUES - 1);
		}
	}
}

static void write_op(const struct op *op, char *out, size_t size)
{
	char a[4], b[4], key = "xy"[op->key];

	(void)snprintf(a, sizeof a, op->a ? "%d" : "-", op->a);
	(void)snprintf(b, sizeof b, "%d", op->b);
	switch (op->kind) {
	case R: (void)snprintf(out, size, "r %c %s;", key, a); break;
	case R_ANY: (void)snprintf(out, size, "r %c ?;", key); break;
	case W: (void)snprintf(out, size, "w %c %s;", key, a); break;
	case D: (void)snprintf(out, size, "d %c;", key); break;
	case D_FOUND: (void)snprintf(out, size, "d %c +;", key); break;
	case D_NOT: (void)snprintf(out, size, "d %c -;", key); break;
	case I_DONE: (void)snprintf(out, size, "i %c %s +;", key, a); break;
	case I_NOT: (void)snprintf(out, size, "i %c %s -;", key, a); break;
	case CAS_DONE: (void)snprintf(out, size, "cas %c %s %s +;", key, a, b); break;
	default: (void)snprintf(out, size, "cas %c %s %s -;", key, a, b); break;
	}
}

static void write_txn(const struct txn *txn, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%c ", txn->status);

	for (int i = 0; i < txn->nops; i++) {
		write_op(&txn->ops[i], out + n, size - n);
		n += strlen(out + n);
	}
}

static void show(const struct tiny *tiny, const char *problem)
{
	char text[TXNS * 200] = "", line[200];

	for (int t = 0; t < tiny->ntxns; t++) {
		write_txn(&tiny->txns[t], line, sizeof line);
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "\n  %s", line);
	}
	fail_msg("%s; initial %c x=%d y=%d%s", problem, tiny->initial, tiny->start[0], tiny->start[1], text);
}

static void check(const struct tiny *tiny, struct tally *tally)
{
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
	h.initial = tiny->initial == '?' ? KR_INITIAL_UNKNOWN : tiny->initial == '=' ? KR_INITIAL_GIVEN : KR_INITIAL_ABSENT;
	for (int k = 0; k < KEYS; k++) {
		kr_key key = tiny_key(&h, k ? "y" : "x");

		h.keys.at[key.i].initial = tiny->start[k] ? kr_history_int(&h, tiny->start[k]) : KR_ABSENT;
	}
	for (int t = 0; t < tiny->ntxns; t++) {
		char line[200];

		write_txn(&tiny->txns[t], line, sizeof line);
		tiny_add(&h, line);
	}

	enum kr_status status = kr_analyze(&ctx, &h, &analysis, &err);

	if (status == KR_OK) {
		if (kr_asg_verify(&analysis.asg, &err) != KR_OK)
			show(tiny, err.text);
		for (uint32_t k = 0; k < analysis.asg.nkeys; k++)
			tally->pinned += tiny->initial == '?' && !analysis.asg.keys[k].open_initial;
		compare(tiny, &h, &analysis, tally);
		kr_analysis_done(&analysis);
	} else {
		REQUIRE(status == KR_UNSUPPORTED && tiny->initial == '?', "refused");
		tally->refused++;
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
		struct tiny tiny;

		make(&rng, &tiny);
		check(&tiny, &tally);
	}
	print_message("worlds %u, with dropped transactions %u, open transactions %u, settled initial values %u, chosen %u, histories with anomalies %u, refused %u\n",
		tally.worlds, tally.dropped, tally.open, tally.pinned, tally.chosen, tally.anomalies, tally.refused);
	if (!count)
		assert_true(tally.worlds > 1000 && tally.dropped > 1000 && tally.open > 1000 && tally.pinned > 1000 && tally.anomalies > 1000 &&
			tally.refused > 100 && tally.chosen > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_worlds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
