/* Serializability, plain, with session order and with real-time order: no cycle of D and rw. One node per
 * transaction; the choices that saturation leaves go to Z3. */
#include "checkers/checker.h"

static const struct kr_level levels[] = {
	{
		.id = "ser",
		.names = KR_NAMES({"serializable", false, KR_ORDER_NONE}, {"pl-3", false, KR_ORDER_NONE},
			{"1sr", false, KR_ORDER_NONE},
			{"strong-session-serializable", true, KR_ORDER_SESSION}),
		.title = "serializability",
		.definition = "no cycle of wr, ww and rw dependencies (G2)",
		.source = "Adya, PhD thesis, MIT 1999: PL-3",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("si", "pl-2.99", "pl-3u")},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G2},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "pl-ss",
		.names = KR_NAMES({"strict-serializable", true, KR_ORDER_REALTIME},
			{"strong-serializable", true, KR_ORDER_REALTIME},
			{"linearizable", true, KR_ORDER_REALTIME}),
		.title = "strict serializability",
		.definition = "no cycle of wr, ww and rw dependencies, session order and real-time order",
		.source = "Adya, PhD thesis, MIT 1999: PL-SS; Herlihy and Wing, TOPLAS 1990",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("ser")},
		.default_order = KR_ORDER_REALTIME,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G2},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

const struct kr_checker kr_checker_ser = {
	.name = "ser",
	.title = "serializability: saturation, then Z3 for the choices on the cycles that remain",
	.source = "Tan et al., Cobra, OSDI 2020; Zhang, Mu, Tan, Boomslang, 2026",
	.levels = levels,
	.passes = "so,rt,presence,wr,ww,rw,sweep,clock,saturate",
	.backend = "z3",
};
