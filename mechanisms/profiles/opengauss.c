/* openGauss: PostgreSQL's way, without its serializable level. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "opengauss-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "openGauss documentation only: it took PostgreSQL's snapshots and row locks over",
		.reads = KR_READS_STATEMENT,
		.locking_reads = KR_SEES_LATEST,
		.dml_reads = KR_SEES_LATEST,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.follows_rows = true,
	},
	{
		.name = "opengauss-rr",
		.title = "a snapshot for the transaction; the first updater wins",
		.source = "openGauss documentation only: it took PostgreSQL's snapshots and row locks over",
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_STATEMENT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.fuw = true,
		.certify = "si",
		.dup_rows = KR_DUP_OWN,
	},
	{.name = NULL},
};

const struct kr_product kr_product_opengauss = {
	.name = "opengauss",
	.title = "openGauss",
	.rows = rows,
};
