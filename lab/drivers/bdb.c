/* Berkeley DB, in this process. It locks pages, so pages are small and values are padded until few keys fit
 * on one: else whoever touches two keys meets everybody, and weak levels look like strong ones. A detector of
 * circles runs at each conflict. A snapshot's writer is refused as if it were in a circle when its page has
 * changed. There is no update by condition: below degree 3 others could see half of one, or change its rows
 * before it does. */
#define _DEFAULT_SOURCE /* u_int */
#include <db.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/keys.h"

KL_NEEDS("db", "libdb-dev");

enum { PAGE = 512, PADDED = 100, FILLERS = 40, LOCKS = 100000, TXNS = 4000 };

static const struct kl_level levels[] = {
	{"3", "", "ser", "ser", NULL},
	{"snapshot", "", "si", "si", NULL},
	{"2", "", "pl-2", "pl-2", NULL},
	{"1", "", "pl-1", "pl-1", NULL},
	{0},
};
static const u_int32_t flags[] = {0, DB_TXN_SNAPSHOT, DB_READ_COMMITTED, DB_READ_UNCOMMITTED}; /* of them */

struct bdb {
	DB_ENV *env;
	DB *db;
};

struct bdb_client {
	struct kl_keys_client keys;
	DB_TXN *txn;    /* NULL: none is open */
	DBT key, value; /* what cursors and reads found; memory grows */
};

static DB *db_of(const struct kl_keys_client *c) { return ((struct bdb *)c->client.store->own)->db; }

static enum kl_answer fail(struct bdb_client *c, int code, enum kl_answer unknown, struct kl_result *result)
{
	char text[16];
	enum kl_answer answer = code == DB_LOCK_DEADLOCK ? KL_DEADLOCK
		: code == DB_LOCK_NOTGRANTED             ? KL_TIMEOUT
							 : unknown;

	(void)snprintf(text, sizeof text, "%d", code);
	if (c->txn)
		(void)c->txn->abort(c->txn);
	c->txn = NULL;
	return kl_error(result, answer, text, db_strerror(code));
}

static enum kl_answer answer_of(struct bdb_client *c, int code, struct kl_result *result)
{
	return code == 0 ? KL_OK : fail(c, code, KL_BUG, result);
}

static DBT dbt_of(const char *text, size_t length)
{
	return (DBT){.data = (void *)text, .size = (u_int32_t)length};
}

static size_t unpadded(const DBT *value)
{
	size_t n = value->size;

	while (n > 0 && ((const char *)value->data)[n - 1] == ' ')
		n--;
	return n;
}

static enum kl_answer get(struct kl_keys_client *keys, const char *key, enum kl_lock lock,
	struct kl_result *result)
{
	struct bdb_client *c = (struct bdb_client *)keys;
	DBT name = dbt_of(key, strlen(key));
	int code = db_of(keys)->get(db_of(keys), c->txn, &name, &c->value, lock == KL_EXCLUSIVE ? DB_RMW : 0);

	result->found = code == 0;
	return code == 0 ? kl_keys_take(keys, c->value.data, unpadded(&c->value), result)
			 : answer_of(c, code == DB_NOTFOUND ? 0 : code, result);
}

static enum kl_answer put(struct kl_keys_client *keys, const char *key, const char *text, size_t length,
	struct kl_result *result)
{
	struct bdb_client *c = (struct bdb_client *)keys;
	char padded[PADDED + 1];
	DBT name = dbt_of(key, strlen(key)), value = dbt_of(text, length);

	if (length < PADDED) {
		(void)snprintf(padded, sizeof padded, "%-*s", PADDED, text);
		value = dbt_of(padded, PADDED);
	}
	return answer_of(c, db_of(keys)->put(db_of(keys), c->txn, &name, &value, 0), result);
}

static enum kl_answer del(struct kl_keys_client *keys, const char *key, struct kl_result *result)
{
	struct bdb_client *c = (struct bdb_client *)keys;
	DBT name = dbt_of(key, strlen(key));

	return answer_of(c, db_of(keys)->del(db_of(keys), c->txn, &name, 0), result);
}

static int start_at(DBT *key, const char *from)
{
	size_t n = strlen(from);
	void *data = realloc(key->data, n + 1);

	if (!data)
		return ENOMEM;
	key->data = data;
	memcpy(key->data, from, n + 1);
	key->size = (u_int32_t)n;
	return 0;
}

static enum kl_answer walk(struct kl_keys_client *keys, const char *from, struct kl_walk *walk,
	struct kl_result *result)
{
	struct bdb_client *c = (struct bdb_client *)keys;
	DBC *cursor = NULL;
	int code = start_at(&c->key, from), closed = 0;

	if (code == 0)
		code = db_of(keys)->cursor(db_of(keys), c->txn, &cursor, 0);
	if (code == 0)
		code = cursor->get(cursor, &c->key, &c->value, DB_SET_RANGE);
	while (code == 0 && kl_walk_take(walk, c->key.data, c->key.size, c->value.data, c->value.size))
		code = cursor->get(cursor, &c->key, &c->value, DB_NEXT);
	if (cursor)
		closed = cursor->close(cursor);
	return answer_of(c, code == 0 || code == DB_NOTFOUND ? closed : code, result);
}

static const struct kl_keys operations = {get, put, del, walk};

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct bdb_client *c = (struct bdb_client *)client;
	const struct bdb *bdb = client->store->own;

	return answer_of(c, bdb->env->txn_begin(bdb->env, NULL, &c->txn, flags[client->level - levels]),
		result);
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	return kl_keys_run(&operations, (struct kl_keys_client *)client, op, result);
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct bdb_client *c = (struct bdb_client *)client;
	int code = c->txn->commit(c->txn, 0);

	c->txn = NULL;
	return code == 0 ? KL_OK : fail(c, code, KL_GONE, result);
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	struct bdb_client *c = (struct bdb_client *)client;
	int code = c->txn ? c->txn->abort(c->txn) : 0;

	c->txn = NULL;
	return answer_of(c, code, result);
}

/* ---- the store ---- */

static int open_env(struct bdb *b, const char *folder)
{
	const u_int32_t parts =
		DB_CREATE | DB_INIT_TXN | DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_MPOOL | DB_PRIVATE | DB_THREAD;
	int code = db_env_create(&b->env, 0);

	if (code != 0)
		return code;
	DB_ENV *env = b->env;
	(void)env->set_cachesize(env, 0, 64 << 20, 1);
	(void)env->set_lk_detect(env, DB_LOCK_DEFAULT);
	(void)env->set_lk_max_locks(env, LOCKS);
	(void)env->set_lk_max_objects(env, LOCKS);
	(void)env->set_lk_max_lockers(env, LOCKS);
	(void)env->set_tx_max(env, TXNS);
	(void)env->set_lg_bsize(env, 32 << 20);
	(void)env->log_set_config(env, DB_LOG_IN_MEMORY, 1);
	return env->open(env, folder, parts, 0600);
}

/* Keys behind all others. With DB_TXN_SNAPSHOT this library crashes when a write is refused that waited for
 * the root page, so the root is no leaf. */
static int fill(struct bdb *b)
{
	char key[8], padded[PADDED + 1];
	int code = 0;

	(void)snprintf(padded, sizeof padded, "%-*s", PADDED, "0");
	for (int i = 0; i < FILLERS && code == 0; i++) {
		(void)snprintf(key, sizeof key, "~%02d", i);

		DBT name = dbt_of(key, strlen(key)), value = dbt_of(padded, PADDED);

		code = b->db->put(b->db, NULL, &name, &value, 0);
	}
	return code;
}

static int open_db(struct bdb *b)
{
	int code = db_create(&b->db, b->env, 0);

	if (code == 0)
		code = b->db->set_pagesize(b->db, PAGE);
	if (code == 0)
		code = b->db->set_flags(b->db, DB_REVSPLITOFF);
	if (code == 0)
		code = b->db->open(b->db, NULL, "krait_lab", NULL, DB_BTREE,
			DB_CREATE | DB_AUTO_COMMIT | DB_THREAD | DB_MULTIVERSION | DB_READ_UNCOMMITTED, 0600);
	return code == 0 ? fill(b) : code;
}

static bool start(struct kl_store *store)
{
	const char *folder = kl_keys_folder(store);
	struct bdb *b = folder ? calloc(1, sizeof *b) : NULL;
	int major, minor, patch;

	store->own = b;
	if (!b)
		return false;
	(void)db_version(&major, &minor, &patch);
	(void)snprintf(store->version, sizeof store->version, "Berkeley DB %d.%d.%d", major, minor, patch);
	int code = open_env(b, folder);
	if (code == 0)
		code = open_db(b);
	return code == 0 || kl_fail(store, "%s", db_strerror(code));
}

static void stop(struct kl_store *store)
{
	struct bdb *b = store->own;

	if (b && b->db)
		(void)b->db->close(b->db, DB_NOSYNC);
	if (b && b->env)
		(void)b->env->close(b->env, 0);
	free(b);
	store->own = NULL;
}

static struct kl_client *connect(struct kl_store *store)
{
	struct bdb_client *c = calloc(1, sizeof *c);

	(void)store;
	if (!c)
		return NULL;
	c->key.flags = c->value.flags = DB_DBT_REALLOC;
	return &c->keys.client;
}

static void close_client(struct kl_client *client)
{
	struct bdb_client *c = (struct bdb_client *)client;
	struct kl_result none = {0};

	(void)rollback(client, &none);
	free(c->key.data);
	free(c->value.data);
	kl_keys_free(&c->keys);
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "bdb",
	.title = "Berkeley DB",
	.library = "db",
	.levels = levels,
	.operations = KL_BIT(KL_KINDS) - 1 - KL_BIT(KL_UPDATE),
	.facts = KL_EMBEDDED | KL_SESSIONS | KL_PAGES,
	.start = start,
	.stop = stop,
	.load = kl_keys_load,
	.connect = connect,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.close = close_client,
};
