/* WiredTiger, in this process: a session and two cursors for each client. At snapshot a write is refused if
 * its key has changed since the transaction began. Below that nobody is asked whose uncommitted value is
 * overwritten: dirty writes, which break every level once the order of versions is known; no order is told
 * here, so that recordings keep pl-1. What reads and then writes is no single operation there, so there are
 * no counters, lists and sets, nor updates by condition; deletes and inserts are the store's own. Cursors are
 * reset behind each statement: as long as one stands somewhere, read committed keeps its snapshot. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wiredtiger.h>

#include "lab/keys.h"

KL_NEEDS("wiredtiger", "libwiredtiger-dev");

static const char settings[] = "create,cache_size=128MB,session_max=1100,eviction=(threads_max=2)";
static const char table[] = "table:krait_lab";

static const struct kl_level levels[] = {
	{"snapshot", "isolation=snapshot", "si", "si", NULL},
	{"read-committed", "isolation=read-committed", "pl-2", "pl-1", NULL},
	{"read-uncommitted", "isolation=read-uncommitted", "pl-1", "pl-1", NULL},
	{0},
};

struct wiredtiger_client {
	struct kl_keys_client keys;
	WT_SESSION *session;
	WT_CURSOR *cursor;
	WT_CURSOR *exact; /* inserts what is not there, removes what is */
	bool open;        /* a transaction is */
};

static enum kl_answer fail(struct wiredtiger_client *c, int code, enum kl_answer unknown,
	struct kl_result *result)
{
	char text[16];
	enum kl_answer answer = code == WT_ROLLBACK ? KL_REFUSED : code == WT_CACHE_FULL ? KL_BUSY : unknown;

	(void)snprintf(text, sizeof text, "%d", code);
	if (c->open)
		(void)c->session->rollback_transaction(c->session, NULL);
	c->open = false;
	return kl_error(result, answer, text, wiredtiger_strerror(code));
}

static enum kl_answer answer_of(struct wiredtiger_client *c, int code, struct kl_result *result)
{
	return code == 0 ? KL_OK : fail(c, code, KL_BUG, result);
}

static enum kl_answer get(struct kl_keys_client *keys, const char *key, enum kl_lock lock,
	struct kl_result *result)
{
	struct wiredtiger_client *c = (struct wiredtiger_client *)keys;
	const char *value = "";
	enum kl_answer answer = KL_OK;

	(void)lock;
	c->cursor->set_key(c->cursor, key);
	int code = c->cursor->search(c->cursor);
	result->found = code == 0;
	if (code == 0)
		code = c->cursor->get_value(c->cursor, &value);
	if (code == 0)
		answer = kl_keys_take(keys, value, strlen(value), result);
	(void)c->cursor->reset(c->cursor);
	return code == 0 || code == WT_NOTFOUND ? answer : fail(c, code, KL_BUG, result);
}

static enum kl_answer put(struct kl_keys_client *keys, const char *key, const char *text, size_t length,
	struct kl_result *result)
{
	struct wiredtiger_client *c = (struct wiredtiger_client *)keys;

	(void)length;
	c->cursor->set_key(c->cursor, key);
	c->cursor->set_value(c->cursor, text);
	return answer_of(c, c->cursor->insert(c->cursor), result); /* which overwrites */
}

static enum kl_answer change(struct wiredtiger_client *c, const struct kl_op *op, struct kl_result *result)
{
	bool inserts = op->kind == KL_INSERT;
	int code, not_done = inserts ? WT_DUPLICATE_KEY : WT_NOTFOUND;
	char digits[24];

	(void)snprintf(digits, sizeof digits, "%" PRId64, op->value);
	c->exact->set_key(c->exact, op->key);
	c->exact->set_value(c->exact, digits);
	code = inserts ? c->exact->insert(c->exact) : c->exact->remove(c->exact);
	(void)c->exact->reset(c->exact);
	result->done = code == 0;
	return code == not_done ? KL_OK : answer_of(c, code, result);
}

static enum kl_answer walk(struct kl_keys_client *keys, const char *from, struct kl_walk *walk,
	struct kl_result *result)
{
	struct wiredtiger_client *c = (struct wiredtiger_client *)keys;
	const char *key = "", *value = "";
	int code, side = 0;

	c->cursor->set_key(c->cursor, from);
	code = c->cursor->search_near(c->cursor, &side);
	if (code == 0 && side < 0)
		code = c->cursor->next(c->cursor);
	while (code == 0 && (code = c->cursor->get_key(c->cursor, &key)) == 0 &&
		(code = c->cursor->get_value(c->cursor, &value)) == 0 &&
		kl_walk_take(walk, key, strlen(key), value, strlen(value)))
		code = c->cursor->next(c->cursor);
	(void)c->cursor->reset(c->cursor);
	return answer_of(c, code == WT_NOTFOUND ? 0 : code, result);
}

static const struct kl_keys operations = {get, put, NULL, walk};

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct wiredtiger_client *c = (struct wiredtiger_client *)client;
	int code = c->session->begin_transaction(c->session, client->level->sent);

	c->open = code == 0;
	return answer_of(c, code, result);
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	if (op->kind == KL_DELETE || op->kind == KL_INSERT)
		return change((struct wiredtiger_client *)client, op, result);
	return kl_keys_run(&operations, (struct kl_keys_client *)client, op, result);
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct wiredtiger_client *c = (struct wiredtiger_client *)client;
	int code = c->session->commit_transaction(c->session, NULL);

	c->open = false;
	return code == 0 ? KL_OK : fail(c, code, KL_GONE, result);
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	struct wiredtiger_client *c = (struct wiredtiger_client *)client;
	int code = c->open ? c->session->rollback_transaction(c->session, NULL) : 0;

	c->open = false;
	return answer_of(c, code, result);
}

/* ---- the store ---- */

static bool start(struct kl_store *store)
{
	const char *folder = kl_keys_folder(store);
	WT_CONNECTION *connection = NULL;
	WT_SESSION *session;
	int major, minor, patch;

	if (!folder)
		return false;
	(void)wiredtiger_version(&major, &minor, &patch);
	(void)snprintf(store->version, sizeof store->version, "WiredTiger %d.%d.%d", major, minor, patch);
	int code = wiredtiger_open(folder, NULL, settings, &connection);
	store->own = code == 0 ? connection : NULL;
	if (code == 0)
		code = connection->open_session(connection, NULL, NULL, &session);
	if (code == 0)
		code = session->create(session, table, "key_format=S,value_format=S");
	if (code == 0)
		code = session->close(session, NULL);
	return code == 0 || kl_fail(store, "%s", wiredtiger_strerror(code));
}

static void stop(struct kl_store *store)
{
	WT_CONNECTION *connection = store->own;

	if (connection)
		(void)connection->close(connection, NULL);
	store->own = NULL;
}

static void close_client(struct kl_client *client)
{
	struct wiredtiger_client *c = (struct wiredtiger_client *)client;

	if (c->session)
		(void)c->session->close(c->session, NULL); /* rolls back */
	kl_keys_free(&c->keys);
}

static struct kl_client *connect(struct kl_store *store)
{
	WT_CONNECTION *connection = store->own;
	struct wiredtiger_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	int code = connection->open_session(connection, NULL, NULL, &c->session);
	if (code == 0)
		code = c->session->open_cursor(c->session, table, NULL, NULL, &c->cursor);
	if (code == 0)
		code = c->session->open_cursor(c->session, table, NULL, "overwrite=false", &c->exact);
	if (code == 0)
		return &c->keys.client;
	(void)kl_fail(store, "%s", wiredtiger_strerror(code));
	close_client(&c->keys.client);
	return NULL;
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "wiredtiger",
	.title = "WiredTiger",
	.library = "wiredtiger",
	.levels = levels,
	.operations = KL_BIT(KL_READ) | KL_BIT(KL_WRITE) | KL_BIT(KL_DELETE) | KL_BIT(KL_INSERT) |
		KL_BIT(KL_RANGE) | KL_BIT(KL_SCAN),
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
};
