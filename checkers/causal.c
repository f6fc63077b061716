/* The axiomatic levels without first-committer rules: a transaction that is visible to a reader is ordered
 * before what the reader saw. What is visible differs. */
#include "checkers/checker.h"

#define RW KR_BIT(KR_RW)

static const struct kr_level levels[] = {
	{
		.id = "rc-ax",
		.names = KR_NAMES({"read-committed-axiomatic", false, KR_ORDER_NONE},
			{"monotonic-atomic-view", true, KR_ORDER_NONE}, {"mav", true, KR_ORDER_NONE}),
		.title = "read committed (axiomatic)",
		.definition = "as pl-2, and who has seen something of a transaction sees nothing "
			      "later on that this one had overwritten",
		.source = "Biswas and Enea, OOPSLA 2019: RC; with order none Bailis et al., VLDB 2013: MAV",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("pl-2")},
		.default_order = KR_ORDER_SESSION,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C,
			{.allowed = KR_BIT(KR_WR) | RW, .once = RW, .longest = 2, .sight = KR_SIGHT_BEFORE}},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "ra",
		.names = KR_NAMES({"read-atomic", false, KR_ORDER_NONE}),
		.title = "read atomic",
		.definition = "as pl-2, and who sees something of a transaction, or comes after it "
			      "in its session, sees nothing that this one had overwritten",
		.source = "Biswas and Enea, OOPSLA 2019: RA; Bailis et al., TODS 2016",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("rc-ax")},
		.default_order = KR_ORDER_SESSION,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C,
			{.allowed = KR_BIT(KR_WR) | RW | KR_EDGES_ORDER, .once = RW, .longest = 2}},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{
		.id = "cc",
		.names = KR_NAMES({"causal-consistency", false, KR_ORDER_NONE},
			{"causal", false, KR_ORDER_NONE}, {"causal-cerone", false, KR_ORDER_NONE},
			{"tcc", false, KR_ORDER_NONE}),
		.title = "causal consistency",
		.definition = "as pl-2, and who sees something of a transaction, or comes after it "
			      "in its session, be it by way of others, sees nothing that this one "
			      "had overwritten",
		.source = "Biswas and Enea, OOPSLA 2019: CC",
		.implies = {[KR_ORDER_REALTIME] = KR_IDS("ra")},
		.default_order = KR_ORDER_SESSION,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G1C, {.allowed = KR_BIT(KR_WR) | RW | KR_EDGES_ORDER, .once = RW}},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

const struct kr_checker kr_checker_causal = {
	.name = "causal",
	.title = "read committed, read atomic and causal consistency by axioms, which decide unless "
		 "sources are open",
	.source = "Biswas and Enea, OOPSLA 2019",
	.levels = levels,
	.passes = "so,rt,presence,wr,ww,rw,clock,saturate",
	.backend = "z3",
};
