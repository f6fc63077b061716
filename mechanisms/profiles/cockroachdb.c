/* CockroachDB: timestamps, moved by refreshing what was read. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "cockroachdb-ser",
		.title = "timestamps of a serial order",
		.source = "documentation only: CockroachDB architecture, transaction layer",
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_BEGIN,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.certify = "ser",
	},
	{.name = NULL},
};

const struct kr_product kr_product_cockroachdb = {
	.name = "cockroachdb",
	.title = "CockroachDB",
	.rows = rows,
};
