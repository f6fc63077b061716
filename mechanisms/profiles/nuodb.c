/* NuoDB: statement snapshots, or those of the transaction; its "serializable" is snapshot isolation. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "nuodb-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "documentation only: NuoDB, isolation levels",
		KR_ROW_ORACLE_RC,
	},
	{
		.name = "nuodb-ser",
		.title = "\"serializable\": a snapshot for the transaction; the first updater wins",
		.source = "documentation only: NuoDB, isolation levels",
		KR_ROW_ORACLE_SER,
	},
	{.name = NULL},
};

const struct kr_product kr_product_nuodb = {
	.name = "nuodb",
	.title = "NuoDB",
	.rows = rows,
};
