/* Scripts: transactions in SQL, of a file. docs/lab.md has the form. */
#ifndef KR_LAB_SCRIPT_H
#define KR_LAB_SCRIPT_H

#include "lab/sql.h"
#include "lab/workloads/workload.h"

#define KR_SCRIPT_STATEMENTS_MOST 256
#define KR_SCRIPT_TXNS_MOST 32
#define KR_SCRIPT_TURNS_MOST 256

struct kr_script_statement {
	const char *sql;     /* a template: parameters are put in when it is sent */
	const char *meaning; /* what stands behind "-->"; NULL: the statement itself tells */
};

struct kr_script_txn {
	char name[32], level[32]; /* its own level; empty: its client's */
	uint32_t weight, first, n; /* of the statements */
};

struct kr_script {
	char *text;          /* what statements point into */
	struct kr_sql_tables tables;
	struct kr_script_statement statements[KR_SCRIPT_STATEMENTS_MOST];
	uint32_t statements_n, setup_n; /* the first ones set up */
	struct kr_script_txn txns[KR_SCRIPT_TXNS_MOST];
	uint32_t txns_n;
	/* "-- order": whose next statement, or commit behind the last one, it is; each transaction by a
	 * client of its own */
	uint32_t turns[KR_SCRIPT_TURNS_MOST];
	uint32_t turns_n;
	uint32_t untold;     /* statements that only read and mean nothing */
};

/* NULL: one line in `why`. */
struct kr_script *kr_script_read(const char *path, char why[256]);
void kr_script_free(struct kr_script *script);
/* What the setup inserts into tables of keys and values. */
bool kr_script_initial(const struct kr_script *script, struct kr_mem *mem, struct kr_rows *out);

/* A statement as it is sent next, and what it means. `results`: of the steps before. False: it is too long,
 * or its meaning is none; one line in `why`. */
struct kr_script_sent {
	char sql[1024];
	struct kr_meaning meaning;
	bool skipped; /* an earlier answer that it builds on had no row */
};
bool kr_script_expand(const struct kr_script *script, struct kr_plan *plan, uint32_t statement,
	const struct kl_result *results, struct kr_script_sent *out, char why[256]);

#endif
