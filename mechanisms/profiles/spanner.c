/* Spanner: two-phase locking for transactions that read and write. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "spanner-ser",
		.title = "two-phase locking",
		.source = "documentation only: Corbett et al., OSDI 2012",
		.reads = KR_READS_LATEST,
		.locking_reads = KR_SEES_LATEST,
		.dml_reads = KR_SEES_LATEST,
		.locks = {KR_MODE_S, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.certify = "ser",
	},
	{.name = NULL},
};

const struct kr_product kr_product_spanner = {
	.name = "spanner",
	.title = "Spanner",
	.rows = rows,
};
