/* SQL Server: locks, or row versions where the database is set so. */
#include "mechanisms/profiles/product.h"

#define SOURCE \
	.source = "documentation only: SQL Server, SET TRANSACTION ISOLATION LEVEL, transaction " \
		  "locking and row versioning guide"
#define SEES_LATEST .locking_reads = KR_SEES_LATEST, .dml_reads = KR_SEES_LATEST

static const struct kr_profile rows[] = {
	{
		.name = "sqlserver-rc",
		.title = "read committed by locks that end with the statement",
		SOURCE,
		.reads = KR_READS_LATEST,
		SEES_LATEST,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "sqlserver-rcsi",
		.title = "read committed snapshot",
		SOURCE,
		.reads = KR_READS_STATEMENT,
		SEES_LATEST,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "sqlserver-rr",
		.title = "repeatable read: rows that were read stay locked",
		SOURCE,
		.reads = KR_READS_LATEST,
		SEES_LATEST,
		.locks = {KR_MODE_S, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "sqlserver-ser",
		.title = "serializable: rows and ranges that were read stay locked",
		SOURCE,
		.reads = KR_READS_LATEST,
		SEES_LATEST,
		.locks = {KR_MODE_S, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.range_locks = KR_RANGES_ALL,
		.certify = "ser",
	},
	{
		.name = "sqlserver-snapshot",
		.title = "snapshot: the first updater wins",
		SOURCE,
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_STATEMENT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.fuw = true,
		.fuw_new_row = KR_NEW_ROW_CHECKED,
	},
	{.name = NULL},
};

const struct kr_product kr_product_sqlserver = {
	.name = "sqlserver",
	.title = "SQL Server",
	.rows = rows,
};
