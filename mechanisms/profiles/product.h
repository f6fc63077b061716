/* Products: the rows of one database, one per level, in one file of this folder, collected by the build. */
#ifndef KR_MECHANISMS_PROFILES_PRODUCT_H
#define KR_MECHANISMS_PROFILES_PRODUCT_H

#include "krait/profile.h"

/* Fields of rows that products have alike, each named after the one that had it first. */
#define KR_ROW_POSTGRESQL_RC \
	.reads = KR_READS_STATEMENT, \
	.locking_reads = KR_SEES_LATEST, \
	.dml_reads = KR_SEES_LATEST, \
	.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X}, \
	.follows_rows = true
#define KR_ROW_POSTGRESQL_SNAPSHOT(LEVEL) \
	.reads = KR_READS_TRANSACTION, \
	.snapshot_at = KR_SNAPSHOT_STATEMENT, \
	.locking_reads = KR_SEES_SNAPSHOT, \
	.dml_reads = KR_SEES_SNAPSHOT, \
	.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X}, \
	.fuw = true, \
	.certify = LEVEL, \
	.dup_rows = KR_DUP_OWN
#define KR_ROW_ORACLE_RC \
	.reads = KR_READS_STATEMENT, \
	.snapshot_at = KR_SNAPSHOT_BEGIN, \
	.locking_reads = KR_SEES_SNAPSHOT, \
	.dml_reads = KR_SEES_SNAPSHOT, \
	.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X}
#define KR_ROW_ORACLE_SER \
	.reads = KR_READS_TRANSACTION, \
	.snapshot_at = KR_SNAPSHOT_BEGIN, \
	.locking_reads = KR_SEES_SNAPSHOT, \
	.dml_reads = KR_SEES_SNAPSHOT, \
	.locks = {KR_MODE_NONE, KR_MODE_S, KR_MODE_X, KR_MODE_X}, \
	.fuw = true, \
	.certify = "si"

struct kr_product {
	const char *name;
	const char *title;             /* one line: which databases */
	const struct kr_profile *rows; /* ends with a NULL name */
};

extern const struct kr_product *const kr_product_registry[]; /* NULL-terminated, by name */
extern const size_t kr_product_registry_count;

#endif
