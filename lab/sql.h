/* What a statement of SQL means for the trace: which operation it is, on which key. Of one table, whose first
 * two columns are key and value. */
#ifndef KR_LAB_SQL_H
#define KR_LAB_SQL_H

#include "lab/driver.h"

#define KR_SQL_NAME 64
#define KR_SQL_TABLES_MOST 8

struct kr_sql_table { char name[KR_SQL_NAME], key[KR_SQL_NAME], value[KR_SQL_NAME]; };

struct kr_sql_tables {
	struct kr_sql_table at[KR_SQL_TABLES_MOST];
	uint32_t n;
};

/* What a statement does with the rows that its condition finds (KL_RANGE, KL_SCAN). */
enum kr_sql_then { KR_SQL_NOTHING, KR_SQL_DELETES, KR_SQL_ADDS };

/* Of an answer's columns, those with the key and the value; empty: not asked. */
struct kr_meaning {
	struct kl_op op; /* its key and high point into this */
	char key[KL_KEY], high[KL_KEY];
	char prefix[KR_SQL_NAME + 1]; /* of keys: "TABLE/" where there are several tables */
	char key_column[KR_SQL_NAME], value_column[KR_SQL_NAME];
	enum kr_sql_then then;
	int64_t added;   /* KR_SQL_ADDS: to the values; rows then have the new ones */
	const char *lacks; /* NULL, or what the statement must have, too, to be told */
	bool none;       /* nothing is told */
	bool by_column;  /* KL_READ: each row is one, of the key in its key column */
};

/* CREATE TABLE: takes the table's name and first two columns. False: it is none. */
bool kr_sql_create(struct kr_sql_tables *tables, const char *text);
/* INSERT INTO T [(columns)] VALUES (key, value), ...: calls `take` for each row. False: it is none. */
bool kr_sql_rows(const struct kr_sql_tables *tables, const char *text,
	bool (*take)(void *data, const char *key, int64_t value), void *data);
/* False: it is none of the simple forms. */
bool kr_sql_meaning(const struct kr_sql_tables *tables, const char *text, struct kr_meaning *out);
/* Does it only read, as far as its first word tells? */
bool kr_sql_only_reads(const char *text);

#endif
