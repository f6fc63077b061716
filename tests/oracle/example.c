/* Levels of plug-ins, as krait has them after --plugin: held to their definitions like krait's own. The example's, two with three patterns, and one whose rw count through cursors only. */
#include "product.h"

#include "examples/plugin/update_atomic.c"

#define RW KR_BIT(KR_RW)
#define FRACTURED {.allowed = KR_BIT(KR_WR) | RW | KR_EDGES_ORDER, .once = RW, .longest = 2}

static const char *const ra_cs_implies[] = {"ra", "pl-cs", NULL};
static const char *const mv_ra_implies[] = {"ra", "pl-2l", NULL};
static const char *const mv_ra_implied_by[] = {"psi", "pc", NULL};

static const char *const cursor_view_implies[] = {"pl-cs", NULL};
static const char *const cursor_view_implied_by[] = {"pl-2+", NULL};

static const struct kr_level made[] = {
	{
		.id = "ra-cs",
		.title = "read atomic and cursor stability",
		.definition = "no cycle of wr and ww, no lost update, no rw answered by a wr or the order",
		.source = "made for tests",
		.implies[KR_ORDER_REALTIME] = ra_cs_implies,
		.implied_by = implied_by,
		.default_order = KR_ORDER_SESSION,
		.forbidden = {KR_G1C, {.allowed = KR_BIT(KR_WW) | RW, .once = RW, .longest = 2, .same_key = true, .cursor_only = true}, FRACTURED},
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
		.forbidden = {KR_G1C, {.allowed = KR_EDGES_ALL, .once = RW, .sight = KR_SIGHT_NOT_AFTER}, FRACTURED},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "cursor-view",
		.title = "consistent view through cursors",
		.definition = "no cycle of wr and ww, nor one with exactly one rw, of a read through a cursor",
		.source = "made for tests",
		.implies[KR_ORDER_REALTIME] = cursor_view_implies,
		.implied_by = cursor_view_implied_by,
		.forbidden = {KR_G1C, {.allowed = KR_EDGES_ALL, .once = RW, .cursor_only = true}},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

static const struct kr_checker checker_made = {
	.name = "made-for-tests",
	.title = "levels of other shapes",
	.source = "made for tests",
	.levels = made,
	.passes = "so,rt,presence,wr,ww,rw,clock,saturate",
	.backend = "z3",
};

struct kr_modules product_example(void)
{
	static const struct kr_checker *checkers[] = {&update_atomic, &checker_made};

	return (struct kr_modules){.checkers = {checkers, KR_COUNT(checkers), KR_COUNT(checkers)}};
}
