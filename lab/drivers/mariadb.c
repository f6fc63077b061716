/* MariaDB through libmariadb. Its order is in the binary log: each transaction that wrote, in the order of
 * commits, with its number (GTID) and its statements, in which the transaction's id stands as a comment. Rows
 * stay locked until then, so that is the order of each key's versions; at SERIALIZABLE reads hold locks, too,
 * so it is one of serialization. Who only read is not in the log, and asks before it commits how far the log
 * is: whoever wrote what it read was there by then, and whoever overwrites that comes later.
 *
 * A lock wait that takes too long undoes its statement only; a deadlock, or a row that changed since the
 * snapshot, the transaction. No connection is made again behind our back, and UPDATE has no RETURNING here:
 * so no updates by condition. Only the database krait_lab is made, and dropped.
 *
 * mariadb:engine=rocksdb is the same with tables of MyRocks, which has two levels only: at REPEATABLE READ a
 * snapshot, and who writes a row that has changed since is refused, so it is snapshot isolation; there are no
 * locks of gaps. Rows stay locked until the commit here, too, and that comes behind the binary log.
 *
 * Longer than usual: a driver is one file. */
#define _GNU_SOURCE
#include <mysql.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab/driver.h"

KL_NEEDS("libmariadb", "libmariadb-dev");

#define GALERA "/usr/lib/galera/libgalera_smm.so"
#define PLUGINS "/usr/lib/mysql/plugin"
#define MYROCKS "ha_rocksdb.so"
enum { TEXT = 1200 };

static const struct kl_level levels[] = {
	{"ser", "SERIALIZABLE", "ser", "ser", "mariadb-ser"},
	{"rr+si", "REPEATABLE READ", "si", "si", "mariadb-rr-si"},
	{"rr", "REPEATABLE READ", "pl-2", "pl-2", "mariadb-rr"},
	{"rc", "READ COMMITTED", "pl-2", "pl-2", "mariadb-rc"},
	{"ru", "READ UNCOMMITTED", "pl-1", "pl-1", "mariadb-ru"},
	{0},
};

/* Of Galera: who commits is certified against writes of others, not against what it has read. */
static const char *const cluster_keeps[] = {"si", "si", "pl-2", "pl-2", "pl-1"};

/* Any other level is refused there. */
static const struct kl_level rocksdb_levels[] = {
	{"rr", "REPEATABLE READ", "si", "si", NULL},
	{"rc", "READ COMMITTED", "pl-2", "pl-2", NULL},
	{0},
};

/* _bin: the bytes decide, as in the trace. Sets are kept as lists are: one key is one row. */
static const char *const schema[] = {
	"CREATE DATABASE krait_lab",
	"CREATE TABLE krait_lab.kv (k VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, v "
	"BIGINT NOT NULL) ENGINE=%s",
	"CREATE TABLE krait_lab.lists (k VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, v "
	"MEDIUMTEXT NOT NULL) ENGINE=%s",
};

/* Objects are x, y, z; their neighbours begin with the same letter. */
static const char partitions[] =
	"ALTER TABLE krait_lab.kv PARTITION BY RANGE COLUMNS (k) (PARTITION x VALUES LESS THAN ('y'), "
	"PARTITION y VALUES LESS THAN ('z'), PARTITION z VALUES LESS THAN (MAXVALUE))";

struct address {
	char host[256], user[128], socket[256];
	unsigned port;
};

struct mariadb {
	struct address nodes[KL_NODES_MOST];
	int ports[KL_NODES_MOST]; /* where nodes of a cluster listen for each other */
	char command[600], folder[256];
	size_t loaded; /* initial rows */
	char log[256]; /* the file of the binary log when that began; empty: there is none to be read */
	unsigned long long log_from;
	bool made;
	MYSQL *monitor; /* of directed runs; NULL: not needed so far */
};

struct maria_client {
	struct kl_client client;
	MYSQL *connection;
	bool wrote;
	const struct kl_level *level; /* that the session is set to; NULL: none so far */
};

static bool is_rocksdb(const struct kl_store *store) { return store->driver->levels == rocksdb_levels; }

static MYSQL *open_node(struct kl_store *store, const char *database, uint32_t node)
{
	const struct address *to = &((const struct mariadb *)store->own)->nodes[node];
	MYSQL *connection = mysql_init(NULL);
	my_bool no = 0;

	if (!connection)
		return NULL;
	(void)mysql_options(connection, MYSQL_OPT_RECONNECT, &no);
	if (store->connect)
		/* passwords are there */
		(void)mysql_options(connection, MYSQL_READ_DEFAULT_GROUP, "krait-lab");
	if (is_rocksdb(store)) { /* also of tables that a script makes; a server that lacks it says so */
		(void)mysql_options(connection, MYSQL_INIT_COMMAND,
			"SET SESSION default_storage_engine = ROCKSDB");
		(void)mysql_options(connection, MYSQL_INIT_COMMAND,
			"SET SESSION rocksdb_deadlock_detect = ON");
	}
	if (mysql_real_connect(connection, to->host, to->user[0] ? to->user : NULL, NULL, database, to->port,
		    store->relayed[0]       ? store->relayed
			    : to->socket[0] ? to->socket
					    : NULL,
		    0))
		return connection;
	(void)kl_fail(store, "%s", mysql_error(connection));
	mysql_close(connection);
	return NULL;
}

static MYSQL *open_connection(struct kl_store *store, const char *database)
{
	return open_node(store, database, 0);
}

/* ---- statements ---- */

static enum kl_answer meaning(unsigned code)
{
	switch (code) {
	case 1213: return KL_DEADLOCK;
	case 1020: return KL_REFUSED; /* changed since the snapshot */
	case 1290: return KL_REFUSED; /* a server that only reads, by now */
	case 1047: return KL_REFUSED; /* a node of a cluster that is not ready */
	case 1205: return KL_STATEMENT;
	case 1021:                    /* disk full */
	case 1114: return KL_REFUSED; /* no room in a table */
	case 1053:                    /* shutdown */
	case 1927:                    /* killed */
	case 2006:
	case 2013: return KL_GONE;
	default: return KL_BUG;
	}
}

/* MyRocks has one code for a deadlock and for a row that has changed since the snapshot, and one for all that
 * RocksDB says itself: there, that it has forgotten too much to know whether a row has changed. */
static enum kl_answer meaning_of(unsigned code, const char *message)
{
	if (code == 1213 && strstr(message, "(snapshot conflict)"))
		return KL_REFUSED;
	if (code == 1296 && strstr(message, "RocksDB status: try again"))
		return KL_REFUSED;
	return meaning(code);
}

static enum kl_answer fail(struct maria_client *c, struct kl_result *result)
{
	unsigned code = mysql_errno(c->connection);
	enum kl_answer answer = meaning_of(code, mysql_error(c->connection));
	char text[16];

	result->answered = kl_now();
	(void)snprintf(text, sizeof text, "%u", code);
	(void)kl_error(result, answer, text, mysql_error(c->connection));
	if (answer != KL_GONE && answer != KL_STATEMENT)
		(void)mysql_query(c->connection, "ROLLBACK");
	return answer;
}

/* One round trip; the answer's rows, if there are some, in *rows. */
static enum kl_answer say(struct maria_client *c, struct kl_result *result, MYSQL_RES **rows,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
static enum kl_answer say(struct maria_client *c, struct kl_result *result, MYSQL_RES **rows,
	const char *format, ...)
{
	char text[TEXT];
	va_list args;
	int length = snprintf(text, sizeof text, "/* %s */ ", c->client.id);

	*rows = NULL;
	va_start(args, format);
	length += vsnprintf(text + length, sizeof text - (size_t)length, format, args);
	va_end(args);
	if (length >= TEXT)
		return kl_error(result, KL_BUG, "", "a statement is too long");
	if (mysql_real_query(c->connection, text, (unsigned long)length) != 0)
		return fail(c, result);
	*rows = mysql_store_result(c->connection);
	result->answered = kl_now();
	return *rows || mysql_errno(c->connection) == 0 ? KL_OK : fail(c, result);
}

static bool take_rows(const struct kl_op *op, MYSQL_RES *rows, struct kl_result *result)
{
	MYSQL_ROW row;
	bool fine = true;

	while (fine && (row = mysql_fetch_row(rows)) != NULL) {
		const unsigned long *lengths = mysql_fetch_lengths(rows);

		result->found = true;
		switch (op->kind) {
		case KL_READ: result->value = strtoll(row[0], NULL, 10); break;
		case KL_READ_LIST:
		case KL_READ_SET: fine = kl_result_list(result, row[0], lengths[0]); break;
		default: fine = kl_result_row(result, row[0], lengths[0], strtoll(row[1], NULL, 10)) != NULL;
		}
	}
	return fine;
}

/* False: there is no such operation. */
static bool write_op(const struct kl_op *op, char *out, size_t size)
{
	static const char *const locks[] = {"", " LOCK IN SHARE MODE", " FOR UPDATE"};
	long long value = op->value;
	char limit[24] = "";

	if (op->limit)
		(void)snprintf(limit, sizeof limit, " LIMIT %u", (unsigned)op->limit);
	switch (op->kind) {
	case KL_READ:
		return snprintf(out, size, "SELECT v FROM kv WHERE k = '%s'%s", op->key, locks[op->lock]) > 0;
	case KL_READ_LIST:
	case KL_READ_SET: return snprintf(out, size, "SELECT v FROM lists WHERE k = '%s'", op->key) > 0;
	case KL_WRITE:
		return snprintf(out, size,
			       op->exists ? "UPDATE kv SET v = %2$lld WHERE k = '%1$s'"
					  : "INSERT INTO kv VALUES ('%1$s', %2$lld) ON DUPLICATE KEY UPDATE "
					    "v = VALUES(v)",
			       op->key, value) > 0;
	case KL_DELETE: return snprintf(out, size, "DELETE FROM kv WHERE k = '%s'", op->key) > 0;
	case KL_INSERT:
		return snprintf(out, size, "INSERT IGNORE INTO kv VALUES ('%s', %lld)", op->key, value) > 0;
	/* which the answer tells */
	case KL_INC:
		return snprintf(out, size, "UPDATE kv SET v = LAST_INSERT_ID(v + %lld) WHERE k = '%s'", value,
			       op->key) > 0;
	case KL_APPEND:
	case KL_ADD:
		return snprintf(out, size,
			       "INSERT INTO lists VALUES ('%s', '%lld') ON DUPLICATE KEY UPDATE v = "
			       "CONCAT(v, "
			       "',', VALUES(v))",
			       op->key, value) > 0;
	case KL_RANGE:
		return snprintf(out, size, "SELECT k, v FROM kv WHERE k >= '%s' AND k < '%s' ORDER BY k%s",
			       op->key, op->high, limit) > 0;
	case KL_SCAN:
		return snprintf(out, size,
			       "SELECT k, v FROM kv WHERE k LIKE '%s%%' AND v >= %lld AND v < %lld", op->key,
			       (long long)op->ge, (long long)op->lt) > 0;
	default: return false;
	}
}

static enum kl_answer send_op(struct maria_client *c, const struct kl_op *op, struct kl_result *result,
	MYSQL_RES **rows)
{
	char text[TEXT];

	*rows = NULL;
	return write_op(op, text, sizeof text) ? say(c, result, rows, "%s", text)
					       : kl_error(result, KL_BUG, "", "no such operation");
}

static bool take_cells(MYSQL_RES *rows, struct kl_result *result)
{
	const MYSQL_FIELD *fields = mysql_fetch_fields(rows);
	bool fine = true;
	MYSQL_ROW row;

	result->columns = mysql_num_fields(rows);
	for (uint32_t k = 0; k < result->columns && fine; k++)
		fine = kl_result_add_cell(result, fields[k].name, fields[k].name_length);
	while (fine && (row = mysql_fetch_row(rows)) != NULL) {
		const unsigned long *lengths = mysql_fetch_lengths(rows);

		result->lines++;
		for (uint32_t k = 0; k < result->columns && fine; k++)
			fine = kl_result_add_cell(result, row[k], lengths[k]);
	}
	mysql_free_result(rows);
	return fine;
}

/* What a user has written may be at fault itself: a key that is there, a number that is too large. An UPDATE
 * that changes nothing has found its rows all the same. */
static enum kl_answer run_text(struct maria_client *c, const char *sql, struct kl_result *result)
{
	MYSQL_RES *rows;
	enum kl_answer answer = say(c, result, &rows, "%s", sql);
	const char *info = answer == KL_OK ? mysql_info(c->connection) : NULL;
	long long matched;

	if (answer == KL_BUG && (mysql_errno(c->connection) == 1062 || mysql_errno(c->connection) == 1264))
		return KL_REFUSED;
	if (answer != KL_OK)
		return answer;
	result->value = rows ? 0 : (int64_t)mysql_affected_rows(c->connection);
	if (info && sscanf(info, "Rows matched: %lld", &matched) == 1)
		result->value = matched;
	c->wrote |= result->value > 0;
	return !rows || take_cells(rows, result) ? KL_OK : kl_error(result, KL_BUG, "", "no memory");
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	struct maria_client *c = (struct maria_client *)client;

	if (op->kind == KL_SQL)
		return run_text(c, op->text, result);

	MYSQL_RES *rows;
	enum kl_answer answer = send_op(c, op, result, &rows);

	if (answer != KL_OK)
		return answer;
	if (rows) {
		if (!take_rows(op, rows, result))
			answer = kl_error(result, KL_BUG, "", "no memory");
		mysql_free_result(rows);
		return answer;
	}
	uint64_t affected = mysql_affected_rows(c->connection);
	result->done = affected > 0;
	result->unchanged = op->kind == KL_WRITE && affected == 0;
	c->wrote |= affected > 0;
	if (op->kind == KL_INC)
		result->value = (int64_t)mysql_insert_id(c->connection);
	return op->kind == KL_INC && affected == 0 ? kl_error(result, KL_BUG, "", "the counter is not there")
						   : KL_OK;
}

static enum kl_answer plain(struct kl_client *client, struct kl_result *result, const char *text)
{
	MYSQL_RES *rows;

	return say((struct maria_client *)client, result, &rows, "%s", text);
}

/* The level is the session's: said where it is another than before. */
static enum kl_answer set_level(struct kl_client *client, struct kl_result *result)
{
	MYSQL_RES *rows;
	const struct maria_client *c = (struct maria_client *)client;
	bool snapshot = strcmp(client->level->name, "rr+si") == 0;
	enum kl_answer answer = say((struct maria_client *)client, result, &rows,
		"SET SESSION TRANSACTION ISOLATION LEVEL %s", client->level->sent);

	if (answer == KL_OK && client->store->directed)
		answer = plain(client, result,
			is_rocksdb(client->store) ? "SET SESSION rocksdb_lock_wait_timeout = 10"
						  : "SET SESSION innodb_lock_wait_timeout = 10");
	if (answer == KL_OK && snapshot)
		return plain(client, result, "SET SESSION innodb_snapshot_isolation = ON");
	return answer == KL_OK && c->level && strcmp(c->level->name, "rr+si") == 0
		? plain(client, result, "SET SESSION innodb_snapshot_isolation = OFF")
		: answer;
}

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct maria_client *c = (struct maria_client *)client;
	enum kl_answer answer = c->level == client->level ? KL_OK : set_level(client, result);

	c->wrote = false;
	if (answer == KL_OK)
		c->level = client->level;
	return answer == KL_OK ? plain(client, result, "START TRANSACTION") : answer;
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	return plain(client, result, "ROLLBACK");
}

/* The number of a GTID, which is domain-server-number. */
static uint64_t last_number(const char *gtid)
{
	const char *dash = gtid ? strrchr(gtid, '-') : NULL;

	return dash ? strtoull(dash + 1, NULL, 10) : 0;
}

static enum kl_answer ask_place(struct maria_client *c, struct kl_result *result)
{
	MYSQL_RES *rows;
	enum kl_answer answer = say(c, result, &rows, "SELECT @@gtid_binlog_pos");
	MYSQL_ROW row = answer == KL_OK ? mysql_fetch_row(rows) : NULL;

	result->has_place = result->reads_only = row != NULL;
	result->place = row ? last_number(row[0]) : 0;
	if (answer == KL_OK)
		mysql_free_result(rows);
	return answer;
}

/* A deadlock, or a certification that failed, is an answer. Any other error, such as a disk without room or a
 * node that has lost its cluster, leaves open what became of a commit. */
static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct maria_client *c = (struct maria_client *)client;
	bool asks = client->store->certificate && client->store->nodes == 1 && !c->wrote &&
		client->level == levels;
	enum kl_answer answer = asks ? ask_place(c, result) : KL_OK;

	if (answer == KL_OK)
		answer = plain(client, result, "COMMIT");
	return answer == KL_OK || answer == KL_DEADLOCK ? answer : KL_GONE;
}

static void hang_up(struct kl_client *client, bool after_sending_commit)
{
	struct maria_client *c = (struct maria_client *)client;

	if (after_sending_commit)
		(void)mysql_send_query(c->connection, "COMMIT", 6);
	(void)shutdown((int)mysql_get_socket(c->connection), SHUT_RDWR);
}

static void close_client(struct kl_client *client)
{
	mysql_close(((struct maria_client *)client)->connection);
	free(client);
}

static struct kl_client *connect_to(struct kl_store *store, uint32_t node)
{
	struct maria_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->connection = open_node(store, "krait_lab", node);
	if (c->connection)
		return &c->client;
	free(c);
	return NULL;
}

static struct kl_client *connect_client(struct kl_store *store) { return connect_to(store, 0); }

/* ---- the store ---- */

static bool tell(struct kl_store *store, MYSQL *connection, const char *text)
{
	return mysql_query(connection, text) == 0 || kl_fail(store, "%s", mysql_error(connection));
}

/* False: it is no word of an address. */
static bool take_word(struct address *to, const char *word)
{
	const char *value = strchr(word, '=');
	size_t length = value ? (size_t)(value++ - word) : 0;

	if (length == 4 && strncmp(word, "port", length) == 0)
		to->port = (unsigned)strtoul(value, NULL, 10);
	else if (length == 4 && strncmp(word, "host", length) == 0)
		(void)snprintf(to->host, sizeof to->host, "%s", value);
	else if (length == 6 && strncmp(word, "socket", length) == 0)
		(void)snprintf(to->socket, sizeof to->socket, "%s", value);
	else if (length == 4 && strncmp(word, "user", length) == 0)
		(void)snprintf(to->user, sizeof to->user, "%s", value);
	else
		return false;
	return true;
}

/* "host=H port=N socket=S user=U"; a further one is as the first, but for what it says itself. */
static bool parse_address(struct kl_store *store, uint32_t node)
{
	struct mariadb *m = store->own;
	struct address *to = &m->nodes[node];
	const char *option = node > 0 ? "--nodes" : "--connect";
	char list[512], *state = NULL;

	*to = m->nodes[0];
	if (node == 0)
		(void)snprintf(to->host, sizeof to->host, "localhost");
	to->socket[0] = '\0';
	(void)snprintf(list, sizeof list, "%s", kl_address(store, node));
	for (char *word = strtok_r(list, " ", &state); word; word = strtok_r(NULL, " ", &state))
		if (!take_word(to, word))
			return kl_refuse(store,
				"%s: found '%s', expected host=, port=, socket= or user=", option, word);
	if (to->socket[0])
		(void)snprintf(store->where[node], sizeof store->where[node], "%.79s", to->socket);
	else
		(void)snprintf(store->where[node], sizeof store->where[node], "%.70s:%u", to->host, to->port);
	if (kl_is_local(to->host) || store->remote)
		return true;
	return kl_refuse(store, "%s: found host '%s', expected a socket or a loopback address, or --remote",
		option, to->host);
}

/* Where a node of a cluster listens: for the others (a second port is for what a new one has missed), and for
 * a copy of everything. Where nodes are to be cut off, they take silence for that after three seconds, not
 * after five. */
static bool start_node(struct kl_store *store, uint32_t node)
{
	struct mariadb *m = store->own;
	char first[16], own[16]; /* where the others find them */
	char data[300], path[300], group[120], options[300], receive[60], address[60], name[40], log[300];
	const char *argv[24] = {m->command, "--no-defaults", data, path, "--skip-networking",
		"--binlog-format=ROW", "--innodb-lock-wait-timeout=2", "--innodb-flush-log-at-trx-commit=2",
		"--max-connections=1100"};
	/* what is committed is the system's: else a server that is killed takes its log's end with it */
	const char *const rocksdb[] = {"--plugin-load-add=" MYROCKS, "--rocksdb-lock-wait-timeout=2",
		"--rocksdb-flush-log-at-trx-commit=2", "--rocksdb-manual-wal-flush=OFF", NULL};
	const char *const alone[] = {"--pid-file=pid", log, NULL};
	const char *const clustered[] = {"--wsrep-on=ON", "--wsrep-provider=" GALERA,
		"--wsrep-sst-method=rsync", "--innodb-autoinc-lock-mode=2", group, options, receive, address,
		name, NULL};
	size_t n = 9;

	m->ports[node] = m->ports[node] ? m->ports[node] : kl_free_port();
	if (store->nodes > 1 &&
		(!kl_relay_node(store, 0, m->ports[0], first) ||
			!kl_relay_node(store, node, m->ports[node], own)))
		return false;
	(void)snprintf(data, sizeof data, "--datadir=%s/data%u", m->folder, node);
	(void)snprintf(path, sizeof path, "--socket=%s", m->nodes[node].socket);
	/* not on the disk that a fault fills: the server waits a minute before it tries again */
	(void)snprintf(log, sizeof log, "--log-bin=%s/binlog", m->folder);
	(void)snprintf(group, sizeof group, "--wsrep-cluster-address=gcomm://");
	if (node > 0)
		(void)snprintf(group, sizeof group, "--wsrep-cluster-address=gcomm://%s:%d", first,
			m->ports[0]);
	(void)snprintf(options, sizeof options,
		"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:%d;ist.recv_addr=127.0.0.1:%d%s",
		m->ports[node], kl_free_port(), store->parts ? ";evs.suspect_timeout=PT3S" : "");
	(void)snprintf(receive, sizeof receive, "--wsrep-sst-receive-address=127.0.0.1:%d", kl_free_port());
	(void)snprintf(address, sizeof address, "--wsrep-node-address=127.0.0.1:%d", m->ports[node]);
	(void)snprintf(name, sizeof name, "--wsrep-node-name=n%u", node);
	for (const char *const *more = store->nodes > 1 ? clustered : alone; *more; more++)
		argv[n++] = *more;
	for (const char *const *more = rocksdb; is_rocksdb(store) && *more; more++)
		argv[n++] = *more;
	return kl_home_start(store, node, argv);
}

/* Answers, and has all that the others have. */
static bool is_ready(struct kl_store *store, uint32_t node)
{
	MYSQL *connection = open_node(store, NULL, node);
	bool ready = connection != NULL;

	if (ready && store->nodes > 1) {
		MYSQL_RES *rows = mysql_query(connection, "SHOW STATUS LIKE 'wsrep_ready'") == 0
			? mysql_store_result(connection)
			: NULL;
		MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;

		ready = row && strcmp(row[1], "ON") == 0;
		mysql_free_result(rows);
	}
	if (connection)
		mysql_close(connection);
	return ready;
}

static bool wait_for(struct kl_store *store, uint32_t node) { return kl_home_wait(store, is_ready, node); }

static bool restart_node(struct kl_store *store, uint32_t node)
{
	return start_node(store, node) && wait_for(store, node);
}

/* One after the other: the first one is what the others join. */
static bool start_server(struct kl_store *store) { return kl_each_node(store, restart_node); }

static bool make_server(struct kl_store *store)
{
	struct mariadb *m = store->own;
	char install[512], data[300], plugin[512];

	if (is_rocksdb(store) &&
		!kl_program(store, MYROCKS, store->driver->package, store->driver->folders, plugin))
		return false;
	if (!kl_program(store, "mariadb-install-db", "mariadb-server", NULL, install) ||
		!kl_program(store, "mariadbd", "mariadb-server", NULL, m->command))
		return false;
	if (store->nodes > 1 && access(GALERA, R_OK) != 0)
		return kl_lacks(store, "Galera (Debian's package galera-4)");
	const char *folder = kl_home_open(store, "mysql");
	if (!folder)
		return false;
	(void)snprintf(m->folder, sizeof m->folder, "%s", folder);
	for (uint32_t node = 0; node < store->nodes; node++) {
		const char *const argv[] = {install, "--no-defaults", data,
			"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
			NULL};

		m->nodes[node] = (struct address){.host = "localhost", .user = "root"};
		(void)snprintf(m->nodes[node].socket, sizeof m->nodes[node].socket, "%s/s%u", folder, node);
		(void)snprintf(data, sizeof data, "--datadir=%s/data%u", folder, node);
		if (!kl_home_run(store, argv))
			return false;
	}
	return start_server(store);
}

/* How many rows a query has, and the first cell of them; -1: it cannot be asked. */
static long long query(MYSQL *connection, const char *text, long long *first)
{
	MYSQL_RES *rows = mysql_query(connection, text) == 0 ? mysql_store_result(connection) : NULL;
	MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;
	long long n = rows ? (long long)mysql_num_rows(rows) : -1;

	*first = row && row[0] ? strtoll(row[0], NULL, 10) : 0;
	mysql_free_result(rows);
	return n;
}

/* Does it follow another server? Then it only reads: who may write all the same would break what replicates.
 * So it does where that may not be asked. */
static bool follows(MYSQL *connection)
{
	long long name;
	long long n = query(connection, "SHOW ALL SLAVES STATUS", &name);

	return n > 0 || (n < 0 && mysql_errno(connection) == 1227);
}

/* Of Galera all nodes write, and those of a user's cluster may follow another one, too. The log of one of
 * several that write is not of all. */
static bool look_at_node(struct kl_store *store, uint32_t node)
{
	MYSQL *connection = open_node(store, NULL, node);
	long long set = 0, joined = 0;

	if (!connection)
		return false;
	(void)query(connection, "SELECT @@global.read_only", &set);
	(void)query(connection, "SELECT @@global.wsrep_on", &joined);
	store->only_reads[node] = set || (node > 0 && !joined && follows(connection));
	mysql_close(connection);
	store->certificate = store->certificate && (node == 0 || store->only_reads[node]);
	return node > 0 || !store->only_reads[0] ||
		kl_refuse(store,
			"--connect: this server only reads: expected one that writes first, and this one "
			"with --nodes");
}

static bool start(struct kl_store *store)
{
	struct mariadb *m = calloc(1, sizeof *m);

	store->own = m;
	if (!m || mysql_library_init(0, NULL, NULL) != 0)
		return kl_fail(store, "out of memory");
	if (!(store->connect ? kl_each_node(store, parse_address) : make_server(store)) ||
		!kl_each_node(store, look_at_node))
		return false;
	MYSQL *connection = open_connection(store, NULL);
	if (!connection)
		return false;
	(void)snprintf(store->version, sizeof store->version, "MariaDB %.100s, client %.30s",
		mysql_get_server_info(connection), mysql_get_client_info());
	mysql_close(connection);
	return true;
}

static MYSQL_RES *ask(struct kl_store *store, MYSQL *connection, const char *text)
{
	MYSQL_RES *rows = mysql_query(connection, text) == 0 ? mysql_store_result(connection) : NULL;

	if (!rows)
		(void)kl_fail(store, "%s", mysql_error(connection));
	return rows;
}

/* Where the binary log is: what is there so far is not of this recording. */
static void note_log(struct kl_store *store, MYSQL *connection)
{
	struct mariadb *m = store->own;
	MYSQL_RES *rows = ask(store, connection, "SHOW MASTER STATUS");
	MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;

	if (row) {
		(void)snprintf(m->log, sizeof m->log, "%s", row[0]);
		m->log_from = strtoull(row[1], NULL, 10);
	}
	mysql_free_result(rows);
}

/* Does a node show the initial rows? */
static bool has_loaded(struct kl_store *store, uint32_t node)
{
	const struct mariadb *m = store->own;
	MYSQL *connection = open_node(store, NULL, node);
	long long count = 0;
	bool has = connection && query(connection, "SELECT COUNT(*) FROM krait_lab.kv", &count) == 1 &&
		(size_t)count == m->loaded;

	if (connection && !has)
		(void)kl_fail(store, "%s",
			*mysql_error(connection) ? mysql_error(connection)
						 : "the initial rows are not there");
	if (connection)
		mysql_close(connection);
	return has;
}

static bool load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	struct mariadb *m = store->own;
	MYSQL *connection = open_connection(store, NULL);
	char text[256];
	bool fine = connection != NULL;

	m->loaded = count;
	if (connection && store->certificate)
		note_log(store, connection);
	for (size_t i = 0; i < sizeof schema / sizeof schema[0] && fine; i++) {
		(void)snprintf(text, sizeof text, schema[i], is_rocksdb(store) ? "ROCKSDB" : "InnoDB");
		fine = tell(store, connection, text);
		m->made |= fine;
	}
	fine = fine && (!store->spread || tell(store, connection, partitions)) &&
		tell(store, connection, "START TRANSACTION");
	for (size_t i = 0; i < count && fine; i++) {
		(void)snprintf(text, sizeof text, "INSERT INTO krait_lab.kv VALUES ('%s', %lld)", rows[i].key,
			(long long)rows[i].value);
		fine = tell(store, connection, text);
	}
	fine = fine && tell(store, connection, "COMMIT");
	if (connection)
		mysql_close(connection);
	return fine && kl_home_wait_others(store, has_loaded);
}

static void stop(struct kl_store *store)
{
	struct mariadb *m = store->own;
	MYSQL *connection = m && m->made && store->connect ? open_connection(store, NULL) : NULL;

	if (connection) {
		(void)tell(store, connection, "DROP DATABASE krait_lab");
		mysql_close(connection);
	}
	if (m && m->monitor)
		mysql_close(m->monitor);
	free(m);
	store->own = NULL;
}

/* ---- the order ---- */

/* "/ * c1.2 * / INSERT INTO kv VALUES ('r00', 7) ...": whose it is, and the key. Lists are told by what reads
 * see of them. */
static bool tell_statement(struct kl_sink *sink, const char *text, uint64_t number, char last[32])
{
	char id[32], key[KL_KEY];
	const char *table = strstr(text, " kv "), *quote = strchr(text, '\'');

	if (sscanf(text, "/* %31s */", id) != 1 || id[0] != 'c')
		return true;
	if (strcmp(id, last) != 0 && !kl_tell_place(sink, id, number))
		return false;
	memcpy(last, id, sizeof id);
	if (!table || !quote || table > quote || sscanf(quote, "'%39[^']'", key) != 1)
		return true;
	return kl_tell_version_by(sink, key, id);
}

static bool tell_log(struct kl_store *store, MYSQL *connection, const char *name, struct kl_sink *sink)
{
	const struct mariadb *m = store->own;
	char text[400], last[32] = "";
	uint64_t number = 0;
	MYSQL_ROW row;
	bool fine = true;

	(void)snprintf(text, sizeof text, "SHOW BINLOG EVENTS IN '%.256s' FROM %llu", name,
		strcmp(name, m->log) == 0 ? m->log_from : 4); /* behind a file's first four bytes */
	MYSQL_RES *rows = ask(store, connection, text);
	if (!rows)
		return false;
	while (fine && (row = mysql_fetch_row(rows)) != NULL) {
		const char *gtid = strcmp(row[2], "Gtid") == 0 ? strstr(row[5], "GTID ") : NULL;

		if (gtid)
			number = last_number(gtid);
		else if (strcmp(row[2], "Annotate_rows") == 0)
			fine = tell_statement(sink, row[5], number, last);
	}
	mysql_free_result(rows);
	return fine;
}

/* A user's own server may have no binary log, or not let us read it: then there is no order. */
static bool order(struct kl_store *store, struct kl_sink *sink)
{
	const struct mariadb *m = store->own;
	MYSQL *connection = m->log[0] ? open_connection(store, NULL) : NULL;
	MYSQL_RES *logs = connection ? ask(store, connection, "SHOW BINARY LOGS") : NULL;
	MYSQL_ROW row;
	bool fine = logs != NULL || store->connect, ours = false;

	while (logs && fine && (row = mysql_fetch_row(logs)) != NULL) {
		ours |= strcmp(row[0], m->log) == 0;
		fine = !ours || tell_log(store, connection, row[0], sink);
	}
	mysql_free_result(logs);
	if (connection)
		mysql_close(connection);
	return fine;
}

/* ---- faults ---- */

static void socket_of(const struct kl_store *store, char out[300])
{
	(void)snprintf(out, 300, "%s", ((const struct mariadb *)store->own)->nodes[0].socket);
}

static bool kill_clients_of(struct kl_store *store, uint32_t node)
{
	MYSQL *connection = open_node(store, NULL, node);
	MYSQL_RES *rows = connection
		? ask(store, connection,
			  "SELECT id FROM information_schema.processlist WHERE db = 'krait_lab'")
		: NULL;
	MYSQL_ROW row;
	char text[64];
	bool fine = rows != NULL;

	while (rows && (row = mysql_fetch_row(rows)) != NULL) {
		(void)snprintf(text, sizeof text, "KILL %.20s", row[0]);
		(void)mysql_query(connection, text); /* it may have ended by itself */
	}
	mysql_free_result(rows);
	if (connection)
		mysql_close(connection);
	return fine;
}

static bool kill_clients(struct kl_store *store) { return kl_each_node(store, kill_clients_of); }

/* ---- directed runs ---- */

/* The server tells what is at most a tenth of a second old, and renews that only when nobody has asked for so
 * long: hence `look_ms`. */
static bool is_blocked(struct kl_store *store, struct kl_client *client)
{
	struct mariadb *m = store->own;
	char text[160];

	if (!m->monitor)
		m->monitor = open_connection(store, NULL);
	if (!m->monitor)
		return false;
	(void)snprintf(text, sizeof text,
		is_rocksdb(store)
			? "SELECT 1 FROM information_schema.rocksdb_trx WHERE thread_id = %lu AND "
			  "waiting_key <> ''"
			: "SELECT 1 FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = %lu AND "
			  "trx_state = 'LOCK WAIT'",
		mysql_thread_id(((struct maria_client *)client)->connection));
	MYSQL_RES *rows = ask(store, m->monitor, text);
	bool blocked = rows && mysql_num_rows(rows) > 0;
	mysql_free_result(rows);
	return blocked;
}

static void show_statement(const struct kl_client *client, const struct kl_op *op, char *out, size_t size)
{
	(void)client;
	if (!write_op(op, out, size))
		out[0] = '\0';
}

static const struct kl_driver rocksdb = {
	.abi = KL_ABI,
	.name = "mariadb:engine=rocksdb",
	.title = "MariaDB (MyRocks)",
	.library = "libmariadb",
	.levels = rocksdb_levels,
	.operations = ((KL_BIT(KL_KINDS) - 1) & ~KL_BIT(KL_UPDATE)) | KL_LOCKING | KL_BIT(KL_SQL),
	.facts = KL_SESSIONS | KL_PARTITIONS,
	.program = MYROCKS,
	.package = "mariadb-plugin-rocksdb",
	.folders = PLUGINS,
	.start = start,
	.stop = stop,
	.restart = start_server,
	.load = load,
	.connect = connect_client,
	.connect_to = connect_to,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.hang_up = hang_up,
	.close = close_client,
	.order = order,
	.kill_clients = kill_clients,
	.socket = socket_of,
	.processes = kl_home_processes,
	.blocked = is_blocked,
	.silence_ms = 20,
	.look_ms = 20,
	.statement = show_statement,
};

static const struct kl_driver *const others[] = {&rocksdb, NULL};

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "mariadb",
	.title = "MariaDB (InnoDB)",
	.library = "libmariadb",
	.levels = levels,
	.operations = ((KL_BIT(KL_KINDS) - 1) & ~KL_BIT(KL_UPDATE)) | KL_LOCKING | KL_BIT(KL_SQL),
	.facts = KL_SESSIONS | KL_SERIAL | KL_PARTITIONS,
	.program = "mariadbd",
	.package = "mariadb-server",
	.data = "data0",
	.start = start,
	.stop = stop,
	.restart = start_server,
	.load = load,
	.connect = connect_client,
	.connect_to = connect_to,
	.cluster_keeps = cluster_keeps,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.hang_up = hang_up,
	.close = close_client,
	.order = order,
	.kill_clients = kill_clients,
	.parted = wait_for,
	.restart_node = restart_node,
	.socket = socket_of,
	.processes = kl_home_processes,
	.blocked = is_blocked,
	.silence_ms = 20,
	.look_ms = 150,
	.statement = show_statement,
	.others = others,
};
