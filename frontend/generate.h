/* Random histories: clients with transactions open at the same time on a small simulated multi-version store,
 * recorded as they would have been seen. */
#ifndef KR_FRONTEND_GENERATE_H
#define KR_FRONTEND_GENERATE_H

#include "frontend/history.h"

enum kr_store {
	KR_STORE_SERIALIZABLE,  /* reads are validated at commit: strictly serializable */
	KR_STORE_SNAPSHOT,      /* snapshot at begin, first committer wins: strong snapshot isolation */
	KR_STORE_READ_COMMITTED, /* each read sees what is committed at that moment; nothing is validated */
	/* Databases whose statements take time and wait for locks, by the rules of a product and level: */
	KR_STORE_TIMED,
	KR_STORE_POSTGRESQL_RC = KR_STORE_TIMED,
	KR_STORE_POSTGRESQL_RR,
	KR_STORE_POSTGRESQL_SER,
	KR_STORE_MARIADB_RU,
	KR_STORE_MARIADB_RC,
	KR_STORE_MARIADB_RR,
	KR_STORE_MARIADB_RR_SI,
	KR_STORE_MARIADB_SER
};

struct kr_generate_options {
	uint64_t seed;         /* equal options give equal histories */
	uint32_t txns;         /* transactions; those of a planted anomaly come on top */
	uint32_t sessions;     /* clients, at least 1; each has one transaction open at a time */
	/* at least 1, and one for each kind that the operations use: registers k0, k1, ..., counters c, lists
	 * l, marks m, sets s, dealt in turn */
	uint32_t keys;
	uint32_t ops;          /* operations of a transaction */
	uint32_t reads;        /* percent of operations that are reads */
	/* percent of operations; the rest are writes */
	uint32_t deletes, inserts, cas, incs, appends, adds, maxes, ranges, scans, updates;
	/* keys that a range or scan looks at; a scan by a short name may look at more */
	uint32_t span;
	uint32_t untold;       /* percent of increments and deletes whose result is not told */
	uint32_t blank;        /* percent of transactions of unknown outcome none of whose results is told */
	bool keep_lists;       /* no list is deleted, unless all keys are lists */
	double theta;          /* how keys are chosen: 0 uniformly, else zipfian with this exponent */
	/* distinct values written per key, and deltas; 0: every write of a key writes another value */
	uint32_t values;
	uint32_t aborted;      /* percent of transactions that their client aborts */
	/* percent of transactions whose outcome is not learned; about half of them take effect, sometimes
	 * later */
	uint32_t unknown;
	enum kr_store store;
	/* of stores whose statements take time: */
	uint32_t autocommit;   /* percent of transactions that are one autocommit statement */
	uint32_t locking;      /* percent of reads that lock exclusively */
	/* most time of a statement's way there, and of the answer's back; at least 1 */
	uint32_t latency;
	uint32_t think;        /* most time between an answer and the next statement; at least 1 */
	uint32_t skew;         /* by so much clocks of clients differ at most */
	enum kr_initial initial; /* keys start absent, or as 0, lists and sets as [0] (told or not told) */
	bool times;            /* record when begin and end were invoked and returned */
	/* record when operations were sent and answered, too, and the commit that was not answered; needs
	 * times */
	bool op_times;
	bool serial;           /* record the store's order of commits (white-box) of what took effect */
	const char *anomaly;   /* planted half-way, on keys of its own; NULL: none */
};

/* 1,000 transactions of 4 operations, half of them reads, by 8 clients on 100 keys; serializable, with
 * times. */
void kr_generate_defaults(struct kr_generate_options *options);

/* On success the caller owns the finished history (kr_history_done). KR_BAD: options out of range or an
 * unknown anomaly; err says which. */
enum kr_status kr_generate(struct kr_ctx *ctx, const struct kr_generate_options *options,
	struct kr_history *out, struct kr_err *err);

bool kr_store_parse(const char *text, enum kr_store *store);
const char *kr_store_names(void); /* for messages */

/* The anomalies that can be planted: name and one line of what is planted. NULL past the end. */
const char *kr_generate_anomaly(size_t i, const char **title);

#endif
