/* TiDB: pessimistic transactions lock and see the newest version as InnoDB's do, optimistic ones are checked
 * at commit. */
#include "mechanisms/profiles/product.h"

#define SOURCE "documentation only: TiDB, transaction isolation levels, pessimistic and optimistic modes"
#define PESSIMISTIC \
	.snapshot_at = KR_SNAPSHOT_STATEMENT, \
	.locking_reads = KR_SEES_LATEST, \
	.dml_reads = KR_SEES_LATEST, \
	.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X}

static const struct kr_profile rows[] = {
	{
		.name = "tidb-rc",
		.title = "pessimistic, read committed",
		.source = SOURCE,
		.reads = KR_READS_STATEMENT,
		PESSIMISTIC,
	},
	{
		.name = "tidb-rr",
		.title = "pessimistic, repeatable read",
		.source = SOURCE,
		.reads = KR_READS_TRANSACTION,
		PESSIMISTIC,
	},
	{
		.name = "tidb-si",
		.title = "optimistic: the first committer wins",
		.source = SOURCE,
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_STATEMENT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.fuw = true,
	},
	{.name = NULL},
};

const struct kr_product kr_product_tidb = {
	.name = "tidb",
	.title = "TiDB",
	.rows = rows,
};
