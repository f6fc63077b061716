/* openGauss: PostgreSQL's way, without its serializable level. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "opengauss-rc",
		.title = "read committed: a snapshot for each statement",
		.source = "openGauss documentation only: it took PostgreSQL's snapshots and row locks over",
		KR_ROW_POSTGRESQL_RC,
	},
	{
		.name = "opengauss-rr",
		.title = "a snapshot for the transaction; the first updater wins",
		.source = "openGauss documentation only: it took PostgreSQL's snapshots and row locks over",
		KR_ROW_POSTGRESQL_SNAPSHOT("si"),
	},
	{.name = NULL},
};

const struct kr_product kr_product_opengauss = {
	.name = "opengauss",
	.title = "openGauss",
	.rows = rows,
};
