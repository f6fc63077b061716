/* Update atomic (Cerone, Bernardi, Gotsman, CONCUR 2015): read atomic without lost updates. A transaction sees all or nothing of every transaction that comes before it in its session, that it read
 * from, or whose write it overwrote; what those had seen in turn it need not see. Between read atomic and parallel snapshot isolation.
 *
 * In krait's terms: no cycle of wr, ww and order edges, and no rw edge from t to b together with an edge of those kinds from b to t. Passes and back end are krait's. */
#include "plugin.h"

static const struct kr_level_name names[] = {
	{"update-atomic", false, KR_ORDER_NONE},
	{NULL, false, KR_ORDER_NONE},
};

static const char *const implies[] = {"ra", "pl-cs", NULL};
static const char *const implied_by[] = {"psi", NULL};

static const struct kr_level levels[] = {
	{
		.id = "ua",
		.names = names,
		.title = "update atomic",
		.definition = "read atomic, and every transaction sees the writers of the versions that it overwrites",
		.source = "Cerone, Bernardi, Gotsman, CONCUR 2015",
		.implies[KR_ORDER_REALTIME] = implies,
		.implied_by = implied_by,
		.default_order = KR_ORDER_SESSION,
		.model = KR_NODES_TXN,
		.forbidden =
			{
				KR_G1C,
				{.allowed = KR_EDGES_ALL, .once = KR_BIT(KR_RW), .longest = 2},
			},
		.anomalies = KR_ANOMALIES_ALL,
	},
	{.id = NULL},
};

const struct kr_checker update_atomic = {
	.name = "update-atomic",
	.title = "update atomic, with krait's passes and back end",
	.source = "Cerone, Bernardi, Gotsman, CONCUR 2015",
	.levels = levels,
	.passes = "so,rt,presence,wr,ww,rw,clock,saturate",
	.backend = "z3",
};
