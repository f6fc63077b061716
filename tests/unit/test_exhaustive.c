/* backend/exhaustive: on levels given as data here, with verdicts from the definition: acyclicity on one node per transaction, and on begin and commit nodes (snapshot
 * isolation); its bounds; failing allocations. Random histories are in tests/oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "frontend/analyze.h"
#include "passes/pass.h"
#include "same_history.h"

#define ALL (KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO) | KR_BIT(KR_RT))

static const struct kr_level serializable = {.id = "ser", .model = KR_NODES_TXN, .forbidden = {{.allowed = ALL}}};
static const struct kr_level committed = {.id = "pl-2", .model = KR_NODES_TXN, .forbidden = {{.allowed = ALL & ~KR_BIT(KR_RW)}}};
static const struct kr_level snapshot = {.id = "si", .model = KR_NODES_BEGIN_COMMIT, .forbidden = {{.allowed = ALL, .lonely = KR_BIT(KR_RW)}}};

struct problem {
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_ir ir;
};

static void open_problem(struct problem *p, const char *text, size_t length, const struct kr_level *level)
{
	struct kr_err err;
	struct kr_pass_options options = {0};
	struct kr_pass_stats stats = {0};
	enum kr_change change;

	kr_err_init(&err);
	kr_ctx_init(&p->ctx, 0, 0);
	if (read_trace_text(&p->ctx, text, length, &p->h, &err) != KR_OK || kr_analyze(&p->ctx, &p->h, &p->analysis, &err) != KR_OK)
		fail_msg("line %u: %s", (unsigned)err.line, err.text);
	assert_int_equal(p->analysis.anomaly_count, 0);
	assert_int_equal(kr_ir_init(&p->ir, &p->ctx, &p->analysis.asg, level, KR_ORDER_SESSION), KR_OK);
	assert_int_equal(kr_passes_run(&p->ir, "so,rt,wr,ww", &options, &stats, &change, NULL), KR_OK);
	kr_vec_done(&p->ctx.mem, &stats);
}

static void close_problem(struct problem *p)
{
	kr_ir_done(&p->ir);
	kr_analysis_done(&p->analysis);
	kr_history_done(&p->h);
	assert_true(p->ctx.mem.used == 0);
}

static enum kr_status solve(struct problem *p, struct kr_answer *answer)
{
	kr_answer_init(answer, &p->ctx.mem);
	return kr_backend_find(NULL, "exhaustive")->solve(&p->ir, answer, NULL);
}

/* ---- verdicts ---- */

struct row { const char *name, *text; bool ser, si, pl2; };

static const struct row rows[] = {
	{"empty", "", true, true, true},
	{"write skew", "{\"ops\": [[\"r\", \"x\", null], [\"w\", \"y\", 1]]}\n{\"ops\": [[\"r\", \"y\", null], [\"w\", \"x\", 1]]}", false, true, true},
	{"lost update", "{\"ops\": [[\"r\", \"x\", null], [\"w\", \"x\", 1]]}\n{\"ops\": [[\"r\", \"x\", null], [\"w\", \"x\", 2]]}", false, false, true},
	{"read skew", "{\"ops\": [[\"w\", \"x\", 1], [\"w\", \"y\", 1]]}\n{\"ops\": [[\"r\", \"x\", null], [\"r\", \"y\", 1]]}", false, false, true},
	{"circular information flow", "{\"ops\": [[\"w\", \"x\", 1], [\"r\", \"y\", 1]]}\n{\"ops\": [[\"w\", \"y\", 1], [\"r\", \"x\", 1]]}", false, false, false},
	{"long fork",
		"{\"ops\": [[\"w\", \"x\", 1]]}\n{\"ops\": [[\"w\", \"y\", 1]]}\n{\"ops\": [[\"r\", \"x\", 1], [\"r\", \"y\", null]]}\n"
		"{\"ops\": [[\"r\", \"x\", null], [\"r\", \"y\", 1]]}",
		false, false, true},
	{"session reads its older write", "{\"s\": 1, \"ops\": [[\"w\", \"x\", 1]]}\n{\"s\": 1, \"ops\": [[\"w\", \"x\", 2]]}\n{\"s\": 1, \"ops\": [[\"r\", \"x\", 1]]}", false, false, true},
	{"equal values", "{\"ops\": [[\"w\", \"x\", 1]]}\n{\"ops\": [[\"r\", \"x\", 1], [\"w\", \"x\", 2]]}\n{\"ops\": [[\"w\", \"x\", 1]]}\n{\"s\": 1, \"ops\": [[\"r\", \"x\", 2]]}\n"
		"{\"s\": 1, \"ops\": [[\"r\", \"x\", 1]]}",
		true, true, true},
	{"told order", "{\"id\": \"a\", \"ops\": [[\"w\", \"x\", 1], [\"w\", \"y\", 1]]}\n{\"id\": \"b\", \"ops\": [[\"w\", \"x\", 2], [\"w\", \"y\", 2]]}\n"
		"{\"version_order\": \"x\", \"writers\": [\"a\", \"b\"]}\n{\"version_order\": \"y\", \"writers\": [\"b\", \"a\"]}",
		false, false, false},
	{"unknown, seen", "{\"status\": \"unknown\", \"ops\": [[\"r\", \"x\", null], [\"w\", \"x\", 1]]}\n{\"ops\": [[\"r\", \"x\", null], [\"w\", \"x\", 2]]}\n{\"ops\": [[\"r\", \"x\", 1]]}",
		false, false, true},
	{"unknown, not seen", "{\"status\": \"unknown\", \"ops\": [[\"r\", \"x\", null], [\"w\", \"x\", 1]]}\n{\"ops\": [[\"r\", \"x\", null], [\"w\", \"x\", 2]]}", true, true, true},
};

static void check(const struct row *row, const struct kr_level *level, bool satisfied)
{
	struct problem p;
	struct kr_answer answer;

	open_problem(&p, row->text, strlen(row->text), level);
	assert_int_equal(solve(&p, &answer), KR_OK);
	if (answer.outcome != (satisfied ? KR_SATISFIED : KR_VIOLATED))
		fail_msg("%s at %s: expected %s", row->name, level->id, satisfied ? "satisfied" : "violated");
	assert_true(satisfied || answer.proof.cycles.n > 0);
	kr_answer_done(&answer, &p.ctx.mem);
	close_problem(&p);
}

static void follows_the_definition(void **state)
{
	const struct row *row = *state;

	check(row, &serializable, row->ser);
	check(row, &snapshot, row->si);
	check(row, &committed, row->pl2);
}

/* ---- bounds ---- */

static void undecided(const char *text, size_t length, const struct kr_level *level, const char *reason)
{
	struct problem p;
	struct kr_answer answer;

	open_problem(&p, text, length, level);
	assert_int_equal(solve(&p, &answer), KR_OK);
	assert_int_equal(answer.outcome, KR_UNDECIDED);
	assert_string_equal(answer.reason, reason);
	kr_answer_done(&answer, &p.ctx.mem);
	close_problem(&p);
}

/* A lost update, met last, behind 40 reads that each may have seen one of two writers. */
static void gives_up_on_many_choices(void **state)
{
	struct kr_ctx ctx;
	struct kr_str text;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	for (int t = 0; t < 42; t++)
		kr_str_add(&text, t < 2 ? "{\"ops\": [[\"w\", \"x\", 1]]}\n" : "{\"ops\": [[\"r\", \"x\", 1]]}\n");
	for (int t = 0; t < 2; t++)
		kr_str_format(&text, "{\"ops\": [[\"r\", \"y\", null], [\"w\", \"y\", %d]]}\n", t);
	undecided(text.at, text.n, &serializable, "too many choices for exhaustive search");
	kr_str_done(&text);
}

static void gives_up_on_many_versions(void **state)
{
	struct kr_ctx ctx;
	struct kr_str text;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	for (int t = 0; t < 5000; t++)
		kr_str_format(&text, "{\"ops\": [[\"w\", \"x\", %d]]}\n", t);
	undecided(text.at, text.n, &serializable, "too many choices for exhaustive search");
	kr_str_done(&text);
}

static void heeds_the_deadline(void **state)
{
	struct problem p;
	struct kr_answer answer;

	(void)state;
	open_problem(&p, rows[1].text, strlen(rows[1].text), &serializable);
	p.ctx.deadline_ns = 0;
	p.ctx.ticks = 254; /* the clock is read once in a while */
	assert_int_equal(solve(&p, &answer), KR_TIMEOUT);
	kr_answer_done(&answer, &p.ctx.mem);
	close_problem(&p);
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	for (size_t r = 0; r < KR_COUNT(rows); r++) {
		struct problem p;
		enum kr_status status = KR_NOMEM;
		uint64_t n = 0;
		open_problem(&p, rows[r].text, strlen(rows[r].text), &serializable);
		while (status == KR_NOMEM) {
			size_t used = p.ctx.mem.used;
			struct kr_answer answer;
			p.ctx.mem.count = 0;
			p.ctx.mem.fail_at = ++n;
			status = solve(&p, &answer);
			kr_answer_done(&answer, &p.ctx.mem);
			assert_true(status == KR_OK || p.ctx.mem.used == used);
		}
		assert_int_equal(status, KR_OK);
		p.ctx.mem.fail_at = 0;
		close_problem(&p);
	}
}

int main(void)
{
	struct CMUnitTest tests[KR_COUNT(rows) + 5];
	size_t n = 0;

	for (; n < KR_COUNT(rows); n++)
		tests[n] = (struct CMUnitTest){.name = rows[n].name, .test_func = follows_the_definition, .initial_state = (void *)&rows[n]};
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(gives_up_on_many_choices);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(gives_up_on_many_versions);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(heeds_the_deadline);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(every_allocation_may_fail);
	return _cmocka_run_group_tests("exhaustive", tests, n, NULL, NULL);
}
