/* backend/choices: literals of one question agree with each other, and exactly the settings that its clauses and facts allow are those that the ASG allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/choices.h"

static const struct kr_level level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW)}}};

/* Versions 1, 2 and 3 of x by 0, 1 and 2, of which 2 may not have taken effect; 3 saw the initial version, that of 0 or that of 2. 2 saw y as 0 or 1 left it. */
static const char text[] = "asg 1\n"
			   "txn 0 present\ntxn 1 present\ntxn 2 open unknown\ntxn 3 present\n"
			   "key 0\nkey 1\n"
			   "version 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 0 by 1\nversion 3 key 0 by 2\n"
			   "version 4 key 1 initial\nversion 5 key 1 by 0\nversion 6 key 1 by 1\n"
			   "set 0 {0 1 3}\nset 1 {5 6}\n"
			   "observe txn 2 op 0 key 1 set 1\nobserve txn 3 op 0 key 0 set 0\n"
			   "order 2 < 3\n"
			   "end asg\n";

struct fixture {
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_ir ir;
	struct kr_choices c;
};

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof f);
	kr_ctx_init(&f.ctx, 0, 0);
	assert_int_equal(kr_asg_read(&f.asg, &f.ctx, text, NULL, NULL), KR_OK);
	assert_int_equal(kr_ir_init(&f.ir, &f.ctx, &f.asg, &level, KR_ORDER_NONE), KR_OK);
	assert_int_equal(kr_choices_init(&f.c, &f.ir), KR_OK);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kr_choices_done(&f->c);
	kr_ir_done(&f->ir);
	kr_asg_done(&f->asg);
	assert_int_equal(f->ctx.mem.used, 0);
	return 0;
}

static kr_lit order(struct fixture *f, uint32_t a, uint32_t b)
{
	kr_lit l;

	assert_int_equal(kr_choices_order(&f->c, (kr_version){a}, (kr_version){b}, &l), KR_OK);
	return l;
}

static kr_lit source(struct fixture *f, uint32_t o, uint32_t v)
{
	kr_lit l;

	assert_int_equal(kr_choices_source(&f->c, (kr_obs){o}, (kr_version){v}, &l), KR_OK);
	return l;
}

static void set(struct fixture *f, uint32_t bits)
{
	for (uint32_t i = 0; i < f->c.all.n; i++)
		f->c.all.at[i].value = bits >> i & 1;
}

static bool holds(const struct fixture *f, const struct kr_lits *list)
{
	bool clause = false;

	for (uint32_t i = 0; i < list->n; i++) {
		if (list->at[i].i != KR_NONE) {
			clause |= kr_choices_true(&f->c, list->at[i]);
			continue;
		}
		if (!clause)
			return false;
		clause = false;
	}
	return true;
}

static bool allowed(const struct fixture *f) { return holds(f, &f->c.clauses) && holds(f, &f->c.facts); }

static void both_ways_of_a_pair_are_one_variable(void **state)
{
	struct fixture *f = *state;
	kr_lit low = order(f, 1, 2), high = order(f, 6, 5);

	assert_int_equal(order(f, 2, 1).i, kr_lit_not(low).i);
	assert_int_equal(order(f, 5, 6).i, kr_lit_not(high).i);
	assert_int_equal(f->c.all.n, 2);
	set(f, 0); /* what was asked for first is preferred: true without a word of the solver */
	assert_true(kr_choices_true(&f->c, low) && kr_choices_true(&f->c, high));
	assert_true(allowed(f));
}

/* 2 < 3 is given, but binds only if transaction 2 took effect. */
static void given_orders_bind_who_took_effect(void **state)
{
	struct fixture *f = *state;
	kr_lit given = order(f, 3, 2); /* asked for the wrong way round */
	kr_lit present = {KR_NONE};

	assert_int_equal(f->c.all.n, 2);
	for (uint32_t i = 0; i < f->c.all.n; i++)
		if (f->c.all.at[i].txn.i == 2)
			present.i = 2 * i;
	assert_int_not_equal(present.i, KR_NONE);
	for (uint32_t bits = 0; bits < 4; bits++) {
		set(f, bits);
		assert_int_equal(allowed(f), !kr_choices_true(&f->c, given) || !kr_choices_true(&f->c, present));
	}
}

static void sources_are_seen_and_their_writers_present(void **state)
{
	struct fixture *f = *state;
	kr_lit of0 = source(f, 1, 1), initial = source(f, 1, 0), of2 = source(f, 1, 3);
	kr_lit y0 = source(f, 0, 5), y1 = source(f, 0, 6), present = {KR_NONE};

	set(f, 0);
	assert_true(kr_choices_true(&f->c, of0)); /* preferred */
	assert_false(kr_choices_true(&f->c, initial) || kr_choices_true(&f->c, of2));
	assert_int_equal(source(f, 1, 2).i, KR_NONE); /* no candidate */
	assert_int_equal(f->c.all.n, 6);
	for (uint32_t i = 0; i < f->c.all.n; i++)
		if (f->c.all.at[i].txn.i == 2)
			present.i = 2 * i;
	assert_int_not_equal(present.i, KR_NONE);
	for (uint32_t bits = 0; bits < 64; bits++) {
		set(f, bits);
		bool saw2 = kr_choices_true(&f->c, of2);
		bool some = saw2 || kr_choices_true(&f->c, of0) || kr_choices_true(&f->c, initial);
		bool some_y = kr_choices_true(&f->c, y0) || kr_choices_true(&f->c, y1);
		assert_int_equal(allowed(f), some && (!saw2 || (kr_choices_true(&f->c, present) && some_y)));
	}
}

/* 3 saw 0's version of x, which 1 overwrote; 1 came before 0 in the order of y. */
static void a_cycle_becomes_the_clause_that_not_all_its_guards_hold(void **state)
{
	struct fixture *f = *state;
	struct kr_proof proof;
	struct kr_link rw = {KR_RW, {3}, {1}, {1}, {1}, {0}, KR_NONE}, ww = {KR_WW, {1}, {0}, {KR_NONE}, {KR_NONE}, {1}, KR_NONE};
	struct kr_link wr = {KR_WR, {0}, {3}, {1}, {1}, {0}, KR_NONE};

	kr_proof_init(&proof, &f->ctx.mem);
	kr_proof_begin(&proof);
	assert_int_equal(kr_proof_add_link(&proof, rw), KR_OK);
	assert_int_equal(kr_proof_add_link(&proof, ww), KR_OK);
	assert_int_equal(kr_proof_add_link(&proof, wr), KR_OK);
	assert_int_equal(kr_proof_end(&proof), KR_OK);
	kr_lit saw = source(f, 1, 1), x = order(f, 1, 2), y = order(f, 6, 5);
	uint32_t variables = f->c.all.n;

	for (int round = 0; round < 2; round++) {
		for (uint32_t bits = 0; bits < 1u << variables; bits++) {
			set(f, bits);
			bool before = allowed(f), all = kr_choices_true(&f->c, saw) && kr_choices_true(&f->c, x) && kr_choices_true(&f->c, y);
			if (round == 1)
				assert_true(!before || !all);
			else if (all && bits == 0)
				assert_true(before); /* all preferred: allowed until the cycle is known */
		}
		if (round == 0)
			assert_int_equal(kr_choices_forbid(&f->c, &proof, 0), KR_OK);
		assert_int_equal(f->c.all.n, variables);
	}
	set(f, 1u << y.i / 2); /* one guard less */
	assert_true(allowed(f));
	assert_int_equal(f->c.origin.at[f->c.origin.n - 1], 0);
	kr_proof_done(&proof);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_ways_of_a_pair_are_one_variable, setup, teardown),
		cmocka_unit_test_setup_teardown(given_orders_bind_who_took_effect, setup, teardown),
		cmocka_unit_test_setup_teardown(sources_are_seen_and_their_writers_present, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cycle_becomes_the_clause_that_not_all_its_guards_hold, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
