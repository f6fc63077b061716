/* A profile: what a database documents of how it isolates transactions at one of its levels, as data. Nothing
 * in krait branches on which row it is: the mechanisms (mechanisms/) and the check of their findings
 * (verify/finding.c) read the fields. docs/leopard.md explains them, and how to add a row. */
#ifndef KRAIT_PROFILE_H
#define KRAIT_PROFILE_H

#include "krait/terms.h"

/* What a plain read sees. */
enum kr_reads {
	KR_READS_STATEMENT,   /* a snapshot of its own */
	KR_READS_TRANSACTION, /* the transaction's snapshot */
	/* the newest committed version when it runs, under a lock if locks.read says so */
	KR_READS_LATEST,
	KR_READS_UNCOMMITTED  /* the newest version written */
};

/* What takes a transaction's snapshot. */
enum kr_snapshot_at {
	KR_SNAPSHOT_NEVER,
	KR_SNAPSHOT_STATEMENT,  /* its first query or data change */
	KR_SNAPSHOT_PLAIN_READ, /* its first plain read */
	KR_SNAPSHOT_BEGIN,
	KR_SNAPSHOT_COMMIT      /* timestamps of a serial order: it reads as of its commit */
};

/* What locking reads, and the row search of data changes, see. */
enum kr_sees { KR_SEES_SNAPSHOT, KR_SEES_LATEST };

enum kr_lock_mode { KR_MODE_NONE, KR_MODE_S, KR_MODE_X };
enum kr_lock_scope { KR_SCOPE_ROW, KR_SCOPE_TABLE, KR_SCOPE_DATABASE };
enum kr_range_locks { KR_RANGES_NONE, KR_RANGES_LOCKING, KR_RANGES_ALL };

/* Locks of plain reads, reads FOR SHARE, reads FOR UPDATE and writes; held until the end of the
 * transaction. */
struct kr_lock_modes { enum kr_lock_mode read, share, update, write; };

enum kr_new_row { KR_NEW_ROW_EXEMPT, KR_NEW_ROW_CHECKED }; /* may INSERT follow another's DELETE? */
/* does writing the present value make a version? */
enum kr_noop { KR_NOOP_VERSION, KR_NOOP_NONE };
/* may one of two rows of a key be the reader's own? */
enum kr_dup_rows { KR_DUP_REPORT, KR_DUP_OWN };
/* intervals of clients, or the database's timestamps */
enum kr_profile_clock { KR_CLOCK_CLIENT, KR_CLOCK_STAMPS };

struct kr_profile {
	const char *name;    /* "postgresql-rr" */
	const char *aliases; /* further names, separated by blanks; or NULL */
	const char *title;   /* one line */
	const char *source;  /* what the row rests on */
	bool live;           /* it was held against runs of the database itself */

	enum kr_reads reads;
	/* plain reads of autocommit see a snapshot of their own and lock nothing, whatever `reads` says */
	bool auto_snapshot;
	enum kr_snapshot_at snapshot_at;
	enum kr_sees locking_reads, dml_reads;
	struct kr_lock_modes locks;
	enum kr_lock_scope lock_scope;
	enum kr_range_locks range_locks;
	bool fuw;            /* a transaction with a snapshot may not write a row that changed since */
	enum kr_new_row fuw_new_row;
	const char *certify; /* id of the level whose cycles are reported; NULL: none */
	enum kr_order certify_order;
	bool insert_certified; /* the outcome of INSERT counts as a read there */
	enum kr_noop noop;
	/* a locking statement that waited finds its row again along that row's versions only */
	bool follows_rows;
	/* columns of a row that the transaction updated, but did not assign: as of the snapshot, or of that
	 * update */
	enum kr_sees own_row;
	enum kr_dup_rows dup_rows;
	/* nobody may overwrite what a transaction read between its snapshot and its commit */
	bool validate;
	enum kr_profile_clock clock;
};

#endif
