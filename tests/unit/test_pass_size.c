/* passes/: what they add stays linear on the inputs that invite a quadratic number of edges. Sizes are asserted, never times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "passes/pass.h"

enum { MANY = 5000 };

static const struct kr_level level = {
	.id = "test",
	.model = KR_NODES_TXN,
	.forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO) | KR_BIT(KR_RT)}},
};

struct fixture {
	struct kr_ctx ctx;
	struct kr_str text;
	struct kr_asg asg;
	struct kr_ir ir;
};

static void start(struct fixture *f)
{
	memset(f, 0, sizeof *f);
	kr_ctx_init(&f->ctx, 0, 0);
	kr_str_init(&f->text, &f->ctx.mem);
	kr_str_add(&f->text, "asg 1\n");
}

static void run(struct fixture *f, const char *passes, enum kr_order order)
{
	struct kr_err err;
	enum kr_change change;

	kr_err_init(&err);
	kr_str_add(&f->text, "end asg\n");
	if (kr_asg_read(&f->asg, &f->ctx, kr_str_text(&f->text), NULL, &err))
		fail_msg("line %u: %s", err.line, err.text);
	assert_int_equal(kr_ir_init(&f->ir, &f->ctx, &f->asg, &level, order), KR_OK);
	if (kr_passes_run(&f->ir, passes, NULL, NULL, &change, &err))
		fail_msg("%s", err.text);
}

static void finish(struct fixture *f)
{
	kr_ir_done(&f->ir);
	kr_asg_done(&f->asg);
	kr_str_done(&f->text);
	assert_int_equal(f->ctx.mem.used, 0);
}

static uint32_t count(const struct kr_ir *ir, enum kr_edge_kind kind)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < ir->edges.n; e++)
		n += ir->edges.at[e].kind == kind;
	return n;
}

/* One key, written by the first `writers` transactions and read by all from `first_reader` on; set 0 is what they saw. */
static void one_key(struct fixture *f, uint32_t n, uint32_t writers, uint32_t first_reader, const char *seen)
{
	for (uint32_t t = 0; t < n; t++)
		kr_str_format(&f->text, "txn %u present\n", t);
	kr_str_add(&f->text, "key 0\nversion 0 key 0 initial\n");
	for (uint32_t t = 0; t < writers; t++)
		kr_str_format(&f->text, "version %u key 0 by %u\n", t + 1, t);
	kr_str_format(&f->text, "set 0 %s\n", seen);
	for (uint32_t t = first_reader; t < n; t++)
		kr_str_format(&f->text, "observe txn %u op 0 key 0 set 0\n", t);
}

static void many_readers_of_the_initial_version_and_blind_writers(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	one_key(&f, 2 * MANY, MANY, MANY, "{0}");
	run(&f, "wr,ww,rw", KR_ORDER_NONE);
	assert_true(f.ir.edges.n <= 16 * 2 * MANY);
	finish(&f);
}

static void few_readers_of_the_initial_version_get_all_their_edges(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	one_key(&f, MANY + 10, MANY, MANY, "{0}");
	run(&f, "wr,ww,rw", KR_ORDER_NONE);
	assert_int_equal(count(&f.ir, KR_RW), 10 * MANY);
	finish(&f);
}

static void many_read_modify_writes_of_one_version(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	one_key(&f, MANY, MANY, 1, "{1}");
	run(&f, "wr,ww,rw", KR_ORDER_NONE);
	assert_int_equal(count(&f.ir, KR_WR), MANY - 1);
	assert_true(count(&f.ir, KR_RW) >= MANY - 1); /* enough to show the lost update */
	assert_true(count(&f.ir, KR_RW) <= 16 * MANY);
	finish(&f);
}

/* All saw one of two versions that a set of thousands left out the others of. */
static void many_readers_of_large_complements(void **state)
{
	struct fixture f;
	struct kr_str seen;

	(void)state;
	start(&f);
	kr_str_init(&seen, &f.ctx.mem);
	kr_str_add(&seen, "not {0");
	for (uint32_t v = 1; v < MANY; v++)
		kr_str_format(&seen, " %u", v);
	kr_str_add(&seen, "}");
	one_key(&f, 2 * MANY, MANY, MANY, kr_str_text(&seen));
	kr_str_done(&seen);
	run(&f, "presence,wr,ww,rw", KR_ORDER_NONE);
	assert_int_equal(f.ir.source[0].i, MANY); /* the only version not left out */
	assert_int_equal(count(&f.ir, KR_WR), MANY);
	finish(&f);
}

/* Random intervals: at most three edges per transaction, and no time node without an end before it and a begin after it. */
static void real_time_order_of_random_intervals(void **state)
{
	struct fixture f;
	struct kr_rng rng;
	uint8_t entered[MANY + 1] = {0}, left[MANY + 1] = {0};

	(void)state;
	start(&f);
	kr_rng_init(&rng, 1);
	for (uint32_t t = 0; t < MANY; t++) {
		uint64_t begin = kr_rng_below(&rng, 100 * MANY);

		kr_str_format(&f.text, "txn %u present begin %llu end %llu\n", t, (unsigned long long)begin, (unsigned long long)(begin + kr_rng_below(&rng, 1000)));
	}
	run(&f, "rt", KR_ORDER_REALTIME);
	assert_true(f.ir.edges.n <= 3 * MANY);
	assert_true(f.ir.nnodes - f.ir.first_time_node <= MANY);
	for (uint32_t e = 0; e < f.ir.edges.n; e++) {
		struct kr_edge edge = f.ir.edges.at[e];

		if (edge.kind == KR_RT && kr_ir_is_time(&f.ir, edge.to))
			entered[edge.to.i - f.ir.first_time_node] = 1;
		if (edge.kind == KR_RT && kr_ir_is_time(&f.ir, edge.from))
			left[edge.from.i - f.ir.first_time_node] = 1;
	}
	for (uint32_t i = 0; i < f.ir.nnodes - f.ir.first_time_node; i++)
		assert_true(entered[i] && left[i]);
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_readers_of_the_initial_version_and_blind_writers),
		cmocka_unit_test(few_readers_of_the_initial_version_get_all_their_edges),
		cmocka_unit_test(many_read_modify_writes_of_one_version),
		cmocka_unit_test(many_readers_of_large_complements),
		cmocka_unit_test(real_time_order_of_random_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
