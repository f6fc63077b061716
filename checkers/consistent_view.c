/* The levels that forbid cycles of D and cycles with exactly one rw; they differ in the order that counts by
 * default. */
#include "checkers/checker.h"

static const struct kr_level levels[] = {
	{
		.id = "pl-2+",
		.names = KR_NAMES({"consistent-view", false, KR_ORDER_NONE}),
		.title = "consistent view",
		.definition = "no cycle of wr and ww, nor one with exactly one rw (G-single)",
		.source = "Adya, PhD thesis, MIT 1999: PL-2+",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("pl-cs", "pl-2l", "cc")},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C, KR_G_SINGLE},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "psi",
		.names = KR_NAMES({"parallel-snapshot-isolation", false, KR_ORDER_NONE}),
		.title = "parallel snapshot isolation",
		.definition = "no cycle of wr, ww and so, nor one with exactly one rw",
		.source = "Sovran et al., SOSP 2011; Cerone and Gotsman, J. ACM 2018",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("pl-2+")},
		.default_order = KR_ORDER_SESSION,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C, KR_G_SINGLE},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "pl-fcv",
		.names = KR_NAMES({"forward-consistent-view", false, KR_ORDER_NONE}),
		.title = "forward consistent view",
		.definition = "no cycle of wr, ww, so and rt, nor one with exactly one rw",
		.source = "Adya, PhD thesis, MIT 1999: PL-FCV, with the start order that clients can see",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("psi")},
		.default_order = KR_ORDER_REALTIME,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C, KR_G_SINGLE},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

const struct kr_checker kr_checker_consistent_view = {
	.name = "consistent-view",
	.title = "PL-2+, PSI and PL-FCV: saturation, a world of snapshot isolation tried first, then Z3 for "
		 "the choices on the cycles that remain",
	.source = "Adya, PhD thesis, MIT 1999",
	.levels = levels,
	.passes = "so,rt,presence,wr,ww,rw,clock,saturate",
	.backend = "z3",
};
