/* SAP HANA: statement snapshots, or those of the transaction; its "serializable" is snapshot isolation. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "hana-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "documentation only: SAP HANA, isolation levels",
		.reads = KR_READS_STATEMENT,
		.snapshot_at = KR_SNAPSHOT_BEGIN,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "hana-ser",
		.title = "\"serializable\": a snapshot for the transaction; the first updater wins",
		.source = "documentation only: SAP HANA, isolation levels",
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

const struct kr_product kr_product_hana = {
	.name = "hana",
	.title = "SAP HANA",
	.rows = rows,
};
