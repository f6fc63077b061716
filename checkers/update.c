/* Update serializability: serializability for the transactions that write, and for each that only reads
 * together with those. */
#include "checkers/checker.h"

static const struct kr_level levels[] = {
	{
		.id = "pl-3u",
		.names = KR_NAMES({"update-serializable", false, KR_ORDER_NONE}),
		.title = "update serializability",
		.definition =
			"no cycle of wr, ww and rw among the updating transactions and one read-only one",
		.source = "Adya, PhD thesis, MIT 1999: PL-3U; Hansdah and Patnaik, ICDT 1986",
		.implies = {[KR_ORDER_NONE] = KR_IDS("pl-2+"), [KR_ORDER_SESSION] = KR_IDS("pl-1")},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {{.allowed = KR_EDGES_ALL, .one_reader = true}},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

const struct kr_checker kr_checker_update = {
	.name = "update",
	.title = "update serializability: Z3 for cycles with at most one read-only transaction",
	.source = "Adya, PhD thesis, MIT 1999",
	.levels = levels,
	.passes = "so,rt,presence,wr,ww,rw",
	.backend = "z3",
};
