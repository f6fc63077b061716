/* RocksDB's TransactionDB, in this process. A write locks its key, and at snapshot it is refused if the key
 * has changed since the transaction began. At lock each read locks its key, too, so that single keys are
 * serializable; no lock covers keys that are not there, so ranges and scans are left out. Circles of waiting
 * are found by it (deadlock_detect), and none waits for ever. Errors are told in words.
 *
 * At the levels that begin with "optimistic-" it is the OptimisticTransactionDB: nothing locks, writes happen
 * at commit, and that is refused if a key has changed that was written, or read at optimistic-lock.
 *
 * Its order is in its log: each commit's writes, one after the other, in the order in which they took effect.
 * Who wrote them stands in the log before them, as a word that is in no table (log data); and behind each
 * value, so that a read tells which version it saw. */
#include <inttypes.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/keys.h"

KL_NEEDS("rocksdb", "librocksdb-dev");

enum { WAIT_MS = 1000, LONG_WAIT_MS = 10000, DAY_S = 86400 };

#define LOADER UINT64_C(1) /* who wrote the initial rows */
#define BEHIND '@'         /* before the writer's number, in a value */

#define OPTIMISTIC "optimistic-"

static const struct kl_level levels[] = {
	{"lock", "", "ser", "ser", NULL},
	{"snapshot", "", "si", "si", NULL},
	{"plain", "", "pl-2", "pl-2", NULL},
	{OPTIMISTIC "lock", "", "ser", "ser", NULL},
	{OPTIMISTIC "snapshot", "", "si", "si", NULL},
	{OPTIMISTIC "plain", "", "pl-2", "pl-2", NULL},
	{0},
};

struct rocksdb {
	rocksdb_options_t *options;
	rocksdb_transactiondb_options_t *db_options;
	rocksdb_writeoptions_t *write;
	/* one of both */
	rocksdb_transactiondb_t *db;
	rocksdb_optimistictransactiondb_t *optimistic;
};

struct rocksdb_client {
	struct kl_keys_client keys;
	rocksdb_transaction_options_t *options;
	rocksdb_optimistictransaction_options_t *optimistic;
	rocksdb_readoptions_t *read;
	const rocksdb_snapshot_t *snapshot;
	rocksdb_transaction_t *txn; /* NULL: none is open */
	uint64_t mark;              /* its number, if an order is asked for; else 0 */
	bool named;                 /* in its part of the log */
};

static bool is_optimistic(const struct kl_level *level)
{
	return strncmp(level->name, OPTIMISTIC, strlen(OPTIMISTIC)) == 0;
}

/* Of either kind. */
static bool is_level(const struct rocksdb_client *c, const char *name)
{
	const struct kl_level *level = c->keys.client.level;

	return strcmp(level->name + (is_optimistic(level) ? strlen(OPTIMISTIC) : 0), name) == 0;
}

static void end(struct rocksdb_client *c)
{
	if (c->txn)
		rocksdb_transaction_destroy(c->txn); /* rolls back */
	if (c->snapshot)
		rocksdb_free((void *)c->snapshot);
	c->txn = NULL;
	c->snapshot = NULL;
}

static const struct {
	const char *begins;
	enum kl_answer answer;
	const char *code;
} errors[] = {
	{"Resource busy: Deadlock", KL_DEADLOCK, "deadlock"},
	{"Resource busy", KL_REFUSED, "busy"},
	{"Operation timed out", KL_TIMEOUT, "timeout"},
	/* it has forgotten too much to know whether a key has changed */
	{"Operation failed. Try again", KL_REFUSED, "again"},
};

static enum kl_answer answer_of(struct rocksdb_client *c, char *error, enum kl_answer unknown,
	struct kl_result *result)
{
	const char *code = "error";

	if (!error)
		return KL_OK;
	for (size_t i = sizeof errors / sizeof *errors; i-- > 0;)
		if (strncmp(error, errors[i].begins, strlen(errors[i].begins)) == 0) {
			unknown = errors[i].answer;
			code = errors[i].code;
		}
	(void)kl_error(result, unknown, code, error);
	rocksdb_free(error);
	end(c);
	return unknown;
}

static uint64_t read_number(const char *text, size_t length)
{
	char digits[KL_DECIMAL] = "";

	memcpy(digits, text, length < sizeof digits ? length : sizeof digits - 1);
	return strtoull(digits, NULL, 10);
}

static enum kl_answer get(struct kl_keys_client *keys, const char *key, enum kl_lock lock,
	struct kl_result *result)
{
	struct rocksdb_client *c = (struct rocksdb_client *)keys;
	bool locks = lock != KL_NO_LOCK || is_level(c, "lock");
	size_t n = 0;
	char *error = NULL,
	     *value = locks ? rocksdb_transaction_get_for_update(c->txn, c->read, key, strlen(key), &n,
				      lock != KL_SHARED, &error)
			    : rocksdb_transaction_get(c->txn, c->read, key, strlen(key), &n, &error);
	enum kl_answer answer = answer_of(c, error, KL_BUG, result);

	result->found = value != NULL;
	if (value && answer == KL_OK) {
		const char *behind = memchr(value, BEHIND, n);
		size_t length = behind ? (size_t)(behind - value) : n;

		result->mark = behind ? read_number(behind + 1, n - length - 1) : 0;
		answer = kl_keys_take(keys, value, length, result);
	}
	rocksdb_free(value);
	return answer;
}

/* Before the first write. */
static void name_writer(struct rocksdb_client *c, struct kl_result *result)
{
	char text[KL_DECIMAL];

	result->own = c->mark == LOADER ? 0 : c->mark;
	if (!c->mark || c->named)
		return;
	const char *name = kl_decimal((int64_t)c->mark, text);
	rocksdb_writebatch_wi_t *batch = rocksdb_transaction_get_writebatch_wi(c->txn);
	rocksdb_writebatch_wi_put_log_data(batch, name, strlen(name));
	rocksdb_free(batch);
	c->named = true;
}

static enum kl_answer put(struct kl_keys_client *keys, const char *key, const char *text, size_t length,
	struct kl_result *result)
{
	struct rocksdb_client *c = (struct rocksdb_client *)keys;
	char *error = NULL, digits[KL_DECIMAL];
	const char *number = kl_decimal((int64_t)c->mark, digits);
	size_t more = c->mark ? strlen(number) + 1 : 0;
	char *value = malloc(length + more + 1);

	if (!value)
		return kl_error(result, KL_BUG, "memory", "no memory");
	memcpy(value, text, length);
	value[length] = BEHIND;
	memcpy(value + length + 1, number, more > 0 ? more - 1 : 0);
	name_writer(c, result);
	rocksdb_transaction_put(c->txn, key, strlen(key), value, length + more, &error);
	free(value);
	return answer_of(c, error, KL_BUG, result);
}

static enum kl_answer del(struct kl_keys_client *keys, const char *key, struct kl_result *result)
{
	struct rocksdb_client *c = (struct rocksdb_client *)keys;
	char *error = NULL;

	name_writer(c, result);
	rocksdb_transaction_delete(c->txn, key, strlen(key), &error);
	return answer_of(c, error, KL_BUG, result);
}

static const struct kl_keys operations = {get, put, del, NULL};

/* Of a transaction "c1.7", another one than any other's, and than LOADER. */
static uint64_t number_of(const struct kl_client *client)
{
	uint32_t of_client, number;

	if (!client->store->certificate)
		return 0;
	if (!client->id || sscanf(client->id, "c%" SCNu32 ".%" SCNu32, &of_client, &number) != 2)
		return LOADER;
	return (uint64_t)(of_client + 1) << 32 | number;
}

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct rocksdb_client *c = (struct rocksdb_client *)client;
	const struct rocksdb *store = client->store->own;
	bool snapshot = is_level(c, "snapshot");

	if (is_optimistic(client->level) != (store->optimistic != NULL))
		return kl_error(result, KL_BUG, "level", "the store is of the other kind of levels");
	rocksdb_transaction_options_set_set_snapshot(c->options, snapshot);
	rocksdb_optimistictransaction_options_set_set_snapshot(c->optimistic, snapshot);
	c->txn = store->optimistic
		? rocksdb_optimistictransaction_begin(store->optimistic, store->write, c->optimistic, NULL)
		: rocksdb_transaction_begin(store->db, store->write, c->options, NULL);
	c->snapshot = snapshot ? rocksdb_transaction_get_snapshot(c->txn) : NULL;
	rocksdb_readoptions_set_snapshot(c->read, c->snapshot);
	c->mark = number_of(client);
	c->named = false;
	return KL_OK;
}

/* What was read before it was changed is no version that the operation shows. */
static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	enum kl_answer answer = kl_keys_run(&operations, (struct kl_keys_client *)client, op, result);

	if (!(KL_BIT(op->kind) & KL_READS))
		result->mark = 0;
	return answer;
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct rocksdb_client *c = (struct rocksdb_client *)client;
	char *error = NULL;

	rocksdb_transaction_commit(c->txn, &error);

	enum kl_answer answer = answer_of(c, error, KL_GONE, result);

	end(c);
	return answer;
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	(void)result;
	end((struct rocksdb_client *)client);
	return KL_OK;
}

/* ---- the store ---- */

static bool start(struct kl_store *store)
{
	const char *folder = kl_keys_folder(store);
	struct rocksdb *r = folder ? calloc(1, sizeof *r) : NULL;
	char *error = NULL;

	store->own = r;
	if (!r)
		return false;
	(void)snprintf(store->version, sizeof store->version, "RocksDB %s", KL_LIBRARY_VERSION);
	r->options = rocksdb_options_create();
	r->db_options = rocksdb_transactiondb_options_create();
	r->write = rocksdb_writeoptions_create();
	rocksdb_options_set_create_if_missing(r->options, 1);
	if (store->certificate) /* the log stays, also of what is in tables by now */
		rocksdb_options_set_WAL_ttl_seconds(r->options, DAY_S);
	if (is_optimistic(store->level))
		r->optimistic = rocksdb_optimistictransactiondb_open(r->options, folder, &error);
	else
		r->db = rocksdb_transactiondb_open(r->options, r->db_options, folder, &error);
	if (r->db || r->optimistic)
		return true;
	(void)kl_fail(store, "%s", error);
	rocksdb_free(error);
	return false;
}

static void stop(struct kl_store *store)
{
	struct rocksdb *r = store->own;

	if (!r)
		return;
	if (r->db)
		rocksdb_transactiondb_close(r->db);
	if (r->optimistic)
		rocksdb_optimistictransactiondb_close(r->optimistic);
	rocksdb_writeoptions_destroy(r->write);
	rocksdb_transactiondb_options_destroy(r->db_options);
	rocksdb_options_destroy(r->options);
	free(r);
	store->own = NULL;
}

static struct kl_client *connect(struct kl_store *store)
{
	struct rocksdb_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->read = rocksdb_readoptions_create();
	c->options = rocksdb_transaction_options_create();
	c->optimistic = rocksdb_optimistictransaction_options_create();
	rocksdb_transaction_options_set_deadlock_detect(c->options, 1);
	rocksdb_transaction_options_set_lock_timeout(c->options, store->directed ? LONG_WAIT_MS : WAIT_MS);
	return &c->keys.client;
}

static void close_client(struct kl_client *client)
{
	struct rocksdb_client *c = (struct rocksdb_client *)client;

	end(c);
	rocksdb_transaction_options_destroy(c->options);
	rocksdb_optimistictransaction_options_destroy(c->optimistic);
	rocksdb_readoptions_destroy(c->read);
	kl_keys_free(&c->keys);
}

/* ---- the order ---- */

/* A part of the log: eight bytes of its first write's number, four of how many there are, and records: a
 * kind, then texts behind their lengths. Commits that came together stand in one part, each in one piece. */
enum { HEAD = 12, DELETED = 0, WRITTEN = 1, LOG_DATA = 3, NOTHING = 13 };

struct part {
	const unsigned char *at, *end;
	bool torn;
	uint32_t writes;
	uint64_t mark; /* who wrote what follows; 0: nobody was named */
};

static uint64_t take_length(struct part *p)
{
	uint64_t length = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		if (p->at == p->end)
			break;
		length |= (uint64_t)(*p->at & 127) << shift;
		if (*p->at++ < 128)
			return length;
	}
	p->torn = true;
	return 0;
}

static const char *take_text(struct part *p, size_t *length)
{
	const unsigned char *text;

	*length = take_length(p);
	p->torn |= *length > (size_t)(p->end - p->at);
	text = p->at;
	p->at += p->torn ? 0 : *length;
	return (const char *)text;
}

static bool tell_write(struct part *p, bool present, struct kl_sink *sink)
{
	char key[KL_KEY] = "";
	size_t key_length, length = 0;
	const char *text = take_text(p, &key_length), *value = present ? take_text(p, &length) : NULL;

	if (p->torn)
		return true;
	p->writes++;
	memcpy(key, text, key_length < sizeof key ? key_length : sizeof key - 1);
	int64_t number = present ? (int64_t)read_number(value, length) : 0;
	return !p->mark || kl_tell_version(sink, key, p->mark, present ? &number : NULL);
}

static bool tell_part(struct kl_store *store, const char *data, size_t size, struct kl_sink *sink)
{
	struct part p = {.at = (const unsigned char *)data + HEAD, .end = (const unsigned char *)data + size};
	bool fine = true;
	uint32_t count = 0;

	for (int i = 0; i < 4; i++)
		count |= (uint32_t)(unsigned char)data[8 + i] << 8 * i;
	while (fine && !p.torn && p.at < p.end) {
		unsigned char kind = *p.at++;
		size_t length;

		if (kind == LOG_DATA) {
			const char *text = take_text(&p, &length);

			p.mark = p.torn ? 0 : read_number(text, length);
		} else if (kind == WRITTEN || kind == DELETED) {
			fine = tell_write(&p, kind == WRITTEN, sink);
		} else {
			p.torn = kind != NOTHING;
		}
	}
	return fine &&
		((!p.torn && p.writes == count) ||
			kl_fail(store, "its log has what this driver does not know"));
}

static bool tell_log(struct kl_store *store, rocksdb_t *db, struct kl_sink *sink)
{
	char *error = NULL;
	rocksdb_wal_iterator_t *log = rocksdb_get_updates_since(db, 1, NULL, &error);
	uint64_t next = 1;
	bool fine = !error;

	for (; fine && rocksdb_wal_iter_valid(log); rocksdb_wal_iter_next(log)) {
		uint64_t first;
		size_t size;
		rocksdb_writebatch_t *batch = rocksdb_wal_iter_get_batch(log, &first);
		const char *data = rocksdb_writebatch_data(batch, &size);

		fine = (first == next || kl_fail(store, "its log has gaps")) &&
			tell_part(store, data, size, sink);
		next = first + (uint64_t)rocksdb_writebatch_count(batch);
		rocksdb_writebatch_destroy(batch);
	}
	if (fine)
		rocksdb_wal_iter_status(log, &error);
	fine = fine && !error &&
		(next > rocksdb_get_latest_sequence_number(db) || kl_fail(store, "its log ends too early"));
	if (error)
		(void)kl_fail(store, "%s", error);
	rocksdb_free(error);
	if (log)
		rocksdb_wal_iter_destroy(log);
	return fine;
}

/* Beside the one that is open, which nobody writes to any more. */
static bool order(struct kl_store *store, struct kl_sink *sink)
{
	const struct rocksdb *r = store->own;
	char *error = NULL;
	rocksdb_t *db = rocksdb_open_for_read_only(r->options, kl_keys_folder(store), 0, &error);

	if (!db) {
		(void)kl_fail(store, "%s", error);
		rocksdb_free(error);
		return false;
	}
	bool fine = kl_tell_loader(sink, LOADER) && tell_log(store, db, sink);
	rocksdb_close(db);
	return fine;
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "rocksdb",
	.title = "RocksDB (TransactionDB, OptimisticTransactionDB)",
	.library = "rocksdb",
	.levels = levels,
	.operations =
		(KL_BIT(KL_KINDS) - 1 - KL_BIT(KL_RANGE) - KL_BIT(KL_SCAN) - KL_BIT(KL_UPDATE)) | KL_LOCKING,
	.facts = KL_EMBEDDED | KL_SESSIONS,
	.start = start,
	.stop = stop,
	.load = kl_keys_load,
	.connect = connect,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.close = close_client,
	.order = order,
	.buffered = OPTIMISTIC,
};
