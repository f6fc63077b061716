/* PostgreSQL: statement or transaction snapshots, row locks of writers, first updater wins, SSI. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "postgresql-rc",
		.aliases = "postgresql-ru",
		.title = "read committed: a snapshot for each statement",
		.source = "PostgreSQL 15 on Debian 12, run live; manual, chapter 13",
		.live = true,
		.reads = KR_READS_STATEMENT,
		.locking_reads = KR_SEES_LATEST,
		.dml_reads = KR_SEES_LATEST,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.follows_rows = true,
	},
	{
		.name = "postgresql-rr",
		.title = "a snapshot for the transaction; the first updater wins",
		.source = "PostgreSQL 15 on Debian 12, run live; manual, chapter 13",
		.live = true,
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_STATEMENT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.fuw = true,
		.certify = "si",
		.dup_rows = KR_DUP_OWN,
	},
	{
		.name = "postgresql-ser",
		.title = "snapshots and a certifier: SIREAD locks block nobody",
		.source = "PostgreSQL 15 on Debian 12, run live; manual, chapter 13",
		.live = true,
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_STATEMENT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.fuw = true,
		.certify = "ser",
		.dup_rows = KR_DUP_OWN,
	},
	{.name = NULL},
};

const struct kr_product kr_product_postgresql = {
	.name = "postgresql",
	.title = "PostgreSQL",
	.rows = rows,
};
