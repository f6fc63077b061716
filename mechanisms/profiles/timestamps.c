/* Timestamps of start and commit, told by the database itself, in place of intervals that clients saw. */
#include "mechanisms/profiles/product.h"

static const struct kr_profile rows[] = {
	{
		.name = "timestamps-si",
		.title = "snapshot isolation by start and commit timestamps",
		.source = "Chronos and Aion: TimeKiller, ICDE 2025",
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_BEGIN,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.fuw = true,
		.fuw_new_row = KR_NEW_ROW_CHECKED,
		.clock = KR_CLOCK_STAMPS,
	},
	{
		.name = "timestamps-ser",
		.title = "serializability by commit timestamps",
		.source = "Chronos and Aion: TimeKiller, ICDE 2025",
		.reads = KR_READS_TRANSACTION,
		.snapshot_at = KR_SNAPSHOT_COMMIT,
		.locking_reads = KR_SEES_SNAPSHOT,
		.dml_reads = KR_SEES_SNAPSHOT,
		.clock = KR_CLOCK_STAMPS,
	},
	{.name = NULL},
};

const struct kr_product kr_product_timestamps = {
	.name = "timestamps",
	.title = "any database that tells start and commit timestamps",
	.rows = rows,
};
