/* SQLite, WAL and rollback journal: one writer at a time, each transaction on a snapshot. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "sqlite-ser",
		.title = "a snapshot of the database; one writer at a time",
		.source = "SQLite 3.40 on Debian 12, WAL and rollback journal, run live; isolation.html",
		.live = true,
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_STATEMENT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.locks = {KR_MODE_NONE, KR_MODE_NONE, KR_MODE_NONE, KR_MODE_X},
		.lock_scope = KR_SCOPE_DATABASE,
		.fuw = true,
		.fuw_new_row = KR_NEW_ROW_CHECKED,
		.certify = "ser",
		.noop = KR_NOOP_NONE,
	},
	{.name = NULL},
};

const struct kr_product kr_product_sqlite = {
	.name = "sqlite",
	.title = "SQLite",
	.rows = rows,
};
