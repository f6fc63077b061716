/* report/argue: the arguments of random violations hold. Every step must follow, by its own reason, from what is assumed or was shown before it in its case; every case
 * must end in a cycle all of whose guards were shown; and the sides of a split must be each other's opposite. Reports of equal certificates are equal, and a failed
 * allocation anywhere in them is told and leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "checkers/check.h"
#include "frontend/generate.h"
#include "report/argue.h"
#include "report/document.h"
#include "report/report.h"

#define HISTORIES 600
#define SECONDS 1 /* what is undecided by then is passed over */
#define LONG_MOST 6 /* arguments that needed too many cases */

/* ---- a violated history ---- */

struct violated {
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_verdict verdict;
};

static void options_of(uint32_t seed, struct kr_generate_options *o)
{
	kr_generate_defaults(o);
	o->seed = seed;
	o->txns = 6 + seed % 7;
	o->sessions = 4;
	o->keys = 1 + seed % 3;
	o->ops = 3;
	o->reads = 40 + seed % 3 * 10;
	o->store = KR_STORE_READ_COMMITTED;
	o->values = seed % 4;
	o->unknown = seed % 5 * 10;
	o->times = false;
	o->initial = seed % 7 == 0 ? KR_INITIAL_UNKNOWN : KR_INITIAL_ABSENT;
}

/* True when the history violates serializability by cycles. In every case to be freed with done(). */
static bool make(struct violated *v, uint32_t seed, double seconds)
{
	struct kr_generate_options options;
	enum kr_order ignored;
	struct kr_check_options check = {.level = kr_level_find(NULL, "ser", &ignored), .order = seed % 2 ? KR_ORDER_SESSION : KR_ORDER_NONE};
	struct kr_err err;

	kr_err_init(&err);
	options_of(seed, &options);
	kr_ctx_init(&v->ctx, seconds, 0);
	assert_int_equal(kr_generate(&v->ctx, &options, &v->h, &err), KR_OK);
	assert_int_equal(kr_analyze(&v->ctx, &v->h, &v->analysis, &err), KR_OK);
	if (kr_check(&v->ctx, &v->h, &v->analysis, &check, &v->verdict, &err) != KR_OK)
		fail_msg("seed %u: %s", seed, err.text);
	return v->verdict.outcome == KR_VIOLATED && v->verdict.certificate.kind == KR_CERT_CYCLES;
}

static void done(struct violated *v)
{
	kr_verdict_done(&v->verdict, &v->ctx.mem);
	kr_analysis_done(&v->analysis);
	kr_history_done(&v->h);
	assert_int_equal(v->ctx.mem.used, 0);
}

/* ---- checking an argument ---- */

static bool all_shown(const struct kr_argument *arg, const bool *shown, uint32_t cycle, uint32_t but)
{
	for (uint32_t i = arg->first.at[cycle]; i < arg->first.at[cycle + 1]; i++)
		if (arg->literals.at[i] != but && !shown[arg->literals.at[i]])
			return false;
	return true;
}

static bool others_out(const struct kr_argument *arg, const bool *shown, const struct kr_argument_sight *o, uint32_t but)
{
	for (uint32_t i = 0; i < o->count; i++)
		if (arg->candidates.at[o->first + i] != but && !shown[2 * arg->candidates.at[o->first + i] + 1])
			return false;
	return o->all;
}

static bool touches(const struct kr_argument *arg, uint32_t saw, uint32_t effect)
{
	return arg->choices.at[saw].kind == KR_DOUBT_SAW && (arg->choices.at[saw].effect == effect || arg->sights.at[arg->choices.at[saw].sight].effect == effect);
}

static bool follows(const struct kr_argument *arg, const bool *shown, const struct kr_argument_step *step)
{
	uint32_t choice = step->literal >> 1;
	bool negated = step->literal & 1;

	switch ((enum kr_because)step->because) {
	case KR_BECAUSE_CYCLE: return all_shown(arg, shown, step->from, step->literal ^ 1);
	case KR_BECAUSE_ONLY: {
		const struct kr_argument_sight *o = &arg->sights.at[step->from];
		if (negated)
			return choice == o->effect && others_out(arg, shown, o, KR_NONE);
		return arg->choices.at[choice].sight == step->from && others_out(arg, shown, o, choice) && (o->effect == KR_NONE || shown[2 * o->effect]);
	}
	case KR_BECAUSE_OTHER:
		return negated && step->from != choice && shown[2 * step->from] && arg->choices.at[step->from].key.i == arg->choices.at[choice].key.i &&
			(arg->choices.at[step->from].sight == arg->choices.at[choice].sight ||
				(arg->choices.at[step->from].a.i == KR_NONE && arg->choices.at[choice].a.i == KR_NONE));
	case KR_BECAUSE_SEEN: return !negated && shown[2 * step->from] && touches(arg, step->from, choice);
	case KR_BECAUSE_NO_EFFECT: return negated && shown[2 * step->from + 1] && touches(arg, choice, step->from);
	case KR_BECAUSE_FACT:
	case KR_BECAUSE_ASSUMED: return false; /* are no steps */
	}
	return false;
}

/* Marks what case `at` may use: its own and its ancestors' assumptions and steps, and checks its steps on the way. */
static void check_case(const struct kr_argument *arg, uint32_t at, bool *shown, uint32_t seed)
{
	uint32_t path[64], n = 0;

	memset(shown, 0, 2 * (size_t)arg->choices.n);
	for (uint32_t c = at; c != KR_NONE; c = arg->cases.at[c].parent)
		path[n++] = c;
	while (n-- > 0) {
		const struct kr_case *c = &arg->cases.at[path[n]];
		if (c->assumed != KR_NONE)
			shown[c->assumed] = true;
		for (uint32_t i = c->first; i < c->first + c->count; i++) {
			if (!follows(arg, shown, &arg->steps.at[i]))
				fail_msg("seed %u: step %u of case %u does not follow", seed, i - c->first, path[n]);
			shown[arg->steps.at[i].literal] = true;
		}
	}
}

static void check_argument(const struct kr_argument *arg, uint32_t seed, uint32_t *splits)
{
	bool *shown = test_calloc(2 * (size_t)arg->choices.n + 1, 1);
	uint32_t todo[256], n = 0;

	todo[n++] = 0;
	while (n > 0) {
		uint32_t at = todo[--n];
		const struct kr_case *c = &arg->cases.at[at];
		check_case(arg, at, shown, seed);
		if (c->child[0] == KR_NONE) {
			assert_true(c->closed_by != KR_NONE && all_shown(arg, shown, c->closed_by, KR_NONE));
			continue;
		}
		todo[n++] = c->child[0];
		if (c->child[1] == KR_NONE) {
			assert_int_equal(arg->cases.at[c->child[0]].assumed, KR_NONE);
			continue;
		}
		assert_int_equal(arg->cases.at[c->child[0]].assumed ^ 1, arg->cases.at[c->child[1]].assumed);
		todo[n++] = c->child[1];
		++*splits;
	}
	test_free(shown);
}

static void arguments_hold(void **state)
{
	uint32_t lemmas = 0, splits = 0, longer = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= HISTORIES; seed++) {
		struct violated v;
		if (make(&v, seed, SECONDS)) {
			struct kr_argument arg;
			assert_int_equal(kr_argument_init(&arg, &v.ctx.mem, &v.h, &v.analysis.asg, &v.verdict.certificate), KR_OK);
			lemmas += arg.steps.n;
			if (arg.complete)
				check_argument(&arg, seed, &splits);
			longer += !arg.complete;
			kr_argument_done(&arg);
		}
		done(&v);
	}
	assert_in_range(longer, 0, LONG_MOST);
	assert_true(lemmas > 50 && splits > 20); /* else the histories are too simple to test anything */
}

/* ---- reports ---- */

static void write_document(const struct kr_document_format *format, const struct kr_report *r, struct kr_str *out)
{
	struct kr_question asked = {r->level, r->order};
	struct kr_document doc;

	kr_document_init(&doc, out->mem);
	format->begin(&asked, 1, out);
	format->verdict(&doc, r, out);
	format->failed(&doc, r->trace, NULL, r->order, "error");
	format->trace_done(&doc, r->trace, r->notes, out);
	format->end(&doc, out);
	kr_document_done(&doc);
}

static void write_all(const struct violated *v, struct kr_str *out)
{
	struct kr_report r = {
		.trace = "t.jsonl",
		.level = v->verdict.level,
		.order = v->verdict.order,
		.checker = v->verdict.checker,
		.history = &v->h,
		.analysis = &v->analysis,
		.verdict = &v->verdict,
	};

	kr_report_line(&r, false, out);
	kr_report_json(&r, (struct kr_json_extras){true, true}, out);
	kr_report_explain(&r, out);
	kr_report_dot(&r, out);
	kr_report_page_begin(NULL, out);
	kr_report_page_trace(r.trace, r.history, out);
	kr_report_page_verdict(NULL, &r, out);
	kr_report_page_failed(r.trace, "error", out);
	kr_report_page_end(out);
	write_document(&kr_document_junit, &r, out);
	write_document(&kr_document_sarif, &r, out);
	kr_report_run_stats(&r, out);
}

static void reports_repeat_and_survive_failing_allocations(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= HISTORIES; seed += 12) {
		struct violated v;
		if (make(&v, seed, SECONDS)) {
			struct kr_mem mem, failing;
			struct kr_str first, again;
			kr_mem_init(&mem, SIZE_MAX);
			kr_str_init(&first, &mem);
			write_all(&v, &first);
			assert_false(first.failed);
			for (uint64_t n = 1;; n += 1 + n / 8) {
				kr_mem_init(&failing, SIZE_MAX);
				failing.fail_at = n;
				kr_str_init(&again, &failing);
				write_all(&v, &again);
				bool failed = again.failed;
				if (!failed)
					assert_string_equal(kr_str_text(&again), kr_str_text(&first));
				assert_int_equal(failed, failing.count >= n);
				kr_str_done(&again);
				assert_int_equal(failing.used, 0);
				if (!failed)
					break;
			}
			kr_str_done(&first);
		}
		done(&v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_hold),
		cmocka_unit_test(reports_repeat_and_survive_failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
