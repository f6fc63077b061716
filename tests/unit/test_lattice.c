/* Implications between levels: the facts that docs/levels.md states, and none back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checkers/lattice.h"

static struct kr_question ask(const char *id, enum kr_order order)
{
	enum kr_order by_default;
	const struct kr_level *level = kr_level_find(NULL, id, &by_default);

	if (!level)
		fail_msg("no level '%s'", id);
	return (struct kr_question){level, order};
}

static void stronger_orders_imply_weaker_ones(void **state)
{
	const struct kr_level *level;

	(void)state;
	for (size_t i = 0; (level = kr_level_at(NULL, i)) != NULL; i++)
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				assert_int_equal(kr_implies(NULL, (struct kr_question){level, (enum kr_order)a}, (struct kr_question){level, (enum kr_order)b}), a >= b);
}

static void strict_and_plain_serializability(void **state)
{
	(void)state;
	assert_true(kr_implies(NULL, ask("pl-ss", KR_ORDER_REALTIME), ask("ser", KR_ORDER_NONE)));
	assert_false(kr_implies(NULL, ask("ser", KR_ORDER_NONE), ask("pl-ss", KR_ORDER_REALTIME)));
	assert_true(kr_implies(NULL, ask("ser", KR_ORDER_SESSION), ask("pl-ss", KR_ORDER_SESSION))); /* one meaning, two default orders */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stronger_orders_imply_weaker_ones),
		cmocka_unit_test(strict_and_plain_serializability),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
