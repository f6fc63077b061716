/* The levels that forbid cycles of D and cycles with exactly one rw; they differ in the order that counts by
 * default. */
#include "checkers/checker.h"

static const struct kr_level_name pl_2plus_names[] = {
	{"consistent-view", false, KR_ORDER_NONE},
	{NULL, false, KR_ORDER_NONE},
};

static const char *const pl_2plus_implies[] = {"pl-cs", "pl-2l", "cc", NULL};

static const struct kr_level_name psi_names[] = {
	{"parallel-snapshot-isolation", false, KR_ORDER_NONE},
	{NULL, false, KR_ORDER_NONE},
};

static const char *const psi_implies[] = {"pl-2+", NULL};

static const struct kr_level_name pl_fcv_names[] = {
	{"forward-consistent-view", false, KR_ORDER_NONE},
	{NULL, false, KR_ORDER_NONE},
};

static const char *const pl_fcv_implies[] = {"psi", NULL};

static const struct kr_level levels[] = {
	{
		.id = "pl-2+",
		.names = pl_2plus_names,
		.title = "consistent view",
		.definition = "no cycle of wr and ww, nor one with exactly one rw (G-single)",
		.source = "Adya, PhD thesis, MIT 1999: PL-2+",
		.implies = {[KR_ORDER_REALTIME] = pl_2plus_implies},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C, KR_G_SINGLE},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "psi",
		.names = psi_names,
		.title = "parallel snapshot isolation",
		.definition = "no cycle of wr, ww and so, nor one with exactly one rw",
		.source = "Sovran et al., SOSP 2011; Cerone and Gotsman, J. ACM 2018",
		.implies = {[KR_ORDER_REALTIME] = psi_implies},
		.default_order = KR_ORDER_SESSION,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C, KR_G_SINGLE},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "pl-fcv",
		.names = pl_fcv_names,
		.title = "forward consistent view",
		.definition = "no cycle of wr, ww, so and rt, nor one with exactly one rw",
		.source = "Adya, PhD thesis, MIT 1999: PL-FCV, with the start order that clients can see",
		.implies = {[KR_ORDER_REALTIME] = pl_fcv_implies},
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
