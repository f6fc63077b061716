/* What the writing back ends write, answered by other solvers: z3 and cvc5 on SMT-LIB 2, z3 on DIMACS, against the replay oracle and, at the other levels that they have formulas for, the
 * definitions, on random tiny histories at every order, with all passes and with none but the essential ones. Skipped where the programs are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "checkers/check.h"
#include "frontend/analyze.h"
#include "frontend/native_write.h"
#include "asked.h"
#include "levels.h"
#include "oracle.h"
#include "tiny.h"

enum { PROBLEMS = 600, DIMACS_PROBLEMS = 60 };

struct problem { bool satisfied; char text[2000]; };

/* What a problem asks. */
struct question { const char *level; enum kr_order order; const char *passes; };

/* Writes the problem with that back end, also when the passes have found a cycle of known edges; false when the analyzer does not know an operation or finds an anomaly, or
 * when DIMACS has no formula for a sum. */
static bool write_problem(struct kr_ctx *ctx, const struct kr_history *h, const struct question *q, const char *backend, struct kr_str *out)
{
	enum kr_order by_default;
	const struct kr_level *level = kr_level_find(NULL, q->level, &by_default);
	struct kr_analysis analysis;
	struct kr_ir ir;
	struct kr_pass_stats stats = {0};
	struct kr_pass_options options = {0};
	enum kr_change change = KR_UNCHANGED;
	bool written = false;

	if (kr_analyze(ctx, h, &analysis, NULL) != KR_OK || kr_check_exactly(ctx, h, level, &analysis, NULL) != KR_OK)
		return false;
	if (analysis.anomaly_count == 0 && !analysis.left_out[0]) { /* else the graph may have worlds that the trace has not */
		assert_int_equal(kr_ir_init(&ir, ctx, &analysis.asg, level, q->order), KR_OK);
		assert_int_equal(kr_passes_run(&ir, q->passes, &options, &stats, &change, NULL), KR_OK);
		enum kr_status status = kr_backend_find(NULL, backend)->write(&ir, out, NULL);
		assert_true(status == KR_OK || (status == KR_UNSUPPORTED && strcmp(backend, "dimacs") == 0 && analysis.asg.nsums > 0));
		written = status == KR_OK;
		kr_vec_done(&ctx->mem, &stats);
		kr_ir_done(&ir);
	}
	kr_analysis_done(&analysis);
	return written;
}

static bool has_program(const char *name)
{
	char command[100];

	snprintf(command, sizeof command, "command -v %s >/dev/null", name);
	return system(command) == 0;
}

static enum oracle_answer truth_of(const struct kr_history *h, const struct question *q)
{
	struct oracle_answers answers;

	if (strcmp(q->level, "ser") == 0)
		return oracle_replay(h, q->order, UINT64_C(20000000));
	oracle_levels(h, 20000, &answers);
	return answers.at[oracle_level_of(q->level)][q->order];
}

/* The n-th random problem: its text is appended to `out`. False: try the next n. */
static bool random_problem(uint64_t n, const char *backend, struct kr_str *out, struct problem *problem)
{
	static const char *const passes[] = {"so,rt,presence,wr,ww,rw,clock,saturate", "so,rt,wr,ww", "so,rt,presence,wr,ww,rw,clock"};
	static const char *const levels[] = {"ser", "pl-2", "ser", "si", "ser", "pc", "ser", "pl-2.99"};
	struct kr_rng rng;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_str text;
	struct tiny tiny;
	uint64_t level = kr_hash_u64(n) % KR_COUNT(levels);
	struct question q = {levels[level], (enum kr_order)(n % 3), passes[n / 7 % KR_COUNT(passes)]};

	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 77) * 1000000 + n);
	if (level == 0)
		tiny_random(&tiny, &rng, asked_mix(n / 3));
	else
		tiny_random_weak(&tiny, &rng, asked_mix(n / 3));
	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(&tiny, &ctx, &h) != KR_OK)
		return false;
	enum oracle_answer answer = truth_of(&h, &q);
	bool good = answer <= ORACLE_VIOLATED && write_problem(&ctx, &h, &q, backend, out);
	if (good) {
		problem->satisfied = answer == ORACLE_SATISFIED;
		kr_str_init(&text, &ctx.mem);
		kr_native_write_text(&ctx, &h, &text, NULL);
		snprintf(problem->text, sizeof problem->text, "%s, order %s, passes %s\n%s", q.level, kr_order_name(q.order), q.passes, kr_str_text(&text));
		kr_str_done(&text);
	}
	kr_history_done(&h);
	return good;
}

static void save(const struct kr_str *text, char *path)
{
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_false(text->failed);
	assert_int_equal(write(file, text->at, text->n), (ssize_t)text->n);
	close(file);
}

/* One run of the solver answers all problems, one line each. */
static void smt2_agrees(const char *solver, const char *command)
{
	/* sums, orders that rest on unknown transactions or parts, parts seen by one operation, snapshots */
	static const char *const rare[] = {"(set-logic QF_LIA)", ", existing or not\n", " and what it saw of ", "begin of "};
	static struct problem problems[PROBLEMS];
	char path[] = "/tmp/krait-smt2-XXXXXX", line[200], full[300];
	struct kr_ctx ctx;
	struct kr_str text;
	unsigned n = 0, satisfied = 0;

	if (!has_program(solver)) {
		print_message("%s is not installed\n", solver);
		skip();
	}
	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	for (uint64_t i = 0; n < PROBLEMS; i++) {
		size_t start = text.n;
		if (!random_problem(i, "smt2", &text, &problems[n]))
			continue;
		if (problems[n].satisfied == (satisfied > n / 2)) { /* as many of either kind */
			text.n = start;
			continue;
		}
		satisfied += problems[n++].satisfied;
		kr_str_add(&text, "(reset)\n");
	}
	save(&text, path);
	for (size_t i = 0; i < KR_COUNT(rare) && !getenv("KRAIT_ORACLE_MIX"); i++)
		if (!strstr(kr_str_text(&text), rare[i]))
			fail_msg("no problem has \"%s\"", rare[i]);
	kr_str_done(&text);
	snprintf(full, sizeof full, command, path);
	FILE *answers = popen(full, "r");
	assert_non_null(answers);
	for (unsigned i = 0; i < n; i++) {
		assert_non_null(fgets(line, sizeof line, answers));
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, problems[i].satisfied ? "sat" : "unsat") != 0)
			fail_msg("%s says %s, expected the opposite: %s", solver, line, problems[i].text);
	}
	assert_null(fgets(line, sizeof line, answers));
	pclose(answers);
	unlink(path);
	print_message("%s: %u problems, %u satisfiable\n", solver, n, satisfied);
	assert_in_range(satisfied, n / 5, n - n / 5);
}

static void z3_agrees_on_smt2(void **state)
{
	(void)state;
	smt2_agrees("z3", "z3 -smt2 %s 2>&1");
}

static void cvc5_agrees_on_smt2(void **state)
{
	(void)state;
	smt2_agrees("cvc5", "cvc5 --lang=smt2 %s 2>&1");
}

/* Whether a line of the solver's output is the answer; leaves it in *satisfiable. */
static bool is_answer(const char *line, bool *satisfiable)
{
	*satisfiable = strncmp(line, "s SATISFIABLE", 13) == 0 || strncmp(line, "sat", 3) == 0;
	return *satisfiable || strncmp(line, "s UNSATISFIABLE", 15) == 0 || strncmp(line, "unsat", 5) == 0;
}

static void z3_agrees_on_dimacs(void **state)
{
	struct kr_ctx ctx;
	unsigned n = 0, satisfied = 0;

	(void)state;
	if (!has_program("z3"))
		skip();
	kr_ctx_init(&ctx, 0, 0);
	for (uint64_t i = 0; n < DIMACS_PROBLEMS; i++) {
		char path[] = "/tmp/krait-dimacs-XXXXXX", line[4000], command[300];
		struct problem problem;
		struct kr_str text;
		bool answered = false, satisfiable = false;
		kr_str_init(&text, &ctx.mem);
		if (random_problem(i, "dimacs", &text, &problem) && problem.satisfied != (satisfied > n / 2)) {
			save(&text, path);
			snprintf(command, sizeof command, "z3 -dimacs %s 2>&1", path);
			FILE *answers = popen(command, "r");
			assert_non_null(answers);
			while (!answered && fgets(line, sizeof line, answers))
				answered = is_answer(line, &satisfiable);
			pclose(answers);
			unlink(path);
			if (!answered || satisfiable != problem.satisfied)
				fail_msg("z3 on DIMACS: %s, expected the opposite: %s", answered ? (satisfiable ? "satisfiable" : "unsatisfiable") : "no answer", problem.text);
			n++;
			satisfied += problem.satisfied;
		}
		kr_str_done(&text);
	}
	print_message("z3 on DIMACS: %u problems, %u satisfiable\n", n, satisfied);
	assert_in_range(satisfied, n / 5, n - n / 5);
}

/* What random histories have too seldom, as ASGs; `satisfied` by the definition of a world. */
struct small { const char *name, *level; bool satisfied; const char *text; };

/* t1's x comes before t0's, which saw t1's y. If t2 took effect or t5, t0's x came before t4's, and that one before t1's whether t4 took effect or not. Which z t3 saw varies. */
#define GUARDED(candidates) \
	"asg 1\ntxn 0 present\ntxn 1 present\ntxn 2 open unknown\ntxn 3 present\ntxn 4 open unknown\ntxn 5 open unknown\nkey 0\nkey 1\nkey 2\n" \
	"version 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 0 by 1\nversion 3 key 0 by 4\nversion 4 key 1 initial\nversion 5 key 1 by 1\n" \
	"version 6 key 2 initial\nversion 7 key 2 by 2\nversion 8 key 2 by 5\nset 0 {5}\nset 1 {" candidates "}\n" \
	"observe txn 0 op 0 key 1 set 0\nobserve txn 3 op 0 key 2 set 1\norder 1 < 3 if 2\norder 1 < 3 if 5\norder 3 < 2\nend asg\n"

/* A counter that t0 set; t1 saw its initial value, which counts 1, or t0's, which counts 2. */
#define COUNTED(reader, kind, total) \
	"asg 1\ntxn 0 present\ntxn 1 " reader "\nkey 0\npart 1 of 0\nversion 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 1 initial\n" \
	"version 3 key 1 by 0\nset 0 {2 3}\nobserve txn 1 op 0 key 1 set 0" kind "\nsum txn 1 op 0 key 0 total " total \
	" {obs 0 = 2 weight 1 obs 0 = 3 weight 2}\nend asg\n"

static const struct small smalls[] = {
	{"an order that rests on who was seen", "pl-2", false, GUARDED("7 8")},
	{"an order that rests on who may have been seen", "pl-2", true, GUARDED("6 7 8")},
	{"a sum of the one source", "pl-2", true, COUNTED("present", "", "1")},
	{"a sum of the other", "pl-2", true, COUNTED("present", "", "2")},
	{"a sum of both", "pl-2", false, COUNTED("present", "", "3")},
	{"a sum of both, neither of which changes what was seen", "ser", false, COUNTED("present", " predicate", "3")},
	{"a sum of the other, neither of which changes what was seen", "ser", true, COUNTED("present", " predicate", "2")},
	{"a sum that only an unknown reader saw", "pl-2", true, COUNTED("open unknown", "", "3")},
	{"a sum of an unknown reader that is right", "pl-2", true, COUNTED("open unknown", "", "2")},
};

static void smalls_agree(void **state)
{
	enum kr_order by_default;
	char path[] = "/tmp/krait-smt2-XXXXXX", line[200], command[300];
	struct kr_ctx ctx;
	struct kr_str text;

	(void)state;
	if (!has_program("z3"))
		skip();
	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	for (size_t i = 0; i < KR_COUNT(smalls); i++) {
		struct kr_pass_stats stats = {0};
		struct kr_pass_options options = {0};
		enum kr_change change = KR_UNCHANGED;
		struct kr_asg asg;
		struct kr_ir ir;
		assert_int_equal(kr_asg_read(&asg, &ctx, smalls[i].text, NULL, NULL), KR_OK);
		assert_int_equal(kr_ir_init(&ir, &ctx, &asg, kr_level_find(NULL, smalls[i].level, &by_default), KR_ORDER_NONE), KR_OK);
		assert_int_equal(kr_passes_run(&ir, "so,rt,wr,ww", &options, &stats, &change, NULL), KR_OK);
		assert_int_equal(kr_backend_find(NULL, "smt2")->write(&ir, &text, NULL), KR_OK);
		kr_str_add(&text, "(reset)\n");
		kr_vec_done(&ctx.mem, &stats);
		kr_ir_done(&ir);
		kr_asg_done(&asg);
	}
	save(&text, path);
	kr_str_done(&text);
	snprintf(command, sizeof command, "z3 -smt2 %s 2>&1", path);
	FILE *answers = popen(command, "r");
	assert_non_null(answers);
	for (size_t i = 0; i < KR_COUNT(smalls); i++) {
		assert_non_null(fgets(line, sizeof line, answers));
		if (strcmp(line, smalls[i].satisfied ? "sat\n" : "unsat\n") != 0)
			fail_msg("%s: expected the opposite of %s", smalls[i].name, line);
	}
	pclose(answers);
	unlink(path);
}

/* Names cannot leave their comments: a key with a line end and parentheses. */
static void names_stay_in_comments(void **state)
{
	static const char *const backends[] = {"smt2", "dimacs"};
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_str text;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
	kr_value name = kr_history_text(&h, KR_VALUE_STRING, "a\n(assert false)\n1 0\n\"", 22);
	kr_key key = kr_history_key(&h, name);
	for (int i = 0; i < 2; i++) {
		struct kr_operation op = {.kind = KR_OP_WRITE, .key = key, .a = kr_history_int(&h, i)};
		assert_true(kr_vec_push(h.mem, &h.ops, op));
		assert_int_equal(kr_history_add(&h, (struct kr_transaction){.id = i ? name : kr_history_int(&h, 7), .session = {KR_NONE}}, NULL, NULL), KR_OK);
	}
	assert_int_equal(kr_history_finish(&h, &ctx, NULL), KR_OK);
	for (size_t b = 0; b < KR_COUNT(backends); b++) {
		kr_str_init(&text, &ctx.mem);
		assert_true(write_problem(&ctx, &h, &(struct question){"ser", KR_ORDER_NONE, "so,rt,wr,ww"}, backends[b], &text));
		for (const char *line = kr_str_text(&text); *line; line = strchr(line, '\n') + 1) {
			if (strcmp(backends[b], "smt2") == 0)
				assert_true(strncmp(line, "(assert false)", 14) != 0 && (line[0] == '(' || line[0] == ';'));
			else
				assert_true(strncmp(line, "1 0", 3) != 0);
		}
		kr_str_done(&text);
	}
	kr_history_done(&h);
}

static void every_allocation_may_fail(void **state)
{
	static const char *const backends[] = {"smt2", "dimacs"};
	struct kr_rng rng;
	struct tiny tiny;
	struct kr_ctx ctx;
	struct kr_history h;

	(void)state;
	kr_rng_init(&rng, 3);
	kr_ctx_init(&ctx, 0, 0);
	do
		tiny_random(&tiny, &rng, TINY_READ_WRITE);
	while (tiny.initial != KR_INITIAL_UNKNOWN || tiny.ntxns < 5 || tiny.norders == 0 || tiny_history(&tiny, &ctx, &h) != KR_OK);
	for (size_t b = 0; b < KR_COUNT(backends); b++) {
		enum kr_order by_default;
		const struct kr_level *level = kr_level_find(NULL, "ser", &by_default);
		struct kr_analysis analysis;
		struct kr_ir ir;
		enum kr_status status = KR_NOMEM;
		uint64_t n = 0;
		assert_int_equal(kr_analyze(&ctx, &h, &analysis, NULL), KR_OK);
		assert_int_equal(kr_ir_init(&ir, &ctx, &analysis.asg, level, KR_ORDER_NONE), KR_OK);
		while (status == KR_NOMEM) {
			size_t used = ctx.mem.used;
			struct kr_str text;
			kr_str_init(&text, &ctx.mem);
			ctx.mem.count = 0;
			ctx.mem.fail_at = ++n;
			status = kr_backend_find(NULL, backends[b])->write(&ir, &text, NULL);
			kr_str_done(&text);
			assert_true(ctx.mem.used == used);
		}
		assert_int_equal(status, KR_OK);
		assert_true(n > 5);
		ctx.mem.fail_at = 0;
		kr_ir_done(&ir);
		kr_analysis_done(&analysis);
	}
	kr_history_done(&h);
	assert_true(ctx.mem.used == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(z3_agrees_on_smt2),
		cmocka_unit_test(cvc5_agrees_on_smt2),
		cmocka_unit_test(z3_agrees_on_dimacs),
		cmocka_unit_test(smalls_agree),
		cmocka_unit_test(names_stay_in_comments),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
