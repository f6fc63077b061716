/* verify/stated.c: what the verifier reads from a level's patterns is, for each of krait's own levels, what its own table says, which was written by hand from docs/levels.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/modules.h"
#include "verify/verifier.h"

/* Not by checkers/checker.h: the pipeline's headers and the verifier's do not go together, and need not. */
extern const struct kr_checker *const kr_checker_registry[];

static void assert_same_cycles(const char *id, const struct kr_rule_cycle *a, const struct kr_rule_cycle *b)
{
	bool same = a->kinds == b->kinds && a->lonely == b->lonely && a->before_rw == b->before_rw && a->sight == b->sight;

	same = same && a->one_rw == b->one_rw && a->pair == b->pair && a->no_order == b->no_order && a->same_key == b->same_key;
	if (!same || a->item != b->item || a->cursor != b->cursor || a->one_reader != b->one_reader)
		fail_msg("level %s: the patterns say something else than the table", id);
}

static void patterns_agree(const struct kr_checker *checker, const struct kr_level *level)
{
	struct kr_modules one = {.checkers = {&checker, 1, 1}};
	const struct kr_rule *table = kr_rule_find(level->id);
	struct kr_rule stated;

	assert_non_null(table);
	assert_true(kr_verify_states(level));
	assert_true(kr_rule_state(&one, level->id, &stated));
	for (int c = 0; c < 2; c++)
		assert_same_cycles(level->id, &stated.cycles[c], &table->cycles[c]);
	assert_int_equal(stated.anomalies, table->anomalies);
	if (stated.snapshots != table->snapshots || stated.prefixes != table->prefixes || stated.graph != table->graph)
		fail_msg("level %s: other worlds prove it than the table says", level->id);
}

static void patterns_say_what_the_table_says(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (const struct kr_checker *const *c = kr_checker_registry; *c; c++)
		for (const struct kr_level *level = (*c)->levels; level && level->id; level++, n++)
			patterns_agree(*c, level);
	assert_true(n >= 16);
	assert_false(kr_rule_state(NULL, "ser", &(struct kr_rule){.id = NULL}));
}

#define RW KR_BIT(KR_RW)
#define D (KR_BIT(KR_WR) | KR_BIT(KR_WW))
#define ORDERS (KR_BIT(KR_SO) | KR_BIT(KR_RT))

static void other_shapes_are_refused(void **state)
{
	static const struct kr_pattern first = {.allowed = D | ORDERS};
	static const struct kr_pattern wrong[] = {
		{.allowed = D | RW | ORDERS, .longest = 3},
		{.allowed = D | RW | ORDERS, .needed = RW},
		{.allowed = D | RW | KR_BIT(KR_SO)},
		{.allowed = D | RW | ORDERS, .once = KR_BIT(KR_WW)},
		{.allowed = D | RW | ORDERS, .lonely = RW, .item_only = true},
		{.allowed = D},
	};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(wrong); i++) {
		assert_false(kr_verify_states(&(struct kr_level){.id = "x", .forbidden = {wrong[i]}}));
		assert_false(kr_verify_states(&(struct kr_level){.id = "x", .forbidden = {first, wrong[i]}}));
	}
	assert_true(kr_verify_states(&(struct kr_level){.id = "x", .forbidden = {first}}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_say_what_the_table_says),
		cmocka_unit_test(other_shapes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
