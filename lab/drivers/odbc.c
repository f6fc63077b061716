/* Any SQL database with an ODBC driver of its own: --connect is its connection string. Nothing is told of the
 * order, and only what every such database has is sent: no upsert, no RETURNING, no LIMIT. So an upsert is an
 * UPDATE and, if that found no row, an INSERT; who is then told that the key is there has met another client,
 * and is refused. Keys are in hexadecimal digits, which every collation has in the order of their bytes.
 *
 * Every error ends a transaction. What it means the SQLSTATE tells. Only the tables krait_lab_kv and
 * krait_lab_lists are made, and dropped.
 *
 * Longer than usual: a driver is one file. */
#include <sql.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lab/driver.h"

KL_NEEDS("odbc sql.h", "unixodbc-dev");

enum {
	MARIADB_WAIT = 1205 /* a lock, too long: of a general SQLSTATE */,
	HEX = 2 * KL_KEY + 2,
	LIST_MOST = 8000
};

/* What databases make of repeatable-read differs: snapshot isolation, or not even that. */
static const struct kl_level levels[] = {
	{"serializable", "SQL_TXN_SERIALIZABLE", "ser", "ser", NULL},
	{"repeatable-read", "SQL_TXN_REPEATABLE_READ", "pl-2", "pl-2", NULL},
	{"read-committed", "SQL_TXN_READ_COMMITTED", "pl-2", "pl-2", NULL},
	{"read-uncommitted", "SQL_TXN_READ_UNCOMMITTED", "pl-1", "pl-1", NULL},
	{0},
};
static const SQLUINTEGER isolations[] = {SQL_TXN_SERIALIZABLE, SQL_TXN_REPEATABLE_READ,
	SQL_TXN_READ_COMMITTED, SQL_TXN_READ_UNCOMMITTED};

static const char *const tables[][2] = {
	{"CREATE TABLE krait_lab_kv (k VARCHAR(82) NOT NULL PRIMARY KEY, v BIGINT NOT NULL)",
		"DROP TABLE krait_lab_kv"},
	{"CREATE TABLE krait_lab_lists (k VARCHAR(82) NOT NULL PRIMARY KEY, v VARCHAR(8000) NOT NULL)",
		"DROP TABLE krait_lab_lists"},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* Arguments: key, high, value, text, ge, lt, those that `takes` lists. */
enum which { READ, LIST, UPDATE, INSERT, DELETE, ADD, RANGE, SCAN, EXTEND, BEGIN_LIST, STATEMENTS };
static const struct {
	const char *sql, *takes;
} sql[STATEMENTS] = {
	[READ] = {"SELECT v FROM krait_lab_kv WHERE k = ?", "k"},
	[LIST] = {"SELECT v FROM krait_lab_lists WHERE k = ?", "k"},
	[UPDATE] = {"UPDATE krait_lab_kv SET v = ? WHERE k = ?", "vk"},
	[INSERT] = {"INSERT INTO krait_lab_kv (k, v) VALUES (?, ?)", "kv"},
	[DELETE] = {"DELETE FROM krait_lab_kv WHERE k = ?", "k"},
	[ADD] = {"UPDATE krait_lab_kv SET v = v + ? WHERE k = ?", "vk"},
	[RANGE] = {"SELECT k, v FROM krait_lab_kv WHERE k >= ? AND k < ? ORDER BY k", "kh"},
	[SCAN] = {"SELECT k, v FROM krait_lab_kv WHERE k >= ? AND k < ? AND v >= ? AND v < ?", "khgl"},
	[EXTEND] = {"UPDATE krait_lab_lists SET v = {fn CONCAT(v, ?)} WHERE k = ?", "tk"},
	[BEGIN_LIST] = {"INSERT INTO krait_lab_lists (k, v) VALUES (?, ?)", "kt"},
};

struct odbc {
	SQLHENV environment;
	unsigned made; /* tables */
	size_t loaded; /* initial rows */
};

/* Buffers that statements are bound to: once. */
struct odbc_client {
	struct kl_client client;
	SQLHDBC connection;
	SQLHSTMT statements[STATEMENTS];
	char key[HEX], high[HEX], text[24];
	SQLBIGINT value, ge, lt;
	char list[LIST_MOST + 1];
	bool level_set;
};

static SQLRETURN bind(struct odbc_client *c, enum which which)
{
	SQLHSTMT statement = c->statements[which];
	SQLRETURN code = SQL_SUCCESS;
	SQLUSMALLINT n = 1;

	for (const char *t = sql[which].takes; *t && SQL_SUCCEEDED(code); t++, n++) {
		char *text = *t == 'k' ? c->key : *t == 'h' ? c->high : *t == 't' ? c->text : NULL;
		SQLBIGINT *number = *t == 'v' ? &c->value : *t == 'g' ? &c->ge : &c->lt;

		code = text ? SQLBindParameter(statement, n, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
				      *t == 't' ? sizeof c->text : HEX, 0, text, 0, NULL)
			    : SQLBindParameter(statement, n, SQL_PARAM_INPUT, SQL_C_SBIGINT, SQL_BIGINT, 0, 0,
				      number, 0, NULL);
	}
	return code;
}

static bool prepare(struct odbc_client *c, enum which which)
{
	return SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, c->connection, &c->statements[which])) &&
		SQL_SUCCEEDED(
			SQLPrepare(c->statements[which], (SQLCHAR *)(uintptr_t)sql[which].sql, SQL_NTS)) &&
		SQL_SUCCEEDED(bind(c, which));
}

/* A statement that has failed is not used again: where an error came amid its rows, MariaDB's ODBC driver
 * waits for the rest of them when it is. */
static bool prepare_again(struct odbc_client *c, SQLHSTMT statement)
{
	int which = 0;

	while (which < STATEMENTS && c->statements[which] != statement)
		which++;
	if (which == STATEMENTS)
		return true;
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
	c->statements[which] = NULL;
	return prepare(c, (enum which)which);
}

/* ---- answers ---- */

static enum kl_answer meaning(const char *state)
{
	static const struct {
		const char *state;
		enum kl_answer answer;
	} known[] = {{"40001", KL_REFUSED}, {"40002", KL_REFUSED}, {"23", KL_REFUSED}, {"40P01", KL_DEADLOCK},
		{"HYT00", KL_TIMEOUT}, {"55P03", KL_TIMEOUT}, {"57014", KL_TIMEOUT}, {"53100", KL_REFUSED},
		{"57P0", KL_GONE}, {"40003", KL_GONE}, {"HYT01", KL_GONE}, {"08", KL_GONE},
		{"25006", KL_REFUSED} /* a server that only reads, by now */};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strncmp(state, known[i].state, strlen(known[i].state)) == 0)
			return known[i].answer;
	return KL_BUG;
}

/* The database's own number of the error. */
static SQLINTEGER diagnose(SQLSMALLINT kind, SQLHANDLE handle, char state[6], char text[256])
{
	SQLSMALLINT length;
	SQLINTEGER native = 0;

	state[0] = text[0] = '\0';
	(void)SQLGetDiagRec(kind, handle, 1, (SQLCHAR *)state, &native, (SQLCHAR *)text, 256, &length);
	return native;
}

/* Some drivers have only a general error for a connection that is lost, but know that it is. */
static bool is_dead(SQLHDBC connection)
{
	SQLUINTEGER dead = SQL_CD_FALSE;

	return SQL_SUCCEEDED(SQLGetConnectAttr(connection, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL)) &&
		dead == SQL_CD_TRUE;
}

static enum kl_answer fail(struct odbc_client *c, SQLSMALLINT kind, SQLHANDLE handle,
	struct kl_result *result)
{
	char state[6], text[256];

	result->answered = kl_now();
	SQLINTEGER native = diagnose(kind, handle, state, text);

	enum kl_answer answer = is_dead(c->connection)                  ? KL_GONE
		: strcmp(state, "HY000") == 0 && native == MARIADB_WAIT ? KL_TIMEOUT
									: meaning(state);
	if (kind == SQL_HANDLE_STMT)
		(void)SQLFreeStmt(handle, SQL_CLOSE);
	if (answer != KL_GONE)
		(void)SQLEndTran(SQL_HANDLE_DBC, c->connection, SQL_ROLLBACK);
	if (kind == SQL_HANDLE_STMT && answer != KL_GONE && !prepare_again(c, handle))
		answer = KL_GONE;
	return kl_error(result, answer, state, text);
}

/* ---- statements ---- */

/* `count`: of the rows that were changed. SQL_NO_DATA: none was. */
static enum kl_answer execute(struct odbc_client *c, enum which which, SQLLEN *count,
	struct kl_result *result)
{
	SQLRETURN code = SQLExecute(c->statements[which]);

	result->answered = kl_now();
	*count = 0;
	if (SQL_SUCCEEDED(code))
		code = SQLRowCount(c->statements[which], count);
	return SQL_SUCCEEDED(code) || code == SQL_NO_DATA
		? KL_OK
		: fail(c, SQL_HANDLE_STMT, c->statements[which], result);
}

static void to_hex(const char *key, char out[HEX])
{
	out[0] = '\0';
	for (size_t i = 0; key[i]; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", (unsigned)(unsigned char)key[i]);
}

static void from_hex(const char *hex, char out[KL_KEY])
{
	unsigned byte;
	size_t n = 0;

	while (n + 1 < KL_KEY && sscanf(hex + 2 * n, "%2x", &byte) == 1)
		out[n++] = (char)byte;
	out[n] = '\0';
}

static SQLRETURN take_row(struct odbc_client *c, SQLHSTMT statement, enum which which,
	struct kl_result *result)
{
	char hex[HEX], key[KL_KEY];
	SQLBIGINT value;
	bool pair = which == RANGE || which == SCAN;
	SQLRETURN code = SQL_SUCCESS;

	if (which == LIST) {
		code = SQLGetData(statement, 1, SQL_C_CHAR, c->list, sizeof c->list, NULL);
		result->found = true;
		return code != SQL_SUCCESS || kl_result_list(result, c->list, strlen(c->list)) ? code
											       : SQL_ERROR;
	}
	if (pair)
		code = SQLGetData(statement, 1, SQL_C_CHAR, hex, sizeof hex, NULL);
	if (SQL_SUCCEEDED(code))
		code = SQLGetData(statement, pair ? 2 : 1, SQL_C_SBIGINT, &value, 0, NULL);
	if (!SQL_SUCCEEDED(code))
		return code;
	if (!pair) {
		result->found = true;
		result->value = value;
		return code;
	}
	from_hex(hex, key);
	return kl_result_row(result, key, strlen(key), value) ? code : SQL_ERROR;
}

/* At most `limit` rows; 0: all. */
static enum kl_answer ask(struct odbc_client *c, enum which which, uint32_t limit, struct kl_result *result)
{
	SQLHSTMT statement = c->statements[which];
	SQLLEN count;
	SQLRETURN code = SQL_SUCCESS;
	enum kl_answer answer = execute(c, which, &count, result);
	int64_t answered = result->answered;

	if (answer != KL_OK)
		return answer;
	while ((limit == 0 || result->row_count < limit) && SQL_SUCCEEDED(code = SQLFetch(statement)))
		if (!SQL_SUCCEEDED(code = take_row(c, statement, which, result)))
			break;
	if (!SQL_SUCCEEDED(code) && code != SQL_NO_DATA)
		return fail(c, SQL_HANDLE_STMT, statement, result);
	(void)SQLCloseCursor(statement);
	result->answered = answered;
	return KL_OK;
}

/* Changes the row, or makes it if there is none. */
static enum kl_answer put(struct odbc_client *c, enum which change, enum which make, struct kl_result *result)
{
	SQLLEN count;
	enum kl_answer answer = execute(c, change, &count, result);

	return answer == KL_OK && count == 0 ? execute(c, make, &count, result) : answer;
}

/* Unless the key is there. */
static enum kl_answer insert(struct odbc_client *c, struct kl_result *result)
{
	SQLLEN count;
	enum kl_answer answer = ask(c, READ, 0, result);

	if (answer != KL_OK || result->found)
		return answer;
	result->done = true;
	return execute(c, INSERT, &count, result);
}

static enum kl_answer add(struct odbc_client *c, struct kl_result *result)
{
	SQLLEN count;
	enum kl_answer answer = execute(c, ADD, &count, result);

	if (answer == KL_OK)
		answer = ask(c, READ, 0, result); /* its own row, which nobody else can change now */
	return answer == KL_OK && !result->found ? kl_error(result, KL_BUG, "", "a counter is not there")
						 : answer;
}

static void set_arguments(struct odbc_client *c, const struct kl_op *op, bool extends)
{
	to_hex(op->key, c->key);
	if (op->kind == KL_RANGE)
		to_hex(op->high, c->high);
	else if (op->kind == KL_SCAN) /* behind all that begin so */
		(void)snprintf(c->high, sizeof c->high, "%.*sg", HEX - 2, c->key);
	c->value = op->value;
	c->ge = op->ge;
	c->lt = op->lt;
	(void)snprintf(c->text, sizeof c->text, "%s%lld", extends ? "," : "", (long long)op->value);
}

/* A list begins without a comma. */
static enum kl_answer append(struct odbc_client *c, const struct kl_op *op, struct kl_result *result)
{
	SQLLEN count;

	set_arguments(c, op, true);
	enum kl_answer answer = execute(c, EXTEND, &count, result);
	if (answer != KL_OK || count > 0)
		return answer;
	set_arguments(c, op, false);
	return execute(c, BEGIN_LIST, &count, result);
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	struct odbc_client *c = (struct odbc_client *)client;
	SQLLEN count = 0;
	enum kl_answer answer;

	set_arguments(c, op, false);
	switch (op->kind) {
	case KL_READ: return ask(c, READ, 0, result);
	case KL_READ_LIST:
	case KL_READ_SET: return ask(c, LIST, 0, result);
	case KL_WRITE: return put(c, UPDATE, INSERT, result);
	case KL_DELETE:
		answer = execute(c, DELETE, &count, result);
		result->done = count > 0;
		return answer;
	case KL_INSERT: return insert(c, result);
	case KL_INC: return add(c, result);
	case KL_APPEND:
	case KL_ADD: return append(c, op, result);
	case KL_RANGE: return ask(c, RANGE, op->limit, result);
	case KL_SCAN: return ask(c, SCAN, 0, result);
	default: return kl_error(result, KL_BUG, "", "no such operation");
	}
}

/* ---- transactions ---- */

/* A transaction begins with its first statement. */
static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct odbc_client *c = (struct odbc_client *)client;
	SQLULEN isolation = isolations[client->level - levels];

	if (!c->level_set &&
		!SQL_SUCCEEDED(SQLSetConnectAttr(c->connection, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)isolation,
			SQL_IS_UINTEGER)))
		return fail(c, SQL_HANDLE_DBC, c->connection, result);
	c->level_set = true;
	return KL_OK;
}

/* An error that a commit cannot have leaves open what became of it. */
static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct odbc_client *c = (struct odbc_client *)client;
	SQLRETURN code = SQLEndTran(SQL_HANDLE_DBC, c->connection, SQL_COMMIT);
	enum kl_answer answer = KL_OK;

	result->answered = kl_now();
	if (!SQL_SUCCEEDED(code))
		answer = fail(c, SQL_HANDLE_DBC, c->connection, result);
	return answer == KL_BUG ? KL_GONE : answer;
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	struct odbc_client *c = (struct odbc_client *)client;

	return SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, c->connection, SQL_ROLLBACK))
		? KL_OK
		: fail(c, SQL_HANDLE_DBC, c->connection, result);
}

static void close_client(struct kl_client *client)
{
	struct odbc_client *c = (struct odbc_client *)client;

	for (int i = 0; i < STATEMENTS; i++)
		if (c->statements[i])
			(void)SQLFreeHandle(SQL_HANDLE_STMT, c->statements[i]);
	(void)SQLEndTran(SQL_HANDLE_DBC, c->connection, SQL_ROLLBACK);
	(void)SQLDisconnect(c->connection);
	(void)SQLFreeHandle(SQL_HANDLE_DBC, c->connection);
	free(c);
}

/* No answer of a commit can be left unread here: it is read, and not told. */
static void hang_up(struct kl_client *client, bool after_sending_commit)
{
	(void)SQLEndTran(SQL_HANDLE_DBC, ((struct odbc_client *)client)->connection,
		after_sending_commit ? SQL_COMMIT : SQL_ROLLBACK);
}

/* ---- the store ---- */

static bool tell_failure(struct kl_store *store, SQLSMALLINT kind, SQLHANDLE handle)
{
	char state[6], text[256];

	diagnose(kind, handle, state, text);
	return kl_fail(store, "%s: %s", state, text);
}

static struct kl_client *open_node(struct kl_store *store, uint32_t node)
{
	const struct odbc *odbc = store->own;
	struct odbc_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, odbc->environment, &c->connection))) {
		free(c);
		return NULL;
	}
	bool fine = SQL_SUCCEEDED(SQLDriverConnect(c->connection, NULL,
			    (SQLCHAR *)(uintptr_t)kl_address(store, node), SQL_NTS, NULL, 0, NULL,
			    SQL_DRIVER_NOPROMPT)) &&
		SQL_SUCCEEDED(SQLSetConnectAttr(c->connection, SQL_ATTR_AUTOCOMMIT,
			(SQLPOINTER)(uintptr_t)SQL_AUTOCOMMIT_OFF, SQL_IS_UINTEGER));
	if (fine)
		return &c->client;
	(void)tell_failure(store, SQL_HANDLE_DBC, c->connection);
	close_client(&c->client);
	return NULL;
}

static struct kl_client *connect_client(struct kl_store *store) { return open_node(store, 0); }

/* One with the tables there. */
static struct kl_client *connect_to(struct kl_store *store, uint32_t node)
{
	struct kl_client *client = open_node(store, node);
	struct odbc_client *c = (struct odbc_client *)client;

	for (int i = 0; c && i < STATEMENTS; i++)
		if (!prepare(c, (enum which)i)) {
			(void)tell_failure(store, SQL_HANDLE_STMT, c->statements[i]);
			close_client(client);
			return NULL;
		}
	return client;
}

static struct kl_client *connect(struct kl_store *store) { return connect_to(store, 0); }

/* The address is what names of hosts say. A data source has it elsewhere, so it may be any. */
static bool is_near(struct kl_store *store, uint32_t node)
{
	const char *option = node > 0 ? "--nodes" : "--connect";
	static const char *const names[] = {"server", "servername", "host", "hostname", "address", "addr",
		"networkaddress", "url", "dbq", "dsn", "filedsn"};
	char list[1024], *state = NULL;
	bool named = false;

	if (store->remote)
		return true;
	(void)snprintf(list, sizeof list, "%s", kl_address(store, node));
	for (char *word = strtok_r(list, ";", &state); word; word = strtok_r(NULL, ";", &state)) {
		char *value = strchr(word, '=');

		word += strspn(word, " ");
		for (size_t i = 0; value && i < sizeof names / sizeof names[0]; i++) {
			size_t length = strlen(names[i]);

			if (strncasecmp(word, names[i], length) != 0 ||
				word[length + strspn(word + length, " ")] != '=')
				continue;
			named = true;
			if (strstr(names[i], "dsn") || !kl_is_local(value + 1))
				return kl_refuse(store,
					"%s: found '%s', expected SERVER=, SERVERNAME= or HOST= with a "
					"socket or a loopback address, or --remote",
					option, word);
		}
	}
	return named ||
		kl_refuse(store, "%s: found no SERVER=, SERVERNAME= or HOST=, expected one, or --remote",
			option);
}

/* Which levels there are. */
static bool has_level(struct kl_store *store, SQLHDBC connection)
{
	SQLUINTEGER offered = 0;

	if (!SQL_SUCCEEDED(SQLGetInfo(connection, SQL_TXN_ISOLATION_OPTION, &offered, sizeof offered, NULL)))
		return tell_failure(store, SQL_HANDLE_DBC, connection);
	return (offered & isolations[store->level - levels]) != 0 ||
		kl_refuse(store, "the database does not offer the level %s", store->level->name);
}

static void note_version(struct kl_store *store, SQLHDBC connection)
{
	static const SQLUSMALLINT asked[] = {SQL_DBMS_NAME, SQL_DBMS_VER, SQL_DRIVER_NAME, SQL_DRIVER_VER};
	char told[4][32] = {""};

	for (size_t i = 0; i < 4; i++)
		(void)SQLGetInfo(connection, asked[i], told[i], sizeof told[i], NULL);
	(void)snprintf(store->version, sizeof store->version, "%s %s, %s %s", told[0], told[1], told[2],
		told[3]);
}

static bool start(struct kl_store *store)
{
	struct odbc *odbc = calloc(1, sizeof *odbc);

	store->own = odbc;
	if (!odbc)
		return kl_fail(store, "out of memory");
	if (!store->connect)
		return kl_refuse(store, "expected --connect 'DRIVER=...;SERVER=...;...'");
	if (!kl_each_node(store, is_near))
		return false;
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &odbc->environment)) ||
		!SQL_SUCCEEDED(SQLSetEnvAttr(odbc->environment, SQL_ATTR_ODBC_VERSION,
			(SQLPOINTER)(uintptr_t)SQL_OV_ODBC3, 0)))
		return kl_fail(store, "no environment of ODBC");
	struct kl_client *client = connect_client(store);
	if (!client)
		return false;
	bool fine = has_level(store, ((struct odbc_client *)client)->connection);
	note_version(store, ((struct odbc_client *)client)->connection);
	close_client(client);
	return fine;
}

static bool tell(struct kl_store *store, struct odbc_client *c, const char *text)
{
	SQLHSTMT statement = NULL;
	bool fine = SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, c->connection, &statement));
	SQLRETURN code = fine ? SQLExecDirect(statement, (SQLCHAR *)(uintptr_t)text, SQL_NTS) : SQL_ERROR;

	fine = SQL_SUCCEEDED(code) || code == SQL_NO_DATA || tell_failure(store, SQL_HANDLE_STMT, statement);
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
	(void)SQLEndTran(SQL_HANDLE_DBC, c->connection, fine ? SQL_COMMIT : SQL_ROLLBACK);
	return fine;
}

/* Does a node show the initial rows? And does it refuse what changes none of them, since it only reads? */
static bool has_loaded(struct kl_store *store, uint32_t node)
{
	const struct odbc *odbc = store->own;
	struct kl_client *client = connect_to(store, node);
	struct odbc_client *c = (struct odbc_client *)client;
	struct kl_result result = {0};
	SQLLEN count;

	if (!client)
		return false;
	set_arguments(c, &(const struct kl_op){.kind = KL_RANGE, .key = "", .high = "\x7f"}, false);
	bool has = ask(c, RANGE, 0, &result) == KL_OK && result.row_count == odbc->loaded;
	set_arguments(c, &(const struct kl_op){.kind = KL_DELETE, .key = ""}, false);
	store->only_reads[node] =
		has && execute(c, DELETE, &count, &result) != KL_OK && strcmp(result.code, "25006") == 0;
	if (!has)
		(void)kl_fail(store, "the initial rows are not there%s%s", result.message[0] ? ": " : "",
			result.message);
	free(result.rows);
	close_client(client);
	return has;
}

static bool load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	struct odbc *odbc = store->own;
	struct kl_client *client = connect_client(store);
	struct kl_result result = {0};
	bool fine = client != NULL;

	while (fine && odbc->made < TABLES) {
		fine = tell(store, (struct odbc_client *)client, tables[odbc->made][0]);
		odbc->made += fine;
	}
	if (client)
		close_client(client);
	client = fine ? connect(store) : NULL;
	for (size_t i = 0; client && fine && i < count; i++) {
		const struct kl_op op = {.kind = KL_WRITE, .key = rows[i].key, .value = rows[i].value};

		fine = run(client, &op, &result) == KL_OK;
	}
	fine = client && fine && (commit(client, &result) == KL_OK || kl_fail(store, "%s", result.message));
	if (client)
		close_client(client);
	odbc->loaded = count;
	return fine && kl_home_wait_others(store, has_loaded);
}

static void stop(struct kl_store *store)
{
	struct odbc *odbc = store->own;
	struct kl_client *client = odbc && odbc->made ? connect_client(store) : NULL;

	while (client && odbc->made > 0)
		(void)tell(store, (struct odbc_client *)client, tables[--odbc->made][1]);
	if (client)
		close_client(client);
	if (odbc && odbc->environment)
		(void)SQLFreeHandle(SQL_HANDLE_ENV, odbc->environment);
	free(odbc);
	store->own = NULL;
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "odbc",
	.title = "any SQL database, through ODBC",
	.library = "odbc",
	.levels = levels,
	.operations = (KL_BIT(KL_KINDS) - 1) & ~KL_BIT(KL_UPDATE),
	.facts = KL_SESSIONS,
	.start = start,
	.stop = stop,
	.load = load,
	.connect = connect,
	.connect_to = connect_to,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.hang_up = hang_up,
	.close = close_client,
};
