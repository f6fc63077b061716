/* NuoDB: statement snapshots, or those of the transaction; its "serializable" is snapshot isolation. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "nuodb-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "documentation only: NuoDB, isolation levels",
		.reads = KR_READS_STATEMENT,
		.snapshot_at = KR_SNAPSHOT_BEGIN,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "nuodb-ser",
		.title = "\"serializable\": a snapshot for the transaction; the first updater wins",
		.source = "documentation only: NuoDB, isolation levels",
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_BEGIN,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.fuw = true,
		.certify = "si",
	},
	{.name = NULL},
};

const struct kr_product kr_product_nuodb = {
	.name = "nuodb",
	.title = "NuoDB",
	.rows = rows,
};
