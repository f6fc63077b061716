/* SingleStore: read committed on versions. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "singlestore-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "documentation only: SingleStore, isolation level",
		.reads = KR_READS_STATEMENT,
		.locking_reads = KR_SEES_LATEST,
		.dml_reads = KR_SEES_LATEST,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{.name = NULL},
};

const struct kr_product kr_product_singlestore = {
	.name = "singlestore",
	.title = "SingleStore",
	.rows = rows,
};
