/* RocksDB's TransactionDB, in this process. A write locks its key, and at snapshot it is refused if the key
 * has changed since the transaction began. At lock each read locks its key, too, so that single keys are
 * serializable; no lock covers keys that are not there, so ranges and scans are left out. Circles of waiting
 * are found by it (deadlock_detect), and none waits for ever. Errors are told in words.
 *
 * At the levels that begin with "optimistic-" it is the OptimisticTransactionDB: nothing locks, writes happen
 * at commit, and that is refused if a key has changed that was written, or read at optimistic-lock. */
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/keys.h"

KL_NEEDS("rocksdb", "librocksdb-dev");

enum { WAIT_MS = 1000, LONG_WAIT_MS = 10000 };

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
	if (value && answer == KL_OK)
		answer = kl_keys_take(keys, value, n, result);
	rocksdb_free(value);
	return answer;
}

static enum kl_answer put(struct kl_keys_client *keys, const char *key, const char *text, size_t length,
	struct kl_result *result)
{
	struct rocksdb_client *c = (struct rocksdb_client *)keys;
	char *error = NULL;

	rocksdb_transaction_put(c->txn, key, strlen(key), text, length, &error);
	return answer_of(c, error, KL_BUG, result);
}

static enum kl_answer del(struct kl_keys_client *keys, const char *key, struct kl_result *result)
{
	struct rocksdb_client *c = (struct rocksdb_client *)keys;
	char *error = NULL;

	rocksdb_transaction_delete(c->txn, key, strlen(key), &error);
	return answer_of(c, error, KL_BUG, result);
}

static const struct kl_keys operations = {get, put, del, NULL};

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
	return KL_OK;
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	return kl_keys_run(&operations, (struct kl_keys_client *)client, op, result);
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
	.buffered = OPTIMISTIC,
};
