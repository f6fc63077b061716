/* Firebird's embedded engine, in this process. Values are texts in one table, operations those of keys and
 * values: what reads before it writes does so WITH LOCK, and who then finds a row changed or made meanwhile
 * is refused. At read committed that is not so of rows that are made, so what makes rows by what it has read
 * is left out there. In recordings nobody waits; in directed runs a statement does. Any conflict is called a
 * deadlock, and the whole transaction rolled back. */
#include <ibase.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/keys.h"

KL_NEEDS("fbclient ibase.h", "firebird-dev");

enum { TEXT_MOST = 8000, SQL_MOST = TEXT_MOST + 200 };

static const struct kl_level levels[] = {
	{"stability", "SNAPSHOT TABLE STABILITY", "ser", "si", NULL},
	{"snapshot", "SNAPSHOT", "si", "si", NULL},
	{"read-committed", "READ COMMITTED", "pl-2", "pl-2", NULL},
	{0},
};
static const uint64_t lacks[] = {0, 0,
	KL_BIT(KL_INSERT) | KL_BIT(KL_APPEND) | KL_BIT(KL_ADD) | KL_BIT(KL_UPDATE)};

struct firebird {
	char path[300];
};

struct fb_client {
	struct kl_keys_client keys;
	isc_db_handle db;
	isc_tr_handle transaction;
	ISC_STATUS_ARRAY status;
};

static enum kl_answer meaning(ISC_STATUS code)
{
	switch (code) {
	case isc_deadlock:
	case isc_update_conflict:
	case isc_lock_conflict:
	case isc_unique_key_violation:
	case isc_no_dup: return KL_REFUSED;
	case isc_lock_timeout: return KL_TIMEOUT;
	default: return KL_BUG;
	}
}

/* The transaction is over, so it is said. */
static enum kl_answer end(struct fb_client *c, enum kl_answer answer, const char *code, const char *text,
	struct kl_result *result)
{
	ISC_STATUS_ARRAY ignored;

	(void)kl_error(result, answer, code, text);
	if (c->transaction)
		(void)isc_rollback_transaction(ignored, &c->transaction);
	return answer;
}

static enum kl_answer fail(struct fb_client *c, struct kl_result *result)
{
	const ISC_STATUS *at = c->status;
	char text[256] = "", code[16];

	(void)snprintf(code, sizeof code, "%ld", (long)c->status[1]);
	(void)fb_interpret(text, sizeof text, &at);
	return end(c, meaning(c->status[1]), code, text, result);
}

/* ---- statements ---- */

/* VARYING: a length, then so many bytes. */
struct varying {
	ISC_SHORT length;
	char text[TEXT_MOST];
};

struct row {
	XSQLDA *columns;
	struct varying key, value;
	ISC_SHORT null[2];
};

static void bind(XSQLVAR *column, struct varying *to, ISC_SHORT size, ISC_SHORT *null)
{
	column->sqltype = SQL_VARYING + 1;
	column->sqllen = size;
	column->sqldata = (ISC_SCHAR *)to;
	column->sqlind = null;
}

static struct row *make_row(void)
{
	struct row *row = calloc(1, sizeof *row);

	if (!row)
		return NULL;
	row->columns = calloc(1, XSQLDA_LENGTH(2));
	if (!row->columns) {
		free(row);
		return NULL;
	}
	row->columns->version = SQLDA_VERSION1;
	row->columns->sqln = 2;
	return row;
}

static void free_row(struct row *row)
{
	free(row->columns);
	free(row);
}

/* Each row of the answer goes to `take`, until that says no; NULL: no answer. */
static enum kl_answer execute(struct fb_client *c, const char *sql,
	bool (*take)(void *data, const struct row *row), void *data, struct kl_result *result)
{
	isc_stmt_handle statement = 0;
	struct row *row = make_row();
	ISC_STATUS_ARRAY ignored;
	ISC_STATUS code = 1;
	enum kl_answer answer = KL_OK;

	if (!row)
		return kl_error(result, KL_BUG, "memory", "no memory");
	if (isc_dsql_allocate_statement(c->status, &c->db, &statement) == 0 &&
		isc_dsql_prepare(c->status, &c->transaction, &statement, 0, sql, SQL_DIALECT_V6,
			row->columns) == 0) {
		bind(&row->columns->sqlvar[0], &row->key, KL_KEY, &row->null[0]);
		bind(&row->columns->sqlvar[1], &row->value, TEXT_MOST, &row->null[1]);
		code = isc_dsql_execute(c->status, &c->transaction, &statement, SQLDA_VERSION1, NULL);
	}
	while (code == 0 && take &&
		(code = isc_dsql_fetch(c->status, &statement, SQLDA_VERSION1, row->columns)) == 0)
		if (!take(data, row))
			break;
	result->answered = kl_now();
	if (code != 0 && code != 100) /* no more rows */
		answer = fail(c, result);
	if (statement)
		(void)isc_dsql_free_statement(ignored, &statement, DSQL_drop);
	free_row(row);
	return answer;
}

struct one {
	struct kl_keys_client *keys;
	struct kl_result *result;
	enum kl_answer answer;
};

static bool take_one(void *data, const struct row *row)
{
	struct one *one = data;

	one->result->found = true;
	one->answer = kl_keys_take(one->keys, row->value.text, (size_t)row->value.length, one->result);
	return true;
}

static enum kl_answer look(struct kl_keys_client *keys, const char *key, const char *lock,
	struct kl_result *result)
{
	struct one one = {keys, result, KL_OK};
	char sql[200];

	(void)snprintf(sql, sizeof sql, "SELECT k, v FROM kv WHERE k = '%s'%s", key, lock);
	enum kl_answer answer = execute((struct fb_client *)keys, sql, take_one, &one, result);
	return answer == KL_OK ? one.answer : answer;
}

/* At read committed WITH LOCK has been seen to pass over a row that was there all the time, and that others
 * were changing. */
static enum kl_answer get(struct kl_keys_client *keys, const char *key, enum kl_lock lock,
	struct kl_result *result)
{
	enum kl_answer answer = look(keys, key, lock == KL_NO_LOCK ? "" : " WITH LOCK", result);

	if (answer != KL_OK || lock == KL_NO_LOCK || result->found)
		return answer;
	answer = look(keys, key, "", result);
	return answer != KL_OK || !result->found
		? answer
		: end((struct fb_client *)keys, KL_REFUSED, "", "WITH LOCK has passed over the row", result);
}

static enum kl_answer put(struct kl_keys_client *keys, const char *key, const char *text, size_t length,
	struct kl_result *result)
{
	char sql[SQL_MOST];

	if (snprintf(sql, sizeof sql, "UPDATE OR INSERT INTO kv (k, v) VALUES ('%s', '%.*s') MATCHING (k)",
		    key, (int)length, text) >= (int)sizeof sql)
		return kl_error(result, KL_BUG, "length", "a list is too long");
	return execute((struct fb_client *)keys, sql, NULL, NULL, result);
}

static enum kl_answer del(struct kl_keys_client *keys, const char *key, struct kl_result *result)
{
	char sql[200];

	(void)snprintf(sql, sizeof sql, "DELETE FROM kv WHERE k = '%s'", key);
	return execute((struct fb_client *)keys, sql, NULL, NULL, result);
}

static bool take_walked(void *data, const struct row *row)
{
	return kl_walk_take(data, row->key.text, (size_t)row->key.length, row->value.text,
		(size_t)row->value.length);
}

static enum kl_answer walk(struct kl_keys_client *keys, const char *from, struct kl_walk *walk,
	struct kl_result *result)
{
	char sql[200];

	(void)snprintf(sql, sizeof sql, "SELECT k, v FROM kv WHERE k >= '%s' ORDER BY k", from);
	return execute((struct fb_client *)keys, sql, take_walked, walk, result);
}

static const struct kl_keys operations = {get, put, del, walk};

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	return kl_keys_run(&operations, (struct kl_keys_client *)client, op, result);
}

/* ---- transactions ---- */

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	static const ISC_SCHAR options[][3] = {{isc_tpb_consistency}, {isc_tpb_concurrency},
		{isc_tpb_read_committed, isc_tpb_rec_version}};
	struct fb_client *c = (struct fb_client *)client;
	const ISC_SCHAR *level = options[client->level - levels];
	ISC_SCHAR all[] = {isc_tpb_version3, isc_tpb_write,
		client->store->directed ? isc_tpb_wait : isc_tpb_nowait, level[0], level[1]};

	c->keys.wrote = false;
	return isc_start_transaction(c->status, &c->transaction, 1, &c->db, level[1] ? 5 : 4, all) == 0
		? KL_OK
		: fail(c, result);
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct fb_client *c = (struct fb_client *)client;
	enum kl_answer answer =
		isc_commit_transaction(c->status, &c->transaction) == 0 ? KL_OK : fail(c, result);

	return answer == KL_BUG ? KL_GONE : answer;
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	struct fb_client *c = (struct fb_client *)client;

	return !c->transaction || isc_rollback_transaction(c->status, &c->transaction) == 0 ? KL_OK
											    : fail(c, result);
}

/* ---- the store ---- */

static bool tell_failure(struct kl_store *store, const ISC_STATUS *status)
{
	char text[256] = "";

	(void)fb_interpret(text, sizeof text, &status);
	return kl_fail(store, "%s", text);
}

static struct kl_client *connect(struct kl_store *store)
{
	static const char user[] = "SYSDBA", config[] = "DeadlockTimeout=1"; /* seconds; 10 are usual */
	ISC_SCHAR options[64];
	const struct firebird *firebird = store->own;
	struct fb_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	int length = snprintf(options, sizeof options, "%c%c%c%s%c%c%s", isc_dpb_version1, isc_dpb_user_name,
		(int)sizeof user - 1, user, isc_dpb_config, (int)sizeof config - 1, config);

	if (isc_attach_database(c->status, 0, firebird->path, &c->db, (short)length, options) == 0)
		return &c->keys.client;
	(void)tell_failure(store, c->status);
	free(c);
	return NULL;
}

static void close_client(struct kl_client *client)
{
	struct fb_client *c = (struct fb_client *)client;
	ISC_STATUS_ARRAY ignored;

	if (c->transaction)
		(void)isc_rollback_transaction(ignored, &c->transaction);
	(void)isc_detach_database(ignored, &c->db);
	kl_keys_free(&c->keys);
}

/* Locks of the engine lie in a file, too. */
static bool start(struct kl_store *store)
{
	const char *folder = kl_keys_folder(store);
	struct firebird *firebird = folder ? calloc(1, sizeof *firebird) : NULL;
	isc_db_handle db = 0;
	isc_tr_handle none = 0;
	ISC_STATUS_ARRAY status;
	char sql[500], version[256] = "";

	store->own = firebird;
	if (!firebird)
		return false;
	(void)snprintf(firebird->path, sizeof firebird->path, "%s/db.fdb", folder);
	isc_get_client_version(version);
	(void)snprintf(store->version, sizeof store->version, "Firebird %.100s, embedded", version);
	(void)setenv("FIREBIRD_LOCK", folder, 1);
	(void)setenv("FIREBIRD_TMP", folder, 1);
	(void)snprintf(sql, sizeof sql, "CREATE DATABASE '%s' USER 'SYSDBA' PAGE_SIZE 8192", firebird->path);
	if (isc_dsql_execute_immediate(status, &db, &none, 0, sql, SQL_DIALECT_V6, NULL) != 0) {
		/* without an engine of its own the client's library asks for a server */
		return status[1] == isc_network_error ? kl_lacks(store, "Firebird's embedded engine")
						      : tell_failure(store, status);
	}
	(void)isc_detach_database(status, &db);
	return true;
}

static void stop(struct kl_store *store)
{
	free(store->own);
	store->own = NULL;
}

static bool load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	struct fb_client *c = (struct fb_client *)connect(store);
	struct kl_result result = {0};
	bool fine = c != NULL;

	if (!c)
		return false;
	c->keys.client.level = &levels[1];
	c->keys.client.store = store;
	fine = begin(&c->keys.client, &result) == KL_OK &&
		execute(c,
			"CREATE TABLE kv (k VARCHAR(40) CHARACTER SET ASCII NOT NULL PRIMARY KEY, "
			"v VARCHAR(8000) CHARACTER SET ASCII NOT NULL)",
			NULL, NULL, &result) == KL_OK &&
		commit(&c->keys.client, &result) == KL_OK;
	close_client(&c->keys.client);
	return fine ? kl_keys_load(store, rows, count) : kl_fail(store, "%s", result.message);
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "firebird",
	.title = "Firebird, embedded",
	.library = "fbclient",
	.levels = levels,
	.operations = KL_BIT(KL_KINDS) - 1,
	.lacks = lacks,
	.facts = KL_EMBEDDED | KL_SESSIONS,
	.start = start,
	.stop = stop,
	.load = load,
	.connect = connect,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.close = close_client,
};
