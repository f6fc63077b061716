/* Runs of a simulated database: clients with latencies and clocks of their own, a server that does what a profile
 * documents (locks, snapshots, first updater, certifier), and the trace that a recorder would have written. A fault can be
 * planted. Shares nothing with mechanisms/ but the profile's fields. */
#ifndef TESTS_ORACLE_STORE_RUN_H
#define TESTS_ORACLE_STORE_RUN_H

#include "base/rng.h"
#include "base/str.h"
#include "krait/profile.h"

enum fault {
	FAULT_NONE,
	FAULT_LATE_SNAPSHOT,     /* the snapshot is taken anew in the middle of the transaction */
	FAULT_LOCK_DROPPED,      /* a write does not wait for a lock */
	FAULT_UPDATER_LOST,      /* the first updater is not looked for */
	FAULT_RESURRECTED,       /* a read shows what was overwritten */
	FAULT_DIRTY_READ,        /* a read shows what is not committed */
	FAULT_ABORTED_VISIBLE,   /* a rollback leaves what it wrote */
	FAULT_CERTIFIER_SKIPPED, /* a commit closes a cycle */
	FAULT_RANGE_DROPPED,     /* a write does not wait for a range lock */
	FAULTS
};

struct store_settings {
	const struct kr_profile *profile;
	int txns, latency, think; /* mean ticks of a way there or back, and between statements */
	int unknown, killed, automatic; /* per hundred */
	int skew;
	bool repeated;            /* few values */
	bool no_deletes;
	bool columns;             /* two columns a row: only reads and updates */
	enum fault fault;
	int fault_share;          /* of the occasions, per hundred */
};

/* Appends the trace in the native format; returns how many faults were planted. */
int store_run(const struct store_settings *settings, struct kr_rng *rng, struct kr_str *out);

#endif
