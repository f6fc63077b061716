/* What must not matter, on random tiny histories of every mix: what else is asked, and in which order the lines of a trace stand. All levels at all orders, those of the example plug-in among them, are
 * asked at once; then some of them alone; then all of the same history with its lines shuffled, each session's in their order. No level may be satisfied in one way and violated in another; one that is
 * undecided in one way only counts as well when it was asked alone, and else is rare. And no level that holds may forbid what the violation of another one is called. What is neither a verdict nor unsupported
 * (an internal error) fails.
 *
 * KRAIT_ORACLE_COUNT, KRAIT_ORACLE_SEED, KRAIT_ORACLE_MIX, KRAIT_ORACLE_FAILURES: as for oracle_oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "asked.h"
#include "product.h"
#include "tests/matrix/names.h"
#include "tiny.h"

enum { QUESTIONS = 3 * 32, ALONE = 3, ALONE_UNDECIDED = 1 };

struct asking {
	struct kr_rng rng;
	const struct kr_modules *modules;
	uint64_t verdicts, named, undecided, alone, alone_undecided, shuffled, shuffled_undecided;
	char why[400];
};

struct questions {
	struct kr_question at[QUESTIONS];
	enum kr_outcome outcomes[QUESTIONS];
	char reasons[QUESTIONS][160];
	uint32_t n;
};

static void list(const struct kr_modules *modules, struct questions *out)
{
	const struct kr_level *level;

	out->n = 0;
	for (size_t i = 0; (level = kr_level_at(modules, i)) != NULL; i++)
		for (int order = 0; order < 3; order++) {
			assert_true(out->n < QUESTIONS);
			out->at[out->n++] = (struct kr_question){level, (enum kr_order)order};
		}
}

static const char *misnamed(struct asking *a, const struct kr_history *h, const struct kr_decision *decisions, uint32_t n)
{
	char name[48];

	for (uint32_t i = 0; i < n; i++) {
		const struct kr_decision *d = &decisions[i], *kept;
		if (d->status != KR_OK || d->verdict.outcome != KR_VIOLATED)
			continue;
		a->named++;
		kept = names_contradicted(a->modules, h, d, decisions, n, name);
		if (!kept)
			continue;
		snprintf(a->why, sizeof a->why, "%s, order %s: %s, but %s holds, order %s", d->options.level->id, kr_order_name(d->options.order), name,
			kept->options.level->id, kr_order_name(kept->options.order));
		return a->why;
	}
	return NULL;
}

/* Without limits, every question has a verdict or asks for what is not supported. */
static const char *failed_decision(struct asking *a, const struct kr_decision *decisions, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct kr_decision *d = &decisions[i];
		if (d->status == KR_OK || d->status == KR_UNSUPPORTED)
			continue;
		snprintf(a->why, sizeof a->why, "%s, order %s: %s: %.300s", d->options.level->id, kr_order_name(d->options.order), kr_status_text(d->status), d->err.text);
		return a->why;
	}
	return NULL;
}

/* Decides the questions, from `first` on so many, as if nothing else had been asked. */
static bool decide(struct asking *a, const struct kr_history *h, struct questions *q, uint32_t first, uint32_t n, const char **wrong)
{
	static struct kr_decision decisions[QUESTIONS];
	struct kr_analysis analysis;
	struct kr_ctx ctx;

	kr_ctx_init(&ctx, 0, 0);
	ctx.modules = a->modules;
	enum kr_status status = kr_analyze(&ctx, h, &analysis, NULL);
	if (status != KR_OK) {
		*wrong = status == KR_UNSUPPORTED ? NULL : "the analysis fails";
		return *wrong != NULL;
	}
	memset(decisions, 0, sizeof decisions);
	for (uint32_t i = 0; i < n; i++)
		decisions[i].options = (struct kr_check_options){.level = q->at[first + i].level, .order = q->at[first + i].order};
	kr_check_all(&ctx, h, &analysis, decisions, n);
	*wrong = failed_decision(a, decisions, n);
	if (!*wrong)
		*wrong = misnamed(a, h, decisions, n);
	for (uint32_t i = 0; i < n; i++) {
		bool failed = decisions[i].status != KR_OK;
		q->outcomes[first + i] = failed ? KR_UNDECIDED : decisions[i].verdict.outcome;
		snprintf(q->reasons[first + i], sizeof q->reasons[0], "%.150s", failed ? decisions[i].err.text : decisions[i].verdict.reason);
		kr_verdict_done(&decisions[i].verdict, &ctx.mem);
	}
	kr_analysis_done(&analysis);
	assert_int_equal(ctx.mem.used, 0);
	return true;
}

/* Compares the i-th answer. */
static bool differ(struct asking *a, const struct questions *x, const struct questions *y, uint32_t i, const char *how, uint64_t *undecided, bool strict)
{
	static const char *const says[] = {[KR_SATISFIED] = "satisfied", [KR_VIOLATED] = "violated", [KR_UNDECIDED] = "undecided"};
	bool open = x->outcomes[i] == KR_UNDECIDED || y->outcomes[i] == KR_UNDECIDED;

	if (x->outcomes[i] == y->outcomes[i])
		return false;
	*undecided += open;
	snprintf(a->why, sizeof a->why, "%s, order %s: %s (%.100s), %s %s (%.100s)", x->at[i].level->id, kr_order_name(x->at[i].order), says[x->outcomes[i]], x->reasons[i], how,
		says[y->outcomes[i]], y->reasons[i]);
	return !open || strict;
}

/* ---- lines in another order ---- */

/* The transactions in a random order in which those of a session stand as they did. */
static void shuffle(const struct tiny *t, struct kr_rng *rng, struct tiny *out)
{
	int place[TINY_TXNS], n = 0;
	bool taken[TINY_TXNS] = {false};

	*out = *t;
	while (n < t->ntxns) {
		int next = (int)kr_rng_below(rng, (uint64_t)t->ntxns);
		bool first = !taken[next];
		for (int i = 0; i < next; i++)
			first &= taken[i] || t->txns[i].session < 0 || t->txns[i].session != t->txns[next].session;
		if (!first)
			continue;
		taken[next] = true;
		place[next] = n;
		out->txns[n++] = t->txns[next];
	}
	for (int o = 0; o < t->norders; o++)
		for (int w = 0; w < t->orders[o].n; w++)
			out->orders[o].writers[w] = place[t->orders[o].writers[w]];
}

static const char *differs_shuffled(struct asking *a, const struct tiny *tiny, const struct questions *together)
{
	struct questions other = *together;
	struct tiny shuffled;
	struct kr_history h;
	struct kr_ctx ctx;
	const char *wrong = NULL;

	shuffle(tiny, &a->rng, &shuffled);
	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(&shuffled, &ctx, &h) != KR_OK)
		return "shuffled, it is no valid trace any more";
	if (!decide(a, &h, &other, 0, other.n, &wrong))
		wrong = "shuffled, it is not supported any more";
	for (uint32_t i = 0; i < other.n && !wrong; i++, a->shuffled++)
		if (differ(a, together, &other, i, "shuffled", &a->shuffled_undecided, false))
			wrong = a->why;
	kr_history_done(&h);
	return wrong;
}

/* ---- alone ---- */

static const char *differs_alone(struct asking *a, const struct kr_history *h, const struct questions *together, uint32_t i)
{
	struct questions other = *together;

	const char *wrong = NULL;

	a->alone++;
	if (!decide(a, h, &other, i, 1, &wrong))
		return NULL;
	return wrong ? wrong : differ(a, together, &other, i, "alone", &a->alone_undecided, true) ? a->why : NULL;
}

static const char *differs(const struct tiny *tiny, void *data)
{
	struct asking *a = data;
	struct questions together;
	struct kr_ctx ctx;
	struct kr_history h;
	const char *why = NULL;

	list(a->modules, &together);
	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return NULL;
	if (decide(a, &h, &together, 0, together.n, &why)) {
		for (uint32_t i = 0; i < together.n; i++)
			a->undecided += together.outcomes[i] == KR_UNDECIDED;
		a->verdicts += together.n;
		for (uint32_t i = 0; i < together.n && !why; i++)
			if (kr_rng_below(&a->rng, together.n) < (together.outcomes[i] == KR_UNDECIDED ? ALONE_UNDECIDED : ALONE))
				why = differs_alone(a, &h, &together, i);
		if (!why)
			why = differs_shuffled(a, tiny, &together);
	}
	kr_history_done(&h);
	return why;
}

/* While shrinking, several ways to shuffle. */
static const char *differs_again(const struct tiny *tiny, void *data)
{
	struct asking *a = data;
	const char *why = NULL;

	for (int i = 0; i < 3 && !why; i++)
		why = differs(tiny, a);
	return why;
}

static void tell(const char *mix, const struct asking *a)
{
	if (a->verdicts == 0)
		return;
	print_message("%s: %llu verdicts, %llu undecided, %llu names; %llu alone, %llu undecided there or together only; %llu shuffled, %llu undecided in one order only\n", mix,
		(unsigned long long)a->verdicts, (unsigned long long)a->undecided, (unsigned long long)a->named, (unsigned long long)a->alone, (unsigned long long)a->alone_undecided,
		(unsigned long long)a->shuffled, (unsigned long long)a->shuffled_undecided);
}

static void verdicts_do_not_depend_on_the_asking(void **state)
{
	static struct asking asking[TINY_MIXES];
	struct kr_modules example = product_example();
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 440), left = asked_number("KRAIT_ORACLE_FAILURES", 1), undecided = 0, shuffled = 0;
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 3));
	for (int mix = 0; mix < TINY_MIXES; mix++) {
		asking[mix].modules = &example;
		kr_rng_init(&asking[mix].rng, asked_number("KRAIT_ORACLE_SEED", 3));
	}
	for (uint64_t n = 0; n < count && left > 0; n++) {
		struct asking *a = &asking[asked_mix(n)];
		struct tiny tiny;
		if (n / TINY_MIXES % 4 == 0)
			tiny_random(&tiny, &rng, asked_mix(n));
		else
			tiny_random_weak(&tiny, &rng, asked_mix(n));
		const char *why = differs(&tiny, a);
		if (!why)
			continue;
		print_message("history %llu (%s): %s\n", (unsigned long long)n, tiny_mix_name(asked_mix(n)), why);
		why = tiny_shrink(&tiny, differs_again, a);
		asked_print_tiny(&tiny);
		print_message("shrunk: %s\n", why ? why : "(no longer)");
		left--;
	}
	for (int mix = 0; mix < TINY_MIXES; mix++) {
		tell(tiny_mix_name((enum tiny_mix)mix), &asking[mix]);
		undecided += asking[mix].shuffled_undecided;
		shuffled += asking[mix].shuffled;
	}
	assert_true(undecided * 100 <= shuffled);
	assert_true(left > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_do_not_depend_on_the_asking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
