/* ir/units.h: which versions are one unit, which orders are one choice, and the cycles that say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/units.h"

static const struct kr_level level = {
	.id = "test",
	.model = KR_NODES_TXN,
	.forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW)}},
};

/* Key 0: 0, then 1 and 2, each of which saw the one before; 3 blindly. Keys 1 and 2: 0 and 3, both blindly; key 2 before key 1 for nobody. Key 1 was written by 1, too. */
static const char text[] = "asg 1\n"
			   "txn 0 present\n"
			   "txn 1 present\n"
			   "txn 2 present\n"
			   "txn 3 present\n"
			   "key 0\n"
			   "key 1\n"
			   "key 2\n"
			   "version 0 key 0 initial\n"
			   "version 1 key 0 by 0\n"
			   "version 2 key 0 by 1\n"
			   "version 3 key 0 by 2\n"
			   "version 4 key 0 by 3\n"
			   "version 5 key 1 initial\n"
			   "version 6 key 1 by 0\n"
			   "version 7 key 1 by 1\n"
			   "version 8 key 1 by 3\n"
			   "version 9 key 2 initial\n"
			   "version 10 key 2 by 0\n"
			   "version 11 key 2 by 3\n"
			   "set 0 {1}\n"
			   "set 1 {2}\n"
			   "observe txn 1 op 0 key 0 set 0\n"
			   "observe txn 2 op 0 key 0 set 1\n"
			   "end asg\n"
			   "ir 1 nodes txn order none\n"
			   "facts so rt wr ww rw\n"
			   "source obs 0 = 1\n"
			   "source obs 1 = 2\n"
			   "edge 0 wr 0 -> 1 why 0\n"
			   "edge 1 wr 1 -> 2 why 1\n"
			   "end ir\n";

struct fixture {
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_ir ir;
};

static void begin(struct fixture *f, bool chains, bool merged)
{
	struct kr_err err;

	kr_err_init(&err);
	kr_ctx_init(&f->ctx, 0, 0);
	assert_int_equal(kr_ir_read(&f->ir, &f->asg, &f->ctx, &level, KR_ORDER_NONE, text, &err), KR_OK);
	assert_int_equal(kr_units_find(&f->ir, chains), KR_OK);
	f->ir.units->merged = merged;
}

static void end(struct fixture *f)
{
	kr_ir_done(&f->ir);
	kr_asg_done(&f->asg);
	assert_int_equal(f->ctx.mem.used, 0);
}

static void assert_choice(const struct kr_ir *ir, uint32_t a, uint32_t b, uint32_t first, uint32_t second)
{
	kr_version x = {a}, y = {b};

	kr_units_choice(ir, &x, &y);
	assert_int_equal(x.i, first);
	assert_int_equal(y.i, second);
}

static void chains_are_units(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, true, false);
	for (uint32_t v = 1; v <= 3; v++) {
		assert_int_equal(kr_unit_first(&f.ir, (kr_version){v}).i, 1);
		assert_int_equal(kr_unit_last(&f.ir, (kr_version){v}).i, 3);
	}
	assert_int_equal(kr_unit_first(&f.ir, (kr_version){4}).i, 4);
	assert_int_equal(kr_unit_last(&f.ir, (kr_version){6}).i, 6);
	assert_choice(&f.ir, 2, 4, 1, 4);
	assert_choice(&f.ir, 4, 3, 4, 1);
	assert_choice(&f.ir, 3, 2, 3, 2); /* of one unit */
	assert_choice(&f.ir, 10, 11, 10, 11);
	end(&f);
}

static void single_versions(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, false, false);
	for (uint32_t v = 0; v < f.asg.nversions; v++)
		assert_true(kr_unit_first(&f.ir, (kr_version){v}).i == v && kr_unit_last(&f.ir, (kr_version){v}).i == v);
	end(&f);
}

/* 0 and 3 wrote all keys; on key 0 the unit of 0 has more writers, so that choice is one of its own. */
static void merged_across_keys(void **state)
{
	struct fixture f;
	kr_version a = {6}, b = {8};

	(void)state;
	begin(&f, true, true);
	assert_choice(&f.ir, 2, 4, 1, 4);
	assert_choice(&f.ir, 10, 11, 6, 8);
	assert_choice(&f.ir, 11, 10, 8, 6);
	assert_choice(&f.ir, 7, 8, 7, 8);
	assert_true(kr_units_next(&f.ir, &a, &b));
	assert_true(a.i == 10 && b.i == 11);
	assert_false(kr_units_next(&f.ir, &a, &b));
	end(&f);
	begin(&f, false, true); /* without chains key 0 joins them */
	assert_choice(&f.ir, 10, 11, 1, 4);
	end(&f);
}

static struct kr_link ww(uint32_t from, uint32_t to, uint32_t key)
{
	return (struct kr_link){KR_WW, {from}, {to}, {KR_NONE}, {KR_NONE}, {key}, KR_NONE};
}

static uint32_t count_cycles(struct fixture *f, struct kr_link link)
{
	struct kr_proof proof;
	uint32_t n;

	kr_proof_init(&proof, &f->ctx.mem);
	kr_proof_begin(&proof);
	assert_int_equal(kr_proof_add_link(&proof, link), KR_OK);
	assert_int_equal(kr_proof_end(&proof), KR_OK);
	assert_int_equal(kr_units_justify(&f->ir, &proof, NULL, 0), KR_OK);
	for (uint32_t c = 1; c < proof.cycles.n; c++) { /* each is a cycle */
		const struct kr_link *links = &proof.links.at[proof.cycles.at[c].first];
		for (uint32_t i = 0; i < proof.cycles.at[c].count; i++)
			assert_int_equal(links[i].to.i, links[(i + 1) % proof.cycles.at[c].count].from.i);
	}
	n = proof.cycles.n - 1;
	kr_proof_done(&proof);
	return n;
}

/* Two cycles for each step of a chain; two for a pair of keys; none where the choice is the pair itself. */
static void what_holds_them_together(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, true, true);
	assert_int_equal(count_cycles(&f, ww(2, 3, 0)), 4);
	assert_int_equal(count_cycles(&f, ww(3, 1, 0)), 4);
	assert_int_equal(count_cycles(&f, ww(0, 3, 1)), 0);
	assert_int_equal(count_cycles(&f, ww(0, 3, 2)), 2);
	assert_int_equal(count_cycles(&f, ww(1, 2, 0)), 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_units),
		cmocka_unit_test(single_versions),
		cmocka_unit_test(merged_across_keys),
		cmocka_unit_test(what_holds_them_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
