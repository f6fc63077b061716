/* Read uncommitted: the writes of two transactions are not interleaved. What was seen does not matter, but
 * for values that nobody wrote, and the order that lists show. */
#include "checkers/checker.h"

static const struct kr_level levels[] = {
	{
		.id = "pl-1",
		.names = KR_NAMES({"read-uncommitted", false, KR_ORDER_NONE}, {"ru", false, KR_ORDER_NONE},
			{"strong-session-read-uncommitted", true, KR_ORDER_SESSION},
			{"strong-read-uncommitted", true, KR_ORDER_REALTIME}),
		.title = "read uncommitted",
		.definition =
			"no cycle of ww dependencies (G0); of the non-cyclic anomalies garbage reads only",
		.source = "Adya, PhD thesis, MIT 1999: PL-1",
		.default_order = KR_ORDER_NONE,
		.model = KR_NODES_TXN,
		.forbidden = {KR_G0},
		.anomalies = KR_BIT(KR_GARBAGE_READ),
	},
	{.id = NULL},
};

const struct kr_checker kr_checker_uncommitted = {
	.name = "uncommitted",
	.title = "read uncommitted: version orders that the trace leaves open go to Z3",
	.source = "Adya, PhD thesis, MIT 1999",
	.levels = levels,
	.passes = "so,rt,presence",
	.backend = "z3",
};
