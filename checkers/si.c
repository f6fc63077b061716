/* Snapshot isolation and prefix consistency: acyclicity on begin and commit nodes. */
#include "checkers/checker.h"

static const struct kr_level levels[] = {
	{
		.id = "si",
		.names = KR_NAMES({"snapshot-isolation", false, KR_ORDER_NONE},
			{"pl-si", false, KR_ORDER_NONE},
			{"generalized-snapshot-isolation", true, KR_ORDER_NONE},
			{"strong-session-snapshot-isolation", true, KR_ORDER_SESSION},
			{"strong-snapshot-isolation", true, KR_ORDER_REALTIME}),
		.title = "snapshot isolation",
		.definition = "no cycle without two adjacent rw",
		.source = "Berenson et al., SIGMOD 1995; Elnikety et al., SRDS 2005; Cerone and Gotsman, J. "
			  "ACM 2018",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("pl-fcv", "pc")},
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_BEGIN_COMMIT,
		.forbidden = {KR_G_NONADJACENT},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "pc",
		.names = KR_NAMES({"prefix-consistency", false, KR_ORDER_NONE},
			{"prefix", false, KR_ORDER_NONE}),
		.title = "prefix consistency",
		.definition = "no cycle in which every rw follows wr or an order edge",
		.source = "Biswas and Enea, OOPSLA 2019: PC; Burckhardt et al., ECOOP 2015",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("cc", "pl-2l")},
		.default_order = KR_ORDER_SESSION,
		.model = KR_NODES_PREFIX,
		.forbidden = {{.allowed = KR_EDGES_ALL, .lead = KR_BIT(KR_WR) | KR_EDGES_ORDER}},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

const struct kr_checker kr_checker_si = {
	.name = "si",
	.title = "snapshot isolation and prefix consistency: begin and commit nodes, saturation, a schedule, "
		 "then Z3",
	.source = "Cerone and Gotsman, J. ACM 2018; Zhang et al., Viper, EuroSys 2023",
	.levels = levels,
	.passes = "so,rt,presence,wr,ww,rw,sweep,clock,saturate",
	.backend = "z3",
};
