/* Derby: two-phase locking. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "derby-rc",
		.title = "read committed by locks",
		.source = "documentation only: Derby developer's guide, locking, concurrency and isolation",
		.reads = KR_READS_LATEST,
		.locking_reads = KR_SEES_LATEST,
		.dml_reads = KR_SEES_LATEST,
		/* those of plain reads end with the statement */
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "derby-rr",
		.title = "repeatable read: rows that were read stay locked",
		.source = "documentation only: Derby developer's guide, locking, concurrency and isolation",
		.reads = KR_READS_LATEST,
		.locking_reads = KR_SEES_LATEST,
		.dml_reads = KR_SEES_LATEST,
		.locks = {KR_MODE_S, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "derby-ser",
		.title = "serializable: rows and ranges that were read stay locked",
		.source = "documentation only: Derby developer's guide, locking, concurrency and isolation",
		.reads = KR_READS_LATEST,
		.locking_reads = KR_SEES_LATEST,
		.dml_reads = KR_SEES_LATEST,
		.locks = {KR_MODE_S, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.range_locks = KR_RANGES_ALL,
		.certify = "ser",
	},
	{.name = NULL},
};

const struct kr_product kr_product_derby = {
	.name = "derby",
	.title = "Apache Derby",
	.rows = rows,
};
