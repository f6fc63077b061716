/* YugabyteDB: PostgreSQL's snapshots on a distributed store. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "yugabyte-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "YugabyteDB documentation only: transaction isolation levels",
		.reads = KR_READS_STATEMENT,
		.locking_reads = KR_SEES_LATEST,
		.dml_reads = KR_SEES_LATEST,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.follows_rows = true,
	},
	{
		.name = "yugabyte-si",
		.title = "a snapshot for the transaction; the first updater wins",
		.source = "YugabyteDB documentation only: transaction isolation levels",
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
		.name = "yugabyte-ser",
		.title = "snapshots and a certifier: SIREAD locks block nobody",
		.source = "YugabyteDB documentation only: transaction isolation levels",
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

const struct kr_product kr_product_yugabyte = {
	.name = "yugabyte",
	.title = "YugabyteDB",
	.rows = rows,
};
