/* OceanBase (Oracle mode): statement snapshots, or those of the transaction; its "serializable" is snapshot
 * isolation. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "oceanbase-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "documentation only: OceanBase, isolation levels",
		KR_ROW_ORACLE_RC,
	},
	{
		.name = "oceanbase-ser",
		.title = "\"serializable\": a snapshot for the transaction; the first updater wins",
		.source = "documentation only: OceanBase, isolation levels",
		KR_ROW_ORACLE_SER,
	},
	{.name = NULL},
};

const struct kr_product kr_product_oceanbase = {
	.name = "oceanbase",
	.title = "OceanBase (Oracle mode)",
	.rows = rows,
};
