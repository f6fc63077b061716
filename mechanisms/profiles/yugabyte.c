/* YugabyteDB: PostgreSQL's snapshots on a distributed store. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "yugabyte-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "YugabyteDB documentation only: transaction isolation levels",
		KR_ROW_POSTGRESQL_RC,
	},
	{
		.name = "yugabyte-si",
		.title = "a snapshot for the transaction; the first updater wins",
		.source = "YugabyteDB documentation only: transaction isolation levels",
		KR_ROW_POSTGRESQL_SNAPSHOT("si"),
	},
	{
		.name = "yugabyte-ser",
		.title = "snapshots and a certifier: SIREAD locks block nobody",
		.source = "YugabyteDB documentation only: transaction isolation levels",
		KR_ROW_POSTGRESQL_SNAPSHOT("ser"),
	},
	{.name = NULL},
};

const struct kr_product kr_product_yugabyte = {
	.name = "yugabyte",
	.title = "YugabyteDB",
	.rows = rows,
};
