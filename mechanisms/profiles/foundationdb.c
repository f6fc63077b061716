/* FoundationDB: a read version, and validation of what was read at commit. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "foundationdb-ser",
		.title = "optimistic: reads are validated at commit",
		.source = "documentation only: FoundationDB developer guide, transactions",
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_BEGIN,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.certify = "ser",
		.validate = true,
	},
	{.name = NULL},
};

const struct kr_product kr_product_foundationdb = {
	.name = "foundationdb",
	.title = "FoundationDB",
	.rows = rows,
};
