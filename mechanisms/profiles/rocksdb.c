/* RocksDB: transactions that lock what they write, or are validated at commit. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "rocksdb-pessimistic",
		.title = "write locks; the first updater wins",
		.source = "documentation only: RocksDB wiki, Transactions",
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_STATEMENT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.fuw = true,
	},
	{
		.name = "rocksdb-optimistic",
		.title = "validated at commit",
		.source = "documentation only: RocksDB wiki, Transactions",
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_STATEMENT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.fuw = true,
		.validate = true,
	},
	{.name = NULL},
};

const struct kr_product kr_product_rocksdb = {
	.name = "rocksdb",
	.title = "RocksDB",
	.rows = rows,
};
