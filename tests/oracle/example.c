/* Levels of plug-ins, as krait has them after --plugin: held to their definitions like krait's own. The example's, and two with three patterns. */
#include "product.h"

#include "examples/plugin/update_atomic.c"

#define D (KR_BIT(KR_WR) | KR_BIT(KR_WW))
#define RW KR_BIT(KR_RW)
#define FIRST {.allowed = D | ORDERS}
#define FRACTURED {.allowed = KR_BIT(KR_WR) | RW | ORDERS, .once = RW, .longest = 2}

static const char *const ra_cs_implies[] = {"ra", "pl-cs", NULL};
static const char *const mv_ra_implies[] = {"ra", "pl-2l", NULL};
static const char *const mv_ra_implied_by[] = {"psi", "pc", NULL};

static const struct kr_level three[] = {
	{
		.id = "ra-cs",
		.title = "read atomic and cursor stability",
		.definition = "no cycle of wr and ww, no lost update, no rw answered by a wr or the order",
		.source = "made for tests",
		.implies[KR_ORDER_REALTIME] = ra_cs_implies,
		.implied_by = implied_by,
		.default_order = KR_ORDER_SESSION,
		.forbidden = {FIRST, {.allowed = KR_BIT(KR_WW) | RW, .once = RW, .longest = 2, .same_key = true, .cursor_only = true}, FRACTURED},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "mv-ra",
		.title = "monotonic view and read atomic",
		.definition = "no cycle of wr and ww, no view that goes back, no rw answered by a wr or the order",
		.source = "made for tests",
		.implies[KR_ORDER_REALTIME] = mv_ra_implies,
		.implied_by = mv_ra_implied_by,
		.default_order = KR_ORDER_SESSION,
		.forbidden = {FIRST, {.allowed = D | RW | ORDERS, .once = RW, .sight = KR_SIGHT_NOT_AFTER}, FRACTURED},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

static const struct kr_checker checker_three = {
	.name = "three-patterns",
	.title = "levels with three patterns",
	.source = "made for tests",
	.levels = three,
	.passes = "so,rt,presence,wr,ww,rw,clock,saturate",
	.backend = "z3",
};

struct kr_modules product_example(void)
{
	static const struct kr_checker *checkers[] = {&update_atomic, &checker_three};

	return (struct kr_modules){.checkers = {checkers, KR_COUNT(checkers), KR_COUNT(checkers)}};
}
