/* SQLite, in this process. Its order: SQLite tells none, so each transaction draws a ticket just before it
 * commits, the next number if it writes, the last one if it only reads. A writer has the whole file to itself
 * by then, and a reader sees one state of it, so tickets are an order of serialization. They cost no round
 * trip, since there is none.
 *
 * Busy and locked are the answers that a right program meets; some leave the transaction open, so ROLLBACK is
 * said each time. */
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/driver.h"

KL_NEEDS("sqlite3", "libsqlite3-dev");

enum { WAIT_MS = 200, AGAIN_NS = 2000000 };

static const struct kl_level levels[] = {
	{"wal", "BEGIN", "ser", "pl-ss", NULL},
	{"wal-immediate", "BEGIN IMMEDIATE", "ser", "pl-ss", NULL},
	{"journal", "BEGIN", "ser", "pl-ss", NULL},
	{"read-uncommitted", "BEGIN", "pl-1", "pl-1", NULL},
	{0},
};

static const char tables[] =
	"DROP TABLE IF EXISTS krait_lab_kv; DROP TABLE IF EXISTS krait_lab_lists; DROP TABLE IF EXISTS "
	"krait_lab_ticket;"
	/* TEXT compares bytes, as the trace does */
	"CREATE TABLE krait_lab_kv (k TEXT PRIMARY KEY, v INTEGER NOT NULL) WITHOUT ROWID;"
	/* and sets: one key is one row, as in the trace */
	"CREATE TABLE krait_lab_lists (k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE krait_lab_ticket (n INTEGER NOT NULL); INSERT INTO krait_lab_ticket VALUES (0);";
static const char no_tables[] =
	"DROP TABLE krait_lab_kv; DROP TABLE krait_lab_lists; DROP TABLE krait_lab_ticket;";

/* ?1 key, ?2 value, ?3 high, ?4 limit, ?5 ge, ?6 lt */
enum { BEGIN = KL_KINDS, BEGIN_IMMEDIATE, COMMIT, ROLLBACK, DRAW, LOOK, UPDATE_ONE, STATEMENTS };
#define READ_LIST "SELECT v FROM krait_lab_lists WHERE k = ?1"
#define APPEND \
	"INSERT INTO krait_lab_lists VALUES (?1, CAST(?2 AS TEXT)) ON CONFLICT (k) DO UPDATE SET v = v || " \
	"',' || excluded.v"
static const char *const sql[STATEMENTS] = {
	[KL_READ] = "SELECT v FROM krait_lab_kv WHERE k = ?1",
	[KL_READ_LIST] = READ_LIST,
	[KL_READ_SET] = READ_LIST,
	[KL_WRITE] = "INSERT INTO krait_lab_kv VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
	[KL_DELETE] = "DELETE FROM krait_lab_kv WHERE k = ?1",
	[KL_INSERT] = "INSERT INTO krait_lab_kv VALUES (?1, ?2) ON CONFLICT (k) DO NOTHING",
	[KL_INC] = "UPDATE krait_lab_kv SET v = v + ?2 WHERE k = ?1 RETURNING v",
	[KL_APPEND] = APPEND,
	[KL_ADD] = APPEND,
	[KL_RANGE] = "SELECT k, v FROM krait_lab_kv WHERE k >= ?1 AND k < ?3 ORDER BY k LIMIT ?4",
	[KL_SCAN] =
		"SELECT k, v FROM krait_lab_kv WHERE substr(k, 1, length(?1)) = ?1 AND v >= ?5 AND v < ?6",
	[KL_UPDATE] = "UPDATE krait_lab_kv SET v = ?2 WHERE substr(k, 1, length(?1)) = ?1 AND v >= ?5 AND v "
		      "< ?6 RETURNING k, v",
	[BEGIN] = "BEGIN",
	[BEGIN_IMMEDIATE] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[DRAW] = "UPDATE krait_lab_ticket SET n = n + 1 RETURNING n",
	[LOOK] = "SELECT n FROM krait_lab_ticket",
	[UPDATE_ONE] = "UPDATE krait_lab_kv SET v = ?2 WHERE k = ?1",
};

struct sqlite {
	char path[1024];
	sqlite3 *kept; /* a shared cache lasts as long as somebody has it open */
};

struct sqlite_client {
	struct kl_client client;
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	bool wrote;
	/* of a directed run: how often the statement in flight was tried in vain; 0: it does not wait */
	_Atomic unsigned tries;
	_Atomic bool gives_up;
};

static bool is_shared(const struct kl_store *store)
{
	return strcmp(store->level->name, "read-uncommitted") == 0;
}

static bool execute(struct kl_store *store, sqlite3 *db, const char *text)
{
	char *message = NULL;

	if (sqlite3_exec(db, text, NULL, NULL, &message) == SQLITE_OK)
		return true;
	(void)kl_fail(store, "%s", message ? message : "cannot execute");
	sqlite3_free(message);
	return false;
}

static sqlite3 *open_file(struct kl_store *store)
{
	struct sqlite *s = store->own;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
		(is_shared(store) ? SQLITE_OPEN_SHAREDCACHE : 0);
	bool journal = strcmp(store->level->name, "journal") == 0;
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(s->path, &db, flags, NULL) != SQLITE_OK) {
		(void)kl_fail(store, "%s: %s", s->path, db ? sqlite3_errmsg(db) : "out of memory");
		(void)sqlite3_close(db);
		return NULL;
	}
	(void)sqlite3_extended_result_codes(db, 1);
	(void)sqlite3_busy_timeout(db, store->directed ? 0 : WAIT_MS);
	if (execute(store, db,
		    is_shared(store)  ? "PRAGMA read_uncommitted = 1; PRAGMA synchronous = OFF"
			    : journal ? "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF"
				      : "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF"))
		return db;
	(void)sqlite3_close(db);
	return NULL;
}

/* ---- statements ---- */

static enum kl_answer fail(struct sqlite_client *c, struct kl_result *result, int code)
{
	enum kl_answer answer = KL_BUG;
	char text[16];

	/* also a snapshot that is too old to write (SQLITE_BUSY_SNAPSHOT) */
	if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED || (code & 0xff) == SQLITE_FULL)
		answer = KL_BUSY;
	(void)snprintf(text, sizeof text, "%d", code);
	(void)kl_error(result, answer, text, sqlite3_errmsg(c->db));
	if (!sqlite3_get_autocommit(c->db) && c->statements[ROLLBACK]) {
		(void)sqlite3_step(c->statements[ROLLBACK]);
		(void)sqlite3_reset(c->statements[ROLLBACK]);
	}
	return answer;
}

static sqlite3_stmt *statement(struct sqlite_client *c, int which)
{
	if (!c->statements[which] &&
		sqlite3_prepare_v3(c->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, &c->statements[which],
			NULL) != SQLITE_OK)
		return NULL;
	return c->statements[which];
}

static bool take_row(const struct kl_op *op, sqlite3_stmt *st, struct kl_result *result)
{
	result->found = true;
	switch (op->kind) {
	case KL_READ_LIST:
	case KL_READ_SET:
		return kl_result_list(result, (const char *)sqlite3_column_text(st, 0),
			(size_t)sqlite3_column_bytes(st, 0));
	case KL_RANGE:
	case KL_SCAN:
	case KL_UPDATE:
		return kl_result_row(result, (const char *)sqlite3_column_text(st, 0),
			       (size_t)sqlite3_column_bytes(st, 0), sqlite3_column_int64(st, 1)) != NULL;
	default: result->value = sqlite3_column_int64(st, 0); return true;
	}
}

static void bind(sqlite3_stmt *st, const struct kl_op *op)
{
	/* What a statement does not have is out of range, and of no matter. */
	(void)sqlite3_bind_text(st, 1, op->key, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(st, 2, op->value);
	(void)sqlite3_bind_text(st, 3, op->high, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(st, 4, op->limit ? (sqlite3_int64)op->limit : -1);
	(void)sqlite3_bind_int64(st, 5, op->ge);
	(void)sqlite3_bind_int64(st, 6, op->lt);
}

/* The statement is busy, in a directed run: is it to be tried again? */
static bool waits(struct sqlite_client *c, int code)
{
	static const struct timespec again = {0, AGAIN_NS};

	if (!c->client.store->directed || code != SQLITE_BUSY || c->gives_up)
		return false;
	c->tries++;
	(void)nanosleep(&again, NULL);
	return true;
}

/* `op` NULL: none has arguments. */
static enum kl_answer step(struct sqlite_client *c, int which, const struct kl_op *op,
	struct kl_result *result)
{
	static const struct kl_op none = {.kind = KL_READ};
	sqlite3_stmt *st = statement(c, which);
	int code = st ? SQLITE_ROW : sqlite3_extended_errcode(c->db);
	bool fine = true;

	if (st && op)
		bind(st, op);
	do {
		while (st && fine && (code = sqlite3_step(st)) == SQLITE_ROW)
			fine = take_row(op ? op : &none, st, result);
		if (st)
			(void)sqlite3_reset(st);
	} while (waits(c, code));
	c->tries = 0;
	if (code == SQLITE_DONE)
		return KL_OK;
	return fine ? fail(c, result, code) : kl_error(result, KL_BUG, "memory", "no memory");
}

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct sqlite_client *c = (struct sqlite_client *)client;
	const struct kl_level *of_store = client->store->level;
	bool immediate = client->level == &levels[1];

	/* provoke looks at the final state at the strictest level, whatever the file's */
	if (client->level != of_store && !(immediate && of_store == levels) && !client->store->directed)
		return kl_error(result, KL_BUG, "level", "the file is of another kind of levels");
	c->wrote = c->gives_up = false;
	(void)statement(c, ROLLBACK);
	return step(c, immediate ? BEGIN_IMMEDIATE : BEGIN, NULL, result);
}

static int which_of(const struct kl_op *op)
{
	return op->kind == KL_WRITE && op->exists ? UPDATE_ONE : (int)op->kind;
}

static bool take_cells(sqlite3_stmt *st, struct kl_result *result)
{
	bool fine = true;

	result->lines++;
	for (int k = 0; k < sqlite3_column_count(st) && fine; k++)
		fine = kl_result_add_cell(result, (const char *)sqlite3_column_text(st, k),
			(size_t)sqlite3_column_bytes(st, k));
	return fine;
}

/* What a user has written may be at fault itself: a key that is there. */
static enum kl_answer run_text(struct sqlite_client *c, const char *text, struct kl_result *result)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(c->db, text, -1, &st, NULL);
	bool fine = true;

	if (code == SQLITE_OK) {
		result->columns = (uint32_t)sqlite3_column_count(st);
		for (int k = 0; k < sqlite3_column_count(st) && fine; k++)
			fine = kl_result_add_cell(result, sqlite3_column_name(st, k),
				strlen(sqlite3_column_name(st, k)));
		while (fine && (code = sqlite3_step(st)) == SQLITE_ROW)
			fine = take_cells(st, result);
	}
	(void)sqlite3_finalize(st);
	if (!fine)
		return kl_error(result, KL_BUG, "memory", "no memory");
	result->value = sqlite3_changes(c->db);
	if (code == SQLITE_DONE)
		return KL_OK;
	enum kl_answer answer = fail(c, result, code);
	return answer == KL_BUG && (code & 0xff) == SQLITE_CONSTRAINT ? KL_REFUSED : answer;
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	struct sqlite_client *c = (struct sqlite_client *)client;

	if (op->kind == KL_SQL) {
		if (client->store->connect)
			return kl_error(result, KL_BUG, "script",
				"a script makes its tables in private files only");
		return run_text(c, op->text, result);
	}

	bool reads = KL_BIT(op->kind) & KL_READS;
	enum kl_answer answer = step(c, which_of(op), op, result);

	c->wrote |= !reads;
	result->done = answer == KL_OK && !reads && sqlite3_changes(c->db) > 0;
	if (answer == KL_OK && op->kind == KL_INC && !result->found)
		return kl_error(result, KL_BUG, "absent", "the counter is not there");
	return answer;
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct sqlite_client *c = (struct sqlite_client *)client;
	bool draws = client->store->certificate && !is_shared(client->store);
	enum kl_answer answer = draws ? step(c, c->wrote ? DRAW : LOOK, NULL, result) : KL_OK;

	result->has_place = draws;
	result->reads_only = !c->wrote;
	result->place = (uint64_t)result->value;
	return answer == KL_OK ? step(c, COMMIT, NULL, result) : answer;
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	struct sqlite_client *c = (struct sqlite_client *)client;

	return sqlite3_get_autocommit(c->db) ? KL_OK : step(c, ROLLBACK, NULL, result);
}

/* ---- the store ---- */

static bool start(struct kl_store *store)
{
	const char *folder = store->connect ? NULL : kl_home_open(store, NULL);
	struct sqlite *s = calloc(1, sizeof *s);

	if ((!store->connect && !folder) || !s) {
		free(s);
		return false;
	}
	(void)snprintf(s->path, sizeof s->path, "%s%s", store->connect ? store->connect : folder,
		store->connect ? "" : "/db");
	(void)snprintf(store->version, sizeof store->version, "SQLite %s", sqlite3_libversion());
	store->own = s;
	s->kept = open_file(store);
	return s->kept != NULL;
}

static void stop(struct kl_store *store)
{
	struct sqlite *s = store->own;

	if (s && s->kept && store->connect)
		(void)execute(store, s->kept, no_tables);
	if (s)
		(void)sqlite3_close(s->kept);
	free(s);
	store->own = NULL;
}

static bool load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	struct sqlite *s = store->own;
	char text[256];
	bool fine = execute(store, s->kept, tables) && execute(store, s->kept, "BEGIN");

	for (size_t i = 0; i < count && fine; i++) {
		(void)snprintf(text, sizeof text, "INSERT INTO krait_lab_kv VALUES ('%s', %lld)", rows[i].key,
			(long long)rows[i].value);
		fine = execute(store, s->kept, text);
	}
	return fine && execute(store, s->kept, "COMMIT");
}

static struct kl_client *connect(struct kl_store *store)
{
	struct sqlite_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->db = open_file(store);
	if (c->db)
		return &c->client;
	free(c);
	return NULL;
}

static void close_client(struct kl_client *client)
{
	struct sqlite_client *c = (struct sqlite_client *)client;

	for (int i = 0; i < STATEMENTS; i++)
		(void)sqlite3_finalize(c->statements[i]);
	(void)sqlite3_close(c->db);
	free(c);
}

/* ---- directed runs ---- */

/* A try that began after this call was in vain, too. */
static bool is_blocked(struct kl_store *store, struct kl_client *client)
{
	struct sqlite_client *c = (struct sqlite_client *)client;
	static const struct timespec moment = {0, AGAIN_NS / 4};
	unsigned before = c->tries;

	(void)store;
	while (before > 0 && c->tries > 0 && c->tries < before + 2)
		(void)nanosleep(&moment, NULL);
	return before > 0 && c->tries > 0;
}

static void give_up(struct kl_client *client) { ((struct sqlite_client *)client)->gives_up = true; }

static void show_statement(const struct kl_client *client, const struct kl_op *op, char *out, size_t size)
{
	struct sqlite_client *c = (struct sqlite_client *)client;
	sqlite3_stmt *st = statement(c, which_of(op));

	if (!st)
		return;
	bind(st, op);
	char *text = sqlite3_expanded_sql(st);
	(void)snprintf(out, size, "%s", text ? text : "");
	sqlite3_free(text);
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "sqlite",
	.title = "SQLite",
	.library = "sqlite3",
	.levels = levels,
	.operations = (KL_BIT(KL_KINDS) - 1) | KL_BIT(KL_SQL),
	.facts = KL_EMBEDDED | KL_SESSIONS | KL_SERIAL,
	.start = start,
	.stop = stop,
	.load = load,
	.connect = connect,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.close = close_client,
	.blocked = is_blocked,
	.silence_ms = 3,
	.look_ms = 1,
	.give_up = give_up,
	.statement = show_statement,
};
