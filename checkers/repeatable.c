/* Repeatable read after Adya: as serializability, but for phantoms. */
#include "checkers/checker.h"

static const struct kr_level levels[] = {
	{
		.id = "pl-2.99",
		.names = KR_NAMES({"repeatable-read", false, KR_ORDER_NONE}, {"rr", false, KR_ORDER_NONE}),
		.title = "repeatable read",
		.definition = "no cycle of wr, ww and item rw (G2-item)",
		.source = "Adya, PhD thesis, MIT 1999: PL-2.99",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("pl-2")},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G2_ITEM},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

const struct kr_checker kr_checker_repeatable = {
	.name = "repeatable",
	.title = "repeatable read: as ser, without the rw edges of predicate observations",
	.source = "Adya, PhD thesis, MIT 1999",
	.levels = levels,
	.passes = "so,rt,presence,wr,ww,rw,clock,saturate",
	.backend = "z3",
};
