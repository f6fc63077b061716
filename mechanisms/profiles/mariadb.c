/* InnoDB: consistent reads from the first plain read on, everything else sees and locks the newest version;
 * next-key locks. */
#include "mechanisms/profiles/product.h"

#define INNODB \
	.source = "MariaDB 10.11 on Debian 12, run live; InnoDB's consistent reads and locking in the " \
		  "manual", \
	.live = true, \
	.locking_reads = KR_SEES_LATEST, \
	.dml_reads = KR_SEES_LATEST, \
	.noop = KR_NOOP_NONE

static const struct kr_profile rows[] = {
	{
		.name = "mariadb-ru",
		.aliases = "mysql-ru aurora-ru polardb-ru",
		.title = "InnoDB read uncommitted",
		INNODB,
		.reads = KR_READS_UNCOMMITTED,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "mariadb-rc",
		.aliases = "mysql-rc aurora-rc polardb-rc",
		.title = "InnoDB read committed: a snapshot for each statement",
		INNODB,
		.reads = KR_READS_STATEMENT,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
	},
	{
		.name = "mariadb-rr",
		.aliases = "mysql-rr aurora-rr polardb-rr",
		.title = "InnoDB repeatable read: plain reads see a snapshot, all else the newest version",
		INNODB,
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_PLAIN_READ,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.range_locks = KR_RANGES_LOCKING,
		.own_row = KR_SEES_LATEST,
	},
	{
		.name = "mariadb-rr-si",
		.title = "InnoDB repeatable read with innodb_snapshot_isolation: the first updater wins",
		INNODB,
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_PLAIN_READ,
		.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.range_locks = KR_RANGES_LOCKING,
		.fuw = true,
		.fuw_new_row = KR_NEW_ROW_CHECKED,
		.own_row = KR_SEES_LATEST,
	},
	{
		.name = "mariadb-ser",
		.aliases = "mysql-ser aurora-ser polardb-ser",
		.title = "InnoDB serializable: plain reads lock, but for those of autocommit",
		INNODB,
		.reads = KR_READS_LATEST,
		.locks = {KR_MODE_S, KR_MODE_S, KR_MODE_X, KR_MODE_X},
		.auto_snapshot = true,
		.range_locks = KR_RANGES_ALL,
		.certify = "ser",
	},
	{.name = NULL},
};

const struct kr_product kr_product_mariadb = {
	.name = "mariadb",
	.title = "MariaDB (InnoDB; also MySQL, Aurora MySQL, PolarDB)",
	.rows = rows,
};
