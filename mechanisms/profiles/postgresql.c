/* PostgreSQL: statement or transaction snapshots, row locks of writers, first updater wins, SSI. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "postgresql-rc",
		.aliases = "postgresql-ru",
		.title = "read committed: a snapshot for each statement",
		.source = "PostgreSQL 15 on Debian 12, run live; manual, chapter 13",
		.live = true,
		KR_ROW_POSTGRESQL_RC,
	},
	{
		.name = "postgresql-rr",
		.title = "a snapshot for the transaction; the first updater wins",
		.source = "PostgreSQL 15 on Debian 12, run live; manual, chapter 13",
		.live = true,
		KR_ROW_POSTGRESQL_SNAPSHOT("si"),
	},
	{
		.name = "postgresql-ser",
		.title = "snapshots and a certifier: SIREAD locks block nobody",
		.source = "PostgreSQL 15 on Debian 12, run live; manual, chapter 13",
		.live = true,
		KR_ROW_POSTGRESQL_SNAPSHOT("ser"),
	},
	{.name = NULL},
};

const struct kr_product kr_product_postgresql = {
	.name = "postgresql",
	.title = "PostgreSQL",
	.rows = rows,
};
