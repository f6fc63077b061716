/* A recording: what was asked for, and what its processes share. The lab's own process makes the files,
 * watches, checks and finishes; a worker process, with a thread for each client, holds the store. So whatever
 * a database's library does, the trace is there. */
#ifndef KR_LAB_RUN_H
#define KR_LAB_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "lab/faults/fault.h"
#include "lab/script.h"
#include "lab/slot.h"
#include "lab/turns.h"
#include "lab/workloads/workload.h"

enum { KR_CLIENTS_MOST = 1000, KR_EVENTS_MOST = 256, KR_PLANNED_MOST = 16, KR_SHARES_MOST = 8 };

/* Shared by both processes. */
struct kr_control {
	_Atomic int stop;           /* clients finish what they have in flight, and end */
	_Atomic int started, ended; /* the clients have; the worker has told the order */
	/* broken: invariants of the workload */
	_Atomic uint64_t committed, aborted, unknown, statements_failed, broken;
	_Atomic uint32_t only_reads; /* nodes: a bit each */
	_Atomic int64_t began;
	/* when the fault under way was to be over, 0: none is; and how long it took beyond that with others,
	 * until a server was back: time that does not count */
	_Atomic int64_t fault_due, late;
	_Atomic uint32_t events_n;
	struct { char name[24]; int64_t from, to; } events[KR_EVENTS_MOST];
	_Atomic uint32_t failing;   /* who writes `message` first */
	_Atomic int failed;         /* enum kr_run_failure */
	char message[1024];
	char version[160];
	char where[KL_NODES_MOST][80];
};

enum kr_run_failure { KR_RUN_FINE, KR_RUN_FAILED, KR_RUN_LACKING, KR_RUN_REFUSED };

/* A fault that was asked for: at a time, then perhaps every so often; lasting so long. All in ns. */
struct kr_planned { const struct kr_fault *fault; int64_t at, every, lasts; };

/* So many clients at a level. */
struct kr_share { const struct kl_level *level; uint32_t clients; };

struct kr_run {
	struct kl_store store;
	struct kr_job work;
	struct kr_share shares[KR_SHARES_MOST];
	uint32_t share_count;
	const struct kl_level *txn_levels[KR_SCRIPT_TXNS_MOST]; /* of a script; NULL: the client's */
	uint32_t clients;
	uint64_t txns;      /* of each */
	int64_t duration;   /* ns */
	int64_t fsync;      /* sync what is recorded so often, ns; 0: never */
	double rate;        /* all together, a second; 0: as fast as can be */
	uint32_t think;     /* microseconds */
	uint64_t seed;
	double lost;        /* percent */
	bool spread;        /* each transaction goes to any node; else a client stays with one */
	char addresses[4096]; /* store.further */
	struct kr_planned planned[KR_PLANNED_MOST];
	uint32_t planned_n;
	const char *path;   /* of the trace */
	char folder[4096];  /* of the slots */
	int file;           /* the trace, opened for appending */
	struct kr_slot **slots;
	struct kr_rows initial;
	struct kr_turns *turns; /* NULL: each client goes on as it likes */
	struct kr_control *control;
};

const struct kl_level *kr_run_level(const struct kr_run *run, uint32_t client);
/* Which all transactions are at, or NULL. */
const struct kl_level *kr_run_one_level(const struct kr_run *run);
/* What a level of the driver is known to keep, on as many nodes as there are. NULL: it is not known. */
const char *kr_run_keeps(const struct kr_run *run, const struct kl_level *level);

/* How long the fault under way has taken beyond its time. */
int64_t kr_run_late(const struct kr_control *control);

/* Says why the recording stops; the first one to say stands. */
void kr_run_fail(struct kr_run *run, enum kr_run_failure kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* worker.c: everything that touches the store, to its end. In a process of its own. */
void kr_run_work(struct kr_run *run);

/* client.c: one client's transactions, all of them. */
struct kr_session {
	struct kr_run *run;
	uint32_t number;
	pthread_barrier_t *start;
	pthread_t thread;
	struct kr_plan plan;
	struct kr_rng chance; /* of pauses and lost commits: not the plan's */
	struct kl_client *nodes[KL_NODES_MOST]; /* NULL: not connected */
	uint32_t node;                          /* of the transaction */
	struct kl_client *client;               /* nodes[node] */
	struct kl_result *results;              /* of each step */
	uint64_t own;
	uint32_t done; /* transactions */
};
void *kr_session_run(void *session);
/* What a call of the driver came to: clocks, the transaction's own number, errors that end the recording. */
enum kl_answer kr_session_answered(struct kr_session *s, const char *what, struct kl_result *r,
	enum kl_answer answer);
enum kl_answer kr_statement_run(struct kr_session *s, uint32_t step); /* statement.c: of a script */
/* One more transaction, when all clients are done: what the workload looks at in the end. */
void kr_session_audit(struct kr_session *session);

#endif
