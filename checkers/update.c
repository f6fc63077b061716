/* Update serializability: serializability for the transactions that write, and for each that only reads
 * together with those. */
#include "checkers/checker.h"

static const struct kr_level_name pl_3u_names[] = {
	{"update-serializable", false, KR_ORDER_NONE},
	{NULL, false, KR_ORDER_NONE},
};

static const char *const pl_3u_implies_plain[] = {"pl-2+", NULL};

static const char *const pl_3u_implies_session[] = {"pl-1", NULL};

static const struct kr_level levels[] = {
	{
		.id = "pl-3u",
		.names = pl_3u_names,
		.title = "update serializability",
		.definition =
			"no cycle of wr, ww and rw among the updating transactions and one read-only one",
		.source = "Adya, PhD thesis, MIT 1999: PL-3U; Hansdah and Patnaik, ICDT 1986",
		.implies =
			{[KR_ORDER_NONE] = pl_3u_implies_plain, [KR_ORDER_SESSION] = pl_3u_implies_session},
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
