/* LMDB, in this process: one writer at a time, who has it to itself from begin on; readers see what was
 * committed when they began. Transactions that write have successive numbers, and a reader knows that of its
 * snapshot: places in the order of serialization for nothing. A writer that changed nothing leaves its number
 * to the next one; it is a reader of what was before. */
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/keys.h"

KL_NEEDS("lmdb", "liblmdb-dev");

static const size_t map_size = (size_t)1 << 30;
enum { READERS = 1024 };

static const struct kl_level levels[] = {
	{"serializable", "", "pl-ss", "pl-ss", NULL},
	{0},
};

struct lmdb {
	MDB_env *env;
	MDB_dbi db;
};

struct lmdb_client {
	struct kl_keys_client keys;
	MDB_txn *txn; /* NULL: none is open */
};

static void end(struct lmdb_client *c)
{
	mdb_txn_abort(c->txn);
	c->txn = NULL;
}

/* A full map is a full disk: no right program is to blame. */
static enum kl_answer fail(struct lmdb_client *c, int code, enum kl_answer unknown, struct kl_result *result)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", code);
	end(c);
	return kl_error(result, code == MDB_MAP_FULL ? KL_BUSY : unknown, text, mdb_strerror(code));
}

static enum kl_answer answer_of(struct lmdb_client *c, int code, struct kl_result *result)
{
	return code == 0 ? KL_OK : fail(c, code, KL_BUG, result);
}

static MDB_val text_value(const char *text, size_t length) { return (MDB_val){length, (void *)text}; }

static MDB_dbi db_of(const struct kl_keys_client *c) { return ((struct lmdb *)c->client.store->own)->db; }

static enum kl_answer get(struct kl_keys_client *keys, const char *key, enum kl_lock lock,
	struct kl_result *result)
{
	struct lmdb_client *c = (struct lmdb_client *)keys;
	MDB_val name = text_value(key, strlen(key)), value;
	int code = mdb_get(c->txn, db_of(keys), &name, &value);

	(void)lock;
	result->found = code == 0;
	return code == 0 ? kl_keys_take(keys, value.mv_data, value.mv_size, result)
			 : answer_of(c, code == MDB_NOTFOUND ? 0 : code, result);
}

static enum kl_answer put(struct kl_keys_client *keys, const char *key, const char *text, size_t length,
	struct kl_result *result)
{
	struct lmdb_client *c = (struct lmdb_client *)keys;
	MDB_val name = text_value(key, strlen(key)), value = text_value(text, length);

	return answer_of(c, mdb_put(c->txn, db_of(keys), &name, &value, 0), result);
}

static enum kl_answer del(struct kl_keys_client *keys, const char *key, struct kl_result *result)
{
	struct lmdb_client *c = (struct lmdb_client *)keys;
	MDB_val name = text_value(key, strlen(key));

	return answer_of(c, mdb_del(c->txn, db_of(keys), &name, NULL), result);
}

static enum kl_answer walk(struct kl_keys_client *keys, const char *from, struct kl_walk *walk,
	struct kl_result *result)
{
	struct lmdb_client *c = (struct lmdb_client *)keys;
	MDB_val name = text_value(from, strlen(from)), value;
	MDB_cursor *cursor;
	int code = mdb_cursor_open(c->txn, db_of(keys), &cursor);

	if (code != 0)
		return answer_of(c, code, result);
	code = mdb_cursor_get(cursor, &name, &value, MDB_SET_RANGE);
	while (code == 0 && kl_walk_take(walk, name.mv_data, name.mv_size, value.mv_data, value.mv_size))
		code = mdb_cursor_get(cursor, &name, &value, MDB_NEXT);
	mdb_cursor_close(cursor);
	return answer_of(c, code == MDB_NOTFOUND ? 0 : code, result);
}

static const struct kl_keys operations = {get, put, del, walk};

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct lmdb_client *c = (struct lmdb_client *)client;
	const struct lmdb *lmdb = client->store->own;

	c->keys.wrote = false;
	return answer_of(c, mdb_txn_begin(lmdb->env, NULL, client->only_reads ? MDB_RDONLY : 0, &c->txn),
		result);
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	return kl_keys_run(&operations, (struct kl_keys_client *)client, op, result);
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct lmdb_client *c = (struct lmdb_client *)client;
	size_t id = mdb_txn_id(c->txn);
	int code = mdb_txn_commit(c->txn);

	c->txn = NULL;
	result->has_place = true;
	result->reads_only = !c->keys.wrote;
	result->place = client->only_reads || c->keys.wrote ? id : id - 1;
	return code == 0 ? KL_OK : fail(c, code, KL_GONE, result);
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	(void)result;
	end((struct lmdb_client *)client);
	return KL_OK;
}

/* ---- the store ---- */

static int open_env(struct lmdb *lmdb, const char *folder)
{
	MDB_txn *txn;
	int code = mdb_env_create(&lmdb->env);

	if (code == 0)
		code = mdb_env_set_mapsize(lmdb->env, map_size);
	if (code == 0)
		code = mdb_env_set_maxreaders(lmdb->env, READERS);
	if (code == 0)
		code = mdb_env_open(lmdb->env, folder, MDB_NOSYNC, 0600);
	if (code == 0)
		code = mdb_txn_begin(lmdb->env, NULL, 0, &txn);
	if (code != 0)
		return code;
	code = mdb_dbi_open(txn, NULL, 0, &lmdb->db);
	if (code == 0)
		return mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return code;
}

static bool start(struct kl_store *store)
{
	const char *folder = kl_keys_folder(store);
	struct lmdb *lmdb = folder ? calloc(1, sizeof *lmdb) : NULL;
	int major, minor, patch;

	store->own = lmdb;
	if (!lmdb)
		return false;
	(void)mdb_version(&major, &minor, &patch);
	(void)snprintf(store->version, sizeof store->version, "LMDB %d.%d.%d", major, minor, patch);
	int code = open_env(lmdb, folder);
	return code == 0 || kl_fail(store, "%s", mdb_strerror(code));
}

static void stop(struct kl_store *store)
{
	struct lmdb *lmdb = store->own;

	if (lmdb)
		mdb_env_close(lmdb->env);
	free(lmdb);
	store->own = NULL;
}

static struct kl_client *connect(struct kl_store *store)
{
	(void)store;
	return calloc(1, sizeof(struct lmdb_client));
}

static void close_client(struct kl_client *client)
{
	end((struct lmdb_client *)client);
	kl_keys_free((struct kl_keys_client *)client);
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "lmdb",
	.title = "LMDB",
	.library = "lmdb",
	.levels = levels,
	.operations = KL_BIT(KL_KINDS) - 1,
	.facts = KL_EMBEDDED | KL_SESSIONS | KL_SERIAL,
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
