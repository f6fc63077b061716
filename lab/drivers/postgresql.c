/* PostgreSQL through libpq. Its order: xmin of a row is the transaction that wrote it, so reads name the
 * versions that they saw; the first write gives back the number of its own transaction; and logical decoding
 * tells all changes in the order of commits, which is that of each key's versions, since a row stays locked
 * until its writer has committed. Each change has the row that it replaced, so that the chain of a key can be
 * seen to be unbroken. That is no order of serialization: with SSI, who missed a write may commit after it.
 * All this without a round trip of its own.
 *
 * Every error ends a transaction here. Only the schema krait_lab is made, and dropped.
 *
 * Longer than usual: a driver is one file, and this one follows the chains of the log. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/driver.h"

KL_NEEDS("libpq", "libpq-dev");

enum { PORT = 5432 };
#define FOLDERS "/usr/lib/postgresql/*/bin"

static const struct kl_level levels[] = {
	{"ser", "BEGIN ISOLATION LEVEL SERIALIZABLE", "ser", "ser", "postgresql-ser"},
	{"rr", "BEGIN ISOLATION LEVEL REPEATABLE READ", "si", "si", "postgresql-rr"},
	{"rc", "BEGIN ISOLATION LEVEL READ COMMITTED", "pl-2", "pl-2", "postgresql-rc"},
	{0},
};

/* With replicas, of which SERIALIZABLE knows nothing: each shows a state of the first node, but an older
 * one. */
static const char *const cluster_keeps[] = {"si", "si", "pl-2"};

/* "C": the bytes decide, as in the trace */
#define KV "CREATE TABLE krait_lab.kv (k text COLLATE \"C\" PRIMARY KEY, v bigint NOT NULL)"
static const char schema[] =
	"CREATE SCHEMA krait_lab;" KV ";"
	"CREATE TABLE krait_lab.lists (k text COLLATE \"C\" PRIMARY KEY, v text NOT NULL);"
	"CREATE TABLE krait_lab.sets (k text COLLATE \"C\", e bigint, PRIMARY KEY (k, e))";

/* Objects are x, y, z; their neighbours begin with the same letter. */
static const char partitions[] =
	"DROP TABLE krait_lab.kv;" KV " PARTITION BY RANGE (k);"
	"CREATE TABLE krait_lab.x PARTITION OF krait_lab.kv FOR VALUES FROM (MINVALUE) TO ('y');"
	"CREATE TABLE krait_lab.y PARTITION OF krait_lab.kv FOR VALUES FROM ('y') TO ('z');"
	"CREATE TABLE krait_lab.z PARTITION OF krait_lab.kv FOR VALUES FROM ('z') TO (MAXVALUE)";

/* Arguments of all: key, value, high, limit, ge, lt; a statement takes those that `takes` lists. What stands
 * in braces is the certificate's: what is written gives back the transaction's own number in its last column,
 * until that is known; a range or scan tells the snapshot that it looks at, by which all numbers of
 * transactions are seen or not: with a row of its own, since there may be none that match. */
enum { READ_SHARED = KL_KINDS, READ_EXCLUSIVE, UPDATE_ONE, STATEMENTS };
#define RETURNS_OWN "{ RETURNING pg_current_xact_id()}"
#define ADDS_OWN "{, pg_current_xact_id()}"
#define READ "SELECT v{, xmin} FROM krait_lab.kv WHERE k = $1"
#define READ_LIST "SELECT v FROM krait_lab.lists WHERE k = $1"
#define APPEND \
	"INSERT INTO krait_lab.lists VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = lists.v || ',' || " \
	"excluded.v" RETURNS_OWN
#define ROWS(which) \
	"{SELECT k, v, x, t FROM (SELECT pg_current_snapshot() t) s LEFT JOIN (}SELECT k, v{, " \
	"xmin x} FROM krait_lab.kv WHERE " which "{) r ON true ORDER BY k}"
static const struct {
	const char *name, *sql, *takes;
	const char *plain; /* the name of it without the certificate, of what writes */
} sql[STATEMENTS] = {
	[KL_READ] = {"r", READ, "k"},
	[READ_SHARED] = {"rs", READ " FOR SHARE", "k"},
	[READ_EXCLUSIVE] = {"rx", READ " FOR UPDATE", "k"},
	[KL_READ_LIST] = {"rl", READ_LIST, "k"},
	[KL_READ_SET] = {"rt", READ_LIST, "k"},
	[KL_WRITE] = {"w",
		"INSERT INTO krait_lab.kv VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = "
		"excluded.v" RETURNS_OWN,
		"kv", "w-"},
	[UPDATE_ONE] = {"o", "UPDATE krait_lab.kv SET v = $2 WHERE k = $1" RETURNS_OWN, "kv", "o-"},
	[KL_DELETE] = {"d", "DELETE FROM krait_lab.kv WHERE k = $1" RETURNS_OWN, "k", "d-"},
	[KL_INSERT] = {"i", "INSERT INTO krait_lab.kv VALUES ($1, $2) ON CONFLICT (k) DO NOTHING" RETURNS_OWN,
		"kv", "i-"},
	[KL_INC] = {"n", "UPDATE krait_lab.kv SET v = v + $2 WHERE k = $1 RETURNING v" ADDS_OWN, "kv", "n-"},
	[KL_APPEND] = {"a", APPEND, "kv", "a-"},
	[KL_ADD] = {"t", APPEND, "kv", "t-"},
	[KL_RANGE] = {"g", ROWS("k >= $1 AND k < $2 ORDER BY k LIMIT $3"), "khm"},
	[KL_SCAN] = {"s", ROWS("starts_with(k, $1) AND v >= $2 AND v < $3"), "kgl"},
	[KL_UPDATE] = {"u",
		"UPDATE krait_lab.kv SET v = $2 WHERE starts_with(k, $1) AND v >= $3 AND v < $4 RETURNING k, "
		"v" ADDS_OWN,
		"kvgl", "u-"},
};
enum { STATEMENT_SIZE = 400 };

/* A statement as it is sent: with what stands in braces, or without. */
static const char *text_of(bool certified, int which, char out[STATEMENT_SIZE])
{
	bool within = false;
	size_t n = 0;

	for (const char *c = sql[which].sql; *c && n + 1 < STATEMENT_SIZE; c++)
		if (*c == '{' || *c == '}')
			within = *c == '{';
		else if (!within || certified)
			out[n++] = *c;
	out[n] = '\0';
	return out;
}

struct postgresql {
	char address[1024];
	char command[3][600]; /* of the private server: program, data, folder of the socket */
	char backup[512];     /* the program that makes replicas */
	bool decodes, made;
	size_t loaded;               /* initial rows */
	bool follows[KL_NODES_MOST]; /* a hot standby */
	PGconn *monitor;             /* of directed runs; NULL: not needed so far */
};

struct pg_client {
	struct kl_client client;
	PGconn *connection;
	uint32_t node;
	bool certified;
	bool told; /* this transaction its own number */
};

static void ignore(void *data, const PGresult *notice)
{
	(void)data;
	(void)notice;
}

static bool names_host(const char *keyword) { return strncmp(keyword, "host", 4) == 0; } /* or hostaddr */

/* A further address is as that of --connect, but for what it says itself. */
static PGconn *open_further(const struct kl_store *store, uint32_t node)
{
	enum { WORDS_MOST = 64 };
	PQconninfoOption *first = PQconninfoParse(store->connect, NULL),
			 *own = PQconninfoParse(store->further[node], NULL);
	const char *words[WORDS_MOST + 2] = {"application_name"}, *values[WORDS_MOST + 2] = {"krait-lab"};
	size_t n = 1;
	bool elsewhere = false;

	for (size_t i = 0; own && own[i].keyword; i++)
		elsewhere |= own[i].val && names_host(own[i].keyword);
	for (size_t i = 0; first && own && own[i].keyword && n <= WORDS_MOST; i++) {
		const char *value = own[i].val                    ? own[i].val
			: elsewhere && names_host(own[i].keyword) ? NULL
								  : first[i].val;

		if (!value)
			continue;
		words[n] = own[i].keyword;
		values[n++] = value;
	}
	PGconn *connection = PQconnectdbParams(words, values, 0);
	PQconninfoFree(first);
	PQconninfoFree(own);
	return connection;
}

static PGconn *open_private(const struct kl_store *store, uint32_t node)
{
	char folder[sizeof store->relayed], port[16]; /* of the socket */

	(void)snprintf(folder, sizeof folder, "%s", store->relayed);
	if (folder[0])
		*strrchr(folder, '/') = '\0';
	(void)snprintf(port, sizeof port, "%u", (unsigned)(PORT + node));

	const char *const words[] = {"dbname", "application_name",
		node                ? "port"
			: folder[0] ? "host"
				    : NULL,
		NULL},
			  *const values[] = {((const struct postgresql *)store->own)->address, "krait-lab",
				  node ? port : folder, NULL};

	return PQconnectdbParams(words, values, 1);
}

static PGconn *open_node(struct kl_store *store, uint32_t node)
{
	PGconn *connection = store->further[node] ? open_further(store, node) : open_private(store, node);

	(void)PQsetNoticeReceiver(connection, ignore, NULL);
	if (PQstatus(connection) == CONNECTION_OK)
		return connection;
	(void)kl_fail(store, "%s", PQerrorMessage(connection));
	PQfinish(connection);
	return NULL;
}

static PGconn *open_connection(struct kl_store *store) { return open_node(store, 0); }

/* ---- answers ---- */

static enum kl_answer meaning(const char *state)
{
	static const struct {
		const char *state;
		enum kl_answer answer;
	} known[] = {{"40001", KL_REFUSED}, {"40P01", KL_DEADLOCK}, {"55P03", KL_TIMEOUT},
		{"57014", KL_TIMEOUT}, {"53100", KL_REFUSED}, {"57P0", KL_GONE}, {"08", KL_GONE},
		{"25006", KL_REFUSED} /* a server that only reads, by now */};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strncmp(state, known[i].state, strlen(known[i].state)) == 0)
			return known[i].answer;
	return KL_BUG;
}

/* An answer that is none of success. The transaction is over, so it is said. */
static enum kl_answer fail(struct pg_client *c, const PGresult *answer, struct kl_result *result)
{
	const char *state = answer ? PQresultErrorField(answer, PG_DIAG_SQLSTATE) : NULL;
	enum kl_answer kind = state ? meaning(state) : KL_GONE;

	if (PQstatus(c->connection) != CONNECTION_OK)
		kind = KL_GONE;
	result->answered = kl_now();
	if (kind != KL_GONE)
		PQclear(PQexec(c->connection, "ROLLBACK"));
	return kl_error(result, kind, state ? state : "", PQerrorMessage(c->connection));
}

static int64_t integer(const PGresult *answer, int row, int column)
{
	return strtoll(PQgetvalue(answer, row, column), NULL, 10);
}

/* Numbers of transactions are told with 32 bits in rows. */
static uint64_t number(const PGresult *answer, int row, int column)
{
	return strtoull(PQgetvalue(answer, row, column), NULL, 10) & UINT32_MAX;
}

/* Key, value; of what is read with a certificate, also who wrote it and the snapshot: a row without a key has
 * only that. */
static bool take_rows(const struct kl_op *op, const PGresult *answer, struct kl_result *result)
{
	bool certified = op->kind != KL_UPDATE && PQnfields(answer) > 2;

	for (int i = 0; i < PQntuples(answer) && !PQgetisnull(answer, i, 0); i++) {
		struct kl_row *row = kl_result_row(result, PQgetvalue(answer, i, 0),
			(size_t)PQgetlength(answer, i, 0), integer(answer, i, 1));

		if (!row)
			return false;
		if (certified)
			row->mark = number(answer, i, 2);
	}
	return !certified || kl_result_view(result, PQgetvalue(answer, 0, 3));
}

static bool take_answer(struct pg_client *c, const struct kl_op *op, PGresult *answer,
	struct kl_result *result)
{
	bool some = strcmp(PQcmdTuples(answer), "0") != 0, certified = some && c->certified;

	if (certified && !c->told && !(KL_BIT(op->kind) & KL_READS)) {
		result->own = number(answer, 0, PQnfields(answer) - 1);
		c->told = true;
	}
	switch (op->kind) {
	case KL_READ_LIST:
	case KL_READ_SET:
		result->found = some;
		return !some ||
			kl_result_list(result, PQgetvalue(answer, 0, 0), (size_t)PQgetlength(answer, 0, 0));
	case KL_RANGE:
	case KL_SCAN:
	case KL_UPDATE: return take_rows(op, answer, result);
	case KL_READ:
		result->found = some;
		result->value = some ? integer(answer, 0, 0) : 0;
		result->mark = certified ? number(answer, 0, 1) : 0;
		return true;
	case KL_INC: result->value = some ? integer(answer, 0, 0) : 0; return some;
	default: result->done = some; return true;
	}
}

static int which_of(const struct kl_op *op)
{
	return op->lock == KL_SHARED                 ? READ_SHARED
		: op->lock == KL_EXCLUSIVE           ? READ_EXCLUSIVE
		: op->kind == KL_WRITE && op->exists ? UPDATE_ONE
						     : (int)op->kind;
}

/* What a statement takes, in its order; NULL: none. How many. */
static int arguments_of(const struct kl_op *op, char texts[6][KL_DECIMAL], const char *values[6])
{
	int n = 0;

	for (const char *t = sql[which_of(op)].takes; *t; t++, n++)
		switch (*t) {
		case 'k': values[n] = op->key; break;
		case 'h': values[n] = op->high; break;
		case 'v': values[n] = kl_decimal(op->value, texts[n]); break;
		case 'g': values[n] = kl_decimal(op->ge, texts[n]); break;
		case 'l': values[n] = kl_decimal(op->lt, texts[n]); break;
		default: values[n] = op->limit ? kl_decimal(op->limit, texts[n]) : NULL;
		}
	return n;
}

static const char *name_of(const struct pg_client *c, int which)
{
	return c->told && sql[which].plain ? sql[which].plain : sql[which].name;
}

static PGresult *execute(struct pg_client *c, const struct kl_op *op)
{
	char texts[6][KL_DECIMAL];
	const char *values[6];
	int n = arguments_of(op, texts, values);

	return PQexecPrepared(c->connection, name_of(c, which_of(op)), n, values, NULL, NULL, 0);
}

static bool take_cells(const PGresult *answer, struct kl_result *result)
{
	bool fine = true;

	result->columns = (uint32_t)PQnfields(answer);
	result->lines = (uint32_t)PQntuples(answer);
	for (int k = 0; k < PQnfields(answer) && fine; k++)
		fine = kl_result_add_cell(result, PQfname(answer, k), strlen(PQfname(answer, k)));
	for (int i = 0; i < PQntuples(answer); i++)
		for (int k = 0; k < PQnfields(answer) && fine; k++)
			fine = kl_result_add_cell(result,
				PQgetisnull(answer, i, k) ? NULL : PQgetvalue(answer, i, k),
				(size_t)PQgetlength(answer, i, k));
	return fine;
}

/* What a user has written may be at fault itself: a key that is there, a number that is too large. */
static enum kl_answer run_text(struct pg_client *c, const char *text, struct kl_result *result)
{
	PGresult *answer = PQexec(c->connection, text);
	enum kl_answer kind = KL_OK;

	result->answered = kl_now();
	if (PQresultStatus(answer) != PGRES_TUPLES_OK && PQresultStatus(answer) != PGRES_COMMAND_OK) {
		kind = fail(c, answer, result);
		if (kind == KL_BUG &&
			(strncmp(result->code, "22", 2) == 0 || strncmp(result->code, "23", 2) == 0))
			kind = KL_REFUSED;
	} else if (!take_cells(answer, result)) {
		kind = kl_error(result, KL_BUG, "", "no memory");
	}
	result->value = kind == KL_OK ? strtoll(PQcmdTuples(answer), NULL, 10) : 0;
	PQclear(answer);
	return kind;
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	struct pg_client *c = (struct pg_client *)client;

	if (op->kind == KL_SQL)
		return run_text(c, op->text, result);

	PGresult *answer = execute(c, op);
	enum kl_answer kind = KL_OK;

	result->answered = kl_now();
	if (PQresultStatus(answer) != PGRES_TUPLES_OK && PQresultStatus(answer) != PGRES_COMMAND_OK)
		kind = fail(c, answer, result);
	else if (!take_answer(c, op, answer, result))
		kind = kl_error(result, KL_BUG, "", "no memory, or a counter that is not there");
	PQclear(answer);
	return kind;
}

static enum kl_answer say(struct pg_client *c, const char *text, const char *expected,
	struct kl_result *result)
{
	PGresult *answer = PQexec(c->connection, text);
	enum kl_answer kind = KL_OK;

	result->answered = kl_now();
	if (PQresultStatus(answer) != PGRES_COMMAND_OK)
		kind = fail(c, answer, result);
	else if (strcmp(PQcmdStatus(answer), expected) != 0)
		kind = kl_error(result, KL_REFUSED, "", PQcmdStatus(answer));
	PQclear(answer);
	return kind;
}

/* Replicas have no SERIALIZABLE. */
static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct pg_client *c = (struct pg_client *)client;
	bool follows = ((const struct postgresql *)client->store->own)->follows[c->node];
	const struct kl_level *level = follows && client->level == levels ? &levels[1] : client->level;

	c->told = false;
	return say(c, level->sent, "BEGIN", result);
}
static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	return say((struct pg_client *)client, "COMMIT", "COMMIT", result);
}
static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	return say((struct pg_client *)client, "ROLLBACK", "ROLLBACK", result);
}

static void hang_up(struct kl_client *client, bool after_sending_commit)
{
	struct pg_client *c = (struct pg_client *)client;

	if (after_sending_commit && PQsendQuery(c->connection, "COMMIT"))
		(void)PQflush(c->connection);
	PQfinish(c->connection);
	c->connection = NULL;
}

static void close_client(struct kl_client *client)
{
	PQfinish(((struct pg_client *)client)->connection);
	free(client);
}

static bool prepare(struct kl_store *store, const struct pg_client *c, const char *name, int which,
	bool certified)
{
	char text[STATEMENT_SIZE];
	PGresult *answer = PQprepare(c->connection, name, text_of(certified, which, text), 0, NULL);
	bool fine = PQresultStatus(answer) == PGRES_COMMAND_OK ||
		kl_fail(store, "%s", PQerrorMessage(c->connection));

	PQclear(answer);
	return fine;
}

/* What a replica calls a snapshot does not list who was under way: it certifies nothing. */
static struct kl_client *connect_to(struct kl_store *store, uint32_t node)
{
	struct pg_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->connection = open_node(store, node);
	c->node = node;
	c->certified = store->certificate && node == 0;
	if (c->connection) /* statements of scripts name no schema */
		PQclear(PQexec(c->connection, "SET search_path TO krait_lab"));
	for (int i = 0; c->connection && i < STATEMENTS; i++)
		if (!prepare(store, c, sql[i].name, i, c->certified) ||
			(c->certified && sql[i].plain && !prepare(store, c, sql[i].plain, i, false))) {
			PQfinish(c->connection);
			c->connection = NULL;
		}
	if (c->connection)
		return &c->client;
	free(c);
	return NULL;
}

static struct kl_client *connect(struct kl_store *store) { return connect_to(store, 0); }

/* ---- the store ---- */

/* The answer, if it is what was expected; else NULL after kl_fail. */
static PGresult *ask(struct kl_store *store, PGconn *connection, const char *text)
{
	PGresult *answer = PQexec(connection, text);

	if (PQresultStatus(answer) == PGRES_TUPLES_OK || PQresultStatus(answer) == PGRES_COMMAND_OK)
		return answer;
	(void)kl_fail(store, "%s", PQerrorMessage(connection));
	PQclear(answer);
	return NULL;
}

static bool tell_node(struct kl_store *store, uint32_t node, const char *text)
{
	PGconn *connection = open_node(store, node);
	PGresult *answer = connection ? ask(store, connection, text) : NULL;
	bool fine = answer != NULL;

	PQclear(answer);
	PQfinish(connection);
	return fine;
}

static bool tell(struct kl_store *store, const char *text) { return tell_node(store, 0, text); }

/* Where would libpq go? */
static bool is_near(struct kl_store *store, uint32_t node)
{
	char *message = NULL;
	const char *option = node > 0 ? "--nodes" : "--connect";
	PQconninfoOption *given = PQconninfoParse(kl_address(store, node), &message),
			 *usual = PQconndefaults();
	bool fine = given && usual;

	if (message)
		(void)kl_refuse(store, "%s: %.*s", option, (int)strcspn(message, "\n"), message);
	PQfreemem(message);
	for (size_t i = 0; fine && given[i].keyword; i++) {
		const char *value = given[i].val ? given[i].val : usual[i].val;

		if (!store->remote && value && *value &&
			((names_host(given[i].keyword) && (!kl_is_local(value) || strchr(value, ','))) ||
				strcmp(given[i].keyword, "service") == 0))
			fine = kl_refuse(store,
				"%s: found %s '%s', expected a socket or a loopback address, or --remote",
				option, given[i].keyword, value);
	}
	PQconninfoFree(given);
	PQconninfoFree(usual);
	return fine;
}

static bool is_ready(struct kl_store *store, uint32_t node)
{
	char address[1100];

	(void)snprintf(address, sizeof address, "%s port=%u",
		((const struct postgresql *)store->own)->address, (unsigned)(PORT + node));
	return PQping(address) == PQPING_OK;
}

static bool start_node(struct kl_store *store, const char *data, uint32_t node)
{
	struct postgresql *pg = store->own;
	char port[16];
	const char *const argv[] = {pg->command[0], "-D", data, "-k", pg->command[2], "-p", port, "-c",
		"listen_addresses=", "-c", "wal_level=logical", "-c", "deadlock_timeout=100ms", "-c",
		"max_connections=1100", "-c", "fsync=off", "-c", "unix_socket_permissions=0777", "-c",
		"hot_standby_feedback=on", NULL};

	(void)snprintf(port, sizeof port, "%u", (unsigned)(PORT + node));
	return kl_home_start(store, node, argv) && kl_home_wait(store, is_ready, node);
}

static bool start_server(struct kl_store *store)
{
	return start_node(store, ((const struct postgresql *)store->own)->command[1], 0);
}

static bool restart_node(struct kl_store *store, uint32_t node)
{
	char data[640];

	(void)snprintf(data, sizeof data, "%s%u", ((const struct postgresql *)store->own)->command[1],
		(unsigned)node);
	return start_node(store, data, node);
}

/* A copy of the first node, which follows it. */
static bool start_replica(struct kl_store *store, uint32_t node)
{
	const struct postgresql *pg = store->own;
	char data[640];
	const char *const argv[] = {pg->backup, "-h", pg->command[2], "-U", "postgres", "-D", data, "-R",
		"-c", "fast", "-X", "stream", "-N", NULL};

	(void)snprintf(data, sizeof data, "%s%u", pg->command[1], (unsigned)node);
	return kl_home_run(store, argv) && restart_node(store, node);
}

static bool make_server(struct kl_store *store)
{
	struct postgresql *pg = store->own;
	const char *folder;
	char initdb[512];

	if (!kl_program(store, "initdb", "postgresql", FOLDERS, initdb) ||
		!kl_program(store, "postgres", "postgresql", FOLDERS, pg->command[0]) ||
		(store->nodes > 1 &&
			!kl_program(store, "pg_basebackup", "postgresql", FOLDERS, pg->backup)) ||
		!(folder = kl_home_open(store, "postgres")))
		return false;
	(void)snprintf(pg->command[1], sizeof pg->command[1], "%s/data", folder);
	(void)snprintf(pg->command[2], sizeof pg->command[2], "%s", folder);
	(void)snprintf(pg->address, sizeof pg->address, "host=%s dbname=postgres user=postgres", folder);

	const char *const argv[] = {initdb, "-D", pg->command[1], "-U", "postgres", "-A", "trust", "-E",
		"UTF8", "--locale=C", "-N", NULL};

	if (!kl_home_run(store, argv) || !start_server(store))
		return false;
	for (uint32_t node = 1; node < store->nodes; node++)
		if (!start_replica(store, node))
			return false;
	return true;
}

/* What each server is. Where several write, numbers of transactions are not of all. */
static bool look_at_node(struct kl_store *store, uint32_t node)
{
	struct postgresql *pg = store->own;
	PGconn *connection = open_node(store, node);
	PGresult *answer = connection
		? ask(store, connection,
			  "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')")
		: NULL;
	bool fine = answer != NULL;

	if (fine && store->connect)
		(void)snprintf(store->where[node], sizeof store->where[node], "%.70s:%.8s",
			PQhost(connection), PQport(connection));
	pg->follows[node] = fine && *PQgetvalue(answer, 0, 0) == 't';
	store->only_reads[node] = fine && strcmp(PQgetvalue(answer, 0, 1), "on") == 0;
	PQclear(answer);
	PQfinish(connection);
	if (fine && node == 0 && store->only_reads[0])
		return kl_refuse(store,
			"--connect: this server only reads%s: expected one that writes first, "
			"and this one with --nodes",
			pg->follows[0] ? " (a hot standby)" : "");
	store->certificate = store->certificate && (node == 0 || store->only_reads[node]);
	return fine;
}

static void note_version(struct kl_store *store, PGconn *connection)
{
	PGresult *answer = ask(store, connection, "SHOW server_version");

	(void)snprintf(store->version, sizeof store->version, "PostgreSQL %.100s, libpq %d",
		answer ? PQgetvalue(answer, 0, 0) : "", PQlibVersion());
	PQclear(answer);
}

static bool start(struct kl_store *store)
{
	struct postgresql *pg = calloc(1, sizeof *pg);

	store->own = pg;
	if (!pg)
		return kl_fail(store, "out of memory");
	if (store->connect)
		(void)snprintf(pg->address, sizeof pg->address, "%s", store->connect);
	if (!(store->connect ? kl_each_node(store, is_near) : make_server(store)) ||
		!kl_each_node(store, look_at_node))
		return false;
	PGconn *connection = open_connection(store);
	if (!connection)
		return false;
	note_version(store, connection);
	PQfinish(connection);
	return true;
}

/* The slot comes before the rows, so that every chain begins with them. A user's own server may have no
 * logical decoding: then there are no version orders. */
static void make_slot(struct kl_store *store, PGconn *connection)
{
	struct postgresql *pg = store->own;
	/* the log has the row that was replaced */
	PGresult *told = ask(store, connection, "ALTER TABLE krait_lab.kv REPLICA IDENTITY FULL"),
		 *made = told
		? ask(store, connection,
			  "SELECT pg_create_logical_replication_slot('krait_lab', 'test_decoding')")
		: NULL;

	pg->decodes = made != NULL;
	PQclear(told);
	PQclear(made);
}

static bool load_rows(struct kl_store *store, PGconn *connection, const struct kl_row *rows, size_t count)
{
	bool fine = true;

	for (size_t i = 0; i < count && fine; i++) {
		char value[24];
		const char *values[] = {rows[i].key, value};

		(void)snprintf(value, sizeof value, "%lld", (long long)rows[i].value);
		PGresult *answer = PQexecParams(connection, "INSERT INTO krait_lab.kv VALUES ($1, $2)", 2,
			NULL, values, NULL, NULL, 0);
		fine = PQresultStatus(answer) == PGRES_COMMAND_OK ||
			kl_fail(store, "%s", PQerrorMessage(connection));
		PQclear(answer);
	}
	return fine;
}

/* Does a node show the initial rows? */
static bool has_loaded(struct kl_store *store, uint32_t node)
{
	PGconn *connection = open_node(store, node);
	PGresult *answer = connection ? ask(store, connection, "SELECT count(*) FROM krait_lab.kv") : NULL;
	bool has = answer &&
		((uint64_t)integer(answer, 0, 0) == ((const struct postgresql *)store->own)->loaded ||
			kl_fail(store, "the initial rows are not there"));

	PQclear(answer);
	PQfinish(connection);
	return has;
}

static bool load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	struct postgresql *pg = store->own;
	PGconn *connection = open_connection(store);
	PGresult *made, *began, *done = NULL;

	if (!connection)
		return false;
	made = ask(store, connection, schema);
	pg->made = made != NULL;
	if (made && store->certificate)
		make_slot(store, connection);
	if (made && store->spread) {
		PQclear(made);
		made = ask(store, connection, partitions);
	}
	began = made ? ask(store, connection, "BEGIN") : NULL;
	if (began && load_rows(store, connection, rows, count))
		done = ask(store, connection, "COMMIT");
	PQclear(made);
	PQclear(began);

	bool fine = done != NULL;

	pg->loaded = count;

	PQclear(done);
	PQfinish(connection);
	return fine && kl_home_wait_others(store, has_loaded);
}

static void stop(struct kl_store *store)
{
	struct postgresql *pg = store->own;

	if (pg && store->connect && pg->made) {
		(void)tell(store,
			"SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE "
			"slot_name = 'krait_lab'");
		(void)tell(store, "DROP SCHEMA krait_lab CASCADE");
	}
	if (pg)
		PQfinish(pg->monitor);
	free(pg);
	store->own = NULL;
}

/* ---- the order ---- */

/* What the log has left of each key so far. */
struct left {
	char key[KL_KEY];
	bool present;
	int64_t value;
};
struct lefts {
	struct left *at;
	size_t n, cap;
};

static struct left *left_of(struct lefts *all, const char *key)
{
	size_t i = 0, step;

	if (2 * all->n >= all->cap) { /* an open table, twice as large as full */
		struct lefts old = *all;

		all->cap = old.cap ? 2 * old.cap : 1024;
		all->at = calloc(all->cap, sizeof *all->at);
		all->n = 0;
		for (size_t k = 0; all->at && k < old.cap; k++)
			if (old.at[k].key[0])
				*left_of(all, old.at[k].key) = old.at[k];
		free(old.at);
		if (!all->at)
			return NULL;
	}
	for (const char *c = key; *c; c++)
		i = i * 31 + (unsigned char)*c;
	for (step = 0; all->at[(i + step) % all->cap].key[0]; step++)
		if (strcmp(all->at[(i + step) % all->cap].key, key) == 0)
			return &all->at[(i + step) % all->cap];
	(void)snprintf(all->at[(i + step) % all->cap].key, KL_KEY, "%s", key);
	all->n++;
	return &all->at[(i + step) % all->cap];
}

struct change {
	char kind[8], key[KL_KEY];
	int64_t before, after;
};

/* "table krait_lab.kv: UPDATE: old-key: k[text]:'r00' v[bigint]:0 new-tuple: k[text]:'r00' v[bigint]:7" */
static bool parse_change(const char *text, struct change *out)
{
	const char *new = strstr(text, "new-tuple: ");
	long long before = 0, after = 0;

	if (sscanf(text, "table krait_lab.kv: %7[A-Z]:", out->kind) != 1)
		return false;
	if (new &&sscanf(strstr(text, "v[bigint]:"), "v[bigint]:%lld", &before) != 1)
		return false;
	if (sscanf(strstr(new ? new : text, "k[text]:"), "k[text]:'%39[^']' v[bigint]:%lld", out->key,
		    &after) != 2)
		return false;
	out->before = new ? before : after;
	out->after = after;
	return true;
}

static bool follow(struct kl_store *store, struct lefts *lefts, const struct change *change)
{
	struct left *left = left_of(lefts, change->key);
	bool inserted = change->kind[0] == 'I';

	if (!left)
		return kl_fail(store, "out of memory");
	if (left->present == inserted || (!inserted && left->value != change->before))
		return kl_fail(store, "the chain of %s breaks: %s of a row that was not left so", change->key,
			change->kind);
	left->present = change->kind[0] != 'D';
	left->value = change->after;
	return true;
}

static bool tell_changes(struct kl_store *store, const PGresult *answer, struct kl_sink *sink)
{
	struct lefts lefts = {0};
	struct change change;
	bool fine = true, loaded = false;

	for (int i = 0; i < PQntuples(answer) && fine; i++) {
		if (!parse_change(PQgetvalue(answer, i, 1), &change))
			continue;
		if (!loaded) /* the first to write has loaded the rows, or there are none */
			fine = kl_tell_loader(sink, number(answer, i, 0));
		loaded = true;
		fine = fine && follow(store, &lefts, &change) &&
			kl_tell_version(sink, change.key, number(answer, i, 0),
				change.kind[0] == 'D' ? NULL : &change.after);
	}
	free(lefts.at);
	return fine;
}

/* "LO:HI:A,B": what was written by numbers below LO is seen, and by those below HI that are not among A, B,
 * .... Numbers go round, in 32 bits. */
static bool sees(const char *view, uint64_t mark)
{
	char *at;
	uint32_t low = (uint32_t)strtoull(view, &at, 10),
		 high = (uint32_t)strtoull(at + (*at == ':'), &at, 10), writer = (uint32_t)mark;

	if ((int32_t)(writer - low) < 0)
		return true;
	if ((int32_t)(writer - high) >= 0)
		return false;
	while (*at == ':' || *at == ',')
		if ((uint32_t)strtoull(at + 1, &at, 10) == writer)
			return false;
	return true;
}

static bool order(struct kl_store *store, struct kl_sink *sink)
{
	struct postgresql *pg = store->own;
	PGconn *connection = pg->decodes ? open_connection(store) : NULL;
	PGresult *answer = connection
		? ask(store, connection,
			  "SELECT xid::text, data FROM pg_logical_slot_get_changes('krait_lab', NULL, NULL)")
		: NULL;
	bool fine = !pg->decodes || (answer && tell_changes(store, answer, sink));

	PQclear(answer);
	PQfinish(connection);
	return fine;
}

/* ---- faults ---- */

#define OURS "FROM pg_stat_activity WHERE application_name = 'krait-lab' AND pid <> pg_backend_pid()"

static bool kill_clients_of(struct kl_store *store, uint32_t node)
{
	return tell_node(store, node, "SELECT pg_terminate_backend(pid) " OURS);
}

static bool kill_clients(struct kl_store *store) { return kl_each_node(store, kill_clients_of); }

/* The main process, and those that serve clients. */
static size_t processes(struct kl_store *store, pid_t *out, size_t most)
{
	size_t n = kl_home_processes(store, out, 1);
	PGconn *connection = n > 0 ? open_connection(store) : NULL;
	PGresult *answer = connection ? ask(store, connection, "SELECT pid " OURS) : NULL;

	for (int i = 0; answer && i < PQntuples(answer) && n < most; i++)
		out[n++] = (pid_t)integer(answer, i, 0);
	PQclear(answer);
	PQfinish(connection);
	return n;
}

/* ---- directed runs ---- */

/* Who ends grants the locks that others wait for, before it is answered: unlike what pg_stat_activity says,
 * this is never old. */
static bool is_blocked(struct kl_store *store, struct kl_client *client)
{
	struct postgresql *pg = store->own;
	char text[96];

	if (!pg->monitor)
		pg->monitor = open_connection(store);
	if (!pg->monitor)
		return false;
	(void)snprintf(text, sizeof text, "SELECT FROM pg_locks WHERE pid = %d AND NOT granted LIMIT 1",
		PQbackendPID(((struct pg_client *)client)->connection));
	PGresult *answer = ask(store, pg->monitor, text);
	bool blocked = answer && PQntuples(answer) > 0;
	PQclear(answer);
	return blocked;
}

/* With the arguments in it. */
static void show_statement(const struct kl_client *client, const struct kl_op *op, char *out, size_t size)
{
	char texts[6][KL_DECIMAL], text[STATEMENT_SIZE];
	const char *values[6], *takes = sql[which_of(op)].takes;
	size_t n = 0;

	(void)client;
	(void)arguments_of(op, texts, values);
	for (const char *c = text_of(false, which_of(op), text); *c && n + 64 < size; c++) {
		int i = *c == '$' ? c[1] - '1' : -1;

		if (i < 0) {
			out[n++] = *c;
			continue;
		}
		n += (size_t)snprintf(out + n, size - n, strchr("kh", takes[i]) ? "'%.40s'" : "%s",
			values[i] ? values[i] : "NULL");
		c++;
	}
	out[n] = '\0';
}

static void socket_of(const struct kl_store *store, char out[300])
{
	(void)snprintf(out, 300, "%.280s/.s.PGSQL.5432", ((const struct postgresql *)store->own)->command[2]);
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "postgresql",
	.title = "PostgreSQL",
	.library = "libpq",
	.levels = levels,
	.operations = (KL_BIT(KL_KINDS) - 1) | KL_LOCKING | KL_BIT(KL_SQL),
	.facts = KL_SESSIONS | KL_BACKENDS | KL_PARTITIONS,
	.program = "postgres",
	.package = "postgresql",
	.folders = FOLDERS,
	.data = "data",
	.start = start,
	.stop = stop,
	.restart = start_server,
	.restart_node = restart_node,
	.load = load,
	.connect = connect,
	.connect_to = connect_to,
	.cluster_keeps = cluster_keeps,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.hang_up = hang_up,
	.close = close_client,
	.order = order,
	.sees = sees,
	.kill_clients = kill_clients,
	.socket = socket_of,
	.processes = processes,
	.blocked = is_blocked,
	.silence_ms = 3,
	.look_ms = 3,
	.statement = show_statement,
};
