/* The levels around read committed: cycles of D, and what a transaction must not see after what it has
 * seen. */
#include "checkers/checker.h"

#define RW KR_BIT(KR_RW)

static const struct kr_level levels[] = {
	{
		.id = "pl-2",
		.names = KR_NAMES({"read-committed", false, KR_ORDER_NONE}, {"rc", false, KR_ORDER_NONE},
			{"strong-session-read-committed", true, KR_ORDER_SESSION},
			{"strong-read-committed", true, KR_ORDER_REALTIME}),
		.title = "read committed",
		.definition = "no cycle of wr and ww dependencies (G0, G1c)",
		.source = "Adya, PhD thesis, MIT 1999: PL-2",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("pl-1")},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "pl-cs",
		.names = KR_NAMES({"cursor-stability", false, KR_ORDER_NONE}, {"cs", false, KR_ORDER_NONE}),
		.title = "cursor stability",
		.definition = "as pl-2, and no rw(k) answered by ww(k) (a lost update on one key)",
		.source = "Adya, PhD thesis, MIT 1999: PL-CS",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("pl-2")},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C,
			{.allowed = KR_BIT(KR_WW) | RW,
				.once = RW,
				.longest = 2,
				.same_key = true,
				.cursor_only = true}},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "pl-2l",
		.names = KR_NAMES({"monotonic-view", false, KR_ORDER_NONE}),
		.title = "monotonic view",
		.definition = "as pl-2, and no rw from an observation to what an observation made no later "
			      "depends on",
		.source = "Adya, PhD thesis, MIT 1999: PL-2L",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("pl-2", "rc-ax")},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C, {.allowed = KR_EDGES_ALL, .once = RW, .sight = KR_SIGHT_NOT_AFTER}},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

const struct kr_checker kr_checker_committed = {
	.name = "committed",
	.title = "read committed and its neighbours: version orders that saturation leaves open go to Z3",
	.source = "Adya, PhD thesis, MIT 1999",
	.levels = levels,
	.passes = "so,rt,presence,wr,ww,rw,clock,saturate",
	.backend = "z3",
};
